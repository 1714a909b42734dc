"""How a fit is made by the functions of a model. A method has a call, `fit`, from the data of one fit, and from dicts
of starting values, to its Draws; the number of draws, of those for tuning and of chains, which the results tell; the names
of the results that it has beside draws, `also`; a `repr` that says all it depends on; and the `packages` that make its
draws, beside NumPy and SciPy."""

from dataclasses import dataclass, replace
from typing import ClassVar

from . import optimum, sampler
from .sampler import Draws


@dataclass(frozen=True)
class Nuts:
    """NUTS by nutpie's core."""

    settings: dict  # of nutpie's sampler
    name: ClassVar[str] = "nuts"
    also: ClassVar[tuple] = ()
    packages: ClassVar[tuple] = ("nutpie",)

    @property
    def draws(self):
        return self.settings["num_draws"]

    @property
    def tune(self):
        return self.settings["num_tune"]

    @property
    def chains(self):
        return self.settings["num_chains"]

    def fit(self, functions, arrays, seed, stop=None, initvals=()):
        return sampler.sample(functions, arrays, seed, self.settings, stop, *initvals)


@dataclass(frozen=True)
class Prior:
    """Draws from the prior, of one chain."""

    draws: int
    name: ClassVar[str] = "prior"
    also: ClassVar[tuple] = ()
    packages: ClassVar[tuple] = ()
    tune: ClassVar[int] = 0
    chains: ClassVar[int] = 1

    def fit(self, functions, arrays, seed, stop=None, initvals=()):
        values = functions.prior.of_chain({}, arrays, (seed, 0), self.draws, stop)
        return Draws({v.name: x[None] for v, x in zip(functions.recorded, values, strict=True)}, 0)


@dataclass(frozen=True)
class Map:
    """The maximum a posteriori, as one draw."""

    options: dict  # of scipy's L-BFGS-B
    starts: int = 1  # at how many points the optimiser starts
    name: ClassVar[str] = "map"
    packages: ClassVar[tuple] = ()
    draws: ClassVar[int] = 1
    tune: ClassVar[int] = 0
    chains: ClassVar[int] = 1

    @property
    def also(self):
        return (optimum.CONVERGED,) if self.starts > 1 else ()

    def fit(self, functions, arrays, seed, stop=None, initvals=()):
        found = optimum.maximum(functions, arrays, seed, self.options, self.starts, stop, initvals)
        return replace(found, also={name: found.also[name] for name in self.also})
