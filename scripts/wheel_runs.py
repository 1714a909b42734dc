"""Installs a wheel into fresh environments, and runs it there: scripts/wheel_runs.py WHEEL [NAME...]

    numpy    with NumPy alone: a program, its import's memory, no LLVM before the first compilation, and linear algebra
             without SciPy
    import   how long importing it takes: a figure, which says nothing of an emulated processor
    damaged  the same with a code generator that is missing, cut short or something else, with a SciPy that is too old, and
             in a folder where nobody may write
    programs the program tests, by the wheel's own tool: where the repository has them
    pymc     with PyMC: a small model, by mode="INLAY"; BLAS by SciPy
    radon    examples/radon.py sampled in the same environment: its posterior is that of a build from source

The environments are made with the Python that runs this, and left in build/wheel. What is printed are figures and
errors; times are no tests.
"""

import pathlib
import subprocess
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[1]
MOST_IMPORT_MB = 25
WITH_PYMC = ["pymc", "matplotlib", "nutpie"]

NUMPY = f"""
import sys, time, resource
import numpy as np
def maps(): return open("/proc/self/maps").read()
def resident():
    return int(next(line for line in open("/proc/self/status") if line.startswith("VmRSS")).split()[1]) / 1000
before, started = resident(), time.perf_counter()
import inlay
took, grown = (time.perf_counter() - started) * 1000, resident() - before
print(f"import inlay: {{took:.0f}} ms and {{grown:.1f}} MB over NumPy's")
assert grown <= {MOST_IMPORT_MB}, "too large"
assert "site-packages" in inlay.__file__, inlay.__file__
assert "libinlay_jit" not in maps(), "LLVM is loaded by the import"
config = inlay.show_config(mode="dicts")
assert config["inlay"]["version"] == inlay.__version__ and "libinlay_jit" not in maps()
assert config["blas"]["name"] == "none", config
fn = inlay.compile("graph @main(%a: f64, %x: f64[n]) {{ %y = mul %a, %x\\n %z = exp %y\\n return %z }}")
assert "libinlay_jit" in maps() and "openblas" not in maps().replace("numpy.libs", "").replace("libscipy_openblas64", "")
x = np.linspace(0, 1, 1000)
np.testing.assert_allclose(fn(0.5, x), np.exp(0.5 * x), rtol=1e-14)
product = inlay.compile("graph @main(%a: f64[m, k], %b: f64[k, n]) {{ %c = matmul %a, %b\\n return %c }}")
a, b = np.random.default_rng(1).normal(size=(2, 40, 40))
np.testing.assert_allclose(product(a, b), a @ b, atol=1e-12)
assert "scipy" not in sys.modules
def run(results, op, *operands):
    names = [f"%{{n}}" for n in "abc"[: len(operands)]]
    params = ", ".join(f"{{n}}: f64[n, n]" for n in names)
    outs = ", ".join(f"%r{{i}}" for i in range(results))
    return inlay.compile(f"graph @main({{params}}) {{{{ {{outs}} = {{op}} {{', '.join(names)}}\\n return {{outs}} }}}}")(*operands)
positive = a @ a.T + np.eye(40)
check = lambda got, right: np.testing.assert_allclose(got, right, rtol=1e-10, atol=1e-10)
check(run(1, "cholesky", positive), np.linalg.cholesky(positive))
check(run(1, "solve", a, b), np.linalg.solve(a, b))
check(run(2, "eigh", positive)[0], np.linalg.eigh(positive)[0])
check(run(1, "singular_values", a), np.linalg.svd(a)[1])
q, r = run(2, "qr", a)
check(q @ r, a)
check(q.T @ q, np.eye(40))
in_order = lambda w: w[np.lexsort((np.round(w.imag, 6), np.round(w.real, 6)))]
check(in_order(run(1, "eigvals", a)), in_order(np.linalg.eigvals(a)))
assert "scipy" not in sys.modules and inlay.show_config(mode="dicts")["blas"]["name"] == "none"
"""

IMPORT_MS = """
import subprocess, sys
def total(module):
    lines = subprocess.run([sys.executable, "-X", "importtime", "-c", f"import numpy; import {module}"], capture_output=True,
                           text=True, check=True).stderr.splitlines()
    line = next(line for line in reversed(lines) if line.split("|")[-1] == f" {module}")
    return int(line.split("|")[1]) / 1000
alone = [total("inlay") for _ in range(15)]
print(f"import inlay, least of 15 by -X importtime: {min(alone):.1f} ms over NumPy's")
"""

