"""The Python blocks of docs/executorch.md that need ExecuTorch."""

import pathlib
import re

import pytest

pytest.importorskip("executorch")

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "executorch.md"


def test_blocks(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python executorch\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    assert blocks
    namespace = {"__name__": "__main__"}
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), namespace)
