#pragma once
// Callbacks that decide where working memory lies and which values share bytes (CompileOptions).
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace inlay {

/// A storage that needs a place in the arena: `size_bytes` at a multiple of `alignment_bytes`, live during the ticks
/// [begin, end) of the program.
struct StorageToPlace {
  std::string name;  // of the first value that lies there
  int64_t size_bytes = 0, alignment_bytes = 0;
  int32_t begin = 0, end = 0;
};

/// Returns the offset of each storage in the arena, in bytes. The answer is verified: Error(wrong_plan) names the
/// storages that overlap.
using PlannerFunction = std::function<std::vector<int64_t>(std::span<const StorageToPlace> storages)>;

/// Whether two values may share bytes where the rule allows it (docs/memory.md). never: they are kept apart.
/// even_if_larger: they may share even if the arena grows by it. No answer makes values share if the results would be
/// wrong.
enum class MayShare : uint8_t { by_rule, never, even_if_larger };

/// Asked at each step where `value` could take over the bytes of `operand`, or `operand` could be made in the bytes of
/// `value`. `step` is "@k1", "cholesky", "a copy", ...; all names are those that `explain` shows.
using SharingFunction =
    std::function<MayShare(const std::string& step, const std::string& value, const std::string& operand)>;

}  // namespace inlay
