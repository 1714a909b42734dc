"""The functions of a model as bytes that workers load, and the data that they read.

Data lie where a record of addresses and sizes says, as `inlay.c_function` has it: a field for the address of an array,
then one for each of its sizes.
"""

import hashlib
import pickle
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .. import _inlay
from ..files import pickled, program_of
from .failures import Reason
from .identity import identity_of
from .names import LOGLIK
from .numbers_given import BadData, holds, numbers
from .sent import Sent

_SECTION = "fits"  # of the file of a function: what Python must know
_WORD = 8  # bytes of a field of the record


@dataclass(frozen=True)
class Part:
    """One compiled function: its file; for each of its arguments what is read there, the number of the data, or None, the
    point (what others there are AfterDraws says); and what tells it from others, the same in the next process."""

    file: bytes
    slots: tuple
    content: str

    @classmethod
    def of(cls, program, slots, bound, host_calls, calls):
        """`calls`: what tells `host_calls` from others. As a pickle they differ between processes."""
        content = f"{program.content} {identity_of([*bound, *calls])} {tuple(slots)!r}"
        return cls(program.save({_SECTION: pickled((bound, host_calls))}), tuple(slots), content)

    def program(self):
        file = _inlay.read_function(self.file, "a function of the fits")
        return program_of(file, *pickle.loads(file.section(_SECTION)))


@dataclass(frozen=True)
class Data:
    """What a data set may exchange, and what it is where a data set does not."""

    name: str | None  # None: nobody can name it
    value: np.ndarray
    dims: tuple = ()
    shape: tuple = ()  # None where any size will do

    def taken(self, given):
        """`given` as the functions read it. Errors: BadData."""
        dtype = self.value.dtype
        array = numbers(self.name, given)
        if array.ndim != self.value.ndim:
            raise BadData(f"{self.name} has {array.ndim} dimensions; the model's has {self.value.ndim}")
        for axis, (size, known) in enumerate(zip(array.shape, self.shape, strict=True)):
            if known is not None and size != known:
                raise BadData(f"{self.name} has size {size} along axis {axis}, which is {known} in the model")
        if not holds(dtype, array):
            raise BadData(f"{self.name} has dtype {dtype}, which does not hold the {array.dtype} given")
        return np.array(array, dtype=dtype, order="C")  # a copy: nobody writes into it while chains read


@dataclass(frozen=True)
class Recorded:
    """A variable of a draw."""

    name: str
    dtype: str
    ndim: int
    dims: tuple


@dataclass(frozen=True)
class ModelOfFits(Sent):
    """What is known of a model, however it is fitted."""

    data: list
    recorded: list
    coords: dict
    unread: tuple  # names of data that no function reads
    imputed: tuple  # names of observed variables with missing values, which are recorded as parameters are
    hidden: tuple  # names of what is recorded for `after` alone
    after: dict  # AfterDraws, by name

    def arrays(self, given):
        """The arrays of a data set, by number of the Data. Errors: BadData."""
        known = {data.name: i for i, data in enumerate(self.data) if data.name is not None}
        arrays = [data.value for data in self.data]
        for name in given:
            if name in self.unread:
                continue
            if name not in known:
                names = ", ".join([*known, *self.unread])
                raise BadData(f"the model has no data {name}; it has {names or 'none'}")
            arrays[known[name]] = self.data[known[name]].taken(given[name])
        sizes = {}
        for data, array in zip(self.data, arrays, strict=True):
            for dim, size in zip(data.dims, array.shape, strict=False):
                name, known = sizes.setdefault(dim, (data.name, size)) if dim is not None else (None, size)
                if size != known:
                    raise BadData(f"{data.name} has size {size} along {dim}, and {name} has {known}")
        return arrays

    def arrays_at(self, given, instead, shaped):
        """The same with `instead` in place of some data of the data set. Data of which the shape alone matters, by number,
        are as long as `instead` is along their dims. Errors: BadData."""
        dims = {data.name: data.dims for data in self.data}
        sizes = {dim: (name, n) for name, x in instead.items() for dim, n in zip(dims.get(name, ()), np.shape(x), strict=False)}
        resized = {}
        for number, data in enumerate(self.data):
            shape = np.shape(given.get(data.name, data.value))
            wanted = list(shape)
            for axis, (dim, size) in enumerate(zip(data.dims, shape, strict=False)):
                name, wanted[axis] = sizes.get(dim, (None, size)) if dim is not None else (None, size)
                if wanted[axis] != size and number not in shaped and data.name not in instead:
                    raise BadData(f"{data.name} has size {size} along {dim}, and {name} has {wanted[axis]}: give both")
            if wanted != list(shape):
                resized[data.name] = np.zeros(wanted, data.value.dtype)
        return self.arrays({**given, **resized, **instead})

    def results(self):
        """The variables that a fit has draws of."""
        recorded = [v for v in self.recorded if v.name not in self.hidden]
        return recorded + [v for after in self.after.values() for v in after.variables]

    def summarized(self, summary):
        """The variables that a summary may be of."""
        loglik = self.after[LOGLIK].variables if LOGLIK in self.after else []
        return loglik if summary == LOGLIK else [v for v in self.results() if v not in loglik]

    def hash_of_data(self):
        """Of what the functions read and give, begun; to be continued with the functions."""
        content = hashlib.sha256()
        for data in self.data:
            content.update(repr((data.name, data.value.dtype.str, data.value.shape, data.dims)).encode())
            content.update(data.value.tobytes())
        content.update(repr([(v.name, v.dtype, v.dims) for v in [*self.recorded, *self.results()]]).encode())
        for after in self.after.values():
            content.update(after.part.content.encode())
        return content


