"""Plans of working memory as data, and planners of one's own."""

import operator
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace

from . import _inlay
from .errors import WrongPlan
from .records import as_dict


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
    offset: int | None = None  # None: not placed yet. Of what is to be planned in its base, of a plan in its pool
    reason: str = ""
    base: str | None = None  # what it lies in: an alias, a view, a result in place
    pool: str | tuple | None = None  # several: where it may lie, the best first. None: in any, in their order
    cost: int | None = None  # of lying in another than the first of these. None: as many as its bytes
    entry: str | None = None  # the entry point that needs it. None: all do, throughout, if there are some


@dataclass(frozen=True)
class Pool:
    """How much of a pool of bytes a plan takes. `capacity`: how much it has, None if there is no limit."""

    name: str
    peak: int
    lower_bound: int
    capacity: int | None = None

    @property
    def fits(self):
        return self.capacity is None or self.peak <= self.capacity


@dataclass(frozen=True)
class Plan:
    """Where each storage lies. `peak` is the end of the highest that has bytes and a time at which they are needed, and no
    plan can have one below `lower_bound`; where there are `pools`, the sums of theirs."""

    storages: list
    peak: int
    lower_bound: int
    planner: str
    seconds: float  # what the planner took
    proved: bool  # no plan is smaller
    gap: float  # peak / lower_bound - 1
    pools: tuple = ()  # of `inlay.plan`

    @property
    def fits(self):
        """Whether each pool holds what lies in it."""
        return all(pool.fits for pool in self.pools)

    def to_dict(self):
        """Plain lists, dicts, numbers and text."""
        return as_dict(self)


def plan(buffers, planner="search", *, capacity=None, budget_ms=None):
    """Lays out `buffers`, as the command `inlay plan` does: a `Plan` with them in their order.

    Each buffer is a `Storage`, a mapping (also one of those that `inlay plan --json` reads and prints, with an `id`), or a
    tuple of name, size, lower and upper, then, if wanted, alignment and offset: where it must lie. `planner` is "naive",
    "greedy", "search" or "max", a mapping from names to offsets, or a function from a list of `Storage` to their offsets,
    which are proved. `capacity`: a plan within so many bytes is good enough; a mapping from names of pools to bytes (None:
    no limit) says so for each. What does not fit in a pool and costs least goes to the next that it may lie in; `Plan.fits`
    says whether all fits then. `budget_ms`: how much is tried, as placements that take about so long.

    Errors: ValueError for buffers that are wrong, and for offsets of which two that are needed at one time overlap, or one is
    of no buffer.

    >>> found = inlay.plan([("image", 64, 0, 2), ("edges", 48, 1, 5), ("sum", 16, 3, 6)])
    >>> found.peak, found.proved
    (112, True)
    >>> found = inlay.plan([("a", 64, 0, 2), ("b", 48, 1, 5)], capacity={"fast": 64, "slow": None})
    >>> [s.pool for s in found.storages]
    ['fast', 'slow']
    """
    storages = [_storage(buffer) for buffer in buffers]
    require_names(planner, [s.name for s in storages])
    pools = list(capacity.items()) if isinstance(capacity, Mapping) else [] if capacity is None else [("", capacity)]
    for name, bytes in pools:
        _require_number(bytes, f"capacity{name and f' of {name}'}", "a number of bytes, or None for no limit,")
    _require_number(budget_ms, "budget_ms", "a number of milliseconds, or None,")
    function = function_of(planner)
    data = _inlay.plan_buffers(
        [_row(s) for s in storages],
        [(name, -1 if bytes is None else bytes) for name, bytes in pools],
        planner if function is None else "",
        function,
        -1 if budget_ms is None else budget_ms,
    )
    pools = tuple(Pool(*pool) for pool in data.pop("pools"))
    has_pools = [pool.name for pool in pools] not in ([], [""])
    placed = [
        replace(_in_ints(s), offset=offset, pool=pool if has_pools else s.pool)
        for s, (pool, offset) in zip(storages, data.pop("placed"), strict=True)
    ]
    if isinstance(planner, Mapping):
        _require_places(planner, placed)
    return _plan(placed, planner if function is None else "custom", **data, pools=pools)


def plan_of(program, sizes=None):
    """The plan of an `_inlay.Program`, and the values in its working memory as dicts. Both are None where they depend
    on sizes that are not given."""
    data = program.plan(sizes)
    if data is None:
        return None, None
    buffers = data.pop("buffers")
    names = ("name", "size", "alignment", "lower", "upper", "offset", "reason")
    storages = [Storage(**dict(zip(names, row, strict=True))) for row in data.pop("storages")]
    return _plan(storages, **data), buffers


