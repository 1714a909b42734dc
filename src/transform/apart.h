#pragma once
// Why rules leave two kernels with data in common as they are, in a form that costs nothing where nobody explains.
#include <optional>

#include "kernel/kernel.h"

namespace inlay::transform {

enum class ApartFor : uint8_t {
#define APART_FOR(name, text, sentence, help) name,
#include "transform/apart.def"
#undef APART_FOR
};
constexpr int kNumApartFor = 0
#define APART_FOR(name, text, sentence, help) +1
#include "transform/apart.def"
#undef APART_FOR
    ;

struct Refusal {
  ApartFor why = ApartFor::order;
  kernel::BufferId buffer = {};  // that the reason is about
  kernel::BufferId source = {};  // of whole_start: none, or what the buffer begins with
  int64_t length = 0;            // of short_rows, many_loops
  const char* pass = "";         // of pass_off
};

/// What a rule's questions say for two kernels. A pass hands none to them, and stops at the first that is answered
/// with no; who explains has all of them asked, and gets of several refusals the one that stands first in apart.def.
class WhyNot {
 public:
  void say(const Refusal& refusal) {
    if (!refusal_ || refusal.why < refusal_->why) refusal_ = refusal;
  }
  /// There are two ways, neither of which can be gone: of the one that is nearer to it.
  void say_either(const WhyNot& one, const WhyNot& other) {
    const bool is_other = !one.refusal_ || (other.refusal_ && other.refusal_->why > one.refusal_->why);
    if (const auto& nearer = is_other ? other.refusal_ : one.refusal_) say(*nearer);
  }
  /// The rule is not about such kernels.
  void forget() { refusal_.reset(); }
  const std::optional<Refusal>& refusal() const { return refusal_; }

 private:
  std::optional<Refusal> refusal_;
};

/// Are all answered with yes? With a `why` all are asked, else up to the first that is not.
template <class... Questions>
bool all_hold(const WhyNot* why, const Questions&... questions) {
  bool out = true;
  ((out = (out || why) && questions() && out), ...);
  return out;
}

}  // namespace inlay::transform
