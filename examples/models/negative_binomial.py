"""Visits to a doctor in a year, by nine properties of a person and an insurance plan; more spread than a Poisson's.

Data: the RAND health insurance experiment, 20 190 person-years (statsmodels, `randhie`).
"""

import pymc as pm
import statsmodels.api as sm


def model():
    data = sm.datasets.randhie.load_pandas().data
    x = data.drop(columns="mdvis")
    x = (x - x.mean()) / x.std()
    with pm.Model(coords={"property": x.columns}) as model:
        intercept = pm.Normal("intercept", 0, 2)
        slopes = pm.Normal("slopes", 0, 1, dims="property")
        dispersion = pm.Gamma("dispersion", 2, 1)
        mean = pm.math.exp(intercept + x.to_numpy() @ slopes)
        pm.NegativeBinomial("visits", mu=mean, alpha=dispersion, observed=data["mdvis"].to_numpy(int))
    return model
