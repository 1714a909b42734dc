"""Attention of ONNX networks, beside onnxruntime, at sizes that are symbols."""

import inlay
import inlay.onnx
import numpy as np
import pytest

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
from onnx_nodes import agrees, network, results_of  # noqa: E402

RNG = np.random.default_rng(13)
SIZE, VALUE_SIZE = 8, 6


def floats(*shape):
    return RNG.standard_normal(shape, dtype=np.float32)


def is_seen(*shape):
    mask = RNG.uniform(size=shape) > 0.3
    mask[..., 0] = True
    return mask


MASKS = {
    "none": (None, None),
    "bools": ("bool[s, t]", lambda b, s, t: is_seen(s, t)),
    "bools of heads": ("bool[b, 4, s, t]", lambda b, s, t: is_seen(b, 4, s, t)),
    "added": ("f32[b, 1, s, t]", lambda b, s, t: floats(b, 1, s, t)),
}


@pytest.mark.parametrize("key_heads", [4, 2, 1])
@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("causal", [0, 1])
def test_attention(key_heads, mask, causal):
    kind, make = MASKS[mask]
    inputs = [f"q: f32[b, 4, s, {SIZE}]", f"k: f32[b, {key_heads}, t, {SIZE}]"]
    inputs.append(f"v: f32[b, {key_heads}, t, {VALUE_SIZE}]")
    calls = []
    for b, s, t in [(1, 1, 1), (2, 3, 5), (2, 7, 7)]:
        call = {"q": floats(b, 4, s, SIZE), "k": floats(b, key_heads, t, SIZE)}
        call["v"] = floats(b, key_heads, t, VALUE_SIZE)
        calls.append(call | ({"m": make(b, s, t)} if make else {}))
    model = network("Attention", inputs + ([f"m: {kind}"] if kind else []), opset=23, is_causal=causal, softcap=2.0)
    agrees(model, *calls)


@pytest.mark.parametrize("mode", [0, 1, 3])
def test_past_keys(mode):
    inputs = ["q: f32[b, s, 32]", "k: f32[b, s, 16]", "v: f32[b, s, 16]", "m: f32[s, t]"]
    inputs += ["pk: f32[b, 2, p, 8]", "pv: f32[b, 2, p, 8]"]
    calls = [
        {
            "q": floats(b, s, 32), "k": floats(b, s, 16), "v": floats(b, s, 16), "m": floats(s, s + p),
            "pk": floats(b, 2, p, 8), "pv": floats(b, 2, p, 8),
        }
        for b, s, p in [(1, 1, 4), (2, 3, 2), (2, 1, 9)]
    ]  # fmt: skip
    attributes = {"is_causal": 1, "q_num_heads": 4, "kv_num_heads": 2, "qk_matmul_output_mode": mode}
    agrees(network("Attention", inputs, "y,keys,values,qk", 23, **attributes), *calls)


def test_keys_that_no_query_sees():
    """-inf that is added, and false, mask a key whatever its score; a query that sees none has zeros."""
    inputs = ["q: f32[b, 1, s, 4]", "k: f32[b, 1, t, 4]", "v: f32[b, 1, t, 4]"]
    q, k, v = floats(1, 1, 2, 4), floats(1, 1, 3, 4), floats(1, 1, 3, 4)
    mask = np.array([[True, False, True], [False, False, False]])
    shorter = inlay.onnx.compile(network("Attention", ["q: f32[b, 1, s, 4]", *inputs[1:]], opset=23))
    wanted = shorter(q[:, :, :1], k[:, :, ::2], v[:, :, ::2])
    k[0, 0, 1] = np.nan
    for kind, given in [("bool", mask), ("f32", np.where(mask, 0, -np.inf).astype(np.float32))]:
        y = inlay.onnx.compile(network("Attention", [*inputs, f"m: {kind}[s, t]"], opset=23))(q, k, v, given)
        np.testing.assert_allclose(y[:, :, :1], wanted, rtol=1e-5, atol=1e-6)
        assert not y[:, :, 1].any()


def test_what_attention_stores():
    """The scores and their exponentials; no copy of keys or values."""
    heads = "f32[b, 8, {}, 64]"
    inputs = [f"q: {heads.format('s')}", f"k: {heads.format('t')}", f"v: {heads.format('t')}"]
    fn = inlay.onnx.compile(network("Attention", inputs, opset=23, is_causal=1))
    fn(floats(1, 8, 3, 64), floats(1, 8, 5, 64), floats(1, 8, 5, 64))
    explained = inlay.explain(fn)
    assert len(explained.kernels) == 3 and len(explained.library_calls) == 2 and explained.copies == []


@pytest.mark.parametrize("interleaved", [0, 1])
@pytest.mark.parametrize("rotated", [0, 4])
@pytest.mark.parametrize("packed", [False, True])
def test_rotary_embedding(interleaved, rotated, packed):
    half = (rotated or 8) // 2
    inputs = ["x: f32[b, s, 32]" if packed else "x: f32[b, 4, s, 8]", f"c: f32[50, {half}]", f"n: f32[50, {half}]"]
    calls = [
        {
            "x": floats(b, s, 32) if packed else floats(b, 4, s, 8), "c": floats(50, half), "n": floats(50, half),
            "p": RNG.integers(0, 50, (b, s)),
        }
        for b, s in [(1, 1), (2, 5)]
    ]  # fmt: skip
    attributes = {"interleaved": interleaved, "rotary_embedding_dim": rotated, "num_heads": 4}
    fn = agrees(network("RotaryEmbedding", [*inputs, "p: i64[b, s]"], opset=23, **attributes), *calls)
    # Of a part whose pairs are neighbours the turned pairs are stored before the rest stands beside them.
    assert len(inlay.explain(fn).temporaries) == int(interleaved and rotated > 0)


def test_linear_attention():
    inputs = ["q: f32[b, t, 16]", "k: f32[b, t, 8]", "v: f32[b, t, 6]", "s: f32[b, 2, 4, 3]"]
    inputs += ["g: f32[b, t, 2]", "r: f32[b, t, 2]"]
    model = network("LinearAttention", inputs, "y,state", 27, q_num_heads=4, kv_num_heads=2)
    fn = inlay.onnx.compile(model)
    for b, t in [(2, 5), (1, 1)]:
        call = {"q": floats(b, t, 16), "k": floats(b, t, 8), "v": floats(b, t, 6), "s": floats(b, 2, 4, 3)}
        call |= {"g": -np.abs(floats(b, t, 2)), "r": np.abs(floats(b, t, 2))}
        y, last = results_of(fn, call)
        state, wanted = call["s"].astype(np.float64), []
        for i in range(t):
            key, value = call["k"][:, i].reshape(b, 2, 4), call["v"][:, i].reshape(b, 2, 3)
            query = call["q"][:, i].reshape(b, 2, 2, 4)
            state = state * np.exp(call["g"][:, i])[..., None, None]
            value = call["r"][:, i][..., None] * (value - np.einsum("bhkv,bhk->bhv", state, key))
            state = state + key[..., None] * value[..., None, :]
            wanted.append(np.einsum("bhgk,bhkv->bhgv", query, state).reshape(b, 12) / 2)
        np.testing.assert_allclose(y, np.stack(wanted, 1), rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(last, state, rtol=1e-4, atol=1e-5)
