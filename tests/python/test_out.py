"""`fn(x, out=array)`: the returned object is the array that was given, whatever it looks like; a failed call has not
touched it."""

import inlay
import numpy as np
import pytest

PLANNERS = ["naive", "greedy", "search", "max"]
DOUBLE = """
graph @main(%x: f64[n, m]) {
  %two = literal 2 : f64
  %d = mul %x, %two
  return %d
}
"""
PAIR = """
graph @main(%x: f64[n]) {
  %e = exp %x
  %t = reduce add %x [0] : f64
  return %e, %t
}
"""
REVERSE = "graph @main(%x: f64[n]) {\n  %r = flip %x [0]\n  return %r\n}"
GATHER = """
graph @main(%x: f64[n], %g: i64[m]) {
  %v = gather %x[%g]
  %e = exp %v
  return %v, %e
}
"""
SCATTER = """
graph @main(%x: f64[n], %g: i64[m], %v: f64[m]) {
  %e = exp %x
  %r = scatter add %e[%g], %v
  return %r
}
"""
CHAIN = """
graph @main(%x: f64[n, n], %g: i64[m]) {
  %a = matmul %x, %x
  %b = exp %a
  %c = matmul %b, %a
  %d = add %c, %b
  %e = gather %d[%g]
  return %d, %e
}
"""
UPDATE = """
graph @main(%x: f64[n] donated, %y: f64[m]) {
  %r = update set %x[0:m], %y
  %s = reduce add %x [0] : f64
  return %r, %s
}
"""
POSITIVE = "graph @main(%x: f64[n]) {\n  %zero = literal 0 : f64\n  %p = lt %zero, %x\n  %k0, %r = compress %p, %x : k\n  return %r\n}"


def copies(fn):
    return [c.reason for c in inlay.explain(fn).copies if c.destination == "call"]


def test_the_result_is_the_array_that_was_given():
    f, x = inlay.compile(DOUBLE), np.arange(6.0).reshape(2, 3)
    out = np.full((2, 3), -1.0)
    assert f(x, out=out) is out
    np.testing.assert_array_equal(out, 2 * x)
    assert f(x, out=(out,)) is out
    assert f(x=x, out=out) is out
    assert f(x, out=None) is not out
    assert f(x, out=(None,)) is not out
    assert copies(f) == []


def test_some_of_several():
    f, x = inlay.compile(PAIR), np.arange(4.0)
    e, t = np.zeros(4), np.zeros(())
    got = f(x, out=(e, t))
    assert got[0] is e and got[1] is t
    np.testing.assert_array_equal(e, np.exp(x))
    assert t == 6
    e[:] = 0
    got = f(x, out=(e, None))
    assert got[0] is e and got[1] is not t and got[1] == 6


@pytest.mark.parametrize(
    "make",
    [
        lambda: np.zeros((3, 2)).T,
        lambda: np.zeros((4, 6))[::2, ::2],
        lambda: np.zeros((2, 3))[::-1, ::-1],
        lambda: np.zeros((2, 3), ">f8"),
        lambda: np.zeros(50, "u1")[1:49].view("f8").reshape(2, 3),
    ],
    ids=["transposed", "strided", "reversed", "big-endian", "unaligned"],
)
def test_another_layout_is_copied_into(make):
    f, x, out = inlay.compile(DOUBLE), np.arange(6.0).reshape(2, 3), make()
    assert f(x, out=out) is out
    np.testing.assert_array_equal(out, 2 * x)
    assert copies(f) == ["the array given for result d is not row-major"]


def test_a_subclass_is_returned_as_it_is():
    class Own(np.ndarray):
        pass

    out = np.zeros((2, 3)).view(Own)
    assert inlay.compile(DOUBLE)(np.ones((2, 3)), out=out) is out
    assert (out == 2).all()


def test_an_argument_may_be_the_place():
    reverse = inlay.compile(REVERSE)
    for place in (slice(0, 8), slice(1, 9), slice(2, 10)):
        memory = np.arange(10.0)
        x, want = memory[1:9], memory[1:9][::-1].copy()
        out = memory[place]
        assert reverse(x, out=out) is out
        np.testing.assert_array_equal(out, want)
    assert copies(reverse) == ["the array given for result r shares bytes with an argument"]
    x = np.arange(6.0).reshape(2, 3)
    assert inlay.compile(DOUBLE)(x, out=x) is x
    np.testing.assert_array_equal(x, 2 * np.arange(6.0).reshape(2, 3))


