#include "memory/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace inlay::memory {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Page three_buffers() {
  return {
      .title = "three",
      .arena_bytes = 24,
      .lower_bound_bytes = 24,
      .buffers =
          {{.name = "a", .type = "f64[1]", .storage = "s0", .bytes = 8, .offset = 0, .begin = 1, .end = 4},
           {.name = "b", .storage = "s1", .reason = "exp reads it", .bytes = 16, .offset = 8, .begin = 3, .end = 8},
           {.name = "c", .storage = "s1", .reason = "takes over b", .bytes = 16, .offset = 8, .begin = 5, .end = 8}},
      .steps = {"@k0", "@k1", "@k2", "@k3"}};
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

TEST(Page, ShowsEachBufferAndThePeak) {
  const std::string html = page_html(three_buffers());
  EXPECT_THAT(html, HasSubstr("<title>three</title>"));
  EXPECT_THAT(html, HasSubstr("3 buffers in 24 bytes; no layout needs less than 24. This one is as small as can be."));
  // Time 1 to 8 across 1000, 24 bytes up 480.
  EXPECT_THAT(html, HasSubstr("<rect x=\"0.00\" y=\"320.00\" width=\"428.57\" height=\"160.00\""));
  EXPECT_THAT(html, HasSubstr("data-name=\"b\" data-bytes=\"16\" data-offset=\"8\" data-lives=\"[3, 8)\" "
                              "data-storage=\"s1\" data-reason=\"exp reads it\""));
  EXPECT_THAT(html, HasSubstr("the peak, at 3 (@k1)"));
  const std::size_t largest = html.find("<td>b</td>"), other = html.find("<td>a</td>");
  EXPECT_LT(largest, other);
  EXPECT_NE(other, std::string::npos);
  EXPECT_EQ(html.find("<td>c</td>"), std::string::npos);  // it begins later
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
  const std::string html = page_html(page);
  EXPECT_THAT(html, HasSubstr("<h1>a&lt;b&gt;&amp;c</h1>"));
  EXPECT_THAT(html, HasSubstr("data-name=\"&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;\""));
  EXPECT_THAT(html, Not(HasSubstr("<script>alert")));
}

TEST(Page, MayBeEmpty) {
  const std::string html = page_html({.title = "nothing"});
  EXPECT_THAT(html, HasSubstr("0 buffers in 0 bytes"));
  EXPECT_THAT(html, HasSubstr("</html>"));
}

}  // namespace
}  // namespace inlay::memory
