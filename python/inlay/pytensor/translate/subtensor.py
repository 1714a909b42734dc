"""Reading and writing through brackets.

The entries of a node's index become inlay's items: a slice clamps as in Python (inlay's own are exact), a constant
position drops its axis, everything else is an index array that inlay checks and wraps.
"""

import numpy as np
from pytensor.graph.basic import Constant
from pytensor.tensor import subtensor as pts

from ... import _inlay, errors
from .dims import dim_max, dim_min, known_equal
from .dtypes import PYTENSOR_NAMES, is_tensor
from .index_entries import constant_slice, entries_of, filled, integer, is_missing
from .index_items import replaced, whole
from .registry import NotNative, register
from .sizes import late_size, size_of

AdvancedSubtensor1 = getattr(pts, "AdvancedSubtensor1", None)
AdvancedIncSubtensor1 = getattr(pts, "AdvancedIncSubtensor1", None)


def _range(t, entry, dim):
    """(start, stop, step) of a slice over an axis of `dim` elements, as Python takes it: what is negative counts from
    the end, and nothing reaches outside the axis. inlay's own slices are exact."""
    step = 1 if is_missing(entry.step) else integer(entry.step)
    if step == 0:
        raise NotNative("a slice of step 0")
    down = step < 0
    first = 0 if is_missing(entry.start) else integer(entry.start)
    if not down and first is not None and first >= 0:
        end = _end(entry, dim, first)
        if end is not None:
            return *end, step
    minimum, maximum = (-1, dim - 1) if down else (0, dim)
    start, stop = (maximum, minimum) if down else (minimum, maximum)
    if not is_missing(entry.start):
        start = _clamped(t, entry.start, dim, minimum, maximum)
    if not is_missing(entry.stop):
        stop = _clamped(t, entry.stop, dim, minimum, maximum)
        if not is_missing(entry.start):
            stop = dim_min(start, stop) if down else dim_max(start, stop)
    return start, stop, step


_MOST = 2**61  # no axis has so many elements


def _end(entry, dim, first):
    """(start, stop) of x[first:stop] with a `stop` that is constant or missing: start is written from the end, so that
    the sizes of slices of slices stay short. None: it is not constant."""
    first = min(first, _MOST)
    rest = dim_max(dim - first, 0)
    start = dim - rest
    if is_missing(entry.stop):
        return start, dim
    last = integer(entry.stop)
    if last is None:
        return None
    last = max(min(last, _MOST), -_MOST)
    length = dim_max(dim - first + last, 0) if last < 0 else dim_min(rest, max(last - first, 0))
    return start, start + length


def _clamped(t, bound, dim, minimum, maximum):
    """The place that `bound` names, from the end where it is negative."""
    place = integer(bound)
    if place is None:
        try:
            place = size_of(t, bound, late=False)
        except NotNative:
            return _late_place(t, bound, dim, minimum, maximum)
    if not isinstance(place, int):
        return dim_min(maximum, place) if place.is_size else _late_place(t, bound, dim, minimum, maximum)
    return dim_max(dim + place, minimum) if place < 0 else dim_min(maximum, place)


def _late_place(t, bound, dim, minimum, maximum):
    """The same for a number that only its value tells."""
    b = t.builder
    number = t.cast(t.value(bound), "i64")
    from_end = b.scalar("add", [number, b.size(dim)])
    place = b.scalar("select", [b.scalar("lt", [number, b.literal(0, "i64")]), from_end, number])
    first = b.literal(minimum, "i64")
    inside = b.scalar("min", [b.scalar("max", [place, first]), b.size(maximum)])
    return late_size(t, b.scalar("sub", [inside, first])) + minimum


def _first_unknown_step(entries):
    """The number of the first entry that is a slice whose step only its value tells, and the axis that it stands for; or
    None."""
    axis = 0
    for i, entry in enumerate(entries):
        if isinstance(entry, slice) and not is_missing(entry.step) and integer(entry.step) is None:
            return i, axis
        is_mask = not isinstance(entry, slice | int) and is_tensor(entry.type) and entry.type.dtype == "bool"
        axis += entry.type.ndim if is_mask else 1
    return None


def _places(t, x, entries, which, axis):
    """The index that reads x along an axis as the slice that is entry `which` does, and the entries that are left to do
    then."""
    index = replaced(whole(x.dims), axis, _places_of(t, entries[which], x.dims[axis]))
    return index, replaced(entries, which, slice(None))


