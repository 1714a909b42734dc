"""Forks, as multiprocessing makes them, while other threads call and compile: the children do both."""

import os
import signal
import threading
import time

import inlay
import numpy as np
import pytest

PATIENCE = 20  # seconds, after which a child hangs
TEXT = """graph @main(%x: f64[n, n]) {
  %a = matmul %x, %x
  %b = matmul %a, %x
  %c = matmul %b, %a
  %e = exp %c
  return %e
}"""

pytestmark = [pytest.mark.fork, pytest.mark.filterwarnings("ignore:This process .* is multi-threaded")]


def seconds():
    return float(os.environ.get("INLAY_FUZZ_SECONDS", 1))


def status_of_child(work):
    """0: `work` returned True; None: the child hung."""
    child = os.fork()
    if child == 0:
        status = 2
        try:
            status = 0 if work() else 1
        finally:
            os._exit(status)
    for _ in range(PATIENCE * 1000):
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return status
        time.sleep(0.001)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def fork_beside(num_threads, work, body):
    done = threading.Event()

    def run():
        while not done.is_set():
            work()

    threads = [threading.Thread(target=run) for _ in range(num_threads)]
    for thread in threads:
        thread.start()
    try:
        statuses, end = [], time.monotonic() + seconds()
        while not statuses or (time.monotonic() < end and statuses[-1] == 0):
            statuses.append(status_of_child(body))
    finally:
        done.set()
        for thread in threads:
            thread.join()
    assert statuses == [0] * len(statuses)


SUMS = """graph @main(%x: f64[n]) {
  %e = exp %x
  %s = reduce add %e [0] : f64
  return %e, %s
}"""


def is_right(f, n):
    return f(np.zeros((n, n))).tolist() == np.ones((n, n)).tolist()


def test_children_call():
    """Of matrices so large that the threads run beside each other, without the GIL."""
    f = inlay.compile(TEXT)
    sizes = iter(range(10**9))
    fork_beside(4, lambda: f(np.zeros((40 + next(sizes) % 5,) * 2)), lambda: all(is_right(f, n) for n in range(40, 48)))


def test_children_call_on_threads():
    """Whatever the pool of their parent does: its threads run blocks, or are about to."""
    before = inlay.get_threads()
    inlay.set_threads(6)
    try:
        f = inlay.compile(SUMS, threads=3)
        x = np.linspace(-1, 1, 100_000)
        expected = [array.tobytes() for array in f(x)]
        fork_beside(2, lambda: f(x), lambda: all([array.tobytes() for array in f(x)] == expected for _ in range(5)))
    finally:
        inlay.set_threads(before)


@pytest.mark.parametrize("backend", ["llvm", "c"])
def test_children_compile(backend, monkeypatch):
    monkeypatch.setenv("INLAY_BACKEND", backend)
    fork_beside(2, lambda: inlay.compile(TEXT), lambda: is_right(inlay.compile(TEXT), 3))


def test_children_compile_with_a_planner_of_python():
    """A planner takes the GIL, which whoever forks has."""

    def planner(storages):
        offsets, end = [], 0
        for storage in storages:
            offsets.append(end)
            end += -(-storage.size // 64) * 64
        return offsets

    def call():
        return inlay.compile(TEXT, planner=planner)

    fork_beside(2, lambda: is_right(call(), 2), lambda: is_right(call(), 3))
