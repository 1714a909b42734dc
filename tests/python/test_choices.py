"""What a caller chooses for one function: `inlay.compile(...)` and `inlay.pytensor.mode(...)`."""

import pickle

import inlay
import inlay.pytensor
import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest

try:
    from pytensor.conditional.op import ifelse
except ImportError:  # older versions
    from pytensor.ifelse import ifelse

TEXT = """
graph @main(%a: f64[n, n], %b: f64[n, n]) {
  %p = matmul %a, %b
  %e = exp %p
  %q = matmul %e, %b
  %m = reduce max %q [0] : f64
  %r = sub %q, %m
  return %r
}
"""
A, B = np.random.default_rng(0).normal(size=(2, 6, 6))


def want():
    q = np.exp(A @ B) @ B
    return q - q.max(axis=0)


def by_text(**choices):
    return inlay.compile(TEXT, **choices)


def by_pytensor(mode=None, **choices):
    a, b = pt.dmatrices("a", "b")
    q = pt.exp(a @ b) @ b
    return pytensor.function([a, b], q - q.max(axis=0), mode=mode or inlay.pytensor.mode(**choices))


DOORS = {"text": (by_text, inlay.explain), "pytensor": (by_pytensor, inlay.pytensor.explain)}


@pytest.fixture(params=DOORS)
def door(request):
    compiled, explain = DOORS[request.param]

    def made(**choices):
        fn = compiled(**choices)
        np.testing.assert_allclose(fn(A, B), want(), rtol=1e-12)
        return explain(fn)

    return made


def sharing(explanation):
    return explanation.memory_map.count("takes over")


def dumped(folder):
    return {path.suffix for path in folder.rglob("*")}


def test_two_backends_in_one_process(door, tmp_path):
    door(backend="c", dump=tmp_path / "c")
    door(backend="llvm", dump=tmp_path / "llvm")
    assert ".c" in dumped(tmp_path / "c") - dumped(tmp_path / "llvm")
    assert ".ll" in dumped(tmp_path / "llvm") - dumped(tmp_path / "c")


def test_how_much_is_fused(door):
    assert len(door(fuse="none").kernels) > len(door(fuse="full").kernels)


def test_the_environment_decides_where_the_caller_does_not(door, monkeypatch):
    fused = len(door().kernels)
    monkeypatch.setenv("INLAY_FUSE", "none")
    assert len(door().kernels) > fused
    assert len(door(fuse="full").kernels) == fused


def test_what_may_share_bytes(door):
    asked = []

    def never(step, value, operand):
        asked.append((step, value, operand))
        return False

    assert sharing(door(may_share=lambda *_: True)) == sharing(door()) > 0
    apart = door(may_share=never)
    assert sharing(apart) == 0
    assert asked
    assert all("kept apart" in apart.memory_map and isinstance(name, str) for pair in asked for name in pair)
    assert sharing(door(may_share=lambda *_: "even if larger")) > 0


