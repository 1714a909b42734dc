"""What PyTensor, PyMC and IPython learn of inlay: once in a process, however often `inlay.pytensor` is reloaded."""

import functools
import os

from .cached import register_cache
from .equilibrium import register_equilibrium
from .ipython import register_formatters
from .minima import register_minima
from .mode import register_mode
from .part_names import register_part_names
from .pickles import register_pickles
from .quicker import register_quicker
from .rewrites import register_rewrites
from .scan_rewrites import TAG, register_scan_rewrites
from .traces import register_traces
from .with_pymc import register_sampler


@functools.cache
def register_all():
    is_quicker = os.environ.get("INLAY_QUICKER") != "0"
    if is_quicker:
        register_quicker()
    register_traces(TAG)
    register_mode()
    register_rewrites()
    if is_quicker:
        register_equilibrium()
    register_minima()
    register_scan_rewrites()
    register_sampler()
    register_part_names()
    register_pickles()
    register_cache()
    register_formatters()
