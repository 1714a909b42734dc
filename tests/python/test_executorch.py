"""What inlay.executorch plans and proves, without torch: recorded exports (tools/record_exports.py) and small programs.

tests/executorch runs them in ExecuTorch (scripts/check executorch).
"""

import ast
import copy
import gzip
import html
import importlib.util
import itertools
import pathlib
import random
import re

import inlay
import inlay.executorch
import pytest
from inlay.executorch.in_place import InPlace
from inlay.executorch.layout import Layouts
from inlay.executorch.program import Program, Step, Storage, Value, lost_mutations, must_stay, stale_reads
from inlay.executorch.replay import Replay, WrongPlan, _ways
from inlay.executorch.report import ProgramReport, Report

EXPORTS = {
    file.name.split(".")[0]: file for file in sorted((pathlib.Path(__file__).parent / "exports").glob("*.json.gz"))
}
PLANNERS = ["naive", "greedy", "search", "max"]


def export(name):
    return Program.from_json(gzip.decompress(EXPORTS[name].read_bytes()).decode())


def laid_out(program, **options):
    layouts = Layouts(**options)
    layout = layouts.plan_all(program)
    Replay(layouts.place_of).run(program)
    return layouts, layout


@pytest.mark.parametrize("name", EXPORTS)
@pytest.mark.parametrize("planner", PLANNERS)
def test_exports_are_planned_right(name, planner):
    program = export(name)
    _, plain = laid_out(program, planner=planner, in_place=False)
    layouts, layout = laid_out(program, planner=planner)
    assert sum(layout.bytes.values()) <= sum(plain.bytes.values())
    laid_out(program, planner=planner, overwrite=["input", "state"])
    assert Program.from_json(program.to_json()) == program


# Bytes without and with results in place, and how many are: as docs/executorch.md has them.
COUNTS = {
    "mobilenet_v2": (9633792, 6021120, 97),
    "resnet50": (9633792, 8204192, 118),
    "densenet121": (8429568, 7225344, 242),
    "efficientnet_b0": (14450688, 9633792, 139),
    "chain": (1536, 1024, 12),
    "two_branches": (2608, 1584, 1),
}


@pytest.mark.parametrize("name", COUNTS)
def test_bytes_and_results_in_place(name):
    program = export(name)
    plain, in_place = (laid_out(program, in_place=each)[1] for each in (False, True))
    assert plain.plan.proved and in_place.plan.proved
    assert (plain.plan.peak, in_place.plan.peak, sum(d.is_taken for d in in_place.decisions)) == COUNTS[name]


def test_the_page_says_of_how_many_pixels_its_images_are():
    root = pathlib.Path(__file__).parents[2]
    module = ast.parse((root / "tests" / "executorch" / "networks.py").read_text())
    (networks,) = (ast.literal_eval(s.value) for s in module.body if isinstance(s, ast.Assign))
    page = (root / "docs" / "executorch.md").read_text()
    said = re.findall(r"^\| (\w+) \| (\d+) x (\d+) \| [\d.]+ MB", page, re.MULTILINE)
    assert said == [(name, str(side), str(side)) for name, (_, side) in networks.items()]


@pytest.mark.parametrize("name", ["mobilenet_v2", "state", "stretched", "chain"])
def test_a_plan_made_wrong_is_rejected(name):
    """One storage on the bytes of another one that lives with it, elsewhere than where the plan has both."""
    program, rng = export(name), random.Random(name)
    layouts, layout = laid_out(program)
    lives = [s for s in layout.plan.storages if s.name[0] == "s" and s.size and s.lower >= 0 and s.upper > s.lower + 1]
    rejected = 0
    roots = InPlace(program).root
    for _ in range(2000):
        a, b = rng.sample(lives, 2)
        number, other = int(a.name[1:]), int(b.name[1:])
        together = max(a.lower, b.lower) + 1 < min(a.upper, b.upper)
        if (
            rejected == 20
            or not together
            or roots[number] == roots[other]
            or layout.offsets[number] == layout.offsets[other]
        ):
            continue
        wrong = copy.deepcopy(layouts)
        wrong.found = {
            id(program): copy.deepcopy(layout),
            **{k: v for k, v in layouts.found.items() if k != id(program)},
        }
        wrong.found[id(program)].offsets[number] = layout.offsets[other]
        with pytest.raises(WrongPlan):
            Replay(wrong.place_of).run(program)
        rejected += 1
    assert rejected > 3


def programs_with_bodies(program):
    """(program, step, body), also of bodies of bodies."""
    for step in program.steps:
        for body in step.bodies:
            yield program, step, body
            yield from programs_with_bodies(body)


