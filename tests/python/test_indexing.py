"""Reading and writing through brackets against PyTensor's Python mode (NumPy's meaning)."""

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
from conftest import assert_same, host_calls
from versions import OLD_PYTENSOR

try:
    from pytensor.conditional.op import ifelse
except ImportError:  # older versions
    from pytensor.ifelse import ifelse

V = np.arange(7.0) * 1.5
M = np.arange(20.0).reshape(4, 5)
T = np.arange(60.0).reshape(3, 4, 5)

SLICES = [
    slice(None), slice(1, None), slice(None, -1), slice(2, 5), slice(-3, None), slice(None, None, 2), slice(1, 6, 2),
    slice(None, None, -1), slice(5, 1, -2), slice(-2, None, -1), slice(5, 2), slice(10, 20), slice(-100, 3),
    slice(7, None),
]  # fmt: skip


@pytest.mark.parametrize("where", SLICES, ids=str)
def test_slices_of_a_vector_of_known_length(where, check):
    x = pt.tensor("x", shape=(7,), dtype="float64")
    check([x], [x[where] + 1, pt.set_subtensor(x[where], -1.0), pt.inc_subtensor(x[where], x[where])], V)


@pytest.mark.parametrize("where", SLICES, ids=str)
@pytest.mark.parametrize("length", [0, 1, 4, 7])
def test_slices_of_a_vector_of_any_length(where, length, check):
    x = pt.dvector("x")
    check([x], [x[where] + 1, pt.set_subtensor(x[where], -1.0)], V[:length])


def test_positions(check):
    x, m = pt.dvector("x"), pt.dmatrix("m")
    check([x, m], [x[0], x[-1], x[3] * 2, m[1], m[-1, 2], m[:, 0], m[1:, -2], m[2, ::2], m[None, 0]], V, M)
    check([x, m], [pt.set_subtensor(x[0], 9.0), pt.inc_subtensor(m[1], x[:5]), pt.set_subtensor(m[:, -1], 1.0)], V, M)


@pytest.mark.parametrize("position", [7, -8, 100])
def test_position_out_of_bounds(position, check_error):
    x = pt.dvector("x")
    check_error(IndexError, [x], x[position], V, good=(np.arange(200.0),))


def test_positions_that_are_values(check, check_error):
    x, m, i, j = pt.dvector("x"), pt.dmatrix("m"), pt.lscalar("i"), pt.iscalar("j")
    for a in (0, 3, -1, -4):
        check(
            [x, m, i],
            [x[i], m[i], m[i, 1:], pt.set_subtensor(x[i], 0.0), pt.inc_subtensor(m[i], 1.0)],
            V,
            M,
            np.array(a),
        )
    check([m, i, j], [m[i, j], m[:, j]], M, np.array(2), np.array(-1, "int32"))
    check_error(IndexError, [x, i], x[i], V, np.array(7), good=(V, np.array(6)))
    check_error(IndexError, [x, i], x[i], V, np.array(-8), good=(V, np.array(-7)))
    check_error(IndexError, [m, i], pt.set_subtensor(m[:, i], 1.0), M, np.array(5), good=(M, np.array(0)))


INDICES = {
    "plain": np.array([0, 2, 1]),
    "repeated": np.array([2, 2, 2, 0]),
    "negative": np.array([-1, 0, -3]),
    "empty": np.array([], dtype="int64"),
    "int8": np.array([1, 2], dtype="int8"),
    "matrix": np.array([[0, 1, 2], [2, 1, 0]]),
}


@pytest.mark.parametrize("name", INDICES)
@pytest.mark.parametrize("constant", [False, True])
def test_one_index_array(name, constant, check):
    index = INDICES[name]
    x, m = pt.dvector("x"), pt.dmatrix("m")
    i = pt.constant(index) if constant else pt.tensor("i", shape=(None,) * index.ndim, dtype=index.dtype)
    arguments = ([x, m], (V, M)) if constant else ([x, m, i], (V, M, index))
    check(arguments[0], [x[i], m[i], m[:, i], m[1:, i] * 2, m[i, 1:]], *arguments[1])
    check(
        arguments[0],
        [pt.inc_subtensor(x[i], x[i] + 1), pt.set_subtensor(m[i], 3.0), pt.inc_subtensor(m[:, i], 1.0)],
        *arguments[1],
    )


