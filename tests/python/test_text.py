"""`inlay.compile`: programs in text form as Python callables."""

import copy
import inspect
import pickle
from pathlib import Path

import inlay
import numpy as np
import pytest
from conftest import on_eight_threads
from inlay._inlay import GraphBuilder

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
        ((1.0, np.ones(3, "float32"), np.ones(3)), TypeError, ("x", "f32", "f64", 'x.astype("float64")')),
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


def test_arguments_by_name():
    axpy = inlay.compile(AXPY)
    for call in (lambda: axpy(2.0, np.ones(2), y=np.zeros(2)), lambda: axpy(y=np.zeros(2), x=np.ones(2), a=2.0)):
        np.testing.assert_array_equal(call()[0], [2, 2])
    for arguments, names, message in (
        ((1.0, np.ones(2)), {"z": np.ones(2)}, "the function has no parameter z: it has a, x, y"),
        ((1.0, np.ones(2)), {"x": np.ones(2)}, "x is given twice"),
        ((1.0,), {"y": np.ones(2)}, "no argument is given for x"),
        ((1.0, np.ones(2), np.ones(2), 3), {"y": np.ones(2)}, "y is given twice"),
    ):
        with pytest.raises(TypeError, match=message):
            axpy(*arguments, **names)


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

    on_eight_threads(work)
    assert wrong == []


def test_wrong_number_of_arguments():
    f = inlay.compile("graph @main(%a: f64[n], %b: f64[n]) {\n %c = add %a, %b\n return %c\n}")
    with pytest.raises(inlay.errors.WrongArgumentCount, match=r"takes 2 arguments \(a, b\), not 1") as raised:
        f(np.ones(3))
    assert isinstance(raised.value, TypeError)
    assert f(np.ones(3), np.ones(3)).tolist() == [2.0, 2.0, 2.0]


RATES = """
graph @main(%rate: f64[85], %county: i64[n] bound {min 0, max 84, sorted}, %x: f64[n]) {
  %r = gather %rate[%county]
  %y = mul %r, %x
  return %y
}
"""


def test_bound_arrays():
    county = np.array([3, 3, 7])
    rates = inlay.compile(RATES, bound={"county": county})
    county[:] = 10**9  # it has its own copy
    np.testing.assert_array_equal(rates(np.arange(85.0), np.full(3, 2.0)), [6, 6, 14])
    np.testing.assert_array_equal(inlay.compile(RATES, bound={"county": [0, 1]})(np.arange(85.0), np.ones(2)), [0, 1])
    swapped = inlay.compile(RATES, bound={"county": np.array([1, 2]).astype(">i8")})
    np.testing.assert_array_equal(swapped(np.arange(85.0), np.ones(2)), [1, 2])


@pytest.mark.parametrize(
    ("county", "exception", "message"),
    [
        ([0, 90], inlay.errors.FalseFact, "error[false-fact]: %county: bound with max 84, but element 1 is 90"),
        ([-1, 0], inlay.errors.FalseFact, "error[false-fact]: %county: bound with min 0, but element 0 is -1"),
        ([7, 3], inlay.errors.FalseFact, "error[false-fact]: %county: bound as sorted, but element 1 is 3, after 7"),
        (
            np.array([1, 2], "int32"),
            TypeError,
            "error[wrong-dtype]: county: an array of i32 where i64 is expected"
            '\n  help: inlay casts nothing silently: county.astype("int64")',
        ),
        ([[1]], TypeError, "error[wrong-rank]: county: an array of rank 2, [1, 1], where rank 1 is expected"),
    ],
)
def test_wrong_bound_arrays(county, exception, message):
    with pytest.raises(exception) as raised:
        inlay.compile(RATES, bound={"county": county})
    assert str(raised.value) == message


def test_sizes_of_bound_arrays_are_checked():
    rates = inlay.compile(RATES, bound={"county": [3, 3, 7]})
    with pytest.raises(ValueError, match=r"x: dim 0 is 2, but n is 3, bound by dim 0 of county"):
        rates(np.ones(85), np.ones(2))
    longer = inlay.compile(
        "graph @main(%x: f64[n], %g: f64[n + 1] bound) {\n %y = slice %g[0:n]\n %z = add %x, %y\n return %z\n}",
        bound={"g": [1.0, 2.0, 3.0]},
    )
    np.testing.assert_array_equal(longer(np.ones(2)), [2, 3])
    with pytest.raises(ValueError, match="g: dim 0 is 3, but n \\+ 1 is 2"):
        longer(np.ones(1))
    with pytest.raises(ValueError, match=r"error\[shape-mismatch\]: g: dim 0 is 2, but must be 3"):
        inlay.compile("graph @main(%g: f64[3] bound) {\n return %g\n}", bound={"g": [1.0, 2.0]})
    with pytest.raises(ValueError, match=r"h: dim 0 is 1, but must be n = 2"):
        inlay.compile(
            "graph @main(%g: f64[n] bound, %h: f64[n] bound) {\n %s = add %g, %h\n return %s\n}",
            bound={"g": [1.0, 2.0], "h": [1.0]},
        )


