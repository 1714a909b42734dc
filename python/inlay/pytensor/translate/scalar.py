"""Scalar ops: what each PyTensor scalar op is in inlay's.

A function here takes a `Scalars` (which emits inlay's scalar ops), the operands in the dtype that it is registered with
and the dtype of the result. The same functions serve `Elemwise`, `Composite` and ops on PyTensor's own scalars, since
inlay's scalar ops apply to tensors of any rank.
"""

import functools
import math

import numpy as np
import pytensor.scalar as ps
import pytensor.scalar.math as psm
from pytensor.scalar.loop import ScalarLoop
from pytensor.tensor.math import MulWithoutZeros

from ... import _inlay
from . import scalar_loop
from .dtypes import INLAY_NAMES, REAL_DTYPES, arithmetic_dtype, is_complex, is_float, is_integer, is_signed
from .registry import NotNative

_SCALARS = {}  # by class, or by the full name of one whose package is not imported for it


class Scalars:
    """Emits inlay's scalar ops for one node."""

    def __init__(self, translator):
        self._translator = translator
        self._builder = translator.builder

    def __getattr__(self, name):
        # s.add(x, y), s.and_(x, y): Python keywords take a trailing underscore.
        op = name.rstrip("_")
        return lambda *operands: self._builder.scalar(op, operands)

    def constant(self, value, dtype):
        return self._builder.literal(value, dtype)

    def cast(self, x, dtype):
        return self._translator.cast(x, dtype)

    def is_number(self, x, number):
        array = self._translator.scope.literals.get(x.index)
        return array is not None and array.size == 1 and array.item() == number


def scalar(*op_classes, operands="result"):
    """Register the inlay form of a scalar op.

    operands: the dtype that the operands are converted to before the call: "result", that of the result (in half
    precision, f32); "common", the one that NumPy would compute in; "own", none.
    """

    def add(function):
        for op_class in op_classes:
            if op_class is not None:
                _SCALARS[op_class] = (function, operands)
        return function

    return add


def plain(inlay_name, *op_classes, operands="result"):
    """Register ops that inlay has under `inlay_name` with the same meaning."""
    scalar(*op_classes, operands=operands)(lambda s, out, *xs: getattr(s, inlay_name)(*xs))


def _full_name(op_class):
    return f"{op_class.__module__}.{op_class.__qualname__}"


def emit(translator, op, operands, result_dtypes):
    """The values of scalar op `op` applied to `operands`, with the given PyTensor result dtypes."""
    if isinstance(op, ps.Composite):
        return _inline(translator, op, operands)
    if isinstance(op, ScalarLoop):
        return scalar_loop.emit(translator, op, operands, lambda inputs: _inline(translator, op, inputs))
    entry = next((found for c in type(op).__mro__ if (found := _SCALARS.get(c) or _SCALARS.get(_full_name(c)))), None)
    if entry is None:
        raise NotNative(f"scalar op {op}")
    function, convention = entry
    out = INLAY_NAMES[result_dtypes[0]]
    compute = arithmetic_dtype(out)
    if convention == "result":
        compute = _as_wide(compute, operands)
        operands = [translator.cast(x, compute) for x in operands]
    elif convention == "common":
        common = _common_dtype([x.dtype for x in operands])
        operands = [translator.cast(x, common) for x in operands]
    result = function(Scalars(translator), compute, *operands)
    return [translator.cast(result, out)]


def _inline(translator, op, operands):
    """The inner graph of a `Composite` or of one step of a `ScalarLoop`, node by node."""
    values = dict(zip(op.fgraph.inputs, operands, strict=True))

    def value(var):
        if var not in values:
            values[var] = translator.constants.array(np.asarray(var.data))
        return values[var]

    for node in op.fgraph.toposort():
        inner = [value(x) for x in node.inputs]
        results = emit(translator, node.op, inner, [x.type.dtype for x in node.outputs])
        values.update(zip(node.outputs, results, strict=True))
    return [value(x) for x in op.fgraph.outputs]


def _as_wide(dtype, operands):
    """That of the result, unless an operand is wider than its type says, as a running sum of int8 is: then the op computes
    in the wider one, and its result wraps. (No integer holds a u64 and a signed one.)"""
    wider = functools.reduce(_inlay.promote, [x.dtype for x in operands if is_integer(x.dtype)], dtype)
    return wider if is_integer(wider) else dtype


def _common_dtype(dtypes):
    return arithmetic_dtype(functools.reduce(_inlay.promote, dtypes))


# Arithmetic. PyTensor's `add` and `mul` take any number of operands; on bool they are `or` and `and`.


@scalar(ps.Add)
def _add(s, out, *xs):
    return _chain(s.or_ if out == "bool" else s.add, xs)


@scalar(ps.Mul)
def _mul(s, out, *xs):
    # PyTensor makes -z a product, which of complex numbers has other zeros, and NaN beside an infinity.
    rest = [x for x in xs if not (is_complex(out) and s.is_number(x, -1))]
    if rest and len(rest) < len(xs):
        product = _chain(s.mul, rest)
        return s.neg(product) if (len(xs) - len(rest)) % 2 else product
    return _chain(s.and_ if out == "bool" else s.mul, xs)


