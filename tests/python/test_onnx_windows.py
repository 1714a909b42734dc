"""Convolutions and pools of ONNX networks, beside onnxruntime, at sizes that are symbols."""

import inlay
import inlay.onnx
import numpy as np
import pytest

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
from onnx_nodes import agrees, model, node  # noqa: E402

CLOSE = {"rtol": 2e-5, "atol": 2e-5}


def data_of(rng, *shapes):
    return [rng.standard_normal(shape, dtype=np.float32) for shape in shapes]


def calls_of(rng, *shapes):
    return [(x,) for x in data_of(rng, *shapes)]


X = {
    1: ["x: f32[batch, 6, length]"], 2: ["x: f32[batch, 6, height, width]"], 3: ["x: f32[batch, 6, depth, height, width]"],
}  # fmt: skip
SHAPES = {1: [(2, 6, 19), (1, 6, 40)], 2: [(2, 6, 13, 17), (1, 6, 24, 9)], 3: [(1, 6, 9, 8, 11), (2, 6, 12, 9, 9)]}


@pytest.mark.parametrize(
    ("rank", "out", "kernel", "attributes"),
    [
        (1, 4, [5], {"pads": [2, 1]}),
        (1, 8, [3], {"strides": [2], "dilations": [3], "group": 2}),
        (1, 6, [31], {"pads": [15, 15], "group": 6}),
        (1, 6, [71], {"pads": [40, 40], "group": 6, "strides": [2]}),
        (2, 5, [1, 1], {}),
        (2, 5, [1, 1], {"strides": [2, 3]}),
        (2, 8, [3, 3], {"pads": [1, 1, 1, 1]}),
        (2, 40, [3, 3], {"pads": [1, 1, 1, 1], "strides": [1, 2]}),
        (2, 8, [3, 2], {"pads": [0, 1, 2, 0], "strides": [2, 1], "dilations": [1, 2]}),
        (2, 9, [3, 3], {"auto_pad": "SAME_UPPER", "strides": [2, 2], "group": 3}),
        (2, 6, [4, 4], {"auto_pad": "SAME_LOWER", "strides": [2, 3], "group": 6}),
        (2, 12, [3, 3], {"pads": [1, 1, 1, 1], "group": 6}),
        (2, 4, [3, 3], {"auto_pad": "VALID", "strides": [3, 1]}),
        (3, 4, [3, 2, 3], {"pads": [1, 0, 1, 1, 1, 1], "strides": [1, 2, 2]}),
        (3, 36, [3, 2, 1], {"pads": [1, 0, 1, 1, 1, 1]}),
        (3, 4, [1, 3, 2], {"pads": [1, 1, 0, 2, 0, 1], "strides": [2, 2, 1], "dilations": [1, 2, 1]}),
        (3, 9, [1, 1, 3], {"pads": [0, 0, 1, 0, 0, 1]}),
        (3, 6, [3, 3, 3], {"pads": [1, 1, 1, 1, 1, 1], "group": 6}),
    ],
)
def test_conv(rank, out, kernel, attributes):
    rng = np.random.default_rng(7)
    (weights,) = data_of(rng, (out, 6 // attributes.get("group", 1), *kernel))
    nodes = [node("Conv", "x,w,b", kernel_shape=kernel, **attributes)]
    network = model(nodes, X[rank], constants={"w": weights, "b": np.arange(out, dtype=np.float32)})
    calls = calls_of(rng, *SHAPES[rank])
    agrees(network, *calls, **CLOSE)
    in_place = inlay.explain(agrees(network, *calls, **CLOSE, windows=False))
    assert len(in_place.library_calls) == (kernel == [1, 1] and "strides" not in attributes)


@pytest.mark.parametrize(
    ("rank", "out", "kernel", "attributes"),
    [
        (1, 4, [4], {"strides": [2], "pads": [1, 1]}),
        (1, 4, [16], {"strides": [8], "pads": [4, 4], "group": 2}),
        (1, 1, [64], {"strides": [16], "pads": [20, 3]}),
        (1, 1, [5], {"strides": [2], "pads": [2, 2], "output_padding": [1], "group": 6}),
        (1, 3, [3], {"strides": [4], "dilations": [2]}),
        (1, 3, [3], {"strides": [3], "dilations": [3], "pads": [1, 0]}),
        (1, 2, [5], {"strides": [2], "output_shape": [40]}),
        (1, 2, [5], {"strides": [2], "output_shape": [41], "auto_pad": "SAME_UPPER"}),
        (2, 5, [2, 2], {"strides": [2, 2]}),
        (2, 5, [3, 3], {}),
        (2, 4, [3, 3], {"strides": [2, 2], "pads": [1, 1, 1, 1], "output_padding": [1, 1]}),
        (2, 3, [4, 3], {"strides": [3, 2], "pads": [0, 1, 2, 0], "dilations": [1, 2], "group": 2}),
        (2, 2, [3, 3], {"strides": [2, 3], "auto_pad": "SAME_LOWER"}),
        (2, 2, [2, 2], {"strides": [3, 3], "auto_pad": "VALID"}),
        (3, 2, [3, 2, 3], {"strides": [2, 2, 1], "pads": [1, 0, 1, 1, 1, 1]}),
    ],
)
def test_conv_transpose(rank, out, kernel, attributes):
    rng = np.random.default_rng(7)
    (weights,) = data_of(rng, (6, out, *kernel))
    nodes = [node("ConvTranspose", "x,w,b", kernel_shape=kernel, **attributes)]
    bias = np.arange(out * attributes.get("group", 1), dtype=np.float32)
    shapes = [(2, 6, 19), (1, 6, 19)] if "output_shape" in attributes else SHAPES[rank]
    agrees(model(nodes, X[rank], constants={"w": weights, "b": bias}), *calls_of(rng, *shapes), rtol=2e-5, atol=1e-4)


POOLS = [
    ("MaxPool", {"kernel_shape": [2, 2], "strides": [2, 2]}),
    ("MaxPool", {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]}),
    ("MaxPool", {"kernel_shape": [3, 2], "strides": [2, 3], "ceil_mode": 1, "dilations": [1, 2]}),
    ("MaxPool", {"kernel_shape": [3, 3], "strides": [3, 2], "ceil_mode": 1, "pads": [1, 0, 0, 1]}),
    ("MaxPool", {"kernel_shape": [9, 9], "pads": [4, 4, 4, 4]}),
    ("MaxPool", {"kernel_shape": [71, 1], "pads": [40, 0, 40, 0]}),
    ("MaxPool", {"kernel_shape": [3, 3], "auto_pad": "SAME_LOWER", "strides": [2, 1]}),
    ("AveragePool", {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]}),
    ("AveragePool", {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1], "count_include_pad": 1}),
    ("AveragePool", {"kernel_shape": [3, 2], "strides": [2, 3], "ceil_mode": 1}),
    ("AveragePool", {"kernel_shape": [3, 3], "auto_pad": "SAME_UPPER", "strides": [2, 1]}),
    ("AveragePool", {"kernel_shape": [3, 3], "strides": [2, 3], "ceil_mode": 1, "pads": [1, 1, 1, 1], "count_include_pad": 1}),
    ("AveragePool", {"kernel_shape": [2, 3], "dilations": [2, 2], "pads": [1, 1, 1, 1]}),
    ("LpPool", {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]}),
    ("LpPool", {"kernel_shape": [2, 3], "p": 3}),
    ("GlobalAveragePool", {}),
    ("GlobalMaxPool", {}),
    ("GlobalLpPool", {"p": 1}),
]