DAMAGED = """
import inlay, os, pathlib, shutil, subprocess, sys, tempfile
INSTALLED = pathlib.Path(inlay.__file__).parent
EXP = "import inlay; inlay.show_config('dicts'); print(inlay.compile('graph @main(%x: f64[n]) { %y = exp %x\\\\n return %y }'))"
CHOLESKY = EXP.replace("f64[n]", "f64[n, n]").replace("exp", "cholesky")
def run_in(site, code, **more):
    return subprocess.run([sys.executable, "-B", "-c", code], env={**os.environ, "PYTHONPATH": str(site)}, cwd="/",
                          capture_output=True, text=True, **more)
def refused(damage, sentence, code=EXP):
    with tempfile.TemporaryDirectory() as folder:
        site = pathlib.Path(folder)
        shutil.copytree(INSTALLED, site / "inlay")
        damage(site, site / "inlay" / "libinlay_jit.so")
        ran = run_in(site, code)
        assert ran.returncode == 1 and "inlay.errors.Unsupported: error[unsupported]: " in ran.stderr, ran
        assert sentence in ran.stderr, ran
        print(ran.stderr[ran.stderr.index("error[") :].splitlines()[0])
def old_scipy(site, jit):
    (site / "scipy" / "linalg").mkdir(parents=True)
    (site / "scipy" / "__init__.py").write_text("__version__ = '0.1'")
    (site / "scipy" / "linalg" / "__init__.py").write_text("")
    for name in ("cython_blas", "cython_lapack"):
        (site / "scipy" / "linalg" / f"{name}.py").write_text("__pyx_capi__ = {}")
refused(lambda site, jit: jit.unlink(), "the code generator was not found")
refused(lambda site, jit: os.truncate(jit, jit.stat().st_size // 2), "the file is cut short")
refused(lambda site, jit: jit.write_bytes(b""), "file too short")
refused(lambda site, jit: shutil.copy(next((INSTALLED / "..").glob("numpy/_core/_multiarray_umath*.so")), jit),
        "has no inlay_jit_emit")
refused(old_scipy, "SciPy has no LAPACK function", CHOLESKY)
NOBODY = {"user": 65534, "group": 65534} if os.geteuid() == 0 else {}  # the file system refuses root nothing
def python_is_for_all():
    try:
        return subprocess.run([sys.executable, "-c", ""], cwd="/", **NOBODY).returncode == 0
    except PermissionError:
        return False
if python_is_for_all():
    with tempfile.TemporaryDirectory() as folder:
        site = pathlib.Path(folder)
        shutil.copytree(INSTALLED, site / "inlay")
        for path in [site, *site.rglob("*")]:
            path.chmod(path.stat().st_mode & ~0o222 | 0o444 | (0o111 if path.is_dir() else 0))
        ran = run_in(site, EXP, **NOBODY)
        assert ran.returncode == 0, ran
else:
    print("not run in a folder that is read-only: this Python is root's alone")
"""

PYMC = """
import numpy as np, pymc as pm, inlay, inlay.pytensor
import pytensor, pytensor.tensor as pt
assert "site-packages" in inlay.__file__, inlay.__file__
rng = np.random.default_rng(3)
x = rng.normal(size=200)
y = 1 + 2 * x + rng.normal(size=200)
with pm.Model() as model:
    a, b = pm.Normal("a"), pm.Normal("b")
    scale = pm.HalfNormal("scale")
    pm.Normal("y", a + b * x, scale, observed=y)
fn, plain = (model.compile_fn(model.dlogp(), mode=mode) for mode in ("INLAY", "FAST_COMPILE"))
point = model.initial_point()
np.testing.assert_allclose(fn(point), plain(point), rtol=1e-12)
with model, inlay.pytensor.default_mode():
    trace = pm.sample(200, tune=200, chains=1, progressbar=False, random_seed=1)
assert abs(float(trace.posterior["b"].mean()) - 2) < 0.3
m = pt.dmatrix("m")
v = pt.dvector("v")
cov = rng.normal(size=(30, 30)); cov = cov @ cov.T + np.eye(30)
rhs = rng.normal(size=30)
from pytensor.tensor import slinalg, nlinalg
for what in (slinalg.cholesky(m), slinalg.solve(m, v), nlinalg.eigh(m)[0], nlinalg.svd(m)[1], m @ m):
    outputs = [pytensor.function([m, v], what, mode=mode, on_unused_input="ignore")(cov, rhs) for mode in ("INLAY", "FAST_COMPILE")]
    np.testing.assert_allclose(*outputs, rtol=1e-8, atol=1e-8)
config = inlay.show_config(mode="dicts")
assert config["blas"]["name"].startswith("SciPy "), config
assert "libopenblas.so.0" not in open("/proc/self/maps").read(), "a second OpenBLAS is loaded"
inlay.show_config()
print("a model sampled, linear algebra by", config["blas"]["name"])
"""

