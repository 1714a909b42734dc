"""Hares and lynxes: the equations of Lotka and Volterra, solved within the model in 100 steps a year.

    d hare = (a - b lynx) hare dt,    d lynx = (c hare - d) lynx dt

Data: pelts of the Hudson's Bay Company, 1900 to 1920, in thousands (E. P. Odum, Fundamentals of Ecology, 1953).
"""

import numpy as np
import pymc as pm
import pytensor

HARE = [30, 47.2, 70.2, 77.4, 36.3, 20.6, 18.1, 21.4, 22, 25.4, 27.1,
        40.3, 57, 76.6, 52.3, 19.5, 11.2, 7.6, 14.6, 16.2, 24.7]  # fmt: skip
LYNX = [4, 6.1, 9.8, 35.2, 59.4, 41.7, 19, 13, 8.3, 9.1, 7.4,
        8, 12.3, 19.5, 45.7, 51.1, 29.7, 15.8, 9.7, 10.1, 8.6]  # fmt: skip
STEPS = 100


def step(hare, lynx, a, b, c, d):
    """One step of the midpoint rule."""

    def slopes(hare, lynx):
        return (a - b * lynx) * hare, (c * hare - d) * lynx

    first = slopes(hare, lynx)
    second = slopes(hare + first[0] / (2 * STEPS), lynx + first[1] / (2 * STEPS))
    return hare + second[0] / STEPS, lynx + second[1] / STEPS


def model():
    with pm.Model(coords={"species": ["hare", "lynx"]}) as model:
        a, d = pm.LogNormal("a", np.log(0.5), 0.3), pm.LogNormal("d", np.log(0.8), 0.3)
        b, c = pm.LogNormal("b", np.log(0.027), 0.3), pm.LogNormal("c", np.log(0.024), 0.3)
        start = pm.LogNormal("start", np.log([34.0, 5.9]), 0.3, dims="species")
        sigma = pm.HalfNormal("sigma", 1, dims="species")
        solution = pytensor.scan(
            step, outputs_info=[start[0], start[1]], non_sequences=[a, b, c, d],
            n_steps=STEPS * len(HARE), return_updates=False,
        )  # fmt: skip
        for i, (name, pelts) in enumerate((("hare", HARE), ("lynx", LYNX))):
            pm.LogNormal(name, pm.math.log(solution[i][::STEPS]), sigma[i], observed=np.array(pelts))
    return model