def _places_of(t, entry, dim):
    """The places of a slice over an axis of `dim` elements, as Python's slice.indices gives them."""
    b = t.builder

    def number(i):
        return b.literal(i, "i64") if isinstance(i, int) else i

    def do(op, *operands):
        return b.scalar(op, [number(x) for x in operands])

    # No axis has so many elements that a longer step would reach another one.
    step = do("clip", t.cast(t.value(entry.step), "i64"), -_MOST, _MOST)
    t.place.fails_as(ValueError, errors.ZeroStep)
    step = b.assert_(step, do("ne", step, 0), "slice step cannot be zero", "zero-step")
    size, down = b.size(dim), do("lt", step, 0)
    minimum, maximum = do("select", down, -1, 0), do("select", down, do("sub", size, 1), size)

    def place(bound, default):
        if is_missing(bound):
            return default
        at = integer(bound)
        at = t.cast(t.value(bound), "i64") if at is None else number(max(-_MOST, min(at, _MOST)))
        at = do("select", do("lt", at, 0), do("add", at, size), at)
        return do("min", do("max", at, minimum), maximum)

    start = place(entry.start, do("select", down, maximum, minimum))
    stop = place(entry.stop, do("select", down, minimum, maximum))
    rounding = do("select", down, 1, -1)
    count = do("floor_div", do("add", do("add", do("sub", stop, start), step), rounding), step)
    places = b.iota(late_size(t, do("max", count, 0)), "i64")
    return do("add", start, do("mul", places, step))


class _Index:
    """inlay's index items for one node."""

    def __init__(self, t, entries, x):
        self.items = []
        self.has_array = False
        self.of_masks = []  # where positions that a mask found stand: one list for each mask
        for entry in entries:
            self._add(t, entry, x)
        if self.of_masks:
            self._meet(t)
        self.items += whole(x.dims[len(self.items) :])

    def _add(self, t, entry, x):
        axis = len(self.items)
        if isinstance(entry, slice):
            self.items.append(_range(t, entry, x.dims[axis]))
            return
        position = integer(entry) if _is_scalar(entry) else None
        if position is not None:
            self.items.append(x.dims[axis] + position if position < 0 else position)
            return
        if is_tensor(entry.type) and entry.type.dtype == "bool":
            self._add_mask(t, entry, x)
            return
        self.items.append(t.value(entry))
        self.has_array = True

    def _add_mask(self, t, entry, x):
        """A mask is the positions where it is true; its dims are those that it stands for."""
        if entry.type.ndim == 0:
            raise NotNative("a scalar mask")
        if isinstance(entry, Constant):
            self.items += [t.constants.array(positions) for positions in np.nonzero(entry.data)]
        else:
            axis = len(self.items)
            self.items += t.builder.nonzero(t.require_dims(t.value(entry), x.dims[axis : axis + entry.type.ndim]))
            self.of_masks.append(range(axis, len(self.items)))
        self.has_array = True

    def _meet(self, t):
        """How many positions a mask finds is known late; one position stretches to as many as are found elsewhere."""
        arrays = [i for i, item in enumerate(self.items) if isinstance(item, _inlay.Value) and item.dims]
        if len(arrays) == len(self.of_masks[0]) or any(len(self.items[i].dims) > 1 for i in arrays):
            return
        length = 1
        for (found,) in (self.items[i].dims for i in arrays):
            if known_equal(length, 1) or known_equal(found, 1):
                length = found if known_equal(length, 1) else length
            elif not known_equal(length, found):
                length = length * found // dim_min(length, found)  # the one that is not 1; of none: none
        for i in arrays:
            self.items[i] = t.builder.stretch(self.items[i], [length], "index arrays")


def _is_scalar(entry):
    return (
        not isinstance(entry, slice)
        and getattr(entry.type, "ndim", 0) == 0
        and (not is_tensor(entry.type) or entry.type.dtype != "bool")
    )


def _lone_mask(t, entries):
    """The mask, where it is all there is in the brackets, and not a constant."""
    if len(entries) != 1 or isinstance(entries[0], slice) or isinstance(entries[0], Constant):
        return None
    is_mask = is_tensor(entries[0].type) and entries[0].type.dtype == "bool" and entries[0].type.ndim > 0
    return t.value(entries[0]) if is_mask else None


def _with_axes_of_masks(t, x, entries):
    """x, whose axes are as long as the constant masks over them. (Other masks are checked where they are used.)"""
    dims = []
    for entry in entries:
        is_mask = isinstance(entry, Constant) and is_tensor(entry.type) and entry.type.dtype == "bool"
        dims += entry.data.shape if is_mask else x.dims[len(dims) : len(dims) + 1]
    return t.require_dims(x, [*dims, *x.dims[len(dims) :]])


def _read(t, x, entries):
    mask = _lone_mask(t, entries)
    if mask is not None:
        return t.builder.read_where(x, mask)
    unknown = _first_unknown_step(entries)
    if unknown is not None:
        index, entries = _places(t, x, entries, *unknown)
        return _read(t, t.builder.gather(x, index), entries)
    x = _with_axes_of_masks(t, x, entries)
    index = _Index(t, entries, x)
    return (t.builder.gather if index.has_array else t.builder.slice)(x, index.items)


