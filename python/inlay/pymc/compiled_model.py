"""What compile_nutpie returns: nutpie's own model, which also says in words why it cannot be sampled."""

import atexit
import contextlib
import dataclasses
import functools
import threading
import time
import weakref

import numpy as np
from pytensor.compile.sharedvalue import SharedVariable
from pytensor.graph.basic import Constant

from .. import errors
from ..fits.failures import NO_START, NOT_FINITE_ANYWHERE, SamplingFailed, failure_text
from ..fits.numbers_given import BadData, holds, numbers

# So often it is asked whether nutpie is finished, in seconds.
LONGEST_WAIT = 0.02

# So many starting points are tried for one that shows why: that of another seed than nutpie's may be a good one.
STARTS_TO_TRY = 10


@functools.cache
def compiled_model_class(base):
    """`base`: nutpie's CompiledPyMCModel."""

    @dataclasses.dataclass(frozen=True)
    class CompiledModel(base):
        functions: object = None
        own_names: dict = dataclasses.field(default_factory=dict)  # of dims, by those that nutpie has

        def with_data(self, **updates):
            """A model with other values of `pm.Data`, also of other lengths. Compiles nothing.

            Errors: KeyError for a name that is no data of the model; TypeError for what is no array of numbers, for values
            that an integer dtype does not hold, and for a masked array that hides some; ValueError for another rank, and
            where what is recorded of a draw would become longer or shorter: nutpie keeps room for what it was.
            """
            _refuse_other_names(self, updates)
            _refuse_other_values(self, updates)
            other = super().with_data(**updates)
            if any(_may_change_sizes(value, other.shared_data[key]) for key, value in self.shared_data.items()):
                _refuse_other_room(other, updates)
            return other

        def _make_sampler(self, settings, *args, **kwargs):
            """Errors: ValueError without draws for tuning, of which nutpie would panic."""
            _refuse_no_tuning(settings)
            failure = _Failure()
            pointers = self.functions.pointers(failure.tell, keeps_going=True)
            told = dataclasses.replace(self, **pointers)  # a sampler's own, so that it hears of its own failures alone
            sampler = super(CompiledModel, told)._make_sampler(settings, *args, **kwargs)
            return _Sampler(sampler, failure, functools.partial(_no_start, self))

    return CompiledModel


def _refuse_no_tuning(settings):
    """Older versions of nutpie (0.16.8) have settings as attributes."""
    known = settings.as_dict().get("settings", {}) if hasattr(settings, "as_dict") else {}
    if known.get("num_tune", getattr(settings, "num_tune", None)) == 0:
        raise ValueError("tune is 0, and nutpie adapts in at least one draw of each chain: give tune=1 or more")


class _Failure:
    """The first one of a sampler, told by one of its threads."""

    def __init__(self):
        self._told = threading.Event()
        self._what = self._error = None

    def tell(self, what, error):
        if not self._told.is_set():
            self._what, self._error = what, error
            self._told.set()

    def is_told(self, timeout):
        return self._told.wait(timeout)

    def throw(self):
        if self._told.is_set():
            raise SamplingFailed(failure_text(self._what, self._error), self._error) from None


class _Sampler:
    """nutpie's sampler, whose `wait` ends with the first failure. All else is nutpie's, but for its error where there
    is no point to start from."""

    def __init__(self, inner, failure, no_start):
        self._inner, self._failure, self._no_start = inner, failure, no_start
        _samplers.add(self)

    def __getattr__(self, name):
        return getattr(self._inner, name)

    @contextlib.contextmanager
    def _in_words(self):
        try:
            yield
        except TimeoutError:
            raise
        except Exception as error:
            self._failure.throw()
            if not str(error).startswith(NO_START):
                raise
            raise self._no_start() from None

    def take_results(self):
        self._failure.throw()
        with self._in_words():
            return self._inner.take_results()

    def inspect(self):
        self._failure.throw()
        with self._in_words():
            return self._inner.inspect()

    def wait(self, timeout=None):
        end = None if timeout is None else time.monotonic() + timeout
        self._inner.resume()
        with self._in_words():
            self._wait_until(end)
            self._end_if_failed()
            self._inner.wait(0.0)
        self._failure.throw()

    def _wait_until(self, end):
        while not (self._failure.is_told(LONGEST_WAIT) or self._is_finished()):
            if end is not None and time.monotonic() >= end:
                return

    def _is_finished(self):
        try:
            return self._inner.is_finished()
        except TimeoutError:  # by which nutpie 0.16 says no
            return False

    def _end_if_failed(self):
        try:
            self._failure.throw()
        except SamplingFailed:
            self._inner.abort()
            raise


