"""A function's Explanation and Profile with numbers that stay: what the pictures of a report are made of.

`python tests/python/report_data.py` writes report_data.json anew, from a step of Newton's for a logistic regression, as
this machine runs it; then the pictures are made anew too (test_report_browser.py).
"""

import dataclasses
import json
from pathlib import Path

from inlay import explanation, profiling
from inlay.plan import Plan, Storage

FILE = Path(__file__).with_suffix(".json")
_PARTS = {
    "steps": explanation.Step,
    "kernels": explanation.Kernel,
    "copies": explanation.Copy,
    "temporaries": explanation.Temporary,
    "stored": explanation.Stored,
    "apart": explanation.Apart,
    "buffers": explanation.Buffer,
}


def made_of_dict(data):
    """The Explanation that `to_dict` made a dict of."""
    parts = {name: [kind(**d) for d in data[name]] for name, kind in _PARTS.items()}
    storages = [Storage(**d) for d in data["plan"]["storages"]]
    plan = Plan(**{**data["plan"], "storages": storages, "pools": ()})
    return explanation.Explanation(**{**data, **parts, "plan": plan})


def profile_of_dict(data):
    return profiling.Profile(**{**data, "rows": [profiling.Row(**d) for d in data["rows"]]}, text="")


def fixed():
    """Name, Explanation, Profile."""
    data = json.loads(FILE.read_text())
    return data["profile"]["name"], made_of_dict(data["explanation"]), profile_of_dict(data["profile"])


def newton():
    """The function, and what it is called with."""
    import inlay.pytensor  # noqa: F401
    import numpy as np
    import pytensor
    import pytensor.tensor as pt

    x, y, b = pt.dmatrix("x"), pt.dvector("y"), pt.dvector("b")
    mean = pt.sigmoid(x @ b)
    weighted = x.T * (mean * (1 - mean))
    hessian, gradient = weighted @ x, x.T @ (y - mean)
    for value, name in (mean, "mean"), (weighted, "weighted"), (hessian, "hessian"), (gradient, "gradient"):
        value.name = name
    step = b + pt.linalg.solve(hessian, gradient, assume_a="pos")
    rng = np.random.default_rng(1)
    given = rng.normal(size=(50_000, 20)), rng.integers(0, 2, 50_000).astype(float), np.zeros(20)
    return pytensor.function([x, y, b], step, mode="INLAY", name="newton"), given


def main():
    import inlay

    function, given = newton()
    p = inlay.profile(function, *given)
    e = inlay.explain(function, sizes=p.sizes)
    e = dataclasses.replace(e, cache="")  # which says where this machine has it
    data = {"explanation": e.to_dict(), "profile": p.to_dict()}
    FILE.write_text(json.dumps(data, indent=1) + "\n")


if __name__ == "__main__":
    main()
