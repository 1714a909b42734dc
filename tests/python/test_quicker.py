"""What inlay does in PyTensor's place, at a part of the cost: the results are PyTensor's."""

import copy
import importlib.util
import itertools
import linecache
import os
import subprocess
import sys

import inlay.pytensor  # noqa: F401
import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
from inlay.pytensor import quicker
from pytensor.graph import utils
from pytensor.tensor.elemwise import Elemwise
from versions import OLD_PYTENSOR


@pytest.fixture(scope="module")
def theirs():
    """PyTensor's module anew, as it is without inlay."""
    spec = importlib.util.spec_from_file_location("utils_as_they_were", utils.__file__)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("limit", [0, 1, 8, None])
@pytest.mark.parametrize("skips", [None, [], ["_pytest/"], ["/pluggy/", "python/"]])
def test_a_trace_is_pytensors(theirs, limit, skips):
    assert utils.simple_extract_stack is quicker.extract_stack

    def stacks():
        return [extract(limit=limit, skips=skips) for extract in (theirs.simple_extract_stack, quicker.extract_stack)]

    for _ in range(2):
        expected, found = stacks()
        assert found == expected


def test_a_file_that_is_read_again_has_its_new_lines(theirs, tmp_path):
    file = tmp_path / "model.py"
    for text in ("x = trace()  # before\n", "x = trace()  # after\n"):
        file.write_text(text)
        linecache.checkcache()
        names = {"trace": lambda: quicker.extract_stack(limit=2)}
        exec(compile(text, file, "exec"), names)
        assert names["x"][0] == (str(file), 1, "<module>", text.strip())
        linecache.cache.pop(str(file))


@pytest.mark.skipif(not hasattr(Elemwise, "make_scalar_node"), reason="this version has no such method")
def test_an_elementwise_op_has_the_dtypes_that_its_scalar_op_says():
    dtypes = ("bool", "int8", "int64", "uint8", "float32", "float64", "complex64")
    for policy in ("custom", "numpy+floatX"):
        with pytensor.config.change_flags(cast_policy=policy, floatX="float32" if policy != "custom" else "float64"):
            for op in (pt.add, pt.true_div, pt.lt, pt.exp):
                for types in itertools.product(dtypes, repeat=op.scalar_op.nin if op.scalar_op.nin > 0 else 2):
                    if "complex64" in types and op is pt.lt:
                        continue
                    operands = [pt.vector(dtype=dtype) for dtype in types]
                    expected = Elemwise.make_scalar_node(op, *operands).outputs[0].type.dtype
                    for _ in range(2):
                        assert op.make_node(*operands).outputs[0].type.dtype == expected


@pytest.mark.skipif(not hasattr(Elemwise, "make_scalar_node"), reason="this version has no such method")
def test_an_elementwise_node_makes_its_scalar_node_once():
    made = []

    class Twice(pytensor.scalar.Exp):
        def make_node(self, *inputs):
            made.append(inputs)
            return super().make_node(*inputs)

    op = Elemwise(Twice(pytensor.scalar.upgrade_to_float))
    for _ in range(3):
        op(pt.dvector())
    assert len(made) == 1
    op(pt.fvector())
    assert len(made) == 2


@pytest.mark.skipif(not hasattr(Elemwise, "make_scalar_node"), reason="this version has no such method")
def test_a_class_with_a_scalar_node_of_its_own_is_asked_each_time():
    class Rounded(Elemwise):
        def __init__(self, dtype):
            super().__init__(pytensor.scalar.exp)
            self.dtype = dtype

        def make_scalar_node(self, *inputs):
            return pytensor.scalar.Cast(pytensor.scalar.get_scalar_type(self.dtype)).make_node(
                *[pytensor.scalar.get_scalar_type(x.type.dtype)() for x in inputs]
            )

    x = pt.dvector("x")
    assert [Rounded(dtype)(x).type.dtype for dtype in ("float32", "int64")] == ["float32", "int64"]
    assert pt.exp(x).type.dtype == "float64"


def test_what_is_remembered_has_an_end(monkeypatch):
    monkeypatch.setattr(quicker, "_MOST", 5)
    monkeypatch.setattr(quicker._WithKnownDtypes, "_scalar_nodes", {})
    for at in range(20):
        names = {"trace": lambda: quicker.extract_stack(limit=2, skips=["nowhere/"])}
        exec(compile("x = trace()", f"<cell {at}>", "exec"), names)
        assert names["x"][0] == (f"<cell {at}>", 1, "<module>", None)
        assert pt.exp(pt.vector(dtype="float32")).type.dtype == "float32"
        known = (quicker._LINES, quicker._SKIPPED, quicker._WithKnownDtypes._scalar_nodes)
        assert at < 5 or all(len(one) <= 5 for one in known)
    for op in (pt.exp, pt.log, pt.sin, pt.cos, pt.tan, pt.sinh, pt.cosh):
        op(pt.vector(dtype="int8"))
    # (PyTensor 2 asks for the dtypes of a node in another way, which is left as it is.)
    assert (0 if OLD_PYTENSOR else 1) <= len(quicker._WithKnownDtypes._scalar_nodes) <= 5


def test_the_tag_of_a_clone_is_one_of_its_own():
    x = pt.vector("x")
    x.tag.test_value, x.tag.held = np.ones(2), ["a list"]
    tag = copy.copy(x.tag)
    assert type(tag) is type(x.tag) and tag is not x.tag
    assert vars(tag) == vars(x.tag) and tag.held is x.tag.held
    tag.more = 1
    assert not hasattr(x.tag, "more")
    with pytest.raises(AttributeError):
        _ = tag.absent


LEFT_OUT = """
from pytensor.compile.mode import optdb
from pytensor.graph import utils
from pytensor.tensor.elemwise import Elemwise
before = utils.simple_extract_stack, getattr(Elemwise, "get_output_info", None), optdb["canonicalize"].eq_rewriter_class
import inlay.pytensor
after = utils.simple_extract_stack, getattr(Elemwise, "get_output_info", None), optdb["canonicalize"].eq_rewriter_class
print([one is other for one, other in zip(before, after)])
"""


@pytest.mark.parametrize("value, is_theirs", [("0", True), ("1", False), ("", False)])
def test_pytensors_own_code_can_be_asked_for(value, is_theirs):
    environment = {**os.environ, "INLAY_QUICKER": value}
    done = subprocess.run([sys.executable, "-c", LEFT_OUT], capture_output=True, text=True, env=environment, check=True)
    assert done.stdout.strip() == str([is_theirs, is_theirs or OLD_PYTENSOR, is_theirs])
