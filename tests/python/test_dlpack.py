"""Arguments that are arrays of other libraries, by DLPack, and elements of bfloat16, which NumPy itself has not."""

import ctypes
import gc
import pickle
import weakref

import inlay
import inlay.onnx
import numpy as np
import pytest

VECTOR = "graph @main(%x: {0}[n]) {{\n  %r = add %x, %x\n  return %r\n}}"
UPDATE = "graph @main(%x: f64[n] donated, %y: f64[m]) {\n  %r = update set %x[0:m], %y\n  return %r\n}"
TYPES = {
    "bool": "bool", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "u8": "uint8", "u16": "uint16",
    "u32": "uint32", "u64": "uint64", "f16": "float16", "f32": "float32", "f64": "float64", "c64": "complex64",
    "c128": "complex128",
}  # fmt: skip


class Foreign:
    """An array of another library: with the methods of DLPack, and nothing that NumPy would take for an array."""

    def __init__(self, array, device=(1, 0), versions=True):
        self.array, self.device, self.versions = array, device, versions
        self.asked = []

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **words):
        self.asked.append(words)
        if not self.versions and words:
            raise TypeError("__dlpack__() got an unexpected keyword argument 'max_version'")
        return self.array.__dlpack__(**words)


def copies(fn):
    return [copy.reason for copy in inlay.explain(fn).copies]


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("versions", [True, False])
def test_every_dtype(dtype, versions):
    text = VECTOR.format(dtype)
    fn = inlay.compile(text.replace("add %x, %x", "not %x") if dtype == "bool" else text)
    x = np.arange(5).astype(TYPES[dtype])
    given = Foreign(x, versions=versions)
    r = fn(given)
    assert type(r) is np.ndarray and r.dtype == x.dtype and copies(fn) == []
    np.testing.assert_array_equal(r, ~x if dtype == "bool" else x + x)
    assert given.asked == [{"max_version": (1, 0)}] + ([] if versions else [{}])


def test_it_is_read_where_it_lies():
    fn = inlay.compile(UPDATE)
    x = np.arange(4.0)
    r = fn(Foreign(x), np.array([7.0]))
    assert np.shares_memory(r, x) and x[0] == 7 and r.base is not None


@pytest.mark.parametrize(
    "make",
    [
        np.asfortranarray, lambda a: a[:, ::-1], lambda a: a[::2], lambda a: np.broadcast_to(a[:1], a.shape),
        lambda a: a[:0], lambda a: a[:, 1:2],
    ],
    ids=["column_major", "backwards", "every_second", "stretched", "empty", "column"],
)  # fmt: skip
def test_any_layout(make):
    fn = inlay.compile("graph @main(%x: f64[n, m]) {\n  %r = exp %x\n  return %r\n}")
    x = make(np.arange(12.0).reshape(4, 3) / 8)
    np.testing.assert_array_equal(fn(Foreign(x)), np.exp(x))
    assert copies(fn) == ([] if x.flags.c_contiguous else ["argument x was not row-major"])


def test_numbers_and_many_axes():
    fn = inlay.compile("graph @main(%x: f64, %y: f64[1, 1, n, 1, 2]) {\n  %r = mul %y, %x\n  return %r\n}")
    y = np.arange(6.0).reshape(1, 1, 3, 1, 2)
    np.testing.assert_array_equal(fn(Foreign(np.array(2.0)), y=Foreign(y)), 2 * y)


def test_what_is_donated():
    fn = inlay.compile(UPDATE)
    x = np.arange(3.0)
    r = fn(Foreign(x), Foreign(np.ones(1)))
    assert np.shares_memory(r, x) and x.tolist() == [1, 1, 2] == r.tolist()
    del x
    gc.collect()
    assert r.tolist() == [1, 1, 2]


@pytest.mark.parametrize("kind", ["read_only", "says_nothing", "numpy"])
def test_what_is_read_only_is_never_written(kind):
    fn = inlay.compile(UPDATE)
    x = np.arange(3.0)
    if kind != "says_nothing":  # a capsule without a version does not say whether its bytes may change
        x.flags.writeable = False
    given = x if kind == "numpy" else Foreign(x, versions=kind == "read_only")
    if kind == "says_nothing":
        assert fn(given, np.ones(1)).tolist() == [1, 1, 2]
    else:
        r = fn(given, np.ones(1))
        assert r.tolist() == [1, 1, 2] and not np.shares_memory(r, x)
    assert x.tolist() == [0, 1, 2]
    assert copies(fn) == ["argument x was read-only"]


