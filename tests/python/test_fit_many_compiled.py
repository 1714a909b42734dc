"""What PyMC compiles for a fit is there for the next one, and draws are those of a model that has compiled nothing."""

import inlay.pymc
import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
import pytest
from inlay.fits.fit import Work
from inlay.fits.fit import fit as one_fit
from inlay.pymc import compiled_once
from inlay.pymc.methods import method_of
from pytensor.compile.maker import FunctionMaker
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op

pytestmark = pytest.mark.skipif(compiled_once._class_of_model() is None, reason="PyMC keeps no functions")

RNG = np.random.default_rng(1)


def line_model(kind=pm.Normal):
    with pm.Model() as model:
        x, y = pm.Data("x", np.zeros(3)), pm.Data("y", np.zeros(3))
        slope, level = kind("slope", 0, 2), pm.Normal("level", pm.Data("center", 0.0), 2)
        noise = pm.HalfNormal("noise", 1)
        pm.Deterministic("ratio", slope / noise)
        pm.Normal("seen", level + slope * x, noise, observed=y)
    return model


def levels_model():
    """As many parameters as data."""
    with pm.Model(coords={"at": range(3)}) as model:
        y = pm.Data("y", np.zeros(3), dims="at")
        level = pm.Normal("level", 0, 2, dims="at")
        pm.Normal("seen", level, pm.HalfNormal("noise", 1), observed=y, dims="at")
    return model


def two_model():
    with pm.Model() as model:
        y, which = pm.Data("y", np.zeros(3)), pm.Bernoulli("which", 0.4)
        pm.Normal("seen", pm.Normal("mu", 0, 2) + 3 * which, pm.HalfNormal("noise"), observed=y)
    return model


def mixed_model():
    with pm.Model() as model:
        y = pm.Data("y", np.zeros(3))
        which, shift, more = pm.Bernoulli("which", 0.4), pm.Poisson("shift", 2), pm.Geometric("more", 0.5)
        mu = pm.Normal("mu", 0, 2)
        pm.Normal("seen", mu + 3 * which + shift - more, 1, observed=y)
    return model


def kinds_model():
    with pm.Model() as model:
        y, kind = pm.Data("y", np.zeros(3)), pm.Categorical("kind", [0.2, 0.3, 0.5])
        pm.Normal("seen", pm.Normal("mu", 0, 2) - kind, 1, observed=y)
    return model


def other_kinds_model():
    """The data say how many kinds there are, and with two of them another step is taken."""
    with pm.Model() as model:
        y, kind = pm.Data("y", np.zeros(3)), pm.Categorical("kind", pm.Data("share", np.ones(3) / 3))
        pm.Normal("seen", pm.Normal("mu", 0, 2) - kind, 1, observed=y)
    return model


class Cube(Op):
    """Without a derivative, so that PyMC takes slices."""

    __props__ = ()

    def make_node(self, x):
        return Apply(self, [x], [x.type()])

    def perform(self, node, inputs, outputs):
        outputs[0][0] = np.asarray(inputs[0] ** 3)


def slices_model():
    with pm.Model() as model:
        y, which = pm.Data("y", np.zeros(3)), pm.Bernoulli("which", 0.4)
        pm.Normal("seen", Cube()(pm.Normal("mu", 0, 2)) + 3 * which, 1, observed=y)
    return model


def shares(lengths=(3, 2, 3, 2, 4)):
    return [{"y": RNG.normal(size=3), "share": np.ones(n) / n} for n in lengths]


def start_of(data):
    return {"slope": float(len(data["x"])), "noise": 0.3}


ADAM = {"n": 30, "obj_optimizer": pm.adam(learning_rate=0.05), "obj_n_mc": 3, "start_sigma": {"slope": 0.3}}


def lines(lengths=(5, 8, 5, 3, 8)):
    return [{"x": RNG.normal(size=n), "y": RNG.normal(size=n), "center": float(n)} for n in lengths]


def ys(lengths=(3, 5, 3, 2, 4, 1, 3, 5)):
    return [{"y": RNG.normal(1, 2, n)} for n in lengths]


