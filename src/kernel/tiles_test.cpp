#include "kernel/tiles.h"

#include <gtest/gtest.h>

#include "kernel/text.h"

namespace inlay::kernel {
namespace {

Kernel kernel_of(std::string_view text) {
  const KernelProgram program =
      parse(str("program @main(x: f64[n, m] param 0, c: f64[m] output 0, r: f64[n] output 1, y: f64[n, m] output 2, "
                "t: f64[64] temporary) symbols n = x.0, m = x.1 { kernel @k0 { ",
                text, " } }"));
  return std::get<Kernel>(program.steps[0]);
}

/// The rows that are passed at a time where they have m points.
int64_t rows(std::string_view text, int64_t m) {
  const int64_t symbols[] = {1000, m};
  return rows_at_once(kernel_of(text)).evaluate(symbols);
}

constexpr std::string_view kFirst =
    "local t start fill 0.0 stage (i, j < m) { %0 = load x[i, j] : f64 "
    "fold add t[i] %0 : f64 } ";

std::string squares(std::string_view axes, std::string_view write) {
  return str("outer (i < n) by 64 ", kFirst, "stage ", axes,
             " { %0 = load x[i, j] : f64  %1 = load t[i] : f64  %2 = sub %0, %1 : f64  ", write, " } ");
}

TEST(Tiles, RowsThatSeveralStagesReadStayInTheFirstCache) {
  const std::string text = squares("(i, j < m)", "fold add r[i] %2 : f64");
  EXPECT_TRUE(folds_rows_again(kernel_of(text)));
  EXPECT_EQ(rows(text, 2), 64);
  EXPECT_EQ(rows(text, 32), 64);
  EXPECT_EQ(rows(text, 100), 20);
  EXPECT_EQ(rows(text, 1000), 2);
  EXPECT_EQ(rows(text, 100000), 1);
  EXPECT_EQ(rows(text, 0), 64);
}

TEST(Tiles, WhereTheOrderOfRowsShowsTheyArePassedAsTheKernelSays) {
  // A sum of columns, rows that are stored, rows of known length, one stage alone.
  EXPECT_EQ(rows(squares("(i, j < m)", "fold add c[j] %2 : f64"), 1000), 64);
  EXPECT_EQ(rows(squares("(i, j < m)", "store y[i, j] set %2"), 1000), 64);
  EXPECT_EQ(rows(squares("(i, j < 100)", "fold add r[i] %2 : f64"), 1000), 64);
  EXPECT_EQ(rows(str("outer (i < n) by 64 ", kFirst, "stage (i) { %0 = load t[i] : f64  store r[i] set %0 }"), 1000),
            64);
}

}  // namespace
}  // namespace inlay::kernel
