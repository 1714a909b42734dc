"""Sorting and searching against PyTensor's Python mode."""

import inlay
import numpy as np
import pytensor.tensor as pt
import pytest

X = np.array([[3, 1, 2, 1, 0], [5, 5, 1, 0, 2], [1, 0, 0, 1, 1]])


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "int64", "int8", "uint16", "bool"])
@pytest.mark.parametrize("axis", [0, 1, -1, None])
def test_sort(axis, dtype, check):
    x = pt.matrix("x", dtype=dtype)
    check([x], [pt.sort(x, axis=axis), pt.argsort(x, axis=axis, kind="stable")], X.astype(dtype))


@pytest.mark.parametrize("dtype", ["complex128", "complex64"])
def test_complex_numbers(dtype, check):
    x, v = pt.vector("x", dtype=dtype), pt.vector("v", dtype=dtype)
    nan, inf = np.nan, np.inf
    parts = np.array([(1, 2), (nan, 1), (1, nan), (0, 5), (nan, 0), (1, 1), (nan, nan), (1, -inf), (0, 5), (inf, nan)])
    value = (parts[:, 0] + 0j).astype(dtype)
    value.imag = parts[:, 1]
    check([x], [pt.sort(x), pt.argsort(x, kind="stable")], value)
    check([x], [pt.sort(x), pt.argsort(x, kind="stable")], value[:0])
    numbers = np.sort(value[[0, 3, 5, 7]])
    check([x, v], [pt.searchsorted(x, v), pt.searchsorted(x, v, side="right")], numbers, value)
    check([x], pt.unique(x), np.array([1, 1j, 1, 0, 1 + 1j, 1j]).astype(dtype))


def test_nan_and_nothing(check):
    x = pt.dvector("x")
    outputs = [pt.sort(x), pt.argsort(x, kind="stable")]
    check([x], outputs, np.array([2.0, np.nan, -np.inf, 1, np.nan, np.inf]))
    check([x], outputs, np.zeros(0))
    check([x], outputs, np.ones(1))


def test_middle_axis_of_three(check):
    x = pt.dtensor3("x")
    value = np.random.default_rng(1).normal(size=(2, 5, 3))
    check([x], [pt.sort(x, axis=1), pt.argsort(x, axis=1, kind="stable")], value)


def test_gradient_of_sort(check):
    import pytensor

    x = pt.dvector("x")
    check([x], pytensor.grad((pt.sort(x) * pt.arange(4.0)).sum(), x), np.array([3.0, 1, 2, 0]))


@pytest.mark.parametrize("side", ["left", "right"])
def test_searchsorted(side, check):
    x, v, m, i = pt.dvector("x"), pt.dvector("v"), pt.dmatrix("m"), pt.lvector("i")
    sorted_x = np.array([1.0, 2, 2, 3, np.inf])
    outputs = [pt.searchsorted(x, v, side=side), pt.searchsorted(x, m, side=side), pt.searchsorted(x, i, side=side),
               pt.searchsorted(x, 2, side=side)]
    check([x, v, m, i], outputs, sorted_x, np.array([0.0, 2, 2.5, np.nan]), np.array([[1.0], [4]]), np.array([1, 2, 9]))
    check([x, v, m, i], outputs[:3], np.zeros(0), np.ones(2), np.ones((0, 2)), np.array([1]))


def test_searchsorted_with_a_sorter(check):
    x, v = pt.dvector("x"), pt.dvector("v")
    check([x, v], pt.searchsorted(x, v, sorter=pt.argsort(x)), np.array([3.0, 1, 2]), np.array([0.0, 1.5, 3]))


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("k", [0, 1, 3])
def test_top_k(k, axis):
    """In the text form and the builder. Equals by place, NaN as the maximum, as jax.lax.top_k."""
    both = inlay.compile(f"""graph @main(%x: f64[n, m]) {{
  %v, %p = top_k %x, count = {k}, axis = {axis}
  %w, %q = top_k %x, count = {k}, axis = {axis}, smallest = true
  return %v, %p, %w, %q
}}""")
    nan = np.nan
    for x in (np.array([[3, nan, 1, 3, nan], [0, 0, 0, 0, 0], [5, 4, 3, 2, 1]]), np.arange(12.0).reshape(3, 4) % 5):
        values, places, minimum, places_of_minimum = both(x)
        order = np.argsort(x, axis=axis, kind="stable")
        want = np.take(order, range(k), axis=axis)
        np.testing.assert_array_equal(places_of_minimum, want)
        np.testing.assert_array_equal(minimum, np.take_along_axis(x, want, axis=axis))
        from_end = x.shape[axis] - 1 - np.argsort(np.flip(x, axis), axis=axis, kind="stable")
        want = np.take(np.flip(from_end, axis), range(k), axis=axis)
        np.testing.assert_array_equal(places, want)
        np.testing.assert_array_equal(values, np.take_along_axis(x, want, axis=axis))
    if k:
        with pytest.raises(IndexError, match=rf"top_k: {k} of axis {axis}, which has 0 elements"):
            both(np.zeros((0, 0)))


ALONG = "graph @main(%x: f64[{x}, m], %i: i64[{i}, k]) {{\n  %y = take_along_axis %x, %i, axis = {axis}\n  return %y\n}}"


@pytest.mark.parametrize(("x", "i"), [("n", "n"), ("1", "n"), ("n", "1")])
def test_take_along_axis_stretches_what_is_declared_as_1(x, i):
    values = np.arange(12.0).reshape(4, 3)[: 1 if x == "1" else 4]
    places = np.array([[0, -1], [2, 1], [0, 0], [1, 2]])[: 1 if i == "1" else 4]
    got = inlay.compile(ALONG.format(x=x, i=i, axis=1))(values, places)
    np.testing.assert_array_equal(got, np.take_along_axis(values, places, 1))


def test_take_along_axis_names_what_it_was_given():
    with pytest.raises(IndexError) as raised:
        text = ALONG.format(x="n", i="p", axis=0).replace("[p, k]", "[p, m]")
        inlay.compile(text, "f")(np.ones((2, 3)), np.full((1, 3), 5))
    assert str(raised.value).split("\n", 1)[1] == "  at     f:2:3\n  array  %x  f64[n, m]\n  index  %i  i64[p, m]"
    assert "take_along_axis: index 5 is out of bounds for axis 0 with size 2" in str(raised.value)
    with pytest.raises(ValueError) as raised:
        inlay.compile(ALONG.format(x="n", i="p", axis=1), "f")(np.ones((2, 3)), np.zeros((1, 1), int))
    assert str(raised.value) == (
        "error[shape-mismatch]: take_along_axis: axis 0 has 2 elements in %x and 1 in %i\n"
        "  at     f:2:3\n"
        "  operand %x  f64[n, m]"
    )
