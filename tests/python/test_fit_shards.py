"""One data set in shards, wherever they are held, is the data set as a whole."""

import inlay.pymc
import numpy as np
import pymc as pm
import pytest
from inlay.fits.shards import FunctionsOfShards, Shard, held
from inlay.pymc.fit_functions import fit_functions

pytest.importorskip("nutpie")

FEW = {"draws": 300, "tune": 200, "chains": 2, "seed": 3}


def line():
    with pm.Model() as model:
        x, y = pm.Data("x", np.zeros((3, 2))), pm.Data("y", np.zeros(3))
        slope, noise = pm.Normal("slope", 0, 5, shape=2), pm.HalfNormal("noise", 2)
        pm.Deterministic("double", 2 * noise)
        pm.Normal("seen", x @ slope, noise, observed=y)
    return model


def rows(lengths=(40, 7, 1, 120)):
    rng = np.random.default_rng(1)
    xs = [rng.normal(size=(n, 2)) for n in lengths]
    return [{"x": x, "y": x @ [1.0, -2.0] + 0.5 * rng.normal(size=len(x))} for x in xs]


def whole(shards):
    return {name: np.concatenate([given[name] for given in shards]) for name in shards[0]}


def test_the_log_density_is_that_of_the_whole():
    functions, shards = fit_functions(line()), rows()
    empty = functions.arrays({name: x[:0] for name, x in shards[0].items()})
    holder = held(functions, shards, 2)
    together = FunctionsOfShards(functions, empty, holder, len(shards))
    alone = Shard(functions, whole(shards))
    for point in np.random.default_rng(2).normal(size=(20, 3)):
        got, want = together.logp(point), alone.logp(point)
        # Sums of some 170 terms in another order.
        np.testing.assert_allclose(got[0], want[0], rtol=1e-12)
        np.testing.assert_allclose(got[1], want[1], rtol=1e-11, atol=1e-9)
    holder.close()


def check(draws, shards):
    """Against the draws of the whole in one place, of which each third counts as independent."""
    want = inlay.pymc.fit_many(line(), [whole(shards)], progress=False, keep=["slope", "noise"], **FEW)
    for name in ("slope", "noise"):
        assert draws[name].shape == want[name].shape[1:]
        got, known = draws[name].values, want[name].values[0]
        error = np.sqrt(2) * known.std(axis=(0, 1)) / np.sqrt(600 / 3)
        assert (abs(got.mean(axis=(0, 1)) - known.mean(axis=(0, 1))) < 6 * error).all()
    np.testing.assert_array_equal(draws["double"], 2 * draws["noise"])
    assert draws["divergences"] == 0


def test_a_dim_of_the_model_may_have_any_name():
    with pm.Model(coords={"dataset": ["one", "two"]}) as model:
        y = pm.Data("y", np.zeros((3, 2)))
        pm.Normal("seen", pm.Normal("mu", dims="dataset"), 1, observed=y)
    draws = inlay.pymc.fit_shards(model, [{"y": np.ones((n, 2))} for n in (2, 3)], **(FEW | {"draws": 20, "tune": 20}))
    assert draws["mu"].dims == ("chain", "draw", "dataset")
    assert draws["dataset"].values.tolist() == ["one", "two"]


@pytest.mark.parametrize("executor", [None, 1, 3])
def test_threads(executor):
    check(inlay.pymc.fit_shards(line(), rows(), executor=executor, **FEW), rows())


def test_the_same_draws_wherever_shards_are():
    distributed = pytest.importorskip("distributed")
    here = inlay.pymc.fit_shards(line(), rows(), **FEW)
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        there = inlay.pymc.fit_shards(line(), rows(), executor=client, **FEW)
    np.testing.assert_array_equal(there["slope"].values, here["slope"].values)


def test_ray():
    ray = pytest.importorskip("ray")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        there = inlay.pymc.fit_shards(line(), rows((30, 20)), executor=ray, **FEW)
    finally:
        ray.shutdown()
    np.testing.assert_array_equal(there["slope"].values, inlay.pymc.fit_shards(line(), rows((30, 20)), **FEW)["slope"].values)


def test_a_shard_that_fails():
    class Lost:
        def call(self, name, *args):
            raise ConnectionError("worker 2 is gone")

    from inlay.fits.fit import Work, fit
    from inlay.fits.shards import NutsOnShards

    settings = {"num_draws": 10, "num_tune": 10, "num_chains": 1}
    functions = fit_functions(line())
    row = fit(Work(functions, 1, NutsOnShards(settings, Lost(), 2)), 0, {"x": np.zeros((0, 2)), "y": np.zeros(0)})
    assert row.reason == "the log density failed: ConnectionError: worker 2 is gone"
    bad = [*rows((5, 5)), {"x": np.zeros((2, 2)), "y": np.full(2, np.nan)}]
    with pytest.raises(inlay.pymc.SamplingFailed, match="is not finite at the starting points"):
        inlay.pymc.fit_shards(line(), bad, **FEW)


def test_what_is_asked_for_wrongly():
    from concurrent.futures import ThreadPoolExecutor

    with pytest.raises(ValueError, match="there are no shards"):
        inlay.pymc.fit_shards(line(), [])
    with pytest.raises(TypeError, match="shard 0 is an int, not a dict"):
        inlay.pymc.fit_shards(line(), [3])
    with pytest.raises(ValueError, match="shard 1 has x, and shard 0 x, y"):
        inlay.pymc.fit_shards(line(), [rows((3,))[0], {"x": np.zeros((2, 2))}])
    with pytest.raises(ValueError, match="shards: the model has no data z; it has x, y"):
        inlay.pymc.fit_shards(line(), [{"z": [1.0]}])
    masked = {"x": np.zeros((2, 2)), "y": np.ma.masked_array([1.0, 2.0], [False, True])}
    with pytest.raises(ValueError, match="y is a masked array that hides values"):
        inlay.pymc.fit_shards(line(), [rows((3,))[0], masked])
    with ThreadPoolExecutor(1) as executor, pytest.raises(TypeError, match="the workers of others hold nothing between calls"):
        inlay.pymc.fit_shards(line(), rows(), executor=executor)
    with pm.Model() as model:
        y = pm.Data("y", np.zeros(3), dims="at")
        pm.Normal("seen", pm.Normal("each", dims="at"), 1, observed=y, dims="at")
    with pytest.raises(ValueError, match="shard 0 has 2 parameters, and without rows there are 0"):
        inlay.pymc.fit_shards(model, [{"y": [1.0, 2.0]}, {"y": [1.0]}])
