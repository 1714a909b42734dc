// What the programs in tests/ do not reach, through the signature that machine code uses.
#include "library/library.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "library/byte_products.h"
#include "library/call.h"
#include "library/routines.h"
#include "ops/dtype.h"
#include "ops/library_strides.h"
#include "support/str.h"
#include "textbook/textbook.h"

namespace inlay::library {
namespace {

TEST(Library, HasAFunctionForEachOpAndDType) {
  for (int i = 0; i < kNumLibraryOps; ++i) {
    const auto op = static_cast<LibraryOp>(i);
    for (DType dtype : {DType::boolean, DType::i8, DType::u8, DType::i64, DType::u64, DType::f32, DType::f64,
                        DType::c64, DType::c128}) {
      const std::string name = str("inlay_l_", facts(op).name, "_", dtype_name(dtype));
      EXPECT_EQ(find_function(name) != nullptr, accepts(op, dtype)) << name;
    }
  }
}

TEST(Library, RefusesSizesThatLapackCannotCount) {
  const int64_t size = int64_t{1} << 31;
  const void* operands[2] = {nullptr, nullptr};
  void* results[3] = {nullptr, nullptr, nullptr};
  const int64_t strides[9] = {};
  for (const char* name :
       {"matmul", "cholesky", "solve_triangular", "solve", "lu_factor", "qr", "qr_pivoted", "svd", "eigh", "eig"}) {
    const int64_t sizes[4] = {1, size, size, size};
    int64_t failure[2] = {0, 0};
    const InlayLibraryFunction function = find_function(str("inlay_l_", name, "_f64"));
    EXPECT_EQ(function(operands, strides, results, strides, sizes, 0, nullptr, failure, nullptr, nullptr), kTooLarge)
        << name;
  }
}

TEST(Library, SaysWhichMatrixHasNoFactor) {
  const double a[2][1] = {{4}, {-1}};
  double out[2] = {0, 0};
  const void* operands[1] = {a};
  void* results[1] = {out};
  const int64_t sizes[2] = {2, 1};
  int64_t failure[2] = {0, 0};
  const InlayLibraryFunction cholesky = find_function("inlay_l_cholesky_f64");
  const int64_t strides[3] = {1, 1, 1};
  EXPECT_EQ(cholesky(operands, strides, results, strides, sizes, 0, nullptr, failure, nullptr, nullptr), kFailed);
  EXPECT_EQ(out[0], 2);
  EXPECT_EQ(failure[0], 1);
  EXPECT_EQ(failure[1], 1);
}

/// A call that is asked to end again and again: it says yes at the question `ends_at`.
struct Asked : InlayCall {
  int questions = 0, ends_at = 0;