@pytest.mark.parametrize(("op", "attributes"), POOLS)
def test_pool(op, attributes):
    nodes = [node(op, "x", **attributes)]
    agrees(model(nodes, X[2], opset=19), *calls_of(np.random.default_rng(8), *SHAPES[2]), **CLOSE)


@pytest.mark.parametrize("order", [0, 1])
def test_places_of_maxima(order):
    attributes = {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1], "storage_order": order}
    nodes = [node("MaxPool", "x", "y,i", **attributes)]
    agrees(model(nodes, X[2], num_outputs=2), *calls_of(np.random.default_rng(9), *SHAPES[2]))


def test_unpool_puts_maxima_back():
    nodes = [
        node("MaxPool", "x", "m,i", kernel_shape=[2, 2], strides=[2, 2]),
        node("MaxUnpool", "m,i", kernel_shape=[2, 2], strides=[2, 2]),
    ]
    agrees(model(nodes, X[2]), *calls_of(np.random.default_rng(10), (2, 6, 8, 12), (1, 6, 4, 2)))


@pytest.mark.parametrize("out", [8, 40])
def test_windows_are_copied_once_and_the_rest_is_one_loop(out):
    """One loop makes the windows, padding and all; one after the product does bias, batch norm and activation. Where
    rows of the result lie in blocks is found once for all of them."""
    rng = np.random.default_rng(11)
    w, scale, shift = data_of(rng, (out, 6, 3, 3), (out, 1, 1), (out, 1, 1))
    nodes = [
        node("Conv", "x,w,b", "c", pads=[1, 1, 1, 1]),
        node("Mul", "c,scale", "s"),
        node("Add", "s,shift", "n"),
        node("Relu", "n"),
    ]
    weights = {"w": w, "b": np.ones(out, np.float32), "scale": scale, "shift": shift}
    fn = agrees(model(nodes, X[2], constants=weights), *calls_of(rng, *SHAPES[2]), **CLOSE)
    told = inlay.explain(fn)
    assert len(told.library_calls) == 1 and len(told.kernels) == 3 and not told.copies


