#pragma once
// What a program costs in structure: what `explain` shows and what tests count.
//
// A fusion or an in-place write that is lost still computes the right numbers; these counts do not stay the same.
// Elements are expressions over sizes ("reads 2*n, writes n + 1"), so they cannot be had by a better guess of n.
#include "kernel/kernel.h"

namespace inlay::kernel {

struct KernelCounts {
  int kernels = 0;  // but 0-d arithmetic
  int stages = 0;
  int loads = 0, stores = 0, folds = 0;  // statements
  int gathers = 0, scatters = 0;         // those loads, and stores and folds, that go through an index
  int ops = 0;                           // scalar ops and casts
  /// Elements of memory that kernels load and store; one-element values in registers and literals do not count. A map
  /// without an index counts the elements that it touches, once for each stage; through an index it counts points.
  /// A `fill` start writes its buffer. A `copy` start counts nothing: only the plan knows whether bytes move.
  Dim reads, writes;
  Dim read_bytes, written_bytes;  // of the same elements
  /// Points that vectors of 64 bytes take at a time in the narrowest loop: by the widest element of what changes from
  /// point to point, and no more than there are. 0 where there is no loop.
  int width = 0;
  int copies = 0, library_calls = 0, host_calls = 0, size_checks = 0;  // steps
  int loops = 0, conds = 0;                                            // regions; what stands in them counts once
};

/// How long the body of the stage's loop counts as: what is computed, folded and stored (BackendCaps::max_body_ops).
int body_length(const Stage& stage);

KernelCounts count(const KernelProgram& program);
KernelCounts count(const KernelProgram& program, const Kernel& kernel);

}  // namespace inlay::kernel
