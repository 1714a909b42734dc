"""Products of sparse matrices with dense arrays, and their gradients, against PyTensor's Python mode."""

import subprocess
import sys
import tracemalloc

import numpy as np
import pymc as pm
import pytensor
import pytensor.sparse as ps
import pytensor.tensor as pt
import pytest
import scipy.sparse
from pytensor.compile.builders import OpFromGraph
from versions import OLD_PYTENSOR

import inlay.pytensor

try:
    from pytensor.conditional.op import ifelse
except ImportError:  # older versions
    from pytensor.ifelse import ifelse

SHAPE = (7, 5)
FOUND = "elements of a sparse matrix"


def matrix(kind="csr", shape=SHAPE, dtype="float64", density=0.4):
    made = scipy.sparse.random(*shape, density, format=kind, random_state=1, dtype="float64")
    return (made * 9).astype(dtype)


def dense(*shape, dtype="float64"):
    return (np.random.default_rng(2).normal(size=shape) * 9).astype(dtype)


def sparse_variable(kind, dtype="float64"):
    return ps.matrix(kind, "a", dtype=dtype)


# How the product is written, and which shape its dense operand has.
PRODUCTS = {
    "a x": (lambda a, x: ps.dot(a, x), (5, 3)),
    "a column": (lambda a, x: ps.dot(a, x), (5, 1)),
    "a v": (lambda a, x: ps.dot(a, x), (5,)),
    "x a": (lambda a, x: ps.dot(x, a), (3, 7)),
    "v a": (lambda a, x: ps.dot(x, a), (7,)),
    "a.T x": (lambda a, x: ps.dot(a.T, x), (7, 3)),
    "structured a x": (lambda a, x: ps.structured_dot(a, x), (5, 3)),
    "structured x a": (lambda a, x: ps.structured_dot(x, a), (3, 7)),
}


def compare(inputs, outputs, arguments):
    ours = pytensor.function(inputs, outputs, mode="INLAY", on_unused_input="ignore")
    theirs = pytensor.function(inputs, outputs, mode="FAST_COMPILE", on_unused_input="ignore")
    for got, want in zip(ours(*arguments), theirs(*arguments), strict=True):
        assert type(got) is type(want) and got.dtype == want.dtype and got.shape == want.shape
        if scipy.sparse.issparse(want):
            assert got.format == want.format
            np.testing.assert_array_equal(got.indices, want.indices)
            got, want = got.data, want.data
        # Sums of some ten terms, each multiplied and added with one rounding here, cubed in the gradients.
        units = 50 * np.finfo(want.dtype).eps if want.dtype.kind in "fc" else 0
        np.testing.assert_allclose(got, want, rtol=units, atol=units * np.abs(want[np.isfinite(want)]).max(initial=0))
    return inlay.pytensor.explain(ours)


def with_gradient(product, x):
    if OLD_PYTENSOR and x.ndim == 1:
        return [product]  # it has no gradient of it
    return [product, pytensor.grad((product * pt.sqr(product)).sum(), x)]


def variable(array):
    return pt.tensor("x", dtype=array.dtype, shape=(None,) * array.ndim)


@pytest.mark.parametrize("kind", ["csr", "csc"])
@pytest.mark.parametrize("name", PRODUCTS)
def test_products_by_a_constant_and_their_gradients(name, kind):
    write, shape = PRODUCTS[name]
    argument = dense(*shape)
    x = variable(argument)
    product = write(ps.as_sparse(matrix(kind)), x)
    outputs = with_gradient(product, x)
    view = compare([x], outputs, [argument])
    # The product, and its gradient; what PyTensor writes as the transpose of another product is copied once more.
    transposed = {"x a": 1, "structured x a": 2}.get(name, 0)
    assert view.host_calls == [] and len(view.kernels) == len(outputs) + transposed


