"""Many fits of one model: what they cost by the fit, in processes, and in memory. Run by run.py, or by hand:

    python bench/fits.py regressions    CPU milliseconds of a fit of a regression on 20 to 200 points, 400 + 400 draws
    python bench/fits.py start          of a fit of the same with 2 + 1 draws
    python bench/fits.py nutpie         what nutpie.sample takes for the first, with its start and its xarray
    python bench/fits.py many [COUNT]   CPU seconds and those on the wall of fit_many of so many of these, 10 000, on one thread
    python bench/fits.py methods        a table: CPU milliseconds of a fit that draws next to nothing by PyMC's methods
    python bench/fits.py workers [NAME] seconds on the wall of one worker over those of two: of processes, or of threads,
                                        joblib, dask or ray
    python bench/fits.py memory         megabytes of a worker above those of Python, NumPy and nutpie's core
    python bench/fits.py parent [COUNT] [SUFFIX]  megabytes by which 10 000 fits, or so many, raise the parent's memory; with a
                                        suffix, .parquet or .zarr, where they are written to disk
    python bench/fits.py calibration    CPU seconds of inlay.pymc.SBC: eight schools, 1000 x (25 draws, 50 tune)
    python bench/fits.py shards         a table: milliseconds of a gradient by rows and by what holds them
    python bench/fits.py simuk          of one simulation of the same by simuk, in PyMC's own mode, after a first one

One number is printed, but where the text says otherwise. The least of several rounds counts.
"""

import contextlib
import multiprocessing
import os
import resource
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial

import paths  # noqa: F401: says that nothing is taken from the user's cache

import numpy as np

FITS = 300
ROUNDS = 5


def regression():
    import pymc as pm

    with pm.Model() as model:
        x, y = (pm.Data(name, np.zeros(2)) for name in "xy")
        slope, level, noise = pm.Normal("slope", 0, 2), pm.Normal("level", 0, 2), pm.HalfNormal("noise", 1)
        pm.Normal("observed", level + slope * x, noise, observed=y)
    return model


def series(count):
    rng = np.random.default_rng(1)
    out = []
    for n in rng.integers(20, 201, count):
        x = rng.normal(size=n)
        out.append({"x": x, "y": 1 + 2 * x + rng.normal(size=n)})
    return out


def eight_schools():
    import pymc as pm

    effects = np.array([28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0])
    errors = np.array([15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0])
    with pm.Model() as model:
        mu, tau, z = pm.Normal("mu", 0, 5), pm.HalfCauchy("tau", 5), pm.Normal("z", 0, 1, shape=8)
        pm.Normal("y", mu + tau * z, errors, observed=effects)
    return model


def cpu_seconds():
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def milliseconds_of_a_fit(draws, tune):
    """Without compiling: of all fits but the first."""
    from inlay.fits.fit import Work, fit
    from inlay.fits.methods import Nuts
    from inlay.pymc.fit_functions import fit_functions

    settings = {"num_draws": draws, "num_tune": tune, "num_chains": 1}
    work, data = Work(fit_functions(regression()), 1, Nuts(settings), ("mean", "sd")), series(FITS)
    fit(work, 0, data[0])

    def once():
        begin = cpu_seconds()
        for number, given in enumerate(data):
            fit(work, number, given)
        return cpu_seconds() - begin

    return 1e3 * min(once() for _ in range(ROUNDS)) / FITS


def milliseconds_of_nutpie():
    import nutpie

    import inlay.pymc

    compiled, data = inlay.pymc.compile_nutpie(regression()), series(20)

    def once():
        begin = cpu_seconds()
        for given in data:
            nutpie.sample(compiled.with_data(**given), draws=400, tune=400, chains=1, seed=1, progress_bar=False)
        return cpu_seconds() - begin

    return 1e3 * min(once() for _ in range(ROUNDS)) / len(data)


def seconds_of_many(count="10000"):
    """With the compilation, all data sets and all results."""
    import inlay.pymc

    model, data = regression(), series(int(count))
    begin, begin_on_wall = cpu_seconds(), time.perf_counter()
    fits = inlay.pymc.fit_many(model, data, draws=400, tune=400, chains=1, seed=1, executor=1, progress=False)
    assert not fits["failed"].any()
    return f"{cpu_seconds() - begin:.1f} {time.perf_counter() - begin_on_wall:.1f}"


