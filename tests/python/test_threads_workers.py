"""Functions for several threads in the processes and threads of others: workers, samplers, interruptions, the end."""

import multiprocessing
import os
import pathlib
import signal
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest

import inlay

SUMS = """graph @main(%x: f64[n], %i: i64[n]) {
  %e = exp %x
  %s = reduce add %e [0] : f64
  %zero = literal 0.0 : f64
  %table = broadcast %zero : f64[85]
  %t = scatter add %table[%i], %x
  return %e, %s, %t
}"""
LONG = """graph @main(%x: f64[n], %y: f64[m]) {
  %column = reshape %x : f64[n, 1]
  %a = mul %column, %y
  %b = lgamma %a
  %c = lgamma %b
  %d = digamma %c
  %s = reduce add %d [0, 1] : f64
  return %s
}"""


@pytest.fixture(autouse=True)
def eight_threads():
    before = inlay.get_threads()
    inlay.set_threads(8)
    yield
    inlay.set_threads(before)


def arguments(seed, n=200_001):
    rng = np.random.default_rng(seed)
    return rng.standard_normal(n), rng.integers(0, 85, n)


def as_bytes(results):
    return [np.asarray(x).tobytes() for x in results]


def expected(seed):
    return as_bytes(inlay.compile(SUMS)(*arguments(seed)))


def helpers_in(process):
    """The states of the pool's threads in a process: "R" runs or waits for a CPU."""
    out = []
    for task in pathlib.Path(f"/proc/{process}/task").iterdir():
        try:
            name, _, rest = (task / "stat").read_text().partition("(")[2].rpartition(")")
        except OSError:  # it has ended
            continue
        if name == "inlay":
            out.append(rest.split()[0])
    return out


def work(fn, seed):
    """In a worker: the results, how many threads a call there may have, and whether the worker has threads for it."""
    inlay.set_threads(max(inlay.get_threads(), 2))  # on a machine of one CPU too
    out = as_bytes(fn(*arguments(seed)))
    return out, fn.compilation.program.threads, 0 < inlay._inlay.num_pool_threads() <= len(helpers_in(os.getpid()))


def compiled_there(seed):
    return work(inlay.compile(SUMS, threads=3), seed)


def run(text, *words, environment=(), timeout=300):
    """A script of its own; what it prints."""
    found = subprocess.run(
        [sys.executable, "-c", text, *map(str, words)],
        env={**os.environ, **dict(environment)},
        capture_output=True,
        text=True,
        timeout=timeout,
    )
    assert (found.returncode, found.stderr) == (0, ""), found.stderr
    return found.stdout


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded")
@pytest.mark.parametrize("start", ["fork", "spawn", "forkserver"])
def test_worker_processes_have_threads_of_their_own(start):
    fn = inlay.compile(SUMS, threads=3)
    fn(*arguments(0))  # the pool of this process has threads
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context(start)) as workers:
        found = list(workers.map(work, [fn] * 4, range(4))) + list(workers.map(compiled_there, range(4)))
    assert found == 2 * [(expected(seed), 3, True) for seed in range(4)]


@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing"])
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded")
def test_joblib(backend):
    joblib = pytest.importorskip("joblib")
    fn = inlay.compile(SUMS, threads=3)
    found = joblib.Parallel(n_jobs=2, backend=backend)(joblib.delayed(work)(fn, seed) for seed in range(4))
    assert found == [(expected(seed), 3, True) for seed in range(4)]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_dask():
    distributed = pytest.importorskip("distributed")
    fn = inlay.compile(SUMS, threads=3)
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=2, processes=True, dashboard_address=None
    ) as cluster, distributed.Client(cluster) as client:
        found = client.gather([client.submit(work, fn, seed, pure=False) for seed in range(6)])
    assert found == [(expected(seed), 3, True) for seed in range(6)]


def test_threadpoolctl_leaves_the_pool_alone():
    """It limits BLAS; ours has inlay.set_threads."""
    threadpoolctl = pytest.importorskip("threadpoolctl")
    fn = inlay.compile(SUMS, threads=3)
    for limits in (1, {"blas": 1}, {"openmp": 2}):
        with threadpoolctl.threadpool_limits(limits):
            assert inlay.get_threads() == 8
            assert as_bytes(fn(*arguments(1))) == expected(1)
    assert not [each for each in threadpoolctl.threadpool_info() if "_inlay" in each["filepath"]]


_SAMPLED = """
import sys
import numpy as np, pymc as pm, nutpie
import inlay, inlay.pymc, inlay.pytensor

rng = np.random.default_rng(1)
y, g = rng.standard_normal(200_000), np.sort(rng.integers(0, 85, 200_000))
with pm.Model() as model:
    a = pm.Normal("a", 0, 1, shape=85)
    pm.Normal("y", a[g], 1, observed=y)
compiled = inlay.pymc.compile_nutpie(model, threads=2)
trace = nutpie.sample(compiled, draws=40, tune=40, chains=4, cores=4, seed=1, progress_bar=False)
inlay.pytensor.c_function(compiled.logp_func)  # is for threads
compiled.logp_func(np.zeros(85))  # alone: there is a thread free for it
trace.posterior["a"].values.tofile(sys.argv[1])
print(inlay._inlay.num_pool_threads())
"""


