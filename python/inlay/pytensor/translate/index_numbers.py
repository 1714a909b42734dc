"""The number of an element and its places on the axes: each made from the other."""

import functools
from math import prod

from pytensor.tensor.extra_ops import RavelMultiIndex, UnravelIndex

from .registry import NotNative, register
from .sizes import elements, sizes_of


@register(UnravelIndex)
def unravel_index(t, node):
    b = t.builder
    indices, dims = node.inputs
    extents, count = _extents(t, dims, len(node.outputs))
    number = _checked(t, t.cast(t.value(indices), "i64"), count)
    places = []
    for extent in reversed(extents) if node.op.order == "C" else extents:
        places.append(b.scalar("mod", [number, extent]))
        number = b.scalar("floor_div", [number, extent])
    return places[::-1] if node.op.order == "C" else places


@register(RavelMultiIndex)
def ravel_multi_index(t, node):
    b = t.builder
    *indices, dims = node.inputs
    pairs = list(zip(indices, _extents(t, dims, len(indices))[0], strict=True))
    number = None
    for index, extent in pairs if node.op.order == "C" else reversed(pairs):
        place = _within(t, t.cast(t.value(index), "i64"), extent, node.op.mode)
        number = place if number is None else b.scalar("add", [b.scalar("mul", [number, extent]), place])
    return number


def _extents(t, dims, count):
    """The `count` dims as numbers, and their product."""
    b = t.builder
    try:
        sizes = sizes_of(t, dims)
        return [b.size(n) for n in sizes], b.size(prod(sizes))
    except NotNative:  # the elements of a vector
        extents = elements(t, dims, count)
        return extents, functools.reduce(lambda x, y: b.scalar("mul", [x, y]), extents, b.literal(1, "i64"))


def _within(t, place, extent, mode):
    """`place`, brought into 0 .. extent - 1."""
    b = t.builder
    if mode == "wrap":
        return b.scalar("mod", [place, extent])
    if mode == "raise":
        return _checked(t, place, extent)
    last = b.scalar("sub", [extent, b.literal(1, "i64")])
    return b.scalar("max", [b.scalar("min", [place, last]), b.literal(0, "i64")])


def _checked(t, number, extent):
    """`number`, once all of it is known to be in 0 .. extent - 1."""
    b = t.builder
    t.place.fails_as(ValueError)  # as NumPy's functions do
    inside = b.scalar("and", [b.scalar("ge", [number, b.literal(0, "i64")]), b.scalar("lt", [number, extent])])
    return b.assert_(number, b.compose("all", inside), "an index is outside the array of these dims")
