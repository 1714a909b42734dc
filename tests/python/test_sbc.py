"""Simulation-based calibration: simuk's interface, by one compilation."""

import inspect
import os
from types import SimpleNamespace

import inlay.pymc
import numpy as np
import pymc as pm
import pytest
from inlay import _inlay
from scipy.stats import kstest

pytest.importorskip("nutpie")

FEW = {"num_simulations": 100, "sample_kwargs": {"draws": 33, "tune": 100, "chains": 3}, "seed": 1, "progress_bar": False}

# So rarely a right sampler fails a test: of fixed seeds, so that it does not do so now and then.
LEAST_PVALUE = 1e-3


def schools():
    y = np.array([28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0])
    sigma = np.array([15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0])
    with pm.Model() as model:
        mu = pm.Normal("mu", 0, 5)
        tau = pm.HalfNormal("tau", 5)
        z = pm.Normal("z", 0, 1, shape=8)
        pm.Normal("y", mu + tau * z, sigma, observed=y)
    return model


def uniformity(ranks, draws=99):
    """Ties are broken at random: ranks are 0 to `draws`."""
    rng = np.random.default_rng(5)
    return kstest((ranks.ravel() + rng.uniform(size=ranks.size)) / (draws + 1), "uniform").pvalue


def test_ranks_are_uniform_by_one_compilation(monkeypatch):
    compiled = []
    compile_ = _inlay.compile
    monkeypatch.setattr(_inlay, "compile", lambda *args, **kwargs: compiled.append(1) or compile_(*args, **kwargs))
    sbc = inlay.pymc.SBC(schools(), **FEW)
    tree = sbc.run_simulations()
    assert len(compiled) == 4  # those of fit_many, and the draws from the prior
    assert tree is sbc.simulations
    ranks = tree["prior_sbc"]
    assert {name: ranks[name].shape for name in ranks} == {"mu": (1, 100), "tau": (1, 100), "z": (1, 100, 8)}
    for name in ranks:
        assert ranks[name].values.min() >= 0
        assert ranks[name].values.max() <= 99
        assert uniformity(ranks[name].values) > LEAST_PVALUE
    assert not sbc.fits["failed"].any()


def test_arviz_plots_the_ranks():
    plots = pytest.importorskip("arviz_plots")
    tree = inlay.pymc.SBC(schools(), **FEW).run_simulations()
    drawn = plots.plot_ecdf_pit(tree, group="prior_sbc", backend="none")
    assert {"mu", "tau", "z"} <= set(drawn.viz["ecdf_lines"].data_vars)


def test_a_model_that_does_not_make_its_data_is_found():
    """The simulator's noise is three times the model's."""
    with pm.Model() as model:
        mu = pm.Normal("mu")
        pm.Normal("y", mu, 1, observed=pm.Data("data", np.zeros(5)))

    def simulator(mu, seed):
        return {"y": np.random.default_rng(seed).normal(mu, 3, 5)}

    wrong = inlay.pymc.SBC(model, simulator=simulator, **FEW).run_simulations()
    assert uniformity(wrong["prior_sbc"]["mu"].values) < 1e-6
    right = inlay.pymc.SBC(model, **FEW).run_simulations()
    assert uniformity(right["prior_sbc"]["mu"].values) > LEAST_PVALUE


def test_transforms_and_kept_fits():
    def largest(name, value):
        return np.max(value)

    sbc = inlay.pymc.SBC(schools(), transform=largest, **FEW)
    first = sbc.run_simulations()["prior_sbc"]
    assert first["z"].shape == (1, 100)
    assert uniformity(first["z"].values) > LEAST_PVALUE
    again = sbc.compute_rank_statistics()["prior_sbc"]
    np.testing.assert_array_equal(again["z"].values, first["z"].values)
    plain = sbc.compute_rank_statistics(lambda name, value: value)["prior_sbc"]
    np.testing.assert_array_equal(plain["mu"].values, first["mu"].values)
    want = inlay.pymc.SBC(schools(), **FEW).run_simulations()["prior_sbc"]
    np.testing.assert_array_equal(plain["z"].values, want["z"].values)


