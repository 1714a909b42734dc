"""Fits that go to Zarr or Parquet as they come: the same values, little in memory, and what an early end leaves."""

import contextlib
import gc
import os
import re
import signal
import subprocess
import sys

import inlay.pymc
import numpy as np
import pymc as pm
import pytest
import xarray
from inlay.fits import run, stream
from inlay.fits.all_rows import AllRows
from inlay.fits.fit import Row
from inlay.fits.methods import Nuts
from inlay.fits.packed import pack

pytest.importorskip("nutpie")
pytest.importorskip("zarr")
pq = pytest.importorskip("pyarrow.parquet")
pandas = pytest.importorskip("pandas")

from inlay.fits import parquet_store, zarr_store  # noqa: E402  (they need zarr and pyarrow)

FEW = {"draws": 20, "tune": 50, "chains": 2, "seed": 20240607, "progress": False, "executor": 1}
STORES = pytest.mark.parametrize("suffix", [".zarr", ".parquet"])


def mean_model(coords=None):
    with pm.Model(coords=coords) as model:
        y = pm.Data("y", np.zeros(3), dims="at")
        mu = pm.Normal("mu", 0, 10)
        pm.Deterministic("residual", y - mu, dims="at")
        pm.Normal("likelihood", mu, 1, observed=y, dims="at")
    return model


def series(lengths=(3, 5, 1, 7, 7, 2, 4, 6, 8, 2)):
    rng = np.random.default_rng(1)
    return [{"y": rng.normal(i, 1, n)} for i, n in enumerate(lengths)]


def fit(datasets, **options):
    return inlay.pymc.fit_many(mean_model(options.pop("coords", None)), datasets, **(FEW | options))


@pytest.fixture(autouse=True)
def few_rows_at_a_time(monkeypatch):
    """Three are gathered; by rows alone, so that what is written when does not depend on the clock."""
    for module in (stream, parquet_store):
        monkeypatch.setattr(module, "MOST_ROWS", 3)
    monkeypatch.setattr(stream, "_WAIT", 1e9)
    monkeypatch.setattr(zarr_store, "_CHUNK_ROWS", 2)


def columns(fits):
    """By name, of each row its value, in the order of the data sets: an array without the NaN that fill it, or None."""
    if isinstance(fits, xarray.Dataset):
        frame = {name: list(fits[name].values) for name in [*fits.data_vars, "dataset"]}
    else:
        frame = fits.to_table().sort_by("dataset").to_pydict()
    return {name: [_value(x) for x in values] for name, values in frame.items()}


def _value(x):
    if x is None or isinstance(x, str):
        return x
    x = np.array(x)
    if x.ndim == 0 and x.dtype.kind != "f":
        return x.item()
    x = np.asarray(x, float)
    present = ~np.isnan(x)
    if x.ndim == 0:
        return x.item() if present else None
    return x[tuple(slice(int(i.max()) + 1) for i in np.nonzero(present))] if present.any() else None


def check_same(fits, want):
    got, want = columns(fits), columns(want)
    assert got.keys() - {"label"} == want.keys()
    for name in want.keys() - {"seconds", "dataset"}:
        for a, b in zip(got[name], want[name], strict=True):
            np.testing.assert_array_equal(a, b, err_msg=name)


@STORES
def test_the_values_of_the_returned_dataset(tmp_path, suffix):
    """Of other lengths, with draws, a number, an integer and a matrix of each fit."""

    def both(draws, data):
        return np.outer(data["y"], [1, 2, 3])

    def count(draws, data):
        return len(data["y"])

    options = {"reduce": ["mean", "quantiles", both, count], "keep": ["mu", "residual"]}
    fits = fit(series(), to=tmp_path / f"fits{suffix}", **options)
    want = fit(series(), **options)
    check_same(fits, want)
    assert columns(fits)["mu"][0].shape == (2, 20)
    assert columns(fits)["both"][1].shape == (5, 3)
    assert columns(fits)["dataset"] == [*range(10)]
    if suffix == ".zarr":
        for name in want.data_vars:
            assert fits[name].dims == want[name].dims, name
            assert fits[name].shape == want[name].shape, name
        assert {name: list(c.values) for name, c in fits.coords.items()} == {
            name: list(c.values) for name, c in want.coords.items()
        }
        assert fits.attrs == want.attrs
    else:
        assert fits.schema.field("count").type == "int64"
        assert fits.schema.field("both").metadata == {b"dims": b'["both_dim_0", "both_dim_1"]'}
        assert fits.schema.metadata[b"seed"] == b"20240607"


