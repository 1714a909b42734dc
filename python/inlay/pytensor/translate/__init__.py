"""From PyTensor's graphs to inlay's. One file for each family of ops; `registry.py` says how one is added."""

from . import (  # noqa: F401  (registers translations)
    choose,
    convolve,
    diagonal,
    elemwise,
    index_numbers,
    join,
    late,
    linalg,
    reduce,
    scan,
    shape,
    sort,
    special,
    structure,
    subtensor,
)
from .registry import NotNative, register
from .translator import Translation, Translator, translate

__all__ = ["NotNative", "Translation", "Translator", "register", "translate"]