def test_simulations_that_fail_are_left_out(caplog):
    with pm.Model() as model:
        mu = pm.Normal("mu")
        pm.Normal("y", mu, 1, observed=pm.Data("data", np.zeros(5)))

    def simulator(mu, seed):
        return {"y": np.full(5, np.nan if mu < 0 else mu)}

    sbc = inlay.pymc.SBC(model, simulator=simulator, **FEW)
    ranks = sbc.run_simulations()["prior_sbc"]["mu"]
    failed = int((sbc.ref_params["mu"] < 0).sum())
    assert ranks.shape == (1, 100 - failed)
    assert f"{failed} of 100 simulations are left out" in caplog.text


FEWER = FEW | {"num_simulations": 10, "sample_kwargs": {"draws": 30, "tune": 30, "chains": 2}}


def test_the_dim_of_the_fits():
    """Of a model that has one with that name."""
    with pm.Model(coords={"dataset": range(3)}) as model:
        pm.Normal("y", pm.Normal("mu", dims="dataset"), 1, observed=np.zeros(3))
    with pytest.raises(ValueError, match="the dim dataset of mu is named as a column of the fits: .* by dim="):
        inlay.pymc.SBC(model, **FEWER).run_simulations()
    sbc = inlay.pymc.SBC(model, dim="simulation", keep_fits=True, **FEWER)
    assert sbc.run_simulations()["prior_sbc"]["mu"].shape == (1, 10, 3)
    assert sbc.fits["mu"].dims == ("simulation", "chain", "draw", "dataset")
    assert sbc.compute_rank_statistics()["prior_sbc"]["mu"].shape == (1, 10, 3)


def test_the_interface_is_that_of_simuk():
    simuk = pytest.importorskip("simuk")
    theirs, ours = (inspect.signature(kind.__init__).parameters for kind in (simuk.SBC, inlay.pymc.SBC))
    assert [*ours.values()][: len(theirs)] == [*theirs.values()]
    options = {"draws": 10, "tune": None, "chains": 2, "progressbar": False, "idata_kwargs": {}, "cores": 1, "initvals": {"mu": 0.5}}
    sbc = inlay.pymc.SBC(schools(), "Prior", 5, options | {"nuts_sampler_kwargs": {"maxdepth": 8}}, 1, progress_bar=False)
    ranks = sbc.run_simulations()
    assert (sbc.fits.attrs["draws"], sbc.fits.attrs["tune"]) == (10, 1000)
    assert sbc.compute_rank_statistics().identical(ranks)
    few = inlay.pymc.SBC(schools(), "prior", 5, {"draws": 10, "tune": 10}, 1, keep_fits=False, progress_bar=False)
    few.run_simulations()
    assert "mu_rank" in few.fits and "mu" not in few.fits
    with pytest.raises(ValueError, match="compute_rank_statistics needs the draws: keep_fits=True"):
        few.compute_rank_statistics()


class LikeBambi:
    """What is used of a bambi.Model."""

    formula, backend, built = "y ~ 1", None, False

    def build(self):
        assert not self.built
        self.backend, self.built = SimpleNamespace(model=schools()), True


def test_models_like_those_of_bambi():
    given = LikeBambi()
    sbc = inlay.pymc.SBC(given, **FEWER)
    assert sbc.model is given.backend.model
    assert set(sbc.run_simulations()["prior_sbc"]) == {"mu", "tau", "z"}
    assert inlay.pymc.SBC(given, **FEWER).model is sbc.model  # built once


