"""Random variables: the draws of PyTensor's Python mode from the same seed, and the same generator afterwards."""

import pickle
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
import pytest
from pytensor.compile.builders import OpFromGraph
from pytensor.scan.utils import until
from pytensor.tensor.random import basic as rv
from versions import OLD_PYTENSOR

import inlay.pytensor

# Parameters of each distribution; an integer stays one.
PARAMETERS = {
    "normal": (0.5, 2.0), "uniform": (0.5, 2.0), "halfnormal": (0.0, 1.5), "lognormal": (0.0, 1.0), "gamma": (2.0, 1.5),
    "pareto": (3.0, 1.0), "gumbel": (0.0, 1.0), "exponential": (2.0,), "weibull": (1.5,), "logistic": (0.0, 1.0),
    "vonmises": (0.0, 1.0), "beta": (2.0, 3.0), "laplace": (0.0, 1.0), "triangular": (0.0, 0.5, 1.0),
    "cauchy": (0.0, 1.0),
    "halfcauchy": (0.0, 1.0), "invgamma": (3.0, 1.0), "wald": (1.0, 2.0), "truncexpon": (2.0, 0.0, 1.0),
    "t": (4.0, 0.0, 1.0), "gengamma": (2.0, 1.5, 1.0), "poisson": (3.0,), "geometric": (0.3,),
    "hypergeometric": (10, 5, 7), "bernoulli": (0.3,), "binomial": (10, 0.4), "nbinom": (4, 0.4),
    "betabinom": (10, 2.0, 3.0), "integers": (0, 10),
    "multivariate_normal": (np.zeros(3), np.eye(3) + 0.2), "dirichlet": (np.array([1.0, 2.0, 3.0]),),
    "multinomial": (5, np.array([0.2, 0.3, 0.5])), "categorical": (np.array([0.2, 0.3, 0.5]),),
}  # fmt: skip


def shared_generator(seed=5):
    return pytensor.shared(np.random.default_rng(seed))