def test_chains_of_two_threads_stay_under_the_bound(tmp_path):
    """Four chains run whatever the bound is: a helper of theirs is one of the threads that they leave of it."""
    pytest.importorskip("nutpie")
    draws = []
    for most in (1, 2, 4):
        file = tmp_path / f"{most}"
        process = subprocess.Popen(
            [sys.executable, "-c", _SAMPLED, file],
            env={**os.environ, "INLAY_THREADS": str(most)},
            stdout=subprocess.PIPE,
            text=True,
        )
        seen = []
        while process.poll() is None:
            try:
                process.wait(0.002)
            except subprocess.TimeoutExpired:
                seen.append(helpers_in(process.pid))
        started = int(process.stdout.read())
        process.stdout.close()
        assert process.returncode == 0
        assert min(most - 1, 1) <= started <= most - 1
        assert max(map(len, seen)) == started
        assert max(states.count("R") for states in seen) <= most - 1
        draws.append(file.read_bytes())
    assert draws[0] == draws[1] == draws[2]


@pytest.mark.parametrize(
    "text, what",
    [
        # of blocks that have a table each
        ("%zero = literal 0.0 : f64\n  %t = broadcast %zero : f64[85]\n  %r = scatter add %t[%i], %x", "scatter"),
        # of rows that are sums
        ("%g = gather %t[%i]\n  %m = mul %g, %x\n  %r = reduce add %m [0] : f64", "gather"),
        # of results that are given
        ("%g = gather %t[%i]\n  %r = mul %g, %x", "gather"),
    ],
)
def test_a_failure_leaves_the_function_as_it_was(text, what):
    table = "%t: f64[k], " if what == "gather" else ""
    header = f"graph @main({table}%x: f64[n], %i: i64[n])" + (" assume k == 85" if what == "gather" else "")
    fn = inlay.compile(f"{header} {{\n  {text}\n  return %r\n}}", threads=7)
    x, i = arguments(3, 1_000_000)
    more = (np.linspace(0, 1, 85),) if what == "gather" else ()
    right = np.asarray(fn(*more, x, i, threads=1)).tobytes()
    for threads in (1, 2, 7):
        for first in np.random.default_rng(4).integers(0, 900_000, 8):
            wrong = i.copy()
            wrong[first:] = 102  # so the next block fails at once, while this one is on its way
            wrong[first] = 101
            with pytest.raises(IndexError, match="index 101 is out of bounds"):
                fn(*more, x, wrong, threads=threads)
            assert np.asarray(fn(*more, x, i, threads=threads)).tobytes() == right


def test_callers_that_fail_and_callers_that_do_not():
    """The threads that they share take one's blocks after the other's."""
    fn = inlay.compile("graph @main(%t: f64[k], %i: i64[n]) {\n  %r = gather %t[%i]\n  return %r\n}", threads=4)
    table, i = np.arange(10.0), np.arange(1_000_000) % 10
    wrong = i.copy()
    wrong[500_000] = 10

    def call(fails):
        for _ in range(10):
            if fails:
                with pytest.raises(IndexError, match="index 10 is out of bounds"):
                    fn(table, wrong)
            else:
                assert fn(table, i).tobytes() == (i * 1.0).tobytes()
        return True

    with ThreadPoolExecutor(4) as callers:
        assert list(callers.map(call, [True, False, True, False])) == [True] * 4


def test_helpers_take_no_signals():
    """A signal of the process goes to a thread that does not block it."""
    inlay.compile(SUMS, threads=3)(*arguments(0))
    found = 0
    for task in pathlib.Path("/proc/self/task").iterdir():
        if (task / "comm").read_text() == "inlay\n":
            lines = dict(line.split(":\t") for line in (task / "status").read_text().splitlines() if ":\t" in line)
            blocked = int(lines["SigBlk"], 16)
            assert all(blocked >> (number - 1) & 1 for number in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM))
            found += 1
    assert found == inlay._inlay.num_pool_threads() > 0


_END = f"""
import sys, threading, time
import numpy as np, inlay
inlay.set_threads(4)
fn = inlay.compile('''{LONG}''', threads=4)
x = np.linspace(1, 2, int(sys.argv[2]))
fn(x[:1000], x[:1000])
if sys.argv[1] == "asleep":
    time.sleep(0.01)
elif sys.argv[1] == "at work":
    began = threading.Event()
    def work():
        while True:
            began.set()
            fn(x, x)
    threading.Thread(target=work, daemon=True).start()
    began.wait()
    time.sleep(0.05)
print(inlay._inlay.num_pool_threads())
"""


@pytest.mark.parametrize(
    "helpers, size", [("awake", 1000), ("asleep", 1000), ("at work", 1000), ("at work", 400_000)]
)
def test_the_interpreter_ends_whatever_the_helpers_do(helpers, size):
    """(A call with a size of 400 000 takes minutes.)"""
    assert run(_END, helpers, size, timeout=60) == "3\n"
