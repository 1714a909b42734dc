"""Programs and networks for small machines: exports those of examples/devices, runs them on emulated boards, and says
how large they are.

    .venv/bin/python tools/devices.py [--docs]

Needs gcc-arm-none-eabi, libnewlib-arm-none-eabi and qemu-system-arm, and for RISC-V gcc-riscv64-unknown-elf,
picolibc-riscv64-unknown-elf and qemu-system-misc. --docs writes the tables of docs/file.md and of docs/onnx.md anew.
"""

import csv
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from inlay import _inlay

ROOT = Path(__file__).parents[1]
HERE = ROOT / "examples" / "devices"
TOOL = Path(os.environ.get("INLAY_TOOL", ROOT / "build" / "release" / "bin" / "inlay"))
PROGRAMS = ("radon", "kalman", "average", "softmax", "biquad", "network")
NETWORKS = ("keywords", "digits", "voice")  # ONNX files, which networks.py writes
STRICT = ["-std=c99", "-Wall", "-Wextra", "-pedantic", "-ffreestanding", "-Werror"]
FLAGS = [*STRICT, "-ffp-contract=off", "-fno-strict-aliasing", "-fno-math-errno", "-ffunction-sections", "-fdata-sections"]  # fmt: skip


class Board(NamedTuple):
    cpu: str
    tools: str  # what the names of gcc and nm begin with
    flags: tuple  # of the compiler
    libm: tuple  # what the linker is told of it
    start: str  # the file of examples/devices that has what is the processor's
    code: int  # where a program's code and constants begin, and what it writes
    memory: int
    emulator: tuple
    nanoseconds: int  # of a tick of the clock that the program reads
    host: tuple  # flags of a host whose arithmetic is the same: with fused multiply-adds, or without

    def tool(self, name):
        return f"{self.tools}-{name}"

    def missing(self):
        """The programs that are not here."""
        return [name for name in (self.tool("gcc"), self.emulator[0]) if not shutil.which(name)]


def cortex_m(cpu, machine, code, memory, **more):
    return Board(cpu, "arm-none-eabi", libm=("-lm",), start="cortex_m.c", code=code, memory=memory,
                 emulator=("qemu-system-arm", "-M", machine), **more)  # fmt: skip


def riscv(cpu, **more):
    """The functions of picolibc's libm lie in its libc, of which no other part is linked. The clock counts the emulated
    nanoseconds."""
    return Board(cpu, "riscv64-unknown-elf", libm=("--specs=picolibc.specs", "-lc"), start="riscv.c", code=0x80000000,
                 memory=0x80100000, nanoseconds=1, **more)  # fmt: skip


