"""What a caller may choose about a compilation: the keywords of `inlay.compile` and `inlay.pytensor.mode`."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from . import _inlay
from .plan import planner_of, require_names


@dataclass(frozen=True)
class Choices:
    """Each is None where the environment decides (INLAY_BACKEND, INLAY_FUSE, INLAY_PLANNER, INLAY_ORDER, INLAY_VERIFY,
    INLAY_DUMP, INLAY_CPU_FEATURES), and else the default.

    Raises TypeError for a choice of a wrong type, with its keyword, and ValueError for an empty name and for fewer than one
    thread. Other names are looked up when a function is compiled.
    """

    backend: str | None = None
    fuse: str | None = None
    planner: Any = None
    order: str | None = None
    may_share: Callable | None = None
    upper: Mapping | None = None
    verify: bool | None = None
    dump: Any = None
    cpu: str | None = None
    threads: int | None = None
    single_precision: bool | None = None

    def __post_init__(self):
        for name in ("backend", "fuse", "order", "cpu"):
            self._require(name, str, "a name")
        self._require("upper", Mapping, "a dict by name")
        for name in ("verify", "single_precision"):
            self._require(name, bool, "True or False")
        if self.threads is not None:
            _inlay.thread_count("threads=", self.threads)
        self._require("dump", str | os.PathLike, "the path of a folder")
        if self.may_share is not None and not callable(self.may_share):
            raise TypeError(f"may_share= takes a function of (step, value, operand), not {a_kind(self.may_share)}")
        if self.planner == "":
            raise ValueError("planner= takes a name, offsets by name or a function, not an empty name")

    def _require(self, name, kind, what):
        value = getattr(self, name)
        if value is not None and not isinstance(value, kind):
            raise TypeError(f"{name}= takes {what}, not {a_kind(value)}")
        if value == "":  # which further on would be the default
            raise ValueError(f"{name}= takes {what}, not an empty one")

    def given(self):
        """By keyword, what is not None."""
        return {f.name: getattr(self, f.name) for f in fields(self) if getattr(self, f.name) is not None}

    def compile(self, graph, bound, functions, **more):
        """The `_inlay.Program` of a graph, with the arrays and functions that are bound to it."""
        program = _inlay.compile(graph, bound, functions, self._for_compiler(), **more)
        require_names(self.planner, program.storage_names)
        return program

    def _for_compiler(self):
        out = self.given()
        if self.planner is not None:
            out["planner"] = planner_of(self.planner)
        if self.upper is not None:
            out["upper"] = dict(self.upper)
        if self.dump is not None:
            out["dump"] = os.fspath(self.dump)
        return out


def a_kind(value):
    """What kind of object that is, with its article, for a message."""
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"
