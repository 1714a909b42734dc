"""Fits by other methods than nutpie's NUTS, on every executor the same."""

import logging
import multiprocessing
import signal
import threading
from concurrent.futures import ProcessPoolExecutor

import inlay.pymc
import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
import pytest
from inlay.fits import nutpie_core, optimum, run
from inlay.fits.fit import seed_of
from inlay.pymc import by_pymc
from inlay.pymc.op_text import text_of_op
from inlay.pytensor import default_mode
from python_ops import Times
from scipy.stats import kstest


def fit(model, datasets, **options):
    return inlay.pymc.fit_many(model, datasets, **({"seed": 20240607, "progress": False} | options))


def normal_model():
    with pm.Model() as model:
        y = pm.Data("y", np.zeros(3))
        pm.Normal("likelihood", pm.Normal("mu", 0, 10), 1, observed=y)
    return model


def scale_model():
    with pm.Model(coords={"side": ["left", "right"]}) as model:
        y = pm.Data("y", np.zeros((3, 2)))
        mu = pm.Normal("mu", 0, 10, dims="side")
        scale = pm.HalfNormal("scale", 2)
        pm.Deterministic("ratio", mu / scale, dims="side")
        pm.Normal("likelihood", mu, scale, observed=y)
    return model


def pairs(lengths=(20, 5, 40)):
    rng = np.random.default_rng(1)
    return [{"y": rng.normal(i, 1 + i, (n, 2))} for i, n in enumerate(lengths)]


@pytest.mark.filterwarnings("ignore::FutureWarning")  # of find_MAP, what it will return later
def test_map_is_that_of_pymc():
    data = pairs()
    fits = fit(scale_model(), data, method="map", keep=["mu", "scale", "ratio"])
    assert fits["reason"].values.tolist() == [""] * 3
    assert fits["mu"].dims == ("dataset", "chain", "draw", "side")
    assert fits["mu"].shape == (3, 1, 1, 2)
    assert fits.attrs["method"] == "map"
    for i, given in enumerate(data):
        model = scale_model()
        with model:
            pm.set_data(given)
            with default_mode():
                want = pm.find_MAP(progressbar=False)
        for name in ("mu", "scale", "ratio"):
            # From the same start by the same steps, which stop where the log density changes by 2e-9 of itself: by its
            # square root at most in a parameter, whose curvature is above 1 here.
            np.testing.assert_allclose(fits[name].values[i, 0, 0], want[name], rtol=5e-5, atol=5e-5)
    # With the Jacobian of the logarithm the scale would be larger by far more than that: by a factor 1 + 1 / (2 n) or so.


def test_map_that_does_not_converge_is_a_row():
    data = [*pairs((20,)), {"y": np.full((2, 2), np.nan)}]
    fits = fit(scale_model(), data, method="map", method_kwargs={"maxiter": 1})
    assert fits["failed"].values.tolist() == [True, True]
    assert fits["reason"].values[0].startswith("the optimiser did not converge: STOP: TOTAL NO. OF ITERATIONS")
    assert fits["reason"].values[1] == "the log density or its gradient is not finite at the starting points"


def test_map_that_ends_where_the_density_is_infinite_is_a_row():
    """Which scipy takes for a maximum."""
    with pm.Model() as model:
        x = pm.Normal("x", initval=1.0)
        pm.Potential("peak", -pm.Data("power", 1.0) * pm.math.log(abs(x)))
    data = [{"power": 1.0}, {"power": -1.0}]
    infinite = "the optimiser ended where the log density is inf, or its gradient is not finite: that is no maximum"
    assert fit(model, data, method="map")["reason"].values.tolist() == [infinite, ""]
    several = fit(model, data, method="map", method_kwargs={"starts": 2})
    assert several["failed"].values.tolist() == [True, False]
    assert "from the first one: the optimiser ended where" in several["reason"].values[0]


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"method": "vi"}, ValueError, "method is 'vi', and the methods are nuts, map, prior, smc, advi"),
        ({"method": "smc", "method_kwargs": {"steps": 1}}, TypeError, "smc has no setting steps; it has corr"),
        ({"method": "smc", "method_kwargs": {"model": 1}}, TypeError, "method_kwargs: smc has no setting model"),
        ({"method": "advi", "method_kwargs": {"steps": 1}}, TypeError, "advi has no setting steps; .* method, .* n, "),
        ({"method": "map", "method_kwargs": {"steps": 1}}, TypeError, "method_kwargs: .*steps"),
        ({"method": "map", "method_kwargs": {"maxiter": "all"}}, TypeError, "method_kwargs: .*'str'"),
        ({"method": "map", "nuts_sampler_kwargs": {"maxdepth": 5}}, TypeError, "nuts_sampler_kwargs has no settings of"),
        ({"method_kwargs": {"maxiter": 5}}, TypeError, "method_kwargs has no settings of method='nuts'"),
    ],
)
def test_wrong_settings(options, error, text):
    with pytest.raises(error, match=text):
        fit(normal_model(), [{"y": np.ones(3)}], **options)


