"""Every fenced block of README.md and docs/*.md is what it says it is.

Blocks of one file run in their order, in one empty folder that has `.venv/bin`, and Python blocks in one namespace:

    python      runs; a block that begins with >>> is a session whose results are compared; `python executorch` runs in
                tests/executorch, and `python jax`, `python bridgestan`, ... where that package is installed, `python a+b`
                where both are
    inlay       is read and checked by `inlay opt`; the word after `inlay` is the file that later blocks find it in
    c           is the file that it names, for the console blocks that follow, and for reading only where it names none
    console     lines that begin with `$ ` run in bash, and what they print is compared where the block shows it; where it
                shows nothing they must succeed

In what is shown, … stands for anything, and alone on its line for any lines. Other tags are for reading only; a block
without a tag is a mistake.
"""

import contextlib
import doctest
import functools
import io
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import inlay.pytensor
import models
import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
import pytest
from inlay import _inlay
from inlay.pytensor.translate import registry

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
NAMES = [str(page.relative_to(ROOT)) for page in PAGES]
FOR_READING = {"text", "sh", "cpp", "c", "llvm", "kernels"}
TOOL = Path(os.environ.get("INLAY_TOOL", ROOT / "build" / "release" / "bin" / "inlay"))


@dataclass
class Block:
    place: str  # README.md:12
    line: int
    tag: str
    name: str  # the word after the tag
    text: str


def blocks(path):
    lines = path.read_text().splitlines()
    found, i = [], 0
    while i < len(lines):
        opening = re.fullmatch(r"(```+)(\w*) *(\S*)", lines[i])
        if not opening:
            assert not lines[i].lstrip().startswith("```"), f"{path.name}:{i + 1}: a fence that is not understood"
            i += 1
            continue
        end = next(j for j in range(i + 1, len(lines)) if lines[j] == opening[1])
        text = "".join(line + "\n" for line in lines[i + 1 : end])
        found.append(Block(f"{path.name}:{i + 1}", i + 1, opening[2], opening[3], text))
        i = end + 1
    return found


def matches(shown, printed):
    """Whether `printed` is what the page shows, … standing for anything."""
    pattern = ""
    for line in shown.splitlines():
        if line.strip() == "…":
            pattern += r"(?:.*\n)*?"
        else:
            pattern += ".*?".join(re.escape(part) for part in line.rstrip().split("…")) + r"\n"
    printed = "".join(line.rstrip() + "\n" for line in printed.splitlines())
    return re.fullmatch(pattern, printed) is not None


def commands(text):
    """(command, what the block shows below it)"""
    found = []
    for line in text.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        else:
            assert found, "a console block begins with a command: `$ `"
            found[-1][1].append(line)
    return [(command, "".join(line + "\n" for line in shown)) for command, shown in found]


def run_console(block, folder):
    environment = {k: v for k, v in os.environ.items() if k not in ("INLAY_DUMP", "INLAY_VERIFY")}
    environment["PATH"] = f"{TOOL.parent}:{environment['PATH']}"
    for command, shown in commands(block.text):
        done = subprocess.run(
            ["bash", "-c", f"set -o pipefail; {command}"],
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=120,
        )
        told = f"{block.place}: $ {command}\n{done.stdout}"
        assert shown or done.returncode == 0, told  # a command may fail where the page shows how
        assert not shown or matches(shown, done.stdout), f"{told}\nthe page shows\n{shown}"


