#pragma once
// LAPACK and BLAS for real and complex numbers of both sizes, under one name and one list of arguments each.
//
// LAPACK is Fortran: arguments by address, matrices by columns, the lengths of strings behind all others. Where only
// complex numbers want real scratch memory (`rwork`), the real functions take it too, and leave it alone. BLAS is asked
// for row-major matrices.
#include <complex>
#include <cstddef>

#include <cblas.h>

#include "ops/element_types.h"

extern "C" {
#define INLAY_LAPACK(letter, T)                                                                          \
  void letter##potrf_(const char* uplo, const int* n, T* a, const int* lda, int* info, std::size_t);     \
  void letter##getrf_(const int* m, const int* n, T* a, const int* lda, int* pivots, int* info);         \
  void letter##getrs_(const char* trans, const int* n, const int* columns, const T* a, const int* lda,   \
                      const int* pivots, T* b, const int* ldb, int* info, std::size_t);                  \
  void letter##gttrf_(const int* n, T* below, T* on, T* above, T* second_above, int* pivots, int* info); \
  void letter##geqrf_(const int* m, const int* n, T* a, const int* lda, T* tau, T* work, const int* lwork, int* info);
INLAY_LAPACK(s, float)
INLAY_LAPACK(d, double)
INLAY_LAPACK(c, std::complex<float>)
INLAY_LAPACK(z, std::complex<double>)
#undef INLAY_LAPACK

#define INLAY_LAPACK(letter, T)                                                                                       \
  void letter##orgqr_(const int* m, const int* n, const int* k, T* a, const int* lda, const T* tau, T* work,          \
                      const int* lwork, int* info);                                                                   \
  void letter##geqp3_(const int* m, const int* n, T* a, const int* lda, int* pivots, T* tau, T* work,                 \
                      const int* lwork, int* info);                                                                   \
  void letter##gesdd_(const char* job, const int* m, const int* n, T* a, const int* lda, T* s, T* u, const int* ldu,  \
                      T* vt, const int* ldvt, T* work, const int* lwork, int* iwork, int* info, std::size_t);         \
  void letter##syevd_(const char* job, const char* uplo, const int* n, T* a, const int* lda, T* w, T* work,           \
                      const int* lwork, int* iwork, const int* liwork, int* info, std::size_t, std::size_t);          \
  void letter##gees_(const char* vectors, const char* sort, int (*leads)(const T*, const T*), const int* n, T* a,     \
                     const int* lda, int* num_leading, T* re, T* im, T* z, const int* ldz, T* work, const int* lwork, \
                     int* chosen, int* info, std::size_t, std::size_t);                                               \
  void letter##gges_(const char* left, const char* right, const char* sort, void* leads, const int* n, T* a,          \
                     const int* lda, T* b, const int* ldb, int* leading, T* re, T* im, T* beta, T* q, const int* ldq, \
                     T* z, const int* ldz, T* work, const int* lwork, int* chosen, int* info, std::size_t,            \
                     std::size_t, std::size_t);                                                                       \
  void letter##tgsen_(const int* job, const int* with_q, const int* with_z, const int* chosen, const int* n, T* a,    \
                      const int* lda, T* b, const int* ldb, T* re, T* im, T* beta, T* q, const int* ldq, T* z,        \
                      const int* ldz, int* leading, T* pl, T* pr, T* dif, T* work, const int* lwork, int* iwork,      \
                      const int* liwork, int* info);                                                                  \
  void letter##trsyl_(const char* ta, const char* tb, const int* sign, const int* m, const int* n, const T* a,        \
                      const int* lda, const T* b, const int* ldb, T* c, const int* ldc, T* scale, int* info,          \
                      std::size_t, std::size_t);                                                                      \
  void letter##geev_(const char* left, const char* right, const int* n, T* a, const int* lda, T* re, T* im, T* vl,    \
                     const int* ldvl, T* vr, const int* ldvr, T* work, const int* lwork, int* info, std::size_t,      \
                     std::size_t);
INLAY_LAPACK(s, float)
INLAY_LAPACK(d, double)
#undef INLAY_LAPACK

