"""Libraries that the command line writes, and what they say where a model fails, where PyTensor or C lacks something, and of odd names and shapes."""

import subprocess
import sys

import inlay.pymc
import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
import pytest
from pymc.logprob.transforms import Transform
from pytensor.gradient import grad_not_implemented
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op

pytestmark = pytest.mark.filterwarnings("ignore::pymc.exceptions.ImputationWarning")
bridgestan = pytest.importorskip("bridgestan", reason="bridgestan, Stan's client, is not installed")


def test_a_failure_of_the_model_is_an_error_with_its_numbers(tmp_path):
    with pm.Model() as model:
        x = pm.Normal("x", shape=3)
        rows = pt.constant(np.random.default_rng(1).normal(size=40))
        pm.Potential("found", rows[pt.cast(pt.round(x * 20), "int64")].sum())
    stan = bridgestan.StanModel(inlay.pymc.export_bridgestan(model, tmp_path / "index.so"))
    assert np.isfinite(stan.log_density(np.zeros(3)))
    for call in (stan.log_density, stan.log_density_gradient, stan.log_density_hessian):
        with pytest.raises(RuntimeError, match=f"^{call.__name__}: index-out-of-bounds: .*index 60 is out of bounds for axis 0"):
            call(np.array([0, 0, 3.0]))


@pytest.mark.filterwarnings("ignore:lop_overrides is deprecated")
def test_what_pytensor_cannot_derive_is_said_by_the_library(tmp_path):
    """An op whose gradient has no gradient."""

    def once(x):
        y = pt.exp(x)
        return pytensor.compile.builders.OpFromGraph([x], [y], inline=True, lop_overrides=gradient)

    def gradient(inputs, outputs, cotangents):
        (x,), (g,) = inputs, cotangents
        a, b = x.type(), g.type()
        op = pytensor.compile.builders.OpFromGraph(
            [a, b], [pt.exp(a) * b], inline=True,
            lop_overrides=lambda ins, outs, gs: [grad_not_implemented(op, i, v) for i, v in enumerate(ins)],
        )  # fmt: skip
        return [op(x, g)]

    with pm.Model() as model:
        x = pm.Normal("x")
        argument = pt.dscalar()
        pm.Potential("p", -once(argument)(x))
    stan = bridgestan.StanModel(inlay.pymc.export_bridgestan(model, tmp_path / "once.so"))
    value, slope = stan.log_density_gradient(np.array([0.5]))
    np.testing.assert_allclose([value, slope[0]], [-0.125 - np.log(2 * np.pi) / 2 - np.exp(0.5), -0.5 - np.exp(0.5)])
    said = "PyTensor cannot derive the Hessian of the log density"
    with pytest.raises(RuntimeError, match=f"log_density_hessian: {said}"):
        stan.log_density_hessian(np.array([0.5]))
    with pytest.raises(RuntimeError, match=f"log_density_hessian_vector_product: {said}"):
        stan.log_density_hessian_vector_product(np.array([0.5]), np.ones(1))


class InPython(Op):
    """The number as it is, by a function that C cannot call."""

    __props__ = ()

    def make_node(self, value):
        return Apply(self, [value], [value.type()])

    def perform(self, node, inputs, outputs):
        outputs[0][0] = inputs[0].copy()

    def L_op(self, inputs, outputs, gradients):  # noqa: N802
        return [pt.zeros_like(inputs[0])]

    pullback = L_op


not_in_c = InPython()


class Odd(Transform):
    """C has no function for its forward direction."""

    name = "odd"

    def forward(self, value, *inputs):
        return pt.log(value) * pt.switch(value > 0, 1, not_in_c(value))

    def backward(self, value, *inputs):
        return pt.exp(value)

    def log_jac_det(self, value, *inputs):
        return value


@pytest.mark.filterwarnings("ignore:lop_overrides is deprecated")
def test_what_c_cannot_compute_is_said_by_the_library(tmp_path):
    def op(value, gradient):
        x = pt.dscalar()
        return pytensor.compile.builders.OpFromGraph(
            [x], [value(x)], inline=True, lop_overrides=lambda ins, outs, gs: [gs[0] * gradient(ins[0])]
        )

    with pm.Model() as model:
        x = pm.HalfNormal("x", transform=Odd(), default_transform=None)
        pm.Potential("p", op(pt.j0, op(lambda x: -pt.j1(x), not_in_c))(x))
    stan = bridgestan.StanModel(inlay.pymc.export_bridgestan(model, tmp_path / "odd.so"))
    np.testing.assert_allclose(stan.log_density_gradient(np.zeros(1))[1], -0.44005058574493355)  # -j1(1)
    why = "cannot be exported, as C has not all that it uses"
    with pytest.raises(RuntimeError, match=f"^log_density_hessian: the Hessian of the log density {why}: .* is a function of the host"):
        stan.log_density_hessian(np.zeros(1))
    with pytest.raises(RuntimeError, match=f"^param_unconstrain: the inverse of the transforms {why}: .* is a function of the host"):
        stan.param_unconstrain(np.ones(1))
    assert np.isfinite(stan.param_initialize(stan.new_rng(1)))


