"""What `inlay._inlay` says of arguments that do not fit: no door gives them, but none may end the process."""

import ctypes
import subprocess
import sys

import inlay
import numpy as np
import pytest
from inlay import _inlay, errors

THREADS_THAT_DRAW = """
import sys, threading
from inlay import _inlay
assert "numpy.random._generator" not in sys.modules
sys.setswitchinterval(1e-6)
begin = threading.Barrier(4)
def look_up():
    begin.wait()
    assert _inlay.draw("normal", 0, None, [1, 2], "f64", None) is not None
threads = [threading.Thread(target=look_up, daemon=True) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""
ENDS_WHILE_THREADS_WORK = """
import itertools, sys, threading, time
import inlay
import numpy as np
from inlay import _inlay
number = itertools.count()
def compiles():
    inlay.compile("graph @main(%x: f64[n]) {\\n %k = literal NUMBER.5 : f64\\n %y = mul %x, %k\\n return %y\\n}"
                  .replace("NUMBER", str(next(number))))
text = 'graph @main(%x: f64[n]) {\\n %y = host_call "f" (%x) : f64[n]\\n return %y\\n}'
calls = inlay.compile(text, host_functions={"f": lambda x: sum(range(100)) + x})
plans = [inlay.Storage(str(i), 100 * i + 1, i, i + 2) for i in range(200)]
works = {"compiles": compiles, "calls": lambda: calls(np.ones(3)), "plans": lambda: inlay.plan(plans)}
def work():
    while True: works[sys.argv[1]]()
