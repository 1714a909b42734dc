"""Sizes that are 0 or 1 in one call and more in another, and integers at the end of their range, beside onnxruntime."""

import time

import inlay.onnx
import numpy as np
import pytest
from inlay.errors import ShapeMismatch
from onnx_nodes import TensorProto, agrees, f32, helper, model, node, onnx


def vector(*numbers):
    return np.array(numbers, np.int64)


@pytest.mark.parametrize("shape", [(1,), (2, 1), (3,)])
def test_expand_to_a_shape(shape):
    lengths = (1, 3) if shape == (3,) else (0, 1, 4)
    agrees(model([node("Expand", "x,s")], ["x: f32[n]"], constants={"s": vector(*shape)}), *[(f32(n),) for n in lengths])
    calls = [(f32(n), vector(*shape)) for n in lengths]
    agrees(model([node("Expand", "x,s")], ["x: f32[n]", f"s: i64[{len(shape)}]"]), *calls)


def test_expand_to_a_shape_that_is_found():
    fn = agrees(model([node("Expand", "x,s")], ["x: f32[n]", "s: i64[1]"]), (f32(1), vector(0)), (f32(0), vector(0)))
    of_five = inlay.onnx.compile(model([node("Expand", "x,s")], ["x: f32[5]", "s: i64[1]"]))
    assert of_five(f32(5), vector(1)).shape == of_five(f32(5), vector(5)).shape == (5,)
    for wrong, x, size in ((fn, 2, 0), (fn, 5, 3), (of_five, 5, 3), (of_five, 5, 0)):
        with pytest.raises(ShapeMismatch, match="Expand"):
            wrong(f32(x), vector(size))


def test_squeeze_of_axes_that_are_not_named():
    network = model([node("Squeeze", "x")], ["x: f32[n, 3, 1]"])
    with pytest.raises(NotImplementedError, match="whether axis 0 has one element decides .* the size `n`, to be fixed"):
        inlay.onnx.compile(network)
    assert inlay.onnx.compile(network, fixed={"n": 1})(f32(1, 3, 1)).shape == (3,)
    assert inlay.onnx.compile(network, fixed={"n": 2})(f32(2, 3, 1)).shape == (2, 3)
    first = [node("Slice", "x,zero,one", "first"), node("Squeeze", "first")]
    agrees(model(first, ["x: f32[n]"], constants={"zero": vector(0), "one": vector(1)}), (f32(4),), (f32(1),))


@pytest.mark.parametrize("start, end", [(0, 1), (2, 3), (-1, 2**31), (-2, -1)])
def test_one_place_of_an_axis_stretches(start, end):
    """As the first token of a sequence does beside all of them."""
    nodes = [node("Slice", "x,start,end,axis", "one"), node("Less", "one,x", "less"), node("Where", "less,one,x")]
    constants = {"start": vector(start), "end": vector(end), "axis": vector(1)}
    network = model(nodes, ["x: f32[b, n, 3]"], constants=constants)
    fn = agrees(network, (f32(2, 4, 3),), (f32(1, 3, 3),), (f32(2, 7, 3),))
    assert len(inlay.explain(fn).kernels) == 1
    assert fn(f32(2, 0, 3)).shape == (2, 0, 3)
    if start == 2:
        with pytest.raises(ShapeMismatch, match="dim 1 is 0, not 1"):
            fn(f32(2, 2, 3))


@pytest.mark.parametrize("dims, shapes", [(["n", 3], [(4, 3), (2, 3)]), ([3], [(1, 3)])])
def test_squeeze_where_the_network_says_how_many_axes_are_left(dims, shapes):
    """As those do of which shapes were inferred. A call in which they are others is none that it means."""
    network = model([node("Squeeze", "x"), node("Exp", "y", "z")], ["x: f32[n, 3, 1]"])
    network.graph.value_info.append(helper.make_tensor_value_info("y", TensorProto.FLOAT, dims))
    fn = agrees(network, *[(f32(*shape, 1),) for shape in shapes])
    if dims == [3]:
        with pytest.raises(ShapeMismatch, match="squeeze"):
            fn(f32(2, 3, 1))


