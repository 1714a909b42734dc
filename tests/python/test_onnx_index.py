"""Networks of one or a few nodes with sizes that are known per call, against onnxruntime: elements that are read and
written through indices, arrays made by a rule, products, quantised numbers."""

import inlay
import inlay.onnx
import numpy as np
import pytest
from onnx_nodes import RNG, TYPES, TensorProto, agrees, f32, helper, i64, model, node, numpy_helper

SIZES = [(5, 4), (3, 7), (1, 1), (8, 2)]


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_gather(axis):
    network = model([node("Gather", "x,i", axis=axis)], ["x: f32[n, m]", "i: i64[k, 2]"])
    agrees(network, *[(f32(n, m), i64(k, 2, low=-min(n, m), high=min(n, m))) for k, (n, m) in enumerate(SIZES)])


def test_one_known_position_is_a_view():
    nodes = [node("Gather", "x,i", "g", axis=0), node("Exp", "g")]
    fn = agrees(model(nodes, ["x: f32[n, m]"], constants={"i": np.int64(-1)}), *[(f32(n, m),) for n, m in SIZES])
    assert len(inlay.explain(fn).kernels) == 1


def test_gather_beyond_the_axis_fails():
    fn = inlay.onnx.compile(model([node("Gather", "x,i")], ["x: f32[n]", "i: i64[k]"]))
    with pytest.raises(inlay.errors.IndexOutOfBounds, match="Gather"):
        fn(f32(3), np.array([3]))


@pytest.mark.parametrize("axis", [0, 1])
def test_gather_and_scatter_elements(axis):
    network = model([node("GatherElements", "x,i", axis=axis)], ["x: f32[n, m]", "i: i64[j, k]"])
    agrees(network, *[(f32(n, m), i64(n, m, low=-min(n, m), high=min(n, m))) for n, m in SIZES])
    agrees(network, (f32(5, 4), i64(2, 3)), (f32(6, 6), i64(1, 2)))
    for reduction in ["none", "add", "mul", "max", "min"]:
        scatter = model(
            [node("ScatterElements", "x,i,v", axis=axis, reduction=reduction)],
            ["x: f32[n, m]", "i: i64[j, k]", "v: f32[j, k]"],
        )
        once = np.stack([RNG.permutation(5)[:3] for _ in range(2)], axis=1 - axis if axis == 0 else 0)
        once = once if reduction == "none" else np.concatenate([once, once], axis=axis)
        agrees(scatter, (f32(5, 5), once, f32(*once.shape)))


@pytest.mark.parametrize("batch_dims", [0, 1])
def test_gather_nd(batch_dims):
    network = model([node("GatherND", "x,i", batch_dims=batch_dims)], ["x: f32[b, n, m]", "i: i64[b, k, 1]"])
    agrees(network, *[(f32(3, n, m), i64(3, 4, 1, low=-min(n, 3), high=min(n, 3))) for n, m in SIZES])


@pytest.mark.parametrize("reduction", ["none", "add", "mul", "max", "min"])
def test_scatter_nd(reduction):
    network = model(
        [node("ScatterND", "x,i,v", reduction=reduction)], ["x: f32[n, m, k]", "i: i64[j, 2]", "v: f32[j, k]"]
    )
    rows = np.array([[0, 1], [1, 0], [-1, 2]], np.int64)
    twice = rows if reduction == "none" else np.concatenate([rows, rows])
    agrees(network, *[(f32(3, 4, k), twice, f32(len(twice), k)) for k in (1, 5)])


def test_one_hot_compress_nonzero():
    one_hot = model([node("OneHot", "i,d,v", axis=1)], ["i: i64[n, m]", "d: i64[1]", "v: f32[2]"])
    agrees(one_hot, *[(i64(n, m, low=-5, high=5), np.array([4]), f32(2)) for n, m in SIZES])
    network = model([node("Compress", "x,c", axis=1)], ["x: f32[n, m]", "c: bool[k]"])
    agrees(network, *[(f32(n, m), RNG.integers(0, 2, max(m - 1, 1)).astype(bool)) for n, m in SIZES])
    network = model([node("Compress", "x,c")], ["x: f32[n, m]", "c: bool[k]"])
    agrees(network, (f32(3, 2), np.array([True, False, True])))
    agrees(model([node("NonZero", "x")], ["x: i64[n, m]"]), *[(i64(n, m),) for n, m in SIZES])


