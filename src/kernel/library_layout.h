#pragma once
// Which memory layouts a library function can read and write.
#include <array>
#include <optional>
#include <span>
#include <string>

#include "ir/dim.h"
#include "ops/library_op.h"
#include "ops/library_strides.h"
#include "support/id.h"

namespace inlay::kernel {

/// Says why an operand or a result cannot have these strides; empty if it can. `extents` and `strides` are those of the
/// batch, rows and columns.
std::string why_not_laid(LibraryLayout layout, const std::array<Dim, 3>& extents, const LibraryStrides<Dim>& strides,
                         const IdMap<SymbolId, std::string>& symbol_names);

/// Returns the single stride of axes of these extents that are traversed in order, the last innermost; nothing if they
/// cannot be merged into one axis.
std::optional<Dim> merged_stride(std::span<const Dim> extents, std::span<const Dim> strides);

}  // namespace inlay::kernel
