"""Results that are no arrays: a graph of PyTensor's may end in a ScalarType, whose values are NumPy's numbers."""

from pytensor.scalar.basic import ScalarType


def with_scalar_results(vm, outputs):
    """`vm`, or what calls it where a type of `outputs` is of such results."""
    positions = [i for i, var in enumerate(outputs) if isinstance(var.type, ScalarType)]
    return ScalarResults(vm, positions) if positions else vm


class ScalarResults:
    """A vm whose results at some positions are numbers; what is known of it is known of the other, and the other way."""

    def __init__(self, vm, positions):
        self.__dict__ = vm.__dict__
        self._arrays = vm
        self._positions = positions

    def __call__(self, *args, **kwargs):
        results = self._arrays(*args, **kwargs)
        for i in self._positions:
            results[i] = results[i][()]
        return results
