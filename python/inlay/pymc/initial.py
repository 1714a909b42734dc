"""Where fits start: graphs of a model's starting values, and what is checked of the caller's before anything runs."""

import warnings

import numpy as np
from pymc.initial_point import make_initial_point_expression
from pytensor import tensor as pt

from ..fits.functions import Data
from .described import as_tensor


def starting_values(model, given, unconstrained):
    """Of each free variable, without jitter. `given`: what stands for the values of some, by variable."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that there is no support point, so that a random draw is in its place
        return make_initial_point_expression(
            free_rvs=model.free_RVs,
            rvs_to_transforms=model.rvs_to_transforms,
            initval_strategies={**model.rvs_to_initial_values, **given},
            return_transformed=unconstrained,
        )


class Initial:
    """The variables of which the caller gives starting values: `inputs` stand for these, by variable."""

    def __init__(self, model, names):
        self._model = model
        variables = [v for name in names for v in model.free_RVs if v.name == name]
        self.inputs = {v: pt.TensorType(v.dtype, v.type.shape)(v.name) for v in variables}

    def data(self):
        """What is known of the values."""

        def known(shape):
            return tuple(size or 0 for size in shape)

        types = {v.name: given.type for v, given in self.inputs.items()}
        return tuple(Data(name, np.zeros(known(t.shape), t.dtype), (), t.shape) for name, t in types.items())

    def sizes(self):
        """Of all these variables with the model's own starting values, in a row."""
        if not self.inputs:
            return []
        starts = starting_values(self._model, {}, unconstrained=False)
        values = dict(zip(self._model.free_RVs, map(as_tensor, starts), strict=True))
        return [values[v].shape[axis] for v in self.inputs for axis in range(v.ndim)]
