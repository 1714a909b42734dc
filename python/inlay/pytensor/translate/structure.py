"""Ops that hold a graph or a condition."""

from pytensor.compile.builders import OpFromGraph
from pytensor.raise_op import CheckAndRaise

from .registry import NotNative, register
from .sizes import given_sizes


@register(OpFromGraph)
def op_from_graph(t, node):
    """The inner graph, in place. (Whether it should be is PyTensor's business until it has been rewritten.)"""
    inner = node.op.fgraph
    return t.inline_graph(node, inner, given_sizes(t, inner.inputs, node.inputs))


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
