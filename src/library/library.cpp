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
  InlayLibraryFunction without_blas = nullptr;  // the same without BLAS and LAPACK, if `function` calls them; else null
};
using Table = std::unordered_map<std::string, Entry>;

std::string name_of(LibraryOp op, DType dtype) { return str("inlay_l_", facts(op).name, "_", dtype_name(dtype)); }

template <Function function>
void add_own(Table& table, LibraryOp op, DType dtype) {
  table[name_of(op, dtype)] = {entry<function>};
}
/// A function that calls BLAS or LAPACK.
template <LibraryOp op, DType dtype, Function function, Function without_blas = by_the_book<op, dtype>>
void add(Table& table) {
  table[name_of(op, dtype)] = {entry<function>, entry<without_blas>};
}

template <class T, DType dtype>
void add_matrices(Table& table) {
  add<LibraryOp::matmul, dtype, matmul<T>, matmul_by_loops<T>>(table);
  add<LibraryOp::cholesky, dtype, cholesky<T>>(table);
  add<LibraryOp::solve_triangular, dtype, solve_triangular<T>>(table);
  add<LibraryOp::solve, dtype, solve<T>>(table);
  add<LibraryOp::lu_factor, dtype, lu_factor<T>>(table);
  add<LibraryOp::tridiagonal_lu_factor, dtype, tridiagonal_lu_factor<T>>(table);
  add_own<tridiagonal_lu_solve<T>>(table, LibraryOp::tridiagonal_lu_solve, dtype);
  add<LibraryOp::qr, dtype, qr<T>>(table);
  add<LibraryOp::qr_complete, dtype, qr_complete<T>>(table);
  add<LibraryOp::qr_r, dtype, qr_r<T>>(table);
  add<LibraryOp::qr_pivoted, dtype, qr_pivoted<T>>(table);
  add<LibraryOp::qr_complete_pivoted, dtype, qr_complete_pivoted<T>>(table);
  add<LibraryOp::qr_raw, dtype, qr_raw<T>>(table);
  add<LibraryOp::qr_raw_pivoted, dtype, qr_raw_pivoted<T>>(table);
  add<LibraryOp::schur, dtype, schur<T>>(table);
  add<LibraryOp::qz, dtype, qz<T>>(table);
  add<LibraryOp::sylvester, dtype, sylvester<T>>(table);
  add<LibraryOp::svd, dtype, svd<T>>(table);
  add<LibraryOp::svd_full, dtype, svd_full<T>>(table);
  add<LibraryOp::singular_values, dtype, singular_values<T>>(table);
  add<LibraryOp::eigh, dtype, eigh<T>>(table);
  add<LibraryOp::eigvalsh, dtype, eigvalsh<T>>(table);
  add<LibraryOp::eig, dtype, eig<T>>(table);
  add<LibraryOp::eigvals, dtype, eigvals<T>>(table);
  add<LibraryOp::expm, dtype, expm<T>>(table);
}

template <class T>
void add_rows(Table& table, DType dtype) {
  add_own<sort<T>>(table, LibraryOp::sort, dtype);
  add_own<argsort<T>>(table, LibraryOp::argsort, dtype);
  add_own<searchsorted<T>>(table, LibraryOp::searchsorted, dtype);
}

Table make_table() {
  Table table;
  add_matrices<float, DType::f32>(table);
  add_matrices<double, DType::f64>(table);
  add_matrices<std::complex<float>, DType::c64>(table);
  add_matrices<std::complex<double>, DType::c128>(table);
  add_own<row_dots>(table, LibraryOp::row_dots, DType::u8);
  add_own<weighted_rows>(table, LibraryOp::weighted_rows, DType::u8);
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

const Entry* find(std::string_view name) {
  static const Table table = make_table();
  const auto found = table.find(std::string(name));
  return found == table.end() ? nullptr : &found->second;
}

}  // namespace

InlayLibraryFunction find_function_without_blas(std::string_view name) {
  const Entry* entry = find(name);
  if (entry == nullptr) return nullptr;
  return entry->without_blas != nullptr ? entry->without_blas : entry->function;
}

InlayLibraryFunction find_function(std::string_view name) {
  const Entry* entry = find(name);
  if (entry == nullptr) return nullptr;
  if (entry->without_blas == nullptr) return entry->function;
  try {
    return fill_routines() ? entry->function : entry->without_blas;
  } catch (const Error& error) {
    throw Error(error.diagnostic()).note("called by the program", std::string(name));
  }
}

}  // namespace inlay::library
