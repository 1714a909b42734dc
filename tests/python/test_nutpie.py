"""nutpie on inlay's C pointers."""

import ctypes
import subprocess
import sys
import threading
import time
import traceback
import warnings

import inlay.pymc
import models
import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
import pytest
from python_ops import Square

nutpie = pytest.importorskip("nutpie")

PRIOR_PRECISION = 1 / 100


def sample(compiled, draws=300, chains=2, **kwargs):
    settings = {"tune": 300, "seed": 20240607, "progress_bar": False, "cores": 2} | kwargs
    return nutpie.sample(compiled, draws=draws, chains=chains, **settings)


def conjugate(data):
    """A mean with a known posterior."""
    with pm.Model() as model:
        y = pm.Data("y", data)
        mu = pm.Normal("mu", 0, 10)
        pm.Deterministic("twice", 2 * mu)
        pm.Deterministic("distance", mu - y.mean())
        pm.Normal("likelihood", mu, 1, observed=y)
    return model


def check_conjugate(trace, data):
    precision = len(data) + PRIOR_PRECISION
    mean, deviation = data.sum() / precision, precision**-0.5
    draws = trace.posterior["mu"].values
    assert abs(draws.mean() - mean) < 6 * deviation / np.sqrt(draws.size / 3)
    assert abs(draws.std() / deviation - 1) < 0.2
    np.testing.assert_allclose(trace.posterior["twice"].values, 2 * draws, rtol=1e-15)
    np.testing.assert_allclose(trace.posterior["distance"].values, draws - data.mean(), rtol=1e-12)


def test_data_is_exchanged_without_compiling():
    rng = np.random.default_rng(1)
    few, many = rng.normal(1, 1, 20), rng.normal(-3, 1, 500)
    compiled = inlay.pymc.compile_nutpie(conjugate(few))
    assert inlay.pytensor.explain(compiled.logp_func).host_calls == []
    assert inlay.pytensor.explain(compiled.expand_func).host_calls == []
    other = compiled.with_data(y=many)
    assert other.compiled_logp_func is compiled.compiled_logp_func
    check_conjugate(sample(other), many)
    check_conjugate(sample(compiled), few)


def test_radon():
    model = models.radon()
    trace = sample(inlay.pymc.compile_nutpie(model))
    posterior = trace.posterior
    assert abs(posterior["mu_alpha"].values.mean() - 1.49) < 0.03
    assert abs(posterior["sigma"].values.mean() - 0.72) < 0.02
    alpha = posterior["mu_alpha"].values[..., None] + posterior["sigma_alpha"].values[..., None] * posterior["z_alpha"].values
    np.testing.assert_allclose(posterior["alpha"].values, alpha, rtol=1e-12)


def python_calls_on_other_threads(function):
    """How many Python functions begin outside of this thread while `function` runs."""
    calls, main = [], threading.get_ident()

    def note(code, _):
        if threading.get_ident() != main:
            calls.append(code.co_qualname)

    tool, events = sys.monitoring.PROFILER_ID, sys.monitoring.events.PY_START
    sys.monitoring.use_tool_id(tool, "test")
    sys.monitoring.register_callback(tool, events, note)
    sys.monitoring.set_events(tool, events)
    try:
        function()
    finally:
        sys.monitoring.set_events(tool, 0)
        sys.monitoring.free_tool_id(tool)
    return calls


@pytest.mark.skipif(sys.version_info < (3, 12), reason="sys.monitoring")
def test_draws_run_no_python():
    compiled = inlay.pymc.compile_nutpie(conjugate(np.arange(5.0)))
    few = python_calls_on_other_threads(lambda: sample(compiled, draws=50, chains=1))
    many = python_calls_on_other_threads(lambda: sample(compiled, draws=5000, chains=1))
    assert len(few) == len(many)
    assert len(few) > 0  # the initial point is drawn in Python: calls are seen


def test_variable_names_and_frozen_data():
    data = np.arange(5.0)
    compiled = inlay.pymc.compile_nutpie(conjugate(data), var_names=["twice"], freeze_model=True, planner="greedy")
    posterior = sample(compiled, draws=50).posterior
    assert set(posterior.data_vars) == {"mu", "twice"}
    with pytest.raises(KeyError, match="y is a constant of this model, which was compiled with freeze_model=True; it has no"):
        compiled.with_data(y=data)


