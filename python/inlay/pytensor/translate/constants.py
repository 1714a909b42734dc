"""Constants: literals in the graph where they are small, else arrays bound to the function."""

import numpy as np
from pytensor.scalar.basic import ScalarType

from .calls import call_function
from .dtypes import INLAY_NAMES, is_tensor

LARGEST_LITERAL = 16  # elements; a larger constant is an array bound to the function


class Constants:
    """Makes them in the graph that the translator builds."""

    def __init__(self, t):
        self._t = t
        self.bound = []  # arrays, in the order of the graph's bound parameters
        self._arrays = {}  # (address, shape, strides, dtype) of a bound array -> its value

    def of(self, var):
        if not is_tensor(var.type) and not isinstance(var.type, ScalarType):
            return self._object(var.data, str(var))
        return self.array(np.asarray(var.data), var.name)

    def array(self, array, name=None):
        """A literal when it is small or all one number, else an array bound once."""
        dtype = INLAY_NAMES[array.dtype.name]
        if array.size == 0:
            return self._bound(array, name)
        if _all_same(array):
            value = self._t.builder.literal(array.flat[0].item(), dtype)
            if array.ndim:
                value = self._t.builder.broadcast(value, list(array.shape))
        elif array.size <= LARGEST_LITERAL:
            value = self._t.builder.literal_array(np.ascontiguousarray(array))
        else:
            return self._bound(array, name)
        self._t.scope.literals[value.index] = array
        return value

    def _bound(self, array, name):
        """Bound row-major; an axis permutation of a row-major array is that array, transposed."""
        body = self._t.scope.body
        if body is not None:  # only the outermost graph has bound arrays
            with body.outside():
                value = self._bound(array, name)
            return body.bring_in(value)
        key = (array.ctypes.data, array.shape, array.strides, array.dtype.name)
        if key in self._arrays:
            return self._arrays[key][0]
        if array.ndim > 1 and array.size and not array.flags.c_contiguous:
            order = sorted(range(array.ndim), key=lambda axis: -abs(array.strides[axis]))
            row_major = array.transpose(order)
            if row_major.flags.c_contiguous:
                value = self._t.builder.transpose(self._bound(row_major, name), list(np.argsort(order)))
                self._arrays[key] = value, array
                return value
        row_major = np.require(array, requirements=["C", "A"])
        value = self._t.builder.bound(self._t.names.unique(name or f"constant_{len(self.bound)}"), row_major)
        self.bound.append(row_major)
        self._arrays[key] = value, array  # which stays, so that no other comes to lie at its address
        return value

    def _object(self, data, name):
        """A constant that is no tensor: a function without operands that returns it."""
        (value,) = call_function(self._t, lambda: (data,), [], [("opaque", ())], f"constant {name}")
        return value


def _all_same(array):
    if array.dtype.kind == "c":
        return _all_same(array.real) and _all_same(array.imag)
    first = array.flat[0]
    if array.dtype.kind == "f" and not np.isfinite(first):
        return array.size == 1
    # Bits, not values: -0.0 is not 0.0.
    return array.size == 1 or bool(
        (array == first).all()
        and (array.dtype.kind != "f" or first != 0 or (np.signbit(array) == np.signbit(first)).all())
    )
