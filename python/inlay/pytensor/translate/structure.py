"""Ops that hold a graph or a condition."""

from pytensor.compile.builders import OpFromGraph
from pytensor.raise_op import CheckAndRaise

from .registry import NotNative, register
from .sizes import stands_for


@register(OpFromGraph)
def op_from_graph(t, node):
    """The inner graph, in place. (Whether it should be is PyTensor's business until it has been rewritten.)"""
    inner = node.op.fgraph
    for x, outside in zip(inner.inputs, node.inputs, strict=True):
        stands_for(t, x, outside)
    return t.inline(inner.inputs, inner.toposort(), inner.outputs, t.operands(node))


@register(CheckAndRaise)
def check_and_raise(t, node):
    op = node.op
    x, *conditions = node.inputs
    value = t.value(x)
    if value.dtype == "opaque":
        raise NotNative("a condition on what is no tensor")
    for condition in conditions:
        holds = t.builder.compose("all", t.value(condition))
        value = t.builder.assert_(value, holds, op.msg)
    return value
