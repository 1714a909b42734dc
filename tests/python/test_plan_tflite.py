"""inlay.tflite: what it reads of a .tflite file, the plan that it writes, and TFLM's own interpreter on the result."""

import random
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import inlay
import numpy as np
import pytest

pytest.importorskip("flatbuffers")
tflite = pytest.importorskip("tflite")

import inlay.tflite  # noqa: E402
import tflite_networks as networks  # noqa: E402
from tflite import BuiltinOperator, TensorType  # noqa: E402

ROOT = Path(__file__).parents[2]


def chain():
    """Two matrices and a sum; a constant, a state, an operand that is left out, and what nothing touches."""
    file = networks.File()
    x = file.tensor("x", [1, 5])
    weights = file.tensor("weights", [3, 5], value=np.arange(15, dtype=np.float32).reshape(3, 5))
    state = file.tensor("state", [1, 3], variable=True)
    small = file.tensor("small", [1, 3], TensorType.INT8)
    y = file.tensor("y", [1, 3])
    z = file.tensor("", None)
    unused = file.tensor("y", [2, 3])
    empty = file.tensor("empty", [0, 3])
    file.op(BuiltinOperator.FULLY_CONNECTED, [x, weights, -1], [y], "FullyConnectedOptions")
    file.op(BuiltinOperator.ADD, [y, state], [small], "AddOptions")
    file.op(BuiltinOperator.RELU, [small, empty], [z])
    file.inputs, file.outputs = [x], [y, z]
    assert unused == 6
    return file


def test_lives_and_sizes():
    assert [(s.name, s.size, s.lower, s.upper, s.alignment, s.offset) for s in inlay.tflite.buffers(chain().bytes())] == [
        ("x", 32, 0, 2, 16, None),
        ("small", 16, 2, 4, 16, None),
        ("y", 16, 1, 4, 16, None),
        ("tensor 5", 16, 3, 4, 16, None),
        ("y#6", 32, -1, 0, 16, None),
    ]


def test_a_result_that_no_operator_makes_and_an_input_that_none_reads():
    file = networks.File()
    file.inputs = [file.tensor("in", [4])]
    file.outputs = [file.tensor("out", [4])]
    between = file.tensor("between", [4])
    file.op(BuiltinOperator.RELU, [between], [between])
    assert [(s.lower, s.upper) for s in inlay.tflite.buffers(file.bytes())] == [(0, 1), (0, 2), (1, 2)]


def what_a_file_says(data):
    """All but the plan."""
    model = tflite.Model.GetRootAs(data)
    graph = model.Subgraphs(0)
    buffers = [b"" if (b := model.Buffers(i)).DataIsNone() else b.DataAsNumpy().tobytes() for i in range(model.BuffersLength())]
    metadata = {model.Metadata(i).Name(): buffers[model.Metadata(i).Buffer()] for i in range(model.MetadataLength())}
    metadata.pop(b"OfflineMemoryAllocation", None)
    tensors = [graph.Tensors(i) for i in range(graph.TensorsLength())]
    ops = [graph.Operators(i) for i in range(graph.OperatorsLength())]
    return (
        model.Version(), model.Description(), metadata,
        [(t.Name(), t.Type(), t.ShapeAsNumpy() if t.ShapeIsNone() else t.ShapeAsNumpy().tolist(), buffers[t.Buffer()]) for t in tensors],
        [(model.OperatorCodes(o.OpcodeIndex()).BuiltinCode(), o.InputsAsNumpy().tolist(), o.OutputsAsNumpy().tolist()) for o in ops],
        graph.InputsAsNumpy().tolist(), graph.OutputsAsNumpy().tolist(),
    )  # fmt: skip


def words_of(data):
    """The plan as TFLM reads it."""
    model = tflite.Model.GetRootAs(data)
    (buffer,) = [m.Buffer() for m in map(model.Metadata, range(model.MetadataLength())) if m.Name() == b"OfflineMemoryAllocation"]
    return model.Buffers(buffer).DataAsNumpy().view("<i4").tolist()


