"""What the tests of the cache have in common: its folder, functions to compile, and other processes."""

import logging
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
from pytensor.compile import FunctionMaker

import inlay
import inlay.pytensor
from inlay import _inlay

PYTHON = pathlib.Path(inlay.__file__).parents[1]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    folder = tmp_path / "caches" / "inlay"
    monkeypatch.setenv("INLAY_CACHE", str(folder))
    return folder


@pytest.fixture
def silent(caplog):
    """Nothing goes wrong that is only noted."""
    caplog.set_level(logging.DEBUG, logger="inlay")
    yield
    assert [r.getMessage() for r in caplog.records if r.name == "inlay"] == []


@pytest.fixture
def no_compiling(monkeypatch):
    """From the call on neither PyTensor rewrites nor inlay compiles."""

    def begin():
        def fail(*args, **kwargs):
            raise AssertionError("it is compiled again")

        monkeypatch.setattr(FunctionMaker, "__init__", fail)
        monkeypatch.setattr(_inlay, "compile", fail)

    return begin


def said(fn):
    return inlay.explain(fn).cache


def entries(folder):
    return sorted(folder.glob("*.inlayfn"))


def compiled(make):
    """The function that `make` gives inputs, outputs and keywords of, and what it has to do with the cache."""
    *graph, keywords = make()
    fn = pytensor.function(*graph, mode=keywords.pop("mode", "INLAY"), **keywords)
    return fn, said(fn)


IMPORTS = "import inlay, inlay.pytensor, numpy as np, pytensor, pytensor.tensor as pt\n"


def run(code, **variables):
    """The lines that a program prints in another process."""
    done = subprocess.run(
        [sys.executable, "-c", IMPORTS + code], capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": str(PYTHON), **variables},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.split("\n")[:-1]


PROGRAM = """
from pytensor.compile import FunctionMaker
rewritten = []
prepare = FunctionMaker.prepare_fgraph
FunctionMaker.prepare_fgraph = staticmethod(lambda *args: (rewritten.append(1), prepare(*args))[1])
x = pt.dvector("x")
w = pytensor.shared(np.arange(3.0), name="w")
fn = pytensor.function([x], [(x * w).sum(), pt.exp(x)], updates={w: w + 1}, mode="INLAY")
print(inlay.explain(fn).cache, len(rewritten), *fn(np.ones(3)), *fn(np.ones(3)), w.get_value())
"""


def example(dtype="float64", shape=(None,), factor=2.0, name="x", result="exp", **keywords):
    x = pt.tensor(name, dtype=dtype, shape=shape)
    y = x * pt.constant(factor, dtype=keywords.pop("factor_dtype", dtype))
    return [x], [getattr(pt, result)(y)], keywords


def with_shared(kind=np.float64, updates=lambda s: {s: s + 1}, **keywords):
    x, s = pt.vector("x", dtype=kind), pytensor.shared(np.ones(3, kind), name="s", **keywords)
    return [x], x + s, {"updates": updates(s)}
