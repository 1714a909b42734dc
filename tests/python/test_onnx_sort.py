"""What ONNX networks sort and choose, beside onnxruntime, at sizes that are symbols."""

import inlay.onnx
import numpy as np
import pytest

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
from onnx_nodes import agrees, network, results_of  # noqa: E402

RNG = np.random.default_rng(11)
X = ["x: f32[n, 3, m]"]


def few(*shape, numbers=4):
    return RNG.integers(0, numbers, shape).astype(np.float32)


@pytest.mark.parametrize("largest", [0, 1])
@pytest.mark.parametrize("axis", [0, -1])
def test_top_k(largest, axis):
    calls = [{"x": few(6, 3, 9), "k": np.array([4])}, {"x": few(2, 3, 2), "k": np.array([1])}]
    agrees(network("TopK", [*X, "k: i64[1]"], "v,i", 11, axis=axis, largest=largest), *calls)


def test_top_k_of_old_networks_and_of_half_precision():
    x = RNG.standard_normal((2, 9)).astype(np.float16)
    wanted = -np.sort(-x, axis=1)[:, :3]
    for opset, attributes, constants in [(7, {"k": 3}, {}), (10, {}, {"k": np.array([3])})]:
        fn = inlay.onnx.compile(network("TopK", ["x: f16[n, m]"], "v,i", opset, constants, **attributes))
        values, places = fn(x)
        np.testing.assert_array_equal(values, wanted)
        np.testing.assert_array_equal(np.take_along_axis(x, places, 1), wanted)


SPECIAL = {
    "f32": np.array([1, np.nan, np.inf, -np.inf, 1, np.nan, -0.0, 0.0, np.inf, -np.inf], np.float32),
    "i32": np.array([3, 2**31 - 1, -(2**31), 3, -(2**31), 2**31 - 1, 0, 1], np.int32),
    "u8": np.array([255, 0, 3, 0, 255, 3, 7], np.uint8),
}


@pytest.mark.parametrize("dtype", SPECIAL)
@pytest.mark.parametrize("largest", [0, 1])
def test_few_are_taken_as_a_sort_has_them(dtype, largest):
    """A known, small count is found in steps, any other by sorting."""
    attributes = {"opset": 11, "largest": largest, "outputs": "v,i"}
    sort = inlay.onnx.compile(network("TopK", [f"x: {dtype}[n, m]", "k: i64[1]"], **attributes))
    values = SPECIAL[dtype]
    for count in (1, 4, len(values)):
        constants = {"k": np.array([count])}
        steps = inlay.onnx.compile(network("TopK", [f"x: {dtype}[n, m]"], constants=constants, **attributes))
        for length in (len(values), 40):
            x = RNG.choice(values, (5, length))
            x[0, : len(values)] = values
            wanted = sort(x, np.array([count]))
            for got, want in zip(steps(x), wanted, strict=True):
                np.testing.assert_array_equal(got, want)
    with pytest.raises(IndexError, match="which has 2 elements"):
        steps(values[None, :2])


@pytest.mark.parametrize("is_sorted", [0, 1])
@pytest.mark.parametrize("axis", [None, 0, 1, 2])
def test_unique(is_sorted, axis):
    attributes = {} if axis is None else {"axis": axis}
    calls = [{"x": few(*shape, numbers=2)} for shape in [(9, 3, 1), (3, 3, 5), (1, 3, 1), (40, 3, 2)]]
    agrees(network("Unique", X, "y,first,inverse,counts", 11, sorted=is_sorted, **attributes), *calls)


def boxes_of(n, k, by_centre):
    boxes = RNG.uniform(0, 10, (n, k, 4)).astype(np.float32)
    if by_centre:
        boxes[..., 2:] = boxes[..., 2:] / 2 + 0.5
    return boxes


@pytest.mark.parametrize("by_centre", [0, 1])
@pytest.mark.parametrize("lowest_score", [None, 0.3])
def test_non_max_suppression(by_centre, lowest_score):
    constants = {"most": np.array([7]), "overlap": np.array([0.3], np.float32)}
    if lowest_score is not None:
        constants["score"] = np.array([lowest_score], np.float32)
    calls = [
        {"b": boxes_of(n, k, by_centre), "s": RNG.uniform(size=(n, c, k)).astype(np.float32)}
        for n, c, k in [(1, 1, 5), (2, 3, 40), (1, 2, 1), (2, 2, 0)]
    ]
    inputs = ["b: f32[n, k, 4]", "s: f32[n, c, k]"]
    agrees(network("NonMaxSuppression", inputs, opset=11, constants=constants, center_point_box=by_centre), *calls)


def test_how_many_boxes_is_an_input():
    inputs = ["b: f32[n, k, 4]", "s: f32[n, c, k]", "most: i64[1]"]
    boxes, scores = boxes_of(1, 30, 0), RNG.uniform(size=(1, 2, 30)).astype(np.float32)
    calls = [{"b": boxes, "s": scores, "most": np.array([most])} for most in (0, 2, 2**40)]
    fn = agrees(network("NonMaxSuppression", inputs, opset=11), *calls)
    (none,) = results_of(fn, calls[0])
    assert none.shape == (0, 3)
