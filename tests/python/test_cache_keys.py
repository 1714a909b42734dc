"""Which functions are one to the cache, which are not, and which are not kept at all."""

import collections
import contextlib
import copy
import os
import subprocess
import sys

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
import pytest
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op
from pytensor.graph.rewriting.basic import PatternNodeRewriter, node_rewriter
from pytensor.misc.ordered_set import OrderedSet
from pytensor.tensor.random.utils import RandomStream

import inlay
import inlay.pytensor
from inlay import environment
from inlay.pytensor import cache_key
from inlay.pytensor.canonical import NotText
from versions import OLD_PYTENSOR
from caching import compiled, entries, example, folder, said, silent, with_shared  # noqa: F401


def two_shared(same):
    a = pytensor.shared(np.ones(2))
    b = a if same else pytensor.shared(np.ones(2))
    return [], a + 2 * b, {}


def of_two(order="xy", outputs=lambda x, y: [x - y, x + y], **ways):
    x, y = pt.dvector("x"), pt.dvector("y")
    inputs = [pytensor.In(x, **ways), pytensor.In(y)]
    return inputs if order == "xy" else inputs[::-1], outputs(x, y), {}


RETURNS = "return_updates" in pytensor.scan.__code__.co_varnames


def scanned(body=lambda x: x * 2, steps=4):
    x = pt.dscalar("x")
    trace = pytensor.scan(body, outputs_info=[x], n_steps=steps, **({"return_updates": False} if RETURNS else {}))
    return [x], trace if RETURNS else trace[0], {}


def inner(body=lambda x: x + 1):
    x, y = pt.dvector("x"), pt.dvector("y")
    op = pytensor.compile.builders.OpFromGraph([x], [body(x)])
    return [y], op(y), {}


def tagged(**tags):
    x = pt.dmatrix("x")
    vars(x.tag).update(tags)
    return [x], pt.linalg.solve(x, x), {}


def random(seed=1, size=3, updates=True):
    stream = RandomStream(seed)
    return [], stream.normal(0, 1, size=size), {}


# Of each pair the second is not the first.
PAIRS = {
    "dtype": (example, lambda: example(dtype="float32")),
    "static shape": (example, lambda: example(shape=(3,))),
    "broadcasting": (lambda: example(shape=(1,)), lambda: example(shape=(2,))),
    "rank": (example, lambda: example(shape=(None, None))),
    "a constant": (example, lambda: example(factor=2.0000000000000004)),
    "the sign of zero": (lambda: example(factor=0.0), lambda: example(factor=-0.0)),
    "a constant's dtype": (example, lambda: example(factor_dtype="float32")),
    "a constant's shape": (example, lambda: example(factor=[2.0])),
    "an element": (lambda: example(factor=np.zeros(100)), lambda: example(factor=np.eye(1, 100, 99)[0])),
    "an op": (example, lambda: example(result="cos")),
    "an op's parameter": (lambda: example(result="sum"), lambda: of_axis(None)),
    "an input's name": (example, lambda: example(name="y")),
    "trust_input": (example, lambda: example(trust_input=True)),
    "an update": (with_shared, lambda: with_shared(updates=lambda s: {s: s + 2})),
    "no update": (with_shared, lambda: with_shared(updates=lambda s: {})),
    "a shared variable's shape": (with_shared, lambda: with_shared(shape=(3,))),
    "a shared variable's dtype": (with_shared, lambda: with_shared(np.float32)),
    "which shared variables are one": (lambda: two_shared(True), lambda: two_shared(False)),
    "the order of inputs": (of_two, lambda: of_two("yx")),
    "the order of outputs": (of_two, lambda: of_two(outputs=lambda x, y: [x + y, x - y])),
    "an output more": (of_two, lambda: of_two(outputs=lambda x, y: [x - y, x + y, x + y])),
    "one output, not a list": (lambda: of_two(outputs=lambda x, y: [x - y]), lambda: of_two(outputs=lambda x, y: x - y)),
    "an output that is borrowed": (
        lambda: of_two(outputs=lambda x, y: [x - y]),
        lambda: of_two(outputs=lambda x, y: [pytensor.Out(x - y, borrow=True)]),
    ),
    "which operand": (
        lambda: of_two(outputs=lambda x, y: x - y),
        lambda: of_two(outputs=lambda x, y: y - x),
    ),
    "a donated input": (of_two, lambda: of_two(mutable=True)),
    "a borrowed input": (of_two, lambda: of_two(borrow=True)),
    "strict": (of_two, lambda: of_two(strict=True)),
    "allow_downcast": (of_two, lambda: of_two(allow_downcast=True)),
    "an input's keyword": (of_two, lambda: of_two(name="z")),
    "a mode's rewrites": (example, lambda: example(mode=inlay.pytensor.MODE.excluding("canonicalize"))),
    "a mode's choice": (example, lambda: example(mode=inlay.pytensor.mode(fuse="none"))),
    "single precision": (
        lambda: example(dtype="float32", result="sum"),
        lambda: example(dtype="float32", result="sum", mode=inlay.pytensor.mode(single_precision=True)),
    ),
    "the upper bound of a size": (example, lambda: example(mode=inlay.pytensor.mode(upper={"x_0": 7}))),
    "what is in a loop": (scanned, lambda: scanned(lambda x: x * 3)),
    "the steps of a loop": (scanned, lambda: scanned(steps=5)),
    "what is in an inner graph": (inner, lambda: inner(lambda x: x + 2)),
    "a tag that steers rewrites": (tagged, lambda: tagged(lower_triangular=True)),
    "a draw": (random, lambda: random(size=4)),
}


