"""`inlay.profile`: which rows there are, what they count, and that nothing of what it is given changes. No times."""

import itertools
import json
import math
import re

import inlay.pytensor
import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
import pytest
from inlay import errors, profiling
from inlay.pytensor import pickles
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op

try:
    from pytensor.conditional.op import ifelse
except ImportError:  # older versions
    from pytensor.ifelse import ifelse

SCALE = """
graph @main(%x: f64[n], %b: f64[m]) {
  %s = reduce add %x [0] : f64
  %y = div %b, %s
  return %y
}
"""
TYPE = "main(x: f64[n], b: f64[m]) -> f64[m]"
UPDATE = """
graph @main(%x: f64[n] donated, %y: f64[m]) {
  %r = update set %x[0:m], %y
  return %r
}
"""
POINTS = np.linspace(0, 1, 101)  # 50 of them are above 1/2


@pytest.fixture(autouse=True)
def few_calls(monkeypatch):
    monkeypatch.setattr(profiling, "_SECONDS", 0.0)


def kernels(profile):
    return [row for row in profile.rows if row.kind == "kernel"]


def moved(row):
    return row.passes, row.bytes_read, row.bytes_written


def test_rows_of_two_kernels():
    f = inlay.compile(SCALE)
    p = inlay.profile(f, np.ones(1000), np.ones(30))
    total, divide = kernels(p)
    assert (total.makes, total.computes, total.loops) == (["s"], ["s = sum(x)"], ["n"])
    assert (divide.makes, divide.lines) == (["y"], "<text>:4")
    assert moved(total) == (1, 8000, 0) and moved(divide) == (1, 240, 240)
    assert (total.flops, divide.flops) == (1000, 30)
    at_other_sizes = kernels(inlay.profile(f, np.ones(7), np.ones(2)))
    assert [moved(row) for row in at_other_sizes] == [(1, 56, 0), (1, 16, 16)]


def test_numbers_of_a_profile_fit_together():
    p = inlay.profile(inlay.compile(SCALE), np.ones(1000), b=np.ones(300))
    assert p.calls == 3 and p.name == TYPE and 0 < p.least <= p.total
    assert math.isclose(p.outside + sum(row.seconds for row in p.rows), p.total)
    for row in kernels(p):
        assert 0 < row.seconds < p.total and row.share == row.seconds / p.total and row.least_seconds > 0
        assert math.isclose(row.bandwidth, (row.bytes_read + row.bytes_written) / row.seconds / 1e9)
        assert row.share_of_bandwidth == row.bandwidth / p.bandwidth
        assert math.isclose(row.flop_rate, row.flops / row.seconds / 1e9)
    assert p.bandwidth > 0
    assert p.bandwidth == inlay.profile(inlay.compile(UPDATE), np.ones(3), np.ones(2)).bandwidth  # measured once


def test_calls_last_as_long_as_they_are_to(monkeypatch):
    clock = itertools.count(0, 1 / 16)  # it goes on so many seconds each time that it is looked at
    monkeypatch.setattr(profiling.time, "perf_counter", lambda: next(clock))
    monkeypatch.setattr(profiling, "_SECONDS", 7 / 16)
    monkeypatch.setattr(profiling, "machine_bandwidth", lambda: 1.0)
    f = inlay.compile(SCALE)
    assert inlay.profile(f, np.ones(3), np.ones(3)).calls == 3
    monkeypatch.setattr(profiling, "_SECONDS", 2.0)
    p = inlay.profile(f, np.ones(3), np.ones(3))
    assert p.calls == 12 and p.total == p.least == 1 / 16


