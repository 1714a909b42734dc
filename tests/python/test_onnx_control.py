"""If, Loop, Scan, recurrent nodes, sequences and functions of ONNX networks, beside onnxruntime, at symbolic sizes."""

import itertools

import inlay
import inlay.onnx
import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")
from onnx import helper, numpy_helper  # noqa: E402
from onnx_nodes import field  # noqa: E402

TYPES = {"f32": onnx.TensorProto.FLOAT, "i64": onnx.TensorProto.INT64, "i32": onnx.TensorProto.INT32,
         "bool": onnx.TensorProto.BOOL}  # fmt: skip
RNG = np.random.default_rng(3)


def node(op, inputs="", outputs="y", **attributes):
    """`inputs`, `outputs`: names with commas between them."""
    return helper.make_node(op, inputs.split(",") if inputs else [], outputs.split(","), **attributes)


def value(text):
    """ "x: f32[n, 3]" as an input; "x" says nothing of its type."""
    name, _, kind = text.partition(": ")
    if not kind:
        return helper.make_empty_tensor_value_info(name)
    dtype, _, dims = kind.partition("[")
    sizes = [int(d) if d.isdigit() else d for d in dims.rstrip("]").split(", ") if d]
    return helper.make_tensor_value_info(name, TYPES[dtype], sizes)


def body(nodes, inputs, outputs, **constants):
    return helper.make_graph(nodes, "body", [value(i) for i in inputs], [value(o) for o in outputs], tensors(constants))


def tensors(constants):
    return [numpy_helper.from_array(np.asarray(array), name) for name, array in constants.items()]


def model(nodes, inputs, outputs="y", opset=17, functions=(), **constants):
    results = [helper.make_empty_tensor_value_info(name) for name in outputs.split(",")]
    graph = helper.make_graph(nodes, "net", [value(i) for i in inputs], results, tensors(constants))
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("own", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9, functions=list(functions))


def f32(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def agrees(network, calls, fixed=None):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(network.SerializeToString(), options, providers=["CPUExecutionProvider"])
    fn = inlay.onnx.compile(network, fixed=fixed)
    for call in calls:
        call = {name: np.asarray(array) for name, array in call.items()}
        found = fn(**{name: array for name, array in call.items() if name not in (fixed or {})})
        for got, wanted in zip(found if isinstance(found, tuple) else [found], session.run(None, call), strict=True):
            assert got.dtype == wanted.dtype
            if got.size or wanted.size:  # of a loop of no steps onnxruntime knows no shapes
                assert got.shape == wanted.shape
                np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-5)
    return fn


def refused(network, match, error=NotImplementedError, **options):
    with pytest.raises(error, match=match):
        inlay.onnx.compile(network, **options)


# --- If


def branches(then, otherwise):
    return {"then_branch": body(*then), "else_branch": body(*otherwise)}


def test_a_condition_that_is_found_computes_one_branch():
    inner = node("If", "d", "a", **branches(([node("Mul", "x,z", "p")], [], ["p"]), ([node("Neg", "w", "q")], [], ["q"])))
    network = model(
        [node("Relu", "x0", "x"), node("If", "c", **branches(([inner], [], ["a"]), ([node("Add", "x,v", "b")], [], ["b"])))],
        ["c: bool", "d: bool[1]", "x0: f32[n, 40]", "z: f32[n, 40]", "v: f32[n, 40]", "w: f32[n, 40]"],
    )
    agrees(network, [{"c": c, "d": [d]} | {name: f32(n, 40) for name in ("x0", "z", "v", "w")}
                     for c, d, n in itertools.product([True, False], [True, False], [1, 3])])  # fmt: skip


def test_a_branch_has_weights_of_its_own():
    weights = f32(40)
    then = helper.make_graph([node("Mul", "x,own", "a")], "then", [], [value("a")], tensors({"own": weights}))
    otherwise = body([node("Identity", "x", "b")], [], ["b"])
    network = model([node("If", "c", then_branch=then, else_branch=otherwise)], ["c: bool", "x: f32[n, 40]"])
    agrees(network, [{"c": c, "x": f32(2, 40)} for c in (True, False)])