@dataclass(frozen=True)
class FitFunctions(ModelOfFits):
    """All that is compiled. Loaded once in a process, and then called from any thread."""

    logp: Part
    expand: Part
    start: Part
    initial: tuple = ()  # Data for the variables of which the caller gives starting values
    start_at: Part | None = None  # from the data, and behind them these values, to where a chain starts

    @cached_property
    def loaded(self):
        return Loaded(self)

    def parts(self):
        parts = {"logp": self.logp, "expand": self.expand, "start": self.start, "start_at": self.start_at}
        return {name: part for name, part in parts.items() if part is not None}

    def content(self):
        """A hash of what draws depend on: the same in every process that compiles the same model on the same CPU."""
        content = self.hash_of_data()
        for part in self.parts().values():
            content.update(part.content.encode())
        return content.hexdigest()


@dataclass(frozen=True)
class PriorFunction(ModelOfFits):
    """What `method="prior"` calls."""

    prior: object  # an AfterDraws of nothing

    def content(self):
        content = self.hash_of_data()
        content.update(self.prior.part.content.encode())
        return content.hexdigest()


class Loaded:
    """The functions of a process."""

    def __init__(self, functions):
        self._functions = functions
        self._programs = {name: part.program() for name, part in functions.parts().items()}
        self._functions_by_name = {}
        self._places, at = [], 0
        for data in functions.data:
            self._places.append(at)
            at += 1 + data.value.ndim
        self._length = at

    def record(self, arrays):
        record = np.zeros(self._length + 1, np.int64)
        for at, array in zip(self._places, arrays, strict=True):
            record[at] = array.ctypes.data
            record[at + 1 : at + 1 + array.ndim] = array.shape
        return record

    def call(self, name, point, arrays):
        """What the function `name` returns, called from Python."""
        function = self._functions_by_name.get(name)
        if function is None:
            function = self._functions_by_name.setdefault(name, self._programs[name].function())
        slots = getattr(self._functions, name).slots
        return function(*(point if slot is None else arrays[slot] for slot in slots))

    def start(self, arrays, initvals=None):
        """The point where a chain starts, but for its jitter, and the shapes of the recorded variables.

        `initvals`: by name, the values of `initial` in place of the model's. Errors: Reason, for these."""
        start, sizes = self.call("start", None, arrays)
        recorded, initial = self._functions.recorded, self._functions.initial
        shapes, at = [], 0
        for ndim in [*(v.ndim for v in recorded), *(data.value.ndim for data in initial)]:
            shapes.append(tuple(map(int, sizes[at : at + ndim])))
            at += ndim
        if initvals is not None:
            start = self._start_at(arrays, initvals, shapes[len(recorded) :])
        return np.ascontiguousarray(start, np.float64), shapes[: len(recorded)]

    def _start_at(self, arrays, initvals, shapes):
        values = []
        for data, shape in zip(self._functions.initial, shapes, strict=True):
            try:
                values.append(data.taken(initvals[data.name]))
            except BadData as error:
                raise Reason(f"initvals: {error}") from error
            if values[-1].shape != shape:
                raise Reason(f"initvals: {data.name} has shape {values[-1].shape}, which is {shape} with these data")
        start = self.call("start_at", None, [*arrays, *values])
        if not np.isfinite(start).all():
            given = ", ".join(f"{data.name} is {value}" for data, value in zip(self._functions.initial, values, strict=True))
            raise Reason(f"initvals: {given}: a value is outside of its variable's support, as the starting point is not finite")
        return start

    def pointer(self, name, on_error):
        """A C function in the form `name`, "logp" or "expand", and of one sampler, which hears of its failures."""
        slots = getattr(self._functions, name).slots
        arguments = [None if slot is None else self._functions.data[slot].value for slot in slots]
        places = {
            i: (_WORD * self._places[slot], _WORD * (self._places[slot] + 1))
            for i, slot in enumerate(slots)
            if slot is not None
        }
        return self._programs[name].c_function(arguments, name, places, on_error, True)
