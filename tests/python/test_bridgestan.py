"""Clients of Stan that know nothing of inlay open a PyMC model: bridgestan's own, walnutpie, and a C program."""

import ctypes
import inspect
import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import inlay.pymc
import models
import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
import pytest
from test_export import COMPILERS
from test_locale import LOCALE, locales  # noqa: F401

pytestmark = pytest.mark.filterwarnings("ignore::pymc.exceptions.ImputationWarning")
bridgestan = pytest.importorskip("bridgestan", reason="bridgestan, Stan's client, is not installed")


def radon():
    with models.radon() as model:
        pm.Deterministic("twice", 2 * model["alpha"])
    return model


def transforms():
    """Each kind of transform, also one that depends on other variables, and a matrix."""
    with pm.Model() as model:
        low = pm.Normal("low")
        width = pm.HalfNormal("width")
        between = pm.Uniform("between", low, low + width)
        part = pm.Beta("part", 2, 3, shape=2)
        pm.Normal("cuts", 0, 3, shape=4, transform=pm.distributions.transforms.ordered, initval=np.arange(4.0))
        shares = pm.Dirichlet("shares", np.ones((2, 3)))
        table = pm.Normal("table", 0, 1, shape=(3, 2))
        pm.VonMises("angle", 0, 2)
        pm.ZeroSumNormal("zero_sum", 1, shape=4)
        pm.LKJCholeskyCov("chol", n=3, eta=2, sd_dist=pm.HalfNormal.dist(1))
        nu = pm.Gamma("nu", 2, 0.1)
        pm.Deterministic("total", shares * part[:, None])
        pm.Deterministic("count", (table > 0).sum())
        scale = pm.Data("scale", np.array([1.0, 2.0, 4.0]))
        pm.StudentT("y", nu, mu=between + scale * table[:, 0], sigma=width, observed=[0.1, 0.3, 1.2])
        pm.Potential("penalty", -pt.sqr(table).sum())
    return model


def unbounded():
    """A parameter has no transform, so the Jacobian's flag is read by nothing."""
    with pm.Model() as model:
        x = pm.Normal("x", 1, 2)
        pm.Normal("y", x, 1, observed=[0.5, 1.5])
    return model


def distributions():
    """Of many kinds, missing values, and axes of length 1 and 0."""
    with pm.Model() as model:
        pm.Flat("flat")
        pm.TruncatedNormal("truncated", lower=0, upper=1)
        pm.GaussianRandomWalk("walk", init_dist=pm.Normal.dist(), shape=5)
        pm.NormalMixture("mixture", [0.3, 0.7], [0, 1], [1, 2])
        pm.Pareto("pareto", 2, 3)
        pm.Triangular("triangular", lower=0, upper=1, c=0.5)
        pm.HalfCauchy("half_cauchy", 1, shape=(2, 1, 2))
        pm.Normal("none", shape=(2, 0))
        one = pm.Normal("one", shape=(1,))
        pm.Censored("censored", pm.Normal.dist(one[0]), lower=0, upper=None, observed=[0.0, 1.0])
        pm.Normal("y", one, observed=np.array([1.0, np.nan, 2.0]))
    return model


def gaussian_process():
    """A Cholesky factor and triangular systems, of which the gradient has more, and products of matrices."""
    with pm.Model() as model:
        x = np.linspace(0, 1, 20)[:, None]
        length = pm.InverseGamma("length", 5, 1)
        noise = pm.HalfNormal("noise")
        process = pm.gp.Marginal(cov_func=pm.HalfNormal("height") ** 2 * pm.gp.cov.Matern52(1, ls=length))
        process.marginal_likelihood("y", x, np.sin(6 * x[:, 0]), noise)
        chol, _, _ = pm.LKJCholeskyCov("chol", n=3, eta=2, sd_dist=pm.Exponential.dist(1))
        pm.MvNormal("z", np.zeros(3), chol=chol, observed=np.random.default_rng(5).normal(size=(30, 3)))
    return model


MODELS = {make.__name__: make for make in (radon, transforms, unbounded, distributions, gaussian_process)}