@pytest.mark.parametrize("kind", ["csr", "csc"])
@pytest.mark.parametrize("name", PRODUCTS)
def test_products_by_a_variable(name, kind):
    write, shape = PRODUCTS[name]
    argument = dense(*shape)
    a, x = sparse_variable(kind), variable(argument)
    product = write(a, x)
    view = compare([a, x], with_gradient(product, x), [matrix(kind), argument])
    assert view.host_calls.count(FOUND) == 1
    assert not {"SparseDot", "StructuredDot"} & set(view.host_calls)


@pytest.mark.parametrize("kind", ["csr", "csc"])
def test_the_gradient_of_a_structured_product_by_its_matrix(kind):
    a, x = sparse_variable(kind), pt.dmatrix("x")
    product = ps.structured_dot(a, x)
    view = compare([a, x], pytensor.grad((product * pt.sqr(product)).sum(), [a, x]), [matrix(kind), dense(5, 3)])
    assert not any("Grad" in name for name in view.host_calls)


@pytest.mark.parametrize(
    ("of_matrix", "of_array"),
    [("float32", "float32"), ("float32", "float64"), ("int64", "float64"), ("int8", "int32"), ("complex128", "float64")],
)
def test_dtypes(of_matrix, of_array):
    a = ps.as_sparse(matrix(dtype=of_matrix))
    x = variable(dense(5, 3, dtype=of_array))
    compare([x], [ps.dot(a, x)], [dense(5, 3, dtype=of_array)])


@pytest.mark.parametrize("kind", ["csr", "csc"])
@pytest.mark.parametrize("shape", [(7, 5), (7, 0), (0, 5), (1, 1)])
@pytest.mark.parametrize("density", [0, 0.5])
def test_matrices_without_elements_rows_or_columns(kind, shape, density):
    given, argument = matrix(kind, shape, density=density), dense(shape[1], 2)
    x = variable(argument)
    compare([x], [ps.dot(ps.as_sparse(given), x)], [argument])
    a = sparse_variable(kind)
    product = ps.structured_dot(a, x)
    compare([a, x], [product, *pytensor.grad(product.sum(), [a, x])], [given, argument])


def test_elements_that_are_stored_twice_or_not_in_order():
    twice = scipy.sparse.csr_matrix((np.array([1.0, 2.0, 4.0]), np.array([3, 0, 3]), np.array([0, 3, 3])), shape=(2, 4))
    a, x = sparse_variable("csr"), variable(dense(4, 3))
    compare([a, x], [ps.dot(a, x)], [twice, dense(4, 3)])


def test_arrays_that_are_longer_than_the_matrix_and_wider_than_its_indices():
    given = matrix()
    given.data, given.indices = np.append(given.data, [7.0, 7.0]), np.append(given.indices, [0, 1])
    a, x = sparse_variable("csr"), variable(dense(5, 3))
    compare([a, x], [ps.dot(a, x)], [given, dense(5, 3)])
    wide = matrix()
    wide.indices, wide.indptr = wide.indices.astype("int64"), wide.indptr.astype("int64")
    compare([a, x], [ps.dot(a, x)], [wide, dense(5, 3)])
    compare([x], [ps.dot(ps.as_sparse(wide), x)], [dense(5, 3)])


@pytest.mark.parametrize("kind", ["csr", "csc"])
def test_the_gradient_of_arrays_that_are_longer_than_the_matrix(kind):
    a, x = sparse_variable(kind), variable(dense(5, 3))
    product = ps.structured_dot(a, x)

    def given():
        made = matrix().asformat(kind)
        made.data, made.indices = np.append(made.data, [7.0, 7.0]), np.append(made.indices, [1000, 1]).astype("int32")
        return made

    gradient = pytensor.grad((product**2).sum(), a)
    results = [pytensor.function([a, x], gradient, mode=mode)(given(), dense(5, 3)) for mode in ("INLAY", "FAST_COMPILE")]
    for field in ("indices", "indptr"):
        np.testing.assert_array_equal(*(getattr(r, field) for r in results))
    np.testing.assert_allclose(*(r.data for r in results), rtol=1e-12)  # sums of three products


