"""arviz-stats fits a PyMC model again without some observations, and nothing is compiled for it."""

import copy
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from multiprocessing import get_context

import inlay.pymc
import numpy as np
import pymc as pm
import pytest
import xarray
from inlay import _inlay
from inlay.fits.run import run
from inlay.pymc import folds as of_folds
from scipy.stats import norm, poisson

pytest.importorskip("nutpie")
arviz_stats = pytest.importorskip("arviz_stats")

FEW = {"draws": 300, "tune": 200, "chains": 2, "seed": 1}
NUM_OBSERVATIONS = 23


def data():
    rng = np.random.default_rng(2)
    x = rng.normal(size=NUM_OBSERVATIONS)
    return x, 1 + 2 * x + rng.normal(size=NUM_OBSERVATIONS)


def regression():
    x, y = data()
    with pm.Model() as model:
        x = pm.Data("x", x, dims="at")
        slope, level = pm.Normal("slope", 0, 5), pm.Normal("level", 0, 5)
        pm.Normal("y", level + slope * x, 1, observed=pm.Data("given", y, dims="at"), dims="at")
    return model


def exact(folds):
    """The log density of each observation, given those outside its fold: both are normal."""
    x, y = data()
    design = np.stack([x, np.ones_like(x)], axis=1)
    out = np.zeros(len(y))
    for fold in np.unique(folds):
        test = folds == fold
        covariance = np.linalg.inv(design[~test].T @ design[~test] + np.eye(2) / 25)
        mean = covariance @ design[~test].T @ y[~test]
        variance = 1 + np.einsum("ij,jk,ik->i", design[test], covariance, design[test])
        out[test] = norm.logpdf(y[test], design[test] @ mean, np.sqrt(variance))
    return out


def fitted():
    """To all data: the log likelihood that arviz-stats asks for."""
    wrapper = inlay.pymc.sampling_wrapper(regression(), **FEW)
    whole, _ = wrapper.sel_observations(np.zeros(0, int))
    idata = wrapper.get_inference_data(wrapper.sample(whole))
    idata["log_likelihood"] = xarray.Dataset({"y": wrapper.log_likelihood__i(whole, idata)}, {"at": range(NUM_OBSERVATIONS)})
    return idata


def test_ten_folds_of_unequal_length_by_one_compilation(monkeypatch):
    idata, wrapper = fitted(), inlay.pymc.sampling_wrapper(regression(), **FEW)
    compiled = []
    monkeypatch.setattr(_inlay, "compile", lambda *args, **kwargs: compiled.append(1))
    folds = np.arange(NUM_OBSERVATIONS) % 10 + 1
    result = arviz_stats.loo_kfold(idata, wrapper, folds=folds, pointwise=True)
    assert compiled == []
    assert result.n_folds == 10
    # A mean of densities over 600 draws, a third of them independent: their spread is 0.3 of the mean at most, as the
    # posterior's standard deviation of a prediction is below 0.5, and six standard errors of that are 0.13.
    np.testing.assert_allclose(result.elpd_i.values, exact(folds), atol=0.13)


def counts_model(x, y):
    with pm.Model() as model:
        x, y = pm.Data("x", x, dims="at"), pm.Data("given", y, dims="at")
        slope, level = pm.Normal("slope", 0, 1), pm.Normal("level", 0, 1)
        pm.Poisson("y", pm.math.exp(level + slope * x), observed=y, dims="at")
    return model


def test_folds_of_a_model_without_a_known_posterior_are_refits_by_pymc():
    rng, options = np.random.default_rng(4), {"draws": 1000, "tune": 500, "chains": 2}
    x = rng.normal(size=20)
    y, folds = rng.poisson(np.exp(0.5 + 0.7 * x)), np.arange(20) % 3
    wrapper = inlay.pymc.sampling_wrapper(counts_model(x, y), **options, seed=1)
    whole, _ = wrapper.sel_observations(np.zeros(0, int))
    idata = wrapper.get_inference_data(wrapper.sample(whole))
    idata["log_likelihood"] = xarray.Dataset({"y": wrapper.log_likelihood__i(whole, idata)}, {"at": range(20)})
    found = arviz_stats.loo_kfold(idata, wrapper, folds=folds + 1, pointwise=True).elpd_i.values
    of_inlay = {"compile_kwargs": {"mode": "INLAY"}, "progressbar": False, "random_seed": 2, "quiet": True}
    for fold in range(3):
        test = folds == fold
        with counts_model(x[~test], y[~test]):
            draws = pm.sample(**options, **of_inlay)["posterior"]
        slope, level = (draws[name].values.reshape(-1, 1) for name in ("slope", "level"))
        density = poisson.pmf(y[test], np.exp(level + slope * x[test]))
        mean = density.mean(axis=0)
        # Two means of 2000 draws each, a third of them independent.
        error = density.std(axis=0) / mean * np.sqrt(2 / (2000 / 3))
        assert (abs(found[test] - np.log(mean)) < 6 * error).all()
        assert (6 * error).max() < 0.5


