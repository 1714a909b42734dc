"""`pm.sample` in inlay's mode is nutpie on inlay, with all that PyMC makes of it."""

import logging
import subprocess
import sys

import inlay.pymc
import inlay.pytensor
import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
import pytest
from pymc.sampling import mcmc
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op

nutpie = pytest.importorskip("nutpie")
from nutpie import compile_pymc  # noqa: E402

pytestmark = pytest.mark.skipif(not hasattr(mcmc, "NumbaLinker"), reason="PyMC 5 samples by its own NUTS if not told otherwise")

DATA = np.random.default_rng(1).normal(1.0, 1.0, 30)
SHORT = {"draws": 100, "tune": 100, "chains": 2, "cores": 2, "random_seed": 3, "progressbar": False}


@pytest.fixture(autouse=True)
def no_numba(monkeypatch):
    """Whatever nutpie has Numba compile for it fails."""

    def fail(*args, **kwargs):
        raise AssertionError("nutpie compiles with Numba")

    monkeypatch.setattr(compile_pymc, "_compile_pymc_model_numba", fail)


def line(floatX="float64"):
    with pytensor.config.change_flags(floatX=floatX), pm.Model(coords={"point": range(30)}) as model:
        a = pm.Normal("a", 0, 10)
        b = pm.HalfNormal("b", 5, shape=2)
        pm.Deterministic("ab", a * b)
        pm.Normal("y", a, b[0], observed=DATA.astype(floatX), dims="point")
    return model


def with_mode():
    with line():
        return pm.sample(compile_kwargs={"mode": "INLAY"}, **SHORT)


def with_backend():
    with line():
        return pm.sample(backend="inlay", **SHORT)


def with_name():
    with line(), inlay.pytensor.default_mode():
        return pm.sample(nuts_sampler="nutpie", **SHORT)


def in_the_block(model=None, **kwargs):
    with model or line(), inlay.pytensor.default_mode():
        return pm.sample(**(SHORT | kwargs))


def sampler(trace):
    return trace.posterior.attrs["inference_library"]


@pytest.mark.parametrize("way", [with_mode, with_backend, with_name])
def test_each_way_to_name_the_mode(way):
    want = in_the_block()
    got = way()
    assert sampler(want) == sampler(got) == "nutpie"
    for name in ("a", "b", "ab"):
        np.testing.assert_array_equal(want.posterior[name].values, got.posterior[name].values)


def test_the_posterior_is_right():
    posterior = in_the_block(draws=1000, tune=500).posterior
    assert abs(posterior["a"].values.mean() - DATA.mean()) < 0.05
    np.testing.assert_allclose(posterior["ab"].values, posterior["a"].values[..., None] * posterior["b"].values)


def test_groups_coords_and_stats_are_those_of_nutpie_on_numba(monkeypatch):
    ours = in_the_block()
    monkeypatch.undo()  # Numba may
    with line():
        theirs = pm.sample(nuts_sampler="nutpie", backend="numba", **SHORT)
    assert set(ours.groups) == set(theirs.groups)
    for group in set(ours.groups) - {"/"}:
        one, other = ours[group], theirs[group]
        assert set(one.data_vars) == set(other.data_vars)
        assert set(one.attrs) == set(other.attrs)
        assert {n: v.dims for n, v in one.data_vars.items()} == {n: v.dims for n, v in other.data_vars.items()}
        assert {n: v.dtype for n, v in one.data_vars.items()} == {n: v.dtype for n, v in other.data_vars.items()}


def formula():
    """Dims as Bambi names them, and variables without dims."""
    with pm.Model(coords={"poly(x, 3)_dim": ["a", "b", "c"], "g,h": [0, 1]}) as model:
        slopes = pm.Normal("poly(x, 3)", dims="poly(x, 3)_dim")
        pm.Dirichlet("w(g, h)", np.ones((2, 3)), dims=("g,h", "poly(x, 3)_dim"))
        pm.Normal("seen", slopes.sum() + pm.Normal("f(u, v)", shape=2).sum(), 1, observed=DATA)
    return model