def test_the_same_bytes_twice():
    fn = inlay.compile(UPDATE)
    x = np.arange(6.0)
    np.testing.assert_array_equal(fn(Foreign(x), Foreign(x[2:5])), [2, 3, 4, 3, 4, 5])
    np.testing.assert_array_equal(x, np.arange(6.0))
    assert copies(fn) == ["argument x shares bytes with another array of the call"]


@pytest.mark.parametrize(
    ("device", "words"),
    [
        ((2, 1), "the memory of CUDA, device 1,"), ((8, 0), "the memory of Metal, device 0,"),
        ((10, 0), "the memory of ROCm, device 0,"),
        ((99, 3), "the memory of a device that inlay does not know, device 3,"),
    ],
)  # fmt: skip
def test_another_device(device, words):
    fn = inlay.compile(VECTOR.format("f64"))
    given = Foreign(np.ones(2), device=device)
    with pytest.raises(TypeError) as raised:
        fn(given)
    first, help_line = str(raised.value).split("\n")
    assert first == f"error[wrong-dtype]: x: a Foreign in {words} which the CPU does not read, where f64 is expected"
    assert "x.cpu()" in help_line and given.asked == []


def test_memory_that_both_read():
    fn = inlay.compile(VECTOR.format("f64"))
    for device in (3, 11, 13):
        np.testing.assert_array_equal(fn(Foreign(np.ones(2), device=(device, 0))), [2, 2])


def test_what_does_not_fit():
    fn = inlay.compile(VECTOR.format("f64"))
    for given, text in [
        (Foreign(np.ones(2, "f4")), "error[wrong-dtype]: x: an array of f32 where f64 is expected"
         '\n  help: inlay casts nothing silently: np.array(x, "float64")'),
        (Foreign(np.ones((2, 1))), "error[wrong-rank]: x: an array of rank 2, [2, 1], where rank 1 is expected"),
    ]:  # fmt: skip
        with pytest.raises(TypeError) as raised:
            fn(given)
        assert str(raised.value) == text


class Refuses(Foreign):
    def __dlpack__(self, **words):
        raise BufferError("it lies on two devices")


class RefusesButIsAnArray(Refuses):
    def __array__(self, dtype=None, copy=None):
        return self.array


class Interrupts(Foreign):
    def __dlpack__(self, **words):
        raise KeyboardInterrupt


class ReturnsSomethingElse(Foreign):
    def __dlpack__(self, **words):
        return 3


class Deviceless(Foreign):
    def __dlpack_device__(self):
        return "cpu"


def test_a_library_that_refuses():
    fn = inlay.compile(VECTOR.format("f64"))
    x = np.ones(2)
    np.testing.assert_array_equal(fn(RefusesButIsAnArray(x)), [2, 2])
    with pytest.raises(KeyboardInterrupt):
        fn(Interrupts(x))
    for given, words in [
        (Refuses(x), "x: a Refuses that DLPack does not give (it lies on two devices), where f64 is expected"),
        (ReturnsSomethingElse(x), "x: a ReturnsSomethingElse that DLPack does not give ("),
        (Deviceless(x), "x: a Deviceless whose __dlpack_device__ returns no two numbers, where f64 is expected"),
    ]:
        with pytest.raises(TypeError) as raised:
            fn(given)
        assert str(raised.value).startswith(f"error[wrong-dtype]: {words}")


class Element(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p), ("device", ctypes.c_int32 * 2), ("rank", ctypes.c_int32), ("type", Element),
        ("dims", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("first_byte", ctypes.c_uint64),
    ]  # fmt: skip


class Managed(ctypes.Structure):
    _fields_ = [("tensor", Tensor), ("context", ctypes.c_void_p), ("release", ctypes.CFUNCTYPE(None, ctypes.c_void_p))]


