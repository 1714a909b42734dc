"""PyMC's log densities, log distribution functions and their gradients at the edges of their parameters: finite wherever
PyTensor's own stabilised graph is, and no further from the truth than that graph's rounding errors may take it.

    INLAY_FUZZ_SECONDS=600 pytest tests/python/test_edges.py        # 2000 points of each, not 60
"""

import functools
import itertools
import os
import zlib

import mpmath as mp
import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
import pytest
from exact_graphs import Exact, NotExact
from pytensor.graph.traversal import ancestors
from pytensor.raise_op import CheckAndRaise
from pytensor.scalar.loop import ScalarLoop
from pytensor.tensor.elemwise import Elemwise
from versions import OLD_PYTENSOR

pytestmark = pytest.mark.skipif(OLD_PYTENSOR, reason="rewrites in other ways")

POINTS = 2000 if float(os.environ.get("INLAY_FUZZ_SECONDS", 5)) > 100 else 60
PYTENSORS_OWN = pytensor.compile.get_mode("FAST_RUN").excluding("fusion", "inplace", "cxx_only", "BlasOpt")
PYTHON = pytensor.compile.Mode("py", PYTENSORS_OWN.provided_optimizer)

ANY = [0.0, -1e-300, 1e-8, -1.0, 3.5, -40.0, 1e5, -1e8]
POSITIVE = [1e-300, 1e-17, 1e-8, 0.3, 1.0, 7.5, 1e4, 1e10, 1e17]
UNIT = [1e-300, 1e-17, 1e-8, 0.3, 0.5, 1 - 1e-8, 1 - 2**-53]
COUNT = [0.0, 1.0, 2.0, 40.0, 1e6]