def sample(op, *parameters, **how):
    """The generator afterwards, and the draw."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # newer versions have a keyword for that
        return op(*parameters, **how).owner.outputs


def state(shared):
    return shared.get_value(borrow=True).bit_generator.state


def draws_and_states(build, mode, calls=2):
    """`build` takes a function that makes shared generators and gives (inputs, outputs, updates, arguments)."""
    generators = []

    def generator():
        generators.append(shared_generator(len(generators)))
        return generators[-1]

    inputs, outputs, updates, arguments = build(generator)
    fn = pytensor.function(inputs, outputs, updates=updates, mode=mode)
    return [fn(*arguments) for _ in range(calls)], [state(g) for g in generators]


def check(build):
    got, generators = draws_and_states(build, "INLAY")
    want, python_generators = draws_and_states(build, "FAST_COMPILE")
    assert generators == python_generators
    for ours, theirs in zip(got, want, strict=True):
        for x, y in zip(ours, theirs, strict=True):
            assert x.dtype == y.dtype
            np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize("name", PARAMETERS)
def test_draws_are_those_of_python_mode(name):
    op, parameters = getattr(rv, name), PARAMETERS[name]

    def build(generator):
        inputs, arguments, outputs, updates = [], [], [], {}

        def draw(*given, **how):
            shared = generator()
            updates[shared], drawn = sample(op, *given, rng=shared, **how)
            outputs.append(drawn)

        def variable(value):
            value = np.asarray(value)
            inputs.append(pt.tensor(dtype=value.dtype, shape=(None,) * value.ndim))
            arguments.append(value)
            return inputs[-1]

        for size in (None, (4,), (2, 3), (0,)):
            draw(*parameters, size=size)
        draw(*map(variable, parameters), size=(variable(3), 2))
        if np.ndim(parameters[-1]) == 0:
            draw(*(variable(np.full((3, 1) if i == 0 else (4,), p)) for i, p in enumerate(parameters)))
        return inputs, outputs, updates, arguments

    check(build)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_dtypes(dtype):
    def build(generator):
        a, b = generator(), generator()
        (next_a, x), (next_b, y) = (sample(op, 0, 1, size=5, dtype=dtype, rng=g) for op, g in
                                    ((rv.normal, a), (rv.uniform, b)))  # fmt: skip
        c = generator()
        next_c, z = sample(rv.dirichlet, np.array([1, 2, 3], dtype=dtype), size=5, dtype=dtype, rng=c)
        return [], [x, y, z], {a: next_a, b: next_b, c: next_c}, []

    check(build)


def test_a_chain_of_draws_from_one_generator():
    def build(generator):
        g = generator()
        first, x = sample(rv.normal, 0, 1, size=3, rng=g)
        second, y = sample(rv.gamma, x**2 + 1, scale=1, rng=first)
        third, z = sample(rv.integers, 0, 9, size=2, rng=second)
        return [], [x, y, z], {g: third}, []

    check(build)


def test_two_readers_of_one_generator_draw_the_same():
    def build(generator):
        g = generator()
        after, x = sample(rv.normal, 0, 1, size=3, rng=g)
        _, y = sample(rv.normal, 0, 1, size=3, rng=g)
        return [], [x, y], {g: after}, []

    check(build)


def test_a_generator_that_is_not_updated_stays_as_it_was():
    shared = shared_generator()
    _, drawn = sample(rv.normal, 0, 1, size=3, rng=shared)
    before = state(shared)
    fn = pytensor.function([], drawn, mode="INLAY")
    np.testing.assert_array_equal(fn(), fn())
    assert state(shared) == before


def test_a_generator_that_is_an_argument_stays_as_it_was():
    g = pt.random.type.random_generator_type("g")
    after, drawn = sample(rv.normal, 0, 1, size=3, rng=g)
    fn = pytensor.function([g], [after, drawn], mode="INLAY")
    given = np.random.default_rng(3)
    returned, x = fn(given)
    assert given.bit_generator.state == np.random.default_rng(3).bit_generator.state
    np.testing.assert_array_equal(x, given.normal(0, 1, 3))
    assert returned.bit_generator.state == given.bit_generator.state


def test_a_result_is_the_generator_and_stays_as_it_is():
    shared = shared_generator()
    after, drawn = sample(rv.normal, 0, 1, size=3, rng=shared)
    later, again = sample(rv.normal, 0, 1, size=3, rng=after)
    fn = pytensor.function([], [after, drawn, again], updates={shared: later}, mode="INLAY")
    returned, _, second = fn()
    np.testing.assert_array_equal(returned.normal(0, 1, 3), second)


def test_pickled_and_copied_functions_draw_on():
    shared = shared_generator()
    after, drawn = sample(rv.normal, 0, 1, size=3, rng=shared)
    fn = pytensor.function([], drawn, updates={shared: after}, mode="INLAY")
    reference = np.random.default_rng(5)
    np.testing.assert_array_equal(fn(), reference.normal(0, 1, 3))
    unpickled, copied = pickle.loads(pickle.dumps(fn)), fn.copy()
    second, third = reference.normal(0, 1, 3), reference.normal(0, 1, 3)
    np.testing.assert_array_equal(unpickled(), second)
    np.testing.assert_array_equal(fn(), second)
    np.testing.assert_array_equal(copied(), third)  # of the same shared variable
    np.testing.assert_array_equal(unpickled(), third)


def test_the_generator_of_a_function_is_not_copied():
    """A copy takes longer than the draws."""
    shared = shared_generator()
    after, drawn = sample(rv.normal, 0, 1, size=3, rng=shared)
    fn = pytensor.function([], drawn, updates={shared: after}, mode="INLAY")
    generator = shared.get_value(borrow=True)
    fn()
    assert shared.get_value(borrow=True) is generator


# By NumPy's own functions; the others through their op's Python code.
NATIVE = {
    "normal", "uniform", "halfnormal", "lognormal", "gamma", "exponential", "weibull", "logistic", "vonmises", "beta",
    "laplace", "triangular", "invgamma", "wald", "t", "poisson", "geometric", "hypergeometric", "bernoulli", "binomial",
    "nbinom", "dirichlet", "multinomial", "categorical",
}  # fmt: skip


@pytest.mark.parametrize("name", PARAMETERS)
def test_which_are_drawn_without_python_code(name):
    _, drawn = sample(getattr(rv, name), *PARAMETERS[name], size=3, rng=shared_generator())
    view = inlay.pytensor.explain(pytensor.function([], drawn, mode="INLAY"))
    assert (len(view.draws), len(view.host_calls)) == ((1, 0) if name in NATIVE else (0, 1))


PROBABILITIES = np.array([[0.2, 0.3, 0.1, 0.4], [0.0, 1.0, 0.0, 0.0], [0.25, 0.25, 0.25, 0.25]])


@pytest.mark.parametrize(
    ("name", "batches"),
    [
        ("categorical", [(PROBABILITIES,), (PROBABILITIES[:, None],), (np.array([1.0]),), (np.array([[True], [False]]),)]),
        ("dirichlet", [
            (10 * PROBABILITIES + 0.1,),
            (PROBABILITIES / 50 + 1e-3,),  # sticks that are broken
            (np.array([0.05]),),
            (np.array([[0.01, 0.02], [0.01, 2.0]], dtype="float32"),),
            (np.array([[3, 1, 2]]),),
        ]),
        ("multinomial", [
            (np.array([7, 0, 10**6]), PROBABILITIES),
            (np.array([[5], [1]]), PROBABILITIES),
            (np.int8(40), PROBABILITIES[:1]),
            (np.array([3, 4], dtype="uint8"), np.array([1.0])),
        ]),
    ],
)  # fmt: skip
def test_vectors_in_batches(name, batches):
    op = getattr(rv, name)

    def build(generator):
        inputs, arguments, outputs, updates = [], [], [], {}
        for parameters in batches:
            variables = [pt.tensor(dtype=p.dtype, shape=(None,) * p.ndim) for p in parameters]
            inputs += variables
            arguments += parameters
            batch = np.broadcast_shapes(*(p.shape for p in parameters[:-1]), parameters[-1].shape[:-1])
            for given in (variables, parameters):
                for size in (None, batch, (5, 2, *batch)):
                    g = generator()
                    updates[g], drawn = sample(op, *given, size=size, rng=g)
                    outputs.append(drawn)
        return inputs, outputs, updates, arguments

    check(build)


def test_parameters_of_many_dtypes_and_strides():
    def build(generator):
        inputs = [pt.tensor(dtype=d, shape=(None, None)) for d in ("float32", "int8", "uint64", "bool")]
        mean, scale, trials, flag = inputs
        outputs, updates = [], {}
        for op, parameters in [
            (rv.normal, (mean, scale)), (rv.gamma, (scale, mean)), (rv.binomial, (scale, flag)), (rv.poisson, (trials,)),
        ]:  # fmt: skip
            g = generator()
            updates[g], drawn = sample(op, *parameters, rng=g)
            outputs.append(drawn)
        arguments = [
            np.linspace(1, 2, 6, dtype="float32").reshape(3, 2).T,
            np.array([[3], [4]], dtype="int8"),
            np.arange(6, dtype="uint64").reshape(2, 3)[:, ::-1],
            np.array([[True, False, True]]),
        ]
        return inputs, outputs, updates, arguments

    check(build)


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("normal", (0.0, -1.0)),
        ("normal", (0.0, np.nan)),
        ("normal", (np.nan, 1.0)),
        ("gamma", (-0.0, 1.0)),
        ("uniform", (1.0, 0.0)),
        ("uniform", (0.0, np.inf)),
        ("binomial", (-1, 0.5)),
        ("binomial", (3, 1.5)),
        ("bernoulli", (np.nan,)),
        ("poisson", (1e19,)),
        ("nbinom", (5, 1e-19)),
        ("hypergeometric", (10**9, 5, 3)),
        ("hypergeometric", (3, 5, 9)),
        ("t", (4.0, 0.0, 0.0)),
        ("halfnormal", (1.0, 0.0)),
        ("invgamma", (0.0, 1.0)),
        ("invgamma", (2.0, np.float32(1.7))),
        ("normal", (np.zeros(0), -np.ones((3, 1)))),
        ("triangular", (1.0, 0.0, 2.0)),
        ("categorical", (np.array([0.5, -0.25, 0.75]),)),
        ("categorical", (np.array([0.5, np.nan, 0.5]),)),
        ("categorical", (np.full(100, 0.01, dtype="float32"),)),
        ("categorical", (np.zeros(0),)),
        ("categorical", (np.array([2**62, 2**62, 2**62, 1]),)),
        ("dirichlet", (np.array([1.0, 0.0, 2.0]),)),
        ("dirichlet", (np.array([1.0, -1.0]),)),
        ("dirichlet", (np.array([[1.0, np.nan], [1.0, 2.0]]),)),
        ("multinomial", (5, np.array([0.7, 0.7, 0.0]))),
        ("multinomial", (3, np.append(np.full(200026, (1 + 1.3e-12) / 200026), 0.0))),  # 1 - 2e-13, added one by one
        ("multinomial", (5, np.array([0.5, np.nan, 0.5]))),
        ("multinomial", (-1, np.array([0.5, 0.5]))),
        ("multinomial", (np.array([3, 4]), np.zeros((2, 0)))),
        ("multinomial", (np.array([3, 4, 5]), np.array([[0.5, 0.5], [0.5, 0.5]]))),
    ],
)
def test_what_numpy_or_scipy_refuses(name, parameters):
    """Or draws in a way of its own. Nothing has been drawn where it fails."""
    shared = [shared_generator(), shared_generator()]
    results = []
    for g, mode in zip(shared, ("INLAY", "FAST_COMPILE"), strict=True):
        variables = [pt.tensor(dtype=np.asarray(p).dtype, shape=(None,) * np.ndim(p)) for p in parameters]
        size = None if any(map(np.ndim, parameters)) else 3
        after, drawn = sample(getattr(rv, name), *variables, size=size, rng=g)
        fn = pytensor.function(variables, drawn, updates={g: after}, mode=mode)
        try:
            results.append(fn(*parameters))
        except Exception as error:
            results.append(type(error))
    np.testing.assert_equal(*results)
    assert state(shared[0]) == state(shared[1])


@pytest.mark.parametrize("size", [(2, 1), (-1, 3), (4, 2, 3), (2, 3, 4)])
def test_sizes_that_do_not_fit(size):
    def outcome(mode):
        g = shared_generator()
        mean, *sizes = pt.dmatrix(), *(pt.lscalar() for _ in size)
        after, drawn = sample(rv.normal, mean, 1.0, size=tuple(sizes), rng=g)
        fn = pytensor.function([mean, *sizes], drawn, updates={g: after}, mode=mode)
        try:
            return fn(np.zeros((2, 3)), *size), state(g)
        except Exception as error:
            return type(error), state(g)

    ours, theirs = outcome("INLAY"), outcome("FAST_COMPILE")
    np.testing.assert_equal(ours[0], theirs[0])
    assert ours[1] == theirs[1]


def test_threads_share_a_generator():
    """Each number goes to one of them: NumPy's lock is held while numbers are drawn."""
    g = pt.random.type.random_generator_type("g")
    size = pt.lscalar("size")
    _, drawn = sample(rv.normal, 0, 1, size=(size,), rng=g)
    fn = pytensor.function([pytensor.In(g, mutable=True), size], drawn, mode="INLAY")
    given = np.random.default_rng(3)
    with ThreadPoolExecutor(2) as pool:
        parts = list(pool.map(lambda _: fn(given, 20_000), range(8)))
    if given.bit_generator.state == np.random.default_rng(3).bit_generator.state:
        pytest.skip("this PyTensor copies a generator that is given")
    want = np.random.default_rng(3).normal(0, 1, 160_000)
    np.testing.assert_array_equal(np.sort(np.concatenate(parts)), np.sort(want))


