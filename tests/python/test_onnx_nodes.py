"""ONNX's own node tests: each gives the right numbers, or is refused for the reason that tests/onnx/refused.txt has.

INLAY_UPDATE=1 writes that file anew. INLAY_ONNX_CHOICES="backend=c fuse=none" runs all cases so (scripts/check onnx does).
"""

import os
from pathlib import Path

import pytest

pytest.importorskip("onnx")
import onnx_cases  # noqa: E402

REFUSED = Path(__file__).parents[1] / "onnx" / "refused.txt"
CHOICES = dict(word.split("=") for word in os.environ.get("INLAY_ONNX_CHOICES", "").split())


def refused():
    """By case: why."""
    return dict(line.split(": ", 1) for line in REFUSED.read_text().splitlines()) if REFUSED.exists() else {}


@pytest.fixture(scope="module")
def found():
    """Reasons that were found; written where somebody asks for it."""
    reasons = {}
    yield reasons
    if os.environ.get("INLAY_UPDATE"):
        REFUSED.write_text("".join(f"{name}: {why}\n" for name, why in sorted(reasons.items())))


@pytest.mark.parametrize("name", sorted(onnx_cases.node_cases()))
def test_node(name, found):
    expected = refused().get(name)
    try:
        onnx_cases.run(onnx_cases.node_cases()[name], **CHOICES)
    except onnx_cases.Refused as error:
        found[name] = onnx_cases.reason_of(error)
        assert os.environ.get("INLAY_UPDATE") or found[name] == expected
    else:
        assert os.environ.get("INLAY_UPDATE") or expected is None, "it passes: take it off the list"


@pytest.mark.parametrize("choices", [{"backend": "c"}, {"fuse": "none"}, {"planner": "naive"}], ids=str)
def test_some_nodes_by_other_ways(choices):
    names = sorted(set(onnx_cases.node_cases()) - set(refused()))
    for name in names[:: 1 + len(names) // 40]:
        onnx_cases.run(onnx_cases.node_cases()[name], **choices)
