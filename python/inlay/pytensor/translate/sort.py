"""Sorting along an axis, and searching in what is sorted."""

import numpy as np
from pytensor.graph.basic import Constant
from pytensor.tensor.extra_ops import SearchsortedOp
from pytensor.tensor.sort import ArgSortOp, SortOp

from .dtypes import INLAY_NAMES, PYTENSOR_NAMES, arithmetic_dtype
from .linalg import batched_node
from .registry import NotNative, register


def _axis(op, node):
    """Of all the axes, those of a batch stand first. A property of the op in newer versions of PyTensor, the second input
    in older ones."""
    rank = node.inputs[0].type.ndim
    batch = node.op.batch_ndim(node) if node.op is not op else 0
    if hasattr(op, "axis"):
        return batch + op.axis % (rank - batch)
    axis = node.inputs[1]
    if not isinstance(axis, Constant) or axis.data.size != 1:
        raise NotNative("an axis that is not constant")
    return batch + int(axis.data.item()) % (rank - batch)


def _along(t, op, x, axis):
    """The library op along an axis, which is brought to the end for it and back."""
    order = [a for a in range(len(x.dims)) if a != axis] + [axis]
    x = t.builder.library(op, [t.builder.transpose(x, order)])[0]
    return t.builder.transpose(x, [order.index(a) for a in range(len(order))])


@batched_node(SortOp)
def sort(t, op, node):
    x = t.value(node.inputs[0])
    sortable = t.cast(x, arithmetic_dtype(x.dtype))
    return t.cast(_along(t, "sort", sortable, _axis(op, node)), x.dtype)


@batched_node(ArgSortOp)
def argsort(t, op, node):
    """Stable, whatever kind is asked for: another kind may give any order of equals."""
    x = t.value(node.inputs[0])
    return _along(t, "argsort", t.cast(x, arithmetic_dtype(x.dtype)), _axis(op, node))


@register(SearchsortedOp)
def searchsorted(t, node):
    x, v, *sorter = t.operands(node)
    common = _common_dtype(x.dtype, v.dtype)
    x, v = t.cast(x, common), t.cast(v, common)
    if sorter:
        x = t.builder.gather(x, [sorter[0]])
    size = 1
    for d in v.dims:
        size = size * d
    found = t.builder.library("searchsorted", [x, t.builder.reshape(v, [size])], ["right"] * (node.op.side == "right"))
    return t.builder.reshape(found[0], v.dims)


def _common_dtype(a, b):
    return arithmetic_dtype(INLAY_NAMES[np.result_type(PYTENSOR_NAMES[a], PYTENSOR_NAMES[b]).name])
