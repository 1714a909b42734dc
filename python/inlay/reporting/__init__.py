"""A report of a function: one page of HTML with what takes the time, what moves bytes, what was not fused, and why."""

import os

from .. import errors, pages
from ..choices import a_kind
from ..explanation import explain
from ..functions import made_of
from ..profiling import Profile, profile
from .page import page_of


def report(fn, path=None, /, *args, **kwargs):
    """Write a page about `fn` into the file `path`: what takes the time, what moves bytes, what was not fused and what
    helps; its steps, its memory over time, its kernels, its graph, and all reasons. Without a path return its text,
    which is the page where it is the last line of a notebook's cell.

    `fn`: what `inlay.compile` returned, or a PyTensor function that inlay compiled, also as PyMC wraps it. `args`,
    `kwargs`: what it is called with to measure it, as by `inlay.profile`; or one `Profile` of it. Without them the page
    has what `inlay.explain(fn)` says, and no times. It is one file of at most 300 KB, without scripts, that needs no
    network; of a large function it leaves out what does not fit, and says so.

    Errors: TypeError for what is no function or no path (which comes before the arguments), ValueError for a Profile of
    another function, OSError where the file cannot be written, which is then as it was; what `inlay.profile` raises.

    >>> double = inlay.compile('''graph @main(%x: f64[n]) {
    ...   %y = add %x, %x
    ...   return %y
    ... }''')
    >>> inlay.report(double, "report.html", np.ones(1000))
    """
    made = made_of(fn)
    if path is not None and not isinstance(path, str | os.PathLike):
        raise TypeError(
            f"inlay.report takes the path of a file, or None, before the function's arguments, not {a_kind(path)}"
        )
    if len(args) == 1 and isinstance(args[0], Profile) and not kwargs:
        measured = args[0]
    else:
        measured = profile(fn, *args, **kwargs) if args or kwargs else None
    e = _explained(fn, measured)
    if measured is not None and not _is_of(measured, made.name, e):
        raise ValueError(f"this Profile is not of {made.name}, but of {measured.name}")
    return pages.written(page_of(made.name, e, measured), path)


def _is_of(p, name, e):
    """Of two functions with one name the steps tell: with clocks a function may have others, but not all of them."""
    made, measured = ({formula for step in steps for formula in step.computes} for steps in (e.steps, p.rows))
    return p.name == name and (made == measured or not made.isdisjoint(measured))


def _explained(fn, measured):
    """With the memory that it has at the sizes of the arguments, where these say all of them."""
    if measured is None or not measured.sizes:
        return explain(fn)
    try:
        return explain(fn, sizes=measured.sizes)
    except errors.InlayError:
        return explain(fn)
