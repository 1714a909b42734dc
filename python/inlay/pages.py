"""Pages of HTML: as text that a notebook shows, and as files that are replaced at once."""

import os
import shutil
from pathlib import Path

from . import notebook


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
    _write(Path(os.fspath(path)), html)
    return None


def _write(file, text):
    """Into a file beside it, which takes its name when it is whole: a full disk costs nobody what was there. What no
    file can be put in the place of is written to as it is."""
    replaced = file.resolve()
    part = replaced.with_name(f"{replaced.name}.{os.getpid()}.part")
    try:
        out = None if replaced.exists() and not replaced.is_file() else part.open("w", encoding="utf-8")
    except OSError:
        out = None  # a folder of others, or none: it is for the file to say
    if out is None:
        file.write_text(text, encoding="utf-8")
        return
    try:
        with out:
            out.write(text)
        if replaced.exists():
            shutil.copymode(replaced, part)
        part.replace(replaced)
    except OSError as failure:
        part.unlink(missing_ok=True)
        raise OSError(failure.errno, failure.strerror, os.fspath(file)) from None
