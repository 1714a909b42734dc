"""Compiled functions as files: what `inlay.compile` and PyTensor made, saved, loaded, pickled, damaged."""

import copy
import os
import pickle
import platform
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import cloudpickle
import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest

import inlay
import inlay.pytensor
from inlay.files import dumps, loads

# Two products take turns in an arena whose size is that of the call.
CHAIN = """graph @main(%x: f64[n, n], %w: f64[n] bound) {
  %a = matmul %x, %x
  %b = matmul %a, %x
  %c = matmul %b, %a
  %row = reshape %w : f64[1, n]
  %d = mul %c, %row
  return %d, %w
}"""
CALLS = """graph @main(%x: f64[n]) {
  %y = host_call "twice" (%x) : f64[n]
  return %y
}"""


def chain():
    return inlay.compile(CHAIN, bound={"w": np.array([1.0, 2.0])})


def same(f, g, *arguments):
    for one, other in zip(np.atleast_1d(f(*arguments)), np.atleast_1d(g(*arguments)), strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_text_program_is_saved_and_loaded(tmp_path):
    f, path = chain(), tmp_path / "chain.inlayfn"
    inlay.save(f, path)
    g = inlay.load(path)
    x = np.array([[1.0, 2.0], [3.0, 4.0]])
    for one, other in zip(f(x), g(x=x), strict=True):
        np.testing.assert_array_equal(one, other)
    assert (g.parameters, g.results, repr(g)) == (f.parameters, f.results, repr(f))
    with pytest.raises(inlay.errors.ShapeMismatch, match="x: dim 1 is 3, but n is 2"):
        g(np.ones((2, 3)))
    assert dumps(g) == dumps(f)


def pickled(fn):
    return pickle.loads(pickle.dumps(fn))


def cloudpickled(fn):
    return cloudpickle.loads(cloudpickle.dumps(fn))


def saved(fn):
    return loads(dumps(fn))


WAYS = [pickled, cloudpickled, copy.deepcopy, saved]


@pytest.mark.parametrize("again", WAYS)
def test_a_text_program_is_pickled(again):
    f, g = chain(), again(again(chain()))
    for one, other in zip(f(np.eye(2)), g(np.eye(2)), strict=True):
        np.testing.assert_array_equal(one, other)
    kept = ("kernels", "host_calls", "copies", "temporaries", "stored", "memory_map", "target", "apart", "graph")
    e, loaded = inlay.explain(f), inlay.explain(g)
    assert {name: str(getattr(e, name)) for name in kept} == {name: str(getattr(loaded, name)) for name in kept}


def twice(x):
    return 2 * x


def test_host_functions_go_along():
    g = pickle.loads(pickle.dumps(inlay.compile(CALLS, host_functions={"twice": twice})))
    assert g(np.array([1.0, 2.0])).tolist() == [2.0, 4.0]


def test_what_a_file_cannot_hold_is_refused_and_pickled_as_its_text(tmp_path):
    f = inlay.compile(CHAIN, bound={"w": np.ones(2)}, may_share=always)
    with pytest.raises(NotImplementedError, match="a file cannot hold the function that chose what shares bytes"):
        inlay.save(f, tmp_path / "f")
    assert os.listdir(tmp_path) == []
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(f))(np.eye(2))[0], np.eye(2))


def always(step, value, operand):
    return True


def test_what_is_no_compiled_function_is_refused(tmp_path):
    with pytest.raises(TypeError, match="an object of type function is not a function that inlay compiled"):
        inlay.save(twice, tmp_path / "f")
    with pytest.raises(FileNotFoundError):
        inlay.load(tmp_path / "f")
    (tmp_path / "f").write_bytes(b"graph @main() {}")
    with pytest.raises(ValueError, match="f is not a compiled function: it does not begin as one does"):
        inlay.load(tmp_path / "f")


def test_a_damaged_file_is_refused_whatever_byte_is_wrong(tmp_path):
    data = dumps(chain())
    for at in range(0, len(data), 7):
        flipped = bytearray(data)
        flipped[at] ^= 1 << at % 8
        with pytest.raises(ValueError, match="the function (is|was)"):
            loads(bytes(flipped))
        with pytest.raises(ValueError, match="the function is"):
            loads(data[:at])


def test_a_file_that_cannot_be_written_leaves_what_was_there(tmp_path):
    f = chain()
    with pytest.raises(OSError, match="No space left on device"):
        inlay.save(f, "/dev/full")
    with pytest.raises(FileNotFoundError):
        inlay.save(f, tmp_path / "none" / "f")
    inlay.save(f, tmp_path / "f")
    inlay.save(f, tmp_path / "f")
    assert os.listdir(tmp_path) == ["f"]


IN_A_NEW_PROCESS = """
import pickle, sys
import numpy as np
import inlay, inlay.pytensor
f = inlay.load(sys.argv[1])
print(f(np.arange(3.0))[0].tolist())
assert "libinlay_jit" not in open("/proc/self/maps").read()
"""


