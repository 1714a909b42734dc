"""What a PyTensor user may ask of a mode."""

import gc
import importlib
import pickle
import sys
import threading

import cloudpickle
import inlay.pytensor
import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest

try:
    from pytensor.conditional.op import ifelse
except ImportError:
    from pytensor.ifelse import ifelse

from conftest import assert_same, host_calls


def inlay_function(*args, **kwargs):
    return pytensor.function(*args, mode="INLAY", **kwargs)


def test_by_name_and_as_object():
    x = pt.dvector("x")
    for mode in ("INLAY", "inlay", inlay.pytensor.MODE):
        fn = pytensor.function([x], x * 2, mode=mode)
        assert isinstance(fn.maker.linker, inlay.pytensor.InlayLinker)
        np.testing.assert_array_equal(fn([1.0, 2.0]), [2.0, 4.0])


def test_reloading():
    before = pytensor.compile.mode.get_mode("INLAY")
    importlib.reload(inlay.pytensor)
    assert pytensor.compile.mode.get_mode("INLAY") is before
    x = pt.dvector("x")
    assert pytensor.function([x], x + 1, mode="INLAY")([1.0]) == [2.0]


def test_default_mode():
    x = pt.dvector("x")
    before = pytensor.config.mode
    with inlay.pytensor.default_mode() as mode:
        assert mode is inlay.pytensor.MODE
        assert isinstance(pytensor.function([x], x * 2).maker.linker, inlay.pytensor.InlayLinker)
    assert pytensor.config.mode == before


def choices_now():
    x = pt.dvector("x")
    return pytensor.function([x], x * 2).maker.linker.choices


@pytest.mark.parametrize("choices", [{"threads": 2}, {"backend": "c", "fuse": "none"}])
def test_default_mode_and_use_take_what_mode_takes(choices, mode_as_it_was):
    want = inlay.pytensor.mode(**choices).linker.choices
    with inlay.pytensor.default_mode(**choices) as mode:
        assert mode.linker.choices == choices_now() == want
    assert pytensor.config.mode == mode_as_it_was
    assert inlay.pytensor.default_mode(**choices)(choices_now)() == want
    inlay.pytensor.use(**choices)
    assert choices_now() == want


def test_wrong_choices_change_no_mode(mode_as_it_was):
    for door in inlay.pytensor.use, inlay.pytensor.default_mode:
        with pytest.raises(ValueError, match="threads= takes a number of 1 at least, not 0"):
            door(threads=0)
        with pytest.raises(TypeError, match="thread"):
            door(thread=2)
    assert pytensor.config.mode == mode_as_it_was


@pytest.fixture
def mode_as_it_was():
    before = pytensor.config.mode
    yield before
    pytensor.config.mode = before


def is_ours():
    x = pt.dvector("x")
    return isinstance(pytensor.function([x], x * 2).maker.linker, inlay.pytensor.InlayLinker)


def by_use():
    inlay.pytensor.use()


def by_default_mode_without_with():
    inlay.pytensor.default_mode()


def by_the_name():
    pytensor.config.mode = "INLAY"


@pytest.mark.parametrize("way", [by_use, by_default_mode_without_with, by_the_name])
def test_for_the_whole_program(way, mode_as_it_was):
    way()
    assert is_ours()
    with pytensor.config.change_flags(mode="FAST_COMPILE"):
        assert not is_ours()
    assert is_ours()


def test_a_name_that_is_no_mode_is_refused(mode_as_it_was):
    with pytest.raises(ValueError, match="INLAYS"):
        pytensor.config.mode = "INLAYS"


def test_default_mode_nested_twice_and_as_a_decorator(mode_as_it_was):
    block = inlay.pytensor.default_mode()
    for _ in range(2):
        with block, inlay.pytensor.default_mode():
            assert is_ours()
        assert pytensor.config.mode == mode_as_it_was
    decorated = inlay.pytensor.default_mode()(is_ours)
    assert pytensor.config.mode == mode_as_it_was and decorated() and pytensor.config.mode == mode_as_it_was
    with pytest.raises(ZeroDivisionError), inlay.pytensor.default_mode():
        raise ZeroDivisionError
    assert pytensor.config.mode == mode_as_it_was


