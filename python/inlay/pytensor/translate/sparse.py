"""Products of a sparse matrix with a dense array, and their gradients: each element of the sparse one times what it
meets, added where it belongs. (Each sum is rounded as a scatter's is: its last bits may not be SciPy's.) So are its sums,
and the dense array that it stands for.

The elements of a constant matrix are known. Those of a variable are found by one host call, however many nodes read it;
of a matrix that is made of arrays, or by a product with a dense one, they are those arrays.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from pytensor.graph.basic import Constant
from pytensor.scan.op import Scan
from pytensor.sparse import mul_s_d
from pytensor.sparse.basic import CSM, CSMGrad, CSMProperties, DenseFromSparse, Transpose
from pytensor.sparse.math import Dot, SpSum, StructuredDot, StructuredDotGradCSC, StructuredDotGradCSR
from pytensor.sparse.type import SparseTensorType

from .calls import call_function
from .dims import dim_min, known_equal
from .dtypes import INLAY_NAMES
from .index_items import replaced, whole
from .registry import NotNative, register

MultiplySparseDense = type(mul_s_d)  # whose name older versions spell otherwise
READERS = (Dot, StructuredDot, Transpose, DenseFromSparse, SpSum, MultiplySparseDense)  # of elements


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


@register(DenseFromSparse)
def dense(t, node):
    return _added(t, _elements(t, node.inputs[0]), (0, 1))


@register(SpSum)
def total(t, node):
    if node.outputs[0].type.dtype in ("bool", "int8", "int16", "int32", "uint8", "uint16", "uint32"):
        raise NotNative("a sum that SciPy makes in wider integers")
    axes = () if node.op.axis is None else (1 - node.op.axis,)
    return _added(t, _elements(t, node.inputs[0]), axes)


def _added(t, matrix, axes):
    """Its elements, each added at its place along these axes."""
    b = t.builder
    if not axes:
        return b.reduce("add", matrix.values, [0], matrix.values.dtype)
    zeros = b.broadcast(b.literal(0, matrix.values.dtype), [matrix.shape[axis] for axis in axes])
    return b.scatter("add", zeros, [(matrix.rows, matrix.columns)[axis] for axis in axes], matrix.values)


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


@register(CSMGrad)
def gradient_of_arrays(t, node):
    """With respect to the elements of a matrix that is made of arrays, from those of a matrix of the same structure: of
    elements at one place, each has the sum of theirs."""
    data, minor, starts, _, g, *others, _ = node.inputs
    if not all(map(_are_same, (minor, starts), map(_given, others))):
        raise NotNative("the gradient of a sparse matrix by one with elements at other places")
    b, x, g = t.builder, t.value(data), t.value(g)
    at = t.value(minor)
    t.require_equal(x.dims[0], at.dims[0], "CSMGrad: {left} elements with {right} indices", at)
    zero = b.literal(0, g.dtype)
    if not known_equal(x.dims[0], g.dims[0]):  # SciPy leaves out what lies behind the last row: it is 0
        numbers = b.scalar("min", [b.iota(x.dims[0], "i64"), b.size(g.dims[0])])
        g = b.gather(b.concat([g, b.broadcast(zero, [1])], 0), [numbers])
    if isinstance(minor, Constant) and isinstance(starts, Constant):
        group, is_element = _constant_groups(minor.data, starts.data)
        if group is None and is_element.all():
            return g
        group, is_element = (None if a is None else t.constants.array(a) for a in (group, is_element))
    else:
        group, is_element = _groups(t, at, t.value(starts))
    g = b.scalar("select", [is_element, g, zero])
    if group is None:
        return g
    sums = b.scatter("add", b.broadcast(zero, g.dims), [group], g)
    return b.scalar("select", [is_element, b.gather(sums, [group]), zero])


def _given(x):
    """The array that `x` is of those which a matrix was made of, whatever its elements were multiplied with then."""
    if x.owner is None or not isinstance(x.owner.op, CSMProperties):
        return x
    matrix = x.owner.inputs[0]
    while matrix.owner is not None and isinstance(matrix.owner.op, MultiplySparseDense):
        matrix = matrix.owner.inputs[0]
    made_of_arrays = matrix.owner is not None and isinstance(matrix.owner.op, CSM)
    return matrix.owner.inputs[x.owner.outputs.index(x)] if made_of_arrays else x


def _are_same(a, b):
    return a is b or (isinstance(a, Constant) and isinstance(b, Constant) and np.array_equal(a.data, b.data))


def _constant_major(minor, starts):
    """The row (of a csc matrix the column) of each element of a matrix whose places are known."""
    starts = starts.astype("int64")
    if not len(starts) or starts[0] != 0 or starts[-1] > len(minor) or (np.diff(starts) < 0).any():
        raise NotNative("pointers that are none of a sparse matrix")
    return np.repeat(np.arange(len(starts) - 1, dtype="int32"), np.diff(starts))


def _constant_groups(minor, starts):
    """By element the number of its place, None where no two lie at one; and whether it is one of the matrix."""
    major = _constant_major(minor, starts)
    end = len(major)
    found, numbers = np.unique(major.astype("int64") * 2**32 + minor[:end].astype("int64"), return_inverse=True)
    is_element = np.arange(len(minor)) < end
    group = None if len(found) == end else np.append(numbers, np.zeros(len(minor) - end)).astype("int32")
    return group, is_element


def _groups(t, minor, starts):
    """The same of arrays that are known in the call: sorted by their places, those of one stand beside each other."""
    b = t.builder
    count = minor.dims[0]
    end = b.slice(starts, [(starts.dims[0] - 1, starts.dims[0], 1)])
    is_element = b.scalar("lt", [b.iota(count, end.dtype), end])
    wide = lambda x: t.cast(x, "i64")  # noqa: E731
    place = b.scalar("add", [b.scalar("mul", [wide(_major(t, starts, count)), b.literal(2**32, "i64")]), wide(minor)])
    place = b.scalar("select", [is_element, place, b.literal(-1, "i64")])
    (order,) = b.library("argsort", [place])
    place = b.gather(place, [order])
    before = b.concat([b.slice(place, [(0, dim_min(count, 1), 1)]), b.slice(place, [(0, count - dim_min(count, 1), 1)])], 0)
    number = b.cumulative("add", b.scalar("ne", [place, before]), 0, "i64")
    return b.scatter("set", number, [order], number), is_element


@register(CSMProperties)
def arrays(t, node):
    (var,) = node.inputs
    minor, starts, shape = map(_given, node.outputs[1:])
    if minor is not node.outputs[1]:
        values = _elements(t, var).values
        minor, starts, shape = (t.cast(t.value(x), "i32") for x in (minor, starts, shape))
        if not known_equal(values.dims[0], minor.dims[0]):
            raise NotNative("the arrays of a sparse matrix some of which may be no elements")
        return [values, minor, starts, shape]
    if t.scope.body is not None:
        raise NotNative("the arrays of a sparse matrix in the body of a loop or a branch")
    *found, shape = _stored(t, t.value(var), var.type)[:4]
    return [*found, t.cast(shape, "i32")]


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
    op = var.owner.op if var.owner is not None else None
    make = next((make for made_by, make in _MAKERS.items() if isinstance(op, made_by)), None)
    if make is not None and t.scope.body is not None:
        return make(t, var.owner)
    matrix = t.value(var)
    if t.scope.body is not None:
        return _brought_in(t, matrix)
    return t.calls.once(matrix.index, lambda: make(t, var.owner) if make else _found(t, matrix, var.type))


def _of_arrays(t, node):
    """Of a matrix that is made of arrays. What lies behind the last row's end is no element."""
    data, minor, starts, shape = node.inputs
    b, values = t.builder, t.value(data)
    count = len(minor.data) if isinstance(minor, Constant) else t.value(minor).dims[0]
    t.require_equal(values.dims[0], count, "CSM: {left} elements with {right} indices", values)
    if all(isinstance(x, Constant) for x in (minor, starts, shape)):
        places = _constant_places(node.op.format, minor.data, starts.data, shape.data)
        values = b.slice(b.reshape(values, [count]), whole([len(places[0])]))
        return Elements(values, *map(t.constants.array, places), tuple(map(int, shape.data)))
    minor, starts = t.value(minor), t.value(starts)
    shape = [_size_at(t, shape, axis) for axis in range(2)]
    lines = shape[node.op.format == "csc"]
    t.require_equal(starts.dims[0], lines + 1, "CSM: {left} pointers, not {right}", starts)
    first, end = (t.cast(b.reshape(b.slice(starts, [(at, at + 1, 1)]), []), "i64") for at in (0, starts.dims[0] - 1))
    begins = b.scalar("eq", [first, b.literal(0, "i64")])
    end = b.assert_(end, begins, "CSM: the pointers begin with {0}, not 0", "shape-mismatch", [first])
    count = b.late_size(end)
    b.require_at_most(count, minor.dims[0], "shape-mismatch", "CSM: a pointer to {0} of {1} indices", minor)
    values, minor = (b.slice(x, whole([count])) for x in (values, minor))
    major = _major(t, starts, count)
    rows, columns = (major, minor) if node.op.format == "csr" else (minor, major)
    return Elements(values, rows, columns, tuple(shape))