for _ in range(3): threading.Thread(target=work, daemon=True).start()
time.sleep(0.7)
"""
CALLS = 'graph @main(%x: f64[n]) {\n %y = host_call "f" (%x) : f64[n]\n return %y\n}'
KEPT = """graph @main(%x: f64[n], %o: f64[n + 1], %z: f64) {
 %s = reduce add %x [0] : f64
 %t = reduce add %o [0] : f64
 %u = add %s, %t
 %y = add %u, %z
 return %y
}"""


def test_threads_that_import_the_samplers_do_not_wait_for_each_other():
    subprocess.run([sys.executable, "-c", THREADS_THAT_DRAW], check=True, timeout=120)


@pytest.mark.parametrize("work", ["compiles", "calls", "plans"])
def test_python_ends_while_its_threads_work(work):
    """It ends each where it asks for the GIL, in the midst of what nothing may unwind: machine code, destructors."""
    command = [sys.executable, "-c", ENDS_WHILE_THREADS_WORK, work]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert (done.stdout, done.stderr, done.returncode) == ("", "", 0)


def test_a_program_without_what_it_needs_is_not_made():
    message = 'host call "f": no host function 0 was given'
    data = _inlay.compile(_inlay.parse(CALLS), [], [np.exp]).save({})
    with pytest.raises(errors.UnknownName, match=message):
        _inlay.read_function(data, "n").program([], [])
    with pytest.raises(errors.UnknownName, match=message):
        _inlay.compile(_inlay.parse(CALLS))
    with pytest.raises(errors.UnknownName, match=message):  # for which the planner does not stand in
        _inlay.compile(_inlay.parse(CALLS), [], [], {"planner": lambda storages: [0 for _ in storages]})
    bound = _inlay.parse("graph @main(%x: f64[n] bound) {\n %y = exp %x\n return %y\n}")
    with pytest.raises(errors.WrongArgumentCount, match="no array for the bound parameter %x"):
        _inlay.compile(bound)


def test_a_kept_array_has_a_size_that_is_an_expression():
    program = _inlay.compile(_inlay.parse(KEPT))
    x, o = np.ones(3), np.ones(4)
    c = program.c_function([x, o, None], "", {}, None, False)
    z, y = ctypes.c_double(0.5), ctypes.c_double()
    inputs, outputs = ((ctypes.c_void_p * 1)(ctypes.addressof(number)) for number in (z, y))
    assert ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(c.address)(inputs, outputs) == 0
    assert y.value == 7.5
    assert program.low_level([x, o, None], "").signature == "double (int, double *, void *)"
    with pytest.raises(errors.ShapeMismatch, match=r"o: dim 0 is 3, but n \+ 1 is 4"):
        program.c_function([x, np.ones(3), None], "", {}, None, False)


def test_user_data_of_a_c_function_is_of_its_arguments():
    program = _inlay.compile(_inlay.parse("graph @main(%x: f64, %a: f64) {\n %y = mul %x, %a\n return %y\n}"))
    with pytest.raises(errors.Unsupported, match="user_data has argument 7, and there are 2"):
        program.c_function([None, None], "", {7: (0, 8)}, None, False)
    with pytest.raises(errors.Unsupported, match="user_data goes with the forms logp and expand"):
        program.c_function([None, None], "", {1: (0, 8)}, None, False)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda b, n, x: n + 1.5, TypeError, "a size is a float, and no whole number"),
        (lambda b, n, x: b.param("y", "f64", ["n"]), TypeError, "a size is a str, and no whole number"),
        (lambda b, n, x: n * 2**70, ValueError, "a size does not fit in 64 bits"),
        (lambda b, n, x: n.evaluate([]), TypeError, "a size of 1 symbol is evaluated with 0"),
        (lambda b, n, x: b.slice(x, [(0, 1)]), TypeError, "a range is a tuple of 2, and no tuple of 3"),
        (lambda b, n, x: b.slice(x, [(0, 1, None)]), TypeError, "the step of a range is a NoneType, and no whole number"),
        (lambda b, n, x: b.host_call("f", 0, [x], [("f64",)]), TypeError, "the type of a result is a tuple of 1"),
        (lambda b, n, x: b.host_call("f", 0, [x], [("f64", 3)]), TypeError, "of another type than is wanted there"),
        (lambda b, n, x: b.literal(2**70, "i64"), ValueError, "a literal of i64 does not fit in 64 bits"),
        (lambda b, n, x: b.literal(-1, "u64"), OverflowError, "negative"),
        (lambda b, n, x: _inlay.plan_buffers([(1, 2)], []), TypeError, "buffer 0 is a tuple of 2, and no tuple of 10"),
        (lambda b, n, x: _inlay.buffers_page("", [()], 0, 0), TypeError, "a buffer is a tuple of 0, and no tuple of 7"),
        (lambda b, n, x: _inlay.exported_library([()], {}), TypeError, "a part of the library is a tuple of 0"),
    ],
)
def test_parts_of_another_kind(call, error, message):
    b = _inlay.GraphBuilder()
    n = b.symbol("n")
    with pytest.raises(error, match=message):
        call(b, n, b.param("x", "f64", [n]))


def test_sizes_are_numbers_of_numpy_too():
    n = _inlay.GraphBuilder().symbol("n")
    assert (n + np.int32(2)).evaluate([3]) == 5
    assert n != 2**70


def test_a_value_belongs_to_its_graph():
    b, other = _inlay.GraphBuilder(), _inlay.GraphBuilder()
    x, y = (g.param("x", "f64", [3]) for g in (b, other))
    message = "value 0 is of another builder, or of a finished one"
    for call in (lambda: b.flip(y, [0]), lambda: b.scalar("add", [x, y]), lambda: b.gather(x, [y]), lambda: b.output(y)):
        with pytest.raises(errors.UnknownName, match=message):
            call()
    b.output(x)
    b.finish()
    for call in (lambda: x.name, lambda: x.dtype, lambda: x.dims, lambda: repr(x), lambda: b.output(x)):
        with pytest.raises(errors.UnknownName, match=message):
            call()


def test_a_long_file_name_is_a_place():
    name = "a" * 50_000
    fn = inlay.compile("graph @main(%x: f64[n]) {\n %y = exp %x\n return %y\n}", name)
    assert name in str(inlay.explain(fn))
