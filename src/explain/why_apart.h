#pragma once
// Why kernels that have data in common are not one. Found in the finished program, and only for who asks, by asking the
// rules of the passes that join kernels once more: Note [Reasons of kernels].
#include "fuse/fuse.h"
#include "kernel/caps.h"
#include "kernel/kernel.h"
#include "transform/apart.h"

namespace inlay::explain {

using transform::ApartFor;

/// "other-axes"
std::string_view apart_for_name(ApartFor why);

struct Apart {
  kernel::StepId first, second;  // kernels, in the order of running
  kernel::BufferId shared;       // that both touch; where a number is handed on, what the second reads
  ApartFor why = ApartFor::order;
  std::string what;       // that the reason is about
  std::string_view help;  // what who wrote the program can do so that they are one; empty where that is nothing

  /// "other-axes: one goes over [n, m], the other over [m]".
  std::string text() const;
};

/// Each kernel with those before it whose results it reads (at once, or by way of 0-d arithmetic), and with the last
/// one that read the same array. Takes time in proportion to what the kernels touch.
std::vector<Apart> why_apart(const kernel::KernelProgram& program, const kernel::BackendCaps& caps, fuse::Mode mode);

}  // namespace inlay::explain
