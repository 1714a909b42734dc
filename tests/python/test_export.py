"""A program that knows nothing of inlay calls what `inlay export` wrote: C, objects and libraries."""

import ctypes
import os
import re
import shutil
import subprocess
from pathlib import Path

import inlay
import inlay.pytensor
import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
from versions import OLD_PYTENSOR

ROOT = Path(__file__).parents[2]
TOOL = Path(os.environ.get("INLAY_TOOL", ROOT / "build" / "release" / "bin" / "inlay"))
FLAGS = ["-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror", "-O2", "-ffp-contract=off", "-fno-strict-aliasing"]
COMPILERS = [name for name in ("cc", "clang-19") if shutil.which(name)]

# What code may take from elsewhere: functions of libm, and the two that compilers call by themselves.
ALLOWED = re.compile(r"memcpy|memset|_GLOBAL_OFFSET_TABLE_|sincos[fl]?|c?(abs|a?(sin|cos|tan)h?|atan2|cbrt|ceil|copysign|erfc?|exp2?|expm1|"
                     r"fabs|floor|fmax|fmin|fmod|fma|frexp|hypot|ldexp|scalbn|lgamma|tgamma|log(2|10|1p|b)?|modf|nearbyint|"
                     r"nextafter|pow|remainder|rint|round|sqrt|trunc|arg|proj|real|imag|conj|lrint|llrint)[fl]?")  # fmt: skip


def tool(*arguments, code=0):
    done = subprocess.run([TOOL, *map(str, arguments)], capture_output=True, text=True, timeout=120)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def run(*command, **more):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=120, **more)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


class Library:
    """An exported function with fixed sizes, as a C compiler and ctypes see it."""

    def __init__(self, folder, name):
        self.name, self.header = name, (folder / f"{name}.h").read_text()
        library = folder / f"lib{name}.so"
        if not library.exists():
            library = folder / f"{name}-by-hand.so"
            run("cc", *FLAGS, "-shared", "-fPIC", "-Wl,-z,defs", folder / f"{name}.c", "-lm", "-o", library)
        self.c = ctypes.CDLL(str(library))
        found = re.search(rf"{name}_ARENA_BYTES (\d+)", self.header)
        self.arena_bytes = int(found[1]) if found else None

    def __call__(self, arguments, results):
        memory = np.full(self.arena_bytes + 128, 0xA5, np.uint8)
        start = -memory.ctypes.data % 64
        arena = memory[start:].ctypes.data
        arrays = [*arguments, *results]
        # A function that can fail takes a place for the numbers of its message; the others do not see it.
        self.numbers = (ctypes.c_int64 * 4)(*[77] * 4)
        addresses = [a.ctypes.data for a in arrays] + [arena, ctypes.addressof(self.numbers)]
        code = getattr(self.c, self.name)(*map(ctypes.c_void_p, addresses))
        assert (memory[start + self.arena_bytes :] == 0xA5).all()
        return code

    def message(self, code):
        function = getattr(self.c, f"{self.name}_message")
        function.restype = ctypes.c_char_p
        return function(code).decode()

    def message_with(self, code, numbers, size=400):
        text = ctypes.create_string_buffer(b"\xa5" * (size + 8), size + 8)
        function = getattr(self.c, f"{self.name}_message_with")
        function(ctypes.c_int32(code), numbers, text, ctypes.c_int32(size))
        assert text.raw[size:] == b"\xa5" * 8
        return text.value.decode() if size > 0 else ""


def symbols(path):
    """Of an object or a library: names by nm's letter."""
    found = {}
    for line in run("nm", *(["-D"] if path.suffix == ".so" else []), path).splitlines():
        letter, name = line.split()[-2:]
        found.setdefault(letter, set()).add(name.split("@")[0])
    return found


def require_alone(path):
    """It calls libm alone, keeps nothing, and nothing of it runs before it is called."""
    found = symbols(path)
    for name in found.pop("U", set()):
        assert ALLOWED.fullmatch(name), name
    assert set(found) <= set("Ttr"), found
    sections = run("readelf", "-SW", path)
    assert not re.search(r"\.(init|fini|ctors|dtors)", sections)


