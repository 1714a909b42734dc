"""The picture of a function's memory over time."""

import os
import sys
from pathlib import Path

from .text import Compilation


def memory_page(fn, path=None, *, sizes=None, title=None):
    """Write a picture of `fn`'s memory over time into the file `path`, a page of HTML for a browser and for paper;
    without a path return its text.

    `fn`: what `inlay.compile` returned, or a PyTensor function that inlay compiled, also as PyMC wraps it. `sizes`: for
    the sizes of the program, by name, a number, where its working memory depends on them. `title`: of the page; the
    function's name is used where there is none.

    Errors: TypeError for another function, InlayError where a size is missing.
    """
    program, name = _program_of(fn)
    html = program.memory_page(title or name, sizes)
    if path is None:
        return html
    Path(os.fspath(path)).write_text(html, encoding="utf-8")
    return None


def _program_of(fn):
    if isinstance(getattr(fn, "compilation", None), Compilation):
        return fn.compilation.program, fn.description
    if "inlay.pytensor" in sys.modules:  # else there is no such function
        from .pytensor.compiled import compiled_of, function_of

        compiled = compiled_of(fn)
        inputs = ", ".join(x.name or "input" for x in compiled.fgraph.inputs)
        return compiled.program, getattr(function_of(fn), "name", None) or f"a function of {inputs}"
    raise TypeError(f"{fn!r} is not a function that inlay compiled")
