"""The user's lines of nodes, also of those that PyTensor and PyMC make.

PyTensor keeps the stack that made a variable in `tag.trace`. Since version 3 the graph within an op is frozen: graphs of
one structure share their nodes, so a node cannot have a line, and freezing drops it. A Scan is frozen when it is made,
so nobody can find the line later. `_keep_traces` lets a frozen graph have the traces of its own nodes beside them, and
hands them to the nodes of a graph that is made of it, as each rewrite of a Scan does.

A node that is cloned with inputs of another type is made anew, at a line of PyTensor's or PyMC's (which joins the
variables of a model into one vector so): it keeps the trace of the node that it is a clone of.

A gradient is made of PyTensor's lines too: each of its nodes has the stack of the node that it is the gradient of.

A rewrite that replaces a node may forget the trace too, as the one does that rewrites the graphs within Scans: then the
new variable takes that of the old one (`TakesOver`).
"""

import os
import threading
from functools import wraps
from inspect import signature

from pytensor import gradient
from pytensor.compile.mode import optdb
from pytensor.graph import fg
from pytensor.graph.basic import Apply
from pytensor.graph.features import AlreadyThere, Feature
from pytensor.graph.rewriting.basic import graph_rewriter

from .user_lines import INLAY, is_library

_NAME = "inlay_traces"  # attribute of a frozen graph: node -> by output, the stacks


def traces_of(node, fgraph=None):
    """By output, the stacks that made a node; `fgraph`: the graph that the node is of."""
    kept = getattr(fgraph, _NAME, {}).get(node)
    return kept if kept is not None else [getattr(var.tag, "trace", None) or () for var in node.outputs]


def source_line(node, fgraph=None):
    """The line outside PyTensor and PyMC that made the node of `fgraph`; what PyTensor keeps of the stack ends at the
    innermost.

    The line that asked PyMC for the log density of a model made none of its nodes: those come from the model, whose
    lines they have where `pymc/lines.py` has kept them.
    """
    stack = user_stack(node, fgraph)
    return None if stack is None else _user_line(stack)


def user_stack(node, fgraph=None):
    """The stack that `source_line` is found in, or None."""
    stacks = (stack for stacks in traces_of(node, fgraph) for stack in stacks)
    return next((stack for stack in stacks if _user_line(stack)), None)


def _user_line(stack):
    callee = None
    for frame in reversed(stack):
        if not is_library(frame[0]):
            derives = callee is not None and _derives(callee)
            return None if derives else f"{os.path.basename(frame[0])}:{frame[1]}"
        callee = frame
    return None


def _derives(frame):
    """Is it a method of PyMC's Model that makes graphs of the model (logp, compile_logp, ...), or a way to nutpie?"""
    if frame[0].startswith(INLAY) or f"{os.sep}nutpie{os.sep}" in frame[0]:
        return True
    is_model = frame[0].endswith(os.path.join("pymc", "model", "core.py"))
    return is_model and ("logp" in frame[2] or frame[2].startswith("compile"))


def _keep_traces():
    """Older versions of PyTensor freeze nothing, or in another way: then a node has the line of its Scan."""
    frozen = getattr(fg, "FrozenFunctionGraph", None)
    if not hasattr(frozen, "from_toposort") or "return_memo" not in signature(frozen.bind).parameters:
        return
    frozen.from_toposort = classmethod(_freezing(frozen.from_toposort.__func__))
    frozen.bind = _binding(frozen.bind)
    setattr(frozen, _NAME, {})


def _freezing(from_toposort):
    @wraps(from_toposort)
    def freeze(cls, inputs, outputs, toposort):
        made = from_toposort(cls, inputs, outputs, toposort)
        traces = (traces_of(node) for node in toposort)
        setattr(made, _NAME, {node: of for node, of in zip(made.toposort(), traces, strict=True) if any(of)})
        return made

    return freeze


def _binding(bind):
    @wraps(bind)
    def bind_with_traces(self, replace, *, return_memo=False):
        outputs, memo = bind(self, replace, return_memo=True)
        for node, traces in getattr(self, _NAME).items():
            for var, trace in zip(memo[node].outputs, traces, strict=True):
                var.tag.trace = trace
        return (outputs, memo) if return_memo else outputs

    return bind_with_traces


def _cloning(clone_with_new_inputs):
    @wraps(clone_with_new_inputs)
    def clone_with_trace(self, *args, **kwargs):
        node = clone_with_new_inputs(self, *args, **kwargs)
        for var, old in zip(node.outputs, self.outputs, strict=True):
            trace = getattr(old.tag, "trace", None)
            if trace and getattr(var.tag, "trace", None) is not trace:
                var.tag.trace = trace
        return node

    return clone_with_trace


_gradients = threading.local()  # `stacks`: of the nodes whose gradients this thread makes, the innermost last


class _Readers(dict):
    """Of a variable: PyTensor makes the gradient of a node while it is at that node here."""

    def __init__(self, nodes, stacks):
        super().__init__(nodes)
        self._stacks = stacks

    def __iter__(self):
        for node in super().__iter__():
            self._stacks.append(user_stack(node))
            try:
                yield node
            finally:
                self._stacks.pop()


def _differentiating(populate_grad_dict):
    @wraps(populate_grad_dict)
    def differentiate_with_lines(var_to_app_to_idx, *args, **kwargs):
        around = getattr(_gradients, "stacks", [])
        _gradients.stacks = around[-1:]  # a list of its own: what an exception leaves in it concerns nobody
        readers = {var: _Readers(nodes, _gradients.stacks) for var, nodes in var_to_app_to_idx.items()}
        try:
            return populate_grad_dict(readers, *args, **kwargs)
        finally:
            _gradients.stacks = around

    return differentiate_with_lines


def _making(init):
    @wraps(init)
    def init_with_trace(self, *args, **kwargs):
        init(self, *args, **kwargs)
        stacks = getattr(_gradients, "stacks", None)
        if stacks and stacks[-1] is not None:
            for var in self.outputs:
                var.tag.trace = [stacks[-1], *(getattr(var.tag, "trace", None) or ())]

    return init_with_trace


class TakesOver(Feature):
    """A variable that has no trace takes over that of the variable that it replaces."""

    def on_attach(self, fgraph):
        if any(isinstance(feature, TakesOver) for feature in fgraph._features):
            raise AlreadyThere()

    def on_change_input(self, fgraph, node, i, var, new_var, reason=None):
        if new_var.owner is not None and not getattr(new_var.tag, "trace", None):
            new_var.tag.trace = getattr(var.tag, "trace", [])


@graph_rewriter
def take_over_traces(fgraph):
    fgraph.attach_feature(TakesOver())


def register_traces(tag):
    _keep_traces()
    Apply.clone_with_new_inputs = _cloning(Apply.clone_with_new_inputs)
    if hasattr(gradient, "_populate_grad_dict"):
        gradient._populate_grad_dict = _differentiating(gradient._populate_grad_dict)
        Apply.__init__ = _making(Apply.__init__)
    optdb.register("take_over_traces", take_over_traces, tag, use_db_name_as_tag=False, position=-1)
