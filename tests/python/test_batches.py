"""Blockwise of ops that work on one element of a batch: natively, over batches of any size, also of one and of none."""

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
from pytensor.graph.replace import vectorize_graph
from versions import OLD_PYTENSOR

RNG = np.random.default_rng(1)
ROWS = np.array([[0, 2], [1, 1], [2, 0]])


def _batched(core, ranks, values, static):
    """Variables for `values`, and what `core` computes of the last `ranks` axes of each."""
    inputs = [pt.tensor(dtype=x.dtype, shape=x.shape if static else (None,) * x.ndim) for x in values]
    inner = [
        pt.tensor(dtype=x.type.dtype, shape=x.type.shape[x.type.ndim - rank :])
        for x, rank in zip(inputs, ranks, strict=True)
    ]
    outputs = core(*inner)
    outputs = list(outputs) if isinstance(outputs, list | tuple) else [outputs]
    return inputs, vectorize_graph(outputs, dict(zip(inner, inputs, strict=True)))


def _padded(x):
    return x if OLD_PYTENSOR else pt.pad(x, 1, mode="edge")  # the graph of its older one asks for sizes of the inside


CORES = {
    "sort": ([1], lambda x: [pt.sort(x), pt.argsort(x)]),
    "sort along the first": ([2], lambda x: [pt.sort(x, axis=0), pt.argsort(x, axis=-1)]),
    "position": ([1, 0], lambda x, i: [x[i], pt.set_subtensor(x[i], 9.0)]),
    "index": ([1, 1], lambda x, i: [x[i], pt.inc_subtensor(x[i], 1.0)]),
    "concatenate": ([1, 1], lambda x, i: pt.concatenate([x, i, x])),
    "searchsorted": ([1, 1], lambda x, v: pt.searchsorted(pt.sort(x), v, side="right")),
    "diagonals": ([1], lambda x: [pt.diag(x), pt.diag(x, 1)]),
    "graphs of their own": ([1], lambda x: [pt.logsumexp(x), _padded(x), pt.special.softmax(x)]),
    "cumulative": ([1], lambda x: [pt.cumsum(x), pt.diff(x), pt.repeat(x, 2)]),
}


@pytest.mark.parametrize("static", [True, False])
@pytest.mark.parametrize("name", CORES)
def test_batches(name, static, check):
    ranks, core = CORES[name]
    x = RNG.normal(size=(3, 4, 5))[: 2 if ranks[0] == 2 else 3]
    if name == "position":
        values = [x[0, :3], np.array([0, 3, -1])]
    elif len(ranks) == 2:
        values = [x[0, :3], ROWS]
    else:
        values = [x]
    if not static and name in ("position", "index"):
        values[0] = values[0][:1].repeat(3, axis=0)
    inputs, outputs = _batched(core, ranks, values, static)
    check(inputs, outputs, *values)
    if not static:
        check(inputs, outputs, *(v[:1] for v in values))


@pytest.mark.parametrize("static", [True, False])
def test_one_operand_without_a_batch(static, check):
    x = RNG.normal(size=5)
    for core in (lambda x, i: x[i], lambda x, i: pt.inc_subtensor(x[i], 1.0)):
        check(*_batched(core, [1, 1], [x, ROWS], static), x, ROWS)
    values = np.sort(x), RNG.normal(size=(3, 2))
    check(*_batched(pt.searchsorted, [1, 1], values, static), *values)


def test_a_batch_of_none():
    """PyTensor's own Blockwise refuses it."""
    values = [RNG.normal(size=(3, 5)), ROWS]
    inputs, outputs = _batched(lambda x, v: [pt.searchsorted(x, v), pt.sort(x)], [1, 1], values, static=False)
    found, ordered = pytensor.function(inputs, outputs, mode="INLAY")(np.zeros((0, 5)), ROWS[:0])
    assert found.shape == (0, 2) and ordered.shape == (0, 5)


def test_interpolation(check):
    x, y = pt.dmatrix("x"), pt.dvector("y")
    at = np.array([0.0, 1.0, 2.0, 5.0])
    check([x, y], pt.interp(x, at, y), RNG.normal(size=(3, 4)) * 3, RNG.normal(size=4))


def _scanned(v):
    result = pytensor.scan(lambda x, a: a * 0.5 + x, sequences=[v], outputs_info=[pt.zeros(())])
    return result[0] if isinstance(result, tuple | list) else result


v, m, i = pt.vector("v"), pt.matrix("m"), pt.lvector("i")
BATCHES = {v: pt.matrix("vs"), m: pt.tensor3("ms"), i: pt.lmatrix("is")}
RESULTS = {
    "gather on axis 1": m[:, i],
    "inc of rows": pt.inc_subtensor(m[i], v),
    "fill_diagonal": pt.fill_diagonal(m, 1.5),
    "kron": pt.linalg.kron(m, m),
    "tensorinv": pt.linalg.tensorinv(m, ind=1),
    "permutation": pt.basic.permute_row_elements(v, pt.argsort(v)),
    "inverse permutation": pt.basic.permute_row_elements(v, pt.argsort(v), inverse=True),
    "choose": pt.choose(i % 2, pt.stack([v, -v])),
    "einsum": pt.einsum("ij,j->i", m, v),
    "scan": _scanned(v),
    "gradient of scan": pytensor.grad((_scanned(v * v) ** 2).sum(), v),
    "gradient of sort": pytensor.grad((pt.sort(v) * v).sum(), v),
    "gradient of solve": pytensor.grad(pt.linalg.solve(m, v).sum(), m),
    "gradient of cholesky": pytensor.grad(pt.linalg.cholesky(m @ m.T + pt.eye(4)).sum(), m),
}
if OLD_PYTENSOR:
    del RESULTS["gather on axis 1"]  # it does not vectorize that
    del RESULTS["gradient of scan"]


@pytest.mark.parametrize("name", RESULTS)
def test_results_of_several_ops(name, check):
    values = RNG.normal(size=(3, 4)), RNG.normal(size=(3, 4, 4)), RNG.integers(0, 4, size=(3, 4))
    check(list(BATCHES.values()), vectorize_graph(RESULTS[name], BATCHES), *values, rtol=1e-8)


def test_an_index_out_of_bounds(check_error):
    out = vectorize_graph(v[i], BATCHES)
    values, bad, good = RNG.normal(size=(2, 4)), np.array([[0, 1], [4, 0]]), np.array([[0, 1], [3, 0]])
    check_error(IndexError, [BATCHES[v], BATCHES[i]], out, values, bad, good=(values, good))


def test_batches_of_different_lengths(check_error):
    out = vectorize_graph(v[i], BATCHES)
    values, index = RNG.normal(size=(2, 4)), np.array([[0, 1], [3, 0], [1, 1]])
    check_error(ValueError, [BATCHES[v], BATCHES[i]], out, values, index, good=(values, index[:2]))


def test_a_size_that_only_values_tell_runs_as_python(check):
    fn = check([BATCHES[v]], vectorize_graph(v[v > 0], BATCHES), np.ones((2, 3)), native=False)
    assert len(fn.vm.compiled.translation.host_calls) == 1
