"""The table of cases in docs/memory.md: each row has a test that exists, or says that there is no such thing here."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def rows():
    text = (ROOT / "docs" / "memory.md").read_text().split("\n## Cases\n")[1].split("\n## ")[0]
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


TESTS = {
    f"{suite}.{name}"
    for file in (ROOT / "src").rglob("*_test.cpp")
    for suite, name in re.findall(r"^TEST\((\w+), (\w+)\)", file.read_text(), re.MULTILINE)
}


@pytest.mark.parametrize("row", rows(), ids=lambda row: f"{row[0]}: {row[1]}")
def test_each_case_has_its_test(row):
    group, case, here, test = row
    assert group and case and here
    if test == "no such thing":
        return
    names = re.findall(r"`([^`]+)`", test)
    assert names and re.sub(r"`[^`]+`|, ", "", test) == ""
    for name in names:
        assert name in TESTS or (ROOT / "tests" / "programs" / name).is_file(), f"{name} does not exist"


def test_no_program_is_forgotten():
    told = {name for row in rows() for name in re.findall(r"memory/\w+\.inlay", row[3])}
    there = {f"memory/{file.name}" for file in (ROOT / "tests" / "programs" / "memory").glob("*.inlay")}
    of_orders = {"branches", "branches_of_any_size", "lstm_keeps_its_order", "padded_in_turns"}
    assert there - {f"memory/{name}.inlay" for name in of_orders} == told
