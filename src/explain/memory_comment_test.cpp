#include "explain/memory_comment.h"

#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/error.h"

namespace inlay::explain {
namespace {

using testing::HasSubstr;
using testing::Not;

/// Two segments of which each has a value.
MemoryTable example() {
  return {.arena_bytes = 192,
          .lower_bound_bytes = 192,
          .rest = " for n up to 8",
          .num_segments = 2,
          .rows = {{.step = "@k0",
                    .value = "a",
                    .type = "f64[8]",
                    .storage = "s0",
                    .at = "0",
                    .bytes = "64",
                    .begin = 1,
                    .end = 4},
                   {.step = "a copy",
                    .value = "b",
                    .type = "f64[n, 2]",
                    .storage = "s2",
                    .segment = 1,
                    .at = "64",
                    .bytes = "64",
                    .begin = 3,
                    .end = 6,
                    .reason = "takes over x"},
                   {.step = "@k1",
                    .value = "r",
                    .type = "f64[n]",
                    .storage = "out0",
                    .at = "+0",
                    .bytes = "8*n",
                    .begin = 5,
                    .end = 7}},
          .notes = {"copy a -> r at @k1: a is also read by @k2"}};
}

MemoryTable read_again(const MemoryTable& map) { return read_memory_comment("int x;\n" + memory_comment(map), "f.h"); }

std::string failure(const std::function<void()>& of) {
  try {
    of();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing failed";
}

TEST(MemoryComment, IsReadAgain) {
  EXPECT_EQ(read_again(example()), example());
  MemoryTable symbolic = example();
  symbolic.arena_bytes = symbolic.lower_bound_bytes = std::nullopt;
  symbolic.rest = "at most 8*n bytes and alignment";
  symbolic.num_segments = 1;
  symbolic.rows = {symbolic.rows[2]};
  EXPECT_EQ(read_again(symbolic), symbolic);
  symbolic.rows.clear();
  EXPECT_EQ(read_again(symbolic), symbolic);
}

TEST(MemoryComment, HasNamesThatEndNoCommentAndNoColumn) {
  MemoryTable map = example();
  map.rows[0].value = "*/ int y; /*/";
  map.rows[1].value = "  two  blanks\nand\ta line ";
  map.rows[2].value = "";
  map.notes[0] = "copy */";
  const std::string text = memory_comment(map);
  EXPECT_EQ(text.find("*/"), text.size() - 2);
  EXPECT_EQ(text.rfind("/*"), 0);
  const MemoryTable again = read_again(map);
  EXPECT_EQ(again.rows[0].value, "* / int y; / * /");
  EXPECT_EQ(again.rows[1].value, "two blanks and a line");
  EXPECT_EQ(again.rows[2].value, "?");
}

TEST(MemoryComment, SaysWhichLineIsWrong) {
  const auto said = [](const MemoryTable& map) { return failure([&] { read_again(map); }); };
  MemoryTable map = example();
  map.rows[1].bytes = "129";  // with the 64 bytes of the other segment there is no room for them
  EXPECT_THAT(said(map), HasSubstr("b does not lie in the arena"));
  EXPECT_THAT(said(map), HasSubstr("f.h:10"));
  map.rows[1].bytes = "9223372036854775807";
  EXPECT_THAT(said(map), HasSubstr("b does not lie in the arena"));
  map.rows[1].bytes = "9223372036854775808";
  EXPECT_THAT(said(map), Not(HasSubstr("internal")));
  EXPECT_THAT(failure([] { read_memory_comment("/* a header */", "f.h"); }), HasSubstr("this has no plan of memory"));
}

TEST(MemoryComment, DrawsWhatNoOffsetIsKnownOf) {
  MemoryTable map = example();
  map.num_segments = 3;
  for (const int segment : {0, 1}) {
    map.rows[segment].at = "+0";
    map.rows[segment].bytes = "9223372036854775807";
  }
  map.rows[2] = {
      .step = "@k1", .value = "r", .type = "f64[8]", .storage = "s1", .segment = 2, .at = "0", .bytes = "64"};
  const Page page = memory_page(read_again(map), "f.h");
  ASSERT_EQ(page.buffers.size(), 1U);
  EXPECT_EQ(page.buffers[0].offset, 0);
}

TEST(MemoryComment, IsDrawnWithTheSegmentsAboveEachOther) {
  const Page page = memory_page(example(), "f.h");
  ASSERT_EQ(page.buffers.size(), 2U);
  EXPECT_EQ(page.buffers[0].offset, 0);
  EXPECT_EQ(page.buffers[1].offset, 64 + 64);
  ASSERT_EQ(page.rows.size(), 1U);
  EXPECT_TRUE(page.rows[0].is_result);
}

}  // namespace
}  // namespace inlay::explain