def test_dims_with_commas():
    """nutpie parts their names at the commas."""
    trace = in_the_block(formula())
    assert sampler(trace) == "nutpie"
    assert {name: v.dims[2:] for name, v in trace.posterior.data_vars.items()} == {
        "poly(x, 3)": ("poly(x, 3)_dim",), "w(g, h)": ("g,h", "poly(x, 3)_dim"), "f(u, v)": ("f(u, v)_dim_0",)
    }  # fmt: skip
    assert list(trace.posterior["poly(x, 3)_dim"].values) == ["a", "b", "c"]
    assert np.isfinite(trace.posterior["poly(x, 3)"].sel({"poly(x, 3)_dim": "b"}).values).all()


def test_a_sign_for_commas_is_in_no_name():
    with pm.Model(coords={"a\u201ab": [0, 1], "a,b": [0, 1, 2]}) as model:
        pm.Normal("x", dims=("a\u201ab", "a,b"))
        pm.Normal("seen", pm.Normal("m"), 1, observed=DATA)
    assert in_the_block(model).posterior["x"].dims == ("chain", "draw", "a\u201ab", "a,b")


def test_dims_with_commas_where_nutpie_is_called():
    import nutpie

    with pytest.warns(UserWarning, match="nutpie parts names of dims at commas.*is `poly\\(x, 3\\)_dim`"):
        compiled = inlay.pymc.compile_nutpie(formula())
    trace = nutpie.sample(compiled, draws=20, tune=20, chains=1, seed=1, progress_bar=False)
    assert trace.posterior["w(g, h)"].shape == (1, 20, 2, 3)


def test_a_block_leaves_other_modes_as_they_were():
    with line(), inlay.pytensor.default_mode(), pytest.raises(AssertionError, match="compiles with Numba"):
        pm.sample(backend="numba", **SHORT)
    with line(), pytest.raises(AssertionError, match="compiles with Numba"):
        pm.sample(**SHORT)


def test_seeds():
    one, same, other = (in_the_block(random_seed=seed).posterior["a"].values for seed in (3, 3, 4))
    np.testing.assert_array_equal(one, same)
    assert not np.array_equal(one, other)


@pytest.mark.parametrize("chains, cores", [(1, 1), (3, 1), (3, 2)])
def test_chains_and_cores(chains, cores):
    assert in_the_block(chains=chains, cores=cores).posterior["b"].shape == (chains, 100, 2)


def test_var_names_initvals_and_tuning():
    trace = in_the_block(var_names=["ab"], initvals={"a": 2.0}, discard_tuned_samples=False)
    assert sampler(trace) == "nutpie"
    assert {"ab"} <= set(trace.posterior.data_vars) <= {"ab", "a", "b"}
    assert "/warmup_posterior" in trace.groups


def test_nuts_arguments():
    trace = in_the_block(target_accept=0.95, nuts={"max_treedepth": 3})
    assert trace.sample_stats["depth"].values.max() <= 3


def test_warnings_of_pymc_are_at_the_user_s_line():
    with pytest.warns(UserWarning, match="is ignored by `nuts_sampler='nutpie'`") as warned:
        in_the_block(nuts_sampler="nutpie", init="adapt_diag")
    assert {warning.filename for warning in warned if "is ignored" in str(warning.message)} == {__file__}
    with pytest.warns(UserWarning, match="MultiTrace") as warned:
        in_the_block(discard_tuned_samples=False, return_inferencedata=False, draws=10, tune=10, cores=1)
    assert {warning.filename for warning in warned if "MultiTrace" in str(warning.message)} == {__file__}


def test_the_log_likelihood():
    with pytest.warns(FutureWarning, match="log_likelihood"):
        trace = in_the_block(idata_kwargs={"log_likelihood": True})
    assert trace["log_likelihood"]["y"].shape == (2, 100, 30)