# The parameters that a distribution is called with, and values. (SkewStudentT at the ends of its parameters is finite
# by chance alone: squares are infinite, and the order of factors, which changes in PyTensor with what else is computed,
# decides; and it has powers of e of differences whose rounding errors are in the hundreds. HurdleNegativeBinomial divides
# by the probability of more than 0, which is 1 at 1e-300, though SciPy's betainc says 0. The truth of DiscreteWeibull has
# powers of powers, which take mpmath minutes.)
DISTRIBUTIONS = {
    "AsymmetricLaplace": ({"b": POSITIVE, "kappa": POSITIVE, "mu": ANY}, ANY),
    "Bernoulli": ({"p": UNIT}, [0.0, 1.0]),
    "Beta": ({"alpha": POSITIVE, "beta": POSITIVE}, UNIT),
    "BetaBinomial": ({"n": [1.0, 40.0, 1e6], "alpha": POSITIVE, "beta": POSITIVE}, COUNT),
    "Binomial": ({"n": [1.0, 40.0, 1e6], "p": UNIT}, COUNT),
    "Cauchy": ({"alpha": ANY, "beta": POSITIVE}, ANY),
    "Censored": ({"mu": ANY, "sigma": POSITIVE}, [-1.0, 0.0, 1e-8, 3.5]),
    "ChiSquared": ({"nu": POSITIVE}, POSITIVE),
    "DiscreteUniform": ({"lower": [-40.0, 0.0], "upper": [0.0, 2.0, 1e6]}, COUNT),
    "DiscreteWeibull": ({"q": UNIT, "beta": POSITIVE[:6]}, COUNT),
    "ExGaussian": ({"mu": ANY, "sigma": POSITIVE, "nu": POSITIVE}, ANY),
    "Exponential": ({"lam": POSITIVE}, POSITIVE),
    "Gamma": ({"alpha": POSITIVE, "beta": POSITIVE}, POSITIVE),
    "Geometric": ({"p": UNIT}, COUNT[1:]),
    "Gumbel": ({"mu": ANY, "beta": POSITIVE}, ANY),
    "HalfCauchy": ({"beta": POSITIVE}, POSITIVE),
    "HalfNormal": ({"sigma": POSITIVE}, POSITIVE),
    "HalfStudentT": ({"nu": POSITIVE, "sigma": POSITIVE}, POSITIVE),
    "HurdleGamma": ({"psi": UNIT, "alpha": POSITIVE, "beta": POSITIVE}, [0.0, *POSITIVE]),
    "HurdleLogNormal": ({"psi": UNIT, "mu": ANY, "sigma": POSITIVE}, [0.0, *POSITIVE]),
    "HurdleNegativeBinomial": ({"psi": UNIT, "mu": POSITIVE, "alpha": POSITIVE[1:]}, COUNT),
    "HurdlePoisson": ({"psi": UNIT, "mu": POSITIVE}, COUNT),
    "HyperGeometric": ({"N": [50.0, 1e6], "k": [1.0, 20.0], "n": [1.0, 50.0]}, COUNT),
    "InverseGamma": ({"alpha": POSITIVE, "beta": POSITIVE}, POSITIVE),
    "Kumaraswamy": ({"a": POSITIVE, "b": POSITIVE}, UNIT),
    "Laplace": ({"mu": ANY, "b": POSITIVE}, ANY),
    "Logistic": ({"mu": ANY, "s": POSITIVE}, ANY),
    "LogitNormal": ({"mu": ANY, "sigma": POSITIVE}, UNIT),
    "LogNormal": ({"mu": ANY, "sigma": POSITIVE}, POSITIVE),
    "Mixture": ({"p": UNIT, "mu": ANY, "sigma": POSITIVE}, ANY),
    "Moyal": ({"mu": ANY, "sigma": POSITIVE}, ANY),
    "NegativeBinomial": ({"mu": POSITIVE, "alpha": POSITIVE}, COUNT),
    "Normal": ({"mu": ANY, "sigma": POSITIVE}, ANY),
    "Pareto": ({"alpha": POSITIVE, "m": POSITIVE}, POSITIVE),
    "Poisson": ({"mu": POSITIVE}, COUNT),
    "Rice": ({"nu": POSITIVE, "sigma": POSITIVE}, POSITIVE),
    "SkewNormal": ({"mu": ANY, "sigma": POSITIVE, "alpha": ANY}, ANY),
    "SkewStudentT": ({"a": POSITIVE[:-1], "b": POSITIVE[:-1], "mu": ANY, "sigma": POSITIVE[1:]}, ANY),
    "StudentT": ({"nu": POSITIVE, "mu": ANY, "sigma": POSITIVE}, ANY),
    "Triangular": ({"lower": [-1.0, 0.0], "c": UNIT, "upper": [1.0, 1e8]}, UNIT),
    "Truncated": ({"mu": ANY, "sigma": POSITIVE}, [-1.0, 0.0, 1e-8, 3.5]),
    "TruncatedNormal": ({"mu": ANY, "sigma": POSITIVE, "lower": [-1.0], "upper": [4.0]}, [-1.0, 0.0, 1e-8, 3.5]),
    "Uniform": ({"lower": [-1.0, 0.0], "upper": [1.0, 1e8]}, UNIT),
    "VonMises": ({"mu": [-3.0, 0.0, 1.0], "kappa": POSITIVE}, [-3.0, 0.0, 1e-8, 2.0]),
    "Wald": ({"mu": POSITIVE, "lam": POSITIVE}, POSITIVE),
    "Weibull": ({"alpha": POSITIVE, "beta": POSITIVE}, POSITIVE),
    "ZeroInflatedBinomial": ({"psi": UNIT, "n": [1.0, 40.0, 1e6], "p": UNIT}, COUNT),
    "ZeroInflatedNegativeBinomial": ({"psi": UNIT, "mu": POSITIVE, "alpha": POSITIVE}, COUNT),
    "ZeroInflatedPoisson": ({"psi": UNIT, "mu": POSITIVE}, COUNT),
}
# Those of the list that are made of others.
MADE = {
    "Censored": lambda mu, sigma: pm.Censored.dist(pm.Normal.dist(mu, sigma), lower=-1.0, upper=3.5),
    "Mixture": lambda p, mu, sigma: pm.Mixture.dist(
        pt.stack([p, 1 - p], axis=-1), [pm.Normal.dist(mu, sigma), pm.Laplace.dist(mu, sigma)]
    ),
    "Truncated": lambda mu, sigma: pm.Truncated.dist(pm.Cauchy.dist(mu, sigma), lower=-1.0, upper=3.5),
}


KINDS = {"logp": pm.logp, "logcdf": pm.logcdf}
ONE_AT_A_TIME = {("logcdf", "BetaBinomial"), ("logcdf", "HyperGeometric")}  # as PyMC sums
CASES = list(itertools.product(KINDS, DISTRIBUTIONS))

# Points at which PyTensor runs a derivative that is a loop: 0.3 seconds for one point in Python.
LOOP_POINTS = 6
# One in four points has a truth, some milliseconds of mpmath for one number. 400 digits hold the sum of the largest
# number here and the smallest.
EXACT_POINTS = POINTS // 4
DIGITS = 400
# PyTensor's graph is computed so often with other rounding errors.
RUNS = 8
# inlay's error may be this many times the largest of those: errors with random signs reach about half of what they reach
# with the worst ones. At 150 points of each the worst is 1.0001 times.
TIMES = 2
# Units in the last place that an error may be where PyTensor's graph has none: of one function of inlay, docs/math.md.
UNITS = 2


