#include "rewrite/narrow_regions.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ir/traits.h"

namespace inlay::rewrite {
namespace {

constexpr int64_t kLargestOfF32 = int64_t{1} << 24;  // up to which it has all integers

bool is_number(DType dtype) { return is_float(dtype) || is_complex(dtype); }

/// Has f32 every number of the dtype?
bool is_held(DType dtype) {
  return (is_number(dtype) && !is_wide(dtype)) || dtype == DType::boolean ||
         (is_integer(dtype) && size_bytes(dtype) <= 2);
}

/// Is it in f32 the same number, but for rounding?
bool is_in_range(double x) {
  const double size = std::fabs(x);
  return !std::isfinite(x) || x == 0 ||
         (size >= double{std::numeric_limits<float>::min()} && size <= double{std::numeric_limits<float>::max()});
}

bool is_same_in_f32(const Literal& x) {
  const Literal rounded = Literal::of_float(narrowed(x.dtype), x.f, x.imaginary);
  return (rounded.f == x.f || std::isnan(x.f)) && (rounded.imaginary == x.imaginary || std::isnan(x.imaginary));
}

/// Is each element of the result one of those of the operands, or that with another sign?
bool chooses_elements(const Node& node) {
  switch (node.op) {
    case Op::gather:
    case Op::concat:
    case Op::assert_: return true;
    case Op::reduce: return node.fold == Fold::max || node.fold == Fold::min;
    case Op::scalar:
      switch (node.scalar) {
        case ScalarOp::neg_:
        case ScalarOp::abs_:
        case ScalarOp::max_:
        case ScalarOp::min_:
        case ScalarOp::clip_:
        case ScalarOp::select_: return true;
        default: return false;
      }
    default: return is_view(node.op);
  }
}

/// Does it make integers no larger than sizes are, of such integers?
bool keeps_counts(const Node& node) {
  if (node.op == Op::cast || chooses_elements(node)) return true;
  if (node.op == Op::reduce) return node.fold == Fold::add;
  if (node.op != Op::scalar) return false;
  switch (node.scalar) {
    case ScalarOp::add_:
    case ScalarOp::sub_:
    case ScalarOp::mul_:
    case ScalarOp::floor_div_:
    case ScalarOp::mod_: return true;
    default: return false;
  }
}

}  // namespace

bool is_wide(DType dtype) { return dtype == DType::f64 || dtype == DType::c128; }

DType narrowed(DType dtype) {
  if (dtype == DType::f64) return DType::f32;
  return dtype == DType::c128 ? DType::c64 : dtype;
}

bool is_end_of_wide(const Graph& graph, const Node& node) {
  if (node.op != Op::cast || !is_wide(graph.type(node.operands[0]).dtype)) return false;
  const DType to = graph.type(node.results[0]).dtype;
  return is_number(to) && !is_wide(to);
}

NarrowRegions::NarrowRegions(const Graph& graph)
    : graph_(graph),
      parts_(graph.nodes.size(), Part::outside),
      why_(graph.nodes.size()),
      is_count_(graph.values.size(), false),
      is_exact_(graph.values.size(), false),
      is_result_(graph.values.size(), false),
      readers_(graph.values.size()) {
  for (const Output& output : graph.outputs) is_result_[output.value] = true;
  for (const Param& param : graph.params) {
    const Facts& facts = param.facts;
    const bool is_small = facts.has_range && facts.min >= -kLargestOfF32 && facts.max <= kLargestOfF32;
    is_count_[param.value] = is_small || param.below || is_held(graph.type(param.value).dtype);
  }
  for (NodeId n : ids<NodeId>(graph.nodes.size())) {
    for (ValueId v : graph.nodes[n].operands) readers_[v].push_back(n);
    classify(n);
  }
  shrink();
}

void NarrowRegions::classify(NodeId n) {
  const Node& node = graph_.nodes[n];
  why_[n] = {node.results.empty() ? ValueId() : node.results[0], "is made by what stays in f64"};
  parts_[n] = part_of(node, why_[n]);
  const bool counts = is_count(node), exact = is_exact(node);
  for (ValueId v : node.results) {
    is_count_[v] = counts || is_held(graph_.type(v).dtype) || (node.op == Op::compress && v == node.results[0]);
    is_exact_[v] = exact;
  }
  // A number that is not known to be the f32's, and that more hangs on than a number.
  if (parts_[n] != Part::inside || exact) return;
  const bool takes_wide =
      std::ranges::any_of(node.operands, [&](ValueId v) { return is_wide(graph_.type(v).dtype) && !is_exact_[v]; });
  const auto hangs_on_it = [&](ValueId v) {
    const DType dtype = graph_.type(v).dtype;
    return !is_number(dtype) && dtype != DType::boolean;
  };
  if (node.op == Op::reduce && takes_wide && std::ranges::any_of(node.results, hangs_on_it)) {
    parts_[n] = Part::outside;
    why_[n] = {node.results[0], "is a place"};
  }
}

NarrowRegions::Part NarrowRegions::part_of(const Node& node, Why& why) {
  const auto has_wide = [&](const std::vector<ValueId>& values) {
    return std::ranges::any_of(values, [&](ValueId v) { return is_wide(graph_.type(v).dtype); });
  };
  const auto is_bool = [&](ValueId v) { return graph_.type(v).dtype == DType::boolean; };
  if (node.op != Op::compress && !node.results.empty() && std::ranges::all_of(node.operands, is_bool) &&
      std::ranges::all_of(node.results, is_bool)) {
    return node.op == Op::scalar || node.op == Op::reduce || is_view(node.op) ? Part::choice : Part::outside;
  }
  if (!has_wide(node.results) && !has_wide(node.operands)) return Part::outside;
  switch (node.op) {
    case Op::literal: return part_of_literal(node, why);
    case Op::iota: return Part::start;
    case Op::cast: return part_of_cast(node, why);
    case Op::scalar: return part_of_scalar(node, why);
    case Op::library: return node.library == LibraryOp::matmul ? Part::inside : Part::outside;
    case Op::broadcast:
    case Op::reshape:
    case Op::transpose:
    case Op::flip:
    case Op::diagonal:
    case Op::slice:
    case Op::gather:
    case Op::update:
    case Op::scatter:
    case Op::reduce:
    case Op::cumulative:
    case Op::concat:
    case Op::compress:
    case Op::assert_: return Part::inside;
    case Op::size:
    case Op::as_size:
    case Op::host_call:
    case Op::cond:
    case Op::loop: break;
  }
  return Part::outside;
}

NarrowRegions::Part NarrowRegions::part_of_literal(const Node& node, Why& why) const {
  why = {node.results[0], "has a number that f32 has not"};
  const bool fits =
      std::ranges::all_of(node.elements, [](const Literal& x) { return is_in_range(x.f) && is_in_range(x.imaginary); });
  return fits ? Part::start : Part::outside;
}

NarrowRegions::Part NarrowRegions::part_of_cast(const Node& node, Why& why) const {
  const ValueId from = node.operands[0];
  const DType given = graph_.type(from).dtype, to = graph_.type(node.results[0]).dtype;
  if (is_end_of_wide(graph_, node)) return Part::end;
  why = {node.results[0], "is no number of f32"};
  if (is_wide(given)) return is_wide(to) ? Part::inside : Part::outside;
  why = {from, "is of integers that f32 has not"};
  return is_held(given) || is_count_[from] ? Part::start : Part::outside;
}

NarrowRegions::Part NarrowRegions::part_of_scalar(const Node& node, Why& why) const {
  const DType dtype = graph_.type(node.operands.back()).dtype, result = graph_.type(node.results[0]).dtype;
  why = {node.results[0], "asks for the neighbour of a number in f64"};
  if (node.scalar == ScalarOp::nextafter_) return Part::outside;
  why.is = "has no f32 form";
  const bool has_form = accepts(node.scalar, narrowed(dtype)) && (is_wide(result) || result == DType::boolean);
  return has_form ? Part::inside : Part::outside;
}

bool NarrowRegions::is_count(const Node& node) const {
  if (node.op == Op::size || node.op == Op::as_size || node.op == Op::iota) return true;
  const auto is_small = [](const Literal& x) {
    const int64_t lowest = is_unsigned_integer(x.dtype) ? 0 : -kLargestOfF32;  // below 0 are large ones of u64
    return x.i >= lowest && x.i <= kLargestOfF32;
  };
  if (node.op == Op::literal) return std::ranges::all_of(node.elements, is_small);
  return keeps_counts(node) && std::ranges::all_of(node.operands, [&](ValueId v) { return is_count_[v]; });
}

bool NarrowRegions::is_exact(const Node& node) const {
  if (node.op == Op::literal) return std::ranges::all_of(node.elements, is_same_in_f32);
  if (node.op == Op::cast && !is_wide(graph_.type(node.operands[0]).dtype)) {
    return is_held(graph_.type(node.operands[0]).dtype);
  }
  const auto is_same = [&](ValueId v) { return is_exact_[v] || !is_wide(graph_.type(v).dtype); };
  return chooses_elements(node) && std::ranges::all_of(node.operands, is_same);
}

void NarrowRegions::shrink() {
  std::vector<NodeId> asked;
  for (std::size_t n = graph_.nodes.size(); n-- > 0;) asked.push_back(NodeId(n));
  while (!asked.empty()) {
    const NodeId n = asked.back();
    asked.pop_back();
    Why why;
    if (parts_[n] == Part::outside || may_stay(n, why)) continue;
    parts_[n] = Part::outside;
    why_[n] = why;
    const Node& node = graph_.nodes[n];
    for (ValueId v : node.operands) {
      if (graph_.values[v].node.valid()) asked.push_back(graph_.values[v].node);
    }
    for (ValueId v : node.results) asked.insert(asked.end(), readers_[v].begin(), readers_[v].end());
  }
}

NarrowRegions::Part NarrowRegions::part_of_maker(ValueId v) const {
  const NodeId maker = graph_.values[v].node;
  return maker.valid() ? parts_[maker] : Part::outside;
}

bool NarrowRegions::may_stay(NodeId n, Why& why) const {
  if (parts_[n] == Part::start) return true;
  const Node& node = graph_.nodes[n];
  bool is_exact = true;
  for (ValueId v : node.operands) {
    if (!is_wide(graph_.type(v).dtype)) continue;
    is_exact = is_exact && is_exact_[v];
    const Part part = part_of_maker(v);
    if (part == Part::start || part == Part::inside) continue;
    const NodeId maker = graph_.values[v].node;
    why = maker.valid() ? why_[maker] : Why{v, "is a parameter"};
    return false;
  }
  if (parts_[n] == Part::end) return true;
  for (ValueId v : node.results) {
    const DType dtype = graph_.type(v).dtype;
    const bool matters = is_wide(dtype) || parts_[n] == Part::choice || (dtype == DType::boolean && !is_exact);
    if (!matters) continue;
    why = {v, "is a result"};
    if (is_result_[v]) return false;
    for (NodeId reader : readers_[v]) {
      if (reads_as_f32(reader, v)) continue;
      why = is_wide(dtype) ? why_[reader] : Why{v, "decides more than a number"};
      return false;
    }
  }
  return true;
}

bool NarrowRegions::reads_as_f32(NodeId reader, ValueId v) const {
  const Part part = parts_[reader];
  if (is_wide(graph_.type(v).dtype)) return part == Part::inside || part == Part::end;
  if (part == Part::choice) return true;
  const Node& node = graph_.nodes[reader];
  if (node.op != Op::scalar || node.scalar != ScalarOp::select_) return false;
  const DType dtype = graph_.type(node.results[0]).dtype;
  return is_number(dtype) && (!is_wide(dtype) || part == Part::inside);
}

bool NarrowRegions::any() const {
  return std::ranges::any_of(parts_, [](Part part) { return part == Part::inside || part == Part::end; });
}

bool NarrowRegions::has_reader_inside(ValueId v) const {
  return std::ranges::any_of(readers_[v], [&](NodeId n) { return reads_as_f32(n, v); });
}

bool NarrowRegions::has_reader_outside(ValueId v) const {
  return is_result_[v] || std::ranges::any_of(readers_[v], [&](NodeId n) { return !reads_as_f32(n, v); });
}

std::string NarrowRegions::reason(ValueId v) const {
  const NodeId maker = graph_.values[v].node;
  const Why why = maker.valid() ? why_[maker] : Why{v, "is a parameter"};
  return str(why.value.valid() ? graph_.value_text(why.value) : "a value", " ", why.is);
}

}  // namespace inlay::rewrite
