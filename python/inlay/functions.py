"""Which program a function of the user's runs, whichever API compiled it; and the methods of inlay's own functions, whose
modules are imported when they are called."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from . import _inlay
from .text import compilation_of


@dataclass(frozen=True)
class Made:
    """What a function was made into."""

    program: Any  # _inlay.Program
    name: str
    stage_seconds: Callable  # makes of the stages' times what is counted besides
    host_call_reasons: Callable  # of the functions of these numbers: why they run in Python
    cache: str = ""  # whether it was taken from the cache, or kept in it, or why not; "": there is none


def how_compiled(fn):
    """How inlay compiled `fn`: (text.Compilation, None) of what `inlay.compile` returned, and (None, Compiled) of a
    PyTensor function, also as PyMC or nutpie wraps it.

    Errors: TypeError where inlay did not compile it.
    """
    compilation = compilation_of(fn)
    if compilation is None and "inlay.pytensor" in sys.modules:  # else there is no such function
        from .pytensor.compiled import find_compiled

        compiled = find_compiled(fn)
    else:
        compiled = None
    if compilation is None and compiled is None:
        raise not_compiled(fn)
    return compilation, compiled


def not_compiled(fn, more=""):
    """The TypeError of what inlay did not compile. `more`: what follows."""
    return TypeError(
        f"an object of type {type(fn).__name__} is not a function that inlay compiled, "
        f"by inlay.compile or by PyTensor with mode='INLAY'{more}"
    )


def pytensor_function(fn):
    """The PyTensor Function in what PyMC or nutpie wraps around one that inlay compiled."""
    from .pytensor.compiled import function_of

    return function_of(fn)


def made_of(fn):
    """The Made of `fn`, what `inlay.compile` returned, or a PyTensor function, also as PyMC or nutpie wraps it.

    Errors: TypeError where inlay did not compile it.
    """
    compilation, compiled = how_compiled(fn)
    if compilation is not None:
        return Made(compilation.program, fn.description, compilation.stage_seconds, lambda functions: {})
    name = getattr(pytensor_function(fn), "name", None) or compiled.description
    return Made(compiled.program, name, compiled.stage_seconds, compiled.host_call_reasons, compiled.cache)


def _export(self, directory, kind="c", **choices):
    """`inlay.export(self, directory, kind, ...)`, with its choices by keyword."""
    from .exporting import export

    return export(self, directory, kind, **choices)


def _pretty(self, printer, cycle):
    from .explanation import function_pretty

    function_pretty(self, printer, cycle)


def _html(self):
    from .explanation import function_html

    return function_html(self)


_export.__name__, _export.__qualname__, _export.__module__ = "export", "Function.export", _inlay.__name__  # of the stubs
_inlay.Function.export = _export
_inlay.Function._repr_pretty_ = _pretty
_inlay.Function._repr_html_ = _html
