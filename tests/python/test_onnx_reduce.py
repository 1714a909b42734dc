"""Reductions and running sums of ONNX networks, beside onnxruntime, at sizes that are symbols."""

import inlay
import inlay.onnx
import numpy as np
import pytest

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
from onnx_nodes import agrees, network  # noqa: E402

RNG = np.random.default_rng(3)
SHAPES = [(2, 3, 5), (1, 3, 1), (7, 3, 33)]
FLOATS = [{"x": RNG.standard_normal(shape, dtype=np.float32)} for shape in SHAPES]
EQUALS = [{"x": RNG.integers(0, 3, shape).astype(np.float32)} for shape in SHAPES]
REDUCTIONS = ["Sum", "Mean", "Max", "Min", "Prod", "L1", "L2", "SumSquare", "LogSumExp"]
X = ["x: f32[n, 3, m]"]


@pytest.mark.parametrize("op", REDUCTIONS)
@pytest.mark.parametrize("opset", [11, 13, 18])
def test_reduce(op, opset):
    for axes in [[1], [-1, 0], None]:
        is_input = opset >= 18 or (op == "Sum" and opset >= 13)
        constants = {"axes": np.array(axes, np.int64)} if axes and is_input else {}
        attributes = {"axes": axes} if axes and not is_input else {}
        keepdims = int(axes != [1])
        agrees(network("Reduce" + op, X, opset=opset, constants=constants, keepdims=keepdims, **attributes), *FLOATS)


@pytest.mark.parametrize("op", ["Sum", "Mean", "Max", "Min", "L1", "L2", "SumSquare"])
def test_integers_stay_integers(op):
    calls = [{"x": RNG.integers(-9, 9, shape).astype(np.int32)} for shape in SHAPES]
    agrees(network("Reduce" + op, ["x: i32[n, 3, m]"], constants={"axes": np.array([0, 2])}), *calls)


def test_no_axes():
    model = network("ReduceSumSquare", X, constants={"axes": np.array([], np.int64)}, noop_with_empty_axes=1)
    (call,) = FLOATS[:1]
    np.testing.assert_allclose(inlay.onnx.compile(model)(**call), call["x"] ** 2, rtol=1e-6)


@pytest.mark.parametrize(
    ("op", "dtype", "expected"),
    [
        ("Sum", np.float32, 0), ("Prod", np.float32, 1), ("Max", np.float32, -np.inf), ("Min", np.float32, np.inf),
        ("LogSum", np.float32, -np.inf), ("LogSumExp", np.float32, -np.inf), ("Max", np.int32, -(2**31)),
        ("Min", np.uint8, 255), ("Max", np.bool_, False),
    ],
)  # fmt: skip
def test_no_elements(op, dtype, expected):
    names = {np.float32: "f32", np.int32: "i32", np.uint8: "u8", np.bool_: "bool"}
    model = network("Reduce" + op, [f"x: {names[dtype]}[n, 0]"], opset=20, constants={"axes": np.array([1])})
    found = inlay.onnx.compile(model)(np.zeros((3, 0), dtype))
    assert found.shape == (3, 1) and found.dtype == dtype and (found == expected).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int64, np.uint8])
@pytest.mark.parametrize("op, combine", [("Max", np.max), ("Min", np.min)])
def test_extremes_of_no_elements_in_a_call(op, combine, dtype):
    """The element that makes sure that there is one is in no loop."""
    name = {np.float32: "f32", np.float16: "f16", np.int64: "i64", np.uint8: "u8"}[dtype]
    info = np.finfo(dtype) if dtype in (np.float32, np.float16) else np.iinfo(dtype)
    low, high = (-np.inf, np.inf) if info.dtype.kind == "f" else (info.min, info.max)
    neutral = dtype(low if op == "Max" else high)
    for axes in [[0], [1], [0, 2], [0, 1, 2]]:
        fn = inlay.onnx.compile(network("Reduce" + op, [f"x: {name}[n, 2, m]"], opset=20, constants={"axes": np.array(axes)}))
        explained = inlay.explain(fn)
        assert (len(explained.kernels), len(explained.copies)) == (1, 0)
        for n, m in [(0, 3), (3, 0), (0, 0), (3, 4)]:
            x = RNG.integers(1, 9, (n, 2, m)).astype(dtype)
            got = fn(x)
            assert got.dtype == dtype
            np.testing.assert_array_equal(got, combine(x, axis=tuple(axes), keepdims=True, initial=neutral))


@pytest.mark.parametrize("op", ["Softmax", "LogSoftmax", "Hardmax"])
def test_classes_of_which_a_call_has_none(op):
    for dims in ("n, m", "n, m, k"):
        fn = inlay.onnx.compile(network(op, [f"x: f32[{dims}]"], opset=13, axis=1))
        explained = inlay.explain(fn)
        assert (len(explained.kernels), len(explained.copies)) == (1, 0)
        for shape in [(2, 0, 3), (0, 3, 2), (0, 0, 0)]:
            x = np.zeros(shape[: dims.count(",") + 1], np.float32)
            assert fn(x).shape == x.shape


def test_log_sum_exp_of_no_elements_in_a_call():
    for axes in ([0], [0, 1]):
        fn = inlay.onnx.compile(network("ReduceLogSumExp", ["x: f32[n, m]"], constants={"axes": np.array(axes)}))
        for n, m in [(0, 3), (0, 0)]:
            x = np.zeros((n, m), np.float32)
            np.testing.assert_array_equal(fn(x), np.full((1, 1 if 1 in axes else m), -np.inf, np.float32))


def test_half_precision_is_summed_in_f32():
    x = np.full((2, 5000), 1, np.float16)
    model = network("ReduceMean", ["x: f16[n, m]"], constants={"axes": np.array([1])})
    assert (inlay.onnx.compile(model)(x) == 1).all()


@pytest.mark.parametrize("op", ["ArgMax", "ArgMin"])
@pytest.mark.parametrize("last", [0, 1])
def test_places_of_equals(op, last):
    for axis, keepdims in [(0, 1), (-1, 0)]:
        agrees(network(op, X, opset=13, axis=axis, keepdims=keepdims, select_last_index=last), *EQUALS)


@pytest.mark.parametrize("exclusive", [0, 1])
@pytest.mark.parametrize("reverse", [0, 1])
def test_running_sum(exclusive, reverse):
    attributes = {"exclusive": exclusive, "reverse": reverse}
    agrees(network("CumSum", X, opset=14, constants={"axis": np.array(2)}, **attributes), *FLOATS)
    fn = inlay.onnx.compile(network("CumProd", X, opset=26, constants={"axis": np.array(0)}, **attributes))
    for call in FLOATS:
        x = call["x"][::-1] if reverse else call["x"]
        wanted = np.cumprod(np.concatenate([np.ones_like(x[:1]), x]), 0)[0 if exclusive else 1 :][: len(x)]
        np.testing.assert_allclose(fn(**call), wanted[::-1] if reverse else wanted, rtol=1e-4)


@pytest.mark.parametrize("opset", [11, 13])
def test_hardmax(opset):
    for axis in [1, -1]:
        agrees(network("Hardmax", X, opset=opset, axis=axis), *EQUALS)


def test_a_reduction_is_one_loop():
    fn = inlay.onnx.compile(network("ReduceL2", X, constants={"axes": np.array([2])}))
    fn(**FLOATS[0])
    assert len(inlay.explain(fn).kernels) == 1
