"""Seconds of CPU in a process that has compiled nothing before; prints one number. Run by run.py, once per figure.

    cold.py radon MODE      linking and first call of radon's logp and gradient in a PyTensor mode
    cold.py chain OPS       inlay.compile and first call of an elementwise chain of that many ops
"""

import sys
import time

from paths import EXAMPLES

sys.path.insert(0, str(EXAMPLES))


class Stopwatch:
    """CPU time of all threads of the process, summed over what stands in `with`."""

    seconds = 0.0

    def __enter__(self):
        self.started = time.process_time()

    def __exit__(self, *_):
        self.seconds += time.process_time() - self.started


def radon(mode):
    """PyTensor's own rewriting comes before linking and is the same for every mode; it is not counted."""
    import pytensor
    from pytensor.compile import FunctionMaker

    import radon as example

    if hasattr(pytensor.config, "numba__cache"):
        pytensor.config.numba__cache = False
    model = example.radon_model()
    point = example.flat_point(model)
    watch = Stopwatch()
    create = FunctionMaker.create

    def timed_create(self, *args, **kwargs):
        with watch:
            return create(self, *args, **kwargs)

    FunctionMaker.create = timed_create
    function = model.logp_dlogp_function(ravel_inputs=True, mode=mode)._pytensor_function
    function.trust_input = True
    with watch:
        function(point)
    return watch.seconds


def chain_text(ops):
    """x, y -> ops operations, every twentieth of them an exp of what keeps it small."""
    lines, value = [], "%x"
    for i in range(ops):
        name, operands = [("mul", f"{value}, %y"), ("add", f"{value}, %x"), ("sub", f"{value}, %y")][i % 3]
        if i % 20 == 19:
            name, operands = "tanh", value
        lines.append(f"  %v{i} = {name} {operands}")
        value = f"%v{i}"
    body = "\n".join(lines)
    return f"graph @main(%x: f64[n], %y: f64[n]) {{\n{body}\n  return {value}\n}}\n"


def chain(ops):
    import numpy as np

    import inlay

    text = chain_text(int(ops))
    x = np.linspace(-0.5, 0.5, 100)
    watch = Stopwatch()
    with watch:
        inlay.compile(text)(x, x)
    return watch.seconds


if __name__ == "__main__":
    print({"radon": radon, "chain": chain}[sys.argv[1]](sys.argv[2]))
