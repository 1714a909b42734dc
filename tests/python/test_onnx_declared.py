"""What a file says beside what its nodes compute: types and sizes of results, attributes, inputs; and sizes that grow."""

import os
import subprocess
import sys
import time
from pathlib import Path

import inlay.onnx
import numpy as np
import pytest
from inlay.errors import InlayError

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
from onnx import TensorProto, helper  # noqa: E402
from onnx_nodes import agrees, f32, model, node  # noqa: E402

TOOL = Path(os.environ.get("INLAY_TOOL", Path(__file__).parents[2] / "build" / "release" / "bin" / "inlay"))


def refusal(network):
    with pytest.raises(InlayError) as refused:
        inlay.onnx.compile(network)
    return str(refused.value)


@pytest.mark.parametrize(
    ("dtype", "dims", "words"),
    [
        (TensorProto.INT64, [3], "the output `y` has elements of type int64, and by node `y`, Relu, it has those of type float32"),
        (TensorProto.FLOAT, [3, 1], "the output `y` has 2 axes, and by node `y`, Relu, it has 1"),
        (TensorProto.FLOAT, [7], "the output `y` has 7 elements along axis 0, and by node `y`, Relu, it has 3"),
    ],
)
def test_an_output_that_is_said_to_be_another(dtype, dims, words):
    network = model([node("Relu", "x")], ["x: f32[3]"])
    network.graph.output[0].CopyFrom(helper.make_tensor_value_info("y", dtype, dims))
    assert words in refusal(network)


def test_a_value_that_is_said_to_be_another():
    network = model([node("Relu", "x", "z"), node("Neg", "z")], ["x: f32[3]"])
    for said, words in (((TensorProto.INT64, None), "the value `z` has elements of type int64"), ((TensorProto.FLOAT, [3, 3]), "the value `z` has 2 axes")):  # fmt: skip
        del network.graph.value_info[:]
        network.graph.value_info.append(helper.make_tensor_value_info("z", *said))
        assert words in refusal(network)


@pytest.mark.parametrize("dims", [None, ["n"], [3], ["anything"]])
def test_an_output_that_is_said_to_be_what_it_is(dims):
    network = model([node("Relu", "x")], ["x: f32[n]" if dims == [3] else "x: f32[3]"])
    network.graph.output[0].CopyFrom(helper.make_tensor_value_info("y", TensorProto.FLOAT, dims))
    agrees(network, [f32(3)])


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (node("Relu", "x", nonsense=3), "Relu: in version 18 of the operator set it has no attribute `nonsense`"),
        (node("Softmax", "x", axes=0), "no attribute `axes`"),
        (node("ReduceSum", "x", axes=[0]), "no attribute `axes`"),
        (node("Relu", "x,x,x"), "Relu: it has 3 inputs, more than 1"),
    ],
)
def test_what_an_op_does_not_have(made, words):
    text = refusal(model([made], ["x: f32[2, 3]"], opset=18))
    assert words in text and "node `y`" in text


def test_notes_of_those_that_write_files():
    agrees(model([node("Relu", "x", __note="by hand")], ["x: f32[3]"]), [f32(3)])


def test_fixed_sizes_are_not_those_of_the_file():
    network = model([node("Relu", "x")], ["x: f32[n, 3]"])
    network.graph.output[0].CopyFrom(helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 3]))
    assert inlay.onnx.compile(network, fixed={"n": 4})(f32(4, 3)).shape == (4, 3)


def test_what_an_op_had_before():
    agrees(model([node("ReduceSum", "x", axes=[0])], ["x: f32[2, 3]"], opset=11), [f32(2, 3)])
    agrees(model([node("Clip", "x,,")], ["x: f32[n]"], opset=13), [f32(3)])


def test_the_table_of_attributes_is_that_of_the_schemas():
    sys.path.insert(0, str(Path(__file__).parents[2] / "tools" / "docs"))
    try:
        import onnx_signatures
    finally:
        sys.path.pop(0)
    assert onnx_signatures.TABLE.read_text() == onnx_signatures.signatures(onnx_signatures.names())