def test_repeated_indices_last_wins_and_all_add(check):
    x, i, y = pt.dvector("x"), pt.lvector("i"), pt.dvector("y")
    index = np.array([1, 1, 0, 1])
    check([x, i, y], [pt.set_subtensor(x[i], y), pt.inc_subtensor(x[i], y)], V, index, np.arange(4.0) + 10)


def test_several_index_arrays(check):
    m, t, i, j = pt.dmatrix("m"), pt.dtensor3("t"), pt.lvector("i"), pt.lvector("j")
    a, b = np.array([0, 2, 1]), np.array([-1, 3, 0])
    check([m, i, j], [m[i, j], m[i[:, None], j[None, :]], m[i, i]], M, a, b)
    check(
        [t, i, j], [t[i, j], t[:, i, j], t[i, :, j], t[i, j, 1:], t[i, 0, j], t[0, i, j], t[i[:, None], :, j]], T, a, b
    )
    check(
        [t, i, j],
        [pt.inc_subtensor(t[i, j], 1.0), pt.set_subtensor(t[i, :, j], 2.0), pt.inc_subtensor(t[:, i, j], t[:, i, j])],
        T,
        a,
        b,
    )


def test_index_of_a_matrix_row_vector_value(check):
    m, i, v = pt.dmatrix("m"), pt.lvector("i"), pt.dvector("v")
    check(
        [m, i, v],
        [pt.inc_subtensor(m[i], v), pt.set_subtensor(m[i], v[None, :])],
        M,
        np.array([1, 1, 3]),
        np.arange(5.0),
    )


@pytest.mark.parametrize("bad", [[0, 7], [-8], [0, 1, 100], [-(2**40)], [2**40]])
def test_index_out_of_bounds(bad, check_error):
    x, i = pt.dvector("x"), pt.lvector("i")
    good = (V, np.array([0, -7, 6]))
    error = check_error(IndexError, [x, i], pt.exp(x)[i] * 2, V, np.array(bad), good=good)
    assert "7" in str(error)
    check_error(IndexError, [x, i], pt.inc_subtensor(x[i], 1.0), V, np.array(bad), good=good)
    check_error(IndexError, [x, i], pt.set_subtensor(x[i], 1.0), V, np.array(bad), good=good)


NOT_READ = {
    "slice": lambda x, i: x[i][:1],
    "slice of exp": lambda x, i: pt.exp(x[i])[:1],
    "element": lambda x, i: (x[i] * 2)[0],
    "through an index": lambda x, i: pt.exp(x[i])[i * 0],
    "backwards": lambda x, i: pt.exp(x[i])[::-1][-1],
    "sum of a slice": lambda x, i: pt.exp(x[i])[:1].sum(),
    "nothing": lambda x, i: x[i][:0],
    "difference": lambda x, i: pt.diff(x[i])[:0],
    "branch of a switch": lambda x, i: pt.switch(x[i][:1] > 0, x[i][:1], 1.0),
    "base of a set": lambda x, i: pt.set_subtensor(pt.exp(x[i])[1:], 0.0),
    "value of an inc": lambda x, i: pt.inc_subtensor(x[:2], pt.exp(x[i]))[:1],
    "result of an inc": lambda x, i: pt.inc_subtensor(x[i], 1.0)[:1],
    "result of a set": lambda x, i: pt.set_subtensor(x[i], 1.0)[:0],
    "part of a join": lambda x, i: pt.concatenate([x[i], x])[:1],
    "beginning of a running sum": lambda x, i: pt.cumsum(x[i])[:1],
    "index of an index": lambda x, i: x[i[i]][:1],
    "rows": lambda x, i: x.reshape((7, 1))[i][:1],
    "along an axis": lambda x, i: pt.take_along_axis(x[None, :], i[None, :], axis=1)[:, :1],
    "operand of a product": lambda x, i: pt.dot(x[i][:1], x[:1]),
}