def _size_at(t, shape, axis):
    if isinstance(shape, Constant):
        return int(shape.data[axis])
    return t.builder.late_size(t.cast(t.builder.slice(t.value(shape), [axis]), "i64"))


def _constant_places(kind, minor, starts, shape):
    """The rows and columns of a matrix's elements."""
    major = _constant_major(minor, starts)
    if len(starts) != shape[int(kind == "csc")] + 1:
        raise NotNative("pointers of another number of rows")
    minor = np.ascontiguousarray(minor[: len(major)])
    return (major, minor) if kind == "csr" else (minor, major)


def _multiplied(t, node):
    """Of a matrix times a dense one, or a number, element by element."""
    matrix, y, b = _elements(t, node.inputs[0]), t.value(node.inputs[1]), t.builder
    dtype = INLAY_NAMES[node.outputs[0].type.dtype]
    for have, want in zip(y.dims, matrix.shape, strict=False):
        t.require_equal(have, want, "a product with a sparse matrix: {left} rows or columns times {right}", y)
    y = t.cast(b.gather(y, [matrix.rows, matrix.columns]) if y.dims else b.broadcast(y, matrix.values.dims), dtype)
    return replace(matrix, values=b.scalar("mul", [t.cast(matrix.values, dtype), y]))


_MAKERS = {CSM: _of_arrays, MultiplySparseDense: _multiplied}


