"""What `pymc.fit` makes of a model, kept for the next fit of the same shapes in one process.

PyMC derives and compiles a step for each fit. The step has all that changes in shared variables: those that it updates
have here, at each fit, what PyMC gives to new ones, and the generators its seed. The loop, and what is drawn of what it
finds, are PyMC's own.
"""

import functools
from numbers import Number

import numpy as np


def inference_of_fits(kept, settings, key, seed):
    """For `pymc.fit(method=...)`: an inference that is set to the beginning of a fit with this seed, or None where nothing is
    kept. What it is made of leaves `settings`. `kept` as CompiledOnce has it; `key`: tells the settings of these fits."""
    cls = _class_of(settings)
    if kept is None or cls is None:
        return None
    settings.pop("method", None)
    start = settings.pop("start", None)
    made_of = {**(settings.pop("inf_kwargs", None) or {}), "random_seed": seed, "start": start}
    if "start_sigma" in settings:
        made_of["start_sigma"] = settings.pop("start_sigma")
    known = kept.get(("advi", key))
    if known is not None and known.is_compiled:
        known.begin(seed, start)
    else:
        known = kept["advi", key] = _Kept(cls, made_of)
    return known.inference


def _class_of(settings):
    """None where PyMC makes what each fit has for itself: by methods whose particles have no seed, and with objects of the
    user's, which may have a state or share variables with the callbacks."""
    import pymc

    classes = {"advi": pymc.ADVI, "fullrank_advi": pymc.FullRankADVI}
    method = settings.get("method", "advi")
    others = [value for name, value in settings.items() if name not in ("callbacks", "method", "start")]
    if not isinstance(method, str) or not all(map(_is_plain, others)):
        return None
    if settings.get("start_sigma") is not None and method != "advi":
        return None  # which PyMC says
    return classes.get(method.lower())


def _is_plain(x):
    """Numbers, names, and functions of PyMC's."""
    if isinstance(x, dict):
        return all(map(_is_plain, x.values()))
    if isinstance(x, list | tuple):
        return all(map(_is_plain, x))
    if type(x) is functools.partial:
        return _is_plain(x.func) and _is_plain(x.args) and _is_plain(x.keywords)
    if callable(x):
        of_pymc = getattr(x, "__module__", "").partition(".")[0] == "pymc"
        return of_pymc and hasattr(x, "__code__") and x.__closure__ is None
    return x is None or isinstance(x, Number | str | np.ndarray)


class _Kept:
    """An inference, and its step with what this began with."""

    def __init__(self, cls, made_of):
        from pymc import modelcontext

        self.inference = cls(model=modelcontext(None), **made_of)
        self._step = self._updates = None
        self._of_pymc = self.inference.objective
        objective = self._of_pymc
        objective.step_function, objective.updates = self._step_function, self._noted_updates

    @property
    def is_compiled(self):
        """Since PyMC has asked for the step."""
        return self._step is not None

    def begin(self, seed, start):
        """Values as PyMC gives them, by what it draws from the seed, in its order."""
        (group,) = self.inference.approx.groups
        group.rng = np.random.RandomState(seed)
        for variable, value in self._at_first:
            variable.set_value(value)
        mu = group.shared_params["mu"]
        mu.set_value(np.asarray(self._start(group, start), mu.dtype))
        self.inference.hist, self.inference.state = np.asarray(()), None

    def _start(self, group, start):
        if start is not None:
            return group._prepare_start(start)
        from pymc.blocking import DictToArrayBijection

        model = group.model
        values = model._make_initial_point()(group.rng.randint(2**30, dtype=np.int64))
        return DictToArrayBijection.map({k: v for k, v in values.items() if k in group.ordering}).data

    def _noted_updates(self, **given):
        self._updates = type(self._of_pymc).updates(self._of_pymc, **given)
        self._at_first = [(variable, variable.get_value()) for variable in self._updates]
        return self._updates

    def _step_function(self, **given):
        from pymc.pytensorf import collect_default_updates, reseed_rngs

        objective = self._of_pymc
        if self._step is None:
            self._step = type(objective).step_function(objective, **given)
            self._generators = list(collect_default_updates(inputs=[], outputs=[self._updates.loss]))
        else:
            reseed_rngs(self._generators, objective.approx.rng.randint(2**30, dtype=np.int64))
        return self._step
