"""Columns of nutpie's tables as NumPy arrays, by Arrow's C interface: no library of Arrow's has to be imported."""

import ctypes

import numpy as np


class _Array(ctypes.Structure):
    """Arrow's struct ArrowArray, of which this reads the first fields."""


_Array._fields_ = [
    ("length", ctypes.c_int64),
    ("null_count", ctypes.c_int64),
    ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(_Array))),
]

_pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
_pointer_of.restype, _pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]


def rows(column):
    """A copy of a column whose rows are lists of float64, all of one length, as a matrix."""
    _, capsule = column.__arrow_c_array__()  # owns what the array points to
    array = _Array.from_address(_pointer_of(capsule, b"arrow_array"))
    if array.null_count:
        raise ValueError(f"{array.null_count} draws are missing")
    child = array.children[0].contents
    offsets = _buffer(array.buffers[1], array.offset + array.length + 1, np.int64)[array.offset :]
    values = _buffer(child.buffers[1], child.offset + int(offsets[-1]), np.float64)[child.offset :]
    return values[int(offsets[0]) : int(offsets[-1])].reshape(array.length, -1).copy()


def flags(column):
    """A copy of a column of booleans."""
    _, capsule = column.__arrow_c_array__()
    array = _Array.from_address(_pointer_of(capsule, b"arrow_array"))
    end = array.offset + array.length
    bits = _buffer(array.buffers[1], (end + 7) // 8, np.uint8)
    return np.unpackbits(bits, count=end, bitorder="little")[array.offset :].astype(bool)


def _buffer(address, length, dtype):
    if not address or not length:
        return np.zeros(0, dtype)
    data = (ctypes.c_char * (length * np.dtype(dtype).itemsize)).from_address(address)
    return np.frombuffer(data, dtype, length)