CASES = {
    "smc": (line_model, lines(), {"method": "smc", "draws": 40}),
    "smc MH": (line_model, lines(), {"method": "smc", "draws": 40, "method_kwargs": {"kernel": pm.smc.MH}}),
    "smc of other shapes": (levels_model, ys(), {"method": "smc", "draws": 40}),
    "smc of discrete variables": (mixed_model, ys((3, 4, 3)), {"method": "smc", "draws": 40}),
    "nuts": (two_model, ys((3, 4, 3, 6)), {"draws": 20, "tune": 20}),
    "nuts and Metropolis": (mixed_model, ys((3, 4, 3, 6)), {"draws": 20, "tune": 20}),
    "nuts and categories": (kinds_model, ys((3, 4, 3)), {"draws": 20, "tune": 20}),
    "nuts and other categories": (other_kinds_model, shares(), {"draws": 20, "tune": 20}),
    "nuts and slices": (slices_model, ys((3, 4, 3)), {"draws": 20, "tune": 20}),
    "advi": (line_model, lines(), {"method": "advi", "draws": 20, "method_kwargs": {"n": 30}}),
    "advi of other shapes": (levels_model, ys(), {"method": "advi", "draws": 20, "method_kwargs": {"n": 30}}),
    "advi with settings": (line_model, lines(), {"method": "advi", "draws": 20, "method_kwargs": ADAM}),
    "advi from a start": (
        line_model,
        lines((5, 8, 5)),
        {"method": "advi", "draws": 20, "method_kwargs": {"n": 30}, "initvals": start_of},
    ),
    "advi of full rank": (
        line_model,
        lines(),
        {"method": "advi", "draws": 20, "method_kwargs": {"n": 30, "method": "fullrank_advi"}},
    ),
}


def fit(model, data, options):
    fits = inlay.pymc.fit_many(model(), data, **({"chains": 2, "seed": 1, "progress": False, "executor": 1} | options))
    assert not fits["failed"].any(), fits["reason"].values
    return fits.drop_vars("seconds")


@pytest.mark.parametrize("case", CASES)
def test_the_draws_are_those_of_functions_compiled_for_each_fit(case, monkeypatch):
    model, data, options = CASES[case]
    options = options | {"keep": [v.name for v in model().unobserved_RVs]}
    kept = fit(model, data, options)
    monkeypatch.setattr(compiled_once, "_class_of_model", lambda: None)
    assert kept.identical(fit(model, data, options))


def numbers_compiled(monkeypatch, model, data, options):
    """How many functions each fit makes."""
    made, counts = FunctionMaker.__init__, []
    name, more = options.get("method", "nuts"), options.get("method_kwargs")
    how, functions_of = method_of(model(), name, options["draws"], options.get("tune", 1), 2, None, more)
    work = Work(functions_of(model(), None, []), 1, how, ("mean",))
    monkeypatch.setattr(FunctionMaker, "__init__", lambda self, *a, **k: counts.append(counts.pop() + 1) or made(self, *a, **k))
    for number, given in enumerate(data):
        counts.append(0)
        assert not one_fit(work, number, given).reason
    monkeypatch.undo()
    return counts


ONE_COMPILATION = [case for case in CASES if case not in ("smc of other shapes", "advi of other shapes", "advi from a start")]


@pytest.mark.parametrize("case", ONE_COMPILATION)
def test_a_fit_compiles_once(case, monkeypatch):
    model, data, options = CASES[case]
    counts = numbers_compiled(monkeypatch, model, data * 2, options)
    assert counts[0] > 0
    assert counts[len(data) :] == [0] * len(data)


class Falling:
    """A rate that a callback lowers: one object for each fit."""

    def __init__(self):
        self.rate = pytensor.shared(0.5)

    def optimizer(self, loss, parameters):
        gradients = pytensor.grad(loss, parameters) if not isinstance(loss, list) else loss
        return {p: p - self.rate * g / (1 + pt.abs(g)) for p, g in zip(parameters, gradients, strict=True)}

    def lower(self, approximation, losses, step):
        self.rate.set_value(self.rate.get_value() * 0.8)


def test_an_optimizer_of_the_users_is_made_anew_for_each_fit(monkeypatch):
    falling = Falling()
    given = {"n": 20, "obj_optimizer": falling.optimizer, "callbacks": [falling.lower]}
    options, data = {"method": "advi", "draws": 20, "method_kwargs": given, "keep": "slope"}, lines()
    kept = fit(line_model, data, options)
    monkeypatch.setattr(compiled_once, "_class_of_model", lambda: None)
    assert kept.identical(fit(line_model, data, options))


