"""Sum, Prod, Max, Min, All, Any and the like, and where an extreme stands."""

import pytensor.scalar as ps
from pytensor.tensor.elemwise import CAReduce
from pytensor.tensor.math import Argmax, MulWithoutZeros

from .dtypes import INLAY_NAMES, PYTENSOR_NAMES, arithmetic_dtype
from .registry import NotNative, register

try:
    from pytensor.tensor.math import MaxAndArgmax  # older versions
except ImportError:
    MaxAndArgmax = None

_COMBINES = {
    ps.Add: "add",
    ps.Mul: "mul",
    MulWithoutZeros: "mul",
    ps.Maximum: "max",
    ps.Minimum: "min",
    ps.AND: "and",
    ps.OR: "or",
    ps.XOR: "xor",
}


@register(CAReduce)
def careduce(t, node):
    op = node.op
    x = t.value(node.inputs[0])
    combine = _COMBINES.get(type(op.scalar_op))
    if combine is None:
        raise NotNative(f"reduction by {op.scalar_op}")
    out = INLAY_NAMES[node.outputs[0].type.dtype]
    if combine in ("and", "or", "xor"):
        x = t.as_declared(node.inputs[0])
    accumulator = INLAY_NAMES[op.acc_dtype] if op.acc_dtype else out
    if out == x.dtype == "bool":
        accumulator = "bool"  # PyTensor says int64; all, any, max and min of bools are the same in bool
    if accumulator == "f16":
        accumulator = "f32"
    if accumulator == "bool" and combine in ("add", "mul"):
        combine = {"add": "or", "mul": "and"}[combine]
    rank = len(x.dims)
    axes = range(rank) if op.axis is None or not rank else sorted(a % rank for a in op.axis)  # axis -1 of a scalar: none
    x = t.cast(x, accumulator)
    if getattr(op, "initial", False):
        for axis in reversed(axes):
            x = t.builder.reduce(combine, _with_initial(t, op, x, axis), [axis], accumulator)
        return t.cast(x, out)
    if not axes:
        return t.cast(x, out)
    if isinstance(op.scalar_op, MulWithoutZeros):
        one, zero = t.builder.literal(1, accumulator), t.builder.literal(0, accumulator)
        x = t.builder.scalar("select", [t.builder.scalar("eq", [x, zero]), one, x])
    return t.cast(t.builder.reduce(combine, x, list(axes), accumulator), out)


def _with_initial(t, op, x, axis):
    """`x` with a row of the reduction's identity behind, so that it is never empty."""
    identity = t.builder.literal(op.initial_value(PYTENSOR_NAMES[x.dtype]), x.dtype)
    row = t.builder.broadcast(identity, [1 if a == axis else dim for a, dim in enumerate(x.dims)])
    return t.builder.concat([x, row], axis)


def _axes_and_operand(t, node):
    """The operand in a dtype that is computed with, and the axes: an op that names none goes over all, one with an empty
    list over none."""
    x = t.value(node.inputs[0])
    x = t.cast(x, arithmetic_dtype(x.dtype))
    rank = len(x.dims)
    return x, list(range(rank)) if node.op.axis is None or not rank else [a % rank for a in node.op.axis]


@register(Argmax)
def argmax(t, node):
    x, axes = _axes_and_operand(t, node)
    return _position(t, x, axes)


def _position(t, x, axes):
    if not x.dims:
        return t.builder.literal(0, "i64")
    return t.builder.compose("argmax", x, axes=axes)


if MaxAndArgmax is not None:

    @register(MaxAndArgmax)
    def max_and_argmax(t, node):
        x, axes = _axes_and_operand(t, node)
        maximum = t.builder.reduce("max", x, axes, x.dtype)
        return t.cast(maximum, INLAY_NAMES[node.outputs[0].type.dtype]), _position(t, x, axes)
