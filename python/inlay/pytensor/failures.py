"""Which of the user's nodes failed, and with what exception.

A compiled function reports where it failed by the location that the translation gave the node. PyTensor's Function
then raises through `raise_with_op`, which wants the position of the node in the order.
"""

import re

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


class Handler:
    """What a vm calls with the exception of a failed call; returns the one to raise."""

    def __init__(self, vm, translation):
        self.known_of_vm = vm.__dict__  # the vm holds this object: its dict, not itself
        self._nodes = translation.nodes
        self._host_calls = translation.host_calls
        self._node_of_location = translation.node_of_location
        self._exceptions = translation.exceptions

    def __call__(self, exception, failed_host_call):
        position = self._position(exception, failed_host_call)
        if position is None:
            self.known_of_vm["position_of_error"] = 0
            return exception
        self.known_of_vm["position_of_error"] = position
        op = self._nodes[position].op
        if failed_host_call < 0 and isinstance(op, CheckAndRaise) and isinstance(exception, AssertionError):
            return _of_its_own_class(op.exc_type(op.msg), exception)
        if failed_host_call < 0 and position in self._exceptions:
            failure, raised = self._exceptions[position]
            if isinstance(exception, failure):
                return _of_its_own_class(raised(str(exception)), exception)
        if isinstance(op, SpecifyShape) and isinstance(exception, errors.ShapeMismatch):
            words = re.sub(r"^error\[[\w-]+\]: (broadcast|reshape): ", "SpecifyShape: ", str(exception))
            return _of_its_own_class(AssertionError(words), exception)  # as PyTensor's own op does
        if isinstance(op, AdvancedSubtensor | AdvancedIncSubtensor) and isinstance(exception, errors.ShapeMismatch):
            # Index arrays of two lengths, or a mask that is none of the array's; not a value that does not fit.
            if re.search(r": (index arrays|broadcast): ", str(exception)):
                words = re.sub(r"^(error\[)[\w-]+", r"\1index-out-of-bounds", str(exception))
                found = errors.IndexOutOfBounds(words.replace("]: broadcast: ", "]: mask: ", 1))
                found.location = exception.location
                return found
        if isinstance(op, _BROADCASTS) and isinstance(exception, errors.ShapeMismatch):
            return _with_words_of(op, exception)
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


def _with_words_of(op, exception):
    text = str(exception)
    if not _HAPPENS_TO_BE_ONE.search(text.split("\n", 1)[0]):
        return exception
    words = getattr(op, "_runtime_broadcast_error_msg", _REFUSAL)
    return _of_its_own_class(type(exception)(f"{text}\n  help: {words}"), exception)


def _of_its_own_class(exception, ours):
    """What PyTensor's op raises, with inlay's code and location, which name what failed."""
    exception.code, exception.location = ours.code, ours.location
    return exception
