// Views: the same elements in other places.
#include <algorithm>
#include <numeric>

#include "ir/build.h"
#include "ir/builder.h"

namespace inlay {
namespace {

bool is_permutation(std::vector<int> axes, int rank) {
  std::sort(axes.begin(), axes.end());
  for (int i = 0; i < static_cast<int>(axes.size()); ++i) {
    if (axes[i] != i) return false;
  }
  return static_cast<int>(axes.size()) == rank;
}

}  // namespace

void require_not_negative(GraphDraft& draft, std::string_view op, ValueId x, std::span<const Dim> dims) {
  for (std::size_t axis : axes_to_check(draft.graph(), dims)) {
    draft.require(
        0, dims[axis], [&] { return str(op, ": dim ", axis, " is {1}"); }, {{"operand", x}}, ErrorCode::negative_size,
        DimCheck::Relation::at_most);
  }
}

void require_axes(const GraphDraft& draft, std::string_view op, ValueId x, std::vector<int>& axes) {
  const int rank = draft.type(x).rank();
  std::ranges::sort(axes);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const bool is_axis = axes[i] >= 0 && axes[i] < rank;
    if (is_axis && (i == 0 || axes[i] != axes[i - 1])) continue;
    throw draft
        .error(ErrorCode::axis_out_of_range,
               str(op, ": axis ", axes[i], is_axis ? str(" is named twice") : str(" of a rank ", rank, " value")))
        .note("operand", draft.graph().describe(x));
  }
}

std::vector<int64_t> all_axes(const GraphDraft& draft, ValueId x) {
  std::vector<int64_t> axes(draft.type(x).dims.size());
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

ValueId GraphBuilder::broadcast(ValueId x, std::vector<Dim> dims) {
  require_own(dims, "broadcast");
  const std::vector<Dim>& from = type(x).dims;
  if (from.size() > dims.size()) {
    throw error(ErrorCode::wrong_rank, str("broadcast: from rank ", from.size(), " to rank ", dims.size()))
        .note("operand", graph().describe(x));
  }
  const std::size_t shift = dims.size() - from.size();
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (from[i].is(1)) continue;
    require(from[i], dims[shift + i], [&] { return str("broadcast: dim ", shift + i, " is {0}, not {1}"); },
            {{"operand", x}});
  }
  if (from == dims) return x;
  require_not_negative(*this, "broadcast", x, dims);
  Node node{.op = Op::broadcast};
  node.operands = {x};
  return add(std::move(node), {type(x).dtype, std::move(dims)});
}

ValueId GraphBuilder::reshape(ValueId x, std::vector<Dim> dims) {
  require_own(dims, "reshape");
  if (type(x).dims == dims) return x;
  const auto message = [&] {
    const auto names = graph().symbol_names();
    return str("reshape: {0} elements do not fill [",
               join(dims, ", ", [&](const Dim& dim) { return dim.to_text(names); }), "], which takes {1}");
  };
  require(product(type(x).dims), product(dims), message, {{"operand", x}});
  require_not_negative(*this, "reshape", x, dims);
  Node node{.op = Op::reshape};
  node.operands = {x};
  return add(std::move(node), {type(x).dtype, std::move(dims)});
}

ValueId GraphBuilder::transpose(ValueId x, std::vector<int> permutation) {
  const int rank = type(x).rank();
  if (!is_permutation(permutation, rank)) {
    throw error(ErrorCode::axis_out_of_range,
                str("transpose: [", join(permutation, ", "), "] is not a permutation of ", rank, " axes"))
        .note("operand", graph().describe(x));
  }
  if (std::is_sorted(permutation.begin(), permutation.end())) return x;
  TensorType result{type(x).dtype, {}};
  for (int axis : permutation) result.dims.push_back(type(x).dims[axis]);
  Node node{.op = Op::transpose};
  node.operands = {x};
  node.axes = std::move(permutation);
  return add(std::move(node), std::move(result));
}

ValueId GraphBuilder::flip(ValueId x, std::vector<int> axes) {
  require_axes(*this, "flip", x, axes);
  if (axes.empty()) return x;
  Node node{.op = Op::flip};
  node.operands = {x};
  node.axes = std::move(axes);
  return add(std::move(node), type(x));
}

ValueId GraphBuilder::diagonal(ValueId x, int first, int second) {
  const int rank = type(x).rank();
  for (int axis : {first, second}) {
    if (axis >= 0 && axis < rank && first != second) continue;
    throw error(ErrorCode::axis_out_of_range,
                str("diagonal: axes ", first, " and ", second, " of a rank ", rank, " value"))
        .note("operand", graph().describe(x));
  }
  std::vector<Dim> dims = type(x).dims;
  const auto [low, high] = std::minmax(first, second);
  require(DimCheck::Relation::equal, dims[low], dims[high], ErrorCode::shape_mismatch,
          str("diagonal: axis ", low, " has {0} elements, axis ", high, " {1}"), x);
  const Dim length = dims[high].is_constant() ? dims[high] : dims[low];
  dims.erase(dims.begin() + high);
  dims.erase(dims.begin() + low);
  dims.push_back(length);
  Node node{.op = Op::diagonal};
  node.operands = {x};
  node.axes = {low, high};
  return add(std::move(node), {type(x).dtype, std::move(dims)});
}

}  // namespace inlay
