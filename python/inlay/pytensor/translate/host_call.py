"""A node that runs as Python: its op's own `perform`.

The call takes arrays and other objects and returns one object per output. Everything it holds is made once, so it can run in
several threads at a time; an op that can only run as a thunk (a lazy one) runs one call at a time.
What it gets are copies of its own, since its memory belongs to the function and is used again, and an op may keep what it
was given; what it returns shares no bytes with them.
"""

import threading

import numpy as np
from pytensor.graph.basic import Constant
from pytensor.graph.op import Op
from pytensor.scalar.basic import ScalarType
from pytensor.tensor.type import TensorType


class HostCall:
    """What inlay calls for one node: a callable over the values of `variables`."""

    def __init__(self, node, number):
        self.node = node
        self.number = number  # in the function's order, for errors
        self.name = str(node.op)
        self.variables = [x for x in dict.fromkeys(node.inputs) if not isinstance(x, Constant)]
        self._positions = [
            None if isinstance(x, Constant) else self.variables.index(x) for x in node.inputs
        ]
        self._scalars = [isinstance(x.type, ScalarType) for x in node.inputs]
        self._run = _performer(node)

    def __call__(self, *values):
        node = self.node
        inputs = []
        for x, position, is_scalar in zip(node.inputs, self._positions, self._scalars):
            value = x.data if position is None else values[position]
            inputs.append(value[()] if is_scalar and isinstance(value, np.ndarray) else value)
        for destroyed in getattr(node.op, "destroy_map", {}).values():
            for i in destroyed:
                inputs[i] = _copy(inputs[i])
        results = self._run(inputs)
        return tuple(_as_output(value, var) for value, var in zip(results, node.outputs))


def _performer(node):
    """A function from input values to output values."""
    op = node.op
    if _only_as_thunk(op):
        return _Thunk(node)
    op.prepare_node(node, storage_map=None, compute_map=None, impl="py")

    def run(inputs):
        outputs = [[None] for _ in node.outputs]
        op.perform(node, inputs, outputs)
        return [cell[0] for cell in outputs]

    return run


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


def _copy(value):
    return value.copy() if hasattr(value, "copy") else value


def _as_output(value, var):
    """What inlay expects: a row-major array of the declared dtype, or any object."""
    if isinstance(var.type, TensorType):
        value = np.asarray(value)
        if value.dtype != np.dtype(var.type.dtype):
            raise TypeError(f"{var.owner.op} returned {value.dtype} where its type says {var.type.dtype}")
        if value.ndim != var.type.ndim:
            raise TypeError(f"{var.owner.op} returned {value.ndim} dimensions where its type says {var.type.ndim}")
        return np.require(value, requirements=["C", "A"])
    if isinstance(var.type, ScalarType):
        return np.asarray(value, dtype=var.type.dtype)
    return value
