"""inlay plan: what it prints, its exit codes, and its plans, checked here once more and in another way."""

import csv
import json
import os
import random
import re
import subprocess
from pathlib import Path

import inlay
import pytest

ROOT = Path(__file__).parents[2]
TOOL = Path(os.environ.get("INLAY_TOOL", ROOT / "build" / "release" / "bin" / "inlay"))
DATA = ROOT / "bench" / "data" / "memory"
PLANNERS = ["naive", "greedy", "search", "max"]


def plan(*arguments, code=0):
    done = subprocess.run([TOOL, "plan", *map(str, arguments)], capture_output=True, text=True, timeout=120)
    assert done.returncode == code, done.stdout + done.stderr
    return done


def planned(file, *arguments, code=0):
    return json.loads(plan(file, "--json", *arguments, code=code).stdout)


def rows_of(file):
    with open(file, newline="") as opened:
        return [(int(row["lower"]), int(row["upper"]), int(row["size"])) for row in csv.DictReader(opened)]


def most_live(rows):
    return max((sum(size for low, high, size in rows if low <= at < high) for at, _, _ in rows), default=0)


def check(rows, found):
    """No two that live together overlap; the peak is where the highest one ends."""
    placed = [(low, high, at, at + size) for (low, high, size), at in zip(rows, found["offsets"], strict=True)]
    for i, (low, high, begin, end) in enumerate(placed):
        assert begin >= 0
        for other_low, other_high, other_begin, other_end in placed[:i]:
            together = max(low, other_low) < min(high, other_high)
            assert not together or end <= other_begin or other_end <= begin
    assert found["peak"] == max((end for *_, end in placed), default=0)
    assert most_live(rows) <= found["lower_bound"] <= found["peak"]
    assert found["proved"] == (found["peak"] == found["lower_bound"])


@pytest.fixture
def buffers(tmp_path):
    file = tmp_path / "buffers.csv"
    file.write_text("id,lower,upper,size\na,0,4,8\nb,2,6,8\nc,5,9,4\n")
    return file


def test_json(buffers):
    found = planned(buffers)
    assert found == {
        "peak": 16,
        "lower_bound": 16,
        "proved": True,
        "gap": 0,
        "seconds": found["seconds"],
        "planner": "search",
        "placements": 0,
        "offsets": found["offsets"],
        "pools": [{"name": "", "peak": 16, "lower_bound": 16}],
        "buffers": found["buffers"],
    }
    assert found["buffers"][1] == {
        "id": "b", "lower": 2, "upper": 6, "size": 8, "alignment": 1, "in": "", "at": found["offsets"][1], "spilled": False,
    }  # fmt: skip
    assert found["seconds"] >= 0
    check(rows_of(buffers), found)


def test_text(buffers):
    assert plan(buffers).stdout.startswith("peak 16, lower bound 16: no plan is smaller; 3 buffers, search, 0.0")
    assert plan(buffers, "--planner=naive").stdout.startswith("peak 20, lower bound 16: at most 25.00 % too large; ")


def test_what_it_prints_can_be_read_again(buffers):
    buffers.write_text("id,lower,upper,size,base,pool,cost,entry,offset\na,0,4,8,,fast|slow,7,f,\nb,2,6,8,,,,f,\nc,5,9,4,b,,,f,4\n")
    first = planned(buffers, "--capacity", "fast=8", "--capacity", "slow=64")
    again = buffers.with_suffix(".json")
    again.write_text(json.dumps(first))
    second = planned(again)
    assert {**first, "seconds": 0} == {**second, "seconds": 0}
    assert [b["in"] for b in first["buffers"]] == ["slow", "fast", "fast"]


def test_names_that_are_no_text(buffers):
    buffers.write_bytes(b"id,lower,upper,size\n\xff\xfe,0,4,8\n")
    assert planned(buffers)["buffers"][0]["id"] == "\ufffd\ufffd"


def test_pools(buffers):
    buffers.write_text("id,lower,upper,size,pool,cost\na,0,4,32,fast|slow,90\nb,0,4,32,fast|slow,10\nc,0,4,32,,\n")
    assert plan(buffers, "--capacity", "fast=64").stdout.splitlines()[:2] == [
        "fast: peak 64, lower bound 64: no plan is smaller; 2 buffers",
        "slow: peak 32, lower bound 32: no plan is smaller; 1 buffer, 1 spilled",
    ]
    refused = plan(buffers, "--capacity", "fast=64", "--capacity", "slow=16", code=1)
    assert refused.stderr == "no plan within 64 was found for fast\n"  # slow has no room for one of them
    for wrong, message in {
        "64": "there are pools: POOL=BYTES says of which",
        "fast=x": "no whole number of bytes",
    }.items():
        assert plan(buffers, "--capacity", wrong, code=2).stderr == f"error[invalid-file]: --capacity {wrong}: {message}\n"
    twice = plan(buffers, "--capacity", "slow=64", "--capacity", "slow=32", code=2)
    assert twice.stderr == "error[invalid-file]: --capacity slow=32: this pool has one already\n"
    page = buffers.with_suffix(".html")
    plan(buffers, "--capacity", "fast=64", "--html", page)
    assert "is spilled into slow" in page.read_text()


