"""What a program computes in f64 only to round it to f32, computed in f32 where that is asked for."""

import ctypes
import json
import pickle
import re

import inlay
import inlay.pytensor
import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
from test_devices import program_of, require_freestanding
from test_export import tool

N = 10_000
COMPOSITIONS = ["sum", "mean", "var", "std", "softmax", "log_softmax", "logsumexp"]
# Of numbers around 1, as the mean of them is: what cancels has no digits in any precision. 1e-5 are 84 units of f32.
X = np.random.default_rng(3).uniform(0.5, 2, N).astype(np.float32)
TOLERANCE = 1e-5


def text_of(op, type=f"f32[{N}]"):
    return f"graph @main(%x: {type}) {{\n  %r = {op} %x, axes = [0]\n  return %r\n}}\n"


def doubles(code):
    return re.findall(r"\bdouble\b", re.sub(r"/\*.*?\*/", "", code.read_text(), flags=re.DOTALL))


def called(library, x, result, arena=1 << 20):
    memory = np.zeros(arena, np.uint8)
    addresses = [ctypes.c_void_p(array.ctypes.data) for array in (x, result, memory)]
    assert ctypes.CDLL(str(library)).f(*addresses) == 0
    return result


@pytest.mark.parametrize("op", COMPOSITIONS)
def test_c_of_an_f32_program_has_no_double(op, tmp_path):
    exact = inlay.compile(text_of(op))(X)
    plain = inlay.export(text_of(op), tmp_path, name="plain", freestanding=True)[1]
    assert doubles(plain)
    header, code = inlay.export(text_of(op), tmp_path, name="f", freestanding=True, single_precision=True)
    assert doubles(header) == doubles(code) == []
    require_freestanding(header, code)
    _, library = inlay.export(text_of(op), tmp_path, "shared", name="f", freestanding=True, single_precision=True)
    got = called(library, X, np.empty_like(exact))
    np.testing.assert_allclose(got, exact, rtol=TOLERANCE)


def pytensors(op, x):
    return {
        "sum": lambda: x.sum(),
        "mean": lambda: x.mean(),
        "var": lambda: x.var(),
        "std": lambda: x.std(),
        "softmax": lambda: pt.special.softmax(x),
        "log_softmax": lambda: pt.special.log_softmax(x),
        "logsumexp": lambda: pt.logsumexp(x),
    }[op]()


@pytest.mark.parametrize("op", COMPOSITIONS)
def test_functions_of_pytensor(op, tmp_path):
    x = pt.vector("x", dtype="float32", shape=(N,))
    exact = pytensor.function([x], pytensors(op, x), mode="INLAY")
    fn = pytensor.function([x], pytensors(op, x), mode=inlay.pytensor.mode(single_precision=True))
    assert "f64" not in inlay.explain(fn).graph
    np.testing.assert_allclose(fn(X), exact(X), rtol=TOLERANCE)
    for each in (exact, fn):
        _, code = inlay.export(each, tmp_path, name="f", freestanding=True, single_precision=True)
        assert doubles(code) == []


def test_each_way_to_ask_for_it(tmp_path):
    file = tmp_path / "f.inlay"
    file.write_text(text_of("mean"))
    tool("export", file, "--freestanding", "--single-precision", "-o", tmp_path)
    assert doubles(tmp_path / "f.c") == []
    assert "f64" not in tool("opt", "--stage=rewrite", "--single-precision", file)
    assert "f64" in tool("opt", "--stage=rewrite", file)
    assert "1  single-precision (single-precision)" in tool("explain", "--single-precision", file)
    tool("test", "--single-precision", _program(tmp_path))

    fn = inlay.compile(text_of("mean"), single_precision=True)
    assert "f64" not in inlay.explain(fn).graph
    assert "f64" in inlay.explain(inlay.compile(text_of("mean"))).graph
    assert "f64" not in inlay.explain(pickle.loads(pickle.dumps(fn))).graph
    # It is exported as it was compiled, unless something else is said.
    assert doubles(inlay.export(fn, tmp_path, name="f")[1]) == []
    assert doubles(inlay.export(fn, tmp_path, name="f", single_precision=False)[1])
    with pytest.raises(TypeError, match="single_precision= takes True or False, not an int"):
        inlay.export(fn, tmp_path, single_precision=1)
    with pytest.raises(TypeError, match="single_precision= takes True or False, not a str"):
        inlay.compile(text_of("mean"), single_precision="yes")


