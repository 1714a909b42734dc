"""From a FunctionGraph to an inlay graph.

The nodes are translated in order. Each gets as its location the name of its op, its number in PyTensor's own dprint
and the line of the user's source that made it, so that an error and a dump name what the user wrote.
A node without a native form is called through its own `perform` (`host_call.py`), that node alone.
"""

import re
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from pytensor.compile.sharedvalue import SharedVariable
from pytensor.graph.basic import Apply, Constant
from pytensor.scalar.basic import ScalarType
from pytensor.scan.op import Scan
from pytensor.tensor.elemwise import DimShuffle
from pytensor.tensor.shape import SpecifyShape

from ... import _inlay, errors
from ...choices import Choices
from ..traces import source_line
from . import lazy, origin, random, scan
from .dims import all_equal, is_one, known_equal
from .dtypes import INLAY_NAMES, PYTENSOR_NAMES, is_complex, is_tensor
from .host_call import HostCall
from .registry import NotNative, translation_of

LARGEST_LITERAL = 16  # elements; a larger constant is an array bound to the function


@dataclass
class Translation:
    """An inlay graph and what it needs beside it."""

    graph: Any  # _inlay.Graph
    nodes: list  # PyTensor's, in order
    host_calls: list = field(default_factory=list)  # callables, by the number that the graph's host calls carry
    bound: list = field(default_factory=list)  # arrays, in the order of the graph's bound parameters
    node_of_location: dict = field(default_factory=dict)  # location text -> index into `nodes`
    reasons: dict = field(default_factory=dict)  # index into `nodes` -> why that node is a host call
    exceptions: dict = field(default_factory=dict)  # index into `nodes` -> (a class of inlay's, what is raised instead)


def translate(fgraph, order, name="main", found=frozenset(), names=None, choices=Choices()):  # noqa: B008  (it is frozen)
    """The inlay graph of `fgraph`, whose nodes run in `order`. `found`: sizes of results of ops that are not what their
    types say (OtherSizes). `names`: what the user calls variables that have no names of their own, and inputs. `choices`:
    how branches are compiled that run as functions of their own."""
    t = Translator(name)
    t.found = found
    t.choices = choices
    t.names = names or {}
    t.clients = fgraph.clients
    t.donated = _donated_inputs(fgraph)
    for position, var in enumerate(fgraph.inputs):
        t.add_param(var, position, donated=var in t.donated and is_tensor(var.type) and var.type.ndim > 0)
    t.add_nodes(fgraph, order, range(len(order)))
    for var in fgraph.outputs:
        t.add_output(var)
    return t.finish(list(order))


