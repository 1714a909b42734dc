"""What a compiled function is for a caller that knows nothing of Python: its program, and what is given once."""

from .functions import how_compiled, pytensor_function


def program_and_arguments(fn):
    """The `_inlay.Program` of `fn`, a PyTensor function or what `inlay.compile` returned, and for each of its arguments
    the value of a shared variable, or None where the caller gives it.

    Errors: TypeError for what inlay did not compile.
    """
    compilation, compiled = how_compiled(fn)
    if compilation is not None:
        return compilation.program, [None] * len(fn.parameters)
    storage = pytensor_function(fn).input_storage
    return compiled.program, [x.storage[0] if getattr(x, "implicit", False) else None for x in storage]


def refuse_updates(fn, refusal):
    """NotImplementedError, which begins with `refusal`, where a call of `fn` updates shared variables."""
    compilation, _ = how_compiled(fn)
    if compilation is not None:
        return
    updated = [str(given.variable) for given in pytensor_function(fn).maker.inputs if given.update is not None]
    if updated:
        raise NotImplementedError(f"{refusal}: a call would not update {', '.join(updated)}")
