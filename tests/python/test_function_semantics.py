"""What `pytensor.function` promises, under mode="INLAY"."""

import io
import pickle
import subprocess
import sys

import inlay.pytensor
import numpy as np
import pytensor
import pytensor.scalar as ps
import pytensor.tensor as pt
import pytest
from pytensor import Out, shared
from pytensor.compile.io import In
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op
from pytensor.tensor.type_other import NoneConst, NoneTypeT, make_slice, slicetype

x, n = pt.dvector("x"), pt.lscalar("n")
ONES = np.ones(2)


def compile(inputs, outputs, **kwargs):
    return pytensor.function(inputs, outputs, mode="INLAY", **kwargs)


def test_no_outputs():
    state = shared(np.zeros(2))
    for outputs in (None, []):
        compile([x], outputs, updates={state: state + x})(ONES)
    assert state.get_value().tolist() == [2, 2]
    assert compile([], [])() == []


def test_duplicated_outputs_and_inputs_as_outputs_share_nothing():
    y = x * 2
    a, b = compile([x], [y, y])(ONES)
    assert a.tolist() == b.tolist() == [2, 2] and not np.shares_memory(a, b)
    value = ONES.copy()
    a, b = compile([x], [x, x])(value)
    assert not np.shares_memory(a, b) and not np.shares_memory(a, value)
    assert not np.shares_memory(compile([In(x, borrow=True)], Out(x, borrow=True))(value), value)


def test_constants_and_shared_variables_as_outputs_stay_what_they_are():
    state = shared(np.arange(3.0))
    f = compile([], [pt.constant(np.arange(3.0)), state, pt.constant(2)])
    for result in f()[:2]:
        result[:] = 9
    assert f()[0].tolist() == f()[1].tolist() == [0, 1, 2] and f()[2] == 2


def test_shared_variables_change_their_size():
    state = shared(np.arange(3.0))
    f = compile([x], state.sum(), updates={state: pt.concatenate([state, x])})
    assert f(ONES) == 3 and state.get_value().size == 5
    state.set_value(np.arange(10.0), borrow=True)
    assert f(ONES[:0]) == 45
    state.set_value(np.zeros(0))
    assert f(ONES) == 0 and state.get_value().tolist() == [1, 1]


def test_updates_that_exchange_or_copy_share_nothing():
    a, b = shared(np.zeros(2)), shared(np.ones(2))
    compile([], [], updates={a: b, b: a})()
    assert a.get_value().tolist() == [1, 1] and b.get_value().tolist() == [0, 0]
    compile([], [], updates={a: b})()
    assert not np.shares_memory(a.get_value(borrow=True), b.get_value(borrow=True))


def test_givens():
    data, batch = shared(np.arange(10.0)), pt.dvector()
    assert compile([n], (batch**2).sum(), givens={batch: data[n : n + 3]})(2) == 4 + 9 + 16
    state = shared(3.0)
    f = compile([n], state * 2 + n, givens={state: n.astype("float64")})
    assert f(4) == 12 and state.get_value() == 3


def test_default_updates():
    rng = shared(np.random.default_rng(1))
    next_rng, draw = pt.random.normal(size=3, rng=rng).owner.outputs
    rng.default_update = next_rng
    for none in (True, [rng]):
        f = compile([], draw, no_default_updates=none)
        assert f().tolist() == f().tolist()
    f = compile([], draw)
    assert f().tolist() != f().tolist()


def test_mutable_inputs_may_be_overwritten_and_others_not():
    value = np.zeros(5)
    assert compile([In(x, mutable=True)], pt.exp(x) + 1)(value).tolist() == [2] * 5
    value = np.zeros(5)
    compile([x], pt.exp(x) + 1)(value)
    assert value.tolist() == [0] * 5


def test_none_and_slices():
    none, cut = NoneTypeT()(), slicetype()
    assert compile([none], [none, NoneConst])(None) == [None, None]
    assert compile([x, cut], [cut, x + 1])(ONES, slice(1, 3))[0] == slice(1, 3)
    assert compile([n], make_slice(n, n + 2, None))(2) == slice(2, 4)


def test_strictness_of_inputs():
    with pytest.raises(TypeError):
        compile([In(x, strict=True)], x + 1)([1, 2])
    single = pt.fvector("single")
    with pytest.raises(TypeError):
        compile([single], single + 1)(ONES * 0.1)
    assert compile([In(single, allow_downcast=True)], single + 1)(ONES * 0.1).dtype == "float32"


