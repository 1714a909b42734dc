"""Volume of the Nile at Aswan as a smooth function of the year, with its marginal likelihood.

Data: yearly, 1871 to 1970 (statsmodels, `nile`).
"""

import pymc as pm
import statsmodels.api as sm


def model():
    data = sm.datasets.nile.load_pandas().data
    years = data["year"].to_numpy()[:, None] - 1871
    volume = data["volume"].to_numpy()
    volume = (volume - volume.mean()) / volume.std()
    with pm.Model() as model:
        length = pm.InverseGamma("length", 5, 50)
        scale = pm.HalfNormal("scale", 1)
        noise = pm.HalfNormal("noise", 1)
        process = pm.gp.Marginal(cov_func=scale**2 * pm.gp.cov.Matern52(1, length))
        process.marginal_likelihood("volume", X=years, y=volume, sigma=noise)
    return model
