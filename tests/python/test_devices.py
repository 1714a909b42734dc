"""C for small machines: the freestanding form everywhere, and on emulated boards where there is what that needs."""

import ctypes
import json
import os
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import inlay
import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import devices  # noqa: E402

COMPILERS = [name for name in ("cc", "clang-19", "arm-none-eabi-gcc", "riscv64-unknown-elf-gcc") if shutil.which(name)]
INCLUDES = {"#include <stdbool.h>", "#include <stddef.h>", "#include <stdint.h>"}
SOURCES = [
    *devices.PROGRAMS,
    *(pytest.param(name, marks=pytest.mark.skipif(not find_spec("onnx"), reason="onnx is not installed")) for name in devices.NETWORKS),
]


def parametrized(boards):
    """A test for each of the boards that there are."""
    marks = {board: pytest.mark.skipif(bool(board.missing()), reason=f"there is no {' and no '.join(board.missing())}") for board in boards}
    return pytest.mark.parametrize("board", [pytest.param(board, marks=marks[board], id=board.cpu) for board in boards])


on_boards = parametrized(devices.BOARDS)
on_boards_with_floats = parametrized([devices.M33, devices.RV32F])
has_fma = "fma" in Path("/proc/cpuinfo").read_text().split() if Path("/proc/cpuinfo").exists() else False


def compile_strictly(compiler, code, *flags):
    out = code.with_suffix(".o")
    devices.run(compiler, *devices.STRICT, "-O2", "-ffp-contract=off", "-fno-strict-aliasing", *flags, "-I", code.parent,
                "-c", code, "-o", out)  # fmt: skip
    return out


def require_freestanding(header, code):
    for file in (header, code):
        lines = re.findall(r"^ *#include <.*", file.read_text(), re.MULTILINE)
        assert set(lines) <= INCLUDES, lines


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("name", SOURCES)
def test_a_program_compiles_without_a_hosted_c(name, compiler, tmp_path):
    devices.export(name, tmp_path)
    require_freestanding(tmp_path / f"{name}.h", tmp_path / f"{name}.c")
    compile_strictly(compiler, tmp_path / f"{name}.c")


@pytest.mark.parametrize("flags", [(), ("-mfma",)])
@pytest.mark.parametrize("name", SOURCES)
def test_it_computes_what_the_other_form_does(name, flags, tmp_path):
    if flags and not has_fma:
        pytest.skip("this CPU has no fused multiply-add")
    board = devices.M33._replace(host=flags)
    (tmp_path / "hosted").mkdir()
    (tmp_path / "free").mkdir()
    devices.export(name, tmp_path / "free")
    devices.export(name, tmp_path / "hosted", freestanding=False)
    assert "#include <math.h>" in (tmp_path / "hosted" / f"{name}.c").read_text()
    printed = devices.on_host(board, name, tmp_path / "free")
    assert printed == devices.on_host(board, name, tmp_path / "hosted")
    assert np.isfinite(devices.numbers(printed)).all() and len(devices.numbers(printed)) > 4


def program_of(op, dtype):
    names = ["%a", "%b", "%c", "%d"][: op["arity"]]
    params = ", ".join(f"{name}: {dtype}[5]" for name in names)
    return f"graph @f({params}) {{\n  %y = {op['name']} {', '.join(names)}\n  return %y\n}}"


@pytest.mark.parametrize("dtype", ["f32", "f64", "f16", "c64", "c128", "i64", "u8"])
def test_every_scalar_op_compiles_without_a_hosted_c(dtype, tmp_path):
    exported = 0
    for op in json.loads(subprocess.check_output([devices.TOOL, "list", "ops", "--json"], text=True)):
        try:
            header, code = inlay.export(program_of(op, dtype), tmp_path, name=f"op_{op['name']}", freestanding=True)
        except (NotImplementedError, TypeError, ValueError):
            continue  # C has it not, or it is of other dtypes
        require_freestanding(header, code)
        exported += 1
    files = sorted(tmp_path.glob("*.c"))
    assert exported == len(files) > 10
    for compiler in COMPILERS[:2]:
        devices.run("sh", "-c", f"cd {tmp_path} && {compiler} {' '.join(devices.STRICT)} -O1 -fsyntax-only -I. *.c")


def test_indices_have_32_bits_where_all_is_small(tmp_path):
    def code(n, **more):
        text = f"graph @f(%x: f32[{n}]) {{\n  %i = iota {n} : i64\n  %z = cast %i : f32\n  %y = mul %x, %z\n  return %y\n}}"
        return inlay.export(text, tmp_path, name="f", **more)[1].read_text()

    assert "for (int32_t " in code(1000, freestanding=True)
    assert "for (int64_t " in code(1000)
    assert "for (int64_t " in code(2**30, freestanding=True)
    assert "for (int64_t " in code("n", freestanding=True)


