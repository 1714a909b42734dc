"""Comparing sizes, and the lesser and the greater of two.

A dim is a Python int or an expression over the sizes of inputs.
"""

from ... import _inlay

dim_min, dim_max = _inlay.dim_min, _inlay.dim_max


def known_equal(a, b):
    """Are two dims the same, whatever the sizes of the inputs? False: that is not known."""
    return a is b or a == b


def all_equal(dims, others):
    """Is each known to be the other's, of as many dims?"""
    for a, b in zip(dims, others, strict=True):
        if not (a is b or a == b):
            return False
    return True


def is_one(dim):
    """Is it 1 by the types, so that the axis stretches?"""
    return isinstance(dim, int) and dim == 1