def test_including_and_excluding_make_modes_of_the_same_linker():
    x = pt.dvector("x")
    mode = inlay.pytensor.MODE.excluding("stabilize").including("canonicalize")
    fn = pytensor.function([x], pt.exp(x), mode=mode)
    np.testing.assert_array_equal(fn([0.0]), [1.0])


def test_a_name_that_was_excluded_comes_back_by_including_it():
    mode = inlay.pytensor.MODE
    for name in ("inplace", "local_inplace_setsubtensor", "fusion"):
        assert mode.excluding(name).including(name).linker.without == mode.linker.without
        assert mode.excluding(name).linker.without


def test_results_are_arrays_of_rank_zero():
    x = pt.dvector("x")
    result = inlay_function([x], x.sum())(np.arange(3.0))
    assert type(result) is np.ndarray and result.shape == ()


def test_inputs_by_name_and_lists():
    x, y = pt.dvector("x"), pt.dscalar("y")
    fn = inlay_function([x, y], [x * y])
    np.testing.assert_array_equal(fn([1, 2], y=3)[0], [3, 6])
    np.testing.assert_array_equal(fn(y=2, x=[1, 2])[0], [2, 4])


def test_shared_variables_and_updates():
    state = pytensor.shared(np.arange(3.0), name="state")
    count = pytensor.shared(np.int64(0), name="count")
    x = pt.dvector("x")
    fn = inlay_function([x], [state * x, count], updates={state: state + x, count: count + 1})
    for i in range(3):
        product, c = fn(np.ones(3))
        np.testing.assert_array_equal(product, np.arange(3.0) + i)
        assert c == i
    np.testing.assert_array_equal(state.get_value(), np.arange(3.0) + 3)
    assert count.get_value() == 3
    state.set_value(np.zeros(5))  # another length
    np.testing.assert_array_equal(fn(np.ones(5))[0], np.zeros(5))


def test_updates_only():
    state = pytensor.shared(np.arange(3.0))
    fn = inlay_function([], updates=[(state, state * 2)])
    assert not fn()
    fn()
    np.testing.assert_array_equal(state.get_value(), np.arange(3.0) * 4)


def test_swapping_updates_read_the_old_values():
    a, b = pytensor.shared(np.array([1.0, 2.0])), pytensor.shared(np.array([3.0, 4.0]))
    inlay_function([], updates={a: b, b: a})()
    np.testing.assert_array_equal(a.get_value(), [3, 4])
    np.testing.assert_array_equal(b.get_value(), [1, 2])


def test_outputs_stay_as_they_were_after_later_calls():
    x = pt.dvector("x")
    fn = inlay_function([x], [x * 2, x[1:]])
    first = fn(np.arange(3.0))
    kept = [r.copy() for r in first]
    fn(np.arange(3.0) + 100)
    for r, k in zip(first, kept):
        np.testing.assert_array_equal(r, k)


def test_givens():
    x, y = pt.dvectors("x", "y")
    np.testing.assert_array_equal(inlay_function([y], x * 2, givens={x: y + 1})([1.0]), [4.0])


def test_trust_input():
    x = pt.dvector("x")
    fn = inlay_function([x], pt.exp(x).sum(), trust_input=True)
    assert fn(np.zeros(4)) == 4.0
    fn.trust_input = False
    assert fn([0, 0]) == 2.0


def test_trusted_input_that_does_not_fit_is_a_type_error():
    x = pt.dvector("x")
    fn = inlay_function([x], x * 2, trust_input=True)
    for wrong in (np.zeros(3, "float32"), np.zeros((2, 2)), np.zeros(3, "int64"), "text"):
        with pytest.raises(TypeError, match="x"):
            fn(wrong)
    np.testing.assert_array_equal(fn(np.ones(2)), [2, 2])