class Versioned(ctypes.Structure):
    _fields_ = [
        ("version", ctypes.c_uint32 * 2), ("context", ctypes.c_void_p),
        ("release", ctypes.CFUNCTYPE(None, ctypes.c_void_p)), ("flags", ctypes.c_uint64), ("tensor", Tensor),
    ]  # fmt: skip


class ByHand:
    """What a library gives that is written in C, field by field, over the elements of `array`, as bytes."""

    def __init__(self, array, element, *, version=(1, 0), first_byte=0, dims=None, strides=None, device=1, data=True):
        self.array, self.released = array, 0
        dims = array.shape if dims is None else dims
        self.dims = (ctypes.c_int64 * len(dims))(*dims)
        self.strides = None if strides is None else (ctypes.c_int64 * len(strides))(*strides)
        address = array.ctypes.data - first_byte if data else None
        tensor = Tensor(address, (device, 0), len(dims), Element(*element), self.dims, self.strides, first_byte)
        release = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self.release)
        if version is None:
            self.managed, self.name = Managed(tensor, None, release), b"dltensor"
        else:
            self.managed, self.name = Versioned(version, None, release, 0, tensor), b"dltensor_versioned"

    def release(self, _):
        self.released += 1

    def __dlpack_device__(self):
        return (1, 0)

    def __dlpack__(self, max_version=None):
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return new(ctypes.addressof(self.managed), self.name, None)


@pytest.mark.parametrize("version", [None, (1, 0), (1, 7)])
def test_fields_of_the_struct(version):
    fn = inlay.compile(VECTOR.format("f64"))
    x = np.arange(6.0)
    for given, want in [
        (ByHand(x, (2, 64, 1), version=version), x),
        (ByHand(x, (2, 64, 1), version=version, first_byte=64), x),
        (ByHand(x, (2, 64, 1), version=version, dims=[3], strides=[2]), x[::2]),
        (ByHand(x[5:], (2, 64, 1), version=version, dims=[6], strides=[-1]), x[::-1]),
        (ByHand(x, (2, 64, 1), version=version, dims=[0], data=False), x[:0]),
    ]:
        np.testing.assert_array_equal(fn(given), 2 * want)
        assert given.released == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"version": (2, 0)}, "by a version of DLPack that is not known"),
        ({"element": (10, 8, 1)}, "of elements that inlay does not have (DLPack's code 10 of 8 bits)"),
        ({"element": (2, 64, 2)}, "of elements that inlay does not have (DLPack's code 2 of 64 bits)"),
        ({"device": 2}, "in the memory of CUDA, device 0, which the CPU does not read"),
    ],
)
def test_structs_that_are_refused(words, said):
    given = ByHand(np.ones(2), words.pop("element", (2, 64, 1)), **words)
    with pytest.raises(TypeError) as raised:
        inlay.compile(VECTOR.format("f64"))(given)
    assert str(raised.value).split("\n")[0] == f"error[wrong-dtype]: x: a ByHand {said}, where f64 is expected"
    assert given.released == 0  # the capsule still has it


def test_what_is_unaligned_is_copied():
    fn = inlay.compile(VECTOR.format("f64"))
    raw = np.zeros(25, np.uint8)
    raw[1:].view(np.float64)[:] = [1, 2, 3]
    given = ByHand(raw[1:], (2, 64, 1), dims=[3])
    np.testing.assert_array_equal(fn(given), [2, 4, 6])
    assert copies(fn) == ["argument x was not row-major"] and given.released == 1


def test_bytes_live_as_long_as_what_lies_in_them():
    fn = inlay.compile(UPDATE)
    x = np.arange(3.0)
    given = ByHand(x, (2, 64, 1))
    r = fn(given, np.ones(1))
    part = r[1:]
    del r
    assert given.released == 0 and part.tolist() == [1, 2]
    del part
    assert given.released == 1


def test_a_failed_call_lets_go():
    fn = inlay.compile("graph @main(%x: f64[n], %i: i64[m]) {\n  %r = gather %x[%i]\n  return %r\n}")
    given, at = ByHand(np.ones(3), (2, 64, 1)), ByHand(np.array([7]), (0, 64, 1))
    with pytest.raises(IndexError):
        fn(given, at)
    assert given.released == at.released == 1


