"""Networks that packages ship: the numbers of onnxruntime, and how many loops and bytes they take."""

import sys
from pathlib import Path

import inlay
import inlay.onnx
import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import onnx_models  # noqa: E402

onnxruntime = pytest.importorskip("onnxruntime")
pytestmark = pytest.mark.skipif(not onnx_models.are_here(), reason="the networks were not fetched: tools/onnx_models.py")

# Kernels and copies of each, that a lost fusion or a value that is no longer written in place would raise.
COUNTS = {
    "OCR detection": (135, 0),
    "OCR recognition": (44, 0),
    "OCR direction": (46, 0),
    "magika": (7, 0),
    "tashkeel": (90, 0),
    "nakdimon": (22, 0),
    "VAD": (15, 0),
    "VAD 16k": (15, 0),
    "VAD half": (15, 0),
    "VAD without If": (10, 0),
    "VAD openvino": (13, 0),
    "VAD sequence": (16, 0),
}


def expected(network, given):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 1, 3
    session = onnxruntime.InferenceSession(str(network.path), options, providers=["CPUExecutionProvider"])
    return session.run(None, given)


@pytest.mark.parametrize("network", onnx_models.NETWORKS, ids=lambda network: network.name)
def test_numbers_of_onnxruntime(network):
    fn = inlay.onnx.compile(network.path, fixed=network.fixed)
    for seed in (0, 1):
        given = network.arguments(seed)
        results = fn(*(given[name] for name in fn.parameters))
        results = results if isinstance(results, tuple) else (results,)
        for got, want in zip(results, expected(network, given), strict=True):
            assert (got.dtype, got.shape) == (want.dtype, want.shape)
            np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4)  # f32 sums of some thousand numbers
            if network.has_classes:
                np.testing.assert_array_equal(got.argmax(axis=-1), want.argmax(axis=-1))
    explained = inlay.explain(fn)
    counts = len(explained.kernels), len(explained.copies)
    assert counts == COUNTS[network.name]
