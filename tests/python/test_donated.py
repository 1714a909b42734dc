"""Arguments that a call may overwrite: `In(mutable=True)`, shared variables with an update, `donated` in the text form."""

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest

import inlay.pytensor
from inlay.pytensor import explain
from versions import OLD_PYTENSOR

UPDATE = """
graph @main(%x: f64[n] donated, %y: f64[m]) {
  %r = update set %x[0:m], %y
  return %r
}
"""


def test_the_result_is_the_array_that_was_given():
    f = inlay.compile(UPDATE)
    x = np.zeros(5)
    r = f(x, np.array([1.0, 2.0]))
    assert r is x
    np.testing.assert_array_equal(x, [1, 2, 0, 0, 0])


@pytest.mark.parametrize("make", [lambda x: x[::-1], lambda x: x.astype("f4").astype("f8")[None][0]])
def test_another_layout_is_copied_or_used(make):
    f = inlay.compile(UPDATE)
    x = make(np.arange(4.0))
    before = x.copy()
    r = f(x, np.array([9.0]))
    np.testing.assert_array_equal(r, [9.0, *before[1:]])


def test_a_read_only_array_is_copied():
    f = inlay.compile(UPDATE)
    x = np.zeros(3)
    x.flags.writeable = False
    r = f(x, np.ones(1))
    assert r is not x
    np.testing.assert_array_equal(x, 0)
    np.testing.assert_array_equal(r, [1, 0, 0])


def test_a_subclass_is_not_returned():
    class Own(np.ndarray):
        pass

    f = inlay.compile(UPDATE)
    r = f(np.zeros(3).view(Own), np.ones(1))
    assert type(r) is np.ndarray
    np.testing.assert_array_equal(r, [1, 0, 0])


def test_an_array_that_is_also_another_argument_is_copied():
    f = inlay.compile(UPDATE)
    x = np.arange(6.0)
    r = f(x, x[2:5])
    np.testing.assert_array_equal(x, np.arange(6.0))
    np.testing.assert_array_equal(r, [2, 3, 4, 3, 4, 5])


def test_a_failed_call_has_changed_nothing():
    f = inlay.compile(UPDATE)
    x = np.zeros(2)
    with pytest.raises(Exception, match="slice|update|size"):
        f(x, np.ones(3))
    np.testing.assert_array_equal(x, 0)

    g = inlay.compile("""
    graph @main(%x: f64[n] donated, %g: i64[m], %v: f64[m]) {
      %e = exp %x
      %r = scatter add %e[%g], %v
      return %r
    }
    """)
    x = np.zeros(3)
    with pytest.raises(IndexError, match="index 3"):
        g(x, np.array([0, 3]), np.ones(2))
    np.testing.assert_array_equal(x, 0)
    np.testing.assert_array_equal(g(x, np.array([0, 2]), np.ones(2)), [2, 1, 2])


def test_a_mutable_input_is_updated_in_place():
    x, y = pt.dvector("x"), pt.tensor("y", dtype="float64", shape=(2,))
    f = pytensor.function([pytensor.In(x, mutable=True), y], x[1:3].set(y), mode="INLAY")
    a = np.zeros(4)
    r = f(a, np.array([1.0, 2.0]))
    assert r is a
    np.testing.assert_array_equal(a, [0, 1, 2, 0])
    assert explain(f).copies == []

    g = pytensor.function([x, y], x[1:3].set(y), mode="INLAY")
    a = np.zeros(4)
    np.testing.assert_array_equal(g(a, np.array([1.0, 2.0])), [0, 1, 2, 0])
    np.testing.assert_array_equal(a, 0)


def test_a_size_that_is_found_equal_to_another():
    """The program has one size for both; the caller's array is written in place all the same."""
    y, o = pt.dvector("y"), pt.dvector("o")
    f = pytensor.function(
        [y, pytensor.In(o, mutable=True)], [pt.set_subtensor(o[1:], 0.0), (o + y).sum()], mode="INLAY"
    )
    assert explain(f).copies == []
    x = np.arange(4.0)
    r, total = f(np.ones(4), x)
    assert np.shares_memory(r, x) and total == 10
    np.testing.assert_array_equal(x, [0, 0, 0, 0])
    x = np.arange(5.0)
    with pytest.raises(inlay.InlayError):
        f(np.ones(4), x)
    np.testing.assert_array_equal(x, np.arange(5.0))