@pytest.mark.parametrize("name", ["map", "map_with_operands", "scan", "two_branches", "branch_in_a_branch"])
def test_a_body_over_what_is_needed_beside_it_is_rejected(name):
    """Each storage that a body writes, on each one of the program around it that is read after the body's step."""
    program, rejected = export(name), 0
    layouts, _ = laid_out(program)
    for around, step, body in programs_with_bodies(program):
        written = {body.storage_of(value) for each in body.steps for value in each.writes if each.kind == "op"}
        kept = [
            int(s.name[1:])
            for s in layouts.found[id(around)].plan.storages
            if s.name[0] == "s" and s.size and s.lower <= step.time and s.upper > step.time + 1
        ]
        for number in written:
            for other in kept:
                wrong = copy.copy(layouts)
                wrong.found = {**layouts.found, id(body): copy.deepcopy(layouts.found[id(body)])}
                if wrong.found[id(body)].offsets[number] is None or not body.storages[number].bytes:
                    continue
                wrong.found[id(body)].offsets[number] = layouts.found[id(around)].offsets[other]
                with pytest.raises(WrongPlan):
                    Replay(wrong.place_of).run(program)
                rejected += 1
    assert rejected >= 2


def test_of_many_branches_each_two_go_all_ways():
    for number in (1, 6, 7, 20):
        ways = _ways(number)
        assert len(ways) <= 64
        for a, b in itertools.combinations(range(number), 2):
            assert {(way[a], way[b]) for way in ways} == {(0, 0), (0, 1), (1, 0), (1, 1)}


def test_a_loop_reads_its_operands_in_each_pass():
    """A result that lies on an operand, or on what the body is given from pass to pass."""
    program = export("scan_with_two_carried")
    layouts, layout = laid_out(program)
    number, step = next((n, step) for n, step in enumerate(program.steps) if step.bodies)
    reads, writes = ([program.storage_of(value) for value in values] for values in (step.reads, step.writes))
    for result in writes:
        for other in [*reads, *(w for w in writes if w != result)]:
            wrong = copy.copy(layouts)
            wrong.found = {**layouts.found, id(program): copy.deepcopy(layout)}
            if None in (layout.offsets[result], layout.offsets[other]):
                continue
            wrong.found[id(program)].offsets[result] = layout.offsets[other]
            with pytest.raises(WrongPlan, match="writes (scan|getitem).* over"):
                Replay(wrong.place_of).run(program)
    assert sorted(step.bodies[0].carried)[-2:] == [0, 1]


def small(*steps, shapes=None, kinds=None, **storages):
    """A program of steps (name, reads, writes): values by letter, each in a storage of its own but a view's `v of a`, and a
    mutation's `m in a`."""
    program, number = Program("small"), {}

    def value(text, kind="temporary"):
        name, _, base = text.partition(" of " if " of " in text else " in ")
        if base:
            at = program.storage_of(number[base])
        else:
            at = len(program.storages)
            program.storages.append(Storage(name, 64, (kinds or {}).get(name, kind)))
        number[name] = len(program.values)
        shape = (shapes or {}).get(name, (4, 4))
        program.values.append(Value(name, at, shape, "float32", tuple(range(len(shape)))))
        return number[name]

    program.inputs = [value("x", "input"), value("k", "constant"), value("s", "state")]
    for storage, says in {"k": {"is_planned": False}, **storages}.items():
        for name, what in says.items():
            setattr(program.storages["xks".index(storage)], name, what)
    for time, (name, reads, writes) in enumerate(steps):
        read = [number[r] for r in reads]
        step = Step(name, f"aten.{name}", time, read, kind="op")
        step.kind = "view" if " of " in writes else "mutation" if " in " in writes else "output" if not writes else "op"
        step.writes = [value(writes)] if writes else []
        if step.kind == "op":
            step.in_place = {0: list(range(len(read)))[: 1 if name == "put" else None]}
        if step.kind == "mutation":
            step.in_place = {0: [0]}
        for v in read if step.kind == "output" else ():
            program.storages[program.storage_of(v)].is_output = True
        program.steps.append(step)
    return program


def taken(program, overwrite=()):
    return {d.result: d.operand if d.is_taken else d.reason for d in InPlace(program, overwrite).decisions}


def test_an_operand_that_dies_is_overwritten_whichever_it_is():
    program = small(("add", "x", "a"), ("mul", "x", "b"), ("sub", "ab", "c"), ("div", "bc", "d"), ("output", "d", ""))
    assert taken(program)["c"] == "a" and taken(program)["d"] == "b"
    assert taken(program)["a"] == "it is an input"
    assert taken(program, ["input"])["b"] == "x" and taken(program, ["input"])["a"] == "mul reads it later"
    _, layout = laid_out(program)
    assert layout.plan.peak == 64 * 4  # beside the two a state, and x at first


