"""What is computed of each fit's draws: predictions, here or at other data, and the log likelihood."""

import multiprocessing
import threading
from concurrent.futures import ProcessPoolExecutor

import inlay.pymc
import numpy as np
import pymc as pm
import pytest
from scipy import stats

pytest.importorskip("nutpie")

FEW = {"draws": 500, "tune": 200, "chains": 2, "seed": 20240607, "progress": False}


def fit(model, datasets, **options):
    return inlay.pymc.fit_many(model, datasets, **(FEW | options))


def line_model():
    with pm.Model() as model:
        x, y = pm.Data("x", np.zeros(3)), pm.Data("y", np.zeros(3))
        slope, sd = pm.Normal("slope", 0, 10), pm.HalfNormal("sd", 2)
        pm.Normal("seen", slope * x, sd, observed=y, shape=x.shape)
    return model


def lines(lengths=(20, 35)):
    rng = np.random.default_rng(2)
    xs = [rng.normal(size=n) for n in lengths]
    return [{"x": x, "y": 3 * x + rng.normal(size=len(x))} for x in xs]


def three_points(data):
    return {"x": np.array([0.0, 1.0, 10.0])}


def test_predictions_have_the_mean_and_the_spread_of_the_posterior():
    """y given slope and sd is normal: its mean over draws is slope * x, its square's what both make of it."""
    data = lines()
    fits = fit(line_model(), data, predictive=True, keep=["seen_predicted", "slope", "sd"])
    assert fits["reason"].values.tolist() == ["", ""]
    for i, given in enumerate(data):
        slope, sd = (fits[name].values[i].ravel()[:, None] for name in ("slope", "sd"))
        predicted = fits["seen_predicted"].values[i].reshape(1000, -1)[:, : len(given["x"])]
        scores = (predicted - slope * given["x"]) / sd  # independent standard normal
        assert stats.kstest(scores.ravel(), "norm").pvalue > 1e-4
        assert len(np.unique(scores)) == scores.size  # each draw draws anew
        assert abs(np.corrcoef(scores[::2].ravel(), scores[1::2].ravel())[0, 1]) < 5 / np.sqrt(scores.size / 2)
        np.testing.assert_allclose(fits["seen_predicted_mean"].values[i, : len(given["x"])], predicted.mean(axis=0), rtol=1e-12)


def test_predictions_at_other_data():
    fits = fit(line_model(), lines(), predictive=three_points, keep=["slope", "sd", "seen_predicted"])
    assert fits["seen_predicted"].shape == (2, 2, 500, 3)
    scores = (fits["seen_predicted"].values - fits["slope"].values[..., None] * [0, 1, 10]) / fits["sd"].values[..., None]
    assert stats.kstest(scores.ravel(), "norm").pvalue > 1e-4


def test_what_a_function_for_other_data_does_wrong():
    def other(data):
        if len(data["x"]) == 4:
            raise RuntimeError("no")
        return {5: [1], 6: {"z": np.zeros(2)}}.get(len(data["x"]), {"x": np.zeros(2)})

    fits = fit(line_model(), lines((3, 4, 5, 6)), predictive=other, draws=20, tune=20)
    assert fits["reason"].values.tolist() == [
        "",
        "predictive: RuntimeError: no",
        "predictive returned list, not a dict by the names of pm.Data",
        "predictive: the model has no data z; it has x, y",
    ]


def test_the_log_likelihood_is_pymcs():
    model, data = line_model(), lines((6, 9))
    fits = fit(model, data, draws=30, reduce="loglik", keep=["seen_loglik", "slope", "sd"])
    for i, given in enumerate(data):
        n = len(given["x"])
        slope, sd = (fits[name].values[i][..., None] for name in ("slope", "sd"))
        expected = stats.norm.logpdf(given["y"], slope * given["x"], sd)
        # Some ten roundings of numbers no larger than the largest.
        np.testing.assert_allclose(fits["seen_loglik"].values[i, :, :, :n], expected, rtol=1e-12, atol=1e-12)
        lppd = np.log(np.exp(expected).mean(axis=(0, 1)))
        np.testing.assert_allclose(fits["seen_lppd"].values[i, :n], lppd, rtol=1e-11)
    assert "slope_mean" not in fits


def test_the_log_likelihood_of_an_observation_that_no_draw_allows():
    from inlay.fits.summaries import lppd

    with np.errstate(divide="ignore"):
        draws = np.log(np.array([[[0.0, 1.0], [0.0, 3.0]]]))
    np.testing.assert_allclose(lppd(draws), [-np.inf, np.log(2.0)], rtol=1e-15)
    np.testing.assert_allclose(lppd(np.full((1, 4, 1), -5000.0)), [-5000.0])


def test_what_is_recorded_for_the_predictions_alone_is_not_seen():
    options = {"predictive": True, "var_names": ["slope"]}
    fits = fit(line_model(), lines((5,)), reduce={"names": len}, draws=20, **options)
    assert fits["names"].values.tolist() == [2]
    assert "sd" not in fits
    with pytest.raises(KeyError, match="keep: a draw records no sd; it records slope, seen_predicted"):
        fit(line_model(), lines((5,)), keep="sd", **options)


