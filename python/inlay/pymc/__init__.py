"""inlay for PyMC: what `nutpie.sample` takes, on C pointers, and models as libraries for Stan's samplers.

Everything else of PyMC runs with `inlay.pytensor`: as the default mode, or as `compile_kwargs={"mode": "INLAY"}`.
"""

from .bridgestan import export_bridgestan
from .compiled_model import SamplingFailed
from .nutpie import compile_nutpie

__all__ = ["SamplingFailed", "compile_nutpie", "export_bridgestan"]
