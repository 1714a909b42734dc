"""Where fits start: values of the caller's, as PyMC means them; several starting points of an optimum."""

import multiprocessing
from concurrent.futures import ProcessPoolExecutor

import inlay.pymc
import numpy as np
import pymc as pm
import pytest
from inlay.fits import sampler
from inlay.fits.failures import Reason
from inlay.pymc import by_pymc
from inlay.pymc.fit_functions import fit_functions
from pymc.initial_point import make_initial_point_fn
from pytensor import tensor as pt

pytest.importorskip("nutpie")

FEW = {"draws": 50, "tune": 50, "chains": 2, "seed": 20240607, "progress": False}


def fit(model, datasets, **options):
    return inlay.pymc.fit_many(model, datasets, **(FEW | options))


def effects_model():
    """An effect for each observation, which starts at `mu` where nothing else is said."""
    with pm.Model() as model:
        y = pm.Data("y", np.zeros(3))
        mu, scale = pm.Normal("mu", 0, 10, initval=0.25), pm.HalfNormal("scale", 2)
        effect = pm.Normal("effect", mu, scale, shape=y.shape)
        pm.Normal("likelihood", effect, 1, observed=y)
    return model


def series(lengths=(4, 2)):
    rng = np.random.default_rng(1)
    return [{"y": rng.normal(i, 1, n)} for i, n in enumerate(lengths)]


@pytest.mark.parametrize(
    "initvals", [{"mu": 3.0}, {"scale": 0.5, "mu": -1}, {"effect": np.arange(4.0)}, {"effect": np.arange(4), "scale": 2.0}]
)
def test_the_start_is_that_of_pymc(initvals):
    """What has no value starts where PyMC says, which depends on the values of others."""
    (given, _), model = series(), effects_model()
    with model:
        pm.set_data(given)
    # Its values are those of the model when it was compiled; the names may be in any order.
    functions = fit_functions(model, initial=tuple(initvals))
    start, shapes = functions.loaded.start(functions.arrays(given), initvals)
    want = make_initial_point_fn(model=model, overrides=initvals)(0)
    np.testing.assert_allclose(start, np.concatenate([np.ravel(x) for x in want.values()]), rtol=1e-12)
    assert shapes == [(), (), (4,)]
    default, _ = functions.loaded.start(functions.arrays(given))
    want = make_initial_point_fn(model=model)(0)
    np.testing.assert_allclose(default, np.concatenate([np.ravel(x) for x in want.values()]), rtol=1e-12)


def test_chains_start_there_with_the_jitter_of_pymc(monkeypatch):
    starts = []
    make = sampler._sampler
    monkeypatch.setattr(sampler, "_sampler", lambda f, a, start, *rest: starts.append(start) or make(f, a, start, *rest))
    data = series()
    fits = fit(effects_model(), data, initvals=lambda data: {"effect": data["y"], "scale": 0.5}, executor=1)
    assert fits["reason"].values.tolist() == ["", ""]
    for start, given in zip(starts, data, strict=True):
        np.testing.assert_allclose(start, [0.25, np.log(0.5), *given["y"]], rtol=1e-12)


def test_draws_are_the_same_on_every_executor_and_others_without():
    data = series((4, 2, 3, 4))
    options = {"initvals": {"mu": 2.0, "scale": 0.5}, "keep": "mu"}
    here = fit(effects_model(), data, executor=1, **options)
    with ProcessPoolExecutor(2, multiprocessing.get_context("forkserver")) as executor:
        there = fit(effects_model(), data, executor=executor, **options)
    np.testing.assert_array_equal(here["mu"].values, there["mu"].values)
    by_function = fit(effects_model(), data, **(options | {"initvals": lambda data: options["initvals"]}))
    np.testing.assert_array_equal(here["mu"].values, by_function["mu"].values)
    assert not np.array_equal(here["mu"].values, fit(effects_model(), data, keep="mu")["mu"].values)


def test_variables_may_be_keys():
    model = effects_model()
    named = fit(model, series(), initvals={"mu": 2.0}, keep="mu")
    np.testing.assert_array_equal(fit(model, series(), initvals={model["mu"]: 2.0}, keep="mu")["mu"], named["mu"])


def test_a_variable_has_one_value():
    model = effects_model()
    with pytest.raises(ValueError, match="initvals has mu twice, as a name and as a variable: give it once"):
        fit(model, series(), initvals={model["mu"]: 1.0, "mu": 2.0})


def test_a_dict_is_read_once():
    class Counting(dict):
        reads = 0

        def items(self):
            Counting.reads += 1
            return super().items()

    assert not fit(effects_model(), series(), initvals=Counting(mu=2.0), executor=1)["failed"].any()
    assert Counting.reads == 1


