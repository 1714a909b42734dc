"""Programs in inlay's text form."""

from . import _inlay


def compile(text, file_name="<text>"):
    """The function that a program in text form describes.

    It takes NumPy arrays, one for each parameter in order, of the dtype and rank that the program says, in any memory
    layout, and returns new arrays: one, or a tuple of several. It may be called from many threads at once. A program
    with bound parameters or host calls needs a door that supplies them and cannot be compiled from text alone.

    Errors: ValueError for text that is no program, with file, line and column; TypeError for an argument of another
    dtype or rank, ValueError for sizes that do not fit, IndexError for an index out of bounds. After an error the
    function is as it was.

    >>> axpy = inlay.compile('''graph @main(%a: f64, %x: f64[n], %y: f64[n]) {
    ...   %p = mul %a, %x
    ...   %s = add %p, %y
    ...   return %s
    ... }''')
    >>> axpy(2.0, np.ones(3), np.ones(3))
    array([3., 3., 3.])
    """
    return _inlay.compile(_inlay.parse(text, file_name)).function()
