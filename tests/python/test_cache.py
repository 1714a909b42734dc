"""The cache of compiled functions: what is taken from it, what is not, and what becomes of it when things go wrong."""

import collections
import contextlib
import copy
import logging
import os
import pathlib
import signal
import subprocess
import sys
import time

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
import pytest
from pytensor.compile import FunctionMaker
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op
from pytensor.graph.rewriting.basic import PatternNodeRewriter, node_rewriter
from pytensor.misc.ordered_set import OrderedSet
from pytensor.tensor.random.utils import RandomStream

import inlay
import inlay.pytensor
from inlay import _inlay, cache
from inlay.pytensor import cache_key, registered
from inlay.pytensor.canonical import NotText
from versions import OLD_PYTENSOR

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


def test_a_second_process_takes_the_function(folder):
    (first,), (second,) = run(PROGRAM), run(PROGRAM)
    assert first.startswith("kept in the cache 1 ")
    assert second == first.replace("kept in the cache 1 ", "taken from the cache 0 ")
    assert len(entries(folder)) == 1


def test_a_model_of_pymcs_is_taken_by_a_second_process(folder):
    program = """
import pymc as pm
group = np.arange(40) % 4
with pm.Model() as model:
    level = pm.Normal("level", pm.Normal("mu", 0, 1), pm.HalfNormal("sd", 1), shape=4)
    data = pm.Data("data", np.linspace(0, 1, 40))
    pm.Normal("y", level[group], pm.Exponential("sigma", 1), observed=data)
fn = model.logp_dlogp_function(ravel_inputs=True, mode="INLAY")._pytensor_function
logp, gradient = fn(np.linspace(-1, 1, 7))
print(inlay.explain(fn).cache, len(inlay.explain(fn).kernels), logp.item().hex(), gradient.tobytes().hex())
model["data"].set_value(np.ones(40))
print(fn(np.linspace(-1, 1, 7))[0].item().hex())
"""
    first, second = run(program), run(program)
    assert first[0].startswith("kept in the cache") and second[0].startswith("taken from the cache")
    assert first[0].split()[4:] == second[0].split()[4:]
    assert first[1] == second[1] != first[0].split()[-2]


def test_sampling_takes_what_it_compiles(folder):
    """Draws from a second process are those of the first, and of one without a cache."""
    program = """
import pymc as pm
with pm.Model():
    pm.Normal("x", 0, 1, shape=2)
    prior = pm.sample_prior_predictive(5, random_seed=3, compile_kwargs={"mode": "INLAY"})
print(prior.prior["x"].values.tobytes().hex())
"""
    first, second, without = run(program), run(program), run(program, INLAY_CACHE="0")
    assert first == second == without
    assert entries(folder)


def example(dtype="float64", shape=(None,), factor=2.0, name="x", result="exp", **keywords):
    x = pt.tensor(name, dtype=dtype, shape=shape)
    y = x * pt.constant(factor, dtype=keywords.pop("factor_dtype", dtype))
    return [x], [getattr(pt, result)(y)], keywords


def with_shared(kind=np.float64, updates=lambda s: {s: s + 1}, **keywords):
    x, s = pt.vector("x", dtype=kind), pytensor.shared(np.ones(3, kind), name="s", **keywords)
    return [x], x + s, {"updates": updates(s)}


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
            patch.setitem(cache_key._of_process, ("version", package), ("0.1", None))
            assert compiled(example)[1] == "kept in the cache"
    monkeypatch.setitem(cache_key._of_process, "environment", "another build, or another CPU")
    assert compiled(example)[1] == "kept in the cache"
    assert len(entries(folder)) == 4


def test_the_code_of_a_package_that_somebody_works_on_is_told_by_its_files(tmp_path, monkeypatch):
    (tmp_path / "ours").mkdir()
    source = tmp_path / "ours" / "__init__.py"
    source.write_text("__version__ = '1'")
    monkeypatch.syspath_prepend(tmp_path)
    __import__("ours")

    def version():
        cache_key._of_process.pop(("version", "ours"), None)
        return cache_key._version("ours")

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
        cache_key._of_process.pop(("version", "ours"), None)


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


def test_shared_variables_are_those_of_the_new_function(folder, silent, no_compiling):
    def make(start):
        x, s = pt.dvector("x"), pytensor.shared(start, name="s")
        return x, s, lambda: pytensor.function([x], (x * s).sum(), updates={s: s * 2}, mode="INLAY")

    _, s, compile_it = make(np.ones(3))
    before = compile_it()
    x, t, compile_it = make(np.full(3, 5.0))
    no_compiling()
    fn = compile_it()
    assert said(fn) == "taken from the cache"
    assert fn(np.ones(3)) == 15.0 and fn(np.ones(3)) == 30.0
    np.testing.assert_array_equal(t.get_value(), np.full(3, 20.0))
    np.testing.assert_array_equal(s.get_value(), np.ones(3))
    t.set_value(np.zeros(2))
    assert fn(np.ones(2)) == 0.0
    assert before(np.ones(3)) == 3.0
    assert fn.get_shared() == [t]