@STORES
def test_rows_stand_by_number_whatever_comes_first(tmp_path, suffix):
    """Fits that come in the order of their data's length."""
    store = stream.Stream(tmp_path / f"fits{suffix}", _work(), None)
    numbers = [7, 2, 9, 0, 1, 8, 3, 5]
    for number in numbers:
        store.put(Row(number, seconds=float(number)))
    store.finish(10)
    found = columns(store.opened())
    if suffix == ".parquet":
        assert found["dataset"] == sorted(numbers)
        assert found["seconds"] == sorted(numbers)
    else:
        assert found["dataset"] == [*range(10)]
        assert [x for x, failed in zip(found["seconds"], found["failed"], strict=True) if not failed] == sorted(numbers)
        assert [found["reason"][i] for i in (4, 6, 7)] == ["not done", "not done", ""]


def _work():
    from inlay.fits.fit import Work
    from inlay.pymc.fit_functions import fit_functions

    return Work(fit_functions(mean_model()), 1, Nuts({"num_draws": 1, "num_tune": 1, "num_chains": 1}))


@STORES
def test_rows_are_written_after_a_while(tmp_path, suffix, monkeypatch):
    """The first at once, those that come soon after it together, and one that comes later with them."""
    now = [100.0]
    monkeypatch.setattr(stream.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(stream, "_WAIT", 1.0)
    monkeypatch.setattr(stream, "MOST_ROWS", 1000)
    store = stream.Stream(tmp_path / f"fits{suffix}", _work(), None)
    written = []
    for number, seconds in enumerate([0, 0.5, 0.4, 0.2, 0.5]):
        now[0] += seconds
        store.put(Row(number))
        written.append(columns(store.opened())["reason"].count(""))
    assert written == [1, 1, 1, 4, 4]


def test_long_and_short_rows_are_joined_in_parts(tmp_path, monkeypatch):
    sizes = []
    joined = zarr_store.joined
    monkeypatch.setattr(zarr_store, "MOST_BYTES", 64)
    monkeypatch.setattr(zarr_store, "joined", lambda *args: sizes.append((out := joined(*args)).shape) or out)
    check_same(fit(series(), to=tmp_path / "fits.zarr"), fit(series()))
    assert all(rows == 1 or 8 * np.prod([rows, *shape]) <= 64 for rows, *shape in sizes)
    assert any(rows > 1 for rows, *_ in sizes)


@STORES
def test_coords_and_labels(tmp_path, suffix):
    """A dim that is as long in all fits has the model's coords."""
    data = {name: {"y": np.arange(3.0) + i} for i, name in enumerate(["a", "b", "é", "d"])}
    fits = fit(data, to=tmp_path / f"fits{suffix}", coords={"at": ["x", "y", "zz"]})
    if suffix == ".zarr":
        assert fits["dataset"].values.tolist() == ["a", "b", "é", "d"]
        assert fits["at"].values.tolist() == ["x", "y", "zz"]
        assert fits.sel(dataset="b")["residual_mean"].dims == ("at",)
        longer = {"a": data["a"], "b": {"y": np.ones(2)}}
        assert "at" not in fit(longer, to=tmp_path / "other.zarr", coords={"at": [1, 2, 3]}).coords
    else:
        table = fits.to_table().sort_by("dataset")
        assert table["label"].to_pylist() == ["a", "b", "é", "d"]


@STORES
def test_labels_are_text(tmp_path, suffix):
    frame = pandas.DataFrame({"shop": [7, 7, 9], "y": [1.0, 2.0, 3.0]})
    fits = fit(frame, by="shop", to=tmp_path / f"fits{suffix}")
    assert columns(fits)["dataset" if suffix == ".zarr" else "label"] == ["7", "9"]


@STORES
def test_failures(tmp_path, suffix):
    """Also where the first files have no results at all, and where a result is an integer first."""

    def first(draws, data):
        return int(data["y"][0]) if len(data["y"]) == 1 else data["y"][0]

    bad, nan = {"z": [1.0]}, {"y": np.array([np.nan])}
    data = [bad, nan, bad, bad, {"y": [2.0]}, {"y": [3.0]}, {"y": [4.0]}, {"y": [0.5, 1.5]}, nan]
    options = {"reduce": {"mean": "mean", "first": first}}
    fits = fit(data, to=tmp_path / f"fits{suffix}", **options)
    check_same(fits, fit(data, **options))
    assert columns(fits)["reason"][:2] == [
        "BadData: the model has no data z; it has y",
        "the log density or its gradient is not finite at the starting points",
    ]
    assert columns(fits)["first"] == [None] * 4 + [2.0, 3.0, 4.0, 0.5, None]


@STORES
def test_a_result_of_another_rank_is_its_row(tmp_path, suffix):
    def some(draws, data):
        return data["y"] if len(data["y"]) != 7 else 1.0

    fits = fit(series(), reduce=some, to=tmp_path / f"fits{suffix}")
    reason = "some has 0 dimensions, and 1 in an earlier fit"
    assert columns(fits)["reason"] == ["", "", "", reason, reason, "", "", "", "", ""]


@STORES
def test_a_generator_and_no_data_sets(tmp_path, suffix):
    check_same(fit(iter(series()), to=tmp_path / f"fits{suffix}"), fit(series()))
    none = fit([], to=tmp_path / f"none{suffix}")
    assert columns(none)["failed"] == []
    if suffix == ".parquet":
        assert len(pandas.read_parquet(tmp_path / "none.parquet")) == 0


@STORES
def test_few_rows_are_in_memory(tmp_path, suffix, monkeypatch):
    """Those of a write, of four rows here, and of the tasks in flight, of one fit each: not those of all fits."""
    monkeypatch.setattr(run, "_LARGEST_BATCH", 1)
    monkeypatch.setattr(stream, "MOST_ROWS", 4)

    def rows():
        return sum(type(x) is Row for x in gc.get_objects())

    def most_alive(**options):
        gc.collect()
        before, alive = rows(), []

        def datasets():
            for data in series([3] * 60):
                alive.append(rows() - before)
                yield data

        fit(datasets(), executor=2, **options)
        return max(alive)

    assert most_alive(to=tmp_path / f"fits{suffix}") <= 4 + 2 * 2 + 2  # two for each thread, and what comes meanwhile


@STORES
def test_resume_is_streamed_too(tmp_path, suffix, monkeypatch):
    data, want = series(), fit(series())
    fit(data[:6], resume=tmp_path / "kept")
    check_same(fit(data, resume=tmp_path / "kept", to=tmp_path / f"a{suffix}"), want)
    check_same(fit(data, resume=tmp_path / "kept", to=tmp_path / f"b{suffix}"), want)


@STORES
def test_a_path_that_exists(tmp_path, suffix):
    path = tmp_path / f"fits{suffix}"
    path.write_text("mine")

    def datasets():
        pytest.fail("a data set was drawn")
        yield

    with pytest.raises(FileExistsError, match=rf"to: .*fits{suffix} exists, and is not written over"):
        fit(datasets(), to=path)
    assert path.read_text() == "mine"


def test_files_beside_the_path_stay(tmp_path):
    beside = tmp_path / "fits.parquet.part"
    beside.write_text("mine")
    fit(series(), to=tmp_path / "fits.parquet")
    assert beside.read_text() == "mine"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["fits.parquet", "fits.parquet.part"]


def test_wrong_paths(tmp_path, monkeypatch):
    for to, error, text in (
        (3, TypeError, "to= takes a path, not an int"),
        (tmp_path / "fits.csv", ValueError, r"to: .*fits.csv ends neither in .parquet nor in .zarr"),
        (tmp_path / "no" / "fits.zarr", FileNotFoundError, "to: there is no folder .*no"),
    ):
        with pytest.raises(error, match=text):
            fit(series(), to=to)
    for name, package in (("fits.zarr", "zarr"), ("fits.parquet", "pyarrow")):
        with monkeypatch.context() as patch:
            patch.setitem(sys.modules, package, None)
            with pytest.raises(ImportError, match=f"to: a path that ends in .* needs {package}: pip install {package}"):
                fit(series(), to=tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_names_that_a_store_cannot_have(tmp_path):
    def refused(datasets, text, suffix, name):
        with pytest.raises(ValueError, match=re.escape(text)):
            fit(datasets, to=tmp_path / f"fits{suffix}", reduce={name: lambda draws: 1})

    for name in ("a/b", "a\\b"):
        refused([], f"to: a result is named {name!r}, and an array in a Zarr group has no /", ".zarr", name)
    for name in ("", ".", "..", "zarr.json", "__a"):
        refused([], f"to: a result is named {name!r}, which is no name of an array in a Zarr group", ".zarr", name)
    for suffix in (".zarr", ".parquet"):
        refused([], r"to: a result is named '\udc80', which UTF-8 cannot hold", suffix, "\udc80")
    refused({"a": {}}, "to: a result is named 'label', as is the column of the data sets' labels", ".parquet", "label")
    with pm.Model(coords={"a/b": [0, 1]}) as model:
        pm.Normal("x", dims="a/b")
    with pytest.raises(ValueError, match="to: a dim is named 'a/b', and an array in a Zarr group has no /"):
        inlay.pymc.fit_many(model, [{}], to=tmp_path / "fits.zarr", **FEW)
    assert list(tmp_path.iterdir()) == []


@contextlib.contextmanager
def files_of_at_most(size_bytes):
    """A limit on the size of files stands for a full disk."""
    resource = pytest.importorskip("resource")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    old = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size_bytes, limits[1]))
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, old)