def test_rows_are_the_steps_of_explain():
    m = pt.dmatrix("m")
    f = pytensor.function([m], [pt.exp(m).sum(axis=0), pt.linalg.cholesky(m), pt.sort(m[0])], mode="INLAY")
    steps = [(s.kind, s.name, s.makes, s.computes, s.lines) for s in inlay.explain(f).steps]
    p = inlay.profile(f, np.eye(5))
    assert [(r.kind, r.name, r.makes, r.computes, r.lines) for r in p.rows] == steps
    by_name = {row.name: row for row in p.rows}
    assert moved(by_name["cholesky"]) == (1, 200, 200) and moved(by_name["sort"]) == (1, 40, 40)
    assert [by_name[name].flops for name in ("cholesky", "sort")] == [125 // 3, 0]
    assert by_name["sort"].flop_rate is None


def test_it_is_compiled_as_the_function_was():
    x = pt.dvector("x")
    f = pytensor.function([x], pt.exp(pt.sin(x)).sum(), mode=inlay.pytensor.mode(fuse="none"))
    g = inlay.compile(SCALE.replace("return %y", "%z = exp %y\n  return %z"), fuse="none")
    for fn, number in (f, 1), (g, 2):
        assert len(kernels(inlay.profile(fn, *[np.ones(3)] * number))) == len(inlay.explain(fn).kernels) == 3


def test_shared_variables_stay_as_they_are():
    rng = pytensor.shared(np.random.default_rng(1), name="rng")
    total = pytensor.shared(np.zeros(3), name="total")
    data = pytensor.shared(np.arange(3.0), name="data")
    later, draw = pt.random.normal(0, data, rng=rng).owner.outputs
    f = pytensor.function([], draw, updates={rng: later, total: total + draw}, mode="INLAY")
    program, state = f.vm.compiled.program, rng.get_value(borrow=True).bit_generator.state
    kept = total.get_value(borrow=True)
    p = inlay.profile(f)
    assert [row.kind for row in p.rows].count("draw") == 1
    assert rng.get_value(borrow=True).bit_generator.state == state
    assert total.get_value(borrow=True) is kept and not kept.any()
    assert f.vm.compiled.program is program
    f()  # and are shared still
    np.testing.assert_array_equal(total.get_value(), np.random.default_rng(1).normal(0, [0, 1, 2]))


def test_a_profile_of_pytensors_stays_as_it_is():
    x = pt.dvector("x")
    f = pytensor.function([x], pt.exp(x), mode="INLAY", profile=True)
    f(np.ones(2))
    assert moved(inlay.profile(f, np.ones(2)).rows[0]) == (1, 16, 16)
    assert f.profile.fct_callcount == 1 and list(f.profile.apply_callcount.values()) == [1]


def test_arguments_stay_as_they_are():
    f = inlay.compile(UPDATE)
    x = np.zeros(5)
    (row,) = inlay.profile(f, x, np.ones(2)).rows
    assert moved(row) == (1, 16, 16) and not x.any()

    given = pt.dvector("given")
    g = pytensor.function([pytensor.In(given, mutable=True)], pt.set_subtensor(given[0], 9.0), mode="INLAY")
    inlay.profile(g, x)
    assert not x.any()
    assert g(x)[0] == 9

    out = np.zeros(3)
    inlay.profile(inlay.compile(SCALE), np.ones(3), np.ones(3), out=out)
    assert not out.any()


def test_steps_of_a_loop_count_their_passes():
    v = pt.dvector("v")
    state = pytensor.scan(
        lambda a, s: pt.exp(-a * s), sequences=[v], outputs_info=[pt.ones(50)], return_updates=False
    )  # fmt: skip
    f = pytensor.function([v], state, mode="INLAY")
    (row,) = [row for row in kernels(inlay.profile(f, np.ones(7))) if row.depth]
    assert row.passes == 7
    (step,) = [step for step in inlay.explain(f).steps if step.name == row.name]
    assert (row.bytes_read, row.bytes_written) == (7 * step.bytes_read, 7 * step.bytes_written)


def test_sizes_that_are_found_while_it_runs():
    v = pt.dvector("v")
    f = pytensor.function([v], pt.sort(v[v > 0.5]), mode="INLAY")
    (call,) = [row for row in inlay.profile(f, POINTS).rows if row.kind == "library call"]
    assert moved(call) == (1, 8 * 50, 8 * 50)

    def add(i, total):
        return total + pt.exp(v[:i]).sum()

    sums = pytensor.scan(add, sequences=[pt.arange(1, 20)], outputs_info=[pt.zeros(())], return_updates=False)
    g = pytensor.function([v], sums, mode="INLAY")
    (row,) = [row for row in kernels(inlay.profile(g, POINTS)) if row.depth]
    assert row.passes == 19 and row.bytes_read.startswith("8*") and row.bandwidth is row.share_of_bandwidth is None
    assert isinstance(row.flops, str) and row.flop_rate is None


def test_a_branch_that_is_not_taken_moves_nothing():
    v, is_sorted = pt.dvector("v"), pt.bscalar("is_sorted")
    f = pytensor.function([is_sorted, v], ifelse(is_sorted, v, pt.sort(v)), mode="INLAY")
    for given, want in (1, (0, 0, 0)), (0, (1, 808, 808)):
        (call,) = [row for row in inlay.profile(f, given, POINTS).rows if row.name == "sort"]
        assert moved(call) == want and (call.bandwidth is None) == bool(given)


class Halves(Op):
    """Says in its type what it does not know: that its result is as long as its operand."""

    __props__ = ()
    calls = 0

    def make_node(self, x):
        return Apply(self, [x], [pt.dvector() if x.type.shape[0] is None else x.type()])

    def perform(self, node, inputs, storage):
        Halves.calls += 1
        storage[0][0] = inputs[0][::2].copy()


def test_a_host_call_is_called_as_often():
    x = pt.dvector("x")
    f = pytensor.function([x], pt.exp(Halves()(x)), mode="INLAY")
    Halves.calls = 0
    p = inlay.profile(f, np.ones(10))
    assert Halves.calls == p.calls + 1  # the first is not counted
    call, kernel = p.rows
    assert (call.kind, kernel.kind) == ("host call", "kernel")
    assert (call.note, kernel.note) == ("host call, runs as Python", "") and f"({call.note})" in str(p)
    assert (call.flops, kernel.flops) == (None, 5)
    assert moved(call) == (1, 80, 40) and moved(kernel) == (1, 40, 40)


class LaterHalves(Halves):
    """Finds the size that its type says, once."""

    __props__ = ("kept",)

    def __init__(self, kept):
        self.kept = kept

    def perform(self, node, inputs, storage):
        Halves.calls += 1
        storage[0][0] = inputs[0][:: 1 if Halves.calls <= self.kept else 2].copy()


@pytest.mark.filterwarnings("ignore:.*compiled once more")
def test_a_function_that_finds_other_sizes_in_a_later_call():
    x = pt.tensor("x", shape=(10,))
    f = pytensor.function([x], pt.exp(LaterHalves(2)(x)), mode="INLAY")
    Halves.calls = 0
    p = inlay.profile(f, np.ones(10))
    assert moved(p.rows[-1]) == (1, 40, 40)
    # Two calls that fit, the one that does not and is made again, one to the end; then all anew, as any profile.
    assert Halves.calls == 2 + 2 + 1 + (p.calls + 1)


@pytest.mark.filterwarnings("ignore:.*compiled once more")
def test_a_function_that_finds_other_sizes():
    x = pt.tensor("x", shape=(10,))
    f = pytensor.function([x], pt.exp(Halves()(x)), mode="INLAY")
    before = f.vm.compiled.program
    assert moved(inlay.profile(f, np.ones(10)).rows[-1]) == (1, 40, 40)
    assert f.vm.compiled.program is before


CALLED = []  # by the host functions below, which a pickle names


def first(x):
    CALLED.append("first")
    return np.exp(x)


def second(x):
    CALLED.append("second")
    return np.sin(x)


def test_host_functions_of_a_text():
    text = """
graph @main(%x: f64[n]) {
  %a = host_call "first"(%x) : f64[n]
  %b = host_call "second"(%a) : f64[n]
  %y = add %b, %x
  return %y
}
"""
    f = inlay.compile(text, host_functions={"first": first, "second": second})
    for fn in f, pickles.unpickled(pickles.pickled(f)):
        CALLED.clear()
        calls = [row for row in inlay.profile(fn, np.ones(4)).rows if row.kind == "host call"]
        assert CALLED == ["first", "second"] * 4
        assert [(row.name, *moved(row)) for row in calls] == [("first", 1, 32, 32), ("second", 1, 32, 32)]


def test_functions_of_files(tmp_path, monkeypatch):
    total = pytensor.shared(np.zeros(3), name="total")
    x = pt.dvector("x")
    f = pytensor.function([x], pt.exp(x).sum(), updates={total: total + x}, mode="INLAY")
    g = inlay.compile(SCALE.replace("f64[m])", "f64[m] bound)"), bound={"b": np.ones(3)})
    for fn in f, g:
        inlay.save(fn, tmp_path / "fn")
        loaded = inlay.load(tmp_path / "fn")
        of_file, of_fn = inlay.profile(loaded, np.ones(3)), inlay.profile(fn, np.ones(3))
        assert [(r.name, *moved(r)) for r in of_file.rows] == [(r.name, *moved(r)) for r in of_fn.rows]
    assert not total.get_value().any()

    inlay.save(f, tmp_path / "fn")
    loaded = inlay.load(tmp_path / "fn")

    def gone(data, known=()):
        raise AttributeError("no class Mine")

    monkeypatch.setattr(pickles, "unpickled", gone)
    said = "comes from a file and cannot be compiled once more, with clocks: its graph cannot be read .no class Mine"
    with pytest.raises(NotImplementedError, match=said):
        inlay.profile(loaded, np.ones(3))
    assert loaded(np.zeros(3)) == 3


def test_a_function_from_the_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("INLAY_CACHE", str(tmp_path))

    def made():
        x = pt.dvector("x")
        return pytensor.function([x], pt.exp(x).sum(), mode="INLAY")

    made()
    f = made()
    assert "taken" in inlay.explain(f).cache
    assert moved(inlay.profile(f, np.ones(3)).rows[0]) == (1, 24, 0)


def test_what_pymc_wraps():
    with pm.Model() as model:
        a = pm.Normal("a", shape=20)
        pm.Normal("y", a, 1.0, observed=np.ones(20))
    logp = model.compile_logp(mode="INLAY")
    inside = logp.f
    assert kernels(inlay.profile(logp, model.initial_point()))[0].bytes_read >= 160
    assert logp.f is inside
    gradient = model.logp_dlogp_function(ravel_inputs=True, mode="INLAY")
    gradient.set_extra_values({})  # PyMC 5 asks for it
    assert kernels(inlay.profile(gradient, np.zeros(20)))[0].bytes_written >= 160


def test_the_table():
    p = inlay.profile(inlay.compile(SCALE), np.ones(1000), np.ones(1000))
    name, times, bandwidth, empty, head, *rows = str(p).splitlines()
    assert name == p.name and " a call, " in times and " at least, of 3 calls: " in times and " outside of them" in times and empty == ""
    assert bandwidth.startswith("one thread moves ") and bandwidth.endswith(" GB/s to and from this machine's memory")
    assert head.split() == ["share", "time", "reads", "writes", "GB/s", "of", "peak", "GFlop/s", "step"]
    assert len(rows) == len(p.rows) and all(len(line) == len(line.rstrip()) for line in rows)
    shares = [float(line.split()[0]) for line in rows]
    assert shares == sorted(shares, reverse=True)
    assert any("  8000 B     0 B " in line and line.endswith("@k0 over n: s = sum(x)  [<text>:3]") for line in rows)
    assert json.loads(json.dumps(p.to_dict())) == p.to_dict() and p.to_dict()["rows"][0]["bytes_read"] == 8000


def test_copies_are_named():
    x, i, y = pt.dvector("x"), pt.lvector("i"), pt.dvector("y")
    f = pytensor.function([x, i, y], [pt.inc_subtensor(x[i], y), pt.stack([x, x]).T], mode="INLAY")
    notes = [row.note for row in inlay.profile(f, np.ones(3), np.array([1]), np.ones(1)).rows]
    # An older PyTensor writes the places as steps of their own, without a note.
    assert sorted(filter(None, notes)) == ["a copy", "copies x: x belongs to the caller"]


def test_a_table_of_many_steps_is_no_wider_and_no_longer_than_a_screen():
    v = pt.dvector("v_" + "of_a_long_name_" * 8)
    state = pytensor.scan(lambda a, s: a * s, sequences=[v], outputs_info=[pt.ones(9)], return_updates=False)
    sorted_by = [pt.sort(state.sum(axis=1) * i) for i in range(40)]
    p = inlay.profile(pytensor.function([v], sorted_by, mode="INLAY"), np.ones(4))
    lines = str(p).splitlines()
    assert len(p.rows) > 30 and len(lines) == 5 + 30 + 1
    assert max(map(len, lines)) <= 120 and "passes" in lines[4]
    assert lines[-1].startswith(f"and {len(p.rows) - 30} steps that take less time, ")


def test_a_function_without_steps():
    p = inlay.profile(inlay.compile("graph @main(%x: f64[0]) {\n return %x\n}"), np.ones(0))
    assert kernels(p) == [] and p.total > 0


def test_what_is_refused():
    f = inlay.compile(SCALE)
    with pytest.raises(TypeError, match="an object of type function is not a function that inlay compiled"):
        inlay.profile(lambda x: x, 1)
    with pytest.raises(TypeError, match="f64|dtype|float64"):
        inlay.profile(f, np.ones(3), np.ones(3, dtype="f4"))
    with pytest.raises(TypeError):
        inlay.profile(f, np.ones(3))

    class Holds:
        f = pytensor.function([], pt.zeros(3), mode="INLAY")

    with pytest.raises(TypeError, match="an object of type Holds cannot be called"):
        inlay.profile(Holds())


def test_the_c_backend_has_no_clocks():
    x = pt.dvector("x")
    c = inlay.compile(SCALE, backend="c")
    d = pytensor.function([x], pt.exp(x), mode=inlay.pytensor.mode(backend="c"), name="d")
    for fn, name in (c, re.escape(TYPE)), (d, "d"):
        said = f'{name} was compiled by the backend "c", whose code has no clocks around its steps'
        with pytest.raises(errors.InlayError, match=said):
            inlay.profile(fn, np.ones(3))


def test_names_send_nothing_to_the_screen():
    x = pt.dvector("x\x1b[31m")
    for name in ("f\x1b[31m\u202e", None, "f\ud800"):
        f = pytensor.function([x], pt.exp(x), mode="INLAY", name=name)
        table = str(inlay.profile(f, np.ones(3)))
        assert not set("\x1b\u202e\ud800") & set(table) and "\N{REPLACEMENT CHARACTER}" in table.splitlines()[0]
