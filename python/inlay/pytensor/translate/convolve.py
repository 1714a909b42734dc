"""Convolution along one axis: windows of one operand, times the other, summed."""

import numpy as np
from pytensor.graph.basic import Constant
from pytensor.tensor.basic import ScalarFromTensor, TensorFromScalar
from pytensor.tensor.elemwise import DimShuffle

from .dtypes import INLAY_NAMES, arithmetic_dtype
from .linalg import batched_node
from .registry import NotNative

try:
    from pytensor.tensor.signal.conv import Convolve1d
except ImportError:  # older versions have none
    Convolve1d = None


@batched_node(Convolve1d)
def convolve(t, op, node):
    """result[i] = sum of x[i + start - j] * w[j], where x has such an element: all of the sum, or what is whole of it.

    x stands between k zeros on either side, so that every window lies within; what is not of x counts nothing, though
    an element of w be infinite.
    """
    out = INLAY_NAMES[node.outputs[0].type.dtype]
    if out == "bool":
        raise NotNative("a convolution of bool")
    x, w = (t.cast(t.value(v), arithmetic_dtype(out)) for v in node.inputs[:2])
    n, k = x.dims[-1], w.dims[-1]
    for operand, name, length in ((x, "in1", n), (w, "in2", k)):
        message = f"{type(op).__name__}: {name} has {{1}} elements, at least {{0}} is needed"
        t.builder.require_at_most(1, length, "shape-mismatch", message, operand)
    whole = t.known_equal(t.min(n, k), k)  # in every window of the shorter result
    start, length, is_full = _extent(t, node.inputs[2], n, k)

    index = t.builder.scalar("add", [_column(t, k), t.builder.iota(length, "i64")])
    index = t.builder.scalar("add", [index, t.builder.scalar("add", [start, t.builder.literal(1, "i64")])])
    others = [0] * (len(x.dims) - 1)
    padded = t.builder.compose("pad", x, before=[*others, k], after=[*others, k])
    windows = t.builder.gather(padded, [*((0, d, 1) for d in x.dims[:-1]), index])
    weights = t.builder.reshape(t.builder.flip(w, [len(w.dims) - 1]), [*w.dims, 1])
    if is_full or not whole:
        after_zeros = t.builder.scalar("ge", [index, t.builder.size(k)])
        is_element = t.builder.scalar("and", [after_zeros, t.builder.scalar("lt", [index, t.builder.size(n + k)])])
        weights = t.builder.scalar("select", [is_element, weights, t.builder.literal(0, weights.dtype)])
    terms = t.builder.scalar("mul", [windows, weights])
    return t.cast(t.builder.reduce("add", terms, [len(terms.dims) - 2], terms.dtype), out)


def _column(t, size):
    return t.builder.reshape(t.builder.iota(size, "i64"), [size, 1])


def _extent(t, mode, n, k):
    """Where the result begins in the whole sum, its length, and whether it may be all of it."""
    least = t.min(n, k)
    full, valid = (0, n + k - 1), (least - 1, t.max(n, k) - least + 1)
    known = _constant(mode)
    if known is not None:
        start, length = full if known else valid
        return t.builder.size(start), length, known
    if mode.type.ndim != 0:
        raise NotNative("a convolution of several modes")
    mode = t.value(mode)
    start, length = (
        t.builder.scalar("select", [mode, t.builder.size(a), t.builder.size(b)])
        for a, b in zip(full, valid, strict=True)
    )
    return start, t.late_size(length), True


def _constant(var):
    while var.owner is not None and isinstance(var.owner.op, ScalarFromTensor | TensorFromScalar | DimShuffle):
        var = var.owner.inputs[0]
    return bool(np.all(var.data)) if isinstance(var, Constant) else None
