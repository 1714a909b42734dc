"""A node that runs as Python: its op's own `perform`.

The call takes arrays and other objects and returns one object per output. Everything it holds is made once, so it can
run in several threads at a time; an op that can only run as a thunk (a lazy one) runs one call at a time.
What it gets are copies of its own, since its memory belongs to the function and is used again, and an op may keep what
it was given; what it returns shares no bytes with them.
"""

import copy
import importlib
import threading

import numpy as np
import pytensor
from pytensor.graph.basic import Apply, Constant
from pytensor.graph.op import Op
from pytensor.scalar.basic import ScalarType
from pytensor.scan.op import Scan
from pytensor.tensor.elemwise import Elemwise

from ... import _inlay, errors
from ..traces import source_line
from . import random, scan
from .calls import call_node
from .dtypes import is_tensor
from .origin import location, short_name


class OtherSizes(errors.ShapeMismatch):
    """A result has other sizes than its type says. `found`: the axes, each with the op and the number of the result."""

    def __init__(self, op, name, number, shape, said):
        wrong = [axis for axis, (n, want) in enumerate(zip(shape, said, strict=True)) if want not in (None, n)]
        self.found = frozenset((op, number, axis) for axis in wrong)
        sizes = ", ".join("?" if n is None else str(n) for n in said)
        self.said = f"{name}: output {number} has shape {shape}, where its type says ({sizes}{',' * (len(said) == 1)})"
        super().__init__(f"error[{self.code}]: {self.said}")

    def __reduce__(self):  # as the error that it is where no function catches it
        return errors.ShapeMismatch, self.args


def shapes_of_types(node, found=frozenset()):
    """Of the results: None is a size that the call finds. Where one type was wrong, the others may have been made from it:
    of them only a 1 is believed, which stretches."""
    return [
        tuple(
            n if not found or (n == 1 and (node.op, i, axis) not in found) else None
            for axis, n in enumerate(x.type.shape if is_tensor(x.type) else ())
        )
        for i, x in enumerate(node.outputs)
    ]


def by_its_own_code(t, node, reason):
    """The values of the outputs of the node that is translated, by a call of its `perform`, and why."""
    number = t.place.number
    call = HostCall(node, number, random.may_draw_in_place(t, node), t.found)
    if call.draw is None:
        t.calls.refuse(number, reason)
    call.prepare()
    sizes = call.knows_rows(scan.sizes_of_rows(t, node)) if isinstance(node.op, Scan) else []
    return call_node(t, node, call, [*(t.value(x) for x in call.variables), *(t.builder.size(n) for n in sizes)])