def test_what_must_be_supplied():
    with pytest.raises(TypeError, match="no array for the bound parameter %county"):
        inlay.compile(RATES)
    with pytest.raises(ValueError, match="the program has no bound parameter %x, but county"):
        inlay.compile(RATES, bound={"county": [1], "x": [1.0]})
    calls = 'graph @main(%x: f64[n]) {\n %y = host_call "half" (%x) : f64[n]\n return %y\n}'
    with pytest.raises(TypeError, match="no function for the host call 'half'"):
        inlay.compile(calls)
    with pytest.raises(ValueError, match="the program calls no function 'twice', but half"):
        inlay.compile(calls, host_functions={"half": len, "twice": len})
    with pytest.raises(TypeError, match="the host function 'half' is an int, not a function"):
        inlay.compile(calls, host_functions={"half": 3})


def test_host_functions_of_a_loop():
    text = """graph @main(%x: f64[n], %a: f64[k]) {
  %y = loop %i < k carry (%c = %x) {
    %w = host_call "half" (%c) : f64[n]
    return %w
  }
  return %y
}"""
    with pytest.raises(TypeError, match="no function for the host call 'half'"):
        inlay.compile(text)
    halves = inlay.compile(text, host_functions={"half": lambda x: x / 2})
    np.testing.assert_array_equal(halves(np.full(2, 8.0), np.ones(3)), [1, 1])


def test_host_functions():
    calls = 'graph @main(%x: f64[n]) {\n %y = host_call "f" (%x) : f64[n]\n return %y\n}'
    for f in (lambda x: x / 2, lambda x: (x / 2,), lambda x: (x / 2)[::-1][::-1]):
        np.testing.assert_array_equal(inlay.compile(calls, host_functions={"f": f})(np.arange(3.0)), [0, 0.5, 1])

    def fails(x):
        raise KeyError("mine")

    fn = inlay.compile(calls, host_functions={"f": fails})
    with pytest.raises(KeyError, match="mine"):
        fn(np.ones(2))
    class_and_text = {
        "error[wrong-dtype]: f: result 0 is f32[2], not f64[n]": (TypeError, lambda x: x.astype("float32")),
        "error[wrong-dtype]: f: result 0 is str[2], not f64[n]": (TypeError, lambda x: x.astype("U3")),
        "error[wrong-rank]: f: result 0 is f64[2, 1], not f64[n]": (TypeError, lambda x: x[:, None].copy()),
        "error[shape-mismatch]: f: axis 0 of result 0 has 3 elements, not 2": (ValueError, lambda x: np.ones(3)),
    }
    for text, (exception, f) in class_and_text.items():
        wrong = inlay.compile(calls, "model.inlay", host_functions={"f": f})
        with pytest.raises(exception) as raised:
            wrong(np.ones(2))
        at = "\n  at     model.inlay:2:2"
        note = "\n  result 0 %y  f64[n]    model.inlay:2:2" if exception is ValueError else ""
        assert str(raised.value) == text + at + note


def test_a_function_says_what_it_is():
    axpy = inlay.compile(AXPY)
    assert repr(axpy) == "<inlay function main(a: f64, x: f64[n], y: f64[n]) -> (f64[n], f64)>"
    assert axpy.parameters == {"a": "f64", "x": "f64[n]", "y": "f64[n]"}
    assert str(inspect.signature(axpy)) == "(a, x, y)"
    assert list(axpy.results.values()) == ["f64[n]", "f64"]


def test_results_have_names():
    fn = inlay.compile("""graph @main(%x: f64[n]) {
      %e = exp %x
      %sum = reduce add %e [0] : f64
      %3 = neg %e
      return %e, loss = %sum, %3, %e, %x
    }""")
    assert fn.results == {"e": "f64[n]", "loss": "f64", "3": "f64[n]", "e_3": "f64[n]", "x": "f64[n]"}
    by_name = dict(zip(fn.results, fn(np.zeros(3)), strict=True))
    assert by_name["loss"] == 3 and by_name["3"].tolist() == [-1, -1, -1]
    assert fn.results == pickle.loads(pickle.dumps(fn)).results