def test_copies():
    state, other = shared(np.zeros(2), name="state"), shared(np.full(2, 5.0), name="other")
    f = compile([x], [x + state], updates={state: state + x})
    for share_memory in (False, True):
        f.copy(share_memory=share_memory)(ONES)
    assert state.get_value().tolist() == [2, 2]
    assert f.copy(swap={state: other})(ONES)[0].tolist() == [6, 6]
    assert other.get_value().tolist() == [6, 6] and state.get_value().tolist() == [2, 2]
    reader = f.copy(delete_updates=True, name="reader")
    assert reader(ONES)[0].tolist() == [3, 3] and state.get_value().tolist() == [2, 2]
    assert reader.name == "reader" and inlay.pytensor.explain(reader).host_calls == []
    doubled = shared(np.ones(2), name="doubled")
    f = compile([], [doubled * 2], updates={doubled: doubled * 2})
    assert f.copy(delete_updates=True)()[0].tolist() == [2, 2] and doubled.get_value().tolist() == [1, 1]
    assert f()[0].tolist() == [2, 2] and doubled.get_value().tolist() == [2, 2]


def test_pickled_to_a_fresh_process():
    f = compile([x], [pt.exp(x).sum(), x * 2])
    code = "import pickle, sys; f = pickle.load(sys.stdin.buffer); print(f([0, 0])[0], type(f.maker.linker).__name__)"
    done = subprocess.run([sys.executable, "-c", code], input=pickle.dumps(f), capture_output=True, check=True)
    assert done.stdout.decode().split() == ["2.0", "InlayLinker"]


class Mirror(Op):
    def make_node(self, m):
        return Apply(self, [m], [m.type()])

    def perform(self, node, inputs, outputs):
        outputs[0][0] = inputs[0][::-1].copy()


def test_profile_shows_what_ran():
    m = pt.dmatrix("m")
    foreign = Mirror()(m)
    rows = pytensor.scan(lambda c: 2 * c @ m, outputs_info=[m[0]], n_steps=3, return_updates=False)
    f = compile([m], [pt.exp(m).sum(), pt.linalg.cholesky(m), foreign, rows], profile="three rows")
    for _ in range(5):
        f(np.eye(3))
    out = io.StringIO()
    f.profile.summary(file=out)
    text = out.getvalue()
    assert "Time in 5 calls to Function.__call__" in text
    for words in ("@k0", "cholesky (Cholesky", "Mirror", "profile.Kernel", "profile.HostCall", "Sum #"):
        assert words in text, words
    calls = {str(row): count for (_, row), count in f.profile.apply_callcount.items()}
    assert next(count for name, count in calls.items() if name.startswith("cholesky")) == 5
    assert max(calls.values()) == 15  # what stands in the loop
    assert sum(f.profile.apply_time.values()) <= f.profile.vm_call_time
    again = pickle.loads(pickle.dumps(f))
    again(np.eye(3))
    assert {str(row): count for (_, row), count in again.profile.apply_callcount.items()}.keys() >= calls.keys()


def test_results_that_are_numbers():
    """A ScalarType is no array: the results are NumPy's numbers, among others and of updates too, also of copies."""
    x, v = ps.float64("x"), pt.dvector("v")
    whole = pt.lscalar("whole")
    outputs = [x * 2, v + 1, x > 1, pt.scalar_from_tensor(whole), x]
    f = pytensor.function([x, v, whole], outputs, mode="INLAY")
    for fn in (f, f.copy(), pickle.loads(pickle.dumps(f))):
        results = fn(2.0, np.ones(2), 7)
        assert [type(r) for r in results] == [np.float64, np.ndarray, np.bool, np.int64, np.float64]
        assert results[0] == 4 and results[2] and results[3] == 7 and results[4] == 2
    assert len(inlay.pytensor.explain(f).kernels) > 0
    only = pytensor.function([x], ps.exp(x), mode="INLAY")
    assert type(only(0.0)) is np.float64
    bad = pytensor.function([whole], pt.scalar_from_tensor(pt.arange(3)[whole]), mode="INLAY")
    with pytest.raises(IndexError, match="HINT"):  # PyTensor adds it to what a vm raises
        bad(5)
    assert bad(2) == 2