def of_axis(axis):
    x = pt.matrix("x")
    return [x], [x.sum(axis=0) if axis is None else x.sum(axis=axis)], {}


@pytest.mark.parametrize("pair", PAIRS)
def test_another_function_is_not_taken(folder, silent, pair):
    first, second = PAIRS[pair]
    assert compiled(first)[1] == "kept in the cache"
    assert compiled(first)[1] == "taken from the cache"
    assert compiled(second)[1] == "kept in the cache"
    assert compiled(second)[1] == "taken from the cache"
    assert len(entries(folder)) == 2


@pytest.mark.parametrize(
    "setting, value",
    [("floatX", "float32"), ("optimizer_verbose", True), ("on_opt_error", "raise"), ("cast_policy", "numpy+floatX")],
)
def test_another_setting_of_pytensors_is_another_function(folder, setting, value):
    make = lambda: example(shape=(2,))  # noqa: E731
    compiled(make)
    with pytensor.config.change_flags(**{setting: value}):
        assert compiled(make)[1] == "kept in the cache"


@pytest.mark.parametrize(
    "variable, value", [("INLAY_FUSE", "none"), ("INLAY_CPU_FEATURES", "sse2"), ("INLAY_REWRITE_OFF", "log1p")]
)
def test_another_variable_is_another_function(folder, monkeypatch, variable, value):
    compiled(example)
    monkeypatch.setenv(variable, value)
    assert compiled(example)[1] == "kept in the cache"
    assert compiled(example)[1] == "taken from the cache"


def test_another_version_is_another_function(folder, monkeypatch):
    compiled(example)
    for package in ("numpy", "pytensor"):
        with monkeypatch.context() as patch:
            patch.setitem(environment._of_process, ("version", package), ("0.1", None))
            assert compiled(example)[1] == "kept in the cache"
    monkeypatch.setitem(environment._of_process, "environment", "another build, or another CPU")
    assert compiled(example)[1] == "kept in the cache"
    assert len(entries(folder)) == 4


