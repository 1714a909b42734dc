#include "compiler/sample_sizes.h"

#include <algorithm>
#include <array>
#include <optional>
#include <random>

#include "kernel/sizes.h"
#include "support/error.h"

namespace inlay {
namespace {

constexpr int kAttempts = 4000;
constexpr std::array<int64_t, 12> kSizes = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 37};

bool holds(const kernel::SizeCheck& check, std::span<const int64_t> symbols) {
  const int64_t left = check.left.evaluate(symbols), right = check.right.evaluate(symbols);
  return check.relation == DimCheck::Relation::equal ? left == right : left <= right;
}

/// Is an array that is filled at the running value of a masked fold no longer than the stage has points?
bool can_be_filled(const kernel::Stage& stage, std::span<const int64_t> symbols) {
  int64_t points = 1;
  for (const kernel::Axis& axis : stage.axes) points *= axis.extent.evaluate(symbols);
  return std::ranges::all_of(stage.statements, [&](const kernel::Statement& s) {
    return !s.predicate.valid() || std::ranges::all_of(s.map.subscripts, [&](const kernel::Subscript& subscript) {
      return !subscript.index || subscript.index->bounds != kernel::Bounds::proved ||
             subscript.index->extent.evaluate(symbols) <= points;
    });
  });
}

bool fit(const kernel::KernelProgram& program, std::span<const int64_t> symbols) {
  try {
    for (const kernel::Buffer& buffer : program.buffers) (void)size_bytes(buffer).evaluate(symbols);
    for (const std::vector<Dim>& sizes : kernel::sizes_to_test(program)) {
      for (const Dim& size : sizes) (void)size.evaluate(symbols);
    }
    return true;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::size_overflow) throw;
    return false;
  }
}

bool accepted(const kernel::KernelProgram& program, std::span<const int64_t> symbols) {
  if (!fit(program, symbols)) return false;
  for (const kernel::Buffer& buffer : program.buffers) {
    for (const Dim& dim : buffer.dims) {
      if (dim.evaluate(symbols) < 0) return false;
    }
  }
  return std::ranges::all_of(program.steps, [&](const kernel::Step& step) {
    const auto* check = std::get_if<kernel::SizeCheck>(&step);
    const auto* kernel = std::get_if<kernel::Kernel>(&step);
    if (kernel)
      return std::ranges::all_of(kernel->stages, [&](const auto& stage) { return can_be_filled(stage, symbols); });
    return !check || holds(*check, symbols);
  });
}

/// Returns the longest tile of any kernel; 1 if none is tiled.
int64_t longest_tile(const kernel::KernelProgram& program) {
  int64_t longest = 1;
  for (const kernel::Step& step : program.steps) {
    if (const auto* kernel = std::get_if<kernel::Kernel>(&step)) longest = std::max(longest, kernel->tile);
  }
  return longest;
}

/// Does every tiled kernel have more than one tile? (Kernels of static sizes count as they are.)
bool has_second_tiles(const kernel::KernelProgram& program, std::span<const int64_t> symbols) {
  return std::ranges::all_of(program.steps, [&](const kernel::Step& step) {
    const auto* kernel = std::get_if<kernel::Kernel>(&step);
    if (!kernel || !kernel->is_tiled() || kernel->outer.back().extent.is_constant()) return true;
    return kernel->outer.back().extent.evaluate(symbols) > kernel->tile;
  });
}

/// Returns sizes at which every kernel has a second tile: most are still small, since a verifier is slow.
std::optional<std::vector<int64_t>> sizes_of_second_tiles(const kernel::KernelProgram& program, std::mt19937& random) {
  const auto longest = static_cast<uint32_t>(longest_tile(program));
  std::vector<int64_t> symbols(program.symbols.size());
  for (int attempt = 0; longest > 1 && attempt < kAttempts; ++attempt) {
    for (int64_t& symbol : symbols) symbol = random() % 4 == 0 ? longest + 1 + random() % 9 : 1 + random() % 3;
    if (has_second_tiles(program, symbols) && accepted(program, symbols)) return symbols;
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::vector<int64_t>> sample_sizes(const kernel::KernelProgram& program) {
  std::vector<std::vector<int64_t>> out;
  std::vector<int64_t> symbols(program.symbols.size(), 0);
  if (accepted(program, symbols)) out.push_back(symbols);
  if (symbols.empty()) return out;
  std::mt19937 random(1);
  for (int attempt = 0; attempt < kAttempts && out.size() < 3; ++attempt) {
    for (int64_t& symbol : symbols) symbol = kSizes[random() % kSizes.size()];
    if (accepted(program, symbols)) out.push_back(symbols);
  }
  if (auto longer = sizes_of_second_tiles(program, random)) out.push_back(std::move(*longer));
  return out;
}

}  // namespace inlay