def test_errors_of_may_share(door):
    with pytest.raises(ZeroDivisionError):
        door(may_share=lambda *_: 1 // 0)
    with pytest.raises(TypeError, match="may_share gave an int for"):
        door(may_share=lambda *_: 3)


def test_every_stage_can_be_written(door, tmp_path):
    door(dump=tmp_path, verify=True, order="given", planner="max", cpu="-avx512f")
    assert ".kernels" in dumped(tmp_path)


@pytest.mark.parametrize(
    ("choice", "what"),
    [
        ({"backend": "rust"}, "there is no backend `rust`\n  help: the backends are llvm and c"),
        ({"fuse": "some"}, "fuse=some: there is no such way to fuse"),
        ({"planner": "best"}, "planner"),
        ({"order": "any"}, "order=any: there is no such order"),
        ({"upper": {"no_size": 3}}, "no_size"),
        ({"planner": {"no_value": 0}}, "an offset for no_value, and there is no such storage"),
        ({"backend": "c", "cpu": "-avx2"}, "cpu=-avx2: the C compiler chooses its CPU"),
    ],
)
def test_names_that_there_are_not(door, choice, what):
    with pytest.raises((ValueError, NotImplementedError)) as error:
        door(**choice)
    assert what in str(error.value)


@pytest.mark.parametrize(
    ("choice", "what"),
    [
        ({"backend": 1}, "backend= takes a name, not an int"),
        ({"verify": 1}, "verify= takes True or False, not an int"),
        ({"upper": 3}, "upper= takes a dict by name, not an int"),
        ({"dump": 3}, "dump= takes the path of a folder, not an int"),
        ({"may_share": "no"}, r"may_share= takes a function of \(step, value, operand\), not a str"),
    ],
)
def test_choices_of_wrong_types(door, choice, what):
    with pytest.raises(TypeError, match=what):
        door(**choice)


@pytest.mark.parametrize("choice", ["backend", "fuse", "order", "cpu", "planner", "dump"])
def test_an_empty_name_is_not_the_default(door, choice):
    with pytest.raises(ValueError, match=f"^{choice}= takes .*, not an empty "):
        door(**{choice: ""})


def test_pytensors_tags():
    mode = inlay.pytensor.MODE
    explain = inlay.pytensor.explain
    usual, unfused = explain(by_pytensor(mode)), explain(by_pytensor(mode.excluding("fusion")))
    assert len(unfused.kernels) > len(usual.kernels)
    assert sharing(usual) > sharing(explain(by_pytensor(mode.excluding("inplace")))) == 0
    both = mode.excluding("inplace").excluding("fusion")
    assert (both.linker.choices.fuse, both.including("fast_run").linker.choices.fuse) == ("none", "none")
    assert both.including("fusion", "inplace").linker.choices == mode.linker.choices
    own = inlay.pytensor.mode(fuse="greedy", may_share=lambda *names: False)
    assert own.including("fusion", "inplace").linker.choices == own.linker.choices  # neither is off
    assert mode.linker.choices == inlay.pytensor.mode().linker.choices  # as it was


def test_what_was_chosen_comes_back_with_pytensors_tags():
    mode = inlay.pytensor.mode(fuse="greedy", may_share=lambda *names: False)
    off = pytensor.compile.mode.Mode.clone(mode.excluding("inplace", "fusion"))
    assert off.linker.choices != mode.linker.choices
    assert off.including("scan").linker.choices == off.linker.choices
    assert off.including("inplace").linker.choices.may_share is mode.linker.choices.may_share
    assert off.including("inplace", "fusion").linker.choices == mode.linker.choices
    assert inlay.pytensor.mode(fuse="none").including("fusion").linker.choices == inlay.pytensor.MODE.linker.choices


def names_under(tag):
    return {rewrite.name for rewrite in pytensor.compile.mode.optdb.__db__[tag]}


def test_names_of_rewrites_under_pytensors_tags():
    mode, usual = inlay.pytensor.MODE, inlay.pytensor.MODE.linker.choices
    for name in {"elemwise_fusion", "local_elemwise_fusion", "FusionOptimizer"} | names_under("fusion"):
        assert mode.excluding(name).linker.choices == mode.excluding("fusion").linker.choices != usual
    for name in {"local_inplace_setsubtensor", "inplace_opt"} | names_under("inplace"):
        assert mode.excluding(name).linker.choices == mode.excluding("inplace").linker.choices != usual
    for name in ("scan", "c_blas", "specialize", "SequenceDB", "no_such_name", "fast_run"):
        assert mode.excluding(name).linker.choices == usual, name


@pytest.mark.parametrize("name", ["local_inplace_setsubtensor", "inplace_elemwise"])
def test_an_argument_is_kept_without_a_rewrite_in_place(name):
    if name not in names_under("inplace"):
        pytest.skip(f"PyTensor {pytensor.__version__} has no {name}")
    x, y = pt.dvectors("x", "y")
    copies = []
    for mode in (inlay.pytensor.MODE, inlay.pytensor.MODE.excluding(name)):
        inputs = [pytensor.In(x, mutable=True, borrow=True), y]
        fn, given = pytensor.function(inputs, x[1:].set(y), mode=mode), np.zeros(3)
        np.testing.assert_array_equal(fn(given, np.ones(2)), [0, 1, 1])
        copies.append((given[1], len(inlay.pytensor.explain(fn).copies)))
    assert copies == [(1, 0), (0, 1)]


def test_a_pickled_function_is_compiled_with_the_same_choices():
    fn = pickle.loads(pickle.dumps(by_text(fuse="none", planner="naive", upper={"n": 6})))
    assert len(inlay.explain(fn).kernels) == len(inlay.explain(by_text(fuse="none")).kernels)
    np.testing.assert_allclose(fn(A, B), want(), rtol=1e-12)


def test_a_branch_that_is_a_function_of_its_own_is_compiled_so_too(monkeypatch):
    x, i = pt.dvector("x"), pt.lscalar("i")
    out = ifelse(i > 0, pt.exp(x)[: i + 1], pt.sort(x)[:i])
    seen = []
    compile = inlay.choices.Choices.compile
    monkeypatch.setattr(inlay.choices.Choices, "compile", lambda self, *a, **k: seen.append(self.fuse) or compile(self, *a, **k))
    fn = pytensor.function([x, i], out, mode=inlay.pytensor.mode(fuse="none"))
    np.testing.assert_allclose(fn(np.arange(3.0), 1), np.exp([0.0, 1.0]))
    assert set(seen) == {"none"}