def test_a_function_can_be_pickled():
    rates = inlay.compile(RATES, bound={"county": [3, 3, 7]})
    for again in (pickle.loads(pickle.dumps(rates)), copy.deepcopy(rates)):
        np.testing.assert_array_equal(again(np.arange(85.0), np.ones(3)), [3, 3, 7])


def test_explain():
    rates = inlay.compile(RATES, bound={"county": [3, 3, 7]})
    e = inlay.explain(rates)
    assert len(e.kernels) == 1 and e.seconds["emit"] > 0
    assert "1 kernel, 0 temporaries, arena" in str(e) and "1 stage, reads" in e.text
    with pytest.raises(TypeError, match="^an object of type builtin_function_or_method is not a function that inlay"):
        inlay.explain(len)


def test_run_time_errors_name_operands_and_numbers():
    add = inlay.compile("graph @main(%x: f64[n], %y: f64[m]) {\n  %s = add %x, %y\n  return %s\n}", "f.inlay")
    with pytest.raises(ValueError) as raised:
        add(np.ones(3), np.ones(4))
    assert str(raised.value) == (
        "error[shape-mismatch]: add: dim 0 is 3 on the left and 4 on the right\n"
        "  at     f.inlay:2:3\n"
        "  left   %x  f64[n]\n"
        "  right  %y  f64[m]"
    )
    casts = inlay.compile("graph @main(%x: f64[n]) {\n  %k = cast %x : i64\n  return %k\n}", "f")
    with pytest.raises(ValueError) as raised:
        casts(np.array([1.0, np.nan]))
    assert str(raised.value) == (
        "error[nan-to-integer]: cast: NaN to i64\n  at     f:2:3\n  operand %x  f64[n]"
    )
    shifted = inlay.compile(
        "graph @main(%o: f64[n], %x: f64[m]) assume n == m + 1 {\n %r = update set %o[1:n], %x\n return %r\n}", "f"
    )
    with pytest.raises(ValueError) as raised:
        shifted(np.ones(3), np.ones(3))
    assert str(raised.value) == (
        "error[shape-mismatch]: assume n == m + 1 does not hold: n is 3 and m + 1 is 4\n"
        "  at     f:1:44\n"
        "  n      dim 0 of %o  f64[n]\n"
        "  m      dim 0 of %x  f64[m]"
    )


@pytest.mark.parametrize(
    ("line", "message", "hint"),
    [
        ("%y = cast %x : float32", "there is no dtype float32", "did you mean f32?"),
        ("%y = subtract %x, %x", "there is no op subtract", "did you mean sub?"),
        ("%y = cumsum %x", "there is no op cumsum", "did you mean cumulative add?"),
        ("%y = mul %x, 2.0", "found `2.0`", "`%c = literal 2.0 : f64`"),
        ("%y = mul %x, -2", "found `-2`", "`%c = literal -2 : f64`"),
        ("%é = exp %x", "`%é`: names are of ASCII letters, digits and `_`", ""),
    ],
)
def test_near_misses(line, message, hint):
    with pytest.raises(ValueError) as raised:
        inlay.compile(f"graph @main(%x: f64[n]) {{\n  {line}\n  return %x\n}}")
    assert message in str(raised.value) and hint in str(raised.value)


def test_what_is_no_text():
    with pytest.raises(ValueError, match=r"takes the text of a program, not a path: open\('shift.inlay'\)"):
        inlay.compile("shift.inlay")
    with pytest.raises(TypeError, match="takes the text of a program, not a path"):
        inlay.compile(Path("shift.inlay"))
    with pytest.raises(TypeError, match="takes the text of a program, not an int"):
        inlay.compile(3)


@pytest.mark.parametrize(
    "file_name, text",
    [
        ({"x": 1}, "a dict; bound= and host_functions= are given by keyword"),
        (None, "a NoneType"),
        (b"p.inlay", "a bytes"),
    ],
)
def test_what_is_no_file_name(file_name, text):
    with pytest.raises(TypeError) as raised:
        inlay.compile("graph @main() { return }", file_name)
    assert str(raised.value) == f"inlay.compile: file_name is to be a str, for error messages, not {text}"


