// What the programs in tests/ do not reach, through the signature that machine code uses.
#include "library/library.h"

#include <limits>

#include <gtest/gtest.h>

#include "library/call.h"
#include "ops/dtype.h"
#include "support/str.h"

namespace inlay::library {
namespace {

TEST(Library, HasAFunctionForEachOpAndDType) {
  for (int i = 0; i < kNumLibraryOps; ++i) {
    const auto op = static_cast<LibraryOp>(i);
    for (DType dtype :
         {DType::boolean, DType::i8, DType::i64, DType::u64, DType::f32, DType::f64, DType::c64, DType::c128}) {
      const std::string name = str("inlay_l_", facts(op).name, "_", dtype_name(dtype));
      EXPECT_EQ(find_function(name) != nullptr, accepts(op, dtype)) << name;
    }
  }
}

TEST(Library, RefusesSizesThatLapackCannotCount) {
  const int64_t size = int64_t{1} << 31;
  const void* operands[2] = {nullptr, nullptr};
  void* results[3] = {nullptr, nullptr, nullptr};
  for (const char* name :
       {"matmul", "cholesky", "solve_triangular", "solve", "lu_factor", "qr", "qr_pivoted", "svd", "eigh", "eig"}) {
    const int64_t sizes[4] = {1, size, size, size};
    int64_t failure[2] = {0, 0};
    const InlayLibraryFunction function = find_function(str("inlay_l_", name, "_f64"));
    EXPECT_EQ(function(operands, results, sizes, 0, nullptr, failure), kTooLarge) << name;
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
  EXPECT_EQ(cholesky(operands, results, sizes, 0, nullptr, failure), kFailed);
  EXPECT_EQ(out[0], 2);
  EXPECT_EQ(failure[0], 1);
  EXPECT_EQ(failure[1], 1);
}

}  // namespace
}  // namespace inlay::library
