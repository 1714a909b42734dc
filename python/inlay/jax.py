"""Compiled functions for JAX: calls within what `jax.jit` compiles (typed FFI, CPU).

`as_jax(fn)` is a function of JAX arrays, `log_density(model)` that of a PyMC model. Both can be jitted, batched by
`jax.vmap`, and differentiated once where the gradient is given.
"""

import collections
import contextlib
import functools
import operator
import threading

import numpy as np

from . import _inlay, errors
from .choices import a_kind
from .given import program_and_arguments, refuse_updates

__all__ = ["as_jax", "log_density"]

_NAME = "inlay"
# Functions that were traced last. An executable of XLA's keeps its functions; but between `jax.jit(as_jax(fn)).lower(x)`
# and `.compile()` there is none, and what was lowered has only their numbers.
_LOCK = threading.Lock()
_TRACED = collections.deque(maxlen=16)
_DTYPES = {
    "bool": "bool", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "u8": "uint8", "u16": "uint16",
    "u32": "uint32", "u64": "uint64", "f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64",
    "c64": "complex64", "c128": "complex128",
}  # fmt: skip


def as_jax(fn, *, argnums=None):
    """`fn` as a function of JAX arrays, by position: what `inlay.compile` returned, or a PyTensor function that inlay
    compiled (`mode="INLAY"`), also one that was loaded from a file. It returns an array, or a tuple of several.

    `argnums`: `fn` is what `jax.value_and_grad(f, argnums)` would be, and `f` is returned: a function with the first
    result of `fn`, a number, whose gradients by these arguments are the other results, in that order. It can be
    differentiated once, forward and in reverse; by other arguments it cannot. None: all results, without a derivative.

    It can be jitted, and batched by `jax.vmap`: one call of XLA's then goes through the batch, on one thread. Calls
    may run on many threads at once. The present values of shared variables are copied. Shapes are those of the trace; a
    failed check is JAX's own error, with the message that inlay has for it.

    Errors: TypeError for what inlay did not compile, and for arguments of other dtypes; ValueError for sizes that do
    not fit; NotImplementedError where a result's size is found only while `fn` runs, where `fn` updates shared
    variables or overwrites an argument, and for a build of inlay without XLA's header.
    """
    if not _inlay.xla_handlers():
        raise NotImplementedError(
            "inlay.jax: inlay was built without XLA's header, which comes with jaxlib: "
            "build it where jaxlib 0.12 or later is installed"
        )
    program, arguments = program_and_arguments(fn)
    refuse_updates(fn, "no JAX function")
    call = _Call(program.xla_function(arguments))
    if argnums is None:
        return call.without_derivative()
    several = isinstance(argnums, tuple | list)
    return call.with_gradient(tuple(argnums) if several else (argnums,))


def log_density(model):
    """The log density of a PyMC model as a function for JAX's samplers: of a dict, as `model.initial_point()` is one,
    from the names of its value variables to arrays. It can be differentiated once.

    Data (`pm.Data`) have the values that they have now.

    Errors: NotImplementedError for discrete variables, and a log density without a gradient; TypeError for what is no
    model; those of `as_jax`.

    >>> logp = inlay.jax.log_density(model)
    >>> jax.value_and_grad(logp)(model.initial_point())
    """
    from . import pytensor as inlay_pytensor
    from .pymc.limits import derivative, refuse_discrete

    if not hasattr(model, "value_vars"):
        raise TypeError(f"log_density takes a PyMC model, not {a_kind(model)}")
    refuse_discrete(model, NotImplementedError, "a gradient is of")
    values = model.value_vars
    logp = model.logp()
    outputs = [logp, *derivative(logp, values, NotImplementedError, "the gradient of the log density")]
    fn = model.compile_fn(outputs, inputs=values, mode=inlay_pytensor.MODE, point_fn=False, on_unused_input="ignore")
    positional = as_jax(fn, argnums=tuple(range(len(values))))
    names = [value.name for value in values]

    def log_density(point):
        if set(point) != set(names):
            raise KeyError(f"the log density is one of {', '.join(names)}, not of {', '.join(map(str, point))}")
        return positional(*(point[name] for name in names))

    return log_density


