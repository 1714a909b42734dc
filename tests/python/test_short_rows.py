"""Folds of rows that may be short: several rows together give what each gives by itself."""

import inlay
import numpy as np
import pytest

BACKENDS = {
    "llvm": {},
    "narrow": {"INLAY_CPU_FEATURES": "-avx512f"},
    "c": {"INLAY_BACKEND": "c"},
}
DTYPES = {"f64": np.float64, "f32": np.float32, "i64": np.int64, "i16": np.int16}
FOLDS = {
    "argmax": "%r = argmax %x, axes=[1]",
    "argmin": "%r = argmin %x, axes=[1]",
    "max": "%r = reduce max %x [1] : T[n]",
    "sum": "%r = reduce add %x [1] : T[n]",
    "var": "%r = var %x, axes=[1]",
}
# Around a vector of either width, around all vectors of a pass, and around rows of which a tile has fewer.
LENGTHS = [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 24, 31, 32, 33, 40, 63, 64, 65, 100, 2100]
ROWS = [1, 3, 4, 6, 64, 67, 133]


@pytest.fixture
def backend(request, monkeypatch):
    for name, value in BACKENDS[request.param].items():
        monkeypatch.setenv(name, value)


on_each_backend = pytest.mark.parametrize("backend", BACKENDS, indirect=True)


def compiled(fold, t):
    return inlay.compile("\n".join(["graph @main(%x: T[n, m]) {", FOLDS[fold], "return %r", "}"]).replace("T", t))


def numbers(shape, t, rng):
    """Few different ones: places that share an extreme are met, and so are NaN and infinities."""
    x = rng.integers(-3, 4, shape).astype(DTYPES[t])
    if t.startswith("f"):
        x[rng.random(shape) < 0.1] = np.nan
        x[rng.random(shape) < 0.1] = -np.inf
        x[rng.random(shape) < 0.05] = np.inf
    return x


@on_each_backend
@pytest.mark.parametrize("t", DTYPES)
@pytest.mark.parametrize("fold", ["argmax", "argmin", "max"])
def test_extremes_are_numpys(backend, fold, t):
    f, rng = compiled(fold, t), np.random.default_rng(1)
    for m in LENGTHS:
        for n in ROWS:
            x = numbers((n, m), t, rng)
            np.testing.assert_array_equal(f(x), getattr(np, fold)(x, axis=1), f"{n} x {m}")


@on_each_backend
@pytest.mark.parametrize("t", ["f64", "f32"])
@pytest.mark.parametrize("fold", ["sum", "var"])
def test_a_row_among_others_is_what_it_is_alone(backend, fold, t):
    f, rng = compiled(fold, t), np.random.default_rng(2)
    for m in LENGTHS:
        x = rng.normal(size=(max(ROWS), m)).astype(DTYPES[t])
        alone = np.array([f(row[None])[0] for row in x])
        for n in ROWS:
            assert f(x[:n]).tobytes() == alone[:n].tobytes(), (n, m)


@pytest.mark.parametrize("t", ["f64", "f32"])
@pytest.mark.parametrize("fold", ["sum", "var"])
def test_the_same_bits_in_narrower_vectors(monkeypatch, fold, t):
    monkeypatch.setenv("INLAY_CPU_FEATURES", "")
    wide = compiled(fold, t)
    monkeypatch.setenv("INLAY_CPU_FEATURES", "-avx512f")
    narrow, rng = compiled(fold, t), np.random.default_rng(3)
    for m in LENGTHS:
        x = rng.normal(size=(67, m)).astype(DTYPES[t])
        assert narrow(x).tobytes() == wide(x).tobytes(), m
