"""From PyTensor's graphs to inlay's. One file for each family of ops; `registry.py` says how one is added."""

from . import elemwise, join, late, linalg, reduce, shape, structure, subtensor  # noqa: F401  (registers translations)
from .registry import NotNative, register
from .translator import Translation, Translator, translate

__all__ = ["NotNative", "Translation", "Translator", "register", "translate"]