def test_what_else_pytensor_asks_of_a_function(folder, silent):
    """The maker with the graph is there, with the variables and the mode that were given."""

    def make(name):
        x, s = pt.dvector("x"), pytensor.shared(np.ones(3), name="s")
        fn = pytensor.function([x], [x * s, x], updates={s: s + 1}, mode="INLAY", name=name)
        return x, s, fn

    make("f")
    x, s, fn = make("g")
    assert said(fn) == "taken from the cache"
    assert (fn.name, fn.maker.name) == ("g", "g")
    fn.maker.fgraph  # noqa: B018  (is read)
    assert fn.maker.name == "g"
    assert [i.variable for i in fn.maker.inputs] == [x, s] == list(fn.maker.fgraph.inputs)
    assert fn.maker.mode is inlay.pytensor.MODE
    t = pytensor.shared(np.full(3, 4.0), name="t")
    copied = fn.copy(swap={s: t})
    np.testing.assert_array_equal(copied(np.ones(3))[0], np.full(3, 4.0))
    np.testing.assert_array_equal(t.get_value(), np.full(3, 5.0))
    np.testing.assert_array_equal(s.get_value(), np.ones(3))
    again = inlay.files.loads(inlay.files.dumps(fn))
    np.testing.assert_array_equal(again(np.ones(3))[0], np.ones(3))
    with pytest.raises(TypeError):
        fn(np.ones((3, 3)))


def test_generators_are_those_of_the_new_function(folder, silent, no_compiling):
    def make(seed):
        stream = RandomStream(seed)
        draw = stream.normal(0, 1, size=3)
        return lambda: pytensor.function([], draw, mode="INLAY")

    first = make(1)()
    want = [first() for _ in range(3)]
    same, other = make(1), make(2)
    no_compiling()
    fn = same()
    assert said(fn) == "taken from the cache"
    for array in want:
        np.testing.assert_array_equal(fn(), array)
    assert not np.array_equal(other()(), want[0])


def test_a_donated_input_is_overwritten(folder, silent):
    def make():
        x = pt.dvector("x")
        return pytensor.function([pytensor.In(x, mutable=True)], x[::-1] * 0 + pt.exp(x), mode="INLAY")

    results = []
    for fn in (make(), make()):
        given = np.zeros(1000)
        results.append((fn(given), given.copy()))
    assert said(fn) == "taken from the cache"
    np.testing.assert_array_equal(results[0][0], results[1][0])
    np.testing.assert_array_equal(results[0][1], results[1][1])


def test_what_runs_as_python_and_what_fails_is_as_before(folder, silent):
    def make():
        x, i = pt.dvector("x"), pt.lscalar("i")
        return pytensor.function([x, i], [pt.nonzero(x)[0], x[i]], mode="INLAY")

    first, second = make(), make()
    assert said(second) == "taken from the cache"
    np.testing.assert_array_equal(second(np.array([0.0, 1.0]), 1)[0], [1])
    words = []
    for fn in (first, second):
        with pytest.raises(IndexError) as raised:
            fn(np.ones(2), 5)
        words.append(str(raised.value).split("\n")[0])
    assert words[0] == words[1]


def test_an_unused_input_is_pytensors_to_refuse(folder):
    x, y = pt.dvector("x"), pt.dvector("y")
    pytensor.function([x, y], x + 1, mode="INLAY", on_unused_input="ignore")
    for _ in range(2):
        with pytest.raises(pytensor.compile.UnusedInputError):
            pytensor.function([x, y], x + 1, mode="INLAY")
    with pytest.warns(UserWarning, match="not part of the computational graph"):
        fn = pytensor.function([x, y], x + 1, mode="INLAY", on_unused_input="warn")
    assert "an input that nothing reads" in said(fn)
    fn = pytensor.function([x, y], x + 1, mode="INLAY", on_unused_input="ignore")
    assert said(fn) == "taken from the cache"


