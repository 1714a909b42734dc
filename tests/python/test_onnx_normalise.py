"""Normalisations and losses of ONNX networks, beside onnxruntime, at sizes that are symbols."""

import inlay
import inlay.onnx
import numpy as np
import pytest

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
from onnx_nodes import agrees, network, results_of  # noqa: E402

RNG = np.random.default_rng(5)


def floats(*shape):
    return RNG.standard_normal(shape, dtype=np.float32)


IMAGES = ["x: f32[n, 6, h, w]"]
CALLS = [{"x": floats(2, 6, 5, 7)}, {"x": floats(1, 6, 1, 3)}, {"x": floats(3, 6, 16, 16)}]
PER_CHANNEL = {"scale": floats(6), "shift": floats(6)}


@pytest.mark.parametrize("op", ["Softmax", "LogSoftmax"])
@pytest.mark.parametrize("opset", [11, 13])
def test_softmax(op, opset):
    for axis in [1, -1]:
        agrees(network(op, IMAGES, opset=opset, axis=axis), *CALLS)


@pytest.mark.parametrize("axis", [-1, 1])
def test_layer_normalization(axis):
    shape = (4, 8) if axis == 1 else (8,)
    constants = {"scale": floats(*shape), "shift": floats(*shape)}
    model = network("LayerNormalization", ["x: f32[n, 4, 8]"], "y,mean,inverse", 17, constants, axis=axis)
    agrees(model, *[{"x": floats(n, 4, 8)} for n in (1, 5)])


def test_a_normalisation_is_one_loop():
    constants = {"scale": floats(128), "shift": floats(128)}
    fn = inlay.onnx.compile(network("LayerNormalization", ["x: f32[n, s, 128]"], opset=17, constants=constants))
    fn(x=floats(2, 3, 128))
    assert len(inlay.explain(fn).kernels) == 1


def test_rms_normalization():
    scale = floats(8)
    fn = inlay.onnx.compile(network("RMSNormalization", ["x: f32[n, s, 8]"], opset=23, constants={"scale": scale}))
    x = floats(2, 3, 8)
    wanted = x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-5) * scale
    np.testing.assert_allclose(fn(x=x), wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("opset", [7, 9, 14, 15])
def test_batch_normalization(opset):
    constants = PER_CHANNEL | {"mean": floats(6), "var": np.abs(floats(6))}
    agrees(network("BatchNormalization", IMAGES, opset=opset, constants=constants, epsilon=1e-3), *CALLS)


def test_batch_normalization_in_training():
    constants = PER_CHANNEL | {"mean": floats(6), "var": np.abs(floats(6))}
    model = network("BatchNormalization", IMAGES, "y,mean_now,var_now", 15, constants, training_mode=1, momentum=0.75)
    fn = inlay.onnx.compile(model)
    for call in CALLS:
        x = call["x"]
        mean, var = x.mean((0, 2, 3)), x.var((0, 2, 3))
        y, mean_now, var_now = results_of(fn, call)
        normal = (x - mean[:, None, None]) / np.sqrt(var[:, None, None] + 1e-5)
        wanted = normal * constants["scale"][:, None, None] + constants["shift"][:, None, None]
        np.testing.assert_allclose(y, wanted, rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(mean_now, 0.75 * constants["mean"] + 0.25 * mean, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(var_now, 0.75 * constants["var"] + 0.25 * var, rtol=1e-5, atol=1e-6)


def test_running_means_of_old_versions_are_refused():
    constants = PER_CHANNEL | {"mean": floats(6), "var": np.abs(floats(6))}
    with pytest.raises(NotImplementedError, match="training"):
        inlay.onnx.compile(network("BatchNormalization", IMAGES, "y,mean_now", 9, constants))


def test_instance_and_group_normalization():
    agrees(network("InstanceNormalization", IMAGES, opset=17, constants=PER_CHANNEL), *CALLS, atol=1e-4)
    per_group = {"scale": floats(3), "shift": floats(3)}
    for opset, constants in [(18, per_group), (21, PER_CHANNEL)]:
        agrees(network("GroupNormalization", IMAGES, opset=opset, constants=constants, num_groups=3), *CALLS, atol=1e-4)


def test_lrn():
    agrees(network("LRN", IMAGES, opset=13, size=5, alpha=0.5, beta=0.6, bias=2.0), *CALLS)
    fn = inlay.onnx.compile(network("LRN", IMAGES, opset=13, size=4, alpha=0.5, beta=0.6, bias=2.0))
    for call in CALLS:  # onnxruntime has odd sizes only
        x = call["x"]
        squares = np.pad(x**2, [(0, 0), (1, 2), (0, 0), (0, 0)])
        near = sum(squares[:, i : i + 6] for i in range(4))
        np.testing.assert_allclose(fn(**call), x / (2 + 0.5 / 4 * near) ** 0.6, rtol=1e-5)


@pytest.mark.parametrize("p", [1, 2])
def test_lp_normalization(p):
    agrees(network("LpNormalization", IMAGES, opset=13, p=p, axis=1), *CALLS)
    fn = inlay.onnx.compile(network("LpNormalization", IMAGES, opset=22, p=p))
    assert not fn(np.zeros((1, 6, 2, 3), np.float32)).any()


def test_mean_variance_normalization():
    agrees(network("MeanVarianceNormalization", IMAGES, opset=13), *CALLS[::2])


@pytest.mark.parametrize("op", ["NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"])
@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("ignored", [None, -1, 255, 2])
def test_losses(op, reduction, ignored):
    attributes = {"reduction": reduction} | ({} if ignored is None else {"ignore_index": ignored})
    calls = []
    for shape in [(4, 3, 2), (1, 2, 1)]:
        target = RNG.integers(0, 6, shape)
        target[0, 1, 0] = 2 if ignored is None else ignored
        calls.append({"x": floats(shape[0], 6, *shape[1:]), "t": target})
    outputs = "y,log" if op == "SoftmaxCrossEntropyLoss" else "y"
    for constants in [{}, {"weight": np.abs(floats(6))}]:
        model = network(op, [*IMAGES, "t: i64[n, h, w]"], outputs, 13, constants, **attributes)
        agrees(model, *calls)