def test_a_condition_on_shapes_is_known():
    nodes = [
        node("Shape", "x", "s"), node("Size", "s", "rank"), node("Equal", "rank,two", "c"),
        node("If", "c", **branches(([node("Transpose", "x", "a")], [], ["a"]), ([node("Exp", "x", "b")], [], ["b"]))),
    ]  # fmt: skip
    fn = agrees(model(nodes, ["x: f32[n, m]"], two=np.int64(2)), [{"x": f32(4, 3)}])
    assert "cond" not in inlay.explain(fn).graph


TRANSPOSED_OR_NOT = branches(([node("Transpose", "x", "a")], [], ["a"]), ([node("Exp", "x", "b")], [], ["b"]))
TOTAL_OR_ALL = branches(([node("ReduceSum", "x", "a", keepdims=0)], [], ["a"]), ([node("Exp", "x", "b")], [], ["b"]))


def test_sizes_of_a_result_hang_on_the_branch():
    calls = [{"c": c, "x": f32(n, 3)} for c, n in itertools.product([True, False], [4, 1, 0])]
    agrees(model([node("If", "c", **TRANSPOSED_OR_NOT)], ["c: bool", "x: f32[n, 3]"]), calls)
    cut = [node("Slice", "x,zero,two", "a")], [], ["a"]
    either = branches(cut, ([node("Exp", "z", "b")], [], ["b"]))
    nodes = [node("If", "c", "u", **either), node("Exp", "u", "e"), node("MatMul", "e,w")]
    network = model(nodes, ["c: bool", "x: f32[n, 3]", "z: f32[2, 3]"], zero=np.array([0]), two=np.array([2]), w=f32(3, 5))
    agrees(network, [call | {"z": f32(2, 3)} for call in calls])


def test_sizes_of_a_result_hang_on_what_a_branch_finds():
    found = [node("NonZero", "x", "places"), node("Cast", "places", "a", to=1)], [], ["a"]
    inner = node("If", "d", "b", **TRANSPOSED_OR_NOT)
    network = model([node("If", "c", **branches(found, ([inner], [], ["b"])))], ["c: bool", "d: bool", "x: f32[n, 3]"])
    agrees(network, [{"c": c, "d": d, "x": np.maximum(f32(n, 3), 0)}
                     for c, d, n in itertools.product([True, False], [True, False], [4, 1, 0])])  # fmt: skip


def test_a_size_that_hangs_on_what_a_branch_draws():
    """The branch is read twice, for its sizes and for what it returns, and draws the same in both."""
    drawn = [node("RandomUniform", "", "r", shape=[50]), node("Greater", "r,half", "t"), node("NonZero", "t", "a")], [], ["a"]
    network = model([node("If", "c", **branches(drawn, ([node("Shape", "x", "s"), node("Unsqueeze", "s,zero", "b")], [], ["b"])))],
                    ["c: bool", "x: f32[n, 3]"], half=np.float32(0.5), zero=np.array([0]))  # fmt: skip
    fn = inlay.onnx.compile(network)
    places = [fn(c=True, x=f32(2, 3), seed=np.uint64(seed)) for seed in range(6)]
    assert len({found.shape for found in places}) > 1 and all(10 < found.shape[1] < 40 for found in places)
    np.testing.assert_array_equal(fn(c=False, x=f32(2, 3), seed=np.uint64(0)), [[2, 3]])


def test_branches_of_two_ranks_want_the_condition():
    network = model([node("If", "c", **TOTAL_OR_ALL)], ["c: bool", "x: f32[n, 3]"])
    refused(network, r"f32 or f32\[n, 3\].* the input `c`, to be fixed")
    for c in (True, False):
        agrees(network, [{"c": c, "x": f32(4, 3)}], fixed={"c": np.array(c)})


def test_a_condition_within_a_branch_is_asked_of_the_input():
    outer = branches(([node("If", "d", "p", **TOTAL_OR_ALL)], [], ["p"]), ([node("Neg", "x", "q")], [], ["q"]))
    refused(model([node("If", "c", **outer)], ["c: bool", "d: bool", "x: f32[n, 3]"]), "the input `d`, to be fixed")


