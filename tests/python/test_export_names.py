"""What exported functions, their results and their choices are called, and what is said of wrong ones."""

import re

import inlay
import inlay.pytensor
import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest

DOUBLED = "graph @doubled(%x: f64[n]) {\n  %y = add %x, %x\n  return %y\n}"


def results_of(header):
    """By the typed function, and by slots."""
    text = header.read_text()
    typed = re.search(r"int32_t \w+\(([^)]*void\* arena[^)]*)\);", text)[1]
    slots = re.findall(r"[a-z]_OUT_(\w+) = \d+", text)
    return re.findall(r"(?<!const )double (\w+)\[", typed), slots


def test_results_without_a_name_are_called_by_their_position(tmp_path):
    x = pt.vector("x", shape=(3,))
    named = pt.exp(x)
    named.name = "grown"
    fn = pytensor.function([x], [(x * 2).sum(), named, pt.log(x) + 1], mode="INLAY")
    assert results_of(inlay.export(fn, tmp_path, name="f")[0]) == (["out0", "grown", "out2"],) * 2


def test_what_the_user_calls_so_keeps_its_name(tmp_path):
    text = """graph @p(%out1: f64[3]) {
  %1 = exp %out1
  %2 = neg %out1
  %out0 = log %out1
  return %1, %2, %out0
}"""
    assert results_of(inlay.export(text, tmp_path)[0]) == (["out0_", "out1_", "out0"],) * 2


def test_results_are_called_as_the_text_says_whatever_is_rewritten(tmp_path):
    """Two are equal, and one is the parameter again."""
    text = """graph @p(%x: f64[3]) {
  %a = add %x, %x
  %b = add %x, %x
  %c = neg %x
  %d = neg %c
  %1 = add %x, %x
  return %a, %b, %d, %1, last = %1
}"""
    assert results_of(inlay.export(text, tmp_path)[0]) == (["a", "b", "d", "out3", "last"],) * 2


WRONG = [
    ({"name": 3}, inlay.errors.WrongDtype, "error[wrong-dtype]: name= is an int, and no text"),
    ({"section": 3}, inlay.errors.WrongDtype, "error[wrong-dtype]: section= is an int, and no text"),
    ({"kind": 3}, inlay.errors.WrongDtype, "error[wrong-dtype]: kind= is an int, and no text"),
    ({"kind": None}, inlay.errors.WrongDtype, "error[wrong-dtype]: kind= is a NoneType, and no text"),
    ({"sizes": {"n": 2**70}}, inlay.errors.SizeOverflow, "error[size-overflow]: the size n does not fit in 64 bits"),
    ({"sizes": {"n": 1.5}}, inlay.errors.WrongDtype, "error[wrong-dtype]: the size n is a float, and no whole number"),
    ({"sizes": {3: 4}}, inlay.errors.WrongDtype, "error[wrong-dtype]: the name of a size is an int, and no text"),
]


@pytest.mark.parametrize("given, error, message", WRONG, ids=[message[20:] for *_, message in WRONG])
def test_choices_of_a_wrong_kind(given, error, message, tmp_path):
    with pytest.raises(error) as caught:
        inlay.export(DOUBLED, tmp_path / "out", **given)
    assert str(caught.value) == message
    assert not (tmp_path / "out").exists()


def test_the_kind_is_looked_at_before_the_function(tmp_path):
    x = pt.dvector("x")
    fn = pytensor.function([x], x + 1, mode="INLAY")  # without a name
    with pytest.raises(ValueError, match="there is no kind of export zip\n  help: c, object or shared"):
        inlay.export(fn, tmp_path / "out", kind="zip")


def test_a_function_exports_itself(tmp_path):
    fn = inlay.compile(DOUBLED)
    made = fn.export(tmp_path / "a", kind="object", name="twice", sizes={"n": np.int32(3)})
    assert made == [tmp_path / "a" / "twice.h", tmp_path / "a" / "twice.o"]
    other = inlay.export(fn, tmp_path / "b", kind="object", name="twice", sizes={"n": 3})
    assert [path.read_bytes() for path in made] == [path.read_bytes() for path in other]
    assert made.sizes == other.sizes
