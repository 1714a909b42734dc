"""One fit by nutpie's compiled core, on C pointers. What it draws depends on functions, data, seed and settings alone,
not on how many threads there are."""

import functools
import importlib.util
import sys
import threading
from dataclasses import dataclass
from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader
from pathlib import Path

import numpy as np

from . import arrow
from .failures import NO_START, NOT_FINITE_ANYWHERE, SamplingFailed, failure_text

# So often a sampler is asked whether it was told to stop, in seconds. Its end is noticed at once.
LONGEST_WAIT = 0.05

CORE = "nutpie._lib"

# What is used of it, private to nutpie as it is.
_USED = ("ExpandFunc", "LogpFunc", "ProgressType", "PyMcModel", "PyNutsSettings", "PySampler", "PyStorage", "PyVariable")


class Stopped(Exception):
    """The fit was told to stop."""


_importing = threading.Lock()


def core():
    """nutpie's extension module, without the package around it, which imports pandas, Numba and ArviZ."""
    if CORE not in sys.modules:
        with _importing:
            if CORE not in sys.modules:
                sys.modules[CORE] = _imported_core()
    return sys.modules[CORE]


def _imported_core():
    spec = importlib.util.find_spec("nutpie")
    if spec is None:
        raise ImportError("fit_many needs nutpie: pip install nutpie")
    folder = Path(spec.submodule_search_locations[0])
    path = next((p for suffix in EXTENSION_SUFFIXES if (p := folder / f"_lib{suffix}").exists()), None)
    if path is None:
        raise ImportError(f"nutpie in {folder} has no compiled core")
    spec = importlib.util.spec_from_file_location(CORE, path, loader=ExtensionFileLoader(CORE, str(path)))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    lacking = [name for name in _USED if not hasattr(module, name)]
    if lacking:
        raise NotImplementedError(f"fit_many cannot use this version of nutpie: its core has no {', '.join(lacking)}")
    return module


@dataclass
class Draws:
    values: dict  # by name, (chain, draw, ...)
    divergences: int


def sample(functions, arrays, seed, settings, stop=None):
    """Draws of the `functions` (a FitFunctions) with these arrays of data. `settings`: those of nutpie's sampler.

    Errors: SamplingFailed; Stopped, after the event `stop`.
    """
    start, shapes = functions.loaded.start(arrays)
    told, failure = threading.Event(), []

    def tell(error):
        failure.append(error)
        told.set()

    made = functools.partial(_sampler, functions, arrays, start, shapes, seed, settings)
    sampler, kept = made({name: functools.partial(_tell, tell, name) for name in ("logp", "expand")})
    try:
        _wait(sampler, told, stop)
        trace = None if told.is_set() else sampler.take_results()
    except Exception as error:
        if isinstance(error, Stopped) or (not told.is_set() and not str(error).startswith(NO_START)):
            raise
        trace = None
    finally:
        del kept
    if told.is_set():
        raise SamplingFailed(*failure[0])
    if trace is None:
        raise SamplingFailed(NOT_FINITE_ANYWHERE)
    return _draws(functions, trace, shapes, settings["num_draws"])


_WHAT = {"logp": "the log density", "expand": "what is recorded of a draw"}


def _tell(tell, name, error):
    tell((failure_text(_WHAT[name], error), error))


def _sampler(functions, arrays, start, shapes, seed, settings, on_error):
    """nutpie's sampler of one column, a draw, and what must live as long."""
    lib, loaded = core(), functions.loaded
    num_values = sum(int(np.prod(shape)) for shape in shapes)
    record = loaded.record(arrays)
    pointers = {name: loaded.pointer(name, tell) for name, tell in on_error.items()}
    kept = (arrays, record, pointers)
    address = record.ctypes.data
    sizes = {"value": num_values}
    model = lib.PyMcModel(
        lib.LogpFunc(pointers["logp"].address, address, kept),
        lib.ExpandFunc(start.size, num_values, pointers["expand"].address, address, kept),
        lib.PyVariable.new_variables(["draw"], ["float64"], [(num_values,)], sizes, {"draw": ["value"]}),
        start.size,
        sizes,
        {},
        lambda chain_seed: start + np.random.default_rng(chain_seed).uniform(-1, 1, start.size),
        None,
    )
    options = lib.PyNutsSettings.Diag(seed)
    options.update(settings)
    none = lib.ProgressType.none()
    return lib.PySampler.from_pymc(options, 1, model, none, None, 100, lib.PyStorage.arrow()), kept


def _wait(sampler, told, stop):
    while True:
        try:
            sampler.wait(LONGEST_WAIT)
            return
        except TimeoutError:
            if told.is_set() or (stop is not None and stop.is_set()):
                sampler.abort()
                if told.is_set():
                    return
                raise Stopped from None
        except BaseException:  # Ctrl-C in a worker
            sampler.abort()
            raise


def _draws(functions, trace, shapes, num_draws):
    draws, stats = trace.get_arrow_trace()
    values = np.stack([arrow.rows(chain.column("draw"))[-num_draws:] for chain in draws])
    diverging = np.stack([arrow.flags(chain.column("diverging"))[-num_draws:] for chain in stats])
    by_name, at = {}, 0
    for variable, shape in zip(functions.recorded, shapes, strict=True):
        size = int(np.prod(shape))
        part = values[:, :, at : at + size].reshape(*values.shape[:2], *shape)
        by_name[variable.name] = part.astype(variable.dtype, copy=False)
        at += size
    return Draws(by_name, int(diverging.sum()))
