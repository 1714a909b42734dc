"""PyMC's log densities and their gradients at the edges of their parameters: finite wherever PyTensor's own stabilised
graph is.

    INLAY_FUZZ_SECONDS=600 pytest tests/python/test_edges.py        # 2000 points of each, not 60
"""

import itertools
import os
import zlib

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
import pytest
from versions import OLD_PYTENSOR

POINTS = 2000 if float(os.environ.get("INLAY_FUZZ_SECONDS", 5)) > 100 else 60
PYTENSORS_OWN = pytensor.compile.get_mode("FAST_RUN").excluding("fusion", "inplace", "cxx_only", "BlasOpt")
PYTHON = pytensor.compile.Mode("py", PYTENSORS_OWN.provided_optimizer)

ANY = [0.0, -1e-300, 1e-8, -1.0, 3.5, -40.0, 1e5, -1e8]
POSITIVE = [1e-300, 1e-17, 1e-8, 0.3, 1.0, 7.5, 1e4, 1e10, 1e17]
UNIT = [1e-300, 1e-17, 1e-8, 0.3, 0.5, 1 - 1e-8, 1 - 2**-53]
COUNT = [0.0, 1.0, 2.0, 40.0, 1e6]

# The parameters that a distribution is called with, and values.
DISTRIBUTIONS = {
    "AsymmetricLaplace": ({"b": POSITIVE, "kappa": POSITIVE, "mu": ANY}, ANY),
    "Beta": ({"alpha": POSITIVE, "beta": POSITIVE}, UNIT),
    "BetaBinomial": ({"n": [1.0, 40.0, 1e6], "alpha": POSITIVE, "beta": POSITIVE}, COUNT),
    "Binomial": ({"n": [1.0, 40.0, 1e6], "p": UNIT}, COUNT),
    "Cauchy": ({"alpha": ANY, "beta": POSITIVE}, ANY),
    "ChiSquared": ({"nu": POSITIVE}, POSITIVE),
    "ExGaussian": ({"mu": ANY, "sigma": POSITIVE, "nu": POSITIVE}, ANY),
    "Exponential": ({"lam": POSITIVE}, POSITIVE),
    "Gamma": ({"alpha": POSITIVE, "beta": POSITIVE}, POSITIVE),
    "Geometric": ({"p": UNIT}, COUNT[1:]),
    "Gumbel": ({"mu": ANY, "beta": POSITIVE}, ANY),
    "HalfCauchy": ({"beta": POSITIVE}, POSITIVE),
    "HalfNormal": ({"sigma": POSITIVE}, POSITIVE),
    "HalfStudentT": ({"nu": POSITIVE, "sigma": POSITIVE}, POSITIVE),
    "InverseGamma": ({"alpha": POSITIVE, "beta": POSITIVE}, POSITIVE),
    "Kumaraswamy": ({"a": POSITIVE, "b": POSITIVE}, UNIT),
    "Laplace": ({"mu": ANY, "b": POSITIVE}, ANY),
    "Logistic": ({"mu": ANY, "s": POSITIVE}, ANY),
    "LogitNormal": ({"mu": ANY, "sigma": POSITIVE}, UNIT),
    "LogNormal": ({"mu": ANY, "sigma": POSITIVE}, POSITIVE),
    "Moyal": ({"mu": ANY, "sigma": POSITIVE}, ANY),
    "NegativeBinomial": ({"mu": POSITIVE, "alpha": POSITIVE}, COUNT),
    "Normal": ({"mu": ANY, "sigma": POSITIVE}, ANY),
    "Pareto": ({"alpha": POSITIVE, "m": POSITIVE}, POSITIVE),
    "Poisson": ({"mu": POSITIVE}, COUNT),
    "Rice": ({"nu": POSITIVE, "sigma": POSITIVE}, POSITIVE),
    "SkewNormal": ({"mu": ANY, "sigma": POSITIVE, "alpha": ANY}, ANY),
    "StudentT": ({"nu": POSITIVE, "mu": ANY, "sigma": POSITIVE}, ANY),
    "Triangular": ({"lower": [-1.0, 0.0], "c": UNIT, "upper": [1.0, 1e8]}, UNIT),
    "TruncatedNormal": ({"mu": ANY, "sigma": POSITIVE, "lower": [-1.0], "upper": [4.0]}, [-1.0, 0.0, 1e-8, 3.5]),
    "Uniform": ({"lower": [-1.0, 0.0], "upper": [1.0, 1e8]}, UNIT),
    "VonMises": ({"mu": [-3.0, 0.0, 1.0], "kappa": POSITIVE}, [-3.0, 0.0, 1e-8, 2.0]),
    "Wald": ({"mu": POSITIVE, "lam": POSITIVE}, POSITIVE),
    "Weibull": ({"alpha": POSITIVE, "beta": POSITIVE}, POSITIVE),
    "ZeroInflatedNegativeBinomial": ({"psi": UNIT, "mu": POSITIVE, "alpha": POSITIVE}, COUNT),
    "ZeroInflatedPoisson": ({"psi": UNIT, "mu": POSITIVE}, COUNT),
}


def points(name, grids):
    """Some of the product of the grids, a column for each."""
    everything = np.array(list(itertools.product(*grids)))
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    return everything[rng.permutation(len(everything))[:POINTS]].T


@pytest.mark.skipif(OLD_PYTENSOR, reason="rewrites in other ways")
@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_finite_where_pytensors_own_graph_is(name):
    grids, values = DISTRIBUTIONS[name]
    columns = points(name, [*grids.values(), values])
    inputs = [pt.dvector(n) for n in (*grids, "value")]
    out = pm.logp(getattr(pm, name).dist(**dict(zip(grids, inputs, strict=False))), inputs[-1])
    grads = pytensor.grad(out.sum(), inputs, disconnected_inputs="ignore", return_disconnected="zero")
    ours, theirs = (pytensor.function(inputs, [out, *grads], mode=mode) for mode in ("INLAY", PYTHON))
    with np.errstate(all="ignore"):
        got, want = ours(*columns), theirs(*columns)
    for of, g, w in zip(["value", *(f"d{x.name}" for x in inputs)], got, want, strict=True):
        wrong = np.isfinite(w) & ~np.isfinite(g)
        assert not wrong.any(), f"{of}: {g[wrong][:3]} instead of {w[wrong][:3]} at {columns[:, wrong][:, :3].T}"