def test_a_key_that_has_the_same_hash_is_not_taken(folder, monkeypatch):
    """Two graphs whose names in the folder collide."""

    class OneHash:
        def __init__(self, key):
            pass

        def hexdigest(self):
            return "0" * 64

    monkeypatch.setattr(cache.hashlib, "sha256", OneHash)
    monkeypatch.setattr(registered.hashlib, "sha256", OneHash)
    x = np.array([1.0, 2.0])
    for result, want in (("exp", np.exp(2 * x)), ("cos", np.cos(2 * x))) * 2:
        fn, what = compiled(lambda result=result: example(result=result))
        assert what == "kept in the cache"
        np.testing.assert_allclose(fn(x)[0], want, rtol=1e-14)
    assert len(entries(folder)) == 1


def test_damaged_entries_are_not_taken(folder, monkeypatch):
    make = lambda: example(factor=np.arange(30.0), shape=(30,))  # noqa: E731
    x, keys, find = np.linspace(-1, 1, 30), [], cache.find
    monkeypatch.setattr(cache, "find", lambda key: keys.append(key) or find(key))
    want = compiled(make)[0](x)[0]
    (path,) = entries(folder)
    whole = path.read_bytes()
    rng = np.random.default_rng(0)
    damaged = [whole[:length] for length in (0, 1, 39, 40, 41, len(whole) // 2, len(whole) - 1)]
    path.write_bytes(whole)
    assert find(keys[0]) is not None
    for at in [*range(0, 48), *rng.integers(0, len(whole), 40)]:
        flipped = bytearray(whole)
        flipped[at] ^= 1 << int(rng.integers(8))
        damaged.append(bytes(flipped))
    damaged += [b"no function", whole + b"more", b"\0" * len(whole)]
    for data in damaged:
        path.write_bytes(data)
        assert find(keys[0]) is None
    path.write_bytes(damaged[-1])
    fn, what = compiled(make)
    assert what == "kept in the cache"  # anew
    np.testing.assert_array_equal(fn(x)[0], want)
    assert compiled(make)[1] == "taken from the cache"


def test_what_is_no_entry_is_not_taken(folder):
    """Links, folders and pipes; what others could have written."""
    compiled(example)
    (path,) = entries(folder)
    whole = path.read_bytes()
    assert oct(path.stat().st_mode & 0o777) == "0o600" and oct(folder.stat().st_mode & 0o777) == "0o700"

    def is_taken():
        return compiled(example)[1] == "taken from the cache"

    assert is_taken()
    path.chmod(0o602)
    assert not is_taken()  # and replaced
    assert is_taken()
    folder.chmod(0o702)
    assert not is_taken()
    folder.chmod(0o700)
    elsewhere = folder.parent / "elsewhere"
    elsewhere.write_bytes(whole)
    for make in (lambda: path.symlink_to(elsewhere), lambda: os.mkfifo(path), path.mkdir):
        path.unlink()
        make()
        assert not is_taken()
        if path.is_dir():
            path.rmdir()
            path.write_bytes(whole)
    assert elsewhere.read_bytes() == whole
    if os.geteuid() == 0:
        assert is_taken()
        os.chown(path, 12345, 12345)
        assert not is_taken()
        os.chown(folder, 12345, 12345)
        assert not is_taken()


def test_a_folder_that_cannot_be_written_or_is_none_is_no_error(tmp_path, monkeypatch):
    file = tmp_path / "file"
    file.write_text("x")
    places = [file, file / "below", pathlib.Path("/proc/nothing/here"), pathlib.Path("/dev/null")]
    for place in places:
        monkeypatch.setenv("INLAY_CACHE", str(place))
        fn, what = compiled(example)
        assert what == "not kept in the cache: its folder cannot be written, or has no room"
        np.testing.assert_allclose(fn(np.ones(2))[0], np.exp(2 * np.ones(2)), rtol=1e-14)
    assert file.read_text() == "x"


def test_without_a_cache_nothing_is_said(tmp_path, monkeypatch):
    monkeypatch.setenv("INLAY_CACHE", "0")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert compiled(example)[1] == ""
    monkeypatch.delenv("INLAY_CACHE")
    assert compiled(example)[1] == "kept in the cache"  # the default is the user's folder
    assert len(entries(tmp_path / "inlay")) == 1


def test_a_read_only_folder_is_read(folder):
    """By a user who may not write: one without root's rights."""
    run(PROGRAM)
    (path,) = entries(folder)
    if os.geteuid() != 0:
        folder.chmod(0o500)
    else:  # as root writes everywhere, the file system is read-only
        done = subprocess.run(["mount", "--bind", "-o", "ro", folder, folder], capture_output=True, check=False)
        if done.returncode != 0:
            pytest.skip("root may not mount here")
        subprocess.run(["mount", "-o", "remount,ro,bind", folder], check=True)
    try:
        assert run(PROGRAM)[0].startswith("taken from the cache 0 ")
        (what,) = run(PROGRAM.replace("x * w", "x - w"))
        assert what.startswith("not kept in the cache: its folder cannot be written, or has no room 1 ")
        assert entries(folder) == [path]
    finally:
        if os.geteuid() != 0:
            folder.chmod(0o700)
        else:
            subprocess.run(["umount", folder], check=True)


def test_a_full_disk_is_no_error(folder):
    """A file may not grow beyond what is written of an entry."""
    limit = "import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
    (what,) = run(limit + PROGRAM)
    assert what.startswith("not kept in the cache: its folder cannot be written, or has no room 1 ")
    assert list(folder.iterdir()) == []


def test_a_writer_that_was_killed_leaves_no_entry(folder):
    """Killed before the name is given, and while many are at work."""
    run("import os, signal, inlay.cache\nos.replace = lambda *a: os._exit(0)\n" + PROGRAM.partition("print")[0])
    assert entries(folder) == []
    (part,) = folder.iterdir()
    assert run(PROGRAM)[0].startswith("kept in the cache 1 ")
    assert part.exists()  # its writer may still be at it
    os.utime(part, (0, 0))
    run(PROGRAM.replace("x * w", "x - w"))
    assert not part.exists()


def test_many_processes_use_one_cache(folder):
    """All compute what one does without a cache; some are killed at any time."""
    program = IMPORTS + """
for factor in (2.0, 3.0, 4.0):
    x = pt.dvector("x")
    fn = pytensor.function([x], pt.exp(x * factor).sum(), mode="INLAY")
    np.testing.assert_allclose(fn(np.ones(3)), 3 * np.exp(factor), rtol=1e-14)
"""
    environment = {**os.environ, "PYTHONPATH": str(PYTHON)}
    command = [sys.executable, "-c", program]
    running = [subprocess.Popen(command, env=environment, stderr=subprocess.PIPE) for _ in range(8)]
    rng = np.random.default_rng(5)
    for process in running[::3]:
        time.sleep(rng.uniform(0, 1))
        process.send_signal(signal.SIGKILL)
    for process in running:
        _, errors = process.communicate()
        assert process.returncode in (0, -signal.SIGKILL), errors.decode()
    assert len(entries(folder)) == 3
    assert run(program + "    print(inlay.explain(fn).cache)\n") == ["taken from the cache"] * 3


def test_what_was_not_used_for_the_longest_time_leaves(folder, monkeypatch):
    factors = (2.0, 3.0, 4.0)
    for hours, factor in zip((3, 2, 1), factors):
        compiled(lambda factor=factor: example(factor=factor))
        newest = max(entries(folder), key=lambda path: path.stat().st_mtime)
        os.utime(newest, (time.time() - 3600 * hours,) * 2)
    total = sum(path.stat().st_size for path in entries(folder))
    monkeypatch.setenv("INLAY_CACHE_SIZE", str(int(total * 1.1)))
    assert compiled(lambda: example(factor=2.0))[1] == "taken from the cache"  # so the second is the oldest
    monkeypatch.setattr(cache, "_LARGEST_PART", 2)
    assert compiled(lambda: example(factor=5.0))[1] == "kept in the cache"
    assert len(entries(folder)) == 3
    assert compiled(lambda: example(factor=2.0))[1] == "taken from the cache"
    assert compiled(lambda: example(factor=4.0))[1] == "taken from the cache"
    assert compiled(lambda: example(factor=3.0))[1] == "kept in the cache"


def test_an_entry_that_would_take_much_of_the_room_is_not_kept(folder, monkeypatch):
    monkeypatch.setenv("INLAY_CACHE_SIZE", "1K")
    assert compiled(example)[1] == "not kept in the cache: its folder cannot be written, or has no room"
    make = lambda: example(factor=np.ones(20))  # noqa: E731
    assert compiled(make)[1] == "not kept in the cache: constants for which it has no room"
    assert not folder.exists()


def test_the_tool_shows_and_clears_it(folder):
    tool = [sys.executable, "-m", "inlay", "cache"]

    def inlay_cache(*words):
        done = subprocess.run(
            [*tool, *words], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(PYTHON)}
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert inlay_cache() == f"folder   {folder}\nentries  0\nbytes    0 of 536870912\n"
    compiled(example)
    compiled(with_shared)
    total = sum(path.stat().st_size for path in entries(folder))
    (folder / "mine.inlayfn").write_text("a user's")
    assert inlay_cache() == f"folder   {folder}\nentries  2\nbytes    {total} of 536870912\n"
    assert inlay_cache("--clear") == f"removed 2 entries of {total} bytes from {folder}\n"
    assert [path.name for path in folder.iterdir()] == ["mine.inlayfn"]
