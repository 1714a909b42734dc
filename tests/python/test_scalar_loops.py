"""ScalarLoop: what PyTensor's gradients of special functions are made of. Every element ends by itself."""

import numpy as np
import pytensor
import pytensor.scalar as ps
import pytensor.tensor as pt
import pytest
from pytensor.scalar.loop import ScalarLoop
from pytensor.tensor.elemwise import Elemwise


def numbers(low, high, shape, seed):
    return np.random.default_rng(seed).uniform(low, high, shape)


@pytest.mark.parametrize("shape", [(), (0,), (1,), (40,), (3, 5)])
@pytest.mark.parametrize("function", [pt.gammainc, pt.gammaincc])
def test_gradient_of_the_incomplete_gamma_function(function, shape, check):
    a, x = (pt.tensor(n, dtype="float64", shape=(None,) * len(shape)) for n in "ax")
    out = pytensor.grad(function(a, x).sum(), a)
    # PyTensor 2 subtracts two series of the size of 1, which leaves some 1e-6.
    check([a, x], out, numbers(0.2, 8, shape, 1), numbers(0.01, 30, shape, 2), rtol=1e-9)


@pytest.mark.parametrize("shape", [(), (0,), (40,)])
def test_gradient_of_the_incomplete_beta_function(shape, check):
    a, b, x = (pt.tensor(n, dtype="float64", shape=(None,) * len(shape)) for n in "abx")
    out = pytensor.grad(pt.betainc(a, b, x).sum(), [a, b])
    values = numbers(0.2, 8, shape, 1), numbers(0.3, 5, shape, 2), numbers(0.01, 0.99, shape, 3)
    check([a, b, x], out, *values)


def test_operands_that_broadcast(check):
    a, x = pt.dcol("a"), pt.drow("x")
    check([a, x], pytensor.grad(pt.gammainc(a, x).sum(), a), numbers(0.2, 8, (3, 1), 1), numbers(0.01, 30, (1, 4), 2))


def doubled(until):
    """x -> x * 2 + c, so many times; `until`: or until it is beyond 100."""
    x, c = ps.float64("x"), ps.float64("c")
    after = x * 2 + c
    loop = ScalarLoop(init=[x], constant=[c], update=[after], until=after > 100 if until else None)
    return Elemwise(loop)


@pytest.mark.parametrize("until", [False, True])
def test_every_element_has_its_own_number_of_steps(until, check):
    """What the condition said last is a result too: False where there was no step."""
    n, x, c = pt.lvector("n"), pt.dvector("x"), pt.dscalar("c")
    check([n, x, c], doubled(until)(n, x, c), np.array([0, 1, 5, 20]), np.array([3.0, 50.0, 2.0, np.nan]), 0.5)


@pytest.mark.parametrize("steps", [[0, 1, 5, -1, 0], [0, 0, 0, 0, 0], []])
def test_several_states_and_a_condition(steps, check):
    x, y, c = ps.float64("x"), ps.int64("y"), ps.float64("c")
    loop = Elemwise(ScalarLoop(init=[x, y], constant=[c], update=[x * 2 + c, y + 1], until=x > 10))
    n, xs, ys, cs = pt.lvector("n"), pt.dvector("xs"), pt.lvector("ys"), pt.dscalar("cs")
    values = np.array([20.0, 3, 4, 20, 1])[: len(steps)], np.arange(len(steps))
    check([n, xs, ys, cs], loop(n, xs, ys, cs), np.array(steps, np.int64), *values, 0.5)
