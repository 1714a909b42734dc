from collections.abc import Mapping, Sequence
import types
from typing import overload


def error_codes() -> list[tuple[str, str]]: ...

def set_error_classes(arg: tuple, /) -> None: ...

class Dim:
    """A size: an expression over the sizes of inputs."""

    def __add__(self, arg: object, /) -> object: ...

    def __radd__(self, arg: object, /) -> object: ...

    def __sub__(self, arg: object, /) -> object: ...

    def __rsub__(self, arg: object, /) -> object: ...

    def __mul__(self, arg: object, /) -> object: ...

    def __rmul__(self, arg: object, /) -> object: ...

    def evaluate(self, arg: Sequence[int], /) -> int:
        """
        The number for these sizes, in the order in which the symbols were made.
        """

    @property
    def symbol(self) -> int:
        """The number of the symbol that it is, or -1."""

    @property
    def is_size(self) -> bool:
        """Is it known never to be negative?"""

    def __floordiv__(self, arg: object, /) -> object: ...

    def __rfloordiv__(self, arg: object, /) -> object: ...

    def __eq__(self, arg: object, /) -> bool: ...

def promote(arg0: str, arg1: str, /) -> str:
    """The dtype in which operands of two dtypes meet."""

def dim_min(arg0: object, arg1: object, /) -> object: ...

def dim_max(arg0: object, arg1: object, /) -> object: ...

class Value:
    """A value of a graph that is being built."""

    @property
    def dtype(self) -> str: ...

    @property
    def dims(self) -> list: ...

    @property
    def name(self) -> str: ...

    @property
    def index(self) -> int: ...

    def __eq__(self, arg: Value, /) -> bool: ...

    def __hash__(self) -> int: ...

    def __repr__(self) -> str: ...

class Graph:
    """A finished array program."""

    @property
    def text(self) -> str: ...

    @property
    def name(self) -> str: ...

    @property
    def parameters(self) -> list:
        """For each parameter: name, dtype, dims as text, whether it is bound."""

    @property
    def outputs(self) -> list:
        """For each: name, type as text."""

    @property
    def host_calls(self) -> list[str]:
        """The names of the functions that it calls, by number."""

    def __str__(self) -> str: ...

