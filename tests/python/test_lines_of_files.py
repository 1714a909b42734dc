"""Lines of steps name the user's file as it is called."""

import inlay
import inlay.pytensor
import pytensor
import pytensor.tensor as pt
import pytest


@pytest.mark.parametrize("file", ["model.py", "my script (v2).py", "a, b.py", "run #3, new.py", "x:7.py"])
@pytest.mark.parametrize("name", [None, "alpha", "alpha, beta"])
def test_of_pytensor(file, name):
    scope = {"pt": pt, "x": pt.dvector("x")}
    exec(compile("\n\ny = pt.exp(x)", f"/a folder, old/{file}", "exec"), scope)
    y = scope["y"]
    y.name = name
    (step,) = inlay.explain(pytensor.function([scope["x"]], y, mode="INLAY")).steps
    assert step.lines == f"{file}:3"
