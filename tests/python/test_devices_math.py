"""The math of C for small machines: floats by functions of floats, and doubles where there is no instruction for them."""

import ctypes
import json
import re
import subprocess
import sys
from pathlib import Path

import inlay
import numpy as np
import pytest
from test_devices import on_boards, on_boards_with_floats, program_of, require_no_library

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import devices  # noqa: E402

FUNCTIONS = ROOT / "src" / "backend" / "c" / "functions"
SINGLES = re.findall(r"float (\w+)_single\(", (FUNCTIONS / "single.c").read_text())
FLOATS = re.findall(r"float (\w+)_f32\(", (FUNCTIONS / "elementary.c").read_text())
SPECIAL = np.array([0, -0.0, 1, -1, 0.5, 2, -3.5, 1e-45, 3e38, np.inf, -np.inf, np.nan], np.float32)


@pytest.mark.parametrize("name", sorted({*SINGLES, *FLOATS, "floor", "sqrt", "div", "sign", "mod", "max", "clip"}))
def test_a_function_of_floats_knows_no_double(name, tmp_path):
    ops = {op["name"]: op for op in json.loads(devices.run(devices.TOOL, "list", "ops", "--json"))}
    _, code = inlay.export(program_of(ops[name], "f32"), tmp_path, name=f"op_{name}", freestanding=True)
    devices.run("cc", *devices.STRICT, "-Wdouble-promotion", "-fsyntax-only", "-I", tmp_path, code)
    text = re.sub(r"/\*.*?\*/", "", code.read_text(), flags=re.DOTALL)
    lines = [line for line in text.splitlines() if re.search(r"\bdouble\b", line)]
    assert [line for line in lines if not re.match(r"double \w+\(double\);|static const double kSinLimit", line)] == []


def test_the_other_form_is_as_it_was(tmp_path):
    text = program_of({"name": "arctan", "arity": 1}, "f32")
    assert "(float)arctan_f64(" in inlay.export(text, tmp_path, name="f")[1].read_text()
    assert "arctan_single(" in inlay.export(text, tmp_path, name="f", freestanding=True)[1].read_text()


def arguments(arity):
    """Of all sizes, near 0, and each special number with each."""
    rng = np.random.default_rng(arity)
    spread = [SPECIAL] if arity == 1 else [a.ravel() for a in np.meshgrid(SPECIAL, SPECIAL)]
    any_float = rng.integers(0, 2**32, (arity, 20000), np.uint32).view(np.float32)
    near = 3 * rng.standard_normal((arity, 20000), np.float32)
    return [np.concatenate(parts) for parts in zip(any_float, near, spread, strict=True)]


@pytest.mark.parametrize("name", SINGLES)
def test_libms_functions_of_floats_are_near_doubles(name, tmp_path):
    arity = 2 if name in ("arctan2", "pow", "xlogy", "xlog1py", "logaddexp") else 1
    given = arguments(arity)
    text = program_of({"name": name, "arity": arity}, "f32").replace("[5]", f"[{given[0].size}]")
    _, code = inlay.export(text, tmp_path, "shared", name=f"op_{name}", freestanding=True)
    got = np.zeros(given[0].size, np.float32)
    addresses = [ctypes.c_void_p(array.ctypes.data) for array in (*given, got)]
    assert getattr(ctypes.CDLL(str(code)), f"op_{name}")(*addresses, None) == 0

    with np.errstate(over="ignore", invalid="ignore"):
        exact = inlay.compile(text.replace("f32", "f64"))(*(array.astype(float) for array in given))
        wanted = exact.astype(np.float32)
    is_finite = np.isfinite(wanted)
    np.testing.assert_array_equal(got[~is_finite], wanted[~is_finite])
    size = np.abs(wanted)[is_finite]
    if name == "logaddexp":  # the larger operand and the logarithm cancel, whose argument has the error of a difference
        size = np.maximum(size, np.minimum(np.maximum(*np.abs(given))[is_finite], 20))
    error = np.abs(got[is_finite] - exact[is_finite]) / np.spacing(np.maximum(size, np.float32(1e-37)))
    assert error.max() < 4


