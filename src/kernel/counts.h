#pragma once
// Structural counts of a program, which `explain` shows and tests compare.
//
// A fusion or an in-place write that is lost still computes the right numbers; these counts do not stay the same.
// Elements are expressions over sizes ("reads 2*n, writes n + 1"), so they cannot be had by a better guess of n.
#include "kernel/kernel.h"

namespace inlay::kernel {

struct KernelCounts {
  int kernels = 0;  // without 0-d arithmetic
  int stages = 0;
  int loads = 0, stores = 0, folds = 0;  // statements
  int gathers = 0, scatters = 0;         // the loads, stores and folds that go through an index
  int ops = 0;                           // scalar ops and casts
  /// Elements of memory that kernels load and store, without one-element values in registers and literals. A map
  /// without an index counts the elements that it touches, once for each stage; a map with an index counts points. A
  /// `fill` start writes its buffer. A `copy` start counts nothing: only the plan knows whether bytes move.
  Dim reads, writes;
  Dim read_bytes, written_bytes;  // of the same elements
  Dim flops;                      // of kernels (kernel/flops.h)
  /// How many points a vector of 64 bytes holds in the narrowest loop, by the widest element that changes from point to
  /// point, and at most the points there are. 0 without a loop.
  int width = 0;
  int copies = 0, library_calls = 0, host_calls = 0, size_checks = 0;  // steps
  int loops = 0, conds = 0;                                            // regions; their bodies count once
};

/// Returns the length of the stage's loop body: what it computes, folds and stores (BackendCaps::max_body_ops).
int body_length(const Stage& stage);

KernelCounts count(const KernelProgram& program);
KernelCounts count(const KernelProgram& program, const Kernel& kernel);

}  // namespace inlay::kernel
