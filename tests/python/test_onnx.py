"""The door for networks: files, names, sizes, what is fixed, and what is refused."""

import os
import pickle
import subprocess
import sys
from pathlib import Path

import inlay
import inlay.onnx
import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

F32, I64 = TensorProto.FLOAT, TensorProto.INT64


def model(nodes, inputs, outputs, weights=(), opset=17, functions=(), extra_opsets=()):
    """A ModelProto. `inputs`: name -> (type, dims); `weights`: name -> array."""
    values = [helper.make_tensor_value_info(name, kind, dims) for name, (kind, dims) in inputs.items()]
    results = [helper.make_tensor_value_info(name, F32, None) for name in outputs]
    tensors = [numpy_helper.from_array(np.asarray(array), name) for name, array in dict(weights).items()]
    graph = helper.make_graph(nodes, "net", values, results, tensors)
    opsets = [helper.make_opsetid("", opset), *(helper.make_opsetid(*each) for each in extra_opsets)]
    return helper.make_model(graph, opset_imports=opsets, functions=list(functions))


def affine():
    """y = relu(x * scale * 2 + b), of rows."""
    nodes = [
        helper.make_node("Mul", ["scale", "two"], ["factor"]),
        helper.make_node("Mul", ["x", "factor"], ["p"]),
        helper.make_node("Add", ["p", "b"], ["s"], name="the sum"),
        helper.make_node("Relu", ["s"], ["y"]),
    ]
    weights = {"scale": np.arange(20, dtype="f4"), "two": np.float32(2), "b": np.full(20, -30, "f4")}
    return model(nodes, {"x": (F32, ["batch", 20])}, ["y"], weights)


def expected(x):
    return np.maximum(x * np.arange(20, dtype="f4") * 2 - 30, 0)


def test_what_a_network_takes_and_gives(tmp_path):
    x = np.random.default_rng(1).normal(size=(3, 20)).astype("f4") * 9
    onnx.save(affine(), tmp_path / "net.onnx")
    bytes_of_it = (tmp_path / "net.onnx").read_bytes()
    for source in (tmp_path / "net.onnx", str(tmp_path / "net.onnx"), bytes_of_it, bytearray(bytes_of_it), affine()):
        fn = inlay.onnx.compile(source)
        np.testing.assert_array_equal(fn(x), expected(x))
        np.testing.assert_array_equal(fn(x=x[:1]), expected(x[:1]))  # another batch
    assert fn.parameters == {"x": "f32[batch, 20]"}
    assert fn.results == {"y": "f32[batch, 20]"}


def test_a_loop_for_all_and_weights_computed_once(tmp_path):
    explained = inlay.explain(inlay.onnx.compile(affine()))
    assert len(explained.kernels) == 1
    assert "scale" not in explained.graph and "factor" in explained.graph  # scale * 2 is a weight of its own


def test_mistakes_of_a_caller():
    with pytest.raises(TypeError, match="path, bytes or a ModelProto, not a list"):
        inlay.onnx.compile([1])
    with pytest.raises(ValueError, match="no such file|cannot be read: No such file"):
        inlay.onnx.compile("nowhere.onnx")
    with pytest.raises(inlay.errors.UnknownName, match="`z` is to be fixed, and is neither an input nor a size of one; there are the sizes batch"):
        inlay.onnx.compile(affine(), fixed={"z": 1})
    fn = inlay.onnx.compile(affine())
    with pytest.raises(ValueError, match=r"x: dim 1 is 7, not 20|x.*7.*20"):
        fn(np.zeros((2, 7), "f4"))
    with pytest.raises(TypeError, match="x: an array of f64 where f32 is expected"):
        fn(np.zeros((2, 20)))


def test_the_same_function_after_a_file_a_pickle_and_as_c(tmp_path):
    x = np.random.default_rng(2).normal(size=(2, 20)).astype("f4")
    fn = inlay.onnx.compile(affine())
    inlay.save(fn, tmp_path / "net.inlayfn")
    np.testing.assert_array_equal(inlay.load(tmp_path / "net.inlayfn")(x), expected(x))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(fn))(x), expected(x))
    inlay.export(fn, tmp_path, name="net", sizes={"batch": 2})
    assert "int32_t net(const float x[40], float y[40], void* arena);" in (tmp_path / "net.h").read_text()


