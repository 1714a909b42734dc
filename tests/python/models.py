"""Real models on real data: what the tests compile."""

import csv
from pathlib import Path

import numpy as np
import pymc as pm

RADON = Path(__file__).parents[2] / "examples" / "data" / "radon_mn.csv"


def radon():
    """Log radon in 919 houses of 85 counties: varying intercept and slope of the floor, non-centred."""
    with open(RADON) as f:
        rows = list(csv.DictReader(f))
    county = np.array([int(r["county_id"]) for r in rows])
    floor = np.array([float(r["floor"]) for r in rows])
    log_radon = np.array([float(r["log_radon"]) for r in rows])
    counties = int(county.max()) + 1
    with pm.Model() as model:
        mu_alpha, mu_beta = pm.Normal("mu_alpha", 0, 10), pm.Normal("mu_beta", 0, 10)
        sigma_alpha, sigma_beta = pm.HalfNormal("sigma_alpha", 5), pm.HalfNormal("sigma_beta", 5)
        alpha = pm.Deterministic("alpha", mu_alpha + sigma_alpha * pm.Normal("z_alpha", 0, 1, shape=counties))
        beta = pm.Deterministic("beta", mu_beta + sigma_beta * pm.Normal("z_beta", 0, 1, shape=counties))
        sigma = pm.HalfNormal("sigma", 5)
        pm.Normal("y", alpha[county] + beta[county] * floor, sigma, observed=log_radon)
    return model


def logistic():
    """Whether a marriage knew an affair, by eight properties of it: Fair's data, 6366 women (statsmodels)."""
    import statsmodels.api as sm

    data = sm.datasets.fair.load_pandas().data
    x = data.drop(columns=["affairs"]).to_numpy(float)
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    had_affair = (data["affairs"] > 0).to_numpy(int)
    with pm.Model() as model:
        intercept = pm.Normal("intercept", 0, 5)
        slopes = pm.Normal("slopes", 0, 2.5, shape=x.shape[1])
        pm.Bernoulli("y", logit_p=intercept + x @ slopes, observed=had_affair)
    return model


def logp_and_gradient(model, mode):
    """The PyTensor function of one flat vector that PyMC's samplers call."""
    fn = model.logp_dlogp_function(ravel_inputs=True, mode=mode)
    fn.set_extra_values({})
    return fn._pytensor_function


def points(fn, count=5):
    """Seeded points of the function's argument."""
    size = fn.maker.fgraph.inputs[0].type.shape[0]
    rng = np.random.default_rng(20240607)
    return [rng.normal(size=size) * scale for scale in np.linspace(0.2, 1.5, count)]
