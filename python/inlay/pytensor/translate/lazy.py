"""IfElse: only the branch that is taken runs.

The nodes that serve one branch alone leave the main graph; each branch becomes a function of its own, compiled with
it. The node is then a call that looks at the condition and runs one of the two. So a branch that is not taken costs
nothing and cannot fail.
"""

from pytensor.graph.basic import Constant
from pytensor.graph.fg import FunctionGraph

from ... import _inlay

try:
    from pytensor.conditional.op import IfElse
except ImportError:  # older versions
    from pytensor.ifelse import IfElse


def branch_nodes(fgraph, order):
    """Node -> the branches that it stands in, outermost first: ((IfElse node, 0 or 1), ...). () for the others."""
    if not any(isinstance(node.op, IfElse) for node in order):
        return dict.fromkeys(order, ())
    branches = {}
    for node in reversed(order):
        users = []
        for var in node.outputs:
            for client, position in fgraph.clients.get(var, ()):
                users.append(_branch_of_use(branches, client, position))
        branches[node] = _common_prefix(users)
    return branches


def _branch_of_use(branches, client, position):
    if client not in branches:
        return ()  # an output of the graph
    own = branches[client]
    if isinstance(client.op, IfElse) and position > 0:
        return (*own, (client, (position - 1) // client.op.n_outs))
    return own


def _common_prefix(paths):
    if not paths:
        return ()
    first, *others = paths
    length = 0
    while length < len(first) and all(len(p) > length and p[length] == first[length] for p in others):
        length += 1
    return first[:length]


class LazyCall:
    """What inlay calls for an IfElse node: the condition, then the values of `variables`."""

    def __init__(self, node, number, branches, compile_branch):
        self.node = node
        self.number = number
        self.name = str(node.op)
        n = node.op.n_outs
        own = branches.get(node, ())  # in a graph within a graph, nothing is taken out
        wanted = [node.inputs[1 : 1 + n], node.inputs[1 + n :]]
        inner = [
            {b for b, path in branches.items() if path[: len(own) + 1] == (*own, (node, which))} for which in (0, 1)
        ]
        inputs = [_boundary(outputs, nodes) for outputs, nodes in zip(wanted, inner, strict=True)]
        self.variables = list(dict.fromkeys([node.inputs[0], *inputs[0], *inputs[1]]))
        self._positions = [[self.variables.index(x) for x in branch] for branch in inputs]
        self._functions = [compile_branch(FunctionGraph(i, o, clone=True)) for i, o in zip(inputs, wanted, strict=True)]

    def __call__(self, *values):
        which = 0 if values[0] else 1
        results = self._functions[which](*(values[i] for i in self._positions[which]))
        return results if isinstance(results, tuple) else (results,)


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


def compile_branch(fgraph, translate):
    """The callable of a branch."""
    translation = translate(fgraph, fgraph.toposort(), "branch")
    return _inlay.compile(translation.graph, translation.bound, translation.host_calls).function()
