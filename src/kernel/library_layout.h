#pragma once
// Whether a library function can read or write bytes that lie so.
#include <array>
#include <optional>
#include <span>
#include <string>

#include "ir/dim.h"
#include "ops/library_op.h"
#include "ops/library_strides.h"
#include "support/id.h"

namespace inlay::kernel {

/// Why an operand or a result cannot lie so, or empty. `extents` and `strides`: of the batch, rows and columns.
std::string why_not_laid(LibraryLayout layout, const std::array<Dim, 3>& extents, const LibraryStrides<Dim>& strides,
                         const IdMap<SymbolId, std::string>& symbol_names);

/// One stride for axes of these extents that are passed in order, the last innermost. None: they do not lie evenly.
std::optional<Dim> merged_stride(std::span<const Dim> extents, std::span<const Dim> strides);

}  // namespace inlay::kernel