#define INLAY_LAPACK(letter, T, R)                                                                                   \
  void letter##ungqr_(const int* m, const int* n, const int* k, T* a, const int* lda, const T* tau, T* work,         \
                      const int* lwork, int* info);                                                                  \
  void letter##geqp3_(const int* m, const int* n, T* a, const int* lda, int* pivots, T* tau, T* work,                \
                      const int* lwork, R* rwork, int* info);                                                        \
  void letter##gesdd_(const char* job, const int* m, const int* n, T* a, const int* lda, R* s, T* u, const int* ldu, \
                      T* vt, const int* ldvt, T* work, const int* lwork, R* rwork, int* iwork, int* info,            \
                      std::size_t);                                                                                  \
  void letter##heevd_(const char* job, const char* uplo, const int* n, T* a, const int* lda, R* w, T* work,          \
                      const int* lwork, R* rwork, const int* lrwork, int* iwork, const int* liwork, int* info,       \
                      std::size_t, std::size_t);                                                                     \
  void letter##gees_(const char* vectors, const char* sort, int (*leads)(const T*), const int* n, T* a,              \
                     const int* lda, int* num_leading, T* w, T* z, const int* ldz, T* work, const int* lwork,        \
                     R* rwork, int* chosen, int* info, std::size_t, std::size_t);                                    \
  void letter##gges_(const char* left, const char* right, const char* sort, void* leads, const int* n, T* a,         \
                     const int* lda, T* b, const int* ldb, int* leading, T* alpha, T* beta, T* q, const int* ldq,    \
                     T* z, const int* ldz, T* work, const int* lwork, R* rwork, int* chosen, int* info, std::size_t, \
                     std::size_t, std::size_t);                                                                      \
  void letter##tgsen_(const int* job, const int* with_q, const int* with_z, const int* chosen, const int* n, T* a,   \
                      const int* lda, T* b, const int* ldb, T* alpha, T* beta, T* q, const int* ldq, T* z,           \
                      const int* ldz, int* leading, R* pl, R* pr, R* dif, T* work, const int* lwork, int* iwork,     \
                      const int* liwork, int* info);                                                                 \
  void letter##trsyl_(const char* ta, const char* tb, const int* sign, const int* m, const int* n, const T* a,       \
                      const int* lda, const T* b, const int* ldb, T* c, const int* ldc, R* scale, int* info,         \
                      std::size_t, std::size_t);                                                                     \
  void letter##geev_(const char* left, const char* right, const int* n, T* a, const int* lda, T* w, T* vl,           \
                     const int* ldvl, T* vr, const int* ldvr, T* work, const int* lwork, R* rwork, int* info,        \
                     std::size_t, std::size_t);
INLAY_LAPACK(c, std::complex<float>, float)
INLAY_LAPACK(z, std::complex<double>, double)
#undef INLAY_LAPACK
}

