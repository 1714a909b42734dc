"""Carbon dioxide on Mauna Loa: a line, a smooth process in its Hilbert space approximation, and the seasons.

Data: weekly, 1958 to 2001 (statsmodels, `co2`), 2225 weeks that were measured.
"""

import numpy as np
import pymc as pm
import statsmodels.api as sm


def model():
    co2 = sm.datasets.co2.load_pandas().data["co2"].dropna()
    years = ((co2.index - co2.index[0]).days / 365.25).to_numpy(float)
    seasons = np.column_stack([f(2 * np.pi * k * years) for k in (1, 2) for f in (np.sin, np.cos)])
    with pm.Model() as model:
        level = pm.Normal("level", 340, 20)
        trend = pm.Normal("trend", 1.3, 1)
        amplitudes = pm.Normal("amplitudes", 0, 3, shape=seasons.shape[1])
        length = pm.InverseGamma("length", 5, 30)
        scale = pm.HalfNormal("scale", 5)
        process = pm.gp.HSGP(m=[30], c=1.5, cov_func=scale**2 * pm.gp.cov.ExpQuad(1, length))
        smooth = process.prior("smooth", X=years[:, None])
        noise = pm.HalfNormal("noise", 1)
        line = level + trend * (years - years.mean())
        pm.Normal("co2", line + smooth + seasons @ amplitudes, noise, observed=co2.to_numpy())
    return model
