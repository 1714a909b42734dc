"""What the caller gives for an array of numbers, and why it is none, in words that name it."""

from numbers import Number

import numpy as np

from ..choices import a_kind

MASKED = "is a masked array that hides values, which would be read: leave them out of the data"


class BadData(ValueError):
    """A data set that the model cannot take."""


def numbers(name, given):
    """`given` as an array of numbers. Errors: BadData."""
    try:
        array = np.asarray(given)
    except Exception as error:  # noqa: BLE001  (whatever an object's own code raises)
        raise BadData(_why_none(name, given) or f"{name}: {type(error).__name__}: {error}") from error
    if np.ma.is_masked(given):
        raise BadData(f"{name} {MASKED}")
    if array.dtype.kind not in "biuf":
        raise BadData(_why_none(name, given) or f"{name} holds {array.dtype}, not numbers")
    return array


def holds(dtype, array):
    """Whether data of this dtype can be what is given: integers hold no 3.7 and no NaN, which a cast makes some number."""
    if dtype.kind not in "biu":
        return True
    with np.errstate(invalid="ignore"):
        return np.can_cast(array.dtype, dtype) or np.array_equal(array.astype(dtype), array)


def _why_none(name, given):
    for found in _strange(given):
        said = repr(found) if isinstance(found, str) else a_kind(found)
        return f"{name} {'is' if found is given else 'holds'} {said}, not numbers"
    return f"{name} is ragged: lists in it differ in length" if _lengths_differ(given) else None


def _strange(given):
    """What is no number and no array, of an object or of nested lists."""
    if isinstance(given, list | tuple):
        for x in given:
            yield from _strange(x)
    elif not isinstance(given, Number) and not hasattr(given, "__array__"):
        yield given


def _lengths_differ(given):
    if not isinstance(given, list | tuple):
        return False
    lengths = {len(x) if isinstance(x, list | tuple) else np.shape(x) for x in given}
    return len(lengths) > 1 or any(map(_lengths_differ, given))