@pytest.mark.parametrize("name", NOT_READ)
def test_index_out_of_bounds_that_is_not_read(name, check_error):
    x, i = pt.dvector("x"), pt.lvector("i")
    check_error(IndexError, [x, i], NOT_READ[name](x, i), V, np.array([0, 99]), good=(V, np.array([0, 1])))


def test_index_out_of_bounds_in_a_branch_that_is_not_taken():
    x, i, c = pt.dvector("x"), pt.lvector("i"), pt.lscalar("c")
    f = pytensor.function([c, x, i], ifelse(pt.gt(c, 0), x[i][:1], x[:1]), mode="INLAY")
    bad = np.array([0, 99])
    np.testing.assert_array_equal(f(0, V, bad), V[:1])
    with pytest.raises(IndexError, match="99"):
        f(1, V, bad)


def test_index_out_of_bounds_of_what_nothing_needs(check):
    """PyTensor does not compute it either."""
    x, i = pt.dvector("x"), pt.lvector("i")
    check([x, i], x[i].shape[0], V, np.array([0, 99]))


def test_index_arrays_that_do_not_match(check_error):
    m, i, j = pt.dmatrix("m"), pt.lvector("i"), pt.lvector("j")
    check_error(
        IndexError,
        [m, i, j],
        m[i, j],
        M,
        np.array([0, 1]),
        np.array([0, 1, 2]),
        good=(M, np.array([0]), np.array([1])),
    )


def test_masks(check):
    x = pt.dvector("x")
    mask = V > 4
    check([x], [x[mask], pt.set_subtensor(x[mask], 0.0)], V)
    m = pt.dmatrix("m")
    check([m], [m[M > 7], m[:, M[0] > 1]], M)
    check([x], [x[x > 4], pt.inc_subtensor(x[x > 4], 1.0)], V, native=False)
    check([x], x[x > 400], V, native=False)


MISFITS = [[True, False, True, False, False], [True, False, False], [True], [False]]


@pytest.mark.parametrize("mask", MISFITS, ids=str)
def test_masks_of_another_length(mask, check_error):
    """Also where it is true nowhere beyond the end."""
    m, of_any_length = pt.dmatrix("m"), pt.vector("mask", dtype="bool")
    mask, fits = np.array(mask), np.array([True, False, True, True])
    for write in (lambda x: x, lambda x: pt.inc_subtensor(x, 1.0)):
        check_error(IndexError, [m], write(m[mask]), M, good=(np.ones((len(mask), 5)),))
        check_error(IndexError, [m], write(m[:, mask, None]), M[:, :4], good=(np.ones((4, len(mask))),))
        error = check_error(IndexError, [m, of_any_length], write(m[of_any_length]), M, mask, good=(M, fits))
        assert error.code == "index-out-of-bounds" and f"mask: dim 0 is {len(mask)}, not 4" in str(error)
        check_error(IndexError, [m, of_any_length], write(m[of_any_length, 1]), M, mask, good=(M, fits))


def test_masks_of_a_matrix_of_another_shape(check_error):
    m, mask = pt.dmatrix("m"), pt.matrix("mask", dtype="bool")
    for shape in ((4, 4), (1, 5), (5, 4)):
        wrong = np.ones(shape, bool)
        check_error(IndexError, [m], m[wrong], M)
        check_error(IndexError, [m, mask], m[mask], M, wrong, good=(M, M > 3))
        check_error(IndexError, [m, mask], pt.set_subtensor(m[mask], 0.0), M, wrong, good=(M, M > 3))


@pytest.mark.parametrize(("above", "beyond"), [(14, 9), (-1, 13), (4, 11), (100, 13), (14, 100)])
def test_two_masks_meet_as_index_arrays_do(above, beyond, check):
    """As many positions of either, or one of one of them."""
    m, t = pt.dmatrix("m"), pt.dtensor3("t")
    rows, columns = m[:, 0] > above, m[2] > beyond
    check([m], [m[rows, columns], pt.set_subtensor(m[rows, columns], -1.0)], M)
    check([t, m], [t[:, rows, columns], t[0, :, columns]], T, M)


