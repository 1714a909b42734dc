"""Models as PyMC's gallery has them, written from memory: what a user brings who has not read examples/models. `cold.py
gradient` measures how long they wait for the first gradient.

The data are drawn from a seed, so nothing has to be downloaded. `unrolled` is what a user writes who does not know Scan.
"""

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt

UNROLLED_STEPS = 200


def rng():
    return np.random.default_rng(20240607)


def eight_schools():
    effect = np.array([28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0])
    error = np.array([15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0])
    with pm.Model() as model:
        mu, tau = pm.Normal("mu", 0, 5), pm.HalfCauchy("tau", 5)
        theta = pm.Deterministic("theta", mu + tau * pm.Normal("z", 0, 1, shape=8))
        pm.Normal("y", theta, error, observed=effect)
    return model


def bym2():
    """Counts on a grid of 6 x 6 fields, with what neighbours share and what each has by itself."""
    side = 6
    at = np.arange(side * side)
    row, column = at // side, at % side
    neighbours = (abs(row[:, None] - row) + abs(column[:, None] - column) == 1).astype(float)
    expected, x = rng().uniform(5, 40, at.size), rng().normal(size=at.size)
    with pm.Model() as model:
        b0, b1 = pm.Normal("b0"), pm.Normal("b1")
        theta, phi = pm.Normal("theta", shape=at.size), pm.ICAR("phi", W=neighbours)
        sigma, rho = pm.HalfNormal("sigma"), pm.Beta("rho", 0.5, 0.5)
        mixed = pt.sqrt(1 - rho) * theta + pt.sqrt(rho / 0.7) * phi
        pm.Poisson("y", expected * pt.exp(b0 + b1 * x + sigma * mixed), observed=rng().poisson(expected))
    return model


def zero_inflated():
    x = rng().normal(size=(250, 3))
    with pm.Model() as model:
        intercept, slopes = pm.Normal("intercept", 0, 2), pm.Normal("slopes", 0, 1, shape=3)
        psi, alpha = pm.Beta("psi", 2, 2), pm.Exponential("alpha", 1)
        counts = rng().poisson(2, 250) * (rng().random(250) < 0.7)
        pm.ZeroInflatedNegativeBinomial("y", psi, pt.exp(intercept + x @ slopes), alpha, observed=counts)
    return model


def ordered_logistic():
    x = rng().normal(size=(300, 2))
    with pm.Model() as model:
        slopes = pm.Normal("slopes", 0, 1, shape=2)
        cuts = pm.Normal(
            "cuts", 0, 3, shape=4, transform=pm.distributions.transforms.ordered, initval=np.linspace(-2, 2, 4)
        )
        pm.OrderedLogistic("y", x @ slopes, cuts, observed=rng().integers(0, 5, 300))
    return model


def hidden_markov():
    """Two hidden states, summed over by the forward algorithm in a Scan."""
    y = rng().normal(size=150) + np.repeat([0.0, 2.0, 0.0], 50)
    with pm.Model() as model:
        transition = pm.Dirichlet("transition", np.ones((2, 2)))
        mu = pm.Normal("mu", 0, 3, shape=2, transform=pm.distributions.transforms.ordered, initval=[-1.0, 1.0])
        sigma = pm.HalfNormal("sigma", 1)
        emission = pm.logp(pm.Normal.dist(mu, sigma), y[:, None])

        def step(seen, before, log_transition):
            return seen + pt.logsumexp(before[:, None] + log_transition, axis=0)

        alphas = pytensor.scan(
            step, sequences=[emission[1:]], outputs_info=[emission[0] - np.log(2)],
            non_sequences=[pt.log(transition)], return_updates=False,
        )
        pm.Potential("loglik", pt.logsumexp(alphas[-1]))
    return model


