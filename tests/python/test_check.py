"""scripts/check: each of its parts has passed lately, as tests/checked.json says, and what says so."""

import importlib.util
import json
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SPEC = importlib.util.spec_from_file_location("checked", ROOT / "scripts" / "checked.py")
checked = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(checked)


def test_every_part_has_passed_lately():
    if why := checked.no_history(ROOT):
        pytest.skip(f"commits cannot be counted: {why}")
    assert checked.overdue(ROOT) == []


def test_every_part_has_its_line():
    script = (ROOT / "scripts" / "check").read_text()
    parts = set(re.search(r"^parts=\((.*)\)", script, re.MULTILINE)[1].split())
    assert parts == set(checked.read(ROOT))
    assert parts == set(re.findall(r"^about\[(.*?)\]=", script, re.MULTILINE))
    assert {p.replace("-", "_") for p in parts} == set(re.findall(r"^part_(\w+)\(\)", script, re.MULTILINE))


@pytest.mark.parametrize(
    "versions, chosen",
    [
        ("1.5.1,1.5.0,1.4.1,1.4.0", ["1.5.0", "1.4.1"]),
        ("1.6.0,1.5.1,1.5.0,1.4.1", ["1.5.1"]),
        ("1.5.2,1.5.1,1.5.0,1.4.1", ["1.5.1", "1.4.1"]),
        ("1.10.0,1.1.0,1.0.0", ["1.1.0"]),
        ("1.0.0", []),
    ],
)
def test_which_releases_of_executorch_are_tested_beside_the_newest(versions, chosen):
    script = (ROOT / "scripts" / "check").read_text()
    function = re.search(r"^releases_before\(\) {.*?^}", script, re.MULTILINE | re.DOTALL)[0]
    command = ["bash", "-euo", "pipefail", "-c", f'{function}\nreleases_before "$1"', "_", versions]
    assert subprocess.check_output(command, text=True).split() == chosen


@pytest.fixture
def repository(tmp_path):
    """A repository of one commit, with the file of passes; `commit` adds to it."""
    (tmp_path / "tests").mkdir()
    write(tmp_path, {})
    git(tmp_path, "init", "-q")
    commit(tmp_path)
    return tmp_path


def git(root, *arguments):
    settings = ["-c", "user.name=t", "-c", "user.email=t@t", "-c", "commit.gpgsign=false"]
    return subprocess.check_output(["git", "-C", root, *settings, *arguments], text=True).strip()


def write(root, parts):
    (root / checked.FILE).write_text(json.dumps(parts))


def commit(root, count=1):
    git(root, "add", "-A")
    for _ in range(count):
        git(root, "commit", "-q", "--allow-empty", "-m", "more")
    return git(root, "rev-parse", "HEAD")


@pytest.mark.parametrize("verb, said", [("passed", "passed"), ("added", "was added")])
def test_a_hundred_commits_are_allowed(repository, verb, said):
    write(repository, {"asan": {verb: git(repository, "rev-parse", "HEAD")}})
    commit(repository, 100)
    assert checked.overdue(repository) == []
    commit(repository)
    assert checked.overdue(repository) == [f"asan {said} 101 commits ago, and 100 are allowed: scripts/check asan"]


def test_a_commit_that_the_history_has_not(repository):
    first = commit(repository)
    lost = commit(repository)
    git(repository, "reset", "-q", "--hard", first)
    write(repository, {"asan": {"passed": lost}, "tsan": {"added": "0" * 40}})
    assert checked.overdue(repository) == [
        f"asan passed at {lost}, which is not in this history: scripts/check asan",
        f"tsan was added at {'0' * 40}, which is not in this history: scripts/check tsan",
    ]


def test_no_history(repository, tmp_path_factory):
    commit(repository, 3)
    shallow = tmp_path_factory.mktemp("shallow") / "clone"
    git(repository, "clone", "-q", "--depth", "2", f"file://{repository}", shallow)
    assert checked.no_history(repository) is None
    assert checked.no_history(shallow) == "this is a shallow clone"
    assert checked.no_history(tmp_path_factory.mktemp("exported")) == "this is no git repository"


def test_a_pass_is_noted_where_the_tree_is_the_commit(repository):
    head = git(repository, "rev-parse", "HEAD")
    assert checked.note(repository, "asan", head, 7, "3 passed, 0 failed") == "noted in tests/checked.json"
    # The file itself may have changed: several parts pass one after another.
    assert checked.note(repository, "tsan", head, 8, "2 passed, 0 failed") == "noted in tests/checked.json"
    parts = checked.read(repository)
    assert list(parts) == ["asan", "tsan"]
    assert (parts["asan"]["passed"], parts["asan"]["seconds"], parts["asan"]["counted"]) == (head, 7, "3 passed, 0 failed")
    assert len((repository / checked.FILE).read_text().splitlines()) == 4  # a line for each, so that two branches merge

    (repository / "new").write_text("")
    assert checked.note(repository, "asan", head, 9, "") != "noted in tests/checked.json"
    commit(repository)
    assert checked.note(repository, "asan", head, 9, "") != "noted in tests/checked.json"  # the part began before
    assert checked.read(repository)["asan"]["seconds"] == 7


def test_what_random_parts_pass_adds_up(repository, capsys):
    head = git(repository, "rev-parse", "HEAD")
    write(repository, {"programs": {"added": head}, "graphs": {"passed": head, "counted": "3 graphs", "in_all": 10}})
    commit(repository)
    head = git(repository, "rev-parse", "HEAD")
    for part, counted in [("programs", "7 programs"), ("programs", "4 programs"), ("graphs", "5 graphs"), ("asan", "8 passed, 0 failed")]:
        checked.note(repository, part, head, 1, counted)
    assert {part: entry.get("in_all") for part, entry in checked.read(repository).items()} == {
        "programs": 11,
        "graphs": 15,
        "asan": None,
    }
    checked.show(repository)
    assert ", 4 programs, 11 in all\n" in capsys.readouterr().out


def test_each_random_part_says_how_much_it_passed_in_all():
    """A part that runs for so many seconds counts what it passed in them; tidy and the analyzer go over all files."""
    script = (ROOT / "scripts" / "check").read_text()
    seconds = set(re.findall(r"\[([\w-]+)\]=", re.search(r"default_seconds=\((.*)\)", script)[1]))
    assert {p for p, entry in checked.read(ROOT).items() if "in_all" in entry} == seconds - {"tidy", "analyzer"}
