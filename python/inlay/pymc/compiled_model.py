"""What compile_nutpie returns: nutpie's own model, which also says in words why it cannot be sampled."""

import ctypes
import dataclasses
import functools
import threading
import time

import numpy as np
import pytensor

from .. import errors

# So often it is asked whether nutpie is finished, in seconds.
LONGEST_WAIT = 0.02


class SamplingFailed(RuntimeError):
    """A function of the model failed in a draw. `error` is the exception of that call."""

    def __init__(self, what, error):
        of_inlay = isinstance(error, errors.InlayError)  # which says what it is, and where
        said = str(error) if of_inlay else f"{type(error).__name__}: {error}"
        location = getattr(error, "inlay_location", None)
        super().__init__(f"{what} failed: {said}" + (f"\n  at     {location}" if location else ""))
        self.error = error


@functools.cache
def compiled_model_class(base):
    """`base`: nutpie's CompiledPyMCModel."""

    @dataclasses.dataclass(frozen=True)
    class CompiledModel(base):
        functions: object = None

        def with_data(self, **updates):
            """A model with other values of `pm.Data`, also of other lengths. Compiles nothing.

            Errors: KeyError for a name that is no data of the model; TypeError for values that an integer dtype does not
            hold; ValueError for another rank, and where what is recorded of a draw would become longer or shorter:
            nutpie keeps room for what it was.
            """
            _refuse_other_values(self, updates)
            other = super().with_data(**updates)
            if self._has_other_shapes(other):
                _refuse_other_room(other, updates)
            return other

        def _has_other_shapes(self, other):
            return any(other.shared_data[key].shape != value.shape for key, value in self.shared_data.items())

        def _make_sampler(self, *args, **kwargs):
            failure = _Failure()
            pointers = self.functions.pointers(failure.tell, keeps_going=True)
            told = dataclasses.replace(self, **pointers)  # a sampler's own, so that it hears of its own failures alone
            return _Sampler(super(CompiledModel, told)._make_sampler(*args, **kwargs), failure)

    return CompiledModel


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
            raise SamplingFailed(self._what, self._error) from None


class _Sampler:
    """nutpie's sampler, whose `wait` ends with the first failure. All else is nutpie's."""

    def __init__(self, inner, failure):
        self._inner, self._failure = inner, failure

    def __getattr__(self, name):
        return getattr(self._inner, name)

    def wait(self, timeout=None):
        end = None if timeout is None else time.monotonic() + timeout
        self._inner.resume()
        try:
            self._wait_until(end)
            self._end_if_failed()
            self._inner.wait(0.0)
        except TimeoutError:
            raise
        except Exception:  # all initial points failed
            self._failure.throw()
            raise
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


def _refuse_other_values(compiled, updates):
    """nutpie casts data without a word: 3.7 becomes 3, and NaN some integer."""
    for shared in compiled.shared_var_keys:
        dtype = np.dtype(shared.type.dtype)
        if shared.name not in updates or dtype.kind not in "biu":
            continue
        given = np.asarray(updates[shared.name])
        with np.errstate(invalid="ignore"):
            is_held = np.can_cast(given.dtype, dtype) or np.array_equal(given.astype(dtype), given)
        if not is_held:
            raise TypeError(f"with_data: {shared.name} has dtype {dtype}, which does not hold the {given.dtype} given")


def _refuse_other_room(compiled, updates):
    """Errors: ShapeMismatch (a ValueError) where a draw has another number of values than nutpie keeps room for."""
    told = []
    pointers = compiled.functions.pointers(lambda _, error: told.append(error))
    expand = pointers["compiled_expand_func"]
    call = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_size_t, ctypes.c_size_t, *[ctypes.c_void_p] * 3)(expand.address)
    point, values = np.zeros(compiled.n_dim), np.empty(compiled.n_expanded)
    wrong_length = -1
    addresses = (array.ctypes.data for array in (point, values, compiled.user_data))
    if call(compiled.n_dim, compiled.n_expanded, *addresses) != wrong_length:
        return
    news = ", ".join(f"{name} of shape {np.shape(value)}" for name, value in updates.items())
    changed = [
        f"{name} has shape {now} (it had {before})"
        for name, before, now in _recorded_shapes(compiled)
        if before != now
    ]
    what = "; ".join(changed) or str(told[0])
    raise errors.ShapeMismatch(
        f"with_data: with {news} a draw records other shapes than those that nutpie keeps room for: {what}. Compile the "
        "model with that data, or leave out what depends on it by var_names"
    )


def _recorded_shapes(compiled):
    """Name, shape that nutpie knows and shape with the present data, of each variable of a draw."""
    model, names = compiled.functions.model, compiled.shape_info[0]
    recorded = [v for v in model.unobserved_value_vars if v.name in names]
    points = {v: np.zeros(compiled._shapes[v.name], v.dtype) for v in model.value_vars}
    data = {shared: compiled.shared_data[key] for shared, key in compiled.shared_var_keys.items()}
    shapes = pytensor.function(
        [],
        [v.shape for v in recorded],
        givens=[(v, v.type.filter_variable(pytensor.tensor.constant(value))) for v, value in (points | data).items()],
        mode="FAST_COMPILE",
        on_unused_input="ignore",
    )()
    before = [compiled._shapes[v.name] for v in recorded]
    return [
        (v.name, tuple(map(int, old)), tuple(map(int, new))) for v, old, new in zip(recorded, before, shapes, strict=True)
    ]
