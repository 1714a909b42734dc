"""`mode=` of what compiles a PyMC model for many fits, and for Stan's samplers."""

import inlay.pymc
import numpy as np
import pymc as pm
import pytensor
import pytest
from inlay.fits.functions import Part
from inlay.pytensor import mode

MORE = {"draws": 30, "tune": 30, "chains": 1, "seed": 1}
Y = np.random.default_rng(1).normal(size=20)


def line_model():
    with pm.Model() as model:
        y = pm.Data("y", Y, dims="at")
        pm.Normal("seen", pm.Normal("mu", 0, 2), pm.HalfNormal("noise"), observed=y, dims="at")
    return model


def two_model():
    with pm.Model() as model:
        pm.Normal("seen", pm.Normal("mu", 0, 2) + pm.Bernoulli("which", 0.4), 1, observed=pm.Data("y", Y))
    return model


def wrapped(model, mode):
    """As arviz-stats asks."""
    wrapper = inlay.pymc.sampling_wrapper(model, mode=mode, **MORE)
    return wrapper.sample(wrapper.sel_observations([0, 3])[0])


def calibrated(model, mode):
    options = {name: MORE[name] for name in ("draws", "tune", "chains")}
    return inlay.pymc.SBC(model, num_simulations=2, sample_kwargs=options, seed=1, progress_bar=False, mode=mode).run_simulations()


DOORS = {
    "fit_many": lambda model, mode: inlay.pymc.fit_many(model, [{}], progress=False, executor=1, mode=mode, **MORE),
    "fit_many, map": lambda model, mode: inlay.pymc.fit_many(model, [{}], method="map", progress=False, executor=1, mode=mode),
    "fit_many, prior": lambda model, mode: inlay.pymc.fit_many(model, [{}], method="prior", progress=False, executor=1, mode=mode),
    "SBC": calibrated,
    "sampling_wrapper": wrapped,
    "fit_shards": lambda model, mode: inlay.pymc.fit_shards(model, [{"y": Y[:10]}, {"y": Y[10:]}], mode=mode, **MORE),
}


@pytest.mark.parametrize("door", DOORS)
def test_the_functions_are_of_the_mode(door, monkeypatch):
    seen, of = set(), Part.of

    def noted(program, *more):
        seen.add(program.explain()["target"].partition(" (")[0])
        return of(program, *more)

    monkeypatch.setattr(Part, "of", noted)
    DOORS[door](line_model(), mode(cpu="sse2"))
    assert seen == {"x86-64, sse2"}


@pytest.mark.parametrize("method", ["nuts", "smc", "advi"])
def test_what_pymc_compiles_in_a_worker_is_of_the_mode(method, monkeypatch):
    chosen, linked = set(), inlay.pytensor.linker.InlayLinker.make_all

    def noted(self, *more, **by_name):
        chosen.add(self.choices.cpu)
        return linked(self, *more, **by_name)

    monkeypatch.setattr(inlay.pytensor.linker.InlayLinker, "make_all", noted)
    before = pytensor.config.mode
    options = {"nuts": {}, "smc": {}, "advi": {"method_kwargs": {"n": 5}}}[method]
    model = two_model() if method == "nuts" else line_model()
    given = {**MORE, "method": method, "progress": False, "executor": 1, **options}
    fits = inlay.pymc.fit_many(model, [{"y": Y}], mode=mode(cpu="sse2"), **given)
    assert not fits["failed"].any(), fits["reason"].values
    assert chosen == {"sse2"}
    assert pytensor.config.mode is before


@pytest.mark.parametrize("door", [*DOORS, "export_bridgestan"])
@pytest.mark.parametrize(
    ("wrong", "name"), [("FAST_RUN", "'FAST_RUN'"), (3, "an int"), (pytensor.compile.mode.get_mode("FAST_COMPILE"), "a mode with ")]
)
def test_another_mode_is_refused(door, wrong, name, tmp_path):
    doors = DOORS | {"export_bridgestan": lambda model, mode: inlay.pymc.export_bridgestan(model, tmp_path / "m.so", mode=mode)}
    with pytest.raises(TypeError, match=r"mode= takes what inlay.pytensor.mode\(...\) returns, not " + name):
        doors[door](line_model(), wrong)


def test_fits_of_another_mode_are_not_taken(tmp_path, caplog):
    """The bits may differ."""
    options = {**MORE, "progress": False, "executor": 1, "resume": tmp_path / "kept"}
    for method in ("nuts", "map", "advi"):
        more = {"method_kwargs": {"n": 5}} if method == "advi" else {}
        contents = set()
        for chosen in (None, "INLAY", mode(cpu="sse2")):
            fits = inlay.pymc.fit_many(line_model(), [{"y": Y}], method=method, mode=chosen, **more, **options)
            contents.add(float(fits["seconds"].values[0]))
        assert len(contents) == 2, method


def test_a_library_of_stan_refuses_what_is_not_inlays_there(tmp_path):
    with pytest.raises(ValueError, match="mode= chooses cpu=, and the code of the library is the C compiler's: INLAY_CFLAGS"):
        inlay.pymc.export_bridgestan(line_model(), tmp_path / "m.so", mode=mode(cpu="sse2"))
    assert not (tmp_path / "m.so").exists()
    assert inlay.pymc.export_bridgestan(line_model(), tmp_path / "m.so", mode=mode()).exists()