def test_a_file_name_may_be_a_path():
    with pytest.raises(ValueError, match="at     folder/p.inlay:1:1"):
        inlay.compile("grahp @main() { return }", Path("folder") / "p.inlay")


@pytest.mark.parametrize("exception", [MemoryError, ValueError])
def test_results_that_are_too_large(exception):
    outer = inlay.compile(
        "graph @main(%x: f64[n], %y: f64[m], %z: f64[k]) {\n"
        "  %one = literal 1.0 : f64\n  %b = broadcast %one : f64[n, m, k, n]\n  return %b\n}"
    )
    n, m = (100_000, 100) if exception is MemoryError else (1_000_000, 1000)  # 80 petabytes, or more than 63 bits
    with pytest.raises(exception) as raised:
        outer(np.ones(n), np.ones(m), np.ones(10_000))
    assert isinstance(raised.value, inlay.InlayError)


@pytest.mark.parametrize("program", ["%x: f64[{}]", "%y: f64"])
def test_more_axes_than_an_array_has(program):
    """The function is refused, not each of its calls."""
    dims = ", ".join(["1"] * 65)
    made = "%x" if "x" in program else "%b"
    text = f"graph @main({program.format(dims)}) {{\n  %b = broadcast {program[:2]} : f64[{dims}]\n  return {made}\n}}"
    with pytest.raises(NotImplementedError, match="has 65 axes, and an array of NumPy's has (64|32) at most"):
        inlay.compile(text)


def test_an_empty_list_of_axes_names_none():
    x = np.array([[1.0, 2.0, 3.0], [-4.0, 5.0, 6.0]])
    ones, zeros = np.ones_like(x), np.zeros_like(x)
    for axes, wanted in {
        "": [x.sum(), x.mean(), x.var(), 5, np.log(np.exp(x).sum()), np.exp(x) / np.exp(x).sum(), np.log(np.exp(x) / np.exp(x).sum())],
        ", axes = []": [x, x, zeros, zeros, x, ones, zeros],
    }.items():
        names = ["sum", "mean", "var", "argmax", "logsumexp", "softmax", "log_softmax"]
        lines = [f"  %{name} = {name} %x{axes}" for name in names]
        text = "\n".join(["graph @main(%x: f64[n, m]) {", *lines, f"  return {', '.join('%' + name for name in names)}", "}"])
        for got, want in zip(inlay.compile(text)(x), wanted, strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-13)
    squeezed = "graph @main(%x: f64[n, m]) {{\n  %y = squeeze %x{}\n  return %y\n}}"
    assert inlay.compile(squeezed.format(", axes = []"))(x).shape == (2, 3)
    assert inlay.compile(squeezed.format(""))(x[:1, :1]).shape == ()
    with pytest.raises(ValueError, match="squeeze: axis 0 has 2 elements, not 1"):
        inlay.compile(squeezed.format(""))(x)
    builder = GraphBuilder()
    builder.output(builder.compose("sum", builder.param("p", "f64", [2, 3]), axes=[]))
    np.testing.assert_array_equal(inlay.compile(builder.finish().text)(x), x)


def test_a_variance_of_too_few_elements():
    """As NumPy, which divides by no less than 0."""
    text = "graph @main(%x: f64[n]) {{\n  %v = var %x, ddof = {0}\n  %s = std %x, ddof = {0}\n  return %v, %s\n}}"
    x = np.array([1.0, 2.0, 4.0])
    for ddof in (-1, 0, 1, 3, 5):
        with np.errstate(all="ignore"):
            wanted = [x.var(ddof=ddof), x.std(ddof=ddof)]
        np.testing.assert_allclose(inlay.compile(text.format(ddof))(x), wanted, rtol=1e-14)


def test_half_a_pair_is_no_text():
    with pytest.raises(ValueError, match="the text is no UTF-8: character 1 is half of a pair"):
        inlay.compile("#\udcff")


def test_a_reduction_gives_what_its_fold_does():
    builder = GraphBuilder()
    x = builder.param("x", "f64", [builder.symbol("n")])
    for value in [*builder.reduce("log_sum_exp", [x], [0], "f64"), builder.reduce("add", x, [0], "f64")]:
        builder.output(value)
    with pytest.raises(ValueError, match="reduce argmax: takes 2 operands, not 1"):
        builder.reduce("argmax", [x], [0], "i64")
    given = np.array([1.0, 3.0, 2.0])
    powers, maximum, total = inlay.compile(builder.finish().text)(given)
    np.testing.assert_allclose([powers, maximum, total], [np.exp(given - 3).sum(), 3, 6])
