"""Scalar ops in exported C: those of libm, and what inlay's own C99 sources bring with them, how near and how far."""

import itertools
import json
import math
import time

import accuracy
import inlay
import numpy as np
import pytest
from test_export import FLAGS, ROOT, Library, require_alone, run, tool


def scalar_ops():
    return {op["name"]: op for op in json.loads(tool("list", "ops", "--json"))}


# functions/supplied.c, incomplete_gamma.c and the others: what exported C brings with it.
SUPPLIED = set("digamma trigamma polygamma beta ndtri_exp j0 j1 gammainc gammaincc gammainc_da betainc betainc_da betainc_db "
               "gammaincinv gammainccinv betaincinv owens_t jv ive kve hyp2f1".split())  # fmt: skip


def test_every_op_that_is_called_elsewhere_lies_in_what_is_exported():
    assert SUPPLIED == {name for name, op in scalar_ops().items() if op["c"] == "called"}


def test_every_scalar_op_that_c_has(tmp_path):
    """All of them in one program, special functions too, on operands within the domain of most."""
    ops = {name: op["arity"] for name, op in scalar_ops().items() if op["f64"]}
    params = "%a: f64[n], %b: f64[n], %c: f64[n], %d: f64[n]"
    lines, names = [], []
    for name, arity in ops.items():
        operands = ", ".join(("%a", "%b", "%c", "%d")[:arity])
        text = f"graph @p({params}) {{\n  %r = {name} {operands}\n  return %r\n}}"
        try:
            result = inlay.compile(text).results["r"]
        except inlay.InlayError:
            continue  # of bools and integers
        if result != "f64[n]":
            continue
        lines.append(f"  %{name}_r = {name} {operands}\n")
        names.append(f"%{name}_r")
    special = "erf erfc erfcx erfinv erfcinv ndtr ndtri log_ndtr lgamma gamma digamma trigamma i0 i1 lbeta sigmoid log1mexp".split()
    assert {f"%{name}_r" for name in special} | {f"%{name}_r" for name in SUPPLIED} <= set(names)
    text = f"graph @ops({params}) {{\n{''.join(lines)}  return {', '.join(names)}\n}}"
    a, b, c, d = np.linspace(0.05, 0.95, 17), np.linspace(2.5, 0.3, 17), np.linspace(1.0, 4.0, 17), np.linspace(-30, 0.99, 17)
    _, code = inlay.export(text, tmp_path, sizes={"n": 17})
    run("cc", *FLAGS, "-c", code, "-o", tmp_path / "ops.o")
    require_alone(tmp_path / "ops.o")
    results = [np.empty(17) for _ in names]
    assert Library(tmp_path, "ops")([a, b, c, d], results) == 0
    for name, got, want in zip(names, results, inlay.compile(text)(a, b, c, d), strict=True):
        # The inverses of betainc: where the function is flat, its errors are larger ones of its operand.
        np.testing.assert_allclose(got, want, rtol=1e-12 if name == "%betaincinv_r" else 1e-13, err_msg=name)


def supplied_errors():
    """Of docs/math.md: the op and the range to the largest error, in units of the last place."""
    table = (ROOT / "docs" / "math.md").read_text().split("### What exported C computes by itself")[1].split("\n\n")
    rows = [line.split("|")[1:-1] for text in table if text.startswith("| op |") for line in text.splitlines()[2:]]
    return {f"| {name.strip()} | {operands.strip()} |": float(error) for name, operands, error in rows}


@pytest.mark.parametrize("op", sorted(SUPPLIED - {"digamma", "trigamma"}))
def test_supplied_ops_are_as_near_as_the_page_says(op, monkeypatch):
    """The C backend brings them itself where it is told so, by the same sources."""
    monkeypatch.setenv("INLAY_BACKEND", "c")
    monkeypatch.setenv("INLAY_C_ALONE", "1")
    monkeypatch.setenv("INLAY_CACHE", "0")
    for samples in accuracy.TABLE[op].ranges:
        documented = supplied_errors()[accuracy.key(op, samples)]
        # Other samples, and another C library, whose tgamma is off by other units.
        assert accuracy.largest_error(op, samples, 30) <= 1.5 * documented + 5, samples


EDGES = [0.0, -0.0, 0.5, 1.0, 2.0, 7.0, 30.0, 1e-280, 1e6, 1e25, -1.0, -1.5, np.inf, -np.inf, np.nan]
FEWER_EDGES = [0.0, 0.5, 1.0, 2.0, -1.0, -1.5, np.inf, np.nan]  # of four operands


@pytest.mark.parametrize("op", sorted(SUPPLIED - {"betainc_da", "betainc_db"}))
def test_supplied_ops_at_the_edges(op, tmp_path):
    arity = scalar_ops()[op]["arity"]
    edges = itertools.product(EDGES if arity < 4 else FEWER_EDGES, repeat=arity)
    operands = [np.array(column) for column in zip(*edges, strict=True)]
    names = [f"%{letter}" for letter in "abcd"[:arity]]
    text = f"graph @p({', '.join(f'{n}: f64[n]' for n in names)}) {{\n  %r = {op} {', '.join(names)}\n  return %r\n}}"
    inlay.export(text, tmp_path, "shared", name="p", sizes={"n": operands[0].size})
    got = np.empty(operands[0].size)
    assert Library(tmp_path, "p")(operands, [got]) == 0
    np.testing.assert_allclose(got, inlay.compile(text)(*operands), rtol=1e-11, atol=1e-300)


