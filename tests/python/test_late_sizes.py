"""Sizes that only values tell, masks and running sums, against PyTensor's Python mode."""

import inlay
import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
from pytensor.tensor.extra_ops import Unique
from random_graphs import ifelse

X = np.array([[1.0, -2.0, 0.0, np.nan], [3.0, np.inf, -0.0, 4.0], [-1.0, 0.5, 7.0, -8.0]])


# Running sums.


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
@pytest.mark.parametrize("shape", [(3, 4), (0, 4), (3, 0), (1, 1), (33, 1), (1, 40), (40, 33)])
def test_cumulative(name, axis, shape, check):
    x = pt.dmatrix("x")
    values = np.random.default_rng(1).normal(size=shape) + 1
    check([x], [getattr(pt, name)(x, axis=axis), pt.exp(-getattr(pt, name)(pt.abs(x) + 1, axis=axis))], values)


def test_cumulative_of_nan_and_zeros(check):
    x = pt.dmatrix("x")
    check([x], [pt.cumsum(x, axis=0), pt.cumsum(x, axis=1), pt.cumprod(x, axis=1)], X)
    v = pt.dvector("v")
    check([v], pt.cumsum(v), np.array([-0.0, -0.0, 0.0, -1.0]))


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_cumulative_of_rank_3(axis, check):
    x = pt.dtensor3("x")
    check([x], pt.cumsum(x, axis=axis), np.arange(2.0 * 17 * 9).reshape(2, 17, 9))


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int32", "int64", "uint64", "float32"])
@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
def test_cumulative_dtypes(name, dtype, check):
    x = pt.vector("x", dtype=dtype)
    check([x], getattr(pt, name)(x), np.array([1, 1, 100, 101, 3]).astype(dtype))


READERS = {
    "sums and products": lambda c: [c * 2, c + 1, c.sum(), c.mean()],
    "functions": lambda c: [pt.exp(c.astype("float64") / 100), c.astype("float32") / 2],
    "comparisons": lambda c: [pt.eq(c, 2), pt.gt(c, 1), c.argmax(), pt.all(c), pt.any(c)],
    "views and moves": lambda c: [c[1:], c[::-1], c.reshape((2, -1)), c[:, None], pt.repeat(c, 2)],
    "sorts": lambda c: [pt.sort(c), c[pt.argsort(c)]],
    "itself": lambda c: [c, pt.cumsum(c), pt.cumprod(c)],
    "bounds": lambda c: [pt.clip(c, 0, 100), pt.clip(c, 0, 100).sum(), pt.maximum(c, 1), pt.minimum(c, 100), abs(c)],
    "writes": lambda c: [pt.set_subtensor(c[:1], c[1:2])],
}


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8"])
@pytest.mark.parametrize("name", READERS)
def test_whoever_reads_a_running_sum_reads_counts(name, dtype, check):
    """The type says that a running sum of bools is bool, and one of int8 wraps: PyTensor's Python mode computes both in
    int64, and so does Numba."""
    x = pt.vector("x", dtype=dtype)
    value = np.array([1, 1, 0, 1] if dtype == "bool" else [100, 30, 0, 100]).astype(dtype)
    check([x], READERS[name](pt.cumsum(x)), value)


def test_a_running_sum_in_branches_and_loops(check):
    c, x, rows = pt.lscalar("c"), pt.vector("x", dtype="bool"), pt.matrix("rows", dtype="bool")
    value = np.array([True, True, False, True])
    counts = pt.cumsum(x)
    for condition in (0, 1):
        check([c, x], ifelse(c, counts, x.astype("int64").astype("bool")) * np.int8(3), condition, value)
    total = pytensor.scan(lambda n, before: before + n, [counts], [pt.zeros((), "int64")], return_updates=False)
    inside = pytensor.scan(lambda r: pt.cumsum(r).astype("int64").sum(), [rows], return_updates=False)
    fn = pytensor.function([x, rows], [total, inside], mode="INLAY")
    sums, insides = fn(value, np.ones((2, 3), bool))
    np.testing.assert_array_equal(sums, [1, 3, 5, 8])
    np.testing.assert_array_equal(insides, [6, 6])
    carried = pytensor.scan(lambda r, s: s & r, [rows], [counts], return_updates=False)
    got = pytensor.function([x, rows], carried, mode="INLAY")(value, np.ones((2, 4), bool))
    assert got.dtype == bool and got.all()


