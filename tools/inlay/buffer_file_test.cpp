#include "buffer_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/error.h"

namespace inlay::tool {
namespace {

using ::testing::ElementsAre;

std::string failure(std::string_view text) {
  try {
    parse_buffers(text, "b.csv");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_file);
    return str(error.diagnostic().location.text, ": ", error.diagnostic().message);
  }
  return "";
}

std::vector<std::string> ids(std::string_view text) {
  std::vector<std::string> out;
  for (const BufferRow& row : parse_buffers(text, "b.csv")) out.push_back(row.id);
  return out;
}

TEST(BufferFile, HasARowForEachBuffer) {
  const std::vector<BufferRow> rows = parse_buffers("id,lower,upper,size\na,0,2,8\nb,1,3,16\n", "b.csv");
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[1].id, "b");
  EXPECT_EQ(rows[1].lower, 1);
  EXPECT_EQ(rows[1].upper, 3);
  EXPECT_EQ(rows[1].size, 16);
  EXPECT_EQ(rows[1].alignment, 1);
  EXPECT_EQ(rows[1].offset, -1);
  EXPECT_EQ(rows[1].line, 3);
}

TEST(BufferFile, TakesColumnsInAnyOrderAndTwoMore) {
  const auto rows = parse_buffers("offset,size,upper,lower,alignment,id\n,8,2,0,,a\n64,8,9,0,32,b\n", "b.csv");
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].offset, -1);
  EXPECT_EQ(rows[0].alignment, 1);
  EXPECT_EQ(rows[1].offset, 64);
  EXPECT_EQ(rows[1].alignment, 32);
  EXPECT_EQ(rows[1].upper, 9);
}

TEST(BufferFile, TakesWhatEditorsAndSpreadsheetsWrite) {
  EXPECT_THAT(ids("\xef\xbb\xbfid,lower,upper,size\r\na,0,2,8\r\nb,1,3,8"), ElementsAre("a", "b"));
  EXPECT_THAT(ids("\"id\",\"lower\",\"upper\",\"size\"\n\"a,1\",0,2,8\n\"say \"\"b\"\"\",1,3,\"8\"\n"),
              ElementsAre("a,1", "say \"b\""));
  EXPECT_THAT(ids("\nid, lower, upper, size\n\n a , 0 , 2 , 8 \n\n\n"), ElementsAre("a"));
  EXPECT_THAT(ids("id,lower,upper,size\n"), ElementsAre());
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
  EXPECT_EQ(failure(head + "a,0,2,8\na,4,6,8\n"), "b.csv:3: id a stands in line 2 too");
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
            "b.csv:4: c is pinned to [4, 12), where a of line 2 lies at the same time");
  EXPECT_EQ(failure(pinned + "a,0,2,8,0\nc,2,3,8,4\n"), "");
  const std::string head = "id,lower,upper,size\n", most = "9223372036854775807";
  EXPECT_EQ(failure(head + "a,0,2," + most + "\nb,1,3,1\n"),
            "b.csv:3: the sizes of what lives at 1 do not fit in 63 bits together");
  EXPECT_EQ(failure(head + "a,0,2," + most + "\nb,2,3,1\n"), "");
}

TEST(BufferFile, KeepsTheOrderOfTimesThatAreLarge) {
  const auto storages = storages_of(
      parse_buffers("id,lower,upper,size\na,-9223372036854775808,7000000000,8\nb,0,9223372036854775807,8\n", "b.csv"));
  EXPECT_EQ(storages[0].live, (memory::Lifetime{0, 2}));
  EXPECT_EQ(storages[1].live, (memory::Lifetime{1, 3}));
}

}  // namespace
}  // namespace inlay::tool
