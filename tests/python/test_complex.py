"""Complex numbers: every op that PyTensor has on them, against its Python mode."""

import numpy as np
import pytensor.scalar as ps
import pytensor.tensor as pt
import pytest
from pytensor.tensor.elemwise import Elemwise
from versions import OLD_PYTENSOR

INF, NAN = np.inf, np.nan


def zvectors(*names):
    return [pt.zvector(name) for name in names]


PLAIN = np.array([1 + 2j, -0.5j, 0.25, -3 + 0.1j, 2 - 2j, 1e-9 + 1e-9j, -1 - 1e-9j])
CORNERS = np.array(
    [complex(re, im) for re in (0.0, -0.0, 1.0, -2.0, INF, -INF, NAN) for im in (0.0, -0.0, 1.0, -INF, NAN)]
)
# NumPy's expm1 and log1p lose digits near 0, and its powers of 2 and logarithms a few everywhere.
LOOSE = {"expm1", "log1p", "exp2"}
FUNCTIONS = [
    "sqrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "arcsin", "arccos", "arctan",
    "sinh", "cosh", "tanh", "arcsinh", "arccosh", "arctanh",
]  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name, check):
    z, c = pt.zvector("z"), pt.cvector("c")
    op = getattr(pt, name)
    check([z], op(z), PLAIN, rtol=1e-6 if name in LOOSE else 2e-13)
    check([c], op(c), PLAIN[:5].astype("complex64"))


@pytest.mark.parametrize("name", ["sqrt", "exp", "log", "sin", "cos", "tanh"])
def test_functions_at_their_corners(name, check):
    z = pt.zvector("z")
    op = getattr(pt, name)
    check([z], op(z), np.array([0, -4, complex(-4, -0.0), complex(INF, 0), complex(-INF, 0), complex(NAN, NAN)]))


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_parts(dtype, check):
    z = pt.vector("z", dtype=dtype)
    outputs = [pt.real(z), pt.imag(z), pt.conj(z), pt.angle(z), abs(z), -z, pt.sqr(z), pt.isnan(z), pt.isinf(z)]
    # (The older version says float64 of the angle of complex64, and computes it in float32.)
    rtol = 1e-6 if OLD_PYTENSOR and dtype == "complex64" else 1e-13
    check([z], outputs, PLAIN.astype(dtype), rtol=rtol)
    check([z], outputs[:4] + outputs[-2:], CORNERS.astype(dtype), rtol=rtol)


def test_abs_neither_overflows_nor_underflows(check):
    z = pt.zvector("z")
    check([z], abs(z), np.array([1e300 + 1e300j, 3e-320 + 4e-320j, complex(INF, NAN), complex(NAN, 1), 0]))


def test_parts_of_real_numbers(check):
    x, i = pt.dvector("x"), pt.lvector("i")
    check([x, i], [pt.real(x), pt.conj(x), pt.conj(i), pt.imag(x), pt.angle(x)], np.array([-1.5, 2]), np.array([-3, 4]))


def test_made_of_parts(check):
    x, y, f = pt.dvector("x"), pt.dvector("y"), pt.fvector("f")
    a, b = np.array([1.5, -0.0, INF]), np.array([0.5, -1, 2])
    check([x, y], [pt.complex(x, y), pt.complex_from_polar(x, y)], a[:2], b[:2])
    check([f], pt.complex(f, f), a.astype("float32"))
    check([x, y], pt.complex(x, y) * pt.complex(y, x), a[:2], b[:2])


@pytest.mark.parametrize("name", ["add", "sub", "mul", "true_div", "pow", "eq", "neq", "lt", "le", "gt", "ge"])
def test_binary(name, check):
    z, w = zvectors("z", "w")
    a, b = (g.ravel() for g in np.meshgrid(PLAIN, [1 + 1j, 2, -1, 0.5, -2j, 1 + 2j, 3]))
    check([z, w], getattr(pt, name)(z, w), a, b, rtol=1e-12)


