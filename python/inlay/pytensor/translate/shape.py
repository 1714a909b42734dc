"""Shapes: asking for them, changing them, filling them."""

from math import prod

from pytensor.compile.ops import DeepCopyOp, TypeCastingOp
from pytensor.graph.basic import Constant
from pytensor.tensor.basic import Alloc, AllocEmpty, MakeVector
from pytensor.tensor.extra_ops import CpuContiguous
from pytensor.tensor.shape import Reshape, Shape, Shape_i, SpecifyShape
from pytensor.tensor.type_other import NoneTypeT

from .dims import dim_max, known_equal
from .dtypes import INLAY_NAMES
from .registry import NotNative, register
from .sizes import elements, known_sizes, late_size, size_of, sizes_of

try:
    from pytensor.tensor.reshape import JoinDims, SplitDims
except ImportError:  # older versions
    JoinDims = SplitDims = None


@register(Shape_i)
def shape_i(t, node):
    return t.builder.size(t.dims(node.inputs[0])[node.op.i])


@register(Shape)
def shape(t, node):
    sizes = [t.builder.reshape(t.builder.size(d), [1]) for d in t.dims(node.inputs[0])]
    if not sizes:
        return t.builder.broadcast(t.builder.literal(0, "i64"), [0])
    return sizes[0] if len(sizes) == 1 else t.builder.concat(sizes, 0)


@register(Reshape)
def reshape(t, node):
    x = t.value(node.inputs[0])
    dims = _wanted(t, x, node.inputs[1], node.op.ndim)
    static = node.outputs[0].type.shape
    # A number that is asked for holds: PyTensor types a reshape of no elements to [1, 2, 0] as (0, 2, 0).
    is_said = [isinstance(d, int) and d >= 0 for d in dims]
    for axis, (d, s) in enumerate(zip(dims, static, strict=True)):
        # PyTensor knows it by the number of elements, so any other would be an error; NumPy's where that is not 0.
        if s and not isinstance(d, int):
            t.require_equal(d, s, f"reshape: dim {axis} of the result is {{left}}, not {{right}}", x)
    return _reshaped(t, x, [d if s is None or said else s for d, s, said in zip(dims, static, is_said, strict=True)])


def _reshaped(t, x, dims):
    """x with these dims, one of which may be -1: what is left over."""
    unknown = [i for i, d in enumerate(dims) if isinstance(d, int) and d == -1]
    if len(unknown) == 1:
        # The one that is left over. Where it does not come out even, the number of elements differs: inlay checks that.
        x, dims[unknown[0]] = _left_over(t, x, prod(d for i, d in enumerate(dims) if i != unknown[0]))
    elif unknown:
        raise NotNative("two unknown sizes")
    return t.builder.reshape(x, dims)


def _wanted(t, x, vector, count):
    """The `count` dims that are asked for. One that is a value may turn out to be negative when the function runs: then
    it is what is left over."""
    made_of = vector.owner.inputs if vector.owner and isinstance(vector.owner.op, MakeVector) else None
    if made_of is None or any(isinstance(v, Constant) and int(v.data) == -1 for v in made_of):
        try:
            return sizes_of(t, vector)
        except NotNative:
            if made_of is not None:
                raise
            return _left_over_of(t, x, [None] * count, elements(t, vector, count))
    dims = []
    for v in made_of:
        try:
            dims.append(size_of(t, v, late=False))
        except NotNative:
            dims.append(None)
    b = t.builder
    return _left_over_of(
        t, x, dims, [t.cast(t.value(v), "i64") if d is None else b.size(d) for v, d in zip(made_of, dims, strict=True)]
    )


