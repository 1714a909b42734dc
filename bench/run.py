"""inlay beside its peers, in one run: CPU time on one core (group threads: time on two), the least of many rounds,
printed as ratios.

A ratio says how many times the peer's cost is ours (for costs: peer / inlay). `goal` is what the project aims at;
nothing here is a test. A peer that is not installed is left out; scripts/bench --setup installs them.
"""

import argparse
import contextlib
import ctypes
import dataclasses
import functools
import importlib.metadata
import json
import os
import pathlib
import platform
import re
import subprocess
import sys
import tempfile
import time
import unittest.mock

# Before NumPy or JAX start their threads: what is compared is one core.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")
os.environ.setdefault("JAX_ENABLE_X64", "1")
os.environ.setdefault("JAX_PLATFORMS", "cpu")

from paths import BENCH, BUILD, EXAMPLES

sys.path.insert(0, str(EXAMPLES))

import numpy as np

from timing import microseconds_per_call, microseconds_per_pointer_call

ELEMENTS = 100_000
ALL_CPUS = os.sched_getaffinity(0)


@dataclasses.dataclass
class Row:
    """One figure of ours beside one of a peer, both in `unit`."""

    work: str
    ours: float
    peer: str = ""
    theirs: float | None = None
    unit: str = "us"
    goal: str = ""
    met: bool | None = None


def ratio_row(work, ours, peer, theirs, at_least, unit="us"):
    """A row whose goal is that the peer takes `at_least` times as long; without the peer, only our figure."""
    if theirs is None:
        return Row(work, ours, peer + " (not here)", unit=unit, goal=f">= {at_least:g} x")
    return Row(work, ours, peer, theirs, unit, f">= {at_least:g} x", theirs / ours >= at_least)


def limit_row(work, ours, at_most, unit):
    return Row(work, ours, unit=unit, goal=f"<= {at_most:g} {unit}", met=ours <= at_most)


@functools.cache
def installed(package):
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        return importlib.metadata.version(package)
    return None


@functools.cache
def kernels(only="-^(scalar|movement)_"):
    """Microseconds by name, from the C++ side: those that the filter leaves."""
    text = subprocess.run([BUILD / "bin" / "inlay_bench", "--benchmark_format=json", f"--benchmark_filter={only}"],
                          check=True, capture_output=True, text=True).stdout
    minimum = [b for b in json.loads(text)["benchmarks"] if b.get("aggregate_name") == "minimum"]
    return {b["run_name"].split("/repeats")[0].split("/min_time")[0]: b["cpu_time"] for b in minimum}


EXPORTED_CALL = """
#include <stddef.h>
#include "radon.h"
static char memory[radon_ARENA_BYTES + radon_ARENA_ALIGNMENT];
int call(size_t dim, const double *x, double *gradient, double *logp, const void *data) {
  (void)dim, (void)data;
  return radon(x, logp, gradient, memory + radon_ARENA_ALIGNMENT - (uintptr_t)memory % radon_ARENA_ALIGNMENT);
}
"""


def exported_microseconds(function, point, flags):
    """Of a call of radon's exported object, by a C function that links it."""
    import inlay

    with tempfile.TemporaryDirectory() as folder, unittest.mock.patch.dict(os.environ, INLAY_CFLAGS=flags):
        inlay.export(function, folder, "object", name="radon", sizes={"joined_inputs_0": point.size})
        source, library = pathlib.Path(folder, "call.c"), pathlib.Path(folder, "call.so")
        source.write_text(EXPORTED_CALL)
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", source, pathlib.Path(folder, "radon.o"), "-lm", "-o", library],
                       check=True)
        call = ctypes.CDLL(str(library)).call
    call.address = ctypes.cast(call, ctypes.c_void_p).value
    return microseconds_per_pointer_call(call, point)


def cold_cost(*arguments, rounds=3):
    """The least of a few fresh processes."""
    run = [sys.executable, BENCH / "cold.py", *arguments]
    return min(float(subprocess.run(run, check=True, capture_output=True, text=True).stdout.split()[-1])
               for _ in range(rounds))


