"""American inflation, whose own spread wanders from quarter to quarter.

    volatility ~ random walk,    infl[t] ~ StudentT(nu, mu, exp(volatility[t]))

Data: quarterly, 1959 to 2009 (statsmodels, `macrodata`).
"""

import pymc as pm
import statsmodels.api as sm


def model():
    inflation = sm.datasets.macrodata.load_pandas().data["infl"].to_numpy()[1:]
    with pm.Model() as model:
        step = pm.Exponential("step", 10)
        volatility = pm.GaussianRandomWalk(
            "volatility", sigma=step, init_dist=pm.Normal.dist(0, 2), shape=len(inflation)
        )
        nu = pm.Exponential("nu", 0.1)
        mu = pm.Normal("mu", 3, 3)
        pm.StudentT("inflation", nu=nu, mu=mu, sigma=pm.math.exp(volatility), observed=inflation)
    return model