def test_reverse_sequence():
    for batch in (0, 1):
        network = model(
            [node("ReverseSequence", "x,l", batch_axis=batch, time_axis=1 - batch)], ["x: f32[n, m, k]", "l: i64[b]"]
        )
        x = f32(4, 6, 2)
        agrees(network, (x, i64(x.shape[batch], low=1, high=4)), (x[:3, :3], np.array([3, 1, 2])))


def test_range_of_known_and_late_numbers():
    for kind in ("i64", "i32", "f32", "f64"):
        dtype = {"i64": np.int64, "i32": np.int32, "f32": np.float32, "f64": np.float64}[kind]
        network = model([node("Range", "a,b,c")], [f"a: {kind}", f"b: {kind}", f"c: {kind}"])
        calls = [(0, 5, 1), (2, 11, 3), (7, -2, -2), (3, 1, 1)]
        agrees(network, *[tuple(dtype(v) for v in call) for call in calls])
    with pytest.raises(inlay.errors.ZeroStep):
        inlay.onnx.compile(network)(np.float64(0), np.float64(1), np.float64(0))


def test_a_range_up_to_a_size_is_as_long_as_the_axis():
    """So what it is added to needs no check, and no size is found when it runs."""
    nodes = [
        node("Shape", "x", "s", start=0, end=1), node("Squeeze", "s", "n"), node("Range", "zero,n,one", "r"),
        node("Cast", "r", "f", to=TensorProto.FLOAT), node("Add", "x,f"),
    ]  # fmt: skip
    network = model(nodes, ["x: f32[n]"], constants={"zero": np.int64(0), "one": np.int64(1)})
    fn = agrees(network, *[(f32(n),) for n in (1, 4, 9)])
    assert len(inlay.explain(fn).kernels) == 1


def test_a_vector_of_ones_counts_up_to_a_size():
    """As networks did before there was a Range."""
    one = numpy_helper.from_array(np.array([1]))
    nodes = [
        node("Shape", "x", "s", start=0, end=1), node("ConstantOfShape", "s", "o", value=one),
        node("NonZero", "o", "z"), node("Squeeze", "z,zero", "r"), node("Cast", "r", "f", to=TensorProto.FLOAT),
        node("Add", "x,f"),
    ]  # fmt: skip
    network = model(nodes, ["x: f32[n]"], constants={"zero": np.array([0])})
    fn = agrees(network, *[(f32(n),) for n in (1, 4, 9)])
    assert len(inlay.explain(fn).kernels) == 1


def test_a_shape_that_is_written_into_is_known():
    """So the rank is known, and the product of what is left fits."""
    nodes = [
        node("Shape", "x", "s"), node("Gather", "s,first", "n"), node("ScatterND", "to,at,n", "t"),
        node("Pad", "t,one,,", "p", mode="constant"), node("Slice", "p,begin,end", "q"), node("Reshape", "x,q", "r"),
        node("Relu", "r"),
    ]  # fmt: skip
    constants = {"first": np.array([0]), "to": np.array([-1, -1, 2]), "at": np.array([[1]]), "one": np.array([1, 1]),
                 "begin": np.array([1]), "end": np.array([-1])}  # fmt: skip
    network = model(nodes, ["x: f32[n, m]"], constants=constants)
    fn = agrees(network, (f32(3, 4),), (f32(5, 2),))
    assert len(inlay.explain(fn).kernels) == 1


def test_tile():
    network = model([node("Tile", "x,t")], ["x: f32[n, m]", "t: i64[2]"])
    agrees(network, *[(f32(n, m), np.array([2, 3])) for n, m in SIZES], (f32(2, 3), np.array([0, 1])))


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "wrap"])
def test_pad(mode):
    network = model([node("Pad", "x,p", mode=mode)], ["x: f32[n, m]", "p: i64[4]"])
    calls = [(f32(n + 2, m + 2), np.array([1, 0, 2, 1])) for n, m in SIZES]
    agrees(network, *calls)
    if mode != "wrap":  # onnxruntime's wraps what is cut off, too
        agrees(network, (f32(5, 6), np.array([-1, 2, 1, -2])))
    known = model([node("Pad", "x,p,,a", mode=mode)], ["x: f32[n, m]"],
                  constants={"p": np.array([1, 2]), "a": np.array([-1])})  # fmt: skip
    agrees(known, *[(f32(n, m + 2),) for n, m in SIZES])


