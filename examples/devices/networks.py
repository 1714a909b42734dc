"""Writes networks for small devices as ONNX files, with random weights that are the same each time.

    .venv/bin/python examples/devices/networks.py FOLDER

keywords.onnx has depthwise separable convolutions, as networks have that wait for a spoken word; digits.onnx looks at
an image of 28 x 28; voice.onnx takes one frame of sound after the other and gives its state back.
"""

import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


class Network:
    """Nodes in a row: the last one's output is what the next one reads."""

    def __init__(self, name, seed):
        self.name, self.rng = name, np.random.default_rng(seed)
        self.nodes, self.weights, self.last = [], [], None

    def weight(self, *shape, scale):
        self.weights.append((f"w{len(self.weights)}", (scale * self.rng.standard_normal(shape)).astype(np.float32)))
        return self.weights[-1][0]

    def add(self, op, *weights, **attributes):
        outputs = attributes.pop("outputs", [f"v{len(self.nodes)}"])
        self.nodes.append(helper.make_node(op, [self.last, *weights], outputs, **attributes))
        self.last = outputs[0]

    def convolve(self, channels, kernel, of=1, **attributes):
        scale = (2 / (of * np.prod(kernel))) ** 0.5
        weights = self.weight(channels, of, *kernel, scale=scale), self.weight(channels, scale=0.1)
        self.add("Conv", *weights, kernel_shape=kernel, **attributes)
        self.add("Relu")

    def dense(self, inputs, outputs):
        self.add("Gemm", self.weight(outputs, inputs, scale=inputs**-0.5), self.weight(outputs, scale=0.1), transB=1)

    def write(self, folder, inputs, outputs):
        def info(values):
            return [helper.make_tensor_value_info(key, TensorProto.FLOAT, shape) for key, shape in values.items()]

        weights = [numpy_helper.from_array(array, key) for key, array in self.weights]
        graph = helper.make_graph(self.nodes, self.name, info(inputs), info(outputs), weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        onnx.checker.check_model(model, full_check=True)
        path = Path(folder) / f"{self.name}.onnx"
        onnx.save(model, path)
        return path


def keywords(folder):
    """49 frames of 10 cepstral coefficients in, the shares of 12 words out."""
    net = Network("keywords", 1)
    net.last = "mfcc"
    net.convolve(24, (10, 4), strides=(2, 2), pads=(4, 1, 5, 1))
    for _ in range(4):
        net.convolve(24, (3, 3), group=24, pads=(1, 1, 1, 1))
        net.convolve(24, (1, 1), of=24)
    net.add("GlobalAveragePool")
    net.add("Flatten")
    net.dense(24, 12)
    net.add("Softmax", outputs=["share"])
    return net.write(folder, {"mfcc": ["batch", 1, 49, 10]}, {"share": ["batch", 12]})


def digits(folder):
    """An image in, the shares of 10 digits out."""
    net = Network("digits", 2)
    net.last = "image"
    net.convolve(6, (3, 3))
    net.add("MaxPool", kernel_shape=(2, 2), strides=(2, 2))
    net.convolve(12, (3, 3), of=6)
    net.add("MaxPool", kernel_shape=(2, 2), strides=(2, 2))
    net.add("Flatten")
    net.dense(300, 10)
    net.add("Softmax", outputs=["share"])
    return net.write(folder, {"image": ["batch", 1, 28, 28]}, {"share": ["batch", 10]})


def voice(folder):
    """A frame of 16 bands and the state in; how likely someone speaks, and the state after it out."""
    net = Network("voice", 3)
    net.last = "frame"
    weights = [net.weight(1, 96, size, scale=0.3) for size in (16, 24)] + [net.weight(1, 192, scale=0.1)]
    net.add("LSTM", *weights, "", "h", "c", outputs=["", "h_after", "c_after"], hidden_size=24)
    net.last = "h_after"
    net.add("Squeeze", axes(net, 0))
    net.dense(24, 1)
    net.add("Sigmoid", outputs=["speech"])
    state = [1, "batch", 24]
    return net.write(folder, {"frame": [1, "batch", 16], "h": state, "c": state},
                     {"speech": ["batch", 1], "h_after": state, "c_after": state})  # fmt: skip


def axes(net, *values):
    net.weights.append((f"w{len(net.weights)}", np.array(values, np.int64)))
    return net.weights[-1][0]


def floats_of(path):
    """The weights of a network that was written."""
    arrays = [numpy_helper.to_array(tensor) for tensor in onnx.load(path).graph.initializer]
    return [array for array in arrays if array.dtype == np.float32]


NETWORKS = {make.__name__: make for make in (keywords, digits, voice)}

if __name__ == "__main__":
    for make in NETWORKS.values():
        print(make(sys.argv[1]))
