"""Murders in the contiguous American states, by poverty and single parents, with what neighbouring states share.

    log murders ~ Normal(X @ slopes + shared, sigma),    shared ~ CAR(neighbours, alpha, tau)

Data: 48 states and the District of Columbia, 2009 (statsmodels, `statecrime`).
"""

import numpy as np
import pymc as pm
import statsmodels.api as sm

# Each state with those of its neighbours that come later in the alphabet of the codes.
BORDERS = """
AL FL GA MS TN  AR LA MO MS OK TN TX  AZ CA NM NV UT  CA NV OR  CO KS NE NM OK UT WY  CT MA NY RI  DC MD VA
DE MD NJ PA  FL GA  GA NC SC TN  IA IL MN MO NE SD WI  ID MT NV OR UT WA WY  IL IN KY MO WI  IN KY MI OH
KS MO NE OK  KY MO OH TN VA WV  LA MS TX  MA NH NY RI VT  MD PA VA WV  ME NH  MI OH WI  MN ND SD WI
MO NE OK TN  MS TN  MT ND SD WY  NC SC TN VA  ND SD  NE SD WY  NH VT  NJ NY PA  NM OK TX  NV OR UT
NY PA VT  OH PA WV  OK TX  OR WA  PA WV  SD WY  TN VA  UT WY  VA WV
"""
CODES = """
AL Alabama, AZ Arizona, AR Arkansas, CA California, CO Colorado, CT Connecticut, DE Delaware, DC District of Columbia,
FL Florida, GA Georgia, ID Idaho, IL Illinois, IN Indiana, IA Iowa, KS Kansas, KY Kentucky, LA Louisiana, ME Maine,
MD Maryland, MA Massachusetts, MI Michigan, MN Minnesota, MS Mississippi, MO Missouri, MT Montana, NE Nebraska,
NV Nevada, NH New Hampshire, NJ New Jersey, NM New Mexico, NY New York, NC North Carolina, ND North Dakota, OH Ohio,
OK Oklahoma, OR Oregon, PA Pennsylvania, RI Rhode Island, SC South Carolina, SD South Dakota, TN Tennessee, TX Texas,
UT Utah, VT Vermont, VA Virginia, WA Washington, WV West Virginia, WI Wisconsin, WY Wyoming
"""


def neighbours(codes):
    """The symmetric matrix of zeros and ones."""
    place = {code: i for i, code in enumerate(codes)}
    out = np.zeros((len(codes), len(codes)))
    for group in BORDERS.replace("\n", "  ").split("  "):
        first, *others = group.split() or [None]
        for other in others:
            out[place[first], place[other]] = out[place[other], place[first]] = 1
    return out


def model():
    names = dict(entry.split(maxsplit=1)[::-1] for entry in " ".join(CODES.split()).split(", "))
    data = sm.datasets.statecrime.load_pandas().data
    data.index = data.index.str.strip()
    data = data[data.index.isin(names)]
    x = data[["poverty", "single", "urban"]]
    x = (x - x.mean()) / x.std()
    with pm.Model(coords={"state": data.index, "property": x.columns}) as model:
        level = pm.Normal("level", 1, 2)
        slopes = pm.Normal("slopes", 0, 1, dims="property")
        alpha = pm.Beta("alpha", 2, 2)
        tau = pm.Gamma("tau", 2, 0.5)
        shared = pm.CAR(
            "shared", mu=np.zeros(len(data)), W=neighbours([names[state] for state in data.index]),
            alpha=alpha, tau=tau, dims="state",
        )  # fmt: skip
        sigma = pm.HalfNormal("sigma", 1)
        pm.Normal("murders", level + x.to_numpy() @ slopes + shared, sigma, observed=np.log(data["murder"].to_numpy()))
    return model