def is_multiplied(fgraph, var):
    """Is it a sparse matrix whose elements a node of the graph reads, or one within a Scan of it?"""

    def reads(node):
        if node == "output" or not isinstance(node.op, Scan):
            return node != "output" and isinstance(node.op, READERS)
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
    *_, starts, shape, values, minor = _stored(t, matrix, its_type)
    shape = tuple(b.late_size(b.slice(shape, [i])) for i in range(2))
    major = _major(t, starts, values.dims[0])
    rows, columns = (major, minor) if its_type.format == "csr" else (minor, major)
    return Elements(values, rows, columns, shape)


def _stored(t, matrix, its_type):
    """What `_arrays_of` gives of it, by one call."""

    def call():
        count = t.builder.symbol(t.names.unique("elements"))
        values = INLAY_NAMES[its_type.dtype]
        types = [(values, [None]), ("i32", [None]), ("i32", [None]), ("i64", [2]), (values, [count]), ("i32", [count])]
        return call_function(t, _STORED[its_type.format], [matrix], types, "elements of a sparse matrix")

    return t.calls.once(("stored", matrix.index), call)


def _arrays_of(kind):
    """A function from a matrix to its arrays, which are its own where it has that format, its shape, and those parts of
    the arrays that are elements."""

    def arrays(matrix):
        matrix = matrix.asformat(kind)
        count = int(matrix.indptr[-1])
        if max(count, *matrix.shape) > np.iinfo(np.int32).max:
            raise ValueError(f"a sparse matrix of shape {matrix.shape} with {count} elements, beyond indices of 32 bits")
        minor, starts = (x.astype(np.int32, copy=False) for x in (matrix.indices, matrix.indptr))
        return matrix.data, minor, starts, np.array(matrix.shape), matrix.data[:count], minor[:count]

    arrays.lends = True
    return arrays


_STORED = {kind: _arrays_of(kind) for kind in ("csr", "csc")}


def _coordinates(matrix):
    """The values of the elements, their rows and their columns."""
    elements = matrix.tocoo()
    return tuple(np.ascontiguousarray(x) for x in (elements.data, elements.row, elements.col))
