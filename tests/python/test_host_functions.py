"""What a host function may return, what is said of the rest, and that it may know the function that calls it."""

import gc
import threading
import weakref

import inlay
import numpy as np
import pytest


def program(types, f):
    """%x: f64[n] -> what `f` returns of it."""
    names = ", ".join(f"%r{i}" for i in range(len(types)))
    text = f'graph @main(%x: f64[n]) {{\n  {names} = host_call "f" (%x) : {", ".join(types)}\n  return {names}\n}}'
    return inlay.compile(text, "m", host_functions={"f": f})


def message(types, value, exception=TypeError):
    fn = program(types, lambda x: value)
    with pytest.raises(exception) as raised:
        fn(np.arange(3.0))
    return str(raised.value)


@pytest.mark.parametrize(
    ("kind", "value", "want"),
    [
        ("f64", np.float64(3), np.float64(3)),
        ("f64", 3, np.float64(3)),
        ("f64", True, np.float64(1)),
        ("f32", 0.1, np.float32(0.1)),
        ("f32", 3, np.float32(3)),
        ("f32", np.inf, np.float32(np.inf)),
        ("f32", np.nan, np.float32(np.nan)),
        ("f32", np.float32(0.1), np.float32(0.1)),
        ("i8", 3, np.int8(3)),
        ("i8", -128, np.int8(-128)),
        ("u64", 2**64 - 1, np.uint64(2**64 - 1)),
        ("bool", np.bool_(True), np.bool_(True)),
        ("c128", 1j, np.complex128(1j)),
        ("c64", 1, np.complex64(1)),
        ("i64[2]", [3, 4], np.array([3, 4])),
        ("f64[n]", np.arange(3.0).astype(">f8"), np.arange(3.0)),
        ("f64[n]", np.arange(6.0)[::-2], np.array([5.0, 3, 1])),
        ("f64[]", np.array(3.0).astype(">f8"), np.float64(3)),
    ],
    ids=lambda v: repr(v),
)
def test_results_that_are_taken(kind, value, want):
    for returned in (value, (value,)):
        got = program([kind.removesuffix("[]")], lambda x, returned=returned: returned)(np.arange(3.0))
        assert isinstance(got, np.ndarray) and got.dtype == want.dtype and got.flags.c_contiguous
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        ("i8", 300, "f: result 0: 300 does not fit i8"),
        ("f32", 1e300, "f: result 0: 1e+300 does not fit f32"),
        ("f64", 2**53 + 1, "f: result 0: 9007199254740993 does not fit f64"),
        ("i64", 2.0, "f: result 0 is f64, not i64"),
        ("bool", 1, "f: result 0 is i64, not bool"),
        ("f64", np.float32(1), "f: result 0 is f32, not f64"),
        ("f64", "a", "f: result 0: a str where f64 is expected"),
        ("f64", None, "f: result 0: None where f64 is expected"),
        ("f64[n]", np.array([1, None, 2]), "f: result 0 is object[3], not f64[n]"),
    ],
    ids=lambda v: repr(v),
)
@pytest.mark.filterwarnings("error")
def test_results_that_are_refused(kind, value, text):
    assert message([kind], value) == f"error[wrong-dtype]: {text}\n  at     m:2:3"


def test_a_masked_result_is_refused():
    assert message(["f64[n]"], np.ma.masked_invalid([1, 2, np.nan])) == (
        "error[wrong-dtype]: f: result 0: a masked array where f64 is expected\n"
        "  at     m:2:3\n"
        "  help: give `a.filled(value)`, or `a.data`"
    )


ROW = np.ones(3)


@pytest.mark.parametrize(
    ("types", "value", "came"),
    [
        (["f64[n]", "i64"], (ROW, 1, 2), "3 results; 2 are declared: f64[n], i64"),
        (["f64[n]", "i64"], (ROW,), "1 result; 2 are declared: f64[n], i64"),
        (["f64[n]", "i64"], None, "None; 2 are declared: f64[n], i64"),
        (["f64[n]", "i64"], ROW, "a numpy.ndarray; 2 are declared: f64[n], i64"),
        (["f64[n]"], (ROW, ROW), "2 results; 1 is declared: f64[n]"),
        (["f64[n]"], (), "0 results; 1 is declared: f64[n]"),
    ],
)
def test_a_wrong_number_of_results(types, value, came):
    want = f"error[wrong-argument-count]: host function `f` returned {came}\n  at     m:2:3"
    assert message(types, value) == want


@pytest.mark.parametrize("through", ["function", "program", "vm"])
def test_a_host_function_may_know_its_function(through):
    def cycle():
        known = []
        fn = program(["f64[n]"], lambda x: x * (2 + len(known)))
        np.testing.assert_array_equal(fn(np.ones(2)), [2, 2])
        compiled = fn.compilation.program
        known.append({"function": fn, "program": compiled, "vm": compiled.vm(([ROW],))}[through])
        return weakref.ref(fn)

    gc.collect()
    seen = cycle()
    gc.collect()
    assert seen() is None


def test_what_a_function_holds_lives_as_long_as_any_of_its_forms():
    fn = program(["f64[n]"], lambda x: x * 2)
    vm = fn.compilation.program.vm(([ROW],))
    del fn
    gc.collect()
    np.testing.assert_array_equal(vm()[0], [2, 2, 2])


@pytest.mark.parametrize("exception", [KeyboardInterrupt, SystemExit, GeneratorExit, MemoryError])
def test_any_exception_comes_out_as_it_is(exception):
    raised_here = exception("mine")

    def fails(x):
        if x[0] > 0:
            raise raised_here
        return x

    fn = program(["f64[n]"], fails)
    with pytest.raises(exception) as raised:
        fn(np.ones(2))
    assert raised.value is raised_here
    np.testing.assert_array_equal(fn(np.zeros(2)), [0, 0])


def test_a_function_that_calls_itself_from_several_threads():
    def down(x):
        return x if x[0] == 0 else fn(x - 1) + 1

    fn = program(["f64[n]"], down)
    got = [None] * 4

    def work(i):
        for _ in range(20):
            got[i] = fn(np.full(2, float(i + 3)))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for i, values in enumerate(got):
        np.testing.assert_array_equal(values, [i + 3, i + 3])


@pytest.mark.parametrize("of", [lambda b: b, lambda b: b[:], lambda b: (b,), "kept tuple"])
def test_a_result_that_the_function_fills_again_was_copied(of):
    buffer = np.zeros(3)
    kept = (buffer,)

    def f(x):
        buffer[:] = x
        return kept if of == "kept tuple" else of(buffer)

    text = """graph @main(%x: f64[n], %y: f64[n]) {
  %a = host_call "f" (%x) : f64[n]
  %b = host_call "f" (%y) : f64[n]
  %d = sub %a, %b
  return %d
}"""
    fn = inlay.compile(text, host_functions={"f": f})
    assert fn(np.arange(3.0), np.full(3, 4.0)).tolist() == [-4, -3, -2]
