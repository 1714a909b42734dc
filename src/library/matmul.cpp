#include <algorithm>

#include "library/call.h"
#include "library/lapack.h"

namespace inlay::library {
namespace {

/// A matrix for BLAS: row-major, or column-major and so the transpose of a row-major one.
template <class T>
struct Lying {
  const T* data = nullptr;
  Turned flag = Turned::no;
  int leading = 1;

  Lying(View<const T> x, int64_t rows, int64_t columns)
      : data(x.data),
        flag(x.column == 1 || columns == 1 ? Turned::no : Turned::transposed),
        leading(static_cast<int>(flag == Turned::no ? library::leading(x, columns)
                                                    : library::leading(x.transposed(), rows))) {}
};

/// A row for BLAS. With a negative stride BLAS begins with the first element in memory.
template <class T>
struct Row {
  T* data = nullptr;
  int step = 1;

  Row(T* first, int64_t count, int64_t stride)
      : data(stride < 0 ? first + (count - 1) * stride : first), step(static_cast<int>(count == 1 ? 1 : stride)) {}
};

/// Computes y = x v of a matrix and a row.
template <class T>
void multiply(View<const T> x, int rows, int columns, Row<const T> v, Row<T> y) {
  const Lying<T> a(x, rows, columns);
  const bool turned = a.flag == Turned::transposed;
  Lapack<T>::gemv(a.flag, turned ? columns : rows, turned ? rows : columns, a.data, a.leading, v.data, v.step, y.data,
                  y.step);
}

/// Multiplies as BLAS does: complex numbers by their parts, also infinite ones.
template <class T>
T times(T a, T b) {
  if constexpr (kIsComplex<T>) {
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
  } else {
    return a * b;
  }
}

/// Computes c[m, n] = a[m, k] b[k, n]. If k is 1, both are rows, each with its own stride.
template <class T>
void multiply(int m, int k, int n, View<const T> a, View<const T> b, View<T> c) {
  if (m == 0 || n == 0) return;
  if (k == 0) {  // not every BLAS clears the result then
    fill(c, m, n, T(0));
  } else if (k == 1) {
    for (int64_t row = 0; row < m; ++row) {
      for (int64_t column = 0; column < n; ++column) c(row, column) = times(a(row, 0), b(0, column));
    }
  } else if (m == 1 && n == 1) {
    const Row<const T> x(a.data, k, a.column), y(b.data, k, b.row);
    c(0, 0) = Lapack<T>::dot(k, x.data, x.step, y.data, y.step);
  } else if (n == 1) {
    multiply<T>(a, m, k, {b.data, k, b.row}, {c.data, m, c.row});
  } else if (m == 1) {
    multiply<T>(b.transposed(), n, k, {a.data, k, a.column}, {c.data, n, c.column});
  } else if (c.column != 1) {  // column-major: the transpose of a row-major b' a'
    multiply<T>(n, k, m, b.transposed(), a.transposed(), c.transposed());
  } else {
    const Lying<T> left(a, m, k), right(b, k, n);
    Lapack<T>::gemm(left.flag, right.flag, m, n, k, left.data, left.leading, right.data, right.leading, c.data,
                    static_cast<int>(leading(c, n)));
  }
}

/// Are the matrices of the batch stacked in memory, so that they are one tall matrix?
bool are_stacked(const int64_t* strides, int64_t rows) { return strides[0] == rows * strides[1] && strides[2] == 1; }

/// Returns the rows of equal parts, between which the call looks at its stop flag. A part takes some 50 ms on a CPU
/// with vectors of two, 10 on one with vectors of four. But it is large enough that packing the right matrix for BLAS
/// each time costs little: with one of 3000 x 3000 a part takes a second.
int64_t rows_at_once(int64_t rows, int k, int n) {
  constexpr int64_t kProducts = int64_t{1} << 28, kFewest = 1024, kOfBlas = 64;
  const int64_t most = std::max(kProducts / std::max<int64_t>(int64_t{k} * n, 1), kFewest);
  const int64_t parts = (rows + most - 1) / most;
  return ((rows + parts - 1) / parts + kOfBlas - 1) / kOfBlas * kOfBlas;
}

}  // namespace

template <class T>
int32_t matmul(const Call& call) {
  const auto counts = [](const int64_t* strides) { return Call::fits(strides[1]) && Call::fits(strides[2]); };
  const bool fits = counts(call.operand_strides) && counts(call.operand_strides + 3) && counts(call.result_strides);
  if (call.is_too_large(3) || !fits) return kTooLarge;
  const int m = call.count(0), k = call.count(1), n = call.count(2);
  const int64_t batch = m && n ? call.batch() : 0;
  // One right matrix for all, and stacked left ones.
  const bool is_tall = batch > 1 && n > 1 && call.is_shared(1) && are_stacked(call.operand_strides, m) &&
                       are_stacked(call.result_strides, m);
  const int64_t rows = is_tall ? batch * m : m;
  const int64_t at_once = rows > 0 ? rows_at_once(rows, k, n) : 1;
  for (int64_t point = 0; point < (is_tall ? 1 : batch); ++point) {
    View<const T> a = call.operand<T>(0, point);
    const View<const T> b = call.operand<T>(1, point);
    View<T> c = call.result<T>(0, point);
    for (int64_t row = 0; row < rows; row += at_once) {
      if (call.is_to_end()) return INLAY_INTERRUPTED;
      multiply<T>(static_cast<int>(std::min(at_once, rows - row)), k, n, a, b, c);
      a.data += at_once * a.row;
      c.data += at_once * c.row;
    }
  }
  return 0;
}

/// Without a BLAS: adds weighted rows of the right matrix.
template <class T>
int32_t matmul_by_loops(const Call& call) {
  const int64_t m = call.size(0), k = call.size(1), n = call.size(2);
  for (int64_t point = 0; point < (m && n ? call.batch() : 0); ++point) {
    const View<const T> a = call.operand<T>(0, point), b = call.operand<T>(1, point);
    const View<T> c = call.result<T>(0, point);
    for (int64_t row = 0; row < m; ++row) {
      if (row % 64 == 0 && call.is_to_end()) return INLAY_INTERRUPTED;
      for (int64_t column = 0; column < n; ++column) c(row, column) = T(0);
      for (int64_t p = 0; p < k; ++p) {
        const T weight = a(row, p);
        for (int64_t column = 0; column < n; ++column) c(row, column) += times(weight, b(p, column));
      }
    }
  }
  return 0;
}

INLAY_OF_FIELDS(matmul)
INLAY_OF_FIELDS(matmul_by_loops)

}  // namespace inlay::library
