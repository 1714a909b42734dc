"""One model fitted to many data sets: what a fit is, what is kept of it, and what becomes of one that fails."""

import signal
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import inlay.pymc
import numpy as np
import pymc as pm
import pytensor.tensor as pt
import pytest
import xarray
from inlay import _inlay
from inlay.fits import nutpie_core, run, summaries
from inlay.fits.datasets import DataSets
from inlay.fits.run import text_of as progress_text
from python_ops import Square

pytest.importorskip("nutpie")

FEW = {"draws": 200, "tune": 200, "chains": 2, "seed": 20240607, "progress": False}


def fit(model, datasets, **options):
    return inlay.pymc.fit_many(model, datasets, **(FEW | options))


def mean_model():
    """A mean with a known posterior."""
    with pm.Model() as model:
        y = pm.Data("y", np.zeros(3))
        mu = pm.Normal("mu", 0, 10)
        pm.Deterministic("distance", mu - y.mean())
        pm.Deterministic("residual", y - mu)
        pm.Normal("likelihood", mu, 1, observed=y)
    return model


def series(lengths=(20, 5, 40), seed=1):
    rng = np.random.default_rng(seed)
    return [{"y": rng.normal(i, 1, n)} for i, n in enumerate(lengths)]


def check_mean(fits, data):
    precision = np.array([len(d["y"]) for d in data]) + 1 / 100
    mean, sd = np.array([d["y"].sum() for d in data]) / precision, precision**-0.5
    # 400 draws, of which NUTS gives at least a third as many independent ones: six standard errors of a mean, and of an sd.
    independent = 400 / 3
    assert (abs(fits["mu_mean"].values - mean) < 6 * sd / np.sqrt(independent)).all()
    assert (abs(fits["mu_sd"].values / sd - 1) < 6 / np.sqrt(2 * independent)).all()


def test_posteriors_of_data_of_other_lengths():
    data = series()
    fits = fit(mean_model(), data)
    assert fits["reason"].values.tolist() == ["", "", ""]
    assert not fits["failed"].any()
    check_mean(fits, data)
    residual = fits["residual_mean"].values
    assert residual.shape == (3, 40)
    for row, mean, given in zip(residual, fits["mu_mean"].values, data, strict=True):
        n = len(given["y"])
        np.testing.assert_allclose(row[:n], given["y"] - mean, atol=1e-10)  # sums of 400 draws of size 40 at most
        assert np.isnan(row[n:]).all()
    assert fits.attrs["draws"] == 200


def test_one_compilation(monkeypatch):
    compiled = []
    compile_ = _inlay.compile
    monkeypatch.setattr(_inlay, "compile", lambda *args, **kwargs: compiled.append(1) or compile_(*args, **kwargs))
    fit(mean_model(), series((3,)))
    assert len(compiled) == 3  # the log density with its gradient, what a draw records, the start
    compiled.clear()
    fit(mean_model(), series(range(2, 12)))
    assert len(compiled) == 3


def test_the_draws_are_those_of_nutpie():
    """Of the same posterior: another start has other draws."""
    import nutpie

    model, data = mean_model(), series((30,))
    fits = fit(model, data, keep=["mu"], draws=1000)
    compiled = inlay.pymc.compile_nutpie(model, var_names=[]).with_data(y=data[0]["y"])
    trace = nutpie.sample(compiled, draws=1000, tune=200, chains=2, seed=5, progress_bar=False)
    ours, theirs = fits["mu"].values[0], trace.posterior["mu"].values
    assert ours.shape == theirs.shape == (2, 1000)
    error = np.sqrt(2) * theirs.std() / np.sqrt(2000 / 3)  # of a difference of two means, at a third as many independent draws
    assert abs(ours.mean() - theirs.mean()) < 6 * error


