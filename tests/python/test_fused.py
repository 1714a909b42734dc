"""Patterns that are one loop, or two passes over the data, from PyTensor: what is counted, and the values."""

import inlay
import inlay.pytensor
import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest


def compiled(inputs, outputs, *values):
    """The function, checked against PyTensor's, and what `explain` says."""
    fn = pytensor.function(inputs, outputs, mode="INLAY")
    expected = pytensor.function(inputs, outputs, mode=pytensor.compile.mode.Mode("py"))(*values)
    for ours, theirs in zip(fn(*values), expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12)
        assert ours.dtype == theirs.dtype
    e = inlay.pytensor.explain(fn)
    assert e.host_calls == []
    return fn, e


def one_kernel(e):
    (kernel,) = e.kernels
    assert e.copies == []
    return kernel


x, v = pt.dmatrix("x"), pt.dvector("v")
rng = np.random.default_rng(3)
X, V = rng.normal(size=(33, 40)), rng.normal(size=101)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("size", [2**19 - 1, 2**19, 2**19 + 3 * 2048 + 5])
def test_long_sums(size, dtype):
    """From half a million elements on, the vectors that are passed at a time lie apart."""
    text = "graph @main(%x: f64[n]) {\n  %s = reduce add %x [0] : f64\n  return %s\n}"
    fn = inlay.compile(text.replace("64", dtype[-2:]))
    values = (np.arange(size) % 7).astype(dtype)  # every sum of these is exact
    assert fn(values) == values.sum(dtype="float64")
    rows = pytensor.function([x, v], (x * v).sum(1), mode="INLAY")
    wide = (np.arange(3 * (size // 3)).reshape(3, -1) % 5).astype("float64")
    weights = np.arange(wide.shape[1]) % 3.0
    np.testing.assert_array_equal(rows(wide, weights), wide @ weights)


@pytest.mark.parametrize("value", [V, V[:1], np.array([np.inf, 1.0]), np.array([np.nan, 1.0, -np.inf])])
def test_a_whole_array_is_a_row(value):
    outputs = [pt.special.softmax(v, axis=0), v - v.max()]
    fn = pytensor.function([v], outputs, mode="INLAY")
    expected = pytensor.function([v], outputs, mode=pytensor.compile.mode.Mode("py"))
    for ours, theirs in zip(fn(value), expected(value), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)


def test_softmax_of_a_vector_is_read_twice():
    _, e = compiled([v], [pt.special.softmax(v, axis=0)], V)
    assert one_kernel(e).reads == "2*v_0"


@pytest.mark.parametrize(
    "output",
    [v - v.mean(), (v - v.mean()) / v.std(), v.var(), pt.logsumexp(v), pt.special.log_softmax(v, axis=0)],
    ids=["centred", "normalized", "variance", "logsumexp", "log_softmax"],
)
def test_folds_of_a_vector_and_what_goes_on_with_them(output):
    one_kernel(compiled([v], [output], V)[1])


@pytest.mark.parametrize("value", [V, V[:1], np.tile(V, 50), np.array([np.inf, 1.0]), np.array([np.nan, 1.0, -np.inf]),
                                   np.array([-np.inf, -np.inf]), np.array([-np.inf, 1.0, 1e300])])
def test_log_softmax_of_a_vector_is_read_twice(value):
    fn = pytensor.function([v], pt.special.log_softmax(v, axis=0), mode="INLAY")
    with np.errstate(all="ignore"):
        less = value - value.max()  # PyTensor's definition; SciPy has -inf beside an infinite element
        np.testing.assert_allclose(fn(value), less - np.log(np.exp(less).sum()), rtol=1e-12)
    kernel = one_kernel(inlay.pytensor.explain(fn))
    assert (kernel.reads, kernel.stages) == ("2*v_0", 3)


# By name: what is made of an array, and how often that is read.
SQUARES = {
    "var": (lambda v: [v.var()], 1),
    "ddof": (lambda v: [v.var(ddof=1)], 1),
    "std of what is computed": (lambda v: [3 * (pt.sin(v) + 1).std()], 1),
    "with the sum": (lambda v: [v.mean(), v.sum(), v.var()], 1),
    "by hand": (lambda v: [((v.mean() - v) ** 2).sum()], 1),
    "over all axes": (lambda v: [v.var(axis=tuple(range(v.ndim)), keepdims=True)], 1),
    "normalized": (lambda v: [(v - v.mean()) / v.std() * 2 + 1], 2),
    "what is computed, normalized": (lambda v: [((f := pt.sqr(v) + v) - f.mean()) / pt.sqrt(f.var() + 1e-3)], 2),
}


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("shape", [(None,), (None, None), (4200,), (70, 60)], ids=str)
@pytest.mark.parametrize("name", SQUARES)
def test_squares_about_the_mean_are_folded_with_the_sum(name, shape, dtype):
    outputs, times = SQUARES[name]
    w = pt.tensor("w", dtype=dtype, shape=shape)
    sizes = [shape] if None not in shape else [(n,) * len(shape) for n in (0, 1, 2, 70)]
    inlays, theirs = (pytensor.function([w], outputs(w), mode=mode) for mode in ("INLAY", pytensor.compile.mode.Mode("py")))
    for size in sizes:
        value = (rng.normal(size=size) + 3).astype(dtype)
        with np.errstate(all="ignore"):
            for a, b in zip(inlays(value), theirs(value), strict=True):
                tolerance = 1e-12 if dtype == "float64" else 2e-6
                np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)
                assert a.dtype == b.dtype
    e = inlay.pytensor.explain(inlays)
    reads = {(None,): ("w_0", "2*w_0"), (None, None): ("w_0*w_1", "2*w_0*w_1")}.get(shape, ("4200", "8400"))
    assert one_kernel(e).reads == reads[times - 1]
    assert e.host_calls == []


@pytest.mark.parametrize("value", [[np.inf, 1, 2], [1, np.nan], [np.inf, -np.inf, 1], [1e308, -1.7e308, 1], [1e200, 1], [-0.0],
                                   [1e-200, 3e-200], [*V, -np.inf]], ids=str)
def test_a_variance_of_what_is_not_finite(value):
    value = np.array(value)
    fn, theirs = (pytensor.function([v], [v.var(), v.mean()], mode=mode) for mode in ("INLAY", pytensor.compile.mode.Mode("py")))
    with np.errstate(all="ignore"):
        for a, b in zip(fn(value), theirs(value), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12)


@pytest.mark.parametrize("kind", ["far", "outlier first", "outlier", "trend", "sorted", "one value", "integers as float32"])
@pytest.mark.parametrize("n", [7, 4099, 1_000_003])
def test_a_variance_in_one_pass_is_exact(kind, n):
    """A mean is one of differences from the first element, so it is rounded to a part eps of those. Where the first lies D
    from the others, the squares are D^2 and more: of n numbers with a deviation of s, what that rounding adds is at most
    eps*D*s*n of n*s^2 + D^2, maximum for D = s*sqrt(n): eps*sqrt(n) / 2. The numbers are integers, so their variance is
    known."""
    far = 10**4 if kind == "integers as float32" else 10**8
    whole = rng.integers(0, 9, n)
    whole[: 1 if kind == "outlier first" else 0] = 3 * int(np.sqrt(n))
    whole[n // 2 : n // 2 + (kind == "outlier")] = 3 * int(np.sqrt(n))
    whole = {"trend": whole + np.arange(n) // 50, "sorted": np.sort(whole), "one value": whole * 0}.get(kind, whole)
    if kind == "integers as float32":
        whole %= 8
    total, squares = int(whole.sum()), int((whole.astype(object) ** 2).sum())
    w = pt.vector("w", dtype="float32" if kind == "integers as float32" else "float64")
    (got,) = pytensor.function([w], [pt.cast(w, "float64").var()], mode="INLAY")((whole + far).astype(w.dtype))
    np.testing.assert_allclose(got, (n * squares - total**2) / n**2, rtol=np.finfo(float).eps * np.sqrt(n) + 4e-16)


@pytest.mark.parametrize("length", [None, 101])
def test_stick_breaking_is_one_loop(length):
    """What is left of the stick is a running product without its last: who reads it one place further on shares its loop."""
    w = pt.tensor("w", dtype="float64", shape=(length,))
    left = pt.concatenate([pt.ones(1), pt.cumprod(1 - w)[:-1]])
    fn, e = compiled([w], [left * w], V)
    assert len(e.kernels) == 1 and e.temporaries == [] and e.copies == []
    if length is None:
        np.testing.assert_allclose(fn(V[:1])[0], V[:1])


@pytest.mark.parametrize("axis", [0, 1])
def test_layer_norm_reads_twice(axis):
    mean = x.mean(axis=axis, keepdims=True)
    normed = (x - mean) / pt.sqrt(x.var(axis=axis, keepdims=True) + 1e-5)
    kernel = one_kernel(compiled([x], [normed], X)[1])
    assert kernel.reads.startswith("2*") and kernel.stages >= 3


@pytest.mark.parametrize("axis", [0, 1, None])
def test_an_extreme_and_its_place_are_one_fold(axis):
    kernel = one_kernel(compiled([x], [x.max(axis=axis), x.argmax(axis=axis), x.argmin(axis=axis)], X)[1])
    assert kernel.stages == 1
    assert kernel.text.count("fold argmax place") == 2


@pytest.mark.parametrize("special", [[np.nan, 1, np.nan], [2.0, 2.0, 2.0], [-np.inf, -np.inf], [0.0, -0.0]])
def test_the_first_place_counts(special):
    value = np.array(special)
    fn, _ = compiled([v], [v.argmax(), v.argmin()], value)
    assert [int(r) for r in fn(value)] == [value.argmax(), value.argmin()]


def test_reductions_of_one_value_and_the_value():
    f = pt.exp(v)
    kernel = one_kernel(compiled([v], [f.sum(), f.max(), f.argmax(), f.prod(), f], V)[1])
    assert kernel.stages == 1


@pytest.mark.parametrize("value", [V, V[:0], -abs(V), abs(V)], ids=["some", "empty", "none", "all"])
def test_what_a_mask_selects_is_folded_where_it_is(value):
    selected = v[v > 0]
    kernel = one_kernel(compiled([v], [selected.sum(), pt.exp(selected).sum()], value)[1])
    assert kernel.stages == 1


def test_what_is_made_of_a_selection_is_made_in_its_pass():
    _, e = compiled([v], [pt.exp(v[v > 0])], V)
    assert len(e.kernels) == 2  # the count, and the pass that moves


@pytest.mark.parametrize("dtype, width", [("float32", 16), ("float64", 8)])
def test_fusing_keeps_the_vectors(dtype, width):
    a, b = pt.tensor("a", shape=(None,), dtype=dtype), pt.tensor("b", shape=(None,), dtype=dtype)
    i = pt.lvector("i")
    values = [V.astype(dtype), V[::-1].astype(dtype)]
    for outputs in [[pt.exp(a) * b, (a + b) ** 2], [a[1:] - a[:-1], a[::-1]]]:
        fn = pytensor.function([a, b], outputs, mode="INLAY", on_unused_input="ignore")
        fn(*values)
        assert {kernel.width for kernel in inlay.pytensor.explain(fn).kernels} == {width}
    _, e = compiled([v, i], [pt.exp(v)[i].sum(), v[i].max()], V, np.array([3, 5, 3]))
    assert {kernel.width for kernel in e.kernels} == {8}


@pytest.mark.parametrize("axis", [0, 1])
def test_a_kept_axis_costs_nothing(axis):
    total = x.sum(axis=axis, keepdims=True)
    kernel = one_kernel(compiled([x], [total, x.max(axis=axis, keepdims=True)], X)[1])
    assert (kernel.stages, kernel.reads) == (1, "x_0*x_1")
    kernel = one_kernel(compiled([x], [total, x / total], X)[1])
    assert kernel.stages == 2


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_logistic_regression_with_its_gradient_is_one_pass(dtype):
    rows, beta = pt.constant(rng.normal(size=(10_000, 8)).astype(dtype)), pt.tensor("beta", shape=(None,), dtype=dtype)
    seen = pt.constant((rng.random(10_000) < 0.4).astype(dtype))
    eta = rows @ beta
    logp = (seen * eta - pt.softplus(eta)).sum()
    outputs, value = [logp, pt.grad(logp, beta)], rng.normal(size=8).astype(dtype)
    fn = pytensor.function([beta], outputs, mode="INLAY")
    expected = pytensor.function([beta], outputs, mode=pytensor.compile.mode.Mode("py"))(value)
    for ours, theirs in zip(fn(value), expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12 if dtype == "float64" else 1e-4)
    e = inlay.pytensor.explain(fn)
    kernel = one_kernel(e)
    assert kernel.stages == 1 and e.host_calls == []
    assert kernel.text.count("load constant_0[") == 8  # each element of the rows once


ROWS = {
    "softmax": lambda x: pt.special.softmax(x, axis=1),
    "layer norm": lambda x: (x - x.mean(1, keepdims=True)) / pt.sqrt(x.var(1, keepdims=True) + 1e-5),
    "log-sum-exp": lambda x: pt.logsumexp(x, axis=1, keepdims=True),
}


@pytest.mark.parametrize("name", ROWS)
def test_rows_of_unknown_length_are_written_where_they_are_made(name):
    o = pt.dmatrix("o")
    result = pt.set_subtensor(o[1:], ROWS[name](x))
    f = pytensor.function([pytensor.In(o, mutable=True), x], result, mode="INLAY")
    e = inlay.explain(f)
    one_kernel(e)
    assert all(temporary.bytes in (8, "8*x_1") for temporary in e.temporaries)  # a number or a row
    expected = pytensor.function([o, x], result, mode=pytensor.compile.mode.Mode("py"))
    for rows in (1, 8):
        given, values = X[:9, :7].copy(), X[-rows:, -7:]
        np.testing.assert_allclose(f(given.copy(), values), expected(given, values), rtol=1e-12, atol=1e-12)