def planner_of(planner):
    """What `_inlay.compile` takes: a name, "" for the default, or a function."""
    if planner is None:
        return ""
    return planner if isinstance(planner, str) else function_of(planner)


def function_of(planner):
    """A planner that is no name, as `_inlay` calls it; None: it is a name."""
    if isinstance(planner, str):
        return None
    if isinstance(planner, Mapping):
        return _Call(_Fixed(dict(planner)))
    if callable(planner):
        return _Call(planner)
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


def _require_places(offsets, placed):
    """That what lies in another one lies where the mapping says, too."""
    for s in placed:
        if s.base is not None and s.name in offsets and operator.index(offsets[s.name]) != s.offset:
            raise WrongPlan(
                f"error[wrong-plan]: the custom plan has {s.name} at {offsets[s.name]}, and in {s.base} it is at {s.offset}"
            )


def _require_number(number, what, expected):
    if number is None:
        return
    try:
        number = operator.index(number)
    except TypeError:
        raise TypeError(f"inlay.plan: {what}: {expected} is expected, not {type(number).__name__}") from None
    if number < 0:
        raise ValueError(f"inlay.plan: {what}, {number}, is negative")
    if number >= 2**63:
        raise ValueError(f"inlay.plan: {what}, {number}, does not fit in 63 bits")


class _Call:
    def __init__(self, function):
        self.function = function

    def __call__(self, rows):
        storages = [Storage(name, size, lower, upper, alignment) for name, size, alignment, lower, upper in rows]
        return [operator.index(offset) for offset in self.function(storages)]


class _Fixed:
    def __init__(self, offsets):
        self.offsets = offsets

    def __call__(self, storages):
        missing = [s.name for s in storages if s.name not in self.offsets]
        if missing:
            message = f"error[wrong-plan]: the custom plan has no offset for {', '.join(missing)}"
            names = [s.name for s in storages]
            others = [name for name in self.offsets if name not in names]
            said = f"\n  help: it has one for {others[0]}, and the storages are {', '.join(names)}" if others else ""
            raise WrongPlan(message + said)
        return [self.offsets[s.name] for s in storages]


def _storage(buffer):
    if isinstance(buffer, Mapping):
        told = {key: value for key, value in buffer.items() if key not in _OF_A_PLAN}
        for key in told:
            if key != "id" and key not in _FIELDS:
                raise TypeError(f"inlay.plan: {_called(buffer)}: there is no {key}; what there is: id, {', '.join(_FIELDS)}")
        missing = [key for key in ("size", "lower", "upper") if key not in told]
        if missing or not told.keys() & {"id", "name"}:
            raise TypeError(f"inlay.plan: {_called(buffer)}: {missing[0] if missing else 'id'} is missing")
        buffer = Storage(**({"name": told.pop("id")} if "id" in told else {}), **told)
    elif not isinstance(buffer, Storage):
        buffer = Storage(*buffer)
    in_order = isinstance(buffer.pool, str) and "|" in buffer.pool
    return replace(buffer, pool=tuple(buffer.pool.split("|"))) if in_order else buffer


def _called(buffer):
    return f"buffer {buffer.get('id', buffer.get('name', 'without a name'))}"


_FIELDS = tuple(field.name for field in fields(Storage))
# What `inlay plan --json` says of each buffer beside what the file says.
_OF_A_PLAN = ("in", "at", "spilled")


def _in_ints(s):
    """With Python's own integers: of NumPy's JSON knows nothing."""
    cost = None if s.cost is None else int(s.cost)
    return replace(s, size=int(s.size), lower=int(s.lower), upper=int(s.upper), alignment=int(s.alignment), cost=cost)


def _row(s):
    """As `_inlay.plan_buffers` takes it: "" of names that are not said."""
    pools = () if s.pool is None else (s.pool,) if isinstance(s.pool, str) else tuple(s.pool)
    return (s.name, s.size, s.lower, s.upper, s.alignment, s.offset, s.base or "", pools, s.cost, s.entry or "")


def _plan(storages, planner, peak, lower_bound, seconds, pools=()):
    gap = peak / lower_bound - 1 if lower_bound else 0.0
    return Plan(storages, peak, lower_bound, planner, seconds, peak == lower_bound, gap, pools)
