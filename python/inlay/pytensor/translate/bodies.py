"""Bodies of cond and loop: graphs of their own, which values of the outside enter as parameters."""

from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Scope:
    """A graph that is being built, and what is known of it."""

    builder: Any  # _inlay.GraphBuilder
    body: Any = None  # the Body that it is; None: the outermost graph
    values: dict = field(default_factory=dict)  # PyTensor variable -> its value
    literals: dict = field(default_factory=dict)  # index of a value that is a literal -> its elements
    late_sizes: dict = field(default_factory=dict)  # index of a value that is a size -> that size
    sizes: dict = field(default_factory=dict)  # input of a graph within a graph -> the size given for it, if any
    drawable: Any = None  # generators of such a graph that may be drawn from themselves; None: its users tell

    @contextmanager
    def graph_within(self, values, sizes):
        """Within the block what is known of variables is that of another graph, built in place. (PyTensor has one
        object for the inputs of all such graphs that have the same number and type.)"""
        outer = self.values, self.sizes, self.drawable
        self.values, self.sizes, self.drawable = values, sizes, frozenset()
        try:
            yield
        finally:
            self.values, self.sizes, self.drawable = outer


class Body:
    """While it is entered, the translator builds into it. What it asks of the outside becomes a parameter."""

    def __init__(self, t, captured=(), drawable=frozenset(), sizes=None):
        """`drawable`: generators of the inner graph that may be drawn from themselves. `sizes`: those given for its
        inputs; None: it is a part of the graph around."""
        self._t = t
        self.builder = t.builder.body()
        self._drawable = drawable
        self._sizes = t.scope.sizes if sizes is None else sizes
        self.captured = []  # values of the outside, in the order of the parameters
        self._inside = {}  # number of a value of the outside -> the value in here
        self._outer_scope = t.scope
        for value in captured:
            self.bring_in(value)

    def __enter__(self):
        self._t.scope = Scope(self.builder, self, sizes=self._sizes, drawable=self._drawable)
        return self

    def __exit__(self, *exception):
        self._t.scope = self._outer_scope

    @contextmanager
    def outside(self):
        """Within the block the translator builds into the graph around."""
        inner, self._t.scope = self._t.scope, self._outer_scope
        try:
            yield
        finally:
            self._t.scope = inner

    def capture(self, var):
        """The value in here of a PyTensor variable of the outside."""
        with self.outside():
            value = self._t.value(var)
        return self.bring_in(value)

    def outside_of(self, inside):
        """The value of the outside that the parameter stands for; None: it is no such parameter."""
        return next((x for x in self.captured if self._inside[x.index].index == inside.index), None)

    def bring_in(self, value):
        """What stands in here for a value of the outside."""
        if value.index not in self._inside:
            literal = self._outer_scope.literals.get(value.index)
            if literal is not None and self._t.builder is self.builder:
                self._inside[value.index] = self._t.constants.array(literal)
            else:
                self._inside[value.index] = self.builder.param(value.name or "c", value.dtype, value.dims)
                self.captured.append(value)
        return self._inside[value.index]
