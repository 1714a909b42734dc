"""mode="INLAY" by the C backend: each in a process of its own, since the environment chooses."""

import os
import subprocess
import sys

import numpy as np
import pytest

import inlay

from versions import OLD_PYTENSOR

MODEL = """
import inlay.pytensor, numpy as np, pytensor, pytensor.tensor as pt
mu, sigma, county = pt.vector("mu"), pt.scalar("sigma"), pt.lvector("county")
y = pt.vector("y")
z = (y - mu[county]) / sigma
logp = -0.5 * (z ** 2).sum() - y.shape[0] * pt.log(sigma) + pt.gammaln(sigma) + pt.erfinv(sigma / 4) + pt.j0(sigma)
outputs = [logp, *pt.grad(logp, [mu, sigma]), pt.linalg.cholesky(pt.eye(3) * sigma), z[z > 0]]
values = [np.arange(4.0), 1.5, np.array([0, 3, -1, 2, 2]), np.linspace(-1, 2, 5)]
ours = pytensor.function([mu, sigma, county, y], outputs, mode="INLAY")
assert inlay.pytensor.explain(ours).host_calls == [], inlay.pytensor.explain(ours).host_calls
theirs = pytensor.function([mu, sigma, county, y], outputs, mode="FAST_COMPILE")
for _ in range(2):
    for got, want in zip(ours(*values), theirs(*values)):
        np.testing.assert_allclose(got, want, rtol=1e-13)
try:
    ours(values[0], 1.5, np.array([0, 4, 1, 2, 2]), values[3])
except IndexError as error:
    assert "index 4 is out of bounds" in str(error), error
else:
    raise AssertionError("no error")
print("same")
"""


def python(code, **environment):
    environment = {**os.environ, **environment}
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, env=environment)


@pytest.mark.parametrize("backend", ["c", "llvm"])
def test_a_model(backend):
    done = python(MODEL, INLAY_BACKEND=backend)
    assert done.stdout == "same\n", done.stderr


COMPILE = """
import inlay
try:
    inlay.compile("graph @main(%x: f64) {\\n %y = exp %x\\n return %y\\n}")
except Exception as error:
    print(type(error).__mro__[2].__name__, error)
"""


VECTOR = COMPILE.replace("%x: f64)", "%x: f64[n])").replace("type(error).__mro__[2].__name__, error", "error")


def test_errors():
    assert python(COMPILE, INLAY_BACKEND="rust").stdout == (
        "ValueError error[unknown-name]: there is no backend `rust`\n  help: the backends are llvm and c\n"
    )
    said = python(COMPILE, INLAY_BACKEND="c", CC="no-such-compiler").stdout
    assert said.startswith("NotImplementedError error[unsupported]: the c backend found no C compiler: CC=no-such-compiler")


def test_flags_that_change_results():
    said = python(VECTOR, INLAY_BACKEND="c", INLAY_CFLAGS="-Ofast").stdout
    assert said.startswith("error[unsupported]: the C compiler failed"), said
    assert "leave out -ffast-math, which -Ofast turns on: every rounding counts here" in said


def test_no_file_is_left(tmp_path):
    done = python(COMPILE, INLAY_BACKEND="c", TMPDIR=str(tmp_path))
    assert (done.stdout, done.stderr) == ("", "")
    assert list(tmp_path.iterdir()) == []


DRAWS = """
import warnings
import inlay.pytensor, numpy as np, pytensor, pytensor.tensor as pt
warnings.simplefilter("ignore")
g = pytensor.shared(np.random.default_rng(3))
def step(x):
    after, noise = pt.random.normal(x, 1.0, rng=g).owner.outputs
    _, other = pt.random.gamma(2.0 + noise**2, 1.0, rng=g).owner.outputs
    return [other], {g: after}
out, updates = pytensor.scan(step, outputs_info=[pt.zeros(())], n_steps=9)
fn = pytensor.function([], out, updates=updates, mode="INLAY")
got = fn()
g.set_value(np.random.default_rng(3))
np.testing.assert_array_equal(got, pytensor.function([], out, updates=updates, mode="FAST_COMPILE")())
print(len(inlay.pytensor.explain(fn).draws))
"""


@pytest.mark.parametrize(
    "features, error",
    [
        ("-sse2", "error[unsupported]: INLAY_CPU_FEATURES: every x86-64 CPU has sse2"),
        ("-avx512f,avx2", "error[unknown-name]: INLAY_CPU_FEATURES: there is no CPU feature `avx2`"),
        ("haswell", "error[unknown-name]: INLAY_CPU_FEATURES: there is no CPU feature `haswell`"),
        ("neon", "error[unsupported]: INLAY_CPU_FEATURES: this CPU has no neon"),
        ("-wings", "error[unknown-name]: INLAY_CPU_FEATURES: there is no CPU feature `-wings`"),
    ],
)
def test_cpu_features_are_known(features, error):
    program = "import inlay; inlay.compile('graph @main(%x: f64[n]) { %y = exp %x; return %y }')"
    done = python(program, INLAY_BACKEND="llvm", INLAY_CPU_FEATURES=features)
    assert error in done.stderr and done.returncode == 1


@pytest.mark.parametrize("features, words", [("neon", "this CPU has no neon"), ("haswell", "there is no CPU feature `haswell`")])
def test_a_wrong_level_is_shown(features, words):
    done = python("import inlay; print(inlay.show_config('dicts')['cpu'])", INLAY_CPU_FEATURES=features)
    assert f"INLAY_CPU_FEATURES: {words}" in done.stdout, done.stderr


def test_a_level_of_the_cpu_can_be_chosen(monkeypatch):
    monkeypatch.delenv("INLAY_CPU_FEATURES", raising=False)  # which may have chosen one below the CPU's
    text = "graph @main(%x: f64[n]) { %y = exp %x; return %y }"
    x = np.linspace(-3, 3, 37)
    highest = inlay.explain(inlay.compile(text, backend="llvm")).target
    levels = ["avx512", "avx2", "sse2"]
    has = levels[next(i for i, level in enumerate(levels) if f" {level} " in highest) :]
    for level in levels:
        if level not in has:
            with pytest.raises(inlay.errors.Unsupported, match=f"(?s)this CPU has no {level}.*its level is {has[0]}"):
                inlay.compile(text, backend="llvm", cpu=level)
            continue
        fn = inlay.compile(text, backend="llvm", cpu=level)
        assert inlay.explain(fn).target.startswith(f"x86-64, {level} (")
        np.testing.assert_allclose(fn(x), np.exp(x), rtol=4e-16)  # 1 unit in the last place, and NumPy's
    with pytest.raises(inlay.errors.Unsupported, match=f"(?s)this CPU has no neon.*its level is {has[0]}"):
        inlay.compile(text, backend="llvm", cpu="neon")
    done = python(f"import inlay; print(inlay.explain(inlay.compile({text!r})).target)", INLAY_BACKEND="llvm",
                  INLAY_CPU_FEATURES="sse2")
    assert done.stdout.startswith("x86-64, sse2 ("), done.stderr


@pytest.mark.parametrize("backend", ["c", "llvm"])
def test_a_loop_that_carries_a_generator(backend):
    done = python(DRAWS, INLAY_BACKEND=backend)
    assert done.stdout == ("3\n" if OLD_PYTENSOR else "2\n"), done.stderr
