#pragma once
// A say in where working memory lies, and in what shares bytes (CompileOptions).
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace inlay {

/// Working memory that has to lie somewhere in the arena: `size_bytes`, at a multiple of `alignment_bytes`, while the
/// program is at ticks [begin, end).
struct StorageToPlace {
  std::string name;  // of the value that is the first to lie there
  int64_t size_bytes = 0, alignment_bytes = 0;
  int32_t begin = 0, end = 0;
};

/// Where each begins. What it says is proved: Error(wrong_plan) names what overlaps.
using PlannerFunction = std::function<std::vector<int64_t>(std::span<const StorageToPlace> storages)>;

/// May two values share bytes where the rule allows it (docs/memory.md)? never: they are kept apart. even_if_larger:
/// also where the arena might grow by it. Neither makes anything share that would compute wrong numbers.
enum class MayShare : uint8_t { by_rule, never, even_if_larger };

/// `step`: where `value` takes over the bytes of `operand`, or the operand is made in those of the value: "@k1",
/// "cholesky", "a copy"; names as `explain` shows them.
using SharingFunction =
    std::function<MayShare(const std::string& step, const std::string& value, const std::string& operand)>;

}  // namespace inlay
