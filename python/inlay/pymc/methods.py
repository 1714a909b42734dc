"""The methods of `fit_many`: what is checked of one before anything runs, and what of the model it calls."""

import dataclasses
import functools
import inspect
import os
import secrets
from numbers import Integral

from ..choices import a_kind
from ..files import pickled
from ..fits.datasets import NO_DATA_SET
from ..fits.function import Function
from ..fits.initvals import Initvals, Same, dicts_of, refuse_count
from ..fits.methods import Map, Nuts, Prior
from ..fits.nutpie_core import is_installed, settings_of
from ..fits.optimum import refuse_options
from .limits import refuse_discrete, why_not_nutpie


def method_of(model, name, draws, tune, chains, nuts_sampler_kwargs, method_kwargs):
    """The method, and a function of (model, var_names, exchanged, after) that makes the ModelOfFits that it calls.

    Errors: TypeError, ValueError; NotImplementedError for a model that the method does not take.
    """
    if name not in _METHODS:
        raise ValueError(f"method is {name!r}, and the methods are {', '.join(_METHODS)}")
    refuse_counts(draws=draws, tune=tune, chains=chains)
    ours, others = ("nuts_sampler_kwargs", "method_kwargs")[:: 1 if name == "nuts" else -1]
    given = {"nuts_sampler_kwargs": nuts_sampler_kwargs, "method_kwargs": method_kwargs}
    if given[others]:
        raise TypeError(f"{others} has no settings of method={name!r}: {ours} has")
    counts = {"draws": draws, "tune": tune, "chains": chains}
    return _METHODS[name](model, counts, dict(sorted((given[ours] or {}).items())))


def refuse_counts(**counts):
    for name, count in counts.items():
        if not isinstance(count, Integral) or isinstance(count, bool):
            raise TypeError(f"{name} is {count!r}, not an integer")
        if count < 1:
            raise ValueError(f"{name} is {count}, and has to be at least 1")


def refuse_resume(resume, seed):
    """Errors: TypeError for what is no path; ValueError for a file, and for a folder without a seed."""
    if resume is None:
        return
    if not isinstance(resume, str | os.PathLike):
        raise TypeError(f"resume is {a_kind(resume)}, not the path of a folder")
    if os.path.exists(resume) and not os.path.isdir(resume):
        raise ValueError(f"resume: {os.fspath(resume)} is a file, not a folder")
    if seed is None:
        raise ValueError("resume wants a seed: without one each run draws anew, and takes no fit of another from there")


def seed_for(seed):
    """A new one for None. Errors: TypeError, ValueError."""
    if seed is None:
        return secrets.randbits(64)
    if not isinstance(seed, Integral) or isinstance(seed, bool):
        raise TypeError(f"seed is {a_kind(seed)}, not an integer")
    if seed < 0:
        raise ValueError(f"seed is {seed}, and has to be at least 0")
    return int(seed)


def settings_for(more, draws, tune, chains):
    """Of nutpie's sampler. Errors: TypeError, ValueError."""
    refuse_counts(draws=draws, tune=tune, chains=chains)
    settings = {**(more or {}), "num_draws": draws, "num_tune": tune, "num_chains": chains}
    try:
        settings_of(0, settings)
    except (TypeError, ValueError, OverflowError) as error:
        raise TypeError(f"nuts_sampler_kwargs: {error}") from error
    return settings


def starts_of(model, how, given, method_kwargs, first):
    """The method, and the Initvals that `given` is, or None. `first`: the first data set, which says which variables have
    values.

    Errors: TypeError, ValueError; KeyError for what is no free variable.
    """
    if given is None:
        return how, None
    if how.name in _WITHOUT_START:
        raise TypeError(f"initvals: method={how.name!r} {_WITHOUT_START[how.name]}")
    if "start" in (method_kwargs or {}):
        raise TypeError("initvals and method_kwargs['start'] both say where a fit starts: give one of them")
    # (By names: a variable as a key holds all graphs that it is part of.)
    dicts = None if callable(given) else dicts_of(given)
    at = Function.of("initvals", given if dicts is None else Same(dicts))
    if dicts is None:
        if first is NO_DATA_SET:
            return how, None  # nothing to start
        dicts = dicts_of(_of_first(at, first))
    known, names = [v.name for v in model.free_RVs], tuple(dicts[0])
    for name in {name: None for values in dicts for name in values}:
        if name not in known:
            raise KeyError(f"initvals has {name}, which is no free variable of this model; it has {', '.join(known)}")
        if any(name not in values for values in dicts):
            raise ValueError(f"initvals has {name} in one dict and not in another: give each variable in all of them")
    if not names:
        raise ValueError(f"initvals names no variables; the model has {', '.join(known)}")
    counts = _counts_of_starts(how)
    refuse_count(len(dicts), counts)
    if isinstance(how, Map):
        how = dataclasses.replace(how, starts=max(how.starts, len(dicts)))
    return how, Initvals(at, names, counts)


