"""A compiled function as a C pointer, for callers without Python."""

import itertools
from collections.abc import Mapping

import numpy as np

from ..given import program_and_arguments
from ..text import compilation_of
from .compiled import compiled_of, function_of

FORMS = (None, "logp", "expand")


def c_function(fn, *, form=None, user_data=None, on_error=None, keeps_going=False, pool=None):
    """The C function behind `fn`, a PyTensor function or what `inlay.compile` returned: an object with `address` and
    `signature`.

    The object keeps the code, the bound arrays and copies of the present values of shared variables alive: keep it for
    as long as the address is in use. The function may be called from many threads at once. Row-major arrays only.

    `form`: "logp", one float64 vector in, a scalar and the gradient of the same length out:
    `int f(size_t dim, const double *x, double *grad, double *logp, const void *user_data)`; "expand", one float64 vector
    in, another out: `int f(size_t dim, size_t num_values, const double *x, double *values, const void *user_data)`. 0 is
    success, > 0 where a sampler may reject the point and go on, < 0 a failed check (docs/pymc.md lists the codes).
    None: "logp" where `fn` is one; any other function whose sizes are constants has the form that `signature` says.

    `user_data`: for shared variables of `fn`, where each call finds them in the record that its `user_data` points to,
    as (offset of the address, offset of the dims), in bytes; dims are 64-bit integers in a row. The others are bound.
    Those two, and `on_error`, go with a form that samplers know.

    `on_error`: called with the exception of a call that fails for good, on the thread of that call, which takes the GIL
    for it. `last_error` of the result has its text in any case. `keeps_going`: for a caller that does not survive such a
    call, as nutpie does not: `on_error` is told, the code of "logp" is 2, and "expand" gives NaN and 0.

    `pool`: whose threads run a function that is compiled for several, as (run, first), two addresses: of
    `void run(void *first, size_t count, void (*task)(void *tasks, size_t number), void *tasks)`, which calls
    `task(tasks, number)` once for each number below `count`, on any threads, and returns when all have ended; and of
    what it gets first, or None. `count` is at most the function's `threads`. None: those of inlay.

    Errors: NotImplementedError where a size is not a constant, where `fn` has not the form, where the types show that
    gradient and vector have different lengths, or where a function for one thread gets a pool; KeyError for what is no
    shared variable of `fn`; TypeError and ValueError for what is no pool.
    """
    if form not in FORMS:
        raise ValueError(f"form is {form!r}, not one of {', '.join(map(repr, FORMS))}")
    if form is None and (user_data is not None or on_error is not None or keeps_going):
        raise ValueError("user_data, on_error and keeps_going go with form='logp' or form='expand'")
    compilation = compilation_of(fn)
    if compilation is not None:
        if user_data:
            raise ValueError("user_data is for shared variables, and a function of inlay.compile has none")
        numbers = {}
    else:
        compiled_of(fn)  # says what PyTensor's users know it by
        function = function_of(fn)
        numbers = {
            given.variable: i for i, given in enumerate(function.maker.inputs) if function.input_storage[i].implicit
        }
    program, arguments = program_and_arguments(fn)
    return program.c_function(arguments, form or "", _data(user_data, numbers), on_error, keeps_going, _pool(pool))


def _pool(pool):
    """The two addresses of `pool`."""
    if pool is None:
        return None
    if not (isinstance(pool, tuple | list) and len(pool) == 2):
        raise TypeError(f"pool is {pool!r}, not two addresses: of a function and of what it gets first")
    run, first = pool
    first = 0 if first is None else first
    for address in run, first:
        if not _is_integer(address):
            raise TypeError(f"pool has {address!r}, which is no address")
    if not (0 < run <= _MOST_ADDRESS and 0 <= first <= _MOST_ADDRESS):
        raise ValueError(f"pool is {pool!r}: no address, or none of a function")
    return int(run), int(first)


def _data(user_data, numbers):
    """The offsets in `user_data` by number of the variable. Each byte of the record is of one field."""
    if user_data is None:
        return {}
    if not isinstance(user_data, Mapping):
        raise TypeError(f"user_data is {user_data!r}, not a dict from shared variables to offsets")
    data, fields = {}, []
    for variable, offsets in user_data.items():
        if variable not in numbers:
            raise KeyError(f"{variable} is no shared variable of this function")
        if not (isinstance(offsets, tuple | list) and len(offsets) == 2 and all(_is_offset(x) for x in offsets)):
            raise TypeError(f"user_data of {variable} is {offsets!r}, not two offsets: of the address and of the dims")
        address, dims = data[numbers[variable]] = tuple(map(int, offsets))
        fields.append((address, address + _WORD, f"the address of {variable}"))
        if variable.type.ndim > 0:
            fields.append((dims, dims + _WORD * variable.type.ndim, f"the dims of {variable}"))
    fields.sort(key=lambda field: field[:2])
    if fields and max(end for _, end, _ in fields) > _MOST_BYTES:
        raise ValueError(f"user_data: no record has room for {max(fields, key=lambda field: field[1])[2]}: it ends beyond 2**63 bytes")
    for (_, end, one), (begin, _, other) in itertools.pairwise(fields):
        if begin < end:
            raise ValueError(f"user_data: {one} and {other} share bytes of the record")
    return data


_WORD = 8  # bytes of an address and of a dim
_MOST_BYTES = 2**63 - 1
_MOST_ADDRESS = 2**64 - 1


def _is_offset(x):
    return _is_integer(x) and x >= 0


def _is_integer(x):
    return isinstance(x, int | np.integer) and not isinstance(x, bool)
