"""One CPU for a task of short fits.

A fit of milliseconds is a few threads of nutpie's that run one after the other. The system moves them from CPU to CPU,
and each time a CPU has to wake up, and its caches are cold. On one CPU a fit takes a fifth less, and workers do not
get in each other's way.

Workers that share a machine do not choose the same CPU: one is claimed by a lock on a file, which ends with the
process that has it.
"""

import contextlib
import ctypes
import os
import stat
import tempfile
import threading
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows: fits run where the system has them
    fcntl = None

_sched_getcpu = getattr(ctypes.CDLL(None), "sched_getcpu", None) if fcntl is not None else None


_of_thread = threading.local()  # `cpu`: what this thread has claimed


@contextlib.contextmanager
def claimed():
    """The number of a CPU that is this thread's within the block; None: there is none to be had."""
    lock, cpu = _claim()
    _of_thread.cpu = cpu
    try:
        yield cpu
    finally:
        _of_thread.cpu = None
        if lock is not None:
            with contextlib.suppress(OSError):
                fcntl.flock(lock, fcntl.LOCK_UN)  # a child that was forked meanwhile has the file open too
            os.close(lock)


@contextlib.contextmanager
def on_claimed():
    """This thread, and those that it starts, run on the CPU that it has claimed within the block; without one, on any."""
    cpu = getattr(_of_thread, "cpu", None)
    allowed = None if cpu is None else _moved_to({cpu})
    try:
        yield
    finally:
        if allowed is not None:
            _moved_to(allowed)


def _moved_to(cpus):
    """Where this thread might run before; None where it stays, as when the CPU was taken from the process."""
    before = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, cpus)
    except OSError:
        return None
    return before


def _claim():
    """The descriptor of a locked file and the CPU, or None and None."""
    if _sched_getcpu is None or not hasattr(os, "sched_setaffinity"):
        return None, None
    try:
        folder = _folder()
    except OSError:  # a full disk, or a folder of somebody else's
        return None, None
    here = _sched_getcpu()  # the system had a reason for it
    for cpu in sorted(os.sched_getaffinity(0), key=lambda cpu: (cpu != here, cpu)):
        lock = _locked(folder / str(cpu))
        if lock is not None:
            return lock, cpu
    return None, None


def _folder():
    """Of this user alone. Errors: OSError where somebody else made what has its name."""
    folder = Path(tempfile.gettempdir()) / f"inlay-cpus-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o022:
        raise OSError(f"{folder} is not this user's")
    return folder


def _locked(path):
    """A descriptor of this file, locked, or None."""
    try:
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    except OSError:
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:  # another worker has it, or this file system has no locks
        os.close(file)
        return None
    return file
