"""Shapes: asking for them, changing them, filling them."""

from math import prod

import numpy as np
from pytensor.compile.ops import DeepCopyOp, ViewOp
from pytensor.graph.basic import Constant
from pytensor.tensor.basic import Alloc, AllocEmpty, ARange
from pytensor.tensor.shape import Reshape, Shape, Shape_i, SpecifyShape
from pytensor.tensor.type_other import NoneTypeT

from .dtypes import INLAY_NAMES
from .registry import NotNative, register


@register(Shape_i)
def shape_i(t, node):
    return t.builder.size(t.value(node.inputs[0]).dims[node.op.i])


@register(Shape)
def shape(t, node):
    sizes = [t.builder.reshape(t.builder.size(d), [1]) for d in t.value(node.inputs[0]).dims]
    if not sizes:
        return t.builder.broadcast(t.builder.literal(0, "i64"), [0])
    return sizes[0] if len(sizes) == 1 else t.builder.concat(sizes, 0)


@register(Reshape)
def reshape(t, node):
    x = t.value(node.inputs[0])
    dims = t.shape_vector(node.inputs[1])
    static = node.outputs[0].type.shape
    dims = [d if s is None else s for d, s in zip(dims, static, strict=True)]
    unknown = [i for i, d in enumerate(dims) if isinstance(d, int) and d == -1]
    if len(unknown) == 1:
        # The one that is left over. Where it does not come out even, the number of elements differs: inlay checks that.
        others = prod(d for i, d in enumerate(dims) if i != unknown[0])
        if isinstance(others, int) and others == 0:
            raise NotNative("a reshape of no elements with an unknown size")
        dims[unknown[0]] = prod(x.dims) // others
    elif unknown:
        raise NotNative("two unknown sizes")
    return t.builder.reshape(x, dims)


@register(SpecifyShape)
def specify_shape(t, node):
    """A promise about sizes: each that is not known to hold is checked when the function runs."""
    x, *sizes = node.inputs
    x = t.value(x)
    wanted = [
        have if isinstance(size.type, NoneTypeT) else t.dim(size) for size, have in zip(sizes, x.dims, strict=True)
    ]
    return t.require_dims(x, wanted)


@register(Alloc)
def alloc(t, node):
    value, *sizes = node.inputs
    dims = t.sizes(sizes, node.outputs[0].type.shape)
    return t.builder.broadcast(t.value(value), dims)


@register(AllocEmpty)
def alloc_empty(t, node):
    """Whatever was there: zeros, so that a function gives the same result each time."""
    dtype = INLAY_NAMES[node.outputs[0].type.dtype]
    return t.builder.broadcast(t.builder.literal(0, dtype), t.sizes(node.inputs, node.outputs[0].type.shape))


@register(ARange)
def arange(t, node):
    start, stop, step = node.inputs
    if not isinstance(start, Constant) or not isinstance(step, Constant):
        raise NotNative("arange from or by what is not constant")
    out = INLAY_NAMES[node.outputs[0].type.dtype]
    if out != "i64" or any(np.asarray(x.data).dtype.kind not in "iu" for x in (start, step)):
        raise NotNative("arange of other than int64")
    first, by = int(start.data), int(step.data)
    if isinstance(stop, Constant):
        length = len(range(first, int(stop.data), by))
    elif first == 0 and by == 1:
        length = t.dim(stop)
    else:
        raise NotNative("arange of a length that is not known")
    count = t.builder.iota(length, "i64")
    if by != 1:
        count = t.builder.scalar("mul", [count, t.builder.literal(by, "i64")])
    if first != 0:
        count = t.builder.scalar("add", [count, t.builder.literal(first, "i64")])
    return count


@register(DeepCopyOp, ViewOp)
def same(t, node):
    """Values are never mutated, and an output never shares bytes with an input: a copy is for the planner to make."""
    value = t.value(node.inputs[0])
    if value.dtype == "opaque":
        raise NotNative("a copy of what is no tensor")
    return value