def test_reloo():
    """Every observation is fitted without: that is exact."""
    wrapper = inlay.pymc.sampling_wrapper(regression(), fitted(), **FEW)
    result = arviz_stats.reloo(wrapper, k_threshold=-np.inf, pointwise=True)
    np.testing.assert_allclose(result.elpd_i.values, exact(np.arange(NUM_OBSERVATIONS)), atol=0.13)


def test_transformed_parameters():
    """The log likelihood at recorded values is PyMC's at the point that they come from."""
    x, y = data()
    with pm.Model() as model:
        least = pm.HalfNormal("least")
        noise = pm.Uniform("noise", least, least + 2)  # whose transform depends on another variable
        share = pm.Dirichlet("share", np.ones(2))
        mean = share[0] * pm.Data("x", x, dims="at")
        pm.Normal("y", mean, noise, observed=pm.Data("given", y, dims="at"), dims="at")
    wrapper = inlay.pymc.sampling_wrapper(model, **FEW)
    train, test = wrapper.sel_observations([3, 4])
    idata = wrapper.get_inference_data(wrapper.sample(train))
    found = wrapper.log_likelihood__i(test, idata)
    assert found.sizes == {"chain": 2, "draw": 300, "at": 2}
    posterior = idata["posterior"]
    mean = posterior["share"].values[..., 0, None] * x[[3, 4]]
    want = norm.logpdf(y[[3, 4]], mean, posterior["noise"].values[..., None])
    np.testing.assert_allclose(found.values, want, rtol=1e-9)


def rows_and_columns(dims=("at", "column")):
    """Three measurements of each observation."""
    x, y = data()
    with pm.Model() as model:
        x, y = pm.Data("x", x, dims="at"), pm.Data("given", y[:, None] + [[0.0, 0.5, 1.0]], dims=("at", "column"))
        slope, level = pm.Normal("slope", 0, 5), pm.Normal("level", 0, 5, dims="column")
        pm.Normal("y", level + slope * x[:, None], 1, observed=y, dims=dims)
    return model


@pytest.mark.parametrize(("dims", "dim"), [(("at", "column"), None), (None, "at")])
def test_observations_of_more_dims(dims, dim):
    """Each is a row, whose log likelihood is the sum of its elements'."""
    wrapper = inlay.pymc.sampling_wrapper(rows_and_columns(dims), dim=dim, **FEW)
    train, test = wrapper.sel_observations([3, 4])
    assert train["given"].shape == (NUM_OBSERVATIONS - 2, 3)
    idata = wrapper.get_inference_data(wrapper.sample(train))
    found = wrapper.log_likelihood__i(test, idata)
    assert found.sizes == {"chain": 2, "draw": 300, "at": 2}
    posterior = idata["posterior"]
    mean = posterior["level"].values[:, :, None] + posterior["slope"].values[..., None, None] * test["x"][:, None]
    np.testing.assert_allclose(found.values, norm.logpdf(test["given"], mean, 1).sum(-1), rtol=1e-9)
    whole, _ = wrapper.sel_observations(np.zeros(0, int))
    idata["log_likelihood"] = xarray.Dataset({"y": wrapper.log_likelihood__i(whole, idata)}, {"at": range(NUM_OBSERVATIONS)})
    assert arviz_stats.loo_kfold(idata, wrapper, k=3).n_folds == 3


def test_an_axis_that_has_one_log_likelihood():
    with pm.Model() as model:
        given = pm.Data("given", np.zeros((4, 2)), dims=("at", "column"))
        pm.MvNormal("y", pm.Normal("mu"), np.eye(2), observed=given, dims=("at", "column"))
    wrapper = inlay.pymc.sampling_wrapper(model, **FEW)
    _, test = wrapper.sel_observations([1])
    assert test["given"].shape == (1, 2)
    with pytest.raises(NotImplementedError, match="y has one log likelihood for all that lies along column: none of it can"):
        inlay.pymc.sampling_wrapper(model, dim="column")


def test_data_that_were_changed_have_a_fit_of_their_own():
    folds = np.arange(NUM_OBSERVATIONS) % 3
    alone, wrapper = (inlay.pymc.sampling_wrapper(regression(), folds=given, **FEW) for given in (None, folds))
    left_out = np.flatnonzero(folds == 0)
    known = wrapper.sample(wrapper.sel_observations(left_out)[0])
    np.testing.assert_array_equal(known["slope"], alone.sample(alone.sel_observations(left_out)[0])["slope"])
    changed, _ = wrapper.sel_observations(left_out)
    changed["given"] = changed["given"] + 100
    assert wrapper.sample(changed)["level"].mean() > 50
    again, _ = wrapper.sel_observations(left_out)
    np.testing.assert_array_equal(wrapper.sample(again)["slope"], known["slope"])


