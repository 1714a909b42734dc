"""What a Scan keeps: PyTensor's own rewrites, where they leave the results as they are.

PyTensor computes before the loop what each step would compute of the same values: also what stands in a branch that no
step may take, and may fail. Here it stays in its branch.

PyTensor shortens the buffers of a Scan to the rows that somebody reads, and counts on as many steps. Where a condition
ends the Scan, or fewer steps were asked for, the result has rows that no step wrote, or lacks some. Here a Scan that
ends by a condition keeps its steps unless the last alone is read, and no buffer is longer than the number of steps.
"""

import importlib

import pytensor.tensor as pt
from pytensor.compile.mode import optdb
from pytensor.compile.ops import view_op
from pytensor.graph.basic import Constant
from pytensor.graph.rewriting.basic import dfs_rewriter, node_rewriter
from pytensor.scan.op import Scan
from pytensor.tensor.subtensor import Subtensor

from .translate.branches import branch_nodes, has_branches
from .translate.index_entries import filled, integer

TAG = "inlay_scan"

# (module, the rewrite for compilers that pass no rooms for results into the loop), the newer version's first
_PLACES = (
    ("pytensor.scan.rewriting.trace", "scan_reduce_trace_no_prealloc"),
    ("pytensor.scan.rewriting", "scan_save_mem_no_prealloc"),
)


def _pytensors_own():
    for module, name in _PLACES:
        try:
            return getattr(importlib.import_module(module), name)
        except (ImportError, AttributeError):
            continue
    return None


_SHORTEN = _pytensors_own()


@node_rewriter([Scan])
def keep_in_branches(fgraph, node):
    """What stands in a branch of an IfElse alone, with a view of what it reads of the outside: PyTensor leaves views where
    they are, and drops them when it rewrites the inner graph for the last time."""
    return _with_views(node.op)(*node.inputs, return_list=True) if has_branches(node.op, within=Scan) else None


def _with_views(op):
    """The Scan `op` that reads views in its branches, and in those of Scans within it, which may come out."""
    inner, memo = op.fgraph.unfreeze(return_memo=True) if hasattr(op.fgraph, "unfreeze") else op.fgraph.clone_get_equiv()
    order = inner.toposort()
    branches = branch_nodes(inner, order)
    for x in order:
        if branches[x] and x.inputs and not any(y.owner is not None and branches[y.owner] for y in x.inputs):
            inner.change_node_input(x, 0, view_op(x.inputs[0]), import_missing=True)
    for x in order:
        if isinstance(x.op, Scan) and has_branches(x.op, within=Scan):
            made = _with_views(x.op)(*x.inputs, return_list=True)
            inner.replace_all(zip(x.outputs, made, strict=True), import_missing=True)
    options = {name: getattr(op, name) for name in ("mode", "profile", "truncate_gradient", "name", "allow_gc")}
    return Scan([memo[x] for x in op.inner_inputs], list(inner.outputs), op.info, **options)


@node_rewriter([Scan])
def keep_what_is_read(fgraph, node):
    """The rows of a Scan that are read, where it is known how many there will be."""
    if _SHORTEN is None or (node.op.info.as_while and not _only_last_rows_are_read(fgraph, node)):
        return None
    return _SHORTEN.transform(fgraph, node)


def _only_last_rows_are_read(fgraph, node):
    info = node.op.info
    count = info.n_mit_mot + info.n_mit_sot + info.n_sit_sot + info.n_nit_sot
    return all(_reads_last_row(user) for out in node.outputs[:count] for user, _ in fgraph.clients[out])


def _reads_last_row(node):
    if not isinstance(node.op, Subtensor):
        return False
    first = filled(node.op.idx_list, node.inputs[1:])[0]
    return not isinstance(first, slice) and integer(first) == -1


@node_rewriter([Scan])
def keep_no_more_than_steps(fgraph, node):
    """An output that is carried nowhere, and was shortened to its last k rows, has min(k, n_steps)."""
    steps = node.inputs[0]
    lengths = node.op.outer_nitsot(node.inputs)
    minimum = steps.data if isinstance(steps, Constant) else 0
    first = len(node.inputs) - len(node.op.outer_non_seqs(node.inputs)) - len(lengths)
    longer = [i for i, n in enumerate(lengths, first) if isinstance(n, Constant) and n.data > minimum]
    if not longer:
        return None
    inputs = list(node.inputs)
    for i in longer:
        inputs[i] = pt.minimum(inputs[i], steps)
    return node.op(*inputs, return_list=True)


def register_scan_rewrites():
    # PyTensor moves things out of Scans at 0.05, and shortens their buffers at 1.61.
    for position, rewrite in ((0.04, keep_in_branches), (1.612, keep_what_is_read), (1.613, keep_no_more_than_steps)):
        optdb.register(
            rewrite.fn.__name__,
            dfs_rewriter(rewrite, ignore_newtrees=True),
            TAG,
            use_db_name_as_tag=False,
            position=position,
        )
