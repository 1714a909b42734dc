"""The maximum of a log density from where a chain would start, without jitter: what `pymc.find_MAP` finds by default,
where the log density is without the Jacobians of the transforms."""

import functools
import warnings

import numpy as np

from .failures import NOT_FINITE_ANYWHERE, SamplingFailed, failure_text
from .sampler import WHAT, Draws, by_name, refuse_stopped


def minimize(function, start, options):
    from scipy.optimize import minimize  # by fits of this method alone

    return minimize(function, start, jac=True, method="L-BFGS-B", options=options)


def refuse_options(options):
    """Errors: TypeError for what scipy's L-BFGS-B does not take."""
    from scipy.optimize import OptimizeWarning

    with warnings.catch_warnings():
        warnings.simplefilter("error", OptimizeWarning)  # that there is no such option
        try:
            minimize(lambda x: (float(x @ x), 2 * x), np.ones(1), options)
        except (TypeError, ValueError, OptimizeWarning) as error:
            raise TypeError(f"method_kwargs: {error}") from error


def maximum(functions, arrays, options, stop=None):
    """The Draws of one chain of one draw. It does not depend on a seed.

    Errors: SamplingFailed, also where the optimiser does not converge; Stopped, after the event `stop`.
    """
    start, shapes = functions.loaded.start(arrays)
    call = functools.partial(_called, functions.loaded, arrays)

    def loss(point):
        refuse_stopped(stop)
        logp, gradient = call("logp", np.array(point, np.float64))
        return -float(logp), -gradient

    if not all(np.isfinite(x).all() for x in loss(start)):
        raise SamplingFailed(NOT_FINITE_ANYWHERE)
    result = minimize(loss, start, options)
    if not result.success:
        raise SamplingFailed(f"the optimiser did not converge: {result.message}")
    values = call("expand", np.array(result.x, np.float64))
    return Draws(by_name(functions, values.reshape(1, 1, -1), shapes), 0)


def _called(loaded, arrays, name, point):
    try:
        return loaded.call(name, point, arrays)
    except Exception as error:
        raise SamplingFailed(failure_text(WHAT[name], error), error) from error
