"""Rows that go to a store on disk as they come: here stay the few that are not written yet.

A store takes rows (`write`), is complete after `finish`, and is read as what `opened` returns.
"""

import importlib
import os
import time
from pathlib import Path

from ..choices import a_kind
from .disk import written
from .table import refuse_another_rank

# So many rows, or bytes of results, are gathered at most.
MOST_ROWS = 1000
MOST_BYTES = 32 << 20

# After a write the next one waits so long, in seconds, and so many times what it took: 5 % of the time at most.
_WAIT = 1.0
_WAIT_OF_WRITE = 20

# By the suffix of a path: the package that it needs, and the class of its store.
_STORES = {".parquet": ("pyarrow", "ParquetStore"), ".zarr": ("zarr", "ZarrStore")}


def refuse_path(to, as_datatree):
    """Errors: TypeError, ValueError, FileExistsError, FileNotFoundError for a path that no store can have, or whose store
    is read as no DataTree; ImportError where its package is not installed."""
    if not isinstance(to, str | os.PathLike):
        raise TypeError(f"to= takes a path, not {a_kind(to)}")
    path = Path(to)
    if path.suffix not in _STORES:
        raise ValueError(f"to: {path} ends neither in .parquet nor in .zarr")
    if as_datatree and path.suffix == ".parquet":
        raise ValueError("as_datatree: fits in .parquet are a table of rows, and no DataTree: write to .zarr")
    if os.path.lexists(path):
        raise FileExistsError(f"to: {path} exists, and is not written over")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"to: there is no folder {path.parent}")
    package, _ = _STORES[path.suffix]
    try:
        importlib.import_module(package)
    except ImportError as error:
        raise ImportError(f"to: a path that ends in {path.suffix} needs {package}: pip install {package}") from error


class Stream:
    """`labels`: of the data sets, a list that grows with them, or None; `coords`: as in `coords_of`, which grow too. Makes
    the store.

    Errors: ValueError where the store cannot have a result's name; OSError where it cannot be written.
    """

    def __init__(self, to, work, labels, coords=None):
        path = Path(to)
        module = importlib.import_module(f"{__package__}.{path.suffix[1:]}_store")
        self._path = path
        with written("to", path):
            self._store = getattr(module, _STORES[path.suffix][1])(path, work, labels, coords)
        self._pending, self._bytes, self._ranks, self._next = [], 0, {}, 0.0
        self.done = 0  # rows that are written, of fits that did not fail

    def put(self, row):
        """Errors: OSError, as of a full disk; what was written before stays."""
        refuse_another_rank(row, self._ranks)
        row.reason = text(row.reason)
        self._pending.append(row)
        self._bytes += len(row.packed[1])
        is_full = len(self._pending) >= MOST_ROWS or self._bytes >= MOST_BYTES
        if is_full or time.monotonic() >= self._next:
            self._write()

    def finish(self, count):
        """Of `count` rows those that did not come were not done. Errors: OSError."""
        if self._pending:
            self._write()
        with written("to", self._path):
            self._store.finish(count)

    def opened(self):
        return self._store.opened()

    def _write(self):
        begin = time.monotonic()
        with written("to", self._path):
            self._store.write(sorted(self._pending, key=lambda row: row.number))
        done = self.done + sum(row.reason == "" for row in self._pending)
        self._pending, self._bytes, self.done = [], 0, done
        end = time.monotonic()
        self._next = end + max(_WAIT, _WAIT_OF_WRITE * (end - begin))


def text(x):
    """As what UTF-8 can hold."""
    return str(x).encode(errors="replace").decode()