# Calls of sizes n and m of which one is 1, or both, or none; and those of n beside 4.
BESIDE = [{"n": 1, "m": 4}, {"n": 4, "m": 1}, {"n": 1, "m": 1}, {"n": 4, "m": 4}, {"n": 0, "m": 1}]
CALLS = {"m": BESIDE, 4: [{"n": 1}, {"n": 4}]}


def with_sizes(nodes, dims, calls):
    """Of inputs a, b, ... of these sizes; compared with onnxruntime for each call."""
    inputs = [f"{name}: f32[{', '.join(map(str, d))}]" for name, d in zip("abc", dims, strict=False)]
    arrays = [tuple(f32(*(sizes.get(d, d) for d in each)) for each in dims) for sizes in calls]
    return agrees(model(nodes, inputs), *arrays, rtol=1e-4)


@pytest.mark.parametrize("other", CALLS)
@pytest.mark.parametrize("op", ["Add", "Less"])
def test_a_size_that_is_one_in_a_call_stretches(op, other):
    fn = with_sizes([node(op, "a,b")], [("n", 3), (other, 3)], CALLS[other])
    assert len(inlay.explain(fn).kernels) == 1
    with pytest.raises(ShapeMismatch, match=f"{op}: the value's dim 0 is 2, neither 1 nor 4"):
        fn(f32(2, 3), f32(4, 3))


def test_a_size_that_stretched_beside_one_of_its_parts():
    nodes = [node("Add", "a,b", "s"), node("Mul", "s,a", "t"), node("Sub", "t,b")]
    fn = with_sizes(nodes, [("n", 3), ("m", 3)], BESIDE)
    assert len(inlay.explain(fn).kernels) == 1


@pytest.mark.parametrize("other", CALLS)
def test_batches_of_matrices_that_are_one_in_a_call(other):
    """A product reads the one matrix for each of the other ones: nothing is copied for it."""
    fn = with_sizes([node("MatMul", "a,b")], [("n", 3, 2), (other, 2, 5)], CALLS[other])
    explained = inlay.explain(fn)
    assert (len(explained.kernels), len(explained.copies)) == (0, 0)
    with_sizes([node("MatMul", "a,b")], [(2, "n", 3, 2), (2, other, 2, 5)], CALLS[other])


def test_a_bias_that_is_one_in_a_call():
    calls = [{"n": 2, "m": 1}, {"n": 2, "m": 3}, {"n": 1, "m": 1}]
    with_sizes([node("Gemm", "a,b,c")], [("n", 4), (4, 3), ("m",)], calls)
    calls = [{"n": 2, "k": 3, "m": 1, "p": 3}, {"n": 2, "k": 3, "m": 2, "p": 1}, {"n": 1, "k": 5, "m": 1, "p": 1}]
    with_sizes([node("Gemm", "a,b,c")], [("n", 4), (4, "k"), ("m", "p")], calls)


@pytest.mark.parametrize(
    "equation, dims",
    [("bij,bjk->bik", [("n", 3, 4), ("m", 4, 2)]), ("...ij,...jk->...ik", [("n", 3, 4), ("m", 4, 2)]),
     ("ij,ij->i", [("n", 3), ("m", 3)]), ("ij,kj->ik", [(2, "n"), (3, "m")]), ("i,i->", [("n",), ("m",)])],
)  # fmt: skip
def test_letters_whose_size_is_one_in_a_call(equation, dims):
    with_sizes([node("Einsum", "a,b", equation=equation)], dims, BESIDE[:4])


def test_what_is_left_of_a_reshape_is_a_number():
    """Of 4*b*n elements as 4*b rows of n the open size is 1 for all sizes, so that it stretches."""
    nodes = [
        node("Shape", "x", "s"), node("Gather", "s,zero", "b"), node("Gather", "s,three", "n"), node("Mul", "b,four", "rows"),
        node("Concat", "rows,n,open", "t", axis=0), node("Reshape", "x,t", "r"), node("Add", "r,offsets"),
    ]  # fmt: skip
    constants = {"zero": vector(0), "three": vector(3), "four": vector(4), "open": vector(-1), "offsets": f32(5)}
    agrees(model(nodes, ["x: f32[b, 4, 1, n]"], constants=constants), (f32(2, 4, 1, 3),), (f32(1, 4, 1, 1),), (f32(3, 4, 1, 6),))


