"""Simulation-based calibration with the interface of simuk, by one compilation and many fits."""

import logging
from collections.abc import Mapping

import numpy as np

from ..choices import a_kind
from ..fits.names import DATASET
from ..pytensor import default_mode
from .fit_many import fit_many
from .methods import refuse_counts, refuse_resume

_log = logging.getLogger("inlay")

# What simuk hands to pm.sample, and what it is here.
_OF_FIT = {"draws": 1000, "tune": 1000, "chains": 4}
_OF_NUTS = {"target_accept": "target_accept", "max_treedepth": "maxdepth"}
_WITHOUT_EFFECT = {
    *("progressbar", "progressbar_theme", "quiet", "compute_convergence_checks", "keep_warning_stat", "idata_kwargs"),
    *("cores", "blas_cores", "mp_ctx", "backend", "compile_kwargs", "jitter_max_retries"),
}


class SBC:
    """Whether a model's posteriors hold the values that its data were made from as often as they should: parameters are
    drawn from the prior, data from the model, the model is fitted to these, and a parameter's rank among its draws is
    uniform where all is well (Talts et al., 2020). With method="posterior" they are drawn from the posterior of `trace`, an
    InferenceData with `posterior` and `observed_data`, and the model is fitted to what was observed and what was
    simulated together (Säilynoja et al., 2025).

    The arguments are those of `simuk.SBC` in its order, the attributes too: after `run_simulations()`, `simulations` is a
    DataTree with the group "prior_sbc" or "posterior_sbc", which ArviZ plots. `augment_observed(model, observed_data, replicated,
    number)` puts both together and returns a dict, by observed variables, and by other `pm.Data` that grow with them;
    None: the one behind the other, where what is observed is `pm.Data`. `update_data(model, augmented, number)` may then
    set other `pm.Data` of the model, such as covariates, and their coordinates; the model is as before when the
    simulations are made. `executor`, `resume`, `mode` and `dim`, which names the dim of the simulations in `fits`, are
    those of `fit_many`; `fits` is what it returned, with the draws of the parameters: `keep_fits=False` leaves these out.
    `sample_kwargs`: those of `pm.sample` that say how draws are made, `draws`, `tune`, `chains`, `target_accept`,
    `max_treedepth`, `initvals` and `nuts_sampler_kwargs`, and those without an effect on draws, as `progressbar`.
    `data_dir` is for models of NumPyro, which are not taken.
    `model` may be one of Bambi's, which is built where it is not yet; the attribute is the PyMC model in it.

    Simulations that failed are left out, and a line of the log says how many.

    Errors: TypeError and ValueError for wrong arguments, and as `fit_many`; NotImplementedError for what it refuses;
    ValueError where there is neither an observed variable nor a simulator, or too few draws in `trace`.

    >>> sbc = inlay.pymc.SBC(model, num_simulations=1000, sample_kwargs={"draws": 25, "tune": 50})
    >>> sbc.run_simulations()
    >>> arviz_plots.plot_ecdf_pit(sbc.simulations, group="prior_sbc")
    """

    def __init__(
        self,
        model,
        method="prior",
        num_simulations=1000,
        sample_kwargs=None,
        seed=None,
        data_dir=None,
        simulator=None,
        trace=None,
        augment_observed=None,
        update_data=None,
        transform=None,
        keep_fits=True,
        progress_bar=True,
        *,
        executor=None,
        resume=None,
        dim=DATASET,
        mode=None,
    ):
        model = _pymc_model(model)
        of_posterior = {"augment_observed": augment_observed, "update_data": update_data}
        for name, function in {"simulator": simulator, "transform": transform, **of_posterior}.items():
            if function is not None and not callable(function):
                raise TypeError(f"{name} is {a_kind(function)}, not a function")
        if simulator is None and not model.observed_RVs:
            raise ValueError("SBC: the model has no observed variables, and there is no simulator")
        if data_dir is not None:
            raise TypeError("data_dir is for models of NumPyro, and SBC takes those of PyMC and Bambi")
        method = method.lower() if isinstance(method, str) else method
        refuse_counts(num_simulations=num_simulations)
        refuse_resume(resume, seed)
        _refuse_method(model, method, {"trace": trace, **of_posterior}, num_simulations)
        self.model, self.method, self.num_simulations = model, method, num_simulations
        self.trace, self.augment_observed, self.update_data = trace, augment_observed, update_data
        self.seed, self.simulator, self.transform = seed, simulator, transform
        self.keep_fits, self.progress_bar = keep_fits, progress_bar
        self.var_names = [v.name for v in model.free_RVs]
        self._options = {**_fit_options(sample_kwargs or {}), "executor": executor, "resume": resume, "dim": dim, "mode": mode}
        self.simulations = self.fits = self.ref_params = None

    def run_simulations(self):
        """Draws, fits and ranks. After Ctrl-C the ranks are those of the fits that are done."""
        seeds = np.random.default_rng(self.seed).integers(0, 2**30, size=self.num_simulations)
        with self.model, default_mode():
            self.ref_params, predictive = self._prior(seeds) if self.trace is None else self._posterior(seeds)
        self.fits = fit_many(
            self.model,
            self._datasets(predictive),
            seed=int(seeds[0]),
            reduce="ranks" if self.transform is None else [_RankOf(v, self.transform) for v in self.var_names],
            keep=self.var_names if self.keep_fits else None,
            var_names=self.var_names,
            progress=self.progress_bar,
            **self._options,
        )
        done, ranks = self._done(), {v: self.fits.get(f"{v}_rank") for v in self.var_names}
        if len(done) < self.num_simulations:
            left_out = self.num_simulations - len(done)
            _log.warning("%d of %d simulations are left out: see `reason` of `fits`", left_out, self.num_simulations)
        self.simulations = self._tree({v: rank.values[done] for v, rank in ranks.items() if rank is not None})
        return self.simulations

    def _prior(self, seeds):
        """By name: of the parameters, and of what is observed."""
        import pymc

        drawn = pymc.sample_prior_predictive(draws=self.num_simulations, random_seed=int(seeds[0]))
        prior = {v: drawn["prior"][v].values[0] for v in self.var_names}
        if self.simulator is None:
            return prior, {v.name: drawn["prior_predictive"][v.name].values[0] for v in self.model.observed_RVs}
        return prior, self._all_simulated(prior, seeds)

    def _posterior(self, seeds):
        """The same of draws of the trace, far from each other."""
        import pymc
        import xarray

        drawn = {}
        for name in self.var_names:
            values = self.trace["posterior"][name].transpose("chain", "draw", ...).values
            values = values.reshape(-1, *values.shape[2:])
            drawn[name] = values[np.linspace(0, len(values) - 1, self.num_simulations).astype(int)]
        if self.simulator is not None:
            return drawn, self._all_simulated(drawn, seeds)
        one_chain = {v: (("chain", "draw", *(f"{v}_dim_{i}" for i in range(x.ndim - 1))), x[None]) for v, x in drawn.items()}
        given = xarray.Dataset(one_chain)  # PyMC 5 takes no DataTree
        predictive = pymc.sample_posterior_predictive(given, random_seed=int(seeds[0]), progressbar=False)
        return drawn, {v.name: predictive["posterior_predictive"][v.name].values[0] for v in self.model.observed_RVs}

    def _all_simulated(self, reference, seeds):
        simulated = [self._simulated(reference, i, int(seed)) for i, seed in enumerate(seeds)]
        return {name: [each[name] for each in simulated] for name in simulated[0]}

    def _simulated(self, prior, i, seed):
        made = self.simulator(**{name: values[i] for name, values in prior.items()}, seed=seed)
        if not isinstance(made, Mapping):
            raise TypeError(f"the simulator returned {a_kind(made)}, not a dict by the names of what is observed")
        return made

    def _datasets(self, predictive):
        return [self._dataset({name: values[i] for name, values in predictive.items()}, i) for i in range(self.num_simulations)]

    def _dataset(self, replicated, i):
        augmented = self._augmented(replicated, i)
        true = {name: values[i] for name, values in self.ref_params.items()}
        return true | self._updated(augmented, i) | _data_by_observed(self.model, augmented)

    def _augmented(self, replicated, i):
        if self.trace is None:
            return replicated
        observed = self.trace["observed_data"]
        if self.augment_observed is None:
            return {name: np.concatenate([observed[name].values, values]) for name, values in replicated.items()}
        augmented = self.augment_observed(self.model, observed, replicated, i)
        if not isinstance(augmented, Mapping):
            raise TypeError(f"augment_observed returned {a_kind(augmented)}, not a dict by the names of what is observed")
        return augmented

    def _updated(self, augmented, i):
        """By name: the `pm.Data` that `update_data` sets, which have their values again afterwards."""
        if self.update_data is None:
            return {}
        before, after, coords = _values(self.model.data_vars), {}, dict(self.model.coords)
        lengths = _values(self.model.dim_lengths.values())
        with self.model:
            try:
                self.update_data(self.model, augmented, i)
                after = _values(self.model.data_vars)
            finally:
                # Not by pymc.set_data, which wants coordinates, and compares lengths, where there may be none.
                for variable, value in [*before.items(), *lengths.items()]:
                    variable.set_value(value)
                self.model.coords.clear()
                self.model.coords.update(coords)
        return {v.name: value for v, value in after.items() if v in before and not np.array_equal(value, before[v])}

    def compute_rank_statistics(self, transform=None):
        """The ranks by another `transform`, of the draws that `keep_fits` kept.

        Errors: ValueError without them.
        """
        if not self.keep_fits or self.fits is None:
            raise ValueError("compute_rank_statistics needs the draws: keep_fits=True, and run_simulations() before")
        transform = transform or self.transform or (lambda name, value: value)
        ranks = {}
        done = self._done()
        for name in self.var_names if len(done) else ():
            rank, draws = _RankOf(name, transform), self.fits[name].values
            ranks[name] = np.stack([rank({name: draws[i]}, {name: self.ref_params[name][i]}) for i in done])
        self.simulations = self._tree(ranks)
        return self.simulations

    def _done(self):
        return np.flatnonzero(~self.fits["failed"].values)

    def _tree(self, ranks):
        """As simuk has it: a simulation is a draw, of one chain."""
        import xarray

        variables, coords = {}, {"chain": [0]}
        for name, rank in ranks.items():
            dims = ("draw", *(f"{name}_dim_{i}" for i in range(rank.ndim - 1)))
            coords.update({dim: np.arange(size) for dim, size in zip(dims, rank.shape, strict=True)})
            variables[name] = (("chain", *dims), rank.astype(np.int64)[None])
        group = xarray.Dataset(variables, coords, {"sample_dims": ["chain", "draw"]})
        return xarray.DataTree.from_dict({f"{self.method}_sbc": group})