def points(kind, name, grids):
    """Some of the product of the grids, a column for each."""
    everything = np.array(list(itertools.product(*grids)))
    if (kind, name) in ONE_AT_A_TIME:  # sums of as many terms
        everything = everything[everything[:, -1] <= 40]
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    return everything[rng.permutation(len(everything))[:POINTS]].T


def graph(kind, name, make_input):
    """Inputs, and the value with its derivatives by each of them."""
    inputs = [make_input(n) for n in (*DISTRIBUTIONS[name][0], "value")]
    parameters = dict(zip(DISTRIBUTIONS[name][0], inputs, strict=False))
    make = MADE[name] if name in MADE else getattr(pm, name).dist
    value = KINDS[kind](make(**parameters), inputs[-1])
    grads = pytensor.grad(value.sum(), inputs, disconnected_inputs="ignore", return_disconnected="zero")
    return inputs, [value, *grads]


def has_loop(variable):
    ops = (v.owner.op for v in ancestors([variable]) if v.owner is not None)
    return any(isinstance(op, Elemwise) and isinstance(op.scalar_op, ScalarLoop) for op in ops)


class Reference:
    """PyTensor's graph as its rewrites leave it, run node by node."""

    def __init__(self, inputs, outputs):
        self.graph = pytensor.function(inputs, outputs, mode=PYTHON).maker.fgraph
        self.nodes = self.graph.toposort()

    def __call__(self, columns, outputs, rounding=None):
        """`rounding`: generator of an error of one unit up or down, or none, for what each elementwise op computes."""
        wanted = [self.graph.outputs[i] for i in outputs]
        needed = set(ancestors(wanted))
        values = dict(zip(self.graph.inputs, columns, strict=True))
        for node in self.nodes:
            if needed.isdisjoint(node.outputs):
                continue
            operands = [values[v] if v in values else v.data for v in node.inputs]
            results = [[None] for _ in node.outputs]
            if rounding is not None and isinstance(node.op, CheckAndRaise):  # a probability may be 1 and a unit here
                results[0][0] = operands[0]
            else:
                node.op.perform(node, operands, results)
            for out, (result,) in zip(node.outputs, results, strict=True):
                if rounding is not None and isinstance(node.op, Elemwise) and result.dtype.kind == "f":
                    result = result * (1 + rounding.choice([-1, 0, 1], result.shape) * np.finfo(float).eps)
                values[out] = result
        return np.array([values[v] if v in values else np.broadcast_to(v.data, columns[0].shape) for v in wanted])


class Case:
    """Both modes' functions of one distribution."""

    def __init__(self, kind, name):
        self.scalar = (kind, name) in ONE_AT_A_TIME
        try:
            inputs, outputs = graph(kind, name, pt.dscalar if self.scalar else pt.dvector)
        except NotImplementedError as error:
            pytest.skip(str(error))
        self.names = ["value", *(f"d{x.name}" for x in inputs)]
        self.columns = points(kind, name, [*DISTRIBUTIONS[name][0].values(), DISTRIBUTIONS[name][1]])
        self.ours = pytensor.function(inputs, outputs, mode="INLAY")
        self.reference = Reference(inputs, outputs)
        self.loops = [has_loop(out) for out in self.reference.graph.outputs]

    def outputs(self, loops):
        return [i for i, loop in enumerate(self.loops) if loop == loops]

    def in_each_mode(self, columns, outputs):
        return self._at(lambda *c: np.array(self.ours(*c))[outputs], columns), self.pytensors(columns, outputs)

    def pytensors(self, columns, outputs, rounding=None):
        return self._at(lambda *c: self.reference(c, outputs, rounding), columns)

    def _at(self, function, columns):
        with np.errstate(all="ignore"):
            if not self.scalar:
                return function(*columns)
            return np.array([function(*map(np.asarray, column)) for column in columns.T]).T


case = functools.cache(Case)