@pytest.mark.parametrize("how", [pickle, cloudpickle])
def test_pickling(how):
    state = pytensor.shared(np.array(1.0), name="state")
    x = pt.dvector("x")
    fn = inlay_function([x], pt.exp(x) * state, updates={state: state + 1}, trust_input=True)
    fn(np.zeros(2))
    copy = how.loads(how.dumps(fn))
    assert isinstance(copy.maker.linker, inlay.pytensor.InlayLinker)
    assert copy.trust_input
    np.testing.assert_array_equal(copy(np.zeros(2)), [2, 2])
    np.testing.assert_array_equal(copy(np.zeros(2)), [3, 3])
    np.testing.assert_array_equal(fn(np.zeros(2)), [2, 2])  # its own state


def test_pickling_the_mode():
    mode = pickle.loads(pickle.dumps(inlay.pytensor.MODE))
    assert isinstance(mode.linker, inlay.pytensor.InlayLinker)
    x = pt.dvector("x")
    np.testing.assert_array_equal(pytensor.function([x], x + 1, mode=mode)([1.0]), [2.0])


def test_copy_with_swapped_state():
    state, other = pytensor.shared(0.0), pytensor.shared(100.0)
    x = pt.dscalar("x")
    fn = inlay_function([x], state * 1.0, updates={state: state + x})
    copy = fn.copy(swap={state: other})
    assert fn(1) == 0 and copy(1) == 100 and fn(1) == 1 and copy(1) == 101
    frozen = fn.copy(delete_updates=True)
    assert frozen(1) == 2 and frozen(1) == 2


def test_profile():
    x = pt.dvector("x")
    fn = pytensor.function([x], pt.exp(x), mode="INLAY", profile=True)
    fn(np.zeros(3))
    fn(np.zeros(3))
    assert fn.profile.fct_callcount == 2
    fn.profile.summary(file=open("/dev/null", "w"))


def whole_text(exception):
    return str(exception) + "".join(getattr(exception, "__notes__", []))


def test_errors_name_the_users_node():
    x, i = pt.dvector("x"), pt.lvector("i")
    y = pt.exp(x)[i] * 2
    fn = inlay_function([x, i], y)
    with pytensor.config.change_flags(exception_verbosity="high"), pytest.raises(IndexError) as raised:
        fn(np.arange(3.0), np.array([0, 5]))
    text = whole_text(raised.value)
    assert "5" in text and "3" in text
    assert "AdvancedSubtensor" in text  # PyTensor's own "Apply node that caused the error"
    np.testing.assert_array_equal(fn(np.zeros(3), np.array([0, -3])), [2, 2])


class Fragile(pytensor.graph.op.Op):
    """Doubles its input; raises what it was given for a negative one; keeps what it was given."""

    __props__ = ("exception",)

    def __init__(self, exception):
        self.exception = exception
        self.seen = []

    def make_node(self, x):
        x = pt.as_tensor_variable(x)
        return pytensor.graph.basic.Apply(self, [x], [x.type()])

    def perform(self, node, inputs, outputs):
        (x,) = inputs
        self.seen.append(x)
        if (x < 0).any():
            raise self.exception("x is negative")
        outputs[0][0] = x * 2


class OddError(Exception):
    pass


def test_a_foreign_op_runs_as_python_alone():
    x = pt.dvector("x")
    op = Fragile(OddError)
    fn = inlay_function([x], pt.exp(op(x * 3)).sum())
    assert list(host_calls(fn).values()) == ["no native form"]
    assert_same(fn(np.arange(3.0)), np.exp(np.arange(3.0) * 6).sum())
    with (
        pytensor.config.change_flags(exception_verbosity="high"),
        pytest.raises(OddError, match="x is negative") as raised,
    ):
        fn(-np.arange(3.0))
    assert "Fragile" in whole_text(raised.value)
    assert_same(fn(np.zeros(2)), np.array(2.0))


def test_what_a_foreign_op_keeps_does_not_change():
    x = pt.dvector("x")
    op = Fragile(OddError)
    fn = inlay_function([x], op(x * 3))
    for i in range(5):
        fn(np.full(4, float(i)))
    assert [list(s) for s in op.seen] == [[3.0 * i] * 4 for i in range(5)]


