"""Networks that onnxruntime's own quantiser makes: the numbers of onnxruntime, and what is stored of them."""

import inlay
import inlay.onnx
import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402
from onnxruntime import quantization  # noqa: E402

U8, I8, U16 = (getattr(quantization.QuantType, name) for name in ("QUInt8", "QInt8", "QUInt16"))
QDQ, OPERATORS = quantization.QuantFormat.QDQ, quantization.QuantFormat.QOperator
MICROSOFT = "com.microsoft"
node = helper.make_node


class Calibration(quantization.CalibrationDataReader):
    def __init__(self, given):
        self.given = iter(given)

    def get_next(self):
        return next(self.given, None)


def numbers(rng, *dims, scale=1.0):
    return (scale * rng.standard_normal(dims)).astype(np.float32)


def network(nodes, inputs, outputs, weights, opsets=(("", 17),)):
    """`inputs`, `outputs`: (name, dims) of f32, or (name, dims, type)."""
    ends = [[helper.make_tensor_value_info(name, *(rest or [TensorProto.FLOAT]), dims) for name, dims, *rest in side] for side in (inputs, outputs)]
    tensors = [numpy_helper.from_array(np.asarray(array), name) for name, array in weights.items()]
    graph = helper.make_graph(nodes, "net", *ends, tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid(*one) for one in opsets], ir_version=8)


def convolutions(rng):
    """A plain convolution, one of each channel, and one of 1 x 1; the mean and a matrix."""
    weights = {
        "k1": numbers(rng, 8, 3, 3, 3, scale=0.2), "b1": numbers(rng, 8, scale=0.1), "k2": numbers(rng, 8, 1, 3, 3, scale=0.3),
        "k3": numbers(rng, 12, 8, 1, 1, scale=0.4), "b3": numbers(rng, 12, scale=0.1), "w": numbers(rng, 10, 12, scale=0.3),
        "b": numbers(rng, 10, scale=0.1), "low": np.float32(0), "high": np.float32(6),
    }  # fmt: skip
    nodes = [
        node("Conv", ["x", "k1", "b1"], ["c1"], "c1", pads=[1] * 4, strides=[2, 2]), node("Relu", ["c1"], ["r1"], "r1"),
        node("Conv", ["r1", "k2"], ["c2"], "c2", pads=[1] * 4, group=8), node("Clip", ["c2", "low", "high"], ["r2"], "r2"),
        node("Conv", ["r2", "k3", "b3"], ["c3"], "c3"), node("GlobalAveragePool", ["c3"], ["p"], "p"),
        node("Flatten", ["p"], ["f"], "f"), node("Gemm", ["f", "w", "b"], ["y"], "y", transB=1),
    ]  # fmt: skip
    return network(nodes, [("x", ["batch", 3, 12, 12])], [("y", ["batch", 10])], weights)


def pools(rng):
    weights = {"k1": numbers(rng, 6, 3, 3, 3, scale=0.2), "k2": numbers(rng, 6, 6, 3, 3, scale=0.15), "scales": np.array([1, 1, 2, 2], np.float32)}
    nodes = [
        node("Conv", ["x", "k1"], ["c1"], "c1", pads=[1] * 4), node("LeakyRelu", ["c1"], ["r1"], "r1", alpha=0.1),
        node("MaxPool", ["r1"], ["m"], "m", kernel_shape=[2, 2], strides=[2, 2]),
        node("AveragePool", ["r1"], ["a"], "a", kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4),
        node("Conv", ["m", "k2"], ["c2"], "c2", pads=[1] * 4), node("Sigmoid", ["c2"], ["s"], "s"),
        node("Mul", ["c2", "s"], ["mu"], "mu"), node("Add", ["mu", "a"], ["ad"], "ad"),
        node("Resize", ["ad", "", "scales"], ["up"], "up", mode="nearest"), node("Concat", ["up", "r1"], ["y"], "y", axis=1),
    ]  # fmt: skip
    return network(nodes, [("x", ["batch", 3, 8, 8])], [("y", ["batch", 12, 8, 8])], weights)


