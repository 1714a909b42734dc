"""Resizing in ONNX networks, beside onnxruntime, at sizes that are symbols."""

import inlay
import inlay.onnx
import numpy as np
import pytest

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
from onnx_nodes import agrees, model, node  # noqa: E402

SIZES = "batch, 3, height, width"
ONE = "1, 3, height, width"
CLOSE = {"rtol": 2e-5, "atol": 1e-4}
SHAPES = [(2, 3, 8, 6), (1, 3, 5, 12), (1, 3, 7, 20)]
FOUR = np.array([1, 1, 2, 2], np.float32)


def calls(seed, *shapes):
    rng = np.random.default_rng(seed)
    return [(rng.standard_normal(shape, dtype=np.float32),) for shape in shapes]


def of(nodes, sizes, constants, opset):
    return model(nodes, [f"x: f32[{sizes}]"], constants=constants, opset=opset)


def resize(scales=None, lengths=None, roi=None, opset=19, sizes=SIZES, **attributes):
    constants = {"roi": roi, "scales": scales, "lengths": lengths}
    constants = {name: value for name, value in constants.items() if value is not None}
    inputs = ["x", *(name if name in constants else "" for name in ("roi", "scales", "lengths"))]
    if opset == 10:
        inputs = ["x", "scales"]
    return of([node("Resize", ",".join(inputs).rstrip(","), **attributes)], sizes, constants, opset)


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
    agrees(data, *calls(0, (1, 3, 8, 12), (2, 3, 16, 4)), **CLOSE)


@pytest.mark.parametrize("nearest", ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"])
@pytest.mark.parametrize("transform", ["half_pixel", "asymmetric", "align_corners"])
def test_nearest_modes(nearest, transform):
    data = resize(floats(1, 1, 2, 0.5), mode="nearest", coordinate_transformation_mode=transform, nearest_mode=nearest)
    agrees(data, *calls(1, (1, 3, 8, 12), (2, 3, 5, 4)), **CLOSE)


@pytest.mark.parametrize("transform", ["half_pixel", "asymmetric"])
def test_places_of_a_decimal_fraction_are_whole(transform):
    """17 / 1.7f is 10 as an f32, and less as an f64."""
    network = resize(floats(1, 1, 1.7, 0.6), mode="nearest", nearest_mode="floor", coordinate_transformation_mode=transform)
    agrees(network, *calls(5, (2, 3, 12, 10), (1, 3, 9, 16), (1, 3, 30, 25)), **CLOSE)


@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
def test_sizes(mode):
    lengths = np.array([1, 3, 9, 16], np.int64)
    data = resize(lengths=lengths, mode=mode, sizes=ONE, exclude_outside=int(mode == "cubic"))
    agrees(data, *calls(2, (1, 3, 18, 8), (1, 3, 3, 16)), **CLOSE)


@pytest.mark.parametrize("mode", ["linear", "cubic"])
@pytest.mark.parametrize("by_size", [False, True])
def test_antialias(mode, by_size):
    scales = {"lengths": np.array([1, 3, 5, 4], np.int64)} if by_size else {"scales": floats(1, 1, 0.4, 0.7)}
    data = resize(**scales, mode=mode, antialias=1, sizes=ONE)
    agrees(data, *calls(3, (1, 3, 20, 10), (1, 3, 5, 30)), **CLOSE)


@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
def test_crop(mode):
    roi = floats(0, 0, 0.25, -0.375, 1, 1, 0.875, 1.125)
    data = resize(lengths=np.array([1, 3, 9, 16], np.int64), roi=roi, mode=mode, sizes=ONE,
                  coordinate_transformation_mode="tf_crop_and_resize", extrapolation_value=7.0)  # fmt: skip
    agrees(data, *calls(4, (1, 3, 18, 8), (1, 3, 4, 12)), **CLOSE)


@pytest.mark.parametrize("policy", ["not_larger", "not_smaller"])
def test_ratio_is_kept(policy):
    attributes = {"axes": [2, 3], "mode": "linear", "keep_aspect_ratio_policy": policy}
    nodes = [node("Resize", "x,,,sizes", **attributes)]
    data = of(nodes, SIZES, {"sizes": np.array([9, 16], np.int64)}, 19)
    agrees(data, *calls(5, (1, 3, 18, 8), (2, 3, 6, 15)), **CLOSE)


@pytest.mark.parametrize("mode", ["nearest", "linear"])
@pytest.mark.parametrize("scales", [(1, 1, 2, 3), (1, 1, 0.5, 0.6), (1, 1, 1.7, 2.5)])
def test_before_version_11(mode, scales):
    data = resize(floats(*scales), mode=mode, opset=10)
    agrees(data, *calls(6, *SHAPES), **CLOSE)
    if min(scales) >= 1:
        nodes = [node("Upsample", "x,scales", mode=mode)]
        data = of(nodes, SIZES, {"scales": floats(*scales)}, 9)
        agrees(data, *calls(6, *SHAPES), **CLOSE)


@pytest.mark.parametrize("mode", ["nearest", "linear"])
@pytest.mark.parametrize("op", ["Resize", "Upsample"])
def test_scales_of_each_call(op, mode):
    opset, scales = (10, floats(1, 1, 2, 0.5)) if op == "Resize" else (9, floats(1, 1, 2, 1.5))
    network = model([node(op, "x,s", mode=mode)], [f"x: f32[{SIZES}]", "s: f32[4]"], opset=opset)
    agrees(network, *[(x, scales) for (x,) in calls(9, *SHAPES)], rtol=1e-5, atol=1e-5)


def test_sizes_that_the_network_computes():
    """As exporters write it: to the height and width of another value."""
    nodes = [
        node("MaxPool", "x", "p", kernel_shape=[2, 2], strides=[2, 2]),
        node("Shape", "x", "shape"),
        node("Resize", "p,,,shape", "r", mode="linear"),
        node("Add", "r,x"),
    ]
    agrees(of(nodes, SIZES, {}, 17), *calls(7, *SHAPES), **CLOSE)


def test_twice_as_large_is_a_copy_for_each_axis():
    data = resize(FOUR, mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor")
    fn = agrees(data, *calls(8, *SHAPES), **CLOSE)
    assert len(inlay.explain(fn).kernels) <= 2