def test_predictive_samples_of_pymc():
    with pm.Model() as model:
        x = pm.Data("x", np.linspace(-1, 1, 7))
        mu = pm.Normal("mu", 0, 1, shape=2)
        sigma = pm.HalfNormal("sigma", 1)
        pm.Normal("y", mu[0] + mu[1] * x, sigma, observed=np.zeros(7))
        pm.Poisson("counts", pm.math.exp(mu[0]), observed=np.arange(4))

    def samples(mode):
        prior = pm.sample_prior_predictive(20, model=model, random_seed=3, compile_kwargs={"mode": mode})
        posterior = prior.prior if hasattr(prior, "prior") else prior["prior"].to_dataset()
        with model:
            predictive = pm.sample_posterior_predictive(
                posterior, random_seed=4, progressbar=False, compile_kwargs={"mode": mode}
            )
        return prior, predictive

    for ours, theirs in zip(samples("INLAY"), samples("FAST_COMPILE"), strict=True):
        for group in ("prior", "prior_predictive", "posterior_predictive"):
            if not hasattr(theirs, group):
                continue
            for name in theirs[group].data_vars:
                np.testing.assert_array_equal(ours[group][name], theirs[group][name])


def draws_in_a_scan(step, **how):
    def build(generator):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            g = generator()
            out, updates = pytensor.scan(lambda *given: step(g, *given), **how)
        return [], out if isinstance(out, list) else [out], updates, []

    return build


