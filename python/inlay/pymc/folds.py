"""Fits of a model to parts of its data, and the log likelihood of the others. Compiled once: data are arguments."""

import numpy as np
import pytensor
from pytensor.graph.traversal import ancestors

from ..fits.fit import seed_of
from ..fits.sampler import sample
from ..pytensor import MODE
from .described import NotForFits, shared_data
from .draw_graphs import given_values, log_likelihoods
from .fit_functions import fit_functions


class Folds:
    """Fits to parts of the data, and the log likelihood of others."""

    def __init__(self, model, dim, settings, seed):
        if len(model.observed_RVs) != 1:
            names = ", ".join(v.name for v in model.observed_RVs)
            raise NotForFits(f"observations of one variable can be left out, and the model observes {names or 'none'}")
        self._settings, self._seed, self._num_fits = settings, seed, 0
        observed = model.observed_RVs[0]
        self.dim = dim or (model.named_vars_to_dims.get(observed.name) or (None,))[0]
        self._axes = {
            v.name: axes.index(self.dim)
            for v in shared_data(model)
            if self.dim is not None and self.dim in (axes := model.named_vars_to_dims.get(v.name) or ())
        }
        sources = {v.name for v in ancestors([model.rvs_to_values[observed]])}
        if not sources & self._axes.keys():
            raise ValueError(
                f"{observed.name} is not observed from a pm.Data with the dim {self.dim}: give dims= to the data, or dim= here"
            )
        self._names = [v.name for v in model.free_RVs]
        self._functions = fit_functions(model, self._names)
        for variable in self._functions.recorded:
            if self.dim in variable.dims:
                raise NotForFits(f"{variable.name} has the dim {self.dim}, so that each observation has parameters of its own")
        self._whole = {v.name: v.get_value() for v in shared_data(model)}
        self._likelihood = _likelihood_function(model, observed)

    def parts(self, idx):
        """The data without these observations, and of them alone."""
        idx = np.atleast_1d(idx)
        rest = np.setdiff1d(np.arange(self._size()), idx)
        return self._at(rest), self._at(idx)

    def _size(self):
        name, axis = next(iter(self._axes.items()))
        return self._whole[name].shape[axis]

    def _at(self, idx):
        return {name: np.take(self._whole[name], idx, axis) for name, axis in self._axes.items()}

    def fit(self, data):
        """A seed of its own for each fit, by its number."""
        arrays = self._functions.arrays(data)
        seed, self._num_fits = seed_of(self._seed, self._num_fits), self._num_fits + 1
        return sample(self._functions, arrays, seed, self._settings).values

    def log_likelihood(self, data, draws):
        """(chain, draw, observation)"""
        values = [draws[name] for name in self._names]
        given = [data.get(name, whole) for name, whole in self._whole.items()]
        chains, num_draws = values[0].shape[:2]
        rows = [[self._likelihood(*(v[c, d] for v in values), *given) for d in range(num_draws)] for c in range(chains)]
        return np.asarray(rows).reshape(chains, num_draws, -1)


def _likelihood_function(model, observed):
    """From the values of the free variables, as they are recorded, and all data to the log likelihood of each
    observation."""
    given = given_values(model)
    (term,) = log_likelihoods(model, [observed], given)
    data = shared_data(model)
    shared = [v.type() for v in data]
    return pytensor.function(
        [*given.values(), *shared], term, givens=[*zip(data, shared, strict=True)], mode=MODE, on_unused_input="ignore"
    )
