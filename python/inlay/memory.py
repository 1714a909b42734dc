"""The picture of a function's memory over time."""

from . import _inlay, pages
from .functions import made_of
from .hypertext import plain
from .plan import Plan


def memory_page(fn, path=None, *, sizes=None, title=None):
    """Write a picture of `fn`'s memory over time into the file `path`, a page of HTML for a browser and for paper;
    without a path return its text, which is the picture where it is the last line of a notebook's cell.

    `fn`: what `inlay.compile` returned, a PyTensor function that inlay compiled, also as PyMC or nutpie wraps it, or a
    `Plan` of buffers by themselves.
    `sizes`: for the sizes of the program, by name, a number, where its working memory depends on them. `title`: of the
    page; the function's name is used where there is none.

    Errors: TypeError for another function, InlayError where a size is missing, OSError where the file cannot be written,
    which is then as it was.
    """
    if isinstance(fn, Plan):
        return pages.written(page_of_plan(fn, title or "plan"), path)
    made = made_of(fn)
    return pages.written(made.program.memory_page(plain(title or made.name), sizes), path)


def page_of_plan(plan, title, lists=()):
    """One pool above the other. `lists`: what is said below it, as headings with their lines."""
    begin, bytes = {}, 0
    for pool in plan.pools:
        begin[pool.name], bytes = bytes, bytes + pool.peak
    lives = [(s.lower, s.upper) for s in plan.storages]
    if any(s.entry for s in plan.storages):  # entry points follow each other
        lives = _inlay.buffer_lives([(s.entry or "", s.lower, s.upper) for s in plan.storages])
    rows = [
        (s.name, s.size, lower, upper, begin.get(s.pool, 0) + s.offset, s.base or s.name, _reason(s, plan))
        for s, (lower, upper) in zip(plan.storages, lives, strict=True)
        if lower < upper
    ]
    lists = [(plain(heading), [plain(line) for line in lines]) for heading, lines in lists if lines]
    return _inlay.buffers_page(plain(title), rows, plan.peak, plan.lower_bound, lists)


def _reason(storage, plan):
    if storage.reason or storage.base is None:
        return storage.reason or (f"lies in {storage.pool}" if len(plan.pools) > 1 else "")
    return f"lies in {storage.base}"