@pytest.mark.parametrize("compiler", COMPILERS)
def test_the_example(compiler, tmp_path):
    folder = ROOT / "examples" / "c"
    tool("export", folder / "softmax.inlay", "--size", "n=4", "-o", tmp_path)
    run(compiler, *FLAGS, "-I", tmp_path, folder / "main.c", tmp_path / "softmax.c", "-lm", "-o", tmp_path / "softmax")
    printed = [float(word) for word in run(tmp_path / "softmax").split()]
    share, entropy = inlay.compile((folder / "softmax.inlay").read_text())(np.array([1.0, 2, 3, 4]))
    np.testing.assert_allclose(printed, [*share, entropy], rtol=1e-15)


SUM = """graph @total(%x: f64[n], %w: f64[n] bound) {
  %p = mul %x, %w
  %t = reduce add %p [0] : f64
  return %t
}
"""


def test_two_exports_are_linked_into_one_program(tmp_path):
    for name, kind, weights in [("first", "object", [1.0, 2.0]), ("second", "c", [3.0, 4.0, 5.0])]:
        inlay.export(SUM, tmp_path, kind, name=name, bound={"w": np.array(weights)})
    (tmp_path / "main.cpp").write_text("""
#include "first.h"
#include "second.h"
int main() {
  const double x[3] = {1, 10, 100};
  double a, b;
  if (first(x, &a, nullptr) != INLAY_OK || second(x, &b, nullptr) != INLAY_OK) return 1;
  return a == 21 && b == 543 ? 0 : 2;
}
""")
    run("cc", *FLAGS, "-c", tmp_path / "second.c", "-o", tmp_path / "second.o")
    run("c++", "-Wall", "-Wextra", "-pedantic", "-Werror", *(tmp_path / f for f in ("main.cpp", "first.o", "second.o")),
        "-lm", "-o", tmp_path / "main")  # fmt: skip
    run(tmp_path / "main")


@pytest.mark.parametrize("kind, file", [("object", "total.o"), ("shared", "libtotal.so")])
def test_code_needs_libm_alone(kind, file, tmp_path):
    text = SUM.replace("mul %x, %w", "pow %x, %w")
    header, code = inlay.export(text, tmp_path, kind, bound={"w": np.ones(40)})
    assert (header.name, code.name) == ("total.h", file)
    require_alone(code)
    assert symbols(code)["T"] == {"total", "total_entry", "total_message"}


ABSENT = """graph @absent(%x: f64[n], %s: c128[20, 20]) {
  %tail = owens_t %x, %x
  %bessel = jv %x, %x
  %values = eigvals %s
  %order = sort %x
  %found = host_call "look" (%order) : f64[n]
  return %tail, %bessel, %values, %found
}
"""


def test_what_c_has_not_is_refused_by_one_sentence(tmp_path):
    (tmp_path / "absent.inlay").write_text(ABSENT)
    said = tool("export", tmp_path / "absent.inlay", "--size", "n=4", "-o", tmp_path / "out", code=1)
    first = said.splitlines()[0]
    assert first.startswith(f"error[unsupported]: {tmp_path}/absent.inlay cannot be exported, as C has not all that it uses: ")
    assert '"look" is a function of the host' in first
    for one in ("sort", "eigvals", "jv", "owens_t"):
        assert one not in first
    assert not (tmp_path / "out").exists()
    with pytest.raises(NotImplementedError, match='"look" is a function of the host'):
        inlay.export(ABSENT, tmp_path / "out", sizes={"n": 4})
    assert not (tmp_path / "out").exists()


MANY = """graph @many(%x: f64[n], %w: f64[k, 2] bound, %g: i64[k] bound {min 0, max 2}, %i: i64[2], %mask: bool[n], %z: c128,
    %class: f32[0], %h: f16[3], %o: f64[n] donated) {
  %a = gather %w[%g, 0:2]
  %s = reduce add %a [0] : f64
  %y = gather %x[%i]
  %r = mul %s, %y
  %q = mul %z, %z
  %m = not %mask
  %c = exp %class
  %twice = add %h, %h
  %u = update set %o[0:2], %r
  return %r, q = %q, m = %m, %c, %twice, %u
}
"""
W, G = np.arange(6.0).reshape(3, 2), np.array([0, 2, 1])


def arguments_of_many(i):
    return [np.arange(5.0), np.array(i), np.array([True, False] * 2 + [True]), np.array(1 + 2j),
            np.empty(0, np.float32), np.ones(3, np.float16), np.arange(10.0, 15.0)]  # fmt: skip