def test_a_condition_on_one_size_wants_no_other_one():
    nodes = [node("Shape", "x", "s"), node("Gather", "s,one", "m"), node("Equal", "m,one", "c"), node("If", "c", **TOTAL_OR_ALL)]
    network = model(nodes, ["x: f32[n, m]"], one=np.int64(1))
    refused(network, "hangs on the size `m`, to be fixed")
    for m in (1, 3):
        agrees(network, [{"x": f32(n, m)} for n in (1, 4)], fixed={"m": m})


def test_a_branch_that_cannot_be_made_wants_the_condition():
    """As of a network for two rates, whose sizes are fixed to those of one of them."""
    long = [node("MatMul", "x,w", "a")], [], ["a"]
    short = [node("MatMul", "x,v", "b")], [], ["b"]
    inner = [node("Equal", "rate,one", "c"), node("If", "c", **branches(long, short))]
    network = model(inner, ["rate: i64[]", "x: f32[n, m]"], one=np.int64(1), w=f32(6, 4), v=f32(3, 4))
    refused(network, r"one cannot be made: .* at node `b`\) .* hangs on the input `rate`, to be fixed", fixed={"m": 6})
    agrees(network, [{"rate": np.int64(1), "x": f32(2, 6)}], fixed={"m": 6, "rate": 1})
    agrees(network, [{"rate": np.int64(r), "x": f32(2, m)} for r, m in ((1, 6), (8, 3))])


# --- Loop


def first_below(limit="limit"):
    """The first element of v2, as the condition of a loop."""
    return [node("Constant", "", "zero", value_ints=[0]), node("Constant", "", "one", value_ints=[1]),
            node("Slice", "v2,zero,one", "head"), node("Squeeze", "head", "h"), node("Less", f"h,{limit}", "go")]  # fmt: skip


def summing():
    nodes = [node("Add", "v,x", "v2"), *first_below(), node("Cast", "i", "f", to=1), node("Add", "v2,f", "row")]
    return body(nodes, ["i: i64", "c: bool", "v"], ["go: bool", "v2", "row"])


@pytest.mark.parametrize("inputs", ["m,c0,x", "m,,x", ",c0,x", "most,c0,x", "few,c0,x"])
def test_a_loop_ends_by_its_condition(inputs):
    given = [i for i in ("m: i64", "c0: bool") if i[: i.index(":")] in inputs.split(",")]
    constants = {"most": np.int64(2**63 - 1), "few": np.int64(3)}
    constants = {name: number for name, number in constants.items() if name in inputs}
    network = model([node("Loop", inputs, "y,rows", body=summing())], [*given, "x: f32[n]", "limit: f32"], "y,rows", **constants)
    calls = [{"m": np.int64(m), "c0": c, "x": np.abs(f32(n)) + 0.1, "limit": np.float32(limit)}
             for m, c, n, limit in itertools.product([0, 2, 9], [True, False], [1, 3], [0, 1.5, 2])]  # fmt: skip
    names = {i.name for i in network.graph.input}
    agrees(network, [{name: array for name, array in call.items() if name in names} for call in calls])


def test_a_loop_over_all_rows_of_an_input():
    step = body(
        [node("Unsqueeze", "i,zero", "i1"), node("Add", "i1,one", "i2"), node("Slice", "x,i1,i2,zero", "r"),
         node("Reshape", "r,three", "r1"), node("Add", "v,r1", "v2"), node("Neg", "v2", "row"), node("Identity", "c", "go")],
        ["i: i64", "c: bool", "v"], ["go: bool", "v2", "row"],
    )  # fmt: skip
    nodes = [node("Shape", "x", "s", start=0, end=1), node("Squeeze", "s", "n"), node("Loop", "n,,z", "y,rows", body=step)]
    network = model(nodes, ["x: f32[n, 3]", "z: f32[3]"], "y,rows", zero=np.array([0]), one=np.array([1]), three=np.array([3]))
    fn = agrees(network, [{"x": f32(n, 3), "z": f32(3)} for n in (1, 4, 0, 7)])
    assert "while" not in inlay.explain(fn).graph  # its condition is known, so nothing counts its steps


