"""What became of a function, in words and in numbers."""

import os
from dataclasses import dataclass, field

from . import _inlay, notebook, screen
from .functions import made_of
from .plan import Plan, plan_of
from .records import as_dict
from .screen import count_text
from .text import compilation_of


@dataclass(frozen=True)
class Kernel:
    """One fused loop nest."""

    name: str
    text: str
    stages: int
    loads: int
    stores: int
    reductions: int
    reads: str  # elements of memory, as an expression in sizes
    writes: str
    width: int  # elements in a vector


@dataclass(frozen=True)
class Step:
    """What is done, in order: a `kernel`, `numbers` (arithmetic with single numbers), a `library call`, a `host call`,
    a `draw`, a `copy`; a `loop` or a `condition`, whose steps follow with a greater `depth`.

    `computes` are formulas in the user's names, `origins` the nodes that they come from, with the user's lines.
    """

    kind: str
    name: str
    title: str  # what stands before what it makes or computes: "@k0 over n x m"; may be empty
    makes: list
    computes: list
    loops: list  # the points of its loop nests: "85", "n x m"
    bytes_read: int | str  # of memory, in one pass
    bytes_written: int | str
    flops: int | str | None  # operations on floating-point numbers, in one pass; None: not known
    origins: list
    lines: str  # of the user's source, those of most origins: "model.py:7, 12"
    depth: int
    returns: bool = False  # whether it makes a result of the function
    seconds: float | None = None  # of all calls so far, and how often it ran; None where nothing was measured
    passes: int | None = None
    number: int = 0  # among all that the program does: of a `Buffer`, step k reads at time 2k and writes at 2k + 1


@dataclass(frozen=True)
class Copy:
    """Bytes that are moved and nothing more, and why."""

    source: str
    destination: str
    reason: str
    help: str = ""  # what can be done so that nothing is moved; may be empty


@dataclass(frozen=True)
class Temporary:
    """Working memory that outlives a kernel; `first` and `last` are the steps between which it holds something.

    `reason` is why the value that begins it is stored; values that come to lie there later follow by their names.
    """

    name: str
    bytes: int | str
    first: int
    last: int
    reason: str


@dataclass(frozen=True)
class Stored:
    """A value that is neither given nor returned and has memory of its own, and why: a name that docs/fusion.md
    explains, a colon, and a sentence. `where` is its storage in the memory map; a kernel's name before it says that
    each row or tile of that kernel has its own."""

    name: str
    bytes: int | str
    where: str
    reason: str
    help: str = ""  # what can be done so that it has none; may be empty


@dataclass(frozen=True)
class Apart:
    """Two kernels that have data in common, and why they are not one: a name that docs/fusion.md explains, a colon, and a
    sentence. `shared` is a value that the second reads of what the first has made, or that both read."""

    first: str
    second: str
    shared: str
    reason: str
    help: str = ""  # what can be done so that they are; may be empty


@dataclass(frozen=True)
class Buffer:
    """A value in working memory: bytes `[offset, offset + bytes)` of it at the times `begin <= t < end`. Values of one
    `storage` share its bytes, one after the other or one within the other, as `reason` says."""

    name: str
    type: str
    bytes: int
    offset: int
    begin: int
    end: int
    storage: str
    made_by: str  # "kernel", "library call", "host call", "copy"; "workspace": a step works in it
    reason: str


@dataclass(frozen=True)
class Explanation:
    """What became of a function, as data; `str` of it is one screen, `text` the whole listing."""

    steps: list
    kernels: list
    library_calls: list
    host_calls: list
    host_call_reasons: dict
    draws: list  # random variables, from NumPy's generators without Python code
    copies: list
    temporaries: list
    stored: list
    arena_bytes: int | None  # None where it depends on sizes that a call brings
    apart: list
    refusals: list  # what else was not done, and why
    seconds: dict
    graph: str
    rewrites: dict  # how often each rule fired; `dropped` counts values that nothing needed
    memory_map: str = field(repr=False, default="")
    target: str = ""  # the machine that its code is for, the level that was chosen first: "x86-64, avx2 (znver3)"
    plan: Plan | None = None  # where working memory lies; None where it depends on sizes that a call brings
    buffers: list | None = None  # the values there; None where `plan` is
    verbose: bool = False  # whether `str` is the listing
    cache: str = ""  # whether it was taken from the cache or kept in it, or why not; "": there is none

    def to_dict(self):
        """Plain lists, dicts, numbers and text."""
        return as_dict(self)

    @property
    def text(self):
        """The whole listing: graph, kernels, memory map, and all reasons."""
        return "\n".join(screen.wrapped("\n".join(_lines(self)).split("\n"))).rstrip() + "\n"

    def __str__(self):
        return self.text if self.verbose else "\n".join(screen.lines_of(self)) + "\n"

    def _repr_pretty_(self, printer, cycle):
        printer.text("Explanation(...)" if cycle else str(self).rstrip())

    def _repr_html_(self):
        return notebook.explanation_html(self)