@on_boards_with_floats
def test_linear_algebra_of_floats_calls_nothing_of_doubles(board, tmp_path):
    text = """graph @f(%a: f32[20, 20], %b: f32[20]) {
  %l = cholesky %a
  %p = matmul %a, %a
  %x = solve %a, %b
  return %l, %p, %x
}"""
    inlay.export(text, tmp_path, freestanding=True)
    called = devices.undefined(board, devices.compile_for(board, "f", tmp_path))
    quotients = {"__aeabi_ldivmod", "__aeabi_uldivmod", "__divdi3", "__moddi3", "__udivdi3", "__umoddi3"}
    assert called <= {"memset", "memcpy"} | quotients


MAIN = """
#include "f.h"
#include "arena.h"
#include "device.h"
ARENA_OF_PROGRAM(f);
static double x[40];
static union {
  double doubles[40];
  float halves[80];
} y[4];
int main(void) {
  for (int i = 0; i < 40; ++i) x[i] = 0.37 * (i - 20) + 0.001 * i * i;
  require_ok(f(x, y[0].doubles, y[1].doubles, y[2].doubles, y[3].doubles, ARENA(f)));
  for (int k = 0; k < 4; ++k) show("y", y[k].halves, 80);
  return 0;
}
"""


@on_boards
def test_doubles_are_those_of_a_host_without_fused_multiply_adds(board, tmp_path):
    """Two of the boards have the instruction for floats, and a C library's fma of doubles may round twice."""
    text = "graph @f(%x: f64[40]) {\n  %a = exp %x\n  %b = log1p %a\n  %c = tanh %x\n  %d = cbrt %x\n  return %a, %b, %c, %d\n}"
    inlay.export(text, tmp_path, freestanding=True)
    (tmp_path / "f.main.c").write_text(MAIN)
    host = ["cc", "-std=c99", "-O2", "-ffp-contract=off", "-fno-strict-aliasing", "-I", tmp_path, "-I", devices.HERE]
    devices.run(*host, tmp_path / "f.main.c", tmp_path / "f.c", devices.HERE / "host.c", "-lm", "-o", tmp_path / "host")
    printed = [line.split() for line in devices.run(tmp_path / "host").splitlines()]
    assert len(devices.numbers(printed)) == 320
    assert devices.emulate(board, devices.link(board, "f", tmp_path, tmp_path / "f.main.c"))[0] == printed
    assert "fma" not in devices.undefined(board, devices.compile_for(board, "f", tmp_path))


MAIN_OF_FLOATS = """
#include "f.h"
#include "arena.h"
#include "device.h"
ARENA_OF_PROGRAM(f);
static float x[40], y[40];
int main(void) {
  for (int i = 0; i < 40; ++i) x[i] = 0.023f * (float)(i + 1);
  require_ok(f(x, y, ARENA(f)));
  show("y", y, 40);
  return 0;
}
"""


@on_boards
@pytest.mark.parametrize("name", sorted(set(SINGLES) - {"log1mexp", "arccosh", "arctan2", "logaddexp"}))
def test_libm_is_linked_for_a_board_and_no_other_library(name, board, tmp_path):
    arity = 2 if name in ("pow", "xlogy", "xlog1py") else 1
    text = f"graph @f(%x: f32[40]) {{\n  %y = {name} {', '.join(['%x'] * arity)}\n  return %y\n}}"
    inlay.export(text, tmp_path, freestanding=True)
    (tmp_path / "f.main.c").write_text(MAIN_OF_FLOATS)
    program = devices.link(board, "f", tmp_path, tmp_path / "f.main.c")
    x = np.float32(0.023) * np.arange(1, 41, dtype=np.float32)
    exact = inlay.compile(text.replace("f32", "f64"))(x.astype(float))
    np.testing.assert_allclose(devices.numbers(devices.emulate(board, program)[0]), exact, rtol=1e-6)
    require_no_library(board, program)
