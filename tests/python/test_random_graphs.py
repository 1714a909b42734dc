"""Random PyTensor graphs in mode "INLAY" against the same nodes run one by one; see random_graphs.py.

    INLAY_FUZZ_SECONDS=600 INLAY_FUZZ_SEED=1 pytest tests/python/test_random_graphs.py
"""

import functools
import os
import pathlib
import pickle
import re
import time

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
from node_oracle import Unfit, needed_by_several_branches, run
from pytensor.graph.fg import FunctionGraph
from pytensor.tensor.elemwise import Elemwise
from random_graphs import Grower, ifelse
from versions import OLD_PYTENSOR

pytestmark = pytest.mark.skipif(OLD_PYTENSOR, reason="its rewrites come to no end on some graphs (local_log_add_exp)")

ROOT = pathlib.Path(__file__).parents[2]
SECONDS = float(os.environ.get("INLAY_FUZZ_SECONDS", 5))
SEED = int(os.environ.get("INLAY_FUZZ_SEED", 0))

# Of a value, or of the largest number near it, where that cancels: what two dozen ops make of roundings that differ (a
# thousand of each dtype's, ten of float16's). A wrong element or a lost term is off by its own size.
RELATIVE = {"float64": 1e-9, "float32": 2e-4, "float16": 1e-2}


def graph(seed):
    grower = Grower(seed)
    for _ in range(grower.rng.integers(1, 25)):
        try:
            grower.grow()
        except Unfit:
            pass
    made = [x for x in grower.values if x not in grower.inputs]
    if not made:
        return None
    count = min(len(made), int(grower.rng.integers(1, 5)))
    outputs = [made[-1]] + [grower.some(made) for _ in range(count - 1)]
    return grower, outputs


def differ(got, want, largest):
    """What is wrong with `got`, or None."""
    if got.dtype != want.dtype or got.shape != want.shape:
        return f"{got.dtype}{list(got.shape)} instead of {want.dtype}{list(want.shape)}"
    if want.dtype.kind != "f":
        return None if np.array_equal(got, want) else "other values"
    relative = RELATIVE[want.dtype.name]
    near = np.isclose(got, want, rtol=relative, atol=relative * largest, equal_nan=True)
    return None if near.all() else f"{got[~near][:3]} instead of {want[~near][:3]}"


def outcome(call):
    """What a call gives, or the error that it ends with."""
    try:
        with np.errstate(all="ignore"):
            return call()
    except Exception as error:
        return error


def disagreement(ours, theirs, largest):
    """What is wrong with `ours`, where `theirs` is right: a sentence by the number of the output. Which error it is, is for
    other tests."""
    if isinstance(theirs, Unfit):
        return {}  # the oracle does not know
    if isinstance(ours, Exception) or isinstance(theirs, Exception):
        if isinstance(ours, Exception) and isinstance(theirs, Exception):
            return {}
        if "Split sizes sum" in str(theirs):
            return {}  # inlay does not look at a part that nothing reads
        return dict.fromkeys(range(len(theirs if isinstance(ours, Exception) else ours)), f"{ours!r} instead of {theirs!r}")
    wrong = [differ(g, w, largest) for g, w in zip(ours, theirs, strict=True)]
    return {i: what for i, what in enumerate(wrong) if what}


def largest_of(values, has_float32=False):
    floats = [v for v in values if v.dtype.kind == "f"]
    finite = max((np.abs(v[np.isfinite(v)]).max(initial=0) for v in floats), default=0)
    # What was rounded to a float32 and then goes on as a float64 keeps that error.
    return finite * (1e5 if has_float32 or any(v.dtype == np.float32 for v in floats) else 1)


def other_arguments(grower):
    """The arguments with one of another size, or other values, of what it may be.

    Integers stay within those that were, but for one now and then that may be an index out of bounds (only where nothing
    is empty: of a read of no elements NumPy looks at the indices all the same). No size becomes 0 or 1: NumPy takes an
    empty mask for any length, and stretches an array of indices that turns out to have one.
    """
    x = grower.some(grower.inputs)
    value = grower.values[x]
    shape = tuple(n if said is not None else grower.some([n, n + 1]) if n > 1 else n for n, said in zip(value.shape, x.type.shape, strict=True))
    other = grower.random_array(shape, value.dtype.name)
    if value.dtype.kind in "iu" and value.size:
        other = np.asarray(grower.rng.choice(value.ravel(), shape), value.dtype)
        if value.ndim and grower.chance(0.3) and all(v.size for v in grower.values.values()):
            other.ravel()[grower.rng.integers(other.size)] = 100
    return {**{i: grower.values[i] for i in grower.inputs}, x: other}