def test_what_cannot_be_sampled():
    with pytest.raises(TypeError, match="compile_nutpie takes a PyMC model, not a str"):
        inlay.pymc.compile_nutpie("model")
    with pm.Model() as model:
        pm.Normal("y", 0, 1, observed=np.arange(3.0))
    with pytest.raises(ValueError, match="the model has no free variables"):
        inlay.pymc.compile_nutpie(model)


def test_no_draws_for_tuning():
    """Of which nutpie panics."""
    compiled = inlay.pymc.compile_nutpie(conjugate(np.arange(5.0)))
    with pytest.raises(ValueError, match="tune is 0, and nutpie adapts in at least one draw of each chain: give tune=1"):
        sample(compiled, draws=50, tune=0)
    assert sample(compiled, draws=50, tune=2).posterior.sizes["draw"] == 50  # of 1, nutpie 0.16.8 panics


def test_names_that_are_no_data():
    compiled = inlay.pymc.compile_nutpie(conjugate(np.arange(5.0)))
    for name, why in (("mu", "mu is a variable of this model, and no data"), ("z", "this model has no z")):
        with pytest.raises(KeyError, match=f"with_data: {why}; it has the data y"):
            compiled.with_data(**{name: 1.0})


def test_an_op_that_is_only_python():
    with pm.Model() as model:
        x = pm.Normal("x", 0, 1, shape=3)
        pm.Potential("p", -Square()(x).sum())
    with pytest.warns(UserWarning, match="the log density runs Python in every draw, for Square") as warned:
        compiled = inlay.pymc.compile_nutpie(model)
    assert {warning.filename for warning in warned} == {__file__}
    draws = sample(compiled, draws=500).posterior["x"].values
    assert abs(draws.std() - 3**-0.5) < 0.05


def test_warnings_as_errors_stop_nothing():
    with pm.Model() as model:
        y = pm.Data("y", np.arange(3.0))
        x = pm.Normal("x", 0, 1, shape=3)
        pm.Potential("p", -(Square()(x) * y).sum())
    with pytest.warns(UserWarning, match="for Square"):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            compiled = inlay.pymc.compile_nutpie(model)
            compiled.with_data(y=np.arange(3.0) + 1)


def test_float32_is_refused():
    with pytensor.config.change_flags(floatX="float32"):
        with pm.Model() as model:
            pm.Normal("x", 0, 1)
        with pytest.raises(NotImplementedError, match="float64, and the log density of this model is float32: make"):
            inlay.pymc.compile_nutpie(model)


def test_what_ends_a_sampler_is_told():
    with pm.Model() as model:
        x = pm.Normal("x", 5000, 1)
        pm.Potential("p", -Square()(x))
    with pytest.warns(UserWarning):
        compiled = inlay.pymc.compile_nutpie(model)
    told = r"^the log density failed: ArithmeticError: .* is too much\n  at     Square #\d.*, python_ops\.py:\d+$"
    with pytest.raises(inlay.pymc.SamplingFailed, match=told) as raised:
        sample(compiled, chains=1)
    assert isinstance(raised.value.error, ArithmeticError)
    with pm.Model() as model:
        x = pm.Normal("x", 0, 1)
        index = pt.switch(x > -1e9, 7, 0)
        pm.Potential("p", pt.as_tensor(np.arange(3.0))[index])
    with pytest.raises(inlay.pymc.SamplingFailed, match=r"index 7 is out of bounds(.|\n)*test_nutpie\.py"):
        sample(inlay.pymc.compile_nutpie(model), chains=1)


def fails_at_the_start(model, match, **data):
    compiled = inlay.pymc.compile_nutpie(model)
    with pytest.raises(inlay.pymc.SamplingFailed, match=match) as raised:
        sample(compiled.with_data(**data))
    assert raised.value.error is None and "backtrace" not in "".join(traceback.format_exception(raised.value))


def test_a_log_density_that_is_finite_nowhere():
    with pm.Model() as model:
        y = pm.Data("y", np.array([1.0, 2.0]))
        a, b = pm.Normal("a", shape=2), pm.HalfNormal("b")
        pm.Deterministic("twice", 2 * a)
        pm.Normal("likelihood", a, b, observed=y)
    text = r"^the log density is not finite at the starting points: of its terms, likelihood is nan\n  help: "
    fails_at_the_start(model, text, y=np.array([np.nan, 2]))
    with model:
        pm.Potential("p", pt.log(-pt.sqr(a) - 1).sum())
        pm.Potential("q", pt.log(b * 0))
    fails_at_the_start(model, "of its terms, p is nan, q is -inf")


