"""Programs and networks for small machines: exports those of examples/devices, runs them on emulated boards, and says
how large they are.

    .venv/bin/python tools/devices.py [--docs]

Needs gcc-arm-none-eabi, libnewlib-arm-none-eabi and qemu-system-arm. --docs writes the tables of docs/file.md and of
docs/onnx.md anew.
"""

import csv
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

ROOT = Path(__file__).parents[1]
HERE = ROOT / "examples" / "devices"
TOOL = Path(os.environ.get("INLAY_TOOL", ROOT / "build" / "release" / "bin" / "inlay"))
PROGRAMS = ("radon", "kalman", "average", "softmax", "biquad", "network")
NETWORKS = ("keywords", "digits", "voice")  # ONNX files, which networks.py writes
GCC = "arm-none-eabi-gcc"
STRICT = ["-std=c99", "-Wall", "-Wextra", "-pedantic", "-ffreestanding", "-Werror"]
FLAGS = [*STRICT, "-ffp-contract=off", "-fno-strict-aliasing", "-fno-math-errno", "-ffunction-sections", "-fdata-sections"]  # fmt: skip


class Board(NamedTuple):
    name: str  # mps2-...
    cpu: str
    flags: tuple
    nanoseconds: int  # of a tick of its system timer
    host: tuple  # flags of a host whose arithmetic is the same: with fused multiply-adds, or without


M33 = Board("mps2-an505", "Cortex-M33", ("-mcpu=cortex-m33", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv5-sp-d16"), 50, ("-mfma",))  # fmt: skip
M3 = Board("mps2-an385", "Cortex-M3", ("-mcpu=cortex-m3", "-mthumb"), 40, ())


def shift_of(name):
    """An instruction takes 2^shift ns of the emulated time. By 6 a tick of the timer is about one, and the timer counts
    to 2^24; a network takes more, so that a tick is 40 to 50 of them there."""
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
        return networks().NETWORKS[name](folder), "--fixed=batch=1"
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
    run(GCC, *FLAGS, *board.flags, optimize, "-fcallgraph-info=su", "-c", folder / f"{name}.c", "-o", out)
    return out


def sizes(path):
    """Bytes of text, of constants, and of what is written, without the messages, which a linker leaves out where nobody
    asks for them."""
    found = {"text": 0, "rodata": 0, "data": 0}
    for line in run("arm-none-eabi-size", "-A", path).splitlines():
        match = re.match(r"\.(text|rodata|data|bss)(\S*)\s+(\d+)", line)
        if match and not re.search("_message|CSWTCH|[.]str", match[2]):
            found["data" if match[1] == "bss" else match[1]] += int(match[3])
    return found


def undefined(path):
    return {line.split()[-1] for line in run("arm-none-eabi-nm", "-u", path).splitlines()}


def stack_of(path, function):
    """The most bytes that a call has on the stack, as the compiler counts them, and whether that is all: functions of
    other objects count as 0."""
    text = path.with_suffix(".ci").read_text()
    own = {name: int(bytes) for name, bytes in re.findall(r'title: "([^"]+)" label: "[^"]*\\n(\d+) bytes', text)}
    calls = {}
    for source, target in re.findall(r'edge: { sourcename: "([^"]+)" targetname: "([^"]+)"', text):
        calls.setdefault(source, set()).add(target)

    def depth(name):
        return own.get(name, 0) + max((depth(target) for target in calls.get(name, ())), default=0)

    return depth(function)


def link(board, name, folder, main=None):
    """The whole program for a board, its map beside it. `main`: its file, else that of examples/devices."""
    out = folder / f"{name}-{board.cpu}.elf"
    run(GCC, *FLAGS, *board.flags, "-Os", "-c", main or HERE / f"{name}.c", "-I", folder, "-I", HERE, "-o", folder / "main.o")
    run(GCC, "-std=gnu99", "-Wall", "-Wextra", "-Werror", "-ffreestanding", "-fno-tree-loop-distribute-patterns", "-Os", *board.flags,
        "-c", HERE / "board.c", "-o", folder / "board.o")  # fmt: skip
    run(GCC, *board.flags, "-nostdlib", "-nostartfiles", "-Wl,--gc-sections", f"-Wl,-Map={out}.map", "-T", HERE / f"{board.name}.ld",
        folder / "main.o", folder / "board.o", compile_for(board, name, folder), "-lm", "-lgcc", "-o", out)  # fmt: skip
    return out


def emulate(board, program, shift=6):
    """What the program prints, by the first word of the line; and for each call instructions and bytes of the stack."""
    printed = run("qemu-system-arm", "-M", board.name, "-display", "none", "-monitor", "none", "-serial", "none",
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


def sizes_and_counts(name, folder):
    """What the tables say of an exported function."""
    path = compile_for(M33, name, folder)
    own = sizes(path)
    counts = [emulate(board, link(board, name, folder), shift_of(name))[1][-1] for board in (M33, M3)]
    return {
        "text": own["text"],
        "text of -O2": sizes(compile_for(M33, name, folder, "-O2"))["text"],
        "rodata": own["rodata"],
        "stack": stack_of(path, name),
        "text on the M3": sizes(compile_for(M3, name, folder))["text"],
        "instructions": counts[0],
        "instructions on the M3": counts[1],
    }


def as_row(name, cells):
    return f"| `{name}` | " + " | ".join(str(cell) for cell in cells) + " |"


def row(name, folder):
    arena = export(name, folder)
    found = list(sizes_and_counts(name, folder).values())
    return as_row(name, [*found[:3], arena, *found[3:]])


def network_row(name, folder):
    arena = export(name, folder)
    found = list(sizes_and_counts(name, folder).values())
    weights = sum(array.nbytes for array in networks().floats_of(folder / f"{name}.onnx"))
    return as_row(name, [weights, *found[:3], arena, lower_bound(name, folder), *found[3:]])


HEADER = """| program | text, `-Os` | text, `-O2` | rodata | arena | stack | text, M3 | instructions | on the M3 |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |"""
NETWORK_HEADER = """| network | weights | text, `-Os` | text, `-O2` | rodata | arena | its bound | stack | text, M3 | instructions | on the M3 |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"""


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


TABLES = {
    "programs": Table(ROOT / "docs" / "file.md", HEADER, PROGRAMS, row),
    "networks": Table(ROOT / "docs" / "onnx.md", NETWORK_HEADER, NETWORKS, network_row),
}


def main():
    for table in TABLES.values():
        made = table.made()
        print(made)
        if "--docs" in sys.argv[1:]:
            table.page.write_text(table.in_page(made))


if __name__ == "__main__":
    main()