@pytest.mark.parametrize("name", ["eq", "neq", "lt", "le", "gt", "ge", "maximum", "minimum"])
def test_order_is_by_the_real_part_first(name, check):
    z, w = zvectors("z", "w")
    values = np.array([0, 1, 1 + 1j, 1 - 1j, complex(NAN, 0), complex(1, NAN), 1j])
    a, b = (g.ravel() for g in np.meshgrid(values, values))
    check([z, w], getattr(pt, name)(z, w), a, b)


def test_quotients_and_reciprocals_at_infinity(check):
    z, w = zvectors("z", "w")
    a, b = (g.ravel() for g in np.meshgrid(CORNERS[~np.isnan(CORNERS)], [1 + 1j, 2, -2j, complex(INF, 1), 0]))
    check([z, w], [z / w, w * z, pt.reciprocal(w)], a, b)


def test_powers(check):
    z = pt.zvector("z")
    for exponent in (2, 3, 0.5, -1, -2, 0):
        check([z], z**exponent, PLAIN, rtol=1e-12)
    check([z], pt.pow(z, np.array(2.0)), np.array([0, 1j]))


@pytest.mark.skipif(OLD_PYTENSOR, reason="its Python mode has no sign of complex numbers")
def test_sign(check):
    z = pt.zvector("z")
    check([z], pt.sign(z), np.array([3 + 4j, 0, -2, 1j, complex(INF, 1), complex(NAN, 0), 1e308 + 1e308j]))


def test_mixed_with_real_dtypes(check):
    z, c, x, i = pt.zvector("z"), pt.cvector("c"), pt.dvector("x"), pt.ivector("i")
    f, b = pt.fvector("f"), pt.bvector("b")
    values = [PLAIN, PLAIN.astype("complex64"), np.arange(7.0), np.arange(7, dtype="int32")]
    narrow = [np.arange(7, dtype="float32"), np.arange(7, dtype="int8")]
    check([z, c, x, i, f, b], [z + c, z * x, c * i, c + f, c - x, c * b, z / 2, c * 1.5, c * 2j], *values, *narrow)


def test_casts(check):
    z, c, x, i = pt.zvector("z"), pt.cvector("c"), pt.dvector("x"), pt.lvector("i")
    outputs = [pt.cast(z, "complex64"), pt.cast(c, "complex128"), pt.cast(x, "complex64"), pt.cast(i, "complex128")]
    check([z, c, x, i], outputs, PLAIN, PLAIN.astype("complex64"), np.arange(7.0), np.arange(7))


@pytest.mark.skipif(OLD_PYTENSOR, reason="its Python mode raises")
def test_casts_that_drop_the_imaginary_part(check):
    """pt.cast refuses them; the scalar op does not."""
    z = pt.zvector("z")
    for op in (ps.convert_to_float32, ps.convert_to_int8, ps.convert_to_bool):
        check([z], Elemwise(op)(z), PLAIN)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_reductions(dtype, check):
    z = pt.matrix("z", dtype=dtype)
    outputs = [z.sum(), z.sum(axis=0), z.sum(axis=1), z.prod(axis=1), z.mean(), z.mean(axis=0)]
    for shape in ((3, 4), (1, 1), (0, 3), (17, 5)):
        values = np.arange(np.prod(shape)).reshape(shape) * (0.5 - 0.25j) / 10 + 1
        check([z], outputs if shape[0] else outputs[:4], values.astype(dtype))


@pytest.mark.parametrize("dtype", ["complex64", "complex128", "float16"])
def test_running_sums(dtype, check):
    z = pt.matrix("z", dtype=dtype)
    values = (np.arange(30).reshape(3, 10) / 8 - (1 if dtype == "float16" else 1j)).astype(dtype)
    check([z], [pt.cumsum(z), pt.cumsum(z, axis=0), pt.cumprod(z, axis=1)], values)
    check([z], [pt.cumsum(z), pt.cumsum(z, axis=1)], values[:0])


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_a_running_product_begins_with_the_first_number(dtype, check):
    """Not with 1 times it, which of an infinity has a NaN."""
    z = pt.matrix("z", dtype=dtype)
    rows = [complex(np.inf, 0), 2 - 1j, 1j], [complex(0, -np.inf), 3, 0], [complex(-0.0, -0.0), np.nan, 1]
    values = np.array(rows, dtype)
    check([z], [pt.cumprod(z), pt.cumprod(z, axis=0), pt.cumprod(z, axis=1)], values)
    check([z], [pt.cumprod(z), pt.cumprod(z, axis=1)], values[:0])