def test_parameters_whose_number_comes_with_the_data():
    """An effect for each observation, of a known posterior: its mean is half of the observation."""
    with pm.Model(coords={"at": range(4)}) as model:
        y = pm.Data("y", np.zeros(4), dims="at")
        effect = pm.Normal("effect", 0, 1, dims="at")
        pm.Normal("likelihood", effect, 1, observed=y, dims="at")
    data = series((3, 7, 1))
    fits = fit(model, data, keep="effect", draws=500)
    assert fits["effect"].dims == ("dataset", "chain", "draw", "at")
    assert fits["effect"].shape == (3, 2, 500, 7)
    for row, given in zip(fits["effect_mean"].values, data, strict=True):
        n = len(given["y"])
        assert (abs(row[:n] - given["y"] / 2) < 6 * np.sqrt(0.5 / (1000 / 3))).all()
        assert np.isnan(row[n:]).all()
    assert "at" not in fits.coords
    assert fit(model, series((4, 4)))["effect_mean"].coords["at"].values.tolist() == [0, 1, 2, 3]


def test_transforms_integers_and_matrices():
    rng = np.random.default_rng(3)
    with pm.Model() as model:
        group = pm.Data("group", np.zeros(2, "int64"))
        x = pm.Data("x", np.zeros((2, 3)))
        share = pm.Dirichlet("share", np.ones(3))
        level = pm.Normal("level", 0, 1, shape=2)
        scale = pm.HalfNormal("scale", 1)
        pm.Deterministic("is_wide", scale > 0.5)
        pm.Normal("y", x @ share + level[group], scale, observed=pm.Data("observed", np.zeros(2)))
    n = 50
    data = {"group": rng.integers(0, 2, n), "x": rng.normal(size=(n, 3)), "observed": rng.normal(size=n)}
    fits = fit(model, [data, {**data, "group": np.full(n, 1.5)}], keep=["share", "is_wide"])
    np.testing.assert_allclose(fits["share"].values[0].sum(-1), 1, rtol=1e-12)
    assert set(np.unique(fits["is_wide"].values[0])) <= {0.0, 1.0}
    assert fits["reason"].values[0] == ""
    assert fits["reason"].values[1].endswith("which does not hold the float64 given")


def test_what_is_wrong_with_one_data_set_is_its_row():
    good = {"y": np.arange(4.0)}
    bad = {
        "BadData: the model has no data z; it has y": {"z": [1.0]},
        "BadData: y has 2 dimensions; the model's has 1": {"y": np.ones((2, 2))},
        "BadData: y holds 'a', not numbers": {"y": [1.0, "a"]},
        "BadData: y is 'a', not numbers": {"y": "a"},
        "BadData: y holds <U1, not numbers": {"y": np.array(["a"])},
        "BadData: y holds a NoneType, not numbers": {"y": [[1.0, None]]},
        "BadData: y is ragged: lists in it differ in length": {"y": [[1.0], [1.0, 2.0]]},
        "BadData: mu holds a dict, not numbers": {"y": [1.0], "mu": [{}]},
        "a data set is a dict by the names of pm.Data, not list": [1.0],
        "the log density or its gradient is not finite at the starting points": {"y": np.array([np.nan])},
    }
    fits = fit(mean_model(), [good, *bad.values(), good])
    assert fits["reason"].values.tolist() == ["", *bad, ""]
    assert fits["failed"].values.tolist() == [False, *(True for _ in bad), False]
    assert np.isfinite(fits["mu_mean"].values[[0, -1]]).all()
    assert np.isnan(fits["mu_mean"].values[1:-1]).all()


def test_masked_values_are_not_read():
    masked = np.ma.masked_array([1.0, 1e3], [False, True])
    hides = "is a masked array that hides values, which would be read: leave them out of the data"
    fits = fit(mean_model(), [{"y": masked}, {"y": masked[:1]}], draws=20)
    assert fits["reason"].values.tolist() == [f"BadData: y {hides}", ""]
    true = np.ma.masked_array(1.0, True)
    assert fit(mean_model(), [{"y": [1.0], "mu": true}], reduce="ranks", draws=20)["reason"].values.tolist() == [f"BadData: mu {hides}"]