def series(lengths=(20, 5, 40)):
    rng = np.random.default_rng(1)
    return [{"y": rng.normal(i, 1, n)} for i, n in enumerate(lengths)]


def check_normal(fits, data, independent, bias=0.0):
    """`independent`: of how many independent draws the means are, at least; `bias`: of a mean, in posterior sds."""
    precision = np.array([len(d["y"]) for d in data]) + 1 / 100
    mean, sd = np.array([d["y"].sum() for d in data]) / precision, precision**-0.5
    assert fits["reason"].values.tolist() == [""] * len(data)
    assert (abs(fits["mu_mean"].values - mean) < (6 / np.sqrt(independent) + bias) * sd).all()
    assert (abs(fits["mu_sd"].values / sd - 1) < 6 / np.sqrt(2 * independent) + bias).all()


def test_smc_of_a_conjugate_normal():
    data = series()
    fits = fit(normal_model(), data, method="smc", draws=500, chains=2, keep=["mu"], method_kwargs={"threshold": 0.6})
    assert fits["mu"].shape == (3, 2, 500)
    assert {name: fits.attrs[name] for name in ("method", "draws", "tune", "chains")} == {
        "method": "smc", "draws": 500, "tune": 0, "chains": 2,
    }  # fmt: skip
    # A kernel moves particles until they have forgotten where they were resampled, by and large: a third is independent.
    check_normal(fits, data, 1000 / 3)


def test_advi_of_a_conjugate_normal():
    data = series()
    settings = {"n": 4000, "obj_optimizer": pm.adam(learning_rate=0.02)}
    fits = fit(normal_model(), data, method="advi", draws=1000, keep=["mu"], method_kwargs=settings)
    assert fits["mu"].shape == (3, 1, 1000)
    # The posterior is of the family. A step of Adam's is 0.02 of mu at most, whose sd is above 0.15: where the steps end
    # is a few steps off the mean.
    check_normal(fits, data, 1000, bias=0.5)


def coin_model():
    """Which of two coins was thrown, of a known posterior."""
    with pm.Model() as model:
        heads = pm.Data("heads", np.zeros(3, "int64"))
        coin = pm.Bernoulli("coin", 0.5)
        pm.Binomial("likelihood", 10, pm.math.switch(coin, 0.6, 0.4), observed=heads)
    return model


def test_discrete_variables_are_sampled_by_pymc(caplog):
    data = [{"heads": heads} for heads in ([5], [5, 6], [4, 6, 4])]
    with caplog.at_level(logging.INFO, "pymc"):
        fits = fit(coin_model(), data, draws=500, tune=50, chains=2, keep="coin")
    assert [r.message for r in caplog.records] == [
        "NUTS is PyMC's own, in Python, and not nutpie: nutpie samples continuous variables only: coin is int64"
    ]
    assert fits["reason"].values.tolist() == [""] * 3
    assert fits["coin"].dtype == np.int64
    for i, given in enumerate(data):
        more = sum(2 * heads - 10 for heads in given["heads"])
        share = 1 / (1 + 1.5**-more)
        # A step on one binary variable proposes the other value each time: its draws are worth independent ones, or more.
        assert abs(fits["coin_mean"].values[i] - share) < 6 * np.sqrt(share * (1 - share) / 1000)
        model = coin_model()
        with model:
            pm.set_data(given)
            trace = pm.sample(
                500, tune=50, chains=2, cores=1, random_seed=seed_of(20240607, i), progressbar=False, quiet=True,
                compute_convergence_checks=False, compile_kwargs={"mode": "INLAY"},
            )  # fmt: skip
        np.testing.assert_array_equal(fits["coin"].values[i], trace["posterior"]["coin"].values)


