"""Reading and writing through brackets.

The indices of a PyTensor node stand in a template (`idx_list`) whose gaps the node's inputs fill. Here they become one
list of slices, sizes and index arrays, and from it inlay's: a slice clamps as in Python (inlay's own are exact), a
constant position drops its axis, everything else is an index array that inlay checks and wraps.
"""

import numpy as np
from pytensor.graph.basic import Constant
from pytensor.graph.type import Type
from pytensor.tensor import subtensor as pts
from pytensor.tensor.type_other import MakeSlice, NoneTypeT, SliceType

from ... import _inlay
from .dtypes import is_tensor
from .registry import NotNative, register

AdvancedSubtensor1 = getattr(pts, "AdvancedSubtensor1", None)
AdvancedIncSubtensor1 = getattr(pts, "AdvancedIncSubtensor1", None)


def _fill(template, inputs):
    """The template with its gaps filled from `inputs`: Variables, and slices of Variables and None."""
    remaining = iter(inputs)

    def part(entry):
        if isinstance(entry, int):  # newer versions: the number of the input
            return inputs[entry]
        if isinstance(entry, Type):  # older ones: its type, in order
            return next(remaining)
        return entry

    return [slice(part(e.start), part(e.stop), part(e.step)) if isinstance(e, slice) else part(e) for e in template]


def _entries(op, inputs):
    """The indices of an advanced op: older versions pass slices and None as inputs and have no template."""
    if hasattr(op, "idx_list"):
        return _fill(op.idx_list, inputs)
    return [_untangle(x) for x in inputs]


def _untangle(var):
    if isinstance(var.type, NoneTypeT):
        raise NotNative("a new axis among advanced indices")
    if not isinstance(var.type, SliceType):
        return var
    if isinstance(var, Constant):
        return var.data
    if var.owner is not None and isinstance(var.owner.op, MakeSlice):
        return slice(*(None if isinstance(x.type, NoneTypeT) else x for x in var.owner.inputs))
    raise NotNative("a slice that is a value")


def _integer(entry):
    """A Python int where the entry is a constant, else None."""
    if isinstance(entry, int | np.integer):
        return int(entry)
    if isinstance(entry, Constant):
        return int(entry.data)
    return None


def _constant_slice(entry):
    def part(x, default):
        if x is None or (isinstance(x, Constant) and x.data is None):
            return default
        value = _integer(x)
        if value is None:
            raise NotNative("a slice whose ends are not constant")
        return value

    step = part(entry.step, 1)
    if step == 0:
        raise NotNative("a slice of step 0")
    return part(entry.start, None), part(entry.stop, None), step


def _clamped(t, bound, dim):
    """`bound` as Python takes it in a slice: from the end when negative, and never outside 0 .. dim."""
    if isinstance(dim, int):
        return min(max(bound + dim, 0), dim) if bound < 0 else min(bound, dim)
    return t.max(dim + bound, 0) if bound < 0 else t.min(dim, bound)


def _range(t, entry, dim):
    """(start, stop, step > 0) of a slice over an axis of `dim` elements, and whether it is to be read backwards."""
    start, stop, step = _constant_slice(entry)
    if step > 0:
        first = 0 if start is None else _clamped(t, start, dim)
        last = dim if stop is None else _clamped(t, stop, dim)
        if isinstance(first, int) and isinstance(last, int):
            return (first, max(first, last), step), False
        return (first, last if _ordered(t, first, last) else t.max(first, last), step), False
    if isinstance(dim, int):
        return _reversed_static(range(*slice(start, stop, step).indices(dim)))
    if start is None and stop is None and step == -1:
        return (0, dim, 1), True
    raise NotNative("a backwards slice of an axis whose size is not known")


def _ordered(t, first, last):
    return isinstance(first, int) and first == 0


def _reversed_static(indices):
    if len(indices) == 0:
        return (0, 0, 1), True
    return (indices[-1], indices[0] + 1, -indices.step), True


