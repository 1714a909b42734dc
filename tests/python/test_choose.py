"""Elements that an array of positions picks out of each row, or out of several arrays."""

import inlay.pytensor
import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
from pytensor.tensor.basic import inverse_permutation, permute_row_elements


@pytest.mark.parametrize("inverse", [False, True])
@pytest.mark.parametrize(
    ("x_shape", "y_shape"),
    [((4,), (4,)), ((3, 4), (4,)), ((3, 4), (3, 4)), ((4,), (3, 4)), ((2, 3, 4), (3, 4)), ((0,), (0,))],
)
def test_permute_row_elements(x_shape, y_shape, inverse, check):
    x, y = pt.tensor("x", shape=(None,) * len(x_shape)), pt.tensor("y", shape=(None,) * len(y_shape), dtype="int32")
    rng = np.random.default_rng(1)
    order = rng.permuted(np.broadcast_to(np.arange(y_shape[-1], dtype="int32"), y_shape), axis=-1)
    check([x, y], permute_row_elements(x, y, inverse=inverse), rng.normal(size=x_shape), order)


def test_inverse_permutation(check):
    y = pt.lvector("y")
    check([y], inverse_permutation(y), np.array([2, 0, 3, 1]))


@pytest.mark.parametrize("mode", ["wrap", "clip", "raise"])
def test_choose(mode, check):
    a, choices = pt.lmatrix("a"), pt.tensor3("choices")
    position = np.array([[0, 1, 2], [2, 1, 0]]) if mode == "raise" else np.array([[0, -1, 7], [2, 1, -5]])
    check([a, choices], pt.choose(a, choices, mode=mode), position, np.arange(18.0).reshape(3, 2, 3))
    v, rows = pt.lvector("v"), pt.matrix("rows", shape=(None, 1))
    check([v, rows], pt.choose(v, rows, mode=mode), abs(position[0]) % 3, np.arange(3.0)[:, None])


@pytest.mark.parametrize("mode", ["wrap", "clip", "raise"])
def test_choose_from_a_list(mode, check):
    a, x, y = pt.lmatrix("a"), pt.dmatrix("x"), pt.dmatrix("y")
    position, values = np.array([[0, 1, 1], [1, 0, 0]]), np.arange(6.0).reshape(2, 3)
    position = position if mode == "raise" else position * 7 - 3
    out = pt.choose(a, [x, y * 2], mode=mode)
    check([a, x, y], out, position, values, -values)
    check([a, x, y], out, position, values[:1], values[:, :1])  # each has a shape of its own
    check([a, x, y], pt.choose(a, [x[:1], y[:, :1]], mode=mode), position, values, values)


@pytest.mark.parametrize("bad", [-1, 2])
def test_a_position_beyond_a_list(bad, check_error):
    a, x = pt.lvector("a"), pt.dvector("x")
    values = np.arange(2.0)
    check_error(ValueError, [a, x], pt.choose(a, [x, -x]), np.array([0, bad]), values, good=(np.array([0, 1]), values))


def test_a_list_that_is_asked_for_itself():
    from pytensor.typed_list import make_list

    a, x = pt.lvector("a"), pt.dvector("x")
    choices = make_list([x, -x])
    fn = pytensor.function([a, x], [pt.choose(a, [x, -x]), choices], mode="INLAY")
    chosen, both = fn([0, 1], [1.0, 2.0])
    assert chosen.tolist() == [1, -2] and [list(v) for v in both] == [[1, 2], [-1, -2]]
    assert len(inlay.pytensor.explain(fn).host_calls) == 1


@pytest.mark.parametrize("bad", [-1, 3])
def test_a_position_that_is_no_choice(bad, check_error):
    a, choices = pt.lvector("a"), pt.matrix("choices")
    values = np.arange(6.0).reshape(3, 2)
    good = (np.array([0, 2]), values)
    check_error(ValueError, [a, choices], pt.choose(a, choices), np.array([0, bad]), values, good=good)


@pytest.mark.parametrize("m", [-3, 0, 1, 2, 5, 8])
def test_bartlett(m, check):
    n = pt.lscalar("n")
    check([n], pt.bartlett(n), m, rtol=1e-15)
