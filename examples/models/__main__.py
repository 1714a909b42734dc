"""Samples an example on INLAY and prints what the model says, what became of it, and the posterior.

    python examples/models NAME [--draws N]
"""

import argparse

import arviz as az
import pymc as pm

import inlay.pytensor
import registry


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", choices=registry.NAMES)
    parser.add_argument("--draws", type=int, default=500, help="draws of each of two chains, after as many of tuning")
    arguments = parser.parse_args()

    example = registry.load(arguments.name)
    print(example.__doc__)
    with example.model() as model, inlay.pytensor.default_mode():
        print(inlay.pytensor.explain(model.logp_dlogp_function(ravel_inputs=True, mode="INLAY")))
        trace = pm.sample(arguments.draws, tune=arguments.draws, chains=2, cores=2, random_seed=1)
    print(az.summary(trace).to_string())


if __name__ == "__main__":
    main()
