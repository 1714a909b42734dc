"""What `inlay._inlay` says of arguments that do not fit: no door gives them, but none may end the process."""

import subprocess
import sys

import inlay
import numpy as np
import pytest
from inlay import _inlay, errors

THREADS_THAT_DRAW = """
import sys, threading
from inlay import _inlay
assert "numpy.random._generator" not in sys.modules
sys.setswitchinterval(1e-6)
begin = threading.Barrier(4)
def look_up():
    begin.wait()
    assert _inlay.draw("normal", 0, None, [1, 2], "f64", None) is not None
threads = [threading.Thread(target=look_up, daemon=True) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""
CALLS = 'graph @main(%x: f64[n]) {\n %y = host_call "f" (%x) : f64[n]\n return %y\n}'


def test_threads_that_import_the_samplers_do_not_wait_for_each_other():
    subprocess.run([sys.executable, "-c", THREADS_THAT_DRAW], check=True, timeout=120)


def test_a_program_without_what_it_needs_is_not_made():
    message = 'host call "f": no host function 0 was given'
    data = _inlay.compile(_inlay.parse(CALLS), [], [np.exp]).save({})
    with pytest.raises(errors.UnknownName, match=message):
        _inlay.read_function(data, "n").program([], [])
    with pytest.raises(errors.UnknownName, match=message):
        _inlay.compile(_inlay.parse(CALLS))
    with pytest.raises(errors.UnknownName, match=message):  # for which the planner does not stand in
        _inlay.compile(_inlay.parse(CALLS), [], [], {"planner": lambda storages: [0 for _ in storages]})
    bound = _inlay.parse("graph @main(%x: f64[n] bound) {\n %y = exp %x\n return %y\n}")
    with pytest.raises(errors.WrongArgumentCount, match="no array for the bound parameter %x"):
        _inlay.compile(bound)
