"""Writes radon.inlay: the log density and gradient of the model of ../radon.py in floats, as text.

    .venv/bin/python examples/devices/radon_program.py

A microcontroller may have an instruction for floats and none for doubles. PyTensor's float32 sums in float64, and PyMC
returns float64, so doubles are made floats in the text. Counties fit in a byte.
"""

import os
import pathlib
import sys

os.environ["INLAY_CACHE"] = "0"
os.environ["PYTENSOR_FLAGS"] = "floatX=float32"
sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))

import radon  # noqa: E402
from inlay.pytensor.compiled import find_compiled  # noqa: E402

FILE = pathlib.Path(__file__).with_name("radon.inlay")
HEADING = "# The log density and gradient of the radon model in floats; radon_program.py wrote this.\n"
NAMES = {
    "@main": "@radon",
    "f64": "f32",
    "%constant_0: i64": "%county: u8",
    "%constant_0": "%county",
    "%constant_1": "%floor",
    "joined_inputs_0": "175",
    "%joined_inputs": "%point",
    "return %181, %113": "return logp = %181, gradient = %113",
}


def program():
    function = radon.radon_model().logp_dlogp_function(ravel_inputs=True, mode="INLAY")._pytensor_function
    text = find_compiled(function).program.explain()["graph"]
    for old, new in NAMES.items():
        assert old in text, f"PyTensor's graph has no {old} now"
        text = text.replace(old, new)
    return HEADING + text


if __name__ == "__main__":
    FILE.write_text(program())