class _Call:
    """An XlaFunction in JAX's words."""

    def __init__(self, function):
        self.function = function
        self.arguments = function.arguments  # name, dtype, rank
        self.results = function.results
        if not self.results:
            raise NotImplementedError("no JAX function: it returns nothing")

    def __call__(self, *given):
        """All results, as a tuple."""
        import jax

        _register()
        arrays = self._arrays(given)
        dims = self.function.result_dims([list(map(int, x.shape)) for x in arrays])
        dtypes = [_dtype(dtype) for _, dtype, _ in self.results]
        with _LOCK:
            if self.function in _TRACED:
                _TRACED.remove(self.function)
            _TRACED.append(self.function)
        shapes = tuple(jax.ShapeDtypeStruct(tuple(own), dtype) for own, dtype in zip(dims, dtypes, strict=True))
        call = jax.ffi.ffi_call(_NAME, shapes, vmap_method="expand_dims")
        return call(*arrays, number=np.int64(self.function.number))

    def _arrays(self, given):
        import jax
        import jax.numpy as jnp

        if len(given) != len(self.arguments):
            raise errors.WrongArgumentCount(
                f"error[wrong-argument-count]: the function takes {len(self.arguments)} arguments, not {len(given)}"
            )
        wide = [dtype for _, dtype, _ in (*self.arguments, *self.results) if dtype in ("f64", "i64", "u64", "c128")]
        if wide and not jax.config.jax_enable_x64:
            raise errors.WrongDtype(
                f"error[wrong-dtype]: the function has arrays of {wide[0]}, which JAX makes narrower"
                '\n  help: jax.config.update("jax_enable_x64", True), before the first array is made'
            )
        arrays = []
        for i, (x, (name, dtype, rank)) in enumerate(zip(given, self.arguments, strict=True)):
            name = name if name and name[0] != "$" else f"argument {i}"
            wanted = _dtype(dtype)
            array = jnp.asarray(x, wanted) if _is_number_for(x, wanted) else jnp.asarray(x)
            if array.dtype != wanted:
                raise errors.WrongDtype(
                    f"error[wrong-dtype]: {name}: an array of {array.dtype} where {dtype} is expected"
                    f'\n  help: inlay casts nothing silently: {name}.astype("{wanted.name}")'
                )
            if array.ndim != rank:
                raise errors.WrongRank(
                    f"error[wrong-rank]: {name}: an array of rank {array.ndim}, {list(array.shape)}, "
                    f"where rank {rank} is expected"
                )
            arrays.append(array)
        return arrays

    def without_derivative(self):
        why = "the function has no derivative: inlay.jax.as_jax(value_and_gradient, argnums=...) has one"
        call = _refuses(self, why)
        return lambda *given: _one_or_all(call(*self._arrays(given)))

    def with_gradient(self, argnums):
        """The first result, with the others as its gradients by the arguments `argnums`."""
        import jax
        import jax.numpy as jnp
        from jax.custom_derivatives import SymbolicZero

        argnums = self._checked(argnums)
        once = _refuses(self, "the gradient of the function has no derivative: it can be differentiated once")

        @jax.custom_jvp
        def value(*given):
            return self(*given)[0]

        def jvp(given, tangents):
            out, *gradients = once(*given)
            tangent = jnp.zeros_like(out)
            for i, direction in enumerate(tangents):
                if isinstance(direction, SymbolicZero):
                    continue
                if i not in argnums:
                    raise NotImplementedError(
                        f"the function has no derivative by argument {i}, which argnums does not name"
                    )
                gradient = gradients[argnums.index(i)]
                if gradient.shape != given[i].shape:
                    raise errors.ShapeMismatch(
                        f"error[shape-mismatch]: the gradient by argument {i} has shape {gradient.shape}, "
                        f"not {given[i].shape}"
                    )
                tangent = tangent + jnp.sum(gradient * direction).astype(out.dtype)
            return out, tangent

        value.defjvp(jvp, symbolic_zeros=True)
        return lambda *given: value(*self._arrays(given))

    def _checked(self, argnums):
        count = len(self.arguments)
        argnums = [_position(i, count) for i in argnums]
        if len(set(argnums)) != len(argnums):
            raise ValueError("argnums names an argument twice")
        if len(self.results) != 1 + len(argnums):
            raise ValueError(
                f"argnums: the function must return a value and {len(argnums)} gradients, "
                f"and it returns {len(self.results)} results"
            )
        _, dtype, rank = self.results[0]
        if rank != 0 or dtype not in ("f32", "f64"):
            raise ValueError(f"argnums: the first result must be one f32 or f64, not {dtype} of rank {rank}")
        for i, (_, found, found_rank) in zip(argnums, self.results[1:], strict=True):
            if self.arguments[i][1] not in ("f32", "f64"):
                raise ValueError(f"argnums: argument {i} is {self.arguments[i][1]}, and derivatives are by f32 and f64")
            if (found, found_rank) != self.arguments[i][1:]:
                raise ValueError(f"argnums: a gradient by argument {i} cannot be {found} of rank {found_rank}")
        return argnums


