"""A C pointer whose work runs on the threads of its caller: a pool in C, and pools that are odd."""

import ctypes
import shutil
import subprocess
import sys
import threading

import inlay
import inlay.pytensor
import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest

POOL = """
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

typedef void (*task_t)(void *tasks, size_t number);
struct pool { atomic_int running, most_running, calls; size_t most_tasks; };
struct one { struct pool *pool; task_t task; void *tasks; size_t number; };

static void *run_one(void *argument) {
  struct one *one = argument;
  int now = ++one->pool->running, most = one->pool->most_running;
  while (most < now && !atomic_compare_exchange_weak(&one->pool->most_running, &most, now)) {}
  one->task(one->tasks, one->number);
  --one->pool->running;
  return NULL;
}

void run_tasks(void *first, size_t count, task_t task, void *tasks) {
  struct pool *pool = first;
  pthread_t threads[64];
  struct one all[64];
  ++pool->calls;
  if (pool->most_tasks < count) pool->most_tasks = count;
  for (size_t i = 0; i < count; ++i) {
    all[i] = (struct one){pool, task, tasks, i};
    if (i > 0) pthread_create(&threads[i], NULL, run_one, &all[i]);
  }
  run_one(&all[0]);
  for (size_t i = 1; i < count; ++i) pthread_join(threads[i], NULL);
}
"""
RUN = ctypes.CFUNCTYPE(
    None, ctypes.c_void_p, ctypes.c_size_t, ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_size_t), ctypes.c_void_p
)
DOUBLES = ctypes.POINTER(ctypes.c_double)
LOGP = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_size_t, DOUBLES, DOUBLES, DOUBLES, ctypes.c_void_p)
GENERAL = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
N = 200_000


class Pool(ctypes.Structure):
    _fields_ = [(name, ctypes.c_int) for name in ("running", "most_running", "calls")] + [("most_tasks", ctypes.c_size_t)]


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    if not shutil.which("cc"):
        pytest.skip("no C compiler")
    folder = tmp_path_factory.mktemp("pool")
    (folder / "pool.c").write_text(POOL)
    flags = ["-std=c11", "-O1", "-Wall", "-Werror", "-shared", "-fPIC", "-pthread"]
    subprocess.run(["cc", *flags, "pool.c", "-o", "pool.so"], cwd=folder, check=True)
    return ctypes.CDLL(str(folder / "pool.so"))


def address(function):
    return ctypes.cast(function, ctypes.c_void_p).value


def density(threads):
    y = np.random.default_rng(1).standard_normal(N)
    x = pt.tensor("x", shape=(3,))
    logp = -((y - x[0]) ** 2 * pt.exp(-x[1])).sum() + pt.cos(x[2] * y).sum()
    mode = inlay.pytensor.mode(threads=threads)
    return pytensor.function([x], [logp, pt.grad(logp, x)], mode=mode)


def called(c, x):
    gradient, logp = np.empty(x.size), np.empty(())
    code = LOGP(c.address)(x.size, *(a.ctypes.data_as(DOUBLES) for a in (x, gradient, logp)), None)
    return code, logp.tobytes(), gradient.tobytes()


def test_a_log_density_on_threads_of_c(library):
    before = inlay.get_threads()
    inlay.set_threads(1)  # of inlay's own, of which it uses none
    try:
        fn, x = density(3), np.array([0.1, 0.2, 0.3])
        want = called(inlay.pytensor.c_function(fn), x)
        pool = Pool()
        c = inlay.pytensor.c_function(fn, pool=(address(library.run_tasks), ctypes.addressof(pool)))
        assert want[0] == 0 and called(c, x) == called(c, x) == want
        assert pool.calls >= 2 and pool.most_tasks == 3
        assert 1 <= pool.most_running <= 3 and pool.running == 0
    finally:
        inlay.set_threads(before)


