#pragma once
// LAPACK and BLAS for real and complex numbers of both sizes, with one name and one argument list for each function.
//
// LAPACK is Fortran: arguments by address, matrices column-major, the lengths of strings after all others. Where only
// complex numbers need real scratch memory (`rwork`), the real functions take it too and ignore it. BLAS is called for
// row-major matrices: each is the transpose of a column-major one.
//
// They are called through a table of addresses (routines()): a program links a BLAS, or takes SciPy's. SciPy's
// functions take no lengths of strings; in the calling conventions of C a function ignores arguments that it does not
// take.
#include <complex>
#include <cstddef>
#include <limits>

#include "library/routines.h"
#include "ops/element_types.h"

namespace inlay::library {

/// The options of CBLAS.
enum class Turned : char { no = 'N', transposed = 'T', conjugated = 'C' };
enum class Triangle : char { upper = 'U', lower = 'L' };
enum class Diagonal : char { unit = 'U', stored = 'N' };

inline Turned other(Turned turned) { return turned == Turned::no ? Turned::transposed : Turned::no; }
inline Triangle other(Triangle triangle) { return triangle == Triangle::upper ? Triangle::lower : Triangle::upper; }

template <class T>
using Real = typename RealOf<T>::Type;

/// Conjugates a vector in place. BLAS cannot solve with the conjugate of a row-major matrix: the result is the
/// conjugate of solving with the matrix itself for a conjugate.
template <class T>
void conjugate(T* x, int n, int step) {
  if constexpr (kIsComplex<T>) {
    T* at = step < 0 ? x - int64_t{n - 1} * step : x;
    for (int i = 0; i < n; ++i, at += step) *at = std::conj(*at);
  }
}

template <class T>
struct Lapack;

// What differs between real and complex numbers.
#define INLAY_REAL(letter, T)                                                                                          \
  using Leads = int (*)(const T*, const T*);                                                                           \
  static void gees(const char* sort, Leads leads, int n, T* a, T* w, T* z, T* work, int lwork, T*, int* chosen,        \
                   int* info) {                                                                                        \
    int num_leading = 0;                                                                                               \
    routines().letter##gees("V", sort, leads, &n, a, &n, &num_leading, w, w + n, z, &n, work, &lwork, chosen, info, 1, \
                            1);                                                                                        \
  }                                                                                                                    \
  static void gges(int n, T* a, T* b, T* values, T* q, T* z, T* work, int lwork, int* info) {                          \
    int num_leading = 0;                                                                                               \
    routines().letter##gges("V", "V", "N", nullptr, &n, a, &n, b, &n, &num_leading, values, values + n,                \
                            values + 2 * n, q, &n, z, &n, work, &lwork, nullptr, info, 1, 1, 1);                       \
  }                                                                                                                    \
  static void tgsen(int n, const int* chosen, T* a, T* b, T* values, T* q, T* z, T* work, int lwork, int* iwork,       \
                    int* info) {                                                                                       \
    const int only_order = 0, yes = 1, one = 1;                                                                        \
    int num_leading = 0;                                                                                               \
    T unused[4] = {};                                                                                                  \
    routines().letter##tgsen(&only_order, &yes, &yes, chosen, &n, a, &n, b, &n, values, values + n, values + 2 * n, q, \
                             &n, z, &n, &num_leading, unused, unused + 1, unused + 2, work, &lwork, iwork, &one,       \
                             info);                                                                                    \
  }                                                                                                                    \
  INLAY_SAME(orgqr, letter##orgqr)                                                                                     \
  static T dot(int n, const T* x, int incx, const T* y, int incy) {                                                    \
    return routines().letter##dot(&n, x, &incx, y, &incy);                                                             \
  }                                                                                                                    \
  static void geqp3(int m, int n, T* a, int* pivots, T* tau, T* work, int lwork, T*, int* info) {                      \
    routines().letter##geqp3(&m, &n, a, &m, pivots, tau, work, &lwork, info);                                          \
  }                                                                                                                    \
  static void gesdd(const char* job, int m, int n, T* a, T* s, T* u, int ldu, T* vt, int ldvt, T* work, int lwork, T*, \
                    int* iwork, int* info) {                                                                           \
    routines().letter##gesdd(job, &m, &n, a, &m, s, u, &ldu, vt, &ldvt, work, &lwork, iwork, info, 1);                 \
  }                                                                                                                    \
  static void heevd(const char* job, const char* uplo, int n, T* a, int lda, T* w, T* work, int lwork, T*, int,        \
                    int* iwork, int liwork, int* info) {                                                               \
    routines().letter##syevd(job, uplo, &n, a, &lda, w, work, &lwork, iwork, &liwork, info, 1, 1);                     \
  }
#define INLAY_COMPLEX(letter, T, R)                                                                                    \
  using Leads = int (*)(const T*);                                                                                     \
  static void gees(const char* sort, Leads leads, int n, T* a, R* w, T* z, T* work, int lwork, R* rwork, int* chosen,  \
                   int* info) {                                                                                        \
    int num_leading = 0;                                                                                               \
    routines().letter##gees("V", sort, leads, &n, a, &n, &num_leading, reinterpret_cast<T*>(w), z, &n, work, &lwork,   \
                            rwork, chosen, info, 1, 1);                                                                \
  }                                                                                                                    \
  static void gges(int n, T* a, T* b, R* values, T* q, T* z, T* work, int lwork, int* info) {                          \
    int num_leading = 0;                                                                                               \
    routines().letter##gges("V", "V", "N", nullptr, &n, a, &n, b, &n, &num_leading, reinterpret_cast<T*>(values),      \
                            reinterpret_cast<T*>(values + 2 * n), q, &n, z, &n, work, &lwork, values + 4 * n, nullptr, \
                            info, 1, 1, 1);                                                                            \
  }                                                                                                                    \
  static void tgsen(int n, const int* chosen, T* a, T* b, R* values, T* q, T* z, T* work, int lwork, int* iwork,       \
                    int* info) {                                                                                       \
    const int only_order = 0, yes = 1, one = 1;                                                                        \
    int num_leading = 0;                                                                                               \
    R unused[4] = {};                                                                                                  \
    routines().letter##tgsen(&only_order, &yes, &yes, chosen, &n, a, &n, b, &n, reinterpret_cast<T*>(values),          \
                             reinterpret_cast<T*>(values + 2 * n), q, &n, z, &n, &num_leading, unused, unused + 1,     \
                             unused + 2, work, &lwork, iwork, &one, info);                                             \
  }                                                                                                                    \
  INLAY_SAME(orgqr, letter##ungqr)                                                                                     \
  static T dot(int n, const T* x, int incx, const T* y, int incy) {                                                    \
    return routines().letter##dotu(&n, x, &incx, y, &incy);                                                            \
  }                                                                                                                    \
  static void geqp3(int m, int n, T* a, int* pivots, T* tau, T* work, int lwork, R* rwork, int* info) {                \
    routines().letter##geqp3(&m, &n, a, &m, pivots, tau, work, &lwork, rwork, info);                                   \
  }                                                                                                                    \
  static void gesdd(const char* job, int m, int n, T* a, R* s, T* u, int ldu, T* vt, int ldvt, T* work, int lwork,     \
                    R* rwork, int* iwork, int* info) {                                                                 \
    routines().letter##gesdd(job, &m, &n, a, &m, s, u, &ldu, vt, &ldvt, work, &lwork, rwork, iwork, info, 1);          \
  }                                                                                                                    \
  static void heevd(const char* job, const char* uplo, int n, T* a, int lda, R* w, T* work, int lwork, R* rwork,       \
                    int lrwork, int* iwork, int liwork, int* info) {                                                   \
    routines().letter##heevd(job, uplo, &n, a, &lda, w, work, &lwork, rwork, &lrwork, iwork, &liwork, info, 1, 1);     \
  }

#define INLAY_SAME(name, routine)            \
  template <class... Arguments>              \
  static void name(Arguments... arguments) { \
    routines().routine(arguments...);        \
  }

#define INLAY_LAPACK(letter, T, DIFFERENT)                                                                           \
  template <>                                                                                                        \
  struct Lapack<T> {                                                                                                 \
    INLAY_SAME(potrf, letter##potrf)                                                                                 \
    INLAY_SAME(getrf, letter##getrf)                                                                                 \
    INLAY_SAME(getrs, letter##getrs)                                                                                 \
    INLAY_SAME(gttrf, letter##gttrf)                                                                                 \
    INLAY_SAME(trsyl, letter##trsyl)                                                                                 \
    INLAY_SAME(geqrf, letter##geqrf)                                                                                 \
    INLAY_SAME(geev, letter##geev)                                                                                   \
    DIFFERENT                                                                                                        \
    static void gemm(Turned ta, Turned tb, int m, int n, int k, const T* a, int lda, const T* b, int ldb, T* c,      \
                     int ldc) {                                                                                      \
      const T one(1), zero(0);                                                                                       \
      const char left = static_cast<char>(tb), right = static_cast<char>(ta);                                        \
      routines().letter##gemm(&left, &right, &n, &m, &k, &one, b, &ldb, a, &lda, &zero, c, &ldc, 1, 1);              \
    }                                                                                                                \
    /* Not of a conjugate: it would be neither of the matrix by columns nor of its transpose. */                     \
    static void gemv(Turned ta, int m, int n, const T* a, int lda, const T* x, int incx, T* y, int incy) {           \
      const T one(1), zero(0);                                                                                       \
      const char turned = static_cast<char>(other(ta));                                                              \
      routines().letter##gemv(&turned, &n, &m, &one, a, &lda, x, &incx, &zero, y, &incy, 1);                         \
    }                                                                                                                \
    static void trsm(Triangle triangle, Turned ta, Diagonal diagonal, int n, int columns, const T* a, int lda, T* b, \
                     int ldb) {                                                                                      \
      const T one(1);                                                                                                \
      const char uplo = static_cast<char>(other(triangle)), turned = static_cast<char>(ta);                          \
      const char unit = static_cast<char>(diagonal);                                                                 \
      routines().letter##trsm("R", &uplo, &turned, &unit, &columns, &n, &one, a, &lda, b, &ldb, 1, 1, 1, 1);         \
    }                                                                                                                \
    static void trsv(Triangle triangle, Turned ta, Diagonal diagonal, int n, const T* a, int lda, T* x, int incx) {  \
      const char uplo = static_cast<char>(other(triangle)), turned = static_cast<char>(other(ta));                   \
      const char unit = static_cast<char>(diagonal);                                                                 \
      if (ta == Turned::conjugated) conjugate(x, n, incx);                                                           \
      routines().letter##trsv(&uplo, &turned, &unit, &n, a, &lda, x, &incx, 1, 1, 1);                                \
      if (ta == Turned::conjugated) conjugate(x, n, incx);                                                           \
    }                                                                                                                \
  };
INLAY_LAPACK(s, float, INLAY_REAL(s, float))
INLAY_LAPACK(d, double, INLAY_REAL(d, double))
INLAY_LAPACK(c, std::complex<float>, INLAY_COMPLEX(c, std::complex<float>, float))
INLAY_LAPACK(z, std::complex<double>, INLAY_COMPLEX(z, std::complex<double>, double))
#undef INLAY_LAPACK
#undef INLAY_SAME
#undef INLAY_COMPLEX
#undef INLAY_REAL

/// Returns the NaN that stands for a result that cannot be computed.
template <class T>
T not_a_number() {
  return T(std::numeric_limits<Real<T>>::quiet_NaN());
}

}  // namespace inlay::library
