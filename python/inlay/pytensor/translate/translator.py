"""From a FunctionGraph to an inlay graph.

The nodes are translated in order. Each gets as its location the name of its op, its number in PyTensor's own dprint
and the line of the user's source that made it, so that an error and a dump name what the user wrote.
A node without a native form is called through its own `perform` (`host_call.py`), that node alone.
"""

from dataclasses import dataclass, field
from functools import partial
from typing import Any

from pytensor.graph.basic import Constant

from ... import _inlay, errors
from ...choices import Choices
from ..failures import exceptions_of
from . import lazy
from .bodies import Scope
from .branches import Branches, IfElse
from .calls import Calls
from .constants import Constants
from .dims import all_equal, is_one, known_equal
from .dtypes import PYTENSOR_NAMES, is_complex, is_tensor, sizes_of_type, type_of
from .host_call import by_its_own_code
from .names import Names, identifier
from .place import Place
from .registry import NotNative, translation_of, why_not_native
from .users import Users


@dataclass
class Translation:
    """An inlay graph and what it needs beside it."""

    graph: Any  # _inlay.Graph
    nodes: list  # PyTensor's, in order
    host_calls: list = field(default_factory=list)  # callables, by the number that the graph's host calls carry
    bound: list = field(default_factory=list)  # arrays, in the order of the graph's bound parameters
    node_of_location: dict = field(default_factory=dict)  # location text -> index into `nodes`
    reasons: dict = field(default_factory=dict)  # index into `nodes` -> why that node is a host call
    exceptions: dict = field(default_factory=dict)  # location text -> by class of inlay's, what is raised instead


def translate(fgraph, order, name="main", found=frozenset(), names=None, choices=Choices()):  # noqa: B008  (it is frozen)
    """The inlay graph of `fgraph`, whose nodes run in `order`. `found`: sizes of results of ops that are not what their
    types say (OtherSizes). `names`: what the user calls variables that have no names of their own, and inputs. `choices`:
    how branches are compiled that run as functions of their own."""
    t = Translator(name, Users(fgraph), Names(names or {}), found, choices)
    for position, var in enumerate(fgraph.inputs):
        t.add_param(var, position)
    t.add_nodes(fgraph, order, range(len(order)))
    for number, var in enumerate(fgraph.outputs):
        t.add_output(var, t.as_declared(var) if number in t.users.updates else t.value(var))
    return t.finish(list(order))


