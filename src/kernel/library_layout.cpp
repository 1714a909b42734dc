#include "kernel/library_layout.h"

#include "kernel/dim_proof.h"
#include "support/str.h"

namespace inlay::kernel {
namespace {

/// If there are elements at all, a stride that is a product of sizes is not 0.
bool is_positive(const Dim& stride) { return !stride.is(0) && always_at_least(stride, 0); }
bool is_negative(const Dim& stride) { return !stride.is(0) && always_at_least(0, stride); }

/// Is each row contiguous, and do the rows ascend? (That they do not overlap is true of every view.)
bool lies_by_rows(const Dim& rows, const Dim& columns, const Dim& row_stride, const Dim& column_stride) {
  return (columns.is(1) || column_stride.is(1)) && (rows.is(1) || is_positive(row_stride));
}

}  // namespace

std::string why_not_laid(LibraryLayout layout, const std::array<Dim, 3>& extents, const LibraryStrides<Dim>& strides,
                         const IdMap<SymbolId, std::string>& symbol_names) {
  const auto& [batch, rows, columns] = extents;
  const auto& [batch_stride, row, column] = strides;
  const bool by_rows = lies_by_rows(rows, columns, row, column);
  const auto far = [&](const Dim& stride) { return stride.to_text(symbol_names); };
  const bool is_vector = columns.is(1) && column.is(0);  // a row, though its elements count as rows
  switch (layout) {
    case LibraryLayout::any: return "";
    case LibraryLayout::rows:
      if (is_vector) return row.is(1) ? "" : str("its elements must lie side by side: they are ", far(row), " apart");
      if (by_rows) return "";
      return str("its columns must be 1 element apart, and its rows go forwards: they are ", far(column), " and ",
                 far(row), " apart");
    case LibraryLayout::whole:
      if (by_rows && (rows.is(1) || row == columns) && (!is_vector || row.is(1))) return "";
      return "it must lie without gaps";
    case LibraryLayout::matrix: break;
  }
  const bool is_line = rows.is(1) || columns.is(1);
  const Dim& step = rows.is(1) ? column : row;
  if (is_line) return is_positive(step) || is_negative(step) ? "" : "its elements are all one";
  if (by_rows || lies_by_rows(columns, rows, column, row)) return "";
  return str("its rows or its columns must be 1 element apart, and the others go forwards: they are ", far(row),
             " and ", far(column), " apart");
}

std::optional<Dim> merged_stride(std::span<const Dim> extents, std::span<const Dim> strides) {
  std::optional<Dim> stride;
  Dim extent = 1;
  for (std::size_t axis = extents.size(); axis-- > 0;) {
    if (extents[axis].is(1)) continue;
    if (stride && !(strides[axis] == *stride * extent)) return std::nullopt;
    if (!stride) stride = strides[axis];
    extent = extent * extents[axis];
  }
  return stride.value_or(Dim(0));
}

}  // namespace inlay::kernel
