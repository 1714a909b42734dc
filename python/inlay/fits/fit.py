"""One fit in a worker: from a data set to a row of results."""

import time
from dataclasses import dataclass

import numpy as np

from . import sampler, summaries
from .failures import Reason, WrongDataSet
from .function import Function
from .functions import ModelOfFits
from .initvals import Initvals
from .methods import Map, Nuts
from .names import DATASET, PREDICTED
from .numbers_given import BadData, numbers
from .packed import pack, unpack

# Why a row has no results, where the data set is not to blame.
NOT_DONE = "not done"


@dataclass(frozen=True)
class Work:
    """What is the same for all fits."""

    functions: ModelOfFits
    seed: int
    method: Nuts | Map  # or another of its kind
    summaries: tuple = ()  # names
    reductions: tuple = ()
    keep: tuple = ()  # names of variables whose draws are kept
    predict_at: Function | None = None  # from a data set to data in place of the fit's; None: predicted at these
    dim: str = DATASET  # of the results, along the data sets
    initvals: Initvals | None = None  # where fits start; None: where the model says


@dataclass(slots=True)
class Row:
    """What is known of one fit. Of a hundred thousand of them: small."""

    number: int
    reason: str = ""  # why it failed; empty: it did not
    divergences: int = 0
    seconds: float = 0.0
    packed: tuple = ((), b"")  # the results, as packed.pack has them

    def values(self):
        return unpack(*self.packed)


def seed_of(seed, number):
    """Of one fit, whoever does it and when: by content."""
    return int(np.random.SeedSequence(seed, spawn_key=(number,)).generate_state(1, np.uint64)[0])


def fit(work, number, given, stop=None):
    """The Row of a data set. What is wrong with the data set, its sampling or its reductions is a row with a reason."""
    row, begin = Row(number), time.perf_counter()
    try:
        row.packed = pack(_values(work, row, given, stop))
    except sampler.Stopped:
        row.reason = NOT_DONE
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001  (a function of the user's may exit, and a panic is no Exception)
        row.reason = _reason(error)
    row.seconds = time.perf_counter() - begin
    return row


def _reason(error):
    if isinstance(error, Reason | sampler.SamplingFailed):
        return str(error)
    return f"{type(error).__name__}: {error}"


def _values(work, row, given, stop):
    data, truths = _taken_apart(work.functions, given)
    if truths and "ranks" not in work.summaries and not work.reductions:
        raise Reason(f"{next(iter(truths))} is a variable of the model, and its true value is for \"ranks\" and functions")
    arrays = work.functions.arrays(data)
    seed = seed_of(work.seed, row.number)
    initvals = () if work.initvals is None else work.initvals.of(given)
    drawn = work.method.fit(work.functions, arrays, seed, stop, initvals)
    row.divergences = drawn.divergences
    if drawn.divergences == work.method.draws * work.method.chains:
        raise Reason("every draw is a divergence")
    at = arrays if work.predict_at is None else _predicted_at(work, given, data)
    draws, values = _completed(work, seed, drawn.values, arrays, at, stop), {}
    for name in work.summaries:
        for variable in truths if name == "ranks" else [v.name for v in work.functions.summarized(name)]:
            also = (truths[variable],) if name == "ranks" else ()
            values[summaries.label(variable, name)] = summaries.SUMMARIES[name](draws[variable], *also)
    for reduction in work.reductions:
        values[reduction.name] = _reduced(reduction, draws, given)
    return values | {name: draws[name] for name in work.keep} | drawn.also


def _completed(work, seed, draws, arrays, at, stop):
    """The draws with what is computed from them, and without what is recorded for that alone. `at`: where is predicted."""
    functions = work.functions
    completed = {name: values for name, values in draws.items() if name not in functions.hidden}
    for name, after in functions.after.items():
        completed |= after.of(draws, at if name == PREDICTED else arrays, seed, stop)
    return completed


def _predicted_at(work, given, data):
    try:
        instead = work.predict_at.itself(given)
    except (Exception, SystemExit) as error:
        raise Reason(f"predictive: {type(error).__name__}: {error}") from error
    if not hasattr(instead, "items"):
        raise Reason(f"predictive returned {type(instead).__name__}, not a dict by the names of pm.Data")
    try:
        return work.functions.arrays_at(data, instead, work.functions.after[PREDICTED].shaped)
    except BadData as error:
        raise Reason(f"predictive: {error}") from error


def _taken_apart(functions, given):
    """What exchanges data of the model, and true values of its variables."""
    if isinstance(given, WrongDataSet):
        raise Reason(given.reason)
    if not hasattr(given, "items"):
        raise Reason(f"a data set is a dict by the names of pm.Data, not {type(given).__name__}")
    for name in functions.imputed:
        if name in given:
            raise Reason(f"{name} has missing values in the model, which are parameters: its values cannot be exchanged")
    variables = {v.name for v in functions.recorded}
    data = {name: value for name, value in given.items() if name not in variables}
    return data, {name: numbers(name, value) for name, value in given.items() if name in variables}


def _reduced(reduction, draws, given):
    try:
        value = np.asarray(reduction.loaded(draws, given))
    except (Exception, SystemExit) as error:
        raise Reason(f"{reduction.name}: {type(error).__name__}: {error}") from error
    if value.dtype.kind not in "biuf":
        raise Reason(f"{reduction.name} returned {value.dtype}, not numbers")
    return value
