"""Elementwise ops, and the moving, adding and dropping of axes that broadcasting rests on."""

import numpy as np
import pytensor.scalar as ps
import pytensor.tensor as pt
from pytensor.tensor.basic import ScalarFromTensor, TensorFromScalar
from pytensor.tensor.elemwise import DimShuffle, Elemwise

from . import scalar
from .registry import NotNative, register


@register(Elemwise)
def elemwise(t, node):
    op = node.op.scalar_op
    try:
        return _apply(t, node, op)
    except NotNative:
        if not isinstance(op, ps.Composite) or len(op.fgraph.apply_nodes) < 2:
            raise
        return _op_by_op(t, node)


@register(ps.ScalarOp)
def scalar_op(t, node):
    """Arithmetic on PyTensor's own scalars: the 0-d case."""
    return _apply(t, node, node.op)


def _op_by_op(t, node):
    """A Composite with an op that has no native form: each op of its graph is an elementwise one of its own, and only that
    one is called through Python."""
    fgraph, rank = node.op.scalar_op.fgraph, node.outputs[0].type.ndim
    variables, nodes = dict(zip(fgraph.inputs, node.inputs, strict=True)), []

    def variable(x):
        if x not in variables:
            variables[x] = pt.constant(np.full((1,) * rank, x.data, x.type.dtype))
        return variables[x]

    for inner in fgraph.toposort():
        nodes.append(Elemwise(inner.op).make_node(*map(variable, inner.inputs)))
        variables.update(zip(inner.outputs, nodes[-1].outputs, strict=True))
    operands = t.operands(node)
    results = t.inline(node.inputs, nodes, [variable(x) for x in fgraph.outputs], operands)
    return [t.broadcast_like(r, *operands) for r in results]


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
