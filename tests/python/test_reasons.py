"""What is stored, copied or kept apart has a reason that docs/fusion.md explains.

conftest.py asks the same of every function that any test compiles in mode "INLAY": the models, the examples and the pages
among them.
"""

import sys
from pathlib import Path

import inlay
import inlay.pytensor
import models
import pytensor
import pytensor.tensor as pt
import pytest
import reasons

ROOT = Path(__file__).parents[2]
PROGRAMS = sorted((ROOT / "tests" / "programs").rglob("*.inlay"))


def graph_text(path):
    return path.read_text().split("\n#=")[0] + "\n"


@pytest.mark.parametrize("folder", sorted({path.parent for path in PROGRAMS}), ids=lambda folder: folder.name)
def test_programs(folder):
    unexplained, compiled = [], 0
    for path in sorted(folder.glob("*.inlay")):
        text = graph_text(path)
        if " bound " in text or "host_call" in text:  # these want arrays and functions; stored_test has them
            continue
        found = reasons.unexplained(inlay.explain(inlay.compile(text, path)))
        unexplained += [f"{path.name}: {what}" for what in found]
        compiled += 1
    assert unexplained == []
    assert compiled > 0


def test_the_example():
    sys.path.insert(0, str(ROOT / "examples"))
    try:
        import radon
    finally:
        sys.path.pop(0)
    explanation = inlay.pytensor.explain(models.logp_and_gradient(radon.radon_model(), "INLAY"))
    assert reasons.unexplained(explanation) == []


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_functions_of_the_benchmarks(dtype):
    sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "examples")]
    try:
        import fusion
    finally:
        del sys.path[:2]
    for case in fusion.CASES:
        if "1000000" in case.work:  # a million constants
            continue
        explanation = inlay.pytensor.explain(fusion.compiled(case, dtype, "INLAY"))
        assert reasons.unexplained(explanation) == [], case.work


def test_what_has_no_reason_is_found():
    x = pt.dvector("x")
    e = inlay.pytensor.explain(pytensor.function([x], [pt.exp(x), pt.exp(x)[::-1] * pt.exp(x)], mode="INLAY"))
    assert reasons.unexplained(e) == []
    (pair,) = e.apart
    assert (pair.first, pair.second) == ("k0", "k1") and pair.reason.startswith("other-places: ")
    lost = type(pair)(pair.first, pair.second, pair.shared, "because")
    assert reasons.unexplained(type(e)(**{**e.__dict__, "apart": [lost]})) == ["k0 and k1: because"]
    assert "k0 and k1 (" in e.text and e.to_dict()["apart"][0]["reason"] == pair.reason
