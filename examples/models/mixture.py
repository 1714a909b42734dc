"""Births per woman of 1985 over the countries of the world: two groups, before and after the demographic transition.

Data: World Bank (statsmodels, `fertility`), the countries that reported.
"""

import numpy as np
import pymc as pm
import statsmodels.api as sm


def model():
    births = sm.datasets.fertility.load_pandas().data["1985"].dropna().to_numpy(float)
    with pm.Model(coords={"group": ["after", "before"]}) as model:
        weights = pm.Dirichlet("weights", np.ones(2), dims="group")
        means = pm.Normal(
            "means", 4, 2, dims="group", initval=np.array([2.0, 6.0]), transform=pm.distributions.transforms.ordered
        )
        sigmas = pm.HalfNormal("sigmas", 1, dims="group")
        pm.NormalMixture("births", weights, mu=means, sigma=sigmas, observed=births)
    return model
