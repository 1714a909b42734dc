"""What other compilers of these graphs get wrong: where a number below differs from NumPy's, or where they read or write
memory that is not theirs. Each case is in loops that are fused, as that is where most of it went wrong."""

import inlay.pytensor
import numpy as np
import pytensor
import pytensor.scalar as ps
import pytensor.tensor as pt
import pytest
from conftest import assert_same, host_calls
from pytensor.tensor.elemwise import CAReduce
from versions import OLD_PYTENSOR

V = np.array([0.5, -1.0, 2.0, 0.25])
INDEX = np.array([1, 3, 1, -3])
INT64_MIN = np.iinfo("int64").min


def inlays(inputs, outputs, *values, one_kernel=False):
    fn = pytensor.function(inputs, outputs, mode="INLAY")
    assert host_calls(fn) == {}
    results = fn(*values)
    if one_kernel:
        e = inlay.pytensor.explain(fn)
        assert (len(e.kernels), e.temporaries) == (1, [])
    return results


def assert_results(got, want):
    for ours, expected in zip(got, want, strict=True):
        assert_same(ours, expected)


def after(ufunc_at, base, index, value):
    out = base.copy()
    ufunc_at(out, index, value)
    return out


def put(base, index, value):
    """NumPy's assignment, one element after the other: the last one wins."""
    out = base.copy()
    for i, v in zip(index, value, strict=True):
        out[i] = v
    return out


def test_set_and_inc_through_one_index_in_one_loop():
    """Numba's fuser takes whichever stands first for both."""
    x, i, y = pt.dvector("x"), pt.tensor("i", shape=(4,), dtype="int64"), pt.tensor("y", shape=(4,))
    e = pt.exp(y)
    outputs = [x[i].set(e), x[i].inc(e), pt.zeros(5)[i].set(y), pt.ones(5)[i].inc(y), e]
    base = np.arange(5.0)
    want = [
        put(base, INDEX, np.exp(V)),
        after(np.add.at, base, INDEX, np.exp(V)),
        put(np.zeros(5), INDEX, V),
        after(np.add.at, np.ones(5), INDEX, V),
        np.exp(V),
    ]
    assert_results(inlays([x, i, y], outputs, base, INDEX, V, one_kernel=True), want)
    assert_results(inlays([x, i, y], outputs[1::-1], base, INDEX, V), want[1::-1])


@pytest.mark.skipif(OLD_PYTENSOR, reason="its function does not take ignore_duplicates")
def test_inc_that_ignores_duplicates_in_a_loop():
    """Numba accumulates once it is fused, JAX always: each element gets what the last of its indices brings."""
    from pytensor.tensor.subtensor import advanced_inc_subtensor

    x, i, y = pt.dvector("x"), pt.lvector("i"), pt.dvector("y")
    output = advanced_inc_subtensor(x, pt.exp(y), i, ignore_duplicates=True)
    base = np.arange(5.0)
    want = base.copy()
    want[INDEX] += np.exp(V)
    assert_results(inlays([x, i, y], [output, pt.exp(y)], base, INDEX, V), [want, np.exp(V)])
    for_all = advanced_inc_subtensor(x, pt.exp(y), i)
    assert_results(inlays([x, i, y], [for_all], base, INDEX, V), [after(np.add.at, base, INDEX, np.exp(V))])


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "uint32", "uint64", "int8", "int64"])
@pytest.mark.parametrize("op, ufunc", [(ps.and_, np.bitwise_and), (ps.or_, np.bitwise_or), (ps.xor, np.bitwise_xor)])
def test_bitwise_reductions_in_a_loop(op, ufunc, dtype):
    """Numba starts the fold of an unsigned dtype with -1, which is none of its numbers."""
    x = pt.tensor("x", shape=(None, None), dtype=dtype)
    value = np.array([[7, 6, 15], [14, 31, 63]], dtype)
    shifted = x + np.ones((), dtype)
    outputs = [CAReduce(op)(shifted), CAReduce(op, axis=0)(shifted), CAReduce(op, axis=1)(x)]
    want = [ufunc.reduce(value + np.ones((), dtype), axis=None), ufunc.reduce(value + np.ones((), dtype), axis=0)]
    assert_results(inlays([x], outputs, value), [*want, ufunc.reduce(value, axis=1)])
    empty = np.zeros((0, 2), dtype)
    assert_results(inlays([x], outputs[:2], empty), [ufunc.reduce(empty, axis=None), ufunc.reduce(empty, axis=0)])