class GraphBuilder:
    """Makes a Graph, one checked node at a time."""

    def __init__(self, name: str = 'main') -> None: ...

    def is_given(self, arg: object, /) -> bool: ...

    def late_size(self, arg: Value, /) -> object: ...

    def arange(self, arg0: Value, arg1: Value, arg2: Value, arg3: str, /) -> Value: ...

    def nonzero(self, arg: Value, /) -> list[Value]: ...

    def read_where(self, arg0: Value, arg1: Value, /) -> Value: ...

    def write_where(self, arg0: str, arg1: Value, arg2: Value, arg3: Value, /) -> Value: ...

    def repeat(self, arg0: Value, arg1: Value, arg2: int, /) -> Value: ...

    def unique(self, arg: Value, /) -> list[Value]: ...

    def repeat_each(self, arg0: Value, arg1: Value, arg2: int, /) -> Value: ...

    def library(self, op: str, operands: Sequence[Value], options: Sequence[str] = []) -> list[Value]: ...

    def swapped(self, arg: Value, /) -> Value:
        """The last two axes, swapped."""

    def inverse(self, arg: Value, /) -> Value: ...

    def determinant(self, arg: Value, /) -> Value: ...

    def pseudo_inverse(self, arg: Value, /) -> Value: ...

    def log_determinant(self, arg: Value, /) -> tuple[Value, Value]: ...

    def lu(self, arg: Value, /) -> tuple[Value, Value, Value]: ...

    def take_rows(self, arg0: Value, arg1: Value, /) -> Value: ...

    def permutation_matrix(self, arg0: Value, arg1: Value, /) -> Value: ...

    def cholesky_solve(self, arg0: Value, arg1: Value, arg2: Sequence[str], /) -> Value: ...

    def einsum(self, arg0: str, arg1: Sequence[Value], /) -> Value: ...

    def at(self, arg: str, /) -> None: ...

    def symbol(self, arg: str, /) -> Dim: ...

    def param(self, arg0: str, arg1: str, arg2: Sequence, /) -> Value: ...

    def donated(self, arg0: str, arg1: str, arg2: Sequence, /) -> Value: ...

    def bound(self, arg0: str, arg1: object, /) -> Value: ...

    def name(self, arg0: Value, arg1: str, /) -> None: ...

    def literal(self, arg0: object, arg1: str, /) -> Value: ...

    def literal_array(self, arg: object, /) -> Value: ...

    def scalar(self, arg0: str, arg1: Sequence[Value], /) -> Value: ...

    def cast(self, arg0: Value, arg1: str, /) -> Value: ...

    def broadcast(self, arg0: Value, arg1: Sequence, /) -> Value: ...

    def stretch(self, arg0: Value, arg1: Sequence, arg2: str, /) -> Value: ...

    def reshape(self, arg0: Value, arg1: Sequence, /) -> Value: ...

    def transpose(self, arg0: Value, arg1: Sequence[int], /) -> Value: ...

    def flip(self, arg0: Value, arg1: Sequence[int], /) -> Value: ...

    def diagonal(self, arg0: Value, arg1: int, arg2: int, /) -> Value: ...

    def compose(self, name: str, *operands, **arguments) -> object:
        """
        The nodes of a composition, such as `compose("softmax", x, axes=[1])`: docs/text.md lists them.
        """

    def slice(self, arg0: Value, arg1: Sequence, /) -> Value: ...

    def gather(self, arg0: Value, arg1: Sequence, /) -> Value: ...

    def update(self, combine: str, x: Value, index: Sequence, v: Value, *, in_place: bool = False) -> Value:
        """With `in_place`, compiling fails where x would be copied."""

    def scatter(self, combine: str, x: Value, index: Sequence, v: Value, *, in_place: bool = False) -> Value:
        """With `in_place`, compiling fails where x would be copied."""

    @overload
    def reduce(self, arg0: str, arg1: Value, arg2: Sequence[int], arg3: str, /) -> Value: ...

    @overload
    def reduce(self, arg0: str, arg1: Sequence[Value], arg2: Sequence[int], arg3: str, /) -> list[Value]: ...

    def cumulative(self, arg0: str, arg1: Value, arg2: int, arg3: str, /) -> Value: ...

    def require_at_most(self, left: object, right: object, code: str, message: str, operand: Value) -> None:
        """
        A check of two sizes at the node that is made next. {0} and {1} in the message are the two.
        """

    def concat(self, arg0: Sequence[Value], arg1: int, /) -> Value: ...

    def iota(self, arg0: object, arg1: str, /) -> Value: ...

    def size(self, arg: object, /) -> Value: ...

    def matmul(self, arg0: Value, arg1: Value, /) -> Value: ...

    def host_call(self, arg0: str, arg1: int, arg2: Sequence[Value], arg3: Sequence, /) -> list[Value]: ...

    def body(self) -> GraphBuilder:
        """A builder for a body of a cond or a loop."""

    def step(self, arg0: str, arg1: object, /) -> Value: ...

    def cond(self, arg0: Value, arg1: Sequence[Value], arg2: Graph, arg3: Graph, /) -> list[Value]: ...

    def loop(self, count: object, initial: Sequence[Value], captured: Sequence[Value], body: Graph, has_condition: bool = False) -> list[Value]: ...

    def output(self, value: Value, name: str = '') -> None: ...

    def finish(self) -> Graph:
        """The graph; the builder is empty afterwards."""

def scalar_ops() -> list:
    """
    The rows of the table of scalar ops: name, arity, the dtypes of the operands, the result (the same, bool, real: of the parts of a complex operand, or complex: of the operands as parts), how f64 is computed on this machine, and the derivative by each operand, or why there is none.
    """

class CFunction:
    """A C function pointer; valid for as long as this object lives."""

    @property
    def address(self) -> int: ...

    @property
    def signature(self) -> str: ...

    @property
    def stop_address(self) -> int:
        """
        Of an int32: calls that run end soon, with the code -4, while it is not 0.
        """

    @property
    def last_error(self) -> str | None:
        """
        What the last call that failed for good said; of the forms that samplers know.
        """

class LowLevel:
    """A function with a signature that SciPy calls."""

    @property
    def signature(self) -> str: ...

    @property
    def last_error(self) -> str | None:
        """What the last call that failed said."""

    def capsule(self) -> object:
        """For scipy.LowLevelCallable; keeps the function."""

