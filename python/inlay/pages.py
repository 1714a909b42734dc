"""Pages of HTML: as text that a notebook shows, and as files that are replaced at once."""

import os

from . import files, notebook


class Page(str):
    """The text of a page of HTML, which a notebook shows as one."""

    def _repr_html_(self):
        return notebook.page_html(self)

    def _repr_pretty_(self, printer, cycle):
        printer.text(f"<a page of HTML, {len(self)} characters: given a path, inlay writes it to a file>")


def written(html, path):
    """Nothing, and the file is written; without a path the Page."""
    if path is None:
        return Page(html)
    files.write_whole(os.fspath(path), html.encode())
    return None
