"""What a graph means where names, addresses or flags are shared: by graphs within it, by constants, by threads."""

import threading

import inlay.pytensor  # noqa: F401
import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
from pytensor import config
from pytensor.compile.mode import Mode
from versions import OLD_PYTENSOR

if OLD_PYTENSOR:
    from pytensor.ifelse import ifelse
else:
    from pytensor.conditional.op import ifelse

PYTHON = Mode("py", None)
x, c = pt.dvector("x"), pt.bscalar("c")


def compiled(inputs, outputs):
    return pytensor.function(inputs, outputs, mode="INLAY")


@pytest.mark.parametrize("kind", ["sum", "set"])
def test_masks_that_are_constants(kind):
    """Their positions are arrays that PyTensor makes for a moment: the next one may lie at the same address."""
    masks = [np.tril(np.ones((6, 6), bool)), np.triu(np.ones((6, 6), bool)), np.tril(np.ones((6, 6), bool))[::-1]]
    a, matrix = np.arange(36.0).reshape(6, 6), pt.dmatrix("X")
    made = [matrix[m].sum() if kind == "sum" else pt.set_subtensor(matrix[m], -1.0) for m in masks]
    for got, m in zip(compiled([matrix], made)(a), masks, strict=True):
        np.testing.assert_array_equal(got, a[m].sum() if kind == "sum" else np.where(m, -1.0, a))


def test_negative_complex_numbers():
    """PyTensor makes -z a product with -1."""
    z = pt.zvector("z")
    values = np.array([2 + 0j, complex(np.inf, 1), 0j, complex(-3, -0.0)])
    outputs = [-z, pt.log(-z), -(-z)]
    with np.errstate(all="ignore"):
        wanted = pytensor.function([z], outputs, mode=PYTHON)(values)
        for got, want in zip(compiled([z], outputs)(values), wanted, strict=True):
            np.testing.assert_array_equal(np.signbit(got.real), np.signbit(want.real))
            np.testing.assert_allclose(got, want)


def test_what_a_branch_insists_on_is_for_that_branch():
    part = x[:3]
    f = compiled([c, x], [part.sum(), ifelse(c, pt.specify_shape(part, (3,)) * 1, pt.zeros(3))])
    total, chosen = f(0, np.ones(2))
    assert total == 2
    np.testing.assert_array_equal(chosen, np.zeros(3))
    np.testing.assert_array_equal(f(1, np.arange(4.0))[1], [0, 1, 2])


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16"])
def test_sizes_of_few_bits_wrap_around(dtype):
    k = pt.scalar("k", dtype=dtype)
    twice = k * np.array(2, dtype)
    given = np.array({"uint8": 200, "int8": 100, "int16": 60}[dtype], dtype)
    if dtype == "int8":  # 200 is -56
        with pytest.raises(ValueError, match="negative"):
            compiled([k], pt.zeros(twice))(given)
    else:
        assert compiled([k], pt.zeros(twice))(given).shape == ((144,) if dtype == "uint8" else (120,))
    assert compiled([x], pt.zeros(x.shape[0].astype("uint8")))(np.ones(300)).shape == (44,)
    assert compiled([x], pt.zeros(x.shape[0].astype("int32")))(np.ones(300)).shape == (300,)


def test_sums_of_small_integers_that_others_read():
    b8 = pt.vector("b8", dtype="int8")
    f = compiled([c, b8], ifelse(c, pt.cumsum(b8[b8 > 0]), b8[b8 < 0]))
    np.testing.assert_array_equal(f(1, np.array([1, 2, -3], "int8")), [1, 3])
    state = pytensor.shared(np.array([1, 2, 3], "int8"), name="s")
    step = pytensor.function([], state * 1, updates={state: pt.cumsum(state)}, mode="INLAY")
    for want in ([1, 2, 3], [1, 3, 6], [1, 4, 10]):
        np.testing.assert_array_equal(step(), want)


def test_threads_that_compile_leave_the_flags():
    before = config.cxx, config.mode, config.traceback__limit
    failed = []

    def compile_some(seed):
        try:
            for _ in range(3):
                v = pt.dvector()
                z = v
                for i in range(12):
                    z = pt.exp(z * (i + seed)) + v.sum() + pt.log1p(z)
                pytensor.function([v], z.sum(), mode="INLAY")
        except Exception as error:  # noqa: BLE001
            failed.append(error)

    threads = [threading.Thread(target=compile_some, args=(i,)) for i in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    assert config.cxx == before[0]