@STORES
def test_a_full_disk_loses_no_row_that_was_written(tmp_path, suffix, monkeypatch):
    monkeypatch.setattr(run, "_LARGEST_BATCH", 1)
    path = tmp_path / f"fits{suffix}"
    said = f"to: {re.escape(str(path))} cannot be written: .*File too large"
    with contextlib.ExitStack() as stack:

        def datasets():
            for i, data in enumerate(series()):
                if i == 8:  # two at most are in flight: seven have come, and were written, one and twice three
                    stack.enter_context(files_of_at_most(100))
                yield data

        with pytest.raises(inlay.pymc.FitsEnded, match=rf"the fits ended early, 7 are done .*OSError: .*{said}") as raised:
            fit(datasets(), to=path)
    assert isinstance(raised.value.__cause__, OSError)
    want = columns(fit(series()))
    for fits in (raised.value.fits, _reopened(path)):
        found = columns(fits)
        done = [number for number, failed in zip(found["dataset"], found["failed"], strict=True) if not failed]
        assert done == [*range(7)]
        np.testing.assert_array_equal([found["mu_mean"][i] for i in done], want["mu_mean"][:7])
    assert list(tmp_path.iterdir()) == [path]


def _reopened(path):
    import pyarrow.dataset

    return xarray.open_zarr(path) if path.suffix == ".zarr" else pyarrow.dataset.dataset(path)


