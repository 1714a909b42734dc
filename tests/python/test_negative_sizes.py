"""Negative constants where a size is asked for: PyTensor takes them for sizes, and an op's own code says what they are."""

import inlay
import inlay.pytensor
import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest

# PyTensor's type says -1 of what is empty.
pytestmark = pytest.mark.filterwarnings("ignore:.*compiled once more, with sizes that it finds:UserWarning")


def generator():
    return pytensor.shared(np.random.default_rng(1))


def function(x, result):
    return pytensor.function([x], result, mode="INLAY", on_unused_input="ignore")


def test_a_permutation_of_less_than_nothing_is_empty():
    x = pt.dscalar("x")
    drawn = pt.random.permutation(np.int64(-1), rng=generator())
    assert drawn.type.shape == (-1,), "PyTensor finds the size by now: take another op"
    assert function(x, drawn.sum() + x)(1.0) == 1
    assert function(x, drawn)(1.0).shape == (0,)
    assert function(x, pt.concatenate([drawn, [3]]) * x)(2.0) == [6]


DRAWN = [
    lambda x: pt.random.normal(x, 1.0, size=(-2,), rng=generator()),
    lambda x: pt.random.normal(x, 1.0, size=(2, -1), rng=generator()),
    lambda x: pt.random.choice(5, size=(-1,), rng=generator()) * x,
]
FILLED = [
    lambda x: pt.zeros((-2,)) + x,
    lambda x: pt.alloc(x, 2, -3),
    lambda x: pt.eye(-2) * x,
    lambda x: pt.tile(pt.stack([x, x]), -1),
]
THEN = [lambda y: y, pt.exp, lambda y: pt.concatenate([y.flatten(), [1.0]])]


@pytest.mark.parametrize(
    "make, then",
    [
        *((make, then) for make in DRAWN for then in [*THEN, pt.sum]),
        *((make, then) for make in FILLED for then in THEN),  # PyTensor knows what the sum of a filled array is
    ],
)
def test_others_are_numpys_error(make, then):
    x = pt.dscalar("x")
    f = function(x, then(make(x)))
    with pytest.raises(ValueError, match="negative dimensions are not allowed"):
        f(1.0)


def test_in_a_loop():
    x = pt.dscalar("x")
    sums = pytensor.scan(lambda: pt.random.permutation(np.int64(-1), rng=generator()).sum() + x, n_steps=3, return_updates=False)
    np.testing.assert_array_equal(function(x, sums)(2.0), [2, 2, 2])


@pytest.mark.parametrize("dims", ["-2", "2, -1", "-1, -1"])
def test_a_text_is_refused(dims):
    axes = list(range(dims.count(",") + 1))
    text = f'graph @main(%x: f64) {{\n %y = host_call "h" (%x) : f64[{dims}]\n %s = reduce add %y {axes} : f64\n return %s\n}}'
    with pytest.raises(inlay.errors.NegativeSize, match=r"host_call h: dim \d of result 0 is -\d\n  at     <text>:2:2"):
        inlay.compile(text, host_functions={"h": np.zeros})
