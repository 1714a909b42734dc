"""Convolution along one axis or two: windows of one operand, times the other, summed."""

import functools

import numpy as np
from pytensor.graph.basic import Constant
from pytensor.tensor.basic import ScalarFromTensor, TensorFromScalar
from pytensor.tensor.elemwise import DimShuffle

from .dims import dim_max, dim_min, known_equal
from .dtypes import INLAY_NAMES, arithmetic_dtype
from .index_items import replaced, whole
from .linalg import batched_node
from .registry import NotNative
from .sizes import late_size

try:
    from pytensor.tensor.signal.conv import Convolve1d
except ImportError:  # older versions have none
    Convolve1d = None
try:
    from pytensor.tensor.signal.conv import Convolve2d
except ImportError:
    Convolve2d = None


_FEW_WEIGHTS = 256  # the sums are as long; beyond some 20 x 20, Fourier transforms need fewer operations


@batched_node(Convolve1d, Convolve2d)
def convolve(t, op, node):
    """result[i] = sum of x[i + start - j] * w[j], where x has such an element: all of the sum, or what is whole of it.

    x stands between k zeros on either side, so that every window lies within; what is not of x counts nothing, though
    an element of w be infinite.
    """
    out = INLAY_NAMES[node.outputs[0].type.dtype]
    if out == "bool":
        raise NotNative("a convolution of bool")
    if op.ndim > 1 and op.method != "direct" and not _has_few_weights(op, node):
        raise NotNative("a convolution of many elements by many, or by a number that is not known: SciPy may transform")
    x, w = (t.cast(t.value(v), arithmetic_dtype(out)) for v in node.inputs[:2])
    b, rank = t.builder, op.ndim
    batch = x.dims[:-rank]
    sizes = list(zip(x.dims[-rank:], w.dims[-rank:], strict=True))
    for n, k in sizes:
        for operand, name, length in ((x, "in1", n), (w, "in2", k)):
            message = f"{type(op).__name__}: {name} has {{1}} elements, at least {{0}} is needed"
            b.require_at_most(1, length, "shape-mismatch", message, operand)
    mode = _mode(t, node.inputs[2])
    if rank > 1 and mode is not True:
        x = _one_holds_the_other(t, x, sizes, mode)

    # A window is an element of the result: its axes stand behind those of w, all of them side by side in one index.
    indices, are_elements = [], []
    for axis, (n, k) in enumerate(sizes):
        has_all = known_equal(dim_min(n, k), k)  # in every window of the shorter result
        start, length = _extent(t, mode, n, k)
        index = b.scalar("add", [_column(t, k), b.iota(length, "i64")])
        index = b.scalar("add", [index, b.scalar("add", [start, b.literal(1, "i64")])])
        beside = [1] * rank
        index = b.reshape(index, [*replaced(beside, axis, k), *replaced(beside, axis, length)])
        indices.append(index)
        if mode is not False or not has_all:
            after_zeros = b.scalar("ge", [index, b.size(k)])
            are_elements.append(b.scalar("and", [after_zeros, b.scalar("lt", [index, b.size(n + k)])]))
    others, ends = [0] * len(batch), [k for _, k in sizes]
    padded = b.compose("pad", x, before=[*others, *ends], after=[*others, *ends])
    windows = b.gather(padded, [*whole(batch), *indices])
    last = len(w.dims)
    weights = b.reshape(b.flip(w, list(range(last - rank, last))), [*w.dims, *[1] * rank])
    if are_elements:
        is_element = functools.reduce(lambda p, q: b.scalar("and", [p, q]), are_elements)
        weights = b.scalar("select", [is_element, weights, b.literal(0, weights.dtype)])
    terms = b.scalar("mul", [windows, weights])
    last = len(terms.dims)
    return t.cast(b.reduce("add", terms, list(range(last - 2 * rank, last - rank)), terms.dtype), out)


def _column(t, size):
    return t.builder.reshape(t.builder.iota(size, "i64"), [size, 1])


def _has_few_weights(op, node):
    sizes = [x.type.shape[-op.ndim :] for x in node.inputs[:2]]
    return any(None not in shape and np.prod(shape) <= _FEW_WEIGHTS for shape in sizes)


def _mode(t, mode):
    """Is it all of the sum? True, False, or a value that says it."""
    known = _constant(mode)
    if known is not None:
        return known
    if any(d != 1 for d in mode.type.shape):
        raise NotNative("a convolution of several modes")
    return t.builder.reshape(t.value(mode), [])


def _extent(t, mode, n, k):
    """Where the result begins in the whole sum, and its length."""
    minimum = dim_min(n, k)
    full, valid = (0, n + k - 1), (minimum - 1, dim_max(n, k) - minimum + 1)
    if isinstance(mode, bool):
        start, length = full if mode else valid
        return t.builder.size(start), length
    start, length = (
        t.builder.scalar("select", [mode, t.builder.size(a), t.builder.size(b)])
        for a, b in zip(full, valid, strict=True)
    )
    return start, late_size(t, length)


def _one_holds_the_other(t, x, sizes, mode):
    """x, once one of the operands is known to be as long as the other along every axis, as SciPy wants it for what is
    whole."""
    b = t.builder

    def all_of(pairs):
        return functools.reduce(
            lambda p, q: b.scalar("and", [p, q]), [b.scalar("ge", [b.size(n), b.size(k)]) for n, k in pairs]
        )

    holds = b.scalar("or", [all_of(sizes), all_of([(k, n) for n, k in sizes])])
    if not isinstance(mode, bool):
        holds = b.scalar("or", [mode, holds])
    return b.assert_(x, holds, "Convolve2d: neither operand is as long as the other along both axes", "shape-mismatch")


def _constant(var):
    while var.owner is not None and isinstance(var.owner.op, ScalarFromTensor | TensorFromScalar | DimShuffle):
        var = var.owner.inputs[0]
    return bool(np.all(var.data)) if isinstance(var, Constant) else None