# --- JAX ---


def test_arrays_of_jax():
    jnp = pytest.importorskip("jax.numpy")
    fn = inlay.compile(VECTOR.format("f32"))
    x = jnp.arange(5.0, dtype=jnp.float32)
    np.testing.assert_array_equal(fn(x), np.arange(5) * 2.0)
    assert copies(fn) == []
    state = inlay.compile(UPDATE.replace("f64", "f32"))
    r = state(x, jnp.ones(1, jnp.float32))  # arrays of JAX never change
    assert r.tolist() == [1, 1, 2, 3, 4] and x.tolist() == [0, 1, 2, 3, 4]
    assert copies(state) == ["argument x was read-only"]
    assert inlay.compile("graph @main(%x: f32) {\n %r = neg %x\n return %r\n}")(jnp.float32(2)) == -2


def test_what_jax_traces_is_no_array():
    jax = pytest.importorskip("jax")
    fn = inlay.compile(VECTOR.format("f32"))
    with pytest.raises(jax.errors.TracerArrayConversionError):
        jax.jit(fn)(np.ones(2, np.float32))


def test_results_are_given_to_jax():
    jnp = pytest.importorskip("jax.numpy")
    r = inlay.compile(VECTOR.format("f32"))(np.ones(3, np.float32))
    assert jnp.from_dlpack(r).tolist() == [2, 2, 2]


# --- bfloat16 ---

ml_dtypes = pytest.importorskip("ml_dtypes")
B = np.dtype(ml_dtypes.bfloat16)
X = np.array([1, -2.5, 3.25, 0], B)


def bits(array):
    return array.view(np.uint16)


def test_a_call_gives_what_it_takes():
    fn = inlay.compile(VECTOR.format("bf16"))
    r = fn(X)
    assert r.dtype == B and r.flags.owndata and r.tolist() == [2, -5, 6.5, 0] and copies(fn) == []
    r = fn(bits(X))
    assert r.dtype == np.uint16 and r.view(B).tolist() == [2, -5, 6.5, 0]


def test_one_argument_of_it_is_enough():
    fn = inlay.compile("""graph @main(%x: bf16[n], %y: bf16[n], %z: f32[n]) {
      %r = add %x, %y
      %w = cast %z : bf16
      %f = cast %y : f32
      return %r, %w, %f
    }""")
    z = np.ones(4, np.float32)
    for x, y, dtype in [(X, X, B), (bits(X), X, B), (X, bits(X), B), (bits(X), bits(X), np.uint16)]:
        r, w, f = fn(x, y, z)
        assert (r.dtype, w.dtype, f.dtype) == (dtype, dtype, np.float32)
        assert r.view(B).tolist() == [2, -5, 6.5, 0] and w.view(B).tolist() == [1, 1, 1, 1]


@pytest.mark.parametrize("step", [1, -1, 2])
def test_layouts_of_it(step):
    fn = inlay.compile(VECTOR.format("bf16"))
    x = X[::step]
    assert fn(x).tolist() == (2 * x.astype("f4")).tolist()
    assert copies(fn) == ([] if x.flags.c_contiguous else ["argument x was not row-major"])


def test_it_is_changed_in_place():
    text = UPDATE.replace("f64", "bf16")
    fn = inlay.compile(text)
    x = X.copy()
    assert fn(x, np.array([7], B)) is x and x.tolist() == [7, -2.5, 3.25, 0]
    x = X.copy()
    assert fn(x, bits(np.array([7], B))) is x and x.dtype == B
    rows = inlay.compile("""graph @main(%x: bf16[n] donated, %y: bf16[1, m]) {
      %a = reshape %x : bf16[1, n]
      %r = update set %a[:, 0:m], %y
      return %r
    }""")
    r = rows(x, np.array([[1, 2]], B))
    assert r.dtype == B and r.shape == (1, 4) and np.shares_memory(r, x) and x.tolist() == [1, 2, 3.25, 0]


