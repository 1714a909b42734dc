"""Products of a sparse matrix with a dense array, and their gradients: each element of the sparse one times what it
meets, added where it belongs. (Each sum is rounded as a scatter's is: its last bits may not be SciPy's.)

The elements of a constant matrix are known. Those of a variable are found by one host call, however many nodes read it.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from pytensor.graph.basic import Constant
from pytensor.scan.op import Scan
from pytensor.sparse.basic import Transpose
from pytensor.sparse.math import Dot, StructuredDot, StructuredDotGradCSC, StructuredDotGradCSR
from pytensor.sparse.type import SparseTensorType

from .calls import call_function
from .dtypes import INLAY_NAMES
from .index_items import replaced, whole
from .registry import NotNative, register


@dataclass
class Elements:
    """Of a sparse matrix of `shape`: their values, rows and columns, in the order in which they are stored."""

    values: Any
    rows: Any
    columns: Any
    shape: tuple

    def transposed(self):
        return Elements(self.values, self.columns, self.rows, self.shape[::-1])


@register(Dot, StructuredDot)
def dot(t, node):
    left, right = node.inputs
    dtype = _dtype(node, right if _is_sparse(left) else left)
    if _is_sparse(left):
        return _product(t, node, _elements(t, left), t.cast(t.value(right), dtype), 0)
    return _product(t, node, _elements(t, right).transposed(), t.cast(t.value(left), dtype), -1)


def _product(t, node, matrix, x, axis):
    """Of the matrix with x along this axis, the first or the last."""
    b = t.builder
    sizes = (matrix.shape[1], x.dims[axis])
    t.require_equal(*(sizes if axis == 0 else sizes[::-1]), f"{node.op}: {{left}} columns times {{right}} rows", x)
    terms = b.gather(x, replaced(whole(x.dims), axis, matrix.columns))
    values = b.reshape(t.cast(matrix.values, x.dtype), replaced([1] * len(x.dims), axis, matrix.values.dims[0]))
    zeros = b.broadcast(b.literal(0, x.dtype), replaced(x.dims, axis, matrix.shape[0]))
    return b.scatter("add", zeros, replaced(whole(x.dims), axis, matrix.rows), b.scalar("mul", [values, terms]))


@register(StructuredDotGradCSC, StructuredDotGradCSR)
def gradient(t, node):
    """Of a product's sum weighted by `g`, with respect to the elements of its sparse matrix: the row of `g` and the row
    of the dense matrix that an element brings together, multiplied and summed."""
    minor, starts, *dense = node.inputs
    dtype = _dtype(node, *dense)
    b = t.builder
    minor, starts = t.value(minor), t.value(starts)
    count = minor.dims[0]
    # What lies behind the last row's end is no element: its place is not looked at, and it is 0.
    end = b.slice(starts, [(starts.dims[0] - 1, starts.dims[0], 1)])
    is_element = b.scalar("lt", [b.iota(count, end.dtype), end])
    minor = b.scalar("select", [is_element, minor, b.literal(0, minor.dtype)])
    major = _major(t, starts, count)
    rows, columns = (minor, major) if isinstance(node.op, StructuredDotGradCSC) else (major, minor)
    dense, g = (t.cast(t.value(x), dtype) for x in dense)
    t.require_equal(g.dims[1], dense.dims[1], f"{type(node.op).__name__}: rows of {{left}} and {{right}} elements", g)
    met = [b.gather(x, [numbers, *whole(x.dims[1:])]) for x, numbers in ((g, rows), (dense, columns))]
    of_elements = b.reduce("add", b.scalar("mul", met), [1], dtype)
    return b.scalar("select", [is_element, of_elements, b.literal(0, dtype)])


def _major(t, starts, count):
    """The row (of a csc matrix the column) of each of `count` elements: how many rows begin at it or before, less one."""
    b = t.builder
    begins = b.slice(starts, whole([starts.dims[0] - 1]))
    zeros = b.broadcast(b.literal(0, "i32"), [count + 1])
    at = b.scatter("add", zeros, [begins], b.broadcast(b.literal(1, "i32"), [begins.dims[0]]))
    begun = b.slice(b.cumulative("add", at, 0, "i32"), whole([count]))
    return b.scalar("sub", [begun, b.literal(1, "i32")])


def _dtype(node, *dense):
    """In which the products are made of what is to be dense."""
    if any(map(_is_sparse, dense)):
        raise NotNative("a product of two sparse matrices")
    dtype = INLAY_NAMES[node.outputs[0].type.dtype]
    if dtype == "bool":
        raise NotNative("a sparse product of bool")
    return dtype


def _is_sparse(var):
    return isinstance(var.type, SparseTensorType)


def _elements(t, var):
    if var.owner is not None and isinstance(var.owner.op, Transpose):
        return _elements(t, var.owner.inputs[0]).transposed()
    if isinstance(var, Constant):
        return Elements(*map(t.constants.array, t.calls.once(var, lambda: _coordinates(var.data))), var.data.shape)
    if var.type.format not in ("csr", "csc"):
        raise NotNative(f"the elements of a {var.type.format} matrix")
    matrix = t.value(var)
    if t.scope.body is not None:
        return _brought_in(t, matrix)
    return t.calls.once(matrix.index, lambda: _found(t, matrix, var.type))


def is_multiplied(fgraph, var):
    """Is it a sparse matrix whose elements a node of the graph reads, or one within a Scan of it?"""

    def reads(node):
        if node == "output" or not isinstance(node.op, Scan):
            return node != "output" and isinstance(node.op, Dot | StructuredDot | Transpose)
        op = node.op
        pairs = zip(op.inner_non_seqs(op.inner_inputs), op.outer_non_seqs(node.inputs), strict=True)
        return any(outside is var and is_multiplied(op.fgraph, inside) for inside, outside in pairs)

    return _is_sparse(var) and any(reads(node) for node, _ in fgraph.clients.get(var, ()))


def find_elements(t, var):
    """Before a body is begun: what it may have of the matrix."""
    try:
        found = _elements(t, var)
        t.calls.once(t.value(var).index, lambda: found)  # also where it is another's transpose
    except NotNative:
        pass  # as its own op will be


def _brought_in(t, matrix):
    """The elements of a matrix that comes into the body, which were found before it was begun."""
    body, outside = t.scope.body, t.scope.body.outside_of(matrix)
    if outside is None:
        raise NotNative("the elements of a sparse matrix that the body of a loop or a branch makes")
    with body.outside():
        found = _brought_in(t, outside) if t.scope.body is not None else t.calls.held(outside.index)
    if found is None:
        raise NotNative("the elements of a sparse matrix in the body of a branch")
    return Elements(*map(body.bring_in, (found.values, found.rows, found.columns)), found.shape)


def _found(t, matrix, its_type):
    b = t.builder
    count = t.builder.symbol(t.names.unique("elements"))
    types = [(INLAY_NAMES[its_type.dtype], [count]), ("i32", [count]), ("i32", [None]), ("i64", [2])]
    stored = _STORED[its_type.format]
    values, minor, starts, shape = call_function(t, stored, [matrix], types, "elements of a sparse matrix")
    shape = tuple(b.late_size(b.slice(shape, [i])) for i in range(2))
    major = _major(t, starts, count)
    rows, columns = (major, minor) if its_type.format == "csr" else (minor, major)
    return Elements(values, rows, columns, shape)


def _arrays_of(kind):
    """A function from a matrix to its arrays, which are its own where it has that format, and its shape."""

    def arrays(matrix):
        matrix = matrix.asformat(kind)
        count = int(matrix.indptr[-1])
        if max(count, *matrix.shape) > np.iinfo(np.int32).max:
            raise ValueError(f"a sparse matrix of shape {matrix.shape} with {count} elements, beyond indices of 32 bits")
        minor, starts = (x.astype(np.int32, copy=False) for x in (matrix.indices[:count], matrix.indptr))
        return matrix.data[:count], minor, starts, np.array(matrix.shape)

    arrays.lends = True
    return arrays


_STORED = {kind: _arrays_of(kind) for kind in ("csr", "csc")}


def _coordinates(matrix):
    """The values of the elements, their rows and their columns."""
    elements = matrix.tocoo()
    return tuple(np.ascontiguousarray(x) for x in (elements.data, elements.row, elements.col))