def dense(rng):
    weights = {"w1": numbers(rng, 20, 32, scale=0.2), "b1": numbers(rng, 32, scale=0.1), "w2": numbers(rng, 32, 6, scale=0.2)}
    nodes = [
        node("MatMul", ["x", "w1"], ["m1"], "m1"), node("Add", ["m1", "b1"], ["a1"], "a1"), node("Sigmoid", ["a1"], ["s"], "s"),
        node("MatMul", ["s", "w2"], ["m2"], "m2"), node("Softmax", ["m2"], ["y"], "y", axis=-1),
    ]  # fmt: skip
    return network(nodes, [("x", ["batch", 20])], [("y", ["batch", 6])], weights)


def attention(rng):
    weights = {f"w{i}": numbers(rng, 16, 16, scale=0.25) for i in "qkv"} | {"s": np.float32(0.25)}
    nodes = [node("MatMul", ["x", f"w{i}"], [i], f"m{i}") for i in "qkv"]
    nodes += [
        node("Transpose", ["k"], ["t"], "t", perm=[0, 2, 1]), node("MatMul", ["q", "t"], ["qk"], "qk"), node("Mul", ["qk", "s"], ["l"], "l"),
        node("Softmax", ["l"], ["p"], "p", axis=-1), node("MatMul", ["p", "v"], ["o"], "o"), node("Add", ["o", "x"], ["y"], "y"),
    ]  # fmt: skip
    return network(nodes, [("x", ["batch", 5, 16])], [("y", ["batch", 5, 16])], weights)


def lstm(rng):
    """In both directions."""
    weights = {"W": numbers(rng, 2, 48, 10, scale=0.3), "R": numbers(rng, 2, 48, 12, scale=0.3), "B": numbers(rng, 2, 96, scale=0.1)}
    nodes = [node("LSTM", ["x", "W", "R", "B"], ["y", "h", "c"], "l", hidden_size=12, direction="bidirectional")]
    outputs = [("y", [7, 2, "batch", 12]), ("h", [2, "batch", 12]), ("c", [2, "batch", 12])]
    return network(nodes, [("x", [7, "batch", 10])], outputs, weights)


NETWORKS = {f.__name__: f for f in (convolutions, pools, dense, attention, lstm)}
STATIC = {
    "QDQ, u8 u8": {"quant_format": QDQ, "activation_type": U8, "weight_type": U8},
    "QDQ, u8 i8, reduced, channels": {"quant_format": QDQ, "activation_type": U8, "weight_type": I8, "reduce_range": True, "per_channel": True},
    "QDQ, i8 i8, channels": {"quant_format": QDQ, "activation_type": I8, "weight_type": I8, "per_channel": True},
    "QDQ, u16 i8": {"quant_format": QDQ, "activation_type": U16, "weight_type": I8, "extra_options": {"UseQDQContribOps": True}},
    "operators, u8 u8": {"quant_format": OPERATORS, "activation_type": U8, "weight_type": U8},
    "operators, u8 i8": {"quant_format": OPERATORS, "activation_type": U8, "weight_type": I8},
    "operators, i8 i8, channels": {"quant_format": OPERATORS, "activation_type": I8, "weight_type": I8, "per_channel": True},
}
DYNAMIC = {"i8": {"weight_type": I8}, "u8": {"weight_type": U8}, "i8, channels": {"weight_type": I8, "per_channel": True}}


def arguments(model, batch, seed):
    rng = np.random.default_rng(seed)
    dims = [[size.dim_value or batch for size in one.type.tensor_type.shape.dim] for one in model.graph.input]
    return {one.name: numbers(rng, *shape) for one, shape in zip(model.graph.input, dims, strict=True)}


def quantised(name, way, folder):
    """The network as a file that the quantiser writes."""
    model = NETWORKS[name](np.random.default_rng(3))
    path = folder / "quantised.onnx"
    if way in STATIC:
        quantization.quantize_static(model, path, Calibration(arguments(model, 2, seed) for seed in range(4)), **STATIC[way])
    else:
        quantization.quantize_dynamic(model, path, **DYNAMIC[way])
    return path