def test_what_is_written(tmp_path):
    file = chain()
    file.metadata.append(("min_runtime_version", file.buffer(b"1.5.0")))
    before, path = file.bytes(), tmp_path / "planned.tflite"
    plan = inlay.tflite.plan(before, path)
    after = path.read_bytes()
    assert what_a_file_says(after) == what_a_file_says(before)
    assert before in after and after.index(before) % 16 == 0  # so what was aligned still is
    assert (plan.peak, plan.proved) == (48, True)
    at = {s.name: s.offset for s in plan.storages}
    assert words_of(after) == [1, 0, 8, at["x"], -1, -1, at["small"], at["y"], at["tensor 5"], at["y#6"], -1]
    assert inlay.tflite.buffers(path) == plan.storages


def test_a_file_of_any_length_keeps_its_alignment(tmp_path):
    for more in range(16):
        path = tmp_path / "planned.tflite"
        inlay.tflite.plan(chain().bytes() + bytes(more), path)
        after = path.read_bytes()
        assert what_a_file_says(after) == what_a_file_says(chain().bytes())
        model = tflite.Model.GetRootAs(after)
        for i in range(model.BuffersLength()):
            buffer = model.Buffers(i)
            assert buffer.DataIsNone() or buffer._tab.Vector(buffer._tab.Offset(4)) % 16 == 0


def test_a_plan_is_replaced_where_it_stands(tmp_path):
    path = tmp_path / "net.tflite"
    first = inlay.tflite.plan(networks.random_network(1).bytes(), path, "naive")
    size = path.stat().st_size
    second = inlay.tflite.plan(path, path)
    assert path.stat().st_size == size and second.peak < first.peak
    assert inlay.tflite.buffers(path) == second.storages
    third = path.read_bytes()
    inlay.tflite.plan(path, path)
    assert path.read_bytes() == third


def test_a_plan_that_has_more_words_than_tensors_is_read(tmp_path):
    file = chain()
    file.plan(0, 0, 8, 0, -1, -1, 48, 32, -1, -1, -1, 0, 0, 0, 0)  # padded, as another compiler does
    assert {s.name: s.offset for s in inlay.tflite.buffers(file.bytes())} == {
        "x": 0, "small": 48, "y": 32, "tensor 5": None, "y#6": None,
    }  # fmt: skip
    inlay.tflite.plan(file.bytes(), tmp_path / "planned.tflite")
    assert words_of((tmp_path / "planned.tflite").read_bytes())[-4:] == [0, 0, 0, 0]


def test_offsets_of_ones_own_are_proved(tmp_path):
    offsets = {"x": 0, "small": 0, "y": 32, "tensor 5": 64, "y#6": 0}
    assert inlay.tflite.plan(chain().bytes(), planner=offsets).peak == 80
    path = tmp_path / "planned.tflite"
    with pytest.raises(inlay.errors.WrongPlan, match="x .* and y .* are both live"):
        inlay.tflite.plan(chain().bytes(), path, {**offsets, "y": 16})
    with pytest.raises(inlay.errors.WrongPlan, match="no offset for y#6"):
        inlay.tflite.plan(chain().bytes(), path, {k: v for k, v in offsets.items() if k != "y#6"})
    with pytest.raises(inlay.errors.InvalidFile, match=r"tensor 0 \(x\) ends at 2147483664, and offsets have 31 bits"):
        inlay.tflite.plan(chain().bytes(), path, {**offsets, "x": 2**31 - 16})
    assert not path.exists()


def with_plan(*words):
    file = chain()
    file.plan(*words)
    return file.bytes()


def with_tensor(dims, kind=TensorType.FLOAT32, **more):
    file = chain()
    file.tensor("odd", dims, kind, **more)
    return file.bytes()


def with_op(inputs, outputs):
    file = chain()
    file.op(BuiltinOperator.RELU, inputs, outputs)
    return file.bytes()


def with_two_plans():
    file = chain()
    file.plan(1, 0, 8, *[-1] * 8)
    file.plan(1, 0, 8, *[-1] * 8)
    return file.bytes()


def with_a_tensor_in_the_plan():
    file = chain()
    file.plan(1, 0, 9, *[-1] * 9)
    file.tensor("odd", [12], buffer=len(file.buffers) - 1)
    return file.bytes()


NONE = [-1] * 8

