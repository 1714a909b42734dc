"""A PyMC model of radon in 919 houses of 85 counties, compiled by inlay and sampled.

Each county has a level and an effect of the floor on which was measured, both drawn from a common distribution:

    log_radon[i] ~ Normal(alpha[county[i]] + beta[county[i]] * floor[i], sigma)

1. compiles logp and its gradient in PyTensor's NUMBA mode and in mode "INLAY", and checks that both agree;
2. shows what that took, what a call costs, and inlay's own view of the function;
3. samples with PyMC's NUTS on INLAY, says which linkers ran, and prints the posterior.
"""

import argparse
import collections
import contextlib
import csv
import os
import pathlib
import sys
import time

import arviz as az
import numpy as np
import pymc as pm
import pytensor
from pytensor.compile import FunctionMaker

import inlay.pytensor
from timing import microseconds_per_call, microseconds_per_pointer_call

DATA = pathlib.Path(__file__).parent / "data" / "radon_mn.csv"
TOLERANCE = 1e-9


def read_data():
    """Columns of the CSV file: names of the counties, county of each house, floor, log of the measurement."""
    with DATA.open(newline="") as file:
        rows = list(csv.DictReader(file))
    county = np.array([int(row["county_id"]) for row in rows])
    names = dict(zip(county.tolist(), (row["county"] for row in rows)))
    floor = np.array([float(row["floor"]) for row in rows])
    log_radon = np.array([float(row["log_radon"]) for row in rows])
    return [names[i] for i in range(len(names))], county, floor, log_radon


def radon_model():
    counties, county, floor, log_radon = read_data()
    with pm.Model(coords={"county": counties}) as model:
        mu_alpha = pm.Normal("mu_alpha", 0, 10)
        sigma_alpha = pm.Exponential("sigma_alpha", 1)
        mu_beta = pm.Normal("mu_beta", 0, 10)
        sigma_beta = pm.Exponential("sigma_beta", 1)
        # Non-centred: what is sampled are standard normals, which the two scales cannot squeeze into a funnel.
        alpha = mu_alpha + sigma_alpha * pm.Normal("z_alpha", 0, 1, dims="county")
        beta = mu_beta + sigma_beta * pm.Normal("z_beta", 0, 1, dims="county")
        sigma = pm.Exponential("sigma", 1)
        pm.Normal("log_radon", alpha[county] + beta[county] * floor, sigma, observed=log_radon)
    return model


def flat_point(model):
    """PyMC's initial point as the one vector that its samplers move."""
    point = model.initial_point()
    return np.concatenate([np.ravel(point[variable.name]) for variable in model.value_vars])


def compile_logp(model, mode, point):
    """The function of one flat vector that PyMC's NUTS calls, [logp, gradient]; the seconds up to its first result."""
    started = time.perf_counter()
    function = model.logp_dlogp_function(ravel_inputs=True, mode=mode)._pytensor_function
    function.trust_input = True
    function(point)
    return function, time.perf_counter() - started


def largest_difference(function, other, point, repeats=20):
    """Largest relative difference of two logp functions over random points, logp and gradient."""
    rng = np.random.default_rng(919)
    worst = 0.0
    for _ in range(repeats):
        x = point + 0.3 * rng.standard_normal(point.size)
        for ours, theirs in zip(function(x), other(x)):
            worst = max(worst, np.max(np.abs(ours - theirs)) / np.max(np.abs(theirs)))
    return worst


def linker_name(function):
    return type(function.maker.linker).__name__


@contextlib.contextmanager
def linkers_that_run():
    """Counts, by the linker's name, the PyTensor functions that are compiled inside."""
    counts = collections.Counter()
    create = FunctionMaker.create

    def counting_create(self, *args, **kwargs):
        counts[type(self.linker).__name__] += 1
        return create(self, *args, **kwargs)

    FunctionMaker.create = counting_create
    try:
        yield counts
    finally:
        FunctionMaker.create = create


