"""Which functions are the same ones for a run that goes on where another ended."""

import functools
import subprocess
import sys

import numpy as np
import pytest
from inlay.fits.identity import identity_of

FACTOR = 2.0


def reads_a_global(draws):
    return FACTOR * draws


def calls_another(draws):
    return reads_a_global(draws)


def calls_itself(draws):
    return calls_itself(draws[1:]) if draws else 0


class Holds:
    def __init__(self, value):
        self.value = value

    def at(self, draws):
        return self.value


class Slotted:
    __slots__ = ("value",)

    def __init__(self, value):
        self.value = value

    def __call__(self, draws):
        return self.value


def around(value):
    def function(draws):
        return value

    return function


def keyword(value):
    def function(draws, *, times=value):
        return times

    return function


LONG = np.arange(5000.0)
OTHER = np.where(np.arange(5000) == 2500, -1.0, LONG)


@pytest.mark.parametrize(
    "make", [around, keyword, lambda x: Holds(x).at, Slotted, lambda x: functools.partial(around, x), lambda x: lambda draws: x]
)
@pytest.mark.parametrize(("one", "other"), [(1.0, 2.0), (LONG, OTHER), ([LONG], [OTHER]), ({"a": 1}, {"a": 2}), (sum, max)])
def test_what_functions_have_around_them(make, one, other):
    assert identity_of(make(one)) == identity_of(make(one))
    assert identity_of(make(one)) != identity_of(make(other))


def test_globals_and_functions_of_the_same_module(monkeypatch):
    before = identity_of(reads_a_global), identity_of(calls_another)
    assert before == (identity_of(reads_a_global), identity_of(calls_another))
    monkeypatch.setitem(globals(), "FACTOR", 3.0)
    assert identity_of(reads_a_global) != before[0]
    assert identity_of(calls_another) != before[1]


def test_functions_and_objects_that_hold_themselves():
    holds = Holds(1)
    holds.value = holds
    assert identity_of(calls_itself) == identity_of(calls_itself) != identity_of(reads_a_global)
    assert identity_of(holds.at) == identity_of(holds.at)


def test_sets_that_lead_back_to_themselves():
    def ring(value):
        holds = Holds(value)
        holds.value = {holds, (value, holds), "a", frozenset([holds])}
        return holds

    assert identity_of(ring(1).at) == identity_of(ring(1).at) != identity_of(ring(2).at)


def made(source, name="f"):
    """What a module of this source has."""
    module = {"__name__": "module"}
    exec(source, module)
    return module[name]


@pytest.mark.parametrize(
    "source",
    [
        "import functools\n@functools.cache\ndef limit(): return {}\ndef f(draws): return limit()",
        "import functools\n@functools.cache\ndef f(draws): return {}",
        "class F:\n def __call__(self, draws): return {}\nf = F()",
        "class F:\n def __call__(self, draws): return {}\nf = F().__call__",
        "class F:\n def value(self): return {}\ndef f(draws): return F().value()",
        "class F:\n value = {}\ndef f(draws): return F.value",
        "class F:\n @property\n def value(self): return {}\nclass G(F): pass\ndef f(draws): return G().value",
        "class F:\n @staticmethod\n def value(): return {}\nshared = F()\ndef f(draws): return shared.value()",
    ],
)
def test_classes_of_the_same_module_and_functions_behind_others(source):
    assert identity_of(made(source.format(1))) == identity_of(made(source.format(1)))
    assert identity_of(made(source.format(1))) != identity_of(made(source.format(2)))


@functools.cache
def is_kept():
    return FACTOR


def calls_what_is_kept(draws):
    return is_kept()


def test_a_function_behind_a_wrapper_that_is_pickled_by_its_name(monkeypatch):
    before = identity_of(calls_what_is_kept), identity_of(is_kept)
    monkeypatch.setitem(globals(), "FACTOR", 3.0)
    assert identity_of(calls_what_is_kept) != before[0]
    assert identity_of(is_kept) != before[1]


def test_what_parameters_are():
    assert identity_of(made("def f(a, b): return a")) != identity_of(made("def f(a, *, b): return a"))


def reads_a_set(draws):
    return [name in {"a", "b", "c", "d"} for name in draws]


def test_another_process_has_the_same():
    code = """
import sys
sys.path.insert(0, {folder!r})
import test_fit_many_identity as t
given = [t.reads_a_set, t.around(t.LONG), t.Holds({{"a", "b", "c"}}).at, t.calls_another, t.Slotted((1, None)), t.np.mean]
print(*map(t.identity_of, given))
"""
    from pathlib import Path

    command = [sys.executable, "-c", code.format(folder=str(Path(__file__).parent))]
    lines = [subprocess.run(command, capture_output=True, text=True, check=True).stdout for _ in range(3)]
    assert len(set(lines)) == 1
    assert len(set(lines[0].split())) == 6