def run_inlay(block, folder):
    file = folder / (block.name or "block.inlay")
    file.write_text(block.text)
    done = subprocess.run([TOOL, "opt", file], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, f"{block.place}:\n{done.stderr}"
    again = folder / "again.inlay"
    again.write_text(done.stdout)
    printed = subprocess.run([TOOL, "opt", again], capture_output=True, text=True, timeout=60)
    assert printed.stdout == done.stdout, f"{block.place}: printing and reading again gives another text"
    again.unlink()


def run_python(block, path, namespace):
    if block.text.startswith(">>>"):
        shown = block.text.replace("…", "...")
        test = doctest.DocTestParser().get_doctest(shown, namespace, block.place, str(path), block.line)
        test.globs = namespace  # as it is, not a copy
        report = io.StringIO()
        flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
        result = doctest.DocTestRunner(optionflags=flags, verbose=False).run(test, out=report.write, clear_globs=False)
        assert result.failed == 0, f"{block.place}\n{report.getvalue()}"
        return
    code = compile("\n" * block.line + block.text, str(path), "exec")
    with contextlib.redirect_stdout(io.StringIO()):
        exec(code, namespace)


class SmallPyMC:
    """PyMC, but for what a page leaves to pm.sample's defaults: few draws, one chain."""

    sample = staticmethod(
        functools.partial(pm.sample, draws=20, tune=20, chains=1, cores=1, progressbar=False, random_seed=1)
    )

    def __getattr__(self, name):
        return getattr(pm, name)


def start_namespace():
    """What pages take for granted: a model and a function of it, and the usual imports."""
    x = pt.dvector("x")
    logp = -(x**2).sum() / 2
    return {
        "np": np,
        "pm": SmallPyMC(),
        "pt": pt,
        "pytensor": pytensor,
        "inlay": inlay,
        "model": models.radon(),
        "x": x,
        "logp": logp,
        "gradient": pytensor.grad(logp, x),
    }


def can_run(needed):
    """Is what a block of Python needs here? JAX also wants that inlay was built with its header."""
    if needed == "jax":
        return all(map(find_spec, ["jax", "numpyro"])) and bool(_inlay.xla_handlers())
    return needed != "executorch" and all(map(find_spec, filter(None, needed.split("+"))))


@pytest.mark.filterwarnings("ignore")  # few draws: PyMC says so
@pytest.mark.parametrize("path", PAGES, ids=NAMES)
def test_blocks(path, tmp_path, monkeypatch):
    (tmp_path / ".venv").mkdir()
    tools = tmp_path / ".venv" / "bin"
    tools.mkdir()
    (tools / "inlay").symlink_to(TOOL)
    python = tools / "python"
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    # What a page translates itself is no part of the next one, whose functions would not be kept in the cache.
    monkeypatch.setattr(registry, "_TRANSLATIONS", dict(registry._TRANSLATIONS))
    namespace = start_namespace()
    for block in blocks(path):
        if block.tag == "python":
            if can_run(block.name):
                run_python(block, path, namespace)
        elif block.tag == "inlay":
            run_inlay(block, tmp_path)
        elif block.tag == "console":
            run_console(block, tmp_path)
        elif block.tag == "c" and block.name:
            (tmp_path / block.name).write_text(block.text)
        else:
            assert block.tag in FOR_READING, f"{block.place}: tag `{block.tag}`; one of {sorted(FOR_READING)}"


def anchors(page):
    """Of its headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", re.sub(r"```.*?```", "", page.read_text(), flags=re.S), re.M)
    names = [re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings]
    return {f"{name}-{again}" if (again := names[:i].count(name)) else name for i, name in enumerate(names)}


@pytest.mark.parametrize("path", [*PAGES, ROOT / "CONTRIBUTING.md"], ids=[*NAMES, "CONTRIBUTING.md"])
def test_files_that_are_named_exist(path):
    """Links, and words in backticks that look like a file of the project."""
    text = re.sub(r"```.*?```", "", path.read_text(), flags=re.S)
    for name, place in re.findall(r"\]\(([^)#:]+\.md)?(?:#([^)]+))?\)", text):
        page = path.parent / name if name else path
        assert page.exists(), f"{path.name} links {name}"
        assert not place or place in anchors(page), f"{path.name} links {name}#{place}"
    for name in re.findall(r"`((?:src|docs|tests|tools|python|include|examples|bench|scripts)/[\w./-]+)`", text):
        assert "NAME" in name or (ROOT / name).exists(), f"{path.name} names {name}"


@pytest.mark.parametrize("name", [*NAMES, "CONTRIBUTING.md", "bench/README.md"])
def test_lines_fit(name):
    """All but rows of tables, and what a command is given or prints."""
    prose = re.sub(r"^```.*?^```", "", (ROOT / name).read_text(), flags=re.M | re.S)
    assert [line for line in prose.split("\n") if len(line) > 120 and not line.startswith("|")] == []


def test_each_file_on_the_way_of_an_op_names_it_and_is_counted():
    """The tables of add-an-op.md, whose sections name the op that they follow, and their sums in CONTRIBUTING.md."""
    sections = re.split(r"^## ", (ROOT / "docs" / "add-an-op.md").read_text(), flags=re.M)[1:]
    counted = (ROOT / "CONTRIBUTING.md").read_text().split("## Where a new thing goes")[1]
    kinds = []
    for section in sections:
        op = re.match(r"A (\w+) op: `(\w+)`", section)
        rows = re.findall(r"^\| (`[^|]+`) \|", section, re.M)
        assert bool(op) == bool(rows)
        files = [file for row in rows for file in re.findall(r"`([^`]+)`", row)]
        for file in files:
            words = [op[2], "concatenate"] if "test_tensor_ops" in file else [op[2]]
            text = (ROOT / file).read_text()
            assert any(word in text for word in words), f"{file} does not know {op[2]}"
        if op:
            tests = [file for file in files if file.startswith("tests/") or "_test." in file]
            are = "are tests" if len(tests) > 1 else "is a test"
            row = re.search(rf"^\| {op[1]}.*\| (\d+, of which \d+ (?:are tests|is a test))", counted, re.M)
            assert row[1] == f"{len(files)}, of which {len(tests)} {are}"
            kinds.append(op[1])
    assert kinds == ["scalar", "fold", "tensor", "library"]


def test_elisions():
    assert matches("a …\n…\nd\n", "a b c\nx\ny\nd\n")
    assert matches("a\n…\nd\n", "a\nd\n")
    assert not matches("a …\nd\n", "a b\nc\nd\n")
    assert not matches("a\n", "a\nb\n")
