"""Processes of a run killed at random points, the first one and its workers: no fit is lost, and none that was finished is
done again."""

import os
import random
import signal
import subprocess
import sys
import textwrap
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context

import inlay.pymc
import numpy as np
import pymc as pm
import pytest
from inlay.fits import kept

pytest.importorskip("nutpie")

KILLS = int(os.environ.get("INLAY_KILLS", 3))  # `scripts/check soak` has twenty
FITS = 120
LONGEST = 120  # seconds without a new fit, after which the test has failed


def run(folder, executor, notes=None):
    with pm.Model() as model:
        y = pm.Data("y", np.zeros(3))
        pm.Normal("likelihood", pm.Normal("mu", 0, 10), 1, observed=y)
    rng = np.random.default_rng(1)
    data = [{"y": rng.normal(size=3 + i)} for i in range(FITS)]
    options = {"draws": 50, "tune": 100, "chains": 2, "seed": 1, "progress": False, "keep": "mu"}
    reduce = _noting(notes or f"{folder}.done")
    return inlay.pymc.fit_many(model, data, executor=executor, resume=folder, reduce=reduce, **options)


def _noting(path):
    def done(draws, data):
        import os

        with open(path, "ab", buffering=0) as file:
            file.write(f"{len(data['y']) - 3} {os.getpid()}\n".encode())
        return 0.0

    done.__module__ = "__main__"  # pickled with its code: a worker needs no import for it
    return done


RUN = """
import sys
sys.path.insert(0, {here!r})
from test_fit_many_kills import ProcessPoolExecutor, get_context, partial, run
if __name__ == "__main__":
    run(sys.argv[1], partial(ProcessPoolExecutor, 2, get_context("forkserver")))
"""


def done(folder):
    """Of each fit that a worker has done its number and the worker, in order; the same fit may be there twice."""
    try:
        with open(f"{folder}.done") as file:
            return [tuple(map(int, line.split())) for line in file if line.endswith("\n")]
    except FileNotFoundError:
        return []


def finished(folder):
    """The numbers of the fits that the folder holds."""
    try:
        with open(folder / kept.NAME, "rb") as file:
            places, _ = kept._places(file, folder)
            return {kept._row(record_at(file, place)).number for place in places.values()}
    except FileNotFoundError:
        return set()


def record_at(file, place):
    file.seek(place)
    return kept._record(file)


def wait_for(folder, count, process):
    """Until so many fits are done, or the run has ended."""
    last, since = -1, time.monotonic()
    while (now := len(done(folder))) < count and process.poll() is None:
        if now != last:
            last, since = now, time.monotonic()
        assert time.monotonic() - since < LONGEST
        time.sleep(0.005)


@pytest.mark.skipif(sys.platform != "linux", reason="forkserver")
def test_processes_killed_at_random_points(tmp_path):
    script, folder = tmp_path / "script.py", tmp_path / "fits"
    script.write_text(textwrap.dedent(RUN.format(here=os.path.dirname(__file__))))
    draw, kills = random.Random(20240607), 0
    while True:
        had, before = finished(folder), len(done(folder))
        process = subprocess.Popen([sys.executable, script, folder])
        while kills < KILLS and process.poll() is None:
            wait_for(folder, len(done(folder)) + draw.randint(1, 1 + FITS // KILLS // 2), process)
            kills += 1
            if draw.random() < 0.5 or len(done(folder)) == before:
                process.kill()
                process.wait()
            else:
                kill_if_there(done(folder)[-1][1])
        code = process.wait(timeout=300)
        assert not had & {number for number, _ in done(folder)[before:]}
        assert had <= finished(folder)
        if code != -signal.SIGKILL:
            break
    assert code == 0 and kills == KILLS
    assert finished(folder) == set(range(FITS))
    alone = run(None, 1, tmp_path / "alone")
    again = run(folder, 1)
    assert again["reason"].values.tolist() == [""] * FITS
    np.testing.assert_array_equal(again["mu"].values, alone["mu"].values)


def kill_if_there(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:  # it has ended by itself
        pass
