"""Products of matrices, factorizations and systems of equations: each for one matrix, and under Blockwise for a batch.

PyTensor's ops of this kind do not raise where a matrix has no factor: their result is NaN (its older versions raise).
"""

import functools
import operator

import numpy as np
from pytensor.tensor.blas import BatchedDot, Dot22, Dot22Scalar, Gemm, Gemv
from pytensor.tensor.blockwise import Blockwise
from pytensor.tensor.math import Dot

from ... import errors
from . import linalg_ops as ops
from .batches import batch_of
from .dims import dim_min, known_equal
from .dtypes import INLAY_NAMES, REAL_DTYPES, arithmetic_dtype, is_complex, is_float
from .index_items import whole
from .registry import NotNative, register
from .sizes import late_size

_COMPLEX_OF = {real: pair for pair, real in REAL_DTYPES.items()}

_BATCHED = {}  # class of a core op -> its function(t, op, node)


def batched(*op_classes):
    """The decorated function(t, op, dtype, *operands) works on the last axes of its operands and broadcasts the others.

    `dtype` is what the operands have been cast to: as wide as the results, where inlay can compute in it, and complex
    where an operand is.
    """

    def add(function):
        batched_node(*op_classes)(functools.partial(_call, function))
        return function

    return add


def batched_node(*op_classes):
    """The decorated function(t, op, node) makes of it what it likes; `op` is the core of the node's."""

    def add(function):
        for op_class in op_classes:
            if op_class is None:
                continue
            _BATCHED[op_class] = function
            register(op_class)(functools.partial(_call_core, function))
        return function

    return add


def _call_core(function, t, node):
    return function(t, node.op, node)


@register(Blockwise)
def blockwise(t, node):
    core = node.op.core_op
    function = next((_BATCHED[c] for c in type(core).__mro__ if c in _BATCHED), None)
    return batch_of(t, node) if function is None else function(t, core, node)


def _call(function, t, op, node):
    outs = [INLAY_NAMES[x.type.dtype] for x in node.outputs]
    number = next((o for o in outs if is_float(o) or is_complex(o)), outs[0])
    dtype = arithmetic_dtype(REAL_DTYPES.get(number, number))
    if any(is_complex(x.dtype) for x in t.operands(node)):
        dtype = _COMPLEX_OF[dtype]
    operands = [t.cast(x, dtype) for x in t.operands(node)]
    results = function(t, op, dtype, *operands)
    results = results if isinstance(results, list | tuple) else [results]
    if any(is_complex(x.dtype) and not is_complex(out) for x, out in zip(results, outs, strict=True)):
        raise NotNative("a complex result whose type says that it is real")
    return [t.cast(x, out) for x, out in zip(results, outs, strict=True)]


@batched(Dot, BatchedDot)
def dot(t, op, dtype, a, b):
    return t.builder.matmul(a, b)


def _refuses_as_numpy(t):
    """A matrix that is not square is a LinAlgError where NumPy's function does the work, a ValueError where SciPy's does."""
    t.place.fails_as(np.linalg.LinAlgError)


def _scaled(t, factor, x):
    return t.builder.scalar("mul", [t.cast(factor, x.dtype), x])


def _plus_product(t, factor, product, beta, x):
    """beta * x + factor * product, as whose rows or columns x may stand. As in BLAS, an x that counts for nothing may be
    NaN."""
    b = t.builder
    zero = b.literal(0, x.dtype)
    beta, x = t.cast(beta, x.dtype), t.builder.stretch(x, product.dims, "Gemm")
    kept = b.scalar("select", [b.scalar("eq", [beta, zero]), zero, b.scalar("mul", [beta, x])])
    return b.scalar("add", [kept, _scaled(t, factor, product)])


@register(Dot22)
def dot22(t, node):
    return t.builder.matmul(*t.operands(node))


@register(Dot22Scalar)
def dot22_scalar(t, node):
    x, y, factor = t.operands(node)
    return _scaled(t, factor, t.builder.matmul(x, y))