class _Index:
    """inlay's index items for one node, and the axes of the result of a read that are to be reversed."""

    def __init__(self, t, entries, x):
        self.items = []
        self.flips = []  # axes of x
        self.has_array = False
        for entry in entries:
            self._add(t, entry, x)
        self.items += [(0, d, 1) for d in x.dims[len(self.items) :]]

    def _add(self, t, entry, x):
        axis = len(self.items)
        if isinstance(entry, slice):
            item, backwards = _range(t, entry, x.dims[axis])
            self.items.append(item)
            if backwards:
                self.flips.append(axis)
            return
        position = _integer(entry) if _is_scalar(entry) else None
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
            self.items += [t.constant_array(positions) for positions in np.nonzero(entry.data)]
        else:
            axis = len(self.items)
            self.items += t.builder.nonzero(t.require_dims(t.value(entry), x.dims[axis : axis + entry.type.ndim]))
        self.has_array = True


def _is_scalar(entry):
    return (
        not isinstance(entry, slice)
        and getattr(entry.type, "ndim", 0) == 0
        and (not is_tensor(entry.type) or entry.type.dtype != "bool")
    )


def _mixes_positions_and_arrays(entries):
    """NumPy takes a plain position among index arrays for one of them, of rank 0; it may move the arrays' axes."""
    return any(not isinstance(e, slice) and not _is_scalar(e) for e in entries)


def _index(t, entries, x):
    if _mixes_positions_and_arrays(entries):
        index = _Index(t, [e for e in entries], x)
        index.items = [
            i if isinstance(i, tuple) or not isinstance(i, int) else t.builder.literal(i, "i64") for i in index.items
        ]
        return index
    return _Index(t, entries, x)


def _lone_mask(t, entries):
    """The mask, where it is all there is in the brackets, and not a constant."""
    if len(entries) != 1 or isinstance(entries[0], slice) or isinstance(entries[0], Constant):
        return None
    is_mask = is_tensor(entries[0].type) and entries[0].type.dtype == "bool" and entries[0].type.ndim > 0
    return t.value(entries[0]) if is_mask else None


def _read(t, x, entries):
    mask = _lone_mask(t, entries)
    if mask is not None:
        return t.builder.read_where(x, mask)
    index = _index(t, entries, x)
    read = t.builder.gather if index.has_array else t.builder.slice
    result = read(x, index.items)
    if not index.flips:
        return result
    if index.has_array:
        raise NotNative("a backwards slice among index arrays")
    kept = [axis for axis, item in enumerate(index.items) if isinstance(item, tuple)]
    return t.builder.flip(result, [kept.index(axis) for axis in index.flips])


def _write(t, x, value, entries, combine, stretches=True):
    """x with `value` written to x[entries]. `stretches`: the value may have length 1 where the region has more, found
    only at run time, over axes that are not index arrays; NumPy allows it."""
    value = t.cast(value, x.dtype)
    if x.dtype == "bool" and combine == "add":
        combine = "or"
    mask = _lone_mask(t, entries)
    if mask is not None and len(value.dims) <= len(x.dims) - len(mask.dims):
        rest = x.dims[len(mask.dims) :]
        return t.builder.write_where(combine, x, mask, stretch(t, value, rest, set(range(len(rest)))))
    index = _index(t, entries, x)
    region = (t.builder.gather if index.has_array else t.builder.slice)(x, index.items).dims
    if stretches:
        value = stretch(t, value, region, _axes_of_ranges(index.items, len(region)))
    if index.flips:
        if index.has_array:
            raise NotNative("a backwards slice among index arrays")
        # The region of a backwards slice, read forwards, takes the value backwards.
        kept = [axis for axis, item in enumerate(index.items) if isinstance(item, tuple)]
        value = t.builder.broadcast(value, region)
        value = t.builder.flip(value, [kept.index(axis) for axis in index.flips])
    write = t.builder.scatter if index.has_array else t.builder.update
    return write(combine, x, index.items, value)