@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("given", [X, bits(X)], ids=["bfloat16", "bits"])
@pytest.mark.parametrize("kind", [B, np.dtype(np.uint16)], ids=str)
def test_arrays_for_results(kind, given, stride):
    fn = inlay.compile(VECTOR.format("bf16"))
    out = np.zeros(4 * stride, kind)[::stride]
    assert fn(given, out=out) is out
    assert out.view(B).tolist() == [2, -5, 6.5, 0]


def test_results_of_a_size_that_is_found_late():
    fn = inlay.compile("""graph @main(%x: bf16[n]) {
      %zero = literal 0 : bf16
      %p = lt %zero, %x
      %k, %r = compress %p, %x : k
      return %r
    }""")
    r = fn(X)
    assert r.dtype == B and r.tolist() == [1, 3.25]
    assert fn(bits(X)).dtype == np.uint16


def test_other_dtypes_do_not_take_it():
    for dtype, came in [("f32", X), ("u16", X), ("bf16", X.astype("f4")), ("bf16", X.astype(ml_dtypes.float8_e4m3fn))]:
        with pytest.raises(TypeError, match="^error.wrong-dtype.: x: an array of .* where .* is expected"):
            inlay.compile(VECTOR.format(dtype))(came)
    with pytest.raises(TypeError, match="x: an array of bf16 where f32 is expected"):
        inlay.compile(VECTOR.format("f32"))(X)


def test_what_is_bound_and_what_the_host_gives():
    text = """graph @main(%x: bf16[n], %w: bf16[n] bound) {
      %h = host_call "h" (%x) : bf16[n]
      %r = add %h, %w
      return %r
    }"""
    for w in (X, bits(X)):
        for host in (lambda x: x, lambda x: x.view(B)):
            fn = inlay.compile(text, bound={"w": w}, host_functions={"h": host})
            assert fn(X).tolist() == [2, -5, 6.5, 0]
    fn = inlay.compile(VECTOR.format("bf16"))
    assert pickle.loads(pickle.dumps(fn))(X).tolist() == [2, -5, 6.5, 0]


def test_it_comes_by_dlpack():
    fn = inlay.compile(VECTOR.format("bf16"))
    given = ByHand(bits(X), (4, 16, 1))
    r = fn(given)
    assert r.dtype == B and r.tolist() == [2, -5, 6.5, 0] and given.released == 1
    jnp = pytest.importorskip("jax.numpy")
    x = jnp.asarray(X)
    r = fn(x)
    assert jnp.asarray(r).dtype == jnp.bfloat16 and r.tolist() == [2, -5, 6.5, 0]
    assert copies(fn) == []


def test_bits_come_by_dlpack_where_ml_dtypes_is_missing(monkeypatch):
    fn = inlay.compile(VECTOR.format("bf16"))
    monkeypatch.setitem(__import__("sys").modules, "ml_dtypes", None)
    r = fn(ByHand(bits(X), (4, 16, 1)))
    assert r.dtype == np.uint16 and r.view(B).tolist() == [2, -5, 6.5, 0]


def test_networks():
    onnx = pytest.importorskip("onnx")
    values = [onnx.helper.make_tensor_value_info(c, onnx.TensorProto.BFLOAT16, ["n"]) for c in "xyz"]
    graph = onnx.helper.make_graph([onnx.helper.make_node("Add", ["x", "y"], ["z"])], "g", values[:2], values[2:])
    network = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 21)], ir_version=10)
    fn = inlay.onnx.compile(network)
    assert fn(X, X).dtype == B and fn(X, y=bits(X)).tolist() == [2, -5, 6.5, 0]
    assert fn(bits(X), bits(X)).dtype == np.uint16
    for y in (X, bits(X)):
        assert inlay.onnx.compile(network, fixed={"y": y})(X).tolist() == [2, -5, 6.5, 0]
    state = inlay.onnx.compile(network, donated=["x"])
    x = X.copy()
    assert state(x, X) is x and x.tolist() == [2, -5, 6.5, 0]
    assert fn(Foreign(bits(X)), Foreign(bits(X))).view(B).tolist() == [2, -5, 6.5, 0]


def test_nothing_is_kept():
    fn = inlay.compile(VECTOR.format("bf16"))
    x = X.copy()
    ref = weakref.ref(x)
    fn(x)
    del x
    gc.collect()
    assert ref() is None