def test_a_loop_within_a_loop_reads_what_is_outside_of_both():
    inner = body([node("Mul", "u,x", "u1"), node("Add", "u1,v", "u2"), node("Identity", "cc", "g2")],
                 ["j: i64", "cc: bool", "u"], ["g2: bool", "u2"])  # fmt: skip
    outer = body([node("Loop", "k,,v", "v2", body=inner), node("Identity", "c", "go")],
                 ["i: i64", "c: bool", "v"], ["go: bool", "v2"])  # fmt: skip
    network = model([node("Loop", "m,,v0", body=outer)], ["m: i64", "k: i64", "x: f32[n]", "v0: f32[n]"])
    agrees(network, [{"m": np.int64(m), "k": np.int64(k), "x": f32(n) / 3, "v0": f32(n)}
                     for m, k, n in itertools.product([0, 1, 3], [0, 2], [2, 5])])  # fmt: skip


def test_what_grows_is_carried_by_a_loop_of_known_length():
    nodes = [node("Concat", "v,x", "v2", axis=0), node("Identity", "c", "go")]
    step = body(nodes, ["i: i64", "c: bool", "v"], ["go: bool", "v2"])
    known = model([node("Loop", "three,,x", body=step)], ["x: f32[n, 3]"], three=np.int64(3))
    agrees(known, [{"x": f32(n, 3)} for n in (1, 4)])
    network = model([node("Loop", "m,,x", body=step)], ["m: i64", "x: f32[n, 3]"])
    refused(network, r"`v2` begins as f32\[n, 3\] and is f32\[2\*n, 3\] after a step.* the input `m`, to be fixed")
    agrees(network, [{"m": np.int64(2), "x": f32(4, 3)}], fixed={"m": np.int64(2)})


def test_a_carried_size_that_may_be_the_same_is_checked():
    step = body([node("Identity", "x", "v2"), node("Identity", "c", "go")], ["i: i64", "c: bool", "v"], ["go: bool", "v2"])
    network = model([node("Loop", "m,,v0", body=step)], ["m: i64", "x: f32[n]", "v0: f32[k]"])
    agrees(network, [{"m": np.int64(2), "x": f32(3), "v0": f32(3)}])
    with pytest.raises(inlay.errors.ShapeMismatch, match="axis 0 of `v2` is to have 4 elements, and has 3"):
        inlay.onnx.compile(network)(np.int64(2), f32(3), f32(4))


# --- Scan


@pytest.mark.parametrize("axes", [[0, 0], [1, -1]])
@pytest.mark.parametrize("backwards", [[0, 0], [0, 1]])
@pytest.mark.parametrize("out", [([0, 0], [0, 0]), ([1, -1], [1, 0])])
def test_scan(axes, backwards, out):
    step = body([node("Add", "s,a", "s2"), node("Mul", "s2,b", "p"), node("Add", "s2,w", "q")], ["s", "a", "b"], ["s2", "p", "q"])
    scan = node("Scan", "z,a,b", "y,p,q", body=step, num_scan_inputs=2, scan_input_axes=axes,
                scan_input_directions=backwards, scan_output_axes=out[0], scan_output_directions=out[1])  # fmt: skip
    sizes = ["t, k" if axis == 0 else "k, t" for axis in axes]
    network = model([scan], ["z: f32[k]", f"a: f32[{sizes[0]}]", f"b: f32[{sizes[1]}]", "w: f32[k]"], "y,p,q")
    shape = {0: lambda t: (t, 3), 1: lambda t: (3, t), -1: lambda t: (3, t)}
    agrees(network, [{"z": f32(3), "a": f32(*shape[axes[0]](t)), "b": f32(*shape[axes[1]](t)), "w": f32(3)} for t in (1, 4)])


def test_scan_of_version_8_goes_over_a_batch():
    step = body([node("Add", "s,a", "s2"), node("Mul", "s2,b", "p")], ["s", "a", "b"], ["s2", "p"])
    network = model([node("Scan", ",z,a,b", "y,p", body=step, num_scan_inputs=2, directions=[1, 0])],
                    ["z: f32[n, k]", "a: f32[n, t, k]", "b: f32[n, t, k]"], "y,p", opset=8)  # fmt: skip
    network.ir_version = 3
    agrees(network, [{"z": f32(2, 3), "a": f32(2, t, 3), "b": f32(2, t, 3)} for t in (1, 4)])