def test_the_code_of_a_package_that_somebody_works_on_is_told_by_its_files(tmp_path, monkeypatch):
    (tmp_path / "ours").mkdir()
    source = tmp_path / "ours" / "__init__.py"
    source.write_text("__version__ = '1'")
    monkeypatch.syspath_prepend(tmp_path)
    __import__("ours")

    def version():
        environment._of_process.pop(("version", "ours"), None)
        return environment._version("ours")

    try:
        os.utime(source, (1, 1))
        before = version()
        assert version() == before
        source.write_text("__version__ = '1'  # and more")
        os.utime(source, (2, 2))
        assert version() != before
        os.utime(source)  # what was loaded may be older
        with pytest.raises(NotText, match="a package whose files have changed since this process began"):
            version()
    finally:
        del sys.modules["ours"]
        environment._of_process.pop(("version", "ours"), None)


ODD_PROCESSES = {
    "the simplifier mine, which is not PyTensor's": """
from pytensor.tensor.rewriting.math import local_mul_canonizer
pytensor.function([x], pt.exp(x), mode="INLAY")
local_mul_canonizer.add_simplifier(lambda num, den: (num[:1], den), "mine")""",
    "the rewrite mine, of which fn is": """
import functools
from pytensor.compile.mode import optdb
from pytensor.graph.rewriting.basic import node_rewriter
from pytensor.tensor.elemwise import Elemwise
from pytensor.tensor.rewriting.math import local_exp_log
mine = node_rewriter([Elemwise])(functools.wraps(local_exp_log.fn)(lambda fgraph, node: None))
optdb["canonicalize"].register("mine", mine, "fast_run")""",
    "an assumption about matrices that is not PyTensor's": """
import pytensor.assumptions as A
A.register_assumption(A.DIAGONAL, type(pt.exp))(lambda *given: [])""",
}