def test_data_that_do_not_fit_each_other():
    with pm.Model(coords={"at": range(2)}) as model:
        x, y = (pm.Data(name, np.zeros(2), dims="at") for name in "xy")
        pm.Normal("likelihood", pm.Normal("slope") * x, 1, observed=y)
    fits = fit(model, [{"x": np.ones(3), "y": np.ones(4)}])
    assert fits["reason"].values.tolist() == ["BadData: y has size 4 along at, and x has 3"]
    with pm.Model() as model:
        x, y = (pm.Data(name, np.zeros(2)) for name in "xy")
        pm.Normal("likelihood", pm.Normal("slope") * x, 1, observed=y)
    fits = fit(model, [{"x": np.ones(3), "y": np.ones(4)}, {"x": np.ones(3), "y": np.ones(3)}])
    assert fits["failed"].values.tolist() == [True, False]
    assert "the log density failed: " in fits["reason"].values[0]


def test_an_op_that_is_only_python():
    with pm.Model() as model:
        y = pm.Data("y", np.zeros(1))
        x = pm.Normal("x", 0, 1)
        pm.Potential("p", -Square()(x + y).sum())
    with pytest.warns(UserWarning, match="the log density runs Python in every draw, for Square"):
        fits = fit(model, [{"y": np.ones(1)}, {"y": np.full(1, 2e3)}, {"y": np.zeros(1)}])
    assert fits["reason"].values.tolist()[::2] == ["", ""]
    assert "the log density failed: ArithmeticError: 2" in fits["reason"].values[1]
    # The density is that of a normal variable: -x**2 / 2 - (x + y)**2 has its mean at -2 y / 3, and variance 1 / 3.
    assert (abs(fits["x_mean"].values[::2] - [-2 / 3, 0]) < 6 * np.sqrt(1 / 3 / (400 / 3))).all()


def test_a_model_that_diverges_everywhere():
    with pm.Model() as model:
        y = pm.Data("y", np.zeros(2))
        x = pm.Normal("x")
        pm.Potential("wall", pt.switch(pt.gt(y.sum(), 0) & pt.neq(x, 0.0), -(x**2) * 1e300, 0.0))
        pm.Normal("likelihood", x, 1, observed=y)
    fits = fit(model, [{"y": np.zeros(2)}, {"y": np.ones(2)}])
    assert fits["failed"].values.tolist() == [False, True]
    assert fits["reason"].values[1] == "every draw is a divergence"
    assert fits["divergences"].values.tolist()[1] == 400


def test_reductions():
    def largest(draws):
        return draws["mu"].max(axis=(0, 1))

    def errors(draws, data):
        return (draws["mu"].mean() - data["y"]) ** 2

    fits = fit(mean_model(), series(), reduce=["mean", largest, errors], keep=["mu"])
    np.testing.assert_array_equal(fits["largest"].values, fits["mu"].values.max(axis=(1, 2)))
    assert fits["errors"].dims == ("dataset", "errors_dim_0")
    assert np.isfinite(fits["errors"].values).sum(axis=1).tolist() == [20, 5, 40]
    by_name = fit(mean_model(), series(), reduce={"top": largest})
    np.testing.assert_array_equal(by_name["top"].values, fits["largest"].values)
    assert "mu_mean" not in by_name


def test_what_a_reduction_takes():
    def keywords(draws, **more):
        return len(more)

    def by_name(draws, *, data):
        return len(data["y"])

    def optional(draws, data=None):
        return len(data["y"])

    def options(draws, *, power=3):
        return power

    fits = fit(mean_model(), series((4,)), reduce=[keywords, by_name, optional, options], draws=20)
    assert fits["reason"].values.tolist() == [""]
    assert [int(fits[name].values[0]) for name in ("keywords", "by_name", "optional", "options")] == [0, 4, 4, 3]


def test_a_reduction_that_fails_is_its_row():
    def ratio(draws, data):
        return 1 // int(data["y"][0])

    def text(draws):
        return "much"

    data = [{"y": np.ones(3)}, {"y": np.zeros(3)}]
    assert fit(mean_model(), data, reduce=ratio)["reason"].values.tolist() == [
        "", "ratio: ZeroDivisionError: integer division or modulo by zero",
    ]  # fmt: skip
    assert fit(mean_model(), data[:1], reduce=text)["reason"].values.tolist() == ["text returned <U4, not numbers"]


