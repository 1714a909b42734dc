"""C pointers, called through ctypes."""

import ctypes
import gc
import subprocess
import sys
import threading

import inlay.pytensor
import models
import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
from conftest import on_eight_threads
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op

DOUBLES = ctypes.POINTER(ctypes.c_double)
FLAT = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_size_t, DOUBLES, DOUBLES, DOUBLES, ctypes.c_void_p)


def pointer(array):
    return array.ctypes.data_as(DOUBLES)


def call_flat(c, x):
    grad, logp = np.full(x.size, 99.0), np.full((), 99.0)
    code = FLAT(c.address)(x.size, pointer(x), pointer(grad), pointer(logp), None)
    return code, logp, grad


@pytest.fixture(scope="module")
def radon():
    return models.logp_and_gradient(models.radon(), "INLAY")


def test_flat_form(radon):
    c = inlay.pytensor.c_function(radon)
    assert "size_t dim, const double *x, double *grad, double *logp, const void *user_data" in c.signature
    for x in models.points(radon):
        code, logp, grad = call_flat(c, x)
        want_logp, want_grad = radon(x)
        assert code == 0
        np.testing.assert_array_equal(logp, want_logp)
        np.testing.assert_array_equal(grad, want_grad)


def test_keeps_what_it_needs(radon):
    def make():
        x = pt.tensor("x", shape=(3,), dtype="float64")
        big = np.random.default_rng(0).random(1000)
        fn = pytensor.function([x], [(x.sum() * big).sum(), x * big.sum()], mode="INLAY")
        value = np.arange(3.0)
        return inlay.pytensor.c_function(fn), value, fn(value)

    c, x, want = make()
    gc.collect()
    _ = [np.random.default_rng(i).random(1000) for i in range(100)]
    code, logp, grad = call_flat(c, x)
    assert code == 0
    np.testing.assert_array_equal(logp, want[0])
    np.testing.assert_array_equal(grad, want[1])


def test_codes():
    x = pt.tensor("x", shape=(2,), dtype="float64")
    fn = pytensor.function([x], [pt.log(x).sum(), 1 / x], mode="INLAY")
    c = inlay.pytensor.c_function(fn)
    assert call_flat(c, np.array([1.0, 2.0]))[0] == 0
    assert call_flat(c, np.array([0.0, 2.0]))[0] > 0
    assert call_flat(c, np.array([1.0, 2.0, 3.0]))[0] < 0  # another dim


def test_failed_check_is_fatal():
    x = pt.tensor("x", shape=(2,), dtype="float64")
    from pytensor.raise_op import Assert

    y = Assert("positive")(x, pt.all(x > 0))
    c = inlay.pytensor.c_function(pytensor.function([x], [y.sum(), y * 2], mode="INLAY"))
    assert call_flat(c, np.array([1.0, 2.0]))[0] == 0
    assert call_flat(c, np.array([-1.0, 2.0]))[0] < 0


class Doubled(Op):
    """In Python alone; not of everything."""

    def make_node(self, x):
        return Apply(self, [x], [x.type()])

    def perform(self, node, inputs, outputs):
        if inputs[0][0] > 5:
            raise ArithmeticError(f"{inputs[0][0]} is too much")
        outputs[0][0] = 2 * inputs[0]


def test_the_text_of_a_host_calls_exception():
    x = pt.tensor("x", shape=(2,), dtype="float64")
    y = Doubled()(x)
    told = []
    for on_error in (None, told.append):
        c = inlay.pytensor.c_function(pytensor.function([x], [y.sum(), y], mode="INLAY"), form="logp", on_error=on_error)
        assert call_flat(c, np.array([1.0, 2.0]))[0] == 0 and c.last_error is None
        assert call_flat(c, np.array([7.0, 2.0]))[0] == -2
        assert "a host call failed: ArithmeticError: 7.0 is too much" in c.last_error
    assert [str(error).splitlines()[0] for error in told] == ["7.0 is too much"]


def test_user_data_of_a_function_of_text_is_refused():
    fn = inlay.compile("graph @main(%x: f64[n]) {\n  %s = reduce add %x [0] : f64\n  return %s, %x\n}")
    with pytest.raises(ValueError, match="user_data is for shared variables"):
        inlay.pytensor.c_function(fn, form="logp", user_data={"x": (0, 8)})


def flat_call(c):
    doubles = ctypes.POINTER(ctypes.c_double)
    call = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_size_t, doubles, doubles, doubles, ctypes.c_void_p)(c.address)
    x, grad, logp = np.ones(2), np.full(2, 7.0), np.full((), 7.0)

    def run(dim, record=None):
        address = None if record is None else record.ctypes.data
        grad[:] = 7
        code = call(dim, *(a.ctypes.data_as(doubles) for a in (x, grad, logp)), address)
        assert code == 0 or (grad == 7).all()
        return code

    run.keeps = c  # the code
    return run