def test_what_counts_has_64_bits_where_a_value_needs_them(tmp_path):
    text = "graph @f() {\n  %i = iota 3 : i64\n  %c = literal 3000000000 : i64\n  %y = mul %i, %c\n  return %y\n}"
    header, code = inlay.export(text, tmp_path, "shared", name="f", freestanding=True)
    y = np.zeros(3, np.int64)
    ctypes.CDLL(str(code)).f(ctypes.c_void_p(y.ctypes.data), None)
    assert y.tolist() == [0, 3000000000, 6000000000]


@pytest.mark.parametrize("n", [33, 64, 100, 1000, 4096, 5000, 100003])
def test_long_sums_have_room_for_their_parts(n, tmp_path):
    """By AddressSanitizer, as the places are on the stack."""
    text = f"graph @f(%x: f32[{n}], %i: u8[{n}]) {{\n  %s = reduce add %x [0] : f32\n  %z = literal 0 : f32\n  %zs = broadcast %z : f32[256]\n  %t = scatter add %zs[%i], %x\n  return %s, %t\n}}"
    inlay.export(text, tmp_path, name="f", freestanding=True)
    (tmp_path / "main.c").write_text(f"""
#include <stdio.h>
#include "f.h"
static float x[{n}], s, t[256];
static uint8_t indices[{n}];
int main(void) {{
  for (int i = 0; i < {n}; ++i) x[i] = (float)(i % 7);
  const int32_t code = f(x, indices, &s, t, 0, 0);
  printf("%d %.1f\\n", (int)code, (double)s);
  return 0;
}}
""")
    devices.run("cc", "-std=c99", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-ffp-contract=off",
                "-I", tmp_path, tmp_path / "main.c", tmp_path / "f.c", "-lm", "-o", tmp_path / "main")  # fmt: skip
    assert devices.run(tmp_path / "main") == f"0 {sum(i % 7 for i in range(n))}.0\n"


@on_boards_with_floats
@pytest.mark.parametrize("name", SOURCES)
def test_a_program_of_floats_calls_nothing_of_doubles(name, board, tmp_path):
    devices.export(name, tmp_path)
    path = devices.compile_for(board, name, tmp_path)
    assert devices.undefined(board, path) <= {"memset", "memcpy"}
    compile_strictly(board.tool("gcc"), tmp_path / f"{name}.c", *board.flags, "-fno-math-errno", "-Wdouble-promotion")
    assert devices.sizes(path)["data"] == 0


@on_boards
@pytest.mark.parametrize("name", SOURCES)
def test_a_board_computes_the_same_bits_as_a_host(name, board, tmp_path):
    devices.export(name, tmp_path)
    program = devices.link(board, name, tmp_path)
    printed, instructions, stack = devices.emulate(board, program, devices.shift_of(name))
    if board.host and not has_fma:
        pytest.skip("this CPU has no fused multiply-add")
    assert printed == devices.on_host(board, name, tmp_path)
    if name == "radon":
        check_radon(printed)
    if name in devices.NETWORKS:
        check_network(name, printed, tmp_path)
    assert min(instructions) > 100
    optimized = devices.compile_for(board, name, tmp_path)
    assert 0 < max(stack) <= devices.stack_of(optimized, name) + 64  # and what of libgcc there is
    require_no_library(board, program)


def require_no_library(board, program):
    """Beside libm."""
    linked = devices.run(board.tool("nm"), program)
    assert not re.search(r"malloc|_sbrk|printf|_impure|__libc_init|frame_dummy|_init\b|\berrno\b", linked)
    assert "(malloc" not in Path(f"{program}.map").read_text()


def next_numbers(state, runs, count):
    """As next_number of device.h gives them, by run."""
    numbers = np.zeros(runs * count, np.float32)
    for i in range(runs * count):
        state = (state * 1664525 + 1013904223) % 2**32
        numbers[i] = np.float32(state >> 8) * np.float32(2.0**-23) - np.float32(1)
    return numbers.reshape(runs, count)


def expected(name, folder):
    """What onnxruntime computes of the same inputs, as the program prints it."""
    path = devices.networks().NETWORKS[name](folder)
    session = pytest.importorskip("onnxruntime").InferenceSession(path, providers=["CPUExecutionProvider"])
    if name == "keywords":
        runs = [session.run(None, {"mfcc": 2 * x.reshape(1, 1, 49, 10)}) for x in next_numbers(7, 2, 490)]
    elif name == "digits":
        runs = [session.run(None, {"image": x.reshape(1, 1, 28, 28)}) for x in next_numbers(8, 2, 784)]
    else:
        runs, state = [], [np.zeros((1, 1, 24), np.float32)] * 2
        for x in next_numbers(9, 10, 16):
            runs.append(session.run(None, {"frame": 2 * x.reshape(1, 1, 16), "h": state[0], "c": state[1]}))
            state = runs[-1][1:]
    return [array.ravel() for run in runs for array in run]


