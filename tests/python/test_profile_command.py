"""`inlay run --profile`: the table, whose arguments it is of, and what is refused. No times."""

import os
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

TOOL = Path(os.environ.get("INLAY_TOOL", Path(__file__).parents[2] / "build" / "release" / "bin" / "inlay"))

PROGRAM = """graph @main(%x: f64[n], %b: f64[m]) {
  %s = reduce add %x [0] : f64
  %y = div %b, %s
  return %y
}
"""


@pytest.fixture(autouse=True)
def program(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.inlay").write_text(PROGRAM)
    np.save(tmp_path / "x.npy", np.ones(1000))
    return tmp_path


def tool(*arguments, code=0, **environment):
    environment = {**os.environ, **environment}
    done = subprocess.run([TOOL, "run", *arguments], capture_output=True, text=True, timeout=120, env=environment)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def rows_of(text):
    """By what a step is said to be: what it reads and writes."""
    rows = {}
    for line in text.split("\n\n")[1].splitlines()[1:]:
        numbers = re.match(r" *[\d.]+ %  +[\d.]+ [mun]?s (?: +\d+ )?(?: +(\d+ \w+)) (?: +(\d+ \w+)) ", line)
        rows[re.split(r" {2,}(?=[@a-z])", line, maxsplit=1)[1]] = numbers.groups()
    return rows


def test_a_table_of_files_and_random_elements():
    text = tool("p.inlay", "x=x.npy", "--profile", "--size", "m=30")
    name, times, bandwidth, _, head, *rows = text.splitlines()
    assert name == "p.inlay, n = 1000, m = 30"
    assert re.fullmatch(r"T a call, T at least, of \d+ calls: T in steps, T outside of them".replace("T", r"[\d.]+ .?s"), times)
    assert re.fullmatch(r"one thread moves [\d.]+ GB/s to and from this machine's memory", bandwidth)
    assert head.endswith("  step") and len(rows) == 2
    assert rows_of(text) == {
        "@k0 over n: s = sum(x)  [p.inlay:2]": ("8000 B", "0 B"),
        "@k1 over m: y = b/s  [p.inlay:3]": ("240 B", "240 B"),
    }


def test_results_are_no_part_of_it(program):
    assert "y = " not in tool("p.inlay", "--profile", "--size=n=3,m=3").split("\n\n")[0]
    for other in ["-o", "out"], ["--evaluator", "kernel"]:
        assert "excludes --profile" in tool("p.inlay", "x=x.npy", "--profile", *other, code=2)
    assert "--size requires --profile" in tool("p.inlay", "x=x.npy", "--size", "m=3", code=2)


def test_every_size_is_said():
    wanted = "error[wrong-argument-count]: nothing says the size m\n  parameter %b  f64[m]\n"
    assert wanted in tool("p.inlay", "x=x.npy", "--profile", code=1)
    assert "called k\n  help: its sizes are n, m" in tool("p.inlay", "--profile", "--size=n=3,m=3,k=3", code=1)
    assert "n=7 is given, but dim 0 of %x" in tool("p.inlay", "x=x.npy", "--profile", "--size=n=7,m=3", code=1)
    Path("assumed.inlay").write_text("graph @main(%x: f64[n], %y: f64[m]) assume n == m + 1 {\n return %y, %x\n}")
    assert tool("assumed.inlay", "x=x.npy", "--profile").startswith("assumed.inlay, n = 1000, m = 999\n")


def test_what_a_call_overwrites_is_a_copy():
    """A second call would find what the first has added."""
    Path("count.inlay").write_text(
        """graph @main(%x: f64[n] donated, %d: f64[1]) {
  %one = literal 1.0 : f64
  %first = slice %x[0]
  %was_zero = lt %first, %one
  %checked = assert %x, %was_zero, "x is not 0"
  %y = update add %checked[0:1], %d
  return %y
}"""
    )
    np.save("d.npy", np.ones(1))
    np.save("zeros.npy", np.zeros(100))
    np.save("ones.npy", np.ones(100))
    assert "@k0: makes y" in tool("count.inlay", "x=zeros.npy", "d=d.npy", "--profile")
    assert "x is not 0" in tool("count.inlay", "x=ones.npy", "d=d.npy", "--profile", code=1)


def test_host_calls_and_late_sizes():
    Path("late.inlay").write_text(
        """graph @main(%x: f64[n]) {
  %p = host_call "positive"(%x) : f64[k]
  %y = exp %p
  return %y
}"""
    )
    np.save("mixed.npy", np.array([1.0, -1, 2, -3, 4]))
    assert rows_of(tool("late.inlay", "x=mixed.npy", "--profile")) == {
        "p = positive(x) (host call)  [late.inlay:2]": ("40 B", "24 B"),
        "@k0 over k: y = exp(p)  [late.inlay:3]": ("24 B", "24 B"),
    }
    Path("fails.inlay").write_text('graph @main(%x: f64[n]) {\n %y = host_call "fail"(%x) : f64[n]\n return %y\n}')
    assert "error[host-call-failed]: fail: the host call failed" in tool("fails.inlay", "x=x.npy", "--profile", code=1)


def test_kernels_of_a_dump(program):
    (program / "dump").mkdir()
    tool("p.inlay", "--profile", "--size=n=3,m=3", INLAY_DUMP=str(program / "dump"))
    (kernels,) = (program / "dump").rglob("*name-kernels.kernels")
    np.save("b.npy", np.ones(3))
    text = tool(kernels, "x=x.npy", "b=b.npy", "--profile")
    assert text.startswith(f"{kernels}, n = 1000, m = 3\n")
    assert rows_of(text)["@k0 over n: s = sum(x)"] == ("8000 B", "0 B")
    assert "no argument for %b" in tool(kernels, "x=x.npy", "--profile", code=1)
    assert "holds kernels: --size is for graphs" in tool(kernels, "x=x.npy", "--profile", "--size=m=3", code=1)


def test_the_c_backend_has_no_clocks():
    said = tool("p.inlay", "--profile", "--size=n=3,m=3", INLAY_BACKEND="c", code=1)
    assert said.startswith('error[unsupported]: p.inlay was compiled by the backend "c", whose code has no clocks')
