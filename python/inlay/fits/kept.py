"""Finished fits in a folder, for a run that goes on where another ended.

One file, to which each fit is added as a record of its own with a checksum: ten thousand fits are not ten thousand
files, and what a kill leaves half written is cut off. A record is taken for a fit with the same key: the hash of the
functions, the settings and the data set. No pickles: the file is data.
"""

import contextlib
import hashlib
import json
import os
import struct
import weakref
from pathlib import Path

import numpy as np

from . import versions
from .disk import written
from .fit import Row

try:
    import fcntl
except ImportError:  # Windows: nobody is kept from running twice
    fcntl = None

NAME = "fits.inlay"
_MAGIC = b"inlay fits 1\n"
_HEAD = struct.Struct("<Q32s")  # the length of a record, and its SHA-256


class Kept:
    """The fits in a folder, open for more. To be closed.

    Errors: ValueError where the file is something else; BlockingIOError where another run has it; OSError where it cannot
    be written.
    """

    def __init__(self, folder, work):
        self._work = _work_key(work)
        self._path = Path(folder) / NAME
        with written("resume", self._path):
            Path(folder).mkdir(parents=True, exist_ok=True)
            self._file = open(self._path, "a+b")  # noqa: SIM115
        _open.add(self)
        try:
            self._lock()
            self._places, self._end = _places(self._file, self._path)
            self._file.truncate(self._end)
            if not self._end:
                self._write(_MAGIC)
        except BaseException:
            self._close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self._close()

    def _close(self):
        _open.discard(self)
        with contextlib.suppress(OSError, ValueError):  # each record was written; and it may be closed
            if fcntl is not None:
                fcntl.flock(self._file, fcntl.LOCK_UN)  # a child that was forked meanwhile may have the file open too
            self._file.close()

    def leave_to_parent(self):
        """In a child by fork, which has the open file too, and with it the lock: what its file object still does goes nowhere."""
        nowhere = os.open(os.devnull, os.O_RDWR)
        with contextlib.suppress(OSError, ValueError):  # it is closed
            os.dup2(nowhere, self._file.fileno(), inheritable=False)
        os.close(nowhere)

    def _lock(self):
        if fcntl is None:
            return
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BlockingIOError(f"resume: another run keeps its fits in {self._path.parent}") from None

    def key(self, number, given):
        """None for a data set that no bytes tell from others: its fit is not kept."""
        key = hashlib.sha256(f"{self._work} {number}".encode())
        contents = _contents(given)
        if contents is None:
            return None
        for name, array in contents:
            key.update(f"{name} {array.dtype.str} {array.shape} ".encode())
            key.update(array.tobytes())
        return key.hexdigest()

    def get(self, key):
        """The row that is kept under this key, or None."""
        place = self._places.get(key)
        if place is None:
            return None
        self._file.seek(place)
        return _row(_record(self._file))

    def put(self, key, row):
        """Errors: OSError, as of a full disk; the fits before this one stay."""
        body = _body(key, row)
        place = self._end
        self._write(_HEAD.pack(len(body), hashlib.sha256(body).digest()) + body)
        self._places[key] = place

    def _write(self, data):
        with written("resume", self._path):
            try:
                self._file.seek(0, os.SEEK_END)
                self._file.write(data)
                self._file.flush()
            except OSError:
                self._drop_half_a_record()
                raise
        self._end += len(data)

    def _drop_half_a_record(self):
        """What the file still buffers must not be written later."""
        raw = os.dup(self._file.fileno())
        with contextlib.suppress(OSError):
            self._file.close()
        os.ftruncate(raw, self._end)
        self._file = os.fdopen(raw, "a+b")


_open = weakref.WeakSet()


def _leave_all_to_parent():
    for kept in list(_open):
        kept.leave_to_parent()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_all_to_parent)


def _work_key(work):
    settings = {
        "functions": work.functions.content(),
        "seed": str(work.seed),
        "method": repr(work.method),
        "versions": versions.of(work.method),
        "summaries": work.summaries,
        "keep": work.keep,
        "reductions": [reduction.identity for reduction in work.reductions],
        "predict_at": work.predict_at and work.predict_at.identity,
    }
    if work.initvals is not None:
        settings["initvals"] = work.initvals.at.identity
    return hashlib.sha256(json.dumps(settings).encode()).hexdigest()


def _contents(given):
    """Arrays by name; None where one is no array of plain values, as of a ragged list, or hides some of them."""
    if not hasattr(given, "items"):
        return [("", np.array(repr(given)))]
    try:
        contents = [(str(name), np.asanyarray(value)) for name, value in sorted(given.items(), key=lambda item: str(item[0]))]
    except Exception:  # noqa: BLE001  (whatever an object's own code raises)
        return None
    return None if any(array.dtype.hasobject or np.ma.is_masked(array) for _, array in contents) else contents


def _places(file, path):
    """Where each whole record lies, by key, and the end of the last one."""
    file.seek(0)
    magic = file.read(len(_MAGIC))
    if not _MAGIC.startswith(magic):
        raise ValueError(f"resume: {path} holds no fits")
    if magic != _MAGIC:
        return {}, 0
    places, end = {}, file.tell()
    while (record := _record(file)) is not None:
        places[json.loads(record.partition(b"\n")[0])["key"]] = end
        end = file.tell()
    return places, end


def _record(file):
    """The record that begins here; None of half a one, or one that is damaged."""
    head = file.read(_HEAD.size)
    if len(head) < _HEAD.size:
        return None
    length, digest = _HEAD.unpack(head)
    if length > os.fstat(file.fileno()).st_size:
        return None
    body = file.read(length)
    return body if len(body) == length and hashlib.sha256(body).digest() == digest else None


def _body(key, row):
    layout, data = row.packed
    head = {"key": key, "number": row.number, "divergences": row.divergences, "seconds": row.seconds, "arrays": layout}
    return json.dumps(head).encode() + b"\n" + data


def _row(record):
    head, _, data = record.partition(b"\n")
    head = json.loads(head)
    layout = tuple((name, dtype, tuple(shape)) for name, dtype, shape in head["arrays"])
    return Row(head["number"], "", head["divergences"], head["seconds"], (layout, data))
