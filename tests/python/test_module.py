"""The extension module itself: nothing leaks at exit."""

import subprocess
import sys

HOST_CALL = '''
import gc, weakref
import numpy as np
from inlay import _inlay

TEXT = """graph @main(%x: f64[n]) {
  %h = host_call "twice" (%x) : f64[n]
  %y = neg %h
  return %y
}"""


class Twice:
    """A host function that refers to what calls it."""

    def __call__(self, x):
        return (x * 2,)


def make():
    twice = Twice()
    program = _inlay.compile(_inlay.parse(TEXT, "t"), [], [twice])
    twice.program, twice.function = program, program.function()
    assert twice.function(np.ones(2)).tolist() == [-2, -2]
    return twice
'''


def run(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stderr


def test_nothing_leaks_that_is_alive_at_exit():
    assert "leaked" not in run(HOST_CALL + "kept = make()\nfunction = kept.function\n")


def test_the_collector_sees_cycles_through_host_functions():
    code = HOST_CALL + "gone = weakref.ref(make())\ngc.collect()\nassert gone() is None\n"
    assert "leaked" not in run(code)


def test_nothing_leaks_under_pytensor():
    code = """
import numpy as np, pytensor, pytensor.tensor as pt, inlay.pytensor
x = pt.dvector("x")
fn = pytensor.function([x], [pt.exp(x), pt.sort(x)], mode="INLAY")
fn(np.ones(3))
copy = fn.copy()
try:
    fn(np.ones((3, 3)))
except TypeError as error:
    kept = error
flat = inlay.pytensor.c_function(pytensor.function([x], [x.sum(), x * 2], mode="INLAY"))
"""
    assert "leaked" not in run(code)
