"""From PyTensor's graphs to inlay's. One file for each family of ops; `registry.py` says how one is added.

`translator.py` goes through the nodes. What it knows of a function is in parts: the graph that is built (`bodies.py`),
constants, the names in the graph, the place that errors name (`place.py`), the users of variables, calls of the host
and the branches of IfElse. `sizes.py` and `dims.py` are all there is about sizes.
"""

from . import (  # noqa: F401  (registers translations)
    choose,
    convolve,
    diagonal,
    elemwise,
    index_numbers,
    join,
    late,
    linalg,
    reduce,
    scan,
    shape,
    sort,
    special,
    structure,
    subtensor,
)
from .registry import NotNative, register
from .translator import Translation, Translator, translate

__all__ = ["NotNative", "Translation", "Translator", "register", "translate"]