def radon_rows():
    import inlay.pytensor
    import radon

    model = radon.radon_model()
    point = radon.flat_point(model)
    ours, _ = radon.compile_logp(model, "INLAY", point)
    numba, _ = radon.compile_logp(model, "NUMBA", point)
    view = inlay.pytensor.explain(ours)
    observations = 8 * len(radon.read_data()[1])
    long_temporaries = sum(temporary.bytes >= observations for temporary in view.temporaries)

    through_numba = microseconds_per_call(numba, point)
    yield ratio_row("radon logp + gradient, through PyTensor", microseconds_per_call(ours, point),
                    "PyTensor NUMBA", through_numba, 2)
    pointer = microseconds_per_pointer_call(inlay.pytensor.c_function(ours), point)
    yield ratio_row("same, through the C pointer", pointer, "PyTensor NUMBA", through_numba, 5.7 / 2.0)
    for cpu, flags in (("every x86-64", ""), ("this CPU", "-march=native")):
        exported = exported_microseconds(ours, point, flags)
        yield ratio_row(f"same, exported as an object for {cpu}", exported, "the C pointer", pointer, 1)
    yield limit_row("radon kernels", len(view.kernels), 3, "kernels")
    yield limit_row("radon temporaries of observation length", long_temporaries, 0, "temporaries")
    yield limit_row("radon host calls", len(view.host_calls), 0, "host calls")


@functools.cache
def lowering():
    """Milliseconds of rewriting, fusing and planning large graphs, by their shape and number of nodes."""
    text = subprocess.run([BUILD / "bin" / "inlay_bench_compiling", "--benchmark_format=json"],
                          check=True, capture_output=True, text=True).stdout
    out = {}
    for b in json.loads(text)["benchmarks"]:
        _, shape, nodes = b["name"].split("/")
        out.setdefault(shape, {})[int(nodes)] = b["cpu_time"]
    return out


def compiling_rows():
    by_shape = lowering()
    yield limit_row("rewrite + fuse + memory, 2000 nodes", by_shape["model"][2000], 60, "ms")
    for shape, cost in by_shape.items():
        yield limit_row(f"{shape}: 20 000 nodes over 2000 nodes", cost[20000] / cost[2000], 15, "times")
    yield limit_row("resident size above the import, 2000 nodes compiled", cold_cost("memory", "2000"), 50, "MB")


def planning_rows():
    """Plans of memory: how near they come to the lower bound, and the CPU time of the slowest."""
    text = subprocess.run([BUILD / "bin" / "inlay_bench_planning", BENCH / "data" / "memory"],
                          check=True, capture_output=True, text=True).stdout
    plans = [json.loads(line) for line in text.splitlines()]
    limits = {"minimalloc": (1.0, 2000), "made": (1.0, 5000), "models": (1.0, 20)}  # peak / bound, milliseconds
    for plan in plans:
        if plan["group"] not in limits:
            continue
        over, most = limits[plan["group"]]
        goal = 1048576 / plan["bound"] if plan["name"].startswith("D.") else over
        yield limit_row(f"{plan['name']}: peak / lower bound", plan["peak"] / plan["bound"], goal, "times")
        yield limit_row(f"{plan['name']}: planned", 1e3 * plan["seconds"], most, "ms")
    networks = [plan for plan in plans if plan["group"] == "networks"]
    missed = sum(plan["peak"] > plan["bound"] for plan in networks)
    yield limit_row(f"{len(networks)} networks: above the lower bound", 100 * missed / len(networks), 2, "%")
    yield limit_row("the slowest of them", 1e3 * max(plan["seconds"] for plan in networks), 50, "ms")
    import fusion

    share = max(fusion.planning_share(case, dtype) for case in fusion.CASES for dtype in ("float64", "float32"))
    yield limit_row("PyTensor programs of the group fusion: memory, of compiling", 100 * share, 5, "%")
    random = {plan["name"]: 1e3 * plan["seconds"] for plan in plans if plan["group"] == "random"}
    for crowd in (10, 100, 1000):
        yield limit_row(f"greedy, 10 000 buffers, {crowd} at a time", random[f"random/10000/{crowd}"], 500, "ms")


