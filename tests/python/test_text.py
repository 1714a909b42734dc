"""`inlay.compile`: programs in text form as Python callables."""

import threading

import inlay
import numpy as np
import pytest

AXPY = """
graph @main(%a: f64, %x: f64[n], %y: f64[n]) {
  %p = mul %a, %x
  %s = add %p, %y
  %t = reduce add %s [0] : f64
  return %s, %t
}
"""
GATHER = """
graph @main(%x: f64[n], %g: i64[m]) {
  %v = gather %x[%g]
  return %v
}
"""


def test_arrays_in_new_arrays_out():
    axpy = inlay.compile(AXPY)
    x = np.arange(5.0)
    s, t = axpy(np.array(2.0), x, np.ones(5))
    np.testing.assert_array_equal(s, 2 * x + 1)
    assert t.shape == () and t == 25
    again = axpy(np.array(2.0), x, np.ones(5))[0]
    assert not np.shares_memory(s, again)


def test_one_output_is_not_a_tuple():
    result = inlay.compile(GATHER)(np.arange(3.0), np.array([2, 0]))
    np.testing.assert_array_equal(result, [2, 0])


def test_numbers_and_layouts():
    axpy = inlay.compile(AXPY)
    np.testing.assert_array_equal(axpy(2.0, np.arange(10.0)[::2], np.ones(5))[0], 2 * np.arange(0.0, 10, 2) + 1)
    np.testing.assert_array_equal(axpy(2, np.arange(3.0)[::-1], np.ones(3).astype(">f8"))[0], [5, 3, 1])


@pytest.mark.parametrize(
    ("arguments", "exception", "words"),
    [
        ((1.0, np.ones(3), np.ones(4)), ValueError, ("y", "3", "4")),
        ((1.0, np.ones(3, "float32"), np.ones(3)), TypeError, ("x", "float32", "float64")),
        ((1.0, np.ones((3, 1)), np.ones(3)), TypeError, ("x", "2", "1")),
        ((np.ones(1), np.ones(3), np.ones(3)), TypeError, ("a",)),
        ((1.0, np.ones(3)), TypeError, ("3", "2")),
        ((1.0, "text", np.ones(3)), TypeError, ("x",)),
        ((1.0, None, np.ones(3)), TypeError, ("x",)),
        ((1.0 + 1j, np.ones(3), np.ones(3)), TypeError, ("a",)),
    ],
)
def test_wrong_arguments(arguments, exception, words):
    axpy = inlay.compile(AXPY)
    with pytest.raises(exception) as raised:
        axpy(*arguments)
    for word in words:
        assert word in str(raised.value)
    np.testing.assert_array_equal(axpy(1.0, np.ones(2), np.ones(2))[0], [2, 2])


def test_keywords_are_refused():
    with pytest.raises(TypeError):
        inlay.compile(AXPY)(1.0, np.ones(2), y=np.ones(2))


def test_index_out_of_bounds():
    gather = inlay.compile(GATHER)
    x = np.arange(3.0)
    for bad in (3, -4, 10**12):
        with pytest.raises(IndexError) as raised:
            gather(x, np.array([0, bad, 1]))
        assert isinstance(raised.value, inlay.InlayError)
        assert raised.value.code == "index-out-of-bounds"
        assert str(bad) in str(raised.value) and "3" in str(raised.value)
    np.testing.assert_array_equal(gather(x, np.array([-3, 2])), [0, 2])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("graph @main(%x: f64[n]) {\n %y = frobnicate %x\n return %y\n}", ("frobnicate",)),
        ("graph @main(%x: f64[n]) {\n return %z\n}", ("z",)),
        ("graph", ("1:",)),
        ("", ()),
        ("graph @main(%x: f64[5], %y: f64[7]) {\n %z = add %x, %y\n return %z\n}", ("5", "7")),
    ],
)
def test_text_that_is_no_program(text, words):
    with pytest.raises(ValueError) as raised:
        inlay.compile(text)
    for word in words:
        assert word in str(raised.value)


def test_bound_parameters_need_a_door():
    with pytest.raises((TypeError, ValueError)):
        inlay.compile("graph @main(%x: f64[3] bound) {\n %y = exp %x\n return %y\n}")


def test_many_threads():
    axpy = inlay.compile(AXPY)
    wrong = []

    def work(seed):
        rng = np.random.default_rng(seed)
        x, y = rng.random(20_000), rng.random(20_000)
        want = 3.0 * x + y
        for _ in range(100):
            if not np.allclose(axpy(3.0, x, y)[0], want, rtol=1e-15):
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert wrong == []


def test_wrong_number_of_arguments():
    f = inlay.compile("graph @main(%a: f64[n], %b: f64[n]) {\n %c = add %a, %b\n return %c\n}")
    with pytest.raises(inlay.errors.WrongArgumentCount, match=r"takes 2 arguments \(a, b\), not 1") as raised:
        f(np.ones(3))
    assert isinstance(raised.value, TypeError)
    assert f(np.ones(3), np.ones(3)).tolist() == [2.0, 2.0, 2.0]
