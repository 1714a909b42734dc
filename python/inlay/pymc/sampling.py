"""`pm.sample` in inlay's mode is nutpie on inlay.

PyMC takes nutpie where a model's variables are continuous, nothing was asked for that nutpie lacks, and the linker is
one that nutpie compiles for. Here that linker may be inlay's too; all else, the arguments, the seeds, the progress bar
and the groups of the result, is PyMC's own code. Four names are given another meaning for it, each of which leaves what
has another mode as it was: `sample`, `_sample_external_nuts` and `warnings` (for the user's line) of
pymc.sampling.mcmc, and `nutpie.compile_pymc_model`. PyMC's log has a filter: that nutpie samples is logged when that is certain.
"""

import contextlib
import contextvars
import functools
import inspect
import logging
import sys
import warnings

from pytensor.compile.mode import get_mode

from ..pytensor.linker import InlayLinker
from ..pytensor.mode import MODE
from ..pytensor.user_lines import WarningsWithout
from .dim_names import with_own_names
from .limits import NotForNutpie, why_not_nutpie

_log = logging.getLogger("pymc.sampling.mcmc")

# The mode of inlay's in which `pm.sample` now has a model compiled for nutpie.
_mode_of_sampling = contextvars.ContextVar("mode_of_sampling", default=None)

# The own names of dims that nutpie has other names for, of the model that was compiled last.
_own_names_of_dims = contextvars.ContextVar("own_names_of_dims", default=None)

# What PyMC logs of nutpie before it has the model compiled, which may find that nutpie cannot sample it.
_lines_of_nutpie = contextvars.ContextVar("lines_of_nutpie", default=None)


def teach_nutpie(nutpie):
    """`nutpie.compile_pymc_model(model, backend="inlay")`, and what `pm.sample` asks for in inlay's mode."""
    compile_by_nutpie = getattr(nutpie, "compile_pymc_model", None)
    if compile_by_nutpie is None or hasattr(compile_by_nutpie, "knows_inlay"):
        return

    @functools.wraps(compile_by_nutpie)
    def compile_pymc_model(model, *, backend="numba", gradient_backend=None, **kwargs):
        mode = _mode_of_sampling.get() or (MODE if str(backend).lower() == "inlay" else None)
        if mode is None:
            return compile_by_nutpie(model, backend=backend, gradient_backend=gradient_backend, **kwargs)
        if gradient_backend not in (None, "pytensor"):
            raise ValueError(f"inlay compiles the gradients of PyTensor, and gradient_backend is {gradient_backend!r}")
        from .nutpie import compile_in_mode, warn_of_dim_names  # which import inlay.pytensor, which imports this

        compiled = compile_in_mode(model, mode, **kwargs)
        if _mode_of_sampling.get() is None:
            warn_of_dim_names(compiled)
        else:
            _own_names_of_dims.set(compiled.own_names)
        _log_lines_of_nutpie()
        return compiled

    compile_pymc_model.knows_inlay = True
    nutpie.compile_pymc_model = compile_pymc_model