def _position(i, count):
    with contextlib.suppress(TypeError):  # it is no whole number
        if not isinstance(i, bool) and -count <= operator.index(i) < count:
            return operator.index(i) % count
    raise ValueError(f"argnums: {i!r} is no position among {count} arguments")


def _refuses(function, why):
    """`function`, whose derivative is the error `why`."""
    import jax
    from jax.custom_derivatives import SymbolicZero

    @jax.custom_jvp
    def call(*given):
        return function(*given)

    def jvp(given, tangents):
        if any(not isinstance(x, SymbolicZero) for x in tangents):
            raise NotImplementedError(f"inlay.jax: {why}")
        out = call(*given)
        return out, tuple(SymbolicZero(jax.core.get_aval(x).to_tangent_aval()) for x in out)

    call.defjvp(jvp, symbolic_zeros=True)
    return call


def _one_or_all(results):
    return results[0] if len(results) == 1 else results


_ORDER_OF_KINDS = {"b": 0, "i": 1, "u": 1, "f": 2, "V": 2, "c": 3}  # V: bfloat16


def _is_number_for(x, dtype):
    """Whether it is a number of Python's, also one that JAX traces, which an array of this dtype can be."""
    if type(x) in (bool, int, float, complex):
        kind = np.dtype(type(x)).kind
    elif getattr(x, "weak_type", False):
        kind = x.dtype.kind
    else:
        return False
    return _ORDER_OF_KINDS[kind] <= _ORDER_OF_KINDS[dtype.kind]


def _dtype(name):
    if name == "bf16":
        import jax.numpy as jnp

        return np.dtype(jnp.bfloat16)
    return np.dtype(_DTYPES[name])


def _register():
    with _LOCK:
        _register_once()


@functools.cache
def _register_once():
    """Once for a process: one target calls all functions."""
    import jax

    if not hasattr(jax.ffi, "register_ffi_type"):
        raise NotImplementedError(f"inlay.jax: JAX {jax.__version__} has no jax.ffi.register_ffi_type; 0.12 has it")
    # Where there is a client, XLA numbers the type at once; the target is asked for that number.
    jax.local_devices(backend="cpu")
    handlers = _inlay.xla_handlers()
    jax.ffi.register_ffi_type(_NAME, handlers["type"], platform="cpu")
    jax.ffi.register_ffi_target(_NAME, handlers["target"], platform="cpu")
