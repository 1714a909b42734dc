"""What a PyTensor graph of scalars means: its value by mpmath, each op as exact as the digits in use.

The graph is taken as it is written, before any rewrite. What is no number (nan, a complex logarithm, a pole) is nan, and an
exponential that no power of ten with a four-digit exponent can hold is 0 or infinity.
"""

import functools

import mpmath as mp
import numpy as np
import pytensor.tensor as pt
from mpmath.libmp import NoConvergence
from pymc.distributions import dist_math
from pytensor.compile.builders import OpFromGraph
from pytensor.graph.basic import Constant
from pytensor.raise_op import CheckAndRaise
from pytensor.scalar import basic as ps
from pytensor.scalar import math as sm
from pytensor.tensor.basic import Alloc, ARange, MakeVector
from pytensor.tensor.elemwise import DimShuffle, Elemwise
from pytensor.tensor.math import Max, Sum
from pytensor.tensor.subtensor import Subtensor
from scalar_table import TABLE


class NotExact(Exception):
    """The graph has an op that is not here."""


def _exp(a):
    return mp.exp(a) if abs(a) < mp.mpf(10) ** 1000 else mp.exp(mp.sign(a) * mp.inf)


def _erfcx(a):
    if abs(a) < 1e100:
        return mp.exp(a * a) * mp.erfc(a)
    t = 1 / (2 * a * a)  # four terms: what follows is 1e-800 of it
    return (1 - t * (1 - 3 * t * (1 - 5 * t))) / (a * mp.sqrt(mp.pi)) if a > 0 else 2 * _exp(a * a)


def _gammainc(a, x):
    """P(a, x) by its series, of positive terms; where that is long, nothing."""
    if not 0 < x < 1e4:
        return mp.nan
    term = total = mp.mpf(1)
    k = 0
    while term > total * mp.eps:
        k += 1
        term *= x / (a + k)
        total += term
    return mp.exp(a * mp.log(x) - x - mp.loggamma(a + 1)) * total


def _betainc(a, b, x):
    """I_x(a, b) by a series of positive terms, from the nearer end; where that is long, nothing."""
    if x > 0.5:
        return _rest(_betainc(b, a, 1 - x))
    if not (b < 1e4 and x > 0):
        return mp.nan
    term = total = mp.mpf(1)
    k = 0
    while term > total * mp.eps:
        term *= x * (a + b + k) / (a + 1 + k)
        total += term
        k += 1
    factor = mp.loggamma(a + b) - mp.loggamma(a + 1) - mp.loggamma(b) + a * mp.log(x) + b * mp.log1p(-x)
    return mp.exp(factor) * total


def _rest(a):
    """1 - a, with 40 digits or nothing."""
    return 1 - a if 1 - a > mp.eps * mp.mpf(10) ** 40 else mp.nan


def _erfc(a):
    return mp.erfc(a) if a < 1e100 else _erfcx(a) * _exp(-a * a)


_FUNCTIONS = {
    ps.Add: lambda *a: functools.reduce(lambda x, y: x + y, a),
    ps.Mul: lambda *a: functools.reduce(lambda x, y: x * y, a),
    ps.Exp: _exp,
    ps.Expm1: lambda a: mp.expm1(a) if abs(a) < 1 else _exp(a) - 1,
    ps.Second: lambda a, b: b,
    ps.Cast: lambda a: a,
    ps.Switch: lambda c, a, b: a if c else b,
    ps.EQ: lambda a, b: a == b,
    ps.NEQ: lambda a, b: a != b,
    ps.LT: lambda a, b: a < b,
    ps.LE: lambda a, b: a <= b,
    ps.GT: lambda a, b: a > b,
    ps.GE: lambda a, b: a >= b,
    ps.AND: lambda a, b: a and b,
    ps.OR: lambda a, b: a or b,
    ps.Invert: lambda a: not a,
    ps.IsNan: mp.isnan,
    ps.IsInf: mp.isinf,
    sm.Erfc: _erfc,
    sm.Erfcx: _erfcx,
    sm.Sigmoid: lambda a: 1 / (1 + _exp(-a)),
    sm.Softplus: lambda a: mp.log1p(_exp(a)),
    sm.Log1mexp: lambda a: mp.log(-mp.expm1(a)) if a > -1 else mp.log1p(-_exp(a)),
    sm.GammaInc: _gammainc,
    sm.GammaIncC: lambda a, x: _rest(_gammainc(a, x)),
    sm.BetaInc: _betainc,
    dist_math.I0e: lambda a: mp.besseli(0, a) * _exp(-abs(a)),
    dist_math.I1e: lambda a: mp.besseli(1, a) * _exp(-abs(a)),
}


