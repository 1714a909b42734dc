#pragma once
// What the builder's calls share, which infer types and refuse operands. Inside ir/ only.
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph_draft.h"

namespace inlay {

/// The axes with sizes that may be negative: those of no value so far, and by themselves not known to be sizes.
std::vector<std::size_t> axes_to_check(const Graph& graph, std::span<const Dim> dims);

/// No size of a view of `x` is negative: throws where one is in every run, records a check where one may be.
void require_not_negative(GraphDraft& draft, std::string_view op, ValueId x, std::span<const Dim> dims);

/// Sorts the axes. Throws where one is no axis of `x`, or is named twice.
void require_axes(const GraphDraft& draft, std::string_view op, ValueId x, std::vector<int>& axes);

/// What axes are where nothing is said: all that `x` has. An empty list of them names none.
std::vector<int64_t> all_axes(const GraphDraft& draft, ValueId x);

/// Throws where a size is a negative number; `what` says which size that is.
void refuse_negative(const GraphDraft& draft, std::span<const Dim> dims,
                     const std::function<std::string(std::size_t axis)>& what);

/// The dims to which the operands broadcast.
std::vector<Dim> broadcast_dims(GraphDraft& draft, std::span<const ValueId> operands, const std::string& what);

/// Throws where a parameter has `size`, to which a value is to give its number: sizes of parameters are known before.
void check_unused_by_params(const GraphDraft& draft, const Dim& size);

}  // namespace inlay