@register(Gemm)
def gemm(t, node):
    z, factor, x, y, beta = t.operands(node)
    return _plus_product(t, factor, t.builder.matmul(x, y), beta, z)


@register(Gemv)
def gemv(t, node):
    y, factor, a, x, beta = t.operands(node)
    return _plus_product(t, factor, t.builder.matmul(a, x), beta, y)


@batched(ops.BlockDiagonal)
def block_diagonal(t, op, dtype, *blocks):
    """Each block is written into its place among zeros."""
    rank = max(len(x.dims) for x in blocks) - 2
    blocks = [t.builder.reshape(x, [*[1] * (rank + 2 - len(x.dims)), *x.dims]) for x in blocks]
    batch = [next((x.dims[i] for x in blocks if not known_equal(x.dims[i], 1)), 1) for i in range(rank)]
    blocks = [t.builder.stretch(x, [*batch, *x.dims[-2:]], "BlockDiagonal") for x in blocks]
    rows, columns = sum(x.dims[-2] for x in blocks), sum(x.dims[-1] for x in blocks)
    result = t.builder.broadcast(t.builder.literal(0, dtype), [*batch, rows, columns])
    row = column = 0
    for x in blocks:
        below, right = row + x.dims[-2], column + x.dims[-1]
        index = [*whole(batch), (row, below, 1), (column, right, 1)]
        result = t.builder.update("set", result, index, x)
        row, column = below, right
    return result


def _on_failure(op):
    """Older ops say by `on_error` that they raise."""
    return [] if getattr(op, "on_error", "nan") == "raise" else ["nan"]


def _triangle(op):
    return [] if op.lower else ["upper"]


@batched(ops.Cholesky)
def cholesky(t, op, dtype, a):
    return t.builder.library("cholesky", [a], _triangle(op) + _on_failure(op))


def _as_matrix(function):
    """For systems whose right side is a vector under a batch: a matrix of one column."""

    @functools.wraps(function)
    def solve(t, op, dtype, a, b):
        if op.b_ndim == 2 or len(a.dims) == 2 and len(b.dims) == 1:
            return function(t, op, dtype, a, b)
        x = function(t, op, dtype, a, t.builder.reshape(b, [*b.dims, 1]))
        return t.builder.reshape(x, x.dims[:-1])

    return solve


@batched(ops.SolveTriangular)
@_as_matrix
def solve_triangular(t, op, dtype, a, b):
    options = _triangle(op) + ["nan"]
    if op.unit_diagonal:
        options.append("unit_diagonal")
    if getattr(op, "trans", 0) not in (0, "N"):
        options.append("adjoint" if op.trans in (2, "C") else "transposed")
    return t.builder.library("solve_triangular", [a, b], options)[0]


@batched(ops.CholeskySolve)
@_as_matrix
def cholesky_solve(t, op, dtype, c, b):
    return t.builder.cholesky_solve(c, b, _triangle(op) + ["nan"])


@batched(ops.Solve)
@_as_matrix
def solve(t, op, dtype, a, b):
    if op.assume_a == "tridiagonal":
        return _solve_tridiagonal(t, a, b)
    if op.assume_a in ("sym", "her"):
        a = _symmetric(t, a, op.lower, op.assume_a == "her")
    if op.assume_a == "pos":  # as its triangle says, of which the other is not read
        c = t.builder.library("cholesky", [a], _triangle(op) + ["nan"])[0]
        return t.builder.cholesky_solve(c, b, _triangle(op) + ["nan"])
    # "banded" too: of which width SciPy finds by reading the matrix, and elimination takes any.
    return t.builder.library("solve", [a, b], ["nan"])[0]