def test_a_shared_variable_keeps_its_dtype():
    for dtype in ("bool", "int8"):
        shared = pytensor.shared(np.array([1, 1, 0, 1], dtype))
        fn = pytensor.function([], pt.cumsum(shared), updates={shared: pt.cumsum(shared)}, mode="INLAY")
        np.testing.assert_array_equal(fn(), [1, 2, 2, 3])
        assert shared.get_value().dtype == dtype
        fn()


def test_gradient_of_a_running_sum(check):
    x = pt.dvector("x")
    check([x], pt.grad((pt.cumsum(x**2) ** 2).sum(), x), np.arange(11.0))


# ARange.


@pytest.mark.parametrize("values", [(0, 5, 1), (2, 11, 3), (11, 2, -3), (5, 5, 1), (5, 2, 1), (-3, -8, -1), (0, 1, 7)])
@pytest.mark.parametrize("dtype", ["int64", "int32", "float64"])
def test_arange(values, dtype, check):
    a, b, c = (pt.scalar(n, dtype=dtype) for n in "abc")
    check([a, b, c], [pt.arange(a, b, c), pt.arange(a, b, c) * 2 + a], *np.array(values, dtype))


def test_arange_of_floats(check):
    a, b, c = pt.dscalars("a", "b", "c")
    for values in [(0.0, 1.0, 0.1), (1.5, -2.0, -0.25), (0.1, 0.1, 1.0), (0.0, 3.0, 1e9), (-1.0, 1.0, 0.3)]:
        check([a, b, c], pt.arange(a, b, c), *map(np.float64, values))


def test_arange_of_a_length(check):
    n = pt.lscalar("n")
    x = pt.dvector("x")
    f = check([n, x], [pt.arange(n), pt.arange(n).sum() + x, pt.arange(x.shape[0])], 7, np.ones(3))
    for length in (0, 1, -4, 100):
        check([n, x], [pt.arange(n), pt.arange(n).sum() + x, pt.arange(x.shape[0])], length, np.ones(3))
    assert inlay.pytensor.explain(f).host_calls == []


def test_arange_by_nothing(check_error):
    a = pt.lscalar("a")
    check_error(ZeroDivisionError, [a], pt.arange(0, 5, a), 0, good=(2,))
    x = pt.dscalar("x")
    check_error(ValueError, [x], pt.arange(0.0, x, 1.0), np.nan, good=(2.0,))


# Sizes of values.


def test_a_size_that_does_not_fit():
    n = pt.lscalar("n")
    c = pt.cumsum(pt.arange(n))
    f = pytensor.function([n], (c[::-1] * c).sum(), mode="INLAY")
    assert f(3) == 0 * 3 + 1 * 1 + 3 * 0
    with pytest.raises(inlay.errors.SizeOverflow, match="does not fit in 64 bits"):
        f(2**61)
    assert f(3) == 1


def test_alloc_of_a_value(check, check_error):
    n = pt.lscalar("n")
    x = pt.dvector("x")
    for length in (0, 1, 6):
        check([n, x], [pt.zeros(n) + 1, pt.full((n, x.shape[0]), x)], length, np.arange(3.0))
    check_error(ValueError, [n], pt.zeros(n), -1, good=(3,))


def test_alloc_of_a_size_that_pytensor_takes_from_the_value(check, check_error):
    m, n = pt.lscalars("m", "n")
    x, w = pt.dmatrix("x"), pt.dvector("w", shape=(3,))
    for m_value in (0, 2):  # whether or not there is an element
        good = np.ones(3), np.ones((2, 3)), m_value
        check_error(ValueError, [w, x, m], pt.alloc(w, m, x.shape[1]), np.ones(3), np.ones((2, 4)), m_value, good=good)
    check_error(ValueError, [w, m, n], pt.alloc(w, m, n), np.ones(3), 2, 4, good=(np.ones(3), 2, 3))
    check([w, x], pt.alloc(w, x.shape[0], x.shape[1]) * x, np.ones(3), np.ones((2, 3)))


def test_reshape_to_values(check, check_error):
    x = pt.dmatrix("x")
    a, b = pt.lscalars("a", "b")
    for sizes in [(4, 3), (12, 1), (-1, 6), (2, -1)]:
        check([x, a, b], [x.reshape((a, b)) * 2, x.reshape((a, b)).sum(axis=0)], np.arange(12.0).reshape(3, 4), *sizes)
    check([x, a], x.reshape((a, -1)), np.arange(12.0).reshape(3, 4), 6)
    check_error(ValueError, [x, a], x.reshape((a, 5)), np.ones((3, 4)), 2, good=(np.ones((2, 5)), 2))


