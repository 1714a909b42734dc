"""What a call costs: CPU time, the least of several rounds, so that a busy machine disturbs little."""

import ctypes
import functools
import pathlib
import shutil
import subprocess
import tempfile
import time

import numpy as np

ROUND_SECONDS = 0.02
ROUNDS = 15

# The loop stands in C: a call of a C pointer through ctypes costs more than what is to be measured.
POINTER_LOOP = """
#include <stddef.h>
typedef int (*function)(size_t, const double *, double *, double *, const void *);
int repeat(function f, size_t times, size_t dim, const double *x, double *grad, double *logp) {
  int status = 0;
  for (size_t i = 0; i < times; i++) status |= f(dim, x, grad, logp, 0);
  return status;
}
"""


def minimum_seconds(run, clock=time.thread_time):
    """Seconds of one of the `times` steps of run(times)."""
    def seconds(times):
        started = clock()
        run(times)
        return clock() - started

    times = 1
    while seconds(times) < ROUND_SECONDS:
        times *= 2
    return min(seconds(times) for _ in range(ROUNDS)) / times


def microseconds_per_call(function, *arguments, clock=time.thread_time):
    """Of this thread, or of all threads of the process with `clock=time.process_time`."""
    def run(times):
        for _ in range(times):
            function(*arguments)

    return 1e6 * minimum_seconds(run, clock)


@functools.cache
def pointer_loop():
    compiler = shutil.which("cc") or shutil.which("clang-19")
    with tempfile.TemporaryDirectory() as folder:
        source, library = pathlib.Path(folder, "repeat.c"), pathlib.Path(folder, "repeat.so")
        source.write_text(POINTER_LOOP)
        subprocess.run([compiler, "-O1", "-shared", "-fPIC", source, "-o", library], check=True)
        repeat = ctypes.CDLL(str(library)).repeat
    repeat.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t, *[ctypes.c_void_p] * 3]
    return repeat


def microseconds_per_pointer_call(pointer, point):
    """Of `int f(size_t dim, const double *x, double *grad, double *logp, const void *user_data)`."""
    gradient, logp = np.empty_like(point), np.empty(1)

    def run(times):
        arrays = [array.ctypes.data for array in (point, gradient, logp)]
        status = pointer_loop()(pointer.address, times, point.size, *arrays)
        assert status == 0, f"the C function returned {status}"

    return 1e6 * minimum_seconds(run)