def test_columns_of_one_array_are_apart():
    f, x = inlay.compile("graph @main(%x: f64[n]) {\n  %a = exp %x\n  %b = neg %x\n  return %a, %b\n}"), np.arange(5.0)
    table = np.zeros((5, 2))
    f(x, out=(table[:, 0], table[:, 1]))
    np.testing.assert_array_equal(table, np.stack([np.exp(x), -x], 1))


def test_empty():
    f = inlay.compile(DOUBLE)
    out = np.zeros((0, 3))
    assert f(np.zeros((0, 3)), out=out) is out


def read_only(array):
    array.flags.writeable = False
    return array


SAME = np.zeros(4)


@pytest.mark.parametrize(
    ("fn", "out", "exception", "message"),
    [
        (
            DOUBLE,
            np.zeros((2, 4)),
            ValueError,
            "error[shape-mismatch]: out: what is given for result 0, d, has the shape [2, 4], but the result has [2, 3]",
        ),
        (
            DOUBLE,
            np.zeros(6),
            ValueError,
            "error[shape-mismatch]: out: what is given for result 0, d, has the shape [6], but the result has [2, 3]",
        ),
        (
            DOUBLE,
            np.zeros((2, 3), "f4"),
            TypeError,
            "error[wrong-dtype]: out: what is given for result 0, d, is an array of f32, but the result is of f64",
        ),
        (
            DOUBLE,
            [[0.0] * 3] * 2,
            TypeError,
            "error[wrong-dtype]: out: what is given for result 0, d, is a list, but an array of NumPy is needed",
        ),
        (
            DOUBLE,
            np.ma.zeros((2, 3)),
            TypeError,
            "error[wrong-dtype]: out: what is given for result 0, d, is a MaskedArray, but an array of NumPy is needed",
        ),
        (
            DOUBLE,
            read_only(np.zeros((2, 3))),
            ValueError,
            "error[wrong-output]: out: what is given for result 0, d, is read-only",
        ),
        (
            DOUBLE,
            np.lib.stride_tricks.as_strided(np.zeros(3), (2, 3), (0, 8)),
            ValueError,
            "error[wrong-output]: out: what is given for result 0, d, has elements that share their bytes",
        ),
        (
            DOUBLE,
            (np.zeros((2, 3)), None),
            TypeError,
            "error[wrong-argument-count]: out: the function has 1 result, but a tuple of 2 is given"
            "\n  help: out=(d,); None where a new array is wanted",
        ),
        (
            PAIR,
            np.zeros(2),
            TypeError,
            "error[wrong-argument-count]: out: the function has 2 results, but a numpy.ndarray is given"
            "\n  help: out=(e, t); None where a new array is wanted",
        ),
        (
            "graph @main(%x: f64[n, m]) {\n  %a = exp %x\n  %b = neg %x\n  return %a, %b\n}",
            (SAME[:2], SAME[1:3]),
            ValueError,
            "error[wrong-output]: out: what is given for result 1, b, shares bytes with what is given for result 0, a",
        ),
    ],
)
def test_what_cannot_hold_a_result(fn, out, exception, message):
    f = inlay.compile(fn)
    x = np.ones((2, 3)) if "%x: f64[n, m]" in fn else np.ones(2)
    with pytest.raises(exception) as raised:
        f(x, out=out)
    assert str(raised.value) == message
    for array in out if isinstance(out, tuple) else (out,):
        assert array is None or not np.any(array)


def test_a_parameter_that_is_called_out():
    f = inlay.compile("graph @main(%out: f64[n]) {\n  %r = neg %out\n  return %r\n}")
    np.testing.assert_array_equal(f(out=np.ones(2)), [-1, -1])


