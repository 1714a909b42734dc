#include "explain/profile.h"

#include <gtest/gtest.h>

namespace inlay::explain {
namespace {

ProfileRow kernel_row(std::string formula, double seconds) {
  ProfileRow row = {.summary = {.kind = "kernel", .title = "@k0 over n", .makes = {"y"}, .formulas = {formula}}};
  row.seconds = row.least_seconds = seconds;
  row.passes = 1;
  row.read_bytes = int64_t{8000};
  row.written_bytes = int64_t{0};
  row.flops = int64_t{1000};
  return row;
}

std::string line_of(const ProfileRow& row, std::size_t width) {
  const std::string text = table({.rows = {row}, .calls = 1, .total = 1, .bandwidth = 1}, width);
  const std::size_t end = text.size() - 1, begin = text.rfind('\n', end - 1) + 1;
  return text.substr(begin, end - begin);
}

TEST(ProfileTable, StepsStandByTheirTime) {
  ProfileRow call = {.summary = {.kind = "host call", .formulas = {"h = smooth(y, 2)"}},
                     .note = "host call, runs as Python",
                     .lines = "model.py:7"};
  call.seconds = 1.5e-3;
  call.least_seconds = 999e-6;
  call.passes = 2.5;
  call.read_bytes = int64_t{20} << 20;
  call.written_bytes = "8*k";
  const Profile profile = {.name = "a function of x",
                           .rows = {kernel_row("y = 2*x", 4e-7), call},
                           .calls = 3,
                           .total = 2e-3,
                           .least = 1.25e-3,
                           .bandwidth = 40};
  EXPECT_EQ(table(profile), R"(a function of x
2.00 ms a call, 1.25 ms at least, of 3 calls: 1.50 ms in steps, 500 us outside of them
one thread moves 40.0 GB/s to and from this machine's memory

 share     time  passes   reads   writes  GB/s  of peak  GFlop/s  step
75.0 %  1.50 ms     2.5  20 MiB  by pass                          h = smoo ... (host call, runs as Python)  [model.py:7]
 0.0 %   400 ns       1  8000 B      0 B  20.0     50 %     2.50  @k0 over n: y = 2*x
)");
}

TEST(ProfileTable, SaysHowManyThreadsWereAtWork) {
  Profile profile = {.name = "f", .rows = {kernel_row("y = 2*x", 0.5)}, .calls = 1, .total = 1, .bandwidth = 1};
  EXPECT_EQ(table(profile).find("threads  "), std::string::npos);
  profile.rows.push_back(kernel_row("z = 3*x", 0.25));
  profile.rows[1].threads = 4;
  profile.rows[1].balance = 0.9;
  const std::string text = table(profile);
  const std::string lines = text.substr(text.find("\n\n") + 2);
  EXPECT_EQ(lines, R"( share    time    threads   reads  writes  GB/s  of peak  GFlop/s  step
50.0 %  500 ms          1  8000 B     0 B  0.00      0 %     0.00  @k0 over n: y = 2*x
25.0 %  250 ms  3.60 of 4  8000 B     0 B  0.00      0 %     0.00  @k0 over n: z = 3*x
)");
}

TEST(ProfileTable, WhatDoesNotFitIsToldShorter) {
  ProfileRow row = kernel_row("y = 2*x + 1", 1);
  row.note = "copies x: it is needed later";
  const std::string whole = line_of(row, 120);
  const auto begin = whole.find("@k0");
  EXPECT_EQ(whole.substr(begin), "@k0 over n: y = 2*x + 1 (copies x: it is needed later)");
  EXPECT_EQ(line_of(row, begin + 53).substr(begin), "@k0 over n: y = 2*x + 1 (copies x)");
  EXPECT_EQ(line_of(row, begin + 33).substr(begin), "@k0 over n: y = 2*x + 1");
  EXPECT_EQ(line_of(row, begin + 22).substr(begin), "@k0 over n: makes y");
  row.summary.makes = {"\xc3\xa9t\xc3\xa9"};  // two bytes are one character
  EXPECT_EQ(line_of(row, begin + 21).substr(begin), "@k0 over n: makes \xc3\xa9t\xc3\xa9");
  EXPECT_EQ(line_of(row, begin + 16).substr(begin), "@k0 over n: ...");
}

TEST(ProfileTable, ManyStepsAreSummedUp) {
  Profile profile = {.name = "f", .calls = 1, .total = 1, .bandwidth = 1};
  for (int i = 0; i < 33; ++i) profile.rows.push_back(kernel_row(str("y = ", i), i < 30 ? 0.02 : 0.01));
  const std::string text = table(profile);
  EXPECT_EQ(std::ranges::count(text, '\n'), 5 + 30 + 1);
  EXPECT_TRUE(text.ends_with("and 3 steps that take less time, 3.0 % of all of it\n")) << text;
}

TEST(ProfileTable, SaysWhatThereIsWithoutSteps) {
  EXPECT_EQ(table({.name = "f", .calls = 1, .total = 2, .least = 1, .bandwidth = 1}),
            "f\n2.00 s a call, 1.00 s at least, of 1 call: 0 ns in steps, 2.00 s outside of them\n"
            "one thread moves 1.0 GB/s to and from this machine's memory\n");
}

TEST(ProfileRow, HasRatesOfWhatIsKnown) {
  ProfileRow row = kernel_row("y = 2*x", 4e-7);
  EXPECT_DOUBLE_EQ(*row.bandwidth(), 20);
  EXPECT_DOUBLE_EQ(*row.flop_rate(), 2.5);
  row.flops = int64_t{0};
  EXPECT_FALSE(row.flop_rate());
  row.flops = "8*k";
  EXPECT_FALSE(row.flop_rate());
  row.flops.reset();
  EXPECT_FALSE(row.flop_rate());
  row.written_bytes = "8*k";
  EXPECT_FALSE(row.bandwidth());
  row.read_bytes = row.written_bytes = int64_t{0};
  EXPECT_FALSE(row.bandwidth());
}

TEST(ShortBytes, AreWholeFromTenOnUp) {
  EXPECT_EQ(short_bytes_text(1), "1 byte");
  EXPECT_EQ(short_bytes_text(10239), "10239 bytes");
  EXPECT_EQ(short_bytes_text(10240), "10 KiB");
  EXPECT_EQ(short_bytes_text((int64_t{10} << 20) - 1), "10240 KiB");
  EXPECT_EQ(short_bytes_text(int64_t{150} << 30), "150 GiB");
}

}  // namespace
}  // namespace inlay::explain