def test_a_loaded_function_needs_no_code_generator(tmp_path):
    x = pt.dvector("x")
    f = pytensor.function([x], [pt.exp(x) / pt.exp(x).sum(), x.max()], mode="INLAY")
    inlay.save(f, tmp_path / "f")
    environment = {**os.environ, "INLAY_JIT": "/nonexistent"}
    command = [sys.executable, "-c", IN_A_NEW_PROCESS, str(tmp_path / "f")]
    run = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip() == str(f(np.arange(3.0))[0].tolist())


# --- PyTensor's functions ---


@pytest.mark.parametrize("again", WAYS)
def test_shared_variables_and_updates_go_along(again):
    x, s = pt.dvector("x"), pytensor.shared(np.ones(3), name="s")
    f = pytensor.function([x], x * s, updates={s: s + 1}, mode="INLAY")
    f(np.ones(3))
    g = again(f)
    assert g(np.ones(3)).tolist() == [2.0] * 3
    assert f(np.ones(3)).tolist() == [2.0] * 3  # neither has moved the other's
    assert g.get_shared()[0].get_value().tolist() == [3.0] * 3
    assert [v.name for v in g.get_shared()] == ["s"]


def test_a_shared_variable_that_is_pickled_beside_its_function_stays_its():
    x, s = pt.dvector("x"), pytensor.shared(np.ones(3), name="s")
    f = pytensor.function([x], x * s, mode="INLAY")
    g, t = pickled((f, s))
    t.set_value(np.full(3, 7.0))
    assert g(np.ones(3)).tolist() == [7.0] * 3
    assert f(np.ones(3)).tolist() == [1.0] * 3


def test_generators_draw_the_same():
    rng = pytensor.shared(np.random.default_rng(1))
    after, draw = pt.random.normal(size=(3,), rng=rng).owner.outputs
    f = pytensor.function([], draw, updates={rng: after}, mode="INLAY")
    g = pickled(f)
    for _ in range(3):
        np.testing.assert_array_equal(f(), g())


def test_nodes_that_run_in_python_go_along():
    rng = pytensor.shared(np.random.default_rng(1))
    after, draw = pt.random.multivariate_normal(np.zeros(2), np.eye(2), rng=rng).owner.outputs
    x = pt.dvector("x")
    f = pytensor.function([x], draw + x, updates={rng: after}, mode="INLAY")
    g = pickled(f)
    assert list(inlay.explain(g).host_calls) == list(inlay.explain(f).host_calls) == ["MvNormalRV"]
    assert inlay.explain(g).host_call_reasons == inlay.explain(f).host_call_reasons
    for _ in range(3):
        np.testing.assert_array_equal(f(np.ones(2)), g(np.ones(2)))


def test_inputs_keep_their_ways():
    x, y = pt.dvector("x"), pt.dvector("y")
    inputs = [pytensor.In(x, mutable=True, borrow=True), pytensor.In(y, name="why", strict=True)]
    f = pytensor.function(inputs, pytensor.Out(x + 2 * y, borrow=True), mode="INLAY")
    g = pickled(f)
    assert g(np.ones(2), np.ones(2)).tolist() == f(np.ones(2), np.ones(2)).tolist() == [3.0, 3.0]
    assert g(np.ones(2), why=np.zeros(2)).tolist() == [1.0, 1.0]
    with pytest.raises(TypeError):
        g(np.ones((2, 2)), np.ones(2))
    with pytest.raises(TypeError):
        g(np.ones(2), np.ones(2, "float32"))  # it is strict
    with pytest.raises(TypeError, match="Missing"):
        g()
    f.trust_input = True
    assert pickled(f).trust_input


def test_results_that_are_numbers_stay_numbers():
    x = pt.dscalar("x")
    number = pt.scalar_from_tensor(x)
    f = pytensor.function([x], number, mode="INLAY")
    assert type(pickled(f)(2.0)) is type(f(2.0))


def test_the_graph_is_there_when_it_is_asked_for():
    x = pt.dvector("x")
    f = pytensor.function([x], pt.exp(x) + np.arange(3.0), mode="INLAY", name="named")
    g = pickled(f)
    assert "_unread" in vars(g.maker)
    assert g.name == "named"
    with pytest.raises(inlay.errors.ShapeMismatch, match="add: dim 0 is 4 on the left and 3 on the right"):
        g(np.ones(4))
    assert "_unread" not in vars(g.maker)
    assert str(g.maker.fgraph) == str(f.maker.fgraph)
    assert g.copy()(np.ones(3)).tolist() == f(np.ones(3)).tolist()
    assert pickled(pickled(g))(np.ones(3)).tolist() == f(np.ones(3)).tolist()
    assert copy.deepcopy(pickled(f))(np.ones(3)).tolist() == f(np.ones(3)).tolist()


def test_a_function_whose_results_have_other_sizes_is_compiled_again():
    class Doubled(pytensor.graph.op.Op):
        __props__ = ()

        def make_node(self, x):
            return pytensor.graph.basic.Apply(self, [x], [pt.TensorType("float64", shape=(2,))()])

        def perform(self, node, inputs, outputs):
            outputs[0][0] = np.repeat(inputs[0], 2)

    x = pt.dvector("x")
    f = pytensor.function([x], Doubled()(x) + 1, mode="INLAY")
    g = loads(dumps(f))
    with pytest.warns(UserWarning, match="compiled once more"):
        assert g(np.ones(3)).tolist() == [2.0] * 6
    assert g(np.ones(1)).tolist() == [2.0] * 2


