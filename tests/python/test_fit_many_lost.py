"""One fit that cannot be done is one row, whatever it does to its worker, and to the batch that it is in; and Ctrl-C is
seen wherever fits run."""

import contextlib
import multiprocessing
import signal
import sys
import threading
import time
import warnings
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial

import inlay.pymc
import numpy as np
import pymc as pm
import pytest
from inlay.fits import versions
from inlay.fits.kept import NAME

pytest.importorskip("nutpie")

FEW = {"draws": 10, "tune": 20, "chains": 1, "seed": 1, "progress": False}
COUNT, BAD = 200, 150  # by then a task holds many fits


def fit(executor, datasets, **options):
    with pm.Model() as model:
        y = pm.Data("y", np.zeros(3))
        pm.Normal("likelihood", pm.Normal("mu", 0, 10), 1, observed=y)
    return inlay.pymc.fit_many(model, datasets, executor=executor, **(FEW | options))


def numbered(count=COUNT):
    return [{"y": np.full(3, float(i))} for i in range(count)]


def of_main(function):
    """`function` as one of __main__, which is pickled with its code: a worker needs no import for it."""
    function.__module__ = "__main__"
    return function


@of_main
def kills(draws, data, bad=BAD):
    import os
    import signal

    if data["y"][0] == bad:
        os.kill(os.getpid(), signal.SIGKILL)
    return 1


@of_main
def exits(draws, data, bad=BAD):
    import sys

    if data["y"][0] == bad:
        sys.exit("enough")
    return 1


class Unsent(list):
    """What no other process can be sent."""

    def __reduce__(self):
        raise TypeError("it stays here")


@pytest.fixture(scope="module")
def dask():
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        yield client


@pytest.fixture(scope="module")
def ray():
    ray = pytest.importorskip("ray")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    yield ray
    ray.shutdown()


@contextlib.contextmanager
def executor_named(name, request):
    if name == "dask":
        yield request.getfixturevalue("dask")
    elif name == "ray":
        yield request.getfixturevalue("ray")
    elif name == "threads":
        yield 2
    elif name == "processes":
        with ProcessPoolExecutor(2, multiprocessing.get_context("forkserver")) as executor:
            yield executor
    elif name == "maker":
        yield partial(ProcessPoolExecutor, 2, multiprocessing.get_context("forkserver"))
    else:
        yield pytest.importorskip("joblib").Parallel(2, backend=name)


def check_one_failed(fits, reason, bad=BAD, count=COUNT):
    assert fits["failed"].values.tolist() == [i == bad for i in range(count)], set(fits["reason"].values)
    assert reason in fits["reason"].values[bad]


@pytest.mark.parametrize("name", ["dask", "ray", "maker", "loky"])
def test_a_fit_that_kills_its_worker(name, request):
    with executor_named(name, request) as executor:
        check_one_failed(fit(executor, numbered(), reduce=kills), "its worker was lost")


@pytest.mark.parametrize("name", ["threads", "processes", "dask", "ray", "loky", "threading"])
def test_a_function_that_exits(name, request):
    with executor_named(name, request) as executor:
        check_one_failed(fit(executor, numbered(), reduce=exits), "exits: SystemExit: enough")


@pytest.mark.parametrize("name", ["processes", "dask", "ray", "loky"])
def test_a_data_set_that_cannot_be_sent(name, request):
    data = numbered()
    data[BAD]["y"] = Unsent([1.0, 2.0, 3.0])
    with executor_named(name, request) as executor:
        check_one_failed(fit(executor, data), "")


def test_an_executor_that_takes_no_task_is_the_end():
    with ThreadPoolExecutor(1) as executor:
        pass
    with pytest.raises(inlay.pymc.FitsEnded, match="cannot schedule new futures after shutdown"):
        fit(executor, numbered(3))


@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing"])
def test_results_of_joblib_are_kept_as_they_come(backend, tmp_path):
    """The last fit but one waits for what others have left in the folder."""
    joblib = pytest.importorskip("joblib")
    parallel = joblib.Parallel(2, backend=backend)
    before = dict(vars(parallel))
    fits = fit(parallel, numbered(10), reduce={"seen": _waiting(str(tmp_path / NAME))}, resume=tmp_path)
    assert fits["seen"].values[8] == 1
    assert {name: before[name] for name in before if name.startswith("return")} == {
        name: value for name, value in vars(parallel).items() if name.startswith("return")
    }


def _waiting(path):
    @of_main
    def seen(draws, data):
        import os
        import time

        for _ in range(100 if data["y"][0] == 8 else 0):
            if os.path.getsize(path) > 500:
                return 1
            time.sleep(0.1)
        time.sleep(0.3)
        return 0

    return seen


def test_joblib_in_a_block_and_as_its_user_wants_results():
    joblib = pytest.importorskip("joblib")
    want = fit(1, numbered(30))["mu_mean"].values
    for how in ("list", "generator", "generator_unordered"):
        with joblib.Parallel(2, return_as=how) as parallel, warnings.catch_warnings():
            warnings.simplefilter("error")
            np.testing.assert_array_equal(fit(parallel, numbered(30))["mu_mean"].values, want)
            again = parallel([joblib.delayed(abs)(-1)])
            assert list(again) == [1] and isinstance(again, list) == (how == "list")