def test_masks_and_compression(check):
    z, m = pt.zvector("z"), pt.vector("m", dtype="bool")
    check([z, m], [z[m], pt.set_subtensor(z[m], 1j), z.nonzero()[0]], np.append(PLAIN, 0), np.array([1, 0, 1, 1, 0, 0, 1, 1], bool))


def test_product_without_zeros(check):
    z = pt.zvector("z")
    check([z], pt.prod(z, no_zeros_in_input=True), PLAIN)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_products_of_matrices(dtype, check):
    a, b, v = pt.matrix("a", dtype=dtype), pt.matrix("b", dtype=dtype), pt.vector("v", dtype=dtype)
    rng = np.random.default_rng(1)

    def some(*shape):
        return (rng.normal(size=shape) + 1j * rng.normal(size=shape)).astype(dtype)

    for m, k, n in ((2, 3, 4), (1, 1, 1), (20, 33, 18), (3, 0, 2)):
        check([a, b, v], [a @ b, a @ v, v @ b, pt.dot(v, v)], some(m, k), some(k, n), some(k), rtol=1e-12)
    x = pt.dmatrix("x")
    check([x, a], x @ a, np.arange(6.0).reshape(2, 3), some(3, 2))


def test_moves(check):
    z, i, m = pt.zmatrix("z"), pt.lvector("i"), pt.cvector("m")
    values = (PLAIN[:6].reshape(3, 2), np.array([2, 0, -1]), PLAIN[:2].astype("complex64"))
    outputs = [z[::-1], z.T, z[i], z[1:, 0], pt.concatenate([z, z]), z.flatten(), pt.stack([m, m]), m[:, None] + z.T]
    check([z, i, m], outputs, *values)


def test_writes(check):
    z, i, v = pt.zvector("z"), pt.lvector("i"), pt.zvector("v")
    values = (PLAIN, np.array([2, 0, 2, -1]), np.array([1j, 2, 3 + 1j, 0]))
    outputs = [
        pt.set_subtensor(z[1:], 1j),
        pt.inc_subtensor(z[:-1], 2),
        pt.set_subtensor(z[i], v),
        pt.inc_subtensor(z[i], v),
        pt.inc_subtensor(pt.zeros(7, dtype="complex128")[i], v * 2),
        pt.zeros_like(z) + 1,
    ]
    check([z, i, v], outputs, *values)


def test_constants(check):
    z = pt.zvector("z")
    outputs = [z + np.array([1j, 2, -0.5]), z * (1 + 2j), z - np.arange(3), pt.fill(z, 1j), pt.switch(pt.eq(z, 1j), z, 0)]
    check([z], outputs, np.array([1j, 0, 2 + 1j]))
    w = pt.zmatrix("w")
    check([w], w + np.arange(40).reshape(2, 20) * 1j, np.ones((2, 20), "complex128"))


def test_scalars_and_empty_arrays(check):
    z, e = pt.zscalar("z"), pt.zvector("e")
    check([z], [pt.exp(z) * 2, abs(z), z + 1, pt.sqrt(z)], np.array(1 + 1j))
    check([e], [pt.exp(e), abs(e), e.sum(), e.prod()], np.zeros(0, "complex128"))


def test_softmax_like_chain_is_one_pass_of_parts(check):
    z = pt.zvector("z")
    w = pt.exp(z - pt.real(z).max())
    check([z], w / w.sum(), PLAIN)


def test_long_vectors(check):
    z, w = zvectors("z", "w")
    i = pt.lvector("i")
    rng = np.random.default_rng(2)
    a, b = (rng.normal(size=1003) + 1j * rng.normal(size=1003) for _ in range(2))
    outputs = [z * w + 1, (z * pt.conj(w)).sum(), z[::3] / w[::3], pt.inc_subtensor(z[i], w), abs(z[i])]
    check([z, w, i], outputs, a, b, rng.integers(0, 1003, 1003), rtol=1e-12)