def test_dtypes_bound_arrays_and_donated_inputs(tmp_path):
    inlay.export(MANY, tmp_path, sizes={"n": 5}, bound={"w": W, "g": G})
    library = Library(tmp_path, "many")
    arguments = arguments_of_many([1, -1])
    wanted = inlay.compile(MANY, bound={"w": W, "g": G})(*(a.copy() for a in arguments))
    results = [np.empty_like(each) for each in wanted[:5]]
    assert library(arguments, results) == 0
    for got, want in zip([*results, arguments[-1]], wanted, strict=True):
        np.testing.assert_array_equal(got, want)
    assert "many_OUT_u = 5 /* f64[5], lies in the bytes of many_IN_o" in library.header
    assert "many_IN_class = 6" in library.header  # a slot is a parameter's position, that of a bound one too
    assert "class_2[" not in library.header and "* class_2" in library.header  # a word of C++


def test_a_failure_is_a_code_with_a_name_and_a_text(tmp_path):
    inlay.export(MANY, tmp_path, sizes={"n": 5}, bound={"w": W, "g": G})
    library = Library(tmp_path, "many")
    arguments = arguments_of_many([1, 7])
    results = [np.empty(2), np.empty((), complex), np.empty(5, bool), np.empty(0, np.float32), np.empty(3, np.float16)]
    code = library(arguments, results)
    assert f"many_FAILED_0_index_out_of_bounds = {code}" in library.header
    assert library.message(code).startswith("index-out-of-bounds: gather: index {0} is out of bounds for axis 0")
    assert library.message(0) == "done"
    assert library.message(9999) == "no code of this function"
    told = library.message_with(code, library.numbers)
    assert told.startswith("index-out-of-bounds: gather: index 7 is out of bounds for axis 0 with size 5 (<text>:")
    assert library.message_with(code, library.numbers, size=30) == told[:29]
    assert library.message_with(code, library.numbers, size=1) == ""
    library.message_with(code, library.numbers, size=0)  # writes nothing
    minimum, maximum = -(2**63), 2**63 - 1
    assert f"index {minimum} is out of bounds for axis 0 with size {maximum} (" in library.message_with(
        code, (ctypes.c_int64 * 4)(minimum, maximum)
    )
    assert library.message_with(0, None) == "done"


OWN_WORDS = """graph @own(%x: f64[n], %i: i64[1], %ok: bool) {
  %d = assert %x, %ok, "the key {0} is none"
  %y = gather %d[%i]
  return %y
}
"""


def test_braces_in_the_words_of_an_assert_are_its_own(tmp_path):
    with pytest.raises(AssertionError, match=r"the key \{0\} is none"):
        inlay.compile(OWN_WORDS)(np.ones(3), [0], False)
    inlay.export(OWN_WORDS, tmp_path, sizes={"n": 3})
    library, y = Library(tmp_path, "own"), np.empty(1)
    code = library([np.ones(3), np.array([0]), np.array(False)], [y])
    assert "the key {0} is none" in library.message_with(code, library.numbers)
    code = library([np.ones(3), np.array([-4]), np.array(True)], [y])
    assert "index -4 is out of bounds for axis 0 with size 3" in library.message_with(code, library.numbers)


def test_a_function_that_cannot_fail_has_no_place_for_numbers(tmp_path):
    header, code = inlay.export(SUM, tmp_path, bound={"w": np.ones(2)})
    assert "numbers" not in header.read_text().split("int32_t total_entry")[1]
    assert "message_with" not in code.read_text()


