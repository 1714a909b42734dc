"""Costs of compiling in a process that has compiled nothing before; prints one number. Run by run.py, once per figure.

    cold.py radon MODE      linking and first call of radon's logp and gradient in a PyTensor mode
    cold.py chain OPS       inlay.compile and first call of an elementwise chain of that many ops
    cold.py loaded FILE     inlay.load of radon's function, which `save` wrote, and its first call
    cold.py unpickled FILE  pickle.load of radon's function, which `pickled` wrote, and its first call

    cold.py cached FOLDER   pytensor.function and first call of radon's function, through the cache in that folder
    cold.py key             what of that makes the key

in seconds of CPU too,

    cold.py save FILE       writes that function
    cold.py pickled FILE    writes its pickle

and prints its kilobytes, of `save` without the data that are in it;

    cold.py import          of `import inlay` after NumPy's, and
    cold.py imported        megabytes by which it raises the resident size

then

    cold.py memory NODES    megabytes by which inlay.compile of a graph like a model's raises the resident size

above what it is after the import, at its highest; libraries that compiling loads (LLVM) are in it.

    cold.py model NAME MODE [warm]    logp and gradient of an example model, compiled in a PyTensor mode, then called

prints all of its figures as JSON: `us` per call, CPU seconds of `link` and `total` (models.py says of what),
`megabytes`, and for INLAY its own `stages` (by the clock on the wall). With "warm", NUMBA and C may read what they have on disk.

    cold.py gradient NAME    what a user of PyMC waits for first, of an example model or one of gallery.py ("unrolled:100": in
                             100 steps), in inlay's default mode

prints as JSON the CPU seconds of `import inlay.pytensor` over PyTensor's own, and to the first `gradient`, and

    cold.py posterior NAME [MODE]     what a user of PyMC waits for with such a model, in inlay's default_mode() or in
                                      another mode, by default PyMC's own

prints as JSON the CPU seconds to the first `gradient` (`model.logp_dlogp_function()` and a call) and to the
`posterior` (`pm.sample()`, with 1000 draws of each of two chains), and which `sampler` it was.
"""

import atexit
import json
import os
import pathlib
import pickle
import random
import re
import shutil
import sys
import tempfile
import time

from paths import EXAMPLES

sys.path.insert(0, str(EXAMPLES))


class Stopwatch:
    """CPU time of all threads of the process and of its children (C mode runs g++), summed over what stands in
    `with`."""

    seconds = 0.0
    entered = 0  # what is compiled may have to compile what is inside it

    def __enter__(self):
        self.entered += 1
        if self.entered == 1:
            self.started = self.now()

    def __exit__(self, *_):
        self.entered -= 1
        if self.entered == 0:
            self.seconds += self.now() - self.started

    @staticmethod
    def now():
        times = os.times()
        return time.process_time() + times.children_user + times.children_system

    def around(self, function):
        def timed(*args, **kwargs):
            with self:
                return function(*args, **kwargs)

        return timed


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
    FunctionMaker.create = watch.around(FunctionMaker.create)
    function = model.logp_dlogp_function(ravel_inputs=True, mode=mode)._pytensor_function
    function.trust_input = True
    with watch:
        function(point)
    return watch.seconds


def radon_function():
    import inlay.pytensor  # noqa: F401
    import radon as example

    return example.radon_model().logp_dlogp_function(ravel_inputs=True, mode="INLAY")._pytensor_function


def save(path):
    import inlay

    function = radon_function()
    inlay.save(function, path)
    data = sum(x.get_value(borrow=True).nbytes for x in function.get_shared())
    data += sum(x.nbytes for x in function.vm.compiled.translation.bound)
    return (os.path.getsize(path) - data) / 1e3


def pickled(path):
    pathlib.Path(path).write_bytes(pickle.dumps(radon_function()))
    return os.path.getsize(path) / 1e3


def first_call_of(load):
    import numpy as np

    watch = Stopwatch()
    with watch:
        function = load()
        function.trust_input = True
        function(np.zeros(175))
    return watch.seconds


def loaded(path):
    import inlay.pytensor  # noqa: F401  (not counted, as PyTensor's import is not in the others)

    return first_call_of(lambda: inlay.load(path))