def test_two_masks_of_different_counts(check_error):
    m = pt.dmatrix("m")
    check_error(IndexError, [m], m[m[:, 0] > 4, m[3] > 17], M, good=(M + 1,))


def test_differences_of_differences(check):
    """Sizes of slices of slices of a vector of any length stay short."""
    x = pt.dvector("x")
    for length in (40, 20, 1):
        check([x], [pt.diff(x, n=20), pt.diff(x[2:-1], n=3)[1:5][:-1][1:]], np.cos(np.arange(float(length))))


def test_overlapping_slices_read_the_old_values(check):
    x = pt.dvector("x")
    check([x], [pt.set_subtensor(x[1:], 2 * x[:-1]), pt.set_subtensor(x[:-1], x[1:]), pt.set_subtensor(x[::-1], x)], V)


def test_permuted_read_and_write(check):
    x, r, w = pt.dvector("x"), pt.lvector("r"), pt.lvector("w")
    check([x, r, w], pt.set_subtensor(x[w], pt.exp(x)[r]), V, np.array([0, 1, 2]), np.array([2, 0, 1]))


def test_chain_of_writes(check):
    x = pt.dvector("x")
    y = pt.zeros(10)
    y = pt.set_subtensor(y[:7], x)
    y = pt.inc_subtensor(y[3:], x)
    y = pt.set_subtensor(y[-1], 100.0)
    check([x], [y, y.sum()], V)


def test_increment_of_integers(check):
    x, i = pt.lvector("x"), pt.lvector("i")
    check([x, i], [pt.inc_subtensor(x[i], 5), pt.inc_subtensor(x[1:], x[:-1])], np.arange(4), np.array([0, 0, 3]))


@pytest.mark.parametrize("target, value", [("uint8", "int8"), ("uint8", "int64"), ("uint32", "int16"), ("uint32", "uint8")])
def test_increments_of_integers_wrap(target, value, check):
    """Through arrays of indices and masks, whatever integers are added."""
    x, y, i, mask = pt.vector("x", dtype=target), pt.vector("y", dtype=value), pt.lvector("i"), pt.vector("mask", dtype="bool")
    base, increments = np.array([1, 0, 7, 3], target), np.array([-3, 100, 5]).astype(value)
    check([x, y, i], x[i].inc(y), base, increments, np.array([0, 0, 3]))
    check([x, i], [x[i].inc(1), x[i].inc(-1)], base, np.array([0, 0, 3]))
    check([x, mask], [x[mask].inc(1), x[mask].inc(-1)], base, np.array([True, False, True, True]))


@pytest.mark.parametrize("target, value", [("int8", "float64"), ("uint8", "int8"), ("bool", "int8"), ("float32", "complex64")])
def test_increments_that_their_target_does_not_hold(target, value, check, check_error):
    """NumPy adds first and casts the sum, or refuses to: not what inlay's own writes do."""
    x, y, i = pt.vector("x", dtype=target), pt.vector("y", dtype=value), pt.lvector("i")
    base, increments, index = np.array([1, 0, 7, 3], target), np.array([-1.9, 5.7]).astype(value), np.array([0, 2])
    for output, arguments in [
        (lambda: pt.inc_subtensor(x[:2], y), ([x, y], base, increments)),
        (lambda: pt.inc_subtensor(x[i], y), ([x, y, i], base, increments, index)),
    ]:
        try:
            made = output()
        except TypeError:  # PyTensor itself knows
            continue
        inputs, *values = arguments
        try:
            pytensor.function(inputs, made, mode="FAST_COMPILE")(*values)
        except TypeError:
            check_error(TypeError, inputs, made, *values)
        else:
            check(inputs, made, *values, native=target == "uint8")  # sums of integers wrap all the same
    if target != "bool":
        check([x, i], pt.inc_subtensor(x[i], x[i]), base, index)