def session(model):
    """As the file says it: where onnxruntime optimises it, it rounds otherwise."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 1, 3
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def step_of(model, output):
    """What one quantum of an output is: its scale, where it is made of integers."""
    scales = {one.name: numpy_helper.to_array(one) for one in model.graph.initializer}
    found = [n.input[1] for n in model.graph.node if output in n.output and n.op_type == "DequantizeLinear"]
    return float(scales[found[0]]) if found else None


def compared(model, fn, batch, seed):
    """Of each output: how many quanta it is away from onnxruntime's at most, and of how many elements."""
    given = arguments(model, batch, seed)
    results = fn(*(given[name] for name in fn.parameters))
    results = results if isinstance(results, tuple) else (results,)
    for output, got, want in zip(model.graph.output, results, session(model.SerializeToString()).run(None, given), strict=True):
        assert (got.dtype, got.shape) == (want.dtype, want.shape)
        step = step_of(model, output.name) or np.ptp(want) / 255
        away = np.abs(got.astype(np.float64) - want) / step
        yield away.max(), np.mean(away > 1e-3)


@pytest.mark.parametrize("way", [*STATIC, *DYNAMIC])
@pytest.mark.parametrize("name", NETWORKS)
def test_numbers_of_onnxruntime(name, way, tmp_path):
    """They are the same but where the last bit of a float says how it is rounded: one quantum away."""
    path = quantised(name, way, tmp_path)
    model = onnx.load(path)
    fn = inlay.onnx.compile(path)
    for seed, batch in enumerate((2, 1, 5)):
        for away, share in compared(model, fn, batch, 100 + seed):
            assert away < 1.01
            assert share < 0.05


def quantised_sums(form, rng):
    """A product or a convolution of integers, with a result of integers."""
    x, w = rng.integers(0, 256, (3, 700)).astype(np.uint8), rng.integers(-128, 128, (700, 5)).astype(np.int8)
    scales = {"xs": np.float32(0.02), "xz": np.uint8(100), "ws": (0.01 + rng.random(5)).astype(np.float32), "wz": np.zeros(5, np.int8)}
    scales |= {"ys": np.float32(30), "yz": np.uint8(120)}
    if form == "QLinearConv":
        x, w = rng.integers(0, 256, (2, 90, 6, 7)).astype(np.uint8), rng.integers(-128, 128, (5, 90, 3, 3)).astype(np.int8)
        scales["bias"] = rng.integers(-9999, 9999, 5).astype(np.int32)
    names = {
        "QLinearMatMul": ["x", "xs", "xz", "w", "ws", "wz", "ys", "yz"],
        "QLinearConv": ["x", "xs", "xz", "w", "ws", "wz", "ys", "yz", "bias"],
        "MatMulInteger": ["x", "w", "xz", "wz"],
        "ConvInteger": ["x", "w", "xz"],
    }[form]
    if form == "ConvInteger":
        x, w = rng.integers(0, 256, (2, 90, 6, 7)).astype(np.uint8), rng.integers(-128, 128, (5, 90, 3, 3)).astype(np.int8)
    attributes = {"pads": [1, 0, 1, 2]} if "Conv" in form else {}
    dtype = TensorProto.INT32 if "Integer" in form else TensorProto.UINT8
    weights = {name: array for name, array in ({"w": w} | scales).items() if name in names}
    return network([node(form, names, ["y"], **attributes)], [("x", x.shape, TensorProto.UINT8)], [("y", None, dtype)], weights), x


@pytest.mark.parametrize("windows", [True, False])
@pytest.mark.parametrize("form", ["QLinearMatMul", "QLinearConv", "MatMulInteger", "ConvInteger"])
def test_sums_that_f32_does_not_hold(form, windows):
    """Of 700 and 810 products, which may be more than 2^24: in parts, or as i32."""
    model, x = quantised_sums(form, np.random.default_rng(8))
    for given in (x, np.full_like(x, 255)):
        want = session(model.SerializeToString()).run(None, {"x": given})[0]
        got = inlay.onnx.compile(model, windows=windows)(given)
        if "Integer" in form:
            np.testing.assert_array_equal(got, want)
        else:
            assert np.abs(got.astype(int) - want).max() <= 1
            assert np.mean(got != want) < 0.02


