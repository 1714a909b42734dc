"""Files that lie: each is refused in a sentence, without a crash and without memory."""

import resource

import inlay.onnx
import numpy as np
import pytest
from inlay.errors import InlayError

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
from onnx_nodes import f32, field, model, node  # noqa: E402

HUGE = 2**62


def refusal(network):
    data = network if isinstance(network, bytes) else network.SerializeToString()
    with pytest.raises(InlayError) as refused:
        inlay.onnx.compile(data)
    return str(refused.value)


def without_outputs(op, inputs="x"):
    made = node(op, inputs)
    made.ClearField("output")
    return made


@pytest.mark.parametrize("op", ["Identity", "Split", "Relu", "MaxPool", "Constant"])
def test_nodes_without_outputs(op):
    network = model([without_outputs(op), node("Relu", "x")], ["x: f32[n]"])
    assert f"{op}: it has no outputs" in refusal(network)


RANKS = [
    (node("LinearAttention", "x,y3,y3", q_num_heads=1, kv_num_heads=1, update_rule="linear"), "x: f32[n]", 27, "3 axes"),
    (node("SoftmaxCrossEntropyLoss", "x,i"), "x: f32[n]", 13, "no axis of classes: it is %x"),
    (node("SoftmaxCrossEntropyLoss", "y3,x"), "x: i64[4]", 13, "classes of 1 axis for an input of 3"),
    (node("NegativeLogLikelihoodLoss", "x,i"), "x: f32[n]", 13, "no axis of classes: it is %x"),
    (node("RoiAlign", "x,r,i"), "x: f32[n, 2]", 16, "input 0 is to have 4 axes, and is %x"),
    (node("RoiAlign", "y4,x,i"), "x: f32[n]", 16, "input 1 is to have 2 axes, and is %x"),
    (node("QLinearConv", "x,f,u,w,f,u,f,u"), "x: u8[n]", 10, "its data has 1 axes"),
    (node("AffineGrid", "x,size"), "x: f32", 20, "input 0 is to have 3 axes, and is %x"),
    (node("Col2Im", "x,two,two"), "x: f32[n]", 18, "input 0 is to have 3 axes, and is %x"),
    (node("MaxUnpool", "x,i", kernel_shape=[2]), "x: f32[n]", 11, "no place for a window"),
    (node("RotaryEmbedding", "x,y3,y3"), "x: f32[n, 4]", 23, "an input has fewer axes"),
]


@pytest.mark.parametrize(("made", "x", "opset", "words"), RANKS, ids=lambda value: getattr(value, "op_type", None))
def test_inputs_of_a_wrong_rank(made, x, opset, words):
    constants = {
        "y3": np.zeros((2, 3, 4), "f4"), "y4": np.zeros((1, 2, 5, 5), "f4"), "i": np.zeros(3, "i8"), "r": np.zeros((3, 4), "f4"),
        "f": np.float32(1), "u": np.uint8(0), "w": np.zeros((1, 1, 1, 1), "u1"), "size": np.array([1, 1, 2, 2]),
        "two": np.array([2, 2]),
    }  # fmt: skip
    assert words in refusal(model([made], [x], constants=constants, opset=opset))


WINDOWS = [
    (node("MaxPool", "x", kernel_shape=[0]), "a window of 0 places along axis 0"),
    (node("AveragePool", "x", kernel_shape=[-HUGE]), f"a window of {-HUGE} places along axis 0"),
    (node("Conv", "x,none"), "a window of 0 places along axis 0"),
    (node("ConvTranspose", "x,none"), "a kernel of 0 places"),
    (node("ConvTranspose", "x,w", strides=[2**31 - 1]), "a kernel of 3 places at a stride of 2147483647"),
    (node("Col2Im", "x,far,far"), "a kernel of 1099511627776 places at a stride of 1"),
]