# --- Recurrent nodes

GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}


def recurrent(op, direction="forward", width=5, hidden=4, opset=17, without=(), batch_first=False, **attributes):
    """Of inputs of `width` numbers. `without`: optional inputs that are left out."""
    directions, gates = 2 if direction == "bidirectional" else 1, GATES[op]
    names = ["x", "w", "r", "b", "lengths", "h0", *(["c0", "p"] if op == "LSTM" else [])]
    shapes = {"w": (gates * hidden, width), "r": (gates * hidden, hidden), "b": (2 * gates * hidden,), "p": (3 * hidden,)}
    weights = {name: f32(directions, *shape) / 2 for name, shape in shapes.items() if name in names and name not in without}
    state = f"[n, {directions}, {hidden}]" if batch_first else f"[{directions}, n, {hidden}]"
    steps = f"[n, t, {width}]" if batch_first else f"[t, n, {width}]"
    sizes = {"x": f"f32{steps}", "lengths": "i32[n]", "h0": f"f32{state}", "c0": f"f32{state}"}
    outputs = "y,h,c" if op == "LSTM" else "y,h"
    given = ",".join("" if name in without else name for name in names)
    attributes |= {"layout": 1} if batch_first else {}
    return model([node(op, given, outputs, hidden_size=hidden, direction=direction, **attributes)],
                 [f"{name}: {kind}" for name, kind in sizes.items() if name in names and name not in without],
                 outputs, opset, **weights)  # fmt: skip


def call_of(network, t, n):
    out = {}
    for i in network.graph.input:
        dims = [d.dim_value or {"t": t, "n": n}[d.dim_param] for d in i.type.tensor_type.shape.dim]
        out[i.name] = RNG.integers(0, t + 1, dims).astype(np.int32) if i.name == "lengths" else f32(*dims)
    return out


@pytest.mark.parametrize("op", GATES)
@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
@pytest.mark.parametrize("without", [("p",), ("lengths", "h0", "c0", "p", "b")])
def test_recurrent(op, direction, without):
    network = recurrent(op, direction, without=without)
    agrees(network, [call_of(network, t, n) for t, n in [(5, 3), (1, 1), (7, 2)]])


@pytest.mark.parametrize(("op", "attributes"), [
    ("GRU", {"linear_before_reset": 1}),
    ("GRU", {"linear_before_reset": 1, "clip": 0.3}),
    ("GRU", {"activations": ["sigmoid", "Softsign"], "opset": 7}),
    ("LSTM", {"clip": 0.3}),
    ("LSTM", {"input_forget": 1}),
    ("LSTM", {"activations": ["HardSigmoid", "Affine", "LeakyRelu"], "activation_alpha": [0.3, 0.4, 0.05],
              "activation_beta": [0.1, 0.2]}),
    ("RNN", {"activations": ["Elu", "ScaledTanh"], "activation_alpha": [0.7, 0.4], "activation_beta": [0.5],
             "direction": "bidirectional"}),
    ("RNN", {"activations": ["Softplus"]}),
])  # fmt: skip
def test_cells(op, attributes):
    network = recurrent(op, **attributes)
    agrees(network, [call_of(network, t, n) for t, n in [(5, 3), (2, 1)]])


@pytest.mark.parametrize("op", GATES)
def test_the_batch_may_be_the_first_axis(op):
    second = recurrent(op, "bidirectional")
    first = recurrent(op, "bidirectional", batch_first=True)
    del first.graph.initializer[:]
    first.graph.initializer.extend(second.graph.initializer)
    call = call_of(first, 6, 3)
    turned = {name: x if x.ndim == 1 else np.ascontiguousarray(x.swapaxes(0, 1)) for name, x in call.items()}
    found, wanted = inlay.onnx.compile(first)(**call), inlay.onnx.compile(second)(**turned)
    np.testing.assert_allclose(found[0], wanted[0].transpose(2, 0, 1, 3), rtol=1e-6)
    for got, want in zip(found[1:], wanted[1:], strict=True):
        np.testing.assert_allclose(got, want.swapaxes(0, 1), rtol=1e-6)