def test_the_progress_bar(capsys):
    in_the_block(progressbar=True)
    assert "100" in capsys.readouterr().out


@pytest.fixture
def told(caplog):
    caplog.set_level(logging.INFO, logger="pymc.sampling.mcmc")
    return lambda: [r.getMessage() for r in caplog.records if "PyMC's own" in r.getMessage()]


@pytest.mark.parametrize(
    "asked, lacking",
    [
        ({"callback": lambda **_: None}, "callback"),
        ({"return_inferencedata": False}, "return_inferencedata=False"),
        ({"init": "adapt_diag"}, "init='adapt_diag'"),
        ({"initvals": [{"a": 1.0}, {"a": 2.0}]}, "initvals of each chain"),
    ],
)
@pytest.mark.filterwarnings("ignore:`return_inferencedata=False`:FutureWarning")
def test_what_nutpie_lacks_is_done_by_pymc(told, asked, lacking):
    trace = in_the_block(cores=1, **asked)
    if asked.get("return_inferencedata", True):
        assert sampler(trace) == "pymc"
    else:
        assert trace.nchains == 2
    assert told() == [f"NUTS is PyMC's own, in Python, and not nutpie: nutpie takes no {lacking}"]


def test_pymcs_own_by_name(told):
    assert sampler(in_the_block(nuts_sampler="pymc", cores=1)) == "pymc"
    assert told() == []


def test_discrete_variables_have_steps_of_their_own(told):
    with pm.Model() as model:
        k = pm.Bernoulli("k", 0.5)
        pm.Normal("a", k, 1)
    trace = in_the_block(model, cores=1)
    assert sampler(trace) == "pymc"
    assert [text.split(": ")[-2:] for text in told()] == [["nutpie samples continuous variables only", "k is int64"]]


class NoPullback(Op):
    """Doubles, without a gradient."""

    __props__ = ()

    def make_node(self, x):
        return Apply(self, [x], [x.type()])

    def perform(self, node, inputs, outputs):
        outputs[0][0] = np.asarray(inputs[0] * 2)


def test_a_model_without_gradient():
    with pm.Model() as model:
        a = pm.Normal("a")
        pm.Potential("p", -(NoPullback()(a) ** 2))
    assert sampler(in_the_block(model, cores=1)) == "pymc"


def test_what_cannot_be_compiled_for_nutpie_is_sampled_by_pymc(told):
    noise = pt.random.normal(rng=pytensor.shared(np.random.default_rng(1)))
    with pm.Model() as model:
        a = pm.Normal("a")
        pm.Potential("p", -((a - pytensor.gradient.disconnected_grad(noise)) ** 2))
    assert sampler(in_the_block(model, cores=1)) == "pymc"
    (text,) = told()
    assert "Generator, which threads cannot share" in text


def test_a_failure_in_a_draw():
    with pm.Model() as model:
        x = pm.Normal("x")
        pm.Potential("p", pt.as_tensor(np.arange(3.0))[pt.switch(x > 1, 7, 0)])
    with pytest.raises(inlay.pymc.SamplingFailed, match="index 7 is out of bounds"):
        in_the_block(model)


@pytest.mark.filterwarnings("ignore:`backend` should be passed:FutureWarning")
def test_a_backend_among_the_arguments_of_nuts():
    with line():
        assert sampler(pm.sample(nuts={"backend": "inlay"}, nuts_sampler="nutpie", **SHORT)) == "nutpie"


def test_the_log_names_one_sampler(caplog):
    caplog.set_level(logging.INFO, logger="pymc.sampling.mcmc")

    def lines_that_name_a_sampler():
        names = [text for text in caplog.messages if text.startswith("NUTS")]
        caplog.clear()
        return names

    with pytensor.config.change_flags(floatX="float32"):
        in_the_block(line(floatX="float32"), cores=1)
    why, steps = lines_that_name_a_sampler()
    assert "and not nutpie: nutpie computes in float64" in why and steps.startswith("NUTS: [a, b]")
    in_the_block()
    assert lines_that_name_a_sampler() == ["NUTS[nutpie]: [a, b]"]
    with line(), inlay.pytensor.default_mode(), pytest.raises(TypeError, match="no_such"):
        pm.sample(compile_kwargs={"no_such": 1}, **SHORT)
    assert lines_that_name_a_sampler() == ["NUTS[nutpie]: [a, b]"]