# By mpmath: operands and results where one parameter is far from the other, or terms cancel.
FAR = {
    "beta": [(1e-305, 1e-305, 2e305), (1e-304, 2.5, 1e304)],
    "polygamma": [(170.0, -0.5, -5.6127628949062967e276), (170.0, -2.5, -6.6856927007828417e213)],
    "betainc": [(0.5, 1e7, 5.37097084432555e-08, 0.69999999999999977908), (0.5, 1e-20, 1 - 2.0**-53, 3.8123094930796990e-19),
                (1e-8, 1e-20, 1 - 2.0**-53, 1.0000003673670055e-12), (1e-20, 0.5, 1e-17, 1.0),
                (50.0, 1e-9, 0.98, 2.1935891242087965e-10), (3e5, 2.5, 0.99999, 0.30621453972084260)],
    "owens_t": [(21.0, 0.84375, 1.639639009489518e-98), (0.0625, 5e-145, 7.942219848004788e-146),
                (30.0, 1.0009765625, 2.4533569635740936e-198), (37.0, 0.5, 2.8627856112622886e-300), (1e-300, 3.0, 0.19879180882521663)],
    "jv": [(-160.5, 1.5, 1.3430925190609722e303), (169.5, 26.0, 4.3294495956417995e-118), (1000.0, 1010.0, 0.06528181800221505),
           (-26.75, 57.5, -0.01902329929153748), (40.25, 900.0, 0.008982882863470213), (-3.0000000004, 0.25, -0.00032466407790489256),
           (1e5, 1e6, -3.994555496994885e-05), (1e6, 1.1e6, 0.0011776738709008993), (1e9, 1e17, 3.704639707960164e-11)],
    "kve": [(323.625, 238.25, 1.751027526100103e84), (-0.5, 1.0, 1.2533141373155003), (77.25, 1.0, 1.358083355298306e135),
            (0.25, 499.0, 0.05609551685425506), (12.5, 0.03, 4.4368357340231894e30), (0.3, 1e-300, 1.841526723163728e90)],
    "ive": [(-13.5, 9.0, -8.805736652359686e-06), (389.75, 336.0, 1.6437664505238828e-92), (159.5, 1.75, 2.638054835550579e-294),
            (175.5, 2.5, 5.6549376188877854e-304), (-0.75, 0.001, 82.40575856392569)],
    "hyp2f1": [(1.5, 2.5, 3.5, 0.99, 39.959919938974764), (120.0, 80.0, 210.0, 0.97, 1.9746594146624337e40),
               (0.5, 1.5, 4.25, -1e6, 0.0021136281611690037), (3.0, 1.0, -64.89, 0.598, -4.942546779547202e18),
               (-97.0, -22.7, -76.3, -0.776, 7074633.46237387), (57.0, -93.5, -52.5, 0.99997, -8.242598912239883e85),
               (0.5, 1.0, 1e6, 1.0, 1.00000050000075), (-1.5, 1.0, 0.5, 1.0, -0.5)],
}  # fmt: skip


@pytest.mark.parametrize("op", FAR)
def test_supplied_ops_far_from_the_mean(op, tmp_path):
    *operands, wanted = map(np.array, zip(*FAR[op], strict=True))
    names = [f"%{letter}" for letter in "abcd"[: len(operands)]]
    text = f"graph @p({', '.join(f'{n}: f64[n]' for n in names)}) {{\n  %r = {op} {', '.join(names)}\n  return %r\n}}"
    inlay.export(text, tmp_path, "shared", name="p", sizes={"n": wanted.size})
    got = np.empty(wanted.size)
    assert Library(tmp_path, "p")(operands, [got]) == 0
    np.testing.assert_allclose(got, wanted, rtol=1e-12)


def test_jv_of_large_operands_takes_no_recurrence_from_0(tmp_path):
    """Its sign where it overflows, 0 where it underflows, and all of these within a moment."""
    v, x = np.array([-1000.5, -1001.5, -1e8 - 0.5, 1e8, 9e8, 1e9]), np.array([3.0, 3.0, 1.0, 9.9e7, 9e8, 1e9])
    text = "graph @j(%v: f64[n], %x: f64[n]) {\n  %r = jv %v, %x\n  return %r\n}"
    inlay.export(text, tmp_path, "shared", sizes={"n": v.size})
    got = np.empty(v.size)
    start = time.process_time()
    assert Library(tmp_path, "j")([v, x], [got]) == 0
    assert time.process_time() - start < 1  # recurrences of as many steps take minutes
    # J_v(v) is gamma(1/3) / (48^(1/6) pi) v^(-1/3) (DLMF 10.19.8).
    at_order = math.gamma(1 / 3) / (48 ** (1 / 6) * math.pi) * v[4:] ** (-1 / 3)
    # Next to v = x the terms of the fractions are near 2, and differ by some v^(-2/3).
    np.testing.assert_allclose(got, [np.inf, -np.inf, np.inf, 0, *at_order], rtol=1e-8)


def test_digamma_left_of_0_lies_in_the_code(tmp_path):
    x = np.concatenate([np.linspace(-30.05, 4, 2001), -np.logspace(-300, 15, 200), [-0.0, 0.0, -1, -7, -(2.0**60), np.inf, -np.inf, np.nan]])
    text = "graph @d(%x: f64[n], %f: f32[n]) {\n  %y = digamma %x\n  %g = digamma %f\n  return %y, %g\n}"
    inlay.export(text, tmp_path, "shared", sizes={"n": len(x)})
    require_alone(tmp_path / "libd.so")
    y, g = np.empty_like(x), np.empty_like(x, np.float32)
    assert Library(tmp_path, "d")([x, x.astype(np.float32)], [y, g]) == 0
    wanted, wanted_f32 = inlay.compile(text)(x, x.astype(np.float32))
    np.testing.assert_allclose(y, wanted, rtol=1e-15, atol=1e-17)
    np.testing.assert_allclose(g, wanted_f32, rtol=1e-7)
