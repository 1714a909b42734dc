#pragma once
// LAPACK and BLAS for float and double under one name each. LAPACK is Fortran: arguments by address, matrices by
// columns, the lengths of strings behind all others.
#include <cstddef>

#include <cblas.h>

extern "C" {
#define INLAY_LAPACK(letter, T)                                                                                        \
  void letter##potrf_(const char* uplo, const int* n, T* a, const int* lda, int* info, std::size_t);                   \
  void letter##getrf_(const int* m, const int* n, T* a, const int* lda, int* pivots, int* info);                       \
  void letter##getrs_(const char* trans, const int* n, const int* columns, const T* a, const int* lda,                 \
                      const int* pivots, T* b, const int* ldb, int* info, std::size_t);                                \
  void letter##geqrf_(const int* m, const int* n, T* a, const int* lda, T* tau, T* work, const int* lwork, int* info); \
  void letter##orgqr_(const int* m, const int* n, const int* k, T* a, const int* lda, const T* tau, T* work,           \
                      const int* lwork, int* info);                                                                    \
  void letter##gesdd_(const char* job, const int* m, const int* n, T* a, const int* lda, T* s, T* u, const int* ldu,   \
                      T* vt, const int* ldvt, T* work, const int* lwork, int* iwork, int* info, std::size_t);          \
  void letter##syevd_(const char* job, const char* uplo, const int* n, T* a, const int* lda, T* w, T* work,            \
                      const int* lwork, int* iwork, const int* liwork, int* info, std::size_t, std::size_t);
INLAY_LAPACK(s, float)
INLAY_LAPACK(d, double)
#undef INLAY_LAPACK
}

namespace inlay::library {

template <class T>
struct Lapack;

#define INLAY_LAPACK(letter, T)                        \
  template <>                                          \
  struct Lapack<T> {                                   \
    static constexpr auto potrf = letter##potrf_;      \
    static constexpr auto getrf = letter##getrf_;      \
    static constexpr auto getrs = letter##getrs_;      \
    static constexpr auto geqrf = letter##geqrf_;      \
    static constexpr auto orgqr = letter##orgqr_;      \
    static constexpr auto gesdd = letter##gesdd_;      \
    static constexpr auto syevd = letter##syevd_;      \
    static constexpr auto gemm = cblas_##letter##gemm; \
    static constexpr auto gemv = cblas_##letter##gemv; \
    static constexpr auto trsm = cblas_##letter##trsm; \
    static constexpr auto trsv = cblas_##letter##trsv; \
  };
INLAY_LAPACK(s, float)
INLAY_LAPACK(d, double)
#undef INLAY_LAPACK

}  // namespace inlay::library
