"""Each pass of either list has a program of its own, in which it does something."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TESTS = ROOT / "tests" / "passes"
TOOL = Path(os.environ.get("INLAY_TOOL", ROOT / "build" / "release" / "bin" / "inlay"))


def passes():
    """What each name of the list is a pass of."""
    listed = subprocess.run([TOOL, "list", "passes", "--json"], capture_output=True, text=True, check=True).stdout
    return {row["name"]: row["of"] for row in json.loads(listed)}


def as_printed(program, folder):
    """The program as the tool prints it, with all types: what stands before the first directive may leave them out."""
    path = folder / "printed.inlay"
    path.write_text(program)
    return subprocess.run([TOOL, "opt", path], capture_output=True, text=True, check=True).stdout


def test_every_pass_has_a_program_that_it_changes(tmp_path):
    tested = {}  # some programs show what a pass leaves alone
    for path in sorted(TESTS.glob("*.inlay")):
        source, *directives = re.split(r"^#= ", path.read_text(), flags=re.M)
        before = as_printed(source, tmp_path)
        for directive in directives:
            words, _, after = directive.partition("\n")
            if not (run := re.fullmatch(r"pass(?:/\w+)? (\S+)", words)):  # pass/llvm: for that backend alone
                continue
            if before != after:
                tested[run[1]] = "graphs" if after.startswith("graph ") else "kernels"
            before = after
    # fuse does not run alone; `#= fuse` shows what it makes of a program.
    assert tested == {name: of for name, of in passes().items() if name != "fuse"}


def test_every_program_of_a_pass_runs():
    """What a pass makes of it computes the same, and of a loop pass what it moves is counted in one program at least."""
    of = passes()
    counted = set()
    for path in sorted(TESTS.glob("*.inlay")):
        text = path.read_text()
        assert re.search(r"^#= run", text, flags=re.M), path.name
        if re.search(r"^#= count", text, flags=re.M):
            counted |= set(re.findall(r"^#= pass(?:/\w+)? (\S+)", text, flags=re.M))
    assert {name for name, which in of.items() if which == "kernels"} <= counted


def test_fuse_stands_between_the_lists():
    listed = subprocess.run([TOOL, "list", "passes", "--json"], capture_output=True, text=True, check=True).stdout
    rows = json.loads(listed)
    at = [row["name"] for row in rows].index("fuse")
    assert rows[at]["of"] == "both"
    assert {row["of"] for row in rows[:at]} == {"graphs"}
    assert {row["of"] for row in rows[at + 1 :]} == {"kernels"}


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
        (["--pass=fuse"], "error[unsupported]: the pass fuse does not run alone: it makes kernels of a rewritten graph"),
        (["--pass=fuse"], "help: inlay opt --stop-after=fuse prints the kernels that it makes of a graph"),
        (["--pass=order-axes"], "error[unsupported]: the pass order-axes is none of graphs"),
        (["--pass=simplify", "--stop-after=simplify"], "--stop-after excludes --pass"),
        (["--pass=simplify", "--stage=fuse"], "--stage excludes --pass"),
        (["--stop-after=simplify", "--stage=read"], "--stage excludes --stop-after"),
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


def test_passes_are_left_out_by_name(graph_file):
    assert "neg" in opt("--stage=rewrite", "--rewrite-off=simplify", graph_file).stdout
    done = opt("--stage=fuse", "--rewrite-off=name-kernels", graph_file)
    assert done.returncode == 1
    assert done.stderr == (
        "error[unsupported]: the pass name-kernels cannot be left out: what comes after it needs it\n"
    )


PROGRAMS = sorted((ROOT / "tests" / "programs").rglob("*.inlay"))


@pytest.mark.parametrize("path", [*PROGRAMS[::12], ROOT / "tests" / "programs" / "softmax.inlay"], ids=lambda p: p.stem)
def test_what_is_dumped_is_read_back_and_compiled(path, tmp_path):
    environment = {**os.environ, "INLAY_DUMP": str(tmp_path), "INLAY_VERIFY": "1"}
    subprocess.run([TOOL, "explain", path], capture_output=True, check=True, env=environment)
    dumps = sorted([*tmp_path.rglob("*.inlay"), *tmp_path.rglob("*.kernels")])
    assert len(dumps) >= 2
    for dump in dumps:
        assert opt(dump).stdout == dump.read_text(), dump.name
        compiled = opt("--stage=memory", dump)
        assert compiled.returncode == 0, compiled.stderr


def test_what_is_dumped_is_what_stop_after_prints(tmp_path):
    path = ROOT / "tests" / "programs" / "loop_rows.inlay"  # the passes change the loop's body before the whole
    environment = {**os.environ, "INLAY_DUMP": str(tmp_path), "INLAY_VERIFY": "1"}
    subprocess.run([TOOL, "opt", "--stage=memory", path], capture_output=True, check=True, env=environment)
    names = set()
    for dump in tmp_path.glob("*.kernels"):
        names.add(name := dump.stem.partition("-")[2])
        assert opt(f"--stop-after={name}", path).stdout == dump.read_text(), name
    assert {"fuse", "name-kernels"} <= names
    (bodies,) = tmp_path.glob("*-fuse.bodies")
    stages = re.findall(r"^# after (\S+)\nprogram @body", bodies.read_text(), flags=re.M)
    assert stages[0] == "fuse"
    assert "share-rows" in stages


KERNELS = """program @main(x: f64[n] param 0, g: i64[n] param 1, y: f64[n] output 0) symbols n = x.0 {
  kernel @k0 {
    stage (i < n) {
      %0 = load x[i] : f64
      store y[i] set %0
    }
  }
}
"""


IN_STAGE = "error[invalid-program]: kernel @k0, stage 0, "


@pytest.mark.parametrize(
    "right, wrong, said",
    [
        ("load x[i]", "load z[i]", "error[unknown-name]: there is no buffer `z`"),
        ("load x[i]", "load x[j]", "error[unknown-name]: there is no symbol `j`"),
        ("load x[i]", "lod x[i]", "error[unknown-op]: there is no scalar op `lod`"),
        ("i < n", "i < m", "error[unknown-name]: there is no symbol `m`"),
        ("set %0", "set %1", IN_STAGE + "`store y[i] set %1`: %1 is not assigned before"),
        ("x[i] : f64", "x[i] : f32", IN_STAGE + "`%0 = load x[i] : f32`: x holds f64"),
        ("load x[i]", "load x[i, i]", IN_STAGE + "`%0 = load x[i, i] : f64`: x has rank 1, not 2"),
        ("load x[i]", "load x[1 + i]", IN_STAGE + "`%0 = load x[1 + i] : f64`: subscript 0 leaves its dim"),
        ("store y[i]", "store x[i]", "error[invalid-program]: param x is written"),
        ("output 0", "output 1", "error[invalid-program]: output 0 is no buffer"),
        ("    }\n", "      check %0 #0\n    }\n", IN_STAGE + "`check %0 #0`: the condition is f64"),
    ],
)
def test_malformed_kernels_are_explained(right, wrong, said, tmp_path):
    path = tmp_path / "bad.kernels"
    path.write_text(KERNELS.replace(right, wrong, 1))
    done = opt(path)
    assert done.returncode == 1
    first, place = done.stderr.splitlines()[:2]
    assert first == said
    assert place.startswith(f"  at     {path}")


@pytest.mark.parametrize("wrong", ["load x[1 + i]", "load x[100000000]"])
def test_a_program_test_of_malformed_kernels_blames_the_file(wrong, tmp_path):
    path = tmp_path / "bad.inlay"
    path.write_text(KERNELS.replace("load x[i]", wrong, 1) + "#= run n=4\n")
    done = subprocess.run([TOOL, "test", path], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "error[invalid-program]" in done.stdout + done.stderr
    assert "internal" not in done.stdout + done.stderr
