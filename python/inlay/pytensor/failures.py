"""Which of the user's nodes failed, and with what exception.

A compiled function reports where it failed by the location that the translation gave the node. PyTensor's Function
then raises through `raise_with_op`, which wants the position of the node in the order.
"""

import re

from pytensor.raise_op import CheckAndRaise
from pytensor.tensor.shape import SpecifyShape
from pytensor.tensor.subtensor import AdvancedIncSubtensor, AdvancedSubtensor

from .. import errors


class Handler:
    """What a vm calls with the exception of a failed call; returns the one to raise."""

    def __init__(self, vm, translation):
        self._vm_dict = vm.__dict__  # the vm holds this object: its dict, not itself
        self._nodes = translation.nodes
        self._host_calls = translation.host_calls
        self._node_of_location = translation.node_of_location
        self._exceptions = translation.exceptions

    def __call__(self, exception, failed_host_call):
        position = self._position(exception, failed_host_call)
        if position is None:
            self._vm_dict["position_of_error"] = 0
            return exception
        self._vm_dict["position_of_error"] = position
        op = self._nodes[position].op
        if failed_host_call < 0 and isinstance(op, CheckAndRaise) and isinstance(exception, AssertionError):
            return _of_its_own_class(op.exc_type(op.msg), exception)
        if failed_host_call < 0 and position in self._exceptions:
            return _of_its_own_class(self._exceptions[position](str(exception)), exception)
        if isinstance(op, SpecifyShape) and isinstance(exception, errors.ShapeMismatch):
            words = re.sub(r"^error\[[\w-]+\]: (broadcast|reshape): ", "SpecifyShape: ", str(exception))
            return _of_its_own_class(AssertionError(words), exception)  # as PyTensor's own op does
        if isinstance(op, AdvancedSubtensor | AdvancedIncSubtensor) and isinstance(exception, errors.ShapeMismatch):
            # Index arrays of two lengths, or a mask that is none of the array's; not a value that does not fit.
            if re.search(r": (index arrays|broadcast): ", str(exception)):
                words = re.sub(r"^(error\[)[\w-]+(\]: )broadcast: ", r"\1index-out-of-bounds\2mask: ", str(exception))
                return _of_its_own_class(errors.IndexOutOfBounds(words), exception)
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


def _of_its_own_class(exception, ours):
    """What PyTensor's op raises, with inlay's code and location, which name what failed."""
    exception.code, exception.location = ours.code, ours.location
    return exception
