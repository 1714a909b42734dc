"""Putting tensors together and taking them apart along an axis."""

from pytensor.graph.basic import Constant
from pytensor.tensor.basic import Join, MakeVector, Split

from .dtypes import INLAY_NAMES
from .index_items import replaced, whole
from .registry import NotNative, register
from .sizes import elements, late_size, sizes_of


def _axis_and_tensors(op, inputs):
    """The axis is a property of the op in newer versions of PyTensor, the first input in older ones."""
    if hasattr(op, "axis"):
        return op.axis, inputs
    if not isinstance(inputs[0], Constant):
        raise NotNative("an axis that is not constant")
    return int(inputs[0].data), inputs[1:]


_NEGATIVE = "Split sizes cannot be negative"


@register(Join)
def join(t, node):
    axis, tensors = _axis_and_tensors(node.op, node.inputs)
    out = INLAY_NAMES[node.outputs[0].type.dtype]
    parts = [t.cast(t.value(x), out) for x in tensors]
    if len(parts) == 1:
        return parts[0]
    return t.builder.concat(parts, axis % len(parts[0].dims))


@register(MakeVector)
def make_vector(t, node):
    out = INLAY_NAMES[node.outputs[0].type.dtype]
    if not node.inputs:
        return t.builder.broadcast(t.builder.literal(0, out), [0])
    parts = [t.builder.reshape(t.cast(t.value(x), out), [1]) for x in node.inputs]
    return parts[0] if len(parts) == 1 else t.builder.concat(parts, 0)


@register(Split)
def split(t, node):
    op = node.op
    x, *rest = node.inputs
    if hasattr(op, "axis"):
        axis = op.axis
        (sizes,) = rest
    else:
        axis, sizes = rest
        if not isinstance(axis, Constant):
            raise NotNative("an axis that is not constant")
        axis = int(axis.data)
    x = t.value(x)
    axis %= len(x.dims)
    try:
        sizes = sizes_of(t, sizes)
    except NotNative:
        sizes = [late_size(t, size) for size in elements(t, sizes, len(node.outputs))]
    t.place.fails_as(_error)
    if any(isinstance(s, int) and s < 0 for s in sizes):
        raise NotNative("a negative split size")
    return _parts(t, x, sizes, axis)


def _error(text):
    """What failed is a size, a slice or a comparison that a split is made of: what was wrong with its sizes, as
    PyTensor says it."""
    if "broadcast" in text:
        return ValueError("Length of splits is not equal to n_splits")
    return ValueError(text if "split:" in text else f"{_NEGATIVE}\n{text}")


def _parts(t, x, sizes, axis):
    """Each part is read only if the sizes make up the axis: the others may not be needed."""
    dim, total, parts = x.dims[axis], sum(sizes), []
    message = f"split: the sizes add up to {{left}}, and axis {axis} has {{right}} elements"
    start = 0
    for size in sizes:
        t.require_equal(total, dim, message, x)
        parts.append(t.builder.slice(x, replaced(whole(x.dims), axis, (start, start + size, 1))))
        start = start + size
    return parts