def test_value_of_run_time_length_one_stretches_over_axes_that_are_not_indexed(check, check_error):
    m, i, y, v = pt.dmatrix("m"), pt.lvector("i"), pt.dmatrix("y"), pt.dvector("v")
    index = np.array([0, 2])
    outputs = [pt.set_subtensor(m[:, i], y), pt.inc_subtensor(m[:, :2], y), pt.inc_subtensor(m[1:, 1], v)]
    check([m, i, y, v], outputs, M, index, np.ones((1, 2)), np.ones(1))
    check([m, i, y, v], outputs, M, index, np.arange(8.0).reshape(4, 2), np.arange(3.0))
    check_error(ValueError, [m, v], outputs[2], M, np.arange(2.0), good=(M, np.arange(3.0)))
    check_error(ValueError, [m, v], outputs[2], M, np.arange(4.0), good=(M, np.arange(1.0)))


@pytest.mark.parametrize("length", [0, 1, 2, 5, 6])
def test_slices_with_any_ends_and_steps(length, check):
    x = pt.dvector("x")
    ends = [None, 0, 1, 3, -1, -2, -7, 9]
    for step in (1, 2, -1, -2, -3, None):
        outputs = [x[start:stop:step] for start in ends for stop in ends]
        check([x], outputs, np.arange(float(length)))


@pytest.mark.parametrize("step", [1, 2, -1, -2, -3])
def test_writes_to_slices_with_any_step(step, check):
    x, v, s = pt.dvector("x"), pt.dvector("v"), pt.dscalar("s")
    for start, stop in [(None, None), (1, -1), (-1, 1), (4, 0), (0, 0), (-9, 9)]:
        part = x[start:stop:step]
        for length in (0, 1, 5, 6):
            value = np.arange(float(length))
            room = np.arange(float(len(value[start:stop:step]))) + 10
            check([x, v, s], [part.set(v), part.inc(v), part.set(s)], value, room, 7.0)