@STORES
def test_a_full_disk_at_the_beginning_leaves_nothing(tmp_path, suffix):
    path = tmp_path / f"fits{suffix}"
    with files_of_at_most(10), pytest.raises(OSError, match=f"to: {re.escape(str(path))} cannot be written: .*File too large"):
        fit(series(), to=path)
    assert list(tmp_path.iterdir()) == []


@STORES
def test_ctrl_c_leaves_what_is_done(tmp_path, suffix):
    class Interrupting(list):
        def __iter__(self):
            yield from list.__iter__(self[:7])
            raise KeyboardInterrupt

    fits = fit(Interrupting(series()), to=tmp_path / f"fits{suffix}")
    found, want = columns(fits), columns(fit(series()))
    done = [i for i, reason in enumerate(found["reason"]) if reason == ""]
    assert 1 <= len(done) <= 7
    np.testing.assert_array_equal([found["mu_mean"][i] for i in done], want["mu_mean"][: len(done)])
    if suffix == ".zarr":
        assert found["reason"][len(done) :] == ["not done"] * (10 - len(done))


@pytest.mark.parametrize("to", [None, "fits.zarr", "fits.parquet"])
def test_ctrl_c_in_the_last_write_is_told(tmp_path, to, monkeypatch):
    """With what is done: rows may not have been written."""
    of, data = (AllRows if to is None else stream.Stream), dict(zip("abcdefghi", series()[:9], strict=True))
    finish = of.finish

    def interrupted(rows, count):
        raise KeyboardInterrupt

    monkeypatch.setattr(of, "finish", interrupted)
    with pytest.raises(inlay.pymc.FitsEnded, match=" are done .*: Ctrl-C while the last rows were written") as raised:
        fit(data, to=to and tmp_path / to)
    assert isinstance(raised.value.__cause__, KeyboardInterrupt)
    monkeypatch.setattr(of, "finish", finish)
    want, found = columns(fit(data)), raised.value.fits
    found = columns(found)
    labels = found["label"] if to == "fits.parquet" else found["dataset"]
    assert len(labels) == (9 if to is None else 7)  # on disk the first one, and three at a time
    at = [want["dataset"].index(label) for label in labels]
    np.testing.assert_array_equal(found["mu_mean"], [want["mu_mean"][i] for i in at])


