"""Functions as C, objects and shared libraries: `export`."""

import os
from pathlib import Path

import numpy as np

from . import _inlay
from .choices import a_kind
from .errors import UnknownName
from .files import write_whole
from .functions import how_compiled, not_compiled, pytensor_function
from .text import bound_arrays, by_name, compilation_of


def export(
    fn,
    directory,
    kind="c",
    *,
    name=None,
    sizes=None,
    bound=None,
    freestanding=False,
    blas=False,
    section=None,
    single_precision=None,
):
    """Writes a function as C99, or what the system's C compiler makes of that, with one header, for programs that know
    nothing of Python and of inlay. Returns a list of the paths of both, of the header and of the code, with `sizes`.

    `fn`: the text of a program, what `inlay.compile` returned, or a PyTensor function that inlay compiled. `directory`:
    is made where it is not there. `kind`: "c" (NAME.c), "object" (NAME.o) or "shared" (libNAME.so). `name`: of the
    function in C; that of the program or of the PyTensor function where none is given. `sizes`: for sizes, by name, a
    number that every call has. `bound`: of a text, for each of its bound parameters, by name, its array, which lies in
    the code; a function has those that it was compiled with.

    `freestanding`: the C includes no header of a hosted C (no math.h, no string.h), as for microcontrollers.
    `blas`: matmul, cholesky, solve_triangular, solve and lu_factor of f32 and f64 call a BLAS and a LAPACK (dgemm_,
    ...), which whoever links the code brings. `section`: bound arrays and constants lie in the section of the object
    file that is called so.
    `single_precision`: what the program computes in f64 only to round it to f32, as softmax and mean of f32 do, is
    computed in f32; as the function was compiled where that is not said.

    The header has the plan of memory, which `inlay explain` reads from there.

    Where every size is fixed the header declares `int32_t NAME(const double x[64], ..., double y[64], void *arena)`,
    else only the entry that takes an InlayCall. The code allocates nothing and needs no library but libm, and BLAS where
    `blas` asks for it.

    `sizes` of what is returned are bytes by name, None where they are not known: "arena", of working memory, where it
    does not depend on sizes that are not fixed; of an object and a library "text" (what is run), "rodata" (what is read:
    bound arrays, too), "data" (what is written) and "stack", the most that a call has there without functions of libm,
    where the C compiler tells it (gcc does).

    A function of `inlay.compile` has this as a method, too: `fn.export(directory)`.

    Errors: NotImplementedError for a program that calls what has no C source (host functions, opaque values),
    with all of them, and nothing is written; ValueError for names and sizes that the program has not; TypeError for what
    inlay did not compile.

    >>> inlay.export('''graph @twice(%x: f64[n]) {
    ...   %y = add %x, %x
    ...   return %y
    ... }''', "build", sizes={"n": 3})
    [PosixPath('build/twice.h'), PosixPath('build/twice.c')]
    """
    _inlay.require_export_kind(kind)
    if single_precision is not None and not isinstance(single_precision, bool):
        raise TypeError(f"single_precision= takes True or False, not {a_kind(single_precision)}")
    text, file_name, default_name, arrays = parts_of(fn)
    if bound is not None:
        if not isinstance(fn, str):
            raise TypeError("bound= is for the text of a program: a function has its arrays")
        graph = _inlay.parse(text)
        arrays = _named(graph, bound_arrays(graph, by_name("bound", bound)))
    arrays = {key: np.asarray(array, order="C") for key, array in arrays.items()}
    name = _name(name, default_name)
    if single_precision is None:
        single_precision = _is_single(fn)
    choices = (by_name("sizes", sizes), arrays, bool(freestanding), bool(blas), section, single_precision)
    *files, in_bytes = _inlay.exported(text, file_name, name, kind, *choices)
    folder = Path(directory)
    folder.mkdir(parents=True, exist_ok=True)
    for file, data in files:
        write_whole(str(folder / file), data)
    return Exported([folder / file for file, _ in files], in_bytes)


class Exported(list):
    """The paths of the header and of the code; `sizes`: bytes by name, as `export` says."""

    def __init__(self, paths, sizes):
        super().__init__(paths)
        self.sizes = sizes


def parts_of(fn):
    """The text, its file, how the function is called, and arrays by the names of bound parameters."""
    if isinstance(fn, str):
        return fn, "<text>", _inlay.parse(fn).name, {}
    try:
        compilation, compiled = how_compiled(fn)
    except TypeError:
        raise not_compiled(fn, "; inlay.export takes the text of a program, or a function") from None
    if compilation is not None:
        text, file_name = (compilation.arguments or (compilation.program.explain()["graph"], "<text>"))[:2]
        graph = _inlay.parse(text)
        return text, os.fspath(file_name), graph.name, _named(graph, compilation.bound)
    text = compiled.program.explain()["graph"]
    name = getattr(pytensor_function(fn), "name", None)
    return text, "<PyTensor>", name, _named(_inlay.parse(text), compiled.translation.bound)


def _is_single(fn):
    """Whether the text of a function is to be rewritten as it was when the function was compiled. A graph that was
    rewritten already, as of a PyTensor function, is so."""
    compilation = compilation_of(fn)
    return compilation is not None and compilation.arguments is not None and bool(compilation.arguments[4].single_precision)


def _named(graph, arrays):
    names = [name for name, *_, is_bound in graph.parameters if is_bound]
    return dict(zip(names, arrays, strict=True))


def _name(given, default):
    name = given if given is not None else default
    if name is None or (given is None and _inlay.wrong_export_name(name)):
        why = "has no name" if name is None else f"cannot be called as its program: {_inlay.wrong_export_name(name)}"
        raise UnknownName(f"error[unknown-name]: the function {why}\n  help: name='...' says how C calls it")
    return name