@pytest.mark.parametrize(
    ("steps", "result", "reason"),
    [
        (
            [("add", "x", "a"), ("put", "aa", "b"), ("output", "b", "")],
            "b",
            "a is another operand too, and is read at other places",
        ),
        ([("add", "x", "a"), ("mul", "a", "b"), ("output", "ab", "")], "b", "output reads it later"),
        (
            [("add", "x", "a"), ("view", "a", "v of a"), ("mul", "a", "b"), ("output", "vb", "")],
            "b",
            "output reads it later",
        ),
        ([("add", "k", "a"), ("output", "a", "")], "a", "it is a constant"),
        ([("add", "s", "a"), ("output", "a", "")], "a", "it is a state"),
        (
            [("add", "x", "a"), ("view", "a", "w of a"), ("mul", "aw", "b"), ("output", "b", "")],
            "b",
            "w shows it in other dims, and is read at other places",
        ),
        (
            [("add", "x", "a"), ("view", "a", "w of a"), ("mul", "w", "b"), ("output", "b", "")],
            "b",
            "it has other dims",
        ),
    ],
)
def test_what_is_not_in_place_says_why(steps, result, reason):
    program = small(*steps, shapes={"w": (16,)})
    assert taken(program)[result] == reason
    laid_out(program)


def test_a_result_in_place_of_one_in_place_lives_on():
    program = small(("add", "x", "a"), ("mul", "a", "b"), ("neg", "b", "c"), ("exp", "x", "d"), ("output", "cd", ""))
    layouts, layout = laid_out(program)
    a, b, c, d = (layout.offsets[n] for n in range(3, 7))
    assert a == b == c != d


def test_a_state_is_overwritten_where_the_user_says():
    steps = [("add", "s", "a"), ("mul", "a", "b"), ("copy_", "b", "m in s"), ("output", "m", "")]
    program = small(*steps)
    assert taken(program, ["state"])["a"] == "s" and taken(program, ["state"])["b"] == "a"
    layouts, layout = laid_out(program, overwrite=["state"])
    assert layout.plan.peak == 128  # of x and of the state
    program = small(("add", "s", "a"), ("copy_", "x", "m in s"), ("exp", "a", "b"), ("output", "bm", ""))
    assert taken(program, ["state"])["a"] == "copy_ writes there while the result is needed"


def test_what_an_op_made_in_place_overwrites_is_found():
    steps = [("add", "x", "a"), ("view", "a", "v of a"), ("index_put_", "a", "m in a"), ("output", "vm", "")]
    program = small(*steps)
    assert [(stale.mutation.name, program.values[stale.value].name) for stale in stale_reads(program)] == [
        ("index_put_", "v")
    ]
    with pytest.raises(WrongPlan, match="^output reads v, into whose bytes something else has been written$"):
        laid_out(program)
    assert not stale_reads(small(steps[0], steps[2], ("output", "m", "")))
    program = small(steps[0], ("index_put_", "aa", "m in a"), ("output", "m", ""))
    assert [stale.mutation.name for stale in stale_reads(program)] == ["index_put_"]
    with pytest.raises(WrongPlan, match="^index_put_ writes m over a while it reads it$"):
        laid_out(program)


def test_what_the_next_call_is_to_find_stays():
    steps = [("index_put_", "s", "m in s"), ("view", "m", "v of m"), ("put_", "v", "w in s"), ("output", "mw", "")]
    program = small(*steps)
    number = next(v for v, value in enumerate(program.values) if value.name == "m")
    laid_out(small(*steps[:3], ("output", "w", "")))  # nothing says what is to be there
    program.storages[2].final = number
    stale = stale_reads(program)
    assert {(s.mutation.name, program.values[s.value].name) for s in stale} == {("put_", "m")}
    assert all(must_stay(program, s) for s in stale)
    for outputs in ("mw", "w"):  # also where it is no output
        program = small(*steps[:3], ("output", outputs, ""))
        program.storages[2].final = number
        with pytest.raises(WrongPlan):
            laid_out(program)
    # What is changed later must be there itself; what is only read may be a copy.
    program = small(("view", "s", "v of s"), ("put_", "v", "w in v"), ("add_", "s", "m in s"), ("output", "mw", ""))
    assert [(s.mutation.name, must_stay(program, s)) for s in stale_reads(program)] == [("put_", True), ("add_", False)]