def test_shapes_are_those_of_every_point(tmp_path):
    with pm.Model() as some:
        x = pm.Normal("x", shape=3)
        pm.Deterministic("positive", x[x > 0])
    with pm.Model() as nearly:
        x = pm.Normal("x", shape=3)
        pm.Deterministic("positive", x[x > -40])
    said = r"Stan's shapes are fixed, and positive has shape \(\d,\) at one point and \(\d,\) at another: leave it out"
    with pytest.raises(NotImplementedError, match=said):
        inlay.pymc.export_bridgestan(some, tmp_path / "some.so")
    said = "the deterministics of a point cannot be exported: some sizes are known only when it runs"
    with pytest.raises(NotImplementedError, match=said):
        inlay.pymc.export_bridgestan(nearly, tmp_path / "nearly.so")
    inlay.pymc.export_bridgestan(some, tmp_path / "some.so", var_names=())


def test_what_has_no_library(tmp_path):
    with pm.Model() as discrete:
        pm.Poisson("n", 3)
    with pm.Model() as needs_python:
        x = pm.HalfNormal("x")
        pm.Potential("y", pytensor.gradient.disconnected_grad(not_in_c(x)))
    with pm.Model() as draws:
        x = pm.Normal("x")
        pm.Deterministic("noise", x + pm.Normal.dist())
    with pm.Model() as twins:
        pm.Normal("a.b")
        pm.Normal("a:b")
    for model, error, said in [
        (discrete, NotImplementedError, "Stan samples continuous variables only: n is int64"),
        (needs_python, NotImplementedError, "the log density cannot be exported, as C has not all that it uses: "),
        (draws, NotImplementedError, "Stan's functions draw no random numbers, and noise does"),
        (twins, ValueError, "export_bridgestan: a.b and a:b have the same name for Stan's clients, a_b"),
        (pm.Model(), ValueError, "export_bridgestan: the model has no free variables"),
        (3, TypeError, "export_bridgestan takes a PyMC model, not an int"),
    ]:
        with pytest.raises(error) as caught:
            inlay.pymc.export_bridgestan(model, tmp_path / "none.so")
        assert said in str(caught.value)
        assert not (tmp_path / "none.so").exists()
    with pytest.raises(ValueError, match="the model has no deterministic x; it has noise"):
        inlay.pymc.export_bridgestan(draws, tmp_path / "none.so", var_names=["x"])
    inlay.pymc.export_bridgestan(draws, tmp_path / "some.so", var_names=[])


def test_names_that_clients_take_apart(tmp_path):
    with pm.Model() as model:
        pm.Normal("α β.1,2", shape=2)
        with pm.Model("inner"):
            pm.Normal("x")
    stan = bridgestan.StanModel(inlay.pymc.export_bridgestan(model, tmp_path / "names.so", name='a "name"'))
    assert stan.param_names() == ["α_β_1_2.1", "α_β_1_2.2", "inner_x"]
    assert stan.name() == 'a "name"'
    np.testing.assert_array_equal(stan.param_unconstrain_json({"inner_x": 1, "α_β_1_2": [2, 3]}), [2, 3, 1])


MODELS = """
import pymc as pm
from beside import number

with pm.Model() as model:
    pm.Normal("x", shape=2)
with pm.Model() as discrete:
    pm.Poisson("n", 3)


def made():
    return model
"""


def command_line(*words, folder, code=0):
    done = subprocess.run([sys.executable, "-m", "inlay.pymc", *words], cwd=folder, capture_output=True, text=True, timeout=120)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stderr if code else done.stdout


@pytest.mark.parametrize("place", ["some_models:model", "some_models.py:made"])
def test_the_command_line_writes_a_library(place, tmp_path):
    (tmp_path / "some_models.py").write_text(MODELS)
    (tmp_path / "beside.py").write_text("number = 3")
    assert command_line(place, "some.so", folder=tmp_path) == "some.so\n"
    stan = bridgestan.StanModel(tmp_path / "some.so")
    assert stan.name() == "some" and stan.param_names() == ["x.1", "x.2"]


def test_the_command_line_says_what_it_cannot_do(tmp_path, monkeypatch, capsys):
    from inlay.pymc.__main__ import main

    (tmp_path / "some_models.py").write_text(MODELS)
    (tmp_path / "beside.py").write_text("number = 3")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    for place, said in [
        ("some_models.py:discrete", "Stan samples continuous variables only: n is int64"),
        ("some_models.py:number", "export_bridgestan takes a PyMC model, not an int"),
        ("some_models.py:none", "some_models.py has no none"),
        ("none.py:model", "none.py: there is no such file"),
        ("no_models:model", "no_models: there is no such module (a file is named with its .py)"),
        ("some_models", "some_models: name a model as module:name or file.py:name"),
    ]:
        assert main([place, "some.so"]) == 2
        assert capsys.readouterr().err == f"error: {said}\n"
    assert not (tmp_path / "some.so").exists()