def test_without_nutpie_pymc_samples(monkeypatch, caplog):
    monkeypatch.delitem(nutpie_core.sys.modules, nutpie_core.CORE, raising=False)
    monkeypatch.setattr(nutpie_core.importlib.util, "find_spec", lambda name: None)
    data, more = series((20,)), {"target_accept": 0.9, "maxdepth": 8}
    with caplog.at_level(logging.INFO, "pymc"):
        fits = fit(normal_model(), data, draws=300, tune=200, chains=2, nuts_sampler_kwargs=more)
    assert [r.message for r in caplog.records] == [
        "NUTS is PyMC's own, in Python, and not nutpie: nutpie is not installed"
    ]
    check_normal(fits, data, 600 / 3)  # NUTS gives at least a third as many independent draws
    with pytest.raises(TypeError, match="as nutpie is not installed, has no setting store_"):
        fit(normal_model(), data, nuts_sampler_kwargs={"store_gradient": True})


SMALL = {
    "map": {},
    "smc": {"draws": 50, "chains": 2},
    "advi": {"draws": 50, "method_kwargs": {"n": 100}},
}


@pytest.mark.parametrize("method", SMALL)
def test_the_same_on_every_executor(method):
    """And in another order, from another state of the model."""
    data, options = series((20, 5, 40, 20)), SMALL[method] | {"method": method, "keep": ["mu"]}
    alone = fit(normal_model(), data, executor=1, **options)
    assert alone["reason"].values.tolist() == [""] * 4
    with ProcessPoolExecutor(2, multiprocessing.get_context("forkserver")) as executor:
        there = fit(normal_model(), data, executor=executor, **options)
    np.testing.assert_array_equal(there["mu"].values, alone["mu"].values)
    np.testing.assert_array_equal(fit(normal_model(), data, **options)["mu"].values, alone["mu"].values)
    last = fit(normal_model(), [{"y": np.ones(2)}] * 3 + data[3:], executor=1, **options)
    np.testing.assert_array_equal(last["mu"].values[3], alone["mu"].values[3])


@pytest.mark.parametrize("method", ["smc", "advi"])
def test_what_fails_is_a_row(method):
    data = [{"y": np.ones(4)}, {"z": 1.0}, {"y": np.full(2, np.nan)}, {"y": np.ones(4)}]
    fits = fit(normal_model(), data, **SMALL[method], method=method)
    assert fits["failed"].values.tolist() == [False, True, True, False]
    assert fits["reason"].values[1] == "BadData: the model has no data z; it has y"


def test_kept_fits_are_those_of_the_method(tmp_path, monkeypatch):
    calls = []
    for name, call in by_pymc._FITS.items():
        monkeypatch.setitem(by_pymc._FITS, name, lambda *args, call=call: calls.append(1) or call(*args))
    data = series((4, 5))
    smc = fit(normal_model(), data, method="smc", resume=tmp_path, **SMALL["smc"])
    again = fit(normal_model(), data, method="smc", resume=tmp_path, **SMALL["smc"])
    assert len(calls) == 2
    np.testing.assert_array_equal(again["mu_mean"].values, smc["mu_mean"].values)
    fit(normal_model(), data, method="smc", resume=tmp_path, **SMALL["smc"], method_kwargs={"threshold": 0.4})
    fit(normal_model(), data, method="advi", resume=tmp_path, **SMALL["advi"])
    assert len(calls) == 6
    optimum = fit(normal_model(), data, method="map", resume=tmp_path)
    assert not np.array_equal(optimum["mu_mean"].values, smc["mu_mean"].values)
    monkeypatch.setattr(by_pymc, "_FITS", {})
    with pm.Model() as other:
        y = pm.Data("y", np.zeros(3))
        pm.Normal("likelihood", pm.Normal("mu", 0, 11), 1, observed=y)
    assert fit(other, data, method="smc", resume=tmp_path, **SMALL["smc"])["failed"].all()  # it has to be done
    assert not fit(normal_model(), data, method="smc", resume=tmp_path, **SMALL["smc"])["failed"].any()


