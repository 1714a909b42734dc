"""Births per woman in 219 countries every fifth year; what was not reported is a parameter like any other.

    births[c, t] ~ Normal(level[c] + slope[c] * t, sigma)

Data: World Bank, 1960 to 2010 (statsmodels, `fertility`); of 2409 numbers 234 are missing.
"""

import numpy as np
import pymc as pm
import statsmodels.api as sm


def model():
    data = sm.datasets.fertility.load_pandas().data
    years = np.arange(1960, 2011, 5)
    births = data[[str(year) for year in years]].to_numpy(float)
    decades = (years - 1985) / 10
    with pm.Model(coords={"country": data["Country Name"], "year": years}) as model:
        mu_level, mu_slope = pm.Normal("mu_level", 4, 2), pm.Normal("mu_slope", 0, 1)
        tau_level, tau_slope = pm.HalfNormal("tau_level", 2), pm.HalfNormal("tau_slope", 1)
        level = mu_level + tau_level * pm.Normal("z_level", 0, 1, dims="country")
        slope = mu_slope + tau_slope * pm.Normal("z_slope", 0, 1, dims="country")
        sigma = pm.HalfNormal("sigma", 1)
        observed = np.ma.masked_invalid(births)
        pm.Normal("births", level[:, None] + slope[:, None] * decades, sigma, observed=observed)
    return model