def cold_rows():
    yield limit_row("import inlay, after NumPy", 1e3 * cold_cost("import", rounds=5), 60, "ms")
    yield limit_row("resident size that it adds", cold_cost("imported", rounds=5), 25, "MB")
    ours = 1e3 * cold_cost("radon", "INLAY")
    yield limit_row("radon linking + first call, cold", ours, 80, "ms")
    yield Row("", ours, "PyTensor NUMBA", 1e3 * cold_cost("radon", "NUMBA", rounds=2), "ms")
    if installed("jax"):
        yield Row("", ours, "PyTensor JAX", 1e3 * cold_cost("radon", "JAX", rounds=2), "ms")
    with tempfile.TemporaryDirectory() as folder:
        file = str(pathlib.Path(folder) / "radon.inlayfn")
        yield limit_row("file of radon's function, without its data", cold_cost("save", file, rounds=1), 60, "kB")
        yield limit_row("radon, inlay.load + first call, cold", 1e3 * cold_cost("loaded", file), 3, "ms")
        cold_cost("pickled", file, rounds=1)
        yield limit_row("radon, pickle.loads + first call, cold", 1e3 * cold_cost("unpickled", file), 3, "ms")
        cold_cost("cached", folder, rounds=1)  # keeps it
        in_cache = 1e3 * cold_cost("cached", folder, rounds=5)
        yield limit_row("radon, pytensor.function + first call through the cache, cold", in_cache, 15, "ms")
    yield limit_row("of that, the key of its graph", 1e3 * cold_cost("key", rounds=5), 10, "ms")
    chain = 1e3 * cold_cost("chain", "1000")
    yield limit_row("elementwise graph of 1000 ops, compiled and called, cold", chain, 200, "ms")


def numba_exp_mul_add(arrays):
    import numba

    @numba.njit
    def kernel(x, y, z, out):
        for i in range(x.size):
            out[i] = np.exp(x[i]) * y[i] + z[i]

    out = np.empty(ELEMENTS)
    kernel(*arrays, out)
    return microseconds_per_call(kernel, *arrays, out)


def jax_exp_mul_add(arrays):
    if not installed("jax"):
        return None
    import jax

    on_device = [jax.device_put(array) for array in arrays]
    kernel = jax.jit(lambda x, y, z: jax.numpy.exp(x) * y + z)
    kernel(*on_device).block_until_ready()
    # XLA computes in a thread of its own.
    return microseconds_per_call(lambda: kernel(*on_device).block_until_ready(), clock=time.process_time)


def kernel_rows():
    arrays = [np.linspace(-1, 1, ELEMENTS) for _ in range(3)]
    work, ours = "exp(x)*y+z on 1e5 doubles", kernels()["exp_mul_add/inlay"]
    yield ratio_row(work, ours, "numba @njit", numba_exp_mul_add(arrays), 5)
    yield ratio_row("", ours, "JAX", jax_exp_mul_add(arrays), 1.4)
    best = min(("clang", "gcc"), key=lambda peer: kernels()[f"exp_mul_add/{peer}"])
    yield ratio_row("", ours, f"{best}, -O3 -ffast-math", kernels()[f"exp_mul_add/{best}"], 1.05)
    stream = min(kernels()["triad/clang"], kernels()["triad/gcc"])
    yield ratio_row("triad on 1e5 doubles", kernels()["triad/inlay"], "STREAM", stream, 0.9)


def scalar_rows():
    """Every scalar op that has vector code, alone in a loop on 1e5 doubles."""
    import scipy.special

    text = (BENCH / "scalars.def").read_text()
    figures = kernels("^scalar_")
    for op, low, high in re.findall(r"^SCALAR\((\w+),.*,\s*(\S+),\s*(\S+)\)$", text, re.MULTILINE):
        x = np.linspace(float(low), float(high), ELEMENTS)
        ours = figures[f"scalar_{op}/inlay"]
        best = min(("clang", "gcc"), key=lambda peer: figures[f"scalar_{op}/{peer}"])
        yield ratio_row(f"{op} on 1e5 doubles", ours, f"{best}, -O3 -ffast-math", figures[f"scalar_{op}/{best}"], 1.0)
        ufunc = getattr(np, op, None) or getattr(scipy.special, SCIPY_NAMES.get(op, op), None)
        if ufunc is not None:
            into = (np.empty(ELEMENTS),) if isinstance(ufunc, np.ufunc) else ()
            yield Row("", ours, "NumPy" if hasattr(np, op) else "SciPy", microseconds_per_call(ufunc, x, *into))
        if hasattr(np, op):
            yield Row("", ours, "numba @njit", numba_ufunc(getattr(np, op), x))
    yield from special_rows()
    yield from division_rows()


