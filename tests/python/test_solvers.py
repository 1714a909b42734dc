"""SciPy's optimizers and root finders, as PyTensor has them: the solver runs in Python, what it solves is native."""

import threading

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
from conftest import host_calls
from inlay.pytensor.compiled import compiled_of

optimize = pytest.importorskip("pytensor.tensor.optimize")
for _name in ("minimize", "minimize_scalar", "root", "root_scalar"):
    if not hasattr(optimize, _name):
        pytest.skip(f"no {_name} in this version", allow_module_level=True)


def solutions():
    x, z, a = pt.dvector("x"), pt.dscalar("z"), pt.dscalar("a")
    minimum = optimize.minimize(((x - 2 * a) ** 2).sum(), x, method="BFGS", jac=True)[0]
    minimum_number = optimize.minimize_scalar((z - a) ** 2, z)[0]
    root = optimize.root(x**3 - a, x, method="hybr", jac=True)[0]
    root_number = optimize.root_scalar(z**2 - a, z, method="newton", jac=True)[0]
    slope = pytensor.grad(root.sum() + root_number, a)
    return pytensor.function([x, z, a], [minimum, minimum_number, root, root_number, slope], mode="INLAY")


def assert_solved(results, a):
    want = [[2 * a] * 3, a, [a ** (1 / 3)] * 3, a**0.5, a ** (-2 / 3) + 0.5 * a**-0.5]
    for got, expected in zip(results, want, strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-5)


def test_solutions_and_their_gradients():
    fn = solutions()
    for a in (0.5, 2.0, 9.0):
        assert_solved(fn(np.ones(3), 1.0, a), a)


def test_what_they_solve_is_native():
    """PyTensor's own linker runs a C compiler for it, which takes seconds."""
    solvers = compiled_of(solutions()).translation.host_calls
    assert sorted(type(solver.node.op).__name__ for solver in solvers) == [
        "MinimizeOp",
        "MinimizeScalarOp",
        "RootOp",
        "RootScalarOp",
    ]
    for solver in solvers:
        inner = solver._run._op.fn
        assert type(inner.maker.linker).__name__ == "InlayLinker"
        assert host_calls(inner) == {}


def test_solvers_in_several_threads():
    fn = solutions()
    results = {}

    def work(a):
        results[a] = [fn(np.ones(3), 1.0, a) for _ in range(10)]

    threads = [threading.Thread(target=work, args=(float(a),)) for a in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4
    for a, calls in results.items():
        for call in calls:
            assert_solved(call, a)