def test_lengths_that_no_vector_has():
    x = pt.dvector("x")
    run = flat_call(inlay.pytensor.c_function(pytensor.function([x], [x.sum(), x * 2], mode="INLAY")))
    assert run(2) == 0
    assert [run(dim) for dim in (2**60, 2**61, 2**63 - 1, 2**63, 2**64 - 1)] == [-3] * 5
    x = pt.tensor("x", shape=(2,), dtype="float64")
    run = flat_call(inlay.pytensor.c_function(pytensor.function([x], [x.sum(), x * 2], mode="INLAY")))
    assert [run(dim) for dim in (3, 2**60, 2**63, 2**64 - 1)] == [-1] * 4


def test_null_pointers():
    """Where a pointer has nothing to point to, it may be null."""
    x = pt.dvector("x")
    data = pytensor.shared(np.ones(2), name="data")
    fn = pytensor.function([x], [(x * data.sum()).sum(), x * 0 + data.sum()], mode="INLAY")
    c = inlay.pytensor.c_function(fn, form="logp", user_data={data: (0, 8)})
    call = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_size_t, *[ctypes.c_void_p] * 4)(c.address)
    point, grad, logp, array = np.ones(2), np.ones(2), np.ones(()), np.ones(3)
    record = np.array([array.ctypes.data, 3])
    given = [a.ctypes.data for a in (point, grad, logp, record)]
    assert call(2, *given) == 0
    for i, name in enumerate(["x", "grad", "logp"]):
        assert call(2, *given[:i], None, *given[i + 1 :]) == -1
        assert f"{name} is a null pointer" in c.last_error
    assert call(0, None, None, *given[2:]) == 0
    record[0] = 0
    assert call(2, *given) == -1
    assert "the address of data is a null pointer" in c.last_error
    record[1] = 0
    assert call(2, *given) == 0

    c = inlay.pytensor.c_function(pytensor.function([x], x * 2, mode="INLAY"), form="expand")
    call = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_size_t, ctypes.c_size_t, *[ctypes.c_void_p] * 3)(c.address)
    assert [call(2, 2, *given[:2], None), call(2, 2, given[0], None, None), call(0, 0, None, None, None)] == [0, -1, 0]


def test_dims_in_user_data_that_no_array_has():
    x = pt.dvector("x")
    data = pytensor.shared(np.ones((2, 2)), name="data")
    fn = pytensor.function([x], [(x * data.sum()).sum(), x * 0 + data.sum()], mode="INLAY")
    c = inlay.pytensor.c_function(fn, form="logp", user_data={data: (0, 8)})
    run, array = flat_call(c), np.ones((3, 2))
    assert run(2, np.array([array.ctypes.data, 3, 2])) == 0
    for dims, code in [((-5, 2), -1), ((3, -1), -1), ((0, -1), -1), ((2**62, 2), -3), ((2**32, 2**32), -3)]:
        assert run(2, np.array([array.ctypes.data, *dims])) == code
        assert ("data is -" if code == -1 else "data has dims [") in c.last_error
    assert run(2) == -1
    assert run(2**63, np.array([array.ctypes.data, 3, 2])) == -3


def test_a_record_of_user_data_that_cannot_be():
    x = pt.dvector("x")
    a, b = pytensor.shared(np.ones(2), name="a"), pytensor.shared(np.ones((2, 2)), name="b")
    fn = pytensor.function([x], [(x * a.sum() * b.sum()).sum(), x * 2], mode="INLAY")

    def refused(error, match, user_data):
        with pytest.raises(error, match=match):
            inlay.pytensor.c_function(fn, form="logp", user_data=user_data)

    refused(TypeError, "not a dict", [1])
    refused(TypeError, "not two offsets", {a: (0, True)})
    refused(TypeError, "not two offsets", {a: (-8, 0)})
    refused(ValueError, "no record has room for the address of a", {a: (2**70, 8)})
    refused(ValueError, "no record has room for the dims of a", {a: (0, 2**63 - 2)})
    refused(ValueError, "the address of a and the address of b share bytes", {a: (0, 8), b: (0, 16)})
    refused(ValueError, "the address of a and the dims of a share bytes", {a: (0, 4)})
    refused(ValueError, "the dims of b and the dims of a share bytes", {a: (0, 24), b: (8, 16)})
    inlay.pytensor.c_function(fn, form="logp", user_data={a: (0, 32), b: (8, 16)})


def test_shared_variables_are_bound():
    x = pt.tensor("x", shape=(2,), dtype="float64")
    scale = pytensor.shared(np.array([2.0, 3.0]))
    fn = pytensor.function([x], [(x * scale).sum(), x * scale], mode="INLAY")
    c = inlay.pytensor.c_function(fn)
    code, logp, grad = call_flat(c, np.ones(2))
    assert code == 0 and logp == 5
    np.testing.assert_array_equal(grad, [2, 3])


