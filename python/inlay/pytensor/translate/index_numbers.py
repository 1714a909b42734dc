"""The number of an element and its places on the axes: each made from the other."""

from math import prod

from pytensor.tensor.extra_ops import RavelMultiIndex, UnravelIndex

from .registry import register


@register(UnravelIndex)
def unravel_index(t, node):
    b = t.builder
    indices, dims = node.inputs
    sizes = t.shape_vector(dims)
    number = _checked(t, t.cast(t.value(indices), "i64"), b.size(prod(sizes)))
    places = []
    for size in reversed(sizes) if node.op.order == "C" else sizes:
        extent = b.size(size)
        places.append(b.scalar("mod", [number, extent]))
        number = b.scalar("floor_div", [number, extent])
    return places[::-1] if node.op.order == "C" else places


@register(RavelMultiIndex)
def ravel_multi_index(t, node):
    b = t.builder
    *indices, dims = node.inputs
    pairs = list(zip(indices, t.shape_vector(dims), strict=True))
    number = None
    for index, size in pairs if node.op.order == "C" else reversed(pairs):
        extent = b.size(size)
        place = _within(t, t.cast(t.value(index), "i64"), extent, node.op.mode)
        number = place if number is None else b.scalar("add", [b.scalar("mul", [number, extent]), place])
    return number


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
    t.fails_as(ValueError)  # as NumPy's functions do
    inside = b.scalar("and", [b.scalar("ge", [number, b.literal(0, "i64")]), b.scalar("lt", [number, extent])])
    return b.assert_(number, b.compose("all", inside), "an index is outside the array of these dims")
