"""The entries of an index: slices, numbers and arrays, as PyTensor's op and node have them.

They stand in a template (`idx_list`) whose gaps the node's inputs fill. (inlay's own: `index_items.py`.)
"""

import numpy as np
from pytensor.graph.basic import Constant
from pytensor.graph.type import Type
from pytensor.tensor.type_other import MakeSlice, NoneTypeT, SliceType

from .registry import NotNative


def filled(template, inputs):
    """The template with its gaps filled from `inputs`: Variables, and slices of Variables and None."""
    remaining = iter(inputs)

    def part(entry):
        if isinstance(entry, int):  # newer versions: the number of the input
            return inputs[entry]
        if isinstance(entry, Type):  # older ones: its type, in order
            return next(remaining)
        return entry

    return [slice(part(e.start), part(e.stop), part(e.step)) if isinstance(e, slice) else part(e) for e in template]


def entries_of(op, inputs):
    """The indices of an advanced op: older versions pass slices and None as inputs and have no template."""
    if hasattr(op, "idx_list"):
        return filled(op.idx_list, inputs)
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


def integer(entry):
    """A Python int where the entry is a constant, else None."""
    if isinstance(entry, int | np.integer):
        return int(entry)
    if isinstance(entry, Constant):
        return int(entry.data)
    return None


def is_missing(part):
    return part is None or (isinstance(part, Constant) and part.data is None)


def constant_slice(entry):
    """(start, stop, step) of a slice of constants; None where an end is missing."""
    def part(x, default):
        if is_missing(x):
            return default
        value = integer(x)
        if value is None:
            raise NotNative("a slice whose ends are not constant")
        return value

    step = part(entry.step, 1)
    if step == 0:
        raise NotNative("a slice of step 0")
    return part(entry.start, None), part(entry.stop, None), step
