"""Sunspots: the square root of the yearly number follows the two years before it.

Data: 1700 to 2008 (statsmodels, `sunspots`), 309 years.
"""

import numpy as np
import pymc as pm
import statsmodels.api as sm


def model():
    spots = sm.datasets.sunspots.load_pandas().data["SUNACTIVITY"].to_numpy()
    with pm.Model() as model:
        rho = pm.Normal("rho", 0, 1, shape=3)  # a constant, and the two years
        sigma = pm.HalfNormal("sigma", 3)
        pm.AR("spots", rho, sigma=sigma, constant=True, init_dist=pm.Normal.dist(6, 6, shape=2), observed=np.sqrt(spots))
    return model