def _solve_tridiagonal(t, a, b):
    """Of the matrix, three diagonals are read. No element of x is a number where it is singular."""
    builder = t.builder
    below, on, above = (builder.compose("extract_diag", a, offset=k, first=-2, second=-1) for k in (-1, 0, 1))
    factors = builder.library("tridiagonal_lu_factor", [below, on, above])
    (x,) = builder.library("tridiagonal_lu_solve", [*factors, b])
    pivot = factors[1]
    is_regular = builder.scalar("ne", [pivot, builder.literal(0, pivot.dtype)])
    is_regular = builder.reduce("and", is_regular, [len(pivot.dims) - 1], "bool")
    is_regular = builder.reshape(is_regular, [*is_regular.dims, *[1] * (len(x.dims) - len(is_regular.dims))])
    return builder.scalar("select", [is_regular, x, builder.literal(float("nan"), x.dtype)])


@batched(ops.LUFactorTridiagonal)
def tridiagonal_lu_factor(t, op, dtype, below, on, above):
    *diagonals, pivots = t.builder.library("tridiagonal_lu_factor", [below, on, above])
    return [*diagonals, t.builder.scalar("add", [pivots, t.builder.literal(1, "i64")])]  # LAPACK counts from 1


@batched_node(ops.SolveLUFactorTridiagonal)
def tridiagonal_lu_solve(t, op, node):
    *diagonals, pivots, b = t.operands(node)
    dtype = INLAY_NAMES[node.outputs[0].type.dtype]
    diagonals, b = [t.cast(x, dtype) for x in diagonals], t.cast(b, dtype)
    pivots = t.builder.scalar("sub", [t.cast(pivots, "i64"), t.builder.literal(1, "i64")])
    is_vector = op.b_ndim == 1
    if is_vector:
        b = t.builder.reshape(b, [*b.dims, 1])
    (x,) = t.builder.library("tridiagonal_lu_solve", [*diagonals, pivots, b], ["transposed"] if op.transposed else [])
    return t.builder.reshape(x, x.dims[:-1]) if is_vector else x


def _symmetric(t, a, lower, hermitian):
    """The matrix of which `a` holds one triangle; the other is not read."""
    n = a.dims[-1]
    i = t.builder.iota(n, "i64")
    below = t.builder.scalar("ge" if lower else "le", [t.builder.reshape(i, [n, 1]), i])
    other = t.builder.swapped(a)
    if hermitian and is_complex(a.dtype):
        other = t.builder.scalar("conj", [other])
    return t.builder.scalar("select", [below, a, other])


@batched(ops.LUFactor)
def lu_factor(t, op, dtype, a):
    return t.builder.library("lu_factor", [a], ["nan"])


@batched(ops.LU)
def lu(t, op, dtype, a):
    p, lower, upper = t.builder.lu(a)
    if op.permute_l:
        return t.builder.take_rows(lower, p), upper
    if op.p_indices:
        return p, lower, upper
    real = t.builder.literal(0, REAL_DTYPES.get(dtype, dtype))
    return t.builder.permutation_matrix(p, real), lower, upper


@batched(ops.PivotToPermutations)
def pivots_to_permutation(t, op, dtype, pivots):
    (rows,) = t.builder.library("pivots_to_permutation", [t.cast(pivots, "i64")])
    return rows if op.inverse else t.builder.library("argsort", [rows])


@batched(ops.QR)
def qr(t, op, dtype, a):
    if op.mode == "raw":
        return _raw_qr(t, op, a)
    if op.pivoting:
        parts = t.builder.library("qr_pivoted" if op.mode == "economic" else "qr_complete_pivoted", [a])
        return parts[1:] if op.mode == "r" else parts
    if op.mode == "full":
        return t.builder.library("qr_complete", [a])
    if op.mode == "r":
        return t.builder.library("qr_r", [a])
    return t.builder.library("qr", [a])


