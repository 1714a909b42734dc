"""Many fits of one compiled model, twice:

1. seven series of the economy of the United States, 1959 to 2009: from each of the last quarters backwards the next one
   is forecast from all before it, and compared with what came. A fit for each series and quarter.
2. the model of radon in radon.py is calibrated: parameters drawn from the prior, data from the model, and the rank of
   each parameter among the draws of its fit, which is uniform where model and sampler are right.

    python examples/many_fits.py [--quarters N] [--simulations N] [--picture FILE.png]
"""

import argparse

import numpy as np
import pymc as pm
import statsmodels.datasets

import inlay.pymc
from radon import radon_model

RANKS = 200  # draws of a fit of the calibration
SERIES = ["realgdp", "realcons", "realinv", "realgovt", "realdpi", "cpi", "m1"]


def growth():
    """By name of the series, its growth in each quarter in percent."""
    table = statsmodels.datasets.macrodata.load_pandas().data
    return {name: 100 * np.diff(np.log(table[name].to_numpy())) for name in SERIES}


def autoregression():
    """Growth in a quarter, by that in the quarter before."""
    with pm.Model() as model:
        before, now = pm.Data("before", np.zeros(2)), pm.Data("now", np.zeros(2))
        level, memory = pm.Normal("level", 1, 2), pm.Uniform("memory", -1, 1)
        degrees = pm.Gamma("degrees", 2, 0.1)
        spread = pm.HalfNormal("spread", 5)
        mean = level + memory * (before - level)
        pm.StudentT("growth", degrees, mu=mean, sigma=spread, observed=now, shape=before.shape)
    return model


def quarters_before(series, last):
    """A data set for each series and each of the `last` quarters: what was known before it."""
    return {
        (name, end): {"before": values[: end - 1], "now": values[1:end]}
        for name, values in series.items()
        for end in range(len(values) - last, len(values))
    }


def next_quarter(data):
    return {"before": data["now"][-1:]}


def forecasts(last):
    """The fits, what came, and whether it lay in the middle nine tenths of the forecast."""
    series = growth()
    datasets = quarters_before(series, last)
    fits = inlay.pymc.fit_many(
        autoregression(),
        datasets,
        draws=500,
        tune=300,
        chains=2,
        seed=1,
        predictive=next_quarter,
        reduce=["mean", "sd", "quantiles"],
        var_names=["level", "memory"],
    )
    came = np.array([series[name][end] for name, end in datasets])
    low, high = fits["growth_predicted_quantile"].values[:, 0, [0, -1]].T
    return fits, came, (low <= came) & (came <= high)


def calibration(simulations):
    """The ranks of the parameters that all counties share."""
    options = {"draws": RANKS, "tune": 300, "chains": 1}
    sbc = inlay.pymc.SBC(radon_model(), num_simulations=simulations, sample_kwargs=options, seed=1)
    ranks = sbc.run_simulations()["prior_sbc"].dataset
    return {name: ranks[name].values[0] for name in ranks.data_vars if ranks[name].ndim == 2}


def draw(path, fits, came, last, ranks):
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(11, 4), layout="constrained")
    of_first = slice(0, last)  # the first series
    quarters = 2009.75 - np.arange(last, 0, -1) / 4
    quantiles = fits["growth_predicted_quantile"].values[of_first, 0]
    left.fill_between(quarters, quantiles[:, 0], quantiles[:, -1], alpha=0.3, label="forecast: nine tenths")
    left.plot(quarters, quantiles[:, 2], label="forecast: median")
    left.plot(quarters, came[of_first], "k.-", label="what came")
    left.set(title="Growth of GDP, a quarter ahead", ylabel="percent a quarter")
    left.legend()
    for name, values in ranks.items():
        right.plot(np.sort(values) / RANKS, (1 + np.arange(len(values))) / len(values), drawstyle="steps-post", label=name)
    right.plot([0, 1], [0, 1], "k:", label="uniform")
    right.set(title="Calibration of the radon model", xlabel="rank of the true value", ylabel="share of simulations")
    right.legend()
    figure.savefig(path, dpi=80)


def main():
    parser = argparse.ArgumentParser(description="Many fits of one compiled model.")
    parser.add_argument("--quarters", type=int, default=40, help="of each series that are forecast")
    parser.add_argument("--simulations", type=int, default=200, help="of the calibration")
    parser.add_argument("--picture", help="where to draw both")
    options = parser.parse_args()
    fits, came, inside = forecasts(options.quarters)
    print(f"{fits.sizes['dataset']} fits, {int(fits['failed'].sum())} failed, {fits['seconds'].values.sum():.1f} s of fitting")
    print(f"{inside.mean():.0%} of what came lies in the middle nine tenths of its forecast")
    ranks = calibration(options.simulations)
    for name, values in ranks.items():
        print(f"{name}: {len(values)} ranks with a mean of {values.mean():.1f} of {RANKS}")
    if options.picture:
        draw(options.picture, fits, came, options.quarters, ranks)


if __name__ == "__main__":
    main()
