"""Days that patients lived after a heart transplant, by age; those alive at the end of the study are censored.

Data: Stanford heart transplants, 69 patients, 24 of them censored (statsmodels, `heart`).
"""

import numpy as np
import pymc as pm
import statsmodels.api as sm


def model():
    loaded = sm.datasets.heart.load_pandas()
    days, died = loaded.endog.to_numpy(), loaded.censors.to_numpy().astype(bool)
    age = (loaded.exog.to_numpy() - 48) / 10
    with pm.Model() as model:
        level = pm.Normal("level", 5, 3)
        slope = pm.Normal("slope", 0, 1)
        shape = pm.HalfNormal("shape", 2)
        life = pm.Weibull.dist(alpha=shape, beta=pm.math.exp(level + slope * age))
        # What is known of a censored patient is that more days than these were lived.
        pm.Censored("days", life, lower=None, upper=np.where(died, np.inf, days), observed=days)
    return model
