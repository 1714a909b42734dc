"""Arrays by name as one run of bytes, and what says how to read it: of many fits the same, and then one object."""

import math

import numpy as np


def pack(values):
    """The layout, a tuple of (name, dtype, shape), and the bytes of all arrays."""
    arrays = {name: np.asarray(value, order="C") for name, value in values.items()}
    layout = tuple((name, array.dtype.str, array.shape) for name, array in arrays.items())
    return layout, b"".join(array.tobytes() for array in arrays.values())


def unpack(layout, data):
    """Views of `data`."""
    return {name: _view(data, *place) for name, place in _places(layout).items()}


class Columns:
    """The arrays of many runs, each (layout, bytes), by name: where they lie is found once for a layout, and views are made of
    what is asked for."""

    def __init__(self, runs):
        places = {}
        self._runs = [(places.get(layout) or places.setdefault(layout, _places(layout)), data) for layout, data in runs]

    def arrays(self, name):
        """One of each run; None where it has no such array."""
        return [_view(data, *places[name]) if name in places else None for places, data in self._runs]


def _places(layout):
    """By name: the dtype, the shape, and at which byte an array begins."""
    places, at = {}, 0
    for name, dtype, shape in layout:
        places[name] = np.dtype(dtype), shape, at
        at += np.dtype(dtype).itemsize * math.prod(shape)
    return places


def _view(data, dtype, shape, at):
    return np.frombuffer(data, dtype, math.prod(shape), at).reshape(shape)
