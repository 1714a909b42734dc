"""What is used of nutpie's compiled core, which is private to nutpie and differs between versions."""

import importlib.util
import inspect
import sys
import threading
from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader
from pathlib import Path

CORE = "nutpie._lib"

# What is used of it, private to nutpie as it is.
_USED = ("ExpandFunc", "LogpFunc", "ProgressType", "PyMcModel", "PyNutsSettings", "PySampler", "PyStorage", "PyVariable")

_importing = threading.Lock()


def is_installed():
    return CORE in sys.modules or importlib.util.find_spec("nutpie") is not None


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


def settings_of(seed, given):
    """Errors: TypeError for a setting that there is not, and for a value of a wrong type."""
    settings = core().PyNutsSettings.Diag(seed)
    for name, value in given.items():
        try:
            setattr(settings, name, value)
        except AttributeError:
            raise TypeError(f"nutpie's sampler has no setting {name}") from None
    return settings


def started(model, seed, settings):
    """A sampler of one thread that has begun."""
    lib = core()
    given = {
        "settings": settings_of(seed, settings),
        "cores": 1,
        "model": model,
        "progress_type": lib.ProgressType.none(),
        "extra_callback": None,
        "extra_callback_rate": 100,
        "store": lib.PyStorage.arrow(),
    }
    wanted = inspect.signature(lib.PySampler.from_pymc).parameters
    return lib.PySampler.from_pymc(*(given[name] for name in wanted))