def _chain(op, xs):
    result = xs[0]
    for x in xs[1:]:
        result = op(result, x)
    return result


plain("sub", ps.Sub)
plain("arctan2", ps.ArcTan2)


@scalar(ps.Maximum)
def _maximum(s, out, a, b):
    return s.select(s.or_(_compare(s, "ge", a, b), s.isnan(a)), a, b) if is_complex(out) else s.max(a, b)


@scalar(ps.Minimum)
def _minimum(s, out, a, b):
    return s.select(s.or_(_compare(s, "le", a, b), s.isnan(a)), a, b) if is_complex(out) else s.min(a, b)


@scalar(ps.TrueDiv)
def _true_div(s, out, a, b):
    return s.div(a, b)


@scalar(ps.IntDiv)
def _floor_div(s, out, a, b):
    _require_number(out)
    return s.floor_div(a, b)


@scalar(ps.Mod)
def _mod(s, out, a, b):
    _require_number(out)
    return s.mod(a, b)


@scalar(ps.Pow)
def _pow(s, out, a, b):
    _require_number(out)
    return s.pow(a, b)


def _require_number(out):
    if out == "bool":
        raise NotNative("arithmetic on bool")


@scalar(ps.Neg)
def _neg(s, out, x):
    _require_number(out)
    return s.neg(x)


@scalar(ps.Abs, operands="common")
def _abs(s, out, x):
    return x if out == "bool" else s.abs(x)


@scalar(ps.Sign)
def _sign(s, out, x):
    _require_number(out)
    return s.sign(x)


@scalar(ps.Sqr)
def _sqr(s, out, x):
    return x if out == "bool" else s.square(x)


plain("reciprocal", ps.Reciprocal)


@scalar(ps.Clip)
def _clip(s, out, x, low, high):
    # As written in PyTensor: NaN passes through, and `low` wins where low > high.
    return s.select(s.lt(x, low), low, s.select(s.gt(x, high), high, x))


@scalar(MulWithoutZeros)
def _mul_without_zeros(s, out, a, b):
    zero = s.constant(0, out)
    return s.select(s.eq(a, zero), b, s.select(s.eq(b, zero), a, s.mul(a, b)))


# Comparison, logic, selection.


# inlay's op, and the one that says the same with the operands exchanged.
_MIRRORED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq", "ne": "ne"}


def _compare(s, name, a, b):
    if b.dtype == "u64" and is_signed(a.dtype):
        a, b, name = b, a, _MIRRORED[name]
    if a.dtype == "u64" and is_signed(b.dtype):
        return _compare_u64(s, name, a, b)
    common = _common_dtype([a.dtype, b.dtype])
    a, b = s.cast(a, common), s.cast(b, common)
    if is_complex(common) and name in ("gt", "ge"):
        a, b, name = b, a, _MIRRORED[name]
    if is_complex(common) and name in ("lt", "le"):
        return _in_order(s, getattr(s, name), a, b)
    return getattr(s, name)(a, b)


def _compare_u64(s, name, a, b):
    """With a signed integer: exactly, as NumPy. No dtype holds both."""
    below_all = s.lt(b, s.constant(0, b.dtype))
    as_unsigned = getattr(s, name)(a, s.cast(b, "u64"))
    return s.or_(below_all, as_unsigned) if name in ("gt", "ge", "ne") else s.and_(s.not_(below_all), as_unsigned)


def _in_order(s, last, a, b):
    """NumPy orders complex numbers by the real part, then by the imaginary one; NaN is in no order."""
    re_a, im_a, re_b, im_b = s.real(a), s.imag(a), s.real(b), s.imag(b)
    comparable = s.and_(s.eq(im_a, im_a), s.eq(im_b, im_b))
    return s.or_(s.and_(s.lt(re_a, re_b), comparable), s.and_(s.eq(re_a, re_b), last(im_a, im_b)))


for _name, _op in {"lt": ps.LT, "le": ps.LE, "gt": ps.GT, "ge": ps.GE, "eq": ps.EQ, "ne": ps.NEQ}.items():
    scalar(_op, operands="own")(lambda s, out, a, b, name=_name: _compare(s, name, a, b))

plain("and_", ps.AND)
plain("or_", ps.OR)
plain("xor", ps.XOR)
plain("not_", ps.Invert)


@scalar(ps.IsNan, operands="common")
def _isnan(s, out, x):
    return s.ne(x, x) if is_integer(x.dtype) or x.dtype == "bool" else s.isnan(x)


@scalar(ps.IsInf, operands="common")
def _isinf(s, out, x):
    return s.ne(x, x) if is_integer(x.dtype) or x.dtype == "bool" else s.isinf(x)