def test_what_cannot_be_left_out():
    _, y = data()
    with pm.Model() as model:
        pm.Normal("y", pm.Normal("mu"), 1, observed=y)
    with pytest.raises(ValueError, match="y is not observed from a pm.Data with the dim None: give dims= to the data, or"):
        inlay.pymc.sampling_wrapper(model)
    with pytest.raises(ValueError, match="y is not observed from a pm.Data with the dim at"):
        inlay.pymc.sampling_wrapper(model, dim="at")
    with pm.Model() as model:
        given = pm.Data("given", y, dims="at")
        pm.Normal("y", pm.Normal("each", dims="at"), 1, observed=given, dims="at")
    with pytest.raises(NotImplementedError, match="each has the dim at, so that each observation has parameters of its own"):
        inlay.pymc.sampling_wrapper(model)
    with pm.Model() as model:
        mu = pm.Normal("mu")
        for name in "ab":
            pm.Normal(name, mu, 1, observed=y)
    with pytest.raises(NotImplementedError, match="observations of one variable can be left out, and the model observes a, b"):
        inlay.pymc.sampling_wrapper(model)


@pytest.mark.parametrize("executor", [None, 2, "processes"])
def test_folds_that_are_known_are_fitted_at_once(executor, monkeypatch):
    """And are those that are made one after the other, bit for bit."""
    folds = np.array([3, 1, 2, 1] * 5 + [2, 3, 3])
    alone = inlay.pymc.sampling_wrapper(regression(), **FEW)
    want = arviz_stats.loo_kfold(fitted(), alone, folds=folds, pointwise=True)
    fits = []
    monkeypatch.setattr(of_folds, "run", lambda *args: fits.append(args[6]) or run(*args))
    with ProcessPoolExecutor(2, get_context("forkserver")) if executor == "processes" else nullcontext(executor) as given:
        wrapper = inlay.pymc.sampling_wrapper(regression(), executor=given, folds=folds, **FEW)
        found = arviz_stats.loo_kfold(fitted(), wrapper, folds=folds, pointwise=True)
    assert fits == [3]
    np.testing.assert_array_equal(found.elpd_i.values, want.elpd_i.values)
    for left_out in ([0], [1, 2]):  # no folds: as without them
        one, other = (w.sample(w.sel_observations(left_out)[0]) for w in (alone, wrapper))
        np.testing.assert_array_equal(one["slope"], other["slope"])


def test_reloo_of_the_observations_that_are_known():
    few = np.array([4, 7, 20])
    folds = np.where(np.isin(np.arange(NUM_OBSERVATIONS), few), np.arange(NUM_OBSERVATIONS), -1)
    wrapper = inlay.pymc.sampling_wrapper(regression(), fitted(), executor=2, folds=folds, **FEW)
    alone = inlay.pymc.sampling_wrapper(regression(), fitted(), **FEW)
    original = arviz_stats.loo(fitted(), pointwise=True)
    original.pareto_k[:] = folds
    found, want = (
        arviz_stats.reloo(w, loo_orig=copy.deepcopy(original), k_threshold=0.5, pointwise=True) for w in (wrapper, alone)
    )
    np.testing.assert_array_equal(found.elpd_i.values, want.elpd_i.values)
    np.testing.assert_allclose(found.elpd_i.values[few], exact(np.arange(NUM_OBSERVATIONS))[few], atol=0.13)


def test_a_fold_that_fails_is_told_when_it_is_asked_for():
    model = regression()
    with model:
        y = model["given"].get_value()
        y[5] = np.nan
        model["given"].set_value(y)
    wrapper = inlay.pymc.sampling_wrapper(model, folds=np.arange(NUM_OBSERVATIONS) == 5, **FEW)
    without, _ = wrapper.sel_observations([5])
    assert np.isfinite(wrapper.sample(without)["slope"]).all()
    without, _ = wrapper.sel_observations(np.delete(np.arange(NUM_OBSERVATIONS), 5))
    with pytest.raises(inlay.pymc.SamplingFailed, match="the fit without fold 0 failed: the log density or its gradient is"):
        wrapper.sample(without)


def test_labels_as_a_column_of_names():
    pandas = pytest.importorskip("pandas")
    names = [f"site {i % 3}" for i in range(NUM_OBSERVATIONS)]
    members = of_folds._members(pandas.Series(names, dtype=object), NUM_OBSERVATIONS)
    assert members == of_folds._members(np.arange(NUM_OBSERVATIONS) % 3, NUM_OBSERVATIONS)


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"executor": 2}, TypeError, "executor= makes the fits of several folds at once: give folds= too, as to loo_kfold"),
        ({"executor": "two", "folds": [1]}, TypeError, "executor= takes None, a number of threads, .*, not a str"),
        ({"folds": [1, 2]}, ValueError, r"folds has shape \(2,\), and there are 23 observations: give a label for each"),
        ({"folds": [None] * 23}, TypeError, "folds is a list, not the label of a fold for each observation"),
    ],
)
def test_folds_that_cannot_be(options, error, text):
    with pytest.raises(error, match=text):
        inlay.pymc.sampling_wrapper(regression(), **options, **FEW)