def _raw_qr(t, op, a):
    m, n = a.dims[-2:]
    if isinstance(m, int) and isinstance(n, int) and m != n:
        raise NotNative("a raw QR factorization whose type says that it is square")
    raw, *others = t.builder.library("qr_raw_pivoted" if op.pivoting else "qr_raw", [a])
    first_rows = t.builder.slice(raw, whole([*a.dims[:-2], dim_min(m, n), n]))
    return [raw, others[0], t.builder.compose("triu", first_rows), *others[1:]]


_NAMED_EIGENVALUES = {"lhp": ["left"], "rhp": ["right"], "iuc": ["inside"], "ouc": ["outside"], None: []}


@batched(ops.Schur)
def schur(t, op, dtype, a):
    if op.output == "complex" and not is_complex(a.dtype):
        a = t.cast(a, _COMPLEX_OF[a.dtype])
    return t.builder.library("schur", [a], _NAMED_EIGENVALUES[op.sort])


@batched(ops.QZ)
def qz(t, op, dtype, a, b):
    if op.complex_output and not is_complex(dtype):
        a, b = (t.cast(x, _COMPLEX_OF[dtype]) for x in (a, b))
    s, u, alpha, beta, q, z = t.builder.library("qz", [a, b], _NAMED_EIGENVALUES[op.sort])
    return [s, u, alpha, beta, q, z] if op.return_eigenvalues else [s, u, q, z]


@batched(ops.TRSYL)
def sylvester(t, op, dtype, a, b, c):
    return t.builder.library("sylvester", [a, b, c])


@batched(ops.SVD)
def svd(t, op, dtype, a):
    if not op.compute_uv:
        return t.builder.library("singular_values", [a])
    # The signs of the singular vectors are those of NumPy where LAPACK is given the same matrix: `a` column by column.
    swapped = t.builder.swapped
    v, values, ut = t.builder.library("svd_full" if op.full_matrices else "svd", [swapped(a)])
    return swapped(ut), values, swapped(v)


@batched(ops.Eig)
def eig(t, op, dtype, a):
    _refuses_as_numpy(t)
    return t.builder.library("eig", [a])


@batched(ops.Eigh)
def eigh(t, op, dtype, *operands):
    if len(operands) == 2:
        a, factor = _as_plain_eigenproblem(t, op, *operands)
        w, v = t.builder.library("eigh", [a])
        return w, t.builder.library("solve_triangular", [factor, v], ["adjoint"])[0]
    lower = op.lower if hasattr(op, "lower") else op.UPLO == "L"
    return t.builder.library("eigh", list(operands), [] if lower else ["upper"])


def _as_plain_eigenproblem(t, op, a, b):
    """a v = w b v as (l^-1 a l^-H) u = w u of u = l^H v, with b = l l^H; and l. Of a and b one triangle is read."""
    a, b = (_symmetric(t, x, op.lower, is_complex(x.dtype)) for x in (a, b))
    factor = t.builder.library("cholesky", [b])[0]
    half = t.builder.library("solve_triangular", [factor, a])[0]
    return t.builder.library("solve_triangular", [factor, _adjoint(t, half)])[0], factor


def _adjoint(t, x):
    x = t.builder.swapped(x)
    return t.builder.scalar("conj", [x]) if is_complex(x.dtype) else x


@batched(ops.Eigvalsh)
def eigvalsh(t, op, dtype, *operands):
    if len(operands) == 2:
        return t.builder.library("eigvalsh", [_as_plain_eigenproblem(t, op, *operands)[0]])
    return t.builder.library("eigvalsh", list(operands), _triangle(op))


@batched(ops.Expm)
def expm(t, op, dtype, a):
    _refuses_as_numpy(t)
    return t.builder.library("expm", [a])


@batched(ops.MatrixInverse)
def inverse(t, op, dtype, a):
    _refuses_as_numpy(t)
    return t.builder.inverse(a)


@batched(ops.MatrixPinv)
def pseudo_inverse(t, op, dtype, a):
    return t.builder.pseudo_inverse(_symmetric(t, a, True, True) if op.hermitian else a)