def test_a_pool_that_no_buffer_names(buffers):
    """Is one where a buffer may lie in any, and else a mistake."""
    listed = [
        {"id": "w", "size": 64, "lower": 0, "upper": 5, "pool": "fast"},
        {"id": "a", "size": 96, "lower": 0, "upper": 4},
        {"id": "b", "size": 32, "lower": 0, "upper": 4},
    ]
    capacities = {"fast": 100, "slow": 500}
    options = [word for name, bytes in capacities.items() for word in ("--capacity", f"{name}={bytes}")]
    want = [(s.pool, s.offset) for s in inlay.plan(listed, capacity=capacities).storages]
    assert [pool for pool, _ in want] == ["fast", "slow", "fast"]
    buffers.write_text("id,lower,upper,size,pool\nw,0,5,64,fast\na,0,4,96,\nb,0,4,32,\n")
    file = buffers.with_suffix(".json")
    file.write_text(json.dumps(listed))
    for each in (buffers, file):
        assert [(b["in"], b["at"]) for b in planned(each, *options)["buffers"]] == want
    swapped = planned(buffers, *options[2:], *options[:2])["buffers"]
    assert [b["in"] for b in swapped] == ["fast", "slow", "slow"]
    file.write_text(json.dumps({"buffers": listed, "pools": [{"name": "fast"}]}))
    buffers.write_text("id,lower,upper,size,pool\nw,0,5,64,fast\na,0,4,96,fast|other\n")
    for each in (buffers, file):
        refused = plan(each, *options, code=2)
        assert refused.stderr == "error[invalid-file]: --capacity slow=500: there is no such pool\n"


def test_sizes_near_the_end_of_what_a_number_holds(buffers):
    buffers.write_text(f"id,lower,upper,size\na,{-(2**63)},0,{2**62}\nb,-9,{2**63 - 1},{2**62 - 16}\n")
    page = buffers.with_suffix(".html")
    assert plan(buffers, "--html", page).stdout.startswith(f"peak {2**63 - 16}, ")
    assert page.stat().st_size < 100_000


def test_what_is_pinned_lies_in_the_first_pool_of_the_command_line(buffers):
    buffers.write_text("id,lower,upper,size,offset,pool\nx,0,2,8,0,slow\ny,0,2,8,0,\nz,0,1,4,,slow|fast\n")
    capacities = ["--capacity", "fast=64", "--capacity", "slow=64"]
    assert [b["in"] for b in planned(buffers, *capacities)["buffers"]] == ["slow", "fast", "slow"]
    refused = plan(buffers, *capacities[2:], *capacities[:2], code=2)
    assert "y is pinned to [0, 8), where x lies at the same time" in refused.stderr and "buffers.csv:3" in refused.stderr


