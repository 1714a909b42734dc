"""ExecuTorch's own tests of its planner and of what works in place, with inlay's planner."""

import os
import pathlib
import subprocess
import sys

import pytest

pytest.importorskip("executorch")

import executorch.exir  # noqa: E402

HERE = pathlib.Path(__file__).parent
THEIRS = pathlib.Path(executorch.exir.__path__[0]) / "tests"


FILES = {"test_memory_planning.py": "memory_planning.py", "test_reinplace_pass.py": "passes/reinplace.py"}


@pytest.mark.parametrize("file", FILES)
def test_theirs(file, tmp_path):
    if not (THEIRS.parent / FILES[file]).exists():
        pytest.skip(f"this release has no {FILES[file]}")
    copied = tmp_path / file
    copied.write_text((THEIRS / file).read_text())
    path = os.pathsep.join([str(HERE), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "with_inlays_planner", copied, "--rootdir", tmp_path],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert done.returncode == 0, done.stdout[-3000:]