def test_several_observed_variables_of_several_kinds():
    """One that another is a parent of, integers, a matrix, and one that NumPy has no sampler for."""
    rng = np.random.default_rng(4)
    counts = rng.poisson(3, 8)
    with pm.Model(coords={"unit": range(8)}) as model:
        rate = pm.Gamma("rate", 2, 1)
        count = pm.Poisson("count", rate, observed=pm.Data("counts", counts, dims="unit"), dims="unit")
        pm.Normal("size", count * 100.0, 1, observed=rng.normal(counts * 100.0), dims="unit")
        pm.MvNormal("pair", np.zeros(2), np.eye(2), observed=rng.normal(size=(8, 2)))
        mixed = [pm.Normal.dist(-1000, 1), pm.Normal.dist(1000, 1)]
        pm.Mixture("mixed", [0.5, 0.5], mixed, observed=rng.choice([-1000.0, 1000.0], 8))
    keep = [f"{name}_{what}" for name in ("count", "size", "pair", "mixed") for what in ("predicted", "loglik")]
    fits = fit(model, [{}], predictive=True, keep=[*keep, "rate"])
    assert fits["reason"].values.tolist() == [""]
    assert fits["count_predicted"].dims == ("dataset", "chain", "draw", "unit")
    assert fits["count_predicted"].dtype == np.int64
    # The sum of 8 counts of each of 1000 draws, of which NUTS gives a third as many independent ones.
    expected = 8 * fits["rate"].values.mean()
    assert abs(fits["count_predicted"].values.sum(-1).mean() - expected) < 6 * np.sqrt((expected + 8 * 0.5) / (1000 / 3))
    errors = fits["size_predicted"].values - 100.0 * fits["count_predicted"].values
    assert stats.kstest(errors.ravel(), "norm").pvalue > 1e-4
    assert fits["pair_predicted"].shape == (1, 2, 500, 8, 2) and fits["pair_loglik"].shape == (1, 2, 500, 8)
    upper = fits["mixed_predicted"].values > 0
    assert abs(upper.mean() - 0.5) < 6 * 0.5 / np.sqrt(upper.size)
    assert len(np.unique(fits["mixed_predicted"].values)) == upper.size


def test_the_same_in_a_process_which_imports_little():
    if "forkserver" not in multiprocessing.get_all_start_methods():
        pytest.skip("no forkserver here")
    options = {"predictive": three_points_of_main, "keep": ["seen_predicted"], "draws": 50}
    here = fit(line_model(), lines(), executor=1, **options)
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("forkserver")) as executor:
        there = fit(line_model(), lines(), executor=executor, reduce={"has": modules_of_a_worker}, **options)
    np.testing.assert_array_equal(there["seen_predicted"].values, here["seen_predicted"].values)
    assert (there["has"].values == 0).all()


def modules_of_a_worker(draws):
    import sys

    return sum(name in sys.modules for name in ("pytensor", "pymc", "scipy", "inlay.pytensor"))


def three_points_of_main(data):
    import numpy

    return {"x": numpy.array([0.0, 1.0, 10.0])}


for _function in (modules_of_a_worker, three_points_of_main):
    _function.__module__ = "__main__"  # pickled with its code: a worker needs no import for it


def test_what_is_kept_of_predictions_at_other_data_is_not_taken_for_others(tmp_path):
    options = {"resume": tmp_path, "keep": "seen_predicted", "draws": 20, "tune": 20}
    first = fit(line_model(), lines(), predictive=three_points, **options)
    again = fit(line_model(), lines(), predictive=three_points, **options)
    np.testing.assert_array_equal(first["seen_predicted"].values, again["seen_predicted"].values)
    np.testing.assert_array_equal(first["seconds"].values, again["seconds"].values)  # taken from there
    other = fit(line_model(), lines(), predictive=lambda data: {"x": np.array([0.0, 1.0, 11.0])}, **options)
    assert (other["seen_predicted"].values[..., 2] != first["seen_predicted"].values[..., 2]).all()


def test_what_is_asked_for_wrongly():
    with pytest.raises(TypeError, match="predictive is a str, neither True nor a function"):
        fit(line_model(), lines(), predictive="seen")
    with pm.Model() as model:
        pm.Potential("p", -pm.Normal("a") ** 2)
    with pytest.raises(ValueError, match="observes nothing, so that there is no loglik and no predicted"):
        fit(model, [{}], predictive=True, reduce="loglik")
    with pytest.raises(ValueError, match="two results would be named seen_lppd"):
        fit(line_model(), lines(), reduce={"seen_lppd": np.mean, "loglik": "loglik"})


