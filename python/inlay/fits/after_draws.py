"""What is computed draw by draw in Python: from draws that are there what the model predicts and the log likelihood of
observations, and from nothing draws from the prior."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .. import _inlay
from ..files import unpickled
from .functions import Part
from .sampler import refuse_stopped
from .sent import Sent


class Draw:
    """A host function that draws a random variable without Python code, for a process without PyTensor. What `_inlay.draw`
    leaves to the op's own code, as parameters that NumPy refuses and draws of no elements, imports PyTensor."""

    def __init__(self, arguments, own_code):
        """`own_code`: a pickled host function that does the same."""
        self._arguments, self._own_code = arguments, own_code
        self.draw = _inlay.draw(*arguments)

    def __call__(self, *values):
        return self._loaded(*values)

    @cached_property
    def _loaded(self):
        return unpickled(self._own_code)

    def __reduce__(self):
        return Draw, (self._arguments, self._own_code)


@dataclass(frozen=True)
class AfterDraws(Sent):
    """A compiled function, from the values of one draw to `variables`, with the next states of its generators after them.

    The slots of the part: ("draw", name), ("data", number) or ("generator", number), where a number is that in the model,
    whatever else is drawn. `name` tells its generators from those of others.
    """

    name: str
    part: Part
    variables: list
    shaped: list  # numbers of data of which the shape alone is read

    @cached_property
    def _function(self):
        return self.part.program().function()

    def of(self, draws, arrays, seed, stop=None):
        """Arrays (chain, draw, ...) by name, of draws by name and arrays of data by number. Each chain has generators of
        its own. Errors: Stopped, after the event `stop`."""
        num_chains, num_draws = next(iter(draws.values())).shape[:2]
        chains = [
            self.of_chain({name: x[c] for name, x in draws.items()}, arrays, (seed, c), num_draws, stop)
            for c in range(num_chains)
        ]
        return {v.name: np.stack(values) for v, values in zip(self.variables, zip(*chains, strict=True), strict=True)}

    def of_chain(self, draws, arrays, seed, num_draws, stop=None):
        """A list of arrays (draw, ...), one for each of the variables."""
        numbers = [number for kind, number in self.part.slots if kind == "generator"]
        seeds = {number: np.random.SeedSequence([*seed, *self.name.encode()], spawn_key=(number,)) for number in numbers}
        generators = {number: np.random.default_rng(seed) for number, seed in seeds.items()}
        rows, sources = [], {"data": arrays, "generator": generators}
        for i in range(num_draws):
            refuse_stopped(stop)
            made = self._function(
                *(draws[key][i] if kind == "draw" else sources[kind][key] for kind, key in self.part.slots)
            )
            made = made if isinstance(made, tuple) else (made,)  # of a single result
            rows.append(made[: len(self.variables)])
            generators.update(zip(numbers, made[len(self.variables) :], strict=True))
        return [np.stack(values) for values in zip(*rows, strict=True)]