@pytest.mark.parametrize("value", [[False] * 5, [False, True], [True]])
def test_extremes_of_bools(value):
    """Numba's was True of nothing but False."""
    x = pt.vector("x", dtype="bool")
    value = np.array(value)
    assert_results(
        inlays([x], [x.max(), x.min(), (x & x).max(), pt.any(x), pt.all(x)], value),
        [value.max(), value.min(), value.max(), value.any(), value.all()],
    )


def test_a_write_whose_value_has_the_last_axes_only():
    """Numba did not compile it."""
    m, i, v = pt.dmatrix("m"), pt.lvector("i"), pt.dvector("v")
    base, value = np.arange(12.0).reshape(3, 4), V
    index = np.array([2, 0, 2])
    e = pt.exp(v)
    outputs = [m[1:].set(e), m[1:].inc(e), m[i].inc(e), m[:, 1:3].set(e[:2]), pt.zeros((2, 4))[:].set(e)]
    want = [base.copy() for _ in range(4)] + [np.broadcast_to(np.exp(value), (2, 4)).copy()]
    want[0][1:] = np.exp(value)
    want[1][1:] += np.exp(value)
    np.add.at(want[2], index, np.exp(value))
    want[3][:, 1:3] = np.exp(value)[:2]
    assert_results(inlays([m, i, v], outputs, base, index, value), want)


@pytest.mark.parametrize("bad", [4, -5, 10**6, -(10**6), 2**62])
def test_indices_out_of_bounds_in_a_loop(bad, check_error):
    """Numba reads and writes there; JAX reads the nearest element and drops the write."""
    x, i, y = pt.dvector("x"), pt.lvector("i"), pt.dvector("y")
    e = pt.exp(x)
    for output in [(e[i] * y).sum(), pt.exp(x[i] - y), e[i].inc(y), x[i].set(pt.exp(y)), pt.zeros(4)[i].inc(y).sum() + x[0]]:
        index = np.array([0, 1, bad, 2])
        around = np.full(12, 7.0)
        around[4:8] = V
        error = check_error(IndexError, [x, i, y], output, around[4:8], index, V, good=(V, np.array([0, -4, 3, 1]), V))
        assert str(bad) in str(error)
        assert (around[:4] == 7).all() and (around[8:] == 7).all()


@pytest.mark.parametrize("bad", [4, -5])
def test_positions_out_of_bounds_in_a_loop(bad, check_error):
    """JAX reads the nearest element."""
    x, k = pt.dvector("x"), pt.lscalar("k")
    for output in [pt.exp(x)[k] * x, pt.exp(x)[k].set(0.0)]:
        check_error(IndexError, [x, k], output, V, np.array(bad), good=(V, np.array(-4)))


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "int8", "uint8"])
def test_extremes_of_nothing(dtype, check_error):
    """Numba's are the minimum and the maximum of the dtype."""
    x = pt.tensor("x", shape=(None,), dtype=dtype)
    for output in [(x * x).max(), (x * x).min(), (x + x).argmax()]:
        check_error(ValueError, [x], output, np.zeros(0, dtype), good=(np.ones(3, dtype),))