namespace inlay::library {

template <class T>
using Real = typename RealOf<T>::Type;

template <class T>
struct Lapack;

// What differs between real and complex numbers.
#define INLAY_REAL(letter, T)                                                                                          \
  using Leads = int (*)(const T*, const T*);                                                                           \
  static void gees(const char* sort, Leads leads, int n, T* a, T* w, T* z, T* work, int lwork, T*, int* chosen,        \
                   int* info) {                                                                                        \
    int num_leading = 0;                                                                                               \
    letter##gees_("V", sort, leads, &n, a, &n, &num_leading, w, w + n, z, &n, work, &lwork, chosen, info, 1, 1);       \
  }                                                                                                                    \
  static void gges(int n, T* a, T* b, T* values, T* q, T* z, T* work, int lwork, int* info) {                          \
    int num_leading = 0;                                                                                               \
    letter##gges_("V", "V", "N", nullptr, &n, a, &n, b, &n, &num_leading, values, values + n, values + 2 * n, q, &n,   \
                  z, &n, work, &lwork, nullptr, info, 1, 1, 1);                                                        \
  }                                                                                                                    \
  static void tgsen(int n, const int* chosen, T* a, T* b, T* values, T* q, T* z, T* work, int lwork, int* iwork,       \
                    int* info) {                                                                                       \
    const int only_order = 0, yes = 1, one = 1;                                                                        \
    int num_leading = 0;                                                                                               \
    T unused[4] = {};                                                                                                  \
    letter##tgsen_(&only_order, &yes, &yes, chosen, &n, a, &n, b, &n, values, values + n, values + 2 * n, q, &n, z,    \
                   &n, &num_leading, unused, unused + 1, unused + 2, work, &lwork, iwork, &one, info);                 \
  }                                                                                                                    \
  static constexpr auto orgqr = letter##orgqr_;                                                                        \
  static T dot(int n, const T* x, int incx, const T* y, int incy) { return cblas_##letter##dot(n, x, incx, y, incy); } \
  static void geqp3(int m, int n, T* a, int* pivots, T* tau, T* work, int lwork, T*, int* info) {                      \
    letter##geqp3_(&m, &n, a, &m, pivots, tau, work, &lwork, info);                                                    \
  }                                                                                                                    \
  static void gesdd(const char* job, int m, int n, T* a, T* s, T* u, int ldu, T* vt, int ldvt, T* work, int lwork, T*, \
                    int* iwork, int* info) {                                                                           \
    letter##gesdd_(job, &m, &n, a, &m, s, u, &ldu, vt, &ldvt, work, &lwork, iwork, info, 1);                           \
  }                                                                                                                    \
  static void heevd(const char* job, const char* uplo, int n, T* a, int lda, T* w, T* work, int lwork, T*, int,        \
                    int* iwork, int liwork, int* info) {                                                               \
    letter##syevd_(job, uplo, &n, a, &lda, w, work, &lwork, iwork, &liwork, info, 1, 1);                               \
  }
#define INLAY_COMPLEX(letter, T, R)                                                                                   \
  using Leads = int (*)(const T*);                                                                                    \
  static void gees(const char* sort, Leads leads, int n, T* a, R* w, T* z, T* work, int lwork, R* rwork, int* chosen, \
                   int* info) {                                                                                       \
    int num_leading = 0;                                                                                              \
    letter##gees_("V", sort, leads, &n, a, &n, &num_leading, reinterpret_cast<T*>(w), z, &n, work, &lwork, rwork,     \
                  chosen, info, 1, 1);                                                                                \
  }                                                                                                                   \
  static void gges(int n, T* a, T* b, R* values, T* q, T* z, T* work, int lwork, int* info) {                         \
    int num_leading = 0;                                                                                              \
    letter##gges_("V", "V", "N", nullptr, &n, a, &n, b, &n, &num_leading, reinterpret_cast<T*>(values),               \
                  reinterpret_cast<T*>(values + 2 * n), q, &n, z, &n, work, &lwork, values + 4 * n, nullptr, info, 1, \
                  1, 1);                                                                                              \
  }                                                                                                                   \
  static void tgsen(int n, const int* chosen, T* a, T* b, R* values, T* q, T* z, T* work, int lwork, int* iwork,      \
                    int* info) {                                                                                      \
    const int only_order = 0, yes = 1, one = 1;                                                                       \
    int num_leading = 0;                                                                                              \
    R unused[4] = {};                                                                                                 \
    letter##tgsen_(&only_order, &yes, &yes, chosen, &n, a, &n, b, &n, reinterpret_cast<T*>(values),                   \
                   reinterpret_cast<T*>(values + 2 * n), q, &n, z, &n, &num_leading, unused, unused + 1, unused + 2,  \
                   work, &lwork, iwork, &one, info);                                                                  \
  }                                                                                                                   \
  static constexpr auto orgqr = letter##ungqr_;                                                                       \
  static T dot(int n, const T* x, int incx, const T* y, int incy) {                                                   \
    T out(0);                                                                                                         \
    cblas_##letter##dotu_sub(n, x, incx, y, incy, &out);                                                              \
    return out;                                                                                                       \
  }                                                                                                                   \
  static void geqp3(int m, int n, T* a, int* pivots, T* tau, T* work, int lwork, R* rwork, int* info) {               \
    letter##geqp3_(&m, &n, a, &m, pivots, tau, work, &lwork, rwork, info);                                            \
  }                                                                                                                   \
  static void gesdd(const char* job, int m, int n, T* a, R* s, T* u, int ldu, T* vt, int ldvt, T* work, int lwork,    \
                    R* rwork, int* iwork, int* info) {                                                                \
    letter##gesdd_(job, &m, &n, a, &m, s, u, &ldu, vt, &ldvt, work, &lwork, rwork, iwork, info, 1);                   \
  }                                                                                                                   \
  static void heevd(const char* job, const char* uplo, int n, T* a, int lda, R* w, T* work, int lwork, R* rwork,      \
                    int lrwork, int* iwork, int liwork, int* info) {                                                  \
    letter##heevd_(job, uplo, &n, a, &lda, w, work, &lwork, rwork, &lrwork, iwork, &liwork, info, 1, 1);              \
  }