@pytest.mark.parametrize("others", ["returned", "folded", "scattered"])
@pytest.mark.parametrize("length", [0, 1, 4])
def test_a_value_of_unknown_length_is_made_once(others, length):
    """Also where it has one element, which stands at every place that is written then."""
    x, o, k = pt.dvector("x"), pt.dvector("o"), pt.lvector("k")
    e = pt.exp(x)
    other = {"returned": e, "folded": e.sum(), "scattered": pt.inc_subtensor(pt.zeros(9)[k], e)}
    outputs = [pt.set_subtensor(o[1:], e), other[others]]
    f, reference = (
        pytensor.function([x, o, k], outputs, mode=mode, on_unused_input="ignore") for mode in ("INLAY", "FAST_COMPILE")
    )
    stored = OLD_PYTENSOR and others == "scattered"  # it stretches an increment of length 1 itself
    assert (len(explain(f).kernels), len(explain(f).temporaries)) == ((2, 1) if stored else (1, 0))
    arrays = [np.linspace(0, 1, length), np.arange(5.0 if length else 1.0), np.array([8, 0, 8, 2][:length], "i8")]
    expected = reference(*arrays)
    for a, b in zip(f(*arrays), expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-15)


def test_a_shared_variable_is_updated_where_it_lies():
    total = pytensor.shared(np.zeros(1000), name="total", shape=(1000,))
    x = pt.tensor("x", dtype="float64", shape=(1000,))
    step = pytensor.function([x], (total * x).sum(), updates=[(total, total + x)], mode="INLAY")
    place = total.get_value(borrow=True)
    for turn in range(3):
        np.testing.assert_allclose(step(np.ones(1000)), 1000.0 * turn)
    assert total.get_value(borrow=True) is place
    np.testing.assert_array_equal(place, 3)


def test_a_shared_variable_that_is_also_returned():
    state = pytensor.shared(np.arange(3.0))
    f = pytensor.function([], state, updates=[(state, state * 2)], mode="INLAY")
    np.testing.assert_array_equal(f(), [0, 1, 2])
    before = f()
    f()
    np.testing.assert_array_equal(before, [0, 2, 4])
    np.testing.assert_array_equal(state.get_value(), [0, 8, 16])


def test_two_shared_variables_change_places():
    a, b = pytensor.shared(np.zeros(4)), pytensor.shared(np.ones(4))
    swap = pytensor.function([], [], updates=[(a, b), (b, a)], mode="INLAY")
    swap()
    np.testing.assert_array_equal(a.get_value(), 1)
    np.testing.assert_array_equal(b.get_value(), 0)
    both = pytensor.function([], [], updates=[(a, b + 1), (b, a + 1)], mode="INLAY")
    both()
    np.testing.assert_array_equal(a.get_value(), 1)
    np.testing.assert_array_equal(b.get_value(), 2)


def test_a_failed_update_leaves_the_shared_variable():
    state = pytensor.shared(np.zeros(3))
    i = pt.lvector("i")
    f = pytensor.function([i], [], updates=[(state, state[i].inc(1.0))], mode="INLAY")
    with pytest.raises(IndexError):
        f([0, 7])
    np.testing.assert_array_equal(state.get_value(), 0)
    f([0, 0, 2])
    np.testing.assert_array_equal(state.get_value(), [2, 0, 1])


def test_one_array_in_two_shared_variables():
    array = np.zeros(4)
    a, b = pytensor.shared(array, borrow=True), pytensor.shared(array, borrow=True)
    f = pytensor.function([], [], updates=[(a, b + 1), (b, a + 2)], mode="INLAY")
    f()
    np.testing.assert_array_equal(a.get_value(), 1)
    np.testing.assert_array_equal(b.get_value(), 2)


