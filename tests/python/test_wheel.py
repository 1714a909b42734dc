"""What scripts/check wheel builds and runs is checked here by its parts: `show_config`, and what looks at a wheel."""

import importlib.util
import os
import re
import signal
import struct
import subprocess
import sys
import zipfile
from pathlib import Path

import inlay
import numpy as np
import pytest

ROOT = Path(__file__).parents[2]


def script(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_show_config_returns_what_it_prints(capsys):
    config = inlay.show_config(mode="dicts")
    assert list(config) == ["inlay", "cpu", "threads", "backends", "blas"]
    assert config["inlay"]["version"] == inlay.__version__
    assert config["cpu"]["level"] in ("avx512", "avx2", "sse2")
    assert set(config["backends"]["available"]) <= {"llvm", "c"}
    assert inlay.show_config() is None
    printed = capsys.readouterr().out
    for section in config.values():
        for key, value in section.items():
            assert f"  {key}: {', '.join(value) if isinstance(value, list) else value}\n" in printed


def test_show_config_where_there_is_no_scipy(monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy", None)
    found = {"links_blas": False, "blas_is_too_old": False, "blas": ""}
    assert inlay.config._blas(found)["name"] == "none"
    of_system = inlay.config._blas(found | {"links_blas": True, "blas_is_too_old": True})
    assert of_system["name"] == "BLAS and LAPACK of the system"
    assert of_system["from"].endswith("; it does not know this CPU and uses none of its vectors")


@pytest.mark.parametrize(
    ("features", "said"),
    [
        ("-nosuch", "-nosuch (nosuch is no instruction set of this CPU; where LLVM has no such feature either, compiling is an error)"),
        ("-nosuch,+nor", "-nosuch,+nor (nosuch, nor are no instruction sets of this CPU; where LLVM has no such feature"),
        ("nosuch", "INLAY_CPU_FEATURES: there is no CPU feature `nosuch`"),
        ("", "all that the CPU has"),
    ],
)
def test_show_config_says_which_features_the_cpu_does_not_have(features, said, monkeypatch):
    monkeypatch.setenv("INLAY_CPU_FEATURES", features)
    assert inlay.show_config("dicts")["cpu"]["features"].startswith(said)


def test_show_config_of_features_that_the_cpu_has_and_of_levels(monkeypatch):
    for features in ("sse2" if "x86-64" in inlay._inlay.config()["instruction_sets"] else "neon", "-" + inlay._inlay.config()["instruction_sets"][0]):
        monkeypatch.setenv("INLAY_CPU_FEATURES", features)
        assert "no instruction set" not in inlay.show_config("dicts")["cpu"]["features"]


def test_scipy_that_cannot_be_imported(tmp_path):
    """A linked BLAS is called instead; where there is none, it is an error of inlay."""
    (tmp_path / "scipy").mkdir()
    (tmp_path / "scipy/__init__.py").write_text("raise ValueError('numpy.dtype size changed')")
    code = """
import inlay, numpy as np
f = inlay.compile("graph @f(%x: f64[40, n], %y: f64[n, 40]) {\\n  %z = matmul %x, %y\\n  return %z\\n}")
assert (f(np.ones((40, 3)), np.ones((3, 40))) == 3).all()
"""
    paths = os.pathsep.join([str(tmp_path), *sys.path])
    environment = {name: value for name, value in os.environ.items() if name != "OPENBLAS_CORETYPE"} | {"PYTHONPATH": paths}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    if inlay._inlay.config()["links_blas"]:
        assert done.returncode == 0, done.stderr
    else:
        assert "SciPy cannot be imported" in done.stderr
        assert "numpy.dtype size changed" in done.stderr


@pytest.mark.parametrize("core", ["", "Prescott"])
def test_blas_that_does_not_know_the_cpu(core):
    """SciPy's is newer. What the user has chosen stays."""
    code = """
import inlay, numpy as np
before = inlay.show_config(mode="dicts")["blas"]["name"]
f = inlay.compile("graph @f(%x: f64[40, n], %y: f64[n, 40]) {\\n  %z = matmul %x, %y\\n  return %z\\n}")
x = np.arange(1600.0).reshape(40, 40)
assert np.allclose(f(x, x.T), x @ x.T)
print(before, inlay.show_config(mode="dicts")["blas"]["name"], inlay._inlay.config()["blas_is_too_old"], sep="|")
"""
    environment = {name: value for name, value in os.environ.items() if name != "OPENBLAS_CORETYPE"}
    environment |= {"OPENBLAS_CORETYPE": core} if core else {}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    before, after, too_old = done.stdout.strip().split("|")
    takes_scipy = too_old == "True" or not inlay._inlay.config()["links_blas"]
    assert before == ("SciPy" if takes_scipy else "BLAS and LAPACK of the system")
    assert after.startswith("SciPy ") if takes_scipy else after == before
    assert not (core and too_old == "True")


def test_show_config_of_an_unknown_mode():
    with pytest.raises(ValueError, match='mode is "stdout" or "dicts", not 3'):
        inlay.show_config(mode=3)


@pytest.mark.parametrize(
    "arguments, code, said",
    [
        (["--version"], 0, f"inlay {inlay.__version__}\n"),
        (["list", "passes", "--json"], 0, '"order-axes"'),
        (["opt", "missing.inlay"], 1, "error[invalid-file]"),
        (["no-such-command"], 2, "error["),
    ],
)
def test_the_module_is_the_tool(arguments, code, said):
    ran = subprocess.run([sys.executable, "-m", "inlay", *arguments], capture_output=True, text=True)
    assert ran.returncode == code and said in ran.stdout + ran.stderr, ran


def test_the_module_ends_with_who_reads_it():
    tool = [sys.executable, "-m", "inlay", "list", "ops", "--json"]
    with subprocess.Popen(tool, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as ran:
        ran.stdout.close()
        assert ran.wait() == -signal.SIGPIPE and ran.stderr.read() == b""


def test_the_module_takes_names_that_are_no_text(tmp_path):
    name = os.fsencode(tmp_path) + b"/\xff.inlay"
    Path(os.fsdecode(name)).write_text("graph @main(%x: f64[n]) { return %x }")
    ran = subprocess.run([sys.executable, "-m", "inlay", "opt", name], capture_output=True)
    assert ran.returncode == 0 and b"graph @main" in ran.stdout, ran


def test_the_module_runs_a_program(tmp_path):
    program = tmp_path / "double.inlay"
    program.write_text("graph @main(%x: f64[n]) { %y = add %x, %x\n return %y }")
    np.save(tmp_path / "x.npy", np.array([1.0, 2.0]))
    arguments = ["run", program, f"x={tmp_path / 'x.npy'}"]
    ran = subprocess.run([sys.executable, "-m", "inlay", *arguments], capture_output=True, text=True)
    assert ran.returncode == 0 and "f64[2] [2.0, 4.0]" in ran.stdout, ran


def test_neither_import_nor_show_config_loads_llvm():
    code = "import inlay; inlay.show_config('dicts'); print('libinlay_jit' in open('/proc/self/maps').read())"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


def test_scipy_has_every_routine_that_is_called():
    from scipy.linalg import cython_blas, cython_lapack

    text = (ROOT / "src" / "library" / "routines.h").read_text()
    rows = set(re.findall(r"ROW\((?:letter##)?(\w+)\)", text))
    common = set(re.findall(r"ROW\(letter##(\w+)\)", text))
    names = {letter + name for name in common for letter in "sdcz"} | (rows - common) | {"cdotu", "zdotu"}
    assert len(names) == 76
    assert names <= set(cython_blas.__pyx_capi__) | set(cython_lapack.__pyx_capi__)


def test_a_wheel_with_a_file_that_nobody_needs(tmp_path):
    wheel = tmp_path / "inlay-0.1.0-cp312-abi3-manylinux_2_34_x86_64.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("inlay/__init__.py", "")
        archive.writestr("inlay/notes.txt", "")
    with pytest.raises(SystemExit, match="error: inlay/notes.txt is not needed"):
        script("wheel_contents").main(wheel, "2.34", "1000", "1000")
    with pytest.raises(SystemExit, match="bytes, and 10 are allowed"):
        script("wheel_contents").main(wheel, "2.34", "10", "1000")


@pytest.mark.parametrize("architecture, machine", [("x86_64", 183), ("aarch64", 62)])
def test_a_wheel_with_code_of_another_architecture(tmp_path, architecture, machine):
    header = b"\x7fELF" + bytes([2, 1, 1]) + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 3, machine, 1, 0, 0, 0, 0, 64, 0, 0, 0, 0, 0)
    wheel = tmp_path / f"inlay-0.1.0-cp311-cp311-manylinux_2_34_{architecture}.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("inlay/libinlay_jit.so", header)
        archive.writestr(f"inlay/_inlay.cpython-311-{architecture}-linux-gnu.so", header)
        archive.writestr("inlay/_inlay.cpython-311-powerpc64le-linux-gnu.so", header)
    with pytest.raises(SystemExit) as said:
        script("wheel_contents").main(wheel, "2.34", "10000", "10000")
    assert said.value.code.splitlines() == [
        "error: inlay/_inlay.cpython-311-powerpc64le-linux-gnu.so is not needed",
        f"error: libinlay_jit.so is not for {architecture}",
        f"error: _inlay.cpython-311-{architecture}-linux-gnu.so is not for {architecture}",
        f"error: _inlay.cpython-311-powerpc64le-linux-gnu.so is not for {architecture}",
    ]