@pytest.mark.parametrize("opset", [10, 11, 13, 18, 19])
def test_pad_of_all_versions(opset):
    if opset < 11:
        nodes, constants = [node("Pad", "x", pads=[1, 0, 0, 2], value=1.5)], {}
    else:
        nodes, constants = [node("Pad", "x,p,v")], {"p": np.array([1, 0, 0, 2]), "v": np.float32(1.5)}
    network = model(nodes, ["x: f32[n, m]"], constants=constants, opset=opset)
    agrees(network, *[(f32(n, m),) for n, m in SIZES])


def test_triangles_and_diagonals():
    for upper in (0, 1):
        network = model([node("Trilu", "x,k", upper=upper)], ["x: f32[b, n, m]", "k: i64"])
        agrees(network, *[(f32(2, n, m), np.int64(k)) for k, (n, m) in zip((0, -1, 2, 1), SIZES, strict=True)])
        x = f32(1, 2, 3)
        for k in (np.iinfo(np.int64).max, np.iinfo(np.int64).min):
            assert (inlay.onnx.compile(network)(x, np.int64(k)) == (x if (k < 0) == upper else 0)).all()
    agrees(model([node("EyeLike", "x", k=1)], ["x: f32[n, m]"]), *[(f32(n, m),) for n, m in SIZES])


def test_center_crop_pad():
    network = model([node("CenterCropPad", "x,s", axes=[1, 0])], ["x: f32[n, m]", "s: i64[2]"])
    agrees(network, *[(f32(n, m), np.array([4, 3])) for n, m in SIZES])


@pytest.mark.parametrize("mode", ["DCR", "CRD"])
def test_depth_and_space(mode):
    network = model([node("DepthToSpace", "x", blocksize=2, mode=mode)], ["x: f32[n, c, h, w]"])
    agrees(network, (f32(2, 8, 3, 2),), (f32(1, 4, 1, 5),))
    network = model([node("SpaceToDepth", "x", blocksize=2)], ["x: f32[n, c, h, w]"])
    agrees(network, (f32(2, 3, 4, 6),), (f32(1, 1, 2, 2),))


def test_matmul():
    network = model([node("MatMul", "x,w")], ["x: f32[b, n, k]", "w: f32[k, m]"])
    agrees(network, *[(f32(3, n, 4), f32(4, m)) for n, m in SIZES])
    network = model([node("MatMul", "x,w")], ["x: i32[n, k]", "w: i32[k, m]"])
    agrees(network, *[(i64(n, 3).astype(np.int32), i64(3, m).astype(np.int32)) for n, m in SIZES])
    for shapes in [("k", "b, k, m"), ("b, n, k", "k"), ("k", "k")]:
        network = model([node("MatMul", "x,w")], [f"x: f32[{shapes[0]}]", f"w: f32[{shapes[1]}]"])
        sizes = {"b": 2, "n": 3, "k": 4, "m": 5}
        agrees(network, [f32(*[sizes[d] for d in dims.split(", ")]) for dims in shapes])


@pytest.mark.parametrize("transposed", [(0, 0), (1, 0), (0, 1), (1, 1)])
def test_gemm(transposed):
    a, b = transposed
    for bias, dims in {"c: f32[m]": (1,), "c: f32[n, 1]": (0, None), "c: f32": ()}.items():
        network = model(
            [node("Gemm", "a,b,c", transA=a, transB=b, alpha=0.5, beta=2.0)],
            [f"a: f32[{'k, n' if a else 'n, k'}]", f"b: f32[{'m, k' if b else 'k, m'}]", bias],
        )
        calls = []
        for n, m in SIZES:
            shape = [1 if d is None else (n, m)[d] for d in dims]
            calls.append((f32(3, n) if a else f32(n, 3), f32(m, 3) if b else f32(3, m), f32(*shape)))
        agrees(network, *calls)


