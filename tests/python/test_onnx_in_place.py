"""Networks whose results lie in the bytes of what they are made of, with every planner: an update through indices, a
view of what is overwritten, two results beside each other. Another planner computes each of them wrong (docs/memory.md,
D3, D5, D7). The numbers are NumPy's, exactly."""

import re
from collections import namedtuple

import inlay
import inlay.onnx
import numpy as np
import pytest
from onnx_nodes import helper, model, node

RNG = np.random.default_rng(3)
X, T, A = RNG.integers(-9, 9, (3, 8, 16)).astype(np.float32)
ROWS = np.array([[5], [0], [-2]])
V = RNG.integers(-9, 9, (3, 16)).astype(np.float32)


def by_name():
    """All there are, as the compiler itself lists them."""
    with pytest.raises(inlay.errors.UnknownName) as raised:
        inlay.compile("graph @main(%x: f64) {\n return %x\n}", planner="?")
    return re.findall(r"\w+", str(raised.value).split("the planners are ")[1].replace(" and ", " "))


def one_above_the_other(storages):
    tops = np.cumsum([-(-s.size // s.alignment) * s.alignment for s in storages])
    return [0, *tops[:-1]] if len(storages) else []


PLANNERS = [*by_name(), one_above_the_other]
REUSING_NOTHING = ["naive", one_above_the_other]


def updated(t):
    out = t.copy()
    out[ROWS[:, 0]] = V
    return out


# `counts`: by what is fused and whether anything is in place, how many kernels and copies, and the bytes of the arena:
# where the bytes of what is dead are used again, and where they are not. `taken`: of a result, the argument whose bytes
# it has.
Network = namedtuple("Network", "nodes outputs expected counts donated taken")
INPUTS = {"x": "f32[8, 16]", "t": "f32[8, 16]", "a": "f32[8, 16]", "i": "i64[3, 1]", "v": "f32[3, 16]"}
ARGUMENTS = {"x": X, "t": T, "a": A, "i": ROWS, "v": V}
CONSTANTS = {"one": np.float32(1), "two": np.float32(2), "three": np.float32(3), "flat": np.array([-1])}
UPDATE = [
    node("ScatterND", "t,i,v", "c"), node("Mul", "x,three", "u"), node("Mul", "u,u", "w"), node("Add", "c,w", "y"),
]  # fmt: skip
VIEW = [node("Reshape", "t,flat", "s"), node("ScatterND", "t,i,v", "c"), node("Mul", "s,two", "r")]
PAIR = [node("Min", "a,x", "c"), node("Max", "t,a", "b"), node("Add", "b,c", "y")]
MADE = [node("Add", "x,one", "t")]
NETWORKS = {
    "D3, reader of an update": Network(
        MADE + UPDATE, ["y"], lambda: [updated(X + 1) + (3 * X) ** 2],
        {"full": (2, 0, 0, 0), "none": (5, 0, 512, 512), "apart": (5, 1, 1536, 2048)}, [], {},
    ),
    "D3, of an argument": Network(
        UPDATE, ["y"], lambda: [updated(T) + (3 * X) ** 2], {}, ["t"], {"y": "t"},
    ),
    "D5, reader through a view": Network(
        MADE + VIEW, ["r", "c"], lambda: [2 * (X + 1).ravel(), updated(X + 1)],
        {"full": (3, 1, 0, 0), "none": (3, 1, 0, 0), "apart": (3, 1, 512, 512)}, [], {},
    ),
    "D5, of an argument": Network(
        VIEW, ["r", "c"], lambda: [2 * T.ravel(), updated(T)], {}, ["t"], {"r": "t"},
    ),
    "D7, other operand": Network(
        [*MADE, node("Mul", "x,two", "a"), *PAIR], ["y"], lambda: [np.maximum(X + 1, 2 * X) + np.minimum(2 * X, X)],
        {"full": (1, 0, 0, 0), "none": (5, 0, 512, 512), "apart": (5, 0, 1536, 2048)}, [], {},
    ),
    "D7, of two arguments": Network(
        PAIR, ["y"], lambda: [np.maximum(T, A) + np.minimum(A, X)], {}, ["t", "a"], {"y": "t"},
    ),
    "D7, two results": Network(
        PAIR, ["y", "c"], lambda: [np.maximum(T, A) + np.minimum(A, X), np.minimum(A, X)], {}, ["t", "a"],
        {"y": "t", "c": "a"},
    ),
}  # fmt: skip
WAYS = {"full": {}, "none": {"fuse": "none"}, "apart": {"fuse": "none", "may_share": lambda *_: False}}


def compiled(network, **choices):
    """The function, and its arguments: copies, which it may overwrite."""
    used = {name for n in network.nodes for name in n.input} - {name for n in network.nodes for name in n.output}
    constants = {name: value for name, value in CONSTANTS.items() if name in used}
    inputs = [name for name in INPUTS if name in used]
    file = model(network.nodes, [f"{name}: {INPUTS[name]}" for name in inputs], constants=constants, opset=18)
    del file.graph.output[:]
    file.graph.output.extend(helper.make_empty_tensor_value_info(name) for name in network.outputs)
    return inlay.onnx.compile(file, verify=True, **choices), {name: ARGUMENTS[name].copy() for name in inputs}


def agrees(network, fn, arguments):
    """Compares with NumPy what a call returns, and returns it by name."""
    found = fn(**arguments)
    found = found if isinstance(found, tuple) else (found,)
    for have, want in zip(found, network.expected(), strict=True):
        assert have.dtype == want.dtype
        np.testing.assert_array_equal(have, want)
    return dict(zip(network.outputs, found, strict=True))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("planner", PLANNERS, ids=lambda p: p if isinstance(p, str) else "custom")
@pytest.mark.parametrize("name", NETWORKS)
def test_each_planner_computes_what_numpy_does(name, planner, way):
    network = NETWORKS[name]
    fn, arguments = compiled(network, planner=planner, **WAYS[way])
    for _ in range(2):
        agrees(network, fn, arguments)
    for given in arguments:
        np.testing.assert_array_equal(arguments[given], ARGUMENTS[given])
    if network.counts:
        found = inlay.explain(fn)
        kernels, copies, reused, apart = network.counts[way]
        expected = (kernels, copies, apart if planner in REUSING_NOTHING else reused)
        assert (len(found.kernels), len(found.copies), found.arena_bytes) == expected


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("planner", PLANNERS, ids=lambda p: p if isinstance(p, str) else "custom")
@pytest.mark.parametrize("name", [name for name, network in NETWORKS.items() if network.donated])
def test_arguments_that_are_donated(name, planner, way):
    network = NETWORKS[name]
    fn, arguments = compiled(network, planner=planner, donated=network.donated, **WAYS[way])
    results = agrees(network, fn, arguments)
    for given in set(arguments) - set(network.donated):
        np.testing.assert_array_equal(arguments[given], ARGUMENTS[given])
    if way == "full":
        taken = {(r, g) for r in results for g in arguments if np.shares_memory(results[r], arguments[g])}
        assert taken == set(network.taken.items())


@pytest.mark.parametrize("name", [name for name, network in NETWORKS.items() if network.counts])
def test_one_planner_after_another(name):
    """None begins with what another has left: each way round, the same offsets and bytes as alone."""

    def plan(planner):
        fn, arguments = compiled(NETWORKS[name], planner=planner, **WAYS["apart"])
        agrees(NETWORKS[name], fn, arguments)
        found = inlay.explain(fn).plan
        again = inlay.plan(found.storages, planner)
        return found.peak, [[s.offset for s in storages] for storages in (found.storages, again.storages)]

    alone = [plan(planner) for planner in PLANNERS]
    assert [plan(planner) for planner in reversed(PLANNERS)] == alone[::-1]