def random_walk(g, x):
    after, noise = sample(rv.normal, 0.9 * x, 0.5, rng=g)
    return [noise], {g: after}


def two_draws(g, x):
    between, scale = sample(rv.halfnormal, 0.0, 1.0, rng=g)
    after, noise = sample(rv.normal, x, scale, size=(3,), rng=between)
    return [noise, noise.max()], {g: after}


def two_readers(g, x):
    after, noise = sample(rv.normal, x, 1.0, rng=g)
    _, again = sample(rv.uniform, 0.0, 1.0, rng=g)
    return [noise, again], {g: after}


def until_it_leaves(g, x):
    after, noise = sample(rv.normal, x, 1.0, rng=g)
    return [noise], {g: after}, until(abs(noise) > 3)


def two_readers_the_other_way(g, x):
    _, other = sample(rv.gamma, 2.0 + x**2, 1.0, rng=g)
    after, noise = sample(rv.normal, other, 1.0, rng=g)
    return [noise], {g: after}


def scan_in_scan(g, x):
    inner, updates = pytensor.scan(lambda y: random_walk(g, y), outputs_info=[x], n_steps=3)
    return [inner[-1]], updates


def swapped(generator):
    a, b = generator(), generator()

    def step(x):
        after_a, noise = sample(rv.normal, x, 1.0, rng=a)
        after_b, scale = sample(rv.halfnormal, 0.0, 1.0, rng=b)
        return [noise * scale], {a: after_b, b: after_a}

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        out, updates = pytensor.scan(step, outputs_info=[pt.zeros(())], n_steps=9)
    return [], [out], updates, []


