"""The maximum of a log density from where a chain would start, without jitter: what `pymc.find_MAP` finds by default,
where the log density is without the Jacobians of the transforms. Of several starting points the best maximum is kept."""

import functools
import warnings

import numpy as np

from .failures import NOT_FINITE_ANYWHERE, SamplingFailed, failure_text
from .sampler import WHAT, Draws, by_name, refuse_stopped

CONVERGED = "converged"  # of how many starting points


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


def maximum(functions, arrays, seed, options, count=1, stop=None, initvals=()):
    """The Draws of one chain of one draw, and how many starting points the optimiser converged from. `count`: the starting
    points; those behind the model's, or behind the caller's `initvals`, are the same with the jitter of chains.

    Errors: SamplingFailed, also where the optimiser converges from no point; Stopped, after the event `stop`.
    """
    starts = [functions.loaded.start(arrays, values) for values in initvals or (None,)]
    points, (_, shapes) = [start for start, _ in starts], starts[0]
    call = functools.partial(_called, functions.loaded, arrays)

    def loss(point):
        refuse_stopped(stop)
        logp, gradient = call("logp", np.array(point, np.float64))
        return -float(logp), -gradient

    found, failures = [], []
    for start in _with_jitter(points, count, seed):
        try:
            found.append(_minimum(loss, start, options))
        except SamplingFailed as error:
            failures.append(error)
    if not found:
        raise failures[0] if len(failures) == 1 else _from_none(failures)
    best = min(found, key=lambda result: result.fun)
    values = call("expand", np.array(best.x, np.float64))
    return Draws(by_name(functions, values.reshape(1, 1, -1), shapes), 0, {CONVERGED: np.array(len(found))})


def _with_jitter(points, count, seed):
    yield from points
    for i in range(len(points), count):
        jitter = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(i,)))
        start = points[i % len(points)]
        yield start + jitter.uniform(-1, 1, start.size)


def _minimum(loss, start, options):
    if not all(np.isfinite(x).all() for x in loss(start)):
        raise SamplingFailed(NOT_FINITE_ANYWHERE)
    result = minimize(loss, start, options)
    if not result.success:
        raise SamplingFailed(f"the optimiser did not converge: {result.message}")
    if not (np.isfinite(result.fun) and np.isfinite(result.jac).all()):  # which scipy takes for success
        raise SamplingFailed(
            f"the optimiser ended where the log density is {-result.fun}, or its gradient is not finite: that is no maximum"
        )
    return result


def _from_none(failures):
    return SamplingFailed(f"from none of {len(failures)} starting points there is a maximum; from the first one: {failures[0]}")


def _called(loaded, arrays, name, point):
    try:
        return loaded.call(name, point, arrays)
    except Exception as error:
        raise SamplingFailed(failure_text(WHAT[name], error), error) from error
