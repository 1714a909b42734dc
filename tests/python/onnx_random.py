"""Random ONNX networks, and what each is worth.

A network grows node by node. Each value is known, as onnx's reference evaluator has it, for a few numbers that its
symbolic sizes stand for: a node is taken if it can be computed for all of them. What a value is worth is known twice:
plain, and shaken, where each node that rounds is off by some hundred roundings. So how far apart two right answers may
be is known of each value, and no network hangs on a rounding: one whose integers or truths differ once it is shaken, or
whose floats are moved by more than a sixteenth, is not taken.
"""

import itertools
import warnings
from dataclasses import dataclass

import numpy as np
import onnx
import onnxruntime
from draws import Draws
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator

OPSETS = [11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28]
DTYPES = ["float32"] * 8 + ["float64", "float64", "float16", "int64", "int64", "int32", "int32", "uint8", "int8", "bool"]
MOST_ELEMENTS, MOST_AXES = 2000, 5

# What a node that rounds is off by in the shaken network: 2000 roundings of float32, which is more than any sum here
# has terms, a million of float64, and eight of float16, which the evaluator rounds to after each step of its own.
NOISE = {"float16": 2.0**-8, "float32": 2.0**-13, "float64": 2.0**-33}
# Beyond these numbers float16 has no integers left, and errors of integers that wrap around are no matter of rounding.
LARGEST = {"float16": 500.0, "float32": 1e5, "float64": 1e5, "int32": 2**24, "int64": 2**40}

# What only moves or chooses elements, or computes no floats: nothing is rounded.
MOVES = set(
    """Identity Reshape Transpose Slice Concat Split Gather GatherElements GatherND ScatterElements ScatterND Pad Expand
    Tile Squeeze Unsqueeze Flatten Shape Size Where Max Min Relu Neg Abs Clip ReduceMax ReduceMin MaxPool TopK Trilu
    OneHot NonZero ConstantOfShape DepthToSpace SpaceToDepth ReverseSequence Compress EyeLike Floor Ceil Round Sign
    CastLike Constant GlobalMaxPool ArgMax ArgMin If Unique ThresholdedRelu Hardmax CenterCropPad""".split()
)
# What adds up: it is off by a part of its largest term, however small the result.
SUMS = set(
    """MatMul Gemm Einsum Conv ConvTranspose ReduceSum ReduceMean ReduceSumSquare ReduceL1 ReduceL2 ReduceLogSum
    ReduceLogSumExp CumSum AveragePool GlobalAveragePool LayerNormalization InstanceNormalization GroupNormalization
    BatchNormalization RMSNormalization MeanVarianceNormalization LpNormalization LRN LpPool GlobalLpPool Resize
    GridSample LSTM GRU RNN Mean Sum DFT Det Attention NegativeLogLikelihoodLoss SoftmaxCrossEntropyLoss""".split()
)
# What the reference evaluator has not, or has wrong, and onnxruntime has right: before which version, and why.
ALWAYS = 1000
BY_ONNXRUNTIME = {
    "LSTM": (ALWAYS, "one direction only, and no lengths"),
    "GRU": (ALWAYS, "one direction only, and no lengths"),
    "RNN": (ALWAYS, "one direction only, and no lengths"),
    "GlobalMaxPool": (ALWAYS, "of three axes it gives two"),
    "MaxPool": (ALWAYS, "it takes one side's padding for the other's, and positions count from the channel"),
    "QLinearMatMul": (ALWAYS, "it adds the zero point before it rounds: halves go to another even number"),
    "LpPool": (ALWAYS, "with ceil_mode it adds up the last windows as if they were whole"),
    "LpNormalization": (ALWAYS, "p=1 adds up what is below zero as it is"),
    "ConvTranspose": (ALWAYS, "with groups it adds the first group's bias to all"),
    "AveragePool": (ALWAYS, "with ceil_mode it takes what the last window lacks from before the first"),
    "DynamicQuantizeLinear": (ALWAYS, "of zeros alone it has a scale of 1 / 255, which is 0 / 255 by the formula"),
    "GridSample": (ALWAYS, "with border padding a cubic goes on from the border, not from the place itself"),
    "LRN": (ALWAYS, "it goes over as many channels as there are images"),
    "BatchNormalization": (14, "it mixes in the mean and variance of the data, as in training"),
    "Softmax": (13, "before 13 all axes from `axis` on are one"),
    "LogSoftmax": (13, "before 13 all axes from `axis` on are one"),
    "Hardmax": (13, "before 13 all axes from `axis` on are one"),
}