class HostCall:
    """What inlay calls for one node: a callable over the values of `variables`."""

    def __init__(self, node, number, in_place=False, found=frozenset()):
        """`in_place`: nobody else needs the generator that this random variable draws from. `found`: axes of results
        (OtherSizes) whose size the type says wrongly."""
        self.node = node
        self.number = number  # in the function's order, for errors
        self.name = short_name(node.op)
        self.variables = [x for x in dict.fromkeys(node.inputs) if not isinstance(x, Constant)]
        # Per input: its value where it is a constant; else where it stands among the arguments, and whether the op
        # wants a NumPy scalar.
        self._inputs = [
            (x.data, None, False)
            if isinstance(x, Constant)
            else (None, self.variables.index(x), isinstance(x.type, ScalarType))
            for x in node.inputs
        ]
        self._destroyed = [i for inputs in getattr(node.op, "destroy_map", {}).values() for i in inputs]
        self._outputs = [_Output(x, node.op, i) for i, x in enumerate(node.outputs)]
        self.drawn = random.arguments_of_draw(node, self.variables, in_place)
        self.draw = None if self.drawn is None else _inlay.draw(*self.drawn)  # is asked before this is called
        self._in_place, self._found = in_place, found
        self._run = None
        self._rows = None
        self._said, self.shapes = shapes_of_types(node), shapes_of_types(node, found)
        self.differed = None  # an OtherSizes that is no error, since `found` has it

    def _own_node(self):
        """The same node without the graph around it: an op may have noted something on it, or have a class of its own."""
        new = {x: x if isinstance(x, Constant) else x.type(x.name) for x in self.node.inputs}
        node = object.__new__(type(self.node))
        vars(node).update(vars(self.node))
        node.tag = copy.copy(self.node.tag)
        node.inputs = type(self.node.inputs)(new[x] for x in self.node.inputs)
        node.outputs = type(self.node.outputs)(x.clone() for x in self.node.outputs)
        for i, x in enumerate(node.outputs):
            x.owner, x.index = node, i
        return node

    def __reduce__(self):
        return _host_call, (self._own_node(), self.number, self._in_place, self._found, self._rows)

    def said_axes(self):
        return {(self.node.op, i, axis) for i, said in enumerate(self._said) for axis, n in enumerate(said) if n is not None}

    def knows_rows(self, sizes):
        """`sizes`: of a Scan, by output, those of its rows that are known without a step; None for the others. A Scan of
        no steps that has seen no row makes them all 0. Returns those that a call is to bring behind the values of
        `variables`."""
        dims = [d for row in sizes for d in row if d is not None]
        if dims:
            numbers = iter(range(len(dims)))
            self._rows = [[None if d is None else next(numbers) for d in row] for row in sizes]
        return dims

    def prepare(self):
        """To be called: an op may compile a graph of its own for that."""
        op = self.node.op
        self._run = _performer(self.node, random.drawing_in_place(op) if self._in_place else op)

    def __call__(self, *values):
        inputs = [
            constant if position is None else values[position][()] if is_scalar else values[position]
            for constant, position, is_scalar in self._inputs
        ]
        for i in self._destroyed:
            inputs[i] = _copy(inputs[i])
        try:
            made = self._run(inputs)
        except Exception as error:
            error.inlay_location = location(self.node, self.number, source_line(self.node))  # for who has no graph
            raise
        results = tuple(output(value) for output, value in zip(self._outputs, made))
        if self._rows is not None:
            sizes = values[len(self.variables) :]
            rows = [[None if i is None else int(sizes[i]) for i in row] for row in self._rows]
            results = tuple(map(_with_rows, results, rows))
        for i, (result, said, believed) in enumerate(zip(results, self._said, self.shapes, strict=True)):
            if said != believed and self.differed is None and _differs(result, said):
                self.differed = OtherSizes(self.node.op, self.name, i, result.shape, said)
            if _differs(result, believed):
                raise OtherSizes(self.node.op, self.name, i, result.shape, believed)
        return results


def _host_call(node, number, in_place, found, rows):
    call = HostCall(node, number, in_place, found)
    call._rows = rows
    call.prepare()
    return call


def _differs(result, shape):
    return bool(shape) and any(want not in (None, n) for n, want in zip(result.shape, shape, strict=True))


def _with_rows(result, sizes):
    """`result`, where it has no rows, with rows of these sizes; None: as it has them."""
    if not sizes or result.shape[0] > 0:
        return result
    return result.reshape(0, *(have if size is None else size for have, size in zip(result.shape[1:], sizes, strict=True)))


def _performer(node, op):
    """A function from input values to output values, by the code of `op`."""
    if _is_solver(op):
        return _Solver(node)
    if _only_as_thunk(op):
        return _Thunk(node)
    if isinstance(op, Elemwise) and len(node.inputs) + len(node.outputs) > _MOST_OPERANDS:
        return _ByElement(node)
    op.prepare_node(node, storage_map=None, compute_map=None, impl="py")

    def run(inputs):
        outputs = [[None] for _ in node.outputs]
        op.perform(node, inputs, outputs)
        return [cell[0] for cell in outputs]

    return run


_MOST_OPERANDS = 32  # of a ufunc, which `Elemwise.perform` makes


class _ByElement:
    """An elementwise op of more operands than NumPy's ufuncs take: the scalar op's `impl`, element by element."""

    def __init__(self, node):
        self._impl = node.op.scalar_op.impl
        self._dtypes = [x.type.dtype for x in node.outputs]
        self._static = [x.type.shape for x in node.inputs]

    def __call__(self, inputs):
        arrays = [np.asarray(x) for x in inputs]
        shape = np.broadcast_shapes(*(a.shape for a in arrays))
        for a, static in zip(arrays, self._static, strict=True):
            if any(have == 1 != wide and said is None for have, wide, said in zip(a.shape, shape, static, strict=True)):
                raise ValueError(f"an operand of shape {a.shape} would stretch to {shape}, and its type does not say so")
        outputs = [np.empty(shape, dtype) for dtype in self._dtypes]
        arrays = [np.broadcast_to(a, shape) for a in arrays]
        for at in np.ndindex(shape):
            made = self._impl(*(a[at] for a in arrays))
            for output, value in zip(outputs, made if len(outputs) > 1 else [made], strict=True):
                output[at] = value
        return outputs


