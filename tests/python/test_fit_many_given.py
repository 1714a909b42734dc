"""What a caller gives `fit_many` in one of its forms is taken, or refused in words that name it."""

import inlay.pymc
import numpy as np
import pymc as pm
import pytest
import xarray

pytest.importorskip("nutpie")

FEW = {"draws": 10, "tune": 20, "chains": 1, "seed": 1, "progress": False, "executor": 1}


def mean_model():
    with pm.Model() as model:
        y = pm.Data("y", np.zeros(3))
        pm.Normal("likelihood", pm.Normal("mu", 0, 10), 1, observed=y)
    return model


def fit(datasets, model=None, **options):
    return inlay.pymc.fit_many(model or mean_model(), datasets, **(FEW | options))


def test_a_data_array_by_one_of_its_dims():
    y = np.arange(6.0).reshape(2, 3)
    array = xarray.DataArray(y, {"place": ["north", "south"]}, ("place", "time"), "y")
    fits = fit(array, by="place")
    assert fits["dataset"].values.tolist() == ["north", "south"]
    np.testing.assert_array_equal(fits["mu_mean"].values, fit([{"y": y[0]}, {"y": y[1]}])["mu_mean"].values)
    with pytest.raises(TypeError, match="^datasets is a DataArray without a name, which would say which of the model's data"):
        fit(array.rename(None), by="place")
    with pytest.raises(ValueError, match="datasets has place, z, and none of the model's data, which are y"):
        fit(array.rename("z"), by="place")


def test_variables_are_keys_as_their_names_are():
    model, y = mean_model(), np.arange(3.0)
    want = fit([{"y": y}], model)
    fits = fit([{model["y"]: y}, {model["y"]: y, "y": y}], model, reduce={"mean": "mean", "seen": lambda _, data: len(data["y"])})
    np.testing.assert_array_equal(fits["mu_mean"].values[0], want["mu_mean"].values[0])
    assert fits["seen"].values[0] == 3
    assert fits["reason"].values[1] == "a data set has y twice, as a name and as a variable: give it once"


def test_rows_without_a_value_of_by():
    """pandas leaves them out of all groups."""
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"shop": ["a", "a", None, "b", None], "town": list("xyzxy"), "y": np.arange(5.0)})
    with pytest.raises(ValueError, match="^by: 2 rows of datasets would be in no data set, as by= has no value there"):
        fit(frame, by="shop")
    with pytest.raises(ValueError, match="^by: 1 row of datasets would be in no data set"):
        fit(frame.iloc[:4], by=["town", "shop"])
    assert fit(frame.dropna(), by="shop")["dataset"].values.tolist() == ["a", "b"]


@pytest.mark.parametrize("count", [np.int64(2), np.uint8(1)])
def test_a_number_of_threads_of_numpys(count):
    data = [{"y": np.arange(3.0)}]
    np.testing.assert_array_equal(fit(data, executor=count)["mu_mean"].values, fit(data)["mu_mean"].values)


def test_a_folder_that_is_none(tmp_path):
    with pytest.raises(TypeError, match="^resume is an int, not the path of a folder$"):
        fit([], resume=3)
    path = tmp_path / "fits"
    path.write_text("text")
    with pytest.raises(ValueError, match="^resume: .*fits is a file, not a folder$"):
        fit([], resume=path)
    assert path.read_text() == "text"
