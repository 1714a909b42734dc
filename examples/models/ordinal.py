"""Party of American voters on seven ordered steps, from strong Democrat to strong Republican.

Data: American National Election Study of 1996, 944 voters (statsmodels, `anes96`).
"""

import numpy as np
import pymc as pm
import statsmodels.api as sm


def model():
    data = sm.datasets.anes96.load_pandas().data
    x = data[["logpopul", "TVnews", "selfLR", "age", "educ", "income"]]
    x = (x - x.mean()) / x.std()
    with pm.Model(coords={"property": x.columns, "step": np.arange(6)}) as model:
        slopes = pm.Normal("slopes", 0, 1, dims="property")
        cutpoints = pm.Normal(
            "cutpoints", 0, 3, dims="step",
            initval=np.linspace(-2, 2, 6), transform=pm.distributions.transforms.ordered,
        )  # fmt: skip
        pm.OrderedLogistic(
            "party", eta=x.to_numpy() @ slopes, cutpoints=cutpoints,
            observed=data["PID"].to_numpy(int), compute_p=False,
        )  # fmt: skip
    return model