class Exported:
    def __init__(self, model, path):
        self.model, self.path = model, inlay.pymc.export_bridgestan(model, path)
        self.stan = bridgestan.StanModel(path)
        self.num = self.stan.param_unc_num()
        self.theta_unc = np.random.default_rng(1).normal(size=self.num)

    def point(self, theta_unc=None):
        """What PyMC's functions take."""
        theta_unc = self.theta_unc if theta_unc is None else theta_unc
        point, start = {}, 0
        for name, value in self.model.initial_point().items():
            point[name] = theta_unc[start : start + value.size].reshape(value.shape, order="F")
            start += value.size
        assert start == theta_unc.size
        return point


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    made = {}

    def of(name):
        if name not in made:
            made[name] = Exported(MODELS[name](), tmp_path_factory.mktemp("stan") / f"{name}.so")
        return made[name]

    return of


@pytest.fixture(params=MODELS)
def each(request, exported):
    return exported(request.param)


def joined(arrays):
    return np.concatenate([np.ravel(a, order="F") for a in arrays])


@pytest.mark.parametrize("jacobian", [True, False])
def test_the_log_density_and_its_gradient_are_those_of_pymc(each, jacobian):
    wanted = each.model.compile_logp(jacobian=jacobian, mode="FAST_COMPILE")(each.point())
    for propto in (True, False):  # which leaves nothing out
        got = each.stan.log_density(each.theta_unc, propto=propto, jacobian=jacobian)
        np.testing.assert_allclose(got, wanted, rtol=1e-12)
    value, gradient = each.stan.log_density_gradient(each.theta_unc, jacobian=jacobian)
    np.testing.assert_allclose(value, wanted, rtol=1e-12)
    values, logp = each.model.value_vars, each.model.logp(jacobian=jacobian)
    gradients = each.model.compile_fn(pytensor.grad(logp, values, disconnected_inputs="ignore"), mode="FAST_COMPILE")
    np.testing.assert_allclose(gradient, joined(gradients(each.point())), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("jacobian", [True, False])
def test_the_gradient_and_the_hessian_are_differences(each, jacobian):
    step, few = 1e-5, np.random.default_rng(2).permutation(each.num)[:6]
    value, gradient, hessian = each.stan.log_density_hessian(each.theta_unc, jacobian=jacobian)
    assert hessian.shape == (each.num, each.num)
    np.testing.assert_array_equal(hessian, hessian.T)
    size = max(1, np.abs(hessian).max())
    for i in few:
        ahead, behind = each.theta_unc.copy(), each.theta_unc.copy()
        ahead[i] += step
        behind[i] -= step
        (v1, g1), (v0, g0) = (each.stan.log_density_gradient(x, jacobian=jacobian) for x in (ahead, behind))
        np.testing.assert_allclose(gradient[i], (v1 - v0) / (2 * step), rtol=1e-5, atol=1e-6 * size)
        np.testing.assert_allclose(hessian[i], (g1 - g0) / (2 * step), rtol=1e-5, atol=1e-6 * size)
    vector = np.random.default_rng(3).normal(size=each.num)
    same, product = each.stan.log_density_hessian_vector_product(each.theta_unc, vector, jacobian=jacobian)
    np.testing.assert_allclose(same, value, rtol=1e-12)
    np.testing.assert_allclose(product, hessian @ vector, rtol=1e-9, atol=1e-10 * size)


def test_parameters_are_constrained_as_by_pymc_and_back(each):
    wanted = each.model.compile_fn(
        each.model.replace_rvs_by_values([*each.model.free_RVs, *each.model.deterministics]), mode="FAST_COMPILE"
    )(each.point())
    names = [v.name for v in [*each.model.free_RVs, *each.model.deterministics]]
    all_names = each.stan.param_names(include_tp=True)
    assert list(dict.fromkeys(name.split(".")[0] for name in all_names)) == [name for name in names if name != "none"]
    for include_tp, arrays in [(True, wanted), (False, wanted[: len(each.model.free_RVs)])]:
        theta = each.stan.param_constrain(each.theta_unc, include_tp=include_tp)
        np.testing.assert_allclose(theta, joined(arrays), rtol=1e-12, atol=1e-15)
        assert each.stan.param_num(include_tp=include_tp) == theta.size
        assert each.stan.param_names(include_tp=include_tp) == all_names[: theta.size]
    np.testing.assert_allclose(each.stan.param_unconstrain(theta), each.theta_unc, rtol=1e-9, atol=1e-9)
    by_name = {name: np.asarray(a).tolist() for name, a in zip(names, wanted, strict=True)}  # deterministics are skipped
    for given in (by_name, json.dumps(by_name, indent=1)):
        np.testing.assert_allclose(each.stan.param_unconstrain_json(given), each.theta_unc, rtol=1e-9, atol=1e-9)


def test_names_and_numbers(exported):
    stan = exported("transforms").stan
    names = stan.param_names()
    assert names[:5] == ["low", "width", "between", "part.1", "part.2"]
    assert [n for n in names if "table" in n] == [f"table.{i}.{k}" for k in (1, 2) for i in (1, 2, 3)]
    assert [n for n in stan.param_unc_names() if "shares" in n] == ["shares.1.1", "shares.2.1", "shares.1.2", "shares.2.2"]
    assert len(stan.param_unc_names()) == stan.param_unc_num() == 30
    assert stan.param_names(include_tp=True, include_gq=True) == stan.param_names(include_tp=True)
    assert stan.param_names(include_tp=True)[-1] == "count"
    assert stan.name() == "transforms" and stan.model_version() == (2, 9, 0)
    assert "STAN_THREADS=true" in stan.model_info()  # walnutpie asks


def test_any_number_of_threads(exported):
    """Also more than there is working memory kept for."""
    each = exported("transforms")
    points = np.random.default_rng(4).normal(size=(100, each.num))
    wanted = [each.stan.log_density_gradient(x)[1] for x in points]

    def all_points(_):
        return all(np.array_equal(each.stan.log_density_gradient(x)[1], w) for x, w in zip(points, wanted, strict=True))

    with ThreadPoolExecutor(100) as pool:
        assert all(pool.map(all_points, range(100)))


UNCONSTRAIN_ERRORS = [
    ({"width": -1.0}, "width has a value outside of its support"),
    ({"angle": 10.0}, "angle has a value outside of its support"),
    ({"part": [0.5, 1.5]}, "part.2 has a value outside of its support"),
    ({"shares": [[0.2, 0.3, 0.5], [0.2, 0.3, 0.6]]}, "shares has values outside of its support"),
    ({"zero_sum": [1, 1, 1, 1]}, "zero_sum has values outside of its support"),
    ({"part": [0.5]}, "of part, a list of 2 is expected at character"),
    ({"part": [0.5, 0.5, 0.5]}, "of part, a list of 2 is expected at character"),
    ({"part": 0.5}, "of part, a list of 2 is expected at character"),
    ({"low": [0.5]}, "of low, a number is missing at character"),
    ({"low": "x"}, "of low, a text is no number at character"),
    ({"low": None}, "of low, a number is missing at character"),
    ({"table": [[1, 2, 3], [4, 5, 6]]}, "of table, a list of 2 is expected at character"),
]


@pytest.mark.parametrize("given, said", UNCONSTRAIN_ERRORS, ids=[str(given) for given, _ in UNCONSTRAIN_ERRORS])
def test_values_that_no_point_has(given, said, exported):
    each = exported("transforms")
    names, theta = each.stan.param_names(), each.stan.param_constrain(each.theta_unc)
    values = {}
    for name, number in zip(names, theta, strict=True):
        values.setdefault(name.split(".")[0], []).append(number)
    shapes = {rv.name: tuple(rv.shape.eval()) for rv in each.model.free_RVs}
    values = {name: np.reshape(v, shapes[name], order="F").tolist() for name, v in values.items()}
    each.stan.param_unconstrain_json(json.dumps(values))
    with pytest.raises(RuntimeError) as caught:
        each.stan.param_unconstrain_json(json.dumps(values | given))
    assert str(caught.value).startswith(f"param_unconstrain_json: {said}")


def test_json(exported):
    stan = exported("unbounded").stan
    for text, value in [
        ('{"x": 1.5}', 1.5), (' {"y":{"a":[1,"b",null,{}],"c":true},"x":-2e3} ', -2000.0), (r'{"\u0078": 0.25}', 0.25),
        ('{"x": "-inf"}', -np.inf), ('{"x": "Infinity"}', np.inf), ('{"x": 1, "x": 2}', 2.0), (r'{"\"\\\ud83d\ude00": 1, "x": 3}', 3.0),
    ]:  # fmt: skip
        assert stan.param_unconstrain_json(text) == [value]
    for text, said in [
        ("{}", "there is no value for x"), ("[1]", 'an object {"name": value, ...} is expected at character 1'),
        ('{"x": 1', "the object is not closed at character 8"), ('{"x": 1} 2', "the object is not the end at character 10"),
        ('{"x" 1}', "of x, a colon is missing at character 6"), ('{x: 1}', "a name is missing at character 2"),
        ('{"x', "a text has no end at character 4"), ('{"a": ' + "[" * 100, "of a, lists are too deep"), ('{"\\q": 1}', "a backslash has no meaning"),
    ]:  # fmt: skip
        with pytest.raises(RuntimeError) as caught:
            stan.param_unconstrain_json(text)
        assert str(caught.value).startswith(f"param_unconstrain_json: {said}")
    whole = '{"x": [1.5, {"a\\u00e9": "b"}], "y": -1e5}'
    for end in range(len(whole)):
        with pytest.raises(RuntimeError):
            stan.param_unconstrain_json(whole[:end])


def test_damaged_json(exported):
    """Is an error or other numbers; what is read beyond the end shows in libFuzzer or nowhere."""
    stan = exported("transforms").stan
    theta_unc = np.zeros(stan.param_unc_num())
    whole = json.dumps({"low": 0.5, "table": [[1, 2], [3, 4], [5, 6e-1]], "é": {"b": [True, None, "x\n"]}}).encode()
    rng, outcomes = np.random.default_rng(6), set()
    for _ in range(3000):
        text = bytearray(whole)
        text[rng.integers(len(text))] = rng.choice(list(b'[]{}",:\\ue0-\x01\xff '))
        try:
            stan.param_unconstrain_json(text.decode("latin-1"), out=theta_unc)
        except RuntimeError as error:
            outcomes.add(str(error).split(" at character")[0])
    assert {"param_unconstrain_json: there is no value for width", "param_unconstrain_json: a name is missing"} < outcomes


def test_json_where_numbers_have_a_comma(exported, locales):  # noqa: F811
    program = f"""
import locale, bridgestan
locale.setlocale(locale.LC_ALL, {LOCALE!r})
assert locale.localeconv()["decimal_point"] == ","
model = bridgestan.StanModel({str(exported("unbounded").path)!r})
assert model.param_unconstrain_json('{{"x": 1.5}}') == [1.5]
"""
    environment = os.environ | {"LOCPATH": str(locales)}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment, timeout=120)
    assert done.returncode == 0, done.stderr


