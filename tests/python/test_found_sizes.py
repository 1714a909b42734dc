"""Ops whose results have other sizes than their types say: PyTensor's modes run them, and so does a function of inlay's,
compiled once more with sizes that its calls find."""

import copy
import ctypes
import pickle
import warnings
from concurrent.futures import ThreadPoolExecutor

import cloudpickle
import inlay.pymc
import inlay.pytensor
import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
import pytest
from conftest import assert_same
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op
from scipy.integrate import odeint
from versions import OLD_PYTENSOR

if OLD_PYTENSOR:
    from pytensor.ifelse import ifelse
else:
    from pytensor.conditional.op import ifelse

ONES = np.ones(3)
PYTHON = pytensor.compile.Mode("py", "fast_compile")


class Twice(Op):
    """x -> x and 2 x, one behind the other; its type says that of x."""

    def __init__(self, times=2):
        self.times = times

    def make_node(self, x):
        x = pt.as_tensor(x)
        return Apply(self, [x], [x.type()])

    def perform(self, node, inputs, outputs):
        outputs[0][0] = np.concatenate([k * inputs[0] for k in range(1, self.times + 1)])


def of_known_length(name="x", n=3):
    return pt.tensor(name, shape=(n,), dtype="float64")


def warned(call):
    """What the call returns, and the warnings that name an op."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        result = call()
    of_sizes = [w for w in found if "compiled once more" in str(w.message)]
    assert all(w.filename == __file__ for w in of_sizes)
    return result, [str(w.message) for w in of_sizes]


def check_both(inputs, outputs, *values, warnings_of=1):
    ours = pytensor.function(inputs, outputs, mode="INLAY")
    theirs = pytensor.function(inputs, outputs, mode=PYTHON)
    got, told = warned(lambda: ours(*values))
    assert len(told) == warnings_of, told
    want = theirs(*values)
    for g, w in zip(got, want, strict=True):
        assert_same(g, w)
    got, told = warned(lambda: ours(*values))
    assert told == []
    for g, w in zip(got, want, strict=True):
        assert_same(g, w)
    return ours


def test_a_result_of_another_length_than_its_type_says():
    x = of_known_length()
    out = pt.exp(Twice()(x)) + 1
    fn = check_both([x], [out, out.sum(), out[::-1][:2], x * 2, pt.join(0, out, x)], ONES)
    assert inlay.pytensor.explain(fn).host_calls == ["Twice"]
    fn = pytensor.function([x], out, mode="INLAY")
    told = warned(lambda: fn(ONES))[1]
    message = "Twice: output 0 has shape (6,), where its type says (3,): the function was compiled once more, with sizes that it finds"
    assert told == [message]


def test_matrices_columns_and_ops_behind_ops():
    m, c = pt.tensor("m", shape=(2, 3), dtype="float64"), pt.tensor("c", shape=(1, 3), dtype="float64")
    behind = Twice(3)(pt.tanh(Twice()(m)))
    check_both([m], [behind * 2, behind.sum(axis=0), behind.T], np.ones((2, 3)))
    op = Twice()
    check_both([c], [op(c) * 2, op(c).sum()], np.ones((1, 3)))


def test_an_op_that_keeps_to_its_type_is_compiled_once():
    x = of_known_length()
    fn = pytensor.function([x], pt.exp(Twice(times=1)(x)), mode="INLAY")
    program = fn.vm.compiled.program
    assert warned(lambda: fn(ONES))[1] == [] and fn.vm.compiled.program is program


def test_a_length_that_changes_from_call_to_call():
    class UpTo(Twice):
        def perform(self, node, inputs, outputs):
            outputs[0][0] = np.arange(inputs[0][0])

    x = of_known_length()
    fn = pytensor.function([x], UpTo()(x) * 2, mode="INLAY")
    results, told = warned(lambda: [fn(np.full(3, n)).tolist() for n in (3.0, 0.0, 5.0, 3.0)])
    assert results == [[0, 2, 4], [], [0, 2, 4, 6, 8], [0, 2, 4]] and len(told) == 1


@pytest.mark.parametrize("wrong", [lambda x: x.astype("complex128"), lambda x: x[None], lambda x: np.array(["a"])])
def test_another_dtype_or_rank_stays_an_error(wrong):
    class Wrong(Twice):
        def perform(self, node, inputs, outputs):
            outputs[0][0] = wrong(inputs[0])

    x = of_known_length()
    fn = pytensor.function([x], Wrong()(x) * 2, mode="INLAY")
    with pytest.raises(TypeError, match="Wrong: output 0"):
        fn(ONES)


def test_sizes_that_do_not_fit_all_the_same_are_the_callers_error():
    x, y, op = of_known_length(), pt.dvector("y"), Twice()
    fn = pytensor.function([x, y], op(x) + y, mode="INLAY")
    got, told = warned(lambda: fn(ONES, np.ones(6)))  # refused before the op has run: 6 and not 3
    assert_same(got, np.array([2.0, 2, 2, 3, 3, 3]))
    assert len(told) == 1
    for _ in range(2):
        with pytest.raises(ValueError, match="add: dim 0 is 6 on the left and 4 on the right"):
            fn(ONES, np.ones(4))
    plain = pytensor.function([x, y], Twice(times=1)(x) + y, mode="INLAY")
    program = plain.vm.compiled.program
    for _ in range(2):
        with pytest.raises(ValueError, match="add: dim 0 is 3"):
            plain(ONES, np.ones(4))
    assert plain.vm.compiled.program is program
    assert_same(plain(ONES, ONES), ONES * 2)


def test_an_error_of_the_callers_does_not_stop_what_comes_after():
    x, y = of_known_length(), pt.dvector("y")
    fn = pytensor.function([x, y], Twice()(x) + y, mode="INLAY")
    with pytest.raises(ValueError, match="add: dim 0 is"):
        fn(ONES, np.ones(4))
    got, told = warned(lambda: fn(ONES, np.ones(6)))
    assert_same(got, np.array([2.0, 2, 2, 3, 3, 3]))
    assert len(told) == 1


def test_threads_that_find_sizes_at_once():
    x, y = of_known_length(), pt.dvector("y")
    original = pytensor.function([x, y], Twice()(x) + y, mode="INLAY")
    # A function has cells of its own; what is shared is the compiled program and what it has found.
    copies = [original.copy() for _ in range(4)]
    with ThreadPoolExecutor(len(copies)) as pool, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for got in pool.map(lambda fn: fn(ONES, np.ones(6)), copies):
            assert_same(got, np.array([2.0, 2, 2, 3, 3, 3]))


def test_what_is_updated_is_updated_once():
    x, total, count = of_known_length(), pytensor.shared(np.zeros(6)), pytensor.shared(0)
    fn = pytensor.function([x], [Twice()(x).sum()], updates={total: total + Twice()(x), count: count + 1}, mode="INLAY")
    (_, told) = warned(lambda: fn(ONES))
    assert len(told) == 1 and count.get_value() == 1
    assert total.get_value().tolist() == [1, 1, 1, 2, 2, 2]
    fn(ONES)
    assert count.get_value() == 2 and total.get_value().tolist() == [2, 2, 2, 4, 4, 4]


def test_generators_draw_once():
    x, generator = of_known_length(), pytensor.shared(np.random.default_rng(5))
    after, noise = pt.random.normal(0, 1, size=2, rng=generator).owner.outputs
    outputs = [noise * 1, Twice()(x * noise.sum())]
    fn = pytensor.function([x], outputs, updates={generator: after}, mode="INLAY")
    want = np.random.default_rng(5).normal(0, 1, (2, 2))
    assert_same(warned(lambda: fn(ONES))[0][0], want[0])
    assert_same(fn(ONES)[0], want[1])


@pytest.mark.parametrize("how", [lambda f: pickle.loads(pickle.dumps(f)), lambda f: cloudpickle.loads(cloudpickle.dumps(f)), copy.copy, lambda f: f.copy()])
@pytest.mark.parametrize("called", [False, True])
def test_copies(how, called):
    x = of_known_length()
    fn = pytensor.function([x], pt.exp(Twice()(x)), mode="INLAY")
    want = np.exp([1.0, 1, 1, 2, 2, 2])
    if called:
        warned(lambda: fn(ONES))
    other = how(fn)
    assert_same(warned(lambda: other(ONES))[0], want)
    assert_same(warned(lambda: fn(ONES))[0], want)


def test_in_a_scan_and_in_a_branch():
    x, c, m = of_known_length(), pt.bscalar("c"), pt.tensor("m", shape=(4, 3), dtype="float64")
    kwargs = {} if OLD_PYTENSOR else {"return_updates": False}
    rows = pytensor.scan(lambda row: pt.exp(Twice()(row)), sequences=[m], **kwargs)
    rows = rows[0] if OLD_PYTENSOR else rows
    check_both([m], [rows, rows.sum()], np.ones((4, 3)))
    out = ifelse(c, pt.exp(Twice()(x)), Twice()(x) * 2)
    for which in (0, 1):
        ours = pytensor.function([c, x], [out, out.sum()], mode="INLAY")
        (got, _), told = warned(lambda: ours(which, ONES))
        assert len(told) == 1
        assert_same(got, np.exp([1.0, 1, 1, 2, 2, 2]) if which else np.array([2.0, 2, 2, 4, 4, 4]))


def test_warnings_as_errors_stop_nothing_for_good():
    x = of_known_length()
    fn = pytensor.function([x], Twice()(x) * 1, mode="INLAY")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="Twice: output 0 has shape"):
            fn(ONES)
        assert_same(fn(ONES), np.array([1.0, 1, 1, 2, 2, 2]))


# An ODE as in PyMC's example gallery: an op around SciPy's odeint whose type is that of its parameters.

TIMES = np.linspace(0, 3, 8)


def predator_and_prey(y, t, p):
    return [p[0] * y[0] - p[1] * y[0] * y[1], p[1] * y[0] * y[1] - p[2] * y[1]]


def solution(p):
    return odeint(predator_and_prey, p[3:], TIMES, args=(tuple(p[:3]),), rtol=1e-9, atol=1e-9).reshape(-1)


class SolutionGradient(Op):
    def make_node(self, x, g):
        x, g = pt.as_tensor(x), pt.as_tensor(g)
        return Apply(self, [x, g], [g.type()])

    def perform(self, node, inputs, outputs):
        p, g = inputs
        outputs[0][0] = np.array([(solution(p + h) - solution(p - h)) @ g / 2e-5 for h in 1e-5 * np.eye(len(p))])


class Solution(Op):
    def make_node(self, x):
        x = pt.as_tensor(x)
        return Apply(self, [x], [x.type()])

    def perform(self, node, inputs, outputs):
        outputs[0][0] = solution(inputs[0])

    def pullback(self, inputs, outputs, cotangents):
        return [SolutionGradient()(inputs[0], cotangents[0])]

    grad = lambda self, inputs, cotangents: self.pullback(inputs, None, cotangents)


START = np.array([1, 0.5, 0.6, 1.0, 1.0])


def ode_model():
    with pm.Model() as model:
        parameters = [pm.Normal(name, mean, 0.2) for name, mean in zip("abcde", START, strict=True)]
        logs = pt.log(Solution()(pm.math.stack(parameters)))
        pm.Potential("likelihood", -(logs**2).sum() * 5)
    return model


def test_an_ode_of_scipys():
    model = ode_model()
    ours, theirs = (model.logp_dlogp_function(ravel_inputs=True, mode=mode) for mode in ("INLAY", PYTHON))
    for fn in (ours, theirs):
        fn.set_extra_values({})  # PyMC 5 asks for it
    results, told = warned(lambda: [ours(point) for point in (START, START * 1.1)])
    assert len(told) == 1 and "Solution: output 0 has shape (16,), where its type says (5,)" in told[0]
    for got, point in zip(results, (START, START * 1.1), strict=True):
        for g, w in zip(got, theirs(point), strict=True):
            np.testing.assert_allclose(g, w, rtol=1e-10)
    with inlay.pytensor.default_mode(), model:
        trace = pm.sample(20, tune=20, chains=1, cores=1, progressbar=False, compute_convergence_checks=False, random_seed=1)
    assert trace.posterior["a"].shape == (1, 20)


def test_a_pointer_of_what_was_called_finds_sizes():
    """One of what was not fails with a code, and says why: there is nobody to compile it again."""
    x = of_known_length()
    out = Twice()(x).sum()
    doubles = ctypes.POINTER(ctypes.c_double)
    results = []
    for called in (True, False):
        fn = pytensor.function([x], [out, x * 2], mode="INLAY")
        if called:
            warned(lambda: fn(ONES))
        c = inlay.pytensor.c_function(fn, form="logp")
        call = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_size_t, doubles, doubles, doubles, ctypes.c_void_p)(c.address)
        gradient, value = np.empty(3), np.empty(())
        results.append(call(3, *(a.ctypes.data_as(doubles) for a in (ONES, gradient, value)), None))
        if called:
            assert value == 9 and gradient.tolist() == [2, 2, 2]
        else:
            assert "Twice: output 0 has shape (6,), where its type says (3,)" in c.last_error
    assert results == [0, -2]


def test_nutpie_samples_an_ode_of_scipys():
    nutpie = pytest.importorskip("nutpie")
    with pytest.warns(UserWarning, match="Solution"):
        compiled = inlay.pymc.compile_nutpie(ode_model())
    trace = nutpie.sample(compiled, draws=20, tune=20, chains=1, seed=1, progress_bar=False)
    assert trace.posterior["a"].shape == (1, 20)


class FirstTwo(Op):
    """Its type says three numbers. It calls a function, once, as another thread would."""

    __props__ = ()
    calls = None

    def make_node(self, x):
        return Apply(self, [x], [pt.tensor(dtype="float64", shape=(3,))])

    def perform(self, node, inputs, output_storage):
        if self.calls is not None:
            f, self.calls = self.calls, None
            f(np.full(4, 9.0))
        output_storage[0][0] = inputs[0][:2].copy()


def test_a_call_that_is_made_again_has_what_it_was_given():
    x, op = pt.dvector("x"), FirstTwo()
    f = pytensor.function([x], op(x) * 1, mode="INLAY")
    op.calls = f
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.testing.assert_array_equal(f(np.array([1.0, 2, 3])), [1, 2])
    np.testing.assert_array_equal(f(np.array([4.0, 5, 6])), [4, 5])
