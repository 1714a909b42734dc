"""Fits of a model to parts of its data, and the log likelihood of the others. Compiled once: data are arguments.

Who asks for one fit after the other may say before which they will be: all of these are made at once, on an executor,
when the first one is asked for.
"""

import numpy as np
import pytensor

from ..choices import a_kind
from ..fits.failures import SamplingFailed
from ..fits.fit import Work, seed_of
from ..fits.methods import Nuts
from ..fits.run import run
from ..fits.sampler import sample
from .chosen_mode import chosen_mode
from .described import NotForFits, data_behind, shared_data
from .draw_graphs import given_values, log_likelihoods
from .fit_functions import fit_functions


class Rest(dict):
    """Data without some observations, `left_out`, by number."""

    left_out = ()


class Folds:
    """Fits to parts of the data, and the log likelihood of others. `folds`: of each observation the label of the fold with
    which it will be left out, or a negative number; None: nothing is known before."""

    def __init__(self, model, dim, settings, seed, executor=None, folds=None):
        if len(model.observed_RVs) != 1:
            names = ", ".join(v.name for v in model.observed_RVs)
            raise NotForFits(f"observations of one variable can be left out, and the model observes {names or 'none'}")
        self._settings, self._seed, self._executor = settings, seed, executor
        observed = model.observed_RVs[0]
        self.dim = dim or (model.named_vars_to_dims.get(observed.name) or (None,))[0]
        self._axes = {
            v.name: axes.index(self.dim)
            for v in shared_data(model)
            if self.dim is not None and self.dim in (axes := model.named_vars_to_dims.get(v.name) or ())
        }
        sources = [v.name for v in data_behind(model, observed) if v.name in self._axes]
        if not sources:
            raise ValueError(
                f"{observed.name} is not observed from a pm.Data with the dim {self.dim}: give dims= to the data, or dim= here"
            )
        self._names = [v.name for v in model.free_RVs]
        self._functions = fit_functions(model, self._names)
        for variable in self._functions.recorded:
            if self.dim in variable.dims:
                raise NotForFits(f"{variable.name} has the dim {self.dim}, so that each observation has parameters of its own")
        self._whole = {v.name: v.get_value() for v in shared_data(model)}
        self._likelihood = _likelihood_function(model, observed, self.dim, self._axis_of(observed, model, sources))
        self._known = [] if folds is None else _members(folds, self._size())
        self._num_fits, self._rows = len(self._known), None

    def _axis_of(self, observed, model, sources):
        """Along which observations are left out: where the dim is named, or, of the same rank, where the data have it."""
        dims = model.named_vars_to_dims.get(observed.name) or ()
        if self.dim in dims:
            return dims.index(self.dim)
        for name in sources:
            if self._whole[name].ndim == observed.ndim:
                return self._axes[name]
        raise ValueError(f"{observed.name} has no dim {self.dim}: give it dims=")

    def parts(self, idx):
        """The data without these observations, and of them alone."""
        idx = np.atleast_1d(idx)
        return self._without(idx), self._at(idx)

    def _without(self, idx):
        rest = Rest(self._at(np.setdiff1d(np.arange(self._size()), idx)))
        rest.left_out = tuple(sorted(idx.tolist()))
        return rest

    def _size(self):
        name, axis = next(iter(self._axes.items()))
        return self._whole[name].shape[axis]

    def _at(self, idx):
        return {name: np.take(self._whole[name], idx, axis) for name, axis in self._axes.items()}

    def fit(self, data):
        """A seed of its own for each fit, by its number. Errors: SamplingFailed."""
        left_out = getattr(data, "left_out", ())
        if left_out in self._known and self._is_unchanged(data):
            return self._known_fit(self._known.index(left_out))
        arrays = self._functions.arrays(data)
        seed, self._num_fits = seed_of(self._seed, self._num_fits), self._num_fits + 1
        return sample(self._functions, arrays, seed, self._settings).values

    def _is_unchanged(self, data):
        """Whether the data are those without the observations, as `parts` gave them."""
        given = self._without(np.array(data.left_out))
        return data.keys() == given.keys() and all(_are_same(data[name], x) for name, x in given.items())

    def _known_fit(self, number):
        if self._rows is None:
            self._rows = self._all_known()
        row = self._rows[number]
        if row.reason:
            raise SamplingFailed(f"the fit without fold {number} failed: {row.reason}")
        return row.values()

    def _all_known(self):
        """Rows by number. Errors: what ended the fits early, as WorkersLost and KeyboardInterrupt."""
        work = Work(self._functions, self._seed, Nuts(self._settings), keep=tuple(self._names))
        rows, datasets = {}, (dict(self._without(np.array(left_out))) for left_out in self._known)
        _, ended = run(work, datasets, lambda row: rows.update({row.number: row}), self._executor, None, False, len(self._known))
        if ended is not None:
            raise ended
        return rows

    def log_likelihood(self, data, draws):
        """(chain, draw, observation)"""
        values = [draws[name] for name in self._names]
        given = [data.get(name, whole) for name, whole in self._whole.items()]
        chains, num_draws = values[0].shape[:2]
        rows = [[self._likelihood(*(v[c, d] for v in values), *given) for d in range(num_draws)] for c in range(chains)]
        return np.asarray(rows).reshape(chains, num_draws, -1)


def _are_same(one, other):
    one = np.asarray(one)
    return (one.dtype, one.shape, one.tobytes()) == (other.dtype, other.shape, other.tobytes())


def _members(folds, size):
    """The observations of each fold, sorted as arviz-stats does it. Errors: TypeError, ValueError."""
    labels = np.asarray(folds)
    if labels.dtype == object and all(isinstance(label, str) for label in labels.flat):
        labels = labels.astype(str)  # as a column of pandas has them
    if labels.dtype.kind not in "biufUS":
        raise TypeError(f"folds is {a_kind(folds)}, not the label of a fold for each observation")
    if labels.shape != (size,):
        raise ValueError(f"folds has shape {labels.shape}, and there are {size} observations: give a label for each")
    named = labels if labels.dtype.kind in "US" else labels[labels >= 0]
    return [tuple(np.flatnonzero(labels == label).tolist()) for label in np.unique(named)]


def _likelihood_function(model, observed, dim, axis):
    """From the values of the free variables, as they are recorded, and all data to the log likelihood of each
    observation: of all that lies at one place along the axis."""
    given = given_values(model)
    (term,) = log_likelihoods(model, [observed], given)
    if axis >= term.ndim:
        raise NotForFits(f"{observed.name} has one log likelihood for all that lies along {dim}: none of it can be left out")
    others = [i for i in range(term.ndim) if i != axis]
    term = term.sum(axis=others) if others else term
    data = shared_data(model)
    shared = [v.type() for v in data]
    return pytensor.function(
        [*given.values(), *shared], term, givens=[*zip(data, shared, strict=True)], mode=chosen_mode(), on_unused_input="ignore"
    )
