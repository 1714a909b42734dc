"""What PyMC compiles for a fit and has for the next one too, in one process.

Data are shared variables, so functions of a model are the same whatever these hold. PyMC keeps functions of its frozen
models (since version 6.3). It also makes constants there of what the free variables depend on, as their shapes are in
what it compiles: here each of the last shapes has functions of its own instead, and data stay what they are.
"""

import contextlib
import copy
import functools
from collections import OrderedDict

# Of free variables: of so many shapes functions are kept.
_MOST_SHAPES = 4


class CompiledOnce:
    """For the model of a process, which makes one fit at a time."""

    def __init__(self, model):
        self._model, self._kept = model, OrderedDict()

    @contextlib.contextmanager
    def fit(self):
        """Within the block the model, with the data of a fit, compiles what it has not compiled. Yields a dict for more that
        is to be kept, or None where nothing is: by this version of PyMC, and of a model whose class is the user's, which
        may have a log density of its own."""
        from pymc import Model

        known = _class_of_model() if type(self._model) is Model else None
        if known is None:
            yield None
            return
        model = self._model
        model.__class__ = known
        try:
            kept, model._cache = self._of_shapes()
            with _steps_of_fits(model, kept):
                yield kept
        finally:
            model.__class__ = Model
            vars(model).pop("_cache", None)

    def _of_shapes(self):
        shapes = tuple((name, value.shape) for name, value in sorted(self._start(0).items()))
        known = self._kept.setdefault(shapes, ({}, _caches()))
        self._kept.move_to_end(shapes)
        while len(self._kept) > _MOST_SHAPES:
            self._kept.popitem(last=False)
        return known

    @functools.cached_property
    def _start(self):
        self._model._cache = _caches()
        return self._model._make_initial_point()


def _caches():
    """Of functions by the name of a method, as PyMC makes it where a model has none."""
    from collections import defaultdict

    from pymc.util import LRUCache

    return defaultdict(lambda: LRUCache(32))


@functools.cache
def _class_of_model():
    """None where this version of PyMC lacks something that is used here."""
    from pymc import util
    from pymc.model import core
    from pymc.step_methods import metropolis

    used = [
        (core, "FrozenModel"),
        (getattr(core, "FrozenModel", None), "_cached_logp_dlogp_function"),
        (core.Model, "_make_initial_point"),
        (util, "locally_cachedmethod"),
        (metropolis, "make_shared_replacements"),
        (metropolis, "delta_logp"),
    ]
    if not all(hasattr(of, name) for of, name in used):
        return None

    class ModelOfFits(core.FrozenModel):
        # Graphs that are made anew have functions that are compiled anew.
        _value_vars = util.locally_cachedmethod(lambda self: core.BaseModel.unobserved_value_vars.fget(self))
        unobserved_value_vars = property(lambda self: self._value_vars())

        def _logp_dlogp_function(self, *args, **kwargs):
            """Not a copy for each caller, as there is one at a time, which sets its values first."""
            return self._cached_logp_dlogp_function(*args, **kwargs)

    return ModelOfFits


@contextlib.contextmanager
def _steps_of_fits(model, kept):
    """Within the block the functions that Metropolis steps of this model compile are kept. These read the variables that a
    step leaves alone from shared variables, which PyMC makes anew for each step, and sets before it calls them."""
    from pymc.step_methods import metropolis

    make_shared, make_function = metropolis.make_shared_replacements, metropolis.delta_logp

    def shared_of_fits(point, vars, of):
        if of is not model:
            return make_shared(point, vars, of)
        key = "shared", *vars
        if key not in kept:
            kept[key] = make_shared(point, vars, of)
        for variable, value in kept[key].items():
            value.set_value(point[variable.name])
        return kept[key]

    def function_of_fits(point, logp, vars, shared, compile_kwargs):
        if kept.get(("shared", *vars)) is not shared or compile_kwargs:
            return make_function(point, logp, vars, shared, compile_kwargs)
        key = "function", logp, *vars
        if key not in kept:
            kept[key] = make_function(point, logp, vars, shared, compile_kwargs)
        return kept[key]

    metropolis.make_shared_replacements, metropolis.delta_logp = shared_of_fits, function_of_fits
    try:
        yield
    finally:
        metropolis.make_shared_replacements, metropolis.delta_logp = make_shared, make_function


def kernel_of_fits(kernel, kept, and_then=lambda cls: cls):
    """What `pymc.sample_smc` calls for a kernel, with the functions that an earlier one of the same shapes compiled. `kept`
    as CompiledOnce has it; `and_then`: makes another class of a class."""
    if kept is None or not _is_of_pymc(kernel, "__init__"):
        return and_then(kernel)

    def made(**given):
        """The seed says at which point the functions are made, and they know its shapes alone."""
        if "kernel" not in kept:
            kept["kernel"] = and_then(_class_of_kernel(kernel))(**given)
        return copy.copy(kept["kernel"])

    return made


def _is_of_pymc(kernel, name):
    """Whether a method is not of the user's."""
    return getattr(kernel, name).__module__ == "pymc.smc.kernels"


def _class_of_kernel(kernel):
    own = {name: method for name, method in _METHODS.items() if _is_of_pymc(kernel, name)}
    return type(kernel.__name__, (kernel,), own | {"of_user": kernel})


def _set_rng(self, rng):
    """PyMC copies its functions here, so that each chain draws otherwise in them: most draw nothing."""
    from pytensor.tensor.random.type import RandomType

    functions = self.prior_logp_func, self.likelihood_logp_func
    if any(isinstance(shared.type, RandomType) for function in functions for shared in function.get_shared()):
        self.of_user.set_rng(self, rng)
    else:
        self.rng = rng


def _initialize_population(self):
    """As `pymc.draw` does it, by a function that is kept."""
    import numpy as np
    import pymc
    from pymc.util import _get_seeds_per_chain

    (seed,) = _get_seeds_per_chain(self.rng, 1)
    drawn = pymc.modelcontext(None).compile_fn(self._prior_expression, inputs=[], point_fn=False, random_seed=seed)
    values = zip(*(drawn() for _ in range(self.draws)), strict=True)
    return {name: np.stack(of) for name, of in zip(self._prior_var_names, values, strict=True)}


_METHODS = {"set_rng": _set_rng, "initialize_population": _initialize_population}
