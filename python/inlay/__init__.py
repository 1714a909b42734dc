"""inlay: array programs as planned, fused native functions.

`inlay.compile(text)` compiles a program in inlay's text form, `inlay.explain(fn)` says what became of it,
`inlay.profile(fn, *args)` what its steps take, `inlay.report(fn, path, *args)` writes both as a page,
`inlay.memory_page(fn, path)` draws its memory, `inlay.export(fn, directory)` writes it as C, and `inlay.plan(buffers)` lays out buffers by themselves.
`inlay.pytensor` is a linker and a mode for PyTensor and PyMC.
"""

import importlib

from . import errors  # noqa: F401  (first: the extension raises these)
from ._inlay import Function, __version__
from .config import show_config
from .errors import InlayError
from .explanation import explain
from .exporting import export
from .files import load, save
from .low_level import low_level_callable
from .memory import memory_page
from .plan import Plan, Pool, Storage, plan
from .profiling import Profile, profile
from .reporting import report
from .text import compile
from .threads import get_threads, set_threads

__all__ = [
    "Function",
    "InlayError",
    "Plan",
    "Pool",
    "Profile",
    "Storage",
    "__version__",
    "compile",
    "errors",
    "explain",
    "export",
    "get_threads",
    "load",
    "low_level_callable",
    "memory_page",
    "plan",
    "profile",
    "report",
    "save",
    "set_threads",
    "show_config",
]

_ON_DEMAND = ("executorch", "jax", "onnx", "pymc", "pytensor", "tflite")  # they import what not everybody has


def __getattr__(name):
    if name in _ON_DEMAND:
        return importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
