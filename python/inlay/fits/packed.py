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
    return {name: _view(data, 1, len(data), *place)[0] for name, place in _places(layout).items()}


class Columns:
    """The arrays of many runs by name. Runs of one layout lie one behind the other, so that all of them are one view:
    `blocks` are (places, layout, bytes), where places are those of the runs among all, of which there are `count`."""

    def __init__(self, count, blocks):
        self.count = count
        self._blocks = [(np.asarray(at), _places(layout), data) for at, layout, data in blocks if len(at)]

    @classmethod
    def of(cls, runs):
        """Of (layout, bytes) in their order."""
        blocks = {}
        for i, (layout, data) in enumerate(runs):
            places, parts = blocks.setdefault(layout, ([], []))
            places.append(i)
            parts.append(data)
        count = sum(len(places) for places, _ in blocks.values())
        return cls(count, [(places, layout, b"".join(parts)) for layout, (places, parts) in blocks.items()])

    def dims(self):
        """By name, in the order of the first runs: of how many dims the arrays are."""
        in_order = sorted(self._blocks, key=lambda block: block[0].min(initial=self.count))
        return {name: len(shape) for _, places, _ in in_order for name, (_, shape, _) in places.items()}

    def parts(self, name):
        """(places, array) of each layout that has such an array, along the first axis of which are the runs."""
        return [
            (at, _view(data, len(at), sum(map(_num_bytes, places.values())), *places[name]))
            for at, places, data in self._blocks
            if name in places
        ]

    def arrays(self, name):
        """One of each run; None where it has no such array."""
        found = [None] * self.count
        for at, arrays in self.parts(name):
            for i, array in zip(at, arrays, strict=True):
                found[i] = array
        return found


def _places(layout):
    """By name: the dtype, the shape, and at which byte an array begins."""
    places, at = {}, 0
    for name, dtype, shape in layout:
        places[name] = np.dtype(dtype), shape, at
        at += _num_bytes(places[name])
    return places


def _num_bytes(place):
    dtype, shape, _ = place
    return dtype.itemsize * math.prod(shape)


def _view(data, count, step_bytes, dtype, shape, at):
    """Of `count` arrays, the first of which begins at the byte `at`, and each next one a step further."""
    if count * math.prod(shape) == 0:
        return np.zeros((count, *shape), dtype)
    inner = [dtype.itemsize * math.prod(shape[axis + 1 :]) for axis in range(len(shape))]
    return np.ndarray((count, *shape), dtype, data, at, (step_bytes, *inner))
