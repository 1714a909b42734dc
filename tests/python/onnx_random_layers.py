"""Layers of random ONNX networks (onnx_random_ops.py): products, norms, windows, quantised numbers, recurrent nodes."""

import ml_dtypes
import numpy as np
from onnx_random import Unfit
from onnx_random_ops import FLOATS, NUMBER, fixed, some_axis

# Products and norms


def product(g):
    x = g.pick(lambda v: v.rank >= 1 and v.dtype in (*FLOATS, "int32", "int64"))
    v = g.values[x]
    k = v.dims[-1]
    if g.chance(0.3):
        y = g.pick(lambda w: w.rank >= 1 and w.dtype == v.dtype and w.dims[-1 if w.rank == 1 else -2] == k and w.rank <= 2)
    else:
        lead = g.some([[], [], [g.beside(d) for d in v.dims[:-2]]])
        y = g.like(g.some([[k], [*lead, k, g.some([1, 3, 4])]]) if v.rank > 1 else [k, 3], v.dtype, 0.7)
    return g.take("MatMul", [x, y])


def gemm(g):
    x = g.pick(lambda v: v.rank == 2 and v.dtype in FLOATS[:2])
    v = g.values[x]
    flip, flop = int(g.chance(0.3)), int(g.chance(0.3))
    rows, k = v.dims[::-1] if flip else v.dims
    columns = g.some([2, 3])
    y = g.like([columns, k] if flop else [k, columns], v.dtype, 0.7)
    operands = [x, y]
    if g.chance(0.6):
        operands.append(g.like(g.some([[columns], [1, columns], [], [g.beside(rows), columns], [rows, 1]]), v.dtype))
    numbers = {name: float(g.some([0.5, 1.0, 2.0])) for name in ("alpha", "beta") if g.chance(0.3)}
    return g.take("Gemm", operands, transA=flip, transB=flop, **numbers)


def einsum(g):
    x = g.pick(lambda v: 1 <= v.rank <= 3 and v.dtype in FLOATS[:2])
    v = g.values[x]
    letters = "abc"[: v.rank]
    if g.chance(0.2):
        return g.take("Einsum", [x], equation=f"...{letters[-1]}->..." if g.chance(0.5) else f"{letters}->{letters[::-1]}")
    chosen = [a for a in range(v.rank) if g.chance(0.6)] or [0]
    y = g.like([*(g.beside(v.dims[a]) for a in chosen), 2], v.dtype)
    second = "".join(letters[a] for a in chosen) + "z"
    kept = [c for c in letters + "z" if g.chance(0.6)]
    result = "".join(kept[a] for a in g.rng.permutation(len(kept)))
    return g.take("Einsum", [x, y], equation=f"{letters},{second}->{result}")


NORMS = """LayerNormalization LayerNormalization BatchNormalization InstanceNormalization GroupNormalization RMSNormalization LRN
LpNormalization MeanVarianceNormalization""".split()


def norm(g):
    x = g.pick(lambda v: v.rank >= 2 and v.dtype in FLOATS and fixed(v.dims[1]) and all(min(d) >= 1 for d in v.dims))
    v = g.values[x]
    channels = v.dims[1][0]
    dtype = v.dtype

    def weights(*dims):
        return g.constant(np.abs(g.array(dtype, dims)) + np.asarray(0.5, dtype), dtype)

    op = g.some(NORMS)
    if op in ("LayerNormalization", "RMSNormalization"):
        at, axis = some_axis(g, v, lambda d: True)
        if not all(fixed(d) for d in v.dims[at:]):
            raise Unfit
        shape = [d[0] for d in v.dims[at:]]
        return g.take(op, [x, weights(*shape)] + ([weights(*shape)] if op[0] == "L" and g.chance(0.5) else []), axis=axis)
    if op == "BatchNormalization":
        return g.take(op, [x, *(weights(channels) for _ in range(4))], epsilon=1e-3)
    if op == "InstanceNormalization" and v.rank > 2:
        return g.take(op, [x, weights(channels), weights(channels)])
    if op == "GroupNormalization" and v.dtype == "float16":
        raise Unfit  # the evaluator rounds the mean of a group to a float16, from which numbers close to it are far
    if op == "GroupNormalization" and v.rank > 2:
        groups = g.some([k for k in range(1, channels + 1) if channels % k == 0])
        count = channels if g.opset >= 21 else groups
        wide = {"stash_type": NUMBER["float64"]} if dtype == "float64" and g.opset >= 21 else {}  # else computed in f32
        return g.take(op, [x, weights(count), weights(count)], num_groups=groups, **wide)
    if op == "LRN" and v.rank == 4:
        return g.take(op, [x], size=g.some([1, 3, 5]), alpha=0.1, bias=1.5)
    if op == "LpNormalization":
        return g.take(op, [x], axis=some_axis(g, v)[1], p=g.some([1, 2]))
    if op == "MeanVarianceNormalization" and v.rank == 4:
        return g.take(op, [x])
    raise Unfit