def test_a_foreign_op_that_returns_its_input():
    class Same(Fragile):
        def perform(self, node, inputs, outputs):
            outputs[0][0] = inputs[0]

    x = pt.dvector("x")
    fn = inlay_function([x], [Same(OddError)(x), x * 2])
    value = np.arange(3.0)
    result = fn(value)[0]
    np.testing.assert_array_equal(result, value)
    assert not np.shares_memory(result, value)


def test_random_numbers():
    def draws(mode):
        rng = pytensor.shared(np.random.default_rng(1), name="rng")
        next_rng, draw = pt.random.normal(1.0, 2.0, size=(3,), rng=rng).owner.outputs
        fn = pytensor.function([], [draw * 2], updates={rng: next_rng}, mode=mode)
        return [fn()[0] for _ in range(3)]

    for ours, theirs in zip(draws("INLAY"), draws("FAST_COMPILE"), strict=True):
        assert_same(ours, theirs)


def test_scan():
    x = pt.dvector("x")
    start = pt.zeros((), dtype="float64")
    result = pytensor.scan(lambda v, total: total * 0.5 + v, sequences=[x], outputs_info=[start], return_updates=False)
    ours, theirs = (pytensor.function([x], result * 1.0, mode=m) for m in ("INLAY", "FAST_COMPILE"))
    assert_same(ours(np.arange(5.0)), theirs(np.arange(5.0)))
    assert_same(ours(np.arange(9.0)), theirs(np.arange(9.0)))


def test_ifelse_takes_one_branch():
    c, x = pt.bscalar("c"), pt.dvector("x")
    fn = inlay_function([c, x], ifelse(c, x * 2, x[:1] + 1))
    np.testing.assert_array_equal(fn(1, [1.0, 2.0]), [2, 4])
    np.testing.assert_array_equal(fn(0, [1.0, 2.0]), [2])


def test_sparse_matrices_pass_through():
    scipy_sparse = pytest.importorskip("scipy.sparse")
    import pytensor.sparse

    m, v = pytensor.sparse.csr_matrix("m"), pt.dmatrix("v")
    fn = inlay_function([m, v], [pytensor.sparse.dot(m, v) * 2, m])
    product, same = fn(scipy_sparse.csr_matrix(np.eye(3)), np.ones((3, 2)))
    np.testing.assert_array_equal(product, np.full((3, 2), 2.0))
    assert scipy_sparse.issparse(same)


def test_shapes_of_sparse_matrices(check):
    pytest.importorskip("scipy.sparse")
    import pytensor.sparse

    x = pt.dmatrix("x")
    sparse = pytensor.sparse.csr_from_dense(x)
    rows, columns = sparse.shape
    values = np.diag(np.arange(4.0))[:, :3]
    dense = pytensor.sparse.dense_from_sparse(sparse)
    check([x], [rows, columns * 2, pt.zeros((columns, rows)), dense], values, native=False)


def test_axes_with_names(check):
    xtensor = pytest.importorskip("pytensor.xtensor")
    x = xtensor.xtensor("x", dims=("row", "column"), shape=(None, 3))
    y = xtensor.xtensor("y", dims=("column",), shape=(3,))
    check([x, y], [x + y, (x * y).sum("row"), x.isel(column=0), x], np.arange(6.0).reshape(2, 3), np.arange(3.0))


def test_scalars_of_pytensor():
    import pytensor.scalar as ps

    x, i = ps.float64("x"), ps.int64("i")
    total, doubled = inlay_function([x, i], [x + i, x * 2])(1.5, 2)
    assert total == 3.5 and doubled == 3.0


def test_a_branch_that_is_not_taken_cannot_fail():
    c, d, x, i = pt.bscalar("c"), pt.bscalar("d"), pt.dvector("x"), pt.lscalar("i")
    shared_by_both = pt.exp(x)
    foreign = Fragile(OddError)(x)
    inner = ifelse(d, shared_by_both[i] + foreign.sum(), shared_by_both.sum())
    fn = inlay_function([c, d, x, i], [ifelse(c, inner, x[0] * 2), shared_by_both])
    ones, minus = np.ones(3), -np.ones(3)
    assert_same(fn(1, 1, ones, 2)[0], np.array(np.e + 6))
    assert_same(fn(1, 0, minus, 100)[0], np.array(3 / np.e))
    assert_same(fn(0, 1, minus, 100)[0], np.array(-2.0))
    with pytest.raises(IndexError):
        fn(1, 1, ones, 100)
    with pytest.raises(OddError):
        fn(1, 1, minus, 0)
    assert_same(fn(1, 1, ones, 2)[0], np.array(np.e + 6))


