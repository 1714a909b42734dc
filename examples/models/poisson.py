"""Executions in the seventeen American states that executed anyone in 1997, by six properties of the state.

Data: Gill's capital punishment data (statsmodels, `cpunish`).
"""

import numpy as np
import pymc as pm
import statsmodels.api as sm


def model():
    data = sm.datasets.cpunish.load_pandas().data
    x = data.drop(columns="EXECUTIONS")
    x = x.assign(INCOME=np.log(x["INCOME"]), VC100k96=np.log(x["VC100k96"]))
    x = (x - x.mean()) / x.std()
    with pm.Model(coords={"property": x.columns}) as model:
        intercept = pm.Normal("intercept", 0, 2)
        slopes = pm.Normal("slopes", 0, 1, dims="property")
        rate = pm.math.exp(intercept + x.to_numpy() @ slopes)
        pm.Poisson("executions", rate, observed=data["EXECUTIONS"].to_numpy(int))
    return model
