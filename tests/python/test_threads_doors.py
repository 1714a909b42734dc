"""Threads by each door: the tool, profiles and reports, PyTensor's default mode, calls within calls; and at rest."""

import os
import re
import subprocess
import sys
from pathlib import Path

import inlay
import inlay.pytensor
import numpy as np
import pytest
import pytensor
import pytensor.tensor as pt
from inlay import profiling

TOOL = Path(os.environ.get("INLAY_TOOL", Path(__file__).parents[2] / "build" / "release" / "bin" / "inlay"))
PROGRAM = """graph @main(%x: f64[n], %i: i64[n]) {
  %e = exp %x
  %s = reduce add %e [0] : f64
  %zero = literal 0.0 : f64
  %table = broadcast %zero : f64[85]
  %t = scatter add %table[%i], %x
  %few = slice %t[0:3]
  %r = exp %few
  return %e, %s, %t, %r
}"""


@pytest.fixture(autouse=True)
def four_threads(monkeypatch):
    monkeypatch.setattr(profiling, "_SECONDS", 0.0)
    before = inlay.get_threads()
    inlay.set_threads(4)
    yield
    inlay.set_threads(before)


@pytest.fixture
def arguments():
    rng = np.random.default_rng(1)
    return rng.standard_normal(300_001), rng.integers(0, 85, 300_001)


def as_bytes(results):
    return [np.asarray(a).tobytes() for a in results]


# --- inlay run ---


@pytest.fixture
def folder(tmp_path, arguments):
    (tmp_path / "p.inlay").write_text(PROGRAM)
    for name, array in zip("xi", arguments, strict=True):
        np.save(tmp_path / f"{name}.npy", array)
    return tmp_path


