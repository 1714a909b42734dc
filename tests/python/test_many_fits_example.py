"""The example of many fits, with few of them, in a process of its own."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("nutpie")
EXAMPLE = Path(__file__).parents[2] / "examples" / "many_fits.py"


def test_the_example(tmp_path):
    picture = tmp_path / "fits.png"
    command = [sys.executable, EXAMPLE, "--quarters", "20", "--simulations", "8", "--picture", picture]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "140 fits, 0 failed" in done.stdout
    inside = int(re.search(r"(\d+)% of what came lies in the middle nine tenths", done.stdout)[1])
    assert inside > 75  # 140 forecasts of 90 % have a spread of 2.5 %, and the last quarters a crisis
    assert len(re.findall(r"^\w+: 8 ranks", done.stdout, re.M)) == 5
    assert picture.stat().st_size > 10_000
