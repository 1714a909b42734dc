"""Functions that SciPy calls without Python: `scipy.LowLevelCallable`."""

import functools

from .given import program_and_arguments, refuse_updates

FORMS = ("integrand", "filter", "filter1d")


def low_level_callable(fn, form="integrand"):
    """`fn` as a `scipy.LowLevelCallable`: what `inlay.compile` returned, or a PyTensor function that inlay compiled.

    `form`: "integrand", for `scipy.integrate.quad` and `nquad`: float64 numbers, or one float64 vector, into a
    float64 number; "filter", for `scipy.ndimage.generic_filter`: a float64 vector, the window, into a number;
    "filter1d", for `generic_filter1d`: a float64 vector, the line with its margins, into a vector, the new line.
    Further arguments of an integrand are `args=` of SciPy's function.

    It may be called from many threads at once, and keeps the code, bound arrays and copies of the present values of
    shared variables. An integrand that fails is NaN there, and `last_error` has the text of the last failure, else
    None; a filter that fails raises.

    Errors: TypeError for what inlay did not compile; NotImplementedError where `fn` has not the form, or updates shared
    variables.

    >>> f = inlay.compile("graph @main(%x: f64) { %m = neg %x  %y = exp %m  return %y }")
    >>> scipy.integrate.quad(inlay.low_level_callable(f), 0, np.inf)
    (1.0000000000000002, 5.842607036115737e-11)
    """
    if form not in FORMS:
        raise ValueError(f"form is {form!r}, not one of {', '.join(map(repr, FORMS))}")
    program, arguments = program_and_arguments(fn)
    refuse_updates(fn, "no low-level callable")
    function = program.low_level(arguments, form)
    callable_ = _class()(function.capsule())
    callable_._function = function
    return callable_


@functools.cache
def _class():
    from scipy import LowLevelCallable as Base

    class LowLevelCallable(Base):
        @property
        def last_error(self):
            """What the last call that failed said; None: none did."""
            return self._function.last_error

    return LowLevelCallable
