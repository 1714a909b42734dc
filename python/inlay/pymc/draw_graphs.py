"""Graphs from the values of a draw, as they are recorded, to what is computed of it afterwards.

`given` has a variable for the value of each free variable of a model, by free variable.
"""

from pymc.pytensorf import collect_default_updates
from pytensor.compile.io import In
from pytensor.graph.replace import clone_replace
from pytensor.graph.traversal import ancestors
from pytensor.tensor.random.type import RandomType

from ..fits.after_draws import AfterDraws
from .described import recorded_as
from .parts import function_of, part_of


def given_values(model):
    return {v: v.type(v.name) for v in model.free_RVs}


def log_likelihoods(model, variables, given):
    """Of each observation of these variables."""
    terms = model.logp(variables, sum=False)
    unconstrained = {}
    for variable, value in given.items():
        transform = model.rvs_to_transforms.get(variable)
        value = value if transform is None else transform.forward(value, *variable.owner.inputs)
        (unconstrained[model.rvs_to_values[variable]],) = clone_replace([value], given)  # limits may be variables too
    return clone_replace(terms, unconstrained)


def predictions(variables, given):
    """Random draws of these variables, and by generator that they draw from its next state."""
    drawn = clone_replace(variables, given)
    shared = [v for v in ancestors(drawn) if isinstance(v.type, RandomType) and v.owner is None]
    generators = {v: v.type(v.name) for v in shared}
    drawn = clone_replace(drawn, generators)
    updates = collect_default_updates(drawn, inputs=[*generators.values()], must_be_shared=False)
    return drawn, {generator: updates[generator] for generator in generators.values()}


class AfterGraphs:
    """The graphs of some AfterDraws, "loglik" and "predicted", which read shared variables, and others in place of the
    constants in `exchanged`."""

    def __init__(self, model, names, exchanged):
        self._model, self._given, self._generators = model, given_values(model), {}
        self._graphs = {name: clone_replace(self._graphs_of(name), exchanged) for name in names}

    def _graphs_of(self, name):
        if name == "loglik":
            return log_likelihoods(self._model, self._model.observed_RVs, self._given)
        drawn, self._generators = predictions(self._model.observed_RVs, self._given)
        return [*drawn, *self._generators.values()]

    def outputs(self):
        return [output for graphs in self._graphs.values() for output in graphs]

    def compiled(self, data, instead):
        """AfterDraws by name, which read the shared variables `data` as inputs, after `instead` was put in their graphs."""
        return {name: self._compiled(name, clone_replace(graphs, instead), data) for name, graphs in self._graphs.items()}

    def _compiled(self, name, outputs, data):
        inputs = {("draw", v.name): given for v, given in self._given.items()}
        of_data = {("data", i): v.type() for i, v in enumerate(data)}
        inputs |= of_data
        if name == "predicted":
            inputs |= {("generator", i): In(v, mutable=True) for i, v in enumerate(self._generators)}
        givens = [*zip(data, of_data.values(), strict=True)]
        fn = function_of(self._model, [*inputs.values()], outputs, givens=givens)
        variables = [
            recorded_as(self._model, v, f"{v.name}_{name}", output.ndim)
            for v, output in zip(self._model.observed_RVs, outputs, strict=False)
        ]
        return AfterDraws(part_of(fn, list(inputs)), variables)
