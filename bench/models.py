"""The example models beside PyTensor's other modes: what a call costs, and what compiling takes.

Each model is compiled in each mode by a process of its own (cold.py model), once, with no cache from before; the same
process then measures the call.
"""

import json
import math
import statistics
import subprocess
import sys

from paths import BENCH, EXAMPLES

sys.path.append(str(EXAMPLES / "models"))

import registry

PEERS = ("NUMBA", "JAX", "C")
FIGURES = {"us": "us per call of logp + gradient", "link": "seconds of linking + first call",
           "total": "seconds from pytensor.function to the first result", "megabytes": "MB while compiling"}


def measured(name, mode, caches="cold"):
    """Figures by name; empty where the mode does not compile the model."""
    return printed_by(name, mode, "model", name, mode, caches)


def printed_by(name, mode, *arguments):
    done = subprocess.run([sys.executable, BENCH / "cold.py", *arguments], capture_output=True, text=True)
    if done.returncode:
        print(f"{name} in mode {mode} failed: {done.stderr.splitlines()[-1:]}", file=sys.stderr)
        return {}
    return json.loads(done.stdout.splitlines()[-1])


def measure(names=registry.NAMES, peers=PEERS, caches="cold"):
    """Figures by model and mode. `caches="warm"`: NUMBA and C may read what they once compiled; then only their calls
    are measured."""
    out = {}
    for name in names:
        out[name] = {}
        for mode in ("INLAY", *peers):
            print(f"measuring: {name}, {mode}", file=sys.stderr)
            figures = measured(name, mode, caches)
            out[name][mode] = figures if caches == "cold" or mode in ("INLAY", "JAX") else {"us": figures.get("us")}
    return out


def measure_waiting(names=registry.NAMES):
    """CPU seconds up to the first gradient and to the posterior, by model, with inlay and as PyMC is by itself."""
    out = {}
    for name in names:
        print(f"measuring: {name}, to the posterior", file=sys.stderr)
        out[name] = {mode: printed_by(name, mode, "posterior", name, *([mode] if mode == "INLAY" else []))
                     for mode in ("INLAY", "PyMC")}
    return out


def best_peer(by_mode):
    """Mode and microseconds of the fastest of the others; (None, None) without any."""
    calls = {mode: figures["us"] for mode, figures in by_mode.items() if mode != "INLAY" and figures.get("us")}
    best = min(calls, key=calls.get, default=None)
    return best, calls.get(best)


def geometric_mean(numbers):
    numbers = list(numbers)
    return math.exp(statistics.fmean(map(math.log, numbers))) if numbers else None


def mean_of(table, mode, figure):
    """The median of memory, the geometric mean of what else there is; None without figures."""
    numbers = [by_mode[mode][figure] for by_mode in table.values() if by_mode.get(mode, {}).get(figure)]
    if not numbers:
        return None
    return statistics.median(numbers) if figure == "megabytes" else geometric_mean(numbers)


def print_tables(table):
    """All figures, a table for each kind."""
    modes = list(next(iter(table.values())))
    for figure, title in FIGURES.items():
        digits = 1 if figure in ("us", "megabytes") else 3
        lines = [(name, [by_mode[mode].get(figure) for mode in modes]) for name, by_mode in table.items()]
        lines.append(("median" if figure == "megabytes" else "geometric mean",
                      [mean_of(table, mode, figure) for mode in modes]))
        width = max(len(name) for name, _ in lines)
        print(f"{title}\n\n| {'':{width}} | " + " | ".join(f"{mode:>9}" for mode in modes) + " |")
        print(f"| {'-' * width} |" + " --------: |" * len(modes))
        for name, numbers in lines:
            cells = (f"{number:9.{digits}f}" if number is not None else " " * 9 for number in numbers)
            print(f"| {name:{width}} | " + " | ".join(cells) + " |")
        print()
