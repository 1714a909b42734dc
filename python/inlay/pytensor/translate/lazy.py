"""IfElse: only the branch that is taken runs.

The nodes that serve one branch alone leave the main graph, and become the body of a cond. So a branch that is not taken
costs nothing and cannot fail.

Branches may return different shapes: then a size of the result is one that the condition tells.

Where a body cannot hold a branch (it returns an array whose size it finds, say), each branch becomes a function of its
own, compiled with the main one, and the node is a call that looks at the condition and runs one of the two.
"""

import copy
from functools import partial
from types import SimpleNamespace

import numpy as np
from pytensor.graph.basic import Apply, Constant
from pytensor.graph.fg import FunctionGraph

from ... import _inlay, errors
from ...text import function_of
from .. import failures
from .bodies import Body
from .calls import call_node
from .dims import all_equal, known_equal
from .dtypes import is_tensor
from .host_call import shapes_of_types
from .origin import short_name
from .registry import NotNative, why_not_native
from .sizes import late_size

try:
    from pytensor.graph.traversal import io_toposort
except ImportError:  # older versions
    from pytensor.graph.basic import io_toposort


def if_else(t, node, translate):
    """A cond, or where a branch cannot be a body, one of two functions, each by `translate`."""
    before, number = _state(t), t.place.number
    try:
        return _cond(t, node)
    except (NotNative, errors.InlayError) as error:
        why = why_not_native(error)
    _back_to(t, before)
    t.calls.refuse(number, why)
    compiled = partial(compile_branch, translate=translate, choices=t.choices)
    call = LazyCall(node, number, t.branches.of, compiled, t.found)
    return call_node(t, node, call, [t.as_declared(x) for x in call.variables])


def _state(t):
    """What translating the nodes of a branch changes outside of its body."""
    return t.calls.state(), t.branches.state(), t.place.state()


def _back_to(t, state):
    calls, branches, place = state
    t.calls.back_to(calls)
    t.branches.back_to(branches)
    t.place.back_to(place)
    t.builder.at(t.place.location)


def _cond(t, node):
    """The results of an IfElse as those of a cond."""
    condition = t.value(node.inputs[0])
    if condition.dtype != "bool":
        condition = t.builder.scalar("ne", [condition, t.cast(t.constants.array(np.asarray(0)), condition.dtype)])
    before = _state(t)
    bodies, results = _branches(t, node)
    for body, values in zip(bodies, results, strict=True):
        if not all(body.builder.is_given(dim) for value in values for dim in value.dims):
            raise NotNative("a branch that returns an array whose size it finds")
    if any(not all_equal(a.dims, b.dims) for a, b in zip(*results, strict=True)):
        dims = [_dims_of_either(t, condition, a, b) for a, b in zip(*results, strict=True)]
        _back_to(t, before)
        bodies, results = _branches(t, node, dims)
    graphs = []
    for body, values in zip(bodies, results, strict=True):
        for value in values:
            body.builder.output(value)
        graphs.append(body.builder.finish())
    return t.builder.cond(condition, bodies[1].captured, *graphs)


def _branches(t, node, dims=None):
    """Both branches as bodies, and what they return: with these dims, if any are given."""
    n = node.op.n_outs
    own = t.branches.of.get(node, ())
    bodies, results = [], []
    for which in (0, 1):
        body = Body(t, bodies[0].captured if bodies else ())
        with body:
            t.add_nodes_in((*own, (node, which)))
            values = [t.value(x) for x in node.inputs[1 + which * n : 1 + (which + 1) * n]]
            results.append(values if dims is None else [t.require_dims(x, d) for x, d in zip(values, dims, strict=True)])
        bodies.append(body)
    for value in bodies[1].captured[len(bodies[0].captured) :]:
        bodies[0].bring_in(value)
    return bodies, _of_one_dtype(t, bodies, results)