def test_a_gradient_that_is_finite_nowhere():
    with pm.Model() as model:
        pm.Potential("p", pt.sqrt(pt.maximum(-pt.sqr(pm.Normal("a")), 0)))
    fails_at_the_start(model, "^the log density or its gradient is not finite at the starting points$")


def test_terms_that_cannot_be_evaluated():
    with pm.Model() as model:
        pm.Potential("p", pt.log(-pt.sqr(pm.Normal("a")) - 1))
    compiled = inlay.pymc.compile_nutpie(model)
    model.potentials.append(None)
    with pytest.raises(inlay.pymc.SamplingFailed, match="^the log density or its gradient is not finite at"):
        sample(compiled)


FAILS_LATER = """
import numpy as np, pymc as pm, pytensor.tensor as pt, inlay.pymc, nutpie, pytest, traceback
with pm.Model() as model:
    x = pm.Normal("x")
    if {in_expansion}:
        pm.Deterministic("p", pt.as_tensor(np.arange(3.0))[pt.switch(x > 2, 7, 0)])
    else:
        pm.Potential("p", pt.as_tensor(np.arange(3.0))[pt.switch(x > 2, 7, 0)])
compiled = inlay.pymc.compile_nutpie(model)
for _ in range(2):
    with pytest.raises(inlay.pymc.SamplingFailed, match="^{what} failed: .*index 7 is out of bounds"):
        nutpie.sample(compiled, draws=5000, tune=500, chains=4, cores=2, seed=1, progress_bar=False)
print("done")
"""


@pytest.mark.parametrize("in_expansion", [False, True])
def test_a_draw_that_fails_is_one_exception(in_expansion):
    """Nothing else is printed, by nutpie's threads or when the process ends."""
    what = "the expansion of a draw" if in_expansion else "the log density"
    program = FAILS_LATER.format(in_expansion=in_expansion, what=what)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.stdout, done.stderr, done.returncode) == ("done\n", "", 0)


ENDS_IN_THE_MIDST = """
import time, warnings
import numpy as np, pymc as pm, pytensor.tensor as pt, inlay.pymc, nutpie
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op

class Slow(Op):
    def make_node(self, x):
        return Apply(self, [x], [x.type()])

    def perform(self, node, inputs, out):
        time.sleep(0.002)
        out[0][0] = np.asarray(inputs[0]) * 1.0

    def L_op(self, inputs, outputs, gradients):
        return gradients

    pullback = L_op

with pm.Model() as model:
    a = pm.Normal("a")
    pm.Potential("p", -pt.sqr(Slow()(a) if {in_python} else a))
with warnings.catch_warnings(action="ignore"):  # of the host call
    compiled = inlay.pymc.compile_nutpie(model)
sampler = nutpie.sample(compiled, chains=2, draws=1_000_000, blocking=False, progress_bar=False)
time.sleep(0.3)
"""


@pytest.mark.parametrize("in_python", [False, True])
def test_a_process_ends_while_a_sampler_runs(in_python):
    program = ENDS_IN_THE_MIDST.format(in_python=in_python)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.stdout, done.stderr, done.returncode) == ("", "", 0)


def test_samplers_hear_of_their_own_failures():
    with pm.Model() as model:
        last = pm.Data("last", np.int64(2))
        x = pm.Normal("x")
        pm.Potential("p", pt.as_tensor(np.arange(3.0))[last])
    good = inlay.pymc.compile_nutpie(model)
    wrong = good.with_data(last=3)
    sampling = sample(good, draws=20_000, blocking=False)
    with pytest.raises(inlay.pymc.SamplingFailed, match="index 3 is out of bounds"):
        sample(wrong)
    assert sampling.wait().posterior["x"].shape == (2, 20_000)


