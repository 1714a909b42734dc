"""A PyMC model for the functions of arviz-stats that fit it again without some observations: `loo_kfold` and `reloo`.

The model is compiled once, whatever is left out: data are arguments.
"""

import functools

from ..fits.executors import refuse_others
from .chosen_mode import compiled_in
from .methods import seed_for, settings_for


def sampling_wrapper(
    model,
    idata=None,
    *,
    dim=None,
    draws=1000,
    tune=1000,
    chains=4,
    seed=None,
    nuts_sampler_kwargs=None,
    executor=None,
    folds=None,
    mode=None,
):
    """`model` as a `SamplingWrapper` of arviz-stats, for `loo_kfold(idata, wrapper)` and `reloo(wrapper)`.

    What is left out of a fit are observations along one dim, out of all `pm.Data` with that dim; the observed variable
    has to be from `pm.Data` too. Where it has more dims, all that lies at one place along `dim` is one observation, whose
    log likelihood is the sum. `dim`: None where the model's observed variable has named dims.
    `idata`: the fit to all data, which `reloo` wants. The others as in `inlay.pymc.fit_many`.

    `folds`: of each observation the label of its fold, as `loo_kfold` takes it, or a negative number. arviz-stats asks for
    one fit after the other; with `folds` all of their fits are made by `executor` when the first one is asked for. The
    draws are those of fits one after the other, in the order of the labels. Data that were changed between
    `sel_observations` and `sample` have a fit of their own.

    Errors: ImportError without arviz-stats; NotImplementedError for a model with several observed variables, or where a
    parameter has that dim, or observations along it have one log likelihood together, and for what `fit_many` refuses;
    ValueError where the observed data have no such dim, and for `folds` of another length; TypeError for `executor`
    without `folds`. A fit in which every draw is a divergence is SamplingFailed, by `folds`.

    >>> wrapper = inlay.pymc.sampling_wrapper(model)
    >>> arviz_stats.loo_kfold(idata, wrapper, k=10)
    """
    from .folds import Folds  # which imports PyMC, and PyMC's import may be what imports this

    refuse_others(executor)
    if executor is not None and folds is None:
        raise TypeError("executor= makes the fits of several folds at once: give folds= too, as to loo_kfold")
    settings = settings_for(nuts_sampler_kwargs, draws, tune, chains)
    with compiled_in(mode):
        known = Folds(model, dim, settings, seed_for(seed), executor, folds)
    return _wrapper_class()(known, idata)


@functools.cache
def _wrapper_class():
    import xarray
    from arviz_stats.loo import SamplingWrapper as Base

    class SamplingWrapper(Base):
        def __init__(self, folds, idata):
            super().__init__(model=folds, idata_orig=idata)

        def sel_observations(self, idx):
            return self.model.parts(idx)

        def sample(self, modified_observed_data):
            return self.model.fit(modified_observed_data)

        def get_inference_data(self, fitted_model):
            variables = {
                name: (("chain", "draw", *(f"{name}_dim_{i}" for i in range(values.ndim - 2))), values)
                for name, values in fitted_model.items()
            }
            return xarray.DataTree.from_dict({"posterior": xarray.Dataset(variables)})

        def log_likelihood__i(self, excluded_obs, idata__i):
            draws = {name: array.values for name, array in idata__i["posterior"].items()}
            values = self.model.log_likelihood(excluded_obs, draws)
            return xarray.DataArray(values, dims=("chain", "draw", self.model.dim))

    return SamplingWrapper
