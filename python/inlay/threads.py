"""How many threads of this process inlay's functions may use together."""

from . import _inlay


def set_threads(count):
    """No call of a function for several threads is given a further one where that would make more than `count` that run
    such functions at the same time, those that call them among them. How many a function uses is `threads=` of
    `inlay.compile`, of `inlay.pytensor.mode` or of a call.

    At first it is INLAY_THREADS, or as many as the process may run at once, by its CPUs and its control groups: also
    where INLAY_THREADS is no number of 1 or more.

    Raises TypeError for what is no int, ValueError for fewer than 1.
    """
    _inlay.set_max_threads(_inlay.thread_count("inlay.set_threads", count))


def get_threads():
    """How many threads of this process may run inlay's functions at the same time."""
    return _inlay.max_threads()
