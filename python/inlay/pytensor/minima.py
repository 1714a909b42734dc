"""The minima that PyTensor writes as maxima.

PyTensor has `x.min()` as -max(-x), as 255 - max(255 - x) for uint8, and as ~max(~x) for bools. They are minima again
before other rewrites take that arithmetic apart, as in `y - x.min()`. Of signed integers -max(-x) is also wrong where x
holds the minimum of its dtype, which is its own negation: of int8 [-128, 3] it would be 3.
"""

import numpy as np
from pytensor.compile.mode import optdb
from pytensor.graph.basic import Constant
from pytensor.graph.features import ReplaceValidate
from pytensor.graph.rewriting.basic import GraphRewriter, copy_stack_trace
from pytensor.scalar import basic as scalars
from pytensor.tensor.elemwise import DimShuffle, Elemwise
from pytensor.tensor.math import Max, Min

from .scan_rewrites import TAG


class FindMinima(GraphRewriter):
    """-max(-x) -> min(x), and the like."""

    def add_requirements(self, fgraph):
        fgraph.attach_feature(ReplaceValidate())

    def apply(self, fgraph):
        if not any(isinstance(node.op, Max) for node in fgraph.apply_nodes):
            return  # as in most graphs: they are not sorted
        for node in fgraph.toposort():
            if isinstance(node.op, Max) and node in fgraph.apply_nodes:
                fgraph.replace_all_validate(_minima(fgraph, node), reason="inlay_minima")


def _minima(fgraph, node):
    """Pairs of a variable and the minimum that it is."""
    x = _turned_over(node.inputs[0])
    if x is None or getattr(node.op, "initial", False):
        return []
    shown = _with_kept_axes(fgraph, node.outputs[0])
    readers = [reader for reader, _ in fgraph.clients[shown]]
    minima = [reader.outputs[0] for reader in readers if _turns_over(reader, shown)]
    # Of floats both are the same bits: two extremes would be computed for one.
    if x.type.dtype.startswith("float") and len(minima) < len(readers):
        return []
    return [(old, _copy_of(shown, Min(axis=node.op.axis)(x), old)) for old in minima]


def _with_kept_axes(fgraph, extreme):
    """The extreme with the axes of length 1 that `keepdims` gives it, where that is all that reads it."""
    readers = fgraph.clients[extreme]
    if len(readers) == 1 and isinstance(readers[0][0].op, DimShuffle):
        return readers[0][0].outputs[0]
    return extreme


def _copy_of(shown, extreme, old):
    """The new extreme with the axes of `shown`, in place of `old`."""
    new = shown.owner.op(extreme) if isinstance(shown.owner.op, DimShuffle) else extreme
    copy_stack_trace(old, new)
    return new


def _turns_over(node, x):
    return isinstance(node.op, Elemwise) and _turned_over(node.outputs[0]) is x


def _turned_over(y):
    """x where y is -x, ~x, or c - x for the maximum unsigned integer c; None: it is none of them."""
    node = y.owner
    if node is None or not isinstance(node.op, Elemwise):
        return None
    op, kind = node.op.scalar_op, np.dtype(y.type.dtype).kind
    if isinstance(op, scalars.Neg if kind in "if" else scalars.Invert):
        return node.inputs[0]
    if kind != "u" or not isinstance(op, scalars.Sub):
        return None
    c, x = node.inputs
    return x if x.type.dtype == y.type.dtype and _is_maximum(c) else None


def _is_maximum(c):
    """Is it the maximum integer of its dtype, as a constant, maybe with axes of length 1?"""
    while c.owner is not None and isinstance(c.owner.op, DimShuffle):
        c = c.owner.inputs[0]
    return isinstance(c, Constant) and c.data.size == 1 and c.data.item() == np.iinfo(c.type.dtype).max


def register_minima():
    """Before PyTensor's own rewrites, behind the one that merges what is equal."""
    optdb.register("inlay_minima", FindMinima(), TAG, use_db_name_as_tag=False, position=0.01)