# Of each op: its attributes, how many operands it has, where the scale of its result stands, and what it computes.
ELEMENTWISE = {
    "QLinearAdd": ({}, 2, lambda a, b: a + b),
    "QLinearMul": ({}, 2, lambda a, b: a * b),
    "QLinearSigmoid": ({}, 1, lambda a: 1 / (1 + np.exp(-a.astype(np.float64)))),
    "QLinearLeakyRelu": ({"alpha": 0.2}, 1, lambda a: np.where(a < 0, np.float32(0.2) * a, a)),
    "QLinearSoftmax": ({"axis": 1, "opset": 13}, 1, lambda a: np.exp(a) / np.exp(a).sum(1, keepdims=True)),
    "QLinearGlobalAveragePool": ({}, 1, lambda a: a.mean((2, 3), keepdims=True)),
    "QLinearAveragePool": ({"kernel_shape": [2, 2]}, 1, lambda a: (a[..., :-1, :-1] + a[..., 1:, :-1] + a[..., :-1, 1:] + a[..., 1:, 1:]) / 4),
    "QLinearConcat": ({"axis": 1}, 2, lambda a, b: np.concatenate([a, b], 1)),
    "QLinearWhere": ({}, 2, lambda a, b: np.where(np.arange(4) % 2 == 0, a, b)),
}


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize("op", ELEMENTWISE)
def test_op_of_the_quantiser(op, dtype):
    """By its definition: what ONNX's op makes of the numbers, rounded half to even. And beside onnxruntime's kernel."""
    attributes, count, compute = ELEMENTWISE[op]
    rng = np.random.default_rng(6)
    low = np.iinfo(dtype).min
    given = [rng.integers(low, low + 256, (2, 6, 8, 4)).astype(dtype) for _ in range(count)]
    step = np.float32(1 / 256 if op in ("QLinearSigmoid", "QLinearSoftmax") else 0.041)
    zeros = [dtype(low + z) for z in (130, 117)]
    weights = {"s0": np.float32(0.03), "z0": zeros[0], "s1": np.float32(0.017), "z1": zeros[1], "s": step, "z": dtype(low + 3)}
    weights |= {"condition": np.arange(4) % 2 == 0}
    operands = [name for i in range(count) for name in (f"x{i}", f"s{i}", f"z{i}")]
    inputs = ["s", "z", *operands] if op == "QLinearConcat" else [*(["condition"] if op == "QLinearWhere" else []), *operands, "s", "z"]
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    weights = {name: array for name, array in weights.items() if name in inputs}
    ends = [(f"x{i}", ["n", 6, 8, 4], kind) for i in range(count)], [("y", None, kind)]
    model = network([node(op, inputs, ["y"], domain=MICROSOFT, **attributes)], *ends, weights, (("", 17), (MICROSOFT, 1)))
    fn = inlay.onnx.compile(model)
    got = fn(*given)
    numbers = [(x.astype(np.float32) - np.float32(z)) * weights[f"s{i}"] for i, (x, z) in enumerate(zip(given, zeros[:count], strict=True))]
    exact = compute(*numbers) / np.float64(step)
    want = np.clip(np.rint(exact) + weights["z"], low, low + 255)
    is_plain = np.abs(exact - np.floor(exact) - 0.5) > 1e-4  # not halfway, where the last bit of a float decides
    np.testing.assert_array_equal(got[is_plain], want[is_plain])
    assert np.abs(got.astype(int) - want).max() <= 1
    theirs = session(model.SerializeToString()).run(None, {f"x{i}": x for i, x in enumerate(given)})[0]
    assert np.abs(got.astype(int) - theirs).max() <= 1


@pytest.mark.parametrize("has_scale", [True, False])
def test_matrix_product_of_the_quantiser(has_scale):
    rng = np.random.default_rng(7)
    weights = {
        "as": np.float32(0.02), "az": np.uint8(128), "b": rng.integers(-128, 128, (5, 30)).astype(np.int8),
        "bs": (0.01 + 0.01 * rng.random(5)).astype(np.float32), "bz": np.zeros(5, np.int8),
        "c": rng.integers(-500, 500, 5).astype(np.int32), "ys": np.float32(0.1), "yz": np.uint8(120),
    }  # fmt: skip
    inputs = ["a", "as", "az", "b", "bs", "bz", "c"] + (["ys", "yz"] if has_scale else [])
    kind = TensorProto.UINT8 if has_scale else TensorProto.FLOAT
    nodes = [node("QGemm", inputs, ["y"], domain=MICROSOFT, transB=1)]
    weights = {name: array for name, array in weights.items() if name in inputs}
    model = network(nodes, [("a", ["n", 30], TensorProto.UINT8)], [("y", ["n", 5], kind)], weights, (("", 17), (MICROSOFT, 1)))
    fn = inlay.onnx.compile(model)
    for rows in (4, 1, 9):
        a = rng.integers(0, 256, (rows, 30)).astype(np.uint8)
        want = session(model.SerializeToString()).run(None, {"a": a})[0]
        np.testing.assert_allclose(fn(a).astype(np.float64), want, atol=1 if has_scale else 0, rtol=1e-6)