def _of_first(at, first):
    try:
        return at.itself(first)
    except Exception as error:
        said = f"{type(error).__name__}: {error}"
        raise ValueError(f"initvals, of the first data set, which says which variables have values: {said}") from error


_WITHOUT_START = {
    "prior": "fits nothing, so that nothing starts",
    "smc": "starts with draws from the prior: method_kwargs={'start': ...} has others, as pm.sample_smc takes them",
}


def _counts_of_starts(how):
    """How many dicts a fit takes: nutpie has no starting values of each chain, and PyMC has."""
    if isinstance(how, Map):
        return None
    return (1,) if isinstance(how, Nuts) or how.chains == 1 else (1, how.chains)


def _nuts(model, counts, more):
    from .fit_functions import fit_functions

    why_not = why_not_nutpie(lambda: model, is_installed())
    if why_not is None:
        return Nuts(settings_for(more, **counts)), fit_functions
    from .sampling import log_own_nuts

    for name in more:
        if name not in _NUTS_OF_PYMC:
            raise TypeError(f"nuts_sampler_kwargs: PyMC's own NUTS, which is taken as {why_not}, has no setting {name}")
    log_own_nuts(why_not)
    return _by_pymc("nuts", {_NUTS_OF_PYMC[name]: value for name, value in more.items()}, **counts)


# Settings of nutpie's sampler, and their names in PyMC.
_NUTS_OF_PYMC = {"target_accept": "target_accept", "maxdepth": "max_treedepth"}


def _prior(model, counts, more):
    from .fit_functions import prior_function

    _refuse_unknown("prior", more, ())
    return Prior(counts["draws"]), prior_function


def _map(model, counts, options):
    from .described import NotForFits
    from .fit_functions import fit_functions

    refuse_discrete(model, NotForFits, "method='map' follows a gradient, which is of")
    starts = options.pop("starts", 1)
    refuse_counts(starts=starts)
    refuse_options(options)
    return Map(options, starts), functools.partial(fit_functions, jacobian=False)


def _smc(model, counts, more):
    from pymc.smc import IMH

    kernels = [cls.__init__ for cls in more.get("kernel", IMH).__mro__ if "__init__" in vars(cls)]
    _refuse_unknown("smc", more, {"kernel"}.union(*map(_parameters, kernels)))
    return _by_pymc("smc", more, **(counts | {"tune": 0}))


def _advi(model, counts, more):
    import pymc
    from pymc.variational.opvi import ObjectiveFunction

    _refuse_unknown("advi", more, {"callbacks"} | _parameters(pymc.fit) | _parameters(ObjectiveFunction.step_function))
    return _by_pymc("advi", more, **(counts | {"tune": 0, "chains": 1}))


# Of PyMC's functions, what a fit sets itself.
_OURS = {"self", "draws", "model", "random_seed", "compile_kwargs", "backend", "include_transformed", "score"}


def _parameters(function):
    parameters = inspect.signature(function).parameters.values()
    return {p.name for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)} - _OURS


def _refuse_unknown(method, given, known):
    for name in given:
        if name not in known:
            raise TypeError(f"method_kwargs: {method} has no setting {name}; it has {', '.join(sorted(known)) or 'none'}")


def _by_pymc(name, settings, draws, tune, chains):
    from .by_pymc import ByPymc, pymc_model

    return ByPymc(name, draws, tune, chains, pickled(settings)), pymc_model


_METHODS = {"nuts": _nuts, "map": _map, "prior": _prior, "smc": _smc, "advi": _advi}
