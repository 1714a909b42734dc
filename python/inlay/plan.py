"""Plans of working memory as data, and planners of one's own."""

import json
import operator
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from . import _inlay
from .errors import WrongPlan

LARGE = 2**30  # times beyond are replaced by their ranks


@dataclass(frozen=True)
class Storage:
    """Bytes that are needed at the times `lower <= t < upper`, and where they lie.

    Of a program: step k reads at time 2k and writes at 2k + 1; `name` is that of the value that is the first to lie there,
    and `reason` says why it and those after it are stored.
    """

    name: str
    size: int
    lower: int
    upper: int
    alignment: int = 1
    offset: int | None = None  # None: not placed yet
    reason: str = ""


@dataclass(frozen=True)
class Plan:
    """Where each storage lies. `peak` is the end of the highest, and no plan can have one below `lower_bound`."""

    storages: list
    peak: int
    lower_bound: int
    planner: str
    seconds: float  # what the planner took
    proved: bool  # no plan is smaller
    gap: float  # peak / lower_bound - 1

    def to_dict(self):
        """Plain lists, dicts, numbers and text."""
        return json.loads(json.dumps(asdict(self)))


def plan(buffers, planner="search", *, capacity=None, budget_ms=None):
    """Lays out `buffers`, as the command `inlay plan` does: a `Plan` with them in their order.

    Each buffer is a `Storage`, a mapping, or a tuple of name, size, lower and upper, then, if wanted, alignment and offset:
    where it must lie. `planner` is "naive", "greedy", "search" or "max", a mapping from names to offsets, or a function from
    a list of `Storage` to their offsets, which are proved. `capacity`: a plan within so many bytes is good enough;
    `budget_ms`: how much is tried, as placements that take about so long.

    Errors: ValueError for buffers that are wrong, and for offsets of which two that are needed at one time overlap, or one is
    of no buffer.

    >>> found = inlay.plan([("image", 64, 0, 2), ("edges", 48, 1, 5), ("sum", 16, 3, 6)])
    >>> found.peak, found.proved
    (112, True)
    """
    storages = [_storage(buffer) for buffer in buffers]
    require_names(planner, [s.name for s in storages])
    times = sorted({t for s in storages for t in (s.lower, s.upper)})
    fit = not times or (-LARGE <= times[0] and times[-1] <= LARGE)
    tick = {t: t if fit else i for i, t in enumerate(times)}
    rows = [  # what is never needed takes no bytes
        (s.name, s.size if s.lower < s.upper else 0, s.alignment, tick[s.lower], tick[s.upper], -1 if s.offset is None else s.offset)
        for s in storages
    ]
    function = function_of(planner, None if fit else times)
    data = _inlay.plan_buffers(
        rows,
        planner if function is None else "",
        function,
        -1 if budget_ms is None else budget_ms,
        0 if capacity is None else capacity,
    )
    offsets = data.pop("offsets")
    placed = [Storage(**{**asdict(s), "offset": at}) for s, at in zip(storages, offsets, strict=True)]
    return _plan(placed, planner if function is None else "custom", **data)


def plan_of(program, sizes=None):
    """The plan of an `_inlay.Program`, or None where it depends on sizes that are not given."""
    data = program.plan(sizes)
    if data is None:
        return None
    names = ("name", "size", "alignment", "lower", "upper", "offset", "reason")
    storages = [Storage(**dict(zip(names, row, strict=True))) for row in data.pop("storages")]
    return _plan(storages, **data)


def planner_of(planner):
    """What `_inlay.compile` takes: a name, "" for the default, or a function."""
    if planner is None:
        return ""
    return planner if isinstance(planner, str) else function_of(planner)


def function_of(planner, times=None):
    """A planner that is no name, as `_inlay` calls it; None: it is a name. `times`: what the ranks stand for."""
    if isinstance(planner, str):
        return None
    if isinstance(planner, Mapping):
        return _Call(_Fixed(dict(planner)), times)
    if callable(planner):
        return _Call(planner, times)
    raise TypeError(
        f"planner: a name, a mapping from names to offsets or a function is expected, not {type(planner).__name__}"
    )


def require_names(planner, names):
    """That a planner which is a mapping has offsets for no other storages than those `names`."""
    unknown = [name for name in planner if name not in names] if isinstance(planner, Mapping) else []
    if unknown:
        raise WrongPlan(
            f"error[wrong-plan]: the custom plan has an offset for {unknown[0]}, and there is no such storage\n"
            f"  help: the storages are {', '.join(names) or 'none'}"
        )


class _Call:
    def __init__(self, function, times):
        self.function, self.times = function, times

    def __call__(self, rows):
        time = (lambda t: t) if self.times is None else self.times.__getitem__
        storages = [
            Storage(name, size, time(lower), time(upper), alignment) for name, size, alignment, lower, upper in rows
        ]
        return [operator.index(offset) for offset in self.function(storages)]


class _Fixed:
    def __init__(self, offsets):
        self.offsets = offsets

    def __call__(self, storages):
        missing = [s.name for s in storages if s.name not in self.offsets]
        if missing:
            raise WrongPlan(f"error[wrong-plan]: the custom plan has no offset for {', '.join(missing)}")
        return [self.offsets[s.name] for s in storages]


def _storage(buffer):
    if isinstance(buffer, Storage):
        made = buffer
    elif isinstance(buffer, Mapping):
        made = Storage(**buffer)
    else:
        made = Storage(*buffer)
    for what in ("size", "lower", "upper", "alignment"):
        operator.index(getattr(made, what))
    wrong = (
        f"its size is {made.size}"
        if made.size < 0
        else f"its alignment is {made.alignment}"
        if made.alignment < 1
        else f"it ends at {made.upper}, before it begins at {made.lower}"
        if made.upper < made.lower
        else f"its offset is {made.offset}"
        if made.offset is not None and made.offset < 0
        else None
    )
    if wrong:
        raise ValueError(f"inlay.plan: {made.name}: {wrong}")
    return made


def _plan(storages, planner, peak, lower_bound, seconds):
    gap = peak / lower_bound - 1 if lower_bound else 0.0
    return Plan(storages, peak, lower_bound, planner, seconds, peak == lower_bound, gap)
