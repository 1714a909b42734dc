"""Shapes, names and numbers that clients of Stan give a library, and get from it, at the edges."""

import json

import inlay.pymc
import numpy as np
import pymc as pm
import pytensor.tensor as pt
import pytest

bridgestan = pytest.importorskip("bridgestan", reason="bridgestan, Stan's client, is not installed")


def opened(model, path):
    return bridgestan.StanModel(inlay.pymc.export_bridgestan(model, path))


@pytest.fixture(scope="module")
def one(tmp_path_factory):
    with pm.Model() as model:
        pm.Normal("x")
    return opened(model, tmp_path_factory.mktemp("stan") / "one.so")


@pytest.mark.parametrize(
    "make, shape",
    [
        (lambda x, n: pt.repeat(x[None], n(3, 2)), (2,)),
        (lambda x, n: pt.ones((n(3, 2),)) * x, (2,)),
        (lambda x, n: pt.alloc(x, n(2, 1)), (1,)),
        (lambda x, n: pt.full((n(3, 2), 2), x), (2, 2)),
    ],
)
def test_another_shape_at_another_point_fails(make, shape, tmp_path):
    with pm.Model() as model:
        x = pm.Normal("x")
        pm.Deterministic("r", make(x, lambda far, near: pt.switch(x > 50, far, near)))
    stan = opened(model, tmp_path / "late.so")
    np.testing.assert_array_equal(stan.param_constrain(np.full(1, 4.0), include_tp=True), np.full(1 + np.prod(shape), 4.0))
    with pytest.raises(RuntimeError) as caught:
        stan.param_constrain(np.full(1, 60.0), include_tp=True)
    assert f"r has another shape at this point than {shape}" in str(caught.value)
    assert stan.param_constrain(np.full(1, 60.0)) == [60]


@pytest.mark.parametrize("name", ["a" * 511, "a" * 512, "é" * 700, "b" * 100_000])
def test_long_names(name, tmp_path):
    with pm.Model() as model:
        pm.Uniform(name, 0, 1, shape=2)
        pm.Deterministic("index", pt.arange(3.0)[pt.cast(model[name][0] * 9, "int64")])
    stan = opened(model, tmp_path / "long.so")
    assert stan.param_names() == [f"{name}.1", f"{name}.2"]
    np.testing.assert_allclose(stan.param_unconstrain_json(json.dumps({name: [0.5, 0.5]}, ensure_ascii=False)), 0)
    np.testing.assert_allclose(stan.param_unconstrain_json({name + "c": [1], name: [0.5, 0.5]}), 0)
    for given, said in [
        ({}, f"there is no value for {name}"),
        ({name: [0.5, 2]}, f"{name}.2 has a value outside of its support"),
        ({name[1:]: 3}, f"there is no value for {name}"),
    ]:
        with pytest.raises(RuntimeError) as caught:
            stan.param_unconstrain_json(given)
        assert str(caught.value) == f"param_unconstrain_json: {said}"
    with pytest.raises(RuntimeError, match=rf"of {name[0]}+(\.\.\.)?, a list of 2 is expected at character \d+$"):
        stan.param_unconstrain_json({name: 3})


@pytest.mark.parametrize(
    "number", ["0", "-0", "10.5", "1e5", "1E+5", "0.25e-3", '"1e5"', '"-0.5"', "Infinity", "-Infinity", '"-inf"', '"+Inf"']
)
def test_numbers_of_json(number, one):
    np.testing.assert_array_equal(one.param_unconstrain_json(f'{{"x": {number}}}'), [float(number.strip('"'))])


@pytest.mark.parametrize(
    "number",
    [
        "NaN", "0x10", "+1", "01", "-01", "1.", ".5", "1e", "1e+", "-", "- 1", "1_0", "nan(1)", "infinit",
        '"0x10"', '"+1"', '"01"', '" 1"', '"1 "', '""', '"1e5\\u0000x"', '"nan(1)"', '"1.' + "0" * 100 + 'x"', "true", "null",
    ],
)  # fmt: skip
def test_what_is_no_number_of_json(number, one):
    said = "x has a value outside of its support" if number == "NaN" else r"(of x, )?.* at character \d+"
    with pytest.raises(RuntimeError, match=f"^param_unconstrain_json: {said}$"):
        one.param_unconstrain_json(f'{{"x": {number}}}')


def test_the_name_of_a_library_is_a_text(tmp_path):
    with pm.Model() as model:
        pm.Normal("x")
    with pytest.raises(TypeError, match="export_bridgestan: name is a text, not an int"):
        inlay.pymc.export_bridgestan(model, tmp_path / "none.so", name=3)
    assert not (tmp_path / "none.so").exists()
