"""How many threads of this process inlay's functions may use together."""

from . import _inlay
from .choices import a_kind


def set_threads(count):
    """No call of a function for several threads is given a further one where that would make more than `count` that run
    such functions at the same time, those that call them among them. How many a function uses is `threads=` of
    `inlay.compile`, of `inlay.pytensor.mode` or of a call.

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