def test_a_cluster_that_grows_has_more_in_flight():
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": None}

    def datasets(cluster):
        for number, data in enumerate(numbered(60)):
            if number == 4:
                cluster.scale(5)
            yield data

    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        fits = fit(client, datasets(cluster), reduce={"time": when})
    begin, end = fits["time"].values.T
    at_once = [((begin <= t) & (t < end)).sum() for t in begin]
    assert max(at_once) > 2, at_once


@of_main
def when(draws):
    import time

    begin = time.time()
    time.sleep(0.5)
    return [begin, time.time()]


def interrupted(count=3):
    """Data sets; a while after the last one a SIGINT that wakes no other thread: the system has given it to this one."""

    def interrupt():
        time.sleep(2)
        signal.pthread_kill(threading.get_ident(), signal.SIGINT)

    yield from numbered(count)
    threading.Thread(target=interrupt).start()


LONG = {"draws": 10**8, "reduce": "mean"}  # minutes


@pytest.mark.parametrize("kind", ["own", "of the caller", "made", "threading"])
def test_ctrl_c_that_wakes_nobody_is_seen(kind):
    begin = time.monotonic()
    with contextlib.ExitStack() as stack:
        if kind == "own":
            executor = 2
        elif kind == "of the caller":
            executor = stack.enter_context(ThreadPoolExecutor(2))
        elif kind == "made":
            executor = partial(ThreadPoolExecutor, 2)
        else:
            executor = pytest.importorskip("joblib").Parallel(2, backend="threading")
        fits = fit(executor, interrupted(), **LONG)
    assert fits["reason"].values.tolist() == ["not done"] * 3
    assert time.monotonic() - begin < 20


@pytest.mark.skipif(sys.platform != "linux", reason="forkserver")
def test_ctrl_c_that_wakes_nobody_is_seen_beside_processes(tmp_path):
    begin, sleeps = time.monotonic(), _sleeping(30)
    executor = ProcessPoolExecutor(2, multiprocessing.get_context("forkserver"))
    try:
        fits = fit(executor, interrupted(), reduce=sleeps)
        assert time.monotonic() - begin < 25
        assert fits["reason"].values.tolist() == ["not done"] * 3
    finally:
        for process in executor._processes.values():
            process.kill()
        executor.shutdown()


def _sleeping(seconds):
    @of_main
    def sleeps(draws):
        import time

        time.sleep(seconds)
        return 1

    return sleeps


def test_ctrl_c_that_wakes_nobody_is_seen_beside_dask():
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        begin = time.monotonic()
        fits = fit(client, interrupted(1), reduce=_sleeping(30))
        assert time.monotonic() - begin < 25
    assert fits["reason"].values.tolist() == ["not done"]


def other_nutpie():
    found = versions.version
    versions.version = lambda package: "0.1" if package == "nutpie" else found(package)


@pytest.mark.parametrize("name", ["processes", "loky"])
def test_a_worker_with_another_version_is_the_end(name):
    here = versions.version("nutpie")
    if name == "loky":
        make = pytest.importorskip("joblib").externals.loky.ProcessPoolExecutor
        make = partial(make, 1)
    else:
        make = partial(ProcessPoolExecutor, 1, multiprocessing.get_context("spawn"))
    said = rf"OtherVersions: a worker \(process \d+ of .*\) has other versions .*: nutpie 0\.1 in place of {here}$"
    with make(initializer=other_nutpie) as executor, pytest.raises(inlay.pymc.FitsEnded, match=said):
        fit(executor, numbered(20))


def test_versions_are_those_that_packages_say():
    from importlib.metadata import version

    for package in ("numpy", "scipy", "nutpie", "pymc", "pytensor"):
        assert versions.version(package) == version(package)
    assert versions.version("no_such_package") is None


def test_a_package_without_metadata_has_no_version(tmp_path, monkeypatch):
    (tmp_path / "bare_package.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    assert versions.version("bare_package") is None


@pytest.mark.parametrize("pool", [ThreadPoolExecutor, ProcessPoolExecutor])
def test_a_pool_that_never_starts_is_the_end(pool):
    made, context = [], multiprocessing.get_context("forkserver")
    more = {"mp_context": context} if pool is ProcessPoolExecutor else {}

    def make():
        made.append(1)
        return pool(2, initializer=int, initargs=("no number",), **more)

    with pytest.raises(inlay.pymc.FitsEnded, match="WorkersLost: the first 5 fits have lost their workers") as raised:
        fit(make, numbered(60))
    assert len(made) < 20  # not two for each fit
    assert raised.value.fits["reason"].values[59] == "not done"


def test_an_iterator_that_fails_leaves_the_fits_before():
    def datasets():
        yield from numbered(50)
        raise OSError("the disk is gone")

    for executor in (2, pytest.importorskip("joblib").Parallel(2, backend="threading")):
        with pytest.raises(inlay.pymc.FitsEnded, match=r"50 are done .*: OSError: the disk is gone") as raised:
            fit(executor, datasets())
        assert isinstance(raised.value.__cause__, OSError)
        assert raised.value.fits["failed"].values.tolist() == [False] * 50