def test_quotients_of_sizes_are_sizes():
    """(n - 1) / 2 + 1, by which exporters count every second place, is the size that a slice or a convolution has."""
    nodes = [
        node("Shape", "x", "s", start=1), node("Sub", "s,one", "less"), node("Div", "less,two", "half"),
        node("Add", "half,one", "count"), node("ConstantOfShape", "count", "zeros"), node("Slice", "x,zero,end,one,two", "even"),
        node("Add", "zeros,even"),
    ]  # fmt: skip
    constants = {"zero": vector(0), "one": vector(1), "two": vector(2), "end": vector(2**31)}
    fn = agrees(model(nodes, ["x: f32[b, n]"], constants=constants), *[(f32(2, n),) for n in (0, 1, 2, 7, 8)])
    assert fn(f32(2, 9)).shape == (2, 5) and "over b x floordiv(n + 1, 2)" in str(inlay.explain(fn))


def test_powers_of_sizes_are_sizes():
    """As of the patches of an image, with a token beside them: one row of them stretches over a batch."""
    nodes = [
        node("Shape", "x", "s", start=3), node("Div", "s,eight", "side"), node("Pow", "side,two", "patches"),
        node("Concat", "zero,channels,patches", "t", axis=0), node("Reshape", "x,t", "rows"),
        node("Concat", "rows,token", "all", axis=2), node("Shape", "all", "u"), node("Expand", "bias,u", "wide"),
        node("Add", "all,wide"),
    ]  # fmt: skip
    constants = {"zero": vector(0), "eight": vector(8), "two": vector(2), "channels": vector(3 * 64), "bias": f32(1)}
    network = model(nodes, ["x: f32[1, 3, n, n]", "token: f32[1, 192, 1]"], constants=constants)
    fn = agrees(network, *[(f32(1, 3, n, n), f32(1, 192, 1)) for n in (8, 16, 32)], rtol=1e-6)
    assert fn(f32(1, 3, 24, 24), f32(1, 192, 1)).shape == (1, 192, 10) and "1 kernel, 0 temporaries" in str(inlay.explain(fn))


def test_quotients_of_what_is_counted_are_rounded_to_zero():
    nodes = [
        node("NonZero", "x", "places"), node("Shape", "places", "s", start=1), node("Sub", "s,one", "less"),
        node("Div", "less,two", "half"),
    ]  # fmt: skip
    network = model(nodes, ["x: f32[n]"], constants={"one": vector(1), "two": vector(2)})
    agrees(network, *[(np.arange(n, dtype=np.float32),) for n in (1, 2, 5)])


def test_split_into_parts_of_which_the_last_is_smaller():
    network = model([node("Split", "x", "y,z,w", num_outputs=3)], ["x: f32[n]"], num_outputs=3, opset=18)
    agrees(network, *[(f32(n),) for n in (0, 4, 5, 6, 7)])


def test_parts_that_are_not_as_many_as_the_node_says():
    network = model([node("Split", "x", "y,z", num_outputs=3)], ["x: f32[n]"], num_outputs=2, opset=18)
    with pytest.raises(ValueError, match="Split: `num_outputs` is 3, and it has 2 outputs"):
        inlay.onnx.compile(network)


def test_many_parts_are_read_in_little_time():
    """Each begins at a multiple of the length, not at the sum of those before it, which grow with each part."""
    names = [f"r{i}" for i in range(128)]
    network = model([node("Split", "x", ",".join(names), num_outputs=128)], ["x: f32[n]"], num_outputs=None, opset=18)
    read = inlay._inlay.read_onnx_bytes(network.SerializeToString(), "n", "")
    before = time.process_time()
    read.imported({}, [], True)
    assert time.process_time() - before < 5  # with sums it took 16 s