@pytest.mark.parametrize("length", [2, 5])
def test_a_deterministic_that_has_another_length_with_the_data_is_refused(length):
    """nutpie has room for as many values as there were."""
    with pm.Model() as model:
        x = pm.Data("x", np.arange(3.0))
        a, b = pm.Normal("a", x.sum()), pm.HalfNormal("b", shape=2)
        pm.Deterministic("scaled", a * x)
        pm.Deterministic("twice", b * 2)
    compiled = inlay.pymc.compile_nutpie(model)
    with pytest.raises(ValueError, match=rf"with x of shape \({length},\) .*: scaled has shape \({length},\) \(it had \(3,\)\)\. "):
        compiled.with_data(x=np.arange(length * 1.0))
    assert inlay.pymc.compile_nutpie(model, var_names=["twice"]).with_data(x=np.arange(length * 1.0)).n_expanded == 5


@pytest.mark.parametrize("wrong", [np.array([3.7, 1, 2]), np.array([np.nan, 1, 2]), np.array([2**40, 1, 2])])
def test_data_that_its_dtype_does_not_hold_is_refused(wrong):
    with pm.Model() as model:
        counts = pm.Data("counts", np.array([1, 2, 3], dtype="int32"))
        pm.Poisson("k", pm.math.exp(pm.Normal("a")), observed=counts)
    compiled = inlay.pymc.compile_nutpie(model)
    with pytest.raises(TypeError, match="^with_data: counts has dtype int32, which does not hold the"):
        compiled.with_data(counts=wrong)
    for right in ([4, 5, 6], np.array([4.0, 5, 6]), np.array([True, False])):
        compiled.with_data(counts=right)
    with pytest.raises(TypeError, match="^with_data: counts is a masked array that hides values"):
        compiled.with_data(counts=np.ma.masked_array([1, 2, 3], [False, True, False]))


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ([[1.0], [1.0, 2.0]], "x is ragged: lists in it differ in length"),
        (["a"], "x holds 'a', not numbers"),
        ([None], "x holds a NoneType, not numbers"),
        ([1j], "x holds complex128, not numbers"),
        (pt.vector(), "x is a TensorVariable, not numbers"),
    ],
)
def test_data_that_are_no_numbers_are_refused_by_name(given, text):
    with pm.Model() as model:
        pm.Normal("y", pm.Normal("a"), 1, observed=pm.Data("x", np.zeros(2)))
    with pytest.raises(TypeError, match=f"^with_data: {text}"):
        inlay.pymc.compile_nutpie(model).with_data(x=given)


def test_a_pointer_says_that_the_result_has_another_length():
    with pm.Model() as model:
        x = pm.Data("x", np.arange(3.0))
        a = pm.Normal("a")
        pm.Deterministic("scaled", a * x)
    compiled = inlay.pymc.compile_nutpie(model)
    compiled = super(type(compiled), compiled).with_data(x=np.arange(5.0))
    expand = compiled.compiled_expand_func
    call = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_size_t, ctypes.c_size_t, *[ctypes.c_void_p] * 3)(expand.address)
    point, values = np.zeros(1), np.zeros(compiled.n_expanded)
    with pytest.warns(RuntimeWarning, match="expansion of a draw failed"):
        assert call(1, 4, *(array.ctypes.data for array in (point, values, compiled.user_data))) == -1
    assert "the array for the result has 4 elements, and the result has 6" in expand.last_error


def test_refusals():
    with pm.Model() as model:
        pm.Poisson("k", 3)
    with pytest.raises(NotImplementedError, match="nutpie samples continuous variables only: k is int64"):
        inlay.pymc.compile_nutpie(model)
    noise = pt.random.normal(rng=pytensor.shared(np.random.default_rng(1)))
    with pm.Model() as model:
        a = pm.Normal("a")
        pm.Potential("p", -((a - pytensor.gradient.disconnected_grad(noise)) ** 2))
    with pytest.raises(NotImplementedError, match="a Generator, which threads cannot share"):
        inlay.pymc.compile_nutpie(model)


def test_shapes_that_change_and_leave_the_sum_as_it_was():
    with pm.Model() as model:
        x, y, n = pm.Data("x", np.zeros(2)), pm.Data("y", np.ones((2, 3))), pm.Data("n", np.array(3))
        a = pm.Normal("a", x.sum() + y.sum())
        pm.Deterministic("of_x", x + 0 * a)
        pm.Deterministic("of_y", y + 0 * a)
        pm.Deterministic("of_n", a * pt.ones(n))
    compiled = inlay.pymc.compile_nutpie(model)
    for changed, told in [({"y": np.ones((3, 2))}, r"of_y has shape \(3, 2\) \(it had \(2, 3\)\)"),
                          ({"x": np.zeros(3), "n": 2}, r"of_x has shape \(3,\) .*; of_n has shape \(2,\)"),
                          ({"n": 5}, r"of_n has shape \(5,\) \(it had \(3,\)\)")]:  # fmt: skip
        with pytest.raises(ValueError, match=told):
            compiled.with_data(**changed)
    assert compiled.with_data(x=np.ones(2)).n_expanded == compiled.n_expanded