def _of_the_table():
    for row in TABLE.values():
        op = getattr(getattr(pt, row.pytensor, None), "scalar_op", None)
        if op is not None and row.exact is not None:
            _FUNCTIONS.setdefault(type(op), row.exact)


_of_the_table()


def _number(function):
    def call(*operands):
        try:
            result = function(*operands)
        except (ZeroDivisionError, ValueError, OverflowError, NoConvergence):
            return mp.nan
        return mp.nan if isinstance(result, mp.mpc) else result

    return call


def _exactly(data):
    number = bool if np.asarray(data).dtype == bool else lambda x: mp.mpf(float(x))
    return np.frompyfunc(number, 1, 1)(data)


class Exact:
    """Values of variables, where those of the inputs are given; each is computed when it is asked for."""

    def __init__(self, given):
        self.known = dict(given)

    def __call__(self, variable):
        if variable not in self.known:
            if isinstance(variable, Constant):
                self.known[variable] = np.asarray(_exactly(variable.data), dtype=object)
            else:
                for out, value in zip(variable.owner.outputs, self._node(variable.owner), strict=True):
                    self.known[out] = np.asarray(value, dtype=object)
        return self.known[variable]

    def _node(self, node):
        match node.op:
            case Elemwise():
                return [self._elemwise(node)]
            case CheckAndRaise():
                return [self(node.inputs[0])]
            case OpFromGraph():
                inner = Exact(zip(node.op.inner_inputs, map(self, node.inputs), strict=True))
                return [inner(out) for out in node.op.inner_outputs]
            case Sum(axis=axis):
                return [np.sum(self(node.inputs[0]), axis=axis)]
            case Max(axis=axis):
                return [np.max(self(node.inputs[0]), axis=axis)]
            case MakeVector():
                return [np.array([self(x)[()] for x in node.inputs], dtype=object)]
            case ARange():
                start, stop, step = (int(self(x)[()]) for x in node.inputs)
                return [_exactly(np.arange(start, stop, step))]
            case Alloc():
                shape = tuple(int(self(n)[()]) for n in node.inputs[1:])
                return [np.broadcast_to(self(node.inputs[0]), shape)]
            case DimShuffle(new_order=order):
                x = self(node.inputs[0])
                kept = [d for d in order if d != "x"]
                x = x.transpose(kept + [d for d in range(x.ndim) if d not in kept])  # what is dropped has length 1
                return [x.reshape([1 if d == "x" else self(node.inputs[0]).shape[d] for d in order])]
            case Subtensor(idx_list=[int(i)]) if i == 0:  # of the operands that follow, the first
                return [self(node.inputs[0])[int(self(node.inputs[1])[()])]]
        raise NotExact(str(node.op))

    def _elemwise(self, node):
        op = node.op.scalar_op
        if isinstance(op, ps.Switch) and node.inputs[0].ndim == 0:  # the other side may have no value, or take long
            return self(node.inputs[1 if self(node.inputs[0])[()] else 2])
        if type(op) not in _FUNCTIONS:
            raise NotExact(str(op))
        return np.frompyfunc(_number(_FUNCTIONS[type(op)]), len(node.inputs), 1)(*map(self, node.inputs))
