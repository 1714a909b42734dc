"""One CPU for a task of short fits: who gets which, and what becomes of it."""

import os
import subprocess
import sys
import threading
from contextlib import ExitStack, contextmanager

import numpy as np
import pytest

import inlay.fits.run
import inlay.pymc
from inlay.fits import one_cpu

pytestmark = pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system has no affinity of threads")


@pytest.fixture(autouse=True)
def temporary(tmp_path, monkeypatch):
    """Nobody else's locks."""
    monkeypatch.setattr(one_cpu.tempfile, "gettempdir", lambda: str(tmp_path))
    return tmp_path


def test_each_claim_has_a_cpu_of_its_own():
    allowed = os.sched_getaffinity(0)
    with ExitStack() as stack:
        claims = [stack.enter_context(one_cpu.claimed()) for _ in range(len(allowed) + 1)]
    assert claims[-1] is None and set(claims[:-1]) == allowed
    with one_cpu.claimed() as again:
        assert again in allowed


def test_a_claim_ends_with_its_process(temporary):
    allowed = os.sched_getaffinity(0)
    code = f"""
import contextlib, sys, tempfile
from inlay.fits import one_cpu
tempfile.tempdir = {str(temporary)!r}
with contextlib.ExitStack() as stack:
    print(*(stack.enter_context(one_cpu.claimed()) for _ in range({len(allowed)})), flush=True)
    sys.stdin.read()
"""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", code], **pipes) as other:
        assert {int(cpu) for cpu in other.stdout.readline().split()} == allowed
        with one_cpu.claimed() as cpu:
            assert cpu is None
        other.kill()
        other.wait()
    with one_cpu.claimed() as cpu:
        assert cpu in allowed


def test_threads_begun_within_the_block_run_there_and_others_anywhere():
    allowed, seen = os.sched_getaffinity(0), []
    with one_cpu.claimed() as cpu, one_cpu.on_claimed():
        thread = threading.Thread(target=lambda: seen.append(os.sched_getaffinity(0)))
        thread.start()
        thread.join()
    assert seen == [{cpu}] and os.sched_getaffinity(0) == allowed
    with one_cpu.on_claimed():
        assert os.sched_getaffinity(0) == allowed


def test_a_cpu_that_was_taken_away_is_no_error(monkeypatch):
    allowed = os.sched_getaffinity(0)
    monkeypatch.setattr(one_cpu, "_claim", lambda: (None, 10_000))
    with one_cpu.claimed(), one_cpu.on_claimed():
        assert os.sched_getaffinity(0) == allowed


@pytest.mark.parametrize("spoil", ["link", "file", "open to all"])
def test_a_folder_of_somebody_else_is_not_used(temporary, spoil):
    folder = temporary / f"inlay-cpus-{os.getuid()}"
    other = temporary / "other"
    other.mkdir()
    if spoil == "link":
        folder.symlink_to(other)
    elif spoil == "file":
        folder.touch()
    else:
        folder.mkdir()
        folder.chmod(0o777)
    with one_cpu.claimed() as cpu:
        assert cpu is None
    assert not any(other.iterdir())


def test_fits_run_on_a_cpu_of_their_own_and_reductions_anywhere(monkeypatch):
    import pymc as pm

    sampled_on = []
    monkeypatch.setattr(inlay.fits.run, "_SECONDS_OF_TASK", 1000.0)

    @contextmanager
    def noted(on_claimed=one_cpu.on_claimed):
        with on_claimed():
            sampled_on.append(os.sched_getaffinity(0))
            yield

    monkeypatch.setattr(one_cpu, "on_claimed", noted)
    with pm.Model() as model:
        y = pm.Data("y", np.zeros(3))
        pm.Normal("observed", pm.Normal("mu", 0, 1), 1, observed=y)
    fits = inlay.pymc.fit_many(
        model,
        [{"y": np.zeros(3)}] * 80,
        draws=20,
        tune=20,
        chains=1,
        seed=1,
        executor=1,
        progress=False,
        reduce={"cpus": lambda draws: len(os.sched_getaffinity(0))},
    )
    assert (fits["cpus"] == len(os.sched_getaffinity(0))).all()
    assert len(sampled_on) == 80
    assert {len(cpus) for cpus in sampled_on[:2]} == {len(os.sched_getaffinity(0))}  # tasks of one fit, of a time unknown
    assert {len(cpus) for cpus in sampled_on[2:6]} == {1}  # a sixteenth of the others go together
