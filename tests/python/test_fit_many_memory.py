"""What the first process holds of many fits: what was kept of them, and little beside."""

import gc
import tracemalloc

import inlay.pymc
import numpy as np
import pymc as pm
import pytest
from inlay.fits.all_rows import AllRows
from inlay.fits.fit import Row, Work
from inlay.fits.function import Function
from inlay.fits.methods import Nuts
from inlay.fits.packed import pack
from inlay.pymc.fit_functions import fit_functions

pytest.importorskip("nutpie")


def model():
    with pm.Model() as model:
        y = pm.Data("y", np.zeros(2))
        mu, noise = pm.Normal("mu"), pm.HalfNormal("noise")
        pm.Normal("seen", mu, noise, observed=y)
    return model


def work(reductions=()):
    settings = {"num_draws": 5, "num_tune": 5, "num_chains": 1}
    return Work(fit_functions(model()), 1, Nuts(settings), ("mean", "sd"), reductions)


def row(number):
    names = ("mu_mean", "noise_mean", "mu_sd", "noise_sd")
    return Row(number, packed=pack({name: np.float64(number) for name in names}), divergences=number, seconds=0.5 * number)


def test_the_bytes_of_a_fit():
    """32 are its results, 24 its number, its divergences and its seconds; a bytearray has room for an eighth more."""
    rows, count = AllRows(work()), 30_000
    AllRows(rows._work).opened()  # imports xarray
    gc.collect()
    tracemalloc.start()
    for number in range(count):
        rows.put(row(number))
    rows.finish(count)
    of_a_fit = tracemalloc.get_traced_memory()[0] / count
    tracemalloc.reset_peak()
    fits = rows.opened()
    peak = tracemalloc.get_traced_memory()[1] / count
    tracemalloc.stop()
    assert of_a_fit < 56 * 9 / 8 + 7
    assert peak < of_a_fit + 200  # the table's four results and five columns, each of 8, and what comes before some of them
    assert fits["mu_mean"].values.tolist() == list(range(count))
    assert fits["divergences"].values.tolist() == list(range(count))
    np.testing.assert_array_equal(fits["seconds"].values, 0.5 * np.arange(count))


def test_rows_in_any_order_of_several_layouts():
    """With failures, and with a result of another rank than that of an earlier fit, whichever of them comes first."""
    own = Function("own", b"", "own")
    rows = AllRows(work((own,)), labels=["a", "b", "c", "d", "e", "f"])
    values = {0: np.ones(2), 1: np.float32(3), 2: np.arange(3.0), 4: np.ones((1, 2)), 5: np.arange(2)}
    for number in (5, 1, 4, 0, 2):
        rows.put(Row(number, packed=pack({"mu_mean": np.float64(number), "own": values[number]})))
    rows.put(Row(3, "it is bad"))
    rows.finish(7)
    assert rows.done == 5
    fits = rows.opened()
    assert fits["dataset"].values.tolist()[:6] == ["a", "b", "c", "d", "e", "f"]
    assert fits["reason"].values.tolist() == [
        "", "own has 0 dimensions, and 1 in an earlier fit", "", "it is bad",
        "own has 2 dimensions, and 1 in an earlier fit", "", "not done",
    ]  # fmt: skip
    nan = np.nan
    np.testing.assert_array_equal(fits["mu_mean"].values, [0, nan, 2, nan, nan, 5, nan])
    np.testing.assert_array_equal(fits["own"].values[[0, 2, 5]], [[1, 1, nan], [0, 1, 2], [0, 1, nan]])
    assert np.isnan(fits["own"].values[[1, 3, 4, 6]]).all()


def test_what_holds_nothing():
    rows = AllRows(work((Function("own", b"", "own"),)))
    rows.put(Row(0, packed=pack({"own": np.zeros((0, 2)), "mu_mean": np.float64(1)})))
    fits = rows.opened()
    assert (fits["own"].shape, fits["mu_mean"].values.tolist()) == ((1, 0, 2), [1.0])
    assert AllRows(work()).opened().sizes == {"dataset": 0}


def test_repeated_runs_leave_nothing():
    """Once all that is imported and compiled for the first runs is there."""
    fits, data = model(), [{"y": np.ones(2)}] * 20

    def held():
        inlay.pymc.fit_many(fits, data, draws=2, tune=3, chains=1, seed=1, progress=False, executor=1)
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    for _ in range(2):
        inlay.pymc.fit_many(fits, data, draws=2, tune=3, chains=1, seed=1, progress=False, executor=1)
    tracemalloc.start()
    first = held()
    last = [held() for _ in range(8)][-1]
    tracemalloc.stop()
    assert last - first < 8 * 10_000
