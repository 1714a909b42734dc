"""Arrays by name as one run of bytes, and what says how to read it: of many fits the same, and then one object."""

import numpy as np


def pack(values):
    """The layout, a tuple of (name, dtype, shape), and the bytes of all arrays."""
    arrays = {name: np.asarray(value, order="C") for name, value in values.items()}
    layout = tuple((name, array.dtype.str, array.shape) for name, array in arrays.items())
    return layout, b"".join(array.tobytes() for array in arrays.values())


def unpack(layout, data, at=0):
    """Views of `data`, from byte `at` on."""
    values = {}
    for name, dtype, shape in layout:
        count = int(np.prod(shape))
        values[name] = np.frombuffer(data, dtype, count, at).reshape(shape)
        at += values[name].nbytes
    return values