def test_a_model_that_bambi_made():
    bambi = pytest.importorskip("bambi")
    pandas = pytest.importorskip("pandas")
    x, group = np.linspace(-1, 1, 20), list("abcd" * 5)
    frame = pandas.DataFrame({"x": x, "group": group, "y": np.sin(7 * x)})
    sbc = inlay.pymc.SBC(bambi.Model("y ~ x + (1|group)", frame), **FEWER)
    ranks = sbc.run_simulations()["prior_sbc"]
    assert {"Intercept", "x", "1|group_offset"} <= set(ranks)
    assert sbc.fits["reason"].values.tolist() == [""] * 10


def regression():
    x = np.random.default_rng(8).normal(size=20)
    with pm.Model() as model:
        slope, level = pm.Normal("slope"), pm.Normal("level", 0, 2)
        noise = pm.Gamma("noise", 3, 2)
        pm.Normal("y", level + slope * x, noise, observed=pm.Data("given", np.zeros(20)))
    return model


def shares():
    with pm.Model() as model:
        share = pm.Dirichlet("share", np.ones(3))
        rate = pm.Exponential("rate", 0.1)
        pm.Multinomial("counts", 30, share, observed=np.array([10, 10, 10]))
        pm.Poisson("events", rate, observed=np.array([3, 4]))
    return model


@pytest.mark.skipif(not os.environ.get("INLAY_SIMUK"), reason="takes minutes: scripts/check soak runs it")
@pytest.mark.parametrize("model", [schools, regression, shares])
def test_the_ranks_are_those_of_simuk(model):
    """Of the same draws from the prior, and of other posterior draws: the distributions are the same."""
    simuk = pytest.importorskip("simuk")
    from scipy.stats import ks_2samp

    model = model()
    ours = inlay.pymc.SBC(model, **FEW).run_simulations()["prior_sbc"]
    with inlay.pytensor.default_mode():
        theirs = simuk.SBC(model, **FEW)
        theirs.run_simulations()
    theirs = theirs.simulations["prior_sbc"]
    for name in ours:
        assert ours[name].shape == theirs[name].shape
        assert ks_2samp(ours[name].values.ravel(), theirs[name].values.ravel()).pvalue > LEAST_PVALUE


def test_wrong_arguments():
    with pytest.raises(TypeError, match="SBC takes a model of PyMC or Bambi, not a str"):
        inlay.pymc.SBC("model")
    with pytest.raises(ValueError, match="method is 'likelihood', and SBC has 'prior' and 'posterior'"):
        inlay.pymc.SBC(schools(), method="likelihood")
    with pytest.raises(ValueError, match="wants trace=, an InferenceData, and a NoneType has no group posterior"):
        inlay.pymc.SBC(schools(), method="posterior")
    with pytest.raises(TypeError, match="augment_observed goes with method='posterior'"):
        inlay.pymc.SBC(schools(), augment_observed=max)
    with pytest.raises(TypeError, match="update_data is a list, not a function"):
        inlay.pymc.SBC(schools(), method="posterior", update_data=[])
    with pytest.raises(TypeError, match="simulator is a str, not a function"):
        inlay.pymc.SBC(schools(), simulator="simulate")
    with pytest.raises(TypeError, match="sample_kwargs has step; SBC takes draws, tune, chains, target_accept, max_treedepth, in"):
        inlay.pymc.SBC(schools(), sample_kwargs={"step": None})
    with pytest.raises(TypeError, match="sample_kwargs has nuts_sampler='blackjax'; SBC takes 'nutpie' and 'pymc'"):
        inlay.pymc.SBC(schools(), sample_kwargs={"nuts_sampler": "blackjax"})
    for sampler in (None, "nutpie", "pymc"):
        inlay.pymc.SBC(schools(), sample_kwargs={"nuts_sampler": sampler})
    with pytest.raises(TypeError, match="sample_kwargs has random_seed: each simulation has a seed of its own"):
        inlay.pymc.SBC(schools(), sample_kwargs={"random_seed": 1})
    with pytest.raises(TypeError, match="data_dir is for models of NumPyro, and SBC takes those of PyMC and Bambi"):
        inlay.pymc.SBC(schools(), data_dir={})
    with pm.Model() as model:
        pm.Normal("mu")
    with pytest.raises(ValueError, match="no observed variables, and there is no simulator"):
        inlay.pymc.SBC(model)
    with pytest.raises(ValueError, match="compute_rank_statistics needs the draws"):
        inlay.pymc.SBC(schools()).compute_rank_statistics()
    with pytest.raises(TypeError, match="the simulator returned a list, not a dict"):
        inlay.pymc.SBC(model, simulator=lambda mu, seed: [mu], **FEW).run_simulations()


