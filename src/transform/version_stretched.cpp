#include "transform/version_stretched.h"

#include <algorithm>

#include "kernel/dim_proof.h"

namespace inlay::transform {

using kernel::Stage;
using kernel::Statement;

namespace {

/// Each size once.
std::vector<Dim> stretching_sizes(const Stage& stage) {
  std::vector<Dim> out;
  for (const Statement& s : stage.statements) {
    for (const Dim& size : kernel::stretching_sizes(s.map)) {
      if (std::ranges::find(out, size) == out.end()) out.push_back(size);
    }
  }
  return out;
}

/// The stage where the sizes are `value`, over `extent` points of its first axis.
Stage version(Stage stage, std::span<const Dim> sizes, int64_t value, Dim extent) {
  for (Statement& s : stage.statements) s.map = where(std::move(s.map), sizes, value);
  stage.axes[0].extent = std::move(extent);
  return stage;
}

void add_versions(kernel::Kernel& kernel, LoopPassContext& context) {
  std::vector<Stage> out;
  for (Stage& stage : kernel.stages) {
    const std::vector<Dim> sizes = stretching_sizes(stage);
    const bool has_versions =
        !sizes.empty() && !stage.axes.empty() && !kernel::where(stage.axes[0].extent, sizes, 1).is(0);
    if (!has_versions || !context.fires()) {
      out.push_back(std::move(stage));
      continue;
    }
    const Dim all = stage.axes[0].extent, plain = all * product(sizes);
    out.push_back(version(stage, sizes, 1, plain));
    if (sizes.size() == 1) {
      out.push_back(version(std::move(stage), sizes, 0, all - plain));
    } else {
      out.push_back(std::move(stage));
      out.back().axes[0].extent = all - plain;
    }
  }
  kernel.stages = std::move(out);
}

}  // namespace

kernel::KernelProgram version_stretched(kernel::KernelProgram program, LoopPassContext& context) {
  for (kernel::Step& step : program.steps) {
    if (auto* kernel = std::get_if<kernel::Kernel>(&step)) add_versions(*kernel, context);
  }
  return program;
}

}  // namespace inlay::transform
