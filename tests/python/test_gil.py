"""Which calls give up the GIL: those that may be long, as far as is known when they begin."""

import sys
import threading
import time

import inlay
import numpy as np
import pytest

STEPS = """
graph @main(%x: f64[n], %k: i64) {
  %c = as_size %k : k
  %r = loop %i < k carry (%v = %x) {
    %e = sin %v
    return %e
  }
  return %r
}
"""
OUTER = """
graph @main(%x: f64[n], %y: f64[m]) {
  %c = reshape %x : f64[n, 1]
  %p = mul %c, %y
  %e = sin %p
  %s = reduce add %e [0, 1] : f64
  return %s
}
"""


@pytest.fixture
def others_ran():
    """Says whether another thread ran Python during the call. It asks for the GIL all the time, and a thread that keeps
    it is asked for it in no reasonable time."""
    turns, is_done = [0], threading.Event()

    def take_turns():
        while not is_done.is_set():
            turns[0] += 1
            time.sleep(1e-4)

    thread = threading.Thread(target=take_turns)
    before = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    thread.start()

    def ran(call, times=5):
        """In one of a few calls: a machine with more to do may let none of them run in time."""
        first = turns[0]
        for _ in range(times):
            call()
        return turns[0] > first

    yield ran
    is_done.set()
    thread.join()
    sys.setswitchinterval(before)


def until_short(others_ran, call):
    """A busy machine may take a while for a short call, which is trusted only where it was quick once."""
    for _ in range(2000):
        call()
    assert not all(others_ran(call, 1) for _ in range(50))


def test_the_first_call_is_not_trusted(others_ran):
    new = iter([inlay.compile(STEPS) for _ in range(5)])  # compiling gives up the GIL
    x = np.ones(100_000)  # and so does NumPy
    assert others_ran(lambda: next(new)(x, 100))


@pytest.mark.parametrize("steps, length", [(3, 1_000_000), (2_000_000, 3)], ids=["longer arrays", "more steps"])
def test_a_call_beyond_the_short_ones_gives_up_the_gil(steps, length, others_ran):
    fn = inlay.compile(STEPS)
    until_short(others_ran, lambda: fn(np.ones(3), 3))
    x = np.ones(length)
    assert others_ran(lambda: fn(x, steps))
    until_short(others_ran, lambda: fn(np.ones(3), 3))


def test_sizes_that_were_large_one_at_a_time(others_ran):
    fn = inlay.compile(OUTER)
    row, many = np.ones(1), np.ones(3000)
    until_short(others_ran, lambda: (fn(many, row), fn(row, many)))
    assert others_ran(lambda: fn(many, many))


@pytest.mark.parametrize("times, steps", [(64, 1e5), (1, 2e8)], ids=["64 calls of some us", "one call of a tenth of a second"])
def test_a_loop_that_ends_by_itself_is_noticed(times, steps, others_ran):
    """Nothing tells before how long it takes: some of the calls that were long have kept the GIL."""
    fn = inlay.compile(
        """graph @main(%x: f64) {
  %most = literal 1000000000000 : i64
  %k = as_size %most : k
  %one = literal 1.0 : f64
  %r = loop %i < k carry (%v = %x) with (%d = %one) {
    %e = sub %v, %d
    %zero = literal 0.0 : f64
    %on = gt %e, %zero
    return %e while %on
  }
  return %r
}"""
    )
    until_short(others_ran, lambda: fn(3.0))
    for _ in range(times):
        fn(steps)
    assert others_ran(lambda: fn(1e7))


def test_a_number_of_steps_in_an_array(others_ran):
    text = STEPS.replace("%k: i64", "%k: i64[1]").replace("as_size %k", "as_size %one").replace("{\n", "{\n  %one = reshape %k : i64[]\n", 1)
    fn = inlay.compile(text)
    until_short(others_ran, lambda: fn(np.ones(3), np.array([3])))
    assert others_ran(lambda: fn(np.ones(3), np.array([2_000_000])))


def test_an_array_without_elements_is_no_number_of_steps():
    fn = inlay.compile("graph @main(%k: i64[1]) {\n  %r = neg %k\n  return %r\n}")
    with pytest.raises(ValueError, match="k"):
        fn(np.empty(0, np.int64))
