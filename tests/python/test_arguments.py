"""Arrays of any layout, through the callable of a program in text form and through PyTensor's door."""

import inlay
import inlay.pytensor
import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest


def unaligned(a):
    raw = np.zeros(a.nbytes + 1, "u1")
    out = raw[1:].view(a.dtype).reshape(a.shape)
    out[...] = a
    assert a.size == 0 or a.itemsize == 1 or not out.flags.aligned
    return out


def in_records(a):
    """Elements with other bytes between them."""
    records = np.zeros(a.shape, np.dtype([("x", a.dtype), ("y", "u1", 3)], align=True))
    records["x"] = a
    return records["x"]


def read_only(a):
    a = a.copy()
    a.flags.writeable = False
    return a


LAYOUTS = {
    "row_major": lambda a: a,
    "column_major": np.asfortranarray,
    "permuted": lambda a: np.ascontiguousarray(a.transpose(1, 2, 0)).transpose(2, 0, 1),
    "every_second": lambda a: np.repeat(a, 2, axis=-1)[..., ::2],
    "backwards": lambda a: a[::-1, :, ::-1].copy()[::-1, :, ::-1],
    "zero_stride": lambda a: np.broadcast_to(a[:1], a.shape),
    "unaligned": unaligned,
    "in_records": in_records,
    "read_only": read_only,
    "other_byte_order": lambda a: a.astype(a.dtype.newbyteorder(">")),
    "subclass": lambda a: a.view(type("Sub", (np.ndarray,), {})),
}
PROGRAM = """
graph @main(%x: {dtype}[n, m, 4], %y: {dtype}[m]) {{
  %t = transpose %x [2, 0, 1]
  %a = add %t, %y
  %d = extract_diag %x, first = 0, second = 2
  %s = reduce max %a [0] : {dtype}
  %u = update set %x[0:n, 0:m, 1], %y
  return %a, %d, %s, %u
}}
"""


def wanted(x, y):
    u = x.copy()
    u[:, :, 1] = y
    a = x.transpose(2, 0, 1) + y
    return a, np.diagonal(x, 0, 0, 2), a.max(axis=0), u


@pytest.mark.parametrize("dtype", [("f64", "float64"), ("f32", "float32"), ("i8", "int8")], ids=lambda d: d[0])
@pytest.mark.parametrize("shape", [(2, 3, 4), (1, 1, 4), (0, 3, 4), (2, 0, 4)])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_program_reads_any_layout(layout, shape, dtype):
    fn = inlay.compile(PROGRAM.format(dtype=dtype[0]))
    x = LAYOUTS[layout](np.arange(np.prod(shape)).reshape(shape).astype(dtype[1]) - 3)
    y = np.arange(shape[1]).astype(dtype[1])[::-1]
    before = np.array(x)
    for got, want in zip(fn(x, y), wanted(np.array(x, dtype[1]), y), strict=True):
        assert got.flags.c_contiguous and got.flags.writeable and not np.shares_memory(got, x)
        np.testing.assert_array_equal(got, want)
    np.testing.assert_array_equal(x, before)


# PyTensor itself refuses what is not aligned, in every mode.
ALIGNED = [name for name in LAYOUTS if name != "unaligned"]


@pytest.mark.parametrize("shape", [(2, 3, 4), (0, 3, 4)])
@pytest.mark.parametrize("layout", ALIGNED)
def test_the_mode_reads_any_layout(layout, shape, check):
    x = pt.dtensor3("x")
    value = LAYOUTS[layout](np.arange(float(np.prod(shape))).reshape(shape))
    check([x], [x.transpose(2, 0, 1) + 1, x.sum(axis=0), x[:, ::-1], pt.diagonal(x, 0, 0, 2)], value)


@pytest.mark.parametrize("layout", ALIGNED)
def test_shared_variables_of_any_layout(layout):
    value = LAYOUTS[layout](np.arange(24.0).reshape(2, 3, 4))
    total = np.array(value).sum(axis=1)
    state = pytensor.shared(np.asarray(value, "float64"), borrow=True)  # so an update may overwrite the value
    fn = pytensor.function([], state.sum(axis=1), updates=[(state, state * 2)], mode="INLAY")
    np.testing.assert_array_equal(fn(), total)
    np.testing.assert_array_equal(fn(), 2 * total)


def test_arguments_that_overlap_each_other():
    fn = inlay.compile("graph @main(%x: f64[n], %y: f64[n]) {\n %r = sub %x, %y\n return %r\n}")
    a = np.arange(6.0)
    np.testing.assert_array_equal(fn(a[:5], a[1:]), -np.ones(5))
    np.testing.assert_array_equal(fn(a, a[::-1]), a - a[::-1])


def test_a_number_that_does_not_fit_is_refused():
    fn = inlay.compile("graph @main(%x: f32) {\n %r = neg %x\n return %r\n}")
    with pytest.raises(TypeError, match=r"x: 1e\+300 does not fit f32"):
        fn(1e300)
    assert fn(float("inf")) == -np.inf
    assert fn(0.1) == np.float32(-0.1)