@pytest.mark.parametrize("planner", PLANNERS)
@pytest.mark.parametrize("strided", [False, True])
def test_a_failed_call_has_changed_nothing(planner, strided, monkeypatch):
    monkeypatch.setenv("INLAY_PLANNER", planner)
    rng = np.random.default_rng(1)

    def place(*shape):
        return np.full((*shape[:-1], 2 * shape[-1]), 7.0)[..., ::2] if strided else np.full(shape, 7.0)

    for text, arguments, shapes in (
        (GATHER, lambda g: (rng.random(6), g), ((5,), (5,))),
        (SCATTER, lambda g: (rng.random(6), g, rng.random(5)), ((6,),)),
        (CHAIN, lambda g: (rng.random((6, 6)), g), ((6, 6), (5, 6))),
    ):
        f = inlay.compile(text)
        outs = tuple(place(*shape) for shape in shapes)
        bad = arguments(np.array([0, 1, 2, 3, 6]))
        before = [a.copy() for a in bad]
        with pytest.raises(IndexError, match="index 6"):
            f(*bad, out=outs)
        assert all((out == 7).all() for out in outs)
        for a, b in zip(bad, before, strict=True):
            np.testing.assert_array_equal(a, b)
        good = arguments(np.array([0, 1, 2, 3, 5]))
        want = f(*good)
        got = f(*good, out=outs)
        for w, g, out in zip(want if len(outs) > 1 else [want], got if len(outs) > 1 else [got], outs, strict=True):
            assert g is out
            np.testing.assert_array_equal(g, w)


@pytest.mark.parametrize("planner", PLANNERS)
def test_a_host_function_that_fails(planner, monkeypatch):
    monkeypatch.setenv("INLAY_PLANNER", planner)
    text = """
    graph @main(%x: f64[n]) {
      %e = exp %x
      %h = host_call "f" (%e) : f64[n]
      %r = add %h, %x
      return %e, %r
    }
    """
    fails = [True]

    def host(e):
        if fails[0]:
            raise ArithmeticError("no")
        return -e

    f = inlay.compile(text, host_functions={"f": host})
    x, outs = np.arange(3.0), (np.full(3, 7.0), np.full(3, 7.0))
    with pytest.raises(ArithmeticError):
        f(x, out=outs)
    assert (outs[0] == 7).all() and (outs[1] == 7).all()
    fails[0] = False
    f(x, out=outs)
    np.testing.assert_array_equal(outs[0], np.exp(x))
    np.testing.assert_array_equal(outs[1], x - np.exp(x))


def test_a_size_that_is_found_on_the_way():
    f = inlay.compile(POSITIVE)
    x, out = np.array([1.0, -1.0, 2.0]), np.zeros(2)
    assert f(x, out=out) is out
    np.testing.assert_array_equal(out, [1, 2])
    with pytest.raises(ValueError, match=r"has the shape \[2\], but the result has \[1\]"):
        f(-x, out=out)
    np.testing.assert_array_equal(out, [1, 2])


def test_donated_arguments():
    f = inlay.compile(UPDATE)
    y = np.array([5.0, 6.0])

    def call(x, *outs):
        return f(x, y, out=outs)

    x = np.arange(4.0)  # the place itself
    r, s = call(x, x, None)
    assert r is x and s == 6
    np.testing.assert_array_equal(x, [5, 6, 2, 3])

    x, out = np.arange(4.0), np.zeros(4)  # another place
    r, s = call(x, out, None)
    assert r is out and s == 6
    np.testing.assert_array_equal(out, [5, 6, 2, 3])

    memory = np.arange(5.0)  # a place that overlaps it
    r, s = call(memory[:4], memory[1:], None)
    assert s == 6
    np.testing.assert_array_equal(memory[1:], [5, 6, 2, 3])

    x = np.arange(4.0)  # the other result in it
    total = x[3:].reshape(())
    r, s = call(x, None, total)
    assert s is total and s == 6 and r is not x
    np.testing.assert_array_equal(r, [5, 6, 2, 3])


def test_random_programs_of_layouts_and_overlaps():
    """What is computed into any place of the memory that arguments lie in is what is computed into new arrays."""
    f = inlay.compile("""
    graph @main(%x: f64[n], %y: f64[n]) {
      %r = flip %y [0]
      %a = add %x, %r
      %s = flip %a [0]
      %b = mul %s, %x
      return %a, %b
    }
    """)
    rng = np.random.default_rng(3)
    for _ in range(300):
        memory = rng.random(60)
        step = lambda: int(rng.choice([-2, -1, 1, 1, 2]))
        take = lambda: memory[int(rng.integers(10, 50)) :: step()][:5]
        x, y, a, b = take(), take(), take(), take()
        want = [w.copy() for w in f(x.copy(), y.copy())]
        if np.shares_memory(a, b):
            before = memory.copy()
            with pytest.raises(ValueError, match="shares bytes with what is given for result 0, a"):
                f(x, y, out=(a, b))
            np.testing.assert_array_equal(memory, before)
            continue
        f(x, y, out=(a, b))
        np.testing.assert_array_equal(a, want[0])
        np.testing.assert_array_equal(b, want[1])