WRONG = [
    ({"sizes": {"m": 5}}, ValueError, "error[unknown-name]: the program has no size m\n  help: did you mean n?"),
    ({"sizes": {"n": -5}}, ValueError, "error[negative-size]: the size n is -5"),
    ({"bound": {"w": W}}, TypeError, "error[wrong-argument-count]: no array for the bound parameter %g"),
    ({"bound": {"w": W, "g": G, "x": W}}, ValueError, "error[unknown-name]: the program has no bound parameter %x, but w, g"),
    ({"bound": {"w": G, "g": G}}, TypeError, "error[wrong-dtype]: w: an array of i64 where f64 is expected"),
    ({"bound": {"w": W[:, :1], "g": G}}, ValueError, "error[shape-mismatch]: w: an array of shape [3, 1] where f64[3, 2] is expected"),
    ({"bound": {"w": W, "g": G[:2]}}, ValueError, "error[shape-mismatch]: g: an array of shape [2] where i64[3] is expected"),
    ({"bound": {"w": W, "g": G + 1}}, ValueError, "error[false-fact]: %g: bound with max 2, but element 1 is 3"),
    ({"name": "new"}, ValueError, "error[unknown-name]: an exported function cannot have this name: `new` is a word of C++"),
    ({"name": "sin"}, ValueError, "error[unknown-name]: an exported function cannot have this name: `sin` has a meaning in the C file already"),
    ({"kind": "dll"}, ValueError, "error[unknown-name]: there is no kind of export dll\n  help: c, object or shared"),
    ({"bound": [W, G]}, TypeError, "bound= takes a dict by name, not a list"),
]  # fmt: skip


@pytest.mark.parametrize("given, error, message", WRONG, ids=[message[:60] for *_, message in WRONG])
def test_what_is_wrong_is_said_and_nothing_is_written(given, error, message, tmp_path):
    arguments = {"bound": {"w": W, "g": G}, **given}
    with pytest.raises(error) as caught:
        inlay.export(MANY, tmp_path / "out", **arguments)
    assert str(caught.value).startswith(message)
    assert not (tmp_path / "out").exists()


def test_sizes_that_follow_are_fixed_too(tmp_path):
    text = "graph @p(%x: f64[n], %y: f64[m]) assume n == m + 1 {\n  %a = exp %x\n  %b = exp %y\n  return %a, %b\n}"
    header, _ = inlay.export(text, tmp_path, sizes={"m": 3})
    assert "int32_t p(const double x[4], const double y[3], double a[4], double b[3], void* arena);" in header.read_text()


def test_sizes_that_a_call_finds_cannot_be_fixed(tmp_path):
    text = "graph @p(%x: f64[n], %m: bool[n]) {\n  %count, %c = compress %m, %x : k\n  return %c\n}"
    with pytest.raises(NotImplementedError, match="k is found during a call, and cannot be fixed"):
        inlay.export(text, tmp_path, sizes={"n": 4, "k": 2})


def test_a_compiled_function_is_exported_with_its_arrays(tmp_path):
    fn = inlay.compile(SUM, bound={"w": np.array([1.0, 2.0])})
    inlay.save(fn, tmp_path / "total.inlayfn")
    for name, each in [("made", fn), ("read", inlay.load(tmp_path / "total.inlayfn"))]:
        inlay.export(each, tmp_path, "shared", name=name)
        total = np.empty(())
        assert Library(tmp_path, name)([np.array([10.0, 100.0])], [total]) == 0
        assert total == 210
    with pytest.raises(TypeError, match="bound= is for the text of a program"):
        inlay.export(fn, tmp_path, bound={"w": np.ones(2)})
    with pytest.raises(TypeError, match="inlay.export takes the text of a program, or a function"):
        inlay.export(print, tmp_path)


def test_a_pytensor_function_is_exported_with_its_constants(tmp_path):
    x = pt.vector("x", shape=(3,))
    data = np.random.default_rng(1).normal(size=(40, 3))
    logp = -((data * x).sum(axis=1) ** 2).sum() / 2
    fn = pytensor.function([x], [logp, pytensor.grad(logp, x)], mode="INLAY")
    # PyTensor 2 calls it by the file and line where it was made.
    why = "the function cannot be called as its program: .* is no C identifier" if OLD_PYTENSOR else "has no name"
    with pytest.raises(ValueError, match=why):
        inlay.export(fn, tmp_path)
    inlay.export(fn, tmp_path, name="logp")
    point, value, gradient = np.array([0.1, -0.2, 0.3]), np.empty(()), np.empty(3)
    assert Library(tmp_path, "logp")([point], [value, gradient]) == 0
    for got, want in zip([value, gradient], fn(point), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-13)


def test_what_a_function_updates_is_named_after_its_variable(tmp_path):
    x = pt.vector("x", shape=(3,))
    s = pytensor.shared(np.ones(3), name="s", shape=(3,))
    fn = pytensor.function([x], (x * s).sum(), updates={s: 2 * s + x}, mode="INLAY")
    header = " ".join(inlay.export(fn, tmp_path, name="walk")[0].read_text().split())
    given = re.search(r"int32_t walk\((.*?)\);", header)[1]
    assert re.fullmatch(r" ?const double x\[3\], double s\[3\], double \w+\[1\], double s_new\[3\], void\* arena", given)
    assert "walk_OUT_s_new" in header and "s_new = " in inlay.explain(fn).text


