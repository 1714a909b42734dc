"""How a fit is made by the functions of a model. A method has a call, `fit`, from the data of one fit to its Draws; the
number of draws, of those for tuning and of chains, which the results tell; and a `repr` that says all it depends on."""

from dataclasses import dataclass
from typing import ClassVar

from . import optimum, sampler
from .sampler import Draws


@dataclass(frozen=True)
class Nuts:
    """NUTS by nutpie's core."""

    settings: dict  # of nutpie's sampler
    name: ClassVar[str] = "nuts"

    @property
    def draws(self):
        return self.settings["num_draws"]

    @property
    def tune(self):
        return self.settings["num_tune"]

    @property
    def chains(self):
        return self.settings["num_chains"]

    def fit(self, functions, arrays, seed, stop=None):
        return sampler.sample(functions, arrays, seed, self.settings, stop)


@dataclass(frozen=True)
class Prior:
    """Draws from the prior, of one chain."""

    draws: int
    name: ClassVar[str] = "prior"
    tune: ClassVar[int] = 0
    chains: ClassVar[int] = 1

    def fit(self, functions, arrays, seed, stop=None):
        values = functions.prior.of_chain({}, arrays, (seed, 0), self.draws, stop)
        return Draws({v.name: x[None] for v, x in zip(functions.recorded, values, strict=True)}, 0)


@dataclass(frozen=True)
class Map:
    """The maximum a posteriori, as one draw."""

    options: dict  # of scipy's L-BFGS-B
    name: ClassVar[str] = "map"
    draws: ClassVar[int] = 1
    tune: ClassVar[int] = 0
    chains: ClassVar[int] = 1

    def fit(self, functions, arrays, seed, stop=None):
        return optimum.maximum(functions, arrays, self.options, stop)