def judge(seed):
    made = graph(seed)
    if made is None:
        return
    grower, outputs = made
    ours = pytensor.function(grower.inputs, outputs, mode="INLAY", on_unused_input="ignore")
    sent = pickle.loads(pickle.dumps(ours))
    first = {x: grower.values[x] for x in grower.inputs}
    for arguments in (first, other_arguments(grower), first):
        values = list(arguments.values())
        before = [v.copy() for v in values]
        got = outcome(lambda: ours(*values))
        for value, copy in zip(values, before, strict=True):
            np.testing.assert_array_equal(value, copy, f"INLAY_FUZZ_SEED={seed}: an argument was changed")
        wrong = mistake(got, outputs, arguments, grower.values.values())
        assert not wrong, f"INLAY_FUZZ_SEED={seed}: {wrong}"
        assert is_same(outcome(lambda: sent(*values)), got), f"INLAY_FUZZ_SEED={seed}: the pickled function differs"


def is_same(one, other):
    """Whether two calls gave the same bits, or failed with the same words."""
    if isinstance(one, Exception) or isinstance(other, Exception):
        return type(one) is type(other) and str(one) == str(other)
    return all(a.dtype == b.dtype and a.tobytes() == b.tobytes() for a, b in zip(one, other, strict=True))


def differs_from_run(got, outputs, known, largest):
    """What is wrong with what inlay gave, by output. Some ops give either zero (`has_either_zero`), and what follows, as an
    angle, may be far away."""
    wrong = disagreement(got, outcome(lambda: run(outputs, known)), largest)
    for zero in (0.0, -0.0) if wrong else ():
        found = disagreement(got, outcome(lambda: run(outputs, known, zero)), largest)  # noqa: B023
        wrong = {i: what for i, what in wrong.items() if i in found}
    return wrong


def mistake(got, outputs, arguments, values):
    """What is wrong with what inlay gave, by output. `values`: of the graph, to know what their rounding is a part of."""
    wrong = differs_from_run(got, outputs, arguments, largest_of(values))
    if not wrong:
        return {}
    # PyTensor's rewrites may keep a number where the nodes by themselves give none, and leave out what fails. They
    # make a float32 of the arctan2 of two bools that were chosen as float64.
    left = rewritten(list(arguments), outputs)
    largest = largest_of(values, any(getattr(x.type, "dtype", "") == "float32" for x in left.variables))
    known = dict(zip(left.inputs, arguments.values(), strict=True))
    found = differs_from_run(got, left.outputs, known, largest)
    wrong = {i: what for i, what in wrong.items() if i in found}
    if isinstance(got, Exception):
        return {} if any(fails([x], known) for x in needed_by_several_branches(left.outputs)) else wrong
    if wrong and fails(left.outputs, known):
        return {} if fails_where_every_operand_stays(outputs, arguments) else wrong
    for graph, inputs in ((outputs, arguments), (left.outputs, known)):
        wrong = {i: what for i, what in wrong.items() if not is_rounding(got[i], graph[i], inputs)}
    return wrong


def fails(outputs, known):
    return isinstance(outcome(lambda: run(outputs, known)), Exception)


def is_rounding(got, output, known):
    """Whether `got` is no farther from what the nodes give than these move where each rounds some units more, as the
    logarithm of a difference in which all cancels but rounding."""
    plain = outcome(lambda: run([output], known)[0])
    if isinstance(plain, Exception) or got.dtype != plain.dtype or got.shape != plain.shape or plain.dtype.kind != "f":
        return False
    moved = np.zeros(plain.shape)
    with np.errstate(all="ignore"):
        for round in range(20):
            other = run([output], known, random=np.random.default_rng(round))[0]
            apart = np.where((other == plain) | (np.isnan(other) & np.isnan(plain)), 0.0, np.abs(np.float64(other) - plain))
            moved = np.maximum(moved, np.where(np.isfinite(apart), apart, np.inf))
        same = (got == plain) | (np.isnan(got) & np.isnan(plain))
        # Twenty shakes seldom meet the worst one, and a sum in another order rounds as often as it has terms. A defect
        # moves a value by its own size, which is 1e15 roundings.
        return bool(np.all(same | np.isinf(moved) | (np.abs(np.float64(got) - plain) <= 1e4 * moved)))