def unpickled(path):
    import inlay.pytensor  # noqa: F401

    return first_call_of(lambda: pickle.loads(pathlib.Path(path).read_bytes()))


def cached(folder):
    os.environ["INLAY_CACHE"] = folder
    import pytensor

    import inlay.pytensor  # noqa: F401
    import radon as example

    model = example.radon_model()
    point = example.flat_point(model)
    compile_any, timed = pytensor.function, []

    def compile_timed(*args, **kwargs):
        watch = Stopwatch()
        with watch:
            compiled = compile_any(*args, **kwargs)
        timed.append((compiled, watch))
        return compiled

    pytensor.function = compile_timed
    function = model.logp_dlogp_function(ravel_inputs=True, mode="INLAY")._pytensor_function
    watch = next(watch for compiled, watch in timed if compiled is function)
    function.trust_input = True
    with watch:
        function(point)
    return watch.seconds


def key():
    from inlay import cache
    from inlay.pytensor import cached as makers

    watch = Stopwatch()
    makers.key_of = watch.around(makers.key_of)
    cache.find = cache.keep = lambda *_: None
    cached(tempfile.gettempdir())
    return watch.seconds


def import_inlay():
    import numpy  # noqa: F401

    watch = Stopwatch()
    with watch:
        import inlay  # noqa: F401
    return watch.seconds


def imported():
    import numpy  # noqa: F401

    before = resident_megabytes("VmRSS")
    import inlay  # noqa: F401

    return resident_megabytes("VmRSS") - before


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


def model_text(nodes):
    """As compiling.cpp makes them: values over one data set, gathers, scatters and sums by one index, 0-d arithmetic."""
    rng = random.Random(17)
    values = {"row": ["x", "y"], "group": ["a", "b"], "number": ["s"]}
    lines = []

    def recent(kind):
        return "%" + values[kind][-1 - min(int(rng.expovariate(0.3)), len(values[kind]) - 1)]

    def add(kind, text):
        values[kind].append(f"v{len(lines)}")
        lines.append(f"%v{len(lines)} = {text}")

    for _ in range(nodes):
        makes = {
            "row": [
                (45, f"{rng.choice(['add', 'mul', 'sub'])} {recent('row')}, {recent('row')}"),
                (10, f"{rng.choice(['exp', 'sigmoid'])} {recent('row')}"),
                (10, f"mul {recent('row')}, {recent('number')}"),
                (7, f"gather {recent('group')}[%g]"),
            ],
            "group": [
                (5, f"scatter add {recent('group')}[%g], {recent('row')}"),
                (5, f"add {recent('group')}, {recent('group')}"),
            ],
            "number": [
                (8, f"reduce add {recent('row')} [0] : f64"),
                (10, f"mul {recent('number')}, {recent('number')}"),
            ],
        }
        choices = [(weight, kind, text) for kind, texts in makes.items() for weight, text in texts]
        _, kind, text = rng.choices(choices, [weight for weight, _, _ in choices])[0]
        add(kind, text)
    for number in list(values["number"]):
        add("number", f"add %{values['number'][-1]}, %{number}")
    body = "\n".join(f"  {line}" for line in lines)
    parameters = "%x: f64[n], %y: f64[n], %a: f64[85], %b: f64[85], %s: f64, %g: i64[n] bound {min 0, max 84}"
    results = ", ".join("%" + values[kind][-1] for kind in values)
    return f"graph @main({parameters}) {{\n{body}\n  return {results}\n}}\n"


def resident_megabytes(field):
    """VmRSS: now; VmHWM: the most since clear_refs was written."""
    status = pathlib.Path("/proc/self/status").read_text()
    return int(re.search(rf"{field}:\s+(\d+) kB", status)[1]) * 1024 / 1e6


def memory(nodes):
    import numpy as np

    import inlay

    text, index = model_text(int(nodes)), np.arange(1000) % 85
    pathlib.Path("/proc/self/clear_refs").write_text("5")
    imported = resident_megabytes("VmRSS")
    inlay.compile(text, bound={"g": index})
    return resident_megabytes("VmHWM") - imported