@dataclass(frozen=True)
class ExportedMemory:
    """The plan of memory of an exported program, as its header has it; `str` of it is the table that `inlay explain` prints.

    `rows`: of each value that has bytes, a dict with its `step`, `value`, `type`, `storage`, `segment`, `at`, `bytes`, `begin`,
    `end` and `reason`, in the words of the table. `arena_bytes`: None where they depend on sizes.
    """

    rows: list
    notes: list
    arena_bytes: int | None
    text: str = field(repr=False)

    def to_dict(self):
        """Plain lists, dicts, numbers and text."""
        return as_dict(self)

    def __str__(self):
        return self.text


def function_pretty(fn, printer, cycle):
    printer.text(repr(fn))
    if compilation_of(fn) and not cycle:
        for line in screen.head(explain(fn)):
            printer.break_()
            printer.text(line)


def function_html(fn):
    return notebook.function_html(repr(fn), screen.head(explain(fn))) if compilation_of(fn) else None


def explain(fn, *, sizes=None, verbose=False):
    """What inlay made of `fn`: an `Explanation`; print it to read it on one screen, its `text` for the whole listing.

    `fn`: what `inlay.compile` returned, or a PyTensor function that inlay compiled, also as PyMC or nutpie wraps it. The
    path of an exported header, or of the code beside it (.c, .o, .so): what its plan of memory says, an `ExportedMemory`.
    `sizes`: for the sizes of the program, by name, a number, where `plan` depends on them. `verbose`: print it as its
    `text`.

    Errors: TypeError for another function, and for another path; ValueError for a file that is no such header.
    """
    if isinstance(fn, str | os.PathLike):
        return _exported_memory(os.fspath(fn))
    made = made_of(fn)
    data = made.program.explain()
    plan, buffers = plan_of(made.program, sizes)
    return Explanation(
        steps=_steps(data["steps"], made.program.step_times()),
        kernels=[Kernel(**{k: d[k] for k in Kernel.__dataclass_fields__}) for d in data["kernels"]],
        library_calls=data["library_calls"],
        host_calls=data["host_calls"],
        host_call_reasons=made.host_call_reasons(data["host_functions"]),
        draws=data["draws"],
        copies=[Copy(**d) for d in data["copies"]],
        temporaries=[Temporary(**d) for d in data["temporaries"]],
        stored=[Stored(**d) for d in data["stored"]],
        arena_bytes=data["arena_bytes"],
        apart=[Apart(**d) for d in data["apart"]],
        refusals=data["refusals"],
        seconds=made.stage_seconds(data["seconds"]),
        graph=data["graph"],
        rewrites=data["rewrites"],
        memory_map=data["memory_map"],
        target=data["target"],
        plan=plan,
        buffers=None if buffers is None else [Buffer(**d) for d in buffers],
        verbose=verbose,
        cache=made.cache,
    )


def _exported_memory(path):
    header = _inlay.exported_header(path)
    if not header:
        raise TypeError(f"inlay.explain takes a function, or the path of an exported header, and {path} ends in no .h, .c, .o or .so")
    with open(header, encoding="utf-8", errors="surrogateescape") as file:
        return ExportedMemory(**_inlay.exported_memory(file.read(), header))


def _steps(steps, times):
    measured = {d["step"]: {"seconds": d["seconds"], "passes": d["passes"]} for d in times}
    return [
        Step(**{k: v for k, v in d.items() if k != "step"}, **measured.get(d["step"], {}), number=d["step"])
        for d in steps
    ]


def _lines(e):
    yield screen.counts_line(e)
    yield f"compiled in {1e3 * sum(e.seconds.values()):.1f} ms: " + ", ".join(
        f"{stage} {1e3 * s:.1f}" for stage, s in e.seconds.items()
    )
    if e.cache:
        yield e.cache
    if e.rewrites:
        yield "rewrites: " + ", ".join(f"{name} {count}" for name, count in e.rewrites.items())
    yield ""
    yield e.graph.rstrip()
    kernels = iter(e.kernels)
    for step in e.steps:
        if step.kind == "numbers":
            yield ""
            yield f"# {screen.numbers_text(step)}"
            yield from step.computes
        elif step.kind == "kernel":
            kernel = next(kernels)
            yield ""
            size = f"{count_text(kernel.stages, 'stage')}, reads {kernel.reads}, writes {kernel.writes}, {kernel.width} wide"
            yield f"# {kernel.name}: {size}"
            yield kernel.text.rstrip()
    for title, items in (
        ("library calls", e.library_calls),
        ("host calls", [f"{name}: {reason}" for name, reason in e.host_call_reasons.items()] or e.host_calls),
        ("draws", e.draws),
        ("copies", [f"{c.source} -> {c.destination}: {c.reason}" for c in e.copies]),
        ("stored", [f"{s.name} ({s.bytes} bytes, {s.where}): {s.reason}" for s in e.stored]),
        ("apart", [f"{a.first} and {a.second} ({a.shared}): {a.reason}" for a in e.apart]),
        ("not done", e.refusals),
    ):
        if items:
            yield ""
            yield f"{title}:"
            yield from (f"  {item}" for item in items)
    yield ""
    yield e.memory_map.rstrip()