def test_a_file_is_named_instead_of_a_folder(tmp_path):
    (tmp_path / "total.inlay").write_text(SUM)
    np.save(tmp_path / "w.npy", np.ones(2))
    w = f"w={tmp_path}/w.npy"
    printed = tool("export", tmp_path / "total.inlay", "--bound", w, "-o", tmp_path / "sub" / "code.o")
    assert printed.startswith(f"{tmp_path}/sub/total.h\n{tmp_path}/sub/code.o\ntext ")
    require_alone(tmp_path / "sub" / "code.o")
    said = tool("export", tmp_path / "total.inlay", "--bound", w, "--kind=c", "-o", tmp_path / "code.o", code=1)
    assert "--kind=c does not fit -o" in said
    (tmp_path / "try.inlay").write_text(SUM)
    said = tool("export", tmp_path / "try.inlay", "--bound", w, "-o", tmp_path / "out", code=1)
    assert "`try` is a word of C++\n  help: --name=NAME says how it is called" in said


class Call(ctypes.Structure):
    """InlayCall of inlay/runtime.h."""

    _fields_ = [
        *((name, ctypes.c_void_p) for name in ("params", "outputs", "symbols", "segments", "offsets")),
        *((name, ctypes.c_void_p) for name in ("begin_segment", "host_call", "host")),
        ("failure_site", ctypes.c_int64),
        ("failure_numbers", ctypes.c_int64 * 4),
        *((name, ctypes.c_void_p) for name in ("stop", "stop_while_writing", "interrupted")),
    ]


def call_entry(library, params, outputs, sizes):
    """An entry whose working memory depends on sizes; the bytes that it needs."""
    name, c = library.name, library.c
    num_offsets = int(re.search(rf"{name}_OFFSETS = (\d+)", library.header)[1])
    offsets, symbols = np.full(num_offsets, -1, np.int64), np.array(sizes, np.int64)
    layout = getattr(c, f"{name}_arena_bytes")
    layout.restype = ctypes.c_int64
    num_bytes = layout(ctypes.c_void_p(symbols.ctypes.data), ctypes.c_void_p(offsets.ctypes.data))
    if num_bytes < 0:
        return num_bytes
    memory = np.full(num_bytes + 128, 0xA5, np.uint8)
    start = -memory.ctypes.data % 64
    tables = [(ctypes.c_void_p * max(len(arrays), 1))(*(a.ctypes.data for a in arrays)) for arrays in (params, outputs)]
    segments = (ctypes.c_void_p * 1)(memory[start:].ctypes.data)
    call = Call(*map(ctypes.addressof, tables), symbols.ctypes.data, ctypes.addressof(segments), offsets.ctypes.data)
    assert getattr(c, f"{name}_entry")(ctypes.byref(call)) == 0
    assert (memory[start + num_bytes :] == 0xA5).all()
    return num_bytes


STAGES = """graph @stages(%x: f64[n, m], %bytes: f64[n]) {
  %a = exp %x
  %s = cumulative add %a [0] : f64
  %b = cumulative mul %s [1] : f64
  %c = cumulative max %b [0] : f64
  %t = reduce add %c [1] : f64
  %r = add %t, %bytes
  return %r
}
"""


@pytest.mark.parametrize("compiler", COMPILERS)
def test_working_memory_of_sizes_that_a_call_has(compiler, tmp_path):
    _, code = inlay.export(STAGES, tmp_path)
    run(compiler, *FLAGS, "-c", code, "-o", tmp_path / "stages.o")
    require_alone(tmp_path / "stages.o")
    library = Library(tmp_path, "stages")
    fn = inlay.compile(STAGES, fuse="none")
    for n, m in [(3, 5), (40, 7), (1, 1), (0, 4)]:
        x, y, r = np.random.default_rng(n).random((n, m)), np.ones(n), np.empty(n)
        needed = call_entry(library, [x, y], [r], [n, m])
        np.testing.assert_allclose(r, fn(x, y), rtol=1e-13)
        assert needed <= 3 * (n * m * 8 + 64)
    assert call_entry(library, [], [], [2**61, 2**61]) == -1


