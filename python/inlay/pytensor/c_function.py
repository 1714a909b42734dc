"""A compiled function as a C pointer, for callers without Python."""

from ..text import Compilation
from .compiled import compiled_of, function_of


def c_function(fn):
    """The C function behind `fn`, a PyTensor function or what `inlay.compile` returned: an object with `address` and
    `signature`.

    The object keeps the code, the bound arrays and copies of the present values of shared variables alive: keep it for
    as long as the address is in use. The function may be called from many threads at once.

    One float64 vector in, a scalar and the gradient of the same length out (a log density as samplers know it) has the
    form `int f(size_t dim, const double *x, double *grad, double *logp, const void *user_data)`: 0 is success, > 0 a
    result that is not finite, < 0 a failed check (docs/pymc.md lists the codes); `user_data` is not looked at. Any
    other function whose sizes are constants has the form that `signature` says. Row-major arrays only.

    Errors: NotImplementedError where a size is not a constant, or a gradient is never as long as its vector.
    """
    if isinstance(getattr(fn, "compilation", None), Compilation):
        return fn.compilation.program.c_function([None] * len(fn.parameters))
    compiled = compiled_of(fn)
    arguments = [
        container.storage[0] if getattr(container, "implicit", False) else None
        for container in function_of(fn).input_storage
    ]
    return compiled.program.c_function(arguments)