def test_a_reduction_of_another_rank_is_its_row():
    def some(draws, data):
        return data["y"] if len(data["y"]) > 5 else 1.0

    fits = fit(mean_model(), series(), reduce=some)
    assert fits["reason"].values.tolist() == ["", "some has 0 dimensions, and 1 in an earlier fit", ""]
    assert fits["some"].shape == (3, 40)


def test_named_summaries_are_those_of_arviz():
    stats = pytest.importorskip("arviz_stats.base").array_stats
    fits = fit(mean_model(), series(), reduce=["mean", "sd", "quantiles", "ess", "rhat"], keep=["mu"], draws=301)
    for i in range(3):
        draws = fits["mu"].values[i]
        assert fits["mu_mean"].values[i] == draws.mean()
        np.testing.assert_allclose(fits["mu_sd"].values[i], draws.std(ddof=1), rtol=1e-12)
        np.testing.assert_array_equal(fits["mu_quantile"].values[i], np.quantile(draws, summaries.QUANTILES))
        # The same formulas; the order of sums and the quantile function differ.
        np.testing.assert_allclose(fits["mu_rhat"].values[i], stats.rhat(draws, chain_axis=0, draw_axis=1), rtol=1e-9)
        np.testing.assert_allclose(fits["mu_ess"].values[i], stats.ess(draws, chain_axis=0, draw_axis=1), rtol=1e-9)
    assert fits["quantile"].values.tolist() == list(summaries.QUANTILES)


@pytest.mark.parametrize("seed", range(20))
def test_ess_and_rhat_of_random_chains(seed):
    """Short and long, of few values, of one sign of correlation or the other."""
    stats = pytest.importorskip("arviz_stats.base").array_stats
    rng = np.random.default_rng(seed)
    chains, draws = int(rng.integers(1, 5)), int(rng.integers(8, 200))
    x, correlation = rng.normal(size=(chains, draws)), rng.uniform(-0.9, 0.99)
    for i in range(1, draws):
        x[:, i] += correlation * x[:, i - 1]
    if seed % 3 == 0:
        x = np.round(x)  # ties
    if chains > 1:  # ArviZ has none of a single chain
        np.testing.assert_allclose(summaries.rhat(x), stats.rhat(x, chain_axis=0, draw_axis=1), rtol=1e-9)
    np.testing.assert_allclose(summaries.ess(x), stats.ess(x, chain_axis=0, draw_axis=1), rtol=1e-9)


def test_summaries_of_what_has_none():
    assert np.isnan(summaries.ess(np.zeros((2, 3))))  # too few
    assert np.isnan(summaries.rhat(np.full((2, 10), np.inf)))
    assert np.isnan(summaries.sd(np.zeros((1, 1))))


def test_ranks_of_true_values():
    """Of simulation-based calibration: uniform where the data come from the prior."""
    rng = np.random.default_rng(7)
    data = []
    for _ in range(100):
        mu = rng.normal(0, 10)
        data.append({"y": rng.normal(mu, 1, 4), "mu": mu})
    fits = fit(mean_model(), data, reduce="ranks", draws=99, chains=1)
    ranks = fits["mu_rank"].values
    assert ranks.dtype == np.int64
    assert fits.data_vars.keys() == {"divergences", "failed", "reason", "seconds", "mu_rank"}
    from scipy.stats import kstest

    assert kstest((ranks + rng.uniform(size=100)) / 100, "uniform").pvalue > 1e-4
    wrong = fit(mean_model(), [{"y": np.ones(3), "mu": [1.0, 2.0]}], reduce="ranks")
    assert wrong["reason"].values.tolist() == ["ValueError: the true value has shape (2,), a draw has ()"]