def test_starting_points(exported):
    each = exported("transforms")
    first, second = (each.stan.param_initialize(each.stan.new_rng(seed)) for seed in (1, 2))
    assert not np.array_equal(first, second) and np.abs([first, second]).max() <= 2
    np.testing.assert_array_equal(each.stan.param_initialize(each.stan.new_rng(1)), first)
    assert np.abs(each.stan.param_initialize(each.stan.new_rng(1), init_radius=0)).max() == 0
    shares = [[0.2, 0.3, 0.5], [0.1, 0.1, 0.8]]
    # `between` depends on `low`, which is given, and on `width`, which is not
    start = each.stan.param_initialize(each.stan.new_rng(1), {"shares": shares, "low": 0.5, "between": 0.6})
    values = dict(zip(each.stan.param_names(), each.stan.param_constrain(start), strict=True))
    np.testing.assert_allclose([values["low"], values["between"], values["shares.2.3"]], [0.5, 0.6, 0.8], rtol=1e-12)
    assert start[1] == first[1]
    with pytest.raises(RuntimeError, match="param_initialize: part.1 has a value outside of its support"):
        each.stan.param_initialize(each.stan.new_rng(1), {"part": [2, 0.5]})
    with pytest.raises(RuntimeError, match="param_initialize: the radius is negative or not finite"):
        each.stan.param_initialize(each.stan.new_rng(1), init_radius=-1)


