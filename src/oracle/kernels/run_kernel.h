#pragma once
// Runs one Kernel of a program point by point; the part of the evaluator that knows loops.
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "oracle/kernels/evaluate.h"

namespace inlay::kernel {

/// A buffer for the sizes of this run.
struct View {
  std::string_view name;
  DType dtype = DType::f64;
  std::vector<int64_t> dims;
  std::byte* data = nullptr;

  int64_t num_elements() const;
  int64_t size_bytes() const;
};

using Views = std::function<View(BufferId buffer)>;

std::optional<Failure> run_kernel(const Kernel& kernel, std::span<const int64_t> symbols, const Views& view_of,
                                  Elided elided);

}  // namespace inlay::kernel
