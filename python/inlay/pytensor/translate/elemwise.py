"""Elementwise ops, and the moving, adding and dropping of axes that broadcasting rests on."""

import pytensor.scalar as ps
from pytensor.tensor.basic import ScalarFromTensor, TensorFromScalar
from pytensor.tensor.elemwise import DimShuffle, Elemwise

from . import scalar
from .registry import register


@register(Elemwise)
def elemwise(t, node):
    return _apply(t, node, node.op.scalar_op)


@register(ps.ScalarOp)
def scalar_op(t, node):
    """Arithmetic on PyTensor's own scalars: the 0-d case."""
    return _apply(t, node, node.op)


def _apply(t, node, op):
    operands = t.operands(node)
    results = scalar.emit(t, op, operands, [x.type.dtype for x in node.outputs])
    # A result that does not depend on every operand (a Composite's second output, say) still has the common shape.
    rank = node.outputs[0].type.ndim if hasattr(node.outputs[0].type, "ndim") else 0
    if rank and (len(results) > 1 or not _elementary(op)):
        results = [t.broadcast_like(r, *operands) for r in results]
    return results


def _elementary(op):
    return not isinstance(op, ps.Composite | ps.Second)


@register(TensorFromScalar, ScalarFromTensor)
def same(t, node):
    return t.value(node.inputs[0])


@register(DimShuffle)
def dimshuffle(t, node):
    """Bring the kept axes into order, the dropped ones last; then drop and add axes of length 1."""
    op = node.op
    x = t.value(node.inputs[0])
    order = [*op.shuffle, *op.drop]
    if order != sorted(order):
        x = t.builder.transpose(x, order)
    kept = x.dims[: len(op.shuffle)]
    dims = []
    for axis in op.new_order:
        dims.append(1 if axis == "x" else kept.pop(0))
    return x if len(dims) == len(x.dims) and not op.drop else t.builder.reshape(x, dims)
