"""The nodes that serve one branch of an IfElse alone: they are added with it, so that one that is not taken costs nothing."""

try:
    from pytensor.conditional.op import IfElse
except ImportError:  # older versions
    from pytensor.ifelse import IfElse


class Branches:
    """Which nodes stand in which branches, and those that have not been added."""

    def __init__(self):
        self.of = {}  # node -> the branches that it stands in
        self._waiting = {}  # branches -> the nodes that stand in them, with their numbers

    def know(self, fgraph, order, numbers):
        branches = branch_nodes(fgraph, order)
        self.of.update(branches)
        for node, number in zip(order, numbers, strict=True):
            self._waiting.setdefault(branches[node], []).append((node, number))

    def take(self, branches):
        """The nodes that are to be added now, with their numbers."""
        return self._waiting.pop(branches, [])

    def state(self):
        return dict(self._waiting)

    def back_to(self, state):
        self._waiting = dict(state)


def has_branches(op, within):
    """Is there an IfElse in the graph of `op`, or in one of an op of the class `within` that is in it?"""
    ops = (node.op for node in op.fgraph.apply_nodes)
    return any(isinstance(x, IfElse) or isinstance(x, within) and has_branches(x, within) for x in ops)


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