def test_no_starting_point(tmp_path):
    with pm.Model() as model:
        x = pm.Normal("x")
        pm.Potential("penalty", pt.log(-pt.sqr(x) - 1))
    stan = bridgestan.StanModel(inlay.pymc.export_bridgestan(model, tmp_path / "nowhere.so"))
    assert np.isnan(stan.log_density(np.zeros(1)))
    with pytest.raises(RuntimeError, match="its gradient is not finite at any of 100 points"):
        stan.param_initialize(stan.new_rng(1))


def test_data_lies_in_the_library(exported):
    each = exported("transforms")
    for nothing in ("", " {\n} ", {}):
        assert bridgestan.StanModel(each.path, nothing, warn=False).param_unc_num() == each.num
    with pytest.raises(RuntimeError, match="^model_construct: the data of a PyMC model lies in its library: leave `data` out$"):
        bridgestan.StanModel(each.path, {"N": 1}, warn=False)


C_PROGRAM = """
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long allocations;
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
void* malloc(size_t n) { ++allocations; return __libc_malloc(n); }
void* calloc(size_t n, size_t m) { ++allocations; return __libc_calloc(n, m); }
void* realloc(void* p, size_t n) { ++allocations; return __libc_realloc(p, n); }
int posix_memalign(void** p, size_t a, size_t n) { ++allocations; *p = __libc_memalign(a, n); return *p == NULL; }

int main(int argc, char** argv) {
  void* library = dlopen(argv[1], RTLD_NOW);
  void* (*construct)(const char*, unsigned, char**) = dlsym(library, "bs_model_construct");
  int (*num)(void*) = dlsym(library, "bs_param_unc_num");
  int (*density)(void*, _Bool, _Bool, const double*, double*, char**) = dlsym(library, "bs_log_density");
  int (*gradient)(void*, _Bool, _Bool, const double*, double*, double*, char**) = dlsym(library, "bs_log_density_gradient");
  void (*destruct)(void*) = dlsym(library, "bs_model_destruct");
  void* model = construct(argc > 2 ? argv[2] : NULL, 1, NULL);
  const int n = num(model);
  double *x = calloc(n, sizeof *x), *g = calloc(n, sizeof *g), value;
  if (density(model, 1, 1, x, &value, NULL) || gradient(model, 1, 1, x, &value, g, NULL)) return 1;
  const long before = allocations;
  for (int i = 0; i < 1000; ++i) {
    x[0] = i * 1e-3;
    if (density(model, 1, i % 2, x, &value, NULL) || gradient(model, 1, i % 2, x, &value, g, NULL)) return 1;
  }
  printf("%d %ld %ld\\n", n, before > 0, allocations - before);
  destruct(model);
  return 0;
}
"""