def fails_where_every_operand_stays(outputs, arguments):
    """Whether inlay fails too without its rewrites that drop an operand: what nothing needs cannot fail
    (docs/rewriting.md)."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("INLAY_REWRITE_OFF", ",".join(rules_that_drop_an_operand()))
        function = pytensor.function(list(arguments), outputs, mode="INLAY", on_unused_input="ignore")
    return isinstance(outcome(lambda: function(*arguments.values())), Exception)


@functools.cache
def rules_that_drop_an_operand():
    """Of the rules in docs/rewriting.md those that have one more on the left, such as select(p, x, x) -> x. (Words after
    a comma say where or what else.)"""
    table = (ROOT / "docs" / "rewriting.md").read_text().split("<!-- rules -->")[1]
    rules = re.findall(r"^\| `([\w-]+)` \| `([\w ]+\(.*?\))` \| `(.*?)(?:, (?:or|of|beside) .*?)?` \|", table, re.MULTILINE)

    def operands(text):
        return set(re.findall(r"\b[pvwxyz]\b", text))

    return [name for name, old, new in rules if operands(old) - operands(new)]


def rewritten(inputs, outputs):
    """The same graph as inlay gets it: after PyTensor's rewrites, none of which works in place."""
    fgraph = FunctionGraph(inputs, outputs, clone=True)
    pytensor.compile.mode.get_mode("INLAY").optimizer.rewrite(fgraph)
    return fgraph


def test_random_graphs(record_property, monkeypatch):
    monkeypatch.setenv("INLAY_VERIFY", "1")
    seed, end = SEED, time.monotonic() + SECONDS
    while time.monotonic() < end:
        try:
            judge(seed)
        except AssertionError:
            raise
        except Exception as error:
            raise AssertionError(f"INLAY_FUZZ_SEED={seed}") from error
        seed += 1
    assert seed > SEED
    record_property("graphs", seed - SEED)


def outcome_of(outputs, arguments):
    ours = pytensor.function(list(arguments), outputs, mode="INLAY", on_unused_input="ignore")
    return outcome(lambda: ours(*arguments.values()))


def mistake_of(outputs, arguments):
    return mistake(outcome_of(outputs, arguments), outputs, arguments, arguments.values())


def test_the_judge_takes_what_a_rewrite_leaves_out_and_what_is_not_looked_at():
    x, i, empty = pt.dvector("x"), pt.lvector("i"), pt.dmatrix("empty")
    outputs = [(x[i] * 0.0).sum(), empty[i]]  # PyTensor itself makes the first a 0; the second reads no element
    assert not mistake_of(outputs, {x: np.ones(3), i: np.array([0, 100]), empty: np.ones((2, 0))})


def test_the_judge_knows_what_several_branches_need():
    x, mask, chosen, also = pt.dvector("x"), pt.vector("mask", dtype="bool"), pt.bscalar("chosen"), pt.bscalar("also")
    part = x[mask]
    # Before two of them it is looked at; in one alone it is not, and the judge would not take an error.
    two = [ifelse(chosen, x[0], part.sum()), ifelse(also, x[0], part.prod())]
    either = [ifelse(chosen, part.sum(), part.prod())]
    one = [ifelse(chosen, x.sum(), ifelse(also, part.sum(), x[0]))]
    assert part in needed_by_several_branches(two)
    assert part in needed_by_several_branches(either)
    assert part not in needed_by_several_branches(one)
    arguments = {x: np.ones(5), mask: np.zeros(4, bool), chosen: np.int8(1), also: np.int8(1)}
    assert isinstance(outcome_of(two, arguments), IndexError)
    assert not mistake_of(two, arguments)
    assert not isinstance(outcome_of(one, arguments), Exception)
    assert mistake(IndexError(), one, arguments, arguments.values())


def test_the_oracle_looks_at_no_index_of_an_access_of_no_elements():
    x, i, at = pt.dmatrix("x"), pt.lvector("i"), pt.lscalar("at")
    outputs = [x[i], x[i].inc(1.0), x[i, :-1], x[at, i[:0]], x[at], x[at].inc(1.0)]
    for shape, count in (((3, 0), 0), ((0, 0), 0), ((0, 1), 4), ((3, 1), 4)):  # how many of them read or write an element
        arguments = {x: np.ones(shape), i: np.array([0, 100]), at: np.asarray(100)}
        errors = [isinstance(outcome(lambda: run([o], arguments)), IndexError) for o in outputs]  # noqa: B023
        assert sum(errors) == count
        assert not any(mistake_of([o], arguments) for o in outputs)


def test_the_oracle_does_not_know_a_position_of_sizes_in_an_access_of_no_elements():
    x, at = pt.dmatrix("x"), pt.lscalar("at")
    arguments = {x: np.ones((2, 0)), at: np.asarray(-3)}
    for part in (x[-3], x[x.shape[0]], x[-3].set(1.0)):
        assert isinstance(outcome(lambda: run([part], arguments)), Unfit)  # noqa: B023
        assert not mistake_of([part], arguments)
    assert run([x[at]], arguments)[0].shape == (0,)


