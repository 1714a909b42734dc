#pragma once
// Why kernels that have data in common are not one. Found in the finished program, and only for who asks: by then each
// of the decisions (which pieces share a stage, which kernels follow each other row by row) shows in what became of it.
#include "fuse/fuse.h"
#include "kernel/caps.h"
#include "kernel/kernel.h"

namespace inlay::explain {

enum class ApartFor : uint8_t {
#define APART_FOR(name, text, sentence) name,
#include "explain/apart.def"
#undef APART_FOR
};
constexpr int kNumApartFor = 0
#define APART_FOR(name, text, sentence) +1
#include "explain/apart.def"
#undef APART_FOR
    ;

/// "other-axes"
std::string_view apart_for_name(ApartFor why);

struct Apart {
  kernel::StepId first, second;  // kernels, in the order of running
  kernel::BufferId shared;       // that both touch; where a number is handed on, what the second reads
  ApartFor why = ApartFor::order;
  std::string what;  // that the reason is about

  /// "other-axes: one goes over [n, m], the other over [m]".
  std::string text() const;
};

/// Each kernel with those before it whose results it reads (at once, or by way of 0-d arithmetic), and with the last
/// one that read the same array. Takes time in proportion to what the kernels touch.
std::vector<Apart> why_apart(const kernel::KernelProgram& program, const kernel::BackendCaps& caps, fuse::Mode mode);

}  // namespace inlay::explain