@pytest.mark.parametrize("borrow", [False, True])
def test_what_was_returned_stays_as_it_was(borrow):
    state = pytensor.shared(np.ones(300))
    new = state * 2
    f = pytensor.function([], pytensor.Out(new, borrow=borrow), updates=[(state, new)], mode="INLAY")
    first = f().copy() if borrow else f()
    f()
    np.testing.assert_array_equal(first, 2)
    np.testing.assert_array_equal(state.get_value(), 4)
    kept = state.get_value(borrow=False)
    f()
    np.testing.assert_array_equal(kept, 4)


@pytest.mark.parametrize("planner", ["naive", "greedy", "search", "max"])
def test_a_bad_last_index_has_changed_nothing(planner):
    """Of what is donated, be it to a program in text form, as a mutable input or as a shared variable."""
    x, i, v = pt.dvector("x"), pt.lvector("i"), pt.dvector("v")
    mode = inlay.pytensor.mode(planner=planner)
    state = pytensor.shared(np.arange(4.0))
    grown = pt.exp(x)[::-1].cumsum()
    functions = [
        inlay.compile(
            """
            graph @main(%x: f64[n] donated, %i: i64[m], %v: f64[m]) {
              %e = exp %x
              %s = sort %e
              %y = add %s, %x
              %r = scatter add %y[%i], %v
              %q = gather %r[%i]
              return %r, %q
            }
            """,
            planner=planner,
        ),
        pytensor.function([pytensor.In(x, mutable=True), i, v], [x[i].inc(v), (grown + x)[i]], mode=mode),
        pytensor.function([pytensor.In(x, mutable=True), i, v], [x[i].set(v), grown[i].sum()], mode=mode),
        pytensor.function([x, i, v], grown[i].sum(), updates=[(state, state[i].inc(v) + pt.sort(x))], mode=mode),
    ]
    good, bad = np.array([0, 1, 3]), np.array([0, 1, 4])
    for f in functions:
        a, b = np.array([0.5, -1, 2, 0]), np.ones(3)
        with pytest.raises(IndexError, match="index 4"):
            f(a, bad, b)
        np.testing.assert_array_equal(a, [0.5, -1, 2, 0])
        np.testing.assert_array_equal(b, 1)
        np.testing.assert_array_equal(state.get_value(), np.arange(4.0))
        f(a.copy(), good, b)


INDEXED = """
graph @main(%x: {dtype}[n, k] donated, %g: i64[m], %v: {dtype}[m, k]) {{
  %r = scatter {how} %x[%g], %v
  return %r
}}
"""


@pytest.mark.parametrize("planner", ["naive", "greedy", "search", "max"])
@pytest.mark.parametrize("how", ["set", "add", "mul", "max", "min"])
def test_a_bad_index_is_found_before_the_first_byte_is_written(planner, how):
    for dtype in ["f32", "f64"]:
        f = inlay.compile(INDEXED.format(how=how, dtype=dtype), planner=planner)
        assert inlay.explain(f).copies == []
        rng = np.random.default_rng(1)
        for rows, columns in [(5, 3), (1, 1), (40, 33)]:
            before = rng.normal(size=(rows, columns)).astype(dtype.replace("f", "float"))
            for bad_at in [0, 9, 18]:
                index = rng.integers(-rows, rows, size=19)
                v = rng.normal(size=(19, columns)).astype(before.dtype)
                x = before.copy()
                for bad in [rows, -rows - 1]:
                    wrong = index.copy()
                    wrong[bad_at] = bad
                    with pytest.raises(IndexError, match=f"index {bad} is out of bounds for axis 0 with size {rows}"):
                        f(x, wrong, v)
                    assert x.tobytes() == before.tobytes()
                expected = before.copy()
                if how == "set":
                    for i, row in zip(index, v, strict=True):
                        expected[i] = row
                else:
                    ufunc = {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}[how]
                    ufunc.at(expected, index, v)
                assert f(x, index, v) is x
                np.testing.assert_allclose(x, expected, rtol=1e-4 if dtype == "f32" else 1e-12)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("inc", [False, True])
