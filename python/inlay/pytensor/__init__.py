"""inlay for PyTensor and PyMC: `mode="INLAY"`.

Importing this registers the linker and the mode, by which `pm.sample` also compiles for nutpie. `explain(fn)` says what
became of a function, `c_function(fn)` gives it as a C pointer.
"""

from ..explanation import explain
from .c_function import c_function
from .dprint import dprint
from .equilibrium import register_equilibrium
from .ipython import register_formatters
from .linker import InlayLinker
from .mode import MODE, default_mode, mode, register_mode, use
from .part_names import register_part_names
from .rewrites import register_rewrites
from .scan_rewrites import TAG, register_scan_rewrites
from .traces import register_traces
from .translate import NotNative, register
from .with_pymc import register_sampler

register_traces(TAG)
register_mode()
register_rewrites()
register_equilibrium()
register_scan_rewrites()
register_sampler()
register_part_names()
register_formatters()

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
