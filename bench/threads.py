"""Calls on two threads, by the clock on the wall: inlay on one and on two, numba's prange, JAX's own pool.

    python bench/threads.py        # prints the rows as JSON; bench/run.py threads makes its table of them

A process of its own, since affinity, JAX's pool and the pools of numba and BLAS are chosen as they are imported. The
four are called in turn, round after round, so that what else the machine does meets all of them; the least counts.
Before anything is timed their results are compared.
"""

import dataclasses
import json
import os
import sys
import time
from collections.abc import Callable

THREADS = 2

if __name__ == "__main__":
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:THREADS])  # JAX's pool has as many threads
    os.environ |= {"NUMBA_NUM_THREADS": str(THREADS), "JAX_ENABLE_X64": "1", "JAX_PLATFORMS": "cpu"}
    os.environ |= {"OPENBLAS_NUM_THREADS": str(THREADS), "OMP_NUM_THREADS": str(THREADS)}

import paths  # noqa: F401: says that nothing is taken from the user's cache

import numpy as np
import pytensor
import pytensor.tensor as pt

import inlay
import inlay.pytensor

ROUNDS = 60
OF_PEERS = 1.2  # the goal beside each
MOST_OF_SMALL_CALL = 30  # ns that eight threads may cost a call that is not worth a block
PAUSE_SECONDS = 0.005  # numba's threads spin for a while, and the next is not to share its CPUs with them
RTOL = 1e-9


@dataclasses.dataclass
class Case:
    """`arrays(size)` gives what numba and JAX are called with; inlay gets the first `num_given` of them, and has the
    others as constants, as data of a model are. Results are compared one by one. Into memory given (`out`) inlay is by
    itself: the peers make new arrays."""

    work: str
    size: int
    arrays: Callable
    inlay: Callable  # of the number of threads and the arrays
    numba: str | None = None  # the name of a function of thread_peers
    jax: Callable | None = None  # of jax.numpy and the arrays
    num_given: int | None = None
    goal: float | None = None  # how many times as long one thread is to take
    or_bandwidth: bool = True  # so many times, or as many as two threads move bytes faster than one
    out: bool = False


def random(seed=3):
    return np.random.default_rng(seed)


def of_text(text):
    return lambda threads, arrays: inlay.compile(text, threads=threads)


def of_graph(graph, num_given):
    """`graph` makes outputs of inputs, of which all but the first are constants."""

    def compiled(threads, arrays):
        inputs = [pt.tensor(dtype=a.dtype, shape=a.shape) for a in arrays[:num_given]]
        outputs = graph(*inputs, *map(pt.constant, arrays[num_given:]))
        return pytensor.function(inputs, outputs, mode=inlay.pytensor.mode(threads=threads), trust_input=True)

    return compiled


# --- models: log density and gradient ---

GROUPS, MANY_GROUPS, COLUMNS = 85, 5000, 20


def hierarchical_arrays(n, groups=GROUPS):
    scalars = [np.asarray(v) for v in (0.3, -0.2, 0.1)]
    return [random(5).normal(size=groups), *scalars, random(4).normal(size=n), np.sort(random().integers(0, groups, n))]


def unsorted_arrays(n):
    *others, g = hierarchical_arrays(n, MANY_GROUPS)
    return [*others, random(8).permutation(g)]


def hierarchical_logp(np, sizes, z, mu, log_tau, log_sigma, y, g):
    residual = (y - (mu + np.exp(log_tau) * z)[g]) / np.exp(log_sigma)
    return -0.5 * (residual**2).sum() - sizes[0] * log_sigma - 0.5 * (z**2).sum()


def hierarchical_graph(z, mu, log_tau, log_sigma, y, g):
    inputs = [z, mu, log_tau, log_sigma]
    logp = hierarchical_logp(pt, y.type.shape, *inputs, y, g)
    return [logp, *pt.grad(logp, inputs)]


def hierarchical_jax(jax, z, mu, log_tau, log_sigma, y, g):
    def logp(*inputs):
        return hierarchical_logp(jax.numpy, y.shape, *inputs, y, g)

    value, gradient = jax.value_and_grad(logp, (0, 1, 2, 3))(z, mu, log_tau, log_sigma)
    return value, *gradient


def logistic_arrays(n):
    y = (random(6).random(n) < 0.4).astype(float)
    return [random(7).normal(size=COLUMNS), random().normal(size=(n, COLUMNS)), y]


def logistic_graph(beta, x, y):
    eta = x @ beta
    logp = (y * eta - pt.softplus(eta)).sum()
    return [logp, pt.grad(logp, beta)]


def logistic_jax(jax, beta, x, y):
    def logp(beta):
        eta = x @ beta
        return (y * eta - jax.nn.softplus(eta)).sum()

    return jax.value_and_grad(logp)(beta)


# --- arrays ---


def softmax_text(axis):
    return f"graph @main(%x: f64[n, m]) {{\n  %r = softmax %x, axes = [{axis}]\n  return %r\n}}"


TRIAD = """graph @main(%a: f64, %b: f64[n], %c: f64[n]) {
  %p = mul %a, %c
  %r = add %b, %p
  return %r
}"""
EXP = "graph @main(%x: f64[n]) {\n  %r = exp %x\n  return %r\n}"
SUM = "graph @main(%x: f64[n]) {\n  %r = reduce add %x [0] : f64\n  return %r\n}"


def square_array(n):
    return [random().normal(size=(n, n))]


def vector(n):
    return [random().random(n)]


def triad_arrays(n):
    return [np.asarray(3.0), np.ones(n), np.ones(n)]


# What all of the others may be bound by.
BANDWIDTH = Case("b + a*c of {n}, memory given: the bandwidth", 20_000_000, triad_arrays, of_text(TRIAD), out=True)

