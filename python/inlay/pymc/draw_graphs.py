"""Graphs from the values of a draw, as they are recorded, to what is computed of it afterwards.

`given` has a variable for the value of each free variable of a model, by free variable.
"""

from dataclasses import dataclass

from pymc.pytensorf import collect_default_updates
from pytensor.compile.io import In
from pytensor.graph.replace import clone_replace
from pytensor.graph.traversal import ancestors
from pytensor.tensor.random.type import RandomType
from pytensor.tensor.shape import Shape, Shape_i

from ..fits.after_draws import AfterDraws
from ..fits.names import LOGLIK, PREDICTED, named
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


def predictions(model, variables, given):
    """Random draws of these variables, the generators that they draw from by number in the model, and the next states of
    these."""
    drawn = clone_replace(variables, given)
    used = set(generators_of(drawn))
    numbered = {i: v for i, v in enumerate(generators_of(model.basic_RVs)) if v in used}
    inputs = {i: v.type(v.name) for i, v in numbered.items()}
    drawn = clone_replace(drawn, {v: inputs[i] for i, v in numbered.items()})
    updates = collect_default_updates(drawn, inputs=[*inputs.values()], must_be_shared=False)
    return drawn, inputs, [updates[generator] for generator in inputs.values()]


def generators_of(graphs):
    return [v for v in ancestors(graphs) if isinstance(v.type, RandomType) and v.owner is None]


PRIOR = "prior"


@dataclass
class _Graph:
    given: dict  # what stands for the value of a free variable
    outputs: list  # the results, and the next states of the generators
    generators: dict
    variables: list  # of the model, one for each result
    names: list  # of the results


class AfterGraphs:
    """The graphs of some AfterDraws, LOGLIK, PREDICTED and PRIOR, which read shared variables, and others in place of
    the constants in `exchanged`. `recorded`: the variables of a draw from the prior."""

    def __init__(self, model, names, exchanged, recorded=()):
        self._model, self._recorded = model, recorded
        self._graphs = {name: self._graph(name) for name in names}
        for graph in self._graphs.values():
            graph.outputs = clone_replace(graph.outputs, exchanged)

    def _graph(self, name):
        observed, given = self._model.observed_RVs, given_values(self._model)
        if name == LOGLIK:
            return _Graph(given, log_likelihoods(self._model, observed, given), {}, observed, _named(observed, LOGLIK))
        variables, given = (self._recorded, {}) if name == PRIOR else (observed, given)
        names = [v.name for v in variables] if name == PRIOR else _named(variables, PREDICTED)
        drawn, generators, states = predictions(self._model, variables, given)
        return _Graph(given, [*drawn, *states], generators, variables, names)

    def outputs(self):
        return [output for graph in self._graphs.values() for output in graph.outputs]

    def compiled(self, data, instead):
        """AfterDraws by name, which read the shared variables `data` as inputs, after `instead` was put in their graphs."""
        return {name: self._compiled(name, graph, data, instead) for name, graph in self._graphs.items()}

    def _compiled(self, name, graph, data, instead):
        outputs = clone_replace(graph.outputs, instead)
        inputs = {("draw", v.name): given for v, given in graph.given.items()}
        of_data = {("data", i): v.type() for i, v in enumerate(data)}
        inputs |= of_data
        inputs |= {("generator", i): In(v, mutable=True) for i, v in graph.generators.items()}
        givens = [*zip(data, of_data.values(), strict=True)]
        fn = function_of(self._model, [*inputs.values()], outputs, givens=givens)
        variables = [
            recorded_as(self._model, v, name_of_result, output.ndim)
            for v, name_of_result, output in zip(graph.variables, graph.names, outputs, strict=False)
        ]
        shaped = [i for i, v in enumerate(of_data.values()) if _is_shape_alone(fn, v)]
        return AfterDraws(name, part_of(fn, list(inputs)), variables, shaped)


def _named(variables, what):
    return [named(v.name, what) for v in variables]


def _is_shape_alone(fn, variable):
    """Whether a function reads the shape of an input, or nothing of it."""
    inputs = {given.variable: inner for given, inner in zip(fn.maker.inputs, fn.maker.fgraph.inputs, strict=True)}
    clients = fn.maker.fgraph.clients.get(inputs[variable], [])
    return all(isinstance(node.op, Shape | Shape_i) for node, _ in clients)