def test_kept_fits_are_those_of_the_starting_values(tmp_path):
    data, options = series(), {"resume": tmp_path, "reduce": "mean"}

    def seconds(**more):
        return fit(effects_model(), data, **(options | more))["seconds"].values

    first = seconds(initvals={"mu": 1.0})
    np.testing.assert_array_equal(seconds(initvals={"mu": 1.0}), first)
    assert (seconds(initvals={"mu": 2.0}) != first).all()
    assert (seconds() != first).all()


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"mu": 1.0, "scale": -1.0}, "initvals: mu is 1.0, scale is -1.0: a value is outside of its variable's support, as"),
        ({"mu": [1.0], "scale": 1.0}, "initvals: mu has 1 dimensions; the model's has 0"),
        ({"mu": 1.0}, "initvals has values of mu, and for the first data set of mu, scale"),
        ({"mu": "prior", "scale": 1.0}, "initvals: mu is 'prior', not numbers"),
        ({"mu": [pt.vector()], "scale": 1.0}, "initvals: mu holds a TensorVariable, not numbers"),
        (3.0, "initvals is a float, not a dict by the names of variables, or a list of dicts"),
        ([{"mu": 1.0, "scale": 1.0}] * 2, "initvals is a list of 2 dicts, and the method takes one dict"),
    ],
)
def test_values_that_fit_no_data_set_are_rows(values, reason):
    def initvals(data):
        return {"mu": 1.0, "scale": 1.0} if len(data["y"]) == 4 else values

    fits = fit(effects_model(), series(), initvals=initvals)
    assert fits["reason"].values[0] == ""
    assert fits["reason"].values[1].startswith(reason)


def test_values_of_another_shape_than_the_data_give():
    fits = fit(effects_model(), series(), initvals={"effect": np.zeros(4)})
    assert fits["reason"].values.tolist() == ["", "initvals: effect has shape (4,), which is (2,) with these data"]
    with pytest.raises(Reason, match="effect has shape"):
        functions = fit_functions(effects_model(), initial=("effect",))
        functions.loaded.start(functions.arrays(series()[1]), {"effect": np.zeros(4)})


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"initvals": {"nu": 1.0}}, KeyError, "initvals has nu, which is no free variable of this model; it has mu, scale, eff"),
        ({"initvals": {"scale_log__": 1.0}}, KeyError, "initvals has scale_log__, which is no free variable"),
        ({"initvals": {}}, ValueError, "initvals names no variables; the model has mu, scale, effect"),
        ({"initvals": lambda data: data["z"]}, ValueError, "initvals, of the first data set, .*: KeyError: 'z'"),
        ({"initvals": []}, ValueError, "initvals is an empty list"),
        ({"initvals": 1.0}, TypeError, "initvals is a float, not a dict by the names of variables, or a list of dicts"),
        ({"initvals": {"mu": "prior"}}, TypeError, "initvals: mu is 'prior', not numbers"),
        ({"initvals": {"mu": pt.scalar() + 1}}, TypeError, "initvals: mu is a TensorVariable, not numbers"),
        ({"initvals": {"effect": [[1.0], [1.0, 2.0]]}}, TypeError, "initvals: effect is ragged: lists in it differ in length"),
        ({"initvals": [{"mu": 1.0}] * 2}, ValueError, "initvals is a list of 2 dicts, and the method takes one dict"),
        ({"initvals": [{"mu": 1.0}, {}], "method": "map"}, ValueError, "initvals has mu in one dict and not in another"),
        ({"initvals": {"mu": 1.0}, "method": "smc"}, TypeError, "method='smc' starts with draws from the prior: method_kwargs"),
        ({"initvals": {"mu": 1.0}, "method": "prior"}, TypeError, "initvals: method='prior' fits nothing"),
        (
            {"initvals": {"mu": 1.0}, "method": "advi", "method_kwargs": {"start": {"mu": 2.0}}},
            TypeError,
            r"initvals and method_kwargs\['start'\] both say where a fit starts: give one of them",
        ),
        ({"method": "map", "method_kwargs": {"starts": 0}}, ValueError, "starts is 0, and has to be at least 1"),
    ],
)
def test_what_cannot_be_a_start(options, error, text):
    with pytest.raises(error, match=text):
        fit(effects_model(), series(), **options)


def coin_model():
    with pm.Model() as model:
        heads = pm.Data("heads", [5])
        coin, bias = pm.Bernoulli("coin", 0.5), pm.Normal("bias")
        pm.Binomial("likelihood", 10, pm.math.sigmoid(pm.math.switch(coin, 0.4, -0.4) + bias), observed=heads)
    return model