class Translator:
    """What the translations of the ops work with: the builder, and the value of each PyTensor variable so far."""

    def __init__(self, name):
        self.builder = _inlay.GraphBuilder(name)
        self._values = {}
        self._arrays = {}  # (address, shape, strides, dtype) of a bound array -> its value
        self.sizes_inside = {}  # input of a graph within a graph -> the size that is given for it, where it is one
        self._once = {}  # key -> what `once` holds, and how many host calls there were then
        self._late_sizes = {}  # index of a value that is a size -> that size
        self._literals = {}  # index of a value that is a literal -> its elements
        self._body = None  # of a cond or loop that is being built
        self._host_calls = []
        self._bound = []
        self._node_of_location = {}
        self._reasons = {}
        self._exceptions = {}
        self._is_all_native = False
        self._number = -1
        self._numbers = {}  # node -> its number
        self._lines = {}  # node -> the user's line that made it, or None
        self._uses = Counter()  # id of an op -> nodes of it
        self._location = ""  # of the node that is translated
        self.branches = {}  # node -> the branches that it stands in
        self.nodes_in = {}  # branches -> the nodes that stand in them, with their numbers
        self.found = frozenset()  # sizes that types say wrongly: then none but those of inputs are believed
        self.clients = {}  # of the variables of the outermost graph
        self.donated = set()  # inputs of that graph whose contents a call may overwrite
        self.names = {}  # of variables that have none of their own, and of inputs
        self._names = set()

    @property
    def number(self):
        """Of the node that is translated, in PyTensor's order."""
        return self._number

    # The graph: parameters, nodes, outputs.

    def add_param(self, var, position, donated=False):
        name = self._unique(self.names.get(var) or var.name or f"input_{position}")
        dtype, shape = _type_of(var)
        dims = [self.builder.symbol(f"{name}_{axis}") if n is None else n for axis, n in enumerate(shape)]
        made = self.builder.donated if donated and dtype != "opaque" else self.builder.param
        self._values[var] = made(name, dtype, dims)

    @property
    def scope(self):
        """The graph that is being built, and what is known of it."""
        return self.builder, self._values, self._literals, self._body, self._late_sizes

    @scope.setter
    def scope(self, scope):
        self.builder, self._values, self._literals, self._body, self._late_sizes = scope

    @property
    def body(self):
        """The Body that is being built; None: the outermost graph."""
        return self._body

    def add_nodes(self, fgraph, order, numbers, within=None):
        """All nodes but those that serve one branch of an IfElse alone: they are added with it.

        `within`: the node whose graph it is. A node without a line has that one's. So has each node of a graph that
        several nodes have: PyTensor lets Scans that are alike share one, with the lines of the first."""
        self._uses.update(id(node.op) for node in order)
        is_shared = within is not None and self._uses[id(within.op)] > 1
        for node in order:
            own = None if is_shared else source_line(node, fgraph)
            self._lines[node] = own or self._lines.get(within)
        branches = lazy.branch_nodes(fgraph, order)
        self.branches.update(branches)
        for node, number in zip(order, numbers, strict=True):
            self.nodes_in.setdefault(branches[node], []).append((node, number))
            self._numbers[node] = number
        self.add_nodes_in(())

    def add_nodes_in(self, branches):
        for node, number in self.nodes_in.pop(branches, []):
            self.add_node(node, number)

    def add_node(self, node, number):
        self._number = number
        self._location = location = origin.location(node, number, self._lines.get(node))
        self._node_of_location[location] = number
        self.builder.at(location)
        for var, value in zip(node.outputs, self.translate_node(node), strict=True):
            self._set(var, value)

    def translate_node(self, node):
        """The values of the node's outputs."""
        if isinstance(node.op, lazy.IfElse):
            return self.lazy_call(node)
        translation = translation_of(node.op)
        calls, reasons = len(self._host_calls), dict(self._reasons)
        try:
            if translation is None:
                raise NotNative("no native form")
            result = translation(self, node)
        except NotNative as reason:
            self._forget_calls(calls, reasons)
            return self.host_call(node, str(reason))
        except errors.InlayError as error:
            # Something that inlay refuses while the graph is built, two constant sizes that differ, say: PyTensor's own
            # op says what is wrong, when it runs.
            if isinstance(error, errors.Internal):
                raise
            self._forget_calls(calls, reasons)
            return self.host_call(node, str(error).splitlines()[0])
        return list(result) if isinstance(result, list | tuple) else [result]

    def add_output(self, var):
        self.builder.at("")
        self.builder.output(self.value(var), _identifier(var.name) if var.name else "")

    def finish(self, order):
        return Translation(
            graph=self.builder.finish(),
            nodes=order,
            host_calls=self._host_calls,
            bound=self._bound,
            node_of_location=self._node_of_location,
            reasons=self._reasons,
            exceptions=self._exceptions,
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
                    for have, want in zip(value.dims, var.type.shape, strict=True)
                ],
            )
        name = var.name or self.names.get(var)
        if name and not value.name:
            self.builder.name(value, self._unique(name))
        self._values[var] = value

    def inline(self, inner_inputs, inner_nodes, inner_outputs, operands):
        """The values of `inner_outputs` where `operands` stand for `inner_inputs`: a graph within a graph."""
        outer = self._values
        self._values = dict(zip(inner_inputs, operands, strict=True))
        try:
            for node in inner_nodes:
                for var, value in zip(node.outputs, self.translate_node(node), strict=True):
                    self._set(var, value)
            return [self.value(x) for x in inner_outputs]
        finally:
            self._values = outer

    # Values.

    def value(self, var):
        if var not in self._values:
            if isinstance(var, Constant):
                self._values[var] = self._constant(var)
            elif self._body is not None:
                self._values[var] = self._body.capture(var)
            else:
                raise KeyError(f"no value for {var}")
        return self._values[var]

    def also_known_as(self, other, var):
        """`other` is the value of `var` from now on."""
        self._values[other] = self.value(var)

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
        array = self._literals.get(x.index)
        if array is not None and not (
            array.dtype.kind == "f" and dtype[0] in "iu"
        ):  # NaN to integer: an error, at run time
            return self.constant_array(array.astype(PYTENSOR_NAMES[dtype]))
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

    # Constants.

    def _constant(self, var):
        if not is_tensor(var.type) and not isinstance(var.type, ScalarType):
            return self.host_constant(var.data, str(var))
        return self.constant_array(np.asarray(var.data), var.name)

    def constant_array(self, array, name=None):
        """A literal when it is small or all one number, else an array bound once."""
        dtype = INLAY_NAMES[array.dtype.name]
        if array.size == 0:
            return self._bound_array(array, name)
        if _all_same(array):
            value = self.builder.literal(array.flat[0].item(), dtype)
            if array.ndim:
                value = self.builder.broadcast(value, list(array.shape))
        elif array.size <= LARGEST_LITERAL:
            value = self.builder.literal_array(np.ascontiguousarray(array))
        else:
            return self._bound_array(array, name)
        self._literals[value.index] = array
        return value

    def _bound_array(self, array, name):
        """Bound row-major; an axis permutation of a row-major array is that array, transposed."""
        if self._body is not None:  # only the outermost graph has bound arrays
            with self._body.outside():
                value = self._bound_array(array, name)
            return self._body.bring_in(value)
        key = (array.ctypes.data, array.shape, array.strides, array.dtype.name)
        if key in self._arrays:
            return self._arrays[key]
        if array.ndim > 1 and array.size and not array.flags.c_contiguous:
            order = sorted(range(array.ndim), key=lambda axis: -abs(array.strides[axis]))
            row_major = array.transpose(order)
            if row_major.flags.c_contiguous:
                value = self.builder.transpose(self._bound_array(row_major, name), list(np.argsort(order)))
                self._arrays[key] = value
                return value
        array = np.require(array, requirements=["C", "A"])
        value = self.builder.bound(self._unique(name or f"constant_{len(self._bound)}"), array)
        self._bound.append(array)
        self._arrays[key] = value
        return value

    # Sizes. A dim is a Python int or an expression over the sizes of inputs.

    def dim(self, var, late=True):
        """The size that a 0-d integer variable stands for. `late`: it may be one that only its value tells."""
        from .sizes import size_of

        return size_of(self, var, late)

    def stands_for(self, inside, outside):
        """An input of a graph within a graph stands for a variable of this one. As a size it is the same."""
        self.sizes_inside.pop(inside, None)
        if getattr(outside.type, "ndim", 0) == 0 and getattr(outside.type, "dtype", "")[:3] in ("int", "uin"):
            try:
                self.sizes_inside[inside] = self.dim(outside, late=False)
            except NotNative:
                pass  # a value

    def late_size(self, value, scan=None):
        """An integer value of one element as a size that is known once the value is. The same size for the same value. `scan`: the
        node that makes that many steps, if there is one; it is what fails where the value is negative."""
        if value.index not in self._late_sizes:
            number = self.builder.reshape(value, []) if value.dims else value
            checked = number if scan is None else self._number_of_steps(number, scan)
            self._late_sizes[value.index] = self.builder.late_size(checked)
        return self._late_sizes[value.index]

    def _number_of_steps(self, value, scan):
        b = self.builder
        value = self.cast(value, "i64")
        message = f"{origin.scan_name(scan)}: n_steps is {{0}}"
        b.at(origin.location(scan, self._numbers[scan], self._lines.get(scan)))
        value = b.assert_(value, b.scalar("ge", [value, b.literal(0, "i64")]), message, "negative-size", [value])
        b.at(self._location)
        return value

    def is_only_returned(self, var):
        """Does nothing but the function's caller read it?"""
        users = [user for user, _ in self.clients.get(var, ())]
        return bool(users) and all(user == "output" or type(user.op).__name__ == "Output" for user in users)

    def shape_vector(self, var):
        """The sizes that a vector of integers stands for."""
        from .sizes import sizes_of

        return sizes_of(self, var)

    def elements(self, vector, count):
        """The elements of a vector of integers, of which there are to be `count`: sizes that only its value tells."""
        vector = self.require_dims(self.cast(self.value(vector), "i64"), [count])
        return [self.builder.slice(vector, [i]) for i in range(count)]

    def sizes(self, variables, static):
        """The dims that 0-d variables stand for; those that PyTensor knows are taken from `static`."""
        return [self.dim(v) if s is None else s for v, s in zip(variables, static, strict=True)]

    def scan_of_steps(self, var):
        """The Scan that makes that many steps, or None."""
        users = self.clients.get(var, ())
        scans = (user for user, i in users if isinstance(user, Apply) and isinstance(user.op, Scan) and i == 0)
        return next(scans, None)

    def length_that_is_required(self, vector):
        """The length that one of the users of a vector insists on, and what PyTensor raises where it is another; or
        None."""
        for user, _ in self.clients.get(vector, ()):
            if isinstance(user, Apply) and isinstance(user.op, SpecifyShape) and isinstance(user.inputs[1], Constant):
                return int(user.inputs[1].data), AssertionError
            if isinstance(user, Apply) and isinstance(user.op, DimShuffle) and 0 not in user.op.new_order:
                return 1, ValueError  # the axis is dropped
        return None

    def fails_as(self, exception, failure=errors.InlayError):
        """What is to be raised where the node that is translated fails in this way, rather than inlay's own."""
        self._exceptions[self._number] = failure, exception

    # Host calls.

    def host_call(self, node, reason):
        """The node through its own Python code, and why."""
        call = HostCall(node, self._number, random.may_draw_in_place(self, node), self.found)
        if call.draw is None:
            if self._is_all_native:
                raise NotNative(reason)
            self._reasons[self._number] = reason
        call.prepare()
        sizes = call.knows_rows(scan.sizes_of_rows(self, node)) if isinstance(node.op, Scan) else []
        return self._call_for(node, call, [self.builder.size(n) for n in sizes])

    @contextmanager
    def all_native(self):
        """Where a part of what is translated within the block would run through Python, all of it shall."""
        before, self._is_all_native = self._is_all_native, True
        self.builder.at(self._location)
        try:
            yield
        finally:
            self._is_all_native = before

    def lazy_call(self, node):
        """An IfElse: a cond, or where a branch cannot be a body, one of two functions."""
        before, number = self.state_of_nodes(), self._number
        try:
            return lazy.cond(self, node)
        except NotNative as reason:
            why = str(reason)
        except errors.InlayError as error:
            if isinstance(error, errors.Internal):
                raise
            why = str(error).splitlines()[0]
        self.back_to(before)
        if self._is_all_native:
            raise NotNative(why)
        self._reasons[number] = why
        branch = partial(translate, found=self.found, choices=self.choices)
        compile_branch = partial(lazy.compile_branch, translate=branch, choices=self.choices)
        call = lazy.LazyCall(node, self._number, self.branches, compile_branch, self.found)
        return self._call_for(node, call)

    def _call_for(self, node, call, others=()):
        operands = [*(self.value(x) for x in call.variables), *others]
        types = [(_type_of(x)[0], shape) for x, shape in zip(node.outputs, call.shapes, strict=True)]
        return self.call_function(call, operands, types, call.name)

    def state_of_nodes(self):
        """What translating the nodes of a branch changes outside of its body."""
        return len(self._host_calls), dict(self._reasons), dict(self.nodes_in), self._number, self._location

    def back_to(self, state):
        calls, reasons, nodes_in, self._number, self._location = state
        self._forget_calls(calls, reasons)
        self.nodes_in = dict(nodes_in)
        self.builder.at(self._location)

    def _forget_calls(self, count, reasons):
        """What was begun natively runs as a whole through Python: its own calls with it."""
        del self._host_calls[count:]
        self._once = {key: held for key, held in self._once.items() if held[1] <= count}
        self._reasons = reasons

    def host_constant(self, data, name):
        """A constant that is no tensor: a function without operands that returns it."""
        (value,) = self.call_function(lambda: (data,), [], [("opaque", ())], f"constant {name}")
        return value

    def call_function(self, function, operands, types, name):
        number = len(self._host_calls)
        self._host_calls.append(function)
        results = []
        for position, (dtype, shape) in enumerate(types):
            dims = [
                self.symbol(f"h{number}_{position}_{axis}") if n is None else n
                for axis, n in enumerate(shape)
            ]
            results.append((dtype, dims))
        return self.builder.host_call(name, number, operands, results)

    def once(self, key, make):
        """What `make` returns for a constant, or for the index of a value of the outermost graph; the same each time, until
        a host call that it made is forgotten."""
        if key not in self._once:
            made = make()
            self._once[key] = made, len(self._host_calls)
        return self._once[key][0]

    def held(self, key):
        """What `once` holds of the key; None: it was not asked."""
        return self._once.get(key, (None,))[0]

    def symbol(self, name):
        """A size of that name, or of one like it."""
        return self.builder.symbol(self._unique(name))

    def _unique(self, name):
        name = stem = _identifier(name)
        count = 1
        while name in self._names:
            count += 1
            name = f"{stem}_{count}"
        self._names.add(name)
        return name


