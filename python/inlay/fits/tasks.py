"""What is sent to a worker, and what the worker does with it.

A task names the work of all fits by its hash. A process that has it takes it from there; another reads it from a file
that the task names; one that does not see this file says so, and gets the task once more with the work in it.
"""

import contextlib
import hashlib
import io
import os
import pickle
import platform
import threading
from collections import OrderedDict
from dataclasses import dataclass, replace

from . import one_cpu, versions
from .fit import fit

MISSING = "missing"  # what a worker returns that has not the work


class OtherVersions(RuntimeError):
    """A worker has other versions than the first process, and its draws would differ unnoticed."""


# A worker that lives on keeps the last ones only.
_MOST_KNOWN = 4

_known = OrderedDict()  # by hash: the Work
_runs = {}  # those of this process by number: the Work, and the event that stops its fits here
_lock = threading.Lock()


@dataclass(frozen=True)
class Ticket:
    """The work of all fits, by its hash and by the run that it is of, and where its bytes are."""

    hash: str
    run: str
    path: str | None = None
    data: bytes | None = None

    def with_data(self, data):
        """`data`: the bytes, or None."""
        return replace(self, path=None, data=data)


@dataclass(frozen=True)
class Task:
    """Fits that go to a worker together."""

    batch: tuple  # of (number, data set)
    ticket: Ticket
    lost: int = 0  # how often its worker was lost: from the first time on it is done alone

    def singles(self, lost=0):
        return [replace(self, batch=(one,), lost=lost) for one in self.batch]

    def with_data(self, data):
        return replace(self, ticket=self.ticket.with_data(data))

    def without_data(self):
        return self.with_data(None)


def packed(work):
    """The bytes of some work and their hash. The versions come first: what another version can unpickle nobody knows."""
    data = pickle.dumps(versions.of(work.method), protocol=5) + pickle.dumps(work, protocol=5)
    return data, hashlib.sha256(data).hexdigest()


def begin(run, work, stop):
    """This process has the work of a run, until its `end`."""
    _runs[run] = work, stop


def end(run):
    _runs.pop(run, None)


def do(task, data=None):
    """The rows of a task, MISSING, or an OtherVersions. This is what an executor calls. `data`: the work, where it was sent
    apart from its tasks."""
    try:
        found = _found(task.ticket, data)
    except OtherVersions as error:
        return error
    if found is None:
        return MISSING
    work, stop = found
    # A long fit is alone in its batch: it stays free to leave a CPU that something else takes.
    with one_cpu.claimed() if len(task.batch) > 1 else contextlib.nullcontext():
        return [fit(work, number, given, stop) for number, given in task.batch]


def _found(ticket, data):
    """Errors: OtherVersions."""
    found = _runs.get(ticket.run)
    if found is not None:
        return found
    with _lock:
        if ticket.hash in _known:
            return _known[ticket.hash], None
    if data is None:
        data = ticket.data if ticket.data is not None else _read(ticket.path)
    if data is None or hashlib.sha256(data).hexdigest() != ticket.hash:
        return None
    stream = io.BytesIO(data)
    other = versions.other_here(pickle.load(stream))
    if other:
        here = f"a worker (process {os.getpid()} of {platform.node()})"
        raise OtherVersions(f"{here} has other versions than the first process: {other}")
    work = pickle.load(stream)
    with _lock:
        _known[ticket.hash] = work
        while len(_known) > _MOST_KNOWN:
            _known.popitem(last=False)
    return work, None


def _read(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except (OSError, TypeError):  # another machine, or no path
        return None