def test_nothing_is_unpickled_where_pytensor_is_told_so():
    x = pt.dvector("x")
    data = pickle.dumps(pytensor.function([x], x + 1, mode="INLAY"))
    with pytensor.config.change_flags(unpickle_function=False):
        assert pickle.loads(data) is None


def test_a_function_of_another_mode_is_pickled_by_pytensor():
    x = pt.dvector("x")
    f = pytensor.function([x], x + 1, mode="FAST_COMPILE")
    assert pickled(f)(np.ones(2)).tolist() == [2.0, 2.0]


def test_arrays_that_share_bytes_are_warned_of():
    both = np.ones((2, 3))
    one, other = (pytensor.shared(part, borrow=True) for part in (both, both[:1]))
    f = pytensor.function([], one.sum() + other.sum(), mode="INLAY")
    with pytest.warns(UserWarning, match="aliased relationship"):
        pickle.dumps(f)


@pytest.mark.skipif(platform.machine() != "x86_64", reason="aarch64 has one level")
def test_a_function_for_another_cpu_is_compiled_again(caplog, monkeypatch):
    f, x = chain(), np.array([[1.0, 2.0], [3.0, 4.0]])
    data = dumps(f)
    with caplog.at_level("DEBUG", logger="inlay"):
        loads(data)
        assert not caplog.records  # it runs here as it is
        monkeypatch.setenv("INLAY_CPU_FEATURES", "sse2")
        g = loads(data)
    if "sse2" in inlay.explain(f).target:
        return
    assert "this CPU has no" in caplog.text
    assert "sse2" in inlay.explain(g).target
    for one, other in zip(f(x), g(x), strict=True):
        np.testing.assert_array_equal(one, other)
    for one, other in zip(f(x), loads(dumps(g))(x), strict=True):
        np.testing.assert_array_equal(one, other)


def test_threads_read_the_graph_of_one_function():
    x = pt.dvector("x")
    g = pickled(pytensor.function([x], pt.exp(x) + 1, mode="INLAY"))
    with ThreadPoolExecutor(4) as pool:
        graphs = list(pool.map(lambda _: g.maker.fgraph, range(8)))
    assert all(graph is graphs[0] for graph in graphs)


def test_a_graph_that_could_not_be_read_can_be_later(monkeypatch):
    x = pt.dvector("x")
    g = pickled(pytensor.function([x], pt.exp(x) + 1, mode="INLAY"))
    g.maker.name = "mine"
    with monkeypatch.context() as patch:
        patch.setattr("inlay.pytensor.pickles.unpickled", interrupted)
        with pytest.raises(KeyboardInterrupt):
            g.maker.fgraph  # noqa: B018
    assert len(g.maker.fgraph.outputs) == 1
    assert g.maker.name == "mine"


def interrupted(data, known):
    raise KeyboardInterrupt


class Noting(pytensor.graph.op.Op):
    """Notes on its node what it needs to perform it."""

    __props__ = ()

    def make_node(self, x):
        node = pytensor.graph.basic.Apply(self, [x], [x.type()])
        node.tag.factor = 3.0
        node.outputs[0].tag.shift = 1.0
        return node

    def perform(self, node, inputs, outputs):
        outputs[0][0] = inputs[0] * node.tag.factor + node.outputs[0].tag.shift


def test_what_an_op_notes_on_its_node_goes_along():
    x = pt.dvector("x")
    f = pytensor.function([x], Noting()(x) * 2, mode="INLAY")
    assert f(np.ones(2)).tolist() == pickled(f)(np.ones(2)).tolist() == [8.0, 8.0]


def test_a_profile_stays_behind(tmp_path):
    x = pt.dvector("x")
    f = pytensor.function([x], x + 1, mode="INLAY", profile=True)
    with pytest.raises(NotImplementedError, match="a file cannot hold the profile that a function keeps"):
        inlay.save(f, tmp_path / "f")
    assert pickled(f)(np.ones(2)).tolist() == [2.0, 2.0]


def test_names_of_files_and_bytes_of_any_kind(tmp_path):
    path = os.path.join(os.fsencode(tmp_path), b"\xff.fn")
    inlay.save(chain(), path)
    np.testing.assert_array_equal(inlay.load(path)(np.eye(2))[1], [1.0, 2.0])
    np.testing.assert_array_equal(loads(bytearray(dumps(chain())))(np.eye(2))[1], [1.0, 2.0])
    with pytest.raises(ValueError, match="f was saved by another API"):
        loads(chain().compilation.program.save({}), "f")


def test_threads_save_to_one_path(tmp_path):
    data, path = chain().compilation.program.save({}), os.fsencode(tmp_path / "f")
    with ThreadPoolExecutor(4) as pool:
        failures = list(pool.map(lambda _: inlay._inlay.write_whole_file(path, data), range(40)))
    assert failures == [0] * 40
    assert os.listdir(tmp_path) == ["f"]