def test_a_step_of_an_lstm_is_one_product_and_one_kernel():
    explained = inlay.explain(inlay.onnx.compile(recurrent("LSTM", width=64, hidden=64, without=("lengths", "p"))))
    assert len(explained.library_calls) == 2  # x W of all steps, and h R of one
    assert len(explained.kernels) <= 3  # the sum of the biases, the first states, the cell
    assert not explained.copies


def test_sizes_of_recurrent_weights_are_compared():
    network = model([node("RNN", "x,w,r", "y,h")], ["x: f32[t, n, i]", "w: f32[1, g, j]", "r: f32[1, g, k]"], "y,h")
    with pytest.raises(inlay.errors.ShapeMismatch, match="axis 1 of input 1 is to have 4 elements, and has 8"):
        inlay.onnx.compile(network)(f32(3, 2, 6), f32(1, 8, 3), f32(1, 8, 4))


# --- Sequences and optionals


def test_sequences_are_taken_apart():
    nodes = [
        node("SequenceConstruct", "x,z", "a"), node("Exp", "x", "e"), node("SequenceInsert", "a,e,zero", "b"),
        node("SequenceErase", "b,last", "c"), node("Identity", "c", "d"), node("SequenceAt", "d,zero", "p"),
        node("ConcatFromSequence", "d", "q", axis=0), node("SequenceLength", "b", "l"),
        node("SplitToSequence", "z,sizes", "s", axis=1), node("SequenceAt", "s,last", "r"),
    ]  # fmt: skip
    constants = {"zero": np.int64(0), "last": np.int64(-1), "sizes": np.array([1, 2])}
    network = model(nodes, ["x: f32[n, 3]", "z: f32[m, 3]"], "p,q,l,r", **constants)
    agrees(network, [{"x": f32(n, 3), "z": f32(m, 3)} for n, m in [(1, 4), (3, 2)]])


def test_a_place_in_a_sequence_may_be_found():
    network = model([node("SequenceConstruct", "x,z", "a"), node("SequenceAt", "a,i")], ["x: f32[n]", "z: f32[n]", "i: i64"])
    agrees(network, [{"x": f32(4), "z": f32(4), "i": np.int64(i)} for i in (0, 1, -1)])


def test_a_loop_of_known_length_carries_a_sequence():
    made = [node("Cast", "i", "f", to=1), node("Add", "x,f", "e"), node("SequenceInsert", "v,e", "v2")]
    step = body([*made, node("Identity", "c", "go")], ["i: i64", "c: bool", "v"], ["go: bool", "v2"])
    for g in (step.input[2], step.output[1]):
        g.type.CopyFrom(helper.make_sequence_type_proto(helper.make_tensor_type_proto(TYPES["f32"], None)))
    nodes = [node("SequenceEmpty", "", "s"), node("Loop", "m,,s", "t", body=step)]
    network = model([*nodes, node("ConcatFromSequence", "t", axis=0, new_axis=1)], ["m: i64", "x: f32[n]"])
    refused(network, "the input `m`, to be fixed")
    agrees(network, [{"m": np.int64(3), "x": f32(2)}], fixed={"m": np.int64(3)})


def test_what_a_network_takes_and_gives_is_tensors():
    refused(model([node("SequenceConstruct", "x,x")], ["x: f32[n]"]), "`y` is a sequence, and a tensor is wanted")


# --- Functions

X = ["x: f32[n, 3]"]


def function(name, inputs, outputs, nodes, attributes=(), defaults=(), opset=17):
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("own", 1)]
    names = inputs.split(","), outputs.split(",")
    return helper.make_function("own", name, *names, nodes, opsets, list(attributes), list(defaults))


def refers(made, attribute, to):
    """The node, with an attribute that the function's caller gives."""
    made.attribute.append(onnx.AttributeProto(name=attribute, ref_attr_name=to, type=onnx.AttributeProto.FLOAT))
    return made


def own(op, inputs="x", outputs="y", **attributes):
    return node(op, inputs, outputs, domain="own", **attributes)