def test_network_that_onnxruntime_has_optimised(tmp_path):
    """What it keeps of a product, and of what quantises its operand, is one op."""
    path, kept = quantised("dense", "i8, channels", tmp_path), str(tmp_path / "optimised.onnx")
    options = onnxruntime.SessionOptions()
    options.optimized_model_filepath, options.log_severity_level = kept, 3
    onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    model = onnx.load(kept)
    assert "DynamicQuantizeMatMul" in {n.op_type for n in model.graph.node}
    fn = inlay.onnx.compile(model)
    for batch in (1, 4):
        for away, share in compared(model, fn, batch, batch):
            assert away < 1.01
            assert share < 0.05


def test_matrix_product_of_integers_as_floats():
    rng = np.random.default_rng(7)
    weights = {
        "b": rng.integers(-128, 128, (30, 5)).astype(np.int8), "as": np.float32(0.02), "bs": (0.01 + 0.01 * rng.random(5)).astype(np.float32),
        "az": np.uint8(99), "bz": np.zeros(5, np.int8), "bias": rng.standard_normal(5).astype(np.float32),
    }  # fmt: skip
    nodes = [node("MatMulIntegerToFloat", ["a", "b", "as", "bs", "az", "bz", "bias"], ["y"], domain=MICROSOFT)]
    ends = [("a", ["n", 30], TensorProto.UINT8)], [("y", ["n", 5])]
    model = network(nodes, *ends, weights, (("", 17), (MICROSOFT, 1)))
    a = rng.integers(0, 256, (4, 30)).astype(np.uint8)
    np.testing.assert_allclose(inlay.onnx.compile(model)(a), session(model.SerializeToString()).run(None, {"a": a})[0], rtol=1e-6)


def test_what_is_stored(tmp_path):
    """Beside products, there are few loops: one quantises a value, and one finds the scale of a value that has none. (One
    says where rows end, for the depthwise convolution; one sums rows, beside weights whose zero point is no 0 of an i8.)"""
    kernels = {}
    for way in ("QDQ, u8 u8", "operators, u8 u8", "i8"):
        explained = inlay.explain(inlay.onnx.compile(quantised("convolutions", way, tmp_path)))
        kernels[way] = len(explained.kernels), len(explained.copies)
    assert kernels == {"QDQ, u8 u8": (9, 0), "operators, u8 u8": (8, 0), "i8": (10, 0)}


def test_weights_stay_bytes(tmp_path):
    """Beside their sums, and, for `windows=False`, as the file has them: they are converted where they are read."""
    for way in ("QDQ, i8 i8, channels", "operators, i8 i8, channels", "i8, channels"):
        path = quantised("convolutions", way, tmp_path)
        model = onnx.load(path)
        sizes = {}
        for windows in (True, False):
            fn = inlay.onnx.compile(path, windows=windows)
            for away, share in compared(model, fn, 2, 5):
                assert away < 1.01
                assert share < 0.05
            sizes[windows] = sum(np.asarray(array).nbytes for array in fn.compilation.bound)
        ints = sum(numpy_helper.to_array(one).size for one in model.graph.initializer if one.data_type in (TensorProto.INT8, TensorProto.UINT8))
        assert sizes[False] <= ints + 400
        assert sizes[True] < 2 * ints  # those of single channels are floats


def test_integers_of_which_no_f32_has_a_product():
    """Files that ONNX does not allow, and that are read as what they say."""
    a, b = np.array([[65535, 1, 2], [3, 4, 5]], np.uint16), np.array([[7, 1], [0, 2], [5, 9]], np.uint16)
    ends = ("a", [2, 3], TensorProto.UINT16), ("y", [2, 2], TensorProto.INT32)
    net = network([node("MatMulInteger", ["a", "b"], ["y"])], [ends[0]], [ends[1]], {"b": b})
    for windows in (True, False):
        assert np.array_equal(inlay.onnx.compile(net, windows=windows)(a), a.astype(np.int32) @ b.astype(np.int32))


BYTES = {np.uint8: TensorProto.UINT8, np.int8: TensorProto.INT8}


