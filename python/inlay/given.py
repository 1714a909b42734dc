"""What a compiled function is for a caller that knows nothing of Python: its program, and what is given once."""

import sys

from .choices import a_kind
from .text import compilation_of


def program_and_arguments(fn):
    """The `_inlay.Program` of `fn`, a PyTensor function or what `inlay.compile` returned, and for each of its arguments
    the value of a shared variable, or None where the caller gives it.

    Errors: TypeError for what inlay did not compile.
    """
    compilation = compilation_of(fn)
    if compilation is not None:
        return compilation.program, [None] * len(fn.parameters)
    function = _pytensor_function(fn)
    storage = function.input_storage
    arguments = [x.storage[0] if getattr(x, "implicit", False) else None for x in storage]
    return function.vm.compiled.program, arguments


def refuse_updates(fn, refusal):
    """NotImplementedError, which begins with `refusal`, where a call of `fn` updates shared variables."""
    if compilation_of(fn) is not None:
        return
    updated = [str(given.variable) for given in _pytensor_function(fn).maker.inputs if given.update is not None]
    if updated:
        raise NotImplementedError(f"{refusal}: a call would not update {', '.join(updated)}")


def _pytensor_function(fn):
    if "inlay.pytensor" in sys.modules:  # else there is no such function
        from .pytensor.compiled import find_compiled, function_of

        if find_compiled(fn) is not None:
            return function_of(fn)
    raise TypeError(
        f"a function that inlay compiled is wanted, by inlay.compile or by PyTensor with mode='INLAY', not {a_kind(fn)}"
    )