class XlaFunction:
    """A function as a call in a program of XLA's, which keeps it alive."""

    @property
    def number(self) -> int:
        """By which a call names it; random."""

    @property
    def arguments(self) -> list[tuple[str, str, int]]:
        """Name, dtype and rank of each."""

    @property
    def results(self) -> list[tuple[str, str, int]]: ...

    def result_dims(self, dims: Sequence[Sequence[int]]) -> list[list[int]]: ...

def xla_handlers() -> dict:
    """
    What JAX registers, by name: addresses of the handlers, of the type's number and of what XLA must know of it, and the version of XLA's interface. Empty: inlay was built without XLA's header.
    """

class Program:
    """
    A compiled program with the arrays and host functions that are bound to it.
    """

    def function(self) -> object:
        """The function to call: arrays in, new arrays out."""

    @property
    def threads(self) -> int: ...

    @property
    def first_call_seconds(self) -> float: ...

    def vm(self, arg: tuple, /) -> object: ...

    def c_function(self, arguments: Sequence, form: str = '', data: dict = {}, on_error: object | None = None, keeps_going: bool = False, pool: tuple[int, int] | None = None) -> CFunction: ...

    def xla_function(self, arguments: Sequence) -> XlaFunction: ...

    def low_level(self, arguments: Sequence, form: str) -> LowLevel: ...

    def save(self, sections: dict) -> bytes:
        """The function as bytes, with bytes of others' by name."""

    @property
    def content(self) -> str:
        """
        32 digits that functions with different content do not share; source lines do not count.
        """

    def explain(self) -> dict: ...

    def plan(self, sizes: object | None = None) -> object: ...

    def memory_page(self, title: str, sizes: object | None = None) -> str:
        """The memory over time as a page of HTML."""

    def step_times(self) -> list:
        """
        How long each step has taken, of a program that was compiled with `time_steps`.
        """

    def clear_step_times(self) -> None:
        """Their times begin anew, as if there had been no call."""

    def require_clocks(self, name: str) -> None:
        """Raises where code of its backend has no clocks around its steps."""

    def profile(self, name: str, calls: int, seconds: float, least: float, bandwidth: float, notes: dict) -> dict:
        """
        What the steps have taken in `calls` calls, of a program that was compiled with `time_steps`.
        """

    @property
    def donated(self) -> list[bool]:
        """Of each argument, whether a call may overwrite it."""

    @property
    def storage_names(self) -> list[str]:
        """Of the working memory, as planners get them."""

    def value_places(self) -> list: ...

class FunctionFile:
    """
    A compiled function that was read from bytes, without what is bound to it.
    """

    def section(self, name: str) -> object:
        """Its bytes, or None."""

    @property
    def why_not_here(self) -> str: ...

    def program(self, bound: list, host_functions: list) -> Program:
        """
        The program that runs its code, or the same kernels compiled once more where that cannot run here.
        """

def read_function(bytes: bytes, name: str) -> FunctionFile: ...

def write_whole_file(path: bytes, bytes: bytes) -> int:
    """
    Replaces a file's contents at once; returns 0, or the errno, and then it is as it was.
    """

PROFILED_SECONDS: float = 0.2

LEAST_PROFILED_CALLS: int = 3

def short_bytes_text(bytes: int) -> str:
    """
    Whole up to 10 KiB, where sizes of values are still told apart by their bytes.
    """

def time_text(seconds: float) -> str:
    """To three digits, in the unit that fits."""

def threads_text(threads: int, balance: float) -> str:
    """How many of a step's threads were at work."""

def three_digits(number: float) -> str:
    """A number that was measured."""

def machine_bandwidth() -> float:
    """
    GB/s that one thread of this machine moves to and from memory, by inlay's own code. Measured once in a process.
    """

def compile(graph: Graph, bound: list = [], host_functions: list = [], choices: dict = {}, time_steps: bool = False) -> Program: ...

def parse(text: str, file_name: str = '<text>') -> Graph: ...

def exported(text: str, file_name: str, name: object | None, kind: object | None, sizes: object, bound: dict, freestanding: bool = False, blas: bool = False, section: object | None = None, single_precision: bool = False) -> tuple:
    """
    The name and the bytes of the header, and of the code; sizes in bytes by name, None where not known.
    """

