"""Functions as C, objects and shared libraries: `export`."""

import operator
import os
import sys
from pathlib import Path

import numpy as np

from . import _inlay
from .choices import a_kind
from .errors import UnknownName
from .files import write_whole
from .text import bound_arrays, by_name, compilation_of


def export(fn, directory, kind="c", *, name=None, sizes=None, bound=None, freestanding=False, blas=False):
    """Writes a function as C99, or what the system's C compiler makes of that, with one header, for programs that know
    nothing of Python and of inlay. Returns the paths of both: of the header and of the code.

    `fn`: the text of a program, what `inlay.compile` returned, or a PyTensor function that inlay compiled. `directory`:
    is made where it is not there. `kind`: "c" (NAME.c), "object" (NAME.o) or "shared" (libNAME.so). `name`: of the
    function in C; that of the program or of the PyTensor function where none is given. `sizes`: for sizes, by name, a
    number that every call has. `bound`: of a text, for each of its bound parameters, by name, its array, which lies in
    the code; a function has those that it was compiled with.

    `freestanding`: the C includes no header of a hosted C (no math.h, no string.h), as for microcontrollers.
    `blas`: matmul, cholesky, solve_triangular, solve and lu_factor of f32 and f64 call a BLAS and a LAPACK (dgemm_,
    ...), which whoever links the code brings.

    Where every size is fixed the header declares `int32_t NAME(const double x[64], ..., double y[64], void *arena)`,
    else only the entry that takes an InlayCall. The code allocates nothing and needs no library but libm, and BLAS where
    `blas` asks for it.

    Errors: NotImplementedError for a program that calls what has no C source (host functions, eigvals, ...), with
    all of them, and nothing is written; ValueError for names and sizes that the program has not; TypeError for what
    inlay did not compile.

    >>> inlay.export('''graph @twice(%x: f64[n]) {
    ...   %y = add %x, %x
    ...   return %y
    ... }''', "build", sizes={"n": 3})
    [PosixPath('build/twice.h'), PosixPath('build/twice.c')]
    """
    text, file_name, default_name, arrays = parts_of(fn)
    if bound is not None:
        if not isinstance(fn, str):
            raise TypeError("bound= is for the text of a program: a function has its arrays")
        graph = _inlay.parse(text)
        arrays = _named(graph, bound_arrays(graph, by_name("bound", bound)))
    arrays = {key: np.asarray(array, order="C") for key, array in arrays.items()}
    numbers = {key: operator.index(number) for key, number in by_name("sizes", sizes).items()}
    name = _name(name, default_name)
    files = _inlay.exported(text, file_name, name, kind, numbers, arrays, bool(freestanding), bool(blas))
    folder = Path(directory)
    folder.mkdir(parents=True, exist_ok=True)
    for file, data in files:
        write_whole(str(folder / file), data)
    return [folder / file for file, _ in files]


def parts_of(fn):
    """The text, its file, how the function is called, and arrays by the names of bound parameters."""
    if isinstance(fn, str):
        return fn, "<text>", _inlay.parse(fn).name, {}
    compilation = compilation_of(fn)
    if compilation is not None:
        text, file_name = (compilation.arguments or (compilation.program.explain()["graph"], "<text>"))[:2]
        graph = _inlay.parse(text)
        return text, os.fspath(file_name), graph.name, _named(graph, compilation.bound)
    if "inlay.pytensor" in sys.modules:  # else there is no such function
        from .pytensor.compiled import find_compiled, function_of

        compiled = find_compiled(fn)
        if compiled is not None:
            text = compiled.program.explain()["graph"]
            name = getattr(function_of(fn), "name", None)
            return text, "<PyTensor>", name, _named(_inlay.parse(text), compiled.translation.bound)
    raise TypeError(
        f"inlay.export takes the text of a program, or a function that inlay compiled, by inlay.compile or by PyTensor "
        f"with mode='INLAY', not {a_kind(fn)}"
    )


def _named(graph, arrays):
    names = [name for name, *_, is_bound in graph.parameters if is_bound]
    return dict(zip(names, arrays, strict=True))


def _name(given, default):
    name = given if given is not None else default
    if name is None or (given is None and _inlay.wrong_export_name(name)):
        why = "has no name" if name is None else f"cannot be called as its program: {_inlay.wrong_export_name(name)}"
        raise UnknownName(f"error[unknown-name]: the function {why}\n  help: name='...' says how C calls it")
    return name