@pytest.mark.parametrize("kind, name", CASES)
def test_finite_where_pytensors_own_graph_is(kind, name):
    c = case(kind, name)
    for outputs, count in ((c.outputs(loops=False), POINTS), (c.outputs(loops=True), LOOP_POINTS)):
        if not outputs:
            continue
        columns = c.columns[:, :count]
        for of, g, w in zip(outputs, *c.in_each_mode(columns, outputs), strict=True):
            wrong = np.isfinite(w) & ~np.isfinite(g)
            where = columns[:, wrong][:, :3].T
            assert not wrong.any(), f"{c.names[of]}: {g[wrong][:3]} instead of {w[wrong][:3]} at {where}"


def truth(exact, variable):
    """A finite f64's worth of the graph as it was written, or None."""
    try:
        value = exact(variable)[()]
    except NotExact:
        return None
    return value if mp.isfinite(value) and abs(value) < np.finfo(float).max else None


@pytest.mark.parametrize("kind, name", CASES)
def test_as_near_the_truth_as_pytensors_own_graph_may_be(kind, name):
    """Derivatives that are loops are left out: in Python they take seconds, and test_conformance.py judges inlay's."""
    c = case(kind, name)
    outputs, columns = c.outputs(loops=False), c.columns[:, :EXACT_POINTS]
    got, want = c.in_each_mode(columns, outputs)
    rng = np.random.default_rng(1)
    rounded = np.array([want, *(c.pytensors(columns, outputs, rng) for _ in range(RUNS))])
    inputs, exact_outputs = graph(kind, name, pt.dscalar)
    with mp.workdps(DIGITS):
        for k, column in enumerate(columns.T):
            exact = Exact(zip(inputs, (np.asarray(mp.mpf(float(x)), dtype=object) for x in column), strict=True))
            for row, of in enumerate(outputs):
                true = truth(exact, exact_outputs[of])
                if true is None or not np.isfinite(want[row, k]):
                    continue
                theirs = max(abs(mp.mpf(float(x)) - true) for x in rounded[:, row, k] if np.isfinite(x))
                allowed = TIMES * theirs + UNITS * mp.mpf(float(np.spacing(abs(float(true)))))
                error = abs(mp.mpf(float(got[row, k])) - true)
                assert error <= allowed, (
                    f"{c.names[of]} at {column}: {got[row, k]!r} instead of {mp.nstr(true, 17)}, PyTensor's graph "
                    f"{want[row, k]!r}: {float(error):.2g} off where {float(allowed):.2g} would do"
                )


SIMPLEX = [[0.2, 0.3, 0.5], [1e-300, 1e-8, 1 - 1e-8], [1e-17, 1.0, 1e-17], [0.0, 0.25, 0.75], [1 / 3, 1 / 3, 1 / 3]]
VECTORS = [[0.0, -1e-300, 1e-8], [-1.0, 3.5, -40.0], [1e5, 1e-17, -1e8], [0.1, 0.2, 0.3]]
SIZES = [[1e-300, 1e-17, 1.0], [1e-8, 0.3, 7.5], [1.0, 1.0, 1.0], [1e4, 1e10, 1e17], [2.0, 1e-8, 1e10]]
COUNTS = [[0.0, 0.0, 5.0], [1.0, 2.0, 2.0], [5.0, 0.0, 0.0]]
LENGTHS = [1e-8, 0.3, 1.0, 1e4]


def triangle(length):
    """A Cholesky factor."""
    return length * pt.constant(np.array([[1.0, 0, 0], [0.5, 2, 0], [-0.3, 0.1, 1e-3]]))


FACTORS = [[[1.0, 0, 0], [0.6, 0.8, 0], [0, 0.28, 0.96]], [[1.0, 0, 0], [1.0, 1e-17, 0], [0, 1.0, 1e-300]]]
MATRICES = [[VECTORS[3], VECTORS[1], VECTORS[0]], [VECTORS[2]] * 3]
CUTS = [1e-8, 0.3, 7.5]
NEIGHBOURS = np.array([[0.0, 1, 0], [1, 0, 1], [0, 1, 0]])


def covariance(length):
    return triangle(length) @ triangle(length).T


def start(shape=None):
    """Where a series of numbers begins."""
    return pm.Normal.dist(0, 1, shape=shape)


def start_of_vectors():
    return pm.MvNormal.dist(np.zeros(3), np.eye(3))