def _pymc_model(given):
    """Errors: TypeError."""
    model = given
    if hasattr(given, "formula") and hasattr(given, "backend"):  # a bambi.Model
        if not given.built:
            given.build()
        model = given.backend.model
    if getattr(model, "free_RVs", None) is None:
        raise TypeError(f"SBC takes a model of PyMC or Bambi, not {a_kind(given)}")
    return model


def _refuse_method(model, method, of_posterior, num_simulations):
    if method not in ("prior", "posterior"):
        raise ValueError(f"method is {method!r}, and SBC has 'prior' and 'posterior'")
    if method == "prior":
        for name, given in of_posterior.items():
            if given is not None:
                raise TypeError(f"{name} goes with method='posterior'")
        return
    trace = of_posterior["trace"]
    groups = getattr(trace, "children", trace if isinstance(trace, Mapping) else ())
    for group in ("posterior", "observed_data"):
        if group not in groups:
            raise ValueError(f"method='posterior' wants trace=, an InferenceData, and {a_kind(trace)} has no group {group}")
    sizes = trace["posterior"].sizes
    if sizes["chain"] * sizes["draw"] < num_simulations:
        raise ValueError(f"trace has {sizes['chain']} x {sizes['draw']} draws for {num_simulations} simulations")
    if of_posterior["augment_observed"] is None:
        _refuse_constants(model)


