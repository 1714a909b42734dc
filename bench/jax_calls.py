"""What a call of a compiled function costs in JAX, over its C pointer.

    python bench/jax_calls.py [--json]

JAX: one jitted `lax.fori_loop` whose every pass calls the function at a point that depends on the last result, so that
no call can be left out. C: a loop of a C program's that does the same with the pointer (`inlay.pytensor.c_function`). Both
run on one core. Shown are nanoseconds per pass, CPU time of the process: the least of several runs, taken in turn, and
the median of the differences of neighbours.
"""

import ctypes
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import jax
import numpy as np
import pytensor
import pytensor.tensor as pt

import inlay.jax
import inlay.pytensor

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "python"))
import models

LOOP = r"""
#include <stddef.h>
typedef int Function(size_t, const double *, double *, double *, const void *);
double loop(Function *f, size_t n, double *x, double *gradient, long count) {
  double value = 0;
  for (long i = 0; i < count; ++i) {
    if (f(n, x, gradient, &value, 0) < 0) return 1 / value;
    x[0] += 1e-12 * gradient[0];
  }
  return value;
}
"""


def small():
    x = pt.tensor("x", shape=(4,), dtype="float64")
    return pytensor.function([x], [-(x**2).sum() / 2, -x], mode="INLAY")


def c_loop(folder):
    source, library = folder / "loop.c", folder / "loop.so"
    source.write_text(LOOP)
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", library, source], check=True)
    loop = ctypes.CDLL(str(library)).loop
    loop.restype = ctypes.c_double
    return loop


def in_c(loop, fn, x, count):
    c = inlay.pytensor.c_function(fn)
    x, gradient = x.copy(), np.empty_like(x)
    doubles = ctypes.POINTER(ctypes.c_double)
    addresses = (each.ctypes.data_as(doubles) for each in (x, gradient))
    arguments = (ctypes.c_void_p(c.address), ctypes.c_size_t(x.size), *addresses, ctypes.c_long(count))

    def run(keep=(c, x, gradient)):
        loop(*arguments)

    return run


def in_jax(fn, x, count):
    value_and_gradient = inlay.jax.as_jax(fn)

    def step(_, x):
        _, gradient = value_and_gradient(x)
        return x.at[0].add(1e-12 * gradient[0])

    loop = jax.jit(lambda x: jax.lax.fori_loop(0, count, step, x)).lower(x).compile()
    x = jax.numpy.asarray(x)
    return lambda: loop(x).block_until_ready()


def empty_in_jax(x, count):
    loop = jax.jit(lambda x: jax.lax.fori_loop(0, count, lambda _, x: x.at[0].add(1e-12 * x[1]), x)).lower(x).compile()
    x = jax.numpy.asarray(x)
    return lambda: loop(x).block_until_ready()


def nanoseconds(runs, count, rounds=15):
    for run in runs:
        run()
    times = [[] for _ in runs]
    for _ in range(rounds):
        for run, found in zip(runs, times, strict=True):
            start = time.process_time()
            run()
            found.append((time.process_time() - start) / count * 1e9)
    return times


def measured():
    """Of each function its name, and nanoseconds per pass: through the C pointer, in JAX, more in JAX, without a call."""
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})  # before JAX makes its threads
    jax.config.update("jax_enable_x64", True)
    radon = models.logp_and_gradient(models.radon(), "INLAY")
    with tempfile.TemporaryDirectory() as folder:
        loop = c_loop(Path(folder))
        cases = [("4 elements", small(), np.ones(4), 50_000), ("radon", radon, models.points(radon)[0], 10_000)]
        for name, fn, x, count in cases:
            runs = [in_c(loop, fn, x, count), in_jax(fn, x, count), empty_in_jax(x, count)]
            c, called, empty = nanoseconds(runs, count)
            difference = statistics.median(b - a for a, b in zip(c, called, strict=True))
            yield name, min(c), min(called), difference, min(empty)


def main():
    rows = measured()
    if sys.argv[1:] == ["--json"]:
        return print(json.dumps(list(rows)))
    print(f"{'ns per pass':12}{'C pointer':>12}{'JAX':>12}{'difference':>12}{'JAX, no call':>14}")
    for name, c, called, difference, empty in rows:
        print(f"{name:12}{c:12.0f}{called:12.0f}{difference:12.0f}{empty:14.0f}")


if __name__ == "__main__":
    main()