@register(ops.TensorInv)
def tensor_inverse(t, node):
    return _call(_tensor_inverse, t, node.op, node)


def _tensor_inverse(t, op, dtype, a):
    """The inverse of a matrix whose rows are the first `ind` axes, and its columns the others. NumPy's raises."""
    core = a.dims
    if op.ind <= 0:
        raise NotNative("no first axes to invert over")
    rows, columns = core[: op.ind], core[op.ind :]
    matrix = t.builder.reshape(a, [_product(rows), _product(columns)])
    identity = t.builder.compose("eye", rows=matrix.dims[0], dtype=dtype)
    return t.builder.reshape(t.builder.library("solve", [matrix, identity])[0], [*columns, *rows])


@register(ops.TensorSolve)
def tensor_solve(t, node):
    return _call(_tensor_solve, t, node.op, node)


def _tensor_solve(t, op, dtype, a, b):
    rank = len(a.dims)
    last = [axis % rank for axis in op.axes or ()]
    a = t.builder.transpose(a, [axis for axis in range(rank) if axis not in last] + last)
    unknown = a.dims[len(b.dims) :]
    if len(unknown) != 2:  # PyTensor's type says that there are two, whatever NumPy returns
        raise NotNative("a solution that is no matrix")
    matrix = t.builder.reshape(a, [_product(b.dims), _product(unknown)])
    x = t.builder.library("solve", [matrix, t.builder.reshape(b, [_product(b.dims), 1])])[0]
    return t.builder.reshape(x, unknown)


if ops.Lstsq is not None:

    @register(ops.Lstsq)
    def least_squares(t, node):
        """x of the smallest |a @ x - b|, and of these the shortest; by the singular values that are not small."""
        b_ndim = node.inputs[1].type.ndim
        if b_ndim != 2:
            raise NotNative("least squares of a vector")  # PyTensor's type says that x is a matrix
        if any(x.type.dtype.startswith("complex") for x in node.inputs):
            raise NotNative("a complex result whose type says that it is real")
        t.place.fails_as(np.linalg.LinAlgError, errors.ShapeMismatch)
        b = t.builder
        a, right, minimum = (t.cast(x, "f64") for x in t.operands(node))
        (m, n), k = a.dims, right.dims[1]
        u, s, vt = b.library("svd", [a])
        zero = b.literal(0.0, "f64")
        minimum = b.scalar("select", [b.scalar("lt", [minimum, zero]), b.literal(np.finfo("float64").eps, "f64"), minimum])
        largest = b.reduce("max", b.concat([s, b.broadcast(zero, [1])], 0), [0], "f64")
        counts = b.scalar("gt", [s, b.scalar("mul", [minimum, largest])])
        inverse = b.scalar("select", [counts, b.scalar("reciprocal", [s]), zero])
        parts = b.matmul(b.swapped(u), right)
        x = b.matmul(b.swapped(vt), b.scalar("mul", [b.reshape(inverse, [s.dims[0], 1]), parts]))
        rank = b.reduce("add", counts, [0], "i64")
        left = b.scalar("sub", [b.matmul(a, x), right])
        squares = b.reduce("add", b.scalar("mul", [left, left]), [0], "f64")
        is_sharp = b.scalar("and", [b.scalar("eq", [rank, b.size(n)]), b.scalar("gt", [b.size(m), b.size(n)])])
        count = late_size(t, b.scalar("select", [is_sharp, b.size(k), b.literal(0, "i64")]))
        return [x, b.slice(squares, whole([count])), t.cast(rank, "i32"), s]


def _product(dims):
    return functools.reduce(operator.mul, dims, 1)


@batched(ops.Det)
def determinant(t, op, dtype, a):
    _refuses_as_numpy(t)
    return t.builder.determinant(a)


@batched(ops.SLogDet)
def log_determinant(t, op, dtype, a):
    _refuses_as_numpy(t)
    return t.builder.log_determinant(a)
