"""A function that is taken from the cache: in another process, with other shared variables, and what it is to PyTensor."""

import os

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
from pytensor.tensor.random.utils import RandomStream

import inlay
import inlay.pytensor
from caching import PROGRAM, PYTHON, entries, folder, no_compiling, run, said, silent  # noqa: F401


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


def test_radon_is_taken_without_a_code_generator(folder):
    program = """
import pathlib
import radon
model = radon.radon_model()
point = radon.flat_point(model)
fn = model.logp_dlogp_function(ravel_inputs=True, mode="INLAY")._pytensor_function
logp, gradient = fn(point)
print(logp.item().hex(), gradient.tobytes().hex())
print(inlay.explain(fn).cache)
print("libinlay_jit" in pathlib.Path("/proc/self/maps").read_text())
"""
    examples = os.pathsep.join([str(PYTHON), str(PYTHON.parent / "examples")])
    first, second = run(program, PYTHONPATH=examples), run(program, PYTHONPATH=examples)
    assert first[1:] == ["kept in the cache", "True"]
    assert second == [first[0], "taken from the cache", "False"]


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
