#pragma once
// What the text form and the builder say in the same words.
#include <cstddef>
#include <string>
#include <string_view>

#include "ir/graph_draft.h"
#include "support/error.h"

namespace inlay {

/// No parameter and no value says how large `size` is.
Error undefined_size(Location location, std::string_view size);

/// About a negative number that was written where a position along an axis of x is expected, as NumPy's users write it.
Error negative_position(const GraphDraft& draft, ErrorCode code, std::string message, ValueId x, std::size_t axis,
                        const Dim& position);

}  // namespace inlay