OF_A_SUBCLASS = """
import inlay.pytensor, pytensor, pytensor.sparse as ps, pytensor.tensor as pt
class Mine(ps.StructuredDot):
    pass
a, x = ps.csr_matrix("a"), pt.dmatrix("x")
print(inlay.explain(pytensor.function([a, x], Mine()(a, x), mode="INLAY")).host_calls)
"""


def test_a_subclass_has_a_native_form_though_no_sparse_op_was_seen_before():
    done = subprocess.run([sys.executable, "-c", OF_A_SUBCLASS], capture_output=True, text=True, timeout=300)
    assert done.stdout.strip() == str([FOUND]), done.stderr


def test_a_matrix_beyond_32_bits():
    a, x = sparse_variable("csr"), variable(dense(5))
    f = pytensor.function([a, x], ps.dot(x, a), mode="INLAY")
    with pytest.raises(ValueError, match="beyond indices of 32 bits"):
        f(scipy.sparse.csr_matrix((5, 2**31)), dense(5))


def test_what_is_not_stored_meets_nothing():
    x = variable(dense(5, 3))
    argument = dense(5, 3)
    argument[matrix().tocsc().indptr[1:] == matrix().tocsc().indptr[:-1]] = np.nan
    compare([x], [ps.dot(ps.as_sparse(matrix()), x)], [argument])


@pytest.mark.parametrize("shape", [(4, 3), (6,), (0, 3)])
@pytest.mark.parametrize("is_constant", [True, False])
def test_shapes_that_do_not_fit(shape, is_constant):
    variable_matrix, x = sparse_variable("csr"), variable(dense(*shape))
    a = ps.as_sparse(matrix()) if is_constant else variable_matrix
    for product, sizes in ((ps.dot(a, x), (5, shape[0])), (ps.dot(x.T, a.T), (shape[0], 5))):
        f = pytensor.function([variable_matrix, x], product, mode="INLAY", on_unused_input="ignore")
        with pytest.raises(ValueError, match="SparseDot: {} columns times {} rows".format(*sizes)):
            f(matrix(), dense(*shape))


def test_one_call_finds_the_elements_for_all_that_read_them():
    a, x, y = sparse_variable("csr"), pt.dmatrix("x"), pt.dvector("y")
    view = compare([a, x, y], [ps.dot(a, x), ps.dot(a, y), ps.dot(x.T, a.T)], [matrix(), dense(5, 3), dense(5)])
    assert view.host_calls == [FOUND]


def test_the_elements_are_read_where_they_are():
    a, x = sparse_variable("csr"), pt.dvector("x")
    f = pytensor.function([a, x], ps.dot(a, x), mode="INLAY")
    given, argument = matrix(shape=(50, 40_000), density=0.1), np.ones(40_000)
    f(given, argument)
    before = given.copy()
    tracemalloc.start()
    f(given, argument)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < given.indices.nbytes < given.data.nbytes
    assert (given != before).nnz == 0


def test_two_matrices_for_one_inner_graph():
    a, b, x = sparse_variable("csr"), sparse_variable("csr"), pt.dmatrix("x")
    inner = OpFromGraph([a, x], [ps.dot(a, x)], inline=False)
    view = compare([a, b, x], [inner(a, x), inner(b, x)], [matrix(), matrix(density=0.9), dense(5, 3)])
    assert view.host_calls == [FOUND, FOUND]


def test_a_matrix_of_another_format_that_is_trusted():
    a, x = sparse_variable("csr"), pt.dmatrix("x")
    f = pytensor.function([a, x], ps.dot(a, x), mode="INLAY", trust_input=True)
    np.testing.assert_allclose(f(matrix("csc"), dense(5, 3)), matrix() @ dense(5, 3))


