"""Where fits run changes nothing of them, and what is killed is done again."""

import itertools
import multiprocessing
import os
import re
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from types import SimpleNamespace

import inlay.pymc
import numpy as np
import pymc as pm
import pytest
from inlay.fits import tasks, versions
from inlay.fits.fit import Work
from inlay.fits.kept import NAME, Kept

pytest.importorskip("nutpie")

FEW = {"draws": 50, "tune": 100, "chains": 2, "seed": 20240607, "progress": False}


def mean_model():
    with pm.Model() as model:
        y = pm.Data("y", np.zeros(3))
        pm.Normal("likelihood", pm.Normal("mu", 0, 10), pm.HalfNormal("sd"), observed=y)
    return model


def series(count=12):
    rng = np.random.default_rng(1)
    return [{"y": rng.normal(i, 1, 3 + i)} for i in range(count)]


def fit(executor, datasets=None, **options):
    given = series() if datasets is None else datasets
    return inlay.pymc.fit_many(mean_model(), given, executor=executor, **(FEW | {"keep": ["mu", "sd"]} | options))


@pytest.fixture(scope="module")
def alone():
    """What one thread makes of it."""
    return fit(1)


def check_same(fits, alone):
    assert fits["reason"].values.tolist() == [""] * fits.sizes["dataset"]
    for name in alone.data_vars:
        if name != "seconds":
            np.testing.assert_array_equal(fits[name].values, alone[name].values, err_msg=name)


def of_main(function):
    """`function` as one of __main__, which is pickled with its code: a worker needs no import for it."""
    function.__module__ = "__main__"
    return function


@of_main
def what_a_worker_has(draws):
    import sys

    modules = ("pytensor", "pymc", "numba", "pandas", "xarray", "scipy", "pyarrow", "arviz", "inlay.pytensor")
    with open("/proc/self/maps") as maps:
        compiler = "libinlay_jit" in maps.read()
    return [sum(name in sys.modules for name in modules), compiler]


@of_main
def dies_of_the_wrong_number(draws, data):
    import os
    import signal

    if len(data["y"]) == 7:
        os.kill(os.getpid(), signal.SIGKILL)
    return 1


def test_threads(alone):
    check_same(fit(None), alone)
    with ThreadPoolExecutor(3) as executor:
        check_same(fit(executor), alone)


def test_two_runs_of_the_same_at_once():
    """Each is stopped by its own end alone: here the end of the first, while a fit of the other runs."""
    first_has_ended, begun = threading.Event(), threading.Event()

    def short():
        begun.wait(60)
        fits = fit(1, series(1), draws=2000)
        first_has_ended.set()
        return fits

    def slow():
        yield series(1)[0]
        begun.set()
        assert first_has_ended.wait(60)
        yield series(2)[1]

    with ThreadPoolExecutor(2) as executor:
        one, other = executor.submit(fit, 1, slow(), draws=2000), executor.submit(short)
        assert other.result()["reason"].values.tolist() == [""]
        assert one.result()["reason"].values.tolist() == ["", ""]


def test_another_order(alone):
    """A fit does not depend on those before it: each by itself, the last first."""
    data = series()
    for number in (7, 2):
        fits = fit(1, [*({"y": np.ones(2)} for _ in range(number)), data[number]])
        np.testing.assert_array_equal(fits["mu"].values[-1], alone["mu"].values[number])


@pytest.mark.parametrize("method", ["fork", "forkserver", "spawn"])
def test_processes(method, alone):
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"no {method} here")
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context(method)) as executor:
        check_same(fit(executor), alone)


def test_a_worker_compiles_nothing_and_imports_little():
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as executor:
        fits = fit(executor, reduce={"has": what_a_worker_has})
    assert (fits["has"].values == 0).all()