def test_the_command_line(tmp_path):
    x = np.random.default_rng(3).normal(size=(2, 20)).astype("f4") * 9
    onnx.save(affine(), tmp_path / "net.onnx")
    np.save(tmp_path / "x.npy", x)

    def inlay_tool(*words):
        where = {"PYTHONPATH": str(Path(inlay.__file__).parents[1])}
        command = [sys.executable, "-m", "inlay", *map(str, words)]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=os.environ | where)

    ran = inlay_tool("run", "net.onnx", "x=x.npy", "-o", "out")
    assert ran.returncode == 0, ran.stderr
    np.testing.assert_array_equal(np.load(tmp_path / "out" / "y.npy"), expected(x))
    assert "y = max(" in inlay_tool("run", "net.onnx", "--profile", "--size", "batch=8").stdout
    assert "graph @net" in inlay_tool("explain", "net.onnx").stdout
    assert "int32_t" in inlay_tool("compile", "net.onnx").stdout
    assert inlay_tool("export", "net.onnx", "--size", "batch=2", "-o", "c").returncode == 0
    assert "static const float" in (tmp_path / "c" / "net.c").read_text()
    wrong = inlay_tool("run", "net.onnx", "scale=x.npy")
    assert wrong.returncode == 1 and "no parameter %scale" in wrong.stderr
    (tmp_path / "p.inlay").write_text("graph @main(%x: f64) { return %x }")
    assert "--fixed, --donated and --no-windows are for networks" in inlay_tool("explain", "--fixed", "x=1", "p.inlay").stderr


def reducing(keep=1):
    node = helper.make_node("Unsqueeze", ["x", "axes"], ["y"])
    return model([node], {"x": (F32, [3, "n"]), "axes": (I64, [1])}, ["y"])


def test_axes_that_are_an_input_are_to_be_fixed(tmp_path):
    with pytest.raises(NotImplementedError) as refused:
        inlay.onnx.compile(reducing())
    assert "what input 1 holds decides how the network looks, and hangs on the input `axes`, to be fixed" in str(refused.value)
    assert "inlay.onnx.compile(model, fixed={'axes': ...})" in str(refused.value)
    for given in ([0], np.array([0]), (0,)):
        fn = inlay.onnx.compile(reducing(), fixed={"axes": given})
        assert list(fn.parameters) == ["x"]
        assert fn(np.zeros((3, 2), "f4")).shape == (1, 3, 2)


def adding(*dims):
    """Two inputs of these sizes, the second with a default where they are numbers."""
    weights = {"y": np.full(dims, 10, "f4")} if all(isinstance(d, int) for d in dims) else {}
    net = model([helper.make_node("Add", ["x", "y"], ["z"])], {"x": (F32, dims), "y": (F32, dims)}, ["z"], weights)
    net.ir_version = 8
    return net


def test_what_is_fixed_is_what_the_network_declares():
    x = np.arange(3, dtype="f4")
    for y, words in [
        (np.arange(3), "fixed to elements of type int64, and is to have those of type float"),
        (np.zeros((3, 1), "f4"), "fixed to an array of 2 axes, and is to have 1"),
        (np.zeros(5, "f4"), "fixed to 5 elements along axis 0, and is to have 3"),
    ]:
        net = adding(3)
        net.graph.ClearField("initializer")
        for given in (net, adding(3)):
            with pytest.raises((ValueError, TypeError), match=f"the input `y` is {words}"):
                inlay.onnx.compile(given, fixed={"y": y})
    with pytest.raises(TypeError, match="y: a masked array cannot be fixed\n  help: give `a.filled"):
        inlay.onnx.compile(adding(3), fixed={"y": np.ma.masked_array(x, [0, 1, 0])})
    np.testing.assert_array_equal(inlay.onnx.compile(adding(3), fixed={"y": x.astype(">f4")[::-1]})(x), x + x[::-1])
    fn = inlay.onnx.compile(adding("n"), fixed={"y": x})
    assert fn.parameters == {"x": "f32[3]"}
    np.testing.assert_array_equal(fn(x), x + x)
    for fixed in ({"y": x, "n": 4}, {"y": x, "x": np.zeros(4, "f4")}):
        with pytest.raises(ValueError, match="the input `[xy]` is fixed to 3 elements along axis 0, and is to have `n`, which is 4"):
            inlay.onnx.compile(adding("n"), fixed=fixed)
    assert inlay.onnx.compile(adding("n"), fixed={"y": x, "n": 3}).parameters == {"x": "f32[3]"}


