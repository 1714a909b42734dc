"""Coords follow: where data come from xarray, results have their labels, not those that the model was made with."""

import inlay.pymc
import numpy as np
import pymc as pm
import pytest
import xarray

pytest.importorskip("nutpie")

FEW = {"draws": 20, "tune": 20, "chains": 1, "seed": 1, "progress": False, "executor": 1}


def model():
    with pm.Model(coords={"p": ["a", "b", "c"]}) as model:
        y = pm.Data("y", np.zeros(3), dims="p")
        pm.Normal("seen", pm.Normal("mu", 0, 2, dims="p"), 1, observed=y, dims="p")
    return model


def given(labels, dim="p"):
    """Two data sets."""
    values = np.arange(2.0 * len(labels)).reshape(2, -1)
    return xarray.Dataset({"y": (("case", dim), values)}, {dim: labels, "case": [10, 20]})


def labels_of(fits):
    return fits["p"].values.tolist() if "p" in fits.coords else None


@pytest.mark.parametrize("dim", ["p", "place"])
@pytest.mark.parametrize("labels", [["x", "z", "q"], ["x", "z"], [3, 1, 2, 0]])
def test_results_have_the_labels_of_the_data(labels, dim):
    """Also of other lengths, and of a dim that the data have under another name."""
    fits = inlay.pymc.fit_many(model(), given(labels, dim), by="case", **FEW)
    assert labels_of(fits) == labels
    assert fits["mu_mean"].dims == ("dataset", "p")
    assert fits["dataset"].values.tolist() == [10, 20]


def test_data_in_another_order_of_dims():
    with pm.Model(coords={"row": [0, 1], "column": ["a", "b"]}) as square:
        y = pm.Data("y", np.zeros((2, 2)), dims=("row", "column"))
        pm.Normal("seen", pm.Normal("mu", dims=("row", "column")), 1, observed=y)
    turned = xarray.Dataset(
        {"y": (("column", "case", "row"), np.arange(4.0).reshape(2, 1, 2))}, {"row": [5, 6], "column": ["s", "t"]}
    )
    fits = inlay.pymc.fit_many(square, turned, by="case", **FEW)
    assert (fits["row"].values.tolist(), fits["column"].values.tolist()) == ([5, 6], ["s", "t"])


def test_the_labels_are_in_zarr_and_in_a_tree(tmp_path):
    data, options = given(["x", "z", "q"]), {"by": "case", "keep": "mu", **FEW}
    tree = inlay.pymc.fit_many(model(), data, as_datatree=True, **options)
    assert tree["posterior"]["p"].values.tolist() == ["x", "z", "q"]
    pytest.importorskip("zarr")
    fits = inlay.pymc.fit_many(model(), data, to=tmp_path / "fits.zarr", **options)
    assert labels_of(fits) == ["x", "z", "q"]
    assert labels_of(xarray.open_zarr(tmp_path / "fits.zarr")) == ["x", "z", "q"]


def labelled(labels):
    return {"y": xarray.DataArray(np.arange(float(len(labels))), {"p": list(labels)}, ["p"])}


PLAIN = {"y": np.ones(3)}


@pytest.mark.parametrize(
    ("data", "want"),
    [
        ([labelled("xzq"), labelled("xzq")], "xzq"),
        ([labelled("xzq"), labelled("xzw")], None),  # no label is that of both
        ([labelled("xzq"), labelled("xz")], None),
        ([labelled("xzq"), PLAIN], None),
        ([PLAIN, labelled("xzq")], None),
        ([PLAIN, labelled("abc")], "abc"),
        ([{}, PLAIN], "abc"),
        ([xarray.Dataset(labelled("xzq")), labelled("xzq")], "xzq"),
    ],
)
def test_data_sets_of_arrays_with_labels(data, want):
    for datasets in (data, iter(data), dict(enumerate(data))):
        labels = labels_of(inlay.pymc.fit_many(model(), datasets, **FEW))
        assert labels == (want and list(want))


def test_a_data_set_that_is_none_has_no_say():
    fits = inlay.pymc.fit_many(model(), [labelled("xzq"), 3], **FEW)
    assert fits["failed"].values.tolist() == [False, True]
    assert labels_of(fits) == ["x", "z", "q"]


def test_what_has_coords_and_is_not_of_xarray_is_a_row():
    sparse = pytest.importorskip("scipy.sparse")
    bad = {"y": sparse.coo_array(np.eye(1, 3))}
    assert hasattr(bad["y"], "coords")
    fits = inlay.pymc.fit_many(model(), [labelled("xzq"), bad, labelled("xzq")], **FEW)
    assert fits["failed"].values.tolist() == [False, True, False]
    assert fits["reason"].values[1] == "BadData: y is a coo_array, not numbers"


@pytest.mark.parametrize("kind", [dict, xarray.Dataset])
def test_arrays_in_dicts_are_read_by_the_names_of_their_dims(kind):
    def square():
        with pm.Model(coords={"row": [0, 1], "column": ["a", "b"]}) as square:
            y = pm.Data("y", np.zeros((2, 2)), dims=("row", "column"))
            pm.Normal("seen", pm.Normal("mu", 0, 9, dims=("row", "column")), 0.1, observed=y, dims=("row", "column"))
        return square

    turned = xarray.Dataset(
        {"y": (("column", "case", "row"), 10 * np.arange(4.0).reshape(2, 1, 2))}, {"row": [5, 6], "column": ["s", "t"]}
    )
    want = inlay.pymc.fit_many(square(), turned, by="case", **FEW)
    given = [kind({"y": turned["y"].isel(case=0)})]
    fits = inlay.pymc.fit_many(square(), given, **FEW)
    assert given[0]["y"].dims == ("column", "row")
    np.testing.assert_array_equal(fits["mu_mean"].values, want["mu_mean"].values)
    assert (fits["row"].values.tolist(), fits["column"].values.tolist()) == ([5, 6], ["s", "t"])


@pytest.mark.parametrize(
    "labels, dtype", [(["2024-01-01", "NaT", "2024-01-03"], "M8[ns]"), ([1.0, np.nan, 2.0], float), (["a", np.nan, "c"], object)]
)
def test_labels_that_are_missing_are_the_same_in_each_data_set(labels, dtype):
    labels = np.array(labels, dtype)
    fits = inlay.pymc.fit_many(model(), [labelled(labels.copy()) for _ in range(2)], **FEW)
    assert list(map(str, fits["p"].values)) == list(map(str, labels))