  Asked() : InlayCall{} {
    interrupted = [](InlayCall* call) -> int32_t {
      auto& asked = *static_cast<Asked*>(call);
      return ++asked.questions == asked.ends_at ? INLAY_INTERRUPTED : INLAY_OK;
    };
  }
};

/// Each matrix is preceded by a look at the flag, and where that is set by a question to the call.
TEST(Library, EndsBetweenMatrices) {
  const double a[4][1] = {{4}, {9}, {16}, {25}};
  const void* operands[1] = {a};
  const int64_t sizes[2] = {4, 1}, strides[3] = {1, 1, 1};
  int64_t failure[2] = {0, 0};
  const InlayLibraryFunction cholesky = find_function("inlay_l_cholesky_f64");
  Asked call;
  const auto run = [&](int32_t stop, int ends_at) {
    std::array<double, 4> out = {};
    void* results[1] = {out.data()};
    call.questions = 0;
    call.ends_at = ends_at;
    const int32_t status = cholesky(operands, strides, results, strides, sizes, 0, nullptr, failure, &call, &stop);
    return std::pair(status, out);
  };
  EXPECT_EQ(run(0, 1), std::pair(int{INLAY_OK}, std::array<double, 4>{2, 3, 4, 5}));
  EXPECT_EQ(call.questions, 0);
  EXPECT_EQ(run(1, 3), std::pair(int{INLAY_INTERRUPTED}, std::array<double, 4>{2, 3, 0, 0}));
  EXPECT_EQ(run(1, 0), std::pair(int{INLAY_OK}, std::array<double, 4>{2, 3, 4, 5}));  // a handler that returns
  EXPECT_EQ(call.questions, 4);
}

/// Matrices that lie below each other are one, but no part of it takes longer than a look may wait.
TEST(Library, ATallProductGoesByParts) {
  constexpr int64_t kBatch = 5, kRows = 500, kSum = 1024, kColumns = 1024;
  std::vector<float> a(kBatch * kRows * kSum), b(kSum * kColumns, 1), c(kBatch * kRows * kColumns);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i / static_cast<std::size_t>(kSum) % 7);
  const void* operands[2] = {a.data(), b.data()};
  void* results[1] = {c.data()};
  const int64_t strides[6] = {kRows * kSum, kSum, 1, 0, kColumns, 1}, to[3] = {kRows * kColumns, kColumns, 1};
  const int64_t sizes[4] = {kBatch, kRows, kSum, kColumns};
  const int32_t stop = 1;
  Asked call;
  EXPECT_EQ(
      find_function("inlay_l_matmul_f32")(operands, strides, results, to, sizes, 0, nullptr, nullptr, &call, &stop),
      INLAY_OK);
  EXPECT_EQ(call.questions, 3);  // before 896, 896 and 708 rows
  for (std::size_t i = 0; i < c.size(); ++i) {
    ASSERT_EQ(c[i], static_cast<float>(i / kColumns % 7 * kSum)) << i;
  }
}

/// Every way in which two matrices and their product may lie, against the sums.
TEST(Library, MultipliesMatricesHoweverTheyLie) {
  const InlayLibraryFunction matmul = find_function("inlay_l_matmul_f64");
  for (const auto& [m, k, n] :
       {std::array<int64_t, 3>{3, 4, 2}, {1, 4, 3}, {3, 4, 1}, {1, 4, 1}, {3, 1, 2}, {3, 0, 2}}) {
    for (int ways = 0; ways < 8; ++ways) {
      const auto lying = [&](int which, int64_t rows, int64_t columns) {
        const int64_t gap = 3;
        return (ways >> which) & 1 ? std::array<int64_t, 3>{0, 1, rows + gap}
                                   : std::array<int64_t, 3>{0, columns + gap, 1};
      };
      const std::array strides = {lying(0, m, k), lying(1, k, n), lying(2, m, n)};
      std::vector<double> a(99), b(99), c(99, -1);
      for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<double>(i % 7), b[i] = static_cast<double>(i % 5);
      const void* operands[] = {a.data(), b.data()};
      void* results[] = {c.data()};
      const int64_t sizes[] = {1, m, k, n};
      ASSERT_EQ(
          matmul(operands, strides[0].data(), results, strides[2].data(), sizes, 0, nullptr, nullptr, nullptr, nullptr),
          0);
      for (int64_t i = 0; i < m; ++i) {
        for (int64_t j = 0; j < n; ++j) {
          double sum = 0;
          for (int64_t l = 0; l < k; ++l) {
            sum += a[i * strides[0][1] + l * strides[0][2]] * b[l * strides[1][1] + j * strides[1][2]];
          }
          EXPECT_EQ(c[i * strides[2][1] + j * strides[2][2]], sum) << m << k << n << " " << ways << " " << i << j;
        }
      }
      EXPECT_EQ(std::count(c.begin(), c.end(), -1), 99 - m * n) << "something else was written";
    }
  }
}

/// Every instruction set of this CPU, with rows and columns that fill no block, gaps between rows, chunks that end
/// within a row, and sums beyond 2^31.
TEST(Library, DotProductsOfBytesAreExactInEveryForm) {
  for (const auto& [m, k, n] : {std::array<int64_t, 3>{1, 1, 1},
                                {5, 3, 6},
                                {4, 64, 4},
                                {7, 513, 9},
                                {1, 1500, 3},
                                {2, 0, 3},
                                {0, 3, 2},
                                {3, 70000, 2},
                                {13, 37, 83},
                                {83, 514, 17},
                                {18, 65, 130}}) {
    const int64_t a_row = k + 3, b_row = k + 5, c_row = n + 2;
    std::vector<uint8_t> a(static_cast<std::size_t>(m * a_row));
    std::vector<int8_t> b(static_cast<std::size_t>(n * b_row));
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<uint8_t>(255 - i % 7 * (i % 3));
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<int8_t>(i % 2 != 0 ? -128 : 127 - i % 11);
    std::vector<int32_t> wanted(static_cast<std::size_t>(m * c_row), -7);
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        int64_t sum = 0;
        for (int64_t p = 0; p < k; ++p) sum += int64_t{a[i * a_row + p]} * b[j * b_row + p];
        wanted[i * c_row + j] = static_cast<int32_t>(sum);
      }
    }
    // The same numbers by columns: as weights of rows of a, a row for each of b.
    const int64_t column = m + 1;
    std::vector<uint8_t> turned(static_cast<std::size_t>(k * column));
    std::vector<int32_t> wanted_turned(static_cast<std::size_t>(n * column), -7);
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t p = 0; p < k; ++p) turned[p * column + i] = a[i * a_row + p];
      for (int64_t j = 0; j < n; ++j) wanted_turned[j * column + i] = wanted[i * c_row + j];
    }
    for (const ByteProductForm& form : byte_product_forms()) {
      std::vector<int32_t> c(wanted.size(), -7), d(wanted_turned.size(), -7);
      form.row_dots({a.data(), b.data(), c.data(), a_row, b_row, c_row, m, k, n});
      EXPECT_EQ(c, wanted) << form.name << ": " << m << " x " << k << " x " << n;
      form.weighted_rows({turned.data(), b.data(), d.data(), column, b_row, column, n, k, m});
      EXPECT_EQ(d, wanted_turned) << form.name << ": " << n << " x " << k << " x " << m;
    }
  }
}