def test_a_size_beyond_64_bits_names_the_node():
    constants = {"pads": np.array([2**62, 2**62])}
    assert "node `y`" in refusal(model([node("Pad", "x,pads")], ["x: f32[4]"], constants=constants, opset=18))


SLICES = {
    "x[1:]": ([1], [2**63 - 1]), "x[:-1]": ([0], [-1]), "x[1:-1]": ([1], [-1]), "x[2:-1]": ([2], [-1]), "x[-40:-1]": ([-40], [-1]),
}  # fmt: skip


def chain(links, start, end):
    names = ["x"] + [f"v{i}" for i in range(links)]
    nodes = [node("Slice", f"{a},start,end", b) for a, b in zip(names[:-1], names[1:], strict=True)]
    constants = {"start": np.array(start), "end": np.array(end)}
    return model([*nodes, node("Relu", names[-1])], ["x: f32[n]"], constants=constants, opset=18)


@pytest.mark.parametrize("which", SLICES)
def test_slices_of_slices(which):
    for links in (1, 2, 5):
        agrees(chain(links, *SLICES[which]), *([f32(size)] for size in (0, 1, 2, 3, 4, 7, 16, 50)))


@pytest.mark.parametrize("which", SLICES)
def test_a_long_chain_of_slices_compiles_at_once(which):
    began = time.process_time()
    fn = inlay.onnx.compile(chain(60, *SLICES[which]))
    assert time.process_time() - began < 5  # it was to double with each link
    assert fn(np.ones(300, "f4")).ndim == 1


def test_sizes_that_grow_are_found_when_the_network_runs():
    names = ["s"] + [f"v{i}" for i in range(40)]
    nodes = [node("Shape", "x", "s"), *(node("Mul", f"{a},{a}", b) for a, b in zip(names[:-1], names[1:], strict=True))]
    network = model([*nodes, node("Expand", f"c,{names[-1]}")], ["x: f32[n]"], constants={"c": np.float32([2])}, opset=18)
    agrees(network, [f32(1)], [f32(0)])


def test_sizes_that_a_chain_of_nodes_makes_stay_short():
    names = [f"x{i}" for i in range(300)]
    network = model([node("Concat", ",".join(names), "z", axis=0), node("Relu", "z")], [f"{x}: f32[n{x}]" for x in names])
    assert inlay.onnx.compile(network)(*[np.ones(i % 3, "f4") for i in range(300)]).shape == (300,)


def test_many_sizes_that_may_stretch_are_refused():
    names = [f"x{i}" for i in range(40)]
    text = refusal(model([node("Sum", ",".join(names))], [f"{x}: f32[n{x}]" for x in names]))
    assert "more than 16 sizes meet along one axis" in text and "node `y`" in text


def test_a_long_equation_is_not_quoted():
    text = refusal(model([node("Einsum", "x", equation="i" * 100000)], ["x: f32[n]"]))
    assert "100000 letters" in text and len(text) < 400


def test_a_domain_that_is_not_imported():
    network = model([helper.make_node("Relu", ["x"], ["y"], domain="weird")], ["x: f32[n]"])
    assert "weird.Relu (node `y`; of its domain it imports no version)" in refusal(network)


def test_a_network_by_another_name(tmp_path):
    network = model([node("Relu", "x")], ["x: f32[n]"]).SerializeToString()
    (tmp_path / "net.pb").write_bytes(network)
    shown = subprocess.run([TOOL, "opt", tmp_path / "net.pb"], capture_output=True, text=True)
    assert shown.returncode == 0 and "%x: f32[n]" in shown.stdout
    piped = subprocess.run([TOOL, "opt", "/dev/stdin"], input=network, capture_output=True)
    assert b"/dev/stdin holds a network, which is read from a file alone" in piped.stderr
