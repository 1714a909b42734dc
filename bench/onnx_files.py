"""Networks in ONNX files beside onnxruntime, one thread each, in the same run. Run by hand:

    python bench/onnx_files.py [NAME ...]      a table: milliseconds of loading and of a call, megabytes
    python bench/onnx_files.py calls           microseconds of a call of a chain of 1, 10, 50 and 200 ops on 16 numbers
    python bench/onnx_files.py products        microseconds of products with weights of bytes, and of an LSTM with them
    python bench/onnx_files.py convolutions    microseconds of convolutions of bytes

Needs onnxruntime and the networks (tools/onnx_models.py), which scripts/setup fetches. CPU time of the thread, the least
of many rounds; a load is in a fresh process, the least of three. Memory is what a first call adds to the process.
"""

import ctypes
import json
import math
import os
import subprocess
import sys
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import inlay
import paths  # says that nothing is taken from the user's cache

import numpy as np

os.environ["INLAY_CACHE"] = os.environ.get("INLAY_BENCH_CACHE", "0")
sys.path.insert(0, str(paths.BENCH.parent / "tools"))

import onnx_models

SECONDS = 2.0
MB = 1e6


def least(call, seconds=SECONDS):
    """CPU seconds of a call: as many at once as take a few milliseconds, more than a tick of the clock."""
    start = time.perf_counter()
    call()
    times = 1 + int(5e-3 / (time.perf_counter() - start))
    found, end = [], time.perf_counter() + seconds
    while time.perf_counter() < end or len(found) < 5:
        start = time.thread_time()
        for _ in range(times):
            call()
        found.append((time.thread_time() - start) / times)
    return min(found)


def resident():
    """Bytes of this process that lie in no file: weights that are mapped can leave memory at any time."""
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("RssAnon:"))


def load_inlay(path, fixed):
    import inlay.onnx

    fn = inlay.onnx.compile(path, fixed=fixed)
    return fn, lambda given: fn(*(given[name] for name in fn.parameters))


def load_peer(path, fixed):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    return session, lambda given: session.run(None, given)


LOADERS = {"inlay": load_inlay, "peer": load_peer}


def measure(who, name):
    """In this process: seconds of the load, bytes of the first call, seconds of a call, and what was computed."""
    network = next(n for n in onnx_models.NETWORKS if n.name == name)
    given = network.arguments()
    importing = {"inlay": "inlay.onnx", "peer": "onnxruntime"}[who]
    __import__(importing)
    start = time.process_time()
    made, call = LOADERS[who](str(network.path), network.fixed)
    load = time.process_time() - start
    ctypes.CDLL(None).malloc_trim(0)  # what loading has freed would hide what a call asks for
    before = resident()
    results = call(given)
    grown = resident() - before
    out = {"load": load, "grown": grown, "call": least(lambda: call(given))}
    if who == "inlay":
        out["arena"], out["bound"] = arena_of(made, given)
    results = results if isinstance(results, tuple | list) else [results]
    out["sum"] = [float(np.abs(np.asarray(x, dtype=np.float64)).sum()) for x in results]
    return out


def arena_of(fn, given):
    """Bytes of working memory for these arguments, and the least that any layout needs."""
    sizes = {}
    for name, kind in fn.parameters.items():
        words = kind[kind.find("[") + 1 : -1].split(", ") if "[" in kind else []
        for word, number in zip(words, np.shape(given[name]), strict=True):
            if not word.isdigit():
                sizes[word] = number
    try:
        plan = fn.compilation.program.plan(sizes or None)
    except inlay.errors.UnknownName:  # of a size that is found while the network runs
        return float("nan"), float("nan")
    return plan["peak"], plan["lower_bound"]


def apart(who, name, **variables):
    done = subprocess.run(
        [sys.executable, __file__, "--measure", who, name], capture_output=True, text=True, env=os.environ | variables
    )
    if done.returncode:
        return {"failed": done.stderr.strip().splitlines()[-1]}
    return json.loads(done.stdout)