class Translator:
    """What the translations of the ops work with: the graph that is built, and the value of each PyTensor variable so
    far. Whatever else is known of the function is in a part of its own; sizes are asked of `sizes.py`."""

    def __init__(self, name, users, names, found, choices):
        self.scope = Scope(_inlay.GraphBuilder(name))
        self.constants = Constants(self)
        self.calls = Calls()  # of the host
        self.place = Place()  # of the node that is translated
        self.branches = Branches()  # of IfElse, in the graph whose nodes are added
        self.users = users  # of the variables of the outermost graph
        self.names = names  # in the graph
        self.found = found  # sizes that types say wrongly: then none but those of inputs are believed
        self.choices = choices

    @property
    def scope(self):
        """The graph that is built."""
        return self._scope

    @scope.setter
    def scope(self, scope):
        self._scope, self.builder = scope, scope.builder

    # The graph: parameters, nodes, outputs.

    def add_param(self, var, position):
        name = self.names.unique(self.names.of_variables.get(var) or var.name or f"input_{position}")
        dtype, shape = type_of(var)
        dims = [self.builder.symbol(f"{name}_{axis}") if n is None else n for axis, n in enumerate(shape)]
        is_donated = dtype != "opaque" and len(dims) > 0 and var in self.users.donated
        made = self.builder.donated if is_donated else self.builder.param
        self.scope.values[var] = made(name, dtype, dims)

    def add_nodes(self, fgraph, order, numbers, within=None):
        """All nodes but those that serve one branch of an IfElse alone: they are added with it. `within`: the node
        whose graph it is."""
        self.place.know(fgraph, order, numbers, within)
        outer, self.branches = self.branches, Branches()
        self.branches.know(fgraph, order, numbers)
        try:
            self.add_nodes_in(())
        finally:
            self.branches = outer

    def add_nodes_in(self, branches):
        for node, number in self.branches.take(branches):
            self.place.enter(node, number)
            self.builder.at(self.place.location)
            self._add(node)

    def _add(self, node):
        for var, value in zip(node.outputs, self.translate_node(node), strict=True):
            self._set(var, value)

    def translate_node(self, node):
        """The values of the node's outputs."""
        for failure, exception in exceptions_of(node.op).items():
            self.place.fails_as(exception, failure)
        if isinstance(node.op, IfElse):
            return lazy.if_else(self, node, partial(translate, found=self.found, choices=self.choices))
        translation = translation_of(node.op)
        before = self.calls.state()
        try:
            if translation is None:
                raise NotNative("no native form")
            result = translation(self, node)
        except (NotNative, errors.InlayError) as error:
            reason = why_not_native(error)
        else:
            return list(result) if isinstance(result, list | tuple) else [result]
        self.calls.back_to(before)
        return by_its_own_code(self, node, reason)

    def add_output(self, var, value):
        self.builder.at("")
        self.builder.output(value, identifier(var.name) if var.name else "")

    def finish(self, order):
        return Translation(
            graph=self.builder.finish(),
            nodes=order,
            host_calls=self.calls.functions,
            bound=self.constants.bound,
            node_of_location=self.place.node_of_location,
            reasons=self.calls.reasons,
            exceptions=self.place.exceptions,
        )

    def _set(self, var, value):
        """`value` is that of `var`, with the sizes that PyTensor knows; None: nobody asks for it."""
        if value is None:
            return
        if is_tensor(var.type) and not self.found:
            # A size that the operands make stands: PyTensor may know a wrong one where there are no elements.
            value = self.require_dims(
                value,
                [
                    have if want is None or isinstance(have, int) else want
                    for have, want in zip(value.dims, sizes_of_type(var.type.shape), strict=True)
                ],
            )
        name = var.name or self.names.of_variables.get(var)
        if name and not value.name:
            self.builder.name(value, self.names.unique(name))
        self.scope.values[var] = value

    def inline(self, inner_inputs, inner_nodes, inner_outputs, operands):
        """The values of `inner_outputs` where `operands` stand for `inner_inputs`, for nodes that stand for one."""
        place = self.place.state()
        try:
            with self.scope.graph_within(dict(zip(inner_inputs, operands, strict=True)), self.scope.sizes):
                for node in inner_nodes:
                    self.place.enter_part(node)
                    self.builder.at(self.place.location)
                    self._add(node)
                return [self.value(x) for x in inner_outputs]
        finally:
            self.place.back_to(place)
            self.builder.at(self.place.location)

    def inline_graph(self, node, fgraph, sizes):
        """The values of the outputs of `fgraph`, a graph that `node` holds. `sizes`: those given for its inputs."""
        values = dict(zip(fgraph.inputs, self.operands(node), strict=True))
        order, place = fgraph.toposort(), self.place.state()
        try:
            with self.scope.graph_within(values, sizes):
                self.add_nodes(fgraph, order, [self.place.number] * len(order), within=node)
                return [self.value(x) for x in fgraph.outputs]
        finally:
            self.place.back_to(place)
            self.builder.at(self.place.location)

    # Values.

    def value(self, var):
        values = self._scope.values
        if var not in values:
            body = self._scope.body
            if isinstance(var, Constant):
                values[var] = self.constants.of(var)
            elif body is not None:
                values[var] = body.capture(var)
            else:
                raise KeyError(f"no value for {var}")
        return values[var]

    def as_declared(self, var):
        """The value of `var` in the dtype of its type: that of a running sum, and of what is made of it, may be wider."""
        value = self.value(var)
        return self.cast(value, type_of(var)[0]) if is_tensor(var.type) else value

    def also_known_as(self, other, var):
        """`other` is the value of `var` from now on."""
        self.scope.values[other] = self.value(var)

    def operands(self, node):
        return [self.value(x) for x in node.inputs]

    def dims(self, var):
        """The sizes of a variable. A sparse matrix has some too, but no array of inlay's: its own op tells them."""
        value = self.value(var)
        if value.dtype == "opaque":
            raise NotNative("the shape of what is no array")
        return value.dims

    def cast(self, x, dtype):
        if x.dtype == dtype:
            return x
        if is_complex(x.dtype) and not is_complex(dtype):
            return self._real_of_complex(x, dtype)
        array = self.scope.literals.get(x.index)
        # (NaN to integer: an error, at run time.)
        if array is not None and not (array.dtype.kind == "f" and dtype[0] in "iu"):
            return self.constants.array(array.astype(PYTENSOR_NAMES[dtype]))
        return self.builder.cast(x, dtype)

    def _real_of_complex(self, x, dtype):
        """As NumPy: the real part; of bool, whether either part is not 0."""
        if dtype == "bool":
            return self.builder.scalar("ne", [x, self.builder.literal(0, x.dtype)])
        return self.cast(self.builder.scalar("real", [x]), dtype)

    def broadcast_like(self, x, *others):
        """x with the shape that it and the others broadcast to."""
        dims = list(x.dims)
        for other in others:
            dims = [1] * (len(other.dims) - len(dims)) + dims
            for i in range(1, len(other.dims) + 1):
                if is_one(dims[-i]):
                    dims[-i] = other.dims[-i]
        return x if len(dims) == len(x.dims) and all_equal(dims, x.dims) else self.builder.broadcast(x, dims)

    def require_equal(self, left, right, message, operand):
        """Checks two sizes at the node that is made next; `message` has {left} and {right} for the two."""
        if known_equal(left, right):
            return
        b = self.builder
        b.require_at_most(left, right, "shape-mismatch", message.format(left="{0}", right="{1}"), operand)
        b.require_at_most(right, left, "shape-mismatch", message.format(left="{1}", right="{0}"), operand)

    def require_dims(self, x, dims):
        """x with these dims; each that is not known to be x's own is checked when the function runs."""
        if all_equal(x.dims, dims):
            return x
        # Dim by dim, as a broadcast compares; a reshape compares only the number of elements, and [2, 3] is not [3, 2].
        # A static 1 would stretch, so those are left to a reshape.
        x = self.builder.broadcast(x, [1 if is_one(have) else want for have, want in zip(x.dims, dims, strict=True)])
        return self.builder.reshape(x, dims)
