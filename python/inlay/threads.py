"""How many threads of this process inlay's functions may use together."""

from . import _inlay
from .choices import a_kind


def set_threads(count):
    """No more than `count` threads of this process run inlay's functions at the same time, those that call them among
    them. It says how many there are, not how many a function uses: that is `threads=` of `inlay.compile`, of
    `inlay.pytensor.mode` or of a call.

    At first it is INLAY_THREADS, or as many as the process may run at once, by its CPUs and its control group.

    Raises TypeError for what is no int, ValueError for fewer than 1.
    """
    if isinstance(count, bool) or not isinstance(count, int):
        raise TypeError(f"inlay.set_threads takes a number of threads, not {a_kind(count)}")
    if count < 1:
        raise ValueError(f"inlay.set_threads takes a number of 1 at least, not {count}")
    _inlay.set_max_threads(min(count, 1 << 16))


def get_threads():
    """How many threads of this process may run inlay's functions at the same time."""
    return _inlay.max_threads()