def line():
    with pm.Model() as model:
        x, y = pm.Data("x", np.linspace(-1, 1, 12)), pm.Data("y", np.linspace(-2, 2, 12) + np.sin(np.arange(12.0)))
        slope, noise = pm.Normal("slope", 0, 2), pm.HalfNormal("noise", 1)
        pm.Normal("seen", slope * x, noise, observed=y)
    return model


def twice_as_long(model, observed, replicated, number):
    x = model["x"].get_value()
    return {"seen": np.concatenate([observed["seen"].values, replicated["seen"]]), "x": np.concatenate([x, x])}


@pytest.fixture(scope="module")
def trace():
    with line():
        return pm.sample(draws=300, tune=300, chains=2, random_seed=1, progressbar=False, compile_kwargs={"mode": "INLAY"})


def test_ranks_on_the_posterior(trace):
    sbc = inlay.pymc.SBC(line(), method="posterior", trace=trace, augment_observed=twice_as_long, **FEW)
    ranks = sbc.run_simulations()["posterior_sbc"]
    assert not sbc.fits["failed"].any()
    for name in ("slope", "noise"):
        assert ranks[name].shape == (1, 100)
        assert uniformity(ranks[name].values) > LEAST_PVALUE
        assert np.isin(sbc.ref_params[name], trace.posterior[name].values).all()
        assert len(np.unique(sbc.ref_params[name])) > 90  # a few are of a rejected step


def test_other_data_of_the_model_are_updated(trace):
    """As simuk has it: what is observed grows by itself, and a function sets the rest, with its coordinates."""
    calls = []

    def model_of_rows():
        seen = line()["y"].get_value()
        with pm.Model(coords={"row": range(12)}) as model:
            x, y = pm.Data("x", np.linspace(-1, 1, 12), dims="row"), pm.Data("y", seen, dims="row")
            pm.Data("unused", np.array([0.0, 1.0]))
            slope, noise = pm.Normal("slope", 0, 2), pm.HalfNormal("noise", 1)
            pm.Normal("seen", slope * x, noise, observed=y, dims="row")
        return model

    def update(model, augmented, number):
        calls.append(number)
        assert model is pm.modelcontext(None)
        x = model["x"].get_value()
        assert (len(x), len(augmented["seen"])) == (12, 24)
        pm.set_data({"x": np.concatenate([x, x])}, coords={"row": range(24)})

    few = FEW | {"num_simulations": 5}
    model = model_of_rows()
    sbc = inlay.pymc.SBC(model, method="posterior", trace=trace, update_data=update, **few)
    ranks = sbc.run_simulations()["posterior_sbc"]
    assert calls == [0, 1, 2, 3, 4]
    assert (len(model["x"].get_value()), len(model.coords["row"])) == (12, 12)
    want = inlay.pymc.SBC(line(), method="posterior", trace=trace, augment_observed=twice_as_long, **few).run_simulations()
    np.testing.assert_array_equal(ranks["slope"].values, want["posterior_sbc"]["slope"].values)

    def fails(model, augmented, number):
        pm.set_data({"x": np.zeros(24)}, coords={"row": range(24)})
        raise LookupError("no covariates")

    with pytest.raises(LookupError, match="no covariates"):
        inlay.pymc.SBC(model, method="posterior", trace=trace, update_data=fails, **few).run_simulations()
    assert model["x"].get_value().max() == 1