CASES = [
    Case("hierarchical normal logp + gradient, {n} rows", 1_000_000, hierarchical_arrays,
         of_graph(hierarchical_graph, 4), "hierarchical", hierarchical_jax, 4, 1.8, or_bandwidth=False),
    Case(f"the same of {MANY_GROUPS} groups in no order, {{n}} rows", 1_000_000, unsorted_arrays,
         of_graph(hierarchical_graph, 4), "hierarchical", hierarchical_jax, 4, 1.6, or_bandwidth=False),
    Case("logistic regression logp + gradient, {n} x 20", 1_000_000, logistic_arrays,
         of_graph(logistic_graph, 1), "logistic", logistic_jax, 1, goal=1.7),
    *(Case(f"softmax of {{n}} x {{n}}, {'last' if axis else 'first'} axis", 4000, square_array,
           of_text(softmax_text(axis)), f"softmax_{axis}",
           lambda jax, x, axis=axis: jax.nn.softmax(x, axis=axis), goal=1.7) for axis in (1, 0)),
    *(Case(f"softmax of {{n}} x {{n}}, {'last' if axis else 'first'} axis, memory given", 4000, square_array,
           of_text(softmax_text(axis)), goal=1.7, out=True) for axis in (1, 0)),
    Case("exp of {n}", 10_000_000, vector, of_text(EXP), "exp", lambda jax, x: jax.numpy.exp(x), goal=1.7),
    Case("exp of {n}, memory given", 10_000_000, vector, of_text(EXP), goal=1.7, out=True),
    Case("sum of {n}", 100_000_000, vector, of_text(SUM), "sum", lambda jax, x: x.sum(), goal=1.7),
]


# --- measuring ---


def callers(case, arrays):
    """What is timed, by its name, without arguments; a peer that is not installed is left out."""
    out = {}
    for threads, name in ((1, "inlay, one thread"), (THREADS, "inlay")):
        given = {"out": np.zeros_like(arrays[-1])} if case.out else {}
        out[name] = lambda fn=case.inlay(threads, arrays), given=given: fn(*arrays[: case.num_given], **given)
    if case.out:
        return out
    try:
        import thread_peers

        out["numba prange"] = lambda function=getattr(thread_peers, case.numba): function(*arrays)
    except ImportError:
        pass
    try:
        import jax
    except ImportError:
        return out
    on_device = [jax.device_put(a) for a in arrays]
    compiled = jax.jit(lambda *arrays: case.jax(jax, *arrays))
    out["JAX"] = lambda: jax.block_until_ready(compiled(*on_device))
    return out


def compare(of_each):
    """The results of all, called once, are those of the first."""
    results = {}
    for name, call in of_each.items():
        given = call()
        results[name] = [np.asarray(r) for r in (given if isinstance(given, tuple | list) else (given,))]
    first, *others = results
    for other in others:
        for a, b in zip(results[first], results[other], strict=True):
            np.testing.assert_allclose(b, a, rtol=RTOL, atol=RTOL * np.abs(a).max(), err_msg=f"{other} and {first}")


def least_seconds(of_each, rounds, pause=PAUSE_SECONDS):
    out = dict.fromkeys(of_each, float("inf"))
    for _ in range(rounds):
        for name, call in of_each.items():
            time.sleep(pause)
            begin = time.perf_counter()
            result = call()
            out[name] = min(out[name], time.perf_counter() - begin)
            del result  # its memory is given back before the next begins
    return out


def measured(case, size, rounds):
    """Milliseconds by name."""
    of_each = callers(case, case.arrays(size))
    compare(of_each)
    return {name: 1e3 * seconds for name, seconds in least_seconds(of_each, rounds).items()}


def small_call(rounds, calls=20_000):
    """Nanoseconds of a call that is not worth a block, of a function for one thread and of one for eight."""
    x = np.linspace(-1, 1, 100)
    functions = {threads: inlay.compile(EXP, threads=threads) for threads in (1, 8)}

    def repeated(fn):
        for _ in range(calls):
            fn(x)

    of_each = {threads: lambda fn=fn: repeated(fn) for threads, fn in functions.items()}
    return {threads: 1e9 * seconds / calls for threads, seconds in least_seconds(of_each, rounds, pause=0).items()}


def rows(size_of=lambda case: case.size, rounds=ROUNDS):
    """Rows of bench/run.py, each (work, ours, peer, theirs, unit, goal or None); without a peer the goal is a limit."""
    inlay.set_threads(THREADS)  # also where the system says that there are fewer CPUs
    of_bandwidth = None
    for case in (BANDWIDTH, *CASES):
        size = size_of(case)
        by_name = measured(case, size, rounds)
        work = case.work.format(n=f"{size:.0e}".replace("e+0", "e") if size >= 100_000 else size)
        gain = by_name["inlay, one thread"] / by_name["inlay"]
        of_bandwidth = of_bandwidth or gain
        goal = min(case.goal, of_bandwidth) if case.goal and case.or_bandwidth else case.goal
        yield work, by_name["inlay"], "inlay, one thread", by_name["inlay, one thread"], "ms", goal
        for name in () if case.out else ("numba prange", "JAX"):
            yield "", by_name["inlay"], name, by_name.get(name), "ms", OF_PEERS
    by_threads = small_call(rounds)
    yield "exp of 100, compiled for eight threads", by_threads[8], "for one thread", by_threads[1], "ns", None
    yield "as much more", by_threads[8] - by_threads[1], None, None, "ns", MOST_OF_SMALL_CALL


if __name__ == "__main__":
    json.dump(list(rows()), sys.stdout)
