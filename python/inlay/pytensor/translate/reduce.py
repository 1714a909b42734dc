"""Sum, Prod, Max, Min, All, Any and the like."""

import pytensor.scalar as ps
from pytensor.tensor.elemwise import CAReduce
from pytensor.tensor.math import MulWithoutZeros

from .dtypes import INLAY_NAMES, is_complex
from .registry import NotNative, register

_COMBINES = {
    ps.Add: "add",
    ps.Mul: "mul",
    MulWithoutZeros: "mul",
    ps.Maximum: "max",
    ps.Minimum: "min",
    ps.AND: "and",
    ps.OR: "or",
}


@register(CAReduce)
def careduce(t, node):
    op = node.op
    x = t.value(node.inputs[0])
    combine = _COMBINES.get(type(op.scalar_op))
    if combine is None:
        raise NotNative(f"reduction by {op.scalar_op}")
    out = INLAY_NAMES[node.outputs[0].type.dtype]
    accumulator = INLAY_NAMES[op.acc_dtype] if op.acc_dtype else out
    if is_complex(accumulator) or is_complex(x.dtype) or is_complex(out):
        raise NotNative("complex arithmetic")
    if out == x.dtype == "bool":
        accumulator = "bool"  # PyTensor says int64; all, any, max and min of bools are the same in bool
    if accumulator == "f16":
        accumulator = "f32"
    if accumulator == "bool" and combine in ("add", "mul"):
        combine = {"add": "or", "mul": "and"}[combine]
    rank = len(x.dims)
    axes = range(rank) if op.axis is None else sorted(a % rank for a in op.axis)
    x = t.cast(x, accumulator)
    if isinstance(op.scalar_op, MulWithoutZeros):
        one, zero = t.builder.literal(1, accumulator), t.builder.literal(0, accumulator)
        x = t.builder.scalar("select", [t.builder.scalar("eq", [x, zero]), one, x])
    if not axes:
        return t.cast(x, out)
    return t.cast(t.builder.reduce(combine, x, list(axes), accumulator), out)
