"""Fourier transforms of lengths that are known, and of such that are found, against NumPy's."""

import inlay
import inlay.onnx
import numpy as np
import pytest
from onnx_nodes import agrees, f32, model, node


def as_complex(x):
    return x[..., 0] + 1j * x[..., 1] if x.shape[-1] == 2 else x[..., 0]


@pytest.mark.parametrize("length", ["n", "7", "400", "1021", "2048"])
@pytest.mark.parametrize("parts", [1, 2])
def test_dft(length, parts):
    network = model([node("DFT", "x,,a")], [f"x: f32[b, {length}, {parts}]"], constants={"a": np.int64(1)})
    fn = inlay.onnx.compile(network)
    for n in (12, 5) if length == "n" else (int(length),):
        x = f32(3, n, parts)
        np.testing.assert_allclose(as_complex(fn(x)), np.fft.fft(as_complex(x), axis=1), atol=2e-4 * n**0.5)


def test_dft_of_another_length_and_axis():
    network = model([node("DFT", "x,l", axis=0, inverse=1)], ["x: f32[n, m, 2]", "l: i64"], opset=17)
    fn = inlay.onnx.compile(network)
    for n, length in [(5, 8), (8, 5), (6, 6)]:
        x = f32(n, 3, 2)
        wanted = np.fft.ifft(as_complex(x), length, axis=0)
        np.testing.assert_allclose(as_complex(fn(x, np.int64(length))), wanted, atol=1e-6)


@pytest.mark.parametrize("length", [8, 9, 600])
def test_one_side(length):
    forward = inlay.onnx.compile(model([node("DFT", "x", onesided=1)], [f"x: f32[b, {length}, 1]"]))
    x = f32(2, length, 1)
    spectrum = forward(x)
    np.testing.assert_allclose(as_complex(spectrum), np.fft.rfft(x[..., 0]), atol=1e-3)
    network = model([node("DFT", "x,l", onesided=1, inverse=1)], ["x: f32[b, k, 2]"],
                    constants={"l": np.int64(length)})  # fmt: skip
    np.testing.assert_allclose(inlay.onnx.compile(network)(spectrum), x, atol=1e-4)


def test_a_long_prime_is_refused():
    with pytest.raises(NotImplementedError, match="a transform of length 5003"):
        inlay.onnx.compile(model([node("DFT", "x")], ["x: f32[b, 5003, 1]"]))


@pytest.mark.parametrize("one_sided", [0, 1])
def test_stft(one_sided):
    network = model([node("STFT", "x,s,w", onesided=one_sided)], ["x: f32[b, n, 1]"],
                    constants={"s": np.int64(3), "w": np.hanning(8).astype(np.float32)})  # fmt: skip
    agrees(network, (f32(2, 30, 1),), (f32(1, 8, 1),), atol=1e-5)
    late = model([node("STFT", "x,s,,l", onesided=one_sided)], ["x: f32[b, n, 1]", "s: i64", "l: i64"])
    agrees(late, (f32(2, 30, 1), np.int64(4), np.int64(6)), atol=1e-5)


@pytest.mark.parametrize("op", ["HannWindow", "HammingWindow", "BlackmanWindow"])
@pytest.mark.parametrize("periodic", [0, 1])
def test_windows(op, periodic):
    network = model([node(op, "n", periodic=periodic)], ["n: i64"])
    agrees(network, (np.int64(8),), (np.int64(400),), atol=1e-5)


def test_mel_weights():
    network = model([node("MelWeightMatrix", "m,n,r,a,b")], ["m: i64", "n: i64", "r: i64", "a: f32", "b: f32"])
    given = np.int64(16), np.int64(256), np.int64(8192), np.float32(0), np.float32(4096)
    agrees(network, given, atol=1e-6)