def test_bincount(check):
    x = pt.lvector("x")
    check([x], pt.bincount(x), np.array([3, 1, 1, 7]))
    check([x], pt.bincount(x, minlength=5), np.array([0]))


def test_two_values_that_must_be_one_size(check, check_error):
    m, n = pt.lscalars("m", "n")
    out = pt.arange(m) + pt.arange(n)
    check([m, n], out, 4, 4)
    check_error(ValueError, [m, n], out, 4, 3, good=(2, 2))


# Masks.

MASKS = {
    "some": [True, False, True],
    "none": [False, False, False],
    "all": [True, True, True],
}


@pytest.mark.parametrize("mask", MASKS)
def test_rows_by_a_mask(mask, check):
    x, p = pt.dmatrix("x"), pt.vector("p", dtype="bool")
    v = pt.dvector("v")
    p_value = np.array(MASKS[mask])
    check([x, p], [x[p], x[p].sum(), pt.exp(x)[p] * 2, x[p, 1], x[p, 1:]], X, p_value)
    check([x, p, v], [x[p].set(1.5), x[p].inc(2.0), x[p].set(v), x[p].inc(v)], X, p_value, np.arange(4.0))
    rows = np.arange(4.0 * p_value.sum()).reshape(-1, 4)
    y = pt.dmatrix("y")
    check([x, p, y], [x[p].set(y), x[p].inc(y)], X, p_value, rows)


@pytest.mark.parametrize("mask", MASKS)
def test_elements_by_a_mask(mask, check):
    x, p = pt.dmatrix("x"), pt.matrix("p", dtype="bool")
    p_value = np.outer(MASKS[mask], [True, True, False, True])
    v = pt.dvector("v")
    check([x, p], [x[p], x[p].set(0.0), x[p].inc(1.0), x[p].sum()], X, p_value)
    check([x, p, v], [x[p].set(v), x[p].inc(v)], X, p_value, np.arange(float(p_value.sum())))
    check([x], [x[x > 0], x[pt.isnan(x)], x[x > 0].set(-1.0)], X)


def test_columns_by_a_mask(check):
    x, p = pt.dmatrix("x"), pt.vector("p", dtype="bool")
    check([x, p], [x[:, p], x[1:, p], x[:, p].set(3.0)], X, np.array([True, False, True, True]))


@pytest.mark.parametrize("size", [0, 1, 2, 17, 100])
def test_masks_of_vectors(size, check):
    x = pt.dvector("x")
    values = np.random.default_rng(size).normal(size=size)
    check([x], [x[x > 0], x[x > 0].sum(), pt.cumsum(x[x < 0.5]), x[x > 0][::-1]], values)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "float32", "int64"])
def test_masks_of_dtypes(dtype, check):
    x, p = pt.vector("x", dtype=dtype), pt.vector("p", dtype="bool")
    rng = np.random.default_rng(3)
    check([x, p], [x[p], x[p][:0]], rng.integers(0, 2, 40).astype(dtype), rng.integers(0, 2, 40).astype(bool))


def test_a_mask_of_another_length(check_error):
    x, p = pt.dvector("x"), pt.vector("p", dtype="bool")
    check_error((ValueError, IndexError), [x, p], x[p], np.ones(3), np.ones(4, bool), good=(np.ones(2), np.ones(2, bool)))


def test_nonzero(check):
    x = pt.dmatrix("x")
    check([x], list(pt.nonzero(x)), X)
    check([x], list(pt.nonzero(x)), np.zeros((0, 4)))
    check([x], list(pt.nonzero(x)), np.zeros((2, 4)))
    t = pt.tensor3("t", dtype="int8")
    check([t], [*pt.nonzero(t), pt.flatnonzero(t)], np.arange(24).reshape(2, 3, 4).astype("int8") % 3)
    check([x], [pt.nonzero_values(x), pt.compress([True, False, True], x, axis=0)], X)


# Repeat.


