"""Images read between their elements, and convolutions of integers, in ONNX networks beside onnxruntime."""

import inlay
import inlay.onnx
import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")
helper = onnx.helper

KINDS = {
    "float32": onnx.TensorProto.FLOAT,
    "int64": onnx.TensorProto.INT64,
    "uint8": onnx.TensorProto.UINT8,
    "int8": onnx.TensorProto.INT8,
}


def agree(node, calls, shapes, constants=(), opset=20, rtol=1e-5, atol=1e-5):
    """One node; `shapes` by input, of symbols; `calls`: arrays by input."""
    inputs = [helper.make_tensor_value_info(name, KINDS[calls[0][name].dtype.name], shape) for name, shape in shapes.items()]
    weights = [onnx.numpy_helper.from_array(np.asarray(value), name) for name, value in dict(constants).items()]
    results = [helper.make_empty_tensor_value_info(name) for name in node.output]
    graph = helper.make_graph([node], "net", inputs, results, weights)
    data = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9).SerializeToString()
    session = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
    fn = inlay.onnx.compile(data)
    for call in calls:
        (want,) = session.run(None, call)
        found = fn(**call)
        assert found.dtype == want.dtype
        np.testing.assert_allclose(found, want, rtol=rtol, atol=atol)
    return fn


@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
@pytest.mark.parametrize("outside", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("aligned", [0, 1])
def test_grid_sample(mode, outside, aligned):
    rng = np.random.default_rng(0)
    node = helper.make_node("GridSample", ["x", "grid"], ["y"], mode=mode, padding_mode=outside, align_corners=aligned)
    calls = []
    for batch, height, width in [(2, 5, 7), (1, 8, 3)]:
        x = rng.standard_normal((batch, 3, height, width), dtype=np.float32)
        calls.append({"x": x, "grid": rng.uniform(-1.8, 1.8, (batch, 6, 4, 2)).astype(np.float32)})
    agree(node, calls, {"x": ("n", 3, "h", "w"), "grid": ("n", "p", "q", 2)}, rtol=1e-4, atol=1e-4)


def test_grid_sample_of_volumes():
    rng = np.random.default_rng(1)
    node = helper.make_node("GridSample", ["x", "grid"], ["y"])
    x = rng.standard_normal((2, 3, 4, 5, 6), dtype=np.float32)
    grid = rng.uniform(-1.5, 1.5, (2, 3, 4, 5, 3)).astype(np.float32)
    agree(node, [{"x": x, "grid": grid}], {"x": ("n", 3, "d", "h", "w"), "grid": ("n", "p", "q", "r", 3)}, atol=1e-4)


def test_grid_sample_of_places_far_away():
    node = helper.make_node("GridSample", ["x", "grid"], ["y"])
    grid = np.full((1, 1, 2, 2), 1e30, np.float32)
    grid[0, 0, 1] = -1e30
    call = {"x": np.ones((1, 1, 4, 4), np.float32), "grid": grid}
    graph = helper.make_graph([node], "net", [helper.make_tensor_value_info(n, 1, a.shape) for n, a in call.items()],
                              [helper.make_empty_tensor_value_info("y")])  # fmt: skip
    fn = inlay.onnx.compile(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)]))
    assert not fn(**call).any()


@pytest.mark.parametrize("aligned", [0, 1])
@pytest.mark.parametrize("size", [[2, 3, 5, 4], [2, 1, 3, 4, 5]])
def test_affine_grid(aligned, size):
    rank = len(size) - 2
    theta = np.random.default_rng(2).standard_normal((2, rank, rank + 1), dtype=np.float32)
    node = helper.make_node("AffineGrid", ["theta", "size"], ["y"], align_corners=aligned)
    calls = [{"theta": theta, "size": np.array(size)}]
    agree(node, calls, {"theta": ("n", rank, rank + 1), "size": (rank + 2,)})


@pytest.mark.parametrize("mode", ["avg", "max"])
@pytest.mark.parametrize("samples", [0, 2])
@pytest.mark.parametrize("transform", ["half_pixel", "output_half_pixel"])
def test_roi_align(mode, samples, transform):
    rng = np.random.default_rng(3)
    node = helper.make_node("RoiAlign", ["x", "rois", "batch"], ["y"], mode=mode, sampling_ratio=samples, output_height=3,
                            output_width=2, spatial_scale=0.5, coordinate_transformation_mode=transform)  # fmt: skip
    calls = []
    for count in (4, 1):
        corner, size = rng.uniform(0, 12, (count, 2)), rng.uniform(1, 16, (count, 2))
        rois = np.concatenate([corner, corner + size], 1).astype(np.float32)
        x = rng.standard_normal((2, 3, 11, 9), dtype=np.float32)
        calls.append({"x": x, "rois": rois, "batch": rng.integers(0, 2, count)})
    agree(node, calls, {"x": ("n", 3, "h", "w"), "rois": ("k", 4), "batch": ("k",)}, opset=16, atol=1e-4)