SCANS = {
    "one": draws_in_a_scan(random_walk, outputs_info=[pt.zeros(())], n_steps=20),
    "none": draws_in_a_scan(random_walk, outputs_info=[pt.zeros(())], n_steps=pt.as_tensor(1) - 1),
    "two": draws_in_a_scan(two_draws, outputs_info=[pt.zeros(3), None], n_steps=7),
    "two readers": draws_in_a_scan(two_readers, outputs_info=[pt.zeros(()), None], n_steps=20),
    "two readers, the other way": draws_in_a_scan(two_readers_the_other_way, outputs_info=[pt.zeros(())], n_steps=40),
    "scan in scan": draws_in_a_scan(scan_in_scan, outputs_info=[pt.zeros(())], n_steps=4),
    "swapped": swapped,
    "until": draws_in_a_scan(until_it_leaves, outputs_info=[pt.zeros(())], n_steps=200),
}


@pytest.mark.parametrize("name", SCANS)
def test_draws_in_a_scan(name):
    if OLD_PYTENSOR and name == "none":
        pytest.skip("this version's own Scan of no steps leaves no generator")
    check(SCANS[name])


@pytest.mark.parametrize("name", ["one", "two"])
def test_a_scan_that_draws_is_native(name):
    inputs, outputs, updates, _ = SCANS[name](shared_generator)
    fn = pytensor.function(inputs, outputs, updates=updates, mode="INLAY")
    view = inlay.pytensor.explain(fn)
    # An older version draws the first step's before the loop as well.
    assert view.host_calls == [] and len(view.draws) == (2 if name == "two" else 1) * (1 + OLD_PYTENSOR)