def tool(folder, *words, most="4"):
    done = subprocess.run(
        [TOOL, "run", "p.inlay", "x=x.npy", "i=i.npy", *words],
        cwd=folder,
        env={**os.environ, "INLAY_THREADS": most},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_tool_gives_the_same_bytes(folder, arguments):
    for threads in (1, 3):
        tool(folder, f"--threads={threads}", "-o", f"of_{threads}")
    names = sorted(path.name for path in (folder / "of_1").iterdir())
    assert len(names) == 4
    for name in names:
        assert (folder / "of_1" / name).read_bytes() == (folder / "of_3" / name).read_bytes(), name
    ours = as_bytes(inlay.compile(PROGRAM)(*arguments))
    assert sorted(np.load(folder / "of_3" / name).tobytes() for name in names) == sorted(ours)


def at_work(table):
    """Of each row: how many threads, by the column of a table that has it."""
    return re.findall(r" ([\d.]+ of \d+|1)  +\d+ \w+  +\d+ \w+ ", table)


def test_the_tool_profiles_threads(folder):
    assert "threads" not in tool(folder, "--profile")
    assert "threads" not in tool(folder, "--profile", "--threads=3", most="1")
    table = tool(folder, "--profile", "--threads=3")
    assert " threads " in table.split("\n\n")[1].splitlines()[0]
    of_all = at_work(table)
    assert len([cell for cell in of_all if cell.endswith(" of 3")]) >= 1 and "1" in of_all, table


# --- profiles ---


def test_a_profile_says_how_many_threads_worked(arguments):
    p = inlay.profile(inlay.compile(PROGRAM, threads=3), *arguments)
    cut = [row for row in p.rows if row.threads > 1]
    assert cut and all(row.threads == 3 and 0 < row.balance <= 1 for row in cut)
    (few,) = [row for row in p.rows if "r" in row.makes]
    assert (few.threads, few.balance) == (1, 1.0)
    assert any(row["threads"] == 3 for row in p.to_dict()["rows"])
    assert sorted(at_work(str(p))) == sorted(inlay._inlay.threads_text(row.threads, row.balance) for row in p.rows)
    for html in p._repr_html_(), inlay.report(inlay.compile(PROGRAM, threads=3), None, p):
        assert ">threads<" in html and " of 3" in html
    alone = inlay.profile(inlay.compile(PROGRAM), *arguments)
    assert {(row.threads, row.balance) for row in alone.rows} == {(1, 1.0)}
    assert "threads" not in str(alone).splitlines()[4] and ">threads<" not in alone._repr_html_()


def test_a_profile_of_a_pytensor_function_has_its_mode(arguments):
    x = pt.dvector("x")
    f = pytensor.function([x], pt.exp(x).sum(), mode=inlay.pytensor.mode(threads=2))
    assert {row.threads for row in inlay.profile(f, arguments[0]).rows if row.kind == "kernel"} == {2}


# --- PyTensor and PyMC ---


def test_pm_sample_in_a_block_for_threads(monkeypatch):
    pm, nutpie = pytest.importorskip("pymc"), pytest.importorskip("nutpie")
    compiled, sample = [], nutpie.sample
    monkeypatch.setattr(nutpie, "sample", lambda model, **kwargs: compiled.append(model) or sample(model, **kwargs))
    short = {"draws": 5, "tune": 5, "chains": 1, "cores": 1, "random_seed": 1, "progressbar": False}
    short["compute_convergence_checks"] = False
    data = np.random.default_rng(2).standard_normal(1000)
    with pm.Model():
        pm.Normal("y", pm.Normal("mu"), 1, observed=data)
        with inlay.pytensor.default_mode(threads=2):
            pm.sample(nuts_sampler="nutpie", **short)
        pm.sample(nuts_sampler="nutpie", compile_kwargs={"mode": inlay.pytensor.mode(threads=3)}, **short)
    threads = [model.logp_func.vm.compiled.program.threads for model in compiled]
    assert threads == [2, 3]


# --- a call within a call ---


def test_a_host_function_may_call_a_function_for_threads(arguments):
    inner = inlay.compile(PROGRAM, threads=3)
    x, i = arguments
    want = inner(x, i, threads=1)[1]
    outer = inlay.compile(
        """graph @main(%x: f64[n]) {
  %a = exp %x
  %s = reduce add %a [0] : f64
  %b = host_call "total"(%x) : f64
  %t = sub %s, %b
  %r = div %a, %s
  return %r, %b, %t
}""",
        host_functions={"total": lambda x: inner(x, i)[1]},
        threads=3,
    )
    expected = as_bytes(outer(x, threads=1))
    for most in (1, 2, 3, 8):
        inlay.set_threads(most)
        ratios, total, difference = outer(x)
        assert as_bytes((ratios, total, difference)) == expected
        assert total.tobytes() == want.tobytes() and difference == 0


_WITHIN = f"""
import numpy as np, inlay
inlay.set_threads(3)
inner = inlay.compile('''{PROGRAM}''', threads=3)
i = np.zeros(300_001, int)
outer = inlay.compile('''graph @main(%x: f64[n]) {{
  %b = host_call "total"(%x) : f64
  return %b
}}''', host_functions={{"total": lambda x: inner(x, i)[1]}}, threads=3)
outer(np.ones(300_001))
print(inlay._inlay.num_pool_threads())
"""


def test_the_inner_call_has_threads_too():
    found = subprocess.run([sys.executable, "-c", _WITHIN], capture_output=True, text=True)
    assert found.stdout in ("1\n", "2\n"), found.stderr  # no more than the bound leaves


# --- at rest ---

_ASLEEP = f"""
import pathlib, time
import numpy as np, inlay
inlay.set_threads(4)
fn = inlay.compile('''{PROGRAM}''', threads=4)
for _ in range(20):
    fn(np.ones(300_001), np.zeros(300_001, int))

def ticks():
    found = {{}}
    for task in pathlib.Path("/proc/self/task").iterdir():
        name, _, rest = (task / "stat").read_text().partition("(")[2].rpartition(")")
        if name == "inlay":
            found[task.name] = sum(map(int, rest.split()[11:13]))  # utime, stime
    return found

time.sleep(0.1)  # longer than they look for more to do
before = ticks()
time.sleep(1)
after = ticks()
print(len(before), sum(after.values()) - sum(before.values()))
"""


def test_helpers_that_have_nothing_to_do_use_no_cpu():
    found = subprocess.run([sys.executable, "-c", _ASLEEP], capture_output=True, text=True)
    threads, ticks = map(int, found.stdout.split())
    assert threads == 3, found.stderr
    assert ticks <= 1  # of a hundred for each that would look all the time; one may have begun before