def test_seeds():
    """By number and seed: not by what other data sets there are, and not the same for two equal ones."""
    data = series()
    all_, first = fit(mean_model(), data, keep=["mu"]), fit(mean_model(), data[:1], keep=["mu"])
    np.testing.assert_array_equal(all_["mu"].values[0], first["mu"].values[0])
    twice = fit(mean_model(), [data[0], data[0]], keep=["mu"])["mu"].values
    assert not np.array_equal(*twice)
    assert not np.array_equal(fit(mean_model(), data[:1], keep=["mu"], seed=2)["mu"].values, first["mu"].values)
    unseeded = fit(mean_model(), data[:1], keep=["mu"], seed=None)
    again = fit(mean_model(), data[:1], keep=["mu"], seed=int(unseeded.attrs["seed"]))
    np.testing.assert_array_equal(again["mu"].values, unseeded["mu"].values)


def test_where_data_sets_come_from():
    pandas = pytest.importorskip("pandas")
    data = series((4, 4))
    want = fit(mean_model(), data)["mu_mean"].values
    frame = pandas.DataFrame({"shop": list("aaaabbbb"), "y": np.concatenate([d["y"] for d in data]), "other": 1})
    grid = xarray.Dataset({"y": (("place", "time"), [d["y"] for d in data])}, {"place": ["north", "south"]})
    for given, labels in (
        (iter(data), [0, 1]),
        ({"one": data[0], "two": data[1]}, ["one", "two"]),
        (frame.groupby("shop"), ["a", "b"]),
        (frame.groupby("shop")["y"], ["a", "b"]),
        (frame["y"].groupby([3, 3, 3, 3, 1, 1, 1, 1], sort=False), [3, 1]),
    ):
        fits = fit(mean_model(), given)
        np.testing.assert_array_equal(fits["mu_mean"].values, want)
        assert fits["dataset"].values.tolist() == labels
    np.testing.assert_array_equal(fit(mean_model(), frame, by="shop")["mu_mean"].values, want)
    of_grid = fit(mean_model(), grid, by="place")
    np.testing.assert_array_equal(of_grid["mu_mean"].values, want)
    assert of_grid["dataset"].values.tolist() == ["north", "south"]
    for given, by in ((frame, None), (grid, None), (data, "shop"), ("text", None)):
        with pytest.raises(TypeError, match="datasets is a|by= goes with"):
            fit(mean_model(), given, by=by)
    renamed = frame.rename(columns={"y": "z"})
    for given, by in ((renamed, "shop"), (renamed.groupby("shop"), None), (renamed.groupby("shop")["z"], None)):
        with pytest.raises(ValueError, match="datasets has .*z.*, and none of the model's data, which are y"):
            fit(mean_model(), given, by=by)
    with pytest.raises(ValueError, match="datasets has other, place, and none of the model's data, which are y"):
        fit(mean_model(), grid.rename(y="other"), by="place")
    with pytest.raises(KeyError, match="by: datasets has no column 'town'; it has shop, y, other"):
        fit(mean_model(), frame, by="town")


def test_axes_of_an_xarray_are_those_of_the_model():
    """By their names: a Dataset may have them in another order."""
    x = np.arange(18.0).reshape(2, 3, 3)
    given = xarray.Dataset({"x": (("place", "row", "column"), x), "shared": (("column", "row"), x[0])})
    with pm.Model(coords={"row": range(3), "column": range(3)}) as model:
        for name in given:
            pm.Data(name, np.zeros((3, 3)), dims=("row", "column"))
        pm.Normal("mu")
    for turned in (given, given.transpose("column", "place", "row")):
        sets = list(DataSets(turned, "place", list(given), model.named_vars_to_dims).iterator)
        for one, matrix in zip(sets, x, strict=True):
            np.testing.assert_array_equal(one["x"], matrix)
            np.testing.assert_array_equal(one["shared"], x[0].T)


def test_a_first_data_set_of_none_is_a_row():
    data, reason = series((4,))[0], "a data set is a dict by the names of pm.Data, not NoneType"
    fits = fit(mean_model(), {"a": None, "b": data}, draws=20)
    assert fits["dataset"].values.tolist() == ["a", "b"]
    assert fits["reason"].values.tolist() == [reason, ""]
    with pytest.raises(ValueError, match="initvals, of the first data set, .*: TypeError"):
        fit(mean_model(), [None, data], initvals=lambda given: {"mu": given["y"].mean()})