class Unfit(Exception):
    """This node is not taken, and another one may be."""


@dataclass
class Value:
    """Arrays for each of the numbers that sizes stand for."""

    plain: list
    shaken: list

    @property
    def dtype(self):
        return self.plain[0].dtype.name

    @property
    def rank(self):
        return self.plain[0].ndim

    @property
    def dims(self):
        """Of each axis its sizes, one for each of the numbers."""
        return list(zip(*(array.shape for array in self.plain), strict=True))

    @property
    def is_exact(self):
        return all(np.array_equal(a, b) for a, b in zip(self.plain, self.shaken, strict=True))


class Grower(Draws):
    """A graph that grows; `inner` makes the body of one of its nodes."""

    def __init__(self, seed, opset=None):
        self.rng = np.random.default_rng(seed)
        self.opset = opset or self.some(OPSETS)
        self.numbers = itertools.count()
        sizes = [int(size) for size in self.rng.permutation([2, 3, 4, 5, 6, 7])]
        if self.chance(0.1):
            sizes[1] = 0
        self.symbols = {"n": tuple(sizes[:3]), "m": tuple(sizes[3:])}
        if self.chance(0.3):  # one stretches beside the other, or beside a number
            other = self.some([1, sizes[0]])
            self.symbols = {"n": (sizes[0], 1, sizes[2]), "m": self.some([(1, *sizes[1:3]), (sizes[0], 1, other)])}
        self.values, self.pool, self.nodes, self.constants, self.inputs = {}, [], [], {}, {}
        self.functions, self.evaluators, self.is_function, self.depth = [], {}, False, 0
        for _ in range(self.rng.integers(1, 4)):
            self.new_input()

    def inner(self, params=None):
        """The grower of a graph within this one, with these parameters; it sees the values of this one unless
        `params` is given as all that it sees (a function)."""
        other = object.__new__(Grower)
        other.__dict__.update(self.__dict__)
        other.values, other.pool, other.nodes, other.constants = dict(self.values), list(self.pool), [], {}
        other.depth = self.depth + 1
        if params is not None:
            other.values, other.pool, other.is_function = {name: self.values[name] for name in params}, list(params), True
        return other

    # What there is

    def pick(self, fits=lambda v: True):
        """A value that `fits`: mostly a late one, now and then a new input."""
        if not self.depth and self.chance(0.1):
            self.new_input()
        found = [name for name in self.pool if fits(self.values[name])]
        if not found:
            raise Unfit
        return self.late(found)

    def name(self):
        return f"v{next(self.numbers)}"

    def array(self, dtype, shape):
        """Random elements. Floats are a few units in size, and a number in eight is a small whole one: ties happen."""
        if dtype == "bool":
            return self.rng.random(shape) < 0.5
        if dtype[0] in "iu":
            return np.asarray(self.rng.integers(0 if dtype[0] == "u" else -4, 6, shape)).astype(dtype)
        whole = self.rng.integers(-2, 3, shape)
        return np.asarray(np.where(self.rng.random(shape) < 0.125, whole, self.rng.normal(size=shape))).astype(dtype)

    def new_input(self, dtype=None, dims=None):
        """`dims`: numbers and names of sizes."""
        dtype = dtype or self.some(DTYPES)
        if dims is None:
            dims = [self.some([1, 2, 3, 4, "n", "n", "m"]) for _ in range(self.some([0, 1, 1, 2, 2, 2, 3, 3, 4]))]
        arrays = [self.array(dtype, [self.symbols[d][i] if isinstance(d, str) else d for d in dims]) for i in range(3)]
        return self.given(arrays, dims)

    def given(self, arrays, dims):
        if self.depth:
            raise Unfit
        name = self.name()
        self.values[name] = Value(arrays, arrays)
        self.pool.append(name)
        self.inputs[name] = list(dims)
        return name

    def said(self, size):
        """A number, or the name of a size that is given; `size`: one for each of the numbers."""
        if len(set(size)) == 1:
            return size[0]
        for name, sizes in self.symbols.items():
            if sizes == size:
                return name
        raise Unfit

    def like(self, dims, dtype, is_weight=0.4):
        """An operand of these sizes: a constant where they are numbers, and an input."""
        dims = [self.said(d) if isinstance(d, tuple) else d for d in dims]
        if all(isinstance(d, int) for d in dims) and (self.depth or self.chance(is_weight)):
            return self.constant(self.array(dtype, dims))
        return self.new_input(dtype, dims)

    def beside(self, size):
        """A size that broadcasts with this one: the same, or that of a name, where one of them is 1 in a call."""
        size = (size,) * 3 if isinstance(size, int) else tuple(size)
        names = [name for name, other in self.symbols.items()
                 if other != size and all(a == b or 1 in (a, b) for a, b in zip(size, other, strict=True))]  # fmt: skip
        return self.some(names) if names and self.chance(0.4) else size

    def constant(self, array, dtype=None):
        """An initializer, or a node; the same array each time."""
        array = np.asarray(array, dtype)
        name = self.name()
        self.values[name] = Value([array] * 3, [array] * 3)
        tensor = numpy_helper.from_array(array, name)
        if self.is_function or self.chance(0.3):
            self.nodes.append(helper.make_node("Constant", [], [name], value=tensor))
        else:
            self.constants[name] = tensor
        return name

    def integers(self, numbers):
        return self.constant(np.asarray(numbers, np.int64).reshape(-1))

    def sizes(self, dims):
        """A vector of sizes, of which each is a number for each of the numbers: computed where they differ."""
        dims = [(d,) * 3 if isinstance(d, int) else tuple(d) for d in dims]
        if all(len(set(d)) == 1 for d in dims):
            return self.integers([d[0] for d in dims])
        parts = [self.integers([d[0]]) if len(set(d)) == 1 else self.size(d) for d in dims]
        return parts[0] if len(parts) == 1 else self.take("Concat", parts, axis=0)

    def size(self, size):
        """A vector of one size that an axis of a value has, or differs from by a number."""
        found = [(name, axis) for name in self.pool for axis, d in enumerate(self.values[name].dims)
                 if len({a - b for a, b in zip(d, size, strict=True)}) == 1]  # fmt: skip
        if not found:
            raise Unfit
        name, axis = self.some(found)
        part = self.size_of(name, axis)
        difference = size[0] - self.values[name].dims[axis][0]
        return self.take("Add", [part, self.integers([difference])]) if difference else part

    def size_of(self, name, axis):
        if self.opset >= 15 and self.chance(0.3):
            return self.take("Shape", [name], start=axis, end=axis + 1)
        shape = self.take("Shape", [name])
        if self.chance(0.5):
            return self.take("Slice", [shape, self.integers([axis]), self.integers([axis + 1])])
        return self.take("Gather", [shape, self.integers([axis])], axis=0)

    # Nodes

    def take(self, op, inputs, outputs=1, domain="", **attributes):
        """Adds a node, once it is known what it is worth; returns its output, or their names."""
        names = [self.name() for _ in range(outputs)]
        node = helper.make_node(op, inputs, names, domain=domain, **attributes)
        self.require_valid(node)
        read = sorted(self.free_names([node]))
        worth = []
        for i in range(3):
            plain = self.run(node, {name: self.values[name].plain[i] for name in read})
            shaken = self.run(node, {name: self.values[name].shaken[i] for name in read}, is_shaken=True)
            worth.append((plain, shaken))
        made = [Value([plain[k] for plain, _ in worth], [shaken[k] for _, shaken in worth]) for k in range(outputs)]
        for value in made:
            require_sound(value)
        self.nodes.append(node)
        for name, value in zip(names, made, strict=True):
            self.values[name] = value
            self.pool.append(name)
        return names[0] if outputs == 1 else names

    def require_valid(self, node):
        """Errors: Unfit: an op or a type that this version does not have."""
        types = {name: helper.np_dtype_to_tensor_dtype(self.values[name].plain[0].dtype) for name in self.free_names([node])}
        inputs = [helper.make_tensor_value_info(name, dtype, None) for name, dtype in types.items()]
        try:
            node.domain or onnx.defs.get_schema(node.op_type, self.opset)
            model = self.model([node], inputs, list(node.output), {})
            onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True)
        except (onnx.defs.SchemaError, onnx.shape_inference.InferenceError):
            raise Unfit from None

    def run(self, node, known, is_shaken=False):
        """The outputs of a node, of the values that it reads. Graphs within it are run here, node by node: the
        evaluator's Loop puts traces one behind the other, and its Scan has one direction and one axis."""
        if node.domain:
            (called,) = [f for f in self.functions if f.name == node.op_type]
            given = dict(zip(called.input, (known[name] for name in node.input), strict=True))
            return self.run_nodes(called.node, called.output, given, is_shaken)
        if node.op_type in ("If", "Loop", "Scan"):
            return getattr(self, "run_" + node.op_type.lower())(node, known, is_shaken)
        given = [known[name] for name in node.input if name]
        results = self.evaluator(node, given)(given)
        if is_shaken and node.op_type not in MOVES:
            floats = [a for a in given if a.dtype.kind == "f"]
            largest = max((np.abs(a).max(initial=0) for a in floats), default=0) if node.op_type in SUMS else 0
            results = [self.noise(a, largest) if a.dtype.kind == "f" else a for a in results]
        return results

    def run_nodes(self, nodes, outputs, known, is_shaken):
        for node in nodes:
            results = self.run(node, {name: known[name] for name in self.free_names([node])}, is_shaken)
            known = known | dict(zip(node.output, results, strict=True))
        return [known[name] for name in outputs]

    def run_graph(self, graph, known, is_shaken):
        constants = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
        return self.run_nodes(graph.node, [x.name for x in graph.output], known | constants, is_shaken)

    def run_if(self, node, known, is_shaken):
        graphs = {a.name: a.g for a in node.attribute}
        return self.run_graph(graphs["then_branch" if known[node.input[0]] else "else_branch"], known, is_shaken)

    def run_loop(self, node, known, is_shaken):
        (body,) = [a.g for a in node.attribute]
        states = [known[name] for name in node.input[2:]]
        step, goes_on, traces = 0, not node.input[1] or known[node.input[1]], []
        while goes_on and step < known[node.input[0]]:
            given = dict(zip((x.name for x in body.input), [np.asarray(step), np.asarray(True), *states], strict=True))
            goes_on, *rest = self.run_graph(body, known | given, is_shaken)
            states, traces, step = rest[: len(states)], [*traces, rest[len(states) :]], step + 1
        if not traces and len(node.output) > len(states):
            raise Unfit  # nothing says what sizes a trace of no rows has
        return states + stacked(traces)

    def run_scan(self, node, known, is_shaken):
        attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
        *states, scanned = [known[name] for name in node.input]
        rows = np.moveaxis(scanned, attributes.get("scan_input_axes", [0])[0], 0)
        body, traces = attributes["body"], []
        for row in rows[::-1] if attributes.get("scan_input_directions", [0])[0] else rows:
            given = dict(zip((x.name for x in body.input), [*states, row], strict=True))
            results = self.run_graph(body, known | given, is_shaken)
            states, traces = results[: len(states)], [*traces, results[len(states) :]]
        out = [trace[::-1] if attributes.get("scan_output_directions", [0])[0] else trace for trace in stacked(traces)]
        return states + [np.moveaxis(trace, 0, attributes.get("scan_output_axes", [0])[0]) for trace in out]

    def noise(self, array, largest):
        size = np.abs(np.float64(array))
        size = np.full(array.shape, size.max(initial=largest)) if largest else size
        off = self.rng.uniform(0.5, 1, array.shape) * self.rng.choice([-1, 1], array.shape)
        with np.errstate(all="ignore"):
            return np.asarray(np.float64(array) + off * size * NOISE[array.dtype.name]).astype(array.dtype)

    def evaluator(self, node, given):
        """A function of the node's inputs, which is made once."""
        if node.output[0] not in self.evaluators:
            names = [name for name in node.input if name]
            types = dict(zip(names, (helper.np_dtype_to_tensor_dtype(a.dtype) for a in given), strict=True))
            inputs = [helper.make_tensor_value_info(name, dtype, None) for name, dtype in types.items()]
            model = self.model([node], inputs, list(node.output), {})
            try:
                made = by_onnxruntime(model, names) if self.is_by_onnxruntime(node) else by_reference(model, names)
            except Exception:  # an op that neither has of these types
                raise Unfit from None
            self.evaluators[node.output[0]] = made
        return self.evaluators[node.output[0]]

    def is_by_onnxruntime(self, node):
        before, _ = BY_ONNXRUNTIME.get(node.op_type, (0, ""))
        return self.opset < before

    def free_names(self, nodes):
        """What nodes and the graphs in them read of the values around them."""
        read, made = set(), set()
        for node in nodes:
            read |= {name for name in node.input if name} - made
            for attribute in node.attribute:
                if attribute.type == onnx.AttributeProto.GRAPH:
                    graph = attribute.g
                    own = {x.name for x in [*graph.input, *graph.initializer]} | {name for n in graph.node for name in n.output}
                    read |= (self.free_names(graph.node) | {x.name for x in graph.output}) - own - made
            made |= set(node.output)
        return read

    def model(self, nodes, inputs, outputs, constants, ir_version=10):
        results = [helper.make_empty_tensor_value_info(name) for name in outputs]
        graph = helper.make_graph(nodes, "random", inputs, results, list(constants.values()))
        opsets = [helper.make_opsetid("", self.opset)] + ([helper.make_opsetid("own", 1)] if self.functions else [])
        return helper.make_model(graph, opset_imports=opsets, ir_version=ir_version, functions=self.functions)

    def graph(self, params, outputs):
        """What has grown as the body of a node."""
        declared = [self.declared(name) for name in [*params, *outputs]]
        constants = list(self.constants.values())
        return helper.make_graph(self.nodes, "body", declared[: len(params)], declared[len(params) :], constants)

    def declared(self, name):
        value = self.values[name]
        dtype = helper.np_dtype_to_tensor_dtype(value.plain[0].dtype)
        return helper.make_tensor_value_info(name, dtype, None)

    def network(self, outputs):
        inputs = []
        for name, dims in self.inputs.items():
            dtype = helper.np_dtype_to_tensor_dtype(self.values[name].plain[0].dtype)
            inputs.append(helper.make_tensor_value_info(name, dtype, dims))
        return self.model(self.nodes, inputs, outputs, self.constants)