# Of vectors and matrices, of steps in time, and those without parameters: the distribution of its parameters, what they may
# be, and values.
OF_VECTORS = {
    "AR": (
        lambda a, b, s: pm.AR.dist(rho=pt.stack([a, b]), sigma=s, init_dist=start(2), steps=1),
        [ANY, UNIT, POSITIVE],
        VECTORS,
    ),
    "CAR": (lambda mu, a, tau: pm.CAR.dist(mu=mu, W=NEIGHBOURS, alpha=a, tau=tau), [VECTORS, UNIT, POSITIVE], VECTORS),
    "Categorical": (lambda p: pm.Categorical.dist(p=p), [SIMPLEX], [0.0, 1.0, 2.0]),
    "DiracDelta": (lambda c: pm.DiracDelta.dist(c), [ANY], ANY),
    "Dirichlet": (lambda a: pm.Dirichlet.dist(a=a), [SIZES], SIMPLEX),
    "DirichletMultinomial": (lambda a: pm.DirichletMultinomial.dist(n=5, a=a), [SIZES], COUNTS),
    "EulerMaruyama": (
        lambda a, s: pm.EulerMaruyama.dist(
            dt=0.1, sde_fn=lambda x, a, s: (-a * x, s), sde_pars=(a, s), init_dist=start(), steps=2
        ),
        [POSITIVE, POSITIVE],
        VECTORS,
    ),
    "Flat": (pm.Flat.dist, [], ANY),
    "GARCH11": (
        lambda o, a, b, v: pm.GARCH11.dist(omega=o, alpha_1=a, beta_1=b, initial_vol=v, steps=2),
        [LENGTHS, UNIT[::3], UNIT[::3], POSITIVE],
        VECTORS,
    ),
    "GaussianRandomWalk": (
        lambda mu, s: pm.GaussianRandomWalk.dist(mu=mu, sigma=s, init_dist=start(), steps=2),
        [ANY, POSITIVE],
        VECTORS,
    ),
    "HalfFlat": (pm.HalfFlat.dist, [], POSITIVE),
    "ICAR": (lambda s: pm.ICAR.dist(W=NEIGHBOURS, sigma=s), [POSITIVE], VECTORS),
    "Interpolated": (lambda: pm.Interpolated.dist(np.array([0.0, 0.3, 1.0]), np.array([0.1, 1.0, 2.0])), [], UNIT),
    "KroneckerNormal": (
        lambda mu, s, k: pm.KroneckerNormal.dist(mu=mu, covs=[pt.eye(2) * k, covariance(1.0)], sigma=s),
        [[v + v for v in VECTORS], POSITIVE, LENGTHS],
        [v + v[::-1] for v in VECTORS],
    ),
    "LKJCholeskyCov": (
        lambda eta: pm.LKJCholeskyCov.dist(n=3, eta=eta, sd_dist=pm.Exponential.dist(1.0), compute_corr=False),
        [POSITIVE],
        [[1, 0.3, 0.7, -0.2, 0.1, 2], [1e-8, 1e-17, 1e-8, 0, 0, 1e4]],
    ),
    "LKJCorr": (lambda eta: pm.LKJCorr.dist(n=3, eta=eta), [POSITIVE], FACTORS),
    "MatrixNormal": (
        lambda mu, r, c: pm.MatrixNormal.dist(mu=mu, rowchol=triangle(r), colchol=triangle(c)),
        [MATRICES[::-1], LENGTHS, LENGTHS],
        MATRICES,
    ),
    "Multinomial": (lambda p: pm.Multinomial.dist(n=5, p=p), [SIMPLEX], COUNTS),
    "MvGaussianRandomWalk": (
        lambda mu, s: pm.MvGaussianRandomWalk.dist(mu=mu, chol=triangle(s), init_dist=start_of_vectors(), steps=2),
        [VECTORS, LENGTHS],
        MATRICES,
    ),
    "MvNormal": (lambda mu, s: pm.MvNormal.dist(mu=mu, chol=triangle(s)), [VECTORS, LENGTHS], VECTORS),
    "MvStudentT": (
        lambda nu, mu, s: pm.MvStudentT.dist(nu=nu, mu=mu, chol=triangle(s)),
        [POSITIVE[1:-1], VECTORS, LENGTHS],
        VECTORS,
    ),
    "MvStudentTRandomWalk": (
        lambda nu, mu, s: pm.MvStudentTRandomWalk.dist(
            nu=nu, mu=mu, chol=triangle(s), init_dist=start_of_vectors(), steps=2
        ),
        [POSITIVE[1:-1:2], VECTORS, LENGTHS],
        MATRICES,
    ),
    "NormalMixture": (lambda w, mu, s: pm.NormalMixture.dist(w=w, mu=mu, sigma=s), [SIMPLEX, VECTORS, POSITIVE], ANY),
    "OrderedLogistic": (
        lambda eta, cut: pm.OrderedLogistic.dist(eta=eta, cutpoints=pt.stack([-cut, cut]), compute_p=False),
        [ANY, POSITIVE],
        [0.0, 1.0, 2.0],
    ),
    "OrderedMultinomial": (
        lambda eta, cut: pm.OrderedMultinomial.dist(eta=eta, cutpoints=pt.stack([-cut, cut]), n=5, compute_p=False),
        [ANY, POSITIVE],
        COUNTS,
    ),
    # With other cuts the probabilities do not add up to 1 within what PyMC allows, and both graphs say so.
    "OrderedProbit": (
        lambda eta, cut, s: pm.OrderedProbit.dist(eta=eta, cutpoints=pt.stack([-cut, cut]), sigma=s, compute_p=False),
        [ANY, CUTS, LENGTHS],
        [0.0, 1.0, 2.0],
    ),
    "RandomWalk": (
        lambda nu, s: pm.RandomWalk.dist(init_dist=start(), innovation_dist=pm.StudentT.dist(nu=nu, sigma=s), steps=2),
        [POSITIVE, POSITIVE],
        VECTORS,
    ),
    "StickBreakingWeights": (lambda a: pm.StickBreakingWeights.dist(alpha=a, K=2), [POSITIVE], SIMPLEX),
    "Wishart": (
        lambda nu, s: pm.Wishart.dist(nu=nu, V=covariance(s)),
        [[3.0, 7.5, 1e4], LENGTHS],
        [[[2, 0.2, 0.1], [0.2, 1, -0.3], [0.1, -0.3, 1]], [[1e-8, 0, 0], [0, 1, 0], [0, 0, 1e8]]],
    ),
    "ZeroSumNormal": (
        lambda s: pm.ZeroSumNormal.dist(sigma=s, support_shape=(3,)),
        [POSITIVE],
        [[0.5, -0.25, -0.25], [0.0, 0.0, 0.0], [1e5, -1e5, 0.0], [-1e-8, 0.0, 1e-8]],
    ),
}

