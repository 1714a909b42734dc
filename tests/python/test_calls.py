"""Calls of library functions from PyTensor: what is read and written where it lies, and how many loops stand beside them."""

import inlay.pytensor
import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
from pytensor.tensor.linalg import cholesky, solve_triangular
from versions import OLD_PYTENSOR

a, b, c = pt.dmatrix("a"), pt.dmatrix("b"), pt.dmatrix("c")
v, w = pt.dvector("v"), pt.dvector("w")
t3 = pt.dtensor3("t3")
rng = np.random.default_rng(11)


def numbers(*shape):
    return rng.normal(size=shape)


def explained(inputs, outputs, *values):
    """What `explain` says of the function, which is checked against PyTensor's."""
    fn = pytensor.function(inputs, outputs, mode="INLAY")
    expected = pytensor.function(inputs, outputs, mode=pytensor.compile.mode.Mode("py"))(*values)
    for ours, theirs in zip(fn(*values), expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9)
    e = inlay.pytensor.explain(fn)
    assert e.host_calls == []
    return e


def is_only_calls(e, num_calls=1):
    """Calls and nothing else: no loop brings an operand or a result, and nothing is stored between."""
    assert e.kernels == [] and e.copies == [] and e.temporaries == []
    assert len(e.library_calls) == num_calls


@pytest.mark.parametrize(
    "product",
    [
        a[:, 1:].T @ b,
        a.T @ b[:, 2:7],
        a[1:5].T @ b[1:5],
        a[::2].T @ b[::2],
        a[:, :3].T @ b[:, 4:],
        (a.T @ b).T,
        b.T @ a[:, 3],
        pytest.param(b[:, ::-1].T[2] @ a, marks=pytest.mark.skipif(OLD_PYTENSOR, reason="its index of the row is computed")),
        b[::-1, 1] @ a,
        pt.diagonal(b) @ a[:20],
    ],
    ids=["cut", "columns", "rows", "steps", "both", "turned", "column", "row", "backwards", "diagonal"],
)
def test_a_product_of_parts_copies_nothing(product):
    is_only_calls(explained([a, b], [product], numbers(40, 30), numbers(40, 20)))


def test_a_product_of_parts_of_a_batch_copies_nothing():
    is_only_calls(explained([t3], [t3[1:, :, 2:].mT @ t3[1:, :, :4]], numbers(4, 30, 25)))


def test_a_batch_that_is_made_one_matrix():
    explained([t3, a], [t3[1:, :, 2:].mT @ a], numbers(4, 30, 25), numbers(30, 20))


@pytest.mark.parametrize("shape", [(0, 30), (1, 30), (40, 1)])
def test_parts_that_are_empty_or_one(shape):
    explained([a, b], [a[:, 1:].T @ b, (a[:1].T @ b[:1]).T], numbers(*shape), numbers(shape[0], 20))


@pytest.mark.parametrize(
    ("part", "why"),
    [(lambda x: x[:, ::2], "they are 30 and 2 apart"), (lambda x: x[::-1], "they are -30 and 1 apart")],
)
def test_what_blas_cannot_read_is_copied_with_its_reason(part, why):
    x, y = pt.matrix("x", shape=(40, 30)), pt.matrix("y", shape=(40, 20))
    e = explained([x, y], [y.T @ part(x)], numbers(40, 30), numbers(40, 20))
    (copied,) = e.temporaries
    assert copied.reason.startswith("call-layout: copied for matmul") and copied.reason.endswith(why)


def test_a_triangle_and_its_right_side_are_read_where_they_lie():
    triangle = np.tril(numbers(20, 20)) + 9 * np.eye(20)
    x = solve_triangular(a, b[:, 1:], lower=True)
    is_only_calls(explained([a, b], [x], triangle, numbers(20, 30)))
    x = solve_triangular(a.T[2:, 2:], b[2:][::-1], lower=False)
    is_only_calls(explained([a, b], [x], triangle, numbers(20, 30)))


def test_factors_are_made_in_what_dies_there():
    right = pt.matrix("right", shape=(20, 30))
    x = pt.matrix("x", shape=(20, None))
    factor = cholesky(x @ x.T + pt.eye(20))
    e = explained([x, right], [solve_triangular(factor, right + 1, lower=True)], numbers(20, 40), numbers(20, 30))
    assert e.copies == [] and len(e.library_calls) == 3 and len(e.kernels) == 2
    assert len({t.where for t in e.stored} - {"out0"}) == 1  # the product, its sum and the factor: one matrix


def test_a_product_is_written_into_its_slice():
    x, y = pt.matrix("x", shape=(40, None)), pt.matrix("y", shape=(None, 20))  # it must not be one row, or one column
    big = pt.zeros((60, 50))
    e = explained([x, y], [pt.set_subtensor(big[2:42, 5:25], x @ y)], numbers(40, 30), numbers(30, 20))
    assert e.temporaries == [] and e.copies == [] and len(e.kernels) == 1
    assert e.kernels[0].reads == "0"


def test_a_product_is_written_into_its_part_of_a_join():
    e = explained([a, b, c], [pt.concatenate([a @ b, pt.exp(c)], axis=1)], numbers(40, 30), numbers(30, 20), numbers(40, 9))
    assert e.temporaries == [] and e.copies == [] and len(e.kernels) == 1


@pytest.mark.parametrize("epilogue", [lambda p: p + v, lambda p: pt.tanh(p + v), lambda p: pt.exp(p - v).sum(axis=1)])
def test_what_follows_a_product_is_one_loop(epilogue):
    e = explained([a, b, v], [epilogue(a @ b)], numbers(40, 30), numbers(30, 20), numbers(20))
    assert len(e.kernels) == 1 and e.copies == []


def test_what_stands_before_a_product_is_one_loop_and_is_made_as_its_operand():
    e = explained([a, b], [pt.exp(a.T) @ pt.tanh(b)], numbers(40, 30), numbers(40, 20))
    assert e.copies == [] and len(e.kernels) <= 2 and len(e.temporaries) == 2


@pytest.mark.parametrize("columns", [1, 3, 8, 16])
def test_a_product_with_a_short_side_joins_the_loop(columns):
    data = pt.matrix("data", shape=(50, columns))
    y = pt.vector("y", shape=(50,))
    beta = pt.vector("beta", shape=(columns,))
    p = pt.sigmoid(pt.dot(data, beta))
    values = numbers(50, columns), numbers(50), numbers(columns)
    logp = (y * pt.log(p) + (1 - y) * pt.log1p(-p)).sum()
    e = explained([data, y, beta], [logp, pt.grad(logp, beta)], *values)
    assert e.library_calls == [] and len(e.kernels) == 1
    turned = pt.matrix("turned", shape=(columns, None))
    e = explained([turned, beta], [pt.tanh(beta @ turned), pt.exp(turned.T[1:] @ beta)], values[0].T.copy(), values[2])
    assert e.library_calls == []


def test_rows_of_sequences_and_traces_are_in_place():
    def step(row, h, matrix):
        p = matrix @ row
        return pt.tanh(p + matrix @ h), p

    hs, ps = pytensor.scan(step, sequences=[b], outputs_info=[v, None], non_sequences=[a], return_updates=False)
    e = explained([a, b, v], [hs[-1], ps], 0.1 * numbers(30, 30), numbers(7, 30), numbers(30))
    assert len(e.library_calls) == 2
    assert not any("row" in t.name for t in e.temporaries)