def test_an_op_without_a_native_form_runs_as_python(check):
    x = pt.dvector("x")
    check([x], [pt.cumsum(x) * 2, pt.unique(x)], np.array([3.0, 1.0, 2.0, 1.0]), native=False)


def test_threads():
    x = pt.dvector("x")
    foreign = Fragile(OddError)(x)
    functions = [inlay_function([x], pt.exp(x) * 2 + foreign, trust_input=True) for _ in range(8)]
    wrong = []

    def work(fn, seed):
        value = np.random.default_rng(seed).random(5000)
        want = fn(value)
        for _ in range(100):
            if not np.array_equal(fn(value), want):
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(fn, i)) for i, fn in enumerate(functions)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert wrong == []


def resident_bytes():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * 4096


@pytest.mark.parametrize("kind", ["plain", "copied", "host_call", "error", "updates"])
def test_calls_leave_the_resident_size_unchanged(kind):
    x, i = pt.dvector("x"), pt.lscalar("i")
    if kind == "host_call":
        op = Fragile(OddError)
        op.seen = type("Nothing", (), {"append": lambda self, v: None})()
        fn = inlay_function([x], op(x), trust_input=True)
    elif kind == "error":
        fn = inlay_function([x, i], x[i], trust_input=True)
    elif kind == "updates":
        state = pytensor.shared(np.zeros(100))
        fn = inlay_function([x], state + x, updates={state: state * 0.5 + x}, trust_input=True)
    else:
        fn = inlay_function([x], [pt.exp(x), x.sum()], trust_input=True)
    value = np.zeros(200)[::2] if kind == "copied" else np.zeros(100)

    def calls(count):
        for _ in range(count):
            if kind == "error":
                with pytest.raises(IndexError):
                    fn(value, np.array(100))
            else:
                fn(value)

    many = 2_000 if kind == "error" else 10_000 if kind == "host_call" else 100_000
    calls(many // 10)
    gc.collect()
    before = resident_bytes()
    calls(many)
    gc.collect()
    assert resident_bytes() - before < 2**20


def test_functions_are_freed():
    x = pt.dvector("x")
    big = np.random.default_rng(0).random(2**20)  # 8 MiB, bound

    def make():
        assert inlay_function([x], (x * big).sum())(np.ones(2**20)) > 0

    make()
    gc.collect()
    before = resident_bytes()
    for _ in range(10):
        big = big + 1.0
        make()
        gc.collect()
    assert resident_bytes() - before < 30 * 2**20


class CallsAgain(pytensor.graph.op.Op):
    """An op whose `perform` calls a function that holds the op."""

    __props__ = ()
    function = None

    def make_node(self, x):
        return pytensor.graph.basic.Apply(self, [x], [x.type()])

    def perform(self, node, inputs, outputs):
        (x,) = inputs
        outputs[0][0] = x if x.sum() == 0 else CallsAgain.function(x - 1)


def test_a_function_may_call_itself():
    x = pt.dvector("x")
    y = pt.exp(x)
    fn = inlay_function([x], CallsAgain()(x + 0 * y.sum()) + y)
    CallsAgain.function = fn
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(1000)  # Python's own; some libraries raise it beyond what any stack holds
    try:
        np.testing.assert_allclose(fn([3.0]), np.exp([3.0]) + np.exp([2.0]) + np.exp([1.0]) + 1)
        with pytest.raises(RecursionError):
            fn([0.5])  # never 0
        np.testing.assert_allclose(fn([1.0]), np.exp([1.0]) + 1)
    finally:
        sys.setrecursionlimit(limit)
        CallsAgain.function = None