def test_a_c_program_samples_without_allocating(exported, tmp_path):
    (tmp_path / "main.c").write_text(C_PROGRAM)
    subprocess.run(["cc", "-O1", "-rdynamic", tmp_path / "main.c", "-ldl", "-o", tmp_path / "main"], check=True)
    for name in MODELS:
        each = exported(name)
        done = subprocess.run([tmp_path / "main", each.path], capture_output=True, text=True, check=True, timeout=60)
        assert done.stdout == f"{each.num} 1 0\n"


@pytest.mark.parametrize("compiler", COMPILERS)
def test_compilers_have_nothing_to_say(compiler, tmp_path, monkeypatch):
    monkeypatch.setenv("CC", f"{compiler} -Wall -Wextra -pedantic -Werror")
    stan = Exported(unbounded(), tmp_path / "quiet.so").stan
    np.testing.assert_allclose(stan.log_density_hessian(np.zeros(1))[2], [[-2.25]], rtol=1e-15)


def test_size_and_symbols(exported):
    path = exported("radon").path
    assert path.stat().st_size <= 100_000
    listed = subprocess.run(["nm", "-D", "--defined-only", path], capture_output=True, text=True, check=True).stdout
    names = {line.split()[-1] for line in listed.splitlines()}
    asked = set(re.findall(r"\bbs_\w+", inspect.getsource(bridgestan.model)))  # by the client
    versions = {"bs_major_version", "bs_minor_version", "bs_patch_version"}
    for_r = {f"{name}_R" for name in asked - versions - {"bs_set_print_callback", "bs_param_initialize"}}
    assert asked > versions and names == asked | for_r | {"bs_version_R"}
    sections = subprocess.run(["readelf", "-SW", path], capture_output=True, text=True, check=True).stdout
    assert ".symtab" not in sections and ".init_array" not in sections
    # equal arrays lie in the file once
    data = path.read_bytes()
    level = next(value for value in exported("radon").model.rvs_to_values.values() if isinstance(value, pt.TensorConstant))
    assert data.count(level.data.tobytes()) == 1