def test_a_shared_variable_is_updated_through_an_index_where_it_lies(dtype, inc):
    write = pt.inc_subtensor if inc else pt.set_subtensor
    x0 = np.arange(12, dtype=dtype).reshape(4, 3)
    i, row, ix = pt.lscalar("i"), pt.vector("row", dtype=dtype), pt.lvector("ix")
    rows, numbers = pt.tensor("rows", dtype=dtype, shape=(None, 3)), pt.vector("numbers", dtype=dtype)
    py = pytensor.compile.Mode("py")
    for make, arguments in [
        (lambda x: write(x[i], row), [(i, -1, 4), (row, np.ones(3, dtype), None)]),
        (lambda x: write(x[ix], rows), [(ix, [0, -4, 2], [0, 1, -5]), (rows, np.ones((3, 3), dtype), None)]),
        (lambda x: write(x[ix, i], numbers), [(ix, [0, 1], [0, 4]), (i, 1, 1), (numbers, np.ones(2, dtype), None)]),
    ]:
        x = pytensor.shared(x0.copy(), name="x", borrow=True, shape=(None, 3))
        twin = pytensor.shared(x0.copy(), name="x", shape=(None, 3))
        inputs = [argument for argument, _, _ in arguments]
        f = pytensor.function(inputs, [], updates={x: make(x)}, mode="INLAY")
        g = pytensor.function(inputs, [], updates={twin: make(twin)}, mode=py)
        assert explain(f).copies == [] and explain(f).host_calls == []
        before = x.get_value(borrow=True)
        with pytest.raises(IndexError):
            f(*[good if bad is None else bad for _, good, bad in arguments])
        assert x.get_value(borrow=True) is before
        np.testing.assert_array_equal(before, x0)
        f(*[good for _, good, _ in arguments])
        g(*[good for _, good, _ in arguments])
        assert x.get_value(borrow=True) is before
        np.testing.assert_array_equal(before, twin.get_value())


@pytest.mark.skipif(OLD_PYTENSOR, reason="has the new axis among the indices, and such a write runs in it")
@pytest.mark.parametrize("new_axis", [0, 1])
def test_a_write_through_a_new_axis_is_in_place(new_axis):
    x, i, v = pt.dmatrix("x"), pt.lvector("i"), pt.dscalar("v")
    part = x[None, i, i] if new_axis == 0 else x[i, None, i]
    f = pytensor.function([pytensor.In(x, mutable=True), i, v], part.set(v), mode="INLAY")
    assert inlay.pytensor.explain(f).copies == []
    a = np.arange(9.0).reshape(3, 3)
    with pytest.raises(IndexError, match="index 3"):
        f(a, np.array([0, 3]), 7.0)
    np.testing.assert_array_equal(a, np.arange(9.0).reshape(3, 3))
    result = f(a, np.array([0, 2]), 7.0)
    assert np.shares_memory(result, a)
    np.testing.assert_array_equal(np.diag(a), [7, 4, 7])


@pytest.mark.parametrize("least", [0, -6])
def test_a_constant_index_is_compared_with_a_size_alone(least):
    """And where that is too small its elements are looked at: the first bad one is named, and no byte has changed."""
    index = np.random.default_rng(1).permutation(40) + least
    x, y = pt.dvectors("x", "y")
    f = pytensor.function([pytensor.In(x, mutable=True, borrow=True), y], pytensor.Out(x[index].inc(y), borrow=True), mode="INLAY")
    found = explain(f)
    assert found.copies == [] and f"unsafe < min(1, max(0, -x_0 + {40 + least}))" in found.kernels[0].text
    values = np.arange(40.0)
    for size in (40 + least, 50):
        given, want = np.ones(size), np.ones(size)
        np.add.at(want, index, values)
        assert f(given, values) is given
        np.testing.assert_array_equal(given, want)
    given = np.ones(30)
    with pytest.raises(IndexError, match=f"index {next(i for i in index if i >= 30)} is out of bounds"):
        f(given, values)
    np.testing.assert_array_equal(given, 1)
