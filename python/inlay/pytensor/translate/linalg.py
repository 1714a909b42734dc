"""Products of matrices and vectors."""

from pytensor.tensor.math import Dot

from .dtypes import INLAY_NAMES, arithmetic_dtype
from .registry import register


@register(Dot)
def dot(t, node):
    out = INLAY_NAMES[node.outputs[0].type.dtype]
    compute = arithmetic_dtype(out)
    a, b = (t.cast(t.value(x), compute) for x in node.inputs)
    if compute in ("f32", "f64"):
        return t.cast(t.builder.matmul(a, b), out)
    return t.cast(_multiply_and_sum(t.builder, a, b, compute), out)


def _multiply_and_sum(builder, a, b, dtype):
    """Integers: a product and a sum over the shared axis."""
    if len(b.dims) == 1:
        return _reduce(builder, builder.scalar("mul", [a, b]), len(a.dims) - 1, dtype)
    b = builder.transpose(b, [1, 0])  # [n, k]: the shared axis last on both sides
    a = builder.reshape(a, [*a.dims[:-1], 1, a.dims[-1]])
    return _reduce(builder, builder.scalar("mul", [a, b]), len(a.dims) - 1, dtype)


def _reduce(builder, x, axis, dtype):
    if dtype == "bool":
        return builder.reduce("or", x, [axis], "bool")
    return builder.reduce("add", x, [axis], dtype)