def print_table(header, rows):
    cells = [header, *rows]
    widths = [max(len(row[i]) for row in cells) for i in range(len(header))]
    for row in cells:
        others = (cell.rjust(width) for cell, width in zip(row[1:], widths[1:]))
        print("  " + row[0].ljust(widths[0]), *others, sep="  ")


def compare(model, with_numba):
    """Compiles the model in both modes, checks that they agree, prints what they cost."""
    point = flat_point(model)
    ours, our_seconds = compile_logp(model, "INLAY", point)
    view = inlay.pytensor.explain(ours)
    pointer = inlay.pytensor.c_function(ours)
    rows = [[
        "INLAY", f"{our_seconds:.2f}", f"{sum(view.seconds.values()):.3f}",
        f"{microseconds_per_call(ours, point):.2f}", f"{microseconds_per_pointer_call(pointer, point):.2f}",
        str(len(view.kernels)), str(len(view.temporaries)), str(view.arena_bytes)]]
    if with_numba:
        if hasattr(pytensor.config, "numba__cache"):
            pytensor.config.numba__cache = False    # a compile time read from last week's files is none
        theirs, their_seconds = compile_logp(model, "NUMBA", point)
        rows.append(["NUMBA", f"{their_seconds:.2f}", "-", f"{microseconds_per_call(theirs, point):.2f}", *"----"])

    print("\nlogp and gradient, compiled by each mode")
    print_table(["mode", "compile s", "of it inlay s", "us/call PyTensor", "us/call C pointer",
                 "kernels", "temporaries", "arena bytes"], rows)
    if with_numba:
        difference = largest_difference(ours, theirs, point)
        print(f"\nlargest relative difference over 20 points: {difference:.1e}")
        if not difference <= TOLERANCE:
            sys.exit(f"the modes differ by more than {TOLERANCE:g}")
        print(f"linkers that ran: {linker_name(ours)}, {linker_name(theirs)}")
    else:
        print(f"linker that ran: {linker_name(ours)}")
    print(f"C function: {pointer.signature}")
    print("\ninlay's view of the function")
    print(view)
    print(view.text)


def sample(model, draws, tune, chains, progress_bar):
    """NUTS on INLAY: that of nutpie, where it is installed."""
    with model, linkers_that_run() as linkers, inlay.pytensor.default_mode():
        trace = pm.sample(draws, tune=tune, chains=chains, target_accept=0.9, cores=2, random_seed=85,
                          progressbar=progress_bar)
    print("linkers that ran: " + ", ".join(f"{name} (functions: {count})" for name, count in linkers.items()))
    return trace


def print_posterior(trace):
    print("\nposterior")
    print(az.summary(trace, var_names=["mu_alpha", "sigma_alpha", "mu_beta", "sigma_beta", "sigma"]).to_string())
    print(f"divergences: {int(np.sum(trace.sample_stats['diverging']))}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--short", action="store_true", help="few draws, no progress bar")
    parser.add_argument("--no-numba", action="store_true", help="skip the comparison with PyTensor's NUMBA mode")
    parser.add_argument("--draws", type=int, help="draws of each chain, after twice as many of tuning (default 500)")
    arguments = parser.parse_args()
    draws = arguments.draws or (30 if arguments.short else 500)
    os.environ["INLAY_CACHE"] = "0"  # what is shown is compiled now, not taken from an earlier run

    print(f"inlay {inlay.__version__}, PyMC {pm.__version__}, PyTensor {pytensor.__version__}, "
          f"Python {sys.version.split()[0]}")
    model = radon_model()
    compare(model, with_numba=not arguments.no_numba)
    chains = 2 if arguments.short else 4
    print(f"\nsampling {chains} x {draws} draws")
    print_posterior(sample(model, draws, 2 * draws, chains, progress_bar=not arguments.short))


if __name__ == "__main__":
    main()