def test_what_numpy_does_not_draw():
    """Predictions at no points, and by parameters that NumPy refuses: the op's own code has both."""
    fits = fit(line_model(), lines((5,)), predictive=lambda data: {"x": []}, keep="seen_predicted", draws=20)
    assert fits["reason"].values.tolist() == [""]
    assert fits["seen_predicted"].shape == (1, 2, 20, 0)
    with pm.Model() as model:
        sign = pm.Data("sign", 1.0)
        mu = pm.Normal("mu")
        pm.Normal("seen", mu, pm.math.switch(sign > 0, 1.0, -1.0) * (1 + mu**2), observed=np.zeros(2))
    fits = fit(model, [{}], predictive=lambda data: {"sign": -1.0}, draws=20)
    assert fits["reason"].values.tolist() == ["ValueError: scale < 0"]


def test_variables_that_have_no_support_point_of_their_own():
    """Their starting value wants a draw of theirs, for its shape."""
    with pm.Model() as model:
        y = pm.Data("y", np.zeros((4, 3)))
        effect = pm.ZeroSumNormal("effect", 1, shape=3)
        chol, _, sds = pm.LKJCholeskyCov("chol", 2, n=3, sd_dist=pm.HalfNormal.dist(1, shape=3))
        pm.MvNormal("seen", effect, chol=chol, observed=y, shape=y.shape)
    rng = np.random.default_rng(3)
    fits = fit(model, [{"y": rng.normal([-1, 0, 1], 1, (n, 3))} for n in (40, 60)], predictive=True, keep="seen_predicted")
    assert fits["reason"].values.tolist() == ["", ""]
    assert (abs(fits["effect_mean"].values - [-1, 0, 1]) < 6 / np.sqrt(40)).all()
    assert fits["seen_predicted"].shape == (2, 2, 500, 60, 3)


def test_names_that_clash_and_data_that_are_not_read():
    with pm.Model() as model:
        pm.Data("unread", np.zeros(2))
        mu = pm.Normal("seen_predicted")
        pm.Normal("seen", mu, 1, observed=pm.Data("y", np.zeros(2)))
    with pytest.raises(ValueError, match="the model has a variable seen_predicted, and a result of the fits would be named"):
        fit(model, [{}], predictive=True)
    fits = fit(model, [{"unread": [1.0, 2.0, 3.0]}, {"unred": [1.0]}], draws=20)
    assert fits["reason"].values.tolist() == ["", "BadData: the model has no data unred; it has y, unread"]
    assert fit(model, [{"y": [1.0, 2.0]}], method="prior")["reason"].values.tolist() == [""]


def test_true_values_that_nothing_reads_and_missing_observations():
    with pm.Model() as model:
        pm.Normal("seen", pm.Normal("mu"), 1, observed=np.array([0.0, np.nan, 0.0]))
    fits = fit(model, [{"seen": [500.0, np.nan, 600.0]}, {"mu": 1.0}, {}], draws=20)
    assert fits["reason"].values.tolist() == [
        "seen has missing values in the model, which are parameters: its values cannot be exchanged",
        'mu is a variable of the model, and its true value is for "ranks" and functions',
        "",
    ]


def test_predictions_are_stopped():
    from inlay.fits.sampler import Stopped
    from inlay.pymc.fit_functions import fit_functions

    predicted = fit_functions(line_model(), after=["predicted"]).after["predicted"]
    stop = threading.Event()
    stop.set()
    with pytest.raises(Stopped):
        predicted.of({"slope": np.zeros((1, 5)), "sd": np.ones((1, 5))}, [np.zeros(3), np.zeros(3)], 1, stop)


def test_predictions_at_other_lengths_of_a_dim():
    """What was observed is given for its length alone, and has that of the others; a covariate has to be given."""
    with pm.Model(coords={"week": range(4)}) as model:
        sales = pm.Data("sales", np.zeros(4), dims="week")  # the first with the dim, whose length is that of the dim
        price, season = pm.Data("price", np.ones(4), dims="week"), pm.Data("season", np.zeros(4), dims="week")
        slope = pm.Normal("slope", 0, 10)
        pm.Normal("seen", slope * price + season, 0.1, observed=sales, dims="week")
    data = [{"price": np.arange(1.0, 7.0), "sales": 2 * np.arange(1.0, 7.0), "season": np.zeros(6)}]
    options = {"keep": ["slope", "seen_predicted"], "draws": 50}
    fits = fit(model, data, predictive=lambda data: {"price": [5.0, 7.0], "season": [0.0, 1.0]}, **options)
    assert fits["reason"].values.tolist() == [""]
    errors = fits["seen_predicted"].values - (fits["slope"].values[..., None] * [5, 7] + [0, 1])
    assert errors.shape == (1, 2, 50, 2) and stats.kstest(10 * errors.ravel(), "norm").pvalue > 1e-4
    fits = fit(model, data, predictive=lambda data: {"price": [5.0, 7.0]}, **options)
    assert fits["reason"].values.tolist() == ["predictive: season has size 6 along week, and price has 2: give both"]


def test_data_that_became_constants_are_not_exchanged():
    """Neither in silence: such a data set would be fitted as the model's own."""
    from pymc.model.transform.optimization import freeze_dims_and_data

    fits = fit(freeze_dims_and_data(line_model(), data=["x"]), [{"x": [1.0, 2.0, 3.0]}], draws=20)
    assert fits["reason"].values.tolist() == ["BadData: the model has no data x; it has y"]
