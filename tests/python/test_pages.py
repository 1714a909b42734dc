"""Pages that are made from tables are as new as the tables."""

import importlib.util
from pathlib import Path

import pytest
from versions import OLD_PYTENSOR

ROOT = Path(__file__).parents[2]
SPEC = importlib.util.spec_from_file_location("pages", ROOT / "tools" / "docs" / "pages.py")
pages = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(pages)


@pytest.mark.parametrize("path", ["docs/fusion.md", "docs/ops.md", "docs/rewriting.md", "python/inlay/_inlay.pyi"])
def test_is_what_the_tables_say(path):
    if OLD_PYTENSOR and path == "docs/ops.md":
        pytest.skip("its column of PyTensor's classes is that of the newest version")
    text = pages.pages()[ROOT / path]
    assert (ROOT / path).read_text() == text, f"{path} is stale: python tools/docs/pages.py"
