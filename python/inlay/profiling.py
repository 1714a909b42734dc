"""What the steps of a function take: time, bytes and operations, and how near to the memory's bandwidth they come."""

import copy
import math
import time
from dataclasses import dataclass, field

from . import _inlay, errors, notebook, screen, text
from ._inlay import machine_bandwidth
from .functions import made_of
from .hypertext import plain
from .records import as_dict

_SECONDS, _LEAST_CALLS = _inlay.PROFILED_SECONDS, _inlay.LEAST_PROFILED_CALLS


@dataclass(frozen=True)
class Row:
    """A step of a function, in one call: `kind name title makes computes loops origins lines depth` as in
    `inlay.explain(f).steps`; and `note`, what its formula does not say: that a host call runs as Python, what is copied
    and why.

    `bytes_read`, `bytes_written` and `flops`, operations on floating-point numbers (None: not known), are of all its
    passes, at the sizes of the arguments; where they depend on what a loop finds anew in each pass, they are text, of
    one pass. `bandwidth` is the sum of the bytes over the seconds, in GB/s, `share_of_bandwidth` its share of what this
    machine's memory has, and `flop_rate` the operations over the seconds, in GFlop/s: None where none are known.
    `threads` is the most that it was given at once, the calling one among them, and `balance` the share of its time in
    which these were at work, the mean: 1 on one thread.
    """

    kind: str
    name: str
    title: str
    makes: list
    computes: list
    note: str
    loops: list
    origins: list
    lines: str
    depth: int
    seconds: float  # the mean of all calls
    least_seconds: float  # of the calls that ran it
    passes: float  # how often a call runs it: in a loop once per pass
    bytes_read: int | str
    bytes_written: int | str
    flops: int | str | None
    bandwidth: float | None
    share_of_bandwidth: float | None
    flop_rate: float | None
    share: float  # of the call's time
    threads: int = 1  # the most that it was given at once, the calling one among them
    balance: float = 1.0


@dataclass(frozen=True)
class Profile:
    """What the steps of a function take, as data; `str` of it is a table, the step that takes most first."""

    name: str
    rows: list  # in the order of running
    calls: int
    total: float  # seconds of a call from Python, the mean
    least: float  # of the quickest call
    outside: float  # of the mean, the seconds outside of all steps: the call itself, its results' memory, the clocks
    bandwidth: float  # GB/s of this machine's memory, of one thread that reads two arrays and writes a third
    text: str = field(repr=False)  # the table
    sizes: dict = field(default_factory=dict)  # of the program, by name, as the arguments have them

    def to_dict(self):
        """Plain lists, dicts, numbers and text; all but the table."""
        return {name: value for name, value in as_dict(self).items() if name != "text"}

    def __str__(self):
        return self.text

    def _repr_pretty_(self, printer, cycle):
        printer.text("Profile(...)" if cycle else self.text.rstrip())

    def _repr_html_(self):
        return notebook.profile_html(self)


def profile(fn, /, *args, **kwargs):
    """What the steps of `fn` take when it is called with these arguments: a `Profile`; print it for a table.

    `fn`: what `inlay.compile` returned, or a PyTensor function that inlay compiled, also as PyMC wraps it. It is
    compiled once more, with clocks around its steps, and called for 0.2 seconds, at least three times. The given
    function stays as it is, the shared variables that it updates too, and no argument is written to. What a host
    function of yours does besides computing, it does in each of these calls.

    Errors: TypeError for another function, NotImplementedError for one that backend "c" compiled, or whose graph cannot
    be had; what the call raises.

    >>> double = inlay.compile('''graph @main(%x: f64[n]) {
    ...   %y = add %x, %x
    ...   return %y
    ... }''')
    >>> [(row.name, row.bytes_read) for row in inlay.profile(double, np.ones(1000)).rows]
    [('@k0', 8000)]
    """
    made = made_of(fn)
    if not callable(fn):
        raise TypeError(
            f"an object of type {type(fn).__name__} cannot be called: profile a function that it is made from"
        )
    name = plain(made.name)
    made.program.require_clocks(name)
    timed, program_now, overwrites = _timed(fn, made.name)
    given = (args, kwargs)

    def arguments():
        return copy.deepcopy(given) if overwrites or "out" in kwargs else given

    program, calls, seconds, least = _measured(timed, arguments, program_now)
    peak = machine_bandwidth()
    said = program.profile(name, calls, seconds, least, peak, screen.PLAIN_KINDS)
    rows = [Row(**row) for row in said["rows"]]
    return Profile(made.name, rows, calls, seconds / calls, least, said["outside"], peak, plain(said["text"]), said["sizes"])


def _timed(fn, name):
    """The timed form of a function, how to get its program, and whether a call may overwrite arguments."""
    if text.compilation_of(fn) is None:
        from .pytensor.timed import timed

        again, function, overwrites = timed(fn)
        return again, lambda: function.vm.compiled.program, overwrites
    again = text.timed(fn)
    if again is None:
        raise errors.Unsupported(
            f"error[unsupported]: {name} cannot be compiled once more, with clocks: it does not know its graph"
        )
    program = again.compilation.program
    return again, lambda: program, any(program.donated)


def _measured(timed, arguments, program_now):
    """The program, which knows the times of its steps, how many calls were made, their seconds, and those of the quickest. The
    first call is none of them: it meets memory that nobody has touched."""
    while True:
        args, kwargs = arguments()
        timed(*args, **kwargs)
        program = program_now()
        program.clear_step_times()
        calls, seconds, least = 0, 0.0, math.inf
        until = time.perf_counter() + _SECONDS
        while calls < _LEAST_CALLS or time.perf_counter() < until:
            args, kwargs = arguments()
            begin = time.perf_counter()
            timed(*args, **kwargs)
            took = time.perf_counter() - begin
            seconds, least, calls = seconds + took, min(least, took), calls + 1
        if program_now() is program:  # else a call has compiled it once more, with sizes that it found
            return program, calls, seconds, least