def test_no_data_sets():
    fits = fit(mean_model(), [])
    assert dict(fits.sizes) == {"dataset": 0}


def test_a_generator_is_drawn_from_as_fits_finish(monkeypatch):
    """With one worker two tasks are in flight, here of one fit each, and a third data set has been drawn at most."""
    monkeypatch.setattr(run, "_LARGEST_BATCH", 1)
    done, ahead = [], []

    class Counting(ThreadPoolExecutor):
        def submit(self, fn, *args):
            future = super().submit(fn, *args)
            future.add_done_callback(done.append)
            return future

    def datasets():
        for i, data in enumerate(series(range(2, 22))):
            ahead.append(i + 1 - len(done))
            yield data

    with Counting(1) as executor:
        fits = fit(mean_model(), datasets(), executor=executor)
    assert fits.sizes["dataset"] == len(done) == 20
    assert 1 <= max(ahead) <= 3


def test_ctrl_c_returns_what_is_done():
    def datasets():
        yield from series((3, 4, 5))
        raise KeyboardInterrupt

    fits = fit(mean_model(), datasets(), executor=1)
    assert fits.sizes["dataset"] == 3
    assert set(fits["reason"].values) <= {"", "not done"}
    data = series(range(2, 32))

    class Interrupting(list):
        def __iter__(self):
            yield from list.__iter__(self[:20])
            raise KeyboardInterrupt

    fits = fit(mean_model(), Interrupting(data), executor=1)
    assert fits.sizes["dataset"] == 30
    assert (fits["reason"].values[-10:] == "not done").all()
    done = ~fits["failed"].values
    assert done[0]
    assert np.isfinite(fits["mu_mean"].values[done]).all()


def test_ctrl_c_stops_a_fit_that_runs():
    """It would take minutes."""

    def datasets():
        first, second = series((3, 4))
        yield first
        # Now all is compiled. As a terminal does it: what waits in the main thread is woken.
        threading.Timer(0.5, signal.pthread_kill, [threading.main_thread().ident, signal.SIGINT]).start()
        yield second

    fits = fit(mean_model(), datasets(), draws=10**7, executor=2, reduce="mean")
    assert fits["reason"].values.tolist() == ["not done", "not done"]


def test_an_iterator_that_fails_loses_nothing():
    def datasets():
        yield from series(range(2, 12))
        raise OSError("the disk is gone")

    with pytest.raises(inlay.pymc.FitsEnded, match="OSError: the disk is gone") as raised:
        fit(mean_model(), datasets(), executor=1)
    assert isinstance(raised.value.__cause__, OSError)
    done = raised.value.fits
    assert done["reason"].values[0] == ""
    assert set(done["reason"].values) <= {"", "not done"}


def test_what_cannot_be_fitted():
    with pytest.raises(TypeError, match="fit_many takes a PyMC model, not a str"):
        fit("model", [])
    with pm.Model() as model:
        pm.Normal("y", 0, 1, observed=np.arange(3.0))
    with pytest.raises(ValueError, match="the model has no free variables"):
        fit(model, [])
    with pm.Model() as model:
        pm.Poisson("n", 1)
    with pytest.raises(NotImplementedError, match="continuous variables only: n is int64"):
        fit(model, [], method="map")
    with pm.Model() as model:
        pm.Normal("x", initval="prior")
    with pytest.raises(NotImplementedError, match="draws random numbers in its log density, or where a chain would start"):
        fit(model, [])