@pytest.mark.parametrize(("made", "words"), WINDOWS, ids=lambda value: getattr(value, "op_type", None))
def test_windows_that_no_memory_has(made, words):
    constants = {"none": np.zeros((2, 2, 0), "f4"), "w": np.zeros((2, 2, 3), "f4"), "far": np.array([2**40])}
    assert words in refusal(model([made], ["x: f32[1, 2, n]"], constants=constants, opset=18))


def test_windows_of_one_place_over_sizes_of_a_call():
    fn = inlay.onnx.compile(model([node("MaxPool", "x", kernel_shape=[1, 1])], ["x: f32[b, 1, h, w]"]))
    for dims in ((2, 1, 3, 4), (1, 1, 0, 5)):
        np.testing.assert_array_equal(fn(np.ones(dims, "f4")), np.ones(dims, "f4"))


def test_a_list_of_parts_without_end():
    parts = node("SplitToSequence", "x", "s")
    assert "4611686018427387904 parts, more than 4096" in refusal(
        model([parts, node("SequenceLength", "s")], [f"x: f32[{HUGE}]"])
    )


@pytest.mark.parametrize("op", ["Reshape", "Expand", "Tile", "Pad"])
def test_a_vector_of_sizes_takes_no_memory(op):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    words = refusal(model([node(op, "x,s")], ["x: f32[n]", f"s: i64[{HUGE}]"]))
    assert f"input 1 has {HUGE} numbers where sizes are expected, more than 4096" in words
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000  # in KiB


def test_an_attribute_of_another_kind():
    network = model([node("Softmax", "x", axis=1.0)], ["x: f32[n, 3]"])
    assert "Softmax: `axis` is to be an integer, and is a float" in refusal(network)
    network.graph.node[0].attribute[0].ClearField("type")  # as files before its version 2 are
    network.graph.node[0].attribute[0].i = 1
    assert inlay.onnx.compile(network)(np.ones((2, 3), "f4")).shape == (2, 3)


def test_a_constant_of_another_kind():
    for name, value, kind, words in [("value_float", 3, "INT", "a float, and is an integer"), ("value_int", 3.5, "FLOAT", "an integer, and is a float")]:
        made = node("Constant", "", "c")
        made.ClearField("input")
        made.attribute.append(onnx.AttributeProto(name=name, type=kind, **{"i" if kind == "INT" else "f": value}))
        assert f"Constant: `{name}` is to be {words}" in refusal(model([made, node("Identity", "c")], ["x: f32"]))


CONTRADICTIONS = [
    (node("Conv", "x,w", kernel_shape=[2, 2]), "axis 0 of kernel_shape is 2, and the weights have 3 places"),
    (node("Conv", "x,w", kernel_shape=[3]), "a kernel_shape of 1 axes for 2"),
    (node("ConvTranspose", "x,w", kernel_shape=[3, 1]), "axis 1 of kernel_shape is 1, and the weights have 3 places"),
    (node("OneHot", "i,depth,three"), "axis 0 of the values is to have 2 elements, and has 3"),
    (node("ScatterND", "x,i,row"), "axis 0 of the updates is to have 2 elements, and has 1"),
    (node("ScatterND", "x,i,three"), "the updates is to have 4 axes, and has 1"),
]


@pytest.mark.parametrize(("made", "words"), CONTRADICTIONS, ids=lambda value: getattr(value, "op_type", None))
def test_inputs_that_contradict_each_other(made, words):
    constants = {
        "w": np.zeros((1, 1, 3, 3), "f4"), "i": np.array([[0], [1]]), "depth": np.array(3), "three": np.zeros(3, "f4"),
        "row": np.zeros((1, 1, 5, 5), "f4"),
    }  # fmt: skip
    assert words in refusal(model([made], ["x: f32[4, 1, 5, 5]"], constants=constants, opset=18))


def test_two_values_of_one_name():
    twice = [node("Relu", "x"), node("Neg", "y")]
    for nodes in (twice, [node("Split", "x", "y,y", num_outputs=2)], [node("Relu", "x", "x"), node("Relu", "x")]):
        assert "two values of it are called" in refusal(model(nodes, ["x: f32[4]"]))
    assert "are called `w`" in refusal(model([node("Neg", "x", "w"), node("Relu", "w")], ["x: f32[4]"], constants={"w": np.zeros(4, "f4")}))


