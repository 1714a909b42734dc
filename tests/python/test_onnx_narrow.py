"""Weights of elements of a byte or less: what onnx reads of them is what inlay computes with."""

import inlay.onnx
import numpy as np
import pytest
from inlay.errors import InlayError

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402

BITS = {
    "FLOAT8E4M3FN": 8, "FLOAT8E4M3FNUZ": 8, "FLOAT8E5M2": 8, "FLOAT8E5M2FNUZ": 8, "FLOAT8E8M0": 8,
    "UINT4": 4, "INT4": 4, "FLOAT4E2M1": 4, "UINT2": 2, "INT2": 2,
}  # fmt: skip
RNG = np.random.default_rng(4)


def weight(kind, shape, raw=None):
    """A tensor of random bits, or of these bytes."""
    count = int(np.prod(shape))
    size = (count * BITS[kind] + 7) // 8
    raw = RNG.integers(0, 256, size, dtype=np.uint8).tobytes() if raw is None else raw
    return TensorProto(name="w", data_type=getattr(TensorProto, kind), dims=shape, raw_data=raw)


def network(nodes, inputs, outputs, weights, opset=25):
    infos = [[helper.make_tensor_value_info(*one) for one in side] for side in (inputs, outputs)]
    return helper.make_model(helper.make_graph(nodes, "narrow", *infos, weights), opset_imports=[helper.make_opsetid("", opset)])


@pytest.mark.parametrize("kind", BITS)
def test_every_pattern_of_bits(kind):
    count = 256 if BITS[kind] == 8 else 255  # not as many as fill their bytes
    tensor = weight(kind, [count], bytes(range(256))[: (count * BITS[kind] + 7) // 8])
    model = network([helper.make_node("Cast", ["w"], ["y"], to=TensorProto.FLOAT)], [], [("y", TensorProto.FLOAT, [count])], [tensor])
    np.testing.assert_array_equal(inlay.onnx.compile(model)(), numpy_helper.to_array(tensor).astype(np.float32))


def test_numbers_that_are_no_raw_bytes():
    tensor = helper.make_tensor("w", TensorProto.INT4, [5], [-8, 7, -1, 0, 3])
    model = network([helper.make_node("Cast", ["w"], ["y"], to=TensorProto.INT32)], [], [("y", TensorProto.INT32, [5])], [tensor])
    assert inlay.onnx.compile(model)().tolist() == [-8, 7, -1, 0, 3]


@pytest.mark.parametrize("kind", ["INT4", "UINT4", "INT2", "FLOAT8E4M3FN", "FLOAT8E5M2"])
def test_weights_in_blocks(kind):
    """A product by weights that have a scale for each four rows: of a large matrix, and of one that is a literal."""
    for rows, columns in ((64, 24), (4, 3)):
        tensor = weight(kind, [rows, columns])
        if kind == "FLOAT8E5M2":  # no inf and no nan
            tensor.raw_data = bytes(b & 0xBF for b in tensor.raw_data)
        elif kind == "FLOAT8E4M3FN":
            tensor.raw_data = bytes(b & 0xF7 for b in tensor.raw_data)
        scales = numpy_helper.from_array(RNG.random((rows // 4, columns)).astype(np.float32), "scales")
        zeros = weight(kind, [rows // 4, columns])
        zeros.name = "zeros"
        given = ["w", "scales"] + ([] if kind.startswith("FLOAT") else ["zeros"])
        nodes = [
            helper.make_node("DequantizeLinear", given, ["full"], axis=0, block_size=4),
            helper.make_node("MatMul", ["x", "full"], ["y"]),
        ]
        sized = [("x", TensorProto.FLOAT, ["n", rows])], [("y", TensorProto.FLOAT, ["n", columns])]
        model = network(nodes, *sized, [tensor, scales, zeros])
        x = RNG.standard_normal((5, rows)).astype(np.float32)
        wanted = ReferenceEvaluator(model).run(None, {"x": x})[0]
        # A sum of 64 products in f32, of numbers up to the greatest weight.
        np.testing.assert_allclose(inlay.onnx.compile(model)(x), wanted, rtol=1e-5, atol=1e-6 * np.abs(wanted).max())


def test_what_is_refused():
    plain = [("x", TensorProto.FLOAT, [4])], [("y", TensorProto.FLOAT, [4])]
    scale = helper.make_tensor("scale", TensorProto.FLOAT, [], [0.5])

    def refused(model, match):
        with pytest.raises(InlayError, match=match):
            inlay.onnx.compile(model)

    zero = helper.make_tensor("w", TensorProto.INT4, [], [0])
    quantised = helper.make_node("QuantizeLinear", ["x", "scale", "w"], ["y"])
    refused(network([quantised], plain[0], [("y", TensorProto.INT4, [4])], [scale, zero]), "the constant `w` has elements of type int4")
    whole = weight("INT4", [4])
    refused(network([helper.make_node("Identity", ["w"], ["y"])], [], [("y", TensorProto.INT4, [4])], [whole]), "of type int4")
    refused(network([helper.make_node("Abs", ["x"], ["z"])], plain[0], [("w", TensorProto.INT4, [4])], [whole]), "of type int4")
    cast = [helper.make_node("Cast", ["w"], ["y"], to=TensorProto.FLOAT)]
    short = weight("UINT4", [5], b"\x00\x00")
    refused(network(cast, [], [("y", TensorProto.FLOAT, [5])], [short]), "has 2 bytes, not the 3 that its sizes and uint4 say")
    unread = helper.make_node("Identity", ["x"], ["y"])
    refused(network([unread], *plain, [short]), "has 2 bytes, not the 3")
    huge = weight("UINT4", [5], b"\x00\x00\x00")
    huge.dims[:] = [2**62, 2**62]
    refused(network(cast, [], [("y", TensorProto.FLOAT, None)], [huge]), "sizes of no memory")