def _write(t, x, value, entries, combine, stretches=True, once=False, wraps=False):
    """x with `value` written to x[entries]. `stretches`: the value may have length 1 where the region has more, found
    only at run time; NumPy allows it. `once`: an increment that counts once for each element, however often the indices
    name it. `wraps`: as by np.add.at a sum of integers wraps round in any dtype of integers."""
    if combine == "add" and not _holds_sums(x.dtype, value.dtype, wraps):
        raise NotNative("an increment of another kind than its target")
    value = t.cast(value, x.dtype)
    if x.dtype == "bool" and combine == "add":
        combine = "or"
    mask = _lone_mask(t, entries)
    if mask is not None and len(value.dims) <= len(x.dims) - len(mask.dims):
        rest = x.dims[len(mask.dims) :]
        return t.builder.write_where(combine, x, mask, stretch(t, value, rest))
    unknown = _first_unknown_step(entries)
    if unknown is not None:
        index, entries = _places(t, x, entries, *unknown)
        part = _write(t, t.builder.gather(x, index), value, entries, combine, stretches, once, wraps)
        return t.builder.scatter("set", x, index, part)
    x = _with_axes_of_masks(t, x, entries)
    index = _Index(t, entries, x)
    region = (t.builder.gather if index.has_array else t.builder.slice)(x, index.items)
    if len(value.dims) > len(region.dims):
        raise NotNative("a value of more dimensions than what it is written to")
    if stretches:
        value = stretch(t, value, region.dims, "scatter" if index.has_array else "update")
    if once:
        # Through equal indices the later stays: what NumPy's x[i] += y does.
        value, combine = t.builder.scalar("or" if x.dtype == "bool" else "add", [region, value]), "set"
    write = t.builder.scatter if index.has_array else t.builder.update
    return write(combine, x, index.items, value)


def _holds_sums(target, value, wraps):
    """Elsewhere NumPy casts the sum, or says that it will not."""
    target, value = np.dtype(PYTENSOR_NAMES[target]), np.dtype(PYTENSOR_NAMES[value])
    total = np.result_type(target, value)
    return wraps and target.kind in "iu" and total.kind in "iu" or np.can_cast(total, target, "same_kind")


def stretch(t, value, region, op="update"):
    """`value` with each dim that may or may not be 1 at run time brought to that of the region. `op`: that errors
    name."""
    wanted = region[len(region) - len(value.dims) :]
    shape = [have if isinstance(have, int) else want for have, want in zip(value.dims, wanted, strict=True)]
    return t.builder.stretch(value, shape, op)


def _combine(op):
    return "set" if op.set_instead_of_inc else "add"


@register(pts.Subtensor)
def subtensor(t, node):
    x, *inputs = node.inputs
    entries = filled(node.op.idx_list, inputs)
    exact = _exact_slice(t, node, entries)
    return _read(t, t.value(x), entries) if exact is None else t.builder.slice(t.value(x), [exact])


def _exact_slice(t, node, entries):
    """x[4:89] of a vector of unknown length, where somebody insists that the result has 85 elements.

    Then nothing is to be clamped: a shorter x is an error, and every size behind the slice is a number. PyMC cuts its
    one flat vector into variables in this way.
    """
    if len(entries) != 1 or not isinstance(entries[0], slice) or node.inputs[0].type.shape != (None,):
        return None
    (entry,) = entries
    if any(not is_missing(part) and integer(part) is None for part in (entry.start, entry.stop, entry.step)):
        return None
    start, stop, step = constant_slice(entry)
    start = 0 if start is None else start
    if stop is None or step != 1 or not 0 <= start < stop:
        return None
    own = t.branches.of.get(node, ())  # what a branch that is not taken insists on is nothing
    required = t.users.require_length(node.outputs[0], lambda user: t.branches.of.get(user, ()) == own)
    if required is None or required[0] != stop - start:
        return None
    t.place.fails_as(required[1])
    return (start, stop, 1)


@register(pts.IncSubtensor)
def inc_subtensor(t, node):
    x, value, *inputs = node.inputs
    return _write(t, t.value(x), t.value(value), filled(node.op.idx_list, inputs), _combine(node.op))


@register(pts.AdvancedSubtensor)
def advanced_subtensor(t, node):
    x, *inputs = node.inputs
    return _read(t, t.value(x), entries_of(node.op, inputs))


@register(pts.AdvancedIncSubtensor)
def advanced_inc_subtensor(t, node):
    x, value, *inputs = node.inputs
    once = getattr(node.op, "ignore_duplicates", False) and not node.op.set_instead_of_inc
    entries = entries_of(node.op, inputs)
    stretches = not _is_vector_of_integers(entries)
    return _write(t, t.value(x), t.value(value), entries, _combine(node.op), stretches, once, wraps=not once)


def _is_vector_of_integers(entries):
    """The one form where PyTensor's own code refuses a value whose length is 1 at run time and not by its type."""
    if len(entries) != 1 or isinstance(entries[0], slice):
        return False
    return entries[0].type.ndim == 1 and entries[0].type.dtype != "bool"


if AdvancedSubtensor1 is not None:

    @register(AdvancedSubtensor1)
    def advanced_subtensor1(t, node):
        x, index = node.inputs
        return _read(t, t.value(x), [index])

    @register(AdvancedIncSubtensor1)
    def advanced_inc_subtensor1(t, node):
        x, value, index = node.inputs
        return _write(t, t.value(x), t.value(value), [index], _combine(node.op), wraps=True)
