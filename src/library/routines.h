#pragma once
// The functions of BLAS and LAPACK that inlay calls, and where they come from.
//
// A build with INLAY_BLAS=system links the libraries that CMake finds: for C++ programs, the command line tool,
// development. A build with INLAY_BLAS=scipy (a wheel) links none, so that no second OpenBLAS is shipped and loaded
// next to SciPy's: when the first program that calls one is compiled, the bindings fill a table with the addresses of
// SciPy's functions. If SciPy is not installed, library functions use loops of inlay. They also do so where the linked
// library is an OpenBLAS that is older than the CPU: what it does not know, it takes for a Pentium 4 of 2004
// (Prescott), and multiplies matrices five to ten times slower than the CPU can.
#include <complex>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

// Their types, as in LAPACK 3.2 and in SciPy's Cython interface. Integers have 32 bits.
extern "C" {
#define INLAY_BLAS(letter, T)                                                                                          \
  void letter##gemm_(const char* ta, const char* tb, const int* m, const int* n, const int* k, const T* alpha,         \
                     const T* a, const int* lda, const T* b, const int* ldb, const T* beta, T* c, const int* ldc,      \
                     std::size_t, std::size_t);                                                                        \
  void letter##gemv_(const char* ta, const int* m, const int* n, const T* alpha, const T* a, const int* lda,           \
                     const T* x, const int* incx, const T* beta, T* y, const int* incy, std::size_t);                  \
  void letter##trsm_(const char* side, const char* uplo, const char* ta, const char* diagonal, const int* m,           \
                     const int* n, const T* alpha, const T* a, const int* lda, T* b, const int* ldb, std::size_t,      \
                     std::size_t, std::size_t, std::size_t);                                                           \
  void letter##trsv_(const char* uplo, const char* ta, const char* diagonal, const int* n, const T* a, const int* lda, \
                     T* x, const int* incx, std::size_t, std::size_t, std::size_t);
INLAY_BLAS(s, float)
INLAY_BLAS(d, double)
INLAY_BLAS(c, std::complex<float>)
INLAY_BLAS(z, std::complex<double>)
#undef INLAY_BLAS
float sdot_(const int* n, const float* x, const int* incx, const float* y, const int* incy);
double ddot_(const int* n, const double* x, const int* incx, const double* y, const int* incy);

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

#define INLAY_ROUTINES_OF_BLAS(ROW, letter) ROW(letter##gemm) ROW(letter##gemv) ROW(letter##trsm) ROW(letter##trsv)
#define INLAY_BLAS_ROUTINES(ROW) \
  INLAY_ROUTINES_OF_BLAS(ROW, s) \
  INLAY_ROUTINES_OF_BLAS(ROW, d) INLAY_ROUTINES_OF_BLAS(ROW, c) INLAY_ROUTINES_OF_BLAS(ROW, z) ROW(sdot) ROW(ddot)
#define INLAY_ROUTINES_OF_LAPACK(ROW, letter) \
  ROW(letter##potrf)                          \
  ROW(letter##getrf)                          \
  ROW(letter##getrs)                          \
  ROW(letter##gttrf)                          \
  ROW(letter##geqrf)                          \
  ROW(letter##geqp3)                          \
  ROW(letter##gesdd) ROW(letter##gees) ROW(letter##gges) ROW(letter##tgsen) ROW(letter##trsyl) ROW(letter##geev)
#define INLAY_LAPACK_ROUTINES(ROW) \
  INLAY_ROUTINES_OF_LAPACK(ROW, s) \
  INLAY_ROUTINES_OF_LAPACK(ROW, d) \
  INLAY_ROUTINES_OF_LAPACK(ROW, c) \
  INLAY_ROUTINES_OF_LAPACK(ROW, z) \
  ROW(sorgqr) ROW(dorgqr) ROW(cungqr) ROW(zungqr) ROW(ssyevd) ROW(dsyevd) ROW(cheevd) ROW(zheevd)

/// A table of addresses, in the order of kRoutineNames.
struct Routines {
#define INLAY_ROUTINE(name) decltype(&::name##_) name = nullptr;
  INLAY_BLAS_ROUTINES(INLAY_ROUTINE)
  INLAY_LAPACK_ROUTINES(INLAY_ROUTINE)
#undef INLAY_ROUTINE
  // They return the number as in gfortran and SciPy. Not every BLAS does under this name; cblas_cdotu_sub is the same
  // everywhere.
  std::complex<float> (*cdotu)(const int* n, const std::complex<float>* x, const int* incx,
                               const std::complex<float>* y, const int* incy) = nullptr;
  std::complex<double> (*zdotu)(const int* n, const std::complex<double>* x, const int* incx,
                                const std::complex<double>* y, const int* incy) = nullptr;
};

#define INLAY_ROUTINE(name) #name,
inline constexpr const char* kRoutineNames[] = {
    INLAY_BLAS_ROUTINES(INLAY_ROUTINE) INLAY_LAPACK_ROUTINES(INLAY_ROUTINE) "cdotu", "zdotu"};
#undef INLAY_ROUTINE
inline constexpr std::size_t kNumRoutines = std::size(kRoutineNames);
static_assert(sizeof(Routines) == kNumRoutines * sizeof(void*));

namespace detail {
extern Routines routines;
}

/// Returns the table, which is complete once fill_routines() has returned true.
inline const Routines& routines() { return detail::routines; }

/// Sets the address of each routine, in the order of kRoutineNames, and returns the name of the library
/// ("SciPy 1.18.1"), or "" if there is none. Several threads may call it at once. Throws Error if the routines do not
/// fit.
using RoutineSource = std::string (*)(std::span<void*> addresses);
/// Sets the source of routines of a build that links none.
void set_routine_source(RoutineSource source);

/// Fills the table if it is not yet filled, and returns whether it is filled. Throws Error(unsupported) if no source is
/// set, or what the source throws.
bool fill_routines();
/// Returns the library's name: "linked", "SciPy 1.18.1"; "" while nothing has needed one.
std::string routines_text();
/// Was a BLAS linked to this build?
bool has_linked_routines();
/// Does the linked BLAS not know this CPU, and so use none of its vectors? Not where the user has chosen its kernels.
bool is_linked_blas_too_old();
/// The same of an OpenBLAS that uses the kernels of `core`.
bool is_too_old(std::string_view core, bool has_avx2, bool is_chosen);
/// Returns those that such an OpenBLAS has and this CPU can run: it reads their name, OPENBLAS_CORETYPE, while it is
/// loaded.
const char* newest_known_core();

}  // namespace inlay::library