def test_a_full_folder_of_temporary_files_is_no_end(alone, tmp_path, monkeypatch, caplog):
    """The functions go to the workers with their tasks."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as executor:
        check_same(fit(executor), alone)
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "full"))
        fits = fit(executor, draws=51, to=tmp_path / "fits.zarr")
    np.testing.assert_array_equal(fits["mu"].values, fit(1, draws=51)["mu"].values)
    said = "the compiled functions go to each worker with its first tasks, since no file can hold them: .*"
    assert re.search(said + re.escape(str(tmp_path / "full")), caplog.text)


@pytest.mark.skipif(sys.platform != "linux", reason="/proc")
def test_the_functions_travel_once(alone, monkeypatch, tmp_path):
    """As a file that each worker reads; as bytes where a worker does not see the file."""
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as executor:
        check_same(fit(executor), alone)
        sent = []
        with_data = tasks.Ticket.with_data
        monkeypatch.setattr(tasks.Ticket, "with_data", lambda *args: sent.append(1) or with_data(*args))
        check_same(fit(executor, draws=51), fit(1, draws=51))
        assert sent == []
        without_path(monkeypatch)
        check_same(fit(executor, draws=52), fit(1, draws=52))
    # One for each of the two workers, and for the tasks that were in flight when the first came back: a pool does not say
    # which worker has a task.
    assert 1 <= len(sent) <= 4


@pytest.mark.parametrize(("workers", "threads"), [(2, 1), (1, 8)])
def test_the_functions_travel_once_to_each_worker_of_dask(workers, threads, alone, monkeypatch):
    """By themselves, where the workers do not see the file: no task has them."""
    distributed = pytest.importorskip("distributed")
    scattered, with_tasks = [], []
    scatter, submit = distributed.Client.scatter, distributed.Client.submit
    monkeypatch.setattr(distributed.Client, "scatter", lambda *args, **kwargs: scattered.append(kwargs) or scatter(*args, **kwargs))

    def noted(client, function, task, *args, **options):
        with_tasks.append(task.ticket.data)
        return submit(client, function, task, *args, **options)

    monkeypatch.setattr(distributed.Client, "submit", noted)
    without_path(monkeypatch)
    options = {"n_workers": workers, "threads_per_worker": threads, "dashboard_address": None}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        check_same(fit(client), alone)
    assert scattered == [{"broadcast": True}]
    assert len(with_tasks) > 12
    assert set(with_tasks) == {None}


def without_path(monkeypatch):
    """As on another machine."""
    init = tasks.Ticket.__init__
    monkeypatch.setattr(tasks.Ticket, "__init__", lambda self, hash, run, path=None, data=None: init(self, hash, run, None, data))


def test_dask(alone):
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        check_same(fit(client), alone)
        check_same(fit(client.get_executor()), alone)


@pytest.mark.parametrize("sees_the_file", [True, False])
@pytest.mark.parametrize("how", ["adapted", "from none", "scaled"])
def test_workers_of_dask_that_come_and_go(how, sees_the_file, monkeypatch):
    """Nothing is lost, and nothing is there twice."""
    distributed = pytest.importorskip("distributed")
    if not sees_the_file:
        without_path(monkeypatch)
    longer = partial(inlay.pymc.fit_many, mean_model(), series(40), keep=["mu"], **(FEW | {"draws": 2000}))
    want, over = longer(executor=1), threading.Event()
    options = {"n_workers": 0 if how == "from none" else 1, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:

        def scale():
            counts = itertools.cycle([3, 1, 2])
            while not over.wait(0.4):
                cluster.scale(next(counts))

        scaling = threading.Thread(target=scale)
        if how == "scaled":
            scaling.start()
        else:
            cluster.adapt(minimum=0 if how == "from none" else 1, maximum=3, interval="100ms", wait_count=1)
        try:
            for _ in range(2):
                check_same(longer(executor=client), want)
        finally:
            over.set()
            if how == "scaled":
                scaling.join()


def test_joblib(alone):
    joblib = pytest.importorskip("joblib")
    from joblib.externals import loky

    with loky.ProcessPoolExecutor(2) as executor:
        check_same(fit(executor), alone)
    for backend in ("loky", "threading", "multiprocessing"):
        check_same(fit(joblib.Parallel(2, backend=backend)), alone)


def test_ray(alone, monkeypatch):
    ray = pytest.importorskip("ray")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        check_same(fit(ray), alone)
        put, sent = ray.put, []
        monkeypatch.setattr(ray, "put", lambda data: sent.append(data) or put(data))
        without_path(monkeypatch)
        check_same(fit(ray, draws=53), fit(1, draws=53))
        assert len(sent) == 1
    finally:
        ray.shutdown()


@pytest.mark.parametrize("method", ["forkserver", "spawn"])
def test_a_fit_that_kills_its_worker_is_a_row(method, alone):
    make = partial(ProcessPoolExecutor, 2, mp_context=multiprocessing.get_context(method))
    fits = fit(make, reduce=["mean", dies_of_the_wrong_number])
    assert fits["failed"].values.tolist() == [i == 4 for i in range(12)]
    assert fits["reason"].values[4].startswith("its worker was lost 2 times: A ")
    others = np.arange(12) != 4
    np.testing.assert_array_equal(fits["mu_mean"].values[others], alone["mu_mean"].values[others])


def test_killed_workers_fits_are_done_again(alone, tmp_path):
    """Four of the fits kill their worker when they are done for the first time."""
    once = of_main(_dies_the_first_time(str(tmp_path)))
    make = partial(ProcessPoolExecutor, 2, mp_context=multiprocessing.get_context("forkserver"))
    fits = fit(make, reduce={"mean": "mean", "once": once})
    assert len(list(tmp_path.iterdir())) == 4
    check_same(fits.drop_vars(["once"]), alone[["mu_mean", "sd_mean", "mu", "sd"]])


def _dies_the_first_time(folder):
    def once(draws, data):
        import os
        import signal

        mark = os.path.join(folder, str(len(data["y"])))
        if len(data["y"]) % 3 == 0 and not os.path.exists(mark):
            open(mark, "x").close()
            os.kill(os.getpid(), signal.SIGKILL)
        return 1

    return once


def test_an_executor_of_the_callers_that_breaks_loses_nothing(alone, tmp_path):
    folder = tmp_path / "fits"
    once = of_main(_dies_the_first_time(str(tmp_path)))
    options = {"reduce": {"mean": "mean", "once": once}, "resume": folder}
    with (
        ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("forkserver")) as executor,
        pytest.raises(inlay.pymc.FitsEnded, match="WorkersLost: ") as raised,
    ):
        fit(executor, series()[1:], **options)
    done = raised.value.fits["reason"].values == ""
    assert 1 <= done.sum() < 11
    fits = fit(1, series()[1:], **(options | {"reduce": {"mean": "mean"}, "resume": None}))
    np.testing.assert_array_equal(raised.value.fits["mu"].values[done], fits["mu"].values[done])


RUN = """
import os, signal, sys
import numpy as np
sys.path.insert(0, {here!r})
from test_fit_many_executors import fit, series