def test_a_size_is_added_to_a_number_at_the_end_of_i64():
    """The sum wraps around, as of any integers; what is a size is what is made of it."""
    for op, end in [("Mul", 2), ("Add", 2), ("Sub", 2)]:
        nodes = [node("Shape", "x", "s"), node(op, "s,big", "t"), node("Min", "t,two", "e"), node("Slice", "x,zero,e")]
        network = model(nodes, ["x: f32[n]"], constants={"big": vector(2**63 - 1), "two": vector(end), "zero": vector(0)})
        agrees(network, (f32(3),), (f32(4),))


def test_a_size_that_a_reshape_leaves_open_beside_one_of_none():
    """Whether the shape is known or an input, a 0 of it that is the operand's size says nothing of what is left."""
    for shape in ([0, -1], [-1, 0], [0, -1, 1]):
        given = model([node("Reshape", "x,s")], ["x: f32[n, m]", f"s: i64[{len(shape)}]"])
        known = model([node("Reshape", "x,s")], ["x: f32[n, m]"], constants={"s": vector(*shape)})
        known, given = inlay.onnx.compile(known), inlay.onnx.compile(given)
        for dims in ((2, 3), (0, 3), (3, 0)):
            if dims[1 - shape.index(-1)] == 0 or 0 not in dims:  # the size that is left is no quotient by 0
                x = f32(*dims)
                wanted = x.reshape(dims + (1,) * (len(shape) - 2))
                np.testing.assert_array_equal(known(x), wanted)
                np.testing.assert_array_equal(given(x, vector(*shape)), wanted)


def test_a_shape_of_no_axes():
    empty = helper.make_node("Constant", [], ["s"])
    empty.attribute.append(onnx.AttributeProto(name="value_ints", type=onnx.AttributeProto.INTS))
    agrees(model([empty, node("Reshape", "x,s")], ["x: f32[1]"]), (f32(1),))


def test_a_size_that_is_cut_to_a_byte():
    nodes = [
        node("Shape", "x", "s"), node("Cast", "s", "t", to=TensorProto.UINT8), node("Cast", "t", "u", to=TensorProto.INT64),
        node("Expand", "one,u"),
    ]  # fmt: skip
    agrees(model(nodes, ["x: f32[n]"], constants={"one": np.float32(1)}), (f32(300),), (f32(5),))


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64])
def test_remainders_of_the_least_integer(dtype):
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    x = np.array([low, low, high, -7, 7, -7, 7, low, 5], dtype)
    y = np.array([3, 7, -3, 3, -3, -3, 3, low, low], dtype)
    name = {np.int8: "i8", np.int32: "i32", np.int64: "i64"}[dtype]
    fn = inlay.onnx.compile(model([node("Mod", "x,y", "rest", fmod=1)], [f"x: {name}[n]", f"y: {name}[n]"]))
    np.testing.assert_array_equal(fn(x, y), np.fmod(x, y))
    np.testing.assert_array_equal(fn(x, np.zeros_like(y)), np.zeros_like(x))


def test_sizes_of_names_that_are_no_identifiers():
    network = model([node("Concat", "x,y,z", "w", axis=0)], ["x: f32[a-b]", "y: f32[a.b]", "z: f32[a_b_2]"])
    sizes = ["f32[a_b]", "f32[a_b_2]", "f32[a_b_2_2]"]
    assert list(inlay.onnx.compile(network).parameters.values()) == sizes
    fixed = inlay.onnx.compile(network, fixed={"a.b": 3})
    assert list(fixed.parameters.values()) == [sizes[0], "f32[3]", sizes[2]]
    of_the_graph = inlay.onnx.compile(network, fixed={"a_b": 4})
    assert list(of_the_graph.parameters.values()) == ["f32[4]", *sizes[1:]]
    of_another = inlay.onnx.compile(network, fixed={"a_b_2": 3})  # what the graph calls `a.b` is the name of a third
    assert list(of_another.parameters.values())[1:] == [sizes[1], "f32[3]"]
