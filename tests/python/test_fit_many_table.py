"""What results and their dims are named, and the coords of these: what cannot be is refused before any fit."""

import inlay.pymc
import numpy as np
import pymc as pm
import pytest
from inlay.fits import packed

pytest.importorskip("nutpie")

FEW = {"draws": 20, "tune": 20, "chains": 1, "seed": 1, "progress": False, "executor": 1}


def model_with(dim, labels=(0, 1)):
    with pm.Model(coords={dim: list(labels)}) as model:
        a = pm.Normal("a", dims=dim)
        pm.Normal("y", a, 1, observed=np.array([1.0, 2.0]))
    return model


def one(draws):
    return 1.0


def test_each_array_is_read_once_for_all_rows(monkeypatch):
    views, view = [], packed._view
    monkeypatch.setattr(packed, "_view", lambda *args: views.append(1) or view(*args))
    with pm.Model() as model:
        each = [pm.Normal(f"v{i}") for i in range(30)]
        pm.Normal("y", sum(each), 1, observed=np.ones(2))
    fits = inlay.pymc.fit_many(model, [{"y": np.ones(2)}] * 20, **FEW)
    assert not fits["failed"].any()
    assert len(views) == 2 * 30  # a mean and a standard deviation each


@pytest.mark.parametrize("dim", ["dataset", "quantile", "seconds", "failed", "reason", "divergences"])
def test_a_dim_named_as_a_column(dim):
    with pytest.raises(ValueError, match=f"the dim {dim} of a is named as a column of the fits"):
        inlay.pymc.fit_many(model_with(dim), [{}], **FEW)
    fits = inlay.pymc.fit_many(model_with(dim), [{}], reduce=one, **FEW)  # where no result has it
    assert fits["one"].values == [1.0]


def test_the_dim_of_the_fits_is_what_the_caller_names_it():
    """So a dim of the model may be the one that it is by default."""
    model = model_with("dataset", ["left", "right"])
    with pytest.raises(ValueError, match="the dim dataset of a is named .*: name that of the fits otherwise, by dim="):
        inlay.pymc.fit_many(model, [{}], **FEW)
    options = {"reduce": {"mean": "mean", "three": lambda draws: np.ones(3)}, "keep": "a", **FEW}
    fits = inlay.pymc.fit_many(model, {"x": {}, "y": {}}, dim="series", **options)
    assert fits["a_mean"].dims == ("series", "dataset")
    assert fits["three"].dims == ("series", "three_dim_0")
    assert fits["failed"].dims == ("series",)
    assert fits["series"].values.tolist() == ["x", "y"]
    assert fits["dataset"].values.tolist() == ["left", "right"]
    want = inlay.pymc.fit_many(model_with("side"), [{}, {}], **options)
    np.testing.assert_array_equal(fits["a"].values, want["a"].values)


@pytest.mark.parametrize("suffix", [".zarr", ".parquet"])
def test_the_dim_of_fits_on_disk(tmp_path, suffix):
    pytest.importorskip({".zarr": "zarr", ".parquet": "pyarrow"}[suffix])
    fits = inlay.pymc.fit_many(model_with("dataset"), [{}, {}], dim="series", to=tmp_path / f"fits{suffix}", **FEW)
    if suffix == ".zarr":
        assert fits["a_mean"].dims == ("series", "dataset")
        assert fits["series"].values.tolist() == [0, 1]
    else:
        table = fits.to_table()
        assert table["series"].to_pylist() == [0, 1]
        assert table.schema.field("a_mean").metadata == {b"dims": b'["dataset"]'}
    with pytest.raises(ValueError, match="to: a dim is named '/', and" if suffix == ".zarr" else "to: a dim is named 'label'"):
        dim = "/" if suffix == ".zarr" else "label"
        inlay.pymc.fit_many(model_with("at"), {"x": {}}, dim=dim, to=tmp_path / f"more{suffix}", **FEW)


@pytest.mark.parametrize(
    ("dim", "error", "text"),
    [
        (3, TypeError, "dim is an int, not a name"),
        ("seconds", ValueError, "dim is seconds, and the fits have a column or a dim of that name: name it otherwise"),
        ("chain", ValueError, "dim is chain, and the fits have a column or a dim of that name"),
        ("a_mean", ValueError, "dim is a_mean, as is a result or may be a dim of one: name it otherwise"),
        ("a_mean_dim_0", ValueError, "dim is a_mean_dim_0, as is a result or may be a dim of one"),
    ],
)
def test_a_dim_of_the_fits_that_cannot_be(dim, error, text):
    with pytest.raises(error, match=text):
        inlay.pymc.fit_many(model_with("at"), [{}], dim=dim, **FEW)


def test_a_result_named_as_a_dim():
    with pytest.raises(ValueError, match="a result would be named point, as is a dim of a: name one of them otherwise"):
        inlay.pymc.fit_many(model_with("point"), [{}], reduce={"mean": "mean", "point": one}, **FEW)
    with pytest.raises(ValueError, match="a result would be named a_mean, as is a dim of a"):
        inlay.pymc.fit_many(model_with("a_mean"), [{}], **FEW)
    with pytest.raises(ValueError, match="a result would be named v_dim_0, as may be a dim of v"):
        inlay.pymc.fit_many(model_with("point"), [{}], reduce={"v": lambda draws: np.ones(2), "v_dim_0": one}, **FEW)


def test_a_name_that_is_no_str():
    with pytest.raises(TypeError, match="reduce: the name of a function is a str, not an int"):
        inlay.pymc.fit_many(model_with("point"), [{}], reduce={3: one}, **FEW)


def test_a_dim_of_a_result_that_the_model_has_in_another_size():
    fits = inlay.pymc.fit_many(
        model_with("v_dim_0"), [{}], reduce={"mean": "mean", "v": lambda draws: np.ones(3)}, **FEW
    )
    assert fits["a_mean"].dims == ("dataset", "v_dim_0")
    assert fits["v"].dims == ("dataset", "v_dim_0_")


def test_coords_that_are_tuples():
    labels = [("a", 1), ("b", 2)]
    fits = inlay.pymc.fit_many(model_with("t", labels), [{}], **FEW)
    assert fits["a_mean"].dims == ("dataset", "t")
    assert fits["t"].values.tolist() == labels


def test_predictions_at_other_data_have_dims_of_their_own():
    """The model's coords label its own data: what is predicted at others may be as long, and is of others."""
    with pm.Model(coords={"day": ["mon", "tue"]}) as model:
        x = pm.Data("x", [1.0, 2.0], dims="day")
        a = pm.Normal("a")
        pm.Normal("y", a * x, 1, observed=[1.0, 2.0], dims="day")
    options = {"reduce": ["mean", "loglik"], "keep": "y_predicted", **FEW}
    fits = inlay.pymc.fit_many(model, [{}], predictive=lambda data: {"x": np.array([3.0, 4.0])}, **options)
    assert fits["y_predicted_mean"].dims == ("dataset", "y_predicted_dim_0")
    assert fits["y_predicted"].dims == ("dataset", "chain", "draw", "y_predicted_dim_0")
    assert fits["y_lppd"].dims == ("dataset", "day")
    assert "y_predicted_dim_0" not in fits.coords
    at_its_own = inlay.pymc.fit_many(model, [{}], predictive=True, **options)
    assert at_its_own["y_predicted_mean"].dims == ("dataset", "day")
    assert at_its_own["day"].values.tolist() == ["mon", "tue"]
