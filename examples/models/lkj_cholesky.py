"""Quarterly growth of five parts of the American economy, together: their means, scales and correlations.

Data: 1959 to 2009 (statsmodels, `macrodata`), 202 quarters.
"""

import numpy as np
import pymc as pm
import statsmodels.api as sm

SERIES = ["realgdp", "realcons", "realinv", "realgovt", "realdpi"]


def model():
    levels = sm.datasets.macrodata.load_pandas().data[SERIES].to_numpy()
    growth = 100 * np.diff(np.log(levels), axis=0)
    with pm.Model(coords={"series": SERIES}) as model:
        mu = pm.Normal("mu", 0, 2, dims="series")
        cholesky, _, _ = pm.LKJCholeskyCov("covariance", n=len(SERIES), eta=2.0, sd_dist=pm.HalfNormal.dist(3.0))
        pm.MvNormal("growth", mu, chol=cholesky, observed=growth)
    return model