// CBLAS takes real numbers by value, and complex ones by address.
#define INLAY_BY_VALUE(x) x
#define INLAY_BY_ADDRESS(x) &x

#define INLAY_LAPACK(letter, T, SCALAR, DIFFERENT)                                                                  \
  template <>                                                                                                       \
  struct Lapack<T> {                                                                                                \
    static constexpr auto potrf = letter##potrf_;                                                                   \
    static constexpr auto getrf = letter##getrf_;                                                                   \
    static constexpr auto getrs = letter##getrs_;                                                                   \
    static constexpr auto gttrf = letter##gttrf_;                                                                   \
    static constexpr auto trsyl = letter##trsyl_;                                                                   \
    static constexpr auto geqrf = letter##geqrf_;                                                                   \
    static constexpr auto geev = letter##geev_;                                                                     \
    DIFFERENT                                                                                                       \
    static void gemm(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int m, int n, int k, const T* a, int lda, const T* b,  \
                     int ldb, T* c, int ldc) {                                                                      \
      const T one(1), zero(0);                                                                                      \
      cblas_##letter##gemm(CblasRowMajor, ta, tb, m, n, k, SCALAR(one), a, lda, b, ldb, SCALAR(zero), c, ldc);      \
    }                                                                                                               \
    static void gemv(CBLAS_TRANSPOSE ta, int m, int n, const T* a, int lda, const T* x, int incx, T* y, int incy) { \
      const T one(1), zero(0);                                                                                      \
      cblas_##letter##gemv(CblasRowMajor, ta, m, n, SCALAR(one), a, lda, x, incx, SCALAR(zero), y, incy);           \
    }                                                                                                               \
    static void trsm(CBLAS_UPLO uplo, CBLAS_TRANSPOSE ta, CBLAS_DIAG diagonal, int n, int columns, const T* a,      \
                     int lda, T* b, int ldb) {                                                                      \
      const T one(1);                                                                                               \
      cblas_##letter##trsm(CblasRowMajor, CblasLeft, uplo, ta, diagonal, n, columns, SCALAR(one), a, lda, b, ldb);  \
    }                                                                                                               \
    static void trsv(CBLAS_UPLO uplo, CBLAS_TRANSPOSE ta, CBLAS_DIAG diagonal, int n, const T* a, int lda, T* x,    \
                     int incx) {                                                                                    \
      cblas_##letter##trsv(CblasRowMajor, uplo, ta, diagonal, n, a, lda, x, incx);                                  \
    }                                                                                                               \
  };
INLAY_LAPACK(s, float, INLAY_BY_VALUE, INLAY_REAL(s, float))
INLAY_LAPACK(d, double, INLAY_BY_VALUE, INLAY_REAL(d, double))
INLAY_LAPACK(c, std::complex<float>, INLAY_BY_ADDRESS, INLAY_COMPLEX(c, std::complex<float>, float))
INLAY_LAPACK(z, std::complex<double>, INLAY_BY_ADDRESS, INLAY_COMPLEX(z, std::complex<double>, double))
#undef INLAY_LAPACK
#undef INLAY_BY_ADDRESS
#undef INLAY_BY_VALUE
#undef INLAY_COMPLEX
#undef INLAY_REAL

/// What stands where nothing can be computed.
template <class T>
T not_a_number() {
  return T(std::numeric_limits<Real<T>>::quiet_NaN());
}

}  // namespace inlay::library
