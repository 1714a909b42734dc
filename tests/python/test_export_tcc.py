"""A small C compiler, tcc, takes what `inlay export` writes: it knows C99 and few of gcc's extensions."""

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

pytestmark = pytest.mark.skipif(not shutil.which("tcc"), reason="tcc is not installed: scripts/setup --dev does")
FLAGS = ["-std=c99", "-Wall", "-Werror"]
FORMS = pytest.mark.parametrize("freestanding", [False, True], ids=["hosted", "freestanding"])


def run(*command, **more):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=120, **more)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@FORMS
def test_the_example(freestanding, tmp_path):
    folder = ROOT / "examples" / "c"
    text = (folder / "softmax.inlay").read_text()
    inlay.export(text, tmp_path, sizes={"n": 4}, freestanding=freestanding)
    run("tcc", *FLAGS, f"-I{tmp_path}", folder / "main.c", tmp_path / "softmax.c", "-lm", "-o", tmp_path / "softmax")
    printed = [float(word) for word in run(tmp_path / "softmax").split()]
    share, entropy = inlay.compile(text)(np.array([1.0, 2, 3, 4]))
    np.testing.assert_allclose(printed, [*share, entropy], rtol=1e-15)


MAIN = """#include <stdio.h>

#include "radon.h"

static double arrays[{arrays}][85];

int main(void) {{
  for (int i = 0; i < {parameters}; ++i)
    for (int k = 0; k < 85; ++k) arrays[i][k] = 0.01 * (i + 1) - 0.001 * k;
  if (radon({addresses}, 0) != INLAY_OK) return 1;
  printf("%.17g\\n", arrays[{parameters}][0]);
  return 0;
}}
"""


@FORMS
def test_the_log_density_and_gradient_of_radon(freestanding, tmp_path):
    with models.radon() as model:
        pass
    logp = model.logp()
    fn = pytensor.function(model.value_vars, [logp, *pytensor.grad(logp, model.value_vars)], mode="INLAY")
    header, _ = inlay.export(fn, tmp_path, name="radon", freestanding=freestanding)
    assert re.search(r"#define radon_ARENA_BYTES 0\b", header.read_text())
    count = len(model.value_vars)
    addresses = ", ".join(f"arrays[{i}]" for i in range(2 * count + 1))
    main = tmp_path / "main.c"
    main.write_text(MAIN.format(arrays=2 * count + 1, parameters=count, addresses=addresses))
    run("tcc", *FLAGS, f"-I{tmp_path}", main, tmp_path / "radon.c", "-lm", "-o", tmp_path / "radon")
    point = [0.01 * (i + 1) - 0.001 * np.arange(85.0) for i in range(count)]
    wanted = fn(*(values[: v.type.shape[0]] if v.type.ndim else values[0] for v, values in zip(model.value_vars, point, strict=True)))
    np.testing.assert_allclose(float(run(tmp_path / "radon")), wanted[0], rtol=1e-12)


@FORMS
@pytest.mark.parametrize("name", devices.PROGRAMS)
def test_programs_for_small_machines(name, freestanding, tmp_path):
    devices.export(name, tmp_path, freestanding)
    run("tcc", *FLAGS, "-c", tmp_path / f"{name}.c", "-o", tmp_path / "code.o")


def test_it_makes_objects(tmp_path):
    """Sums are folded one after the other, as by any compiler that is told nothing of lanes."""
    (tmp_path / "most.inlay").write_text("graph @most(%x: f64[n]) {\n  %m = reduce max %x [0] : f64\n  return %m\n}")
    run(TOOL, "export", tmp_path / "most.inlay", "--kind=object", "-o", tmp_path, env={**os.environ, "CC": "tcc"})
    assert (tmp_path / "most.o").read_bytes().startswith(b"\x7fELF")
