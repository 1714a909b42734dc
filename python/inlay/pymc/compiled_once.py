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
    from pymc.sampling import mcmc
    from pymc.step_methods import metropolis, slicer

    used = [
        (core, "FrozenModel"),
        (getattr(core, "FrozenModel", None), "_cached_logp_dlogp_function"),
        (core.Model, "_make_initial_point"),
        (util, "locally_cachedmethod"),
        (metropolis, "make_shared_replacements"),
        (metropolis, "delta_logp"),
        (mcmc, "assign_step_methods"),
        *((slicer, name) for name in ("make_shared_replacements", "join_nonshared_inputs", "compile")),
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

        def compile_fn(self, outs, **kwargs):
            return super().compile_fn(_known_graph(self, outs), **kwargs)

    return ModelOfFits


def _known_graph(model, outs):
    """An equal graph that was asked for before, as PyMC makes that of the number of categories anew for each step."""
    from pytensor.graph.basic import Variable, equal_computations

    if not isinstance(outs, Variable):
        return outs
    known = model._cache["known graphs"]
    for graph in known.values():
        if graph is outs or (graph.name == outs.name and equal_computations([graph], [outs])):
            return graph
    known[len(known)] = outs
    return outs


@contextlib.contextmanager
def _steps_of_fits(model, kept):
    """Within the block what the steps of this model compile is kept, and which steps these are. Metropolis and slices read
    the variables that a step leaves alone from shared variables, which PyMC makes anew for each step, and sets before it
    calls them."""
    from pymc.sampling import mcmc
    from pymc.step_methods import metropolis, slicer

    of_fits = _StepsOfFits(model, kept)
    with contextlib.ExitStack() as stack:
        for module, name, method in (
            (mcmc, "assign_step_methods", of_fits.assigned),
            (metropolis, "make_shared_replacements", of_fits.shared),
            (metropolis, "delta_logp", of_fits.difference),
            (slicer, "make_shared_replacements", of_fits.shared),
            (slicer, "join_nonshared_inputs", of_fits.joined),
            (slicer, "compile", of_fits.density),
        ):
            of_pymc = getattr(module, name)
            stack.callback(setattr, module, name, of_pymc)
            setattr(module, name, functools.partial(method, of_pymc))
        yield


class _StepsOfFits:
    """What stands for functions of PyMC's, each of which comes first."""

    def __init__(self, model, kept):
        self._model, self._kept = model, kept

    def _known(self, key, make):
        if key not in self._kept:
            self._kept[key] = make()
        return self._kept[key]

    def assigned(self, assign, model, step=None, methods=None):
        """Which step takes a variable is said by its distribution, by its number of categories, and by whether there is a
        gradient. (Only of PyMC's own methods is this all.)"""
        of_pymc = all(method.__module__.startswith("pymc.") for method in methods or ())
        if model is not self._model or step is not None or not methods or not of_pymc:
            return assign(model, step, methods)
        key = "assigned", *methods, *self._known("categories", self._numbers_of_categories)()
        steps, by_method = self._known(key, lambda: assign(model, step, methods))
        return [*steps], {method: [*variables] for method, variables in by_method.items()}

    def _numbers_of_categories(self):
        import pytensor
        from pytensor.tensor.random.basic import CategoricalRV

        of_categories = [v for v in self._model.free_RVs if isinstance(getattr(v.owner, "op", None), CategoricalRV)]
        numbers = [v.owner.inputs[-1].shape[-1] for v in of_categories]
        function = pytensor.function([], numbers)
        return lambda: map(int, function())

    def shared(self, make, point, vars, model):
        if model is not self._model:
            return make(point, vars, model)
        shared = self._known(("shared", *vars), lambda: make(point, vars, model))
        for variable, value in shared.items():
            value.set_value(point[variable.name])
        return shared

    def _is_ours(self, vars, shared):
        return self._kept.get(("shared", *vars)) is shared

    def difference(self, make, point, logp, vars, shared, compile_kwargs):
        if not self._is_ours(vars, shared) or compile_kwargs:
            return make(point, logp, vars, shared, compile_kwargs)
        key = "difference", logp, *vars
        return self._known(key, lambda: make(point, logp, vars, shared, compile_kwargs))

    def joined(self, join, point, outputs, inputs, shared_inputs):
        if not self._is_ours(inputs, shared_inputs):
            return join(point, outputs, inputs, shared_inputs)
        return self._known(("joined", *outputs, *inputs), lambda: join(point, outputs, inputs, shared_inputs))

    def density(self, compile, inputs, output, **kwargs):
        if kwargs:
            return compile(inputs, output, **kwargs)
        return self._known(("density", *inputs, output), lambda: compile(inputs, output))


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
