"""PyTensor's dtype names and inlay's."""

from pytensor.scalar.basic import ScalarType
from pytensor.tensor.type import DenseTensorType

INLAY_NAMES = {
    "bool": "bool",
    "int8": "i8",
    "int16": "i16",
    "int32": "i32",
    "int64": "i64",
    "uint8": "u8",
    "uint16": "u16",
    "uint32": "u32",
    "uint64": "u64",
    "float16": "f16",
    "float32": "f32",
    "float64": "f64",
    "complex64": "c64",
    "complex128": "c128",
}
REAL_DTYPES = {"c64": "f32", "c128": "f64"}  # of the parts of a complex number
PYTENSOR_NAMES = {inlay: name for name, inlay in INLAY_NAMES.items()}


def is_float(dtype):
    return dtype in ("f16", "f32", "f64")


def is_complex(dtype):
    return dtype in ("c64", "c128")


def is_integer(dtype):
    return dtype[0] in "iu"


def is_signed(dtype):
    return dtype[0] == "i"


def arithmetic_dtype(dtype):
    """The dtype in which inlay computes what PyTensor calls `dtype`: an op of half precision rounds once, at its end."""
    return "f32" if dtype == "f16" else dtype


def is_tensor(variable_type):
    """A NumPy array's type, be it one whose axes have names. (A sparse matrix is a TensorType too, but no array.)"""
    is_array = isinstance(variable_type, DenseTensorType) or hasattr(variable_type, "dims")
    return is_array and variable_type.dtype in INLAY_NAMES


def sizes_of_type(shape):
    """The sizes that a tensor's type says; None: it says none. PyTensor takes any constant for a size, also the -1 of
    `permutation(-1)`, which draws an empty array: a negative one is none."""
    return tuple(None if n is not None and n < 0 else n for n in shape)


def type_of(var):
    """inlay's dtype and the static shape of a PyTensor variable."""
    if is_tensor(var.type):
        return INLAY_NAMES[var.type.dtype], sizes_of_type(var.type.shape)
    if isinstance(var.type, ScalarType):
        return INLAY_NAMES[var.type.dtype], ()
    return "opaque", ()
