"""The exceptions that inlay raises.

Each error code has a class of its own (`index-out-of-bounds` is `IndexOutOfBounds`) that is also of the class that a
NumPy user expects (here IndexError). `code` is the code; `location`, where there is one, says what the error came from.
"""

import builtins

import numpy as np

from . import _inlay


class InlayError(Exception):
    """Base class of all of them."""

    code = None
    location = None


def _make_class(code, base):
    name = "".join(word.capitalize() for word in code.split("-"))
    base = getattr(builtins, base, None) or getattr(np.linalg, base)
    return type(name, (InlayError, base), {"code": code, "__module__": __name__})


_classes = tuple(_make_class(code, base) for code, base in _inlay.error_codes())
globals().update({c.__name__: c for c in _classes})
_inlay.set_error_classes(_classes)

__all__ = ["InlayError", *(c.__name__ for c in _classes)]
