"""Networks in .tflite files, made for tests: the schema's tables as they are given, and networks that TFLM can run."""

import struct

import flatbuffers
import numpy as np
import tflite
from tflite import BuiltinOperator, TensorType

FLOAT = TensorType.FLOAT32


class File:
    """What a file has: `tensor(...)` and `op(...)` add to subgraph 0 and return the number."""

    def __init__(self):
        self.buffers, self.tensors, self.ops, self.codes = [b""], [], [], []
        self.inputs, self.outputs, self.metadata = [], [], []  # metadata: (name, buffer)

    def buffer(self, data):
        self.buffers.append(data)
        return len(self.buffers) - 1

    def tensor(self, name, dims, kind=FLOAT, *, value=None, variable=False, buffer=0):
        if value is not None:
            buffer = self.buffer(value.tobytes())
        self.tensors.append((name, dims, kind, buffer, variable))
        return len(self.tensors) - 1

    def op(self, code, inputs, outputs, options=None, **fields):
        if code not in self.codes:
            self.codes.append(code)
        self.ops.append((self.codes.index(code), inputs, outputs, options, fields))

    def plan(self, *words):
        self.metadata.append(("OfflineMemoryAllocation", self.buffer(struct.pack(f"<{len(words)}i", *words))))

    def bytes(self, subgraphs=1):
        return _Written(self, subgraphs).bytes


class _Written:
    def __init__(self, file, subgraphs):
        self.b = flatbuffers.Builder(1024)
        self.b.Prep(16, 0)
        buffers = self.vector([self.buffer(data) for data in file.buffers])
        tensors = self.vector([self.tensor(*tensor) for tensor in file.tensors])
        ops = self.vector([self.op(*op) for op in file.ops])
        codes = self.vector([self.code(code) for code in file.codes])
        inputs, outputs = self.ints(file.inputs), self.ints(file.outputs)
        metadata = self.vector([self.meta(*entry) for entry in file.metadata])
        graph = self.table("SubGraph", Tensors=tensors, Inputs=inputs, Outputs=outputs, Operators=ops)
        subgraphs = self.vector([graph] * subgraphs)
        about = self.b.CreateString("made for a test")
        root = self.table(
            "Model", Version=3, OperatorCodes=codes, Subgraphs=subgraphs, Description=about, Buffers=buffers,
            **({"Metadata": metadata} if file.metadata else {}),
        )  # fmt: skip
        self.b.Finish(root, file_identifier=b"TFL3")
        self.bytes = bytes(self.b.Output())

    def table(self, kind, **fields):
        getattr(tflite, f"{kind}Start")(self.b)
        for name, value in fields.items():
            getattr(tflite, f"{kind}Add{name}")(self.b, value)
        return getattr(tflite, f"{kind}End")(self.b)

    def vector(self, offsets):
        self.b.StartVector(4, len(offsets), 4)
        for offset in reversed(offsets):
            self.b.PrependUOffsetTRelative(offset)
        return self.b.EndVector()

    def ints(self, numbers):
        return self.b.CreateNumpyVector(np.array(numbers, np.int32))

    def buffer(self, data):
        if not data:
            return self.table("Buffer")
        self.b.StartVector(1, len(data), 16)
        for byte in reversed(data):
            self.b.PrependByte(byte)
        return self.table("Buffer", Data=self.b.EndVector())

    def tensor(self, name, dims, kind, buffer, variable):
        name = self.b.CreateString(name)
        shape = {} if dims is None else {"Shape": self.ints(dims)}
        return self.table("Tensor", Type=kind, Buffer=buffer, Name=name, IsVariable=variable, **shape)

    def meta(self, name, buffer):
        name = self.b.CreateString(name)
        return self.table("Metadata", Name=name, Buffer=buffer)

    def code(self, code):
        return self.table("OperatorCode", DeprecatedBuiltinCode=code, BuiltinCode=code, Version=1)

    def op(self, code, inputs, outputs, options, fields):
        given = {}
        if options:
            given = {"BuiltinOptions": self.table(options, **fields), "BuiltinOptionsType": getattr(tflite.BuiltinOptions, options)}
        return self.table("Operator", OpcodeIndex=code, Inputs=self.ints(inputs), Outputs=self.ints(outputs), **given)


def random_network(seed, ops=12):
    """Rows of floats through matrices, sums, relus and joins: many lives at a time, of many sizes. What nobody reads is
    a result."""
    rng = np.random.default_rng(seed)
    file, rows = File(), {}  # rows: number -> width
    read = set()

    def row(width):
        rows[file.tensor(f"row{len(file.tensors)}", [1, width])] = width
        return len(file.tensors) - 1

    file.inputs = [row(int(rng.integers(1, 40))) for _ in range(2)]
    for _ in range(ops):
        x = int(rng.choice(list(rows)[-6:]))
        alike = [y for y in rows if rows[y] == rows[x]]
        kind = rng.choice(["matrix", "relu", "sum", "join"])
        if kind == "matrix":
            width, inputs = int(rng.integers(1, 60)), [x]
            weights = file.tensor("weights", [width, rows[x]], value=rng.normal(size=(width, rows[x])).astype(np.float32))
            file.op(BuiltinOperator.FULLY_CONNECTED, [x, weights, -1], [row(width)], "FullyConnectedOptions")
        elif kind == "relu":
            inputs = [x]
            file.op(BuiltinOperator.RELU, inputs, [row(rows[x])])
        elif kind == "sum":
            inputs = [x, int(rng.choice(alike))]
            file.op(BuiltinOperator.ADD, inputs, [row(rows[x])], "AddOptions")
        else:
            inputs = [x, int(rng.choice(list(rows)))]
            joined = row(rows[inputs[0]] + rows[inputs[1]])
            file.op(BuiltinOperator.CONCATENATION, inputs, [joined], "ConcatenationOptions", Axis=1)
        read.update(inputs)
    file.outputs = [x for x in rows if x not in read and x not in file.inputs]
    return file