VIRT = ("qemu-system-riscv32", "-M", "virt", "-bios", "none", "-cpu")
M33 = cortex_m("Cortex-M33", "mps2-an505", 0x10000000, 0x38000000, nanoseconds=50, host=("-mfma",),
               flags=("-mcpu=cortex-m33", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv5-sp-d16"))  # fmt: skip
M3 = cortex_m("Cortex-M3", "mps2-an385", 0x00000000, 0x20000000, nanoseconds=40, host=(), flags=("-mcpu=cortex-m3", "-mthumb"))  # fmt: skip
RV32F = riscv("rv32imafc", emulator=(*VIRT, "rv32,d=false"), host=("-mfma",), flags=("-march=rv32imafc", "-mabi=ilp32f"))
RV32 = riscv("rv32imac", emulator=(*VIRT, "rv32,f=false,d=false"), host=(), flags=("-march=rv32imac", "-mabi=ilp32"))
BOARDS = (M33, M3, RV32F, RV32)


def shift_of(name):
    """An instruction takes 2^shift ns of the emulated time. By 6 a tick of a Cortex-M's timer is about one, and it
    counts to 2^24; a network takes more, so that a tick is 40 to 50 of them there."""
    return 0 if name in NETWORKS else 6


def run(*command):
    done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=120)  # fmt: skip
    if done.returncode != 0:
        raise RuntimeError(f"{command[0]} failed ({done.returncode}): {done.stdout}")
    return done.stdout


def arrays_of(name):
    """Of the bound parameters of a program."""
    if name == "radon":
        with (ROOT / "examples" / "data" / "radon_mn.csv").open(newline="") as file:
            rows = list(csv.DictReader(file))
        columns = {"county": ("county_id", np.uint8), "floor": ("floor", np.float32), "log_radon": ("log_radon", np.float32)}  # fmt: skip
        return {key: np.array([float(row[column]) for row in rows]).astype(dtype) for key, (column, dtype) in columns.items()}  # fmt: skip
    if name == "network":
        rng = np.random.default_rng(7)
        shapes = {"w1": (24, 16), "b1": 24, "w2": (24, 24), "b2": 24, "w3": (4, 24), "b3": 4}
        return {key: (0.5 * rng.standard_normal(shape)).astype(np.float32) for key, shape in shapes.items()}
    return {}


def networks():
    """examples/devices/networks.py, which needs the package onnx."""
    sys.path.insert(0, str(HERE))
    import networks

    return networks


def source(name, folder):
    """The file that is exported, and what is said of its sizes."""
    if name in NETWORKS:
        return networks().NETWORKS[name](folder), "--fixed=batch=1", *(["--no-windows"] if name == "digits" else [])
    return (HERE / f"{name}.inlay",)


def export(name, folder, freestanding=True):
    """NAME.h and NAME.c; the bytes of working memory that the header says."""
    given = []
    for key, array in arrays_of(name).items():
        np.save(folder / f"{name}-{key}.npy", array)
        given.append(f"--bound={key}={folder / f'{name}-{key}.npy'}")
    form = ["--freestanding"] if freestanding else []
    run(TOOL, "export", *source(name, folder), *form, *given, "-o", folder)
    return int(re.search(rf"{name}_ARENA_BYTES (\d+)", (folder / f"{name}.h").read_text())[1])


def lower_bound(name, folder):
    """The bytes that no layout of working memory can be below."""
    return int(re.search(r"lower bound (\d+)", run(TOOL, "explain", *source(name, folder)))[1])


def compile_for(board, name, folder, optimize="-Os"):
    """The object of the exported function alone."""
    out = folder / f"{name}-{board.cpu}{optimize}.o"
    run(board.tool("gcc"), *FLAGS, *board.flags, optimize, "-fcallgraph-info=su", "-c", folder / f"{name}.c", "-o", out)
    return out


def sizes(path):
    """Bytes of text, of constants, and of what is written, without the messages, which a linker leaves out where nobody
    asks for them."""
    found = {"text": 0, "rodata": 0, "data": 0}
    for name, use, count in _inlay.loaded_sections(path.read_bytes()):
        if not re.search("_message|CSWTCH|[.]str", name):
            found[use] += count
    return found


def undefined(board, path):
    return {line.split()[-1] for line in run(board.tool("nm"), "-u", path).splitlines()}


def stack_of(path, function):
    """The most bytes that a call has on the stack, as the compiler counts them: functions of other objects count as 0."""
    return _inlay.stack_bytes(path.with_suffix(".ci").read_text(), function)


def link(board, name, folder, main=None):
    """The whole program for a board, its map beside it. `main`: its file, else that of examples/devices."""
    out = folder / f"{name}-{board.cpu}.elf"
    gcc = (board.tool("gcc"), *board.flags)
    run(*gcc, *FLAGS, "-Os", "-c", main or HERE / f"{name}.c", "-I", folder, "-I", HERE, "-o", folder / "main.o")
    for file in ("board.c", board.start):
        run(*gcc, "-std=gnu99", "-Wall", "-Wextra", "-Werror", "-ffreestanding", "-fno-tree-loop-distribute-patterns", "-Os",
            "-c", HERE / file, "-o", folder / f"{file}.o")  # fmt: skip
    run(*gcc, "-nostdlib", "-nostartfiles", "-Wl,--gc-sections", f"-Wl,-Map={out}.map", "-T", HERE / "board.ld",
        f"-Wl,--defsym=code_origin={board.code:#x},--defsym=memory_origin={board.memory:#x}", folder / "main.o",
        folder / "board.c.o", folder / f"{board.start}.o", compile_for(board, name, folder), *board.libm, "-lgcc", "-o", out)  # fmt: skip
    return out


def emulate(board, program, shift=6):
    """What the program prints, by the first word of the line; and for each call instructions and bytes of the stack."""
    printed = run(*board.emulator, "-display", "none", "-monitor", "none", "-serial", "none",
                  "-semihosting-config", "enable=on,target=native", "-icount", f"shift={shift}", "-kernel", program)  # fmt: skip
    lines = [line.split() for line in printed.splitlines()]
    ticks = [int(words[1], 16) for words in lines if words[0] == "ticks"]
    stack = [int(words[1], 16) for words in lines if words[0] == "stack"]
    instructions = [round(n * board.nanoseconds / 2**shift) for n in ticks]
    return [words for words in lines if words[0] not in ("ticks", "stack")], instructions, stack


def on_host(board, name, folder):
    out = folder / f"{name}-host{''.join(board.host)}"
    run("cc", "-std=c99", "-O2", "-ffp-contract=off", "-fno-strict-aliasing", *board.host, "-I", folder, "-I", HERE,
        HERE / f"{name}.c", HERE / "host.c", folder / f"{name}.c", "-lm", "-o", out)  # fmt: skip
    return [line.split() for line in run(out).splitlines()]


def numbers(lines):
    """All numbers of what a program printed."""
    bits = [int(word, 16) for words in lines for word in words[1:]]
    return np.array(bits, np.uint32).view(np.float32)


def as_row(name, cells):
    return f"| `{name}` | " + " | ".join(str(cell) for cell in cells) + " |"


def sizes_on_m33(name, folder):
    path = compile_for(M33, name, folder)
    own = sizes(path)
    optimized = sizes(compile_for(M33, name, folder, "-O2"))
    return own["text"], optimized["text"], own["rodata"], stack_of(path, name)


def row(name, folder):
    arena = export(name, folder)
    return as_row(name, [*sizes_on_m33(name, folder), arena])


def network_row(name, folder):
    arena = export(name, folder)
    weights = sum(array.nbytes for array in networks().floats_of(folder / f"{name}.onnx"))
    return as_row(name, [*sizes_on_m33(name, folder), arena, lower_bound(name, folder), weights])


def row_by_board(name, folder):
    export(name, folder)
    text = [sizes(compile_for(board, name, folder))["text"] for board in BOARDS]
    counts = [emulate(board, link(board, name, folder), shift_of(name))[1][-1] for board in BOARDS]
    return as_row(name, [*text, *counts])


def header_of(*columns):
    return f"| {' | '.join(columns)} |\n|{' --- |' * len(columns)}"


def header_by_board(kind):
    names = [board.cpu.removeprefix("Cortex-") for board in BOARDS]
    return header_of(kind, f"text: {names[0]}", *names[1:], f"instructions: {names[0]}", *names[1:])


SIZES = ("text, `-Os`", "text, `-O2`", "rodata", "stack", "arena")


class Table(NamedTuple):
    page: Path
    header: str
    names: tuple
    row: Callable

    def made(self):
        with tempfile.TemporaryDirectory() as folder:
            return "\n".join([self.header, *(self.row(name, Path(folder)) for name in self.names)])

    def in_page(self, made):
        """The text of the page, with the table that was made now."""
        page = self.page.read_text()
        begin = page.index(self.header.splitlines()[0])
        return page[:begin] + made + page[page.index("\n\n", begin) :]


PAGE, NETWORK_PAGE = ROOT / "docs" / "file.md", ROOT / "docs" / "onnx.md"
TABLES = {
    "programs": Table(PAGE, header_of("program", *SIZES), PROGRAMS, row),
    "programs by board": Table(PAGE, header_by_board("program"), PROGRAMS, row_by_board),
    "networks": Table(NETWORK_PAGE, header_of("network", *SIZES, "its bound", "weights"), NETWORKS, network_row),
    "networks by board": Table(NETWORK_PAGE, header_by_board("network"), NETWORKS, row_by_board),
}


def main():
    for table in TABLES.values():
        made = table.made()
        print(made)
        if "--docs" in sys.argv[1:]:
            table.page.write_text(table.in_page(made))


if __name__ == "__main__":
    main()