def datasets():
    for i, data in enumerate(series()):
        if i == int(sys.argv[2]):
            os.kill(os.getpid(), signal.SIGKILL)
        yield data

if __name__ == "__main__":
    fit(1, datasets(), resume=sys.argv[1])
"""


def test_a_killed_run_goes_on(alone, tmp_path, monkeypatch):
    """At three points; each takes what was finished before, and the last one repeats none of it."""
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(RUN.format(here=os.path.dirname(__file__))))
    folder = tmp_path / "fits"
    sizes = []
    for end in (3, 6, 11):
        done = subprocess.run([sys.executable, script, folder, str(end)], check=False, timeout=300)
        assert done.returncode == -signal.SIGKILL
        sizes.append((folder / NAME).stat().st_size)
    assert sizes[0] > 100
    assert sizes == sorted(set(sizes))
    fitted = count_fits(monkeypatch)
    check_same(fit(1, resume=folder), alone)
    assert 1 <= len(fitted) < 12
    fitted.clear()
    check_same(fit(1, resume=folder), alone)
    assert fitted == []


def count_fits(monkeypatch):
    fitted, fit_ = [], tasks.fit
    monkeypatch.setattr(tasks, "fit", lambda work, number, *args: fitted.append(number) or fit_(work, number, *args))
    return fitted


def test_what_is_taken_is_of_the_same_fit(alone, tmp_path, monkeypatch):
    fitted = count_fits(monkeypatch)
    check_same(fit(1, resume=tmp_path), alone)
    assert sorted(fitted) == [*range(12)]
    data = series()
    data[3]["y"] = data[3]["y"] + 1e-9
    fitted.clear()
    fit(1, data, resume=tmp_path)
    assert fitted == [3]
    of_draws = ({"draws": 51}, {"seed": 2}, {"nuts_sampler_kwargs": {"target_accept": 0.9}})
    of_results = ({"keep": ["mu"]}, {"reduce": "mean"}, {"reduce": lambda draws: 1}, {"reduce": lambda draws: 2})
    for options in (*of_draws, *of_results):
        fitted.clear()
        fit(1, series(2), resume=tmp_path, **options)
        assert sorted(fitted) == [0, 1]
    fitted.clear()
    check_same(fit(1, resume=tmp_path), alone)
    assert fitted == []


@pytest.mark.parametrize("package", ["nutpie", "scipy", "numpy"])
def test_another_version_of_what_makes_the_draws_makes_them_anew(package, tmp_path, monkeypatch):
    fitted, version = count_fits(monkeypatch), versions.version
    fit(1, series(2), resume=tmp_path)
    monkeypatch.setattr(versions, "version", lambda name: "0.0" if name == package else version(name))
    fit(1, series(2), resume=tmp_path)
    assert sorted(fitted) == [0, 0, 1, 1]


MODEL_IN_A_SCRIPT = """
import sys
sys.path.insert(0, {here!r})
import pymc as pm
from test_fit_many_executors import FEW, inlay, np, series
{comment}
if __name__ == "__main__":
    with pm.Model() as model:
        y, at = pm.Data("y", np.zeros(3)), pm.Data("at", np.array([0]))
        each = pm.Normal("each", shape=2)
        pm.Normal("likelihood", each[at].sum(), 1, observed=y)
    fits = inlay.pymc.fit_many(model, series(2), resume=sys.argv[1], predictive=True, reduce=["mean", "loglik"], **FEW)
    assert not fits["failed"].any()
    print(fits["seconds"].values.tolist())
