"""Which of the user's nodes failed, and with what exception.

A compiled function reports where it failed by the location that the translation gave the node: also to a node of a graph
that another one holds, a Scan, say. What is raised there is the exception of PyTensor's own op, where it has one of its
own; PyTensor's Function then raises it through `raise_with_op`, which wants the position in the order of the node that
holds the others.
"""

import re
from functools import cache, partial

from pytensor.raise_op import CheckAndRaise
from pytensor.tensor import subtensor as pts
from pytensor.tensor.basic import Alloc
from pytensor.tensor.blas import BatchedDot
from pytensor.tensor.blockwise import Blockwise
from pytensor.tensor.elemwise import Elemwise
from pytensor.tensor.shape import SpecifyShape
from pytensor.tensor.subtensor import AdvancedIncSubtensor, AdvancedSubtensor

from .. import errors

# Ops that refuse in the same words whoever compiles them, and where it is told from inlay's own that they would.
_AdvancedIncSubtensor1 = getattr(pts, "AdvancedIncSubtensor1", AdvancedIncSubtensor)  # its own class in older versions
_BROADCASTS = (Elemwise, Alloc, BatchedDot, Blockwise, AdvancedIncSubtensor, _AdvancedIncSubtensor1)
_REFUSAL = "Runtime broadcasting not allowed. A 1 stretches where the type says it, or `specify_broadcastable`"
_HAPPENS_TO_BE_ONE = re.compile(r"dim \d+ is (1 on|\d+ on the left and 1 on|1, )")


def exceptions_of(op):
    """By class of inlay's, what is raised where a node of this op fails: a function of inlay's words."""
    if isinstance(op, CheckAndRaise):
        return {errors.AssertFailed: partial(_in_words_of_the_user, op.exc_type, op.msg)}
    if isinstance(op, SpecifyShape):
        return {errors.ShapeMismatch: _of_specified_shape}
    is_indexed = isinstance(op, AdvancedSubtensor | AdvancedIncSubtensor)
    if is_indexed or isinstance(op, _BROADCASTS):
        words = getattr(op, "_runtime_broadcast_error_msg", _REFUSAL) if isinstance(op, _BROADCASTS) else None
        return {errors.ShapeMismatch: _of_shapes(is_indexed, words)}
    return {}


def _in_words_of_the_user(exception, words, text):
    return exception(words)


def _of_specified_shape(text):
    return AssertionError(re.sub(r"^error\[[\w-]+\]: (broadcast|reshape): ", "SpecifyShape: ", text))


@cache  # one object for all of a kind, which is pickled once
def _of_shapes(is_indexed, words):
    return partial(_shapes_differ, is_indexed, words)


def _shapes_differ(is_indexed, words, text):
    if is_indexed and re.search(r": (index arrays|broadcast): ", text):
        # Index arrays of two lengths, or a mask that is none of the array's; not a value that does not fit.
        text = re.sub(r"^(error\[)[\w-]+", r"\1index-out-of-bounds", text)
        return errors.IndexOutOfBounds(text.replace("]: broadcast: ", "]: mask: ", 1))
    if words and _HAPPENS_TO_BE_ONE.search(text.split("\n", 1)[0]):
        text += f"\n  help: {words}"
    return errors.ShapeMismatch(text)


class Handler:
    """What a vm calls with the exception of a failed call; returns the one to raise."""

    def __init__(self, vm, translation):
        self.known_of_vm = vm.__dict__  # the vm holds this object: its dict, not itself
        self._nodes = translation.nodes
        self._host_calls = translation.host_calls
        self._node_of_location = translation.node_of_location
        self._exceptions = translation.exceptions

    def __call__(self, exception, failed_host_call):
        self.known_of_vm["position_of_error"] = self._position(exception, failed_host_call) or 0
        location = getattr(exception, "location", None)
        if failed_host_call >= 0 or location is None:
            return exception
        # What a translation says is behind what is so of every node of its op.
        for failure, raised in reversed(self._exceptions.get(location, {}).items()):
            if isinstance(exception, failure):
                return _at_the_same_place(raised(str(exception)), exception)
        return exception

    def _position(self, exception, failed_host_call):
        if failed_host_call >= 0:
            return getattr(self._host_calls[failed_host_call], "number", None)
        location = getattr(exception, "location", None)
        if location is None:
            return None
        if location in self._node_of_location:
            return self._node_of_location[location]
        number = re.search(r"#(\d+)", location)
        return int(number[1]) if number and int(number[1]) < len(self._nodes) else None


def _at_the_same_place(exception, ours):
    """With the location of inlay's exception, and its code, which name what failed."""
    exception.location = ours.location
    if not isinstance(exception, errors.InlayError):
        exception.code = ours.code
    return exception
