"""Fits that PyMC makes in a worker, in inlay's mode: by its own samplers, by sequential Monte Carlo, by variational
inference. The model travels as a pickle, and each process has a copy of it, whose data are exchanged."""

import contextlib
import functools
import inspect
import logging
import threading
import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from pytensor import config

from ..files import pickled, unpickled
from ..fits.functions import ModelOfFits
from ..fits.sampler import Draws, Stopped, refuse_stopped
from .chosen_mode import chosen_mode, text_of_mode
from .compiled_once import CompiledOnce, kernel_of_fits
from .kept_approximation import inference_of_fits

# PyTensor is not made for threads, and a process has one copy of a model.
_one_fit = threading.Lock()


@dataclass(frozen=True)
class PymcModel(ModelOfFits):
    """A model where FitFunctions would stand."""

    model: bytes
    observed: tuple  # names of observed variables whose values, constants in the model, are data
    mode: bytes  # the mode in which a worker compiles

    @cached_property
    def loaded(self):
        return _Loaded(self)

    def content(self):
        """A hash of what draws depend on: the same in every process that makes the same model."""
        content = self.hash_of_data()
        content.update(text_of_mode(self.loaded.mode).encode())
        with _one_fit:
            _continue_hash(content, self.loaded.model)
        return content.hexdigest()


class _Loaded:
    """The copy of a process."""

    def __init__(self, described):
        self._data = described.data
        self.model, self.mode = unpickled(described.model), unpickled(described.mode)
        self._observed = {name: _as_data(self.model, name) for name in described.observed}
        self.compiled = CompiledOnce(self.model)

    def exchange(self, arrays):
        for data, array in zip(self._data, arrays, strict=True):
            if data.name in self._observed:
                self._observed[data.name].set_value(array)
                continue
            sizes = {dim: size for dim, size in zip(data.dims, array.shape, strict=False) if self.model.coords.get(dim)}
            coords = {dim: range(size) for dim, size in sizes.items() if len(self.model.coords[dim]) != size}
            self.model.set_data(data.name, np.zeros_like(array), coords=coords)
            self.model[data.name].set_value(array)  # as it is: `set_data` masks NaN


def _as_data(model, name):
    """Makes the constant that is observed a shared variable."""
    from .described import shared_of

    variable = model[name]
    constant = model.rvs_to_values[variable]
    shared = shared_of(name, constant)
    model.rvs_to_values[variable] = shared
    del model.values_to_rvs[constant]
    model.values_to_rvs[shared] = variable
    return shared


def _continue_hash(content, model):
    """By the graphs of a model with their ops and constants: what is drawn from the prior, the log density of each variable,
    the deterministics. A shared variable counts by its value, but for states of random generators, which a seed
    replaces."""
    import pytensor
    from pytensor.compile.sharedvalue import SharedVariable
    from pytensor.graph.basic import Constant
    from pytensor.graph.traversal import ancestors

    from .op_text import text_of_op, without_addresses

    graphs = [*model.basic_RVs, *model.logp(sum=False), *model.unobserved_value_vars]
    text = without_addresses(pytensor.dprint(graphs, file="str", print_type=True))
    starts = [(v.name, repr(start)) for v, start in model.rvs_to_initial_values.items()]
    content.update(f"{starts} {text}".encode())
    variables = [*ancestors(graphs)]
    for op in dict.fromkeys(v.owner.op for v in variables if v.owner is not None):
        content.update(text_of_op(op).encode())
    for variable in variables:
        is_shared = isinstance(variable, SharedVariable)
        if is_shared or isinstance(variable, Constant):
            value = variable.get_value(borrow=True) if is_shared else variable.data
            if isinstance(value, np.ndarray):
                content.update(f"{value.dtype.str} {value.shape}".encode() + value.tobytes())


def pymc_model(model, var_names=None, exchanged=(), after=(), initial=()):
    """`initial` is as for other methods, and is nothing here: PyMC takes starting values of any variables.

    Errors: KeyError for a name in `var_names` that is no variable; what pickle raises for a model that it cannot."""
    from .described import data_in, described, hidden_from, observations, shared_data, shared_of, variables_of
    from .draw_graphs import AfterGraphs

    constants, recorded = observations(model), variables_of(model, var_names)
    instead_of = {constants[name]: shared_of(name, constants[name]) for name in exchanged}
    shared = [*shared_data(model), *instead_of.values()]
    graphs = AfterGraphs(model, after, instead_of)
    _, instead = data_in(graphs.outputs(), model)
    hidden, compiled = hidden_from(model, recorded, after), graphs.compiled(shared, instead)
    known = described(model, recorded, hidden, shared, exchanged, compiled)
    return PymcModel(model=pickled(model), mode=pickled(chosen_mode()), observed=tuple(exchanged), **known)