@pytest.mark.parametrize("groups", [1, 2, 4])
def test_convolution_of_integers(groups):
    rng = np.random.default_rng(4)
    calls = [{"x": rng.integers(0, 256, shape, dtype=np.uint8)} for shape in [(2, 4, 8, 9), (1, 4, 5, 12)]]
    weights = rng.integers(0, 256, (8, 4 // groups, 3, 3), dtype=np.uint8)
    constants = {"w": weights, "xz": np.uint8(120), "wz": np.uint8(131)}
    node = helper.make_node("ConvInteger", ["x", "w", "xz", "wz"], ["y"], pads=[1, 0, 1, 2], strides=[1, 2], group=groups)
    agree(node, calls, {"x": ("n", 4, "h", "w_")}, constants, rtol=0, atol=0)


def test_long_sums_of_integers_are_exact():
    x, w = np.full((1, 512, 3, 3), 255, np.uint8), np.full((2, 512, 3, 3), 255, np.uint8)
    node = helper.make_node("ConvInteger", ["x", "w"], ["y"])
    agree(node, [{"x": x}], {"x": (1, 512, "h", "w_")}, {"w": w}, rtol=0, atol=0)


def test_quantized_convolution():
    rng = np.random.default_rng(5)
    calls = [{"x": rng.integers(0, 256, shape, dtype=np.uint8)} for shape in [(2, 4, 8, 9), (1, 4, 5, 12)]]
    constants = {
        "xs": np.float32(0.02), "xz": np.uint8(120), "w": rng.integers(-127, 128, (6, 4, 3, 3), dtype=np.int8),
        "ws": rng.uniform(0.01, 0.03, 6).astype(np.float32), "wz": np.zeros(6, np.int8), "ys": np.float32(0.09),
        "yz": np.uint8(100), "b": rng.integers(-3000, 3000, 6, dtype=np.int32),
    }  # fmt: skip
    node = helper.make_node("QLinearConv", ["x", "xs", "xz", "w", "ws", "wz", "ys", "yz", "b"], ["y"], pads=[1, 1, 1, 1])
    agree(node, calls, {"x": ("n", 4, "h", "w_")}, constants, rtol=0, atol=1)


@pytest.mark.parametrize(
    "attributes", [{}, {"strides": [2, 1], "pads": [1, 0, 1, 1]}, {"dilations": [1, 2], "pads": [1, 1, 0, 1]}]
)
def test_col2im(attributes):
    strides, dilations = attributes.get("strides", [1, 1]), attributes.get("dilations", [1, 1])
    pads, image, block = attributes.get("pads", [0] * 4), [9, 10], [3, 2]
    count = np.prod([(n + pads[i] + pads[i + 2] - (k - 1) * d - 1) // s + 1
                     for i, (n, k, s, d) in enumerate(zip(image, block, strides, dilations, strict=True))])  # fmt: skip
    blocks = np.random.default_rng(6).standard_normal((2, 3 * 6, count), dtype=np.float32)
    node = helper.make_node("Col2Im", ["x", "image", "block"], ["y"], **attributes)
    constants = {"image": np.array(image), "block": np.array(block)}
    agree(node, [{"x": blocks}], {"x": ("n", 18, "l")}, constants)


def test_causal_convolution_goes_on_where_it_stopped():
    rng = np.random.default_rng(7)
    x, w = rng.standard_normal((2, 5, 12), dtype=np.float32), rng.standard_normal((5, 1, 4), dtype=np.float32)
    shapes = {"x": ("n", 5, "l"), "w": (5, 1, 4), "b": (5,), "past": ("n", 5, 3)}
    node = helper.make_node("CausalConvWithState", list(shapes), ["y", "state"], activation="silu")
    inputs = [helper.make_tensor_value_info(name, 1, shape) for name, shape in shapes.items()]
    results = [helper.make_empty_tensor_value_info(name) for name in ("y", "state")]
    graph = helper.make_graph([node], "net", inputs, results)
    fn = inlay.onnx.compile(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 27)]))
    bias, start = np.ones(5, np.float32), np.zeros((2, 5, 3), np.float32)
    whole, _ = fn(x, w, bias, start)
    first, state = fn(x[..., :7], w, bias, start)
    second, _ = fn(x[..., 7:], w, bias, state)
    np.testing.assert_allclose(np.concatenate([first, second], 2), whole, rtol=1e-6)
    padded = np.concatenate([start, x], 2)
    sums = sum(padded[..., t : t + 12] * w[:, 0, t, None] for t in range(4)) + 1
    np.testing.assert_allclose(whole, sums / (1 + np.exp(-sums)), rtol=1e-4, atol=1e-5)