def test_the_general_form(library):
    rng = np.random.default_rng(2)
    x, i = rng.standard_normal(N), rng.integers(0, 85, N)
    fn = inlay.compile(
        f"""graph @main(%x: f64[{N}], %i: i64[{N}]) {{
  %zero = literal 0.0 : f64
  %table = broadcast %zero : f64[85]
  %t = scatter add %table[%i], %x
  %e = exp %x
  return %t, %e
}}""",
        threads=4,
    )
    pool = Pool()
    c = inlay.pytensor.c_function(fn, pool=(address(library.run_tasks), ctypes.addressof(pool)))
    results = [np.empty(85), np.empty(N)]

    def call():
        inputs, outputs = ((ctypes.c_void_p * 2)(*(a.ctypes.data for a in arrays)) for arrays in ((x, i), results))
        return GENERAL(c.address)(inputs, outputs)

    assert call() == 0 and pool.most_tasks == 4
    assert [a.tobytes() for a in results] == [a.tobytes() for a in fn(x, i, threads=1)]
    i[N // 2] = 85
    assert call() == -2
    i[N // 2] = 0
    assert call() == 0


def test_pools_that_run_tasks_in_their_own_way():
    """One after the other, the last first; some of them; none."""
    fn, x = density(4), np.array([0.1, 0.2, 0.3])
    want = called(inlay.pytensor.c_function(fn), x)
    for numbers in ((3, 2, 1, 0), (2,), ()):
        run = RUN(lambda first, count, task, tasks, numbers=numbers: [task(tasks, number) for number in numbers] and None)
        c = inlay.pytensor.c_function(fn, pool=(address(run), None))
        assert called(c, x) == want


def test_one_number_on_several_threads_at_once():
    fn, x = density(4), np.array([0.1, 0.2, 0.3])
    want = called(inlay.pytensor.c_function(fn), x)

    @RUN
    def run(first, count, task, tasks):
        threads = [threading.Thread(target=task, args=(tasks, 0)) for _ in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    c = inlay.pytensor.c_function(fn, pool=(address(run), None))
    assert [called(c, x) for _ in range(20)] == [want] * 20


@pytest.mark.parametrize("number", [0, 1])
def test_a_pool_that_raises_while_a_task_runs(number, monkeypatch):
    """As Ctrl-C raises: ctypes tells of it and returns. The call has run all blocks all the same."""
    raised, threads = [], []
    monkeypatch.setattr(sys, "unraisablehook", lambda told: raised.append(told.exc_type))
    steps = "".join(f"  %v{k + 1} = {op} %v{k}\n" for k, op in enumerate(("sin", "exp") * 10))
    fn = inlay.compile(f"graph @main(%v0: f64[{N}]) {{\n{steps}  return %v20\n}}", threads=4)
    x, y = np.linspace(-1, 1, N), np.empty(N)
    want = fn(x, threads=1)

    @RUN
    def run(first, count, task, tasks):
        threads.append(threading.Thread(target=task, args=(tasks, number)))
        threads[-1].start()
        while np.isnan(y[0]):  # once it is not, the task has begun: an address may be used
            pass
        raise KeyboardInterrupt

    c = inlay.pytensor.c_function(fn, pool=(address(run), None))
    inputs, outputs = ((ctypes.c_void_p * 1)(array.ctypes.data) for array in (x, y))
    for _ in range(5):
        y[:] = np.nan
        assert GENERAL(c.address)(inputs, outputs) == 0 and y.tobytes() == want.tobytes()
    for thread in threads:
        thread.join()
    assert raised == [KeyboardInterrupt] * 5


def test_a_flag_ends_a_call_whatever_the_order_of_its_tasks():
    """The last task is that of number 0, and by then the others would have run all blocks."""
    fn = inlay.compile(f"graph @main(%x: f64[{N}]) {{\n  %y = exp %x\n  return %y\n}}", threads=4)
    x, y = np.linspace(-1, 1, N), np.full(N, np.nan)

    @RUN
    def run(first, count, task, tasks):
        stop.value = stops
        for number in reversed(range(count)):
            task(tasks, number)

    c = inlay.pytensor.c_function(fn, pool=(address(run), None))
    stop, stops = ctypes.c_int32.from_address(c.stop_address), 1
    inputs, outputs = ((ctypes.c_void_p * 1)(array.ctypes.data) for array in (x, y))
    assert GENERAL(c.address)(inputs, outputs) == -4 and np.isnan(y).all()
    stop.value = stops = 0
    assert GENERAL(c.address)(inputs, outputs) == 0 and y.tobytes() == fn(x).tobytes()


def test_what_is_refused():
    fn = density(1)
    with pytest.raises(inlay.errors.Unsupported, match="pool goes with a function that is compiled for several threads"):
        inlay.pytensor.c_function(fn, pool=(1, None))
    fn = density(2)
    for wrong in (3, (1,), "ab", ("a", 1), (1.0, 1), (True, None)):
        with pytest.raises(TypeError, match="pool "):
            inlay.pytensor.c_function(fn, pool=wrong)
    for wrong in ((0, 0), (-1, 0), (1, -1), (1 << 64, 0)):
        with pytest.raises(ValueError, match="no address, or none of a function"):
            inlay.pytensor.c_function(fn, pool=wrong)