@pytest.mark.parametrize("reason", ODD_PROCESSES)
def test_what_others_changed_of_rewriting_is_not_taken_for_pytensors(reason, tmp_path):
    if OLD_PYTENSOR and "assumption" in reason:
        pytest.skip("has no assumptions")
    script = f"""
import inlay, inlay.pytensor, pytensor, pytensor.tensor as pt
x = pt.dvector("x")
{ODD_PROCESSES[reason]}
print(inlay.explain(pytensor.function([x], pt.log(x) * x, mode="INLAY")).cache)
"""
    environment = {**os.environ, "INLAY_CACHE": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    said = subprocess.check_output([sys.executable, "-c", script], env=environment, text=True)
    assert said.startswith(f"not kept in the cache: {reason}"), said


class Twice(Op):
    __props__ = ()

    def make_node(self, x):
        return Apply(self, [x], [x.type()])

    def perform(self, node, inputs, outputs):
        outputs[0][0] = inputs[0] * 2


def plus_one(x):
    return x + 1


def own_function():
    x = pt.dvector("x")
    op = pytensor.compile.ops.FromFunctionOp(plus_one, [pt.dvector], [pt.dvector], None)
    return [x], op(x), {}


def own_op():
    x = pt.dvector("x")
    return [x], Twice()(x), {}


def own_distribution():
    def draw(mu, rng=None, size=None):
        return rng.normal(mu, 1, size=size)

    return [], pm.CustomDist.dist(0.0, random=draw, shape=(2,)), {"updates": {}, "on_unused_input": "ignore"}


def profiled():
    return *example()[:2], {"profile": True}


UNKNOWN_CODE = "whose code may change under this name"
NOT_KEPT = {
    "an op of somebody's": (own_op, f"the op Twice of {__name__}, {UNKNOWN_CODE}"),
    "a function as an op": (own_function, f"holds the function plus_one of {__name__}, {UNKNOWN_CODE}"),
    "a distribution of somebody's": (own_distribution, UNKNOWN_CODE),
    "an object in a tag": (lambda: tagged(note=Twice), f"Twice of {__name__}, {UNKNOWN_CODE}"),
    "a generator in a tag": (lambda: tagged(note=np.random.default_rng(1)), "Generator"),
    "a mark in a tag": (lambda: tagged(note=object()), "an object of the class builtins.object"),
    "objects in a tag": (lambda: tagged(note=np.array([Twice], object)), "elements of dtype object"),
    "records in a tag": (lambda: tagged(note=np.zeros(1, "i4,i4")), "elements of dtype ["),
    "who shares bytes": (
        lambda: example(mode=inlay.pytensor.MODE.excluding("inplace")),
        "a function or offsets of yours that lay out its memory or chose what shares bytes",
    ),
    "a planner of somebody's": (
        lambda: example(mode=inlay.pytensor.mode(planner=lambda storages: list(range(0, 4096 * len(storages), 4096)))),
        "a function or offsets of yours that lay out its memory or chose what shares bytes",
    ),
    "a compilation that is verified": (
        lambda: example(mode=inlay.pytensor.mode(verify=True)),
        "a compilation that is to be looked at (verify)",
    ),
    "a profile": (profiled, "a function that keeps a profile"),
}


@pytest.mark.parametrize("case", NOT_KEPT)
def test_what_cannot_be_told_by_text_is_not_kept_and_says_why(folder, case):
    make, reason = NOT_KEPT[case]
    for _ in range(2):
        fn, what = compiled(make)
        assert what.startswith("not kept in the cache: ") and reason in what
        assert what in " ".join(inlay.explain(fn).text.split())
        assert "not kept in the cache: " in str(inlay.explain(fn))
    assert entries(folder) == []


@contextlib.contextmanager
def registered_as(name, rewriter):
    """Within the block it is one of PyTensor's rewrites, which no mode asks for."""
    database = pytensor.compile.mode.optdb["specialize"]
    before = {k: copy.copy(v) for k, v in vars(database).items() if isinstance(v, dict | set)}
    before["__db__"] = collections.defaultdict(OrderedSet, {k: v.copy() for k, v in database.__db__.items()})
    database.register(name, rewriter, "a_tag_of_mine")
    try:
        yield
    finally:
        vars(database).update(before)


@node_rewriter([pt.exp])
def nothing(fgraph, node):
    return None


@pytest.mark.parametrize("rewriter", [nothing, PatternNodeRewriter((Twice(), "x"), "x")], ids=["code", "pattern"])
def test_with_rewrites_of_somebody_nothing_is_kept(folder, rewriter):
    with registered_as("of_mine", rewriter):
        for _ in range(2):
            what = compiled(example)[1]
            assert what.startswith("not kept in the cache: the rewrite of_mine, of which ") and __name__ in what
    assert compiled(example)[1] == "kept in the cache"


def test_rewrites_that_are_registered_are_part_of_the_key(folder):
    compiled(example)
    with registered_as("of_mine", PatternNodeRewriter((pt.exp, (pt.neg, "x")), (pt.reciprocal, (pt.exp, "x")))):
        assert compiled(example)[1] == "kept in the cache"
        assert compiled(example)[1] == "taken from the cache"
    assert compiled(example)[1] == "taken from the cache"


def test_with_a_translation_of_somebody_nothing_is_kept(folder, monkeypatch):
    from inlay.pytensor.translate import registry

    of_no_module = lambda t, node: None  # noqa: E731
    of_no_module.__module__ = None
    monkeypatch.setitem(registry._TRANSLATIONS, Twice, of_no_module)
    assert compiled(example)[1] == "kept in the cache"  # there is no such op in it
    monkeypatch.setitem(registry._TRANSLATIONS, pt.basic.Eye, lambda t, node: None)
    assert "not kept in the cache: a translation of Eye that is not inlay's" in compiled(example)[1]


def test_a_folder_for_dumps_is_filled(folder, tmp_path, monkeypatch):
    compiled(example)
    monkeypatch.setenv("INLAY_DUMP", str(tmp_path / "dump"))
    assert "a compilation that is to be looked at (dump)" in compiled(example)[1]
    assert list((tmp_path / "dump").iterdir())
