#include "explain/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "explain/page_text.h"

namespace inlay::explain {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Page three_buffers() {
  return {.title = "three",
          .arena_bytes = 24,
          .lower_bound_bytes = 24,
          .buffers =
              {{.name = "a", .type = "f64[1]", .storage = "s0", .bytes = 8, .offset = 0, .begin = 1, .end = 4},
               {.name = "b", .storage = "s1", .reason = "exp reads it", .bytes = 16, .offset = 8, .begin = 3, .end = 8},
               {.name = "c",
                .storage = "s1",
                .reason = "takes over b",
                .made_by = "kernel",
                .bytes = 16,
                .offset = 8,
                .begin = 5,
                .end = 8}},
          .steps = {{"@k0", {"a = exp(x)"}, "m.py:3"}, {"@k1"}, {"@k2"}, {"@k3"}}};
}

TEST(Page, FindsThePeak) {
  EXPECT_EQ(peak_of(three_buffers()).time, 3);
  EXPECT_EQ(peak_of(three_buffers()).bytes, 24);
  EXPECT_EQ(peak_of({}).bytes, 0);
}

// Bytes that one buffer takes over from another are no second ones.
TEST(Page, CountsSharedBytesOnce) {
  Page page = three_buffers();
  page.buffers[0].bytes = 1;
  page.buffers[0].end = 9;
  EXPECT_EQ(peak_of(page).time, 3);
  EXPECT_EQ(peak_of(page).bytes, 17);
}

TEST(Page, CountsMoreThanFitsIn64BitsWhereMuchIsShared) {
  constexpr int64_t kLarge = int64_t{1} << 62;
  Page page{.title = "t", .arena_bytes = INT64_MAX, .lower_bound_bytes = 0};
  for (int i = 0; i < 4; ++i) page.buffers.push_back({.name = "x", .bytes = kLarge, .begin = i, .end = 9});
  EXPECT_EQ(peak_of(page).bytes, kLarge);
  EXPECT_EQ(peak_of(page).time, 0);
}

TEST(Page, ShowsEachBufferAndThePeak) {
  const std::string html = page_html(three_buffers());
  EXPECT_THAT(html, HasSubstr("<title>three</title>"));
  EXPECT_THAT(html, HasSubstr("3 values in 24 bytes of working memory, the minimum that a layout can have."));
  EXPECT_THAT(html,
              HasSubstr("data-name=\"b\" data-bytes=\"16\" data-offset=\"8\" data-lives=\"step 2, @k1 to step 4, @k3\" "
                        "data-storage=\"s1\" data-reason=\"exp reads it\""));
  EXPECT_THAT(html, HasSubstr("At the peak: 24 bytes at step 2, @k1"));
  const std::size_t largest = html.find("<td>b</td>"), other = html.find("<td>a</td>");
  EXPECT_LT(largest, other);
  EXPECT_NE(other, std::string::npos);
  EXPECT_EQ(html.find("<td>c</td>"), std::string::npos);  // it begins later
}

// 4 columns across 1000 from 170 on, 24 bytes up 440 to 26. b ends where c takes its bytes over; one frame holds both.
TEST(Page, WhatTakesBytesOverIsOneBand) {
  const std::string html = page_html(three_buffers());
  EXPECT_THAT(html, HasSubstr("<rect class=\"other\" x=\"545.00\" y=\"26.00\" width=\"250.00\" height=\"293.33\" "
                              "data-name=\"b\""));
  EXPECT_THAT(html, HasSubstr("<rect class=\"kernel\" x=\"795.00\" y=\"26.00\" width=\"375.00\" height=\"293.33\" "
                              "data-name=\"c\""));
  EXPECT_THAT(html, HasSubstr("<rect class=\"band\" x=\"545.00\" y=\"26.00\" width=\"625.00\" height=\"293.33\"/>"));
  EXPECT_THAT(html, HasSubstr("takes over the bytes of the earlier one"));
}

TEST(Page, StepsThatAreNotShownHaveNoColumn) {
  Page page = three_buffers();
  page.steps[0].is_shown = false;
  page.rows = {{"x", "f64[2]", 16, false, 0, 4}, {"y", "f64[n]", std::nullopt, true, 5, 8}};
  const std::string html = page_html(page);
  EXPECT_THAT(html, HasSubstr("At the peak: 24 bytes at step 1, @k1"));
  EXPECT_THAT(html, HasSubstr("x  16 bytes</text>"));
  EXPECT_THAT(html, HasSubstr("y  f64[n]</text>"));
  EXPECT_THAT(html, Not(HasSubstr("@k0")));
}

TEST(Page, NumbersAreAsPeopleReadThem) {
  EXPECT_EQ(bytes_text(1), "1 byte");
  EXPECT_EQ(bytes_text(1023), "1023 bytes");
  EXPECT_EQ(bytes_text(1536), "1.5 KiB");
  EXPECT_EQ(exact_bytes(32768), "32 KiB (32768 bytes)");
  EXPECT_EQ(bytes_text(int64_t{3} << 30), "3 GiB");
  EXPECT_THAT(byte_ticks(65536), ::testing::ElementsAre(0, 16384, 32768, 49152, 65536));
  EXPECT_THAT(byte_ticks(0), ::testing::ElementsAre(0));
  EXPECT_EQ(byte_ticks(INT64_MAX).size(), 5U);  // without going beyond
  EXPECT_EQ(number_ticks(INT64_MIN, INT64_MAX).size(), 10U);
  EXPECT_EQ(number_ticks(INT64_MAX - 3, INT64_MAX).size(), 4U);
  EXPECT_EQ(first_characters("\xC3\xA4nderung", 2), "\xC3\xA4n");
}

TEST(Page, NeedsNothingElse) {
  const std::string html = page_html(three_buffers());
  for (const char* outside : {"http:", "https:", "src=", "href=", "@import", "url("})
    EXPECT_THAT(html, Not(HasSubstr(outside)));
}

TEST(Page, WritesAnyNameAsText) {
  Page page = three_buffers();
  page.title = "a<b>&c";
  page.buffers[0].name = "<script>alert(\"x\")</script>";
  page.lists = {{"in <place>", {"a <- b", "c"}}};
  const std::string html = page_html(page);
  EXPECT_THAT(html, HasSubstr("<h1>a&lt;b&gt;&amp;c</h1>"));
  EXPECT_THAT(html, HasSubstr("data-name=\"&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;\""));
  EXPECT_THAT(html, Not(HasSubstr("<script>alert")));
  EXPECT_THAT(html, HasSubstr("<h2>in &lt;place&gt;</h2>\n<ul>\n<li>a &lt;- b</li>\n<li>c</li>\n</ul>\n"));
  page.title =
      "a\xE2\x80\xAE"
      "b\xD8\x9C";
  EXPECT_THAT(page_html(page), HasSubstr("<h1>a\xEF\xBF\xBD"
                                         "b\xEF\xBF\xBD</h1>"));
}

TEST(Page, MayBeEmpty) {
  const std::string html = page_html({.title = "nothing"});
  EXPECT_THAT(html, HasSubstr("0 values in 0 bytes"));
  EXPECT_THAT(html, HasSubstr("</html>"));
}

}  // namespace
}  // namespace inlay::explain
