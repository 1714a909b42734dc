"""Networks that draw: the numbers are those of SplitMix64, of the distribution that is asked for, and hang on the seed."""

import platform

import inlay
import inlay.onnx
import numpy as np
import pytest
import scipy.stats
from inlay.errors import InlayError

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper  # noqa: E402

LEAST_P = 1e-4  # of a test of a distribution, whose numbers are always the same


def network(nodes, inputs, outputs, opset=22):
    """A network; inputs and outputs as (name, type, shape)."""
    infos = [[helper.make_tensor_value_info(*one) for one in side] for side in (inputs, outputs)]
    graph = helper.make_graph(nodes, "draws", *infos)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])


def drawing(op, dtype=TensorProto.FLOAT, shape=(20000,), **attributes):
    node = helper.make_node(op, [], ["y"], dtype=dtype, shape=shape, **attributes)
    return inlay.onnx.compile(network([node], [], [("y", dtype, shape)]))


def split_mix(start, count):
    """Its first numbers. Source: S. Vigna, splitmix64.c, in the public domain."""
    with np.errstate(over="ignore"):
        z = np.uint64(start) + np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


def test_the_numbers_are_those_of_the_generator():
    assert split_mix(0, 3).tolist() == [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]
    first_node = split_mix(7, 1)[0]  # of the seed 7 the start of the first node that draws
    bits = split_mix(first_node, 6).reshape(2, 3)
    np.testing.assert_array_equal(
        drawing("RandomUniform", TensorProto.DOUBLE, (2, 3))(seed=7), (bits >> np.uint64(11)) * 2.0**-53
    )
    single = drawing("RandomUniform", TensorProto.FLOAT, (2, 3), low=-1.0, high=3.0)(seed=7)
    np.testing.assert_array_equal(single, (bits >> np.uint64(40)).astype(np.float32) * np.float32(2.0**-22) - 1)


@pytest.mark.parametrize("dtype", [TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.FLOAT16])
def test_distributions(dtype):
    uniform = drawing("RandomUniform", dtype, low=2.0, high=5.0)(seed=1).astype(float)
    assert 2 <= uniform.min() < 2.01 and 4.99 < uniform.max() <= 5
    assert scipy.stats.kstest(uniform, scipy.stats.uniform(2, 3).cdf).pvalue > LEAST_P
    normal = drawing("RandomNormal", dtype, mean=1.0, scale=0.5)(seed=2).astype(float)
    assert scipy.stats.kstest(normal, scipy.stats.norm(1, 0.5).cdf).pvalue > LEAST_P


def test_neighbours_do_not_hang_together():
    x = drawing("RandomNormal", TensorProto.DOUBLE, (200, 300))(seed=3)
    for a, b in ((x[1:], x[:-1]), (x[:, 1:], x[:, :-1]), (x[:100], x[100:])):
        assert abs(np.corrcoef(a.ravel(), b.ravel())[0, 1]) < 4 / np.sqrt(a.size)
    seeds = np.array([drawing("RandomNormal", TensorProto.DOUBLE, (2000,))(seed=s) for s in range(8)])
    assert np.abs(np.corrcoef(seeds) - np.eye(8)).max() < 5 / np.sqrt(2000)


def noisy():
    """x + 0.1 * noise, and its sum; the noise twice, from two nodes."""
    nodes = [
        helper.make_node("RandomNormalLike", ["x"], ["n"], scale=0.1),
        helper.make_node("RandomNormalLike", ["x"], ["m"], scale=0.1),
        helper.make_node("Add", ["x", "n"], ["y"]),
        helper.make_node("Sub", ["n", "m"], ["d"]),
        helper.make_node("ReduceSum", ["y"], ["s"], keepdims=0),
    ]
    sized = ["rows", "columns"]
    outputs = [("y", TensorProto.FLOAT, sized), ("s", TensorProto.FLOAT, []), ("d", TensorProto.FLOAT, sized)]
    return network(nodes, [("x", TensorProto.FLOAT, sized)], outputs)


def test_a_seed_gives_the_same_numbers_in_every_way():
    x = np.zeros((300, 1000), np.float32)
    plain = inlay.onnx.compile(noisy())
    assert list(plain.parameters) == ["x", "seed"]
    y, s, d = plain(x, 5)
    for choices in ({"backend": "c"}, {"fuse": "none"}, {"threads": 2}):
        again, _, other = inlay.onnx.compile(noisy(), **choices)(x, 5)
        np.testing.assert_array_equal(y, again)
        np.testing.assert_array_equal(d, other)
    assert np.all(plain(x, 6)[0] != y)
    assert np.count_nonzero(d == 0) < 10  # the nodes draw each for themselves


@pytest.mark.skipif(platform.machine() != "x86_64", reason="levels of x86-64")
def test_a_seed_gives_the_same_numbers_on_every_cpu():
    uniform = [helper.make_node("RandomUniform", [], ["y"], shape=[2000], dtype=TensorProto.DOUBLE)]
    model = network(uniform, [], [("y", TensorProto.DOUBLE, [2000])])
    wanted = inlay.onnx.compile(model)(seed=4)
    for level in ("avx2", "sse2"):
        np.testing.assert_array_equal(inlay.onnx.compile(model, cpu=level)(seed=4), wanted)