@pytest.mark.parametrize("method", ["nuts", "smc"])
@pytest.mark.filterwarnings("ignore:what is recorded of a draw runs Python")
def test_kept_fits_are_those_of_the_ops_in_python(method, tmp_path):
    def times(k):
        with pm.Model() as model:
            y, mu = pm.Data("y", np.zeros(5)), pm.Normal("mu", 0, 10)
            pm.Deterministic("t", Times(k)(mu))
            pm.Normal("seen", mu, 1, observed=y)
        return model

    few = {"draws": 50, "tune": 50, "chains": 1, "seed": 1, "progress": False, "executor": 1, "method": method}
    fits = [inlay.pymc.fit_many(times(k), [{"y": np.full(50, 8.0)}], resume=tmp_path, **few) for k in (1.0, 4.0)]
    ratios = [float(f["t_mean"].values[0] / f["mu_mean"].values[0]) for f in fits]
    np.testing.assert_allclose(ratios, [1.0, 4.0], rtol=1e-12)


def test_ops_that_hold_graphs_are_told_from_others():
    def of(k):
        x = pt.dvector("x")
        held = [x * k, pytensor.function([x], x * k), lambda y: k * y, np.array([k]), {"k": k}]
        return [text_of_op(Times(y)) for y in held]

    once, again, other = of(2.0), of(2.0), of(3.0)
    assert once == again
    assert not set(once) & set(other)


def test_observed_constants_and_dims():
    """Of another length than the model's coords, too."""
    with pm.Model(coords={"at": range(3)}) as model:
        x = pm.Data("x", np.ones(3), dims="at")
        level = pm.Normal("level", 0, 10)
        pm.Deterministic("scaled", level * x, dims="at")
        pm.Normal("y", level, 1, observed=np.zeros(50))
    rng = np.random.default_rng(5)
    data = [{"y": rng.normal(i, 1, 50), "x": np.ones(n)} for i, n in enumerate((5, 3, 2))]
    fits = fit(model, data, method="smc", draws=400, chains=1)
    assert fits["reason"].values.tolist() == [""] * 3
    assert (abs(fits["level_mean"].values - [d["y"].mean() for d in data]) < 6 / np.sqrt(50 * 400 / 3) + 1e-3).all()
    assert np.isfinite(fits["scaled_mean"].values).sum(axis=1).tolist() == [5, 3, 2]


@pytest.mark.parametrize("method", ["map", "smc", "advi"])
def test_predictions_and_the_log_likelihood(method):
    data, options = series((4, 5)), SMALL.get(method, {})
    keep = ["mu", "likelihood_predicted", "likelihood_loglik"]
    fits = fit(normal_model(), data, method=method, predictive=True, keep=keep, reduce="loglik", **options)
    assert fits["reason"].values.tolist() == [""] * 2
    for i, given in enumerate(data):
        n, mu = len(given["y"]), fits["mu"].values[i][..., None]
        want = -((given["y"] - mu) ** 2) / 2 - np.log(2 * np.pi) / 2
        np.testing.assert_allclose(fits["likelihood_loglik"].values[i, ..., :n], want, rtol=1e-12, atol=1e-12)
        errors = fits["likelihood_predicted"].values[i, ..., :n] - mu
        assert (abs(errors) < 6).all() and len(np.unique(errors)) == errors.size


def test_predictions_of_a_discrete_model():
    with pm.Model() as model:
        heads = pm.Data("heads", [5])
        coin = pm.Bernoulli("coin", 0.5)
        pm.Binomial("thrown", 10, pm.math.switch(coin, 0.99, 0.01), observed=heads)
    options = {"draws": 20, "tune": 10, "chains": 1, "predictive": lambda data: {"heads": [0, 0]}}
    fits = fit(model, [{"heads": [10, 10, 10]}, {"heads": [0, 0]}], keep=["coin", "thrown_predicted"], **options)
    assert fits["reason"].values.tolist() == ["", ""]
    assert (fits["coin"].values == np.array([1, 0]).reshape(2, 1, 1)).all()
    # Each of ten throws differs with a chance of 0.01: by 0.1 on average, with a spread of 0.07 over 20 draws.
    assert (abs(fits["thrown_predicted"].values.mean(axis=(1, 2))[:, 0] - [10, 0]) < 0.6).all()


