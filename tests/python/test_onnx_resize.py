"""Resizing in ONNX networks, beside onnxruntime, at sizes that are symbols."""

import inlay
import inlay.onnx
import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")

from test_onnx_windows import agree, data_of, helper, network  # noqa: E402

SIZES = ("batch", 3, "height", "width")
SHAPES = [(2, 3, 8, 6), (1, 3, 5, 12), (1, 3, 7, 20)]
FOUR = np.array([1, 1, 2, 2], np.float32)


def resize(scales=None, sizes=None, inputs=("x", "", "scales", ""), roi=None, opset=19, shape=SIZES, **attributes):
    weights = {"roi": roi, "scales": scales, "sizes": sizes}
    weights = {name: value for name, value in weights.items() if value is not None}
    if sizes is not None:
        inputs = ("x", "roi" if roi is not None else "", "", "sizes")
    elif opset == 10:
        inputs = ("x", "scales")
    elif roi is not None:
        inputs = ("x", "roi", "scales")
    return network([helper.make_node("Resize", list(inputs), ["y"], **attributes)], shape, weights, opset)


def floats(*numbers):
    return np.array(numbers, np.float32)


@pytest.mark.parametrize(
    "transform", ["half_pixel", "pytorch_half_pixel", "asymmetric", "align_corners", "half_pixel_symmetric"]
)
@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
@pytest.mark.parametrize("scales", [(1, 1, 2, 2), (1, 1, 0.5, 3), (1, 1, 1.25, 0.25)])
def test_scales(transform, mode, scales):
    if transform == "align_corners" and scales[2] == 1.25:
        pytest.skip("where the size is rounded, onnxruntime takes the rounded one, ONNX's own tests the one before")
    data = resize(floats(*scales), mode=mode, coordinate_transformation_mode=transform)
    agree(data, data_of(np.random.default_rng(0), *[(1, 3, 8, 12), (2, 3, 16, 4)]), atol=1e-4)


@pytest.mark.parametrize("nearest", ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"])
@pytest.mark.parametrize("transform", ["half_pixel", "asymmetric", "align_corners"])
def test_nearest_modes(nearest, transform):
    data = resize(floats(1, 1, 2, 0.5), mode="nearest", coordinate_transformation_mode=transform, nearest_mode=nearest)
    agree(data, data_of(np.random.default_rng(1), (1, 3, 8, 12), (2, 3, 5, 4)))


@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
def test_sizes(mode):
    sizes = np.array([1, 3, 9, 16], np.int64)
    data = resize(sizes=sizes, mode=mode, shape=(1, 3, "height", "width"), exclude_outside=int(mode == "cubic"))
    agree(data, data_of(np.random.default_rng(2), (1, 3, 18, 8), (1, 3, 3, 16)), atol=1e-4)


@pytest.mark.parametrize("mode", ["linear", "cubic"])
@pytest.mark.parametrize("by_size", [False, True])
def test_antialias(mode, by_size):
    scales = {"sizes": np.array([1, 3, 5, 4], np.int64)} if by_size else {"scales": floats(1, 1, 0.4, 0.7)}
    data = resize(**scales, mode=mode, antialias=1, shape=(1, 3, "height", "width"))
    agree(data, data_of(np.random.default_rng(3), (1, 3, 20, 10), (1, 3, 5, 30)), atol=1e-4)


@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
def test_crop(mode):
    roi = floats(0, 0, 0.25, -0.375, 1, 1, 0.875, 1.125)
    data = resize(sizes=np.array([1, 3, 9, 16], np.int64), roi=roi, mode=mode, shape=(1, 3, "height", "width"),
                  coordinate_transformation_mode="tf_crop_and_resize", extrapolation_value=7.0)  # fmt: skip
    agree(data, data_of(np.random.default_rng(4), (1, 3, 18, 8), (1, 3, 4, 12)), atol=1e-4)


@pytest.mark.parametrize("policy", ["not_larger", "not_smaller"])
def test_ratio_is_kept(policy):
    attributes = {"axes": [2, 3], "mode": "linear", "keep_aspect_ratio_policy": policy}
    nodes = [helper.make_node("Resize", ["x", "", "", "sizes"], ["y"], **attributes)]
    data = network(nodes, SIZES, {"sizes": np.array([9, 16], np.int64)}, opset=19)
    agree(data, data_of(np.random.default_rng(5), (1, 3, 18, 8), (2, 3, 6, 15)), atol=1e-4)


@pytest.mark.parametrize("mode", ["nearest", "linear"])
@pytest.mark.parametrize("scales", [(1, 1, 2, 3), (1, 1, 0.5, 0.6), (1, 1, 1.7, 2.5)])
def test_before_version_11(mode, scales):
    data = resize(floats(*scales), mode=mode, opset=10)
    agree(data, data_of(np.random.default_rng(6), *SHAPES), atol=1e-4)
    if min(scales) >= 1:
        nodes = [helper.make_node("Upsample", ["x", "scales"], ["y"], mode=mode)]
        data = network(nodes, SIZES, {"scales": floats(*scales)}, opset=9)
        agree(data, data_of(np.random.default_rng(6), *SHAPES), atol=1e-4)


@pytest.mark.parametrize("mode", ["nearest", "linear"])
@pytest.mark.parametrize("op", ["Resize", "Upsample"])
def test_scales_of_each_call(op, mode):
    opset, scales = (10, floats(1, 1, 2, 0.5)) if op == "Resize" else (9, floats(1, 1, 2, 1.5))
    nodes = [helper.make_node(op, ["x", "s"], ["y"], mode=mode)]
    inputs = [helper.make_tensor_value_info("x", 1, SIZES), helper.make_tensor_value_info("s", 1, (4,))]
    graph = helper.make_graph(nodes, "net", inputs, [helper.make_empty_tensor_value_info("y")])
    data = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9).SerializeToString()
    session, fn = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"]), inlay.onnx.compile(data)
    for x in data_of(np.random.default_rng(9), *SHAPES):
        np.testing.assert_allclose(fn(x, scales), session.run(None, {"x": x, "s": scales})[0], rtol=1e-5, atol=1e-5)


def test_sizes_that_the_network_computes():
    """As exporters write it: to the height and width of another value."""
    nodes = [
        helper.make_node("MaxPool", ["x"], ["p"], kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("Shape", ["x"], ["shape"]),
        helper.make_node("Resize", ["p", "", "", "shape"], ["r"], mode="linear"),
        helper.make_node("Add", ["r", "x"], ["y"]),
    ]
    agree(network(nodes, SIZES), data_of(np.random.default_rng(7), *SHAPES), atol=1e-4)


def test_twice_as_large_is_a_copy_for_each_axis():
    data = resize(FOUR, mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor")
    fn = agree(data, data_of(np.random.default_rng(8), *SHAPES))
    assert len(inlay.explain(fn).kernels) <= 2
