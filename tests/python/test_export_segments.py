"""Exported programs that find sizes during a call: whoever calls them needs their header and no more."""

import ctypes
import re
from pathlib import Path

import inlay
import numpy as np
import pytest
from test_export import COMPILERS, FLAGS, Call, require_alone, run, tool

ROOT = Path(__file__).parents[2]
PROGRAMS = ROOT / "tests" / "programs"

POSITIVE = """graph @positive(%x: f64[n]) {
  %zero = literal 0.0 : f64
  %up = sort %x
  %p = gt %up, %zero
  %count, %kept = compress %p, %up : k
  %down = neg %kept
  %ordered = sort %down
  %product = mul %ordered, %kept
  %sums = cumulative add %product [0] : f64
  return %sums, %count
}
"""

MAIN = """
#include <stdio.h>
#include <stdlib.h>

#include "positive.h"

static int64_t begun;

static int32_t begin(InlayCall* call, int32_t segment) {
  const int64_t bytes = positive_segment_bytes(segment, call->symbols, call->offsets);
  if (bytes < 0) return INLAY_SIZE_OVERFLOW;
  char* block = malloc((size_t)bytes + positive_ARENA_ALIGNMENT);
  if (!block) return INLAY_OUT_OF_MEMORY;
  call->segments[segment] = block + positive_ARENA_ALIGNMENT - (uintptr_t)block % positive_ARENA_ALIGNMENT;
  if (segment == 1) call->outputs[positive_OUT_sums] = malloc(8 * (size_t)call->symbols[positive_SIZE_k] + 1);
  begun += bytes;
  return INLAY_OK;
}

static int32_t refuse(InlayCall* call, int32_t segment) {
  (void)call;
  (void)segment;
  return INLAY_OUT_OF_MEMORY;
}

int main(void) {
  const double x[] = {3, -1, 2, 0, -5, 1};
  int64_t sizes[] = {6, -1}, count = -1, offsets[positive_OFFSETS];
  const void* params[] = {x};
  void* outputs[] = {0, 0};
  void* segments[positive_SEGMENTS];
  InlayCall call = {0};
  outputs[positive_OUT_count] = &count;
  call.params = params;
  call.outputs = outputs;
  call.symbols = sizes;
  call.segments = segments;
  call.offsets = offsets;
  call.begin_segment = begin;
  int32_t code = begin(&call, 0);
  if (code == INLAY_OK) code = positive_entry(&call);
  const double* sums = outputs[positive_OUT_sums];
  printf("%d %d %d %g %g %g\\n", (int)code, (int)count, (int)sizes[positive_SIZE_k], sums[0], sums[1], sums[2]);
  call.begin_segment = refuse;
  code = positive_entry(&call);
  puts(positive_message(code));
  sizes[0] = INT64_MAX / 4;
  printf("%d %d %d\\n", begun >= 72, (int)positive_segment_bytes(0, sizes, offsets), (int)positive_segment_bytes(2, sizes, offsets));
  return 0;
}
"""


@pytest.mark.parametrize("compiler", COMPILERS)
def test_a_c_program_calls_it_through_its_header(compiler, tmp_path):
    _, code = inlay.export(POSITIVE, tmp_path)
    (tmp_path / "main.c").write_text(MAIN)
    run(compiler, *FLAGS, "-c", code, "-o", tmp_path / "positive.o")
    require_alone(tmp_path / "positive.o")
    run(compiler, *FLAGS, tmp_path / "main.c", tmp_path / "positive.o", "-lm", "-o", tmp_path / "main")
    assert run(tmp_path / "main").splitlines() == ["0 3 3 -3 -7 -10", "no memory", "1 -1 -1"]


BEGIN = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.POINTER(Call), ctypes.c_int32)
DTYPES = {"f64": np.float64, "i64": np.int64, "bool": np.bool_}