def _only_as_thunk(op):
    """Lazy ops have no `perform`; Scan and its like set up their inner function in `make_thunk`."""
    plain = getattr(type(op), "make_py_thunk", None) is Op.make_py_thunk
    python_makes_thunk = type(op).make_thunk.__module__ in ("pytensor.graph.op", "pytensor.link.c.op")
    return not (plain and python_makes_thunk) or not hasattr(op, "perform")


class _Thunk:
    """An op that keeps its own storage: one call at a time."""

    def __init__(self, node):
        self._storage = {x: [None] for x in (*node.inputs, *node.outputs)}
        computed = {x: [True] for x in node.inputs} | {x: [False] for x in node.outputs}
        self._node = node
        self._computed = computed
        self._thunk = node.op.make_thunk(node, self._storage, computed, [], impl="py")
        self._lock = threading.Lock()

    def __call__(self, inputs):
        with self._lock:
            for x, value in zip(self._node.inputs, inputs):
                self._storage[x][0] = value
            for x in self._node.outputs:
                self._computed[x][0] = False
                self._storage[x][0] = None
            try:
                self._thunk()
                return [self._storage[x][0] for x in self._node.outputs]
            finally:
                for cell in self._storage.values():
                    cell[0] = None


def _is_solver(op):
    """SciPy's, as the optimizers and root finders of newer versions are."""
    try:
        return isinstance(op, importlib.import_module("pytensor.tensor.optimize").ScipyWrapperOp)
    except (ImportError, AttributeError):
        return False


class _Solver:
    """What it solves is a graph of its own, compiled by inlay: by itself PyTensor takes its C compiler. One call at a
    time, as it keeps the last result."""

    def __init__(self, node):
        from ..mode import MODE

        self._node = node
        self._op = copy.copy(node.op)
        self._op._fn = self._op._fn_wrapped = None
        self._op.link_mode = _without_rewrites  # where its graph is rewritten already; older versions do both at once
        with pytensor.config.change_flags(mode=MODE):
            self._op.prepare_node(node, storage_map=None, compute_map=None, impl="py")
        self._lock = threading.Lock()

    def __call__(self, inputs):
        outputs = [[None] for _ in self._node.outputs]
        with self._lock:
            self._op.perform(self._node, inputs, outputs)
        return [cell[0] for cell in outputs]


def _without_rewrites(impl):
    from pytensor.compile.inner_function import link_only_mode

    from ..linker import InlayLinker

    return link_only_mode(InlayLinker())


def _copy(value):
    return value.copy() if hasattr(value, "copy") else value


class _Output:
    """Brings what an op returned for one output into the form that inlay reads: a row-major array of the declared
    dtype and rank, or any object where the type is no array's."""

    def __init__(self, var, op, number):
        self._what = f"{short_name(op)}: output {number}"
        self._is_array = is_tensor(var.type) or isinstance(var.type, ScalarType)
        self._is_scalar = isinstance(var.type, ScalarType)
        if self._is_array:
            self._dtype = np.dtype(var.type.dtype)
            self._rank = 0 if self._is_scalar else var.type.ndim

    def __call__(self, value):
        if not self._is_array:
            return value
        if self._is_scalar:
            return np.asarray(value, dtype=self._dtype)
        if type(value) is not np.ndarray:
            value = np.asarray(value)
        if value.dtype != self._dtype:
            # Another byte order or size, as of a running sum of int8; never another kind of number.
            if not np.can_cast(value.dtype, self._dtype, "same_kind"):
                raise TypeError(f"{self._what} is {value.dtype}, where its type says {self._dtype}")
            value = value.astype(self._dtype)
        if value.ndim != self._rank:
            raise TypeError(
                f"{self._what} has shape {value.shape}, of rank {value.ndim}, where its type says rank {self._rank}"
            )
        flags = value.flags
        return value if flags.c_contiguous and flags.aligned else np.require(value, requirements=["C", "A"])