/// Rows of a batch that lie below each other are those of one matrix; they go by parts, between which a call may end.
TEST(Library, DotProductsOfABatchGoByParts) {
  constexpr int64_t kBatch = 3, kRows = 700, kSum = 512, kColumns = 2;
  std::vector<uint8_t> a(kBatch * kRows * kSum, 1);
  std::vector<int8_t> b(kColumns * kSum, 2);
  const void* operands[2] = {a.data(), b.data()};
  const int64_t sizes[4] = {kBatch, kRows, kSum, kColumns};
  const int32_t stop = 1;
  // 2100 rows in 9 parts of 256; where the results have gaps, three times 700 in 3.
  for (const int64_t gap : {0, 5}) {
    std::vector<int32_t> c(kBatch * (kRows * kColumns + gap), -1);
    void* results[1] = {c.data()};
    const int64_t strides[6] = {kRows * kSum, kSum, 1, 0, kSum, 1}, to[3] = {kRows * kColumns + gap, kColumns, 1};
    Asked call;
    EXPECT_EQ(
        find_function("inlay_l_row_dots_u8")(operands, strides, results, to, sizes, 0, nullptr, nullptr, &call, &stop),
        INLAY_OK);
    EXPECT_EQ(call.questions, 9);
    EXPECT_EQ(std::count(c.begin(), c.end(), 2 * kSum), kBatch * kRows * kColumns);
    EXPECT_EQ(std::count(c.begin(), c.end(), -1), kBatch * gap);
    call.ends_at = call.questions + 2;
    std::fill(c.begin(), c.end(), -1);
    EXPECT_EQ(
        find_function("inlay_l_row_dots_u8")(operands, strides, results, to, sizes, 0, nullptr, nullptr, &call, &stop),
        INLAY_INTERRUPTED);
    EXPECT_EQ(std::count(c.begin(), c.end(), 2 * kSum), 256 * kColumns);
  }
}

TEST(Library, MultipliesVectorsThatGoBackwards) {
  const double a[3] = {1, 2, 3}, b[6] = {10, 0, 20, 0, 30, 0};
  double c[1] = {0};
  const void* operands[] = {a, b + 4};
  void* results[] = {c};
  const int64_t strides[] = {0, 3, 1, 0, -2, 1}, one[] = {0, 1, 1}, sizes[] = {1, 1, 3, 1};
  ASSERT_EQ(find_function("inlay_l_matmul_f64")(operands, strides, results, one, sizes, 0, nullptr, nullptr, nullptr,
                                                nullptr),
            0);
  EXPECT_EQ(c[0], 1 * 30 + 2 * 20 + 3 * 10);
}

// Where there is no BLAS.

/// What one call reads and writes, with gaps of `gap` elements between those of a row and more between rows.
struct Lying {
  std::vector<std::vector<std::byte>> bytes;
  std::vector<int64_t> strides;
  std::vector<void*> first;

  Lying(LibraryOp op, const std::vector<CoreAxes>& axes, const std::vector<int64_t>& sizes,
        const std::function<DType(std::size_t)>& dtype, int64_t gap) {
    for (std::size_t i = 0; i < axes.size(); ++i) {
      const std::array<int64_t, 3> extents = library_extents(op, axes[i], sizes);
      const std::array<int64_t, 3> packed = row_major_strides(op, axes[i], sizes);
      for (const int64_t stride : packed) strides.push_back(stride * (gap + 1));
      bytes.emplace_back(static_cast<std::size_t>(extents[0] * packed[0] * (gap + 1) * size_bytes(dtype(i))));
      first.push_back(bytes.back().data());
    }
  }
};

/// Elements of one in the places of the other.
void copy_elements(const Lying& from, Lying& to, std::size_t i, std::size_t bytes) {
  const std::size_t step = from.bytes[i].size() < to.bytes[i].size() ? 1 : 0;
  const std::size_t count = std::min(from.bytes[i].size(), to.bytes[i].size()) / bytes;
  const std::size_t factor = std::max(from.bytes[i].size(), to.bytes[i].size()) / (count * bytes);
  for (std::size_t e = 0; e < count; ++e) {
    std::memcpy(&to.bytes[i][e * bytes * (step ? factor : 1)], &from.bytes[i][e * bytes * (step ? 1 : factor)], bytes);
  }
}

