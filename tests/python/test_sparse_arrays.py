"""Sparse matrices that are made of arrays in the graph, with respect to which gradients are taken; their sums, the dense
arrays that they stand for, and products with dense ones: against PyTensor's Python mode."""

import numpy as np
import pytensor
import pytensor.sparse as ps
import pytensor.tensor as pt
import pytest
from test_sparse import FOUND, compare, dense, ifelse, looped, matrix, sparse_variable

import inlay.pytensor

multiply = getattr(ps, "multiply", None) or ps.mul
SHAPE = np.array([4, 6], "int32")


def arrays(kind="csr"):
    """Of a matrix with an empty row, elements in no order, two at one place, and a last one that is none of it."""
    starts = np.array([0, 3, 3, 6, 7] if kind == "csr" else [0, 2, 4, 4, 5, 6, 7], "int32")
    minor = np.array([5, 0, 5, 3, 1, 2, 4, 0] if kind == "csr" else [3, 3, 1, 0, 2, 1, 0, 0], "int32")
    return np.arange(1.0, 9.0), minor, starts


def made(kind, minor, starts, data=None, shape=SHAPE):
    data = pt.dvector("data") if data is None else data
    return data, (ps.CSR if kind == "csr" else ps.CSC)(data, minor, starts, shape)


def cubed(product):
    return (product * pt.sqr(product)).sum()


@pytest.mark.parametrize("kind", ["csr", "csc"])
@pytest.mark.parametrize("in_order", [True, False])
def test_the_gradient_by_the_elements_of_known_places(kind, in_order):
    given, x = arrays(kind), pt.dmatrix("x")
    if in_order:
        ordered = matrix(kind, tuple(SHAPE))
        given = dense(ordered.nnz), ordered.indices, ordered.indptr
    data, a = made(kind, *given[1:])
    product = ps.structured_dot(a, x)
    view = compare([data, x], [product, *pytensor.grad(cubed(product), [data, x])], [given[0], dense(6, 3)])
    assert view.host_calls == []


@pytest.mark.parametrize("kind", ["csr", "csc"])
@pytest.mark.parametrize("shape", [SHAPE, None])
def test_the_gradient_by_the_elements_of_places_that_a_call_knows(kind, shape):
    given, x, minor, starts = arrays(kind), pt.dmatrix("x"), pt.ivector("minor"), pt.ivector("starts")
    sizes = pt.ivector("shape") if shape is None else shape
    data, a = made(kind, minor, starts, shape=sizes)
    product = ps.structured_dot(a, x)
    inputs = [data, minor, starts, x, *([sizes] if shape is None else [])]
    arguments = [*given, dense(6, 3), *([SHAPE] if shape is None else [])]
    view = compare(inputs, [product, *pytensor.grad(cubed(product), [data, x])], arguments)
    assert view.host_calls == []
    f = pytensor.function(inputs, product, mode="INLAY")
    for outside in (-7, 6):
        with pytest.raises(IndexError):
            f(given[0], np.append(given[1][1:], np.int32(outside)), given[2] + (given[2] == 7), *arguments[3:])
    none = [np.zeros(0), np.zeros(0, "int32"), np.zeros_like(given[2])]
    compare(inputs, [product, pytensor.grad(cubed(product), data)], [*none, *arguments[3:]])


@pytest.mark.parametrize("kind", ["csr", "csc"])
def test_arrays_that_are_no_matrix(kind):
    data, minor, starts = arrays(kind)
    wrong = {
        "elements with 8 indices": (data[:-1], minor, starts),
        "pointers, not": (data, minor, starts[:-1]),
        "pointers begin with 1, not 0": (data, minor, np.append(np.int32(1), starts[1:])),
        "a pointer to 9 of 8 indices": (data, minor, np.append(starts[:-1], np.int32(9))),
    }
    places, x = [pt.ivector("minor"), pt.ivector("starts")], pt.dmatrix("x")
    given, a = made(kind, *places)
    f = pytensor.function([given, *places, x], ps.structured_dot(a, x), mode="INLAY")
    for message, arguments in wrong.items():
        with pytest.raises(ValueError, match=message):
            f(*arguments, dense(6, 3))
        given, constant = made(kind, *arguments[1:])
        product = ps.structured_dot(constant, x)
        g = pytensor.function([given, x], [product, pytensor.grad(product.sum(), given)], mode="INLAY")
        with pytest.raises((ValueError, IndexError)):  # in SciPy's words, or those of PyTensor's own op
            g(arguments[0], dense(6, 3))