def some_bytes(rng, dtype, *dims):
    return rng.integers(np.iinfo(dtype).min, np.iinfo(dtype).max + 1, dims).astype(dtype)


@pytest.mark.parametrize("right", BYTES)
@pytest.mark.parametrize("left", BYTES)
@pytest.mark.parametrize("fixed", [True, False])
def test_products_of_bytes(left, right, fixed):
    """Of each kind, with weights and without, batches on one side or both, a vector, one zero point or many."""
    rng = np.random.default_rng(9)
    draw = lambda dtype, *dims: some_bytes(rng, dtype, *dims)  # noqa: E731
    cases = [
        (draw(left, 5, 70), draw(right, 70, 6), None, None),
        (draw(left, 5, 70), draw(right, 70, 6), draw(left), draw(right)),
        (draw(left, 5, 70), draw(right, 70, 6), draw(left, 5), draw(right, 6)),
        (draw(left, 2, 3, 70), draw(right, 70, 6), draw(left), draw(right, 6)),
        (draw(left, 2, 5, 70), draw(right, 2, 70, 6), draw(left), draw(right)),
        (draw(left, 70), draw(right, 70, 6), draw(left), draw(right)),
        (draw(left, 70), draw(right, 2, 70, 6), draw(left), None),
        (draw(left, 70), draw(right, 70, 6), draw(left), draw(right, 1, 6)),
        (draw(left, 70), draw(right, 2, 70, 6), draw(left), draw(right, 2, 1, 6)),
        (draw(left, 3, 70), draw(right, 2, 70, 6), draw(left), draw(right, 2, 1, 6)),
        (draw(left, 1, 1), draw(right, 1, 1), draw(left), draw(right)),
        (draw(left, 0, 4), draw(right, 4, 3), draw(left), draw(right)),
    ]
    for x, y, x_zero, y_zero in cases:
        given = {"x": x, "y": y} | ({} if x_zero is None else {"xz": x_zero}) | ({} if y_zero is None else {"yz": y_zero})
        wide = lambda v: np.int32(0) if v is None else v.astype(np.int32)  # noqa: E731
        of_rows = wide(x_zero)[:, None] if x_zero is not None and x_zero.ndim == 1 else wide(x_zero)
        want = (wide(x) - of_rows) @ (wide(y) - wide(y_zero))
        inputs = ["x", "y", "xz" if x_zero is not None else "", "yz" if y_zero is not None else ""]
        while not inputs[-1]:
            inputs.pop()
        declared = [(name, [f"{name}{i}" for i in range(v.ndim)], BYTES[v.dtype.type]) for name, v in given.items() if name == "x" or not fixed]
        weights = {name: v for name, v in given.items() if name != "x"} if fixed else {}
        fn = inlay.onnx.compile(network([node("MatMulInteger", inputs, ["z"])], declared, [("z", None, TensorProto.INT32)], weights))
        np.testing.assert_array_equal(fn(*(given[name] for name, *_ in declared)), want)
        explained = inlay.explain(fn).text
        assert " = row_dots " in explained
        assert " 1 library call," in explained


@pytest.mark.parametrize("scales", ["one", "columns", "rows"])
@pytest.mark.parametrize("form", ["MatMul", "Gemm", "Gemm, turned"])
def test_products_of_floats_that_were_bytes(form, scales):
    """Bytes are multiplied where the scales are those of columns or one number; else floats."""
    rng = np.random.default_rng(10)
    rows, columns, turned = 70, 6, form == "Gemm, turned"
    count = {"one": (), "columns": (columns,), "rows": (rows,)}[scales]
    along = {"one": {}, "columns": {"axis": 0 if turned else 1}, "rows": {"axis": 1 if turned else 0}}[scales]
    w, w_scale, w_zero = some_bytes(rng, np.int8, rows, columns), (0.01 + 0.01 * rng.random(count)).astype(np.float32), some_bytes(rng, np.int8, *count)
    weights = {"w": w.T.copy() if turned else w, "ws": w_scale, "wz": w_zero, "xs": np.float32(0.02), "xz": np.uint8(77)}
    nodes = [node("DequantizeLinear", ["x", "xs", "xz"], ["a"]), node("DequantizeLinear", ["w", "ws", "wz"], ["b"], **along)]
    nodes.append(node("MatMul", ["a", "b"], ["y"]))
    if "Gemm" in form:
        weights["c"] = rng.standard_normal(columns).astype(np.float32)
        nodes[2] = node("Gemm", ["a", "b", "c"], ["y"], alpha=0.5, transB=int(turned))
    fn = inlay.onnx.compile(network(nodes, [("x", ["n", rows], TensorProto.UINT8)], [("y", ["n", columns])], weights))
    of_w = (lambda v: v[:, None]) if scales == "rows" else (lambda v: v)
    right = (w.astype(float) - of_w(w_zero)) * of_w(w_scale)
    for n in (1, 4, 9):
        x = some_bytes(rng, np.uint8, n, rows)
        want = (x.astype(float) - 77) * np.float64(np.float32(0.02)) @ right
        if "Gemm" in form:
            want = 0.5 * want + weights["c"]
        np.testing.assert_allclose(fn(x), want, rtol=2e-5, atol=2e-5)
    explained = inlay.explain(fn).text
    assert f" = {'matmul' if scales == 'rows' else 'row_dots'} " in explained
    assert " 1 library call," in explained


