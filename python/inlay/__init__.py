"""inlay: array programs as planned, fused native functions.

`inlay.compile(text)` compiles a program in inlay's text form, `inlay.explain(fn)` says what became of it,
`inlay.profile(fn, *args)` what its steps take, `inlay.report(fn, path, *args)` writes both as a page,
`inlay.memory_page(fn, path)` draws its memory, `inlay.export(fn, directory)` writes it as C, and `inlay.plan(buffers)` lays out buffers by themselves.
`inlay.pytensor` is a linker and a mode for PyTensor and PyMC.
"""

import importlib
from typing import TYPE_CHECKING

from . import errors  # noqa: F401  (first: the extension raises these)
from . import functions  # noqa: F401  (gives Function its methods)
from ._inlay import Function, __version__
from .config import show_config
from .errors import InlayError
from .files import load, save
from .plan import Plan, Pool, Storage, plan
from .text import compile
from .threads import get_threads, set_threads

if TYPE_CHECKING:  # as __getattr__ has them
    from .explanation import explain
    from .exporting import export
    from .low_level import low_level_callable
    from .memory import memory_page
    from .profiling import Profile, profile
    from .reporting import report

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
_MODULE_OF = {  # what most programs do without, and takes as long to import as all else: by name, where it is
    "Profile": "profiling",
    "explain": "explanation",
    "export": "exporting",
    "low_level_callable": "low_level",
    "memory_page": "memory",
    "profile": "profiling",
    "report": "reporting",
}


def __getattr__(name):
    if name in _ON_DEMAND:
        return importlib.import_module(f".{name}", __name__)
    if name in _MODULE_OF:
        found = getattr(importlib.import_module(f".{_MODULE_OF[name]}", __name__), name)
        globals()[name] = found
        return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted({*globals(), *_MODULE_OF, *_ON_DEMAND})
