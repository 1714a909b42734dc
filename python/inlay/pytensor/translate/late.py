"""Ops whose results have a size that only values tell, and running sums."""

from math import prod

import numpy as np
from pytensor.graph.basic import Constant
from pytensor.tensor.basic import ARange, Nonzero
from pytensor.tensor.extra_ops import Bartlett, CumOp, Repeat, Unique

from .bodies import Body
from .dims import dim_max
from .dtypes import INLAY_NAMES, arithmetic_dtype, is_complex
from .index_items import replaced, whole
from .registry import NotNative, register
from .sizes import size_of
from .subtensor import stretch

_CUMULATIVE = {"add": "add", "mul": "mul"}


@register(CumOp)
def cumulative(t, node):
    """PyTensor says that the dtype is that of x. What its Python code and Numba make of small integers and of bools is
    NumPy's int64, for whoever reads it: so does this, and a count stays a count."""
    x = t.value(node.inputs[0])
    declared = INLAY_NAMES[node.outputs[0].type.dtype]
    widened = "u64" if declared[0] == "u" else "i64" if declared[0] in "ib" else declared
    if is_complex(widened) and node.op.mode == "mul":
        return _running_product(t, t.cast(x, widened), node.op.axis)
    return t.builder.cumulative(_CUMULATIVE[node.op.mode], x, node.op.axis, widened)


def _running_product(t, x, axis):
    """Of complex numbers. It begins with the first of them itself, as NumPy's: 1 times an infinity has a NaN."""
    b = t.builder
    rows = b.compose("moveaxis", x, **{"from": axis, "to": 0})
    n, *rest = rows.dims
    body = Body(t)
    with body:
        step = body.builder.step("step", n)
        before = body.builder.param("before", x.dtype, rest)
        row = body.builder.gather(body.bring_in(rows), [step])
        is_first = body.builder.scalar("eq", [step, body.builder.literal(0, "i64")])
        product = body.builder.scalar("select", [is_first, row, body.builder.scalar("mul", [before, row])])
        for _ in range(2):  # carried, and kept
            body.builder.output(product)
    one = b.broadcast(b.literal(1, x.dtype), rest)
    _, products = b.loop(n, [one], body.captured, body.builder.finish())
    return b.compose("moveaxis", products, **{"from": 0, "to": axis})


@register(ARange)
def arange(t, node):
    out = INLAY_NAMES[node.outputs[0].type.dtype]
    if is_complex(out) or out in ("bool", "f16", "bf16"):
        raise NotNative(f"arange of {out}")
    start, stop, step = node.inputs
    if all(_is_constant_integer(x) for x in (start, step)):
        first, by = int(start.data), int(step.data)
        if by and _is_constant_integer(stop):
            return _counted(t, len(range(first, int(stop.data), by)), first, by, out)
        if (first, by) == (0, 1) and stop.type.dtype[0] in "iu":
            try:
                return t.builder.iota(dim_max(size_of(t, stop, late=False), 0), out)  # below 0 it is empty
            except NotNative:
                pass  # its length is that of a value
    return t.builder.arange(*(t.value(x) for x in node.inputs), out)


def _is_constant_integer(var):
    return isinstance(var, Constant) and np.asarray(var.data).dtype.kind in "iu"


def _counted(t, length, first, by, dtype):
    count = t.builder.iota(length, dtype)
    if by != 1:
        count = t.builder.scalar("mul", [count, t.builder.literal(by, dtype)])
    if first != 0:
        count = t.builder.scalar("add", [count, t.builder.literal(first, dtype)])
    return count


@register(Bartlett)
def bartlett(t, node):
    """NumPy's: 1 + n / (M - 1) for n = 1 - M, 3 - M, ... up to 0, and 1 - n / (M - 1) from there to M - 1."""
    b = t.builder
    count = t.cast(t.value(node.inputs[0]), "i64")
    one = b.literal(1, "i64")
    n = t.cast(b.arange(b.scalar("sub", [one, count]), count, b.literal(2, "i64"), "i64"), "f64")
    slope = b.scalar("div", [b.scalar("abs", [n]), t.cast(b.scalar("sub", [count, one]), "f64")])
    window = b.scalar("sub", [b.literal(1, "f64"), slope])
    return b.scalar("select", [b.scalar("eq", [count, one]), b.literal(1, "f64"), window])


@register(Nonzero)
def nonzero(t, node):
    x = t.value(node.inputs[0])
    return t.builder.nonzero(x)


@register(Repeat)
def repeat(t, node):
    x, counts = t.operands(node)
    axis = node.op.axis
    return t.builder.repeat_each(x, stretch(t, counts, [x.dims[axis]], "repeat"), axis)


@register(Unique)
def unique(t, node):
    op, x = node.op, t.value(node.inputs[0])
    if op.axis is None or len(x.dims) == 1:
        values, first, inverse, counts = t.builder.unique(t.cast(x, arithmetic_dtype(x.dtype)))
        values = t.cast(values, x.dtype)
    else:
        axis = op.axis % len(x.dims)
        _, first, inverse, counts = t.builder.unique(_ranks_of_slices(t, x, axis))
        values = t.builder.gather(x, replaced(whole(x.dims), axis, first))
    asked = [(op.return_index, first), (op.return_inverse, inverse), (op.return_counts, counts)]
    return [values, *(v for is_asked, v in asked if is_asked)]


def _ranks_of_slices(t, x, axis):
    """Of each slice x[..., i, ...] how many different ones come before it, in lexicographic order. A slice with NaN is
    none of the others, as in NumPy."""
    b = t.builder
    n = x.dims[axis]
    rest = [d for i, d in enumerate(x.dims) if i != axis]
    rows = t.cast(b.compose("moveaxis", x, **{"from": axis, "to": 0}), arithmetic_dtype(x.dtype))
    rows = b.reshape(rows, [n, prod(rest)])
    order = _lexicographic_order(t, rows)
    rows = b.gather(rows, [order, *whole(rows.dims[1:])])
    at, zero, one = b.iota(n, "i64"), b.literal(0, "i64"), b.literal(1, "i64")
    before = b.scalar("max", [b.scalar("sub", [at, one]), zero])
    differs = b.scalar("ne", [rows, b.gather(rows, [before, *whole(rows.dims[1:])])])
    is_new = b.scalar("and", [b.reduce("or", differs, [1], "bool"), b.scalar("gt", [at, zero])])
    return b.scatter("set", b.broadcast(zero, [n]), [order], b.cumulative("add", is_new, 0, "i64"))


def _lexicographic_order(t, rows):
    """By the last column, then by the one before it, and so on: each sort keeps the order of equals."""
    n, columns = rows.dims
    first = t.builder.iota(n, "i64")
    body = Body(t)
    with body:
        step = body.builder.step("step", columns)
        order = body.builder.param("order", "i64", [n])
        inside = body.bring_in(rows)
        last = t.builder.size(columns - 1)
        column = t.builder.gather(inside, [*whole([n]), t.builder.scalar("sub", [last, step])])
        (by_column,) = t.builder.library("argsort", [t.builder.gather(column, [order])])
        body.builder.output(t.builder.gather(order, [by_column]))
    return t.builder.loop(columns, [first], body.captured, body.builder.finish())[0]