# What PyMC exports beside them.
NOT_HERE = {
    "Continuous": "a base class",
    "CustomDist": "its density is the caller's graph",
    "DensityDist": "CustomDist by its old name",
    "Discrete": "a base class",
    "Distribution": "a base class",
    "Lognormal": "LogNormal by its old name",
    "PolyaGamma": "its log density is a function of a Python package, which has no derivative",
    "Simulator": "its density is a distance between draws of the caller's function, and is random itself",
    "SymbolicRandomVariable": "the op of distributions that are graphs, no distribution",
    "WishartBartlett": "a function that puts ChiSquared, Normal and their product into a model",
}


def test_every_distribution_of_pymc_is_here():
    exported = {n for n, c in vars(pm).items() if isinstance(c, type) and issubclass(c, pm.Distribution)}
    assert "Normal" in exported
    exported.update(pm.distributions.__all__)  # also those that choose a class, as OrderedProbit does
    assert sorted(exported - {*DISTRIBUTIONS, *OF_VECTORS, *NOT_HERE}) == []
    assert sorted(NOT_HERE.keys() & {*DISTRIBUTIONS, *OF_VECTORS}) == []


@pytest.mark.parametrize("name", OF_VECTORS)
def test_finite_of_vectors_where_pytensors_own_graph_is(name):
    if not hasattr(pm, name):
        pytest.skip("this PyMC lacks it")
    make, grids, values = OF_VECTORS[name]
    inputs = [pt.tensor(dtype="float64", shape=(None,) * np.ndim(grid[0])) for grid in [*grids, values]]
    value = pm.logp(make(*inputs[:-1]), inputs[-1])
    outputs = [value, *pytensor.grad(value.sum(), inputs, disconnected_inputs="ignore", return_disconnected="zero")]
    ours = pytensor.function(inputs, outputs, mode="INLAY", on_unused_input="ignore")
    theirs = pytensor.function(inputs, outputs, mode=PYTHON, on_unused_input="ignore")
    any_finite = False
    for point in list(itertools.product(*grids, values))[:: 1 if POINTS > 60 else 3]:
        point = [np.asarray(x, float) for x in point]
        with np.errstate(all="ignore"):
            got, want = ours(*point), theirs(*point)
        any_finite |= bool(np.isfinite(want[0]).all())
        for of, (g, w) in enumerate(zip(got, want, strict=True)):
            assert (np.isfinite(g) | ~np.isfinite(w)).all(), f"output {of} at {point}: {g} instead of {w}"
    assert any_finite