TEST(LibraryWithoutBlas, ReadsAndWritesWhereTheCallSays) {
  for (int number = 0; number < kNumLibraryOps; ++number) {
    const auto op = static_cast<LibraryOp>(number);
    const auto& signature = facts(op).signature;
    if (!accepts(op, DType::f64) || facts(op).dtypes != LibraryOpFacts::DTypes::Field) continue;
    if (op == LibraryOp::tridiagonal_lu_solve) continue;  // calls no BLAS
    std::vector<int64_t> sizes = {2};
    for (std::size_t i = 0; i < signature.letters.size(); ++i) sizes.push_back(op == LibraryOp::matmul ? 3 + i : 4);
    const auto read = [&](std::size_t i) { return operand_dtype(op, i, DType::f64); };
    const auto written = [&](std::size_t i) { return result_dtype(op, i, DType::f64); };
    Lying a(op, signature.operands, sizes, read, 0), b(op, signature.operands, sizes, read, 2);
    for (std::size_t i = 0; i < a.bytes.size(); ++i) {
      auto* numbers = reinterpret_cast<double*>(a.bytes[i].data());
      const std::size_t count = a.bytes[i].size() / sizeof(double);
      for (std::size_t e = 0; e < count; ++e) {  // of the last matrices as of the first: positive on the diagonal
        numbers[e] = e % 16 % 5 == 0 ? 9.0 + static_cast<double>(e) : 1.0;
      }
      copy_elements(a, b, i, sizeof(double));
    }
    Lying x(op, signature.results, sizes, written, 0), y(op, signature.results, sizes, written, 2);
    Lying z(op, signature.results, sizes, written, 0);
    const InlayLibraryFunction function = find_function_without_blas(str("inlay_l_", facts(op).name, "_f64"));
    for (auto* call : {&a, &b}) {
      Lying& to = call == &a ? x : y;
      int64_t failure[2] = {0, 0};
      EXPECT_EQ(function(call->first.data(), call->strides.data(), to.first.data(), to.strides.data(), sizes.data(), 0,
                         nullptr, failure, nullptr, nullptr),
                0)
          << facts(op).name;
    }
    EXPECT_NE(x.bytes[0], std::vector<std::byte>(x.bytes[0].size())) << facts(op).name << " wrote nothing";
    std::vector<const std::byte*> from;
    std::vector<std::byte*> to;
    for (const auto& bytes : a.bytes) from.push_back(bytes.data());
    for (auto& bytes : z.bytes) to.push_back(bytes.data());
    ASSERT_FALSE(textbook::run(op, 0, DType::f64, from, to, sizes));
    EXPECT_EQ(x.bytes, z.bytes) << facts(op).name << " of the whole batch";
    for (std::size_t i = 0; i < x.bytes.size(); ++i) {
      copy_elements(y, z, i, static_cast<std::size_t>(size_bytes(written(i))));
      EXPECT_EQ(x.bytes[i], z.bytes[i]) << facts(op).name << " result " << i;
    }
  }
}

TEST(Library, KnowsABlasThatDoesNotKnowTheCpu) {
  EXPECT_TRUE(is_too_old("Prescott", true, false));
  EXPECT_FALSE(is_too_old("Prescott", true, true));  // as the user wants it
  EXPECT_FALSE(is_too_old("Prescott", false, false));
  EXPECT_FALSE(is_too_old("Haswell", true, false));
  EXPECT_FALSE(is_too_old("", true, false));  // no OpenBLAS
}

TEST(LibraryWithoutBlas, FactorsInPlaceAndSaysWhichMatrixHasNoFactor) {
  double a[2][4] = {{4, 2, 2, 5}, {1, 2, 2, 1}};
  const void* operands[1] = {a};
  void* results[1] = {a};
  const int64_t sizes[2] = {2, 2}, strides[3] = {4, 2, 1};
  int64_t failure[2] = {0, 0};
  const InlayLibraryFunction cholesky = find_function_without_blas("inlay_l_cholesky_f64");
  EXPECT_EQ(cholesky(operands, strides, results, strides, sizes, 0, nullptr, failure, nullptr, nullptr), kFailed);
  EXPECT_EQ(std::vector<double>(a[0], a[0] + 4), (std::vector<double>{2, 0, 1, 2}));
  EXPECT_EQ(failure[0], 2);
  EXPECT_EQ(failure[1], 1);
}

}  // namespace
}  // namespace inlay::library
