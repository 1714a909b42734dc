"""Models for Stan's samplers that PyTensor derives once, or not at all."""

import inlay.pymc
import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
import pytest

bridgestan = pytest.importorskip("bridgestan", reason="bridgestan, Stan's client, is not installed")


class OnceOp(pytensor.scalar.UnaryScalarOp):
    """A scalar op without a derivative, as that of another's gradient is."""

    def impl(self, x):
        return x


def angles():
    with pm.Model() as model:
        pm.VonMises("y", pm.Normal("mu"), pm.HalfNormal("kappa"), observed=[0.1, 0.3])
    return model


def rice():
    with pm.Model() as model:
        pm.Rice("r", 1.0, 1.0)
    return model


@pytest.mark.parametrize("make", [angles, rice])
def test_a_gradient_alone(make, tmp_path):
    model = make()
    stan = bridgestan.StanModel(inlay.pymc.export_bridgestan(model, tmp_path / "once.so"))
    theta_unc = np.linspace(0.3, 0.5, stan.param_unc_num())
    point = dict(zip((v.name for v in model.value_vars), theta_unc, strict=True))
    value, gradient = stan.log_density_gradient(theta_unc)
    np.testing.assert_allclose(value, model.compile_logp(mode="FAST_COMPILE")(point), rtol=1e-12)
    np.testing.assert_allclose(gradient, model.compile_dlogp(mode="FAST_COMPILE")(point), rtol=1e-10)
    said = "PyTensor cannot derive the Hessian of the log density: I1e has no derivative"
    with pytest.raises(RuntimeError, match=said):
        stan.log_density_hessian_vector_product(theta_unc, theta_unc)
    with pytest.raises(RuntimeError, match=said):
        stan.log_density_hessian(theta_unc)


def test_no_gradient(tmp_path):
    once = pt.elemwise.Elemwise(OnceOp(pytensor.scalar.upgrade_to_float, name="once"))
    for penalty, why in [(once, "OnceOp has no derivative"), (lambda x: pt.jv(x, 2.0), ".* jv op is not implemented")]:
        with pm.Model() as model:
            pm.Potential("penalty", penalty(pm.Normal("x")))
        with pytest.raises(inlay.pymc.bridgestan.NotForStan, match=f"cannot derive the gradient of the log density: {why}"):
            inlay.pymc.export_bridgestan(model, tmp_path / "none.so")
        assert not (tmp_path / "none.so").exists()
