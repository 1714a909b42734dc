#include "runtime/result_place.h"

#include <gtest/gtest.h>

namespace inlay::runtime {
namespace {

char memory[64];

Bytes bytes(int begin, int end) { return {memory + begin, memory + end}; }

TEST(ResultPlace, IsWrittenWhereNothingIsReadOrKept) {
  const Bytes arguments[] = {bytes(0, 16), bytes(32, 48)};
  const TensorSpec last = {.written_last = true}, early = {}, takes = {.taken_param = 1, .written_last = true};
  const auto why = [&](const Bytes& place, const TensorSpec& result, const Bytes* taken = nullptr, bool late = false) {
    const char* text = why_not_written_at(place, result, arguments, taken, late);
    return std::string_view(text == nullptr ? "" : text);
  };
  EXPECT_EQ(why(bytes(16, 32), last), "");
  EXPECT_EQ(why(bytes(16, 33), last), "shares bytes with an argument");
  EXPECT_EQ(why(bytes(16, 32), early), "would be written before the last step that can fail");
  EXPECT_EQ(why(bytes(16, 32), last, nullptr, true), "would be written before the last step that can fail");
  EXPECT_EQ(why(bytes(32, 48), takes, &arguments[1]), "");
  EXPECT_EQ(why(bytes(16, 32), takes, &arguments[1]), "is not the donated argument whose bytes the result takes over");
  EXPECT_EQ(why(bytes(16, 32), takes), "is not the donated argument whose bytes the result takes over");
  EXPECT_EQ(why(bytes(0, 16), takes, &arguments[0]), "");
}

}  // namespace
}  // namespace inlay::runtime