def special_rows():
    """What models call most, as Python calls it; the peers' arrays are new in each call, as ours are."""
    import inlay
    import scipy.special

    for op, low, high in (("lgamma", 0.1, 8), ("digamma", 0.1, 8), ("erf", -4, 4), ("ndtr", -4, 4), ("log_ndtr", -4, 4),
                          ("softplus", -4, 4), ("tanh", -4, 4)):
        function = inlay.compile(f"graph @main(%x: f64[n]) {{\n %r = {op} %x\n return %r }}")
        x = np.linspace(low, high, ELEMENTS)
        of_scipy = getattr(scipy.special, SCIPY_NAMES.get(op, op), None)
        peer, ufunc = ("NumPy", np.tanh) if op == "tanh" else ("SciPy", of_scipy)
        theirs = microseconds_per_call(ufunc, x) if ufunc else None
        yield ratio_row(f"{op}(x) on 1e5 doubles, from Python", microseconds_per_call(function, x), peer, theirs, 3)


def division_rows():
    """x / s, rounded as a division is, beside x * s: in the first cache, in the second, and beyond them."""
    import inlay

    by_op = {op: inlay.compile(f"graph @main(%x: f64[n], %s: f64) {{\n %r = {op} %x, %s\n return %r }}")
             for op in ("div", "mul")}
    for size, most in ((2000, 2), (ELEMENTS, 1.1), (40 * ELEMENTS, 1.1)):
        x = np.linspace(1, 2, size)
        figures = {op: [] for op in by_op}
        for _ in range(5):
            for op, function in by_op.items():
                figures[op].append(microseconds_per_call(function, x, 3.0))
        ours, theirs = (min(figures[op]) for op in ("div", "mul"))
        yield ratio_row(f"x / s on {size} doubles", ours, "x * s", theirs, 1 / most)


SCIPY_NAMES = {"sigmoid": "expit", "lgamma": "gammaln"}


def numba_ufunc(ufunc, x):
    import numba

    @numba.njit
    def kernel(x, out):
        for i in range(x.size):
            out[i] = ufunc(x[i])

    out = np.empty(ELEMENTS)
    kernel(x, out)
    return microseconds_per_call(kernel, x, out)


def movement_rows():
    """Loops that are bound by memory: the goal is a share of STREAM's bandwidth, or a multiple of NumPy's speed."""
    figures = kernels("^movement_")
    for side in (100, 316, 1000):
        x, square = np.linspace(-1, 1, side * side).reshape(side, side), np.empty((side, side))
        row = np.empty(side)
        triad = min(figures[f"movement_triad_{side}/{peer}"] for peer in ("clang", "gcc"))
        works = {  # doubles read and written, and NumPy's way
            "sum": (x.size, lambda: x.sum()),
            "max": (x.size, lambda: x.max()),
            "sum_of_rows": (x.size, lambda: x.sum(axis=1, out=row)),
            "sum_of_columns": (x.size, lambda: x.sum(axis=0, out=row)),
            "copy": (2 * x.size, lambda: np.copyto(square, x)),
            "transpose": (2 * x.size, lambda: np.copyto(square, x.T)),
        }
        for work, (doubles, numpy) in works.items():
            ours, theirs = figures[f"movement_{work}_{side}/inlay"], microseconds_per_call(numpy)
            at_bandwidth = triad * doubles / (3 * x.size)
            met = at_bandwidth >= 0.9 * ours or theirs >= 1.2 * ours
            goal = ">= 0.9 x STREAM or 1.2 x NumPy"
            title = f"{work.replace('_', ' ')}, {side} x {side} doubles"
            yield Row(title, ours, "STREAM's bandwidth", at_bandwidth, goal=goal, met=met)
            yield Row("", ours, "NumPy", theirs)