def test_no_numbers_are_quantised():
    """As onnxruntime has it. It costs no kernel: sizes of a call say it."""
    outputs = [("y", ["n", "m"], TensorProto.UINT8), ("s", []), ("z", [], TensorProto.UINT8)]
    model = network([node("DynamicQuantizeLinear", ["x"], ["y", "s", "z"])], [("x", ["n", "m"])], outputs, {})
    fn = inlay.onnx.compile(model)
    for dims in [(0, 3), (3, 0), (2, 3)]:
        x = numbers(np.random.default_rng(14), *dims)
        for got, want in zip(fn(x), session(model.SerializeToString()).run(None, {"x": x}), strict=True):
            np.testing.assert_array_equal(got, want)
    assert len(inlay.explain(fn).kernels) == 1


@pytest.mark.parametrize("dtype", [np.int32, np.uint16, np.int8])
@pytest.mark.parametrize("scale", [1, 0.1, 0.0007])
def test_floats_of_half_precision_are_rounded_once(dtype, scale):
    """An integer that f16 has not, or that is beyond its numbers, has a product that it has."""
    kind = {np.int32: TensorProto.INT32, np.uint16: TensorProto.UINT16, np.int8: TensorProto.INT8}[dtype]
    info = np.iinfo(dtype)
    x = np.array([info.min, info.max, 5, 100] if dtype is np.int8 else [70000 & info.max, 2049, 4097, 40963, 5], dtype)
    weights = {"s": np.float16(scale)}
    half = network([node("DequantizeLinear", ["x", "s"], ["y"])], [("x", ["n"], kind)], [("y", ["n"], TensorProto.FLOAT16)], weights, [("", 21)])
    with np.errstate(over="ignore"):
        wanted = (x.astype(np.float64) * np.float64(np.float16(scale))).astype(np.float16)
    np.testing.assert_array_equal(inlay.onnx.compile(half)(x), wanted)
    if dtype is np.int32:
        back = [node("QuantizeLinear", ["x", "s", "z"], ["y"])]
        net = network(back, [("x", ["n"], kind)], [("y", ["n"], TensorProto.UINT16)], weights | {"z": np.uint16(7)}, [("", 21)])
        quotients = np.rint(x.astype(np.float32) / np.float32(np.float16(scale))) + 7
        np.testing.assert_array_equal(inlay.onnx.compile(net)(x), np.clip(quotients, 0, 65535).astype(np.uint16))


@pytest.mark.parametrize(("depth", "is_held"), [(33000, True), (33100, False)])
def test_floats_whose_sums_no_i32_holds(depth, is_held):
    """Are those of floats: only what is integers by its op is modulo 2^32."""
    weights = {"w": np.full((depth, 1), 255, np.uint8), "s": np.float32(0.01)}
    nodes = [node("DequantizeLinear", ["x", "s"], ["a"]), node("DequantizeLinear", ["w", "s"], ["b"]), node("MatMul", ["a", "b"], ["y"])]
    fn = inlay.onnx.compile(network(nodes, [("x", [1, depth], TensorProto.UINT8)], [("y", [1, 1])], weights))
    np.testing.assert_allclose(fn(np.full((1, depth), 255, np.uint8)), depth * 2.55**2, rtol=1e-4)
    assert (" = row_dots " in inlay.explain(fn).text) == is_held