def test_what_is_fixed_takes_the_place_of_a_default():
    x = np.arange(3, dtype="f4")
    assert inlay.onnx.compile(adding(3)).parameters == {"x": "f32[3]"}
    np.testing.assert_array_equal(inlay.onnx.compile(adding(3))(x), x + 10)
    for y in (x, [0, 1, 2]):
        np.testing.assert_array_equal(inlay.onnx.compile(adding(3), fixed={"y": y})(x), x + x)
    for y in (2, 2.0, np.float64(2)):
        np.testing.assert_array_equal(inlay.onnx.compile(adding(3), fixed={"y": y})(x), x + 2)
    with pytest.raises(ValueError, match="`y` is donated, and is a weight, which is no argument"):
        inlay.onnx.compile(adding(3), donated=["y"])
    with pytest.raises(ValueError, match="`y` is donated, and is fixed, so that it is no argument"):
        inlay.onnx.compile(adding(3), fixed={"y": x}, donated=["y"])


def test_every_missing_op_is_named_before_anything_runs():
    nodes = [
        helper.make_node("Frobnicate", ["x"], ["a"], name="first"),
        helper.make_node("Relu", ["a"], ["b"]),
        helper.make_node("Twist", ["b"], ["y"], name="second", domain="org.example"),
    ]
    net = model(nodes, {"x": (F32, [3])}, ["y"], extra_opsets=[("org.example", 2)])
    with pytest.raises(NotImplementedError) as refused:
        inlay.onnx.compile(net)
    assert "2 ops of it: Frobnicate of version 17 (node `first`), org.example.Twist of version 2 (node `second`)" in str(
        refused.value
    )


@pytest.mark.parametrize(
    ("change", "code", "words"),
    [
        (lambda m: m.ClearField("opset_import"), ValueError, "does not say which version of the operators of ONNX"),
        (lambda m: setattr(m.opset_import[0], "version", 999), NotImplementedError, "version 999 of ONNX's operators"),
        (lambda m: setattr(m.opset_import[0], "version", 3), NotImplementedError, "reads 7 to"),
        (lambda m: m.graph.node[2].input.__setitem__(0, "q"), ValueError, "nothing computes `q` before it is read"),
        (lambda m: m.graph.node[1].input.__setitem__(0, "y"), ValueError, "nothing computes `p` before it is read"),  # a circle
        (lambda m: setattr(m.graph.output[0], "name", "z"), ValueError, "nothing computes the output `z`"),
        (lambda m: m.graph.input[0].type.tensor_type.ClearField("shape"), NotImplementedError, "`x` has no rank"),
        (lambda m: setattr(m.graph.input[0].type.tensor_type, "elem_type", 17), NotImplementedError, "type float8e4m3fn"),
        (lambda m: m.graph.initializer[0].dims.__setitem__(0, 21), ValueError, "has 80 bytes, not the 84"),
        (lambda m: m.graph.initializer[0].dims.__setitem__(0, -1), ValueError, "has a size of -1"),
        (lambda m: m.graph.initializer[0].dims.extend([2**62, 2**62]), ValueError, "sizes of no memory"),
        (lambda m: m.ClearField("graph"), ValueError, "it has no graph"),
        (lambda m: m.graph.node[1].ClearField("op_type"), ValueError, "has no op"),
    ],
)  # fmt: skip
def test_networks_that_contradict_themselves(change, code, words):
    net = affine()
    change(net)
    with pytest.raises(code, match=".*") as refused:
        inlay.onnx.compile(net.SerializeToString())
    assert words in str(refused.value)


def test_no_part_of_a_file_crashes():
    whole = affine().SerializeToString()
    for length in range(len(whole)):
        with pytest.raises((ValueError, NotImplementedError)):
            inlay.onnx.compile(whole[:length])


def test_weights_in_files_beside_the_network(tmp_path):
    big = np.random.default_rng(4).normal(size=(30, 20)).astype("f4")
    net = model([helper.make_node("Add", ["x", "w"], ["y"])], {"x": (F32, [30, 20])}, ["y"], {"w": big})
    onnx.save_model(net, tmp_path / "net.onnx", save_as_external_data=True, location="net.bin", size_threshold=0)
    assert (tmp_path / "net.bin").stat().st_size >= big.nbytes
    x = np.ones((30, 20), "f4")
    np.testing.assert_array_equal(inlay.onnx.compile(tmp_path / "net.onnx")(x), x + big)
    with pytest.raises(ValueError, match="a model in memory has no folder"):
        inlay.onnx.compile((tmp_path / "net.onnx").read_bytes())

    def with_location(text):
        changed = onnx.load(tmp_path / "net.onnx", load_external_data=False)
        for entry in changed.graph.initializer[0].external_data:
            if entry.key == "location":
                entry.value = text
        (tmp_path / "inner").mkdir(exist_ok=True)
        onnx.save(changed, tmp_path / "inner" / "net.onnx")
        return tmp_path / "inner" / "net.onnx"

    for location in ("../net.bin", "/etc/passwd", "", "a/../../net.bin"):
        with pytest.raises(ValueError, match="which is not in the folder of the model"):
            inlay.onnx.compile(with_location(location))
    (tmp_path / "inner" / "link.bin").symlink_to(tmp_path / "net.bin")
    with pytest.raises(ValueError, match="a link that leaves the folder"):
        inlay.onnx.compile(with_location("link.bin"))
    with pytest.raises(ValueError, match="the tensor `w` lies in `gone.bin`, which cannot be read: No such file"):
        inlay.onnx.compile(with_location("gone.bin"))
    (tmp_path / "inner" / "short.bin").write_bytes(b"1234")
    with pytest.raises(ValueError, match="which has 4 bytes, not"):
        inlay.onnx.compile(with_location("short.bin"))