class Late:
    """What a caller knows of an exported function that finds sizes: its library and its header."""

    def __init__(self, folder, name):
        self.name, self.header, self.c = name, (folder / f"{name}.h").read_text(), ctypes.CDLL(str(folder / f"lib{name}.so"))
        self.sizes = re.search(rf"enum {{ ({name}_SIZE_.*?) }};", self.header)[1].replace(f"{name}_SIZE_", "").split(", ")
        self.num_segments, self.num_offsets = map(int, re.search(r"_SEGMENTS = (\d+), \w+_OFFSETS = (\d+) ", self.header).groups())
        rows = re.findall(rf"{name}_OUT_\w+ = \d+,? /\* (\w+)(?:\[(.*?)\])?(.*) \*/", self.header)
        self.outputs = [(DTYPES[dtype], dims, int((re.findall(r"for segment (\d+)", more) or [0])[0])) for dtype, dims, more in rows]
        self.segment_bytes = getattr(self.c, f"{name}_segment_bytes")
        self.segment_bytes.restype = ctypes.c_int64

    def result(self, number, symbols):
        dtype, dims, _ = self.outputs[number]
        known = dict(zip(self.sizes, map(int, symbols), strict=True))
        return np.full(eval(f"({dims}{',' if dims else ''})", {}, known), 77, dtype)

    def __call__(self, arguments, **sizes):
        """The code, the results, how often each segment began, and whether a byte beside a block has changed."""
        symbols = np.array([sizes.get(name, -7) for name in self.sizes], np.int64)  # those that a call finds are anything
        offsets = np.full(self.num_offsets, -1, np.int64)
        segments, outputs = (ctypes.c_void_p * self.num_segments)(), (ctypes.c_void_p * len(self.outputs))()
        begun, blocks, results = [0] * self.num_segments, [], [None] * len(self.outputs)

        def begin(call, segment):
            before = offsets.copy()
            bytes_ = self.segment_bytes(segment, ctypes.c_void_p(symbols.ctypes.data), ctypes.c_void_p(offsets.ctypes.data))
            if bytes_ < 0:
                return 4
            # A segment leaves the offsets of the others as they are.
            assert begun[segment] or not ((offsets != before) & (before != -1)).any()
            memory = np.full(bytes_ + 128, 0xA5, np.uint8)
            start = -memory.ctypes.data % 64
            blocks.append((memory, start + bytes_))
            segments[segment] = memory[start:].ctypes.data
            for i, (_, _, of) in enumerate(self.outputs):
                if of == segment:
                    results[i] = self.result(i, symbols)
                    outputs[i] = results[i].ctypes.data
            begun[segment] += 1
            return 0

        kept = BEGIN(begin)
        params = (ctypes.c_void_p * max(len(arguments), 1))(*(a.ctypes.data for a in arguments))
        call = Call(*map(ctypes.addressof, (params, outputs)), symbols.ctypes.data, ctypes.addressof(segments), offsets.ctypes.data)
        call.begin_segment = ctypes.cast(kept, ctypes.c_void_p)
        code = begin(None, 0) or getattr(self.c, f"{self.name}_entry")(ctypes.byref(call))
        assert all((memory[end:] == 0xA5).all() for memory, end in blocks)
        return code, results, begun


def exported(text, folder, name, *flags):
    (folder / f"{name}.inlay").write_text(text)
    tool("export", folder / f"{name}.inlay", "--kind=shared", "-o", folder, *flags)
    return Late(folder, name)


def graph(path):
    return (PROGRAMS / path).read_text().partition("\n#=")[0] + "\n"


X = np.array([np.nan, 1.0, np.inf, -1.0, 0.0, 2.5])
MASKS = [np.array([True, False, True]), np.array([False, True, True])]
CALLS = {
    "compress.inlay": ([X], {"n": 6}),
    "late_sizes.inlay": ([X, np.array([2, -4, 1])], {"n": 6, "m": 3}),
    "two_late_sizes.inlay": ([*MASKS, np.array([1.0, 2.0, 4.0])], {"n": 3}),
    "late_size/in_branch.inlay": ([X[1:], np.array(False)], {"n": 5}),
    "late_size/in_loop.inlay": ([X[1:], np.array(-3)], {"n": 5}),
    "late_size_checked.inlay": ([np.array([0, -1, 0], np.int32), np.array(1), np.array([0, 0, 1]), np.array([-3.0]),
                                 np.array([0], np.int8), np.array(0, np.int32), np.array(4.0)], {"p": 3}),
}  # fmt: skip


@pytest.mark.parametrize("fuse", ["full", "none"])
@pytest.mark.parametrize("path", CALLS)
def test_results_are_those_of_the_program(path, fuse, tmp_path):
    text, (arguments, sizes) = graph(path), CALLS[path]
    if path == "late_size/in_loop.inlay" and fuse == "full":
        pytest.skip("its sizes need no memory")
    late = exported(text, tmp_path, "late", f"--fuse={fuse}")
    wanted = inlay.compile(text, fuse="none")(*arguments)
    code, results, begun = late(arguments, **sizes)
    assert code == 0
    for result, value in zip(results, wanted if isinstance(wanted, tuple) else (wanted,), strict=True):
        np.testing.assert_allclose(result, value, rtol=1e-13)
    assert begun[0] == 1
    assert begun[-1] == (7 if "in_loop" in path else 1)


def test_a_check_of_a_late_size_fails_as_everywhere(tmp_path):
    late = exported(graph("late_size_checked.inlay"), tmp_path, "late")
    arguments, sizes = CALLS["late_size_checked.inlay"]
    code, results, _ = late([*arguments[:2], np.array([0, 0, -1]), *arguments[3:]], **sizes)
    assert code == 1
    assert results[0] is None, "its size is not known, so nobody was asked for it"


def test_upper_bounds(tmp_path):
    late = exported(POSITIVE, tmp_path, "late", "--upper", "n=6", "--upper", "k=2")
    assert "memory: arena " in late.header
    assert " for n up to 6, k up to 2\n" in late.header
    code, (sums, count), begun = late([np.array([3.0, -1, 2, 0])], n=4)
    assert (code, count, begun) == (0, 2, [1, 1])
    np.testing.assert_array_equal(sums, [-3 * 2, -3 * 2 - 2 * 3])
    assert late([np.array([3.0, 1, 2, 0])], n=4)[0] == 4  # k is 3
    assert late([np.ones(7)], n=7)[0] == 4
