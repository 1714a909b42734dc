"""Real models compile to a few kernels and agree with PyTensor's own backends."""

import subprocess
import sys

import cloudpickle
import inlay.pytensor
import models
import numpy as np
import pymc as pm
import pytest

MODELS = {"radon": models.radon, "logistic": models.logistic}


@pytest.fixture(scope="module", params=MODELS)
def compiled(request):
    model = MODELS[request.param]()
    return request.param, model, models.logp_and_gradient(model, "INLAY")


def test_agrees_with_python_mode(compiled):
    _, model, fn = compiled
    theirs = models.logp_and_gradient(model, "FAST_COMPILE")
    for x in models.points(fn):
        for got, want in zip(fn(x), theirs(x), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-9)


def test_agrees_with_numba(compiled):
    pytest.importorskip("numba")
    name, model, fn = compiled
    if name != "radon":
        pytest.skip("one is enough: Numba takes seconds")
    theirs = models.logp_and_gradient(model, "NUMBA")
    for x in models.points(fn):
        for got, want in zip(fn(x), theirs(x), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-9)


def test_is_native(compiled):
    _, _, fn = compiled
    explanation = inlay.pytensor.explain(fn)
    assert explanation.host_calls == []
    assert explanation.host_call_reasons == {}
    assert explanation.library_calls == []


def test_radon_is_three_kernels_without_a_temporary_of_observation_length(compiled):
    name, _, fn = compiled
    if name != "radon":
        pytest.skip("radon only")
    explanation = inlay.pytensor.explain(fn)
    assert len(explanation.kernels) <= 3
    assert all(t.bytes < 919 * 8 for t in explanation.temporaries)


def test_pickled_for_a_worker(compiled):
    _, _, fn = compiled
    copy = cloudpickle.loads(cloudpickle.dumps(fn))
    x = models.points(fn, 1)[0]
    for got, want in zip(copy(x), fn(x), strict=True):
        np.testing.assert_array_equal(got, want)


def test_outside_the_support_is_minus_infinity():
    with pm.Model() as model:
        sigma = pm.HalfNormal("sigma", 1, default_transform=None)
        pm.Normal("y", 0, sigma, observed=np.arange(3.0))
    fn = models.logp_and_gradient(model, "INLAY")
    assert fn(np.array([-1.0]))[0] == -np.inf
    assert np.isfinite(fn(np.array([1.0]))[0])


@pytest.mark.parametrize("chains", [1, 2])
def test_sampling(chains):
    rng = np.random.default_rng(3)
    data = rng.normal(1.5, 0.7, size=200)
    with pm.Model(), inlay.pytensor.default_mode():
        mu = pm.Normal("mu", 0, 10)
        sigma = pm.HalfNormal("sigma", 5)
        pm.Normal("y", mu, sigma, observed=data)
        trace = pm.sample(
            draws=200, tune=200, chains=chains, cores=chains, random_seed=4, progressbar=False,
            compute_convergence_checks=False, nuts_sampler="pymc", compile_kwargs={"mode": "INLAY"},
        )  # fmt: skip
    posterior = trace.posterior
    assert abs(float(posterior["mu"].mean()) - data.mean()) < 0.05
    assert abs(float(posterior["sigma"].mean()) - data.std()) < 0.05


def distributions():
    """A logp per distribution of everyday models, each on data that it could have made."""
    x = np.array([0.2, 0.7, 1.5, 3.1])
    k = np.array([0, 1, 3, 7])
    return (
        {
            "normal": lambda p: pm.Normal.dist(p, 2.0, shape=4),
            "student_t": lambda p: pm.StudentT.dist(nu=pm.math.exp(p) + 1, mu=p, sigma=2.0, shape=4),
            "cauchy": lambda p: pm.Cauchy.dist(p, 1.5, shape=4),
            "laplace": lambda p: pm.Laplace.dist(p, 1.5, shape=4),
            "exponential": lambda p: pm.Exponential.dist(pm.math.exp(p), shape=4),
            "gamma": lambda p: pm.Gamma.dist(pm.math.exp(p), 2.0, shape=4),
            "inverse_gamma": lambda p: pm.InverseGamma.dist(pm.math.exp(p), 2.0, shape=4),
            "lognormal": lambda p: pm.LogNormal.dist(p, 1.0, shape=4),
            "weibull": lambda p: pm.Weibull.dist(pm.math.exp(p), 2.0, shape=4),
            "half_cauchy": lambda p: pm.HalfCauchy.dist(pm.math.exp(p), shape=4),
            "poisson": lambda p: pm.Poisson.dist(pm.math.exp(p), shape=4),
            "negative_binomial": lambda p: pm.NegativeBinomial.dist(pm.math.exp(p), 2.0, shape=4),
            "binomial": lambda p: pm.Binomial.dist(8, pm.math.sigmoid(p), shape=4),
            "bernoulli": lambda p: pm.Bernoulli.dist(logit_p=p, shape=4),
            "beta": lambda p: pm.Beta.dist(pm.math.exp(p), 2.0, shape=4),
            "truncated_normal": lambda p: pm.TruncatedNormal.dist(p, 1.0, lower=0.0, shape=4),
            "logistic": lambda p: pm.Logistic.dist(p, 1.0, shape=4),
            "gumbel": lambda p: pm.Gumbel.dist(p, 1.0, shape=4),
            "von_mises": lambda p: pm.VonMises.dist(p, pm.math.exp(p), shape=4),
            "rice": lambda p: pm.Rice.dist(pm.math.exp(p), 2.0, shape=4),
            "skew_normal": lambda p: pm.SkewNormal.dist(mu=p, sigma=1.0, alpha=2.0, shape=4),
        },
        x,
        k,
    )


@pytest.mark.parametrize("name", ["i0e", "i1e"])
def test_scalar_ops_of_pymc(name, check):
    from pymc.distributions import dist_math
    import pytensor.tensor as pt

    x = pt.dvector("x")
    check([x], getattr(dist_math, name)(x), np.array([-np.inf, -800, -2.5, -1e-310, 0, 0.3, 40, 1e9, np.nan]), rtol=1e-13)
    n = pt.lvector("n")
    check([n], getattr(dist_math, name)(n), np.arange(-3, 4), rtol=1e-13)


def test_pymc_is_not_imported_for_its_ops():
    code = "import sys, inlay.pytensor; assert 'pymc' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("name", distributions()[0])
def test_log_densities_and_their_gradients(name, check):
    import pytensor.tensor as pt

    dists, x, k = distributions()
    discrete = name in ("poisson", "negative_binomial", "binomial")
    value = k if discrete else np.array([0, 1, 1, 0]) if name == "bernoulli" else x / 4 if name == "beta" else x
    p = pt.dscalar("p")
    logp = pm.logp(dists[name](p), value).sum()
    check([p], [logp, pt.grad(logp, p)], np.array(0.3), rtol=1e-11)