def test_advi_begins_anew_after_a_fit_that_failed(monkeypatch):
    data, options = lines((5, 8, 5, 3)), {"method": "advi", "draws": 20, "method_kwargs": {"n": 30}, "keep": "slope"}
    more = {"chains": 1, "seed": 1, "progress": False, "executor": 1}
    bad = data[0] | {"y": np.full(5, np.nan)}
    given = [data[0], bad, *data[2:]]
    kept = inlay.pymc.fit_many(line_model(), given, **options, **more).drop_vars("seconds")
    assert kept["failed"].values.tolist() == [False, True, False, False]
    monkeypatch.setattr(compiled_once, "_class_of_model", lambda: None)
    assert kept.identical(inlay.pymc.fit_many(line_model(), given, **options, **more).drop_vars("seconds"))


class Mine(pm.smc.IMH):
    """A kernel with a state of its own."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.moves = []

    def mutate(self):
        self.moves.append(len(self.moves))
        super().mutate()


class Elsewhere(pm.smc.IMH):
    """Which starts where it says."""

    def initialize_population(self):
        drawn = super().initialize_population()
        return drawn | {"level": drawn["level"] + 100}


@pytest.mark.parametrize("kernel", [Mine, Elsewhere])
def test_kernels_of_the_users(kernel, monkeypatch):
    options = {"method": "smc", "draws": 40, "method_kwargs": {"kernel": kernel}, "keep": "level"}
    kept = fit(line_model, lines(), options)
    monkeypatch.setattr(compiled_once, "_class_of_model", lambda: None)
    again = inlay.pymc.fit_many(line_model(), lines(), chains=2, seed=1, progress=False, executor=1, **options)
    assert again.sizes == kept.sizes


def test_a_likelihood_that_draws():
    """PyMC gives each chain generators of its own there."""

    def simulate(rng, mu, size):
        return rng.normal(mu, 1, size=size)

    def simulator_model():
        with pm.Model() as model:
            mu = pm.Normal("mu", 0, 2)
            pm.Simulator("seen", simulate, mu, epsilon=1, observed=np.ones(5))
        return model

    data, options = [{}] * 3, {"method": "smc", "draws": 30, "keep": "mu"}
    kept = fit(simulator_model, data, options)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiled_once, "_class_of_model", lambda: None)
        assert kept.identical(fit(simulator_model, data, options))


def test_data_for_which_nothing_starts_are_a_row():
    """After fits that have compiled, too."""
    with pm.Model() as model:
        x, y = pm.Data("x", np.zeros(3)), pm.Data("y", np.zeros(3))
        level = pm.Normal("level", x, 1, shape=3)
        pm.Normal("seen", level + y, 1, observed=np.zeros(3))
    bad = {"x": np.zeros(4), "y": np.zeros(4)}
    fits = inlay.pymc.fit_many(
        model, [{}, bad, {}], method="smc", draws=20, chains=1, seed=1, progress=False, executor=1
    )
    assert fits["failed"].values.tolist() == [False, True, False]
    assert "_cache" not in fits["reason"].values[1]


def test_functions_of_few_shapes_are_kept():
    once = compiled_once.CompiledOnce(levels_model())
    for n in range(1, 10):
        once._model.set_data("y", np.zeros(n), coords={"at": range(n)})
        with once.fit() as kept:
            assert kept == {}
            kept["kernel"] = n
            assert isinstance(once._model, compiled_once._class_of_model())
        assert type(once._model) is pm.Model
    assert len(once._kept) == 4
    once._model.set_data("y", np.zeros(8), coords={"at": range(8)})
    with once.fit() as kept:
        assert kept == {"kernel": 8}


class Tempered(pm.Model):
    """With a log density of its own, as a user may write one."""

    def logp(self, *args, **kwargs):
        return 20.0 * super().logp(*args, **kwargs)


def test_nothing_is_kept_of_a_model_of_the_users_class(monkeypatch):
    def model():
        with Tempered() as model:
            pm.Poisson("shift", 2)
            pm.Normal("seen", pm.Normal("mu", 0, 2), 1, observed=pm.Data("y", np.zeros(3)))
        return model

    once = compiled_once.CompiledOnce(model())
    with once.fit() as kept:
        assert kept is None
        assert type(once._model) is Tempered
    data, options = ys((3,)), {"draws": 200, "tune": 200, "keep": "mu"}
    fits = fit(model, data, options)
    assert fits["mu"].std() < 0.3  # 0.55 without the factor
    monkeypatch.setattr(compiled_once, "_class_of_model", lambda: None)
    assert fits.identical(fit(model, data, options))
