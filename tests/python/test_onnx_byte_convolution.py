"""Convolutions of bytes: exact sums, beside those of whole numbers, and which of them are products of bytes."""

import itertools

import inlay
import inlay.onnx
import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

node = helper.make_node
KINDS = {np.uint8: TensorProto.UINT8, np.int8: TensorProto.INT8}


def network(nodes, inputs, output, weights):
    """`inputs`: (name, dims, type)."""
    tensors = [numpy_helper.from_array(np.asarray(array), name) for name, array in weights.items()]
    ends = [helper.make_tensor_value_info(name, kind, dims) for name, dims, kind in inputs]
    graph = helper.make_graph(nodes, "net", ends, [helper.make_tensor_value_info("y", output, None)], tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def some_bytes(rng, dtype, *dims):
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max + 1, dims).astype(dtype)


def sums(x, w, pads, strides, dilations, groups):
    """By the definition: x and w less their zero points."""
    rank = x.ndim - 2
    x = np.pad(x, [(0, 0), (0, 0), *zip(pads[:rank], pads[rank:], strict=True)])
    counts = [(x.shape[2 + i] - (w.shape[2 + i] - 1) * dilations[i] - 1) // strides[i] + 1 for i in range(rank)]
    channels, each = w.shape[1], w.shape[0] // groups
    y = np.zeros((x.shape[0], w.shape[0], *counts), np.result_type(x, w))
    for g, place in itertools.product(range(groups), itertools.product(*map(range, w.shape[2:]))):
        cut = tuple(slice(p * d, p * d + (n - 1) * s + 1, s) for p, d, n, s in zip(place, dilations, counts, strides, strict=True))
        data = x[(slice(None), slice(g * channels, (g + 1) * channels), *cut)]
        y[:, g * each : (g + 1) * each] += np.einsum("bc...,oc->bo...", data, w[(slice(g * each, (g + 1) * each), slice(None), *place)])
    return y


# x without its batch, weights, pads, strides, dilations, groups
CASES = {
    "3 x 3": ((5, 9, 8), (7, 5, 3, 3), [1, 1, 1, 1], [1, 1], [1, 1], 1),
    "1 x 1": ((20, 6, 11), (3, 20, 1, 1), [0] * 4, [1, 1], [1, 1], 1),
    "1 x 1, every other": ((4, 7, 9), (17, 4, 1, 1), [0] * 4, [2, 2], [1, 1], 1),
    "a side of room": ((3, 8, 10), (4, 3, 3, 2), [0, 2, 1, 0], [2, 1], [1, 2], 1),
    "long rows": ((2, 5, 150), (9, 2, 3, 3), [1, 1, 1, 1], [1, 1], [1, 1], 1),
    "groups": ((6, 7, 7), (4, 3, 3, 3), [1, 1, 1, 1], [1, 1], [1, 1], 2),
    "by channel": ((6, 7, 9), (6, 1, 3, 3), [1, 1, 1, 1], [1, 1], [1, 1], 6),
    "a line": ((8, 33), (5, 8, 5), [2, 2], [1], [1], 1),
    "a volume": ((2, 4, 5, 6), (3, 2, 2, 3, 2), [1, 0, 0, 1, 1, 1], [1, 2, 1], [1, 1, 1], 1),
}


@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize("dtypes", list(itertools.product(KINDS, KINDS)), ids=lambda pair: " ".join(one.__name__ for one in pair))
@pytest.mark.parametrize("case", CASES)
def test_sums_are_exact(case, dtypes, named):
    """Of sizes that the file says, and of those that a call does, with any zero points, or none, of the data."""
    shape, of_w, pads, strides, dilations, groups = CASES[case]
    rng = np.random.default_rng(3)
    of_x, of_weights = dtypes
    w, low = some_bytes(rng, of_weights, *of_w), int(np.iinfo(of_x).min)
    w_zero = of_weights(128 if of_weights is np.uint8 else 0)
    how = {"pads": pads, "strides": strides, "dilations": dilations, "group": groups}
    for zero in (None, low, low + 77):
        weights = {"w": w, "wz": w_zero} | ({} if zero is None else {"z": of_x(zero)})
        conv = node("ConvInteger", ["x", "w", "z" if zero is not None else "", "wz"], ["y"], **how)
        dims = ["n", shape[0], *(f"size{i}" for i in range(len(shape) - 1))] if named else [2, *shape]
        fn = inlay.onnx.compile(network([conv], [("x", dims, KINDS[of_x])], TensorProto.INT32, weights))
        for batch in (2, 1) if named else (2,):
            x = some_bytes(rng, of_x, batch, *shape)
            want = sums(x.astype(np.int64) - (zero or 0), w.astype(np.int64) - int(w_zero), pads, strides, dilations, groups)
            np.testing.assert_array_equal(fn(x), want)
        assert (" = weighted_rows " in inlay.explain(fn).text) == (case != "by channel")


def test_zero_points_of_weights_are_of_floats():
    """Weights less a number of their own are products of floats, which hold the sums."""
    rng = np.random.default_rng(4)
    w, zeros = some_bytes(rng, np.int8, 3, 2, 3, 3), np.array([0, 5, -7], np.int8)
    net = network([node("ConvInteger", ["x", "w", "", "wz"], ["y"])], [("x", [1, 2, 6, 6], TensorProto.UINT8)], TensorProto.INT32, {"w": w, "wz": zeros})
    fn = inlay.onnx.compile(net)
    x = some_bytes(rng, np.uint8, 1, 2, 6, 6)
    want = sums(x.astype(np.int64), w.astype(np.int64) - zeros[:, None, None, None].astype(np.int64), [0] * 4, [1, 1], [1, 1], 1)
    np.testing.assert_array_equal(fn(x), want)
    assert " = weighted_rows " not in inlay.explain(fn).text


def test_a_zero_point_that_a_call_says():
    rng = np.random.default_rng(5)
    w = some_bytes(rng, np.int8, 3, 2, 3, 3)
    conv = node("ConvInteger", ["x", "w", "z"], ["y"], pads=[1] * 4)
    fn = inlay.onnx.compile(network([conv], [("x", [1, 2, 6, 6], TensorProto.UINT8), ("z", [], TensorProto.UINT8)], TensorProto.INT32, {"w": w}))
    x = some_bytes(rng, np.uint8, 1, 2, 6, 6)
    for zero in (0, 3, 255):
        want = sums(x.astype(np.int64) - zero, w.astype(np.int64), [1] * 4, [1, 1], [1, 1], 1)
        np.testing.assert_array_equal(fn(x, np.uint8(zero)), want)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("scales", ["one", "channels"])
def test_floats_that_were_bytes(scales, bias):
    """As the quantiser writes them: between DequantizeLinear and QuantizeLinear. Beyond the data is 0, their zero point."""
    rng = np.random.default_rng(6)
    count = () if scales == "one" else (4,)
    weights = {
        "w": some_bytes(rng, np.int8, 4, 3, 3, 3), "ws": (0.01 + 0.01 * rng.random(count)).astype(np.float32), "wz": np.zeros(count, np.int8),
        "xs": np.float32(0.02), "xz": np.uint8(77), "b": rng.standard_normal(4).astype(np.float32),
    }  # fmt: skip
    nodes = [
        node("DequantizeLinear", ["x", "xs", "xz"], ["a"]), node("DequantizeLinear", ["w", "ws", "wz"], ["f"], axis=0),
        node("Conv", ["a", "f", "b"] if bias else ["a", "f"], ["y"], pads=[1] * 4),
    ]  # fmt: skip
    if not bias:
        del weights["b"]
    fn = inlay.onnx.compile(network(nodes, [("x", ["n", 3, "h", "v"], TensorProto.UINT8)], TensorProto.FLOAT, weights))
    x = some_bytes(rng, np.uint8, 2, 3, 7, 8)
    scale = np.float64(weights["xs"]) * weights["ws"].astype(float)
    want = sums(x.astype(np.int64) - 77, weights["w"].astype(np.int64), [1] * 4, [1, 1], [1, 1], 1) * (scale if scales == "one" else scale[:, None, None])
    np.testing.assert_allclose(fn(x), want + (weights["b"][:, None, None] if bias else 0), rtol=2e-5, atol=2e-5)  # f32, some roundings
    assert " = weighted_rows " in inlay.explain(fn).text


def test_scales_of_other_axes_are_of_floats():
    rng = np.random.default_rng(7)
    weights = {"w": some_bytes(rng, np.int8, 3, 3, 3, 3), "ws": (0.01 + rng.random(3)).astype(np.float32), "xs": np.float32(0.5)}
    nodes = [node("DequantizeLinear", ["x", "xs"], ["a"]), node("DequantizeLinear", ["w", "ws"], ["f"], axis=1), node("Conv", ["a", "f"], ["y"])]
    fn = inlay.onnx.compile(network(nodes, [("x", [1, 3, 5, 5], TensorProto.UINT8)], TensorProto.FLOAT, weights))
    x = some_bytes(rng, np.uint8, 1, 3, 5, 5)
    want = sums(0.5 * x, weights["w"] * weights["ws"].astype(float)[:, None, None], [0] * 4, [1, 1], [1, 1], 1)
    np.testing.assert_allclose(fn(x), want, rtol=2e-5)
    assert " = weighted_rows " not in inlay.explain(fn).text