def test_names_that_the_file_has_already(tmp_path):
    """Of the function, of loops and of what a layout is written with."""
    text = STAGES.replace("%bytes", "%k0").replace("%x", "%k0_entry")
    text = text.replace("[n, m]", "[overflows, offsets]").replace("[n]", "[overflows]")
    x, y, r = np.random.default_rng(1).random((4, 3)), np.ones(4), np.empty(4)
    wanted = inlay.compile(text)(x, y)
    inlay.export(text, tmp_path / "raw", name="k0")
    call_entry(Library(tmp_path / "raw", "k0"), [x, y], [r], [4, 3])
    np.testing.assert_allclose(r, wanted, rtol=1e-13)
    header, _ = inlay.export(text, tmp_path / "fixed", name="k0", sizes={"overflows": 4, "offsets": 3})
    assert "double k0_2[" in header.read_text().replace("const ", "")
    library = Library(tmp_path / "fixed", "k0")
    assert library([x, y], [r := np.empty(4)]) == 0
    np.testing.assert_allclose(r, wanted, rtol=1e-13)


def test_names_of_macros(tmp_path):
    """Of headers that a program may include before this one."""
    names = ["EOF", "BUFSIZ", "CHAR_BIT", "SIGINT", "E2BIG", "CLOCKS_PER_SEC", "stdin", "X", "X1", "Y_obs"]
    params = ", ".join(f"%{name}: f64" for name in names)
    header, code = inlay.export(f"graph @f({params}) {{\n %EDOM = add %EOF, %X\n return %EDOM\n}}", tmp_path)
    changed = re.findall(r"const double (\w+)", header.read_text())
    assert changed == [f"x_{name}" for name in names[:7]] + ["X", "X1", "Y_obs"]
    assert "double y_EDOM[1]" in header.read_text() and "f_IN_EOF = 0" in header.read_text()
    program = tmp_path / "main.c"
    others = "".join(f"#include <{name}.h>\n" for name in ("stdio", "limits", "signal", "time", "errno"))
    program.write_text(f'{others}#include "f.h"\nint main(void) {{ return 0; }}\n')
    run("cc", *FLAGS, program, code, "-lm", "-o", tmp_path / "main")


def test_a_size_that_is_said_twice(tmp_path):
    text = tmp_path / "total.inlay"
    text.write_text("graph @total(%x: f64[n]) {\n  %s = reduce add %x [0] : f64\n  return %s\n}")
    said = tool("export", text, "--size=n=2", "--size=n=5", "-o", tmp_path / "out", code=1)
    assert "error[duplicate-name]: the size n is given twice" in said
    np.save(tmp_path / "w.npy", np.ones(2))
    text.write_text("graph @total(%w: f64[2] bound) {\n  return %w\n}")
    bound = f"--bound=w={tmp_path / 'w.npy'}"
    said = tool("export", text, bound, bound, "-o", tmp_path / "out", code=1)
    assert "error[duplicate-name]: the array of the bound parameter w is given twice" in said
    assert not (tmp_path / "out").exists()


def test_arrays_that_are_bound(tmp_path):
    """As inlay.compile takes them: in any byte order, and what is none is refused by its name."""
    text = "graph @scaled(%x: f64[3], %w: f64[3] bound) {\n  %y = mul %x, %w\n  return %y\n}"
    header, code = inlay.export(text, tmp_path, bound={"w": np.array([1.5, 2, 3], ">f8")})
    assert "1.5" in code.read_text()
    same = inlay.export(text, tmp_path / "same", bound={"w": [1.5, 2, 3]})[1]
    assert code.read_text() == same.read_text()
    for wrong, message in [
        (np.ma.masked_array([1.0, 2, 3], [0, 1, 0]), "w: a masked array cannot be bound"),
        ([[1.0], [2.0, 3.0]], "w: "),
        (["a", "b", "c"], "w"),
    ]:
        with pytest.raises((TypeError, ValueError), match=message):
            inlay.export(text, tmp_path / "no", bound={"w": wrong})
    with pytest.raises(inlay.errors.WrongArgumentCount, match="no array for the bound parameter %w"):
        inlay.export(text, tmp_path / "no", bound={})
    assert not (tmp_path / "no").exists()