def test_a_scan_leaves_a_generator_that_is_not_its_own():
    shared = shared_generator()
    inputs, outputs, _, _ = SCANS["one"](lambda: shared)
    fn = pytensor.function(inputs, outputs, mode="INLAY")
    before = state(shared)
    np.testing.assert_array_equal(fn(), fn())
    assert state(shared) == before
    assert inlay.pytensor.explain(fn).host_calls == ["copy of a generator"]


@pytest.mark.skipif(OLD_PYTENSOR, reason="its Scans carry no generators")
def test_a_graph_within_a_scan_leaves_the_generator_that_it_is_given():
    """Its first input is the same object as the Scan's own, a generator that is drawn from in place."""
    r, mu = pt.random.type.RandomGeneratorType()("r"), pt.dscalar("mu")
    noise = OpFromGraph([r, mu], [sample(rv.normal, mu, 1.0, rng=r)[1] * 1.0])

    def step(g, h):
        after, x = sample(rv.normal, 0.0, 1.0, rng=g)
        return [after, noise(h, x)]

    own, fixed = shared_generator(3), shared_generator(8)
    before = state(fixed)
    _, out = pytensor.scan(step, outputs_info=[own, None], non_sequences=[fixed], n_steps=3, return_updates=False)
    fn = pytensor.function([], out, mode="INLAY")
    want = np.random.default_rng(3).normal(size=3) + np.random.default_rng(8).normal()
    for _ in range(2):
        np.testing.assert_allclose(fn(), want, rtol=1e-14)
    assert state(fixed) == before


def test_a_scan_whose_parameters_numpy_refuses():
    g = shared_generator()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scale = pt.dvector("scale")
        out, updates = pytensor.scan(
            lambda s: (lambda after, x: (x, {g: after}))(*sample(rv.normal, 0.0, s, rng=g)), sequences=[scale]
        )
    fn = pytensor.function([scale], out, updates=updates, mode="INLAY")
    want = np.random.default_rng(5)
    np.testing.assert_array_equal(fn([1.0, 2.0]), [want.normal(0, 1), want.normal(0, 2)])
    with pytest.raises(ValueError, match="scale < 0"):
        fn([1.0, -1.0])
    assert fn([1.0]).shape == (1,)


def test_predictive_draws_of_a_time_series():
    def draws(mode):
        with pm.Model() as model:
            rho = pm.Normal("rho", 0.0, 0.3, shape=2)
            pm.AR("ar", rho, sigma=pm.HalfNormal("sigma"), init_dist=pm.Normal.dist(0, 1), steps=30)
            pm.GARCH11("garch", omega=1.0, alpha_1=0.3, beta_1=0.5, initial_vol=1.0, shape=20)
        return pm.sample_prior_predictive(5, model=model, random_seed=3, compile_kwargs={"mode": mode})

    ours, theirs = draws("INLAY"), draws("FAST_COMPILE")
    for name in ("ar", "garch"):
        np.testing.assert_allclose(ours["prior"][name], theirs["prior"][name], rtol=1e-12)