@pytest.mark.parametrize("block", [2, 6])
@pytest.mark.parametrize("turned", [True, False])
def test_products_of_blocks_with_scales_are_of_floats(turned, block):
    rng = np.random.default_rng(13)
    w, scale = some_bytes(rng, np.int8, 6, 6), (0.01 + rng.random((6, 6 // block))).astype(np.float32)
    weights = {"w": w, "ws": scale, "xs": np.float32(0.5)} if turned else {"w": w.T.copy(), "ws": scale.T.copy(), "xs": np.float32(0.5)}
    nodes = [
        node("DequantizeLinear", ["x", "xs"], ["a"]), node("DequantizeLinear", ["w", "ws"], ["b"], axis=int(turned), block_size=block),
        node("Gemm", ["a", "b"], ["y"], transB=int(turned)),
    ]  # fmt: skip
    fn = inlay.onnx.compile(network(nodes, [("x", ["n", 6], TensorProto.UINT8)], [("y", ["n", 6])], weights, (("", 21),)))
    x = some_bytes(rng, np.uint8, 3, 6)
    want = 0.5 * x.astype(float) @ (w * np.repeat(scale, block, 1)).T
    np.testing.assert_allclose(fn(x), want, rtol=1e-5, atol=1e-2)  # terms of 1e4, which cancel


def quantised_lstm(rng, batch, directions, channels, dtype, hidden=16, depth=9, **weights):
    count = (directions, 4 * hidden) if channels else (directions,)
    kept = {
        "w": some_bytes(rng, dtype, directions, depth, 4 * hidden), "r": some_bytes(rng, dtype, directions, hidden, 4 * hidden),
        "b": numbers(rng, directions, 8 * hidden, scale=0.1),
    }  # fmt: skip
    for name in "w", "r":
        kept |= {f"{name}s": (2e-3 + 2e-3 * rng.random(count)).astype(np.float32)}
        kept |= {f"{name}z": np.full(count, 0 if dtype is np.int8 else 128, dtype)}
    names = ["x", "w", "r", "b", "", "", "", "", "ws", "wz", "rs", "rz"]
    direction = "bidirectional" if directions == 2 else "forward"
    lstm = node("DynamicQuantizeLSTM", names, ["y", "h", "c"], domain=MICROSOFT, hidden_size=hidden, direction=direction)
    outputs = [("y", ["steps", directions, batch, hidden]), ("h", [directions, batch, hidden]), ("c", [directions, batch, hidden])]
    return network([lstm], [("x", ["steps", batch, depth])], outputs, kept | weights, (("", 17), (MICROSOFT, 1)))


@pytest.mark.parametrize("dtype", BYTES)
@pytest.mark.parametrize("channels", [False, True])
@pytest.mark.parametrize(("directions", "batch"), [(1, 1), (1, 3), (2, 2)])
def test_lstm_of_bytes(directions, batch, channels, dtype):
    """Its state is quantised in each step: a quantum that flips is carried on, and so is seen in all that follows."""
    rng = np.random.default_rng(12)
    model = quantised_lstm(rng, batch, directions, channels, dtype)
    fn = inlay.onnx.compile(model)
    for steps in (1, 7):
        x = numbers(rng, steps, batch, 9)
        for got, want in zip(fn(x), session(model.SerializeToString()).run(None, {"x": x}), strict=True):
            np.testing.assert_allclose(got, want, atol=0.02)
            assert np.mean(np.abs(got - want)) < 0.002
    explained = inlay.explain(fn).text
    assert f" {2 * directions} library calls" in explained
    assert " matmul " not in explained


def test_scales_of_an_lstm_that_do_not_fit():
    """The node and the input are named."""
    for name, dims, error, text in [
        ("ws", (3,), inlay.errors.ShapeMismatch, "DynamicQuantizeLSTM: axis 0 of input 8 is to have 1 elements, and has 3"),
        ("rs", (1, 5), inlay.errors.ShapeMismatch, "axis 1 of input 10 is to have 64 elements, and has 5"),
        ("wz", (1, 1, 64), inlay.errors.WrongRank, "input 9 is to have 2 axes"),
    ]:
        wrong = np.zeros(dims, np.int8 if name == "wz" else np.float32)
        with pytest.raises(error, match=text):
            inlay.onnx.compile(quantised_lstm(np.random.default_rng(1), 1, 1, False, np.int8, **{name: wrong}))
