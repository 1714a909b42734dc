"""inlay for PyMC: what `nutpie.sample` takes, on C pointers; one model fitted to many data sets; models as libraries for
Stan's samplers.

Everything else of PyMC runs with `inlay.pytensor`: as the default mode, or as `compile_kwargs={"mode": "INLAY"}`.
"""

from ..fits.failures import SamplingFailed
from .bridgestan import export_bridgestan
from .fit_many import FitsEnded, fit_many
from .fit_shards import fit_shards
from .nutpie import compile_nutpie
from .sampling_wrapper import sampling_wrapper
from .sbc import SBC

__all__ = ["SBC", "FitsEnded", "SamplingFailed", "compile_nutpie", "export_bridgestan", "fit_many", "fit_shards", "sampling_wrapper"]