def test_arguments_of_nuts_outlive_the_first_try(told):
    noise = pt.random.normal(rng=pytensor.shared(np.random.default_rng(1)))
    with pm.Model() as model:
        a = pm.Normal("a")
        pm.Potential("p", -((a - pytensor.gradient.disconnected_grad(noise)) ** 2))
    assert sampler(in_the_block(model, cores=1, target_accept=0.9, nuts={"max_treedepth": 3})) == "pymc"
    assert len(told()) == 1


def test_wrong_arguments_are_refused_by_pymc():
    with line(), inlay.pytensor.default_mode(), pytest.raises(TypeError, match=r"sample\(\) takes"):
        pm.sample(1, 2)


def test_nutpie_that_is_loaded_anew():
    program = """
import importlib, sys, pymc as pm, inlay.pytensor, nutpie
importlib.reload(nutpie)
nutpie.compile_pymc._compile_pymc_model_numba = None
with pm.Model():
    pm.Normal("a")
    pm.sample(20, tune=20, chains=1, cores=1, progressbar=False, compute_convergence_checks=False, backend="inlay", quiet=True)
print("done")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "done\n", done.stderr


def test_backend_of_nutpie():
    compiled = nutpie.compile_pymc_model(line(), backend="inlay", var_names=["ab"])
    assert isinstance(compiled.logp_func.maker.linker, inlay.pytensor.InlayLinker)
    with pytest.raises(ValueError, match="gradients of PyTensor, and gradient_backend is 'jax'"):
        nutpie.compile_pymc_model(line(), backend="inlay", gradient_backend="jax")


def test_the_mode_that_is_given_compiles(monkeypatch):
    seen = []
    mode = inlay.pytensor.mode(planner="greedy")
    accept = inlay.pytensor.InlayLinker.accept

    def noting(self, *args, **kwargs):
        seen.append(self.choices.planner)
        return accept(self, *args, **kwargs)

    monkeypatch.setattr(inlay.pytensor.InlayLinker, "accept", noting)
    with line():
        pm.sample(compile_kwargs={"mode": mode}, **SHORT)
    assert seen.count("greedy") >= 2


ORDERS = {
    "inlay first": "import inlay.pytensor, pymc as pm",
    "pymc first": "import pymc as pm, inlay.pytensor",
    "sample taken before": "from pymc import sample; import pymc as pm, inlay.pytensor; pm.sample = sample",
    "inlay.pymc first": "import inlay.pymc, pymc as pm, inlay.pytensor",
    "without nutpie": "import sys; sys.modules['nutpie'] = None; import inlay.pytensor, pymc as pm",
}


@pytest.mark.parametrize("order", ORDERS)
def test_orders_of_import(order):
    program = f"""
{ORDERS[order]}
with pm.Model(), inlay.pytensor.default_mode():
    pm.Normal("a")
    trace = pm.sample(20, tune=20, chains=1, cores=1, progressbar=False, random_seed=1, compute_convergence_checks=False)
print(trace.posterior.attrs["inference_library"], trace.posterior["a"].shape)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == ("pymc" if order == "without nutpie" else "nutpie") + " (1, 20)\n", done.stderr
    assert ("nutpie is not installed" in done.stderr) == (order == "without nutpie")


def test_importing_inlay_imports_no_pymc():
    program = "import inlay.pytensor, sys; print(sorted({'pymc', 'nutpie', 'numba'} & set(sys.modules)))"
    before = subprocess.run([sys.executable, "-c", program.replace("inlay.pytensor", "pytensor.tensor")], capture_output=True, text=True)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == before.stdout