def test_draws_are_part_of_the_loop_that_reads_them():
    explained = inlay.explain(inlay.onnx.compile(noisy()))
    assert len(explained.kernels) == 1
    assert explained.arena_bytes == 0


def test_a_loop_draws_anew_in_each_step():
    count = helper.make_tensor("count", TensorProto.INT64, [], [1000])
    body = helper.make_graph(
        [
            helper.make_node("RandomNormal", [], ["row"], shape=[4]),
            helper.make_node("Identity", ["c"], ["go"]),
        ],
        "body",
        [helper.make_tensor_value_info("i", TensorProto.INT64, []), helper.make_tensor_value_info("c", TensorProto.BOOL, [])],
        [helper.make_tensor_value_info("go", TensorProto.BOOL, []), helper.make_tensor_value_info("row", TensorProto.FLOAT, [4])],
    )
    nodes = [helper.make_node("Constant", [], ["n"], value=count), helper.make_node("Loop", ["n", ""], ["rows"], body=body)]
    rows = inlay.onnx.compile(network(nodes, [], [("rows", TensorProto.FLOAT, [1000, 4])]))(seed=1)
    assert len(np.unique(rows)) > 3990
    assert scipy.stats.kstest(rows.ravel(), scipy.stats.norm.cdf).pvalue > LEAST_P


def test_truths_and_classes():
    p = np.array([0.0, 0.1, 0.5, 1.0], np.float32)
    many = [helper.make_node("Expand", ["p", "shape"], ["all"]), helper.make_node("Bernoulli", ["all"], ["y"], dtype=TensorProto.INT32)]
    model = network(many, [("p", TensorProto.FLOAT, [4])], [("y", TensorProto.INT32, [10000, 4])])
    model.graph.initializer.append(helper.make_tensor("shape", TensorProto.INT64, [2], [10000, 4]))
    drawn = inlay.onnx.compile(model)(p, 1)
    assert drawn.dtype == np.int32
    assert np.abs(drawn.mean(0) - p).max() < 4 * 0.5 / 100
    assert drawn[:, 0].max() == 0 and drawn[:, 3].min() == 1

    weights = np.array([[1, 2, 3, 4], [0, 1, 0, 0]], np.float32)
    node = helper.make_node("Multinomial", ["x"], ["y"], sample_size=20000, dtype=TensorProto.INT64)
    model = network([node], [("x", TensorProto.FLOAT, [2, 4])], [("y", TensorProto.INT64, [2, 20000])])
    with np.errstate(divide="ignore"):
        classes = inlay.onnx.compile(model)(np.log(weights), 1)
    counts = np.bincount(classes[0], minlength=4)
    assert scipy.stats.chisquare(counts, 2000 * weights[0]).pvalue > LEAST_P
    assert set(classes[1]) == {1}


def test_dropout_that_trains():
    inputs = [("x", TensorProto.FLOAT, [50000]), ("ratio", TensorProto.FLOAT, [])]
    node = helper.make_node("Dropout", ["x", "ratio", "trains"], ["y", "mask"])
    model = network([node], inputs, [("y", TensorProto.FLOAT, [50000]), ("mask", TensorProto.BOOL, [50000])])
    model.graph.initializer.append(helper.make_tensor("trains", TensorProto.BOOL, [], [True]))
    fn = inlay.onnx.compile(model)
    x = np.full(50000, 3, np.float32)
    y, mask = fn(x, np.float32(0.25), 1)
    np.testing.assert_array_equal(y, np.where(mask, x / np.float32(0.75), 0))
    assert abs(mask.mean() - 0.75) < 4 * np.sqrt(0.25 * 0.75 / 50000)
    y, mask = fn(x, np.float32(0), 1)
    assert mask.all() and (y == 3).all()


def test_where_the_seed_is_given():
    node = helper.make_node("RandomUniform", [], ["y"], shape=[3])
    model = network([node], [], [("y", TensorProto.FLOAT, [3])])
    fixed = inlay.onnx.compile(model, fixed={"seed": 9})
    assert not fixed.parameters
    np.testing.assert_array_equal(fixed(), inlay.onnx.compile(model)(seed=9))
    with pytest.raises(TypeError, match="seed"):
        inlay.onnx.compile(model)()

    taken = network(
        [helper.make_node("RandomNormalLike", ["seed"], ["y"])], [("seed", TensorProto.FLOAT, [3])], [("y", TensorProto.FLOAT, [3])]
    )
    assert list(inlay.onnx.compile(taken).parameters) == ["seed", "seed_2"]
    plain = network([helper.make_node("Abs", ["x"], ["y"])], [("x", TensorProto.FLOAT, [3])], [("y", TensorProto.FLOAT, [3])])
    with pytest.raises(InlayError, match="`seed` is to be fixed, and is neither an input nor a size of one"):
        inlay.onnx.compile(plain, fixed={"seed": 1})
    with pytest.raises(NotImplementedError, match="draws of i32"):
        drawing("RandomNormal", TensorProto.INT32)
