"""Fits as a DataTree in ArviZ's groups."""

import inlay.pymc
import numpy as np
import pymc as pm
import pytest
import xarray

pytest.importorskip("nutpie")

FEW = {"draws": 100, "tune": 50, "chains": 2, "seed": 20240607, "progress": False}


def fit(datasets, **options):
    with pm.Model(coords={"term": ["a", "b"]}) as model:
        x, y = pm.Data("x", np.zeros((3, 2))), pm.Data("given", np.zeros(3))
        slope, noise = pm.Normal("slope", dims="term"), pm.HalfNormal("noise")
        pm.Normal("y", x @ slope, noise, observed=y, shape=x.shape[0])
    return inlay.pymc.fit_many(model, datasets, **(FEW | options))


def series(lengths=(8, 5)):
    rng = np.random.default_rng(1)
    return {f"fit {i}": {"x": (x := rng.normal(size=(n, 2))), "given": x @ [1.0, 2.0]} for i, n in enumerate(lengths)}


ALL = {"keep": ["slope", "noise", "y_predicted", "y_loglik"], "reduce": ["mean", "loglik"], "predictive": True}


@pytest.mark.parametrize("to", [None, "fits.zarr"])
def test_the_groups_have_what_the_dataset_has(to, tmp_path):
    if to is not None:
        pytest.importorskip("zarr")
    options = {} if to is None else {"to": tmp_path / to}
    want, tree = fit(series(), **ALL), fit(series(), as_datatree=True, **ALL, **options)
    assert isinstance(tree, xarray.DataTree)
    names = {
        "posterior": ["slope", "noise"],
        "posterior_predictive": ["y"],
        "log_likelihood": ["y"],
        "summary": ["slope_mean", "noise_mean", "y_predicted_mean", "y_lppd"],
        "/": ["divergences", "failed", "reason", "seconds"],
    }
    assert {*names} == {"/", *tree.children}
    for group, variables in names.items():
        assert {*tree[group].data_vars} == {*variables}
    np.testing.assert_array_equal(tree["posterior/slope"].values, want["slope"].values)
    np.testing.assert_array_equal(tree["posterior_predictive/y"].values, want["y_predicted"].values)
    np.testing.assert_array_equal(tree["log_likelihood/y"].values, want["y_loglik"].values)
    np.testing.assert_array_equal(tree["summary/y_lppd"].values, want["y_lppd"].values)
    assert tree["posterior"]["term"].values.tolist() == ["a", "b"]
    assert tree["posterior"]["dataset"].values.tolist() == ["fit 0", "fit 1"]
    assert (tree.attrs["seed"], tree["posterior"].attrs) == (want.attrs["seed"], {})


def test_arviz_reads_one_fit_of_them():
    arviz_stats = pytest.importorskip("arviz_stats")
    tree = fit(series((8, 8)), as_datatree=True, **ALL)
    one = tree.sel(dataset="fit 1")
    table = arviz_stats.summary(one, var_names=["slope", "noise"])
    assert table.index.tolist() == ["slope[a]", "slope[b]", "noise"]
    assert np.isfinite(arviz_stats.loo(one).elpd)
    assert len(arviz_stats.summary(tree, var_names=["slope"])) == 4


def test_the_prior_and_predictions_elsewhere():
    prior = fit(series(), method="prior", as_datatree=True, **ALL)
    assert {*prior.children} == {"prior", "prior_predictive", "log_likelihood", "summary"}
    ahead = fit(
        series(),
        as_datatree=True,
        dim="fit",
        keep=["slope", "y_predicted"],
        predictive=lambda data: {"x": np.ones((1, 2)), "given": np.ones(1)},
    )
    assert ahead["predictions"]["y"].dims == ("fit", "chain", "draw", "y_predicted_dim_0")
    best = fit(series(), method="map", method_kwargs={"starts": 2}, reduce="mean", as_datatree=True)
    assert best["converged"].values.tolist() == [2, 2]
    assert {*best.children} == {"summary"}


def test_failures_and_what_there_is_no_tree_of(tmp_path):
    tree = fit({**series(), "none": {"z": 1.0}}, as_datatree=True, **ALL)
    assert tree["failed"].values.tolist() == [False, False, True]
    assert np.isnan(tree["posterior/slope"].values[2]).all()
    assert {*fit([], as_datatree=True).children} == set()
    pytest.importorskip("pyarrow")
    with pytest.raises(ValueError, match="as_datatree: fits in .parquet are a table of rows, and no DataTree"):
        fit(series(), as_datatree=True, to=tmp_path / "fits.parquet")


def test_names_that_no_tree_has_are_refused_before_anything_is_fitted():
    with pytest.raises(ValueError, match="as_datatree: a name in a DataTree has no slash, as a/b has"):
        fit(series(), dim="a/b", keep="slope", as_datatree=True)