def test_what_runs_through_python():
    """Two sparse matrices, and a matrix that a body finds."""
    a, x = sparse_variable("csr"), pt.dvector("x")
    both = compare([a], [ps.dot(a, a.T)], [matrix()])
    assert "SparseDot" in both.host_calls

    branch = ifelse(x[0] > 0, ps.dot(a, x), x[:1])
    assert compare([a, x], [branch], [matrix(), dense(5)]).host_call_reasons


def test_reasons_are_of_calls_that_are_there():
    """Of two transposes the product with a vector needs none."""
    a, b, x = sparse_variable("csr"), sparse_variable("csr"), pt.dvector("x")
    view = compare([a, b, x], [ps.dot(a.T, x), ps.dot(b.T, a)], [matrix(), matrix(density=0.9), dense(SHAPE[0])])
    assert sorted(view.host_calls) == ["SparseDot", "SparseTranspose", FOUND]
    assert sorted(name.split(" #")[0] for name in view.host_call_reasons) == ["SparseDot", "SparseTranspose"]


def test_in_a_scan_a_constant_matrix_is_native():
    a = ps.as_sparse(matrix(shape=(5, 5)))
    x = pt.dvector("x")
    how = {} if OLD_PYTENSOR else {"return_updates": False}
    steps = pytensor.scan(lambda x: pt.tanh(ps.dot(a, x)), outputs_info=[x], n_steps=4, **how)
    steps = steps[0] if OLD_PYTENSOR else steps
    assert compare([x], [steps], [dense(5)]).host_calls == []


def looped(step, **options):
    if OLD_PYTENSOR:
        return pytensor.scan(step, **options)[0]
    return pytensor.scan(step, return_updates=False, **options)


@pytest.mark.parametrize("kind", ["csr", "csc"])
def test_in_a_scan_the_elements_of_a_variable_are_found_once(kind):
    a, b, x = sparse_variable(kind), sparse_variable("csr"), pt.dvector("x")
    step = lambda x, a, b: pt.tanh(ps.dot(a, x) + ps.dot(x, b))  # noqa: E731
    steps = looped(step, outputs_info=[x], non_sequences=[a, b], n_steps=4)
    view = compare([a, b, x], [steps, ps.dot(a, x)], [matrix(kind, (5, 5)), matrix("csr", (5, 5)), dense(5)])
    assert view.host_calls == [FOUND, FOUND]
    steps = looped(lambda x, a: pt.tanh(ps.dot(a.T, x)), outputs_info=[x], non_sequences=[a], n_steps=4)
    view = compare([a, x], [steps], [matrix(kind, (5, 5)), dense(5)])
    assert FOUND in view.host_calls and len(view.host_calls) <= 2  # PyTensor may transpose it before the loop


def test_in_a_scan_of_scans_they_are_found_once_too():
    a, x = sparse_variable("csr"), pt.dvector("x")
    inner = lambda x, a: looped(lambda x, a: pt.tanh(ps.dot(a, x)), outputs_info=[x], non_sequences=[a], n_steps=2)  # noqa: E731
    steps = looped(lambda x, a: inner(x, a)[-1], outputs_info=[x], non_sequences=[a], n_steps=3)
    view = compare([a, x], [steps], [matrix(shape=(5, 5)), dense(5)])
    assert view.host_calls == [FOUND]


def test_a_conditional_autoregression():
    near = np.zeros((6, 6))
    for i, j in [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (0, 5), (1, 4)]:
        near[i, j] = near[j, i] = 1
    with pm.Model() as model:
        mu = pm.Normal("mu", 0, 1, shape=6)
        pm.CAR("phi", mu=mu, tau=pm.HalfNormal("tau"), alpha=pm.Beta("alpha", 2, 2), W=scipy.sparse.csr_matrix(near))
    point = [dense(*np.shape(x)) / 9 for x in model.initial_point().values()]
    view = compare(model.value_vars, [model.logp(), model.dlogp()], point)
    assert view.host_calls == []