def kalman():
    """A local level, by the filter."""
    y = rng().normal(size=200).cumsum()
    with pm.Model() as model:
        drift, noise = pm.HalfNormal("drift", 1), pm.HalfNormal("noise", 1)

        def step(seen, mean, variance, drift, noise):
            variance = variance + drift**2
            total = variance + noise**2
            gain = variance / total
            term = -0.5 * (pt.log(2 * np.pi * total) + (seen - mean) ** 2 / total)
            return mean + gain * (seen - mean), (1 - gain) * variance, term

        _, _, terms = pytensor.scan(
            step, sequences=[pt.as_tensor(y)], outputs_info=[pt.as_tensor(np.float64(0.0)), pt.as_tensor(np.float64(10.0)), None],
            non_sequences=[drift, noise], return_updates=False,
        )
        pm.Potential("loglik", terms.sum())
    return model


def garch():
    y = rng().normal(size=300)
    with pm.Model() as model:
        omega = pm.HalfNormal("omega", 1)
        alpha, beta = pm.Beta("alpha", 1, 4), pm.Beta("beta", 4, 1)
        h = pytensor.scan(
            lambda y, h, omega, alpha, beta: omega + alpha * y**2 + beta * h,
            sequences=[pt.as_tensor(y[:-1])], outputs_info=[omega / (1 - 0.5 * (alpha + beta))],
            non_sequences=[omega, alpha, beta], return_updates=False,
        )
        pm.Normal("y", 0, pt.sqrt(h), observed=y[1:])
    return model


def varying_slopes():
    group, x = rng().integers(0, 20, 300), rng().normal(size=300)
    with pm.Model() as model:
        chol, _, _ = pm.LKJCholeskyCov("chol", n=2, eta=2, sd_dist=pm.Exponential.dist(1.0))
        mean = pm.Normal("mean", 0, 3, shape=2)
        effects = mean + (chol @ pm.Normal("z", 0, 1, shape=(2, 20))).T
        sigma = pm.HalfNormal("sigma", 1)
        pm.Normal("y", effects[group, 0] + effects[group, 1] * x, sigma, observed=rng().normal(size=300))
    return model


def lotka_volterra():
    """By a Runge-Kutta method of order 4, ten steps a year, in a Scan."""
    years, per_year = 20, 10
    seen = np.exp(rng().normal(3, 0.5, size=(years, 2)))
    with pm.Model() as model:
        rates = pm.LogNormal("rates", np.log([0.55, 0.028, 0.8, 0.024]), 0.3, shape=4)
        start = pm.LogNormal("start", np.log(20), 1, shape=2)
        sigma = pm.HalfNormal("sigma", 1, shape=2)

        def slope(z, r):
            return pt.stack([z[0] * (r[0] - r[1] * z[1]), z[1] * (r[3] * z[0] - r[2])])

        def step(z, r):
            h = 1 / per_year
            k1 = slope(z, r)
            k2 = slope(z + h / 2 * k1, r)
            k3 = slope(z + h / 2 * k2, r)
            k4 = slope(z + h * k3, r)
            return z + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)

        path = pytensor.scan(
            step, outputs_info=[start], non_sequences=[rates], n_steps=years * per_year, return_updates=False
        )
        pm.LogNormal("y", pt.log(path[per_year - 1 :: per_year]), sigma, observed=seen)
    return model


def truncated():
    with pm.Model() as model:
        mu, sigma = pm.Normal("mu", 0, 2), pm.HalfNormal("sigma", 2)
        pm.Truncated("y", pm.Normal.dist(mu, sigma), lower=-1, upper=2, observed=rng().uniform(-1, 2, 200))
    return model


def unrolled():
    """GARCH in a Python loop."""
    y = rng().normal(size=UNROLLED_STEPS + 1)
    with pm.Model() as model:
        omega = pm.HalfNormal("omega", 1)
        alpha, beta = pm.Beta("alpha", 1, 4), pm.Beta("beta", 4, 1)
        h, steps = omega / (1 - 0.5 * (alpha + beta)), []
        for seen in y[:-1]:
            h = omega + alpha * seen**2 + beta * h
            steps.append(h)
        pm.Normal("y", 0, pt.sqrt(pt.stack(steps)), observed=y[1:])
    return model


NAMES = (
    "eight_schools",
    "bym2",
    "zero_inflated",
    "ordered_logistic",
    "hidden_markov",
    "kalman",
    "garch",
    "varying_slopes",
    "lotka_volterra",
    "truncated",
)


def model(name):
    return globals()[name]()