@pytest.mark.parametrize(("size", "rows_in_memory"), [((96, 128), 1), ((12, 16), 12)])
def test_of_a_large_image_only_the_windows_of_a_row_are_in_memory(size, rows_in_memory):
    rng, (height, width) = np.random.default_rng(15), size
    nodes = [node("Conv", "x,w", pads=[1, 1, 1, 1])]
    w, x = data_of(rng, (4, 6, 3, 3), (1, 6, height, width))
    fn = agrees(model(nodes, [f"x: f32[1, 6, {height}, {width}]"], constants={"w": w}), (x,), **CLOSE)
    windows = 4 * 6 * 9 * width * rows_in_memory
    products = 4 * 4 * height * width  # in another order of axes than the result, where they are made row by row
    room = 4 * 6 * (3 if rows_in_memory == 1 else height + 2) * (width + 2)
    assert fn.compilation.program.plan(None)["peak"] <= windows + products + room + 256  # each 64-byte aligned


def test_images_of_frames_go_by_their_own_rows():
    """A network of videos that is given single images, [batch, channels, 1, height, width]."""
    rng, height, width = np.random.default_rng(16), 96, 128
    nodes = [node("Conv", "x,w", pads=[0, 1, 1, 0, 1, 1])]
    w, x = data_of(rng, (4, 6, 1, 3, 3), (1, 6, 1, height, width))
    fn = agrees(model(nodes, [f"x: f32[1, 6, 1, {height}, {width}]"], constants={"w": w}), (x,), **CLOSE)
    windows, products, room = 4 * 6 * 9 * width, 4 * 4 * height * width, 4 * 6 * 3 * (width + 2)
    assert fn.compilation.program.plan(None)["peak"] <= windows + products + room + 256  # each 64-byte aligned


@pytest.mark.parametrize("height, width, kernel", [(22, 256, 16), (1, 600, 5), (96, 96, 3)])
def test_kernels_of_one_row_go_by_rows_that_lie_side_by_side(height, width, kernel):
    """Not by the columns of what they read, whose elements lie apart."""
    rng = np.random.default_rng(17)
    w, x = data_of(rng, (4, 6, 1, kernel), (1, 6, height, width))
    fn = agrees(model([node("Conv", "x,w")], [f"x: f32[1, 6, {height}, {width}]"], constants={"w": w}), (x,), **CLOSE)
    places = height * (width - kernel + 1)
    windows, products = 4 * 6 * kernel * (width - kernel + 1), 4 * 4 * places
    assert fn.compilation.program.plan(None)["peak"] <= windows + products + 256  # each 64-byte aligned


def test_a_kernel_of_one_place_copies_nothing():
    rng = np.random.default_rng(12)
    nodes = [node("Conv", "x,w", "c"), node("Relu", "c")]
    network = model(nodes, X[2], constants={"w": data_of(rng, (8, 6, 1, 1))[0]})
    fn = agrees(network, *calls_of(rng, *SHAPES[2]), **CLOSE)
    told = inlay.explain(fn)
    assert len(told.library_calls) == 1 and len(told.kernels) == 1 and not told.copies