def test_general_form():
    x, y = pt.tensor("x", shape=(2, 3), dtype="float64"), pt.tensor("y", shape=(3,), dtype="int64")
    fn = pytensor.function([x, y], [x * y, y.sum()], mode="INLAY")
    c = inlay.pytensor.c_function(fn)
    a, b = np.arange(6.0).reshape(2, 3), np.array([1, 2, 3])
    out, total = np.zeros((2, 3)), np.zeros((), "int64")
    pointers = ctypes.c_void_p * 2
    call = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(c.address)
    assert call(pointers(a.ctypes.data, b.ctypes.data), pointers(out.ctypes.data, total.ctypes.data)) == 0
    np.testing.assert_array_equal(out, a * b)
    assert total == 6


def test_a_flat_vector_of_any_length():
    x = pt.dvector("x")
    c = inlay.pytensor.c_function(pytensor.function([x], [x.sum(), x * 2], mode="INLAY"))
    for n in (1, 5, 1000):
        code, logp, grad = call_flat(c, np.arange(float(n)))
        assert code == 0 and logp == np.arange(float(n)).sum()
        np.testing.assert_array_equal(grad, np.arange(float(n)) * 2)


def test_a_gradient_that_is_as_long_only_for_some_lengths():
    x = pt.dvector("x")
    fn = pytensor.function([x], [x.sum(), pt.concatenate([x[:2] * 2, x[2:3]])], mode="INLAY")
    c = inlay.pytensor.c_function(fn)
    assert call_flat(c, np.arange(3.0))[0] == 0
    assert call_flat(c, np.arange(7.0))[0] < 0


def test_other_sizes_must_be_constants():
    x = pt.dmatrix("x")
    with pytest.raises(NotImplementedError, match="x"):
        inlay.pytensor.c_function(pytensor.function([x], [x.sum(), x * 2], mode="INLAY"))


def test_eight_threads_at_once(radon):
    c = inlay.pytensor.c_function(radon)
    points = models.points(radon, 8)
    wanted = [radon(x) for x in points]
    wrong = []

    def work(i):
        for _ in range(300):
            code, logp, grad = call_flat(c, points[i])
            if code != 0 or logp != wanted[i][0] or not np.array_equal(grad, wanted[i][1]):
                wrong.append(i)

    on_eight_threads(work)
    assert wrong == []


ENDS_IN_THE_MIDST = """
import ctypes, threading, time
import numpy as np, pytensor, pytensor.tensor as pt, inlay.pytensor
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op

class Slow(Op):
    def make_node(self, x):
        return Apply(self, [x], [x.type()])

    def perform(self, node, inputs, out):
        time.sleep(0.05)
        out[0][0] = inputs[0] * 2.0
        begun.set()

x = pt.vector("x", shape=(3,), dtype="float64")
c = inlay.pytensor.c_function(pytensor.function([x], [x.sum(), Slow()(x)], mode="INLAY"))
DOUBLES = ctypes.POINTER(ctypes.c_double)
call = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_size_t, DOUBLES, DOUBLES, DOUBLES, ctypes.c_void_p)(c.address)
place = np.zeros(3).ctypes.data_as(DOUBLES)
begun = threading.Event()

def work():
    while True:
        call(3, place, place, place, None)

for _ in range(4):
    threading.Thread(target=work, daemon=True).start()
begun.wait()
"""


def test_a_process_ends_while_other_threads_call():
    """Python waits for what they call in Python, and is asked for no more."""
    done = subprocess.run([sys.executable, "-c", ENDS_IN_THE_MIDST], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr, done.returncode) == ("", "", 0)


@pytest.mark.parametrize("gradient", [lambda x: x[:-1], lambda x: pt.concatenate([x, x]), lambda x: x[1:] * 2])
def test_a_gradient_of_another_length_is_refused(gradient):
    x = pt.dvector("x")
    fn = pytensor.function([x], [x.sum(), gradient(x)], mode="INLAY")
    with pytest.raises(NotImplementedError, match="the gradient is never as long as the argument"):
        inlay.pytensor.c_function(fn)


def test_a_gradient_whose_length_is_a_number_is_compared_per_call():
    x = pt.dvector("x")
    fn = pytensor.function([x], [x.sum(), pt.concatenate([x[:2] * 2, x[2:3]])], mode="INLAY")
    c = inlay.pytensor.c_function(fn)
    assert call_flat(c, np.arange(3.0))[0] == 0


def test_values_of_shared_variables_are_copied():
    array = np.ones(3)
    shared = pytensor.shared(array, borrow=True)
    x = pt.tensor("x", shape=(3,), dtype="float64")
    c = inlay.pytensor.c_function(pytensor.function([x], [(x * shared).sum(), x * shared], mode="INLAY"))
    array[:] = 99
    code, logp, grad = call_flat(c, np.arange(3.0))
    assert code == 0 and logp == 3 and grad.tolist() == [0, 1, 2]


def test_of_text():
    fn = inlay.compile("graph @main(%x: f64[n]) {\n %s = reduce add %x [0] : f64\n return %s, %x\n}")
    code, logp, grad = call_flat(inlay.pytensor.c_function(fn), np.arange(3.0))
    assert code == 0 and logp == 3 and grad.tolist() == [0, 1, 2]
