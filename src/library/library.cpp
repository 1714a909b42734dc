#include "library/library.h"

#include <string>
#include <unordered_map>

#include "library/call.h"
#include "library/routines.h"
#include "support/error.h"

namespace inlay::library {
namespace {

struct Entry {
  InlayLibraryFunction function = nullptr;
  bool calls_blas = false;
  InlayLibraryFunction without_blas = nullptr;  // where no BLAS is to be had; null: there is no other
};
using Table = std::unordered_map<std::string, Entry>;

/// What calls BLAS or LAPACK.
template <Function function>
void add(Table& table, LibraryOp op, DType dtype) {
  table[str("inlay_l_", facts(op).name, "_", dtype_name(dtype))] = {entry<function>, true};
}
template <Function function>
void add_own(Table& table, LibraryOp op, DType dtype) {
  table[str("inlay_l_", facts(op).name, "_", dtype_name(dtype))] = {entry<function>};
}
template <Function function, Function without_blas>
void add_both(Table& table, LibraryOp op, DType dtype) {
  table[str("inlay_l_", facts(op).name, "_", dtype_name(dtype))] = {entry<function>, true, entry<without_blas>};
}

template <class T>
void add_matrices(Table& table, DType dtype) {
  add_both<matmul<T>, matmul_by_loops<T>>(table, LibraryOp::matmul, dtype);
  add<cholesky<T>>(table, LibraryOp::cholesky, dtype);
  add<solve_triangular<T>>(table, LibraryOp::solve_triangular, dtype);
  add<solve<T>>(table, LibraryOp::solve, dtype);
  add<lu_factor<T>>(table, LibraryOp::lu_factor, dtype);
  add<tridiagonal_lu_factor<T>>(table, LibraryOp::tridiagonal_lu_factor, dtype);
  add_own<tridiagonal_lu_solve<T>>(table, LibraryOp::tridiagonal_lu_solve, dtype);
  add<qr<T>>(table, LibraryOp::qr, dtype);
  add<qr_complete<T>>(table, LibraryOp::qr_complete, dtype);
  add<qr_r<T>>(table, LibraryOp::qr_r, dtype);
  add<qr_pivoted<T>>(table, LibraryOp::qr_pivoted, dtype);
  add<qr_complete_pivoted<T>>(table, LibraryOp::qr_complete_pivoted, dtype);
  add<qr_raw<T>>(table, LibraryOp::qr_raw, dtype);
  add<qr_raw_pivoted<T>>(table, LibraryOp::qr_raw_pivoted, dtype);
  add<schur<T>>(table, LibraryOp::schur, dtype);
  add<qz<T>>(table, LibraryOp::qz, dtype);
  add<sylvester<T>>(table, LibraryOp::sylvester, dtype);
  add<svd<T>>(table, LibraryOp::svd, dtype);
  add<svd_full<T>>(table, LibraryOp::svd_full, dtype);
  add<singular_values<T>>(table, LibraryOp::singular_values, dtype);
  add<eigh<T>>(table, LibraryOp::eigh, dtype);
  add<eigvalsh<T>>(table, LibraryOp::eigvalsh, dtype);
  add<eig<T>>(table, LibraryOp::eig, dtype);
  add<eigvals<T>>(table, LibraryOp::eigvals, dtype);
  add<expm<T>>(table, LibraryOp::expm, dtype);
}

template <class T>
void add_rows(Table& table, DType dtype) {
  add_own<sort<T>>(table, LibraryOp::sort, dtype);
  add_own<argsort<T>>(table, LibraryOp::argsort, dtype);
  add_own<searchsorted<T>>(table, LibraryOp::searchsorted, dtype);
}

Table make_table() {
  Table table;
  add_matrices<float>(table, DType::f32);
  add_matrices<double>(table, DType::f64);
  add_matrices<std::complex<float>>(table, DType::c64);
  add_matrices<std::complex<double>>(table, DType::c128);
  add_own<pivots_to_permutation>(table, LibraryOp::pivots_to_permutation, DType::i64);
  add_rows<uint8_t>(table, DType::boolean);
  add_rows<int8_t>(table, DType::i8);
  add_rows<int16_t>(table, DType::i16);
  add_rows<int32_t>(table, DType::i32);
  add_rows<int64_t>(table, DType::i64);
  add_rows<uint8_t>(table, DType::u8);
  add_rows<uint16_t>(table, DType::u16);
  add_rows<uint32_t>(table, DType::u32);
  add_rows<uint64_t>(table, DType::u64);
  add_rows<float>(table, DType::f32);
  add_rows<double>(table, DType::f64);
  add_rows<std::complex<float>>(table, DType::c64);
  add_rows<std::complex<double>>(table, DType::c128);
  return table;
}

}  // namespace

InlayLibraryFunction find_function(std::string_view name) {
  static const Table table = make_table();
  const auto found = table.find(std::string(name));
  if (found == table.end()) return nullptr;
  const Entry& entry = found->second;
  if (!entry.calls_blas) return entry.function;
  try {
    require_routines();
  } catch (const Error& error) {
    if (entry.without_blas != nullptr) return entry.without_blas;
    throw Error(error.diagnostic()).note("called by the program", std::string(name));
  }
  return entry.function;
}

}  // namespace inlay::library
