#include "buffer_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/error.h"

namespace inlay::tool {
namespace {

using ::testing::ElementsAre;

std::string failure(std::string_view text) {
  try {
    const BufferFile file = parse_buffers(text, "b.csv");
    check(file, file.pools);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_file);
    return str(error.diagnostic().location.text, ": ", error.diagnostic().message);
  }
  return "";
}

std::vector<std::string> ids(std::string_view text) {
  std::vector<std::string> out;
  for (const memory::pools::Buffer& buffer : parse_buffers(text, "b.csv").buffers) out.push_back(buffer.name);
  return out;
}

TEST(BufferFile, HasARowForEachBuffer) {
  const auto buffers = parse_buffers("id,lower,upper,size\na,0,2,8\nb,1,3,16\n", "b.csv").buffers;
  ASSERT_EQ(buffers.size(), 2u);
  EXPECT_EQ(buffers[1], (memory::pools::Buffer{.name = "b", .lower = 1, .upper = 3, .size = 16}));
}

TEST(BufferFile, TakesColumnsInAnyOrderAndSixMore) {
  const auto buffers = parse_buffers(
                           "offset,size,upper,lower,alignment,id,cost,pool,entry,base\n,8,2,0,,a,7,fast | slow,f,\n"
                           "64,8,9,0,32,b,,,,\n0,4,9,0,,c,,,,b\n",
                           "b.csv")
                           .buffers;
  ASSERT_EQ(buffers.size(), 3u);
  EXPECT_EQ(buffers[0], (memory::pools::Buffer{
                            .name = "a", .upper = 2, .size = 8, .pools = {"fast", "slow"}, .cost = 7, .entry = "f"}));
  EXPECT_EQ(buffers[1], (memory::pools::Buffer{.name = "b", .upper = 9, .size = 8, .alignment = 32, .offset = 64}));
  EXPECT_EQ(buffers[2], (memory::pools::Buffer{.name = "c", .upper = 9, .size = 4, .offset = 0, .base = "b"}));
}

TEST(BufferFile, TakesJson) {
  const BufferFile file = parse_buffers(R"( {"peak": 3, "pools": [{"name": "fast", "capacity": 64}, {"name": "slow"}],
    "buffers": [{"id": "a", "lower": 0, "upper": 2, "size": 8, "alignment": 4, "pool": ["slow", "fast"], "cost": 3,
                 "entry": "f", "at": 12},
                {"id": "b", "lower": 1, "upper": 3, "size": 4, "base": "a", "offset": 4, "pool": null, "entry": "f"}]})",
                                        "b.json");
  ASSERT_EQ(file.pools.size(), 2u);
  EXPECT_EQ(file.pools[0].name, "fast");
  EXPECT_EQ(file.pools[0].capacity_bytes, 64);
  EXPECT_EQ(file.pools[1].capacity_bytes, -1);
  ASSERT_EQ(file.buffers.size(), 2u);
  EXPECT_EQ(
      file.buffers[0],
      (memory::pools::Buffer{
          .name = "a", .upper = 2, .size = 8, .alignment = 4, .pools = {"slow", "fast"}, .cost = 3, .entry = "f"}));
  EXPECT_EQ(
      file.buffers[1],
      (memory::pools::Buffer{.name = "b", .lower = 1, .upper = 3, .size = 4, .offset = 4, .base = "a", .entry = "f"}));
}