def test_half_precision_is_summed_in_single():
    network = model([node("MatMul", "x,w")], ["x: f16[n, k]", "w: f16[k, m]"])
    x = np.full((2, 4096), 1, np.float16)
    y = np.full((4096, 2), 1, np.float16)
    assert (inlay.onnx.compile(network)(x, y) == 4096).all()


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [
        ("...ij,...jk->...ik", [(2, 3, 4), (4, 5)]),
        ("...ij,...jk", [(1, 3, 4), (2, 4, 5)]),
        ("bhQd,bhKd->bhQK", [(2, 2, 3, 4), (2, 2, 5, 4)]),
        ("i,j->ij", [(3,), (4,)]),
        ("ij->ji", [(3, 4)]),
        ("ij", [(3, 4)]),
        ("ba", [(3, 4)]),
        ("ii->i", [(3, 3)]),
        ("bij, bjk , k -> b", [(2, 3, 4), (2, 4, 5), (5,)]),
        ("...->...", [(2, 3)]),
    ],
)
def test_einsum(equation, shapes):
    names = [f"x{i}" for i in range(len(shapes))]
    inputs = [
        f"{name}: f32[{', '.join('1' if size == 1 else f'd{size}' for size in shape)}]"
        for name, shape in zip(names, shapes, strict=True)
    ]
    fn = inlay.onnx.compile(model([node("Einsum", ",".join(names), equation=equation)], inputs))
    given = [f32(*shape) for shape in shapes]
    np.testing.assert_allclose(fn(*given), np.einsum(equation, *given), rtol=1e-5, atol=1e-6)


def test_det():
    agrees(model([node("Det", "x")], ["x: f32[b, n, n]"]), (f32(3, 4, 4),), (f32(1, 1, 1),))


def u8(*dims):
    return RNG.integers(0, 256, dims).astype(np.uint8)


@pytest.mark.parametrize("name", ["u8", "i8", "u16", "i16"])
def test_quantise(name):
    kind = helper.tensor_dtype_to_np_dtype(TYPES[name])
    constants = {"s": np.array([0.1, 0.02], np.float32), "z": np.array([3, 7], kind)}
    network = model([node("QuantizeLinear", "x,s,z", axis=1)], ["x: f32[n, 2, m]"], constants=constants)
    calls = [(f32(n, 2, m) * 30,) for n, m in SIZES]
    halves = np.array([0.05, 0.15, 0.25, -0.05, -0.15, 1e9, -1e9, np.inf, -np.inf], np.float32)
    calls.append((np.stack([halves, halves])[None],))
    agrees(network, *calls)
    back = model([node("DequantizeLinear", "x,s,z", axis=1)], [f"x: {name}[n, 2, m]"], constants=constants)
    agrees(back, *[(RNG.integers(0, 100, (n, 2, m)).astype(kind),) for n, m in SIZES])


def test_quantise_by_blocks():
    scale = RNG.uniform(0.1, 1, (2, 3)).astype(np.float32)
    zero = RNG.integers(0, 9, (2, 3)).astype(np.int8)
    network = model([node("DequantizeLinear", "x,s,z", axis=1, block_size=4)], ["x: i8[n, 12]"],
                    constants={"s": scale, "z": zero})  # fmt: skip
    agrees(network, (RNG.integers(-128, 128, (2, 12)).astype(np.int8),))


def test_dynamically_quantised():
    network = model([node("DynamicQuantizeLinear", "x", "y,s,z")], ["x: f32[n, m]"], num_outputs=3)
    agrees(network, *[(f32(n, m),) for n, m in SIZES], (np.abs(f32(3, 3)) + 1,), (np.zeros((2, 2), np.float32),))


def test_products_of_integers():
    network = model(
        [node("MatMulInteger", "a,b,c,d")], ["a: u8[b, n, k]", "b: i8[k, m]", "c: u8", "d: i8[m]"]
    )
    signed = lambda *dims: RNG.integers(-128, 128, dims).astype(np.int8)  # noqa: E731
    agrees(network, *[(u8(2, n, 300), signed(300, m), np.uint8(7), signed(m)) for n, m in SIZES])
    scales = [np.float32(0.02), np.uint8(113), np.float32(0.01), np.uint8(114), np.float32(0.5), np.uint8(118)]
    network = model(
        [node("QLinearMatMul", "a,as,az,b,bs,bz,ys,yz")],
        ["a: u8[n, k]", "as: f32", "az: u8", "b: u8[k, m]", "bs: f32", "bz: u8", "ys: f32", "yz: u8"],
    )
    agrees(network, *[(u8(n, 20), *scales[:2], u8(20, m), *scales[2:]) for n, m in SIZES])
