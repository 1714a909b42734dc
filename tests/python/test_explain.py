"""What `explain` and `dprint` say."""

import io
import json

import inlay.pytensor
import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
from pytensor.tensor.fft import rfft
from inlay.pytensor.translate.names import identifier
from inlay.pytensor.translate.origin import short_name
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op
from pytensor.tensor.blockwise import Blockwise


@pytest.fixture
def fn():
    x = pt.tensor("x", shape=(1000,), dtype="float64")
    i = np.random.default_rng(0).integers(0, 10, 1000)
    e = pt.exp(x)
    grad = pt.inc_subtensor(pt.zeros(10)[i], e)
    fn = pytensor.function([x], [e.sum(), grad], mode="INLAY")
    fn(np.zeros(1000))
    return fn


def test_greek_letters_have_names():
    alpha, beta = pt.dvector("α"), pt.dscalar("β_μ")
    fn = pytensor.function([alpha, beta], [pt.exp(alpha).sum() * beta, alpha.max()], mode="INLAY")
    assert "beta_mu" in str(inlay.pytensor.explain(fn))
    assert identifier("λ") == "lambda" and identifier("Σ₁") == "Sigma1" and identifier("ς") == "sigma"
    assert identifier("naïve µ") == "naive_mu" and identifier("λ̂") == "lambda" and identifier("数") == "value"


def test_numbers(fn):
    e = inlay.pytensor.explain(fn)
    assert len(e.kernels) == 1
    (kernel,) = e.kernels
    assert "exp" in kernel.text
    assert kernel.stages >= 1 and kernel.loads >= 2 and kernel.reductions >= 1
    assert "1000" in kernel.reads or "2000" in kernel.reads
    assert kernel.width >= 1
    assert (e.host_calls, e.library_calls, e.copies, e.temporaries) == ([], [], [], [])
    assert e.arena_bytes == 0
    assert all(s >= 0 for s in e.seconds.values())
    assert e.seconds["translate"] > 0 and e.seconds["first call"] > 0


def test_what_is_stored_has_its_reason():
    x, b = pt.dmatrix("x"), pt.dmatrix("b")
    weight = pt.exp(x)
    weight.name = "weight"
    e = inlay.pytensor.explain(pytensor.function([x, b], pt.tanh(weight @ b), mode="INLAY"))
    names = {s.name: s.reason for s in e.stored}
    assert names["weight"].startswith("call-operand: matmul, which makes ")
    assert sorted(r.split(":")[0] for r in names.values()) == ["call-operand", "call-result"]
    (temporary,) = e.temporaries
    assert (temporary.name, temporary.reason) == ("weight", names["weight"])
    assert "weight (" in e.text and "call-operand: " in e.text
    assert ": a library function reads it from memory" in str(e)


def test_rewrites_are_counted():
    x, s = pt.dvector("x"), pt.dscalar("s")
    e = inlay.pytensor.explain(pytensor.function([x, s], (pt.exp(x) - 1) + s, mode="INLAY"))
    assert e.rewrites["expm1-minus-one"] == 1
    assert "expm1-minus-one 1" in e.text


def test_json(fn):
    e = inlay.pytensor.explain(fn)
    assert json.loads(json.dumps(e.to_dict())) == e.to_dict()
    assert e.to_dict()["kernels"][0]["name"] == e.kernels[0].name


def test_text(fn):
    e = inlay.pytensor.explain(fn)
    assert "1 kernel, " in e.text and "graph @" in e.text and "kernel @k0" in e.text
    assert str(e) != e.text and str(inlay.pytensor.explain(fn, verbose=True)) == e.text


def test_host_calls_have_reasons():
    x = pt.dmatrix("x")
    e = inlay.pytensor.explain(pytensor.function([x], rfft(x)[0] * 2, mode="INLAY"))
    assert len(e.host_calls) == 1 and "RFFTOp" in e.host_calls[0]
    assert list(e.host_call_reasons.values()) == ["no native form"]
    assert "RFFTOp" in e.text and "runs as Python: RFFTOp" in str(e)


class LogLike(Op):
    """What a user's own op brings along."""

    __props__ = ("data",)

    def __init__(self, data):
        self.data = tuple(data)

    def make_node(self, x):
        return Apply(self, [x], [pt.dscalar()])

    def perform(self, node, inputs, outputs):
        outputs[0][0] = inputs[0]  # of another rank than declared


def test_names_of_host_calls_are_short():
    x = pt.dvector("x")
    fn = pytensor.function([x], LogLike(range(40))(x), mode="INLAY")
    e = inlay.pytensor.explain(fn)
    assert e.host_calls == ["LogLike"] and e.host_call_reasons == {"LogLike #0": "no native form"}
    with pytest.raises(TypeError) as error:
        fn(np.ones(3))
    text = "LogLike: output 0 has shape (3,), of rank 1, where its type says rank 0"
    assert str(error.value).splitlines()[0] == text


@pytest.mark.parametrize("data, name", [([], "LogLike{data=()}"), ([7] * 20, "LogLike")])
def test_a_name_is_whole_where_it_is_short(data, name):
    assert short_name(LogLike(data)) == name
    assert short_name(Blockwise(LogLike(data), signature="(n)->()")) == f"Blockwise{{{name}}}"


def test_matmul_is_a_library_call():
    x, y = pt.dmatrices("x", "y")
    e = inlay.pytensor.explain(pytensor.function([x, y], pt.dot(x, y), mode="INLAY"))
    assert len(e.library_calls) == 1


def test_a_copy_at_the_door_has_its_reason():
    x = pt.dmatrix("x")
    fn = pytensor.function([x], x * 2, mode="INLAY")
    assert inlay.pytensor.explain(fn).copies == []
    fn(np.asfortranarray(np.ones((3, 4))))
    (copy,) = inlay.pytensor.explain(fn).copies
    assert "x" in copy.reason and "row-major" in copy.reason


def test_sizes_that_are_not_known_are_expressions():
    x = pt.dvector("x")
    (kernel,) = inlay.pytensor.explain(pytensor.function([x], pt.exp(x) + 1, mode="INLAY")).kernels
    assert kernel.reads == kernel.writes == "x_0"


def test_functions_of_other_modes_are_refused():
    x = pt.dvector("x")
    with pytest.raises(TypeError, match="inlay"):
        inlay.pytensor.explain(pytensor.function([x], x + 1, mode="FAST_COMPILE"))


def test_dprint(fn):
    out = io.StringIO()
    inlay.pytensor.dprint(fn, file=out)
    text = out.getvalue()
    assert "Exp" in text and "@k0" in text and "80 bytes" in text
    assert len(text.splitlines()) == len(pytensor.dprint(fn, print_type=True, file="str").splitlines())
