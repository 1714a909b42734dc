"""Networks of a few nodes, and what onnxruntime makes of them. Tests that import it are skipped where either package is
missing."""

import inlay.onnx
import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

RNG = np.random.default_rng(7)
TYPES = {
    "f32": TensorProto.FLOAT, "f16": TensorProto.FLOAT16, "f64": TensorProto.DOUBLE, "i64": TensorProto.INT64,
    "i32": TensorProto.INT32, "i16": TensorProto.INT16, "u16": TensorProto.UINT16, "i8": TensorProto.INT8,
    "u8": TensorProto.UINT8, "bool": TensorProto.BOOL,
}  # fmt: skip


def node(op, inputs, outputs="y", **attributes):
    """`inputs`, `outputs`: "x,,w" leaves out the second."""
    return helper.make_node(op, inputs.split(","), outputs.split(","), **attributes)


def model(nodes, inputs, num_outputs=1, constants=None, opset=21, domain=""):
    """`inputs`: "x: f32[n, 3]" each. The last node computes the outputs: its first `num_outputs`; None: all of them."""
    declared = []
    for text in inputs:
        name, kind = text.split(": ")
        dtype, _, dims = kind.rstrip("]").partition("[")
        sizes = [int(d) if d.isdigit() else d for d in dims.split(", ")] if dims else []
        declared.append(helper.make_tensor_value_info(name, TYPES[dtype], sizes))
    weights = [numpy_helper.from_array(np.asarray(v), k) for k, v in (constants or {}).items()]
    names = [name for name in nodes[-1].output if name][:num_outputs]
    outputs = [helper.make_empty_tensor_value_info(name) for name in names]
    graph = helper.make_graph(nodes, "g", declared, outputs, weights)
    opsets = [helper.make_opsetid("", opset)] + ([helper.make_opsetid(domain, 1)] if domain else [])
    return helper.make_model(graph, opset_imports=opsets, ir_version=10)


def network(op, inputs, outputs="y", opset=18, constants=None, domain="", **attributes):
    """Of one node, which takes the inputs, and after them the constants."""
    constants = constants or {}
    names = [text.split(": ")[0] for text in inputs] + list(constants)
    made = node(op, ",".join(names), outputs, domain=domain, **attributes)
    return model([made], inputs, None, constants, opset, domain)


def field(number, content):
    """Bytes of a message's field that are bytes or a message: what the package `onnx` does not write."""
    length, size = len(content), b""
    while length > 127:
        size, length = size + bytes([length & 127 | 128]), length >> 7
    tag = number << 3 | 2
    tag = bytes([tag]) if tag < 128 else bytes([tag & 127 | 128, tag >> 7])
    return tag + size + bytes([length]) + content


def results_of(fn, call):
    """`call`: arguments, in their order or by name."""
    found = fn(**call) if isinstance(call, dict) else fn(*call)
    return found if isinstance(found, tuple) else (found,)


def agrees(network, *calls, rtol=1e-5, atol=1e-6, **choices):
    """Compiles once, with the choices, compares each call with onnxruntime, and returns the function."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(network.SerializeToString(), options, providers=["CPUExecutionProvider"])
    fn = inlay.onnx.compile(network, **choices)
    names = [i.name for i in session.get_inputs()]
    for call in calls:
        arguments = call if isinstance(call, dict) else dict(zip(names, map(np.asarray, call), strict=True))
        for have, want in zip(results_of(fn, arguments), session.run(None, arguments), strict=True):
            assert have.dtype == want.dtype and have.shape == want.shape
            if have.dtype.kind == "f":
                np.testing.assert_allclose(have, want, rtol=rtol, atol=atol)
            else:
                np.testing.assert_array_equal(have, want)
    return fn


def f32(*dims):
    return RNG.standard_normal(dims).astype(np.float32)


def i64(*dims, low=0, high=3):
    return RNG.integers(low, high, dims).astype(np.int64)
