"""Whether a married woman had an affair, by eight properties of her and her marriage.

Data: Fair's survey of 6366 readers of Redbook, 1974 (statsmodels, `fair`).
"""

import pymc as pm
import statsmodels.api as sm


def model():
    data = sm.datasets.fair.load_pandas().data
    x = data.drop(columns="affairs")
    x = (x - x.mean()) / x.std()
    had_affair = (data["affairs"] > 0).to_numpy(int)
    with pm.Model(coords={"property": x.columns}) as model:
        intercept = pm.Normal("intercept", 0, 5)
        slopes = pm.Normal("slopes", 0, 2.5, dims="property")
        pm.Bernoulli("had_affair", logit_p=intercept + x.to_numpy() @ slopes, observed=had_affair)
    return model