def fails_above(limit):
    with pm.Model() as model:
        a = pm.Normal("a")
        pm.Deterministic("d", pt.as_tensor(np.arange(3.0))[pt.switch(a > limit, 7, 0)])
    return inlay.pymc.compile_nutpie(model)


def test_a_failure_that_nobody_waited_for_is_told_with_the_trace():
    sampling = sample(fails_above(0.5), draws=300, blocking=False)
    while not sampling._sampler._is_finished():
        time.sleep(0.01)
    for ask in (sampling.inspect, sampling.abort, sampling.wait):
        with pytest.raises(inlay.pymc.SamplingFailed, match="index 7 is out of bounds"):
            ask()


def test_a_process_may_end_while_draws_fail():
    program = """
import time, numpy as np, pymc as pm, pytensor.tensor as pt, inlay.pymc, nutpie
with pm.Model() as model:
    a = pm.Normal("a")
    pm.Deterministic("d", pt.as_tensor(np.arange(3.0))[pt.switch(a > 0.5, 7, 0)])
compiled = inlay.pymc.compile_nutpie(model)
sampling = nutpie.sample(compiled, draws=5_000_000, tune=20, chains=2, cores=2, blocking=False, progress_bar=False)
time.sleep(0.3)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_what_became_of_a_model():
    compiled = inlay.pymc.compile_nutpie(conjugate(np.arange(5.0)))
    of_logp = inlay.pytensor.explain(compiled)
    assert of_logp.text == inlay.pytensor.explain(compiled.logp_func).text
    assert of_logp.text != inlay.pytensor.explain(compiled.expand_func).text
    assert inlay.explain(compiled).text == of_logp.text
    with pytest.raises(TypeError, match="^an object of type list is not a function that inlay compiled"):
        inlay.pytensor.explain([compiled])


def test_the_name_of_a_single_variable():
    """As of one among several, the vector's own name is never seen."""
    with pm.Model() as model:
        pm.HalfNormal("b")
    compiled = inlay.pymc.compile_nutpie(model)
    for fn in (compiled, compiled.expand_func, model.logp_dlogp_function(ravel_inputs=True, mode="INLAY")):
        graph = inlay.pytensor.explain(fn).graph
        assert "graph @main(%b_log__: f64[1])" in graph and "_unconstrained_point" not in graph
        assert ("%b_log___grad" in graph) == (fn is not compiled.expand_func)


def test_an_unknown_nutpie(monkeypatch):
    from nutpie import compile_pymc

    monkeypatch.delattr(compile_pymc, "_make_functions")
    with pytest.raises(NotImplementedError, match=rf"cannot use nutpie {nutpie.__version__}: it has no `_make_functions`"):
        inlay.pymc.compile_nutpie(conjugate(np.ones(3)))


def test_waiting_pausing_and_resuming():
    with pm.Model() as model:
        pm.Normal("x", shape=300)
    sampling = sample(inlay.pymc.compile_nutpie(model), draws=3000, blocking=False)
    with pytest.raises(TimeoutError):
        sampling.wait(timeout=0.001)
    sampling.pause()
    assert sampling.wait().posterior["x"].shape == (2, 3000, 300)


def test_pm_sample_takes_nutpie_by_its_name(monkeypatch):
    """In every version of PyMC; test_sampling.py has what those since 6 do by themselves."""
    from nutpie import compile_pymc

    def fail(*args, **kwargs):
        raise AssertionError("nutpie compiles with Numba")

    monkeypatch.setattr(compile_pymc, "_compile_pymc_model_numba", fail)
    settings = {"tune": 50, "chains": 1, "cores": 1, "random_seed": 1, "progressbar": False}
    with conjugate(np.arange(5.0)), inlay.pytensor.default_mode():
        assert pm.sample(20, nuts_sampler="nutpie", **settings).posterior["mu"].shape == (1, 20)
    with conjugate(np.arange(5.0)), pytest.raises(AssertionError, match="with Numba"):
        pm.sample(20, nuts_sampler="nutpie", **settings)
