"""Each pass over kernels has a test of its own, in which it does something."""

import json
import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TESTS = ROOT / "tests" / "passes"
TOOL = Path(os.environ.get("INLAY_TOOL", ROOT / "build" / "release" / "bin" / "inlay"))


def loop_passes():
    listed = subprocess.run([TOOL, "list", "passes", "--json"], capture_output=True, text=True, check=True).stdout
    return [row["name"] for row in json.loads(listed) if row["of"] == "kernels"]


def test_every_loop_pass_has_a_test_that_it_changes():
    tested = set()
    for path in TESTS.glob("*.inlay"):
        before, name, after = "", None, ""
        for line in path.read_text().splitlines(keepends=True):
            if line.startswith("#= pass "):
                name = line.split()[2]
            elif line.startswith("#="):
                break
            elif name:
                after += line
            elif not line.startswith("# "):
                before += line
        assert before != after, f"{path.name}: {name} changes nothing"
        tested.add(name)
    assert tested == set(loop_passes())


@pytest.fixture
def graph_file(tmp_path):
    path = tmp_path / "shift.inlay"
    path.write_text("graph @main(%x: f64[n]) {\n %y = neg %x\n %z = neg %y\n %e = exp %z\n return %e\n}\n")
    return path


def opt(*arguments):
    return subprocess.run([TOOL, "opt", *map(str, arguments)], capture_output=True, text=True)


def test_stop_after_prints_the_program_as_it_is_then(graph_file):
    assert "exp %z" in opt("--stop-after=common-values", graph_file).stdout
    assert "exp %x" in opt("--stop-after=simplify", graph_file).stdout
    assert "kernel {" in opt("--stop-after=fuse", graph_file).stdout
    assert "kernel @k0 {" in opt("--stop-after=name-kernels", graph_file).stdout


def test_one_pass_alone(graph_file, tmp_path):
    assert "exp %x" in opt("--pass=simplify", graph_file).stdout
    kernels = tmp_path / "shift.kernels"
    kernels.write_text(opt("--stop-after=fuse", graph_file).stdout)
    assert "kernel @k0 {" in opt("--pass=name-kernels", kernels).stdout


@pytest.mark.parametrize(
    "arguments, said",
    [
        (["--stop-after=simplifi"], "error[unknown-name]: there is no pass simplifi\n  help: did you mean simplify?"),
        (["--pass=fuse"], "error[unsupported]: the pass fuse is none of graphs"),
        (["--pass=order-axes"], "error[unsupported]: the pass order-axes is none of graphs"),
        (["--pass=simplify", "--stop-after=simplify"], "--stop-after excludes --pass"),
    ],
)
def test_what_is_no_pass_of_graphs(graph_file, arguments, said):
    done = opt(*arguments, graph_file)
    assert done.returncode in (1, 2)
    assert said in done.stderr


def test_kernels_do_not_know_what_has_run_before(graph_file, tmp_path):
    kernels = tmp_path / "shift.kernels"
    kernels.write_text(opt("--stop-after=fuse", graph_file).stdout)
    done = opt("--stop-after=order-axes", kernels)
    assert "holds kernels: it is not known what has run before order-axes" in done.stderr
    assert "help: --pass runs one pass alone" in done.stderr


def test_equal_sizes_are_assumed_once(tmp_path):
    text = "graph @main(%x: f64[n], %y: f64[m]) assume m == n {\n  %a = add %x, %y\n  return %a\n}\n"
    for _ in range(2):
        path = tmp_path / "sizes.inlay"
        path.write_text(text)
        text = opt("--pass=equal-sizes", path).stdout
        assert "given [m]) assume m == n {" in text