def _type_of(var):
    """inlay's dtype and the static shape of a PyTensor variable."""
    if is_tensor(var.type):
        return INLAY_NAMES[var.type.dtype], var.type.shape
    if isinstance(var.type, ScalarType):
        return INLAY_NAMES[var.type.dtype], ()
    return "opaque", ()


def _donated_inputs(fgraph):
    """Whose contents a call may overwrite: `In(mutable=True)` and shared variables with an update. PyTensor protects the
    others, but for shared variables of a copy without updates, `f.copy(delete_updates=True)`."""
    protected = [feature.protected for feature in fgraph._features if hasattr(feature, "protected")]
    if not protected:
        return set()
    kept = {id(var) for inputs in protected for var in inputs}
    updated = set((getattr(fgraph, "update_mapping", None) or {}).values())
    kept |= {id(var) for i, var in enumerate(fgraph.inputs) if isinstance(var, SharedVariable) and i not in updated}
    return {var for var in fgraph.inputs if id(var) not in kept}


def _identifier(name):
    """A name that the text form can carry."""
    name = re.sub(r"^\W+|\W+$", "", name, flags=re.ASCII)
    name = re.sub(r"\W+", "_", name, flags=re.ASCII) or "value"
    return f"_{name}" if name[0].isdigit() else name


def _all_same(array):
    if array.dtype.kind == "c":
        return _all_same(array.real) and _all_same(array.imag)
    first = array.flat[0]
    if array.dtype.kind == "f" and not np.isfinite(first):
        return array.size == 1
    # Bits, not values: -0.0 is not 0.0.
    return array.size == 1 or bool(
        (array == first).all()
        and (array.dtype.kind != "f" or first != 0 or (np.signbit(array) == np.signbit(first)).all())
    )