def test_buffers_without_a_pool_lie_in_those_that_others_name(buffers):
    buffers.write_text("id,lower,upper,size,pool\na,0,4,32,p\nb,0,4,8,\n")
    row = [inlay.Storage("a", 32, 0, 4, pool="p"), ("b", 8, 0, 4)]
    assert [b["in"] for b in planned(buffers)["buffers"]] == [s.pool for s in inlay.plan(row).storages] == ["p", "p"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no full disk")
def test_a_full_disk_is_not_a_plan_that_was_not_found(buffers):
    with open("/dev/full", "w") as full:
        done = subprocess.run([TOOL, "plan", buffers], stdout=full, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr) == (2, "error[invalid-file]: standard output cannot be written\n")


def test_exit_codes(buffers):
    assert plan(buffers, "--capacity", 16).stderr == ""
    refused = plan(buffers, "--capacity", 15, code=1)
    assert refused.stdout.startswith("peak 16")
    assert refused.stderr == "no plan within 15 was found\n"
    assert planned(buffers, "--planner", "naive", "--capacity", 16, code=1)["peak"] == 20
    plan(buffers, "--planner", "best", code=2)
    plan(buffers, "--capacity", "-1", code=2)
    plan(buffers.parent / "missing.csv", code=2)


def test_wrong_files_are_explained(buffers):
    buffers.write_text("id,lower,upper,size\na,0,4,8\nb,6,2,8\n")
    done = plan(buffers, code=2)
    assert done.stdout == ""
    assert done.stderr == f"error[invalid-file]: b ends at 2, before it begins at 6\n  at     {buffers}:3\n"


def test_a_network_for_tflite_is_sent_to_python(buffers):
    buffers.write_bytes(b"\x1c\0\0\0TFL3\x14\0")
    done = plan(buffers, code=2)
    assert done.stderr.startswith("error[invalid-file]: this is a network for TensorFlow Lite\n")
    assert "inlay.tflite.plan(" in done.stderr


def test_alignment_and_offsets(buffers):
    buffers.write_text("id,lower,upper,size,alignment,offset\na,0,4,8,,\nb,0,4,8,32,\nc,0,4,8,,8\n")
    for planner in PLANNERS:
        found = planned(buffers, "--planner", planner)
        check(rows_of(buffers), found)
        assert found["offsets"][1] % 32 == 0
        assert found["offsets"][2] == 8
    assert planned(buffers)["peak"] == 24


def test_what_is_never_needed_takes_no_bytes(buffers):
    buffers.write_text("id,lower,upper,size\na,2,2,8\nb,0,3,16\n")
    found = planned(buffers)
    assert (found["peak"], found["lower_bound"]) == (16, 16)


def test_no_buffers(buffers):
    buffers.write_text("id,lower,upper,size\n")
    found = planned(buffers)
    assert (found["peak"], found["lower_bound"], found["offsets"]) == (0, 0, [])


@pytest.mark.parametrize("file", sorted((DATA / "models").glob("*.csv")), ids=lambda file: file.stem)
def test_networks_are_at_their_lower_bound(file, tmp_path):
    rows = rows_of(file)
    for planner in PLANNERS:
        found = planned(file, "--planner", planner)
        check(rows, found)
        assert planner in ("naive", "greedy") or found["proved"]
    # In what order the rows stand says nothing.
    shuffled = rows.copy()
    random.Random(7).shuffle(shuffled)
    other = tmp_path / "shuffled.csv"
    other.write_text("id,lower,upper,size\n" + "".join(f"{i},{a},{b},{c}\n" for i, (a, b, c) in enumerate(shuffled)))
    found = planned(other)
    check(shuffled, found)
    assert found["peak"] == most_live(rows)


@pytest.mark.parametrize("name", ["C.1048576", "G.1048576", "H.1048576", "K.1048576"])
def test_published_problems(name):
    file = DATA / "minimalloc" / f"{name}.csv"
    found = planned(file, "--capacity", 1048576, "--planner", "max")
    check(rows_of(file), found)
    assert found["proved"]


def test_a_budget_counts_what_is_tried():
    file = DATA / "minimalloc" / "D.1048576.csv"
    little, again = planned(file, "--budget-ms", 5), planned(file, "--budget-ms", 5)
    assert little["offsets"] == again["offsets"]
    assert little["placements"] == again["placements"]
    more = planned(file, "--budget-ms", 50)
    assert more["placements"] > little["placements"]
    assert more["peak"] <= little["peak"]
    check(rows_of(file), more)


def test_a_picture(buffers):
    page = buffers.parent / "plan.html"
    plan(buffers, "--html", page)
    text = page.read_text()
    assert text.count("<rect") == 6 and text.count("data-name=") == 3  # a box and its frame
    assert "At the peak: 16 bytes at time 2" in text
    assert "http" not in text
    wrong = plan(buffers, "--html", buffers.parent / "no" / "plan.html", code=2)
    assert "plan.html" in wrong.stderr


def test_a_picture_of_a_program(tmp_path):
    program = "graph @main(%a: f64[{n}, 8]) {{ %p = matmul %a, %a; %e = exp %p; %q = matmul %e, %p; return %q }}\n"
    page = tmp_path / "map.html"
    for size, code in (("8", 0), ("n", 1)):
        (tmp_path / "p.inlay").write_text(program.format(n=size) if size == "8" else program.format(n=size).replace("8]", "n]"))
        done = subprocess.run([TOOL, "explain", tmp_path / "p.inlay", f"--memory={page}"], capture_output=True, text=True)
        assert done.returncode == code, done.stderr
    assert 'data-name="p"' in page.read_text()
    assert "sizes that are symbols" in done.stderr


def test_python_plans_what_json_says(tmp_path):
    """The buffers that `inlay plan --json` prints, as they are; and pools in order of preference as a table has them."""
    table = tmp_path / "net.csv"
    table.write_text("id,lower,upper,size,pool,base\na,0,4,96,fast|slow,\nloss,2,6,32,,a\nb,3,9,80,fast|slow,\n")
    printed = planned(table, "--capacity", "fast=128", "--capacity", "slow=4096")
    again = inlay.plan(printed["buffers"], capacity={"fast": 128, "slow": 4096})
    assert [(s.name, s.pool, s.offset) for s in again.storages] == [
        (b["id"], b["in"], b["at"]) for b in printed["buffers"]
    ]
    written = [("a", 96, 0, 4), {"id": "b", "size": 80, "lower": 3, "upper": 9, "pool": "fast|slow"}]
    assert [s.pool for s in inlay.plan(written, capacity={"fast": 128, "slow": None}).storages] == ["fast", "slow"]
    with pytest.raises(TypeError, match="colour"):
        inlay.plan([{"id": "a", "size": 1, "lower": 0, "upper": 1, "colour": "red"}])


@pytest.mark.parametrize(
    ("buffer", "words"),
    [
        ({"id": "a", "size": 8, "lower": 0, "upper": 2, "foo": 3}, "inlay.plan: buffer a: there is no foo; what there is: id,"),
        ({"id": "a", "lower": 0, "upper": 2}, "inlay.plan: buffer a: size is missing"),
        ({"size": 8, "lower": 0, "upper": 2}, "inlay.plan: buffer without a name: id is missing"),
    ],
)
def test_a_buffer_with_other_keys(buffer, words):
    with pytest.raises(TypeError, match=re.escape(words)):
        inlay.plan([buffer])
