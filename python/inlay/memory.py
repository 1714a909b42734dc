"""The picture of a function's memory over time."""

import os
from pathlib import Path

from . import notebook
from .functions import made_of


class Page(str):
    """The text of a page of HTML, which a notebook shows as one."""

    def _repr_html_(self):
        return notebook.page_html(self)

    def _repr_pretty_(self, printer, cycle):
        printer.text(f"<a page of HTML, {len(self)} characters: inlay.memory_page(f, path) writes it to a file>")


def memory_page(fn, path=None, *, sizes=None, title=None):
    """Write a picture of `fn`'s memory over time into the file `path`, a page of HTML for a browser and for paper;
    without a path return its text, which is the picture where it is the last line of a notebook's cell.

    `fn`: what `inlay.compile` returned, or a PyTensor function that inlay compiled, also as PyMC or nutpie wraps it.
    `sizes`: for the sizes of the program, by name, a number, where its working memory depends on them. `title`: of the
    page; the function's name is used where there is none.

    Errors: TypeError for another function, InlayError where a size is missing.
    """
    made = made_of(fn)
    html = made.program.memory_page(title or made.name, sizes)
    if path is None:
        return Page(html)
    Path(os.fspath(path)).write_text(html, encoding="utf-8")
    return None