def milliseconds_of_methods():
    """Of the regression, by "nuts" with a variable of two values besides; with 20 particles, or 10 steps."""
    from inlay.fits.fit import Work, fit
    from inlay.pymc.methods import method_of

    cases = {"smc": ({}, 20), "advi": ({"n": 10}, 1), "nuts": ({}, 1)}
    lines, data = [], series(FITS // 10)
    for name, (settings, draws) in cases.items():
        model = regression() if name != "nuts" else regression_with_a_switch()
        more = {} if name == "nuts" else settings
        how, functions_of = method_of(model, name, draws, 2, 1, None, more)
        work = Work(functions_of(model, None, []), 1, how, ("mean",))
        fit(work, 0, data[0])
        times = []
        for number, given in enumerate(data):
            begin = time.process_time()
            fit(work, number, given)
            times.append(time.process_time() - begin)
        lines.append(f"{name} {1e3 * np.median(times):.1f}")
    return "\n".join(lines)


def regression_with_a_switch():
    import pymc as pm

    with pm.Model() as model:
        x, y = (pm.Data(name, np.zeros(2)) for name in "xy")
        slope, level, noise = pm.Normal("slope", 0, 2), pm.Normal("level", 0, 2), pm.HalfNormal("noise", 1)
        pm.Normal("observed", level + slope * x + pm.Bernoulli("shift", 0.5), noise, observed=y)
    return model


@contextlib.contextmanager
def workers(name, count):
    """An executor of so many."""
    if name == "processes":
        with ProcessPoolExecutor(count, multiprocessing.get_context("forkserver")) as executor:
            yield executor
    elif name == "threads":
        yield count
    elif name == "joblib":
        import joblib

        with joblib.Parallel(count) as parallel:
            yield parallel
    elif name == "dask":
        from distributed import Client, LocalCluster

        one_thread = {"threads_per_worker": 1, "dashboard_address": None}
        with LocalCluster(n_workers=count, **one_thread) as cluster, Client(cluster) as client:
            yield client
    elif name == "ray":
        import ray

        ray.init(num_cpus=count, include_dashboard=False, log_to_driver=False)
        try:
            yield ray
        finally:
            ray.shutdown()
    else:
        raise SystemExit(f"there are no workers {name}")


def speedup_of_two(name="processes"):
    import inlay.pymc

    model, data = regression(), series(2 * FITS)

    def seconds(executor):
        fit = partial(inlay.pymc.fit_many, model, draws=400, chains=1, seed=1, progress=False, executor=executor)
        fit(data[:8])  # the workers are there
        begin = time.perf_counter()
        whole = fit(data)
        both = time.perf_counter() - begin
        begin = time.perf_counter()
        fit(data[:1])  # what each call compiles
        assert not whole["failed"].any()
        return both - (time.perf_counter() - begin)

    if name == "ray":  # of which a process has one
        least = []
        for count in (1, 2):
            with workers(name, count) as executor:
                least.append(min(seconds(executor) for _ in range(ROUNDS)))
        return least[0] / least[1]
    with workers(name, 1) as one, workers(name, 2) as two:
        times = [(seconds(one), seconds(two)) for _ in range(ROUNDS)]
    return min(t for t, _ in times) / min(t for _, t in times)


def resident_megabytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize() / 1e6


def resident_now(draws):
    """In a worker, which needs no import for it."""
    import resource

    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize() / 1e6


def megabytes_of_a_worker():
    """After 300 fits."""
    import inlay.pymc

    options = {"draws": 400, "chains": 1, "seed": 1, "progress": False, "reduce": resident_now}
    with ProcessPoolExecutor(1, multiprocessing.get_context("forkserver")) as executor:
        fits = inlay.pymc.fit_many(regression(), series(FITS), executor=executor, **options)
    return float(fits["resident_now"].max()) - bare_megabytes()


def bare_megabytes():
    """Of Python with NumPy and nutpie's core alone."""
    code = """
import importlib.util, pathlib, resource
import numpy
folder = pathlib.Path(importlib.util.find_spec("nutpie").submodule_search_locations[0])
spec = importlib.util.spec_from_file_location("nutpie._lib", next(folder.glob("_lib*.so")))
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
print(int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize() / 1e6)
"""
    return float(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout)


def megabytes_of_the_parent(count="10000", suffix=None):
    """All that the process grows by, for two numbers of each of three variables and a fit. The results are alive."""
    import inlay.pymc

    count, folder = int(count), tempfile.TemporaryDirectory()

    fit = partial(inlay.pymc.fit_many, regression(), draws=1, tune=10, chains=1, seed=1, progress=False)
    data = {"x": np.zeros(2), "y": np.zeros(2)}

    def to(name):
        return None if suffix is None else os.path.join(folder.name, name + suffix)

    with folder:
        fit((data for _ in range(100)), to=to("first"))
        before = resident_megabytes()
        fits = fit((data for _ in range(count)), to=to("fits"))
        assert (fits.count_rows() if suffix == ".parquet" else fits.sizes["dataset"]) == count
        return resident_megabytes() - before


def seconds_of_calibration():
    import inlay.pymc

    begin = cpu_seconds()
    options = {"draws": 25, "tune": 50}
    inlay.pymc.SBC(eight_schools(), num_simulations=1000, sample_kwargs=options, seed=1, progress_bar=False).run_simulations()
    return cpu_seconds() - begin


def seconds_of_simuk():
    import simuk

    options = {"draws": 25, "tune": 50}
    model = eight_schools()

    def seconds(count):
        begin = cpu_seconds()
        simuk.SBC(model, num_simulations=count, sample_kwargs=dict(options), seed=1, progress_bar=False).run_simulations()
        return cpu_seconds() - begin

    seconds(1)
    return seconds(11) / 11


def milliseconds_of_gradients():
    """Of a regression on 8 columns: the whole in one place, and two shards in threads, on Dask and on Ray."""
    import ray
    from distributed import Client, LocalCluster

    from inlay.fits.shards import FunctionsOfShards, Shard, held
    from inlay.pymc.fit_functions import fit_functions

    functions = fit_functions(columns_model())
    lines = ["rows whole threads dask ray"]
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        for n in (1_000, 100_000, 1_000_000, 4_000_000):
            x, y = np.random.default_rng(1).normal(size=(n, 8)), np.random.default_rng(2).normal(size=n)
            shards = [{"x": x[part], "y": y[part]} for part in (slice(0, n // 2), slice(n // 2, n))]
            empty = functions.arrays({"x": x[:0], "y": y[:0]})
            alone = Shard(functions, {"x": x, "y": y})
            times = [milliseconds(lambda: alone.logp(np.zeros(9)))]
            for executor in (2, client, ray):
                holder = held(functions, shards, executor)
                together = FunctionsOfShards(functions, empty, holder, 2)
                times.append(milliseconds(lambda: together.logp(np.zeros(9))))
                holder.close()
            lines.append(f"{n} " + " ".join(f"{t:.3g}" for t in times))
    ray.shutdown()
    return "\n".join(lines)


def columns_model():
    import pymc as pm

    with pm.Model() as model:
        x, y = pm.Data("x", np.zeros((2, 8))), pm.Data("y", np.zeros(2))
        slope, noise = pm.Normal("slope", 0, 5, shape=8), pm.HalfNormal("noise", 2)
        pm.Normal("seen", x @ slope, noise, observed=y)
    return model


def milliseconds(call, seconds=1.0):
    """On the wall: the least of as many calls as a second has."""
    call()
    end, least = time.perf_counter() + seconds, np.inf
    while time.perf_counter() < end:
        begin = time.perf_counter()
        call()
        least = min(least, time.perf_counter() - begin)
    return 1e3 * least


FIGURES = {
    "regressions": lambda: milliseconds_of_a_fit(400, 400),
    "start": lambda: milliseconds_of_a_fit(1, 2),
    "nutpie": milliseconds_of_nutpie,
    "many": seconds_of_many,
    "methods": milliseconds_of_methods,
    "workers": speedup_of_two,
    "memory": megabytes_of_a_worker,
    "parent": megabytes_of_the_parent,
    "calibration": seconds_of_calibration,
    "simuk": seconds_of_simuk,
    "shards": milliseconds_of_gradients,
}

if __name__ == "__main__":
    print(FIGURES[sys.argv[1]](*sys.argv[2:]))