def check_network(name, printed, folder):
    computed = [devices.numbers([line]) for line in printed]
    for own, other in zip(computed, expected(name, folder), strict=True):
        np.testing.assert_allclose(own, other, rtol=1e-5, atol=1e-6)
        assert np.ptp(other) > 0.01 or len(other) == 1


@pytest.mark.parametrize("name", SOURCES[len(devices.PROGRAMS) :])
def test_a_network_computes_what_onnxruntime_does(name, tmp_path):
    devices.export(name, tmp_path)
    check_network(name, devices.on_host(devices.M33._replace(host=()), name, tmp_path), tmp_path)


RUN_WASM = """
const { WASI } = require("node:wasi");
const wasi = new WASI({ version: "preview1", args: [], env: {} });
WebAssembly.compile(require("node:fs").readFileSync(process.argv[1]))
  .then((module) => WebAssembly.instantiate(module, { wasi_snapshot_preview1: wasi.wasiImport }))
  .then((instance) => wasi.start(instance));
"""


@pytest.mark.skipif(
    not (shutil.which("clang-19") and shutil.which("node") and shutil.which("wasm-ld-19") and Path("/usr/lib/wasm32-wasi/libc.a").exists()),
    reason="there is no clang-19 with lld for wasm32-wasi, or no node",
)
@pytest.mark.parametrize("flags", [[], ["-O2", "-msimd128"]], ids=["scalar", "simd128"])
@pytest.mark.parametrize("name", SOURCES)
def test_it_computes_the_same_bits_as_webassembly(name, flags, tmp_path):
    devices.export(name, tmp_path)
    out = tmp_path / f"{name}.wasm"
    devices.run("clang-19", "--target=wasm32-wasi", "--sysroot=/usr", "-std=c99", "-Os", *flags, "-ffp-contract=off",
                "-fno-strict-aliasing", "-I", tmp_path, "-I", devices.HERE, devices.HERE / f"{name}.c", devices.HERE / "host.c", tmp_path / f"{name}.c",
                "-o", out)  # fmt: skip
    printed = devices.run("node", "--no-warnings", "-e", RUN_WASM, out)
    assert [line.split() for line in printed.splitlines()] == devices.on_host(devices.M3, name, tmp_path)


@on_boards_with_floats
@pytest.mark.parametrize("name", SOURCES[len(devices.PROGRAMS) :])
def test_a_network_is_small(name, board, tmp_path):
    devices.export(name, tmp_path)
    assert devices.sizes(devices.compile_for(board, name, tmp_path))["text"] <= 5 * 1024


def check_radon(printed):
    """Against the text in doubles, evaluated by inlay on the host."""
    text = (devices.HERE / "radon.inlay").read_text().replace("f32", "f64")
    arrays = {key: array.astype(np.float64) if array.dtype == np.float32 else array for key, array in devices.arrays_of("radon").items()}  # fmt: skip
    exact = inlay.compile(text, bound=arrays)
    for run, point in enumerate(next_numbers(6, 3, 175)):
        logp, gradient = exact(0.5 * point.astype(np.float64))
        np.testing.assert_allclose(devices.numbers(printed[2 * run : 2 * run + 1]), logp, rtol=1e-5)
        np.testing.assert_allclose(devices.numbers(printed[2 * run + 1 : 2 * run + 2]), gradient, rtol=1e-5, atol=1e-5 * abs(gradient).max())  # fmt: skip


@on_boards_with_floats
def test_radon_is_small(board, tmp_path):
    assert devices.export("radon", tmp_path) == devices.lower_bound("radon", tmp_path)
    assert devices.sizes(devices.compile_for(board, "radon", tmp_path))["text"] <= 2048


@pytest.mark.parametrize("name", SOURCES)
def test_the_arena_is_the_proved_bound(name, tmp_path):
    assert devices.export(name, tmp_path) == devices.lower_bound(name, tmp_path)


@pytest.mark.parametrize("name", devices.TABLES)
def test_the_table_of_the_page_is_what_is_measured(name):
    missing = {program for board in devices.BOARDS for program in board.missing()}
    if missing:
        pytest.skip(f"there is no {' and no '.join(sorted(missing))}")
    versions = [devices.run(board.tool("gcc"), "-dumpversion").strip() for board in devices.BOARDS]
    if not all(version.startswith("12.2") for version in versions):
        pytest.skip(f"the table is of gcc 12.2, and these are {', '.join(versions)}")
    table = devices.TABLES[name]
    if table.page == devices.NETWORK_PAGE:
        pytest.importorskip("onnx")
    assert table.in_page(table.made()) == table.page.read_text()


def test_the_recorded_program_is_what_pymc_makes_now():
    done = subprocess.run(
        [sys.executable, "-c", "import radon_program as r; assert r.program() == r.FILE.read_text()"],
        cwd=devices.HERE, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