@dataclass(frozen=True)
class ByPymc:
    """A fit by one of PyMC's functions."""

    name: str
    draws: int
    tune: int
    chains: int
    settings: bytes  # a pickle: they may have functions
    also: ClassVar[tuple] = ()
    packages: ClassVar[tuple] = ("pymc", "pytensor")

    def fit(self, functions, arrays, seed, stop=None, initvals=()):
        loaded = functions.loaded
        with _one_fit:
            refuse_stopped(stop)
            loaded.exchange(arrays)
            with config.change_flags(mode=loaded.mode), _quiet(), loaded.compiled.fit() as kept, loaded.model:
                trace = _FITS[self.name](self, unpickled(self.settings), seed, stop, initvals, kept)
        values = {v.name: _drawn(trace, v.name).astype(v.dtype, copy=False) for v in functions.recorded}
        if any(drawn.shape[:2] != (self.chains, self.draws) for drawn in values.values()):
            raise Stopped  # PyMC returns what it has after Ctrl-C
        return Draws(values, _divergences(trace))


def _sample(method, settings, seed, stop, initvals, kept):
    import pymc

    one, *others = initvals or (None,)
    return pymc.sample(
        method.draws,
        tune=method.tune,
        chains=method.chains,
        cores=1,
        random_seed=seed,
        initvals=[one, *others] if others else one,
        nuts_sampler="pymc",
        callback=lambda **_: refuse_stopped(stop),
        progressbar=False,
        compute_convergence_checks=False,
        **_without_inference_data(pymc.sample),
        **settings,
    )


def _without_inference_data(sample):
    """For a MultiTrace, as long as PyMC returns one: what it makes of it in ArviZ's groups takes as long as a short fit."""
    known = inspect.signature(sample).parameters
    return {"return_inferencedata": False} if "return_inferencedata" in known else {}


def _smc(method, settings, seed, stop, initvals, kept):
    import pymc
    from pymc.smc import IMH

    stoppable = functools.partial(_stoppable, stop=stop) if stop is not None else lambda kernel: kernel
    settings["kernel"] = kernel_of_fits(settings.get("kernel", IMH), kept, stoppable)
    return pymc.sample_smc(
        method.draws,
        chains=method.chains,
        cores=1,
        random_seed=seed,
        progressbar=False,
        compute_convergence_checks=False,
        return_inferencedata=False,
        **settings,
    )


def _stoppable(kernel, stop):
    """The class of a kernel that looks whether it was told to stop before each evaluation of a density, as PyMC has no
    callback there."""

    def watched(name):
        def get(self):
            refuse_stopped(stop)
            return vars(self)[name]

        return property(get, lambda self, function: vars(self).update({name: function}))

    return type(kernel.__name__, (kernel,), {name: watched(name) for name in ("prior_logp_func", "likelihood_logp_func")})


def _advi(method, settings, seed, stop, initvals, kept):
    import pymc

    of_fit, of_draws = map(int, np.random.SeedSequence(seed).generate_state(2))
    callbacks = [*settings.pop("callbacks", ()), lambda *_: refuse_stopped(stop)]
    if initvals:
        settings["start"] = initvals[0]
    inference = inference_of_fits(kept, settings, method.settings, of_fit)
    if inference is not None:
        settings["method"] = inference
    approximation = pymc.fit(random_seed=of_fit, progressbar=False, callbacks=callbacks, **settings)
    return approximation.sample(method.draws, random_seed=of_draws, return_inferencedata=False)


_FITS = {"nuts": _sample, "smc": _smc, "advi": _advi}


def _drawn(trace, name):
    """(chain, draw, ...), of a MultiTrace or of a DataTree."""
    if hasattr(trace, "get_values"):
        return np.stack(trace.get_values(name, combine=False, squeeze=False))
    return trace["posterior"][name].values


def _divergences(trace):
    if hasattr(trace, "stat_names"):
        return int(np.sum(trace.get_sampler_stats("diverging"))) if "diverging" in trace.stat_names else 0
    stats = getattr(trace, "sample_stats", {})  # of a DataTree, or of what PyMC 5 gives
    return int(stats["diverging"].sum()) if "diverging" in stats else 0


@contextlib.contextmanager
def _quiet():
    """PyMC's lines on each fit are too many, and that it will return no MultiTrace one day is not the user's."""
    log = logging.getLogger("pymc")
    level = log.level
    log.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "`return_inferencedata=False` is deprecated", FutureWarning)
            yield
    finally:
        log.setLevel(level)
