"""PyMC's samplers with inlay as the default mode: what they give in PyTensor's Python mode with the same seeds."""

import inlay.pytensor
import numpy as np
import pymc as pm
import pytensor
import pytest

rng = np.random.default_rng(0)
X = rng.normal(size=50)
Y = 1 + 2 * X + 0.5 * rng.normal(size=50)
QUIET = {"progressbar": False, "random_seed": 1}
SHORT = {"draws": 30, "tune": 30, "compute_convergence_checks": False, **QUIET}


def line():
    with pm.Model(coords={"obs": range(50)}) as model:
        x = pm.Data("x", X, dims="obs")
        a, b, s = pm.Normal("a"), pm.Normal("b"), pm.HalfNormal("s")
        pm.Deterministic("ab", a * b)
        pm.Normal("y", a + b * x, s, observed=Y, dims="obs")
    return model


def discrete():
    with pm.Model() as model:
        k, z, c = pm.Poisson("k", 3), pm.Bernoulli("z", 0.3), pm.Categorical("c", [0.2, 0.3, 0.5])
        pm.Normal("y", pm.Normal("mu", k + z + c), 1, observed=np.array([3.0, 4.0]))
    return model


def posterior(trace):
    return [trace.posterior[name].values for name in trace.posterior.data_vars]


def nuts(**kwargs):
    return posterior(pm.sample(chains=2, nuts_sampler="pymc", **{"cores": 1, **SHORT, **kwargs}))


def forward():
    drawn = pm.sample_prior_predictive(10, random_seed=1)
    trace = pm.sample(chains=1, cores=1, step=pm.Metropolis(), **SHORT)
    pm.set_data({"x": 2 * X})
    predicted = pm.sample_posterior_predictive(trace, **QUIET)
    pm.compute_log_likelihood(trace, progressbar=False)
    return [
        drawn.prior["ab"].values,
        drawn.prior_predictive["y"].values,
        predicted.posterior_predictive["y"].values,
        trace.log_likelihood["y"].values,
    ]


def simulator():
    def simulate(rng, a, size=None):
        return rng.normal(a, 1, size=50)

    with pm.Model() as model:
        pm.Simulator("s", simulate, pm.Normal("a"), sum_stat="sort", observed=np.sort(Y))
    return model


def smc(draws):
    return posterior(pm.sample_smc(draws, chains=1, cores=1, compute_convergence_checks=False, **QUIET))


RUNS = {
    "forward": (line, forward),
    "metropolis": (line, lambda: posterior(pm.sample(chains=1, cores=1, step=pm.Metropolis(), **SHORT))),
    "slice": (line, lambda: posterior(pm.sample(chains=1, cores=1, step=pm.Slice(), **SHORT))),
    "compound": (discrete, lambda: posterior(pm.sample(chains=1, cores=1, **SHORT))),
    "advi": (line, lambda: [pm.fit(50, **QUIET).hist]),
    "map": (line, lambda: [v for _, v in sorted(pm.find_MAP(progressbar=False).items())]),
    "smc": (line, lambda: smc(50)),
    "simulator": (simulator, lambda: smc(20)),
    "do": (lambda: pm.do(line(), {"b": 3.0}), lambda: [pm.sample_prior_predictive(5, random_seed=1).prior["ab"].values]),
    "observe": (lambda: pm.observe(line(), {"b": 2.0}), lambda: posterior(pm.sample(chains=1, cores=1, step=pm.Slice(), **SHORT))),
}


@pytest.mark.parametrize("name", RUNS)
def test_same_seeds_same_draws(name):
    make, run = RUNS[name]
    results = []
    for mode in (inlay.pytensor.MODE, "FAST_COMPILE"):
        with pytensor.config.change_flags(mode=mode), make():
            results.append(run())
    for ours, theirs in zip(*results, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_nuts_in_processes(method):
    with line(), inlay.pytensor.default_mode():
        alone = nuts()
        together = nuts(cores=2, mp_ctx=method)
    for one, other in zip(alone, together, strict=True):
        np.testing.assert_array_equal(one, other)


def test_nuts_finds_the_posterior():
    with line(), inlay.pytensor.default_mode():
        trace = pm.sample(300, tune=300, chains=2, cores=1, nuts_sampler="pymc", **QUIET)
    design = np.column_stack([np.ones(50), X])
    least_squares = np.linalg.lstsq(design, Y, rcond=None)[0]
    for name, want in zip("ab", least_squares, strict=True):
        assert abs(trace.posterior[name].values.mean() - want) < 0.03
    np.testing.assert_allclose(
        trace.posterior["ab"].values, trace.posterior["a"].values * trace.posterior["b"].values, rtol=1e-14
    )