@pytest.mark.parametrize(
    ("dtype", "scalar", "given"),
    [("f32", np.float64(0.1), "f64"), ("c64", np.complex128(1j), "c128"), ("c128", np.float64(1), "f64"), ("f64", np.float32(1), "f32")],
)
def test_a_scalar_of_numpy_has_a_dtype(dtype, scalar, given):
    """Python's own float fits every dtype; NumPy's is one of it by its class, and has a dtype all the same."""
    fn = inlay.compile(f"graph @main(%x: {dtype}) {{\n %r = neg %x\n return %r\n}}")
    with pytest.raises(TypeError, match=f"x: an array of {given} where {dtype} is expected"):
        fn(scalar)
    own = scalar.astype(inlay.compile(f"graph @main() {{\n %r = literal 1.0 : {dtype}\n return %r\n}}")().dtype)
    assert fn(own) == -own


VECTOR = "graph @main(%x: f64[n]{}) {{\n %r = neg %x\n return %r\n}}"


@pytest.mark.parametrize(
    ("value", "exception", "text"),
    [
        ("abc", TypeError, "error[wrong-dtype]: x: a str where f64 is expected"),
        (None, TypeError, "error[wrong-dtype]: x: None where f64 is expected"),
        ({1.0}, TypeError, "error[wrong-dtype]: x: a set where f64 is expected"),
        (np.array([1, None]), TypeError, "error[wrong-dtype]: x: an array of object where f64 is expected"),
        (
            np.ma.array([1.0, 2.0], mask=[0, 1]),
            TypeError,
            "error[wrong-dtype]: x: a masked array where f64 is expected"
            "\n  help: give `a.filled(value)`, or `a.data`",
        ),
        (
            np.array([1, 2]),
            TypeError,
            "error[wrong-dtype]: x: an array of i64 where f64 is expected"
            '\n  help: inlay casts nothing silently: x.astype("float64")',
        ),
        (
            [1, 2],
            TypeError,
            "error[wrong-dtype]: x: an array of i64 where f64 is expected"
            '\n  help: inlay casts nothing silently: np.array(x, "float64")',
        ),
        (np.array([1j]), TypeError, "error[wrong-dtype]: x: an array of c128 where f64 is expected"),
        (
            np.ones((2, 1)),
            TypeError,
            "error[wrong-rank]: x: an array of rank 2, [2, 1], where rank 1 is expected",
        ),
    ],
    ids=lambda v: repr(v)[:20],
)
def test_what_is_no_argument(value, exception, text):
    with pytest.raises(exception) as raised:
        inlay.compile(VECTOR.format(""))(value)
    assert str(raised.value) == text


def test_a_ragged_list_is_named():
    with pytest.raises(ValueError, match=r"^x: setting an array element with a sequence"):
        inlay.compile(VECTOR.format(""))([[1.0], 2.0])
    with pytest.raises(ValueError, match=r"^x: setting an array element with a sequence"):
        inlay.compile(VECTOR.format(" bound"), bound={"x": [[1.0], 2.0]})


@pytest.mark.parametrize(
    ("bound", "text"),
    [
        ([1.0], "bound= takes a dict by name, not a list"),
        ({"x": None}, "error[wrong-dtype]: x: a NoneType cannot be bound"),
        ({"x": object()}, "error[wrong-dtype]: x: an object cannot be bound"),
        (
            {"x": np.ma.array([1.0], mask=[1])},
            "error[wrong-dtype]: x: a masked array cannot be bound\n  help: give `a.filled(value)`, or `a.data`",
        ),
    ],
    ids=["list", "none", "object", "masked"],
)
def test_what_cannot_be_bound(bound, text):
    with pytest.raises(TypeError) as raised:
        inlay.compile(VECTOR.format(" bound"), bound=bound)
    assert str(raised.value) == text


@pytest.mark.parametrize("value", ["abc", np.ones(6)[::2]], ids=["str", "strided"])
def test_the_extension_takes_no_bound_array_that_code_cannot_read(value):
    graph = inlay._inlay.parse(VECTOR.format(" bound"), "f")
    with pytest.raises(TypeError) as raised:
        inlay._inlay.compile(graph, [value])
    assert str(raised.value) == "error[wrong-dtype]: x: what is bound is not a row-major array"


def test_cells_that_were_emptied_and_arguments_of_a_c_function():
    program = inlay.compile(VECTOR.format("")).compilation.program
    cells = ([np.ones(2)],)
    vm = program.vm(cells)
    cells[0].clear()
    with pytest.raises(TypeError) as raised:
        vm()
    assert str(raised.value) == "error[wrong-dtype]: x: None where f64 is expected"
    with pytest.raises(TypeError) as raised:
        program.c_function([None, None])
    assert str(raised.value) == "error[wrong-argument-count]: no C function: the program takes 1 argument, not 2"