def test_functions_for_r(exported):
    """R passes the address of everything."""
    each = exported("transforms")
    library = ctypes.CDLL(str(each.path))
    text, model, error, place, code = ctypes.c_char_p(b""), ctypes.c_void_p(), ctypes.c_char_p(), ctypes.c_void_p(), ctypes.c_int(1)
    refer, yes = ctypes.byref, ctypes.c_int(1)
    library.bs_model_construct_R(refer(text), refer(yes), refer(model), refer(error), refer(place))
    value, gradient = ctypes.c_double(), np.empty(each.num)
    library.bs_log_density_gradient_R(
        refer(model), refer(yes), refer(yes), ctypes.c_void_p(each.theta_unc.ctypes.data), refer(value),
        ctypes.c_void_p(gradient.ctypes.data), refer(code), refer(error), refer(place),
    )  # fmt: skip
    wanted = each.stan.log_density_gradient(each.theta_unc)
    assert (code.value, error.value, place.value) == (0, None, None)
    assert value.value == wanted[0] and np.array_equal(gradient, wanted[1])
    bad = ctypes.c_char_p(b"[")
    library.bs_param_unconstrain_json_R(
        refer(model), refer(bad), ctypes.c_void_p(gradient.ctypes.data), refer(code), refer(error), refer(place)
    )
    assert code.value == -1 and ctypes.string_at(place.value).startswith(b"param_unconstrain_json: ")
    library.bs_free_error_msg_R(refer(place))
    library.bs_model_destruct_R(refer(model))


def test_walnutpie_samples_it(tmp_path):
    walnutpie = pytest.importorskip("walnutpie", reason="walnutpie is not installed")
    rng = np.random.default_rng(5)
    with pm.Model() as model:
        mean = pm.Normal("mean", 0, 10)
        sd = pm.HalfNormal("sd", 10)
        pm.Deterministic("double", 2 * mean)
        pm.Normal("y", mean, sd, observed=rng.normal(3, 2, size=400))
    stan = bridgestan.StanModel(inlay.pymc.export_bridgestan(model, tmp_path / "normal.so"))
    fits = walnutpie.walnuts_stan(
        stan, seed=1, num_chains=2, min_warmup_iter=300, max_warmup_iter=300, min_sampling_iter=1000, max_sampling_iter=1000
    )
    data = model.rvs_to_values[model["y"]].eval()
    draws = {name: np.concatenate([fit[name] for fit in fits]) for name in ("mean", "sd", "double")}
    # 2000 draws, of which at least 400 are worth an independent one: five standard errors
    error = data.std() / np.sqrt(400)
    assert abs(draws["mean"].mean() - data.mean()) < 5 * error / np.sqrt(400)
    assert abs(draws["sd"].mean() - data.std()) < 0.01 + 5 * error / np.sqrt(2 * 400)
    assert 0.8 < draws["mean"].std() / error < 1.2
    np.testing.assert_allclose(draws["double"], 2 * draws["mean"], rtol=1e-15)