TEST(BufferFile, SaysWhatIsWrongInJson) {
  const auto one = [](const std::string& more) {
    return failure(R"({"pools": [{"name": "p"}], "buffers": [{"id": "a", "lower": 0, "upper": 2, "size": 8)" + more +
                   "}]}");
  };
  EXPECT_EQ(one(""), "");
  EXPECT_EQ(failure("{\n\"buffers\": [}"), "b.csv:2: this is no JSON");
  EXPECT_EQ(failure("{\"buffers\": [91e999]}"), "b.csv: a number is too large");
  EXPECT_EQ(failure("{}"), "b.csv: there is no list \"buffers\"");
  EXPECT_EQ(failure(R"({"buffers": [3]})"), "b.csv: buffers[0]: this is no object");
  EXPECT_EQ(failure(R"({"buffers": [{"lower": 0}]})"), "b.csv: buffers[0]: id is missing");
  EXPECT_EQ(failure(R"({"buffers": [{"id": "a", "lower": 0, "upper": 1}]})"), "b.csv: buffers[0]: size is missing");
  EXPECT_EQ(failure(R"({"buffers": [], "pools": 3})"), "b.csv: \"pools\" is no list");
  EXPECT_EQ(failure(R"({"buffers": [], "pools": [{"name": "p"}, {"name": "p"}]})"),
            "b.csv: pools[1]: there are two pools p");
  EXPECT_EQ(failure(R"({"buffers": [], "pools": [{"capacity": -1}]})"), "b.csv: pools[0]: capacity -1 is negative");
  EXPECT_EQ(one(R"(}, {"id": "a", "lower": 0, "upper": 2, "size": 8)"), "b.csv: buffers[1]: there are two buffers a");
  EXPECT_EQ(one(R"(, "alignment": 1.5)"), "b.csv: buffers[0]: alignment is no whole number");
  EXPECT_EQ(one(R"(, "cost": 9223372036854775808)"), "b.csv: buffers[0]: cost does not fit in 63 bits");
  EXPECT_EQ(one(R"(, "entry": 1)"), "b.csv: buffers[0]: entry is no text");
  EXPECT_EQ(one(R"(, "pool": [1])"), "b.csv: buffers[0]: pool is a list of what is no text");
  EXPECT_EQ(one(R"(, "pool": "q")"), "b.csv: buffers[0]: pool q of a is not among the pools: p");
  EXPECT_EQ(one(R"(, "offset": -8)"), "b.csv: buffers[0]: offset -8 of a is negative");
  EXPECT_EQ(one(R"(, "aligment": 8)"), "b.csv: buffers[0]: there is no aligment");
  EXPECT_EQ(one(R"(, "in": "p", "at": 0, "spilled": false)"), "");
  EXPECT_EQ(failure(R"({"buffers": [], "pools": [{"size": 3}]})"), "b.csv: pools[0]: there is no size");
}

TEST(BufferFile, TakesWhatEditorsAndSpreadsheetsWrite) {
  EXPECT_THAT(ids("\xef\xbb\xbfid,lower,upper,size\r\na,0,2,8\r\nb,1,3,8"), ElementsAre("a", "b"));
  EXPECT_THAT(ids("\"id\",\"lower\",\"upper\",\"size\"\n\"a,1\",0,2,8\n\"say \"\"b\"\"\",1,3,\"8\"\n"),
              ElementsAre("a,1", "say \"b\""));
  EXPECT_THAT(ids("\nid, lower, upper, size\n\n a , 0 , 2 , 8 \n\n\n"), ElementsAre("a"));
  EXPECT_THAT(ids("id,lower,upper,size\n"), ElementsAre());
  EXPECT_THAT(ids("id,lower,upper,size\ra,0,2,8\rb,1,3,8\r"), ElementsAre("a", "b"));
  const std::string list = R"([{"id": "a", "lower": 0, "upper": 2, "size": 8}])";
  EXPECT_THAT(ids(list), ElementsAre("a"));
  EXPECT_THAT(ids("\xef\xbb\xbf{\"buffers\": " + list + "}"), ElementsAre("a"));
}

