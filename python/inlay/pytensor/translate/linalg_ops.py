"""PyTensor's classes of linear algebra, wherever its version keeps them; None for one that it does not have."""

import importlib

_MODULES = (
    "pytensor.tensor.linalg.constructors",
    "pytensor.tensor.linalg.decomposition.cholesky",
    "pytensor.tensor.linalg.decomposition.eigen",
    "pytensor.tensor.linalg.decomposition.lu",
    "pytensor.tensor.linalg.decomposition.qr",
    "pytensor.tensor.linalg.decomposition.schur",
    "pytensor.tensor.linalg.decomposition.svd",
    "pytensor.tensor.linalg.inverse",
    "pytensor.tensor.linalg.products",
    "pytensor.tensor.linalg.solvers.general",
    "pytensor.tensor.linalg.solvers.linear_control",
    "pytensor.tensor.linalg.solvers.lstsq",
    "pytensor.tensor.linalg.solvers.psd",
    "pytensor.tensor.linalg.solvers.triangular",
    "pytensor.tensor.linalg.solvers.tridiagonal",
    "pytensor.tensor.linalg.summary",
    "pytensor.tensor.slinalg",  # older versions
    "pytensor.tensor._linalg.solve.tridiagonal",
    "pytensor.tensor.nlinalg",
)


def _find(name):
    for module_name in _MODULES:
        try:
            module = importlib.import_module(module_name)
        except ImportError:
            continue
        if hasattr(module, name):
            return getattr(module, name)
    return None


BlockDiagonal = _find("BlockDiagonal")
Cholesky = _find("Cholesky")
CholeskySolve = _find("CholeskySolve")
Det = _find("Det")
Eig = _find("Eig")
Eigh = _find("Eigh")
Eigvalsh = _find("Eigvalsh")
Expm = _find("Expm")
LU = _find("LU")
LUFactor = _find("LUFactor")
LUFactorTridiagonal = _find("LUFactorTridiagonal")
Lstsq = _find("Lstsq")
MatrixInverse = _find("MatrixInverse")
MatrixPinv = _find("MatrixPinv")
PivotToPermutations = _find("PivotToPermutations")
QZ = _find("QZ")
QR = _find("QR") or _find("QRFull")
SLogDet = _find("SLogDet")
Schur = _find("Schur")
SVD = _find("SVD")
Solve = _find("Solve")
SolveLUFactorTridiagonal = _find("SolveLUFactorTridiagonal")
SolveTriangular = _find("SolveTriangular")
TRSYL = _find("TRSYL")
TensorInv = _find("TensorInv")
TensorSolve = _find("TensorSolve")