def test_the_oracle_refuses_a_mask_of_another_length_though_it_is_empty():
    x, mask = pt.dvector("x"), pt.vector("mask", dtype="bool")
    for part in (x[mask], x[mask].inc(1.0)):
        assert not mistake_of([part], {x: np.ones(1), mask: np.ones(0, bool)})


def test_the_oracle_adds_a_vector_to_each_row_of_a_matrix_of_indices():
    x, i = pt.dvector("x"), pt.lmatrix("i")
    arguments = {x: np.array([1.0, 2.0]), i: np.array([[0, 1], [0, 0], [1, 1]])}
    outputs = [x[i].inc(x)]
    np.testing.assert_array_equal(run(outputs, arguments)[0], [5, 7])
    assert not mistake_of(outputs, arguments)


def test_the_judge_takes_either_zero_of_a_minimum():
    x, y = pt.dscalars("x", "y")
    outputs = [pt.arctan2(pt.minimum(x, y), -1.0)]
    for sign in (1, -1):
        arguments = {x: np.asarray(0.0 * sign), y: np.asarray(-0.0 * sign)}
        assert not any(differs_from_run([np.asarray(angle)], outputs, arguments, 1.0) for angle in (np.pi, -np.pi))
        assert differs_from_run([np.asarray(1.0)], outputs, arguments, 1.0)


def test_the_judge_takes_either_zero_of_a_sum():
    x, y = pt.dvectors("x", "y")
    arguments = {x: np.array([-1.0, -1.0]), y: np.zeros(2)}
    for total in (x @ y, (x * y).sum()):
        outputs = [pt.arctan2(total, -1.0)]
        assert not any(differs_from_run([np.asarray(angle)], outputs, arguments, 1.0) for angle in (np.pi, -np.pi))
        assert differs_from_run([np.asarray(1.0)], outputs, arguments, 1.0)


def test_the_judge_takes_each_output_as_the_nodes_or_pytensors_rewrites_have_it():
    x, y, z = pt.dvectors("x", "y", "z")
    outputs = [x[:].set(y), pt.special.softmax(z)]  # PyTensor makes y of the first, whatever the lengths
    arguments = {x: np.ones(0), y: np.ones(1), z: np.array([np.inf])}
    nan = np.array([np.nan])
    assert not mistake([np.ones(1), nan], outputs, arguments, arguments.values())
    assert set(mistake([np.ones(2), nan], outputs, arguments, arguments.values())) == {0}


def test_the_judge_takes_what_rounding_makes_of_a_difference():
    x, y = pt.dvectors("x", "y")
    outputs = [pt.log(x - x * pt.exp(y).sum() / 3), pt.log(x)]
    arguments = {x: np.full(3, 0.1), y: np.zeros(3)}
    right = np.log(arguments[x])
    assert not mistake([np.full(3, -np.inf), right], outputs, arguments, arguments.values())
    assert set(mistake([np.full(3, -np.inf), right * 1.01], outputs, arguments, arguments.values())) == {1}


def test_the_judge_takes_what_inlay_leaves_out():
    mask = pt.vector("mask", dtype="bool")
    assert {"select-same", "mul-zero", "mul-one", "log1p"} & set(rules_that_drop_an_operand()) == {"select-same", "mul-zero"}
    assert not mistake_of([pt.zeros((3,), dtype="bool")[mask].set(0)], {mask: np.ones(4, bool)})


def test_the_oracle_knows_no_rows_of_a_scan_that_makes_no_steps():
    x = pt.dmatrix("x")
    outputs = [pytensor.scan(lambda row: row * 2, sequences=[x], return_updates=False)]
    for rows in (0, 2):
        assert not mistake_of(outputs, {x: np.ones((rows, 3))})


def test_the_oracle_adds_bools_in_the_dtype_of_the_sum():
    a, b, x = pt.vector("a", dtype="bool"), pt.vector("b", dtype="bool"), pt.dvector("x")
    arguments = {a: np.ones(1, bool), b: np.ones(1, bool), x: np.ones(1)}
    outputs = [Elemwise(pytensor.scalar.add)(a, b, x), a + b]
    np.testing.assert_array_equal(run(outputs, arguments), [[3], [1]])
    assert not mistake_of(outputs, arguments)


def test_the_oracle_casts_as_inlay_does():
    x = pt.dvector("x")
    outputs = [pt.cast(x, dtype) for dtype in ("int8", "uint8", "int32", "int64")]
    for values in ([-1.7, 300, 3e9, 1e19, np.inf, -np.inf], [1.0, np.nan]):
        assert not mistake_of(outputs, {x: np.array(values)})
