"""Which node is translated, and where it comes from: what errors and dumps say of it."""

from collections import Counter

from ... import errors
from ..traces import source_line
from . import origin


class Place:
    """Of the node that is translated, its number and its location; and those of all nodes so far."""

    def __init__(self):
        self.number = -1  # in PyTensor's order; a node of a graph within a node has that one's
        self.location = ""
        self._line = None
        self.node_of_location = {}
        self.exceptions = {}  # location -> by class of inlay's, what is raised instead
        self._numbers = {}
        self._lines = {}  # node -> the user's line that made it, or None
        self._uses = Counter()  # id of an op -> nodes of it
        self._alike = {}  # text of a location -> the nodes within one that it fits, each with its number among them

    def know(self, fgraph, order, numbers, within):
        """The nodes of a graph. `within`: the node whose graph it is. A node without a line has that one's. So has each
        node of a graph that several nodes have: PyTensor lets Scans that are alike share one, with the lines of the
        first."""
        self._uses.update(id(node.op) for node in order)
        is_shared = within is not None and self._uses[id(within.op)] > 1
        for node, number in zip(order, numbers, strict=True):
            own = None if is_shared else source_line(node, fgraph)
            self._lines[node] = own or self._lines.get(within)
            self._numbers[node] = number

    def enter(self, node, number):
        """The node is translated from now on."""
        self.number = number
        self._line = self._lines.get(node)
        self.location = self._location(node, number)
        self.node_of_location[self.location] = number

    def enter_part(self, node):
        """The same of a node that was made for a part of the one that is translated."""
        self._lines[node] = self._line
        self.enter(node, self.number)

    def location_of(self, node):
        return self._location(node, self._numbers[node])

    def _location(self, node, number):
        line = self._lines.get(node)
        nodes = self._alike.setdefault(origin.location(node, number, line), {})
        return origin.location(node, number, line, nodes.setdefault(node, len(nodes) + 1))

    def fails_as(self, exception, failure=errors.InlayError):
        """What is to be raised where the node that is translated fails in this way, rather than inlay's own."""
        self.exceptions.setdefault(self.location, {})[failure] = exception

    def state(self):
        return self.number, self.location, self._line

    def back_to(self, state):
        self.number, self.location, self._line = state