def test_what_changes_a_view_of_a_constant_is_found():
    for letter in "xk":
        program = small(("view", letter, f"v of {letter}"), ("index_put_", "v", "m in v"), ("output", "m", ""))
        assert [step.name for step in lost_mutations(program)] == ["index_put_"]
    with pytest.raises(WrongPlan, match="^index_put_ writes m over a constant$"):
        laid_out(program)
    program = small(("view", "s", "v of s"), ("index_put_", "v", "m in v"), ("output", "m", ""))
    assert not lost_mutations(program)
    laid_out(program)


def test_the_replay_finds_each_kind_of_mistake():
    program = small(("add", "x", "a"), ("mul", "a", "b"), ("sub", "ab", "c"), ("output", "c", ""))
    right = {0: 0, 2: 64, 3: 128, 4: 192, 5: 256}

    def place_of(changed):
        return lambda program, storage: None if storage == 1 else (1, {**right, **changed}[storage])

    Replay(place_of({})).run(program)
    Replay(place_of({5: 128})).run(program)  # in place
    Replay(place_of({5: 192})).run(program)
    for changed, (offset, text) in {
        5: (160, "sub writes c over a while it reads it"),
        3: (64, "the bytes of s do not survive the call"),
    }.items():
        with pytest.raises(WrongPlan, match=text):
            Replay(place_of({changed: offset})).run(program)
    with pytest.raises(WrongPlan, match="sub reads a, into whose bytes something else has been written"):
        Replay(place_of({4: 128})).run(program)
    backwards = small(("add", "x", "a"), ("output", "a", ""))
    backwards.steps[0].reads = [3]
    with pytest.raises(WrongPlan, match="add reads a before it is made"):
        Replay(place_of({})).run(backwards)


def test_each_program_has_its_own_alignment():
    program, layouts = small(("add", "x", "a"), ("output", "a", "")), Layouts()
    for storage in program.storages:
        storage.bytes = 20
    assert [layouts.plan(program, alignment).plan.peak for alignment in (16, 1, 64)] == [96, 60, 192]


def test_a_storage_in_a_part_of_another():
    program = small(("add", "x", "a"), ("mul", "a", "b"), ("output", "ab", ""))
    program.storages[4].bytes, program.storages[4].base, program.storages[4].base_offset = 32, 3, 32
    assert taken(program)["b"] == "the exporter says where the result lies"
    layout = Layouts().plan_all(program)
    assert layout.offsets[4] == layout.offsets[3] + 32


def test_planning_needs_no_torch_and_the_pass_says_what_it_needs():
    assert inlay.executorch.WrongPlan is WrongPlan
    with pytest.raises(AttributeError, match=r"^module inlay.executorch has no attribute planers$"):
        inlay.executorch.planers  # noqa: B018
    if importlib.util.find_spec("executorch") is None:
        with pytest.raises(ImportError, match=r"inlay.executorch needs ExecuTorch \(pip install executorch\)"):
            inlay.executorch.MemoryPlanningPass  # noqa: B018


HEADINGS = {"Results in place": True, "Operands kept": False}


def test_the_page_says_what_the_text_says(tmp_path):
    report, seen = Report(), set()
    for name in ("resnet50", "two_branches", "stretched"):
        _, layout = laid_out(export(name))
        report.programs.append(ProgramReport(name, layout.plan, 0.0, layout.decisions, ["put overwrites <a>: a copy is read"]))
        report.page(tmp_path / "page.html", name)
        page = (tmp_path / "page.html").read_text()
        said = [html.escape(line.strip()) for line in str(report.programs[-1]).splitlines()[1:]]
        assert said[0] == "put overwrites &lt;a&gt;: a copy is read"
        decided = {heading for heading, is_taken in HEADINGS.items() if any(d.is_taken == is_taken for d in layout.decisions)}
        assert len(said) == 1 + len(layout.decisions)
        assert all(page.count(f"<li>{line}</li>") == said.count(line) for line in said)
        assert set(re.findall("<h2>(.*)</h2>", page)) == {"Changed in the graph", *decided}
        seen |= decided
    assert seen == set(HEADINGS)
    report.programs[0].rewritten, report.programs[0].decisions = [], []
    report.page(tmp_path / "page.html")
    assert "<h2>" not in (tmp_path / "page.html").read_text()
    with pytest.raises(ValueError, match="there is no program other; there are resnet50, two_branches, stretched"):
        report.page(tmp_path / "page.html", "other")


def test_the_page_of_a_plan(tmp_path):
    plan = inlay.plan([("image", 64, 0, 2), inlay.Storage("edges", 48, 1, 5, base="image"), ("sum", 16, 3, 6)])
    page = inlay.memory_page(plan)
    assert all(name in page for name in ("image", "edges", "sum", "lies in image"))
    inlay.memory_page(plan, tmp_path / "page.html", title="mine")
    assert "mine" in (tmp_path / "page.html").read_text()
