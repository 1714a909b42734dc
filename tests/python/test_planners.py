"""Who lays out working memory, as a caller chooses it, and what of it can be seen: `planner=`, `upper=`, `inlay.Plan`."""

import json
import os
import pickle
import re
import subprocess
import threading
import time
from pathlib import Path

import inlay
import inlay.pytensor
import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest

ROOT = Path(__file__).parents[2]
TOOL = Path(os.environ.get("INLAY_TOOL", ROOT / "build" / "release" / "bin" / "inlay"))
PLANNERS = ["naive", "greedy", "search", "max"]
PRODUCTS = """
graph @main(%a: f64[{n}, {n}], %b: f64[{n}, {n}]) {{
  %p = matmul %a, %b
  %q = matmul %p, %b
  %r = matmul %q, %p
  %s = matmul %r, %b
  %t = matmul %s, %r
  return %t
}}
"""
STATIC, SYMBOLIC = PRODUCTS.format(n=20), PRODUCTS.format(n="n")
A, B = np.random.default_rng(0).random((2, 20, 20))
SIZE = 20 * 20 * 8


def products(a=A, b=B):
    p = a @ b
    q = p @ b
    r = q @ p
    s = r @ b
    return s @ r


def one_above_the_other(storages):
    time.sleep(0)  # another thread has its turn
    tops = np.cumsum([-(-s.size // s.alignment) * s.alignment for s in storages])
    return [0, *tops[:-1]] if len(storages) else []


def check(fn):
    for _ in range(2):
        np.testing.assert_allclose(fn(A, B), products(), rtol=1e-12)


@pytest.mark.parametrize("planner", PLANNERS)
@pytest.mark.parametrize("text", [STATIC, SYMBOLIC], ids=["static", "symbolic"])
def test_by_name(planner, text):
    f = inlay.compile(text, planner=planner)
    check(f)
    plan = inlay.explain(f, sizes={"n": 20} if text == SYMBOLIC else None).plan
    assert plan.planner == planner and plan.lower_bound == 3 * SIZE
    assert plan.peak == (4 * SIZE if planner == "naive" else 3 * SIZE)


def test_a_plan_is_data():
    f = inlay.compile(STATIC)
    found = inlay.explain(f)
    plan = found.plan
    assert (plan.peak, plan.lower_bound, plan.proved, plan.gap) == (3 * SIZE, 3 * SIZE, True, 0)
    assert plan.planner == "search" and plan.seconds >= 0
    assert plan.peak == found.arena_bytes
    assert [s.name for s in plan.storages] == ["p", "q", "r", "s"]
    for one in plan.storages:
        assert one.size == SIZE and one.alignment == 64 and one.offset % 64 == 0 and one.lower < one.upper
        assert one.reason.startswith("call-")
        for other in plan.storages:
            together = one is not other and max(one.lower, other.lower) < min(one.upper, other.upper)
            assert not together or abs(one.offset - other.offset) >= SIZE
    assert json.loads(json.dumps(plan.to_dict()))["storages"][0]["name"] == "p"
    assert found.to_dict()["plan"] == plan.to_dict()


def test_a_plan_for_sizes():
    f = inlay.compile(SYMBOLIC)
    assert inlay.explain(f).plan is None
    for n in (0, 3, 100):
        assert inlay.explain(f, sizes={"n": n}).plan.lower_bound >= 3 * 8 * n * n
    with pytest.raises(inlay.errors.UnknownName) as raised:
        inlay.explain(f, sizes={"m": 3})
    assert str(raised.value) == "error[unknown-name]: the program has no size called m, but n"
    with pytest.raises(inlay.errors.UnknownName, match="the size of p depends on n, whose number is not given"):
        inlay.explain(f, sizes={})


@pytest.mark.parametrize("text", [STATIC, SYMBOLIC], ids=["static", "symbolic"])
def test_planners_of_ones_own(text):
    asked = []

    def stack(storages):
        asked.append(storages)
        return one_above_the_other(storages)

    sizes = {"n": 20} if text == SYMBOLIC else None
    f = inlay.compile(text, planner=stack)
    check(f)
    plan = inlay.explain(f, sizes=sizes).plan
    assert plan.planner == "custom" and plan.peak == 4 * SIZE and not plan.proved and plan.gap == pytest.approx(1 / 3)
    assert [(s.name, s.size) for s in asked[0]] == [(c, SIZE) for c in "pqrs"] and asked[0][0].offset is None

    offsets = {s.name: s.offset for s in inlay.explain(inlay.compile(text), sizes=sizes).plan.storages}
    g = inlay.compile(text, planner=offsets)
    check(g)
    assert inlay.explain(g, sizes=sizes).plan.peak == 3 * SIZE
    check(pickle.loads(pickle.dumps(g)))


@pytest.mark.parametrize(
    ("planner", "message"),
    [
        (
            {"p": 0, "q": 1024, "r": 8192, "s": 16384},
            "the custom plan is wrong: p (storage 0) [0, 3200) and q (storage 1) [1024, 4224) are both live at tick 3",
        ),
        ({"p": 0, "q": 3200, "r": 8192}, "the custom plan has no offset for s"),
        ({"p": 0, "q": 3200, "r": 8192, "S": 0}, " for S, and th"),  # whether it is found before the call or in it
        ({"p": 0, "q": -64, "r": 8192, "s": 16384}, "q (storage 1) begins before the arena, at -64"),
        (
            {"p": 0, "q": 3208, "r": 8192, "s": 16384},
            "the custom plan is wrong: q (storage 1) [3208, 6408) is not aligned to 64",
        ),
        (lambda storages: [0], "the custom plan is wrong: offsets of 1 storages, but there are 4"),
        ({"p": 0, "q": 2**63 - 64, "r": 8192, "s": 16384}, "does not fit in 6"),
    ],
)
@pytest.mark.parametrize("text", [STATIC, SYMBOLIC], ids=["static", "symbolic"])
def test_a_plan_that_is_wrong(planner, message, text):
    a, b = A.copy(), B.copy()
    with pytest.raises(ValueError) as raised:
        inlay.compile(text, planner=planner)(a, b, out=a)
    assert message in str(raised.value)
    if "fit" not in message:
        assert raised.value.code == "wrong-plan"
    np.testing.assert_array_equal(a, A)


@pytest.mark.parametrize("text", [STATIC, SYMBOLIC], ids=["static", "symbolic"])
def test_a_planner_that_fails(text):
    def planner(storages):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        inlay.compile(text, planner=planner)(A, B)
    with pytest.raises(TypeError):
        inlay.compile(text, planner=lambda storages: [0.5 for s in storages])(A, B)


def test_a_symbolic_function_is_usable_after_a_wrong_plan():
    def planner(storages):
        if storages[0].size != SIZE:
            return [0] * len(storages)
        return [0, SIZE, 2 * SIZE, 3 * SIZE]

    f = inlay.compile(SYMBOLIC, planner=planner)
    check(f)
    with pytest.raises(inlay.errors.WrongPlan):
        f(A[:8, :8].copy(), B[:8, :8].copy())
    check(f)


def test_names_and_kinds_that_are_wrong():
    with pytest.raises(inlay.errors.UnknownName) as raised:
        inlay.compile(STATIC, planner="best")
    assert str(raised.value) == (
        "error[unknown-name]: planner=best: there is no such planner\n  help: the planners are naive, greedy, search and max"
    )
    with pytest.raises(TypeError, match="planner: a name, a mapping from names to offsets or a function is expected"):
        inlay.compile(STATIC, planner=3)


@pytest.mark.parametrize("planner", [*PLANNERS, {"y": 0}], ids=str)
def test_in_pytensor(planner):
    x = pt.dmatrix("x")
    y = pt.dot(x, x)
    y.name = "y"
    mode = inlay.pytensor.mode(planner=planner)
    f, again = (pytensor.function([x], pt.exp(pt.dot(y, x)) + c, mode=mode) for c in (0, 1))
    for fn, c in ((f, 0), (again, 1)):
        plan = inlay.pytensor.explain(fn, sizes={"x_0": 4}).plan
        assert plan.planner == ("custom" if isinstance(planner, dict) else planner)
        if not isinstance(planner, dict):
            np.testing.assert_allclose(fn(A), np.exp(A @ A @ A) + c, rtol=1e-12)
            assert pickle.loads(pickle.dumps(fn))(A).shape == A.shape


# --- upper bounds ---


def test_one_arena_for_all_calls_up_to_the_bound():
    f = inlay.compile(SYMBOLIC, upper={"n": 20})
    found = inlay.explain(f)
    assert found.arena_bytes == found.plan.peak == 3 * 3200
    assert found.memory_map.startswith("memory: arena 9600 bytes, lower bound 9600 for n up to 20\n")
    for n in (0, 1, 2, 7, 16, 19, 20):
        a, b = np.random.default_rng(n).random((2, n, n))
        np.testing.assert_allclose(f(a, b), products(a, b), rtol=1e-12)


@pytest.mark.parametrize("planner", PLANNERS)
def test_a_call_beyond_the_bound(planner):
    f = inlay.compile(SYMBOLIC, upper={"n": 19}, planner=planner)
    out = np.full((20, 20), 7.0)
    for call in (lambda: f(A, B), lambda: f(A, B, out=out)):
        with pytest.raises(ValueError) as raised:
            call()
        assert str(raised.value) == (
            "error[upper-bound]: n is 20, bound by dim 0 of a, but the program was compiled for at most 19"
        )
    assert (out == 7).all()
    assert f(A[:19, :19].copy(), B[:19, :19].copy()).shape == (19, 19)


def test_bounds_that_are_missing_or_wrong():
    with pytest.raises(inlay.errors.UpperBound, match="the size of p depends on n, which has no upper bound"):
        inlay.compile("graph @main(%a: f64[n, n], %b: f64[m]) {\n %p = matmul %a, %a\n %q = matmul %p, %a\n return %q\n}",
                      upper={"m": 4})
    with pytest.raises(inlay.errors.UnknownName, match="no size called k, but n"):
        inlay.compile(SYMBOLIC, upper={"k": 4})
    with pytest.raises(ValueError, match="the size n is given as -1"):
        inlay.compile(SYMBOLIC, upper={"n": -1})
    with pytest.raises(ValueError, match="does not fit in 64 bits"):
        inlay.compile(SYMBOLIC, upper={"n": 2**40})
    with pytest.raises(TypeError, match="upper= takes a dict by name"):
        inlay.compile(SYMBOLIC, upper=4)


def test_a_size_that_is_found_on_the_way():
    f = inlay.compile(
        """
        graph @main(%x: f64[n]) {
          %zero = literal 0 : f64
          %p = lt %zero, %x
          %count, %r = compress %p, %x : k
          %a = sort %r
          %b = flip %a [0]
          %c = sort %b
          return %c
        }
        """,
        upper={"n": 10, "k": 4},
    )
    assert inlay.explain(f).arena_bytes > 0
    x = np.array([3.0, -1, 2, -1, 1, -1, 4])
    np.testing.assert_array_equal(f(x), [1, 2, 3, 4])
    with pytest.raises(ValueError) as raised:
        f(abs(x))
    assert str(raised.value) == (
        "error[upper-bound]: k is 7, found on the way, but the program was compiled for at most 4"
    )
    np.testing.assert_array_equal(f(x), [1, 2, 3, 4])


def test_the_command_line(tmp_path):
    program = tmp_path / "p.inlay"
    program.write_text(SYMBOLIC)

    def tool(*arguments, code=0):
        done = subprocess.run([TOOL, *arguments], capture_output=True, text=True, timeout=60)
        assert done.returncode == code, done.stderr
        return done.stdout + done.stderr

    assert "memory: arena 9600 bytes, lower bound 9600 for n up to 20\n" in tool("explain", program, "--upper", "n=20")
    tool("explain", program, "--upper", "n=20", f"--memory={tmp_path / 'map.html'}")
    assert "At the peak: 9.4 KiB (9600 bytes)" in (tmp_path / "map.html").read_text()
    assert "error[syntax]: --upper=n is no size: write n=4096" in tool("explain", program, "--upper=n", code=1)
    np.save(tmp_path / "a.npy", A)
    run = ("run", program, f"a={tmp_path / 'a.npy'}", f"b={tmp_path / 'a.npy'}")
    assert "n is 20, bound by dim 0 of a, but the program was compiled for at most 7" in tool(
        *run, "--upper=n=7", code=1
    )


# --- memory that there is not ---

@pytest.mark.parametrize("upper", [None, {"n": 3_000_000}])
def test_an_arena_that_cannot_be_allocated(upper):
    n = 3_000_000
    text = """
    graph @main(%x: f64[n], %y: f64[m]) {
      %c = reshape %x : f64[n, 1]
      %d = reshape %y : f64[1, m]
      %o = matmul %c, %d
      %s = sort %o
      %r = reduce add %s [0, 1] : f64
      return %r
    }
    """
    f = inlay.compile(text, upper=upper and {"n": n, "m": n})
    x, out = np.ones(n), np.full((), 7.0)
    for call in (lambda: f(x, x), lambda: f(x, x, out=out)):
        with pytest.raises(MemoryError) as raised:
            call()
        lines = str(raised.value).split("\n")
        arena = int(lines[0].removeprefix("error[out-of-memory]: no memory for the arena of ").removesuffix(" bytes"))
        assert arena >= 8 * n * n
        assert any(line.split() == ["o", str(8 * n * n), "bytes"] for line in lines[1:]), lines
    assert out == 7
    if upper is None:  # else the arena is what it is, for any call
        assert f(np.ones(3), np.ones(2)) == 6


# --- inlay.plan ---

BUFFERS = [("a", 8, 0, 4), ("b", 8, 2, 6), ("c", 4, 5, 9)]


@pytest.mark.parametrize("planner", PLANNERS)
def test_buffers(planner):
    plan = inlay.plan(BUFFERS, planner)
    assert plan.lower_bound == 16 and plan.proved == (plan.peak == 16) == (planner != "naive")
    assert [s.name for s in plan.storages] == ["a", "b", "c"]
    assert plan.storages[0] == inlay.Storage("a", 8, 0, 4, offset=plan.storages[0].offset)


def test_buffers_in_other_forms():
    rows = [inlay.Storage("a", 8, 0, 10**12), {"name": "b", "size": 8, "lower": -(10**15), "upper": 1, "alignment": 32}]
    plan = inlay.plan([*rows, ("c", 8, 0, 1, 1, 8)])
    assert plan.peak == 40 or plan.peak == 24
    assert plan.storages[2].offset == 8 and plan.storages[1].offset % 32 == 0
    assert plan.storages[0].upper == 10**12
    assert inlay.plan([]).peak == 0
    assert inlay.plan([("never", 8, 3, 3)]).peak == 0


def test_buffers_with_a_planner_of_ones_own():
    plan = inlay.plan(BUFFERS, {"a": 0, "b": 8, "c": 0})
    assert (plan.planner, plan.peak, plan.proved) == ("custom", 16, True)
    seen = []
    plan = inlay.plan([("x", 8, 10**12, 10**12 + 5)], lambda storages: [seen.extend(storages) or 0])
    assert plan.peak == 8 and seen[0].lower == 10**12
    with pytest.raises(inlay.errors.WrongPlan, match=r"a \(storage 0\) \[0, 8\) and b \(storage 1\) \[7, 15\)"):
        inlay.plan(BUFFERS, {"a": 0, "b": 7, "c": 0})


@pytest.mark.parametrize(
    ("buffer", "message"),
    [
        (("a", -1, 0, 4), "inlay.plan: size -1 of a is negative"),
        (("a", 1, 5, 4), "inlay.plan: a ends at 4, before it begins at 5"),
        (("a", 1, 0, 4, 0), "inlay.plan: alignment 0 of a is less than 1"),
        (("a", 1, 0, 4, 1, -8), "inlay.plan: offset -8 of a is negative"),
    ],
)
def test_buffers_that_are_wrong(buffer, message):
    with pytest.raises(ValueError) as raised:
        inlay.plan([buffer])
    assert str(raised.value) == message


@pytest.mark.parametrize(
    ("buffers", "choices", "message"),
    [
        ([("a", 8, 0, 2), ("a", 8, 4, 6)], {}, "there are two buffers a"),
        ([inlay.Storage("a", 8, 0, 2, pool="p|")], {}, "a pool of a has no name"),
        (BUFFERS, {"budget_ms": 2**70}, f"budget_ms, {2**70}, does not fit in 63 bits"),
        (BUFFERS, {"capacity": 2**63}, f"capacity, {2**63}, does not fit in 63 bits"),
    ],
)
def test_what_a_file_of_buffers_must_not_say_either(buffers, choices, message):
    with pytest.raises(ValueError) as raised:
        inlay.plan(buffers, **choices)
    assert str(raised.value) == f"inlay.plan: {message}"


def test_buffers_in_others_and_entry_points_that_share_states():
    plan = inlay.plan(
        [
            inlay.Storage("state", 16, 0, 0),
            inlay.Storage("a", 100, 0, 2, entry="prefill"),
            inlay.Storage("half", 50, 2, 5, offset=50, base="a", entry="prefill"),
            inlay.Storage("b", 60, 2, 5, entry="prefill"),
            inlay.Storage("c", 150, 0, 9, entry="decode"),
        ]
    )
    assert plan.peak == plan.lower_bound == 176
    a, half = plan.storages[1:3]
    assert half.offset == a.offset + 50
    with pytest.raises(ValueError, match=r"^inlay.plan: base b of a is no buffer$"):
        inlay.plan([inlay.Storage("a", 8, 0, 2, base="b")])
    with pytest.raises(TypeError, match="the base of a is an int, and no text"):
        inlay.plan([inlay.Storage("a", 8, 0, 2, base=3)])


def test_buffers_in_pools():
    buffers = [inlay.Storage("a", 64, 0, 4, cost=9), inlay.Storage("b", 64, 0, 4, cost=1), ("c", 8, 2, 3)]
    plan = inlay.plan(buffers, capacity={"fast": 72, "slow": None})
    assert [s.pool for s in plan.storages] == ["fast", "slow", "fast"]
    assert [(p.name, p.peak, p.capacity, p.fits) for p in plan.pools] == [("fast", 72, 72, True), ("slow", 64, None, True)]
    assert plan.fits and plan.peak == 136
    assert json.dumps(plan.to_dict())
    assert not inlay.plan(buffers, capacity={"fast": 72, "slow": 16}).fits
    assert not inlay.plan(buffers, capacity=135).fits and inlay.plan(buffers, capacity=136).fits
    plan = inlay.plan([inlay.Storage("a", 8, 0, 4, pool="p"), inlay.Storage("b", 8, 0, 4, pool=("q", "p"))], {"a": 8, "b": 0})
    assert [(s.pool, s.offset) for s in plan.storages] == [("p", 8), ("q", 0)]
    expected = "^inlay.plan: capacity of p: a number of bytes, or None for no limit, is expected, not str$"
    with pytest.raises(TypeError, match=expected):
        inlay.plan(buffers, capacity={"p": "64"})
    with pytest.raises(TypeError, match="^inlay.plan: budget_ms: a number of milliseconds, or None, is expected, not float$"):
        inlay.plan(buffers, budget_ms=1.5)
    with pytest.raises(ValueError, match="^inlay.plan: capacity of p, -8, is negative$"):
        inlay.plan(buffers, capacity={"p": -8})
    with pytest.raises(ValueError, match="pool r of a is not among the pools: p"):
        inlay.plan([inlay.Storage("a", 8, 0, 4, pool="r")], capacity={"p": 8})


def test_an_explanation_plans_once():
    calls = []

    def planner(storages):
        calls.append(len(storages))
        ends = np.cumsum([-(-s.size // s.alignment) * s.alignment for s in storages])
        return [int(end) for end in [0, *ends[:-1]]]

    text = "graph @main(%x: f64[n]) {\n %s = sort %x\n %t = sort %s\n %r = sub %s, %t\n return %r\n}"
    f = inlay.compile(text, planner=planner)
    calls.clear()
    e = inlay.explain(f, sizes={"n": 100})
    assert len(calls) == 1 and len(e.plan.storages) == calls[0] and e.buffers


def test_the_plan_of_a_program_can_be_planned_again():
    plan = inlay.explain(inlay.compile(STATIC)).plan
    assert inlay.plan(plan.storages).peak == plan.peak


def test_the_same_as_the_command(tmp_path):
    file = ROOT / "bench" / "data" / "memory" / "minimalloc" / "D.1048576.csv"
    done = subprocess.run(
        [TOOL, "plan", file, "--json", "--budget-ms", "5"], capture_output=True, text=True, check=True, timeout=60
    )
    want = json.loads(done.stdout)
    rows = [line.split(",") for line in file.read_text().splitlines()]
    at = {name: i for i, name in enumerate(rows[0])}
    buffers = [(r[at["id"]], int(r[at["size"]]), int(r[at["lower"]]), int(r[at["upper"]])) for r in rows[1:]]
    got = inlay.plan(buffers, "search", budget_ms=5)
    assert [s.offset for s in got.storages] == want["offsets"]
    assert (got.peak, got.lower_bound, got.proved) == (want["peak"], want["lower_bound"], want["proved"])
    assert got.gap == pytest.approx(want["gap"])


@pytest.mark.parametrize("planner", [None, one_above_the_other])
def test_many_threads_of_many_sizes(planner):
    f, wrong = inlay.compile(SYMBOLIC, planner=planner), []

    def work(seed):
        rng = np.random.default_rng(seed)
        for _ in range(60):
            a, b = rng.random((2, *[int(rng.integers(0, 100))] * 2))
            if not np.allclose(f(a, b), products(a, b), rtol=1e-9):
                wrong.append(a.shape)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@pytest.mark.parametrize(
    "offsets, error",
    [
        ([2**63, 0], "the planner's offset of p does not fit in 64 bits"),
        ([0, -(2**70)], "the planner's offset of q does not fit in 64 bits"),
        ([0.5, 0], "'float' object cannot be interpreted as an integer"),
    ],
)
def test_what_a_planner_returns_is_judged_when_a_call_asks_it(offsets, error):
    text = "graph @main(%a: f64[n, n]) {\n %p = matmul %a, %a\n %q = matmul %p, %a\n %r = matmul %q, %a\n return %r\n}"
    f = inlay.compile(text, planner=lambda storages: offsets)
    with pytest.raises((ValueError, TypeError), match=error):
        f(np.ones((3, 3)))


@pytest.mark.parametrize(
    "upper, error",
    [
        ({"n": 2**63}, "the size n does not fit in 64 bits"),
        ({"n": 3.5}, "the size n is a float, and no whole number"),
        ({3: 3}, "the name of a size is an int, and no text"),
    ],
)
def test_upper_bounds_are_whole_numbers_by_name(upper, error):
    with pytest.raises((ValueError, TypeError), match=error):
        inlay.compile("graph @main(%a: f64[n]) {\n %p = exp %a\n return %p\n}", upper=upper)


def test_a_mapping_may_say_where_aliases_lie():
    buffers = [("a", 64, 0, 2), inlay.Storage("b", 8, 1, 4, base="a", offset=8)]
    assert [s.offset for s in inlay.plan(buffers, {"a": 16, "b": 24}).storages] == [16, 24]
    with pytest.raises(inlay.errors.WrongPlan, match="the custom plan has b at 16, and in a it is at 24"):
        inlay.plan(buffers, {"a": 16, "b": 16})


def test_the_page_has_entry_points_one_after_the_other():
    buffers = [inlay.Storage(f"{entry}{n}", 8, n, n + 2, entry=entry) for entry in "fg" for n in (0, 1)]
    page = inlay.memory_page(inlay.plan([*buffers, ("state", 8, 0, 1)]))
    lives = re.findall(r'data-name="(\w+)".*? data-lives="\[(\d+), (\d+)\)"', page)
    # Three times of each: those of g begin where those of f have ended. A state is needed throughout.
    assert lives == [("f0", "0", "2"), ("f1", "1", "3"), ("g0", "4", "6"), ("g1", "5", "7"), ("state", "0", "8")]
