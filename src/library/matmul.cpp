#include <algorithm>

#include "library/call.h"
#include "library/lapack.h"

namespace inlay::library {
namespace {

/// c[m, n] = a[m, k] b[k, n], all row-major. A transposed one lies as its transpose.
template <class T>
struct Product {
  int m = 0, k = 0, n = 0;
  bool a_transposed = false, b_transposed = false;

  static CBLAS_TRANSPOSE flag(bool transposed) { return transposed ? CblasTrans : CblasNoTrans; }

  /// A matrix and a vector: `rows` x `columns` is how the matrix lies.
  static void multiply_vector(bool transposed, int rows, int columns, const T* matrix, const T* vector, T* out) {
    Lapack<T>::gemv(flag(transposed), rows, columns, matrix, columns, vector, out);
  }

  void operator()(const T* a, const T* b, T* c) const {
    if (m == 0 || n == 0) return;
    if (k == 0) {  // not every BLAS clears what it has nothing to add to
      std::fill(c, c + static_cast<int64_t>(m) * n, T(0));
    } else if (n == 1) {
      multiply_vector(a_transposed, a_transposed ? k : m, a_transposed ? m : k, a, b, c);
    } else if (m == 1) {
      multiply_vector(!b_transposed, b_transposed ? n : k, b_transposed ? k : n, b, a, c);
    } else {
      Lapack<T>::gemm(flag(a_transposed), flag(b_transposed), m, n, k, a, a_transposed ? m : k, b, b_transposed ? k : n,
                      c, n);
    }
  }
};

}  // namespace

template <class T>
int32_t matmul(const Call& call) {
  if (call.is_too_large(3)) return kTooLarge;
  Product<T> product{call.count(0), call.count(1), call.count(2), call.has(LibraryOption::left_transposed),
                     call.has(LibraryOption::right_transposed)};
  int64_t batch = call.batch();
  // One right matrix for all, and the left ones below each other: they are one tall matrix.
  const int64_t rows = batch * call.size(0);
  const bool stacked = call.has(LibraryOption::right_shared) && !call.has(LibraryOption::left_shared) &&
                       !product.a_transposed && rows <= std::numeric_limits<int>::max();
  if (stacked) {
    product.m = static_cast<int>(rows);
    batch = 1;
  }
  const int64_t a_size = call.size(0) * call.size(1), b_size = call.size(1) * call.size(2),
                c_size = call.size(0) * call.size(2);
  for (int64_t point = 0; point < batch; ++point) {
    product(call.operand<T>(0, point, a_size), call.operand<T>(1, point, b_size), call.result<T>(0, point, c_size));
  }
  return 0;
}

INLAY_OF_FIELDS(matmul)

}  // namespace inlay::library