def test_integers_divided_by_zero_and_by_minus_one(check):
    """The C of PyTensor ends the process for the minimum integer by -1, Numba gives 0, JAX -2 for a division by 0."""
    a, b = pt.lvector("a"), pt.lvector("b")
    x = np.array([7, -7, 0, INT64_MIN, INT64_MIN, -7, 7])
    y = np.array([0, 0, 0, -1, 0, 2, -2])
    got = inlays([a, b], [a // b, a % b], x, y)
    assert_results(got, [np.array([0, 0, 0, INT64_MIN, 0, -4, -4]), np.array([0, 0, 0, 0, 0, 1, -1])])
    check([a, b], [a // b + a, a % b - b], x, y)


def test_integers_to_negative_powers(check_error):
    """Others give 0, -1, or the minimum integer."""
    a, b = pt.lvector("a"), pt.lvector("b")
    good = (np.array([2, 3]), np.array([3, 0]))
    check_error(ValueError, [a, b], (a + 1) ** b, np.array([1, 2]), np.array([1, -1]), good=good)


def test_signed_zeros_survive_a_loop():
    """C and JAX give -0.0 % 2 = -0, C round(-0.5) = +0, Numba sign(-0.0) = -0."""
    x = pt.dvector("x")
    value = np.array([-0.0, -0.5, 0.5, -4.0])
    want = [np.array([0.0, 1.5, 0.5, 0.0]), np.array([-0.0, -0.0, 0.0, -4.0]), np.array([0.0, -1.0, 1.0, -1.0])]
    assert_results(inlays([x], [x % 2, pt.round(x, mode="half_to_even"), pt.sign(x)], value), want)


@pytest.mark.parametrize("target", ["int8", "uint8", "int64"])
def test_nan_is_no_integer_in_a_loop(target):
    """Others give 0 or the minimum integer."""
    x = pt.dvector("x")
    fn = pytensor.function([x], pt.cast(x * 1, target).sum(), mode="INLAY")
    with pytest.raises(ValueError, match="NaN"):
        fn(np.array([1.0, np.nan]))
    assert fn(np.array([1.5, 1.7, 100.0])) == 102


def test_float16_in_a_loop(check):
    """Numba does not compile it, JAX adds it up as float32."""
    x = pt.tensor("x", shape=(None,), dtype="float16")
    outputs = [(x * x).sum(), pt.exp(x), (x + 1).max()]
    fn = check([x], outputs, np.arange(5, dtype="float16"))
    assert [r.dtype for r in fn(np.arange(5, dtype="float16"))] == ["float16"] * 3


def test_dtypes_of_reductions(check):
    """JAX answers in float64 and complex128; C and JAX keep int8 in a running sum, which wraps."""
    f, c, k = pt.fvector("f"), pt.cvector("c"), pt.bvector("k")
    values = np.full(5, 0.1, "float32"), np.full(3, 1 + 2j, "complex64"), np.full(9, 100, "int8")
    fn = check([f, c, k], [(f * 2).sum(), f.mean(), f.var(), (c + c).sum(), pt.cumsum(k), k.sum()], *values)
    assert [str(r.dtype) for r in fn(*values)] == ["float32"] * 3 + ["complex64", "int64", "int64"]
    np.testing.assert_array_equal(fn(*values)[4], np.arange(1, 10) * 100)


def test_integers_meet_floats_in_float64():
    """JAX computes int64 + float32 in float32."""
    k, f = pt.lvector("k"), pt.fvector("f")
    assert_results(inlays([k, f], [k + f], np.array([2**40 + 1]), np.array([1.0], "float32")), [np.array([2.0**40 + 2])])


def test_more_operands_than_a_ufunc_takes():
    """NumPy ends at 32 and 64 operands; what is above them is not fused elsewhere."""
    xs = [pt.dvector(f"x{k}") for k in range(40)]
    total = xs[0]
    for other in xs[1:]:
        total = total * 0.5 + other
    values = [np.full(3, float(k)) for k in range(40)]
    want = values[0]
    for other in values[1:]:
        want = want * 0.5 + other
    assert_results(inlays(xs, [total], *values, one_kernel=True), [want])


def test_shape_mismatch_in_a_loop(check_error):
    x, y = pt.dvector("x"), pt.dvector("y")
    check_error(ValueError, [x, y], pt.exp(x) + y, np.ones(3), np.ones(1), good=(np.ones(3), np.ones(3)))


@pytest.mark.parametrize("mask", [[True, False, True, True], [False] * 4, [True] * 4])
def test_masks_in_a_loop(mask):
    """JAX has no size for what a mask selects."""
    x, m = pt.dvector("x"), pt.vector("m", dtype="bool")
    e = pt.exp(x)
    mask = np.array(mask)
    want = np.exp(V)
    changed = want.copy()
    changed[mask] += 1
    outputs = [e[m], e[m].sum(), e[m].inc(1.0), x[m].set(0.0)]
    assert_results(inlays([x, m], outputs, V, mask), [want[mask], want[mask].sum(), changed, np.where(mask, 0, V)])


@pytest.mark.parametrize("ops", range(95, 103))
def test_indices_as_long_as_a_loop_may_be(ops):
    """A check that has no room in the loop that makes its indices stands behind it."""
    lines, last = [], "%p"
    for k in range(ops):
        lines += [f"%c{k} = literal {k % 11 + 1} : i64", f"%a{k} = {('xor', 'add', 'sub')[k % 3]} {last}, %c{k} : i64[n]"]
        last = f"%a{k}"
    text = [*lines, "%z = literal 0 : i64", f"%i = min {last}, %z", "%g = gather %x[%i]", "%s = slice %g[0:1]", "return %s, %i"]
    f = inlay.compile("\n".join(["graph @main(%x: f64[m], %p: i64[n]) {", *text, "}"]))
    good = np.array([-1, -400, -500, -600])
    x = np.arange(1000.0)
    y, i = f(x, good)
    np.testing.assert_array_equal(y, x[i[:1]])
    with pytest.raises(inlay.errors.IndexOutOfBounds):
        f(x, good * 10)