def test_draws_from_the_prior_of_each_data_set():
    with pm.Model() as model:
        scale = pm.Data("scale", 1.0)
        x = pm.Data("x", np.zeros(3))
        mu = pm.Normal("mu", 0, scale)
        pm.Deterministic("double", 2 * mu)
        kind = pm.Bernoulli("kind", 0.25)
        pm.Normal("seen", mu + 1000 * kind, 1e-3, observed=pm.Data("y", np.zeros(3)), shape=x.shape)
    data = [{"scale": 1.0, "x": np.zeros(3)}, {"scale": 100.0, "x": np.zeros(2)}]
    options = {"method": "prior", "draws": 1000, "predictive": True}
    fits = fit(model, data, keep=["mu", "double", "kind", "seen_predicted"], **options)
    assert fits["reason"].values.tolist() == ["", ""]
    assert fits.attrs["method"] == "prior" and fits["mu"].shape == (2, 1, 1000)
    mu, kind = fits["mu"].values[:, 0], fits["kind"].values[:, 0]
    assert kstest(mu[0], "norm").pvalue > 1e-4 and kstest(mu[1] / 100, "norm").pvalue > 1e-4
    np.testing.assert_array_equal(fits["double"].values, 2 * fits["mu"].values)
    assert abs(kind.mean() - 0.25) < 6 * np.sqrt(0.25 * 0.75 / kind.size)
    errors = 1e3 * (fits["seen_predicted"].values[0, 0] - (mu[0] + 1000 * kind[0])[:, None])
    assert kstest(errors.ravel(), "norm").pvalue > 1e-4
    assert abs(np.corrcoef(errors[:, 0], mu[0])[0, 1]) < 6 / np.sqrt(1000)  # other generators than those of mu
    assert fits["seen_predicted"].shape == (2, 1, 1000, 3)
    few = fit(model, data, keep=["seen_predicted"], var_names=["double"], **options)
    np.testing.assert_array_equal(few["seen_predicted"].values, fits["seen_predicted"].values)
    assert "mu_mean" not in few
    with pytest.raises(TypeError, match="method_kwargs: prior has no setting samples; it has none"):
        fit(model, data, method="prior", method_kwargs={"samples": 5})


TAKEN = threading.Semaphore(0)


class Endless(pm.smc.IMH):
    """Of three observations: it interrupts the first thread, and goes on for minutes."""

    def mutate(self):
        super().mutate()
        if pm.modelcontext(None)["y"].get_value().size == 3:
            assert TAKEN.acquire(timeout=60) and TAKEN.acquire(timeout=60)  # both rows before
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
            for _ in range(10**7):
                self.likelihood_logp_func(self.tempered_posterior[0])


def test_ctrl_c_stops_smc(tmp_path, monkeypatch):
    note = run._Run._note
    monkeypatch.setattr(run._Run, "_note", lambda *given: (note(*given), TAKEN.release()))
    data = series((5, 4, 3, 6))
    options = SMALL["smc"] | {"method": "smc", "method_kwargs": {"kernel": Endless}, "executor": 1, "keep": "mu"}
    fits = fit(normal_model(), data, resume=tmp_path, **options)
    assert fits["reason"].values.tolist() == ["", "", "not done", "not done"]
    want = fit(normal_model(), data[:2], executor=1, method="smc", keep="mu", **SMALL["smc"])
    np.testing.assert_array_equal(fits["mu"].values[:2], want["mu"].values)
    again = fit(normal_model(), data[:2], resume=tmp_path, **options)
    np.testing.assert_array_equal(again["seconds"].values, fits["seconds"].values[:2])


def test_ctrl_c_stops_an_optimiser(monkeypatch):
    """In the second fit, which would go on for ever."""
    minimize, starts = optimum.minimize, []

    def interrupted(function, start, options):
        def endless(x):
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
            while True:
                function(x)

        starts.append(start)
        is_second = len(starts) == 3  # the options were tried before
        return minimize(endless if is_second else function, start, options)

    monkeypatch.setattr(optimum, "minimize", interrupted)
    fits = fit(normal_model(), series((5, 4, 3)), method="map", executor=1)
    assert fits["reason"].values[1:].tolist() == ["not done", "not done"]