SLOPED = function("Sloped", "x", "y", [refers(node("LeakyRelu", "x"), "alpha", "slope")], ["slope"])
NESTED = function("Nested", "x", "z", [refers(own("Sloped"), "slope", "s"), node("Add", "x,y", "z")], ["s"])


def test_functions_of_functions():
    agrees(model([own("Nested", s=0.2)], X, functions=[NESTED, SLOPED]), [{"x": f32(4, 3)}])
    default = function("Default", "x", "y", [refers(node("LeakyRelu", "x"), "alpha", "slope")],
                       defaults=[helper.make_attribute("slope", 0.3)])  # fmt: skip
    for given in ({}, {"slope": 0.7}):
        agrees(model([own("Default", **given)], X, functions=[default]), [{"x": f32(4, 3)}])


def test_an_attribute_is_passed_into_a_graph():
    either = branches(([refers(node("LeakyRelu", "x", "a"), "alpha", "slope")], [], ["a"]), ([node("Neg", "x", "b")], [], ["b"]))
    sub = function("Sub", "x,c", "y", [node("If", "c", **either)], ["slope"])
    network = model([own("Sub", "x,c", slope=0.2)], [*X, "c: bool"], functions=[sub])
    agrees(network, [{"x": f32(4, 3), "c": c} for c in (True, False)])


def test_what_a_function_has_of_its_own():
    old = function("Old", "x", "y", [node("Squeeze", "x", axes=[1])], opset=11)  # axes are an input since 13
    x = f32(4, 1)
    np.testing.assert_array_equal(inlay.onnx.compile(model([own("Old")], ["x: f32[n, 1]"], functions=[old]))(x), x[:, 0])
    clip = function("Upper", "x,low,high", "y", [node("Clip", "x,low,high")])
    network = model([own("Upper", "x,,half")], X, functions=[clip], half=np.float32(0.5))
    np.testing.assert_array_equal(inlay.onnx.compile(network)(x.repeat(3, 1)), np.minimum(x.repeat(3, 1), np.float32(0.5)))
    captures = function("Captures", "x", "y", [node("Add", "x,w")])
    refused(model([own("Captures")], [*X, "w: f32[3]"], functions=[captures]), "nothing computes `w`", ValueError)


def test_functions_of_one_name():
    first = function("Same", "x", "y", [node("Neg", "x")])
    second = function("Same", "x", "y", [node("Abs", "x")])
    refused(model([own("Same")], X, functions=[first, second]), "two functions of it are called `own.Same`", ValueError)
    second.overload, calls = "positive", [own("Same", "x", "a"), own("Same", "a", "y")]
    calls[1].overload = "positive"
    x = f32(4, 3)
    np.testing.assert_array_equal(inlay.onnx.compile(model(calls, X, functions=[first, second]))(x), np.abs(x))
    calls[1].overload = "other"
    refused(model(calls, X, functions=[first, second]), "does not have 1 op of it: own.Same")


def test_functions_without_end_are_refused():
    itself = function("Self", "x", "y", [own("Self")])
    refused(model([own("Self")], X, functions=[itself]), "within each other more than 64 deep")
    doubling = [function(f"D{i}", "x", "y", [own(f"D{i + 1}", "x", "a"), own(f"D{i + 1}", "a")]) for i in range(40)]
    last = function("D40", "x", "y", [node("Neg", "x")])
    refused(model([own("D0")], X, functions=[*doubling, last]), "have too many nodes")
    chain = [function(f"D{i}", "x", "y", [own(f"D{i + 1}")]) for i in range(5000)]
    refused(model([own("D0")], X, functions=[*chain, function("D5000", "x", "y", [node("Neg", "x")])]), "64 deep")


# --- Depth


def nested(depth):
    """Bytes of a network of so many Ifs within each other: the package `onnx` makes none so deep."""
    made = lambda op, i, o, rest=b"": field(1, field(1, i) + field(2, o) + field(4, op) + rest)  # noqa: E731
    small = made(b"Abs", b"x", b"e") + field(12, field(1, b"e"))
    graph = made(b"Relu", b"x", b"o") + field(12, field(1, b"o"))
    for _ in range(depth):
        both = [field(5, field(1, name) + field(6, g) + b"\xa0\x01\x05") for name, g in
                [(b"then_branch", graph), (b"else_branch", small)]]  # fmt: skip
        graph = made(b"If", b"c", b"o", b"".join(both)) + field(12, field(1, b"o"))
    inputs = b"".join(field(11, value(text).SerializeToString()) for text in ["c: bool", "x: f32[n]"])
    return b"\x08\x09" + field(7, graph + inputs) + field(8, b"\x10\x11")