def teach_pymc(mcmc):
    """`mcmc`: the module pymc.sampling.mcmc."""
    sample, sample_by_others = getattr(mcmc, "sample", None), getattr(mcmc, "_sample_external_nuts", None)
    if sample is None or sample_by_others is None or hasattr(sample, "knows_inlay"):
        return
    if getattr(mcmc, "warnings", None) is warnings:
        mcmc.warnings = WarningsWithout(__file__)
    if hasattr(mcmc, "NumbaLinker"):  # the linkers that nutpie compiles for; PyMC 5 does not ask
        mcmc.NumbaLinker = _KnownToNutpie("NumbaLinker", (), {"of_numba": mcmc.NumbaLinker})

    @functools.wraps(sample_by_others)
    def sample_external_nuts(*args, **kwargs):
        asked = _asked(sample_by_others, args, kwargs)
        is_nutpie = asked.get("sampler") == "nutpie"
        backend = _backend_of_nutpie(asked)
        mode = _inlay_mode(asked if backend is None else {"backend": backend})
        teach_nutpie(sys.modules.get("nutpie"))  # again, if somebody has loaded it anew
        token = _mode_of_sampling.set(mode if is_nutpie else None)
        try:
            if not is_nutpie or mode is None:
                return sample_by_others(*args, **kwargs)
            with _lines_wait():
                trace = sample_by_others(*args, **kwargs)
                return with_own_names(trace, _own_names_of_dims.get())
        finally:
            _mode_of_sampling.reset(token)

    @functools.wraps(sample)
    def sample_with_inlay(*args, **kwargs):
        asked = _asked(sample, args, kwargs)
        may_choose = inspect.signature(sample).parameters["nuts_sampler"].default is None
        if not may_choose or asked.get("nuts_sampler") is not None or _inlay_mode(asked) is None:
            return sample(*args, **kwargs)
        why_not = _why_own_nuts(mcmc, asked)
        if why_not is None:
            try:
                # PyMC writes into these dicts, and may be called once more.
                return sample(*args, **{k: dict(v) if isinstance(v, dict) else v for k, v in kwargs.items()})
            except NotForNutpie as error:
                why_not = str(error)
        if not asked.get("quiet"):
            log_own_nuts(why_not)
        return sample(*args, **(kwargs | {"nuts_sampler": "pymc"}))

    _log.addFilter(_wait_for_nutpie)
    sample_with_inlay.knows_inlay = True
    mcmc._sample_external_nuts = sample_external_nuts
    for name in ("pymc.sampling.mcmc", "pymc.sampling", "pymc"):
        module = sys.modules.get(name)
        if getattr(module, "sample", None) is sample:
            module.sample = sample_with_inlay


def log_own_nuts(why_not):
    _log.info("NUTS is PyMC's own, in Python, and not nutpie: %s", why_not)


def _wait_for_nutpie(record):
    """A filter of PyMC's log: whether a line is logged now."""
    lines = _lines_of_nutpie.get()
    if lines is not None:
        lines.append(record)
    return lines is None


@contextlib.contextmanager
def _lines_wait():
    """Lines are logged when the model is compiled; where it is not for nutpie they never are."""
    token = _lines_of_nutpie.set([])
    try:
        yield
    except NotForNutpie:
        _lines_of_nutpie.set(None)
        raise
    finally:
        _log_lines_of_nutpie()
        _lines_of_nutpie.reset(token)


def _log_lines_of_nutpie():
    lines = _lines_of_nutpie.get()
    _lines_of_nutpie.set(None)
    for record in lines or ():
        _log.handle(record)


class _KnownToNutpie(type):
    """Of a linker: whether nutpie compiles for it."""

    def __instancecheck__(cls, linker):
        return isinstance(linker, (cls.of_numba, InlayLinker))


def _asked(function, args, kwargs):
    """The arguments of a call by name; of a wrong one none, since `function` says what is wrong."""
    try:
        return inspect.signature(function).bind_partial(*args, **kwargs).arguments
    except TypeError:
        return {}


def _inlay_mode(asked):
    """The mode in which PyMC will compile, if it is one of inlay's."""
    name = asked.get("backend") or (asked.get("compile_kwargs") or {}).get("mode")
    try:
        mode = get_mode(name)
    except ValueError:
        return None  # PyMC says what is wrong with it
    return mode if isinstance(mode.linker, InlayLinker) else None


def _backend_of_nutpie(asked):
    """The backend that the user names for nutpie alone, or None."""
    for name in ("compile_kwargs", "nuts_sampler_kwargs", "nuts_kwargs"):
        if "backend" in (asked.get(name) or {}):
            return asked[name]["backend"]
    return None


def _why_own_nuts(mcmc, asked):
    """Why PyMC will sample by its own NUTS where it might have taken nutpie, or None."""
    asked_for = {
        "callback": asked.get("callback") is not None,
        "trace": asked.get("trace") is not None,
        "return_inferencedata=False": not asked.get("return_inferencedata", True),
        f"init={asked.get('init')!r}": asked.get("init", "auto") != "auto",
        "initvals of each chain": not isinstance(asked.get("initvals"), dict | None),
    }
    lacking = next((what for what, is_asked in asked_for.items() if is_asked), None)
    if mcmc.NUTPIE_INSTALLED and lacking is not None:
        return f"nutpie takes no {lacking}"
    if mcmc.NUTPIE_INSTALLED and asked.get("step") is not None:
        return None  # PyMC takes the steps that it is given, and nutpie for none of them
    return why_not_nutpie(lambda: mcmc.modelcontext(asked.get("model")), mcmc.NUTPIE_INSTALLED)