@pytest.mark.parametrize("initvals", [{"coin": 1, "bias": 2.0}, [{"coin": 1, "bias": 2.0}, {"coin": 0, "bias": -2.0}]])
def test_discrete_models_start_there_too(initvals, monkeypatch):
    asked = []
    sample = pm.sample
    monkeypatch.setattr(pm, "sample", lambda *args, **kwargs: asked.append(kwargs["initvals"]) or sample(*args, **kwargs))
    fits = fit(coin_model(), [{"heads": [3]}], initvals=initvals)
    assert fits["reason"].values.tolist() == [""]
    assert asked == [initvals]
    with pytest.raises(ValueError, match="is a list of 2 dicts, and the method takes one dict, or 3, one for each chain"):
        fit(coin_model(), [{"heads": [3]}], initvals=[{"bias": 1.0}] * 2, chains=3)


def test_advi_starts_there():
    """A single step of the optimiser goes no further than 0.001 or so; the draws are of the standard deviation at first."""
    options = {"method": "advi", "method_kwargs": {"n": 1}, "draws": 500, "chains": 1}
    fits = fit(effects_model(), series(), initvals={"mu": 30.0}, **options)
    assert (abs(fits["mu_mean"].values - 30) < 0.01 + 6 * np.log(2) / np.sqrt(500)).all()
    assert by_pymc._FITS["advi"] is by_pymc._advi


def two_peaks():
    """Of a known maximum at each side: the right one is higher, where the data say so, and starts at the left find the other."""
    with pm.Model() as model:
        height, x = pm.Data("height", 1.0), pm.Normal("x", 0, 100, initval=-5.0)
        pm.Potential("peaks", pm.math.logaddexp(-((x + 4) ** 2) * 20, pm.math.log(height) - (x - 4) ** 2 * 20))
    return model


def test_the_best_of_several_starting_points():
    data = [{"height": 10.0}, {"height": 0.1}]
    alone = fit(two_peaks(), data, method="map")
    np.testing.assert_allclose(alone["x_mean"].values, [-4, -4], atol=1e-3)
    assert "converged" not in alone
    several = fit(two_peaks(), data, method="map", initvals=[{"x": -5.0}, {"x": 5.0}, {"x": 3.0}])
    np.testing.assert_allclose(several["x_mean"].values, [4, -4], atol=1e-3)
    assert several["converged"].dims == ("dataset",)
    assert several["converged"].values.tolist() == [3, 3]
    both = fit(two_peaks(), data, method="map", initvals={"x": -4.5}, method_kwargs={"starts": 4})
    np.testing.assert_allclose(both["x_mean"].values, [-4, -4], atol=1e-3)
    assert both["converged"].values.tolist() == [4, 4]


@pytest.mark.parametrize("executor", [1, 2])
def test_starting_points_depend_on_the_seed_of_the_fit_alone(executor):
    """Behind the first one they have the jitter of chains: one of eight is beyond the hill at 0, more often than not."""
    with pm.Model() as model:
        x = pm.Normal("x", 0, 100, initval=-0.1)
        pm.Potential("peaks", pm.math.logaddexp(-((x + 2) ** 2), pm.math.log(pm.Data("height", 3.0)) - (x - 2) ** 2))
    options = {"method": "map", "method_kwargs": {"starts": 8}, "keep": "x"}
    fits = fit(model, [{"height": 3.0}] * 3, executor=executor, **options)
    np.testing.assert_allclose(fits["x_mean"].values, [2, 2, 2], atol=1e-2)
    np.testing.assert_array_equal(fits["x"].values, fit(model, [{"height": 3.0}] * 3, executor=1, **options)["x"].values)


def test_starting_points_that_have_no_maximum(tmp_path):
    pytest.importorskip("pyarrow")
    options = {"method": "map", "initvals": [{"x": -5.0}, {"x": np.inf}, {"x": 1e200}]}
    fits = fit(two_peaks(), [{"height": 10.0}], **options)
    assert fits["reason"].values[0].startswith("initvals: x is inf: a value is outside")
    options["initvals"] = [{"x": -5.0}, {"x": 1e200}]
    fits = fit(two_peaks(), [{"height": 10.0}, {"height": np.nan}], to=tmp_path / "fits.parquet", **options).to_table()
    rows = {row["dataset"]: row for row in fits.to_pylist()}
    assert rows[0]["converged"] == 1
    assert rows[1]["converged"] is None
    assert rows[1]["reason"] == (
        "from none of 2 starting points there is a maximum; from the first one: "
        "the log density or its gradient is not finite at the starting points"
    )
