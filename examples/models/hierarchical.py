"""Investment of eleven American firms in twenty years, each firm with an intercept and two slopes of its own.

    log invest[i] ~ StudentT(nu, a[firm[i]] + b[firm[i]] * log value[i] + c[firm[i]] * log capital[i], sigma)

Data: Grunfeld's panel of 1935 to 1954 (statsmodels, `grunfeld`), 220 rows.
"""

import numpy as np
import pandas as pd
import pymc as pm
import statsmodels.api as sm


def model():
    data = sm.datasets.grunfeld.load_pandas().data
    firm, firms = pd.factorize(data["firm"])
    value, capital, invest = (np.log(data[column].to_numpy()) for column in ("value", "capital", "invest"))
    with pm.Model(coords={"firm": firms, "effect": ["level", "value", "capital"]}) as model:
        mu = pm.Normal("mu", 0, 2, dims="effect")
        tau = pm.HalfNormal("tau", 1, dims="effect")
        z = pm.Normal("z", 0, 1, dims=("firm", "effect"))
        effects = pm.Deterministic("effects", mu + tau * z, dims=("firm", "effect"))
        nu = pm.Gamma("nu", 2, 0.1)
        sigma = pm.HalfNormal("sigma", 1)
        expected = (
            effects[firm, 0]
            + effects[firm, 1] * (value - value.mean())
            + effects[firm, 2] * (capital - capital.mean())
        )
        pm.StudentT("invest", nu=nu, mu=expected, sigma=sigma, observed=invest)
    return model