@pytest.mark.parametrize("kind", ["csr", "csc"])
def test_a_matrix_of_arrays_is_a_result_too(kind):
    data, minor, starts = arrays(kind)
    given, a = made(kind, minor[:7], starts)
    x = pt.dmatrix("x")
    view = compare([given, x], [a, ps.structured_dot(a, x)], [data[:7], dense(6, 3)])
    assert f"CSM{{format='{kind}'}}" in view.host_calls and FOUND not in view.host_calls


@pytest.mark.parametrize("kind", ["csr", "csc"])
def test_the_gradient_by_a_variable_finds_its_arrays_once(kind):
    a, x = sparse_variable(kind), pt.dmatrix("x")
    product = ps.structured_dot(a, x)
    view = compare([a, x], [product, *pytensor.grad(cubed(product), [a, x])], [matrix(kind), dense(5, 3)])
    assert sorted(view.host_calls) == [f"CSM{{format='{kind}'}}", FOUND]


@pytest.mark.parametrize("kind", ["csr", "csc"])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "complex128"])
def test_sums_and_the_dense_array(kind, dtype):
    a = sparse_variable(kind, dtype)
    outputs = [ps.dense_from_sparse(a), *(ps.sp_sum(a, axis=axis) for axis in (None, 0, 1))]
    view = compare([a], outputs, [matrix(kind, dtype=dtype)])
    assert view.host_calls == [FOUND]
    compare([a], outputs, [matrix(kind, (3, 0), dtype)])
    compare([a], outputs, [matrix(kind, dtype=dtype, density=0)])


def test_a_sum_that_scipy_makes_wider_is_its_own():
    a = sparse_variable("csr", "int8")
    f = pytensor.function([a], ps.sp_sum(a, axis=0), mode="INLAY")
    np.testing.assert_array_equal(f(matrix(dtype="int8")), matrix(dtype="int8").toarray().sum(0))
    assert "SpSum{axis=0}" in inlay.pytensor.explain(f).host_calls


@pytest.mark.parametrize("kind", ["csr", "csc"])
def test_products_with_a_dense_array_by_element(kind):
    d, x, a = pt.dmatrix("d"), pt.dmatrix("x"), ps.as_sparse(matrix(kind))
    product = multiply(a, d)
    outputs = [ps.structured_dot(product, x), ps.sp_sum(product), ps.dense_from_sparse(multiply(product, x[0, 0]))]
    view = compare([d, x], outputs, [dense(7, 5), dense(5, 3)])
    assert view.host_calls == []
    f = pytensor.function([d], ps.sp_sum(product), mode="INLAY")
    with pytest.raises((ValueError, AssertionError)):
        f(dense(7, 4))
    variable = sparse_variable(kind)
    view = compare([variable, d], [ps.sp_sum(multiply(variable, d), axis=0)], [matrix(kind), dense(7, 5)])
    assert view.host_calls == [FOUND]


@pytest.mark.parametrize("kind", ["csr", "csc"])
def test_the_gradient_of_the_dense_array(kind):
    given = arrays(kind)
    data, a = made(kind, given[1][:7], given[2])
    view = compare([data], [pytensor.grad(cubed(ps.dense_from_sparse(a)), data)], [given[0][:7]])
    assert view.host_calls == []
    data, a = made(kind, *given[1:])  # with one that is no element, which SciPy leaves out
    compare([data], [pytensor.grad(cubed(ps.dense_from_sparse(a)), data)], [given[0]])


def test_in_branches_and_loops():
    given = arrays()
    data, a = made("csr", given[1][:7], given[2])
    x = pt.dvector("x")
    branch = ifelse(x[0] > 0, ps.dense_from_sparse(a).sum(0), x)
    assert compare([data, x], [branch], [given[0][:7], np.ones(6)]).host_calls == []
    variable = sparse_variable("csr")
    steps = looped(
        lambda x, a: ps.sp_sum(a, axis=0) + x * ps.dense_from_sparse(a)[0], outputs_info=[x], non_sequences=[variable], n_steps=3
    )
    assert compare([variable, x], [steps], [matrix(), dense(5)]).host_calls == [FOUND]