def test_repeat(check, check_error):
    x, n = pt.dmatrix("x"), pt.lscalar("n")
    r = pt.lvector("r")
    for count in (0, 1, 3):
        check([x, n], [pt.repeat(x, n, axis=0), pt.repeat(x, n, axis=1), pt.repeat(x, n)], X, count)
    check([x], pt.repeat(x, 2, axis=1), X)
    for counts in ([1, 0, 3], [0, 0, 0], [2, 2, 2]):
        check([x, r], pt.repeat(x, r, axis=0), X, np.array(counts))
    check([x, r], pt.repeat(x, r, axis=1), X, np.array([0, 1, 2, 0]))
    check([x, r], pt.repeat(x, r, axis=0), X, np.array([2]))
    check([x, r], pt.repeat(x, r, axis=0), np.zeros((0, 4)), np.zeros(0, "int64"))
    check_error(ValueError, [x, r], pt.repeat(x, r, axis=0), X, np.array([1, -1, 1]), good=(X, np.array([1, 1, 0])))
    check_error(ValueError, [x, r], pt.repeat(x, r, axis=0), X, np.array([1, 1]), good=(X, np.array([1, 1, 0])))


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int64", "float32", "float64"])
@pytest.mark.parametrize("size", [0, 1, 50])
def test_unique(dtype, size, check):
    x = pt.vector("x", dtype=dtype)
    values = np.random.default_rng(size).integers(0, 9, size).astype(dtype)
    outs = pt.unique(x, return_index=True, return_inverse=True, return_counts=True)
    check([x], list(outs), values)
    check([x], pt.unique(x), values)


def test_unique_of_nan_and_of_matrices(check):
    x = pt.dmatrix("x")
    check([x], list(pt.unique(x, return_index=True, return_counts=True)), np.array([[1.0, np.nan], [np.nan, 1.0]]))
    check([x], [pt.unique(x).sum(), pt.unique(pt.exp(x)) * 2], np.array([[1.0, -2.0, 1.0], [0.0, 7.0, 3.0]]))


def test_late_sizes_are_no_host_calls():
    x = pt.dvector("x")
    f = pytensor.function([x], [x[x > 0].sum(), pt.cumsum(x)], mode="INLAY")
    explained = inlay.pytensor.explain(f)
    assert explained.host_calls == []
    for size in (0, 1, 5, 3):
        values = np.arange(float(size)) - 1
        np.testing.assert_array_equal(f(values)[0], values[values > 0].sum())


