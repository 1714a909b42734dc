"""ONNX's own node tests, and what inlay makes of one: a network, inputs, and the outputs that are expected."""

import functools
import re
from dataclasses import dataclass

import inlay.onnx
import numpy as np
from inlay.errors import Unsupported


@dataclass
class Case:
    name: str
    model: bytes
    inputs: list  # names
    data: list  # (inputs, outputs) of each run
    rtol: float
    atol: float


@functools.cache
def node_cases():
    """Of the package `onnx`, by name."""
    from onnx.backend.test.case.node import collect_testcases

    out = {}
    for case in collect_testcases(None):
        names = [value.name for value in case.model.graph.input]
        out[case.name] = Case(case.name, case.model.SerializeToString(), names, case.data_sets, case.rtol, case.atol)
    return out


def array_of(value):
    """A NumPy array; bfloat16, which NumPy has not, as its bits. None: a sequence, a string, or none of inlay's types."""
    import onnx

    if isinstance(value, onnx.TensorProto):
        value = onnx.numpy_helper.to_array(value)
    if not isinstance(value, np.ndarray | np.generic):
        return None
    array = np.asarray(value)
    if array.dtype.name == "bfloat16":
        return array.view(np.uint16)
    return array if array.dtype.kind in "biufc" else None


class Refused(Exception):
    """inlay does not read this network, and says why."""


def compiled(case, given, fixed=None, **choices):
    """The function, and what is fixed of it: `fixed`, and the inputs and sizes that had to be."""
    fixed = dict(fixed or {})
    while True:
        try:
            return inlay.onnx.compile(case.model, fixed=fixed, **choices), fixed
        except Unsupported as error:
            wanted = re.findall(r"'([^']+)': \.\.\.", str(error))
            if not wanted or set(wanted) <= set(fixed):
                raise Refused(str(error)) from None
            fixed.update({name: given[name] for name in wanted})


def run(case, **choices):
    """Runs each of a case's data sets. Raises Refused, or AssertionError where a result is not the expected one."""
    for inputs, outputs in case.data:
        given, wanted = [array_of(x) for x in inputs], [array_of(x) for x in outputs]
        if any(x is None for x in given + wanted):
            raise Refused("inputs or outputs of a type that inlay does not have")
        named = dict(zip(case.inputs, given, strict=False))
        fn, fixed = compiled(case, named, **choices)
        draws = "seed" in fn.parameters
        results = fn(*(named[name] for name in case.inputs if name in named and name not in fixed), **({"seed": 1} if draws else {}))
        results = results if isinstance(results, tuple) else (results,)
        assert len(results) == len(wanted)
        for got, want, declared in zip(results, wanted, outputs, strict=True):
            if draws:  # the expected numbers are of NumPy's generator (tests/python/test_onnx_draws.py judges ours)
                assert (got.dtype, got.shape) == (want.dtype, want.shape)
            else:
                assert_close(got, want, case, getattr(declared, "dtype", None))


def assert_close(got, want, case, dtype):
    assert got.dtype == want.dtype, f"{got.dtype} instead of {want.dtype}"
    assert got.shape == want.shape, f"{got.shape} instead of {want.shape}"
    # The reference rounds half precision after each step of its own; ours are others, so two last places may differ.
    rtol = max(case.rtol, 2.0**-9) if got.dtype == np.float16 else case.rtol
    if getattr(dtype, "name", "") == "bfloat16":
        rtol = max(case.rtol, 2.0**-6)
        got, want = got.view(dtype).astype(np.float32), want.view(dtype).astype(np.float32)
    # The expected transforms are f32 sums of ten numbers of 1 or so: where they are 0, some 1e-7 is left of them.
    atol = 1e-6 if "dft" in case.name else case.atol
    if want.dtype.kind in "fc":
        np.testing.assert_allclose(got, want, rtol=rtol, atol=atol)
    else:
        np.testing.assert_array_equal(got, want)


def reason_of(refused):
    """What of a refusal is the same for every case of its kind: the ops that are missing, or the sentence."""
    text = str(refused)
    ops = re.findall(r"(?:: |, )([\w.]+) of version \d+ \(", text)
    if ops:
        return " ".join(sorted(set(ops)))
    return re.sub(r"^error\[[\w-]+\]: ", "", text).splitlines()[0]