# Windows


def image(g, dtypes=FLOATS[:2]):
    """Of three or four axes, the channels known; a new one if there is none."""
    def fits(v):
        return v.rank in (3, 4) and v.dtype in dtypes and fixed(v.dims[1]) and all(min(d) >= 1 for d in v.dims)
    try:
        return g.pick(fits)
    except Unfit:
        sizes = [g.some([4, 5, 7, "m"]) for _ in range(g.some([1, 2]))]
        return g.new_input(dtypes[0], [g.some([1, "n"]), g.some([1, 2, 4]), *sizes])


def windows(g, v, kernel):
    """Attributes of windows of this kernel; each axis keeps some element."""
    rank = len(kernel)
    out = {}
    dilations = [g.some([1, 1, 2]) for _ in kernel]
    if g.chance(0.5):
        out["strides"] = [g.some([1, 2, 3]) for _ in kernel]
    if g.chance(0.6):
        out["pads"] = [int(g.rng.integers(0, kernel[i % rank])) for i in range(2 * rank)]
    elif g.chance(0.4):
        out["auto_pad"] = g.some(["SAME_UPPER", "SAME_LOWER", "VALID"])
    if "auto_pad" not in out and g.chance(0.4):
        out["dilations"] = dilations
    reach = [(k - 1) * d + 1 for k, d in zip(kernel, out.get("dilations", [1] * rank), strict=True)]
    if any(min(size) < r for size, r in zip(v.dims[2:], reach, strict=True)):
        raise Unfit
    # What would pad so that every step has a window pads a negative number there: onnxruntime refuses that, or crops.
    steps_over = any(stride > r for stride, r in zip(out.get("strides", [1] * rank), reach, strict=True))
    if steps_over and out.get("auto_pad", "").startswith("SAME"):
        raise Unfit
    return out


