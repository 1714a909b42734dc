"""Each PyTensor and PyMC program of bench/: its memory is at the lower bound, and no copy is without a reason."""

import importlib
import sys
from pathlib import Path

import inlay.pytensor
import models
import pytensor
import pytest
import reasons
from versions import OLD_PYTENSOR

ROOT = Path(__file__).parents[2]


def module(folder, name):
    sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "examples")]
    try:
        return importlib.import_module(name)
    finally:
        del sys.path[:2]


fusion = module("bench", "fusion")


def of_case(case, dtype):
    inputs, outputs = case.graph(dtype)
    return pytensor.function(inputs, outputs, mode="INLAY"), [a.shape for a in case.arrays(dtype)]


def of_model(model):
    fn = models.logp_and_gradient(model(), "INLAY")
    return fn, [point.shape for point in models.points(fn, 1)]


PROGRAMS = {
    **{f"{case.work}, {dtype}": (of_case, case, dtype) for case in fusion.CASES for dtype in ("float64", "float32")},
    "radon": (of_model, models.radon),
    "logistic, PyMC": (of_model, models.logistic),
}


@pytest.mark.parametrize("program", PROGRAMS)
def test_memory_of(program):
    if OLD_PYTENSOR and "steps" in program and "gradient" in program:
        pytest.skip("of its Scan only the run tells how many rows a result has")
    make, *arguments = PROGRAMS[program]
    fn, shapes = make(*arguments)
    graph = fn.vm.compiled.translation.graph
    sizes = {}
    given = [p for p in graph.parameters if not p[-1]]
    for (_, _, dims, *_), shape in zip(given, shapes, strict=True):
        sizes |= {dim: n for dim, n in zip(dims, shape, strict=True) if not str(dim).isdigit()}
    found = inlay.pytensor.explain(fn, sizes=sizes)
    assert found.plan.proved and found.plan.gap == 0
    assert reasons.unexplained(found) == []
    assert found.host_calls == []


def test_the_share_that_planning_has_is_measured():
    """The benchmark takes it from the seconds of stages, by their names."""
    assert 0 < fusion.planning_share(fusion.CASES[0], "float64") < 1