def call_rows():
    import inlay.pytensor
    import pytensor
    import pytensor.tensor as pt

    five_in_two_out = inlay.compile("""graph @main(%a: f64[n], %b: f64[n], %c: f64[n], %d: f64[n], %e: f64[n]) {
      %p = mul %a, %b
      %q = mul %c, %d
      %r = add %p, %e
      %s = add %q, %e
      return %r, %s
    }""")
    # With 8 elements the two new arrays stay in the first cache; with 919 all seven no longer do, and the kernel beside
    # it writes to the same two arrays again and again.
    for size in (8, 919):
        arrays = [np.linspace(-1, 1, size) for _ in range(5)]
        call = microseconds_per_call(five_in_two_out, *arrays) - kernels()[f"five_in_two_out_{size}/inlay"]
        yield limit_row(f"Python call, 5 arrays of {size} in, 2 new ones out, over the kernel", 1e3 * call, 300, "ns")

    def plus_one(mode):
        x = pt.dvector("x")
        function = pytensor.function([x], x + 1, mode=mode, trust_input=True)
        return 1e3 * microseconds_per_call(function, np.zeros(3))

    c_mode = pytensor.compile.mode.Mode(linker="cvm", optimizer="fast_run")
    yield ratio_row("x + 1 on 3 doubles, through PyTensor", plus_one("INLAY"), "PyTensor C", plus_one(c_mode), 1, "ns")
    if installed("jax"):
        run = [sys.executable, BENCH / "jax_calls.py", "--json"]
        text = subprocess.run(run, check=True, stdout=subprocess.PIPE, text=True).stdout
        for name, _, _, more, _ in json.loads(text.splitlines()[-1]):
            yield limit_row(f"{name}: a call within a program of JAX, over the C pointer", more, 500, "ns")


def fusion_rows():
    import fusion

    for case in fusion.CASES:
        for dtype in ("float64", "float32"):
            for title, ours, peer, theirs, goal in fusion.measured(case, dtype):
                yield Row(title, ours, peer, theirs) if goal is None else ratio_row(title, ours, peer, theirs, goal)
    ours = kernels()["slice_write_exp/inlay"]
    yield ratio_row("exp written into a slice, 1e6, f64, memory given", ours, "numba @njit", numba_slice_write(), 3)


def reduction_rows():
    import reductions

    for title, ours, peer, theirs, goal in reductions.rows():
        yield ratio_row(title, ours, peer, theirs, goal)


def thread_rows():
    """By the clock on the wall, in a process of its own that has the CPUs that this one had, and peers with threads."""
    words = os.environ["XLA_FLAGS"].split()
    environment = {**os.environ, "XLA_FLAGS": " ".join(word for word in words if "thread" not in word)}
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, ALL_CPUS)
    try:
        text = subprocess.run([sys.executable, BENCH / "threads.py"], check=True, stdout=subprocess.PIPE, text=True,
                              env=environment).stdout
    finally:
        os.sched_setaffinity(0, before)
    for work, ours, peer, theirs, unit, goal in json.loads(text):
        if peer is None:
            yield limit_row(work, ours, goal, unit)
        elif goal is None:
            yield Row(work, ours, peer, theirs, unit)
        else:
            yield ratio_row(work, ours, peer, theirs, goal, unit)