def test_slices_at_sizes(check):
    x, y = pt.dmatrix("x"), pt.dvector("y")
    n, k = x.shape[0], y.shape[0]
    check([x, y], [x[:k], x[k:], x[k::-1], x[: n // 2, ::-1], x[n - 1 :: -2] * 2], np.arange(12.0).reshape(4, 3), np.ones(2))


def test_backwards_slices_beside_index_arrays(check):
    x, i = pt.dtensor3("x"), pt.lvector("i")
    value = np.arange(24.0).reshape(2, 3, 4)
    outputs = [x[i, ::-1], x[:, i, ::-2], x[::-1, :, i], x[i, ::-1].inc(1.5), x[i, :, ::-1].set(x[i])]
    check([x, i], outputs, value, np.array([1, -1, 0, 1]))


@pytest.mark.skipif(OLD_PYTENSOR, reason="its function does not take ignore_duplicates")
def test_increments_that_ignore_duplicates(check):
    from pytensor.tensor.subtensor import advanced_inc_subtensor

    x, v, i = pt.dvector("x"), pt.dvector("v"), pt.lvector("i")
    output = advanced_inc_subtensor(x, v, i, ignore_duplicates=True)
    check([x, v, i], output, np.arange(4.0), np.array([10.0, 20, 30]), np.array([1, 3, 1]))


def test_position_beside_an_empty_index_array(check_error):
    x, j = pt.dtensor3("x"), pt.lvector("j")
    check_error(IndexError, [x, j], x[1, :, j], np.zeros((0, 2, 3)), np.zeros(0, int), good=(np.ones((2, 2, 3)), [0, 2]))


STEPS = [1, 2, 3, -1, -2, 7, -9, 2**62, -(2**63), 2**63 - 1]


@pytest.fixture(scope="module")
def stepped():
    """A function of a slice's start, stop and step, in both modes."""
    x, a, b, k = pt.dvector("x"), pt.lscalar("a"), pt.lscalar("b"), pt.lscalar("k")
    read = [x[::k], x[5:1:k] * 2, x[a::k], x[:b:k], x[a:b:k], x[a:b:k].shape[0]]
    written = [pt.set_subtensor(x[a:b:k], 7.0), pt.inc_subtensor(x[::k], x[::k] * 2)]
    outputs = [*read, *written, pt.grad((x[a:b:k] ** 2).sum(), x)]
    ours, theirs = (pytensor.function([x, a, b, k], outputs, mode=mode) for mode in ("INLAY", "FAST_COMPILE"))
    assert host_calls(ours) == {}
    return ours, theirs


@pytest.mark.parametrize("step", STEPS)
def test_steps_that_are_values(step, stepped):
    ours, theirs = stepped
    for length in (0, 1, 7):
        for start, stop in ((-9, 99), (-3, -1), (6, 0), (2, 2), (1, -9)):
            arguments = V[:length], *map(np.array, (start, stop, step))
            for got, want in zip(ours(*arguments), theirs(*arguments), strict=True):
                assert_same(got, want)


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
def test_steps_of_narrow_dtypes(dtype, check):
    x, k = pt.dvector("x"), pt.scalar("k", dtype=dtype)
    for step in (2, -3 if dtype == "int8" else 200):
        check([x, k], x[::k], V, np.array(step, dtype))


def test_steps_that_are_values_beside_other_indices(check):
    m, k, j, i = pt.dmatrix("m"), pt.lscalar("k"), pt.lscalar("j"), pt.lvector("i")
    read = [m[1:, ::k], m[::k, 1::j], m[j, ::k], m[::k, j], m[i, ::k], m[::k, i], m[m[:, 0] > 4, ::k]]
    written = [
        pt.set_subtensor(m[::k, ::j], pt.exp(-m[::k, ::j])),
        pt.inc_subtensor(m[i, ::k], 1.0),
        pt.set_subtensor(m[m[:, 0] > 4, ::k], 1.5),
    ]
    for step in (2, -1, -9):
        values = M, np.array(step), np.array(2), np.array([0, 2, 2])
        check([m, k, j, i], read + written, *values, native=not OLD_PYTENSOR)  # whose masks beside slices are objects


def test_a_step_of_zero(check_error):
    x, m, k = pt.dvector("x"), pt.dmatrix("m"), pt.lscalar("k")
    error = check_error(ValueError, [x, k], x[::k], V, np.array(0), good=(V, np.array(2)))
    assert "slice step cannot be zero" in str(error)
    check_error(ValueError, [x, k], pt.set_subtensor(x[1::k], 0.0), V, np.array(0), good=(V, np.array(-2)))
    check_error(IndexError, [m, k], m[5, ::k], M, np.array(1))


LENGTHS_THAT_MAY_STRETCH = [
    # x, the index, shapes of values that NumPy takes and of some that it does not
    ("mask", (3,), [True, True, False], [(0,), (1,), (2,), (3,)]),
    ("mask", (3,), [True, False, False], [(0,), (1,), (2,)]),
    ("mask", (3,), [False, False, False], [(0,), (1,), (2,)]),
    ("mask of rows", (3, 2), [True, False, True], [(1, 2), (2, 2), (2, 1), (1, 1), (0, 2), (3, 2), (0, 1)]),
    ("mask of rows", (3, 2), [False, False, False], [(1, 2), (2, 2), (0, 2), (0, 1)]),
    ("mask of rows", (0, 2), [], [(1, 2), (0, 2), (2, 1), (1, 1)]),
    ("mask of elements", (2, 2), [[True, False], [True, True]], [(0,), (1,), (2,), (3,)]),
    ("mask and slice", (3, 2), [True, False, True], [(1, 2), (2, 2), (2, 1), (1, 1), (3, 2)]),
    ("matrix", (5,), [[0, 1, 2], [2, 3, 4]], [(1, 3), (2, 3), (2, 1), (1, 1), (0, 3), (3, 3), (2, 2)]),
    ("matrix", (5,), [[1, 1, 1]], [(1, 3), (1, 1), (2, 3), (0, 1)]),
    ("matrix", (5,), np.zeros((0, 3)), [(1, 3), (0, 3), (0, 1), (1, 1), (2, 3)]),
    ("matrix of rows", (5, 2), [[0, 1, 2], [2, 3, 4]], [(2, 3, 2), (1, 3, 2), (2, 1, 1), (1, 1, 2), (2, 2, 2), (1, 0, 2)]),
    ("two vectors", (5, 5), [0, 2, 0], [(3,), (1,), (0,), (2,)]),
    ("vector and slice", (5, 3), [0, 2, 0], [(3, 3), (1, 3), (3, 1), (1, 1), (2, 3)]),
    ("slice and vector", (3, 5), [0, 2, 0], [(3, 3), (1, 3), (3, 1), (1, 1), (2, 3)]),
]


@pytest.mark.skipif(OLD_PYTENSOR, reason="its own rewrites flatten or stretch the value in other ways")
@pytest.mark.parametrize(("form", "shape", "index", "values"), LENGTHS_THAT_MAY_STRETCH, ids=str)
@pytest.mark.parametrize("write", [pt.set_subtensor, pt.inc_subtensor])
def test_value_of_run_time_length_one_stretches_over_what_is_indexed(write, form, shape, index, values):
    """As in NumPy; for a vector of integers alone PyTensor refuses it. What is refused raises a ValueError."""
    index = np.array(index, bool if form.startswith("mask") else np.int64)
    x = pt.tensor("x", shape=(None,) * len(shape))
    i = pt.tensor("i", dtype=index.dtype.name, shape=(None,) * index.ndim)
    brackets = {"two vectors": (i, i), "slice and vector": (slice(None), i)}.get(form, i)
    brackets = (i, slice(None, 2)) if form in ("mask and slice", "vector and slice") else brackets
    y = pt.tensor("y", shape=(None,) * x[brackets].type.ndim)
    ours, theirs = (pytensor.function([x, i, y], write(x[brackets], pt.exp(y)), mode=mode) for mode in ("INLAY", "FAST_COMPILE"))
    assert host_calls(ours) == {}
    base = np.arange(np.prod(shape, dtype=float)).reshape(shape)
    for of_value in values:
        value = np.linspace(0, 1, int(np.prod(of_value))).reshape(of_value)
        try:
            want = theirs(base, index, value)
        except ValueError:
            with pytest.raises(ValueError, match="shape-mismatch"):
                ours(base, index, value)
        else:
            assert_same(ours(base, index, value), want)


@pytest.mark.skipif(OLD_PYTENSOR, reason="its own rewrites flatten or stretch the value in other ways")
@pytest.mark.parametrize("length", [1, 2, 3])
def test_a_vector_of_integers_alone_takes_no_value_of_run_time_length_one(length, check, check_error):
    x, m, i, v = pt.dvector("x"), pt.dmatrix("m"), pt.lvector("i"), pt.dmatrix("v")
    index, rows = np.array([0, 2, 0]), np.ones((length, 3))
    for write in (pt.set_subtensor, pt.inc_subtensor):
        for inputs, output, base, value in [
            ([x, i, v], write(x[i], v[:, 0]), V, rows),
            ([m, i, v], write(m[i], v), M[:, :3], rows),
            ([m, i, v], write(m[i], v.T), M[:, :3], rows),
        ]:
            if length == 3:
                check(inputs, output, base, index, value)
            else:
                check_error(ValueError, inputs, output, base, index, value, good=(base, index, np.ones((3, 3))))


@pytest.mark.skipif(OLD_PYTENSOR, reason="its own rewrites flatten or stretch the value in other ways")
def test_a_value_of_run_time_length_one_in_a_step_of_a_scan(check):
    x, m, v, i, mask = pt.dvector("x"), pt.dmatrix("m"), pt.dmatrix("v"), pt.lmatrix("i"), pt.vector("mask", dtype="bool")
    # (Through a matrix the C code in PyTensor's loop writes no value of another length into a vector; into a matrix there
    # is none.)
    rows = pytensor.scan(lambda m: pt.set_subtensor(m[i], pt.tanh(v)[:, :, None]) * 2, outputs_info=[m], n_steps=3, return_updates=False)
    masked = pytensor.scan(lambda x: pt.inc_subtensor(x[mask], v[:, 0]), outputs_info=[x], n_steps=3, return_updates=False)
    check([x, m, v, i, mask], [rows, masked], V, M, np.ones((1, 2)), np.array([[0, 1], [2, 3]]), V % 3 == 0, native=False)
    check([m, v, i], rows, M, np.ones((2, 2)), np.array([[0, 1], [2, 3]]))
