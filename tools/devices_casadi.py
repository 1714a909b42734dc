"""The formulas of examples/devices as CasADi writes them in C, compiled for a Cortex-M33: rows of a table.

    .venv/bin/python tools/devices_casadi.py     with casadi installed there, and gcc-arm-none-eabi

What CasADi computes is checked against a host's NumPy by nobody here: sizes are compared, and the formulas are the same.
"""

import os
import tempfile
from pathlib import Path

import casadi as ca
import numpy as np
from devices import FLAGS, M33, arrays_of, run, sizes, undefined


def radon(symbol):
    data = arrays_of("radon")
    county, floor, log_radon = data["county"].astype(int).tolist(), ca.DM(data["floor"]), ca.DM(data["log_radon"])
    point = symbol("point", 175)
    mu_alpha, mu_beta = point[0], point[2]
    log_scales = point[1], point[3], point[174]
    scale_alpha, scale_beta, scale = (ca.exp(s) for s in log_scales)
    z_alpha, z_beta = point[4:89], point[89:174]
    alpha, beta = mu_alpha + scale_alpha * z_alpha, mu_beta + scale_beta * z_beta
    rest = (log_radon - alpha[county] - beta[county] * floor) / scale
    logp = -0.5 * ca.dot(rest, rest) - 919 * log_scales[2] - 0.5 * (ca.dot(z_alpha, z_alpha) + ca.dot(z_beta, z_beta))
    logp += -0.005 * (mu_alpha**2 + mu_beta**2) + sum(s - ca.exp(s) for s in log_scales)
    return [point], [logp, ca.gradient(logp, point)]


def kalman(symbol):
    mean, cov, z = symbol("mean", 4), symbol("cov", 4, 4), symbol("z", 2)
    f = ca.DM([[1, 0, 0.1, 0], [0, 1, 0, 0.1], [0, 0, 1, 0], [0, 0, 0, 1]])
    q = np.zeros((4, 4))
    q[range(4), range(4)] = 0.000025, 0.000025, 0.01, 0.01
    q[[0, 1, 2, 3], [2, 3, 0, 1]] = 0.0005
    m, p = f @ mean, f @ cov @ f.T + ca.DM(q)
    for i in range(2):
        gain = p[:, i] / (p[i, i] + 0.25)
        m, p = m + gain * (z[i] - m[i]), p - gain @ p[i, :]
    return [mean, cov, z], [m, p]


def average(symbol):
    line, x = symbol("line", 71), symbol("x", 64)
    following = ca.vertcat(line[64:71], x)
    return [line, x], [sum(following[i : i + 64] for i in range(8)) / 8, following]


def softmax(symbol):
    x = symbol("x", 64)
    e = ca.exp(x - ca.mmax(x))
    return [x], [e / ca.sum1(e)]


def biquad(symbol):
    state, x = symbol("state", 2), symbol("x", 64)
    s, t, y = state[0], state[1], []
    for i in range(64):
        fed = 0.06745527 * x[i]
        y.append(fed + s)
        s, t = 0.13491055 * x[i] + 1.1429805 * y[-1] + t, fed - 0.4128016 * y[-1]
    return [state, x], [ca.vertcat(s, t), ca.vertcat(*y)]


def network(symbol):
    w = {key: ca.DM(array) for key, array in arrays_of("network").items()}
    x = symbol("x", 16)
    h = ca.tanh(w["w1"] @ x + w["b1"])
    h = ca.tanh(w["w2"] @ h + w["b2"])
    z = w["w3"] @ h + w["b3"]
    e = ca.exp(z - ca.mmax(z))
    return [x], [e / ca.sum1(e)]


def row(make, symbol, kind, folder):
    name = make.__name__
    function = ca.Function(name, *make(symbol))
    os.chdir(folder)
    file = function.generate(f"{name}.c", {"casadi_real": "float", "casadi_int": "int"})
    out = Path(folder) / f"{name}.o"
    flags = [flag for flag in FLAGS if flag not in ("-Werror", "-Wall", "-Wextra", "-pedantic", "-ffreestanding")]
    run(M33.tool("gcc"), *flags, *M33.flags, "-w", "-Os", "-c", file, "-o", out)
    size = sizes(out)
    work = 4 * (function.sz_w() + function.sz_iw() + function.sz_arg() + function.sz_res())
    doubles = "yes" if "__aeabi_dadd" in undefined(M33, out) else "no"
    return f"| `{name}` | {kind} | {size['text']} | {size['rodata']} | {work} | {doubles} |"


def main():
    print("| program | CasADi's | text, `-Os` | rodata | work bytes | calls doubles |\n| --- | --- | --- | --- | --- | --- |")
    for make in (radon, kalman, average, softmax, biquad, network):
        for symbol, kind in ((ca.SX.sym, "SX"), (ca.MX.sym, "MX")):
            with tempfile.TemporaryDirectory() as folder:
                print(row(make, symbol, kind, folder), flush=True)


if __name__ == "__main__":
    main()