def _program(folder):
    path = folder / "of_columns.inlay"
    path.write_text("graph @main(%x: f32[n, m]) {\n  %r = softmax %x, axes = [0]\n  return %r\n}\n#= run n=5,m=3 n=1,m=0\n")
    return path


def test_a_saved_function_keeps_it(tmp_path):
    fn = inlay.compile(text_of("std"), single_precision=True)
    inlay.save(fn, tmp_path / "f.inlayfn")
    again = inlay.load(tmp_path / "f.inlayfn")
    assert again(X) == fn(X)
    assert "f64" not in inlay.explain(again).graph


def test_sums_of_long_f32_are_not_one_after_the_other(tmp_path):
    """Of equal numbers one after the other lose 1e-3 of a sum of a million."""
    x = np.full(10**6, np.float32(0.1))
    text = text_of("sum", "f32[1000000]")
    _, library = inlay.export(text, tmp_path, "shared", name="f", freestanding=True, single_precision=True)
    wanted = x.sum(dtype=np.float64)
    np.testing.assert_allclose(called(library, x, np.empty((), np.float32)), wanted, rtol=TOLERANCE)
    np.testing.assert_allclose(inlay.compile(text, single_precision=True)(x), wanted, rtol=TOLERANCE)


def test_what_stays_in_f64_is_said(tmp_path):
    file = tmp_path / "f.inlay"
    file.write_text("""graph @main(%x: f32[n], %scale: f64) {
  %w = cast %x : f64
  %p = mul %w, %scale
  %s = reduce add %p [0] : f64
  %r = cast %s : f32
  return %r
}
""")
    said = tool("explain", "--single-precision", file)
    assert "%r is computed in f64, and then rounded: %scale is a parameter" in said


# As docs/file.md names them.
THROUGH_F64 = (
    "floor_div erfcx erfinv erfcinv ndtr ndtri ndtri_exp log_ndtr owens_t lgamma gamma digamma trigamma polygamma gammainc gammaincc "
    "gammainc_da gammaincinv gammainccinv beta lbeta betainc betainc_da betainc_db betaincinv i0 i1 j0 j1 jv ive kve hyp2f1"
).split()


def test_which_functions_of_f32_have_doubles(tmp_path):
    found = []
    for op in json.loads(tool("list", "ops", "--json")):
        try:
            code = inlay.export(program_of(op, "f32"), tmp_path, name="f", freestanding=True, single_precision=True)[1]
        except (TypeError, ValueError):  # it takes no f32
            continue
        # A declaration of libm's, and the number that is compared with, where sin and cos go there.
        lines = [line for line in code.read_text().splitlines() if not re.match(r"double \w+\(double\);|static const double kSinLimit", line)]
        code.write_text("\n".join(lines))
        found += [op["name"]] * bool(doubles(code))
    assert sorted(found) == sorted(THROUGH_F64)


def test_only_the_function_itself_has_doubles(tmp_path):
    text = "graph @main(%x: f32[50]) {\n  %g = lgamma %x\n  %r = sum %g, axes = [0]\n  return %r\n}\n"
    _, code = inlay.export(text, tmp_path, name="f", freestanding=True, single_precision=True)
    body = code.read_text()
    code.write_text(body[body.index("int32_t f_entry(InlayCall") :])
    assert doubles(code) == []
