"""One fit by nutpie's compiled core, on C pointers. What it draws depends on functions, data, seed and settings alone,
not on how many threads there are."""

import contextlib
import functools
import threading
from dataclasses import dataclass, field

import numpy as np

from . import arrow, one_cpu
from .failures import NO_START, NOT_FINITE_ANYWHERE, SamplingFailed, failure_text
from .nutpie_core import core, started

# So often a sampler is asked whether it was told to stop, in seconds. Its end is noticed at once.
LONGEST_WAIT = 0.05


class Stopped(Exception):
    """The fit was told to stop."""


def refuse_stopped(stop):
    """Errors: Stopped, after the event `stop`, where there is one."""
    if stop is not None and stop.is_set():
        raise Stopped


@dataclass
class Draws:
    values: dict  # by name, (chain, draw, ...)
    divergences: int
    also: dict = field(default_factory=dict)  # by name, arrays of other results


def sample(functions, arrays, seed, settings, stop=None, initvals=None):
    """Draws of the `functions` (a FitFunctions) with these arrays of data. `settings`: those of nutpie's sampler.
    `initvals`: where chains start, but for their jitter, by the names of variables.

    Errors: SamplingFailed; Stopped, after the event `stop`.
    """
    with one_cpu.on_claimed():
        return _sampled(functions, arrays, seed, settings, stop, initvals)


def _sampled(functions, arrays, seed, settings, stop, initvals):
    start, shapes = functions.loaded.start(arrays, initvals)
    told, failure = threading.Event(), []

    def tell(error):
        failure.append(error)
        told.set()

    made = functools.partial(_sampler, functions, arrays, start, shapes, seed, settings)
    sampler, kept = made({name: functools.partial(_tell, tell, name) for name in ("logp", "expand")})
    try:
        _wait(sampler, told, stop)
        trace = None if told.is_set() else sampler.take_results()
    except Exception as error:
        if isinstance(error, Stopped) or (not told.is_set() and not str(error).startswith(NO_START)):
            raise
        trace = None
    finally:
        del kept
    if told.is_set():
        raise SamplingFailed(*failure[0])
    if trace is None:
        raise SamplingFailed(NOT_FINITE_ANYWHERE)
    return _draws(functions, trace, shapes, settings["num_draws"])


WHAT = {"logp": "the log density", "expand": "what is recorded of a draw"}


def _tell(tell, name, error):
    tell((failure_text(WHAT[name], error), error))


def _sampler(functions, arrays, start, shapes, seed, settings, on_error):
    """nutpie's sampler of one column, a draw, and what must live as long."""
    lib, loaded = core(), functions.loaded
    num_values = sum(int(np.prod(shape)) for shape in shapes)
    record = loaded.record(arrays)
    pointers = {name: loaded.pointer(name, tell) for name, tell in on_error.items()}
    kept = (arrays, record, pointers)
    address = record.ctypes.data
    sizes = {"value": num_values}
    model = lib.PyMcModel(
        lib.LogpFunc(pointers["logp"].address, address, kept),
        lib.ExpandFunc(start.size, num_values, pointers["expand"].address, address, kept),
        lib.PyVariable.new_variables(["draw"], ["float64"], [(num_values,)], sizes, {"draw": ["value"]}),
        start.size,
        sizes,
        {},
        lambda chain_seed: start + np.random.default_rng(chain_seed).uniform(-1, 1, start.size),
        None,
    )
    return started(model, seed, settings), kept


def _wait(sampler, told, stop):
    while True:
        try:
            sampler.wait(LONGEST_WAIT)
            return
        except TimeoutError:
            if told.is_set() or (stop is not None and stop.is_set()):
                sampler.abort()
                if told.is_set():
                    return
                raise Stopped from None
        except BaseException:  # Ctrl-C in a worker, or a panic of nutpie's
            with contextlib.suppress(BaseException):
                sampler.abort()
            raise


def _draws(functions, trace, shapes, num_draws):
    draws, stats = trace.get_arrow_trace()
    values = np.stack([arrow.rows(chain.column("draw"))[-num_draws:] for chain in draws])
    diverging = np.stack([arrow.flags(chain.column("diverging"))[-num_draws:] for chain in stats])
    return Draws(by_name(functions, values, shapes), int(diverging.sum()))


def by_name(functions, values, shapes):
    """Of (chain, draw, value) by the names of what is recorded."""
    named, at = {}, 0
    for variable, shape in zip(functions.recorded, shapes, strict=True):
        size = int(np.prod(shape))
        part = values[:, :, at : at + size].reshape(*values.shape[:2], *shape)
        named[variable.name] = part.astype(variable.dtype, copy=False)
        at += size
    return named