def _left_over_of(t, x, dims, number):
    """`dims`, of which those that are None stand as values in `number`."""
    b = t.builder
    for i in [i for i, d in enumerate(dims) if d is None]:
        rest = b.literal(1, "i64")
        for other in number[:i] + number[i + 1 :]:
            rest = b.scalar("mul", [rest, other])
        # Beside no elements any size would do: an error, as a size of -1 is.
        left_over = b.scalar("floor_div", [b.size(prod(x.dims)), rest])
        left_over = b.scalar("select", [b.scalar("eq", [rest, b.literal(0, "i64")]), b.literal(-1, "i64"), left_over])
        is_unknown = b.scalar("lt", [number[i], b.literal(0, "i64")])
        dims[i] = late_size(t, b.scalar("select", [is_unknown, left_over, number[i]]))
    return dims


def _left_over(t, x, others):
    """x, and the size that its elements make beside `others`. Beside no elements any size would do: an error, as in
    NumPy."""
    elements = prod(x.dims)
    if isinstance(others, int):
        if others == 0:
            raise NotNative("a reshape of no elements with an unknown size")
        return x, elements // others
    size = elements // others
    if known_equal(size * others, elements):
        return x, size
    b = t.builder
    some = b.scalar("ge", [b.size(others), b.literal(1, "i64")])
    x = b.assert_(x, some, "a reshape of no elements with an unknown size", "shape-mismatch")
    return x, elements // dim_max(others, 1)


@register(CpuContiguous)
def contiguous(t, node):
    return t.value(node.inputs[0])  # every value is row-major


if JoinDims is not None:

    @register(JoinDims)
    def join_dims(t, node):
        first, count = node.op.start_axis, node.op.n_axes
        x = t.value(node.inputs[0])
        dims = x.dims
        return t.builder.reshape(x, [*dims[:first], prod(dims[first : first + count]), *dims[first + count :]])

    @register(SplitDims)
    def split_dims(t, node):
        axis = node.op.axis
        x, sizes = node.inputs
        x, sizes = t.value(x), sizes_of(t, sizes)
        return _reshaped(t, x, [*x.dims[:axis], *sizes, *x.dims[axis + 1 :]])


@register(SpecifyShape)
def specify_shape(t, node):
    """A promise about sizes: each that is not known to hold is checked when the function runs."""
    x, *sizes = node.inputs
    wanted = [
        have if isinstance(size.type, NoneTypeT) else size_of(t, size)
        for size, have in zip(sizes, t.dims(x), strict=True)
    ]
    x = t.value(x)
    return t.require_dims(x, wanted)


@register(Alloc)
def alloc(t, node):
    value, *sizes = node.inputs
    static = node.outputs[0].type.shape
    x = t.value(value)
    for size, known in zip(sizes[len(sizes) - value.type.ndim :], value.type.shape, strict=True):
        if known not in (None, 1) and not isinstance(size, Constant):  # the size that PyTensor knows is the value's own
            x = _require_size(t, x, size, known)
    return t.builder.broadcast(x, known_sizes(t, sizes, static))


def _require_size(t, x, size, known):
    """x, where the number `size` is `known`."""
    b = t.builder
    try:
        dim = size_of(t, size, late=False)
    except NotNative:
        number = t.cast(t.value(size), "i64")
    else:
        if known_equal(dim, known):
            return x
        number = b.size(dim)
    is_known = b.scalar("eq", [number, b.literal(known, "i64")])
    return b.assert_(x, is_known, f"alloc: a size is {{0}}, not {known}", "shape-mismatch", [number])


@register(AllocEmpty)
def alloc_empty(t, node):
    """Whatever was there: zeros, so that a function gives the same result each time."""
    dtype = INLAY_NAMES[node.outputs[0].type.dtype]
    return t.builder.broadcast(t.builder.literal(0, dtype), known_sizes(t, node.inputs, node.outputs[0].type.shape))


@register(DeepCopyOp, TypeCastingOp)
def same(t, node):
    """Values are never mutated, and an output never shares bytes with an input: a copy is for the planner to make."""
    value = t.value(node.inputs[0])
    if value.dtype == "opaque":
        raise NotNative("a copy of what is no tensor")
    return value