def test_a_core_that_lacks_something(monkeypatch):
    monkeypatch.delitem(sys.modules, nutpie_core.CORE, raising=False)
    monkeypatch.setattr(nutpie_core, "_USED", ("PySampler", "Sampler"))
    with pytest.raises(NotImplementedError, match="fit_many cannot use this version of nutpie: its core has no Sampler"):
        fit(mean_model(), [])


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"draws": 0}, ValueError, "draws is 0, and has to be at least 1"),
        ({"tune": 0}, ValueError, "tune is 0, and has to be at least 1"),
        ({"chains": 1.5}, TypeError, "chains is 1.5, not an integer"),
        ({"nuts_sampler_kwargs": {"maxdepth": "deep"}}, TypeError, "nuts_sampler_kwargs: .*'str'"),
        ({"reduce": ["median"]}, ValueError, "reduce has 'median', and the summaries are mean, sd, "),
        ({"reduce": [3]}, TypeError, "reduce has an int, neither the name of a summary nor a function"),
        ({"reduce": [lambda d: 0, lambda d: 1]}, ValueError, "reduce has two functions named lambda: give a dict by name"),
        ({"reduce": {"seconds": lambda d: 0}}, ValueError, "two results would be named seconds: name that of reduce="),
        ({"keep": "mu", "reduce": {"mu": lambda d: 0}}, ValueError, "two results would be named mu"),
        ({"keep": ["nu"]}, KeyError, "keep: a draw records no nu; it records mu, distance, residual"),
        ({"var_names": ["nu"]}, KeyError, "var_names: nu is no free variable or deterministic of this model; it has mu"),
        ({"executor": "processes"}, TypeError, "executor= takes None, a number of threads, .* not a str"),
        ({"executor": 0}, TypeError, "a number of threads, .* not an int"),
        ({"nuts_sampler_kwargs": {"nothing": 1}}, TypeError, "nuts_sampler_kwargs: nutpie's sampler has no setting nothing"),
    ],
)
def test_wrong_arguments(options, error, text):
    with pytest.raises(error, match=text):
        fit(mean_model(), series((3,)), **options)


def test_what_the_line_says():
    from types import SimpleNamespace

    state = SimpleNamespace(done=30, taken_from_kept=10, total=100, begin=0.0, divergences=3)
    assert progress_text(state, 10.0) == "30 of 100 fits, 2 a second, 35 s left, 3 divergences"
    state.total, state.divergences = None, 0
    assert progress_text(state, 10.0) == "30 fits, 2 a second"


def test_observed_values_that_are_constants():
    """Those that the first data set names are data."""
    rng = np.random.default_rng(4)
    x = rng.normal(size=30)
    with pm.Model() as model:
        slope = pm.Normal("slope", 0, 10)
        pm.Normal("y", slope * x, 1, observed=np.zeros(30))
        pm.Poisson("count", pm.math.exp(slope / 10), observed=np.array([1, 2]))
    data = [{"y": i * x + rng.normal(size=30)} for i in range(3)]
    fits = fit(model, data)
    assert (abs(fits["slope_mean"].values - [0, 1, 2]) < 6 / np.sqrt((x**2).sum())).all()
    wrong = fit(model, [data[0], {"count": [1, 2, 3]}])
    assert wrong["reason"].values.tolist() == ["", "BadData: the model has no data count; it has y"]
    both = fit(model, [{"y": data[0]["y"], "count": count} for count in ([4, 5], [4, 5, 6])])
    assert both["reason"].values.tolist() == ["", "BadData: count has size 3 along axis 0, which is 2 in the model"]


def test_a_model_that_bambi_made():
    """Its data are constants, of which what is observed is exchanged by its name."""
    bambi = pytest.importorskip("bambi")
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(1)
    frame = pandas.DataFrame({"x": np.linspace(-1, 1, 20), "group": list("abcd" * 5), "y": rng.normal(size=20)})
    model = bambi.Model("y ~ x + (1|group)", frame)
    model.build()
    data = [{"y": slope * frame["x"].values + 0.1 * rng.normal(size=20)} for slope in (-2, 3)]
    fits = inlay.pymc.fit_many(model.backend.model, data, draws=200, chains=2, seed=1, progress=False)
    assert not fits["failed"].any(), fits["reason"].values
    assert abs(fits["x_mean"].values - [-2, 3]).max() < 0.3