def require_sound(value):
    """Errors: Unfit: no numbers, numbers too large, or such that hang on a rounding."""
    if len({(a.dtype, a.ndim) for a in value.plain + value.shaken}) > 1 or value.rank > MOST_AXES:
        raise Unfit
    if value.plain[0].dtype.kind not in "biuf":
        raise Unfit
    for plain, shaken in zip(value.plain, value.shaken, strict=True):
        if plain.shape != shaken.shape or plain.size > MOST_ELEMENTS:
            raise Unfit
        if plain.dtype.kind in "biu":
            if not np.array_equal(plain, shaken):
                raise Unfit
            if plain.size and int(np.abs(plain.astype(np.int64)).max()) > LARGEST.get(plain.dtype.name, 255):
                raise Unfit
            continue
        if not np.isfinite(plain).all() or not np.isfinite(shaken).all():
            raise Unfit
        largest = np.abs(plain).max(initial=0)
        if largest > LARGEST[plain.dtype.name] or moved(plain, shaken) > largest / 16:
            raise Unfit


def moved(plain, shaken):
    return np.abs(np.float64(plain) - np.float64(shaken)).max(initial=0)


def stacked(rows):
    try:
        return [np.stack(trace) for trace in zip(*rows, strict=True)]
    except ValueError:  # rows of several sizes
        raise Unfit from None


def by_reference(model, names):
    evaluator = ReferenceEvaluator(model)
    return lambda arrays: evaluated(lambda: evaluator.run(None, dict(zip(names, arrays, strict=True))))


def by_onnxruntime(model, names):
    options = onnxruntime.SessionOptions()
    options.log_severity_level, options.intra_op_num_threads = 4, 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return lambda arrays: evaluated(lambda: session.run(None, dict(zip(names, arrays, strict=True))))


def evaluated(run):
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            results = [np.asarray(x) for x in run()]
    except Exception:  # sizes that do not fit, or an index beyond an axis
        raise Unfit from None
    return results