def test_functions_of_a_model():
    double = helper.make_function(
        "org.example", "Scaled", ["a"], ["b"],
        [
            helper.make_node("Constant", [], ["c"], value_float=3.0),
            helper.make_node("Mul", ["a", "c"], ["b"]),
        ],
        [helper.make_opsetid("", 17)],
    )  # fmt: skip
    nodes = [
        helper.make_node("Scaled", ["x"], ["p"], domain="org.example"),
        helper.make_node("Scaled", ["p"], ["y"], domain="org.example"),
    ]
    net = model(nodes, {"x": (F32, ["n"])}, ["y"], functions=[double], extra_opsets=[("org.example", 1)])
    np.testing.assert_array_equal(inlay.onnx.compile(net)(np.ones(4, "f4")), np.full(4, 9, "f4"))


def test_shapes_are_known_where_they_are_arithmetic_on_sizes():
    """Flattened and back by Shape, Slice, Concat and Reshape, as exporters write it: no copy, and no size is found late."""
    nodes = [
        helper.make_node("Shape", ["x"], ["shape"]),
        helper.make_node("Slice", ["shape", "zero", "one"], ["batch"]),
        helper.make_node("Concat", ["batch", "rest"], ["flat_shape"], axis=0),
        helper.make_node("Reshape", ["x", "flat_shape"], ["flat"]),
        helper.make_node("Exp", ["flat"], ["e"]),
        helper.make_node("Reshape", ["e", "shape"], ["y"]),
    ]
    weights = {"zero": np.array([0]), "one": np.array([1]), "rest": np.array([-1])}
    fn = inlay.onnx.compile(model(nodes, {"x": (F32, ["batch", "length", 4])}, ["y"], weights))
    assert fn.results == {"y": "f32[batch, length, 4]"}
    explained = inlay.explain(fn)
    assert (len(explained.kernels), len(explained.copies)) == (1, 0)
    x = np.random.default_rng(5).normal(size=(2, 3, 4)).astype("f4")
    np.testing.assert_allclose(fn(x), np.exp(x), rtol=1e-6)


def test_calls_from_threads():
    from conftest import on_eight_threads

    fn = inlay.onnx.compile(affine())

    def work(i):
        x = np.full((i + 1, 20), i, "f4")
        for _ in range(50):
            np.testing.assert_array_equal(fn(x), expected(x))

    on_eight_threads(work)


def test_the_cache_gives_the_same_function(tmp_path, monkeypatch):
    monkeypatch.setenv("INLAY_CACHE", str(tmp_path / "cache"))
    x = np.random.default_rng(6).normal(size=(2, 20)).astype("f4")
    onnx.save(affine(), tmp_path / "net.onnx")
    compiles = []
    monkeypatch.setattr(inlay.onnx.Choices, "compile", counted(inlay.onnx.Choices.compile, compiles))
    for _ in range(2):
        fn = inlay.onnx.compile(tmp_path / "net.onnx")
        np.testing.assert_array_equal(fn(x), expected(x))
        assert (list(fn.parameters), list(fn.results)) == (["x"], ["y"])
    assert len(compiles) == 1
    inlay.onnx.compile(tmp_path / "net.onnx", fixed={"batch": 2})  # another function
    inlay.onnx.compile(tmp_path / "net.onnx", threads=2)
    changed = affine()
    changed.graph.initializer[0].raw_data = bytes(80)
    onnx.save(changed, tmp_path / "net.onnx")
    np.testing.assert_array_equal(inlay.onnx.compile(tmp_path / "net.onnx")(x), np.zeros((2, 20), "f4"))
    assert len(compiles) == 4
    for entry in (tmp_path / "cache").iterdir():
        entry.write_bytes(entry.read_bytes()[:-100])  # damaged: as if there were none
    np.testing.assert_array_equal(inlay.onnx.compile(tmp_path / "net.onnx")(x), np.zeros((2, 20), "f4"))
    assert len(compiles) == 5