def _refuse_constants(model):
    """Errors: ValueError where observations cannot become more."""
    from .described import observations

    for name in observations(model):
        raise ValueError(
            f"method='posterior' fits to what was observed and what was simulated, one behind the other, and {name} is "
            "observed from a constant, which has one length: observe pm.Data, or give augment_observed="
        )


class _RankOf:
    """How many draws of a variable are less than its true value, after `transform(name, value)` of both."""

    def __init__(self, variable, transform):
        self.__name__ = f"{variable}_rank"
        self._variable, self._transform = variable, transform

    def __call__(self, draws, data):
        values = draws[self._variable]
        each = values.reshape(-1, *values.shape[2:])
        transformed = np.array([self._transform(self._variable, value) for value in each])
        return (transformed < self._transform(self._variable, data[self._variable])).sum(axis=0)


def _values(variables):
    """Of those that are shared."""
    return {v: v.get_value() for v in variables if hasattr(v, "get_value")}


def _data_by_observed(model, data):
    """The data set of what is observed: by the name of its `pm.Data`, or its own."""
    names = {v.name: _name_of_data(model, v) for v in model.observed_RVs}
    return {names.get(name, name): x for name, x in data.items()}


def _name_of_data(model, observed):
    """Where PyMC casts the data to the variable's dtype, theirs too; of what is computed otherwise, as a logarithm, the data
    are other numbers than what is observed."""
    from .described import data_behind

    value, data = model.rvs_to_values[observed], data_behind(model, observed)
    while _is_cast(value.owner):
        value = value.owner.inputs[0]
    return value.name if value in data else observed.name


def _is_cast(node):
    from pytensor.scalar.basic import Cast

    return node is not None and isinstance(getattr(node.op, "scalar_op", None), Cast)


def _fit_options(given):
    """Errors: TypeError."""
    options, nuts = dict(_OF_FIT), dict(given.get("nuts_sampler_kwargs") or {})
    for name, value in given.items():
        if name in _OF_FIT:
            options[name] = _OF_FIT[name] if value is None else value
        elif name == "initvals":
            options[name] = value
        elif name in _OF_NUTS:
            nuts[_OF_NUTS[name]] = value
        elif name == "nuts_sampler":
            if value not in (None, "nutpie", "pymc"):
                raise TypeError(f"sample_kwargs has nuts_sampler={value!r}; SBC takes 'nutpie' and 'pymc'")
        elif name == "random_seed":
            raise TypeError("sample_kwargs has random_seed: each simulation has a seed of its own, made of seed=")
        elif name != "nuts_sampler_kwargs" and name not in _WITHOUT_EFFECT:
            taken = ", ".join((*_OF_FIT, *_OF_NUTS, "initvals", "nuts_sampler_kwargs"))
            raise TypeError(f"sample_kwargs has {name}; SBC takes {taken}")
    return options | {"nuts_sampler_kwargs": nuts}