WRONG = {
    "no such file": (b"id,lower,upper,size\n", "TFL3 does not stand at byte 4"),
    "nothing": (b"", "TFL3 does not stand at byte 4"),
    "no plan's head": (with_plan(1, 0), "the plan has 8 bytes, and its head alone has 12"),
    "unknown version": (with_plan(2, 0, 8, *NONE), "the plan is of version 2 for subgraph 0; known are 0 and 1"),
    "another subgraph": (with_plan(1, 3, 8, *NONE), "the plan is of version 1 for subgraph 3"),
    "too few": (with_plan(1, 0, 5, *NONE), "has offsets for 5 tensors, and there are 8: none for tensor 5 ()"),
    "too many": (with_plan(1, 0, 9, *NONE, 0), "has offsets for 9 tensors, and there are 8"),
    "fewer than it says": (with_plan(1, 0, 8, *NONE[:3]), "says that 8 offsets follow, and 3 do: none for tensor 3 (small)"),
    "below the arena": (with_plan(1, 0, 8, -1, -1, -1, -16, *NONE[:4]), "the plan has tensor 3 (small) at -16"),
    "two plans": (with_two_plans(), "there are 2 plans (OfflineMemoryAllocation)"),
    "bytes of the plan": (with_a_tensor_in_the_plan(), "tensor 8 (odd) has the bytes of the plan, buffer 2, as its own"),
    "unknown size": (with_tensor([1, -1]), "tensor 8 (odd) has the dims [1, -1]: TFLM needs sizes that are known"),
    "text": (with_tensor([1], TensorType.STRING), "tensor 8 (odd) is of type STRING, whose elements have no size"),
    "unknown type": (with_tensor([1], 77), "tensor 8 (odd) is of type 77, whose elements have no size"),
    "too large": (with_tensor([2**20, 2**20]), "tensor 8 (odd) has 4398046511104 bytes, and offsets have 31 bits"),
    "no such buffer": (with_tensor([1], buffer=9), "tensor 8 (odd) has buffer 9, and there are 2 buffers"),
    "no such operand": (with_op([12], [0]), "operator 3 names tensor 12, and there are 8 tensors"),
    "below the tensors": (with_op([0], [-2]), "operator 3 names tensor -2, and there are 8 tensors"),
    "subgraphs": (chain().bytes(subgraphs=2), "there are 2 subgraphs, and a plan is of one"),
    "no subgraph": (chain().bytes(subgraphs=0), "there are 0 subgraphs, and a plan is of one"),
    "needed at one time": (
        with_plan(1, 0, 8, 0, -1, -1, -1, 16, -1, -1, -1),
        "the file's own plan knows more than its graph says, and is kept: y is pinned to [16, 28), where x lies",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", WRONG)
def test_wrong_files_are_explained_and_nothing_is_written(what, tmp_path):
    data, message = WRONG[what]
    file, into = tmp_path / "net.tflite", tmp_path / "planned.tflite"
    file.write_bytes(data)
    into.write_bytes(b"was here")
    with pytest.raises(ValueError, match=re.escape(message)) as raised:
        inlay.tflite.plan(file, into)
    assert str(raised.value).startswith(f"error[invalid-file]: {file}: ")
    assert into.read_bytes() == b"was here"


def test_a_file_that_is_cut_off_is_not_planned():
    """Weights stand at the end of it, where the last byte may be one that only fills up."""
    data = chain().bytes()
    for length in range(len(data) - 16):
        with pytest.raises(ValueError, match="invalid-file"):
            inlay.tflite.buffers(data[:length])


def test_a_damaged_file_is_planned_or_explained(tmp_path):
    data, rng, path = networks.random_network(3, ops=4).bytes(), random.Random(5), tmp_path / "planned.tflite"
    for _ in range(1000):
        damaged = bytearray(data)
        for _ in range(rng.randint(1, 3)):
            damaged[rng.randrange(len(data) // 2)] = rng.choice([0, 1, 127, 128, 255])
        try:
            inlay.tflite.plan(bytes(damaged), path, "naive")
            inlay.tflite.buffers(path)
        except ValueError as error:
            assert "error[invalid-file]" in str(error)


def test_what_is_given():
    with pytest.raises(TypeError, match="^inlay.tflite takes a path or bytes, not a dict$"):
        inlay.tflite.buffers({})
    with pytest.raises(FileNotFoundError):
        inlay.tflite.buffers("missing.tflite")


@pytest.mark.parametrize("package", ["flatbuffers", "tflite"])
def test_a_package_that_is_missing_is_named(package):
    code = f"import sys; sys.modules[{package!r}] = None; import inlay; inlay.tflite"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (
        "ImportError: inlay.tflite needs the packages flatbuffers and tflite (pip install flatbuffers tflite): "
        f"{package} cannot be imported" in done.stderr
    )


# TFLM itself, from PyPI.


def interpreter_of(data):
    runtime = pytest.importorskip("tflite_micro.python.tflite_micro.runtime")
    return runtime.Interpreter.from_bytes(data, arena_size=1 << 20)


def head_of(data, capfd):
    """The bytes that its arena has for tensors."""
    interpreter = interpreter_of(data)
    capfd.readouterr()
    interpreter.print_allocations()
    return int(re.findall(r"Arena allocation head (\d+) bytes", "".join(capfd.readouterr()))[0])


def run(data, seed):
    interpreter = interpreter_of(data)
    rng, graph = np.random.default_rng(seed), tflite.Model.GetRootAs(data).Subgraphs(0)
    for i in range(graph.InputsLength()):
        given = interpreter.get_input_details(i)
        interpreter.set_input(rng.normal(size=given["shape"]).astype(given["dtype"]), i)
    interpreter.invoke()
    return [interpreter.get_output(i) for i in range(graph.OutputsLength())]


def require_same(ours, theirs):
    assert len(ours) == len(theirs)
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.fixture
def bench(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "bench"))
    import planners

    return planners


@pytest.mark.parametrize("seed", range(12))
def test_tflm_takes_the_plan(seed, tmp_path, capfd, bench):
    data, path = networks.random_network(seed, ops=20).bytes(), tmp_path / "planned.tflite"
    wanted, head = run(data, seed), head_of(data, capfd)
    assert head == bench.tflm([(s.size, s.lower, s.upper) for s in inlay.tflite.buffers(data)])
    for planner in ("naive", "search"):
        plan = inlay.tflite.plan(data, path, planner)
        require_same(run(path.read_bytes(), seed), wanted)
        assert head_of(path.read_bytes(), capfd) == plan.peak
    assert plan.proved and plan.peak <= head


def test_a_life_that_is_too_short_is_seen(tmp_path):
    """The comparison above would find a wrong plan."""
    data, path = networks.random_network(2, ops=20).bytes(), tmp_path / "planned.tflite"
    wanted = run(data, 2)
    storages, wrong = inlay.tflite.buffers(data), 0
    network = inlay.tflite._Network(data)
    for i, s in enumerate(storages):
        short = [replace(s, upper=s.upper - 1) if i == j else t for j, t in enumerate(storages)]
        offsets = {s.name: s.offset for s in inlay.plan(short, "search").storages}
        path.write_bytes(network.with_offsets([offsets.get(t.name, -1) for t in network.tensors]))
        wrong += any(not np.array_equal(a, b) for a, b in zip(run(path.read_bytes(), 2), wanted, strict=True))
    assert wrong >= 3


KINDS = sorted(kind for name, kind in vars(TensorType).items() if name.isupper() and name not in ("STRING", "VARIANT"))


@pytest.mark.parametrize("kind", KINDS)
def test_tflm_takes_as_many_bytes_for_each_type(kind, capfd):
    file = networks.File()
    x, odd, y = file.tensor("x", [1, 100]), file.tensor("odd", [1, 100], kind), file.tensor("y", [1, 100])
    file.op(BuiltinOperator.RELU, [x], [y])
    file.inputs, file.outputs = [x], [y, odd]
    assert head_of(file.bytes(), capfd) == inlay.tflite.plan(file.bytes()).peak


def test_tflm_keeps_variables_beside_the_plan(capfd):
    file = networks.File()
    x, state, y = file.tensor("x", [1, 100]), file.tensor("state", [1, 100], variable=True), file.tensor("y", [1, 100])
    file.op(BuiltinOperator.ADD, [x, state], [y], "AddOptions")
    file.inputs, file.outputs = [x], [y]
    assert head_of(file.bytes(), capfd) == inlay.tflite.plan(file.bytes()).peak == 800


def test_the_network_that_comes_with_tflm(tmp_path, capfd):
    package = pytest.importorskip("tflite_micro")
    file = Path(package.__file__).parent / "python" / "tflite_micro" / "sine_float.tflite"
    plan = inlay.tflite.plan(file, tmp_path / "planned.tflite")
    assert (len(plan.storages), plan.peak, plan.proved) == (4, 128, True)
    planned = (tmp_path / "planned.tflite").read_bytes()
    require_same(run(planned, 1), run(file.read_bytes(), 1))
    assert head_of(planned, capfd) == plan.peak and words_of(planned)[:3] == [1, 0, 10]
