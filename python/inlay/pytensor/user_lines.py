"""Whose code a frame of the stack is, and warnings at the user's line."""

import os
import sys
import warnings

_LIBRARIES = tuple(f"{os.sep}{library}{os.sep}" for library in ("pytensor", "pymc", "nutpie"))
_STANDARD_LIBRARY = os.path.dirname(os.__file__)  # singledispatch and contextlib stand between what users call
INLAY = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


def is_library(filename):
    if any(library in filename for library in _LIBRARIES) or filename.startswith((INLAY, "<frozen ")):
        return True
    return os.path.dirname(filename) == _STANDARD_LIBRARY


def warn_user(text, category=UserWarning):
    """At the line that is no library's and called what warns."""
    level, frame = 2, sys._getframe(1)
    while frame is not None and is_library(frame.f_code.co_filename):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, category, stacklevel=level)


class WarningsWithout:
    """The module `warnings` for a module whose functions are called through frames of the file `skipped`: a stacklevel
    counts none of them."""

    def __init__(self, skipped):
        self._skipped = skipped

    def __getattr__(self, name):
        return getattr(warnings, name)

    def warn(self, message, category=None, stacklevel=1, source=None, **kwargs):
        level, frame = 2, sys._getframe(1)
        for _ in range(stacklevel - 1):
            level, frame = level + 1, frame and frame.f_back
            while frame is not None and frame.f_code.co_filename == self._skipped:
                level, frame = level + 1, frame.f_back
        warnings.warn(message, category, level, source, **kwargs)
