"""inlay for PyTensor and PyMC: `mode="INLAY"`.

Importing this registers the linker and the mode, by which `pm.sample` also compiles for nutpie. `explain(fn)` says what
became of a function, `c_function(fn)` gives it as a C pointer.
"""

from ..explanation import explain
from .c_function import c_function
from .dprint import dprint
from .linker import InlayLinker
from .mode import MODE, default_mode, mode, use
from .registration import register_all
from .translate import NotNative, register

register_all()

__all__ = [
    "MODE",
    "InlayLinker",
    "NotNative",
    "c_function",
    "default_mode",
    "dprint",
    "explain",
    "mode",
    "register",
    "use",
]