@pytest.mark.parametrize("beside", [False, True], ids=["in its file", "in a file beside it"])
def test_the_cache_holds_no_weight_that_the_network_holds(tmp_path, monkeypatch, beside):
    """Also where the file has them at odd places, from which they are copied."""
    monkeypatch.setenv("INLAY_CACHE", str(tmp_path / "cache"))
    rng = np.random.default_rng(7)
    weights = {"a": rng.normal(size=(300, 200)).astype("f4"), "b": rng.normal(size=200), "c": rng.normal(size=(200, 3)).astype("f4")}
    nodes = [
        helper.make_node("MatMul", ["x", "a"], ["xa"]),
        helper.make_node("Cast", ["b"], ["b4"], to=F32),
        helper.make_node("Add", ["xa", "b4"], ["xab"]),
        helper.make_node("MatMul", ["xab", "c"], ["y"]),
    ]
    arguments = {"save_as_external_data": True, "location": "net.bin", "size_threshold": 0} if beside else {}
    x = rng.normal(size=(2, 300)).astype("f4")
    wanted = (x @ weights["a"] + weights["b"].astype("f4")) @ weights["c"]
    compiles = []
    monkeypatch.setattr(inlay.onnx.Choices, "compile", counted(inlay.onnx.Choices.compile, compiles))
    for name in "net", "nets", "netss", "netsss":  # at each place of four
        net = model(nodes, {"x": (F32, ["batch", 300])}, ["y"], weights)
        net.producer_name = name
        path = tmp_path / f"{name}.onnx"
        onnx.save_model(net, path, **arguments)
        first, second = inlay.onnx.compile(path), inlay.onnx.compile(path)
        np.testing.assert_allclose(first(x), wanted, rtol=1e-4, atol=1e-4)  # sums of 300 and 200 products in f32
        np.testing.assert_array_equal(first(x), second(x))
        (tmp_path / "net.bin").unlink(missing_ok=True)
    assert len(compiles) == 4
    assert max(entry.stat().st_size for entry in (tmp_path / "cache").iterdir()) < weights["a"].nbytes / 2


def test_a_place_that_the_network_has_not_is_none():
    net = inlay._inlay.read_onnx_bytes(affine().SerializeToString(), "net", "")
    size = len(net.contents[0])
    assert net.weight_at(0, 3, int(F32), [1, 2]).shape == (1, 2)
    for place in (1, 0, F32, [1]), (0, size - 3, F32, [1]), (0, size + 1, F32, [1]), (0, 0, F32, [1 << 62, 1 << 62]), (0, 0, F32, [-1]):
        with pytest.raises(ValueError, match="no such weight"):
            net.weight_at(*place)


def counted(function, calls):
    def called(*args, **kwargs):
        calls.append(args)
        return function(*args, **kwargs)

    return called


def streaming(steps=4):
    """A sum that a state carries from call to call, and a cache of which a call writes one row."""
    nodes = [
        helper.make_node("Add", ["state", "x"], ["next"]),
        helper.make_node("ScatterND", ["cache", "at", "row"], ["cache_next"]),
        helper.make_node("Unsqueeze", ["x", "zero"], ["row"]),
    ]
    inputs = {"x": (F32, [3]), "state": (F32, [3]), "cache": (F32, [steps, 3]), "at": (I64, [1, 1])}
    return model([nodes[2], *nodes[:2]], inputs, ["next", "cache_next"], {"zero": np.array([0])})


def test_donated_states_are_carried_in_place():
    fn = inlay.onnx.compile(streaming(), donated=["state", "cache"])
    assert inlay.explain(fn).copies == []
    state, cache, total = np.zeros(3, "f4"), np.zeros((4, 3), "f4"), np.zeros(3, "f4")
    first, kept = state, cache
    for i in range(4):
        x = np.full(3, i + 1, "f4")
        total += x
        state, cache = fn(x=x, state=state, cache=cache, at=np.array([[i]]))
        np.testing.assert_array_equal(state, total)
    assert state is first and cache is kept
    np.testing.assert_array_equal(cache, np.arange(1, 5, dtype="f4")[:, None] * np.ones(3, "f4"))
    with pytest.raises(ValueError, match="`z` is donated, and is no input"):
        inlay.onnx.compile(streaming(), donated=["z"])
    with pytest.raises(TypeError, match="takes a list of names"):
        inlay.onnx.compile(streaming(), donated="state")