def test_windows_that_are_not_stored():
    """What the first pool makes is stored, then the sums of the second convolution, and nothing else."""
    rng = np.random.default_rng(14)
    nodes = [
        node("Conv", "x,v", "c"),
        node("Relu", "c", "r"),
        node("MaxPool", "r", "p", kernel_shape=[2, 2], strides=[2, 2]),
        node("Conv", "p,w"),
    ]
    v, w = data_of(rng, (4, 1, 3, 3), (5, 4, 3, 3))
    network = model(nodes, ["x: f32[1, 1, 28, 28]"], constants={"v": v, "w": w})
    fn = agrees(network, *calls_of(rng, (1, 1, 28, 28)), **CLOSE, windows=False)
    told = inlay.explain(fn)
    assert not told.library_calls and len(told.kernels) == 2
    assert told.arena_bytes == 4 * 4 * 13 * 13


def depthwise(x, w, **attributes):
    nodes = [node("Conv", "x,w", "c", group=x[1], **attributes), node("Relu", "c")]
    dims = ", ".join(map(str, x))
    return model(nodes, [f"x: f32[{dims}]"], constants={"w": w})


def test_depthwise_stores_no_windows():
    rng = np.random.default_rng(13)
    network = depthwise(["batch", 6, "height", "width"], data_of(rng, (6, 1, 3, 3))[0], pads=[1, 1, 1, 1])
    fn = agrees(network, *calls_of(rng, *SHAPES[2], (3, 6, 1, 1), (1, 6, 7, 7), (1, 6, 2, 30)), **CLOSE)
    told = inlay.explain(fn)
    assert not told.library_calls and len(told.kernels) == 1
    assert len(told.stored) == 1  # a channel with its padding


@pytest.mark.parametrize(("attributes", "lines"), [({}, [11 * 7]), ({"strides": [2, 2]}, [6 * 4, 5 * 4, 5 * 4, 4 * 4])])
def test_of_short_rows_depthwise_is_one_loop_over_each_image(attributes, lines):
    rng = np.random.default_rng(19)
    network = depthwise([1, 64, 7, 7], data_of(rng, (64, 1, 3, 3))[0], pads=[1] * 4, **attributes)
    told = inlay.explain(agrees(network, *calls_of(rng, (1, 64, 7, 7)), **CLOSE))
    stored = {value.bytes for value in told.stored}
    assert {str(4 * 64 * line) for line in lines} <= {str(size) for size in stored}, stored
    assert not told.library_calls


def test_a_tap_beside_a_row_is_no_element_of_the_next():
    x = np.ones((1, 2, 6, 5), np.float32)
    x[0, :, ::2, 0], x[0, :, 1::2, -1] = np.inf, np.nan
    for attributes in ({}, {"strides": [2, 2]}, {"dilations": [2, 2]}):
        network = depthwise(["batch", 2, "height", "width"], np.ones((2, 1, 3, 3), np.float32), pads=[1] * 4, **attributes)
        agrees(network, (x,))
        agrees(network, (x,), fixed={"batch": 1, "height": 6, "width": 5})


@pytest.mark.parametrize(("size", "kernel"), [(14, 3), (7, 5), (9, 4), (4, 5), (1, 3), (2, 7)])
@pytest.mark.parametrize("strides", [[1, 1], [2, 2], [2, 1], [3, 2]])
def test_depthwise_of_known_sizes(size, kernel, strides):
    rng = np.random.default_rng(17)
    before, behind = (kernel - 1) // 2, kernel // 2
    x, w = data_of(rng, (2, 6, size, size), (12, 1, kernel, kernel))
    nodes = [node("Conv", "x,w", group=6, strides=strides, pads=[before, before, behind, behind])]
    agrees(model(nodes, [f"x: f32[2, 6, {size}, {size}]"], constants={"w": w}), (x,), **CLOSE)


def test_a_window_longer_than_the_data_is_refused():
    nodes = [node("MaxPool", "x", kernel_shape=[5, 5])]
    fn = inlay.onnx.compile(model(nodes, X[2]))
    with pytest.raises(IndexError, match="a window reaches over 5 places of axis 0, which has 4"):
        fn(np.zeros((1, 6, 4, 9), np.float32))