def fits_figure(name):
    """Of a process of its own, which has all CPUs where workers are measured."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, ALL_CPUS if name == "workers" else before)
    try:
        run = [sys.executable, BENCH / "fits.py", name]
        return float(subprocess.run(run, check=True, capture_output=True, text=True).stdout.split()[-1])
    finally:
        os.sched_setaffinity(0, before)


def fit_rows():
    """Many fits of one model: inlay.pymc.fit_many."""
    regression = fits_figure("regressions")
    yield limit_row("10 000 regressions on 20 to 200 points, 400 + 400 draws, one core", 10 * regression, 120, "s")
    yield Row("of these a fit", regression, "nutpie.sample, as xarray", fits_figure("nutpie"), "ms")
    yield limit_row("a fit that draws next to nothing", fits_figure("start"), 5, "ms")
    speedup = fits_figure("workers")
    yield Row("two processes beside one, on the wall", speedup, unit="times", goal=">= 1.9 x", met=speedup >= 1.9)
    yield limit_row("a worker above Python, NumPy and nutpie's core", fits_figure("memory"), 40, "MB")
    yield Row("10 000 fits: the parent's growth, two numbers of three variables each", fits_figure("parent"), unit="MB")
    simuk = 1000 * fits_figure("simuk") if installed("simuk") else None
    yield ratio_row("SBC, eight schools, 1000 x (25 + 50 draws)", fits_figure("calibration"), "simuk", simuk, 50, "s")


def numba_slice_write():
    import numba

    @numba.njit
    def kernel(x, out):
        out[0] = 1
        for i in range(x.size):
            out[i + 1] = np.exp(x[i])

    x = np.linspace(-1, 1, 1_000_000)
    return microseconds_per_call(kernel, x, np.empty(x.size + 1))


def model_rows(names, peers, caches):
    """The example models: first tables of all that was measured, then the goals."""
    import models

    table = models.measure(names or models.registry.NAMES, peers, caches)
    models.print_tables(table)
    ratios = []
    for name, by_mode in table.items():
        best, theirs = models.best_peer(by_mode)
        ours = by_mode["INLAY"]["us"]
        ratios += [theirs / ours] if best else []
        yield ratio_row(f"{name}: logp + gradient", ours, f"PyTensor {best or 'NUMBA, JAX, C'}", theirs, 0.9)
    if ratios:
        mean = models.geometric_mean(ratios)
        yield Row("geometric mean against the best peer of each", mean, unit="times", goal=">= 2 x", met=mean >= 2)
    yield limit_row("linking + first call, geometric mean", models.mean_of(table, "INLAY", "link"), 0.1, "s")
    yield limit_row("pytensor.function to first result, geometric mean", models.mean_of(table, "INLAY", "total"), 0.45, "s")
    yield limit_row("memory of compiling above the import, median", models.mean_of(table, "INLAY", "megabytes"), 60, "MB")
    if table.get("ode", {}).get("JAX", {}).get("us"):
        yield ratio_row("scan of 2100 steps each way", table["ode"]["INLAY"]["us"], "PyTensor JAX", table["ode"]["JAX"]["us"], 1)


def waiting_rows(names):
    """From a model to its first gradient and to its posterior, beside PyMC as it is by itself."""
    import models

    table = models.measure_waiting(names or models.registry.NAMES)
    table = {name: by_mode for name, by_mode in table.items() if all(by_mode.values())}
    for figure, goal in (("gradient", 1), ("posterior", 1)):
        for name, by_mode in table.items():
            work = f"{name}: model to {figure}"
            peer = f"plain ({by_mode['PyMC']['sampler']})"
            yield ratio_row(work, by_mode["INLAY"][figure], peer, by_mode["PyMC"][figure], goal, unit="s")
        ours, theirs = (models.mean_of(table, mode, figure) for mode in ("INLAY", "PyMC"))
        yield ratio_row(f"model to {figure}, geometric mean", ours, "plain", theirs, 3, unit="s")


GROUPS = {"radon": radon_rows, "models": model_rows, "waiting": waiting_rows, "kernels": kernel_rows, "fusion": fusion_rows, "reductions": reduction_rows,
          "scalars": scalar_rows, "movement": movement_rows, "calls": call_rows, "threads": thread_rows, "fits": fit_rows, "cold": cold_rows, "compiling": compiling_rows, "planning": planning_rows}


def figure(value, unit):
    if value is None:
        return ""
    return f"{value:.0f} {unit}" if unit in ("ns", "kernels", "temporaries", "host calls") else f"{value:.2f} {unit}"


def print_table(rows):
    header = ["work", "inlay", "peer", "peer's figure", "ratio", "goal", ""]
    cells = [[row.work, figure(row.ours, row.unit), row.peer, figure(row.theirs, row.unit),
              f"{row.theirs / row.ours:.2f} x" if row.theirs else "", row.goal,
              {True: "met", False: "missed", None: ""}[row.met]] for row in rows]
    widths = [max(len(line[i]) for line in [header, *cells]) for i in range(len(header))]
    for line in [header, ["-" * width for width in widths], *cells]:
        print("| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths)) + " |")


def cpu_name():
    names = [line for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
    return names[0].split(":")[1].strip() if names else platform.machine()


# How each peer is told to stay at a level of the CPU. (BLAS, which both sides call, chooses for itself.)
PINNED = {
    "avx2": {"INLAY_CPU_FEATURES": "avx2", "NUMBA_CPU_NAME": "haswell", "XLA_FLAGS": "--xla_cpu_max_isa=AVX2",
             "PYTENSOR_FLAGS": "gcc__cxxflags=-march=haswell"},
    "sse2": {"INLAY_CPU_FEATURES": "sse2", "NUMBA_CPU_NAME": "x86-64", "XLA_FLAGS": "--xla_cpu_max_isa=SSE4_2",
             "PYTENSOR_FLAGS": "gcc__cxxflags=-march=x86-64"},
}
ABOVE = {"avx2": ("X86_V4", "AVX512"), "sse2": ("X86_V3", "X86_V4", "AVX", "FMA3", "F16C")}  # names of NumPy's features


def of_numpy_above(level):
    """NumPy refuses to be told of features that it does not know, or that every CPU of its build has."""
    from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__

    return " ".join(name for name in __cpu_dispatch__ if __cpu_features__[name] and name.startswith(ABOVE[level]))


def stay_at(level):
    """Begins anew with an environment that all read as they are imported."""
    if os.environ.get("INLAY_CPU_FEATURES") == level:
        return
    for name, value in PINNED[level].items():
        join = {"XLA_FLAGS": " ", "PYTENSOR_FLAGS": ","}.get(name)
        before = os.environ.get(name) if join else None
        # In front: XLA reads no further than to a word that is no flag of its own.
        os.environ[name] = join.join([value, before]) if before else value
    os.environ["NPY_DISABLE_CPU_FEATURES"] = of_numpy_above(level)
    os.execv(sys.executable, [sys.executable, *sys.argv])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("groups", nargs="*", help=f"only these of: {' '.join(GROUPS)}")
    parser.add_argument("--models", nargs="+", help="groups models and waiting: only these examples")
    parser.add_argument("--peers", nargs="*", default=["NUMBA", "JAX", "C"], help="group models: beside these modes only")
    parser.add_argument("--warm", action="store_true",
                        help="group models: NUMBA and C may read what they have on disk; only their calls are measured")
    parser.add_argument("--json", type=pathlib.Path, help="write the rows here too")
    parser.add_argument("--cpu", choices=list(PINNED), help="inlay and its peers stay at this level of the CPU")
    arguments = parser.parse_args()
    if arguments.cpu:
        stay_at(arguments.cpu)
    if unknown := set(arguments.groups) - set(GROUPS):
        parser.error(f"no such group: {' '.join(sorted(unknown))}; there are {' '.join(GROUPS)}")

    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    versions = ", ".join(f"{name} {installed(name) or '-'}" for name in ("numpy", "pytensor", "pymc", "numba", "jax"))
    level = f" at level {arguments.cpu}" if arguments.cpu else ""
    print(f"{cpu_name()}{level}, one core (threads: two); Python {platform.python_version()}, {versions}\n", flush=True)
    rows = []
    caches = "warm" if arguments.warm else "cold"
    options = {"models": (arguments.models, arguments.peers, caches), "waiting": (arguments.models,)}
    try:
        for group in arguments.groups or GROUPS:
            print(f"measuring: {group}", file=sys.stderr)
            rows.extend(GROUPS[group](*options.get(group, ())))
    finally:  # an hour of measuring is not lost with a group that fails
        print_table(rows)
        if arguments.json:
            arguments.json.write_text(json.dumps([dataclasses.asdict(row) for row in rows], indent=2))


if __name__ == "__main__":
    main()
