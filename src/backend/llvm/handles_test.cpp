// Opaque values: what a host call makes is its handle, which the code hands on.
#include <gtest/gtest.h>

#include "backend/llvm/compiled_test.h"

namespace inlay::llvm_backend::testing {
namespace {

/// Runs a program of one opaque parameter. Each host call makes the handle behind that of its operand.
int32_t run(const Compiled& compiled, char* given, void** outputs) {
  const void* params[] = {given};
  void* segments[1] = {};
  const int32_t stop = 0;
  InlayCall call{
      .params = params, .outputs = outputs, .segments = segments, .stop = &stop, .stop_while_writing = &stop};
  call.host_call = [](InlayCall*, int32_t, void* const* operands, const int64_t*, void** results, int64_t*) {
    results[0] = static_cast<char*>(operands[0]) + 1;
    return int32_t{INLAY_OK};
  };
  return compiled.entry()(&call);
}

TEST(OpaqueValues, AreHandles) {
  const Compiled compiled(R"(program @main(x: opaque param 0, h: opaque host, r: opaque output 0, q: opaque output 1) {
    host_call "next" 0 (x) -> h #0
    copy h -> r "an output"
    copy x -> q "an output"
    sites { #0 host-call-failed "" } })");
  char given[8];
  void* outputs[2] = {};
  ASSERT_EQ(run(compiled, given, outputs), INLAY_OK);
  EXPECT_EQ(outputs[0], given + 1);
  EXPECT_EQ(outputs[1], given);
}

/// `count` passes, of which each makes the handle that the next one begins with.
std::string loop_of(int count) {
  return str(R"(program @main(x: opaque param 0, step: i64 scalar, g: opaque host, h: opaque host, r: opaque output 0) {
    copy x -> g "the first value"
    loop step < )",
             count, R"( {
      host_call "next" 0 (g) -> h #0
      copy h -> g "the next value of g"
    }
    copy g -> r "an output"
    sites { #0 host-call-failed "" } })");
}

TEST(OpaqueValues, AreCarriedByALoop) {
  for (const int count : {0, 1, 5}) {
    const Compiled compiled(loop_of(count));
    char given[8];
    void* outputs[1] = {};
    ASSERT_EQ(run(compiled, given, outputs), INLAY_OK);
    EXPECT_EQ(outputs[0], given + count) << count;
  }
}

}  // namespace
}  // namespace inlay::llvm_backend::testing