TEST(BufferFile, SaysInWhichLineWhatIsWrong) {
  const std::string head = "id,lower,upper,size\n", more = "id,lower,upper,size,alignment,offset\n";
  EXPECT_EQ(failure(""), "b.csv:1: the file is empty");
  EXPECT_EQ(failure("\n\n"), "b.csv:1: the file is empty");
  EXPECT_EQ(failure("id,lower,upper\na,0,2\n"), "b.csv:1: column size is missing");
  EXPECT_EQ(failure("id,lower,upper,size,colour\n"), "b.csv:1: there is no column colour");
  EXPECT_EQ(failure("id,lower,upper,size,\n"), "b.csv:1: there is no column without a name");
  EXPECT_EQ(failure("id,lower,upper,size,id\n"), "b.csv:1: column id stands there twice");
  EXPECT_EQ(failure("0,0,2,8\n"), "b.csv:1: there is no column 0");
  EXPECT_EQ(failure(head + "a,0,2\n"), "b.csv:2: 3 fields, but the header has 4");
  EXPECT_EQ(failure(head + "a,0,2,8,8\n"), "b.csv:2: 5 fields, but the header has 4");
  EXPECT_EQ(failure(head + "a,0,2,8\nb,0,two,8\n"), "b.csv:3: upper two is no whole number");
  EXPECT_EQ(failure(head + "a,0,2,8.5\n"), "b.csv:2: size 8.5 is no whole number");
  EXPECT_EQ(failure(head + "a,0,,8\n"), "b.csv:2: upper is missing");
  EXPECT_EQ(failure(head + "a,3,1,8\n"), "b.csv:2: a ends at 1, before it begins at 3");
  EXPECT_EQ(failure(head + "a,0,2,-8\n"), "b.csv:2: size -8 of a is negative");
  EXPECT_EQ(failure(head + "a,0,2,9223372036854775808\n"), "b.csv:2: size 9223372036854775808 does not fit in 63 bits");
  EXPECT_EQ(failure(head + "a,0,2,8\na,4,6,8\n"), "b.csv:3: there are two buffers a");
  EXPECT_EQ(failure(head + "\"a,0,2,8\n"), "b.csv:2: a quoted field has no closing quote");
  EXPECT_EQ(failure(head + "\"a\"b,0,2,8\n"), "b.csv:2: a field goes on behind its closing quote");
  EXPECT_EQ(failure(more + "a,0,2,8,0,\n"), "b.csv:2: alignment 0 of a is less than 1");
  EXPECT_EQ(failure(more + "a,0,2,8,,-8\n"), "b.csv:2: offset -8 of a is negative");
  EXPECT_EQ(failure(more + "a,0,2,8,16,8\n"), "b.csv:2: offset 8 of a is no multiple of its alignment, 16");
  EXPECT_EQ(failure(more + "a,0,2,8,,9223372036854775800\n"), "b.csv:2: offset and size of a do not fit in 63 bits");
}

TEST(BufferFile, RefusesWhatNoPlanCanHold) {
  const std::string pinned = "id,lower,upper,size,offset\n";
  EXPECT_EQ(failure(pinned + "a,0,2,8,0\nb,0,9,8,\nc,1,3,8,4\n"),
            "b.csv:4: c is pinned to [4, 12), where a lies at the same time");
  EXPECT_EQ(failure(pinned + "a,0,2,8,0\nc,2,3,8,4\n"), "");
  const std::string pools = "id,lower,upper,size,offset,pool\n";
  EXPECT_EQ(failure(pools + "a,0,2,8,0,|p\n"), "b.csv:2: a pool has no name");
  EXPECT_EQ(failure(pools + "a,0,2,8,0,p|\n"), "b.csv:2: a pool has no name");
  const std::string head = "id,lower,upper,size\n", most = "9223372036854775807";
  EXPECT_EQ(failure(head + "a,0,2," + most + "\nb,1,3,1\n"),
            "b.csv:3: the sizes of what lives at 1 do not fit in 63 bits together");
  EXPECT_EQ(failure(head + "a,0,2," + most + "\nb,2,3,1\n"), "");
}

TEST(BufferFile, RefusesBasesThatHoldNothing) {
  const std::string head = "id,lower,upper,size,base,offset,entry,alignment\n", a = "a,0,2,8,,,,\n";
  EXPECT_EQ(failure(head + a + "b,1,3,4,a,4,,\n"), "");
  EXPECT_EQ(failure(head + a + "b,1,3,4,c,,,\n"), "b.csv:3: base c of b is no buffer");
  EXPECT_EQ(failure(head + a + "b,1,3,4,b,,,\n"), "b.csv:3: b lies in itself");
  EXPECT_EQ(failure(head + "a,0,2,8,b,,,\nb,1,3,8,a,,,\n"), "b.csv:2: a lies in itself");
  EXPECT_EQ(failure(head + a + "b,1,3,8,a,4,,\n"), "b.csv:3: b ends at 12 in its base a, which has 8 bytes");
  EXPECT_EQ(failure(head + "a,0,2,8,,,f,\nb,1,3,8,a,,g,\n"),
            "b.csv:3: b lies in a, which another entry point has for itself");
  EXPECT_EQ(failure(head + a + "b,1,3,4,a,2,,\nc,1,3,2,b,0,,4\n"),
            "b.csv:4: c begins at 2 in a, which is no multiple of its alignment, 4");
}

}  // namespace
}  // namespace inlay::tool