def test_an_input_of_more_axes_than_an_array_has():
    assert "the input `x` has 65 axes, more than 64" in refusal(model([node("Relu", "x")], [f"x: f32[{', '.join('n' * 65)}]"]))


def test_what_grows_from_weights_takes_no_memory_while_it_is_read():
    far = 2**40
    nodes = [node("Pad", "d,s", "p"), node("ReduceSum", "p", "t", keepdims=0), node("Add", "t,x")]
    network = model(nodes, ["x: f32"], constants={"d": np.ones(20, "f4"), "s": np.array([0, far])})
    assert inlay.onnx.compile(network).results == {"y": "f32"}
    nodes = [node("Expand", "d,s", "p"), node("Mul", "p,p", "q"), node("Gather", "q,i"), node("Add", "y,x", "z")]
    network = model(nodes, ["x: f32[20]"], constants={"d": np.ones((1, 20), "f4"), "s": np.array([far, 1]), "i": np.array(5)})
    np.testing.assert_array_equal(inlay.onnx.compile(network)(np.ones(20, "f4")), np.full(20, 2, "f4"))


def test_text_that_is_no_utf8():
    data = model([node("Relu", "x")], ["x: f32[n]"]).SerializeToString()
    for name in (b"\x01x", b"\x01n", b"\x01y", b"\x04Relu"):
        assert "a name in it is no UTF-8" in refusal(data.replace(name, name[:-1] + b"\xff"))
    assert r"`\xff` is no padding_mode" in refusal(
        model([node("GridSample", "x,g", padding_mode=b"\xff")], ["x: f32[1, 1, 4, 4]", "g: f32[1, 2, 2, 2]"])
    )


def test_a_bool_of_another_byte():
    shape = node("ConstantOfShape", "s", value=onnx.TensorProto(data_type=onnx.TensorProto.BOOL, dims=[1], raw_data=b"\x02"))
    fn = inlay.onnx.compile(model([shape], ["s: i64[1]"]))
    np.testing.assert_array_equal(fn(np.array([40])).view("u1"), np.ones(40, "u1"))


@pytest.mark.parametrize("pieces", [[40], [15, 25], [1] * 40, []])
def test_numbers_in_fields_of_any_number(pieces):
    numbers = f32(40)
    graph = model([node("Add", "x,w")], ["x: f32[40]"]).graph.SerializeToString()
    ends = np.cumsum([0, *pieces])
    fields = [field(4, numbers[a:b].tobytes()) for a, b in zip(ends[:-1], ends[1:], strict=True)]
    rest = b"".join(b"\x25" + x.tobytes() for x in numbers[ends[-1] :])  # one by one
    weight = field(8, b"w") + b"\x08\x28\x10\x01" + b"".join(fields) + rest
    fn = inlay.onnx.compile(b"\x08\x09" + field(7, graph + field(5, weight)) + field(8, b"\x10\x15"))
    np.testing.assert_array_equal(fn(np.zeros(40, "f4")), numbers)


@pytest.mark.parametrize(
    ("location", "words"),
    [("folder", "the tensor `w` lies in `folder`, which is no regular file"), ("a\0b", "the tensor `w` lies in a file whose name has a NUL in it")],
)  # fmt: skip
def test_a_weight_that_lies_in_no_file(location, words, tmp_path):
    (tmp_path / "folder").mkdir()
    network = model([node("Add", "x,w")], ["x: f32[4]"], constants={"w": np.zeros(4, "f4")})
    weight = network.graph.initializer[0]
    weight.ClearField("raw_data")
    weight.data_location = onnx.TensorProto.EXTERNAL
    entry = weight.external_data.add()
    entry.key, entry.value = "location", location
    (tmp_path / "net.onnx").write_bytes(network.SerializeToString())
    with pytest.raises(InlayError) as refused:
        inlay.onnx.compile(tmp_path / "net.onnx")
    assert words in str(refused.value)