@contextlib.contextmanager
def interrupted_at_another_line(lines):
    """Ctrl-C at the first line of the stores' modules that is not in the set, which has it then."""
    files, count = {module.__file__ for module in (stream, zarr_store, parquet_store)}, len(lines)

    def trace(frame, event, argument):
        line = frame.f_code.co_filename, frame.f_lineno
        if line[0] not in files:
            return None
        if event == "line" and line not in lines and len(lines) == count:
            lines.add(line)
            raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        yield
    finally:
        sys.settrace(before)


@pytest.mark.parametrize(("suffix", "labels"), [(".zarr", None), (".zarr", list("abcdef")), (".parquet", list("abcdef"))])
def test_ctrl_c_at_any_line_of_a_write(tmp_path, suffix, labels, monkeypatch):
    """It is written again: rows with the first results, of different lengths, which make a file full."""
    monkeypatch.setattr(stream, "MOST_ROWS", 4)

    def row(number, length):
        results = {"mu_mean": np.array(number + 0.5), "residual_mean": np.arange(length) + float(number)}
        return Row(number, packed=pack(results if number else {}), seconds=float(number))

    work, lines, count = _work(), set(), -1
    while len(lines) > count:
        count = len(lines)
        store = stream.Stream(tmp_path / f"{count}{suffix}", work, labels)
        store.put(row(0, 0))
        store.put(row(1, 2))
        store.put(row(3, 3))
        store.put(row(2, 4))
        with interrupted_at_another_line(lines), contextlib.suppress(KeyboardInterrupt):
            store.finish(5)
        store.finish(5)
        found = columns(store.opened())
        done = slice(0, 4)
        assert found["dataset"][done] == ([*range(4)] if labels is None or suffix == ".parquet" else labels[:4])
        assert found["seconds"][done] == [0.0, 1.0, 2.0, 3.0]
        assert found["failed"] == [False] * 4 + [True] * (suffix == ".zarr")
        if suffix == ".zarr":
            assert found["dataset"][4] == (4 if labels is None else labels[4])
        assert found["mu_mean"][done] == [None, 1.5, 2.5, 3.5]
        assert [None if x is None else x.tolist() for x in found["residual_mean"][done]] == [
            None,
            [1.0, 2.0],
            [2.0, 3.0, 4.0, 5.0],
            [3.0, 4.0, 5.0],
        ]
        assert store.done == 4
    assert len(lines) > 30


RUN = """
import os, signal, sys
sys.path.insert(0, {here!r})
from inlay.fits import parquet_store, stream
from test_fit_many_streams import fit, series
stream.MOST_ROWS = parquet_store.MOST_ROWS = 2
calls = 0

def killed_at(owner, name):
    function = getattr(owner, name)
    def counting(*args, **kwargs):
        global calls
        calls += 1
        if calls == int(sys.argv[2]):
            os.kill(os.getpid(), signal.SIGKILL)
        return function(*args, **kwargs)
    setattr(owner, name, counting)

if sys.argv[1].endswith("zarr"):
    import zarr
    killed_at(zarr.Array, "resize")
    killed_at(type(zarr.Array.oindex.fget(zarr.zeros((1,)))), "__setitem__")
    killed_at(zarr, "consolidate_metadata")
else:
    killed_at(parquet_store.pq, "write_table")
    killed_at(parquet_store.os, "replace")

if __name__ == "__main__":
    fit(series(), to=sys.argv[1])
"""


@pytest.mark.parametrize(
    ("suffix", "calls"),
    [(".zarr", n) for n in (24, 31, 35, 37)] + [(".parquet", n) for n in (5, 6)],
)
def test_a_killed_process_leaves_what_can_be_read(tmp_path, suffix, calls):
    """At some points of the writes: before and within those of results, columns and metadata, or of a file."""
    path = tmp_path / f"fits{suffix}"
    script = tmp_path / "script.py"
    script.write_text(RUN.format(here=os.path.dirname(__file__)))
    done = subprocess.run([sys.executable, script, path, str(calls)], check=False, timeout=300)
    assert done.returncode == -signal.SIGKILL
    found, want = columns(_reopened(path)), columns(fit(series()))
    rows = [(i, number) for i, number in enumerate(found["dataset"]) if not found["failed"][i]]
    assert 1 <= len(rows) < 10
    for i, number in rows:
        for name in ("mu_mean", "mu_sd", "residual_mean"):
            np.testing.assert_array_equal(found[name][i], want[name][number])
    if suffix == ".parquet":
        assert len(pandas.read_parquet(path)) == len(rows)
