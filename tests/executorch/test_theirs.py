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


@pytest.mark.parametrize("file", ["test_memory_planning.py", "test_reinplace_pass.py"])
def test_theirs(file, tmp_path):
    if not (THEIRS / file).exists():
        pytest.skip(f"this release has no {file}")
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
