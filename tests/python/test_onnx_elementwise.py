"""Ops that compute each element by itself, where dtypes or limits differ, beside onnxruntime or NumPy."""

import inlay
import inlay.onnx
import numpy as np
import pytest
from onnx_nodes import agrees, model, network, node


@pytest.mark.parametrize(("dtype", "odd"), [(np.float16, 2049), (np.float32, 2**24 + 1)])
def test_an_exponent_that_the_dtype_of_the_base_has_not(dtype, odd):
    """It is not rounded to an even one."""
    name = {np.float16: "f16", np.float32: "f32"}[dtype]
    x, exponents = np.array([-1, -1, 2, 3], dtype), np.array([odd, odd - 1, -1, 3])
    wanted = (x.astype(np.float64) ** exponents).astype(dtype)
    given = inlay.onnx.compile(network("Pow", [f"x: {name}[n]", "e: i64[n]"], opset=15))
    known = inlay.onnx.compile(network("Pow", [f"x: {name}[4]"], opset=15, constants={"e": exponents}))
    np.testing.assert_array_equal(given(x, exponents), wanted)
    np.testing.assert_array_equal(known(x), wanted)


def test_a_known_exponent_costs_nothing():
    """It is one of the base's dtype, and so a square."""
    fn = inlay.onnx.compile(network("Pow", ["x: f32[n]"], opset=15, constants={"e": np.array(2)}))
    assert "square" in inlay.explain(fn).graph and "f64" not in inlay.explain(fn).text


@pytest.mark.parametrize("limits", [{}, {"min": 0.0}, {"max": 1.0}])
@pytest.mark.parametrize("dtype", ["f32", "f64"])
def test_limits_that_are_left_out(limits, dtype):
    """Before version 11 they are the least and the greatest f32."""
    most = float(np.finfo(np.float32).max)
    x = np.array([-np.inf, np.inf, np.nan, 2, -2], {"f32": np.float32, "f64": np.float64}[dtype])
    fn = inlay.onnx.compile(network("Clip", [f"x: {dtype}[n]"], opset=10, **limits))
    np.testing.assert_array_equal(fn(x), np.clip(x, limits.get("min", -most), limits.get("max", most)).astype(x.dtype))
    if dtype == "f32":
        agrees(model([node("Clip", "x", **limits)], ["x: f32[n]"], opset=10), (x,))


def test_an_exponent_of_more_bits_than_an_integer_base():
    """The power is that of the whole exponent, modulo 2^32."""
    x, exponents = np.array([2, -1, 3, 5], np.int32), np.array([2**33 + 1, 2**33 + 1, 2**32 + 2, 3])
    fn = inlay.onnx.compile(network("Pow", ["x: i32[n]", "e: i64[n]"], opset=15))
    wanted = [pow(int(a), int(e), 2**32) for a, e in zip(x, exponents, strict=True)]
    np.testing.assert_array_equal(fn(x, exponents), np.array(wanted, np.uint32).view(np.int32))