def test_dims_without_coordinates_are_updated(trace):
    with pm.Model() as model:
        x = pm.Data("x", np.linspace(-1, 1, 12), dims="row")
        y = pm.Data("y", np.zeros(12), dims="row")
        pm.Normal("seen", pm.Normal("slope", 0, 2) * x, pm.HalfNormal("noise", 1), observed=y, dims="row")

    def update(model, augmented, number):
        pm.set_data({"x": np.zeros(24)}, coords={"row": range(24)})
        if number == 2:
            raise LookupError("no covariates")

    with pytest.raises(LookupError, match="no covariates"):
        inlay.pymc.SBC(model, method="posterior", trace=trace, update_data=update, **FEW).run_simulations()
    assert (len(model["x"].get_value()), model.coords["row"], model.dim_lengths["row"].eval()) == (12, None, 12)


def test_ranks_on_the_posterior_see_a_wrong_model(trace):
    """Of data with the other sign."""

    def without(model, observed, replicated, number):
        return {"seen": -observed["seen"].values}

    sbc = inlay.pymc.SBC(line(), method="posterior", trace=trace, augment_observed=without, **FEW)
    ranks = sbc.run_simulations()["posterior_sbc"]
    assert uniformity(ranks["slope"].values) < 1e-9


def test_the_posterior_of_a_simulator_and_without_a_function(trace):
    with pm.Model() as model:
        y = pm.Data("y", np.zeros(12))
        pm.Normal("seen", pm.Normal("slope", 0, 2), pm.HalfNormal("noise", 1), observed=y)

    def simulator(slope, noise, seed):
        return {"seen": np.random.default_rng(seed).normal(slope, noise, 12)}

    given = {name: trace[name] for name in ("posterior", "observed_data")}
    few = FEW | {"num_simulations": 10}
    sbc = inlay.pymc.SBC(model, method="posterior", trace=given, simulator=simulator, **few)
    assert sbc.run_simulations()["posterior_sbc"]["slope"].shape == (1, 10)
    with pytest.raises(ValueError, match="trace has 2 x 300 draws for 601 simulations"):
        inlay.pymc.SBC(model, method="posterior", trace=given, **(FEW | {"num_simulations": 601}))
    with pytest.raises(ValueError, match="method='posterior' fits to what was .*, and y is observed from a constant, which has"):
        inlay.pymc.SBC(schools(), method="posterior", trace=given, **few)
    with pytest.raises(TypeError, match="augment_observed returned a list, not a dict"):
        bad = inlay.pymc.SBC(model, method="posterior", trace=given, simulator=simulator, augment_observed=lambda *_: [], **few)
        bad.run_simulations()


def test_arguments_that_end_nowhere(tmp_path):
    with pytest.raises(ValueError, match="num_simulations is 0, and has to be at least 1"):
        inlay.pymc.SBC(schools(), num_simulations=0)
    with pytest.raises(ValueError, match="resume wants a seed"):
        inlay.pymc.SBC(schools(), resume=tmp_path)
    with pytest.raises(ValueError, match="resume wants a seed"):
        inlay.pymc.fit_many(schools(), [{}], resume=tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("dtype", ["int32", "bool"])
def test_data_that_pymc_casts(dtype):
    with pm.Model() as model:
        x, y = pm.Data("x", np.linspace(-1, 1, 20)), pm.Data("given", (np.arange(20) % 2).astype(dtype))
        pm.Bernoulli("y", logit_p=pm.Normal("slope") * x, observed=y)
    sbc = inlay.pymc.SBC(model, **FEW | {"num_simulations": 3, "sample_kwargs": {"draws": 20, "tune": 20, "chains": 1}})
    sbc.run_simulations()
    assert sbc.fits["reason"].values.tolist() == ["", "", ""]