def table(names):
    heads = "network", "load, ms: inlay / from the cache / ORT", "call, ms: inlay", "ORT", "ratio", "arena / its bound, MB"
    print(f"| {' | '.join(heads)} | first call adds, MB: inlay | ORT |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for network in onnx_models.NETWORKS:
        if names and network.name not in names:
            continue
        ours, theirs = apart("inlay", network.name), apart("peer", network.name)
        if "failed" in ours or "failed" in theirs:
            print(f"| {network.name} | {ours.get('failed') or theirs.get('failed')} |")
            continue
        cache = {"INLAY_BENCH_CACHE": str(paths.BUILD / "onnx-cache")}
        apart("inlay", network.name, **cache)
        kept = apart("inlay", network.name, **cache)
        arena = "late sizes" if math.isnan(ours["arena"]) else f"{ours['arena'] / MB:.3f} / {ours['bound'] / MB:.3f}"
        print(
            f"| {network.name} | {1e3 * ours['load']:.0f} / {1e3 * kept['load']:.0f} / {1e3 * theirs['load']:.0f}"
            f" | {1e3 * ours['call']:.3f} | {1e3 * theirs['call']:.3f} | {theirs['call'] / ours['call']:.2f} x"
            f" | {arena}"
            f" | {ours['grown'] / MB:.1f} | {theirs['grown'] / MB:.1f} |",
            flush=True,
        )


def chain(length):
    from onnx import TensorProto, helper

    ops = ["Neg", "Abs", "Relu", "Sigmoid"]
    nodes = [helper.make_node(ops[i % len(ops)], [f"v{i}"], [f"v{i + 1}"]) for i in range(length)]
    return made(nodes, *((f"v{i}", TensorProto.FLOAT, [16]) for i in (0, length)))


def made(nodes, x, y, weights=None):
    """The bytes of a network from x to y, each a name, a type and sizes."""
    from onnx import helper, numpy_helper

    kept = [numpy_helper.from_array(np.asarray(array), name) for name, array in (weights or {}).items()]
    ends = [[helper.make_tensor_value_info(*end)] for end in (x, y)]
    graph = helper.make_graph(nodes, "net", *ends, initializer=kept)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString()


def microseconds(net, given):
    """Of a call: inlay's and onnxruntime's."""
    calls = [load(net, {})[1] for load in LOADERS.values()]
    return [1e6 * least(lambda call=call: call(given), 0.5) for call in calls]


def quantised_product(form, rows, depth, columns, rng):
    """A product with a matrix of i8: of u8 that give i32, of floats that are quantised as they are, with a scale before and
    behind it as ops or as QDQ. And its argument."""
    from onnx import TensorProto, helper

    node = helper.make_node
    w = rng.integers(-127, 128, (depth, columns)).astype(np.int8)
    weights = {"w": w, "s": np.float32(0.02), "z": np.uint8(120), "ws": np.float32(0.01), "wz": np.int8(0), "t": np.float32(30)}
    nodes = {
        "integers": [node("MatMulInteger", ["x", "w", "z"], ["y"])],
        "dynamic": [
            node("DynamicQuantizeLinear", ["x"], ["q", "qs", "qz"]), node("MatMulInteger", ["q", "w", "qz", "wz"], ["i"]),
            node("Cast", ["i"], ["f"], to=TensorProto.FLOAT), node("Mul", ["qs", "ws"], ["scale"]), node("Mul", ["f", "scale"], ["y"]),
        ],
        "operators": [node("QLinearMatMul", ["x", "s", "z", "w", "ws", "wz", "t", "z"], ["y"])],
        "QDQ": [
            node("DequantizeLinear", ["x", "s", "z"], ["a"]), node("DequantizeLinear", ["w", "ws", "wz"], ["b"]),
            node("MatMul", ["a", "b"], ["c"]), node("QuantizeLinear", ["c", "t", "z"], ["y"]),
        ],
    }[form]  # fmt: skip
    x = rng.integers(0, 256, (rows, depth)).astype(np.uint8)
    kinds = {"integers": TensorProto.INT32, "dynamic": TensorProto.FLOAT}
    read = {name for n in nodes for name in n.input}
    weights = {name: array for name, array in weights.items() if name in read}
    if form == "dynamic":
        x = rng.standard_normal((rows, depth)).astype(np.float32)
    ends = [("x", helper.np_dtype_to_tensor_dtype(x.dtype), x.shape), ("y", kinds.get(form, TensorProto.UINT8), [rows, columns])]
    return made(nodes, *ends, weights), x


def quantised_lstm(steps, size, rng):
    from onnx import TensorProto, helper

    matrix = lambda: rng.integers(-127, 128, (1, size, 4 * size)).astype(np.int8)  # noqa: E731
    weights = {"w": matrix(), "r": matrix(), "b": np.zeros((1, 8 * size), np.float32)}
    weights |= {"ws": np.full(1, 2e-3, np.float32), "wz": np.zeros(1, np.int8)}
    names = ["x", "w", "r", "b", "", "", "", "", "ws", "wz", "ws", "wz"]
    lstm = helper.make_node("DynamicQuantizeLSTM", names, ["y"], domain="com.microsoft", hidden_size=size)
    x = rng.standard_normal((steps, 1, size)).astype(np.float32)
    return made([lstm], ("x", TensorProto.FLOAT, x.shape), ("y", TensorProto.FLOAT, [steps, 1, 1, size]), weights), x


def quantised_convolution(form, channels, out, size, kernel, stride, groups, rng):
    """A convolution of u8 with weights of i8, scaled and rounded to u8 by the op or as QDQ. And its argument."""
    from onnx import TensorProto, helper

    node = helper.make_node
    scales = (rng.random(out) * 0.01 + 0.001).astype(np.float32)
    weights = {
        "w": rng.integers(-127, 128, (out, channels // groups, kernel, kernel)).astype(np.int8), "ws": scales,
        "wz": np.zeros(out, np.int8), "b": rng.integers(-1000, 1000, out).astype(np.int32), "s": np.float32(0.02),
        "z": np.uint8(120), "t": np.float32(0.5),
    }  # fmt: skip
    how = {"pads": [kernel // 2] * 4, "strides": [stride] * 2, "kernel_shape": [kernel] * 2, "group": groups}
    if form == "operators":
        nodes = [node("QLinearConv", ["x", "s", "z", "w", "ws", "wz", "t", "z", "b"], ["y"], **how)]
    else:
        weights |= {"bs": scales * np.float32(0.02), "bz": np.zeros(out, np.int32)}
        nodes = [
            node("DequantizeLinear", ["x", "s", "z"], ["xf"]), node("DequantizeLinear", ["w", "ws", "wz"], ["wf"], axis=0),
            node("DequantizeLinear", ["b", "bs", "bz"], ["bf"], axis=0), node("Conv", ["xf", "wf", "bf"], ["yf"], **how),
            node("QuantizeLinear", ["yf", "t", "z"], ["y"]),
        ]  # fmt: skip
    x = rng.integers(0, 256, (1, channels, size, size)).astype(np.uint8)
    shape = [1, out, -(-size // stride), -(-size // stride)]
    return made(nodes, ("x", TensorProto.UINT8, x.shape), ("y", TensorProto.UINT8, shape), weights), x


def convolutions():
    rng = np.random.default_rng(1)
    print("| channels, image, kernel, stride | of | inlay, us | ORT, us | ratio |\n| --- | --- | --- | --- | --- |")
    sizes = [(3, 32, 224, 3, 2, 1), (64, 64, 56, 3, 1, 1), (128, 128, 28, 3, 1, 1), (512, 512, 7, 3, 1, 1), (256, 64, 56, 1, 1, 1),
             (64, 256, 56, 1, 1, 1), (960, 160, 7, 1, 1, 1), (96, 96, 56, 3, 1, 96)]  # fmt: skip
    for channels, out, size, kernel, stride, groups in sizes:
        what = f"{channels} to {out}{' by channel' * (groups > 1)}, {size} x {size}, {kernel} x {kernel}, {stride}"
        for form in ("operators", "QDQ"):
            net, x = quantised_convolution(form, channels, out, size, kernel, stride, groups, rng)
            ours, theirs = microseconds(net, {"x": x})
            print(f"| {what} | {form} | {ours:.1f} | {theirs:.1f} | {theirs / ours:.2f} x |", flush=True)


def products():
    rng = np.random.default_rng(1)
    print("| rows x depth x columns | of | inlay, us | ORT, us | ratio |\n| --- | --- | --- | --- | --- |")
    sizes = [(1, 256, 1024), (1, 1024, 1024), (1, 4096, 4096), (16, 768, 3072), (128, 768, 768), (512, 512, 512)]
    cases = [(" x ".join(map(str, s)), form, quantised_product(form, *s, rng)) for s in sizes for form in ("integers", "dynamic", "operators", "QDQ")]
    cases += [(f"{steps} steps of {size}", "LSTM", quantised_lstm(steps, size, rng)) for steps, size in ((50, 128), (50, 512))]
    for sizes, form, (net, x) in cases:
        ours, theirs = microseconds(net, {"x": x})
        print(f"| {sizes} | {form} | {ours:.1f} | {theirs:.1f} | {theirs / ours:.2f} x |", flush=True)


def calls():
    print("| ops | inlay, us | ORT, us |\n| --- | --- | --- |")
    for length in (1, 10, 50, 200):
        ours, theirs = microseconds(chain(length), {"v0": np.ones(16, np.float32)})
        print(f"| {length} | {ours:.2f} | {theirs:.2f} |")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        print(json.dumps(measure(*sys.argv[2:])))
    elif sys.argv[1:] == ["calls"]:
        calls()
    elif sys.argv[1:] == ["products"]:
        products()
    elif sys.argv[1:] == ["convolutions"]:
        convolutions()
    else:
        table(sys.argv[1:])