def test_graphs_within_graphs():
    x = f32(4)
    fn = inlay.onnx.compile(nested(20))
    np.testing.assert_array_equal(fn(np.array(True), x), np.maximum(x, 0))
    np.testing.assert_array_equal(fn(np.array(False), x), np.abs(x))
    for depth in (64, 10000):
        refused(nested(depth), "more than 64 deep", (NotImplementedError, ValueError))


def test_a_chain_of_many_nodes():
    nodes = [node("Relu" if i % 2 else "Abs", f"v{i}" if i else "x", f"v{i + 1}") for i in range(20000)]
    x = f32(3)
    np.testing.assert_array_equal(inlay.onnx.compile(model(nodes, ["x: f32[n]"], "v20000"))(x), np.abs(x))


def test_a_loop_over_weights_alone():
    """It stays with the calls: what is computed once, when weights are read, is a graph of its own."""
    powers = body([node("Mul", "w,p", "q"), node("Identity", "go", "on"), node("Identity", "q", "row")],
                  ["i: i64[]", "go: bool[]", "p: f32[20]"], ["on: bool[]", "q: f32[20]", "row: f32[20]"])  # fmt: skip
    nodes = [node("Loop", "count,,ones", "last,table", body=powers), node("Add", "x,table", "y")]
    network = model(nodes, ["x: f32[n, 3, 20]"], count=np.int64(3), ones=np.ones(20, np.float32), w=f32(20))
    agrees(network, [{"x": f32(2, 3, 20)}])


def test_nodes_in_any_order():
    """As onnxruntime's quantiser leaves a network with an If: what a branch reads is made behind it."""
    inner = lambda op: body([node("Identity", "late", "kept"), node(op, "kept,x", "z")], [], ["z"])  # noqa: E731
    nodes = [
        node("If", "big", "y", then_branch=inner("Add"), else_branch=inner("Sub")),
        node("Greater", "sum,limit", "big"),
        node("ReduceSum", "late", "sum", keepdims=0),
        node("Mul", "x,x", "late"),
    ]
    constants = {"limit": np.float32(2)}
    network = model(nodes, ["x: f32[n]"], **constants)
    fn = inlay.onnx.compile(network)
    in_order = inlay.onnx.compile(model(nodes[::-1], ["x: f32[n]"], **constants))
    for x in (f32(4), 9 * f32(4), np.zeros(1, np.float32)):
        want = x * x + x if (x * x).sum() > 2 else x * x - x
        np.testing.assert_allclose(fn(x), want, rtol=1e-6)
        np.testing.assert_array_equal(fn(x), in_order(x))
    shuffled = [nodes[i] for i in (2, 0, 3, 1)]
    assert str(inlay.onnx.compile(model(shuffled, ["x: f32[n]"], **constants)).parameters) == str(fn.parameters)


@pytest.mark.parametrize("order", [1, -1])
def test_nodes_that_wait_for_each_other(order):
    nodes = [node("Add", "x,b", "a"), node("Relu", "a", "b"), node("Neg", "b", "y")][::order]
    first = "a" if order == 1 else "b"
    refused(model(nodes, ["x: f32[n]"]), f"nothing computes `{first}` before it is read", inlay.errors.InvalidFile)
    refused(model([node("Add", "x,y", "y")], ["x: f32[n]"]), "nothing computes `y`", inlay.errors.InvalidFile)


def test_a_size_without_a_name_is_no_size_of_another_input():
    network = model([node("ReduceSum", "y", "s", keepdims=0), node("Add", "x,s", "z")], ["y: f32[?]", "x: f32[y_0]"], "z")
    fn = inlay.onnx.compile(network, fixed={"y": np.ones(3, np.float32)})
    np.testing.assert_array_equal(fn(np.zeros(5, np.float32)), np.full(5, 3, np.float32))