# Means of 40 000 draws (4 chains, after 4000 each of tuning) by a build from source, and their Monte Carlo errors.
POSTERIOR = {
    "mu_alpha": (1.492667, 0.000427),
    "sigma_alpha": (0.322468, 0.000415),
    "mu_beta": (-0.649740, 0.000440),
    "sigma_beta": (0.239862, 0.001779),
    "sigma": (0.720901, 0.000095),
}

RADON = f"""
import sys
sys.path.insert(0, {str(ROOT / "examples")!r})
import inlay, numpy as np, radon
assert "site-packages" in inlay.__file__, inlay.__file__
expected = {POSTERIOR!r}
trace = radon.sample(radon.radon_model(), 1000, 1000, 4, False)
for name, (mean, error) in expected.items():
    draws = trace.posterior[name].values
    # Five standard errors, this one from the means of batches: by chance one run in 100 000 falls outside.
    batches = draws.reshape(40, 100).mean(axis=1)
    allowed = 5 * (np.var(batches, ddof=1) / 40 + error**2) ** 0.5
    got = float(draws.mean())
    assert abs(got - mean) <= allowed, f"{{name}}: {{got}}, and from a build of the source {{mean}} +- {{allowed}}"
print("radon sampled, its posterior is that of a build from source")
"""


def environment(name, wheel, packages):
    """The Python of a fresh environment with the wheel and these packages."""
    folder = ROOT / "build" / "wheel" / f"env-{name}-{sys.version_info[0]}.{sys.version_info[1]}"
    python = folder / "bin" / "python"
    if not python.exists():
        subprocess.run([sys._base_executable, "-m", "venv", folder], check=True)
    pip = [python, "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    subprocess.run([*pip, "--upgrade", *packages], check=True)
    subprocess.run([*pip, "--force-reinstall", "--no-deps", wheel], check=True)
    subprocess.run([python, "-m", "pip", "--disable-pip-version-check", "check"], check=True)
    return python


def run(python, code):
    subprocess.run([python, "-I", "-c", textwrap.dedent(code)], check=True, cwd="/")
    print("ran: a program of", python.parents[1].name, flush=True)


def run_programs(python):
    """What the linker makes of the wheel's libraries is other code than what scripts/test runs."""
    folders = [ROOT / "tests" / name for name in ("programs", "errors", "passes")]
    if all(folder.exists() for folder in folders):
        subprocess.run([python.parent / "inlay", "test", *folders], check=True, cwd="/")
        print("ran: the program tests by", python.parent / "inlay", flush=True)


def main(wheel, *names):
    wheel = pathlib.Path(wheel).resolve()
    if not names or "numpy" in names:
        run(environment("numpy", wheel, ["numpy"]), NUMPY)
    if not names or "import" in names:
        run(environment("numpy", wheel, ["numpy"]), IMPORT_MS)
    if not names or "damaged" in names:
        run(environment("numpy", wheel, ["numpy"]), DAMAGED)
    if not names or "programs" in names:
        run_programs(environment("numpy", wheel, ["numpy"]))
    if not names or "pymc" in names:
        run(environment("pymc", wheel, WITH_PYMC), PYMC)
    if not names or "radon" in names:
        run(environment("pymc", wheel, WITH_PYMC), RADON)
    print("the wheel runs")


if __name__ == "__main__":
    main(*sys.argv[1:])