def _axes_of_ranges(items, rank):
    """The axes of x[items] that are slices of axes of x; those of the index arrays are the others."""
    ranges = [i for i, item in enumerate(items) if isinstance(item, tuple)]
    arrays = [i for i, item in enumerate(items) if isinstance(item, _inlay.Value)]
    if not arrays:
        return set(range(rank))
    apart = any(arrays[0] < i < arrays[-1] for i in ranges)
    first = 0 if apart else sum(i < arrays[0] for i in ranges)
    return set(range(rank)) - set(range(first, first + rank - len(ranges)))


def stretch(t, value, region, axes):
    """`value` with each dim that may or may not be 1 at run time brought to that of the region, over `axes`."""
    b = t.builder
    shift = len(region) - len(value.dims)
    for i, have in enumerate(value.dims):
        want = region[shift + i]
        if shift + i not in axes or isinstance(have, int) or t.known_equal(have, want):
            continue
        is_one = b.scalar("eq", [b.size(have), b.literal(1, "i64")])
        fits = b.scalar("or", [is_one, b.scalar("eq", [b.size(have), b.size(want)])])
        message = f"the value's dim {i} is {{0}}, the region's is {{1}}"
        position = b.assert_(b.iota(want, "i64"), fits, message, "shape-mismatch", [b.size(have), b.size(want)])
        # Never beyond the value, so that it is the assertion that fails.
        last = b.scalar("sub", [b.size(have), b.literal(1, "i64")])
        index = [(0, d, 1) for d in value.dims]
        index[i] = b.scalar("min", [position, last])
        value = b.gather(value, index)
    return value


def _combine(op):
    return "set" if op.set_instead_of_inc else "add"


@register(pts.Subtensor)
def subtensor(t, node):
    x, *inputs = node.inputs
    entries = _fill(node.op.idx_list, inputs)
    exact = _exact_slice(t, node, entries)
    return _read(t, t.value(x), entries) if exact is None else t.builder.slice(t.value(x), [exact])


def _exact_slice(t, node, entries):
    """x[4:89] of a vector of unknown length, where somebody insists that the result has 85 elements.

    Then nothing is to be clamped: a shorter x is an error, and every size behind the slice is a number. PyMC cuts its
    one flat vector into variables in this way.
    """
    if len(entries) != 1 or not isinstance(entries[0], slice) or node.inputs[0].type.shape != (None,):
        return None
    start, stop, step = _constant_slice(entries[0])
    start = 0 if start is None else start
    if stop is None or step != 1 or not 0 <= start < stop:
        return None
    return (start, stop, 1) if t.length_that_is_required(node.outputs[0]) == stop - start else None


@register(pts.IncSubtensor)
def inc_subtensor(t, node):
    x, value, *inputs = node.inputs
    return _write(t, t.value(x), t.value(value), _fill(node.op.idx_list, inputs), _combine(node.op))


@register(pts.AdvancedSubtensor)
def advanced_subtensor(t, node):
    x, *inputs = node.inputs
    return _read(t, t.value(x), _entries(node.op, inputs))


@register(pts.AdvancedIncSubtensor)
def advanced_inc_subtensor(t, node):
    x, value, *inputs = node.inputs
    if getattr(node.op, "ignore_duplicates", False) and not node.op.set_instead_of_inc:
        raise NotNative("an increment that ignores duplicates")
    entries = _entries(node.op, inputs)
    is_vector = len(entries) == 1 and not isinstance(entries[0], slice) and entries[0].type.ndim == 1
    return _write(t, t.value(x), t.value(value), entries, _combine(node.op), stretches=not is_vector)


if AdvancedSubtensor1 is not None:

    @register(AdvancedSubtensor1)
    def advanced_subtensor1(t, node):
        x, index = node.inputs
        return _read(t, t.value(x), [index])

    @register(AdvancedIncSubtensor1)
    def advanced_inc_subtensor1(t, node):
        x, value, index = node.inputs
        return _write(t, t.value(x), t.value(value), [index], _combine(node.op))
