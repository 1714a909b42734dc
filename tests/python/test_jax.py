"""Compiled functions within JAX: jitted, batched, differentiated, by many threads; and its samplers on PyMC models."""

import gc
import pickle
import subprocess
import sys
import weakref

import arviz as az
import inlay
import inlay.pytensor
import models
import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
import pytest
from conftest import on_eight_threads

jax = pytest.importorskip("jax", reason="JAX is not installed")
import inlay.jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
from inlay import _inlay, errors  # noqa: E402

pytestmark = [
    pytest.mark.skipif(not _inlay.xla_handlers(), reason="inlay was built without the headers of jaxlib"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]

# JAX's own error; of a program that has run before it makes a ValueError, whatever XLA's code is.
FAILED = (jax.errors.JaxRuntimeError, ValueError)

EXP = "graph @main(%a: f64, %x: f64[n]) {\n %y = mul %a, %x\n %z = exp %y\n return %z\n}"
SQUARES = """graph @main(%x: f64[n]) {
  %q = mul %x, %x
  %s = reduce add %q [0] : f64
  %g = add %x, %x
  return %s, %g
}"""


@pytest.fixture(autouse=True)
def x64():
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", before)


@pytest.fixture
def squares():
    return inlay.jax.as_jax(inlay.compile(SQUARES), argnums=0)


def test_a_function_of_text():
    fn = inlay.compile(EXP)
    f = inlay.jax.as_jax(fn)
    for length in (3, 0, 1000):
        x = np.linspace(0, 1, length)
        for call in (f, jax.jit(f)):
            got = call(2.0, x)
            assert isinstance(got, jax.Array)
            np.testing.assert_array_equal(got, fn(2.0, x))


def test_a_function_of_pytensor_with_a_shared_variable():
    x, i = pt.dmatrix("x"), pt.lvector("i")
    scale = pytensor.shared(np.array([2.0, 3.0]), name="scale")
    fn = pytensor.function([x, i], [x[i] * scale, i.sum(), x > 1], mode="INLAY")
    f = jax.jit(inlay.jax.as_jax(fn))
    scale.set_value(np.array([20.0, 30.0]))  # of which the copy knows nothing
    a, k = np.arange(6.0).reshape(3, 2), np.array([2, 0])
    got = f(a, k)
    assert isinstance(got, tuple) and [x.dtype for x in got] == ["float64", "int64", "bool"]
    np.testing.assert_array_equal(got[0], a[k] * [2, 3])
    assert got[1] == 2
    np.testing.assert_array_equal(got[2], a > 1)


@pytest.mark.parametrize("dtype", ["f32", "i8", "u16", "i32", "u64", "c64", "c128", "f16", "bf16", "bool"])
def test_each_dtype_arrives(dtype):
    op = "not" if dtype == "bool" else "add"
    given = "%x" if dtype == "bool" else "%x, %x"
    f = inlay.jax.as_jax(inlay.compile(f"graph @main(%x: {dtype}[n]) {{\n %y = {op} {given}\n return %y\n}}"))
    x = jnp.array([0, 1, 1]).astype(inlay.jax._dtype(dtype))
    got = jax.jit(f)(x)
    assert got.dtype == x.dtype
    np.testing.assert_array_equal(got.astype("complex128"), (~x if dtype == "bool" else x + x).astype("complex128"))


def test_a_batch_is_one_call(squares):
    fn = inlay.compile(EXP)
    f = inlay.jax.as_jax(fn)
    a, x = np.linspace(0, 1, 4), np.arange(6.0).reshape(2, 3)
    by_both = jax.vmap(jax.vmap(f, (0, None)), (None, 0))  # a is the inner axis
    np.testing.assert_allclose(by_both(a, x), np.exp(a[None, :, None] * x[:, None, :]), rtol=1e-15)
    np.testing.assert_allclose(jax.vmap(f, (None, 1), 1)(2.0, x), np.exp(2 * x), rtol=1e-15)
    jaxpr = str(jax.make_jaxpr(by_both)(a, x))
    assert jaxpr.count("ffi_call") == 1 and "scan" not in jaxpr
    assert by_both(a, x[:0]).shape == (0, 4, 3)
    np.testing.assert_array_equal(jax.jit(jax.vmap(jax.grad(squares)))(x), 2 * x)


def test_it_is_differentiated_once(squares):
    x, t = jnp.arange(3.0), jnp.array([1.0, 0.0, 2.0])
    assert squares(x) == 5
    for value_and_grad in (jax.value_and_grad(squares), jax.jit(jax.value_and_grad(squares))):
        value, gradient = value_and_grad(x)
        assert value == 5
        np.testing.assert_array_equal(gradient, 2 * x)
    np.testing.assert_allclose(jax.grad(lambda x: jnp.sin(squares(3 * x)))(x), np.cos(45) * 18 * x, rtol=1e-14)
    assert jax.jvp(squares, (x,), (t,))[1] == 8
    with pytest.raises(NotImplementedError, match="it can be differentiated once"):
        jax.hessian(squares)(x)


def test_what_is_the_gradient_of_what():
    x, y, n = pt.dvector("x"), pt.dscalar("y"), pt.lscalar("n")
    value = (x**2).sum() * y + n
    fn = pytensor.function([n, x, y], [value, *pytensor.grad(value, [y, x])], mode="INLAY")
    f = inlay.jax.as_jax(fn, argnums=(-1, 1))
    at = (7, jnp.array([1.0, 2.0]), 3.0)
    assert f(*at) == 22
    by_x, by_y = jax.grad(f, (1, 2))(*at)
    assert by_x.tolist() == [6, 12] and by_y == 5
    only_x = pytensor.function([n, x, y], [value, pytensor.grad(value, x)], mode="INLAY")
    f = inlay.jax.as_jax(only_x, argnums=np.int64(1))
    assert jax.grad(f, 1)(*at).tolist() == [6, 12]
    with pytest.raises(NotImplementedError, match="no derivative by argument 2, which argnums does not name"):
        jax.grad(f, 2)(*at)


def test_argnums_that_do_not_fit():
    fn = inlay.compile(SQUARES)
    for argnums, match in [
        (1, "no position among 1 arguments"),
        (True, "no position"),
        (0.0, "no position"),
        ((0, -1), "names an argument twice"),
        ((), "0 gradients, and it returns 2 results"),
    ]:
        with pytest.raises(ValueError, match=match):
            inlay.jax.as_jax(fn, argnums=argnums)
    with pytest.raises(ValueError, match="the first result must be one f32 or f64, not f64 of rank 1"):
        inlay.jax.as_jax(inlay.compile("graph @main(%x: f64[n]) {\n return %x, %x\n}"), argnums=0)
    with pytest.raises(ValueError, match="a gradient by argument 0 cannot be f64 of rank 0"):
        inlay.jax.as_jax(inlay.compile(SQUARES.replace("return %s, %g", "return %s, %s")), argnums=0)
    with pytest.raises(ValueError, match="argument 0 is i64, and derivatives are by f32 and f64"):
        cast = "graph @main(%x: i64[n]) {\n %y = cast %x : f64[n]\n %s = reduce add %y [0] : f64\n return %s, %x\n}"
        inlay.jax.as_jax(inlay.compile(cast), argnums=0)
    shorter = SQUARES.replace("%g = add %x, %x", "%g = slice %x [0:2]")
    with pytest.raises(errors.ShapeMismatch, match=r"the gradient by argument 0 has shape \(2,\), not \(3,\)"):
        jax.grad(inlay.jax.as_jax(inlay.compile(shorter), argnums=0))(jnp.arange(3.0))


def test_a_function_without_a_gradient_says_so():
    f = inlay.jax.as_jax(inlay.compile(EXP))
    for derivative in (jax.grad(lambda x: f(1.0, x).sum()), lambda x: jax.jvp(f, (1.0, x), (0.0, x))):
        with pytest.raises(NotImplementedError, match="the function has no derivative: .*argnums"):
            derivative(jnp.ones(3))
    # Beside what is differentiated it may stand.
    np.testing.assert_array_equal(jax.grad(lambda x: (x * f(0.0, np.ones(3))).sum())(jnp.ones(3)), np.ones(3))


def test_what_does_not_fit_is_refused_where_it_is_traced():
    f = inlay.jax.as_jax(inlay.compile("graph @main(%x: f64[n], %y: f64[n]) {\n %z = add %x, %y\n return %z\n}"))
    ok = jnp.ones(3)
    with pytest.raises(errors.WrongDtype, match=r'x: an array of int64 where f64 .*\n.*x.astype\("float64"\)'):
        f(np.arange(3), ok)
    with pytest.raises(errors.WrongRank, match=r"x: an array of rank 2, \[1, 3\], where rank 1"):
        jax.jit(f)(jnp.ones((1, 3)), ok)
    with pytest.raises(errors.ShapeMismatch, match="y: dim 0 is 2, but n is 3, bound by dim 0 of x"):
        f(ok, jnp.ones(2))
    with pytest.raises(errors.WrongArgumentCount, match="takes 2 arguments, not 1"):
        f(ok)
    jax.config.update("jax_enable_x64", False)
    with pytest.raises(errors.WrongDtype, match=r"arrays of f64, which JAX makes narrower\n.*jax_enable_x64"):
        f(np.ones(3), np.ones(3))


def test_what_cannot_be_a_function_of_jax():
    with pytest.raises(TypeError, match="is not a function that inlay compiled"):
        inlay.jax.as_jax(np.sin)
    count = pytensor.shared(0.0, name="count")
    x = pt.dvector("x")
    with pytest.raises(NotImplementedError, match="a call would not update count"):
        inlay.jax.as_jax(pytensor.function([x], x, updates={count: count + 1}, mode="INLAY"))
    with pytest.raises(NotImplementedError, match="the size of result 0 is found only while the function runs"):
        inlay.jax.as_jax(pytensor.function([x], x[x > 0], mode="INLAY"))
    donated = inlay.compile("graph @main(%x: f64[n] donated) {\n %y = exp %x\n return %y\n}")
    with pytest.raises(NotImplementedError, match="a call may overwrite x, which is donated"):
        inlay.jax.as_jax(donated)


def test_a_failed_check_is_an_error_of_jax_with_its_numbers():
    x, i = pt.dvector("x"), pt.lvector("i")
    fn = pytensor.function([x, i], x[i] * 2, mode="INLAY")
    f = jax.jit(inlay.jax.as_jax(fn))
    x, bad = np.zeros(3), np.array([0, 3])
    with pytest.raises(IndexError) as python:
        fn(x, bad)
    with pytest.raises(FAILED) as xla:
        jax.block_until_ready(f(x, bad))
    first = str(python.value).splitlines()[0]
    assert "index 3 is out of bounds for axis 0 with size 3" in first
    assert first in str(xla.value) and "INVALID_ARGUMENT" in str(xla.value)
    np.testing.assert_array_equal(f(x, np.array([0, 2])), [0, 0])  # as usable as before
    with pytest.raises(FAILED, match="index 7 is out of bounds"):
        jax.block_until_ready(jax.vmap(f, (None, 0))(x, np.array([[0, 1], [0, 7]])))


def test_host_calls_and_their_exceptions():
    def twice(x):
        if x[0] > 5:
            raise ArithmeticError(f"{x[0]} is too much")
        return 2 * x

    text = 'graph @main(%x: f64[n]) {\n %y = host_call "twice" (%x) : f64[n]\n %z = add %y, %x\n return %z\n}'
    f = jax.jit(inlay.jax.as_jax(inlay.compile(text, host_functions={"twice": twice})))
    np.testing.assert_array_equal(f(np.ones(2)), [3, 3])
    with pytest.raises(FAILED, match="a host call failed: ArithmeticError: 7.0 is too much"):
        jax.block_until_ready(f(np.full(2, 7.0)))


def test_eight_threads_at_once(squares):
    points = np.random.default_rng(1).normal(size=(8, 5000))
    call = jax.jit(jax.value_and_grad(squares))
    wanted = [call(x) for x in points]
    wrong = []

    def work(i):
        for _ in range(100):
            value, gradient = call(points[i])
            if value != wanted[i][0] or not np.array_equal(gradient, wanted[i][1]):
                wrong.append(i)

    on_eight_threads(work)
    assert wrong == []


def test_what_xla_compiled_keeps_the_function_and_lets_it_go():
    class Bound:
        def __call__(self, x):
            return 2 * x

    host = Bound()
    gone = weakref.ref(host)
    text = 'graph @main(%x: f64[n]) {\n %y = host_call "twice" (%x) : f64[n]\n return %y\n}'
    f = inlay.jax.as_jax(inlay.compile(text, host_functions={"twice": host}))
    executable = jax.jit(lambda x: f(x)).lower(np.ones(2)).compile()
    del f, host
    inlay.jax._TRACED.clear()
    jax.clear_caches()
    gc.collect()
    np.testing.assert_array_equal(executable(np.ones(2)), [2, 2])
    assert gone() is not None
    del executable
    inlay.jax._TRACED.clear()
    jax.clear_caches()
    gc.collect()
    assert gone() is None


def test_what_was_lowered_is_compiled_later():
    """Nobody but inlay keeps the function then."""
    lowered = jax.jit(inlay.jax.as_jax(inlay.compile(EXP))).lower(0.0, np.ones(2))
    gc.collect()
    assert lowered.compile()(0.0, np.ones(2)).tolist() == [1, 1]


def test_what_was_traced_again_is_kept_longer():
    fs = [inlay.jax.as_jax(inlay.compile(EXP)) for _ in range(17)]
    for f in fs[:16]:
        jax.jit(f).lower(0.0, np.ones(2))
    lowered = jax.jit(fs[0]).lower(0.0, np.ones(3))  # of another size, or JAX traces nothing
    jax.jit(fs[16]).lower(0.0, np.ones(2))
    del fs, f
    gc.collect()
    assert lowered.compile()(0.0, np.ones(3)).tolist() == [1, 1, 1]


def test_numbers_of_python_are_cast_eagerly_and_traced():
    f = inlay.jax.as_jax(inlay.compile(EXP))
    x = np.zeros(2)
    for call in (f, jax.jit(f)):
        assert call(2, x).tolist() == call(2.0, x).tolist() == [1, 1]
        with pytest.raises(errors.WrongDtype):
            call(2j, x)
        with pytest.raises(errors.WrongDtype):
            call(np.float32(2), x)
    shifted = inlay.jax.as_jax(inlay.compile("graph @main(%k: u32, %x: u32[n]) {\n %y = add %x, %k\n return %y\n}"))
    for call in (shifted, jax.jit(shifted)):
        assert call(2, np.ones(2, "uint32")).tolist() == [3, 3]


def test_two_functions_of_one_signature_are_told_apart():
    fs = [
        jax.jit(inlay.jax.as_jax(inlay.compile(f"graph @main(%x: f64[n]) {{\n %y = {op} %x, %x\n return %y\n}}")))
        for op in ("add", "mul")
    ]
    assert [float(f(np.full(1, 3.0))[0]) for f in fs] == [6, 9]


OF_A_FILE = """
import sys
import inlay, jax, numpy as np
jax.config.update("jax_enable_x64", True)
import inlay.jax
f = inlay.jax.as_jax(inlay.load(sys.argv[1]), argnums=0)
value, gradient = jax.jit(jax.value_and_grad(f))(np.arange(3.0))
assert value == 5 and gradient.tolist() == [0, 2, 4]
maps = open("/proc/self/maps").read()
assert "libinlay_jit" not in maps and "pytensor" not in sys.modules
"""


def test_of_a_file_without_llvm_and_without_pytensor(tmp_path):
    fn = inlay.compile(SQUARES)
    inlay.save(fn, tmp_path / "squares")
    subprocess.run([sys.executable, "-c", OF_A_FILE, str(tmp_path / "squares")], check=True, timeout=120)
    again = inlay.jax.as_jax(pickle.loads(pickle.dumps(fn)), argnums=0)
    assert again(jnp.arange(3.0)) == 5


def schools():
    """Eight schools, non-centred."""
    y = np.array([28.0, 8, -3, 7, -1, 1, 18, 12])
    sigma = np.array([15.0, 10, 16, 11, 9, 11, 10, 18])
    with pm.Model() as model:
        mu, tau = pm.Normal("mu", 0, 5), pm.HalfNormal("tau", 5)
        z = pm.Normal("z", shape=8)
        pm.Normal("y", pm.Deterministic("theta", mu + tau * z), sigma, observed=y)
    return model


def hypergeometric():
    """With Gauss's hypergeometric function, whose gradient PyTensor's JAX backend does not have."""
    x = np.linspace(0.1, 0.6, 20)
    y = 0.3 + 1 / (1 - x) ** 0.7 + 0.05 * np.random.default_rng(1).normal(size=20)
    with pm.Model() as model:
        a = pm.HalfNormal("a", 1)
        b = pm.Normal("b")
        pm.Normal("y", b + pt.hyp2f1(a, 1.0, 1.0, x), 0.05, observed=y)
    return model


def test_the_log_density_of_a_model():
    model = models.radon()
    logp = inlay.jax.log_density(model)
    point = model.initial_point(1)
    value, gradient = jax.jit(jax.value_and_grad(logp))(point)
    np.testing.assert_allclose(value, model.compile_logp(mode="FAST_COMPILE")(point), rtol=1e-12)
    wanted = model.compile_dlogp(mode="FAST_COMPILE")(point)
    got = np.concatenate([np.ravel(gradient[v.name]) for v in model.value_vars])
    np.testing.assert_allclose(got, wanted, rtol=1e-9, atol=1e-12)
    with pytest.raises(KeyError, match="the log density is one of mu_alpha, .*, not of x"):
        logp({"x": 1.0})


def test_models_that_have_no_log_density_here():
    with pytest.raises(TypeError, match="log_density takes a PyMC model"):
        inlay.jax.log_density(np.sin)
    with pm.Model() as not_derivable:
        pm.Potential("p", pt.jv(pm.Normal("order"), 2.0))
    with pytest.raises(NotImplementedError, match="PyTensor cannot derive the gradient of the log density: .* jv op"):
        inlay.jax.log_density(not_derivable)
    with pm.Model() as model:
        pm.Poisson("k", 3)
    with pytest.raises(NotImplementedError, match="a gradient is of continuous variables only: k is int64"):
        inlay.jax.log_density(model)


def test_jax_has_not_what_the_model_needs():
    with pytest.raises(NotImplementedError, match="2F1"):
        hypergeometric().compile_dlogp(mode="JAX")


DRAWS = 1000


def sampled_by_blackjax(model):
    blackjax = pytest.importorskip("blackjax")
    logp = inlay.jax.log_density(model)
    start = {name: jnp.asarray(value) for name, value in model.initial_point().items()}

    def chain(key):
        for_warmup, for_draws = jax.random.split(key)
        warmup = blackjax.window_adaptation(blackjax.nuts, logp)
        (state, parameters), _ = warmup.run(for_warmup, start, num_steps=DRAWS)
        step = blackjax.nuts(logp, **parameters).step
        return jax.lax.scan(lambda s, k: (step(k, s)[0],) * 2, state, jax.random.split(for_draws, DRAWS))[1].position

    return jax.jit(jax.vmap(chain))(jax.random.split(jax.random.PRNGKey(1), 2))


def sampled_by_numpyro(model):
    infer = pytest.importorskip("numpyro.infer")
    logp = inlay.jax.log_density(model)
    kernel = infer.NUTS(potential_fn=lambda point: -logp(point))
    sizes = {"num_warmup": DRAWS, "num_samples": DRAWS, "num_chains": 2}
    mcmc = infer.MCMC(kernel, **sizes, chain_method="sequential", progress_bar=False)
    start = {name: jnp.stack([jnp.asarray(value)] * 2) for name, value in model.initial_point().items()}
    mcmc.run(jax.random.PRNGKey(2), init_params=start)
    return mcmc.get_samples(group_by_chain=True)


def in_the_models_space(model, samples):
    """By another function of the same model, also through JAX."""
    variables = model.unobserved_value_vars
    fn = model.compile_fn(variables, inputs=model.value_vars, mode="INLAY", point_fn=False)
    of_draw = inlay.jax.as_jax(fn)
    values = jax.vmap(jax.vmap(of_draw))(*(samples[v.name] for v in model.value_vars))
    return {v.name: np.asarray(x) for v, x in zip(variables, values, strict=True)}


def assert_one_posterior(ours, theirs, names):
    """Means differ by at most four standard errors, each from the effective sample size of its own draws."""
    for name in names:
        a, b = np.asarray(ours[name]), np.asarray(theirs[name])
        for index in np.ndindex(a.shape[2:]):
            one, other = a[(..., *index)], b[(..., *index)]
            variance = sum(x.var() / float(az.ess(x)) for x in (one, other))
            assert abs(one.mean() - other.mean()) < 4 * np.sqrt(variance), (name, index)


@pytest.mark.parametrize("sampler", [sampled_by_blackjax, sampled_by_numpyro])
@pytest.mark.parametrize("make, names", [(schools, ["mu", "tau", "theta"]), (hypergeometric, ["a", "b"])])
def test_samplers_of_jax_find_the_posterior(sampler, make, names):
    model = make()
    ours = in_the_models_space(model, sampler(model))
    with inlay.pytensor.default_mode():
        quiet = {"random_seed": 3, "progressbar": False, "model": model}
        trace = pm.sample(DRAWS, tune=DRAWS, chains=2, cores=1, nuts_sampler="pymc", **quiet)
    assert_one_posterior(ours, {name: trace.posterior[name].values for name in names}, names)