"""


def test_lines_above_the_model_are_not_what_it_is(tmp_path):
    def run(comment):
        script = tmp_path / "script.py"
        script.write_text(MODEL_IN_A_SCRIPT.format(here=os.path.dirname(__file__), comment=comment))
        command = [sys.executable, script, tmp_path / "fits"]
        return subprocess.run(command, check=True, capture_output=True, text=True, timeout=300).stdout

    assert run("") == run("# a comment\n\n")


def test_fits_that_failed_are_tried_again(tmp_path, monkeypatch):
    fitted = count_fits(monkeypatch)
    data = [{"y": np.ones(3)}, {"y": np.array([np.nan])}]
    fit(1, data, resume=tmp_path)
    fitted.clear()
    assert fit(1, data, resume=tmp_path)["failed"].values.tolist() == [False, True]
    assert fitted == [1]


def test_damaged_and_foreign_files(alone, tmp_path, monkeypatch):
    """What stands before the damage is taken."""
    fit(1, resume=tmp_path)
    path = tmp_path / NAME
    whole = path.read_bytes()
    fitted = count_fits(monkeypatch)
    for damaged in (whole[:-1], whole[: len(whole) // 2], whole[:-200] + b"\0" * 200):
        path.write_bytes(damaged)
        fitted.clear()
        check_same(fit(1, resume=tmp_path), alone)
        assert 1 <= len(fitted) < 12
        fitted.clear()
        check_same(fit(1, resume=tmp_path), alone)
        assert fitted == []
    path.write_bytes(b"something else")
    with pytest.raises(ValueError, match=r"resume: .* holds no fits"):
        fit(1, resume=tmp_path)
    assert path.read_bytes() == b"something else"


def test_two_runs_in_one_folder(tmp_path):
    def datasets():
        yield series()[0]
        with pytest.raises(BlockingIOError, match="resume: another run keeps its fits in"):
            fit(1, resume=tmp_path)

    assert fit(1, datasets(), resume=tmp_path)["reason"].values.tolist() == [""]


OF_FORK = "ignore:This process .* is multi-threaded"


@pytest.mark.fork
@pytest.mark.filterwarnings(OF_FORK)
def test_workers_by_fork_do_not_have_the_folder(tmp_path):
    with ProcessPoolExecutor(1, multiprocessing.get_context("fork")) as executor:
        first = fit(executor, series(2), resume=tmp_path)
        check_same(fit(executor, series(2), resume=tmp_path), first)


@pytest.mark.fork
@pytest.mark.filterwarnings(OF_FORK)
def test_what_a_child_by_fork_has_open_locks_nothing(tmp_path):
    work = Work(SimpleNamespace(content=str), 1, SimpleNamespace(packages=()))
    kept, (end, alive) = Kept(tmp_path, work), os.pipe()
    child = os.fork()
    if child == 0:
        os.close(alive)
        os.read(end, 1)  # until the parent has closed the other end
        os._exit(0)
    with pytest.raises(BlockingIOError):
        Kept(tmp_path, work)
    time.sleep(0.2)  # the child begins
    kept._file.close()  # as the end of a killed process does it: nothing is unlocked
    with Kept(tmp_path, work):
        pass
    os.close(alive)
    os.waitpid(child, 0)
    os.close(end)


def test_ragged_data_and_masked_ones_are_rows(tmp_path, monkeypatch):
    """They are no bytes that tell them from others."""
    fitted = count_fits(monkeypatch)
    y = np.ones(3)
    data = [{"y": y}, {"y": [1.0, [2.0, 3.0]]}, {"y": y}, {"y": np.array([1.0, None])}]
    fits = fit(1, data, resume=tmp_path)
    assert fits["failed"].values.tolist() == [False, True, False, True]
    fitted.clear()
    data[0] = {"y": np.ma.masked_array(y, [0, 0, 1])}
    again = fit(1, data, resume=tmp_path)
    assert again["reason"].values[1:].tolist() == fits["reason"].values[1:].tolist()
    assert again["reason"].values[0].startswith("BadData: y is a masked array that hides values")
    assert fitted == [0, 1, 3]


def test_a_full_disk_loses_no_finished_fit(alone, tmp_path, monkeypatch):
    """A limit on the size of files stands for it."""
    resource = pytest.importorskip("resource")
    fit(1, series(4), resume=tmp_path)
    before = (tmp_path / NAME).stat().st_size
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    old = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (before + before // 2, limits[1]))
        said = rf"OSError: .*resume: {re.escape(str(tmp_path / NAME))} cannot be written: File too large"
        with pytest.raises(inlay.pymc.FitsEnded, match=said) as raised:
            fit(1, resume=tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, old)
    done = raised.value.fits["reason"].values == ""
    assert 5 <= done.sum() < 12
    assert (tmp_path / NAME).stat().st_size > before
    fitted = count_fits(monkeypatch)
    check_same(fit(1, resume=tmp_path), alone)
    assert 1 <= len(fitted) < 8