_samplers = weakref.WeakSet()


@atexit.register
def _abort_all():
    """The threads of a sampler would go on when the model's code and data go with Python."""
    for sampler in list(_samplers):
        with contextlib.suppress(Exception):  # it has ended
            sampler.abort()


def _no_start(compiled):
    """SamplingFailed with what is known of why no starting point will do."""
    try:
        terms = _terms_that_are_not_finite(compiled)
    except Exception:  # noqa: BLE001
        terms = {}
    if not terms:
        return SamplingFailed(NOT_FINITE_ANYWHERE)
    values = ", ".join(f"{name} is {value}" for name, value in terms.items())
    return SamplingFailed(
        f"the log density is not finite at the starting points: of its terms, {values}"
        "\n  help: model.debug() shows what a term is computed from"
    )


def _terms_that_are_not_finite(compiled):
    """Their values by name, at the first starting point that has such a term."""
    terms_at = compiled.functions.terms()
    data = [compiled.shared_data[key] for key in compiled.functions.keys.values()]
    recorded = [*zip(*compiled.shape_info, strict=True)]  # the variables of a point, then what is computed from them
    for seed in range(STARTS_TO_TRY):
        start = compiled.initial_point_func(seed)
        point = {name: start[part].reshape(shape) for name, part, shape in recorded if part.stop <= start.size}
        terms = terms_at(point, data)
        if not all(map(np.isfinite, terms.values())):
            return {name: value for name, value in terms.items() if not np.isfinite(value)}
    return {}


def _refuse_other_names(compiled, updates):
    known = sorted(shared.name for shared in compiled.functions.keys)
    has = f"it has the data {', '.join(known)}" if known else "it has no data to exchange"
    for name in updates:
        if name in known:
            continue
        variable = compiled.functions.model.named_vars.get(name)
        if isinstance(variable, Constant):
            why = f"{name} is a constant of this model, which was compiled with freeze_model=True"
        elif isinstance(variable, SharedVariable):
            why = f"no draw depends on {name}"
        elif variable is not None:
            why = f"{name} is a variable of this model, and no data"
        else:
            why = f"this model has no {name}"
        raise KeyError(f"with_data: {why}; {has}")


def _refuse_other_values(compiled, updates):
    """nutpie casts data without a word."""
    for shared in compiled.functions.keys:
        dtype = np.dtype(shared.type.dtype)
        if shared.name not in updates:
            continue
        try:
            given = numbers(shared.name, updates[shared.name])
        except BadData as error:
            raise TypeError(f"with_data: {error}") from error
        if not holds(dtype, given):
            raise TypeError(f"with_data: {shared.name} has dtype {dtype}, which does not hold the {given.dtype} given")


def _may_change_sizes(before, now):
    """By another shape, or by numbers that a size may be made of."""
    return before.shape != now.shape or (before.dtype.kind in "biu" and not np.array_equal(before, now))


def _refuse_other_room(compiled, updates):
    """Errors: ShapeMismatch (a ValueError) where a draw has another shape than nutpie keeps room for."""
    changed = [
        f"{name} has shape {now} (it had {before})"
        for name, before, now in _recorded_shapes(compiled)
        if before != now
    ]
    if not changed:
        return
    news = ", ".join(f"{name} of shape {np.shape(value)}" for name, value in updates.items())
    raise errors.ShapeMismatch(
        f"with_data: with {news} a draw records other shapes than those that nutpie keeps room for: {'; '.join(changed)}. "
        "Compile the model with that data, or leave out what depends on it by var_names"
    )


def _recorded_shapes(compiled):
    """Name, shape that nutpie knows and shape with the present data, of each variable of a draw; of none where the data
    do not fit each other, which a draw tells."""
    names, of_data = compiled.functions.recorded_shapes(compiled._shapes)
    data = [compiled.shared_data[key] for key in compiled.functions.keys.values()]
    try:
        shapes = of_data(*data)
    except Exception:  # noqa: BLE001
        return []
    return [
        (name, tuple(map(int, compiled._shapes[name])), tuple(map(int, shape)))
        for name, shape in zip(names, shapes, strict=True)
    ]
