// Every kind of statement, at sizes around a vector's, with and without AVX-512, against the evaluator.
#include <gtest/gtest.h>

#include "backend/llvm/compiled_test.h"

namespace inlay::llvm_backend::testing {
namespace {

struct Range {
  double minimum = -3, maximum = 3;
};

struct Case {
  std::string name, program;
  std::map<std::string, Range> ranges = {};  // of params, by name
  double tolerance = 1e-12;
};

std::string on_n(std::string_view buffers, std::string_view body) {
  return str("program @main(", buffers, ") symbols n = x.0 { ", body,
             " sites { #0 index-out-of-bounds \"{0} of {1}\" #1 assert-failed \"no\" } }");
}

std::vector<Case> cases() {
  const std::string xy = "x: f64[n] param 0, y: f64[n] param 1, r: f64[n] output 0";
  const std::string xg = "x: f64[n] param 0, g: i64[n] param 1, r: f64[n] output 0";
  const Range index{-5, 4};
  return {
      {"elementwise", on_n(xy, R"(kernel @k0 { stage (i < n) {
          %0 = load x[i] : f64  %1 = load y[i] : f64  %2 = mul %0, %1 : f64  %3 = exp %2 : f64  %4 = add %3, %1 : f64
          store r[i] set %4 } })")},
      {"literals, sizes, coordinates", on_n(xy, R"(kernel @k0 { stage (i < n) {
          %0 = load x[i] : f64  %1 = axis i : i64  %2 = size n + 2 : i64  %3 = add %1, %2 : i64  %4 = cast %3 : f64
          %5 = literal 2.5 : f64  %6 = mul %5, %4 : f64  %7 = add %6, %0 : f64  store r[i] set %7 } })")},
      {"slice write", on_n("x: f64[n] param 0, r: f64[n + 3] output 0", R"(kernel @k0 {
          out r start fill 1.5
          stage (i < n) { %0 = load x[i] : f64  %1 = neg %0 : f64  store r[2 + i] set %1 } })")},
      {"flip and stride", on_n("x: f64[n] param 0, r: f64[n] output 0, t: f64[2*n] output 1", R"(kernel @k0 {
          out t start fill 0.0
          stage (i < n) { %0 = load x[n - 1 - i] : f64  store r[i] set %0  store t[1 + 2*i] set %0 } })")},
      {"strided load", on_n("x: f64[n, 3] param 0, r: f64[n] output 0", R"(kernel @k0 {
          stage (i < n) { %0 = load x[i, 0] : f64  %1 = load x[i, 2] : f64  %2 = sub %0, %1 : f64 store r[i] set %2 } })")},
      {"transpose", on_n("x: f64[n, m] param 0, r: f64[m, n] output 0", R"(kernel @k0 {
          stage (j < m, i < n) { %0 = load x[i, j] : f64  store r[j, i] set %0 } })")},
      {"broadcast rows and columns",
       on_n("x: f64[n, m] param 0, c: f64[m] param 1, w: f64[n] param 2, r: f64[n, m] output 0",
            R"(kernel @k0 { stage (i < n, j < m) { %0 = load x[i, j] : f64  %1 = load c[j] : f64  %2 = load w[i] : f64
          %3 = exp %2 : f64  %4 = mul %0, %3 : f64 %5 = add %4, %1 : f64  store r[i, j] set %5 } })")},
      {"folds of rows", on_n("x: f64[n, m] param 0, w: f64[n] param 1, r: f64[n, m] output 0, s: f64[m] output 1, "
                             "p: f64[m] output 2, g: f64[m + 2] output 3, t: i64[m] output 4",
                             R"(kernel @k0 { out s start fill 0.5  out p start fill 1.0  out g start fill 2.0
          out t start fill 3
          stage (i < n, j < m) { %0 = load x[i, j] : f64  %1 = load w[i] : f64  %2 = mul %0, %1 : f64
          %3 = literal 1.0 : f64  %4 = literal 0.001 : f64  %5 = mul %4, %0 : f64  %6 = add %3, %5 : f64
          %7 = axis i : i64  store r[i, j] set %2  fold add s[j] %2 : f64  fold mul p[m - 1 - j] %6 : f64
          fold max g[2 + j] %0 : f64  fold add t[j] %7 : i64 } })")},
      {"folds of long rows", on_n("x: f64[m, n] param 0, s: f64[n] output 0, k: i64[n] output 1, g: f64[n] output 2",
                                  R"(kernel @k0 { out s start fill 0.0  out k start fill -1  out g start fill 0.0
          stage (i < m, j < n) { %0 = load x[i, j] : f64  fold add s[j] %0 : f64 } }
          kernel @k1 { out k start fill 9223372036854775807  out g start fill -inf
          stage (i < m, j < n) { %0 = load x[i, j] : f64  %1 = axis i : i64  fold argmax place k[j] %1 : i64
          fold argmax max g[j] %0 : f64 } })")},
      {"log-sum-exp of rows", on_n("x: f64[n, m] param 0, s: f64[m] output 0, g: f64[m] output 1, q: f64[m] output 2",
                                   R"(kernel @k0 { out s start fill 0.0  out g start fill -inf  out q start fill 0.0
          stage (i < n, j < m) { %0 = load x[i, j] : f64  %1 = exp %0 : f64  fold log_sum_exp sum s[j] %0 : f64
          fold log_sum_exp max g[j] %0 : f64  fold add q[j] %1 : f64 } })")},
      {"folds of short rows",
       on_n("x: f64[n, m] param 0, y: i32[n, m] param 1, w: f64[m] param 2, k: i64[n] output 0, g: f64[n] output 1, "
            "l: i32[n] output 2, h: i32[n] output 3, s: f64[n] output 4, t: f64[n] output 5, q: f64[n] output 6",
            R"(kernel @k0 { out k start fill 9223372036854775807  out g start fill -inf
          stage (i < n, j < m) { %0 = load x[i, j] : f64  %1 = axis j : i64  fold argmax place k[i] %1 : i64
          fold argmax max g[i] %0 : f64 } }
          kernel @k1 { out l start fill 2147483647  out h start fill 2147483647
          stage (i < n, j < m) { %0 = load y[i, j] : i32  %1 = axis j : i32  fold argmin place l[i] %1 : i32
          fold argmin min h[i] %0 : i32 } }
          kernel @k2 { out s start fill 0.0  out t start fill 0.0  out q start fill -inf
          stage (i < n, j < m) { %0 = load x[i, j] : f64  %1 = load w[j] : f64
          fold softmax_sum weighted s[i] %1 : f64  fold softmax_sum sum t[i] %0 : f64
          fold softmax_sum max q[i] %0 : f64 } })")},
      {"folds of complex and short numbers",
       on_n("x: c128[n, m] param 0, y: f16[n, m] param 1, z: i8[n, m] param 2, s: c128[m] output 0, h: f16[m] "
            "output 1, b: i8[m] output 2, a: bool[m] output 3",
            R"(kernel @k0 { out s start fill (0, 0)  out h start fill -inf  out b start fill 0  out a start fill true
          stage (i < n, j < m) { %0 = load x[i, j] : c128  %1 = load y[i, j] : f16  %2 = load z[i, j] : i8
          %3 = literal 3 : i8  %4 = ne %2, %3 : bool  fold add s[j] %0 : c128  fold max h[j] %1 : f16
          fold add b[j] %2 : i8  fold and a[j] %4 : bool } })")},
      {"folds of gathered rows",
       on_n("x: f64[n, m] param 0, g: i64[n] param 1, a: f64[5, m] param 2, s: f64[m] output 0",
            R"(kernel @k0 { out s start fill 0.0  stage (i < n, j < m) { %0 = load g[i] : i64
          %1 = load a[wrap(%0, 5) checked #0, j] : f64  %2 = load x[i, j] : f64  %3 = mul %1, %2 : f64
          fold add s[j] %3 : f64 } })"),
       {{"g", index}}},
      {"gather",
       on_n(xg + ", a: f64[5] param 2", R"(kernel @k0 { stage (i < n) {
          %0 = load g[i] : i64  %1 = load a[wrap(%0, 5) checked #0] : f64  %2 = load x[i] : f64  %3 = add %1, %2 : f64
          store r[i] set %3 } })"),
       {{"g", index}}},
      {"gather, narrow index",
       on_n("x: f64[n] param 0, g: i8[n] param 1, r: f64[n] output 0, a: f64[7, 5] param 2",
            R"(kernel @k0 { stage (i < n) {
          %0 = load g[i] : i8  %1 = load a[3, wrap(%0, 5) checked #0] : f64  store r[i] set %1 } })"),
       {{"g", index}}},
      {"gather of rows",
       on_n("x: f64[n, 3] param 0, g: i64[n] param 1, r: f64[n, 3] output 0, a: f64[5, 3] param 2",
            R"(kernel @k0 { stage (i < n, j < 3) {
          %0 = load g[i] : i64  %1 = load a[wrap(%0, 5) checked #0, j] : f64  store r[i, j] set %1 } })"),
       {{"g", index}}},
      {"gather of wide rows",
       on_n("x: f64[n] param 0, g: i64[3] param 1, r: f64[3, n] output 0, a: f64[5, n] param 2",
            R"(kernel @k0 { stage (i < 3, j < n) {
          %0 = load g[i] : i64  %1 = load a[wrap(%0, 5) checked #0, j] : f64  store r[i, j] set %1 } })"),
       {{"g", index}}},
      {"scatter add",
       on_n("x: f64[n] param 0, g: i64[n] param 1, r: f64[5] output 0", R"(kernel @k0 {
          out r start fill 0.5
          stage (i < n) { %0 = load g[i] : i64  %1 = load x[i] : f64  store r[wrap(%0, 5) checked #0] add %1 } })"),
       {{"g", index}}},
      {"scatter add into a slice",
       on_n("x: f64[n] param 0, g: i64[n] param 1, r: f64[9] output 0", R"(kernel @k0 {
          out r start fill 0.5
          stage (i < n) { %0 = load g[i] : i64  %1 = load x[i] : f64  store r[2 + wrap(%0, 5) checked #0] add %1 } })"),
       {{"g", index}}},
      {"scatter add, all lanes meet",
       on_n("x: f64[n] param 0, g: i64[n] param 1, r: f64[1] output 0, y: f32[n] param 2, q: f32[1] output 1",
            R"(kernel @k0 {
          out r start fill 0.5
          out q start fill 1.0
          stage (i < n) { %0 = load g[i] : i64  %1 = load x[i] : f64  %2 = load y[i] : f32
          store r[wrap(%0, 1) checked #0] add %1  store q[wrap(%0, 1) checked #0] max %2 } })"),
       {{"g", {-1, 0}}}},
      {"scatter add, lanes meet in runs",
       on_n("x: f64[n] param 0, r: f64[2] output 0, s: f64 output 1", R"(kernel @k0 {
          out r start fill 0.5
          out s start fill 0.0
          stage (i < n) { %0 = axis i : i64  %1 = literal 44 : i64  %2 = floor_div %0, %1 : i64  %3 = literal 2 : i64
          %4 = mod %2, %3 : i64  %5 = load x[i] : f64  store r[wrap(%4, 2) checked #0] add %5
          fold add s[] %5 : f64 } })"),
       {}},
      {"scatter max, int",
       on_n("x: i32[n] param 0, g: i64[n] param 1, r: i32[5] output 0", R"(kernel @k0 {
          out r start fill -9
          stage (i < n) { %0 = load g[i] : i64  %1 = load x[i] : i32  store r[wrap(%0, 5) checked #0] max %1 } })"),
       {{"g", index}, {"x", {-50, 50}}}},
      {"scatter into tables of bytes",
       on_n("x: bool[n] param 0, y: i8[n] param 1, g: i64[n] param 2, r: bool[5] output 0, q: i8[5] output 1, p: "
            "bool[5] output 2",
            R"(kernel @k0 {
          out r start fill false
          out q start fill 1
          out p start fill true
          stage (i < n) { %0 = load g[i] : i64  %1 = load x[i] : bool  %2 = load y[i] : i8
          store r[wrap(%0, 5) checked #0] or %1  store q[wrap(%0, 5) checked #0] add %2
          store p[wrap(%0, 5) checked #0] and %1 } })"),
       {{"g", index}, {"x", {0, 1}}, {"y", {-100, 100}}}},
      {"scatter into a long table",
       on_n("x: f64[n] param 0, g: i64[n] param 1, r: f64[n + 5] output 0", R"(kernel @k0 {
          out r start fill 0.0
          stage (i < n) { %0 = load g[i] : i64  %1 = load x[i] : f64  store r[wrap(%0, 5) checked #0] add %1
          store r[wrap(%0, 5) checked #0] add %1 } })"),
       {{"g", index}}},
      {"scatter set, the last wins",
       on_n("x: f64[n] param 0, g: i64[n] param 1, r: f64[5] output 0", R"(kernel @k0 {
          out r start fill 0.5
          stage (i < n) { %0 = load g[i] : i64  %1 = load x[i] : f64  store r[wrap(%0, 5) checked #0] set %1 } })"),
       {{"g", index}}},
      {"scatter of rows",
       on_n("x: f64[n, 3] param 0, g: i64[n] param 1, r: f64[5, 3] output 0", R"(kernel @k0 {
          out r start fill 0.0
          stage (i < n, j < 3) { %0 = load g[i] : i64  %1 = load x[i, j] : f64
          store r[wrap(%0, 5) checked #0, j] add %1 } })"),
       {{"g", index}}},
      {"sums, products, extrema",
       on_n("x: f64[n] param 0, s: f64 output 0, p: f64 output 1, h: f64 output 2, l: f64 output 3",
            R"(kernel @k0 {
          out s start fill 0.25
          out p start fill 1.0
          out h start fill -inf
          out l start fill inf
          stage (i < n) { %0 = load x[i] : f64  fold add s[] %0 : f64  fold max h[] %0 : f64  fold min l[] %0 : f64
          %1 = literal 0.01 : f64  %2 = mul %1, %0 : f64 %3 = literal 1.0 : f64 %4 = add %2, %3 : f64 fold mul p[] %4 : f64 } })")},
      {"places of extremes", on_n("x: f64[n] param 0, k: i64 output 0, l: i64 scalar, h: f64 scalar, w: f64 output 1, "
                                  "r: i64 output 2",
                                  R"(kernel @k0 {
          out k start fill 9223372036854775807
          out w start fill inf
          out l start fill 9223372036854775807
          out h start fill -inf
          stage (i < n) { %0 = load x[i] : f64  %1 = axis i : i64  fold argmin place k[] %1 : i64  fold argmin min w[] %0 : f64
          fold argmax place l[] %1 : i64  fold argmax max h[] %0 : f64 } }
          scalar { %0 = load l[] : i64  store r[] set %0 })")},
      {"places along rows and columns",
       on_n("x: f32[n, m] param 0, k: i64[n] output 0, h: f32[n] output 1, l: i64[m] output 2, w: f32[m] output 3",
            R"(kernel @k0 {
          out k start fill 9223372036854775807
          out h start fill -inf
          out l start fill 9223372036854775807
          out w start fill inf
          stage (i < n, j < m) { %0 = load x[i, j] : f32  %1 = axis j : i64  fold argmax place k[i] %1 : i64  fold argmax max h[i] %0 : f32
          %2 = axis i : i64  fold argmin place l[j] %2 : i64  fold argmin min w[j] %0 : f32 } })")},
      {"log_sum_exp", on_n("x: f64[n] param 0, s: f64 output 0, h: f64 output 1",
                           R"(kernel @k0 {
          out s start fill 0.0
          out h start fill -inf
          stage (i < n) { %0 = load x[i] : f64  fold log_sum_exp sum s[] %0 : f64  fold log_sum_exp max h[] %0 : f64 } })")},
      {"log_sum_exp along rows and columns",
       on_n("x: f32[n, m] param 0, s: f64[n] output 0, h: f32[n] output 1, t: f32[m] output 2, w: f32[m] output 3",
            R"(kernel @k0 {
          out s start fill 0.0
          out h start fill -inf
          out t start fill 0.0
          out w start fill -inf
          stage (i < n, j < m) { %0 = load x[i, j] : f32  fold log_sum_exp sum s[i] %0 : f64  fold log_sum_exp max h[i] %0 : f32
          fold log_sum_exp sum t[j] %0 : f32  fold log_sum_exp max w[j] %0 : f32 } })"),
       {},
       1e-5},
      {"log_sum_exp over two axes that are not one loop",
       on_n("x: f64[n, m] param 0, w: f64[n] param 1, s: f64 output 0, h: f64 output 1", R"(kernel @k0 {
          out s start fill 0.0
          out h start fill -inf
          stage (i < n, j < m) { %0 = load x[i, j] : f64  %1 = load w[i] : f64  %2 = mul %0, %1 : f64
          fold log_sum_exp sum s[] %2 : f64  fold log_sum_exp max h[] %2 : f64 } })")},
      {"squares about the mean", on_n("x: f64[n] param 0, s: f64 output 0, t: f64 output 1",
                                      R"(kernel @k0 {
          out s start fill 0.0
          out t start fill 0.0
          stage (i < n) { %0 = load x[i] : f64  fold moments squares s[] %0 : f64  fold add t[] %0 : f64 } })")},
      {"squares over two axes that are not one loop",
       on_n("x: f32[n, m] param 0, w: f32[n] param 1, s: f32 output 0, h: f32 output 1", R"(kernel @k0 {
          out s start fill 0.0
          out h start fill 0.0
          stage (i < n, j < m) { %0 = load x[i, j] : f32  %1 = load w[i] : f32  %2 = mul %0, %1 : f32
          fold moments squares s[] %2 : f32  fold add h[] %2 : f32 } })"),
       {},
       1e-5},
      {"squares of one point", on_n("x: f64[n] param 0, s: f64 output 0, t: f64 output 1", R"(kernel @k0 {
          out s start fill 0.0
          out t start fill 0.0
          stage () { %0 = literal 3.0 : f64  fold moments squares s[] %0 : f64  fold add t[] %0 : f64 } })")},
      {"sums in registers", on_n("x: f64[n] param 0, s: f64 scalar, q: f64 scalar, r: f64[2] output 0", R"(kernel @k0 {
          out s start fill 0.0
          out q start fill 1.0
          stage (i < n) { %0 = load x[i] : f64  %1 = square %0 : f64  fold add s[] %0 : f64  fold add q[] %1 : f64 } }
          scalar { %0 = load s[] : f64  %1 = load q[] : f64  %2 = div %0, %1 : f64  store r[0] set %2  store r[1] set %1 })")},
      {"row sums", on_n("x: f64[n, m] param 0, s: f64[n] output 0, t: f64 output 1", R"(kernel @k0 {
          out s start fill 0.0
          out t start fill 0.0
          stage (i < n, j < m) { %0 = load x[i, j] : f64  fold add s[i] %0 : f64  fold add t[] %0 : f64 } })")},
      {"column sums", on_n("x: f64[m, n] param 0, s: f64[n] output 0", R"(kernel @k0 {
          out s start fill 0.0
          stage (i < m, j < n) { %0 = load x[i, j] : f64  fold add s[j] %0 : f64 } })")},
      {"middle axis", on_n("x: f64[3, n, 4] param 0, s: f64[3, 4] output 0, t: f64[n] output 1", R"(kernel @k0 {
          out s start fill 0.0
          out t start fill -inf
          stage (i < 3, j < n, k < 4) { %0 = load x[i, j, k] : f64  fold add s[i, k] %0 : f64  fold max t[j] %0 : f64 } })")},
      {"uniform value folded", on_n("x: f64[n] param 0, y: f64[1] param 1, s: f64 output 0", R"(kernel @k0 {
          out s start fill 0.0
          stage (i < n) { %0 = load y[0] : f64  fold add s[] %0 : f64 } })")},
      {"softmax", on_n("x: f64[n, m] param 0, r: f64[n, m] output 0, t: f64[n] temporary, u: f64[n] temporary",
                       R"(kernel @k0 {
          outer (i < n)
          out t start fill -inf
          out u start fill 0.0
          stage (j < m) { %0 = load x[i, j] : f64  fold max t[i] %0 : f64 }
          stage (j < m) { %0 = load x[i, j] : f64  %1 = load t[i] : f64  %2 = sub %0, %1 : f64  %3 = exp %2 : f64
            store r[i, j] set %3  fold add u[i] %3 : f64 }
          stage (j < m) { %0 = load r[i, j] : f64  %1 = load u[i] : f64  %2 = div %0, %1 : f64  store r[i, j] set %2 } })")},
      {"locals", on_n("x: f64[n, m] param 0, r: f64[n, m] output 0, t: f64[1] temporary, u: f64[m] temporary",
                      R"(kernel @k0 {
          outer (i < n)
          local t start fill -inf
          local u
          stage (j < m) { %0 = load x[i, j] : f64  fold max t[0] %0 : f64  %1 = exp %0 : f64  store u[j] set %1 }
          stage (j < m) { %0 = load u[m - 1 - j] : f64  %1 = load t[0] : f64  %2 = sub %0, %1 : f64
            store r[i, j] set %2 } })")},
      {"columns by tiles",
       on_n("x: f64[n, m] param 0, r: f64[n, m] output 0, s: f64[m] output 1, t: f64[16] temporary, "
            "u: f64[n, 16] temporary",
            R"(kernel @k0 {
          outer (j < m) by 16
          local t start fill -inf
          local u
          out s start fill 0.0
          stage (i < n, j) { %0 = load x[i, j] : f64  fold max t[j] %0 : f64 }
          stage (i < n, j) { %0 = load x[i, j] : f64  %1 = load t[j] : f64  %2 = sub %0, %1 : f64  %3 = exp %2 : f64
            store u[i, j] set %3  fold add s[j] %3 : f64 }
          stage (i < n, j) { %0 = load u[n - 1 - i, j] : f64  %1 = load s[j] : f64  %2 = div %0, %1 : f64
            %3 = axis j : f64  %4 = add %2, %3 : f64  store r[i, j] set %4 } })")},
      {"rows by tiles", on_n("x: f64[n, m] param 0, r: f64[n] output 0, s: f64 output 1, t: f64[4] temporary",
                             R"(kernel @k0 {
          outer (i < n) by 4
          local t start fill 0.0
          out s start fill 0.0
          stage (i, j < m) { %0 = load x[i, j] : f64  %1 = exp %0 : f64  fold add t[i] %1 : f64 }
          stage (i) { %0 = load t[i] : f64  %1 = log %0 : f64  store r[i] set %1  fold add s[] %1 : f64 } })")},
      {"scalars in outer loops", on_n("x: f64[n, m] param 0, s: f64 scalar, r: f64 output 0", R"(kernel @k0 {
          outer (i < n)
          out s start fill 0.5
          stage (j < m) { %0 = load x[i, j] : f64  fold add s[] %0 : f64 } }
          scalar { %0 = load s[] : f64  store r[] set %0 })")},
      {"two stages of one kernel", on_n("x: f64[n] param 0, s: f64 scalar, r: f64[n] output 0", R"(kernel @k0 {
          out s start fill 0.0
          stage (i < n) { %0 = load x[i] : f64  fold add s[] %0 : f64 }
          stage (i < n) { %0 = load x[i] : f64  %1 = load s[] : f64  %2 = sub %0, %1 : f64  store r[i] set %2 } })")},
      {"division by what is the same for all", on_n(xy, R"(kernel @k0 { stage (i < n) {
          %0 = load x[i] : f64  %1 = literal 3.0 : f64  %2 = div %0, %1 : f64  %3 = size n : i64  %4 = cast %3 : f64
          %5 = div %2, %4 : f64  %6 = load y[i] : f64  %7 = div %5, %6 : f64  store r[i] set %7 } })")},
      {"select, comparisons, bool in memory", on_n(xy + ", b: bool[n] output 1", R"(kernel @k0 { stage (i < n) {
          %0 = load x[i] : f64  %1 = load y[i] : f64  %2 = lt %0, %1 : bool  %3 = select %2, %0, %1 : f64
          %4 = not %2 : bool  %5 = isnan %0 : bool  %6 = or %4, %5 : bool  store r[i] set %3  store b[i] set %6 } })")},
      {"all and any",
       on_n("x: bool[n] param 0, a: bool output 0, b: bool output 1", R"(kernel @k0 {
          out a start fill true
          out b start fill false
          stage (i < n) { %0 = load x[i] : bool  fold and a[] %0 : bool  fold or b[] %0 : bool } })"),
       {{"x", {0, 1}}}},
      {"functions lane by lane",
       on_n(xy, R"(kernel @k0 { stage (i < n) {
          %0 = load x[i] : f64  %1 = load y[i] : f64  %2 = arctan %0 : f64  %3 = arctan2 %2, %1 : f64
          %4 = mod %3, %1 : f64  %5 = lgamma %4 : f64  %6 = digamma %0 : f64  %7 = add %5, %6 : f64 %8 = erfcx %7 : f64
          store r[i] set %8 } })"),
       {},
       1e-9},
      {"elementary functions", on_n("x: f64[n] param 0, r: f64[n] output 0, t: f64[n] output 1", R"(kernel @k0 {
          stage (i < n) {
          %0 = load x[i] : f64  %1 = exp %0 : f64  %2 = log %1 : f64  %3 = log1p %1 : f64  %4 = expm1 %0 : f64
          %5 = sigmoid %0 : f64  %6 = softplus %0 : f64  %7 = tanh %0 : f64  %8 = add %1, %2 : f64  %9 = add %3, %4 : f64
          %10 = add %5, %6 : f64  %11 = add %7, %8 : f64  %12 = add %9, %10 : f64  %13 = add %11, %12 : f64
          store r[i] set %13
          %14 = sin %0 : f64  %15 = cos %0 : f64  %16 = erf %14 : f64  %17 = erfc %15 : f64  %18 = pow %1, %0 : f64
          %19 = add %16, %17 : f64  %20 = add %18, %19 : f64  store t[i] set %20 } })")},
      {"f32",
       on_n("x: f32[n] param 0, y: f32[n] param 1, r: f32[n] output 0, s: f32 output 1", R"(kernel @k0 {
          out s start fill 0.0
          stage (i < n) { %0 = load x[i] : f32  %1 = load y[i] : f32  %2 = exp %0 : f32  %3 = div %2, %1 : f32
          store r[i] set %3  fold add s[] %0 : f32 } })"),
       {},
       1e-4},
      {"f32 into f64",
       on_n("x: f32[n] param 0, r: f64[n] output 0", R"(kernel @k0 {
          stage (i < n) { %0 = load x[i] : f32  %1 = cast %0 : f64  %2 = sqrt %1 : f64  store r[i] set %2 } })"),
       {},
       1e-6},
      {"a matrix times a short vector",
       on_n("x: f64[n, 8] param 0, v: f64[8] param 1, r: f64[n] output 0", R"(kernel @k0 {
          out r start fill 0.0
          stage (i < n, j < 8) { %0 = load x[i, j] : f64  %1 = load v[j] : f64  %2 = mul %0, %1 : f64  fold add r[i] %2 : f64 } })")},
      {"short rows", on_n("x: f64[n, 5] param 0, r: f64[n, 5] output 0", R"(kernel @k0 {
          stage (i < n, j < 5) { %0 = load x[i, j] : f64  %1 = exp %0 : f64  store r[i, j] set %1 } })")},
      {"literal tables",
       on_n("x: f64[n] param 0, g: i64[n] param 1, c: f64[5] literal [1.0, 2.5, -3.0, 4.0, inf], r: f64[n] output 0",
            R"(kernel @k0 { stage (i < n) {
          %0 = load g[i] : i64  %1 = load c[wrap(%0, 5) checked #0] : f64  store r[i] set %1 } })"),
       {{"g", index}}},
      {"fill",
       on_n("x: f64[n] param 0, r: f64[2*n + 1] output 0, q: i16[n] output 1, b: bool[n] output 2", R"(kernel @k0 {
          out r start fill 2.5
          out q start fill -7
          out b start fill true })")},
      {"copy start", on_n("x: f64[n] param 0, r: f64[n] output 0", R"(kernel @k0 {
          out r start copy x
          stage (i < n) { %0 = load x[i] : f64  store r[n - 1 - i] add %0 } })")},
      {"a scan of checks", on_n(xy, R"(kernel @k0 { stage (i < n) {
          %0 = load x[i] : f64  %1 = literal 5.0 : f64  %2 = lt %0, %1 : bool  check %2 #1  store r[i] set %0 } })")},
      {"temporaries and copies",
       on_n("x: f64[n] param 0, t: f64[n] temporary, r: f64[n] output 0, q: f64[n] output 1",
            R"(kernel @k0 { stage (i < n) { %0 = load x[i] : f64  %1 = exp %0 : f64  store t[i] set %1 } }
          kernel @k1 { stage (i < n) { %0 = load t[n - 1 - i] : f64  store r[i] set %0 } }
          copy t -> q "two outputs")")},
      {"matmul", on_n("x: f64[n, m] param 0, y: f64[m, n] param 1, r: f64[n, n] output 0, s: f64[m, m] output 1",
                      "call matmul r = x, y (1, n, m, n) call matmul s = y, x (1, m, n, m)")},
      {"matrix and vector", on_n("x: f64[n, m] param 0, y: f64[m, 1] param 1, w: f64[1, n] param 2, r: f64[n, 1] "
                                 "output 0, s: f64[1, m] output 1",
                                 "call matmul r = x, y (1, n, m, 1) call matmul s = w, x (1, 1, n, m)")},
      {"floordiv of sizes", on_n("x: f64[n] param 0, r: f64[floordiv(n, 2) + 1] output 0", R"(kernel @k0 {
          out r start fill 0.0
          stage (i < floordiv(n, 2)) { %0 = load x[2*i] : f64  store r[i] set %0 } })")},
  };
}

class Statements : public ::testing::TestWithParam<std::tuple<std::size_t, std::string>> {};

/// m stands for a second size wherever a program uses it.
std::string with_m(std::string text) {
  const std::size_t at = text.find("symbols n = x.0");
  const bool first = text.find("x: f64[m, n]") != std::string::npos;
  if (text.find("x: f64[3, n, 4]") != std::string::npos) return text.replace(at, 15, "symbols n = x.1");
  if (first) return text.replace(at, 15, "symbols n = x.1, m = x.0");
  if (text.find("[n, m]") != std::string::npos) return text.replace(at, 15, "symbols n = x.0, m = x.1");
  return text;
}

std::vector<Array> random_params(const KernelProgram& program, const Case& test, std::span<const int64_t> symbols,
                                 std::mt19937_64& random) {
  std::vector<Array> out;
  for (BufferId param : program.params) {
    const kernel::Buffer& buffer = program.buffers[param];
    std::vector<int64_t> dims;
    for (const Dim& dim : buffer.dims) dims.push_back(dim.evaluate(symbols));
    const auto range = test.ranges.find(buffer.name);
    const Range r = range == test.ranges.end() ? Range{} : range->second;
    out.push_back(random_array(random, buffer.dtype, dims, r.minimum, r.maximum));
  }
  return out;
}

TEST_P(Statements, AgreeWithTheEvaluator) {
  const auto& [number, features] = GetParam();
  const Case test = cases()[number];
  EmitOptions options;
  options.cpu_features = features;
  options.verify_ir = true;
  const Compiled compiled(with_m(test.program), options);
  const KernelProgram& program = compiled.program();
  std::mt19937_64 random(7);
  for (int64_t n : kSizes) {
    for (int64_t m : {int64_t{3}, int64_t{16}, int64_t{0}, int64_t{21}}) {
      std::vector<int64_t> symbols(program.symbols.size());
      for (std::size_t s = 0; s < symbols.size(); ++s) {
        symbols[s] = program.symbols[SymbolId(s)].name == "n" ? n : m;
      }
      const std::vector<Array> params = random_params(program, test, symbols, random);
      const kernel::Evaluation expected = kernel::evaluate(program, params);
      const kernel::Evaluation actual = compiled.run(params);
      ASSERT_FALSE(expected.failure) << test.name;
      ASSERT_FALSE(actual.failure) << test.name << ": n=" << n << " m=" << m;
      for (std::size_t k = 0; k < expected.outputs.size(); ++k) {
        ASSERT_EQ(difference(expected.outputs[k], actual.outputs[k], test.tolerance), "")
            << test.name << ": n=" << n << " m=" << m << " output " << k << "\n";
      }
      if (symbols.size() < 2) break;
    }
  }
}

std::string test_name(const ::testing::TestParamInfo<Statements::ParamType>& info) {
  std::string name = cases()[std::get<0>(info.param)].name;
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name + width_name(std::get<1>(info.param));
}

INSTANTIATE_TEST_SUITE_P(All, Statements,
                         ::testing::Combine(::testing::Range(std::size_t{0}, cases().size()),
                                            ::testing::ValuesIn(kWidths)),
                         test_name);

/// Loops that are long enough to begin their stores at a line of the cache, from each place within one.
TEST(LongLoops, BeginAnywhere) {
  std::mt19937_64 random(3);
  for (const char* t : {"f64", "f32", "i8", "c64", "c128"}) {
    const DType dtype = *dtype_from_name(t);
    for (int shift = 0; shift < 10; ++shift) {
      const char* zero = is_complex(dtype) ? "(0, 0)" : "0";
      const Compiled compiled(str("program @main(x: ", t, "[n] param 0, r: ", t, "[n + ", shift,
                                  "] output 0, s: f32[n] output 1) symbols n = x.0 { kernel @k0 { out r start fill ",
                                  zero, " stage (i < n) { %0 = load x[i] : ", t, "  %1 = neg %0 : ", t, "  store r[",
                                  shift, " + i] set %1  %2 = literal 2.5 : f32  store s[i] set %2 } } }"));
      for (int64_t n : {1023, 1024, 1025, 1031, 1040, 1055}) {
        const std::vector<Array> params = {random_array(random, dtype, {n}, -9, 9)};
        const kernel::Evaluation actual = compiled.run(params), expected = evaluate(compiled.program(), params);
        for (std::size_t k = 0; k < 2; ++k) {
          ASSERT_EQ(actual.outputs[k].bytes, expected.outputs[k].bytes) << t << " " << shift << " " << n;
        }
      }
    }
  }
}

/// Every few elements are taken from vectors that lie side by side, and nothing behind the last of them is read.
TEST(Strided, EndsWithTheLastElement) {
  std::mt19937_64 random(5);
  for (const std::string& features : kWidths) {
    for (const char* t : {"f64", "f32", "f16", "i32", "i16", "u8", "bool", "c64"}) {
      const DType dtype = *dtype_from_name(t);
      for (int apart : {2, 3, 4, 5}) {
        EmitOptions options;
        options.cpu_features = features;
        const Compiled compiled(
            str("program @main(x: ", t, "[", apart, "*n - ", apart - 1, "] param 0, y: i64[n] param 1, r: ", t,
                "[n] output 0) symbols n = y.0 { kernel @k0 { stage (i < n) { %0 = load x[", apart, "*i] : ", t,
                " store r[i] set %0 } } }"),
            options);
        for (int64_t n = 1; n < 70; ++n) {
          const std::vector<Array> params = {random_array(random, dtype, {apart * (n - 1) + 1}, 0, 1),
                                             random_array(random, DType::i64, {n}, 0, 1)};
          const kernel::Evaluation actual = compiled.run(params), expected = evaluate(compiled.program(), params);
          ASSERT_EQ(actual.outputs[0].bytes, expected.outputs[0].bytes) << t << " " << apart << " " << n << features;
        }
      }
    }
  }
}

}  // namespace
}  // namespace inlay::llvm_backend::testing
