#include "runtime/result_place.h"

namespace inlay::runtime {

const char* why_not_written_at(const Bytes& place, const TensorSpec& result, std::span<const Bytes> arguments,
                               const Bytes* taken, bool some_are_late) {
  if (!result.written_last || some_are_late) return "would be written before the last step that can fail";
  if (result.taken_param >= 0 && (taken == nullptr || taken->begin != place.begin)) {
    return "is not the donated argument whose bytes the result takes over";
  }
  const bool meets = std::ranges::any_of(arguments, [&](const Bytes& it) { return &it != taken && it.meet(place); });
  return meets ? "shares bytes with an argument" : nullptr;
}

}  // namespace inlay::runtime
