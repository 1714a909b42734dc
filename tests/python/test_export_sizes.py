"""How large exported code is, and in which section its arrays lie."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import inlay
import inlay.pytensor
import models
import numpy as np
import pytensor
import pytest

ROOT = Path(__file__).parents[2]
TOOL = Path(os.environ.get("INLAY_TOOL", ROOT / "build" / "release" / "bin" / "inlay"))
sys.path.insert(0, str(ROOT / "tools"))

import devices  # noqa: E402

STRICT = ["-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror"]
COMPILERS = [name for name in ("cc", "clang-19") if shutil.which(name)]
KINDS = ("object", "shared")

# Working memory, an array, a constant, a kernel in a function of its own and one of libm.
MANY = """graph @many(%x: f64[40], %w: f64[40] bound) {
  %p = mul %x, %w
  %s = sort %p
  %c = literal [1.0, 2.0, 3.0, 4.0] : f64[4]
  %h = slice %s[0:4]
  %t = arctan %h
  %y = mul %t, %c
  return %y
}
"""
W = np.arange(40) + 0.5


def run(*command, code=0, **more):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=120, **more)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def sections(path):
    """Of an object or a library: (type, bytes, flags) by name."""
    found = re.findall(r"\] (\S+) +(\w+) +[0-9a-f]+ [0-9a-f]+ ([0-9a-f]+) [0-9a-f]+ +([A-Z]*) ", run("readelf", "-SW", path))
    return {name: (kind, int(size, 16), flags) for name, kind, size, flags in found}


def with_flags(path, wanted, without):
    return sum(size for kind, size, flags in sections(path).values()
               if kind in ("PROGBITS", "NOBITS") and set(wanted) <= set(flags) and not set(without) & set(flags))  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_bytes_of_sections(kind, tmp_path):
    header, code = made = inlay.export(MANY, tmp_path, kind, bound={"w": W})
    assert made.sizes["text"] == with_flags(code, "AX", "") > 0
    assert made.sizes["rodata"] == with_flags(code, "A", "XW") >= 8 * 44
    assert made.sizes["data"] == with_flags(code, "AW", "")
    assert kind == "shared" or made.sizes["data"] == 0
    assert f"#define many_ARENA_BYTES {made.sizes['arena']}\n" in header.read_text() and made.sizes["arena"] > 0


@pytest.mark.parametrize("kind", KINDS)
def test_the_stack_of_the_deepest_chain_of_calls(kind, tmp_path):
    """As tools/devices.py adds it up, from what gcc writes of the same code."""
    made = inlay.export(MANY, tmp_path, kind, bound={"w": W})
    compiler = os.environ.get("CC", "cc").split()
    if "Free Software Foundation" not in run(*compiler, "--version"):
        assert made.sizes["stack"] is None
        return
    _, code = inlay.export(MANY, tmp_path, bound={"w": W})
    flags = ["-O2", "-ftree-vectorize", "-fPIC", "-fopenmp-simd", "-DINLAY_SIMD", "-ffp-contract=off", "-fno-math-errno",
             "-fno-trapping-math", "-fno-strict-aliasing", "-fno-stack-protector", "-fno-asynchronous-unwind-tables"]  # fmt: skip
    run(*compiler, "-std=c99", *flags, "-fcallgraph-info=su", "-c", code, "-o", tmp_path / "many.o", cwd=tmp_path)
    assert made.sizes["stack"] == devices.stack_of(tmp_path / "many.o", "many") > 0
    assert not list(tmp_path.glob("*.su"))


def test_what_the_command_tells(tmp_path):
    text = tmp_path / "many.inlay"
    text.write_text(MANY)
    np.save(tmp_path / "w.npy", W)
    made = [TOOL, "export", text, f"--bound=w={tmp_path / 'w.npy'}", "-o", tmp_path]
    sizes = inlay.export(MANY, tmp_path, "object", bound={"w": W}).sizes
    told = [f"{name} {sizes[name]}" for name in ("text", "rodata", "data", "stack", "arena") if sizes[name] is not None]
    paths = [f"{tmp_path}/many.h", f"{tmp_path}/many.o"]
    assert run(*made, "--kind=object").splitlines() == [*paths, f"{', '.join(told)} bytes"]
    as_json = json.loads(run(*made, "--kind=object", "--json"))
    assert [as_json.pop("header"), as_json.pop("code")] == paths
    assert as_json == {f"{name}_bytes": size for name, size in sizes.items() if size is not None}
    assert run(*made).splitlines()[2:] == [f"arena {sizes['arena']} bytes"]
    assert json.loads(run(*made, "--json"))["arena_bytes"] == sizes["arena"]


def test_working_memory_that_depends_on_sizes_is_not_told(tmp_path):
    text = tmp_path / "turned.inlay"
    text.write_text("""graph @turned(%x: f64[n, m]) {
  %s = cumulative add %x [0] : f64
  %b = cumulative mul %s [1] : f64
  %y = reduce add %b [1] : f64
  return %y
}""")
    assert inlay.export(text.read_text(), tmp_path).sizes == dict.fromkeys(("text", "rodata", "data", "stack", "arena"))
    assert run(TOOL, "export", text, "-o", tmp_path).splitlines() == [f"{tmp_path}/turned.h", f"{tmp_path}/turned.c"]


def test_the_object_of_radon_has_40_kb_at_most(tmp_path):
    """22 kB of them are data."""
    with models.radon() as model:
        pass
    logp = model.logp()
    fn = pytensor.function(model.value_vars, [logp, *pytensor.grad(logp, model.value_vars)], mode="INLAY")
    _, code = made = inlay.export(fn, tmp_path, "object", name="radon")
    assert code.stat().st_size <= 40_000
    assert made.sizes["arena"] == 0


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("freestanding", [False, True], ids=["hosted", "freestanding"])
def test_arrays_and_constants_lie_in_the_section_that_is_named(compiler, freestanding, tmp_path):
    _, code = inlay.export(MANY, tmp_path, bound={"w": W}, section="of_weights", freestanding=freestanding)
    run(compiler, *STRICT, "-O2", *["-ffreestanding"] * freestanding, "-c", code, "-o", tmp_path / "many.o")
    kind, size, flags = sections(tmp_path / "many.o")["of_weights"]
    assert (kind, flags) == ("PROGBITS", "A") and 8 * 44 <= size <= 8 * 44 + 24
    run(compiler, *STRICT, "-DINLAY_SECTION=", "-c", code, "-o", tmp_path / "other.o")
    assert "of_weights" not in sections(tmp_path / "other.o")
    if freestanding:  # headers of the C library look at the compiler, too
        run(compiler, *STRICT, "-Wno-unused-function", "-U__GNUC__", "-c", code, "-o", tmp_path / "other.o")
        assert "of_weights" not in sections(tmp_path / "other.o")
    _, code = inlay.export(MANY, tmp_path, bound={"w": W})
    assert "SECTION" not in code.read_text()


@pytest.mark.parametrize("kind", KINDS)
def test_objects_and_libraries_have_the_section(kind, tmp_path):
    _, code = made = inlay.export(MANY, tmp_path, kind, bound={"w": W}, section=".flash")
    assert sections(code)[".flash"][0] == "PROGBITS"
    assert made.sizes["rodata"] == with_flags(code, "A", "XW")
    text = tmp_path / "many.inlay"
    text.write_text(MANY)
    np.save(tmp_path / "w.npy", W)
    by_tool = tmp_path / f"tool{code.suffix}"
    run(TOOL, "export", text, f"--bound=w={tmp_path / 'w.npy'}", "--section=.flash", "-o", by_tool)
    assert sections(by_tool)[".flash"] == sections(code)[".flash"]


WRONG = {
    "a,b": "`a,b` is not made of letters, digits, `.`, `_` and `-`",
    'a"b': '`a"b` is not made of letters, digits, `.`, `_` and `-`',
    ".data.w": "`.data.w` is a section for something else than constants",
    ".debug_x": "`.debug_x` is a section for something else than constants",
    ".rodata.cst8": "`.rodata.cst8` is a section whose equal constants linkers merge",
    ".rodata.str1.1": "`.rodata.str1.1` is a section whose equal constants linkers merge",
    ".text": "`.text` is a section for something else than constants",
}


@pytest.mark.parametrize("name", WRONG)
def test_names_that_no_section_of_constants_has(name, tmp_path):
    with pytest.raises(inlay.errors.UnknownName) as caught:
        inlay.export(MANY, tmp_path / "out", bound={"w": W}, section=name)
    assert str(caught.value) == f"error[unknown-name]: arrays cannot lie in this section: {WRONG[name]}"
    said = run(TOOL, "export", "none.inlay", f"--section={name}", "-o", tmp_path / "out", code=2)
    assert f"--section: {WRONG[name]}" in said
    assert not (tmp_path / "out").exists()


def test_every_name_that_is_taken_is_one_that_compilers_take(tmp_path):
    for name in ("weights", "_w", ".rodata.weights", ".ext-flash", "w1.2", ".lrodata"):
        made = inlay.export(MANY, tmp_path, "object", bound={"w": W}, section=name)
        assert name in sections(made[1])