@pytest.mark.parametrize("values", [[], [0.0], [1.0], [1.0, 0.0, 1.0], [1.0, 2.0, 0.0, 3.0, 4.0, 5.0]])
@pytest.mark.parametrize(
    "rows",
    [np.s_[-3:], np.s_[:-2], np.s_[-3:-1], np.s_[-5:2], np.s_[1:-1], np.s_[-2:-5:-1], np.s_[:-3:-2]],
    ids=str,
)
def test_ends_of_slices_stay_within_a_size_that_is_found(rows, values, check):
    x, n = pt.dvector("x"), pt.lscalar("n")
    late = [x.nonzero()[0], pt.unique(x), x[x > 0], pt.arange(n), pt.repeat(x, n)]
    check([x, n], [v[rows] for v in late], np.array(values), len(values) // 2)


@pytest.mark.parametrize("n", [0, 1, 2, 5])
def test_a_range_that_ends_below_zero_is_empty(check, n):
    x = pt.dvector("x")
    length = x.shape[0]
    check([x], [pt.arange(length - 2)[1:], pt.concatenate([pt.arange(length - 3), pt.arange(length)])], np.ones(n))
    check([x], pt.diag(pt.outer(x, x)[:, :0], 1), np.ones(n))


@pytest.mark.parametrize("make", [lambda n: -n, lambda n: n * n, lambda n: n * n - 4, lambda n: -2 * n, lambda n: 2 - n])
def test_a_length_that_is_made_of_numbers_below_zero(make, check):
    n = pt.lscalar("n")
    check([n], pt.cumsum(pt.ones(make(n))), -3)


def test_an_array_of_a_length_below_zero_is_refused(check_error):
    x = pt.dvector("x")
    rows = pt.concatenate([pt.full((x.shape[0] - 3,), 2.0), x])
    error = check_error(ValueError, [x], rows, np.ones(2), good=[np.ones(4)])
    assert str(error).startswith("error[negative-size]: broadcast: dim 0 is -1")


SIZES = [[2, 6], [-1, 3], [3, -1], [-2, 6], [12, 1]]


@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_reshape_to_the_elements_of_a_vector(sizes, check, check_error):
    x, vector = pt.dmatrix("x"), pt.ivector("sizes")
    values = np.arange(12.0).reshape(3, 4), np.array(sizes, "int32")
    reshaped = pt.reshape(x, vector, ndim=2)
    check([x, vector], [reshaped + 1, reshaped.sum(0), pt.reshape(x, vector * 1, ndim=2)], *values)
    for wrong in ([5, 2], [-1, -1], [0, 3], [-1, 0]):
        check_error(ValueError, [x, vector], reshaped, values[0], np.array(wrong, "int32"), good=values)


def test_split_at_the_elements_of_a_vector(check, check_error):
    x, vector = pt.dmatrix("x"), pt.lvector("sizes")
    parts = pt.split(x, vector, n_splits=3, axis=1)
    values = np.arange(12.0).reshape(3, 4)
    for sizes in ([1, 2, 1], [0, 4, 0]):
        check([x, vector], [*parts, parts[0].sum() + parts[1] * 2], values, np.array(sizes))
    for wrong in ([1, 2, 2], [1, 1, 1], [5, -1, 0], [1, 3], [1, 1, 1, 1]):
        check_error(ValueError, [x, vector], parts[1], values, np.array(wrong), good=(values, np.array([1, 2, 1])))


@pytest.mark.parametrize("first", [-1, 5])
def test_split_says_what_was_wrong_with_its_sizes(first, check_error):
    x, n, vector = pt.dmatrix("x"), pt.lscalar("n"), pt.lvector("sizes")
    values, good = (np.ones((3, 4)), np.array(first)), (np.ones((3, 4)), np.array(1))
    error = check_error(ValueError, [x, n], pt.split(x, [n, 4 - n], n_splits=2, axis=1)[1], *values, good=good)
    assert "Split sizes cannot be negative" in str(error)
    values, good = (np.ones((3, 4)), np.array([1, 1, 2])), (np.ones((3, 4)), np.array([1, 3]))
    error = check_error(ValueError, [x, vector], pt.split(x, vector, n_splits=2, axis=1)[1], *values, good=good)
    assert "Length of splits is not equal to n_splits" in str(error)


def test_split_of_which_one_part_is_read(check, check_error):
    """The sizes have to make up the axis all the same."""
    x, like = pt.dmatrix("x"), pt.dvector("like")
    for sizes in ([1, 2, 1], [like.shape[0]] * 2 + [2]):
        part = pt.split(x, sizes, n_splits=3, axis=1)[1]
        check_error(ValueError, [x, like], part, np.ones((2, 5)), np.ones(1), good=(np.ones((2, 4)), np.ones(1)))


ROWS = np.random.default_rng(0).integers(0, 2, (7, 3)).astype(float)
NAN_ROWS = np.array([[np.nan, 1.0], [np.nan, 1.0], [1.0, np.nan], [1.0, 2.0]])


@pytest.mark.parametrize("asked", [(False, False, False), (True, False, True), (False, True, False), (True, True, True)])
@pytest.mark.parametrize("axis", [0, 1])
def test_unique_slices(axis, asked, check):
    m, i, x = pt.dmatrix("m"), pt.matrix("i", dtype="int8"), pt.dtensor3("x")
    unique = Unique(*asked, axis=axis)
    for value in (ROWS, ROWS.T, ROWS[::2], ROWS[:0], ROWS[:, :0], NAN_ROWS, np.where(ROWS, -0.0, 0.0)):
        check([m], unique(m), value)
    check([i, x], [*unique(i), *unique(x)] if any(asked) else [unique(i), unique(x)], ROWS.astype("int8"), ROWS[:6].reshape(6, 3, 1))


# Sizes of parts.


def test_index_into_a_part_of_one_element(check, monkeypatch):
    """That the index lies within the part is checked when the part's length is known, though the element that is read
    lies at a known place."""
    monkeypatch.setenv("INLAY_VERIFY", "1")
    x, lengths = pt.tensor("x", shape=(1,), dtype="float64"), pt.tensor("lengths", shape=(3,), dtype="int64")
    i, j, at = pt.ivector("i"), pt.tensor("j", shape=(1,), dtype="int8"), pt.iscalar("at")
    n, v = pt.lscalar("n"), pt.dscalar("v")
    _, _, part = pt.split(x, lengths, n_splits=3)
    chosen = pt.switch(part[j] > 0, part, part[pt.arange(n)])
    arguments = np.array([0, -1, 0], "int32"), np.array(1), np.array([0, 0, 1]), np.array([-3.0]), np.array([0], "int8")
    check([i, n, lengths, x, j, at, v], [part[at].inc(v), chosen[i]], *arguments, np.array(0, "int32"), np.array(4.0))