def require_export_kind(kind: object | None) -> None:
    """ValueError for one that there is not."""

def loaded_sections(elf: bytes) -> object:
    """
    Of an object or a library: name, use (text, rodata, data) and bytes of each section that is in memory; None of what is no ELF file.
    """

def stack_bytes(calls: str, function: str) -> int | None:
    """
    The most that a call has on the stack, by the graph of calls that gcc writes; None where there is no most.
    """

def exported_header(path: str) -> str:
    """
    The header of an exported program, by the path of one of its files; empty for another file.
    """

def exported_memory(text: str, path: str) -> dict:
    """The plan of memory in the text of such a header."""

def exported_library(parts: list, code: Mapping[str, str]) -> bytes:
    """
    The bytes of a shared library: of programs, and of C code that calls them.
    """

def wrong_export_name(name: str) -> str:
    """Why a function cannot have this name; empty: it can."""

class OnnxModel:
    """An ONNX file that was read."""

    @property
    def inputs(self) -> list:
        """Of each, also where it has a default: name, type, sizes."""

    @property
    def outputs(self) -> list: ...

    @property
    def contents(self) -> list:
        """Of its file and those of its external data: the bytes, as arrays."""

    def imported(self, fixed: dict, donated: Sequence[str], windows: bool) -> tuple:
        """
        The graph, its weights, and where each lies in the contents, or None; or None, the inputs that are to be fixed for it, and why.
        """

    def weight_at(self, contents: int, offset: int, type: int, dims: Sequence[int]) -> object:
        """The array that lies there."""

def read_onnx(path: str) -> OnnxModel: ...

def read_onnx_bytes(data: bytes, name: str, folder: str) -> OnnxModel: ...

def onnx_ops() -> list:
    """Of each op of ONNX that is read: domain, name, the first version."""

def buffer_lives(rows: Sequence[tuple[str, int, int]]) -> list[tuple[int, int]]: ...

def buffers_page(title: str, rows: Sequence[tuple], peak: int, lower_bound: int, lists: Sequence[tuple[str, Sequence[str]]] = []) -> str: ...

def plan_buffers(rows: Sequence[tuple], pools: Sequence[tuple], planner: str = '', custom: object | None = None, budget_ms: int = -1) -> dict: ...

class Draw:
    """
    Draws a random variable without Python code: the attribute `draw` of a host function.
    """

def draw(name: str, generator: int, size: int | tuple[Sequence[float], Sequence[int]] | None, params: Sequence[int | tuple[Sequence[float], Sequence[int]]], dtype: str, copier: object | None) -> object:
    """
    A Draw of PyTensor's random variable `name`; None: NumPy has no sampling function for it.

    `generator`, `size`, `params`: numbers of operands; of a constant, its values and its shape. `size` None: that of
    the parameters. `copier`: makes the generator to draw from.
    """

def config() -> dict: ...

def max_threads() -> int: ...

def set_max_threads(count: int) -> None: ...

def thread_count(what: str, value: object | None) -> int:
    """
    A number of threads, as `what` takes it; raises TypeError or ValueError for what is none.
    """

def num_pool_threads() -> int:
    """How many threads inlay has started in this process."""

def cache_folder() -> bytes:
    """Where compiled functions are kept; empty where nowhere."""

def cache_limit_bytes() -> int:
    """The bytes that they may have."""

def trim_cache(folder: bytes) -> None:
    """Removes the longest unused of them, down to those bytes."""

def command_line(arg: Sequence[bytes], /) -> int: ...

class Function:
    """
    A compiled function: NumPy arrays in, new arrays out, or those given as `out=`.
    """

    def __repr__(self, /):
        """Return repr(self)."""

    def __call__(self, /, *args, **kwargs):
        """Call self as a function."""

    __vectorcalloffset__: types.MemberDescriptorType = ...

    def export(self, directory, kind='c', **choices):
        """
        `inlay.export(self, directory, kind, ...)`, with its choices by keyword.
        """

class Vm:
    """A compiled function over the cells of a PyTensor Function."""

    def __repr__(self, /):
        """Return repr(self)."""

    def __call__(self, /, *args, **kwargs):
        """Call self as a function."""

    __vectorcalloffset__: types.MemberDescriptorType = ...