def _of_one_dtype(t, bodies, results):
    """One branch may return a running sum, which is wider than its type says."""
    dtypes = [a.dtype if a.dtype == b.dtype else _inlay.promote(a.dtype, b.dtype) for a, b in zip(*results, strict=True)]
    made = []
    for body, values in zip(bodies, results, strict=True):
        with body:
            made.append([t.cast(x, dtype) for x, dtype in zip(values, dtypes, strict=True)])
    return made


def _dims_of_either(t, condition, a, b):
    """Of the branch that is taken. A size that only one of them has is known once the condition is."""
    size = t.builder.size
    return [
        x if known_equal(x, y) else late_size(t, t.builder.scalar("select", [condition, size(x), size(y)]))
        for x, y in zip(a.dims, b.dims, strict=True)
    ]


class LazyCall:
    """What inlay calls for an IfElse node: the condition, then the values of `variables`."""

    def __init__(self, node, number, branches, compile_branch, found):
        self.node = node
        self.shapes = shapes_of_types(node, found)
        self.number = number
        self.name = short_name(node.op)
        n = node.op.n_outs
        own = branches.get(node, ())  # in a graph within a graph, nothing is taken out
        wanted = [node.inputs[1 : 1 + n], node.inputs[1 + n :]]
        inner = [
            {b for b, path in branches.items() if path[: len(own) + 1] == (*own, (node, which))} for which in (0, 1)
        ]
        inputs = [_boundary(outputs, nodes) for outputs, nodes in zip(wanted, inner, strict=True)]
        self.variables = list(dict.fromkeys([node.inputs[0], *inputs[0], *inputs[1]]))
        self._positions = [[self.variables.index(x) for x in branch] for branch in inputs]
        self._dtypes = [x.type.dtype if is_tensor(x.type) else None for x in node.outputs]
        self._functions = [compile_branch(_copied(i, o)) for i, o in zip(inputs, wanted, strict=True)]

    def __getstate__(self):
        """Without the graph around it."""
        return {**vars(self), "node": None, "variables": None}

    def __call__(self, *values):
        which = 0 if values[0] else 1
        results = self._functions[which](*(values[i] for i in self._positions[which]))
        results = results if isinstance(results, tuple) else (results,)
        typed = zip(results, self._dtypes, strict=True)
        results = (x if dtype is None else x.astype(dtype, copy=False) for x, dtype in typed)
        # What a branch returns as it was given is another object, as PyTensor's own op has it.
        return tuple(copy.deepcopy(x) if any(x is value for value in values) else x for x in results)


def _copied(inputs, outputs):
    """A graph of nodes of its own, also where those that there are cannot be changed."""
    new = {x: x.type(x.name) for x in inputs}
    for node in io_toposort(inputs, outputs):
        made = Apply(node.op, [new.get(x, x) for x in node.inputs], [x.type(x.name) for x in node.outputs])
        new.update(zip(node.outputs, made.outputs, strict=True))
    return FunctionGraph([new[x] for x in inputs], [new.get(x, x) for x in outputs], clone=False)


def _boundary(outputs, nodes):
    """What a branch needs from outside: variables that none of its nodes makes."""
    needed, stack, seen = [], list(outputs), set()
    while stack:
        var = stack.pop()
        if var in seen or isinstance(var, Constant):
            continue
        seen.add(var)
        if var.owner in nodes:
            stack.extend(var.owner.inputs)
        else:
            needed.append(var)
    return needed


def compile_branch(fgraph, translate, choices):
    """The callable of a branch."""
    translation = translate(fgraph, fgraph.toposort(), "branch")
    program = choices.compile(translation.graph, translation.bound, translation.host_calls)
    function = function_of(program, translation.bound, translation.host_calls, "a branch")
    return _Branch(function, failures.Handler(SimpleNamespace(), translation))


class _Branch:
    """A branch's function. What it raises is of the class that the node has outside of a branch."""

    def __init__(self, function, handler):
        self._function, self._handler = function, handler

    def __call__(self, *values):
        try:
            return self._function(*values)
        except errors.InlayError as error:
            if getattr(error, "is_of_branch", False):  # of one within this one
                raise
            raised = self._handler(error, failed_host_call=-1)
            raised.is_of_branch = True
            raise raised from None
