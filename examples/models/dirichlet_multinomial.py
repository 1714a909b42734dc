"""How American voters divide over seven steps from strong Democrat to strong Republican, by groups of income.

Each group has shares of its own around common ones; `concentration` says how close to them.

Data: American National Election Study of 1996 (statsmodels, `anes96`), counted in 24 groups of income.
"""

import numpy as np
import pandas as pd
import pymc as pm
import statsmodels.api as sm


def model():
    data = sm.datasets.anes96.load_pandas().data
    counts = pd.crosstab(data["income"], data["PID"])
    with pm.Model(coords={"income": counts.index, "party": counts.columns}) as model:
        shares = pm.Dirichlet("shares", np.ones(counts.shape[1]), dims="party")
        concentration = pm.LogNormal("concentration", 3, 1)
        pm.DirichletMultinomial(
            "counts", n=counts.sum(axis=1).to_numpy(), a=concentration * shares,
            observed=counts.to_numpy(), dims=("income", "party"),
        )  # fmt: skip
    return model