@scalar(ps.Switch, operands="own")
def _switch(s, out, condition, a, b):
    return s.select(s.cast(condition, "bool"), s.cast(a, out), s.cast(b, out))


@scalar(ps.Second)
def _second(s, out, a, b):
    return s._translator.broadcast_like(b, a)


@scalar(ps.Identity)
def _identity(s, out, x):
    return x


@scalar(ps.Cast, operands="own")
def _cast(s, out, x):
    return x  # the result is cast: once


# Parts of complex numbers; a real number is its own.


@scalar(ps.Conj)
def _conj(s, out, x):
    return s.conj(x) if is_complex(out) else x


@scalar(ps.Real, operands="own")
def _real(s, out, x):
    return s.real(x) if is_complex(x.dtype) else x


@scalar(ps.Imag, operands="own")
def _imag(s, out, x):
    return s.imag(x) if is_complex(x.dtype) else s._translator.broadcast_like(s.constant(0, out), x)


@scalar(getattr(ps, "Angle", None), operands="own")
def _angle(s, out, x):
    if is_complex(x.dtype):
        return s.angle(x)
    x = s.cast(x, out)
    return s.arctan2(s.constant(0, out), x)


@scalar(ps.Complex, operands="own")
def _complex(s, out, re, im):
    part = REAL_DTYPES[out]
    return s.complex(s.cast(re, part), s.cast(im, part))


@scalar(getattr(ps, "ComplexFromPolar", None), operands="own")
def _polar(s, out, size, angle):
    part = REAL_DTYPES[out]
    size, angle = s.cast(size, part), s.cast(angle, part)
    return s.complex(s.mul(size, s.cos(angle)), s.mul(size, s.sin(angle)))


# Rounding: integers are already whole.


def _rounding(name, *op_classes):
    scalar(*op_classes)(lambda s, out, x: getattr(s, name)(x) if is_float(out) else x)


_rounding("floor", ps.Floor)
_rounding("ceil", ps.Ceil)
_rounding("trunc", ps.Trunc)
_rounding("round", ps.RoundHalfToEven)


@scalar(ps.RoundHalfAwayFromZero)
def _round_half_away(s, out, x):
    half = s.constant(0.5, out)
    return s.select(s.gt(x, s.constant(0, out)), s.floor(s.add(x, half)), s.ceil(s.sub(x, half)))


# Functions of real numbers.

for _name, _op in {
    "sqrt": ps.Sqrt,
    "exp": ps.Exp,
    "exp2": ps.Exp2,
    "expm1": ps.Expm1,
    "log": ps.Log,
    "log2": ps.Log2,
    "log10": ps.Log10,
    "log1p": ps.Log1p,
    "sin": ps.Sin,
    "cos": ps.Cos,
    "tan": ps.Tan,
    "arcsin": ps.ArcSin,
    "arccos": ps.ArcCos,
    "arctan": ps.ArcTan,
    "sinh": ps.Sinh,
    "cosh": ps.Cosh,
    "tanh": ps.Tanh,
    "arcsinh": ps.ArcSinh,
    "arccosh": ps.ArcCosh,
    "arctanh": ps.ArcTanh,
    "sigmoid": psm.Sigmoid,
    "softplus": psm.Softplus,
    "log1mexp": psm.Log1mexp,
    "erf": psm.Erf,
    "erfc": psm.Erfc,
    "erfcx": psm.Erfcx,
    "erfinv": psm.Erfinv,
    "erfcinv": psm.Erfcinv,
    "lgamma": psm.GammaLn,
    "gamma": psm.Gamma,
    "digamma": psm.Psi,
    "trigamma": psm.TriGamma,
    "i0": psm.I0,
    "i1": psm.I1,
    "j0": psm.J0,
    "j1": psm.J1,
    # Of several.
    "polygamma": psm.PolyGamma,
    "gammainc": psm.GammaInc,
    "gammaincc": psm.GammaIncC,
    "betainc": psm.BetaInc,
    "gammaincinv": psm.GammaIncInv,
    "gammainccinv": psm.GammaIncCInv,
    "betaincinv": psm.BetaIncInv,
    "owens_t": psm.Owens_t,
    "ndtri_exp": getattr(psm, "NdtriExp", None),
    "hyp2f1": psm.Hyp2F1,
    "jv": psm.Jv,
    "ive": psm.Ive,
    "kve": psm.Kve,
}.items():
    plain(_name, _op)


# PyMC's own, which VonMises and Rice are made of.
for _name, _order in {"I0e": 0, "I1e": 1}.items():
    scalar(f"pymc.distributions.dist_math.{_name}")(
        lambda s, out, x, order=_order: s.ive(s.constant(order, arithmetic_dtype(out)), x)
    )


@scalar(getattr(ps, "Deg2Rad", None))
def _deg2rad(s, out, x):
    return s.mul(x, s.constant(math.pi / 180, out))


@scalar(getattr(ps, "Rad2Deg", None))
def _rad2deg(s, out, x):
    return s.mul(x, s.constant(180 / math.pi, out))