def start_cold():
    """As on a machine on which PyTensor has compiled nothing yet."""
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    others = filter(None, [os.environ.get("PYTENSOR_FLAGS")])
    os.environ["PYTENSOR_FLAGS"] = ",".join([*others, f"base_compiledir={folder}"])
    os.environ["NUMBA_CACHE_DIR"] = folder


def model(name, mode, caches="cold"):
    if caches == "cold":
        start_cold()
    import pytensor
    from pytensor.compile import FunctionMaker, Mode

    import inlay.pytensor
    from timing import microseconds_per_call

    sys.path.append(str(EXAMPLES / "models"))
    import registry
    from radon import flat_point

    if caches == "cold" and hasattr(pytensor.config, "numba__cache"):
        pytensor.config.numba__cache = False
    example = registry.model(name)
    point = flat_point(example)

    compile_any, create, timed = pytensor.function, FunctionMaker.create, []

    def compile_timed(*args, **kwargs):
        """PyMC compiles a function for the initial point too."""
        link, total = Stopwatch(), Stopwatch()
        FunctionMaker.create = link.around(create)
        with total:
            compiled = compile_any(*args, **kwargs)
        timed.append((compiled, link, total))
        return compiled

    pytensor.function = compile_timed
    pathlib.Path("/proc/self/clear_refs").write_text("5")
    imported = resident_megabytes("VmRSS")
    compiled_in = Mode("cvm", "fast_run") if mode == "C" else mode
    function = example.logp_dlogp_function(ravel_inputs=True, mode=compiled_in)._pytensor_function
    function.trust_input = True
    link, total = next((link, total) for compiled, link, total in timed if compiled is function)
    with link, total:
        function(point)
    out = {"link": link.seconds, "total": total.seconds, "megabytes": resident_megabytes("VmHWM") - imported}
    if mode == "INLAY":
        out["stages"] = inlay.pytensor.explain(function).seconds
    # XLA computes in a thread of its own.
    clock = time.process_time if mode == "JAX" else time.thread_time
    out["us"] = microseconds_per_call(function, point, clock=clock)
    return json.dumps(out)


def maker_of(name):
    """What makes the example model of that name, or the one of gallery.py."""
    sys.path.append(str(EXAMPLES / "models"))
    import gallery
    import registry

    name, _, steps = name.partition(":")
    gallery.UNROLLED_STEPS = int(steps or gallery.UNROLLED_STEPS)
    return lambda: registry.model(name) if name in registry.NAMES else gallery.model(name)


def gradient(name):
    start_cold()
    import pymc  # noqa: F401

    to_import, to_gradient = Stopwatch(), Stopwatch()
    with to_import:
        import inlay.pytensor

    inlay.pytensor.use()
    make = maker_of(name)
    from radon import flat_point

    example = make()
    point = flat_point(example)
    with to_gradient:
        example.logp_dlogp_function(ravel_inputs=True)._pytensor_function(point)
    return json.dumps({"import": to_import.seconds, "gradient": to_gradient.seconds})


def posterior(name, mode=None):
    start_cold()
    import pymc as pm
    import pytensor

    import inlay.pytensor

    make = maker_of(name)
    from radon import flat_point

    if mode == "INLAY":
        inlay.pytensor.use()
    elif mode is not None:
        pytensor.config.mode = mode
    example = make()
    point = flat_point(example)
    to_gradient, to_posterior = Stopwatch(), Stopwatch()
    with to_gradient:
        example.logp_dlogp_function(ravel_inputs=True)._pytensor_function(point)
    again = make()
    with again, to_posterior:
        trace = pm.sample(chains=2, cores=2, random_seed=1, progressbar=False, quiet=True)
    sampler = trace.posterior.attrs["inference_library"]
    return json.dumps({"gradient": to_gradient.seconds, "posterior": to_posterior.seconds, "sampler": sampler})


COMMANDS = {"radon": radon, "import": import_inlay, "imported": imported, "chain": chain, "save": save, "loaded": loaded, "pickled": pickled, "unpickled": unpickled, "cached": cached, "key": key, "memory": memory, "model": model, "gradient": gradient, "posterior": posterior}

if __name__ == "__main__":
    print(COMMANDS[sys.argv[1]](*sys.argv[2:]))