def convolution(g):
    x = image(g)
    v = g.values[x]
    channels = v.dims[1][0]
    groups = g.some([1, 1, 1, *(k for k in range(1, channels + 1) if channels % k == 0)])
    filters = groups * g.some([1, 2, 3])
    kernel = [g.some([1, 2, 3, 3]) for _ in v.dims[2:]]
    attributes = windows(g, v, kernel) | ({"group": groups} if groups > 1 else {})
    w = g.like([filters, channels // groups, *kernel], v.dtype, 0.8)
    return g.take("Conv", [x, w] + ([g.like([filters], v.dtype, 0.8)] if g.chance(0.5) else []), **attributes)


def transposed(g):
    x = image(g, FLOATS[:1])
    v = g.values[x]
    channels = v.dims[1][0]
    groups = g.some([1, 1, *(k for k in range(1, channels + 1) if channels % k == 0)])
    per_group = g.some([1, 2])
    kernel = [g.some([1, 2, 3]) for _ in v.dims[2:]]
    attributes = {"group": groups} if groups > 1 else {}
    strides = [g.some([1, 2]) for _ in kernel]
    if g.chance(0.6):
        attributes["strides"] = strides
    if g.chance(0.3):
        attributes["dilations"] = [g.some([1, 2]) for _ in kernel]
    if g.chance(0.4):
        attributes["pads"] = [int(g.rng.integers(0, kernel[i % len(kernel)])) for i in range(2 * len(kernel))]
    if "strides" in attributes and g.chance(0.3):
        attributes["output_padding"] = [s - 1 for s in strides]
    w = g.like([channels, per_group, *kernel], v.dtype, 0.9)
    bias = [g.like([per_group * groups], v.dtype)] if g.chance(0.5) else []
    return g.take("ConvTranspose", [x, w, *bias], **attributes)


def pool(g):
    x = image(g)
    v = g.values[x]
    if g.chance(0.2):
        return g.take(g.some(["GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"]), [x])
    kernel = [g.some([1, 2, 3]) for _ in v.dims[2:]]
    attributes = windows(g, v, kernel) | {"kernel_shape": kernel}
    op = g.some(["MaxPool", "AveragePool", "MaxPool", "AveragePool", "LpPool"])
    if op == "AveragePool":
        if g.opset < 19:
            attributes.pop("dilations", None)
        if g.chance(0.5):
            attributes["count_include_pad"] = 1
    if op == "LpPool":
        if g.opset < 18:
            attributes.pop("dilations", None)
        attributes["p"] = g.some([1, 2])
    if g.chance(0.3) and "auto_pad" not in attributes and (op != "LpPool" or g.opset >= 18):
        attributes["ceil_mode"] = 1
    if op == "MaxPool" and g.chance(0.3):
        return g.take(op, [x], 2, **attributes)
    return g.take(op, [x], **attributes)


def resize(g):
    x = image(g, FLOATS[:1])  # (of float64 the evaluator rounds the weights to float32)
    v = g.values[x]
    mode = g.some(["nearest", "linear", "cubic"])
    coordinates = g.some(["half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel"])
    attributes = {"mode": mode, "coordinate_transformation_mode": coordinates}
    if mode == "nearest":
        attributes["nearest_mode"] = g.some(["round_prefer_floor", "floor", "ceil", "round_prefer_ceil"])
    if mode == "cubic" and g.chance(0.5):
        attributes["cubic_coeff_a"] = -0.5
    if g.opset >= 18 and mode != "nearest" and g.chance(0.3):
        attributes["antialias"] = 1
    empty = g.constant(np.zeros(0, np.float32)) if g.opset < 13 else ""
    if g.chance(0.5):
        scales = [1.0, 1.0] + [g.some([0.5, 2.0, 1.5, 0.75]) for _ in v.dims[2:]]
        if any(int(scale * size) == 1 for scale, d in zip(scales[2:], v.dims[2:], strict=True) for size in d):
            raise Unfit  # the evaluator looks at the size before it is made whole, where that is 1
        return g.take("Resize", [x, empty, g.constant(scales, "float32")], **attributes)
    dims = [*v.dims[:2], *(g.some([3, 5, 8]) for _ in v.dims[2:])]
    return g.take("Resize", [x, empty, empty if g.opset < 13 else "", g.sizes(dims)], **attributes)


# Numbers that stand for others


def quantised(g):
    x = g.pick(lambda v: v.dtype == "float32")
    scale, zero = g.constant(0.125, "float32"), g.constant(3, g.some(["uint8", "int8"]))
    q = g.take("QuantizeLinear", [x, scale, zero])
    if g.chance(0.4):
        q = g.take("Identity", [q])
    return g.take("DequantizeLinear", [q, scale, zero])


# Elements of a byte or less, and the version that has them.
NARROW = {"float8_e4m3fn": 19, "float8_e5m2": 19, "int4": 21, "uint4": 21, "float4_e2m1fn": 23, "int2": 25, "uint2": 25}


def narrow_weights(g):
    """A matrix of them as floats: cast, or with scales for all elements, for columns or for blocks of rows."""
    kinds = [kind for kind, since in NARROW.items() if g.opset >= since and hasattr(ml_dtypes, kind)]
    if not kinds:
        raise Unfit
    kind, rows, columns = g.some(kinds), g.some([2, 4]), g.some([1, 3, 11])
    w = g.constant(g.rng.integers(0 if kind[0] == "u" else -2, 2, (rows, columns)).astype(getattr(ml_dtypes, kind)))
    if g.chance(0.3):
        return g.take("Cast", [w], to=NUMBER["float32"])
    shape, attributes = g.some([((), {}), ((columns,), {"axis": 1}), ((rows // 2, columns), {"axis": 0, "block_size": 2})])
    if "block_size" in attributes and g.opset < 21:
        raise Unfit
    scales = g.constant(np.abs(g.array("float32", shape)) + np.float32(0.25))
    return g.take("DequantizeLinear", [w, scales], **attributes)


def product_of_integers(g):
    x = g.pick(lambda v: v.rank >= 2 and v.dtype in ("uint8", "int8"))
    v = g.values[x]
    y = g.like([v.dims[-1], 3], g.some(["uint8", "int8"]))
    return g.take("MatMulInteger", [x, y] + ([g.constant(2, v.dtype)] if g.chance(0.4) else []))


def product_of_quantised(g):
    x = g.pick(lambda v: v.rank >= 2 and v.dtype in ("uint8", "int8"))
    v = g.values[x]
    y = g.like([v.dims[-1], 3], v.dtype)
    scale, zero = g.constant(0.25, "float32"), g.constant(1, v.dtype)
    return g.take("QLinearMatMul", [x, scale, zero, y, scale, zero, g.constant(0.5, "float32"), zero])


def convolution_of_integers(g):
    x = image(g, ("uint8", "int8"))
    v = g.values[x]
    kernel = [g.some([1, 2, 3]) for _ in v.dims[2:]]
    w = g.like([g.some([1, 2]), v.dims[1][0], *kernel], v.dtype)
    return g.take("ConvInteger", [x, w] + ([g.constant(1, v.dtype)] if g.chance(0.5) else []), **windows(g, v, kernel))


# What networks seldom have


def rare(g):
    return g.some([
        unique, eye, crop, sampled, quantised_by_itself, determinant, attention, rotated, loss, transformed, running_product,
    ])(g)  # fmt: skip


def unique(g):
    x = g.pick(lambda v: v.rank in (1, 2) and v.dtype in ("int64", "float32", "float64") and all(min(d) >= 2 for d in v.dims))
    axis = {"axis": some_axis(g, g.values[x])[1]} if g.chance(0.4) else {}
    return g.take("Unique", [x], g.some([1, 4]), **axis)


def eye(g):
    x = g.pick(lambda v: v.rank == 2)
    return g.take("EyeLike", [x], k=int(g.rng.integers(-1, 2)), dtype=NUMBER[g.some(["float32", "int64"])])


def crop(g):
    x = g.pick(lambda v: v.rank >= 1)
    _, axis = some_axis(g, g.values[x])
    return g.take("CenterCropPad", [x, g.sizes([g.some([2, 3, 6])])], axes=[axis])


def sampled(g):
    x = image(g, FLOATS[:1])
    if g.values[x].rank != 4:
        raise Unfit
    grid = g.like([g.values[x].dims[0], 2, 3, 2], "float32")
    modes = ["bilinear", "nearest", "bicubic"] if g.opset < 20 else ["linear", "nearest", "cubic"]
    attributes = {"mode": g.some(modes), "padding_mode": g.some(["zeros", "border", "reflection"])}
    return g.take("GridSample", [x, grid], align_corners=int(g.chance(0.5)), **attributes)


def quantised_by_itself(g):
    return g.take("DynamicQuantizeLinear", [g.pick(lambda v: v.dtype == "float32" and all(min(d) >= 1 for d in v.dims))], 3)


def determinant(g):
    return g.take("Det", [g.pick(lambda v: v.rank >= 2 and v.dtype in FLOATS[:2] and v.dims[-1] == v.dims[-2])])


def attention(g):
    dims = [g.some([1, "n"]), 2, g.some([2, 3, "m"]), 4]
    q = g.new_input("float32", dims)
    keys = [dims[0], 2, g.some([2, 5, "m", "n"]), 4]
    k, v = g.new_input("float32", keys), g.new_input("float32", keys)
    mask = [g.new_input(g.some(["bool", "float32"]), [dims[2], keys[2]])] if g.chance(0.4) else []
    attributes = {"is_causal": 1} if not mask and g.chance(0.4) else {}
    return g.take("Attention", [q, k, v, *mask], **attributes, **({"softcap": 2.0} if g.chance(0.2) else {}))


def rotated(g):
    x = g.new_input("float32", [g.some([1, 2, "n"]), 2, 3, 4])
    where_from = g.given([g.rng.integers(0, 5, (g.values[x].dims[0][i], 3)) for i in range(3)], [g.said(g.values[x].dims[0]), 3])
    cosines, sines = g.like([5, 2], "float32"), g.like([5, 2], "float32")
    return g.take("RotaryEmbedding", [x, cosines, sines, where_from], interleaved=int(g.chance(0.5)))


def loss(g):
    n = g.some([3, "n"])
    scores = g.new_input(g.some(FLOATS[:2]), [n, 4, *g.some([[], [2]])])
    v = g.values[scores]
    shapes = [[sizes for axis, sizes in enumerate(a.shape) if axis != 1] for a in v.plain]
    target = g.given([g.rng.integers(0, 4, shape) for shape in shapes], [n, *(d[0] for d in v.dims[2:])])
    weights = [g.constant(g.rng.uniform(0.5, 1, 4), v.dtype)] if g.chance(0.5) else []
    attributes = {"reduction": g.some(["none", "sum", "mean"])} | ({"ignore_index": 1} if g.chance(0.3) else {})
    return g.take(g.some(["NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"]), [scores, target, *weights], **attributes)


def transformed(g):
    x = g.new_input("float32", [g.some([2, "n"]), g.some([4, 6, 8]), g.some([1, 2])])
    way = {"inverse": int(g.chance(0.3)), "onesided": int(g.chance(0.3))}
    if way["inverse"]:
        way["onesided"] = 0
    return g.take("DFT", [x, "", g.constant(np.int64(1))], **way) if g.opset >= 20 else g.take("DFT", [x], axis=1, **way)


def running_product(g):
    x = g.pick(lambda v: v.rank > 0 and v.dtype in ("float32", "float64", "int64"))
    at = g.constant(np.int64(some_axis(g, g.values[x])[1]))
    return g.take("CumProd", [x, at], exclusive=int(g.chance(0.3)), reverse=int(g.chance(0.3)))


# Recurrent nodes


def recurrent(g):
    op = g.some(["LSTM", "GRU", "RNN"])
    x = None
    if g.chance(0.5):
        try:
            x = g.pick(lambda v: v.rank == 3 and v.dtype == "float32" and fixed(v.dims[2]) and all(min(d) >= 1 for d in v.dims))
        except Unfit:
            pass
    x = x or g.new_input("float32", [g.some([3, "n"]), g.some([1, 2, "m"]), g.some([2, 3])])
    v = g.values[x]
    if any(0 in d for d in v.dims):
        raise Unfit  # onnxruntime ends the process
    hidden, direction = g.some([2, 3]), g.some(["forward", "reverse", "bidirectional"])
    ways, gates = 1 + (direction == "bidirectional"), {"LSTM": 4, "GRU": 3, "RNN": 1}[op]

    def weights(*dims):
        return g.constant(g.array("float32", dims) * np.float32(0.5))

    operands = [x, weights(ways, gates * hidden, v.dims[2][0]), weights(ways, gates * hidden, hidden)]
    operands.append(weights(ways, 2 * gates * hidden) if g.chance(0.6) else "")
    lengths = fixed(v.dims[1]) and g.chance(0.3)
    operands.append(g.constant(g.rng.integers(1, min(v.dims[0]) + 1, v.dims[1][0]), "int32") if lengths else "")
    operands.append(g.like([ways, v.dims[1], hidden], "float32") if g.chance(0.4) else "")
    if op == "LSTM" and operands[-1] and g.chance(0.7):
        operands.append(g.like([ways, v.dims[1], hidden], "float32"))
        if g.chance(0.4):
            operands.append(weights(ways, 3 * hidden))
    attributes = {"hidden_size": hidden, "direction": direction}
    if g.chance(0.2):
        attributes["clip"] = 0.75
    if op == "GRU":
        attributes["linear_before_reset"] = int(g.chance(0.5))
    return g.take(op, operands, 3 if op == "LSTM" else 2, **attributes)


LAYERS = [
    product, product, gemm, einsum, norm, norm, convolution, convolution, transposed, pool, pool, resize, quantised,
    narrow_weights, product_of_integers, product_of_quantised, convolution_of_integers, rare, rare, rare, recurrent,
]  # fmt: skip
