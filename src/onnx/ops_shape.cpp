// Shapes, and what moves elements without computing: views, parts, copies side by side.
#include <algorithm>
#include <limits>

#include "ir/compose_shape.h"
#include "onnx/importer.h"
#include "onnx/ops.h"

namespace inlay::onnx {
namespace {

void identity(Call& c) {
  if (!c.has(0)) throw c.error(ErrorCode::wrong_arity, "input 0 is missing");
  const Thing thing = c.importer.thing(c.node.inputs[0], c.scope);
  if (std::holds_alternative<Sequence>(thing) || std::holds_alternative<EmptyOptional>(thing)) {
    return c.scope.set(c.node.outputs.at(0), thing);
  }
  c.out(c.in(0));
}

/// A tensor, a number, or a list of numbers, as an attribute.
void constant(Call& c) {
  if (const Attribute* value = c.attribute("value")) {
    if (!value->tensor) throw c.wrong("its value is no tensor");
    return c.scope.set(c.node.outputs.at(0), *value->tensor);
  }
  const auto vector = [&](DType dtype, std::vector<Literal> elements) {
    const auto count = static_cast<int64_t>(elements.size());
    std::vector<ValueId> parts;  // a literal has at most 16
    for (std::size_t i = 0; i < elements.size(); i += 16) {
      const std::vector<Literal> part(
          elements.begin() + static_cast<std::ptrdiff_t>(i),
          elements.begin() + static_cast<std::ptrdiff_t>(std::min(i + 16, elements.size())));
      parts.push_back(c.b.literal(part, {static_cast<int64_t>(part.size())}));
    }
    if (count == 0) return c.out(c.b.iota(0, dtype));
    c.out(parts.size() == 1 ? parts[0] : c.b.concat(parts, 0));
  };
  std::vector<Literal> elements;
  if (c.has_attribute("value_float")) return c.out(c.literal(DType::f32, c.number("value_float", 0)));
  if (c.has_attribute("value_int")) {
    return c.out(c.b.literal(Literal::of_integer(DType::i64, c.integer("value_int"))));
  }
  if (const auto numbers = c.numbers("value_floats")) {
    for (float x : *numbers) elements.push_back(Literal::of_float(DType::f32, static_cast<double>(x)));
    return vector(DType::f32, std::move(elements));
  }
  if (const auto numbers = c.integers("value_ints")) {
    for (int64_t x : *numbers) elements.push_back(Literal::of_integer(DType::i64, x));
    return vector(DType::i64, std::move(elements));
  }
  throw c.unsupported("a constant that is no tensor of numbers");
}

/// Sizes as a vector of i64.
ValueId vector_of(Call& c, const std::vector<Dim>& sizes) {
  std::vector<ValueId> parts;
  for (const Dim& size : sizes) parts.push_back(c.b.size(size));
  if (parts.empty()) return c.b.iota(0, DType::i64);
  return stack(c.b, parts, 0);
}

void shape(Call& c) {
  const std::vector<Dim> dims = c.dims(0);
  const auto rank = static_cast<int64_t>(dims.size());
  const auto clamped = [&](int64_t place) { return std::clamp<int64_t>(place < 0 ? place + rank : place, 0, rank); };
  const int64_t start = clamped(c.integer("start", 0)), end = clamped(c.integer("end", rank));
  c.out(vector_of(c, {dims.begin() + start, dims.begin() + std::max(start, end)}));
}

void size(Call& c) { c.out(c.b.size(product(c.dims(0)))); }

/// a / b, which leaves nothing over: what all terms of both have as a factor cancels, so that 4*n / (4*n) is 1.
Dim quotient(const Dim& a, const Dim& b) {
  if (b.num_summands() != 1 || b.is_constant() || a.constant_part() != 0) return a == b ? Dim(1) : floor_div(a, b);
  std::vector<Dim::Term> dividend = a.terms();
  Dim divisor = b.terms()[0].coefficient;
  for (const Dim::Atom& factor : b.terms()[0].factors) {
    const Dim size = Dim::of_atom(factor, b.builder());
    const auto place_in = [&](Dim::Term& term) {
      return std::ranges::find(term.factors, size, [&](const auto& atom) { return Dim::of_atom(atom, a.builder()); });
    };
    const auto has = [&](Dim::Term& term) { return place_in(term) != term.factors.end(); };
    if (std::ranges::all_of(dividend, has)) {
      for (Dim::Term& term : dividend) term.factors.erase(place_in(term));
    } else {
      divisor = divisor * size;
    }
  }
  Dim left = 0;
  for (const Dim::Term& term : dividend) {
    Dim part = term.coefficient;
    for (const Dim::Atom& factor : term.factors) part = part * Dim::of_atom(factor, a.builder());
    left = left + part;
  }
  return floor_div(left, divisor);
}

/// The size that is left where one of `to` is open.
Dim rest(Call& c, const std::vector<Dim>& from, const std::vector<Dim>& to, std::size_t open) {
  // Axes that both have cancel, so that what is left is a size of the network, not a quotient of products.
  std::vector<Dim> kept(from), others;
  for (std::size_t axis = 0; axis < to.size(); ++axis) {
    if (axis == open) continue;
    const auto same = std::ranges::find(kept, to[axis]);
    if (same != kept.end()) {
      kept.erase(same);
    } else {
      others.push_back(to[axis]);
    }
  }
  const Dim divisor = product(others);
  if (divisor.is(0)) throw c.wrong("a size of -1 beside one of 0");
  return quotient(product(kept), divisor);
}

/// Sizes of which some are found when the network runs: there, too, 0 and -1 have their meanings. What is left for -1
/// is a quotient without the sizes that both have, which may be 0.
std::vector<Dim> late_shape(Call& c, const std::vector<Dim>& from, std::size_t rank, bool zero_is_size) {
  const ValueId one = c.b.literal(Literal::of_integer(DType::i64, 1));
  std::vector<ValueId> numbers;
  ValueId elements = one, others = c.b.literal(Literal::of_integer(DType::i64, -1));  // and the open one, which is -1
  const auto times = [&](ValueId& product, ValueId factor) { product = c.scalar(ScalarOp::mul_, {product, factor}); };
  for (std::size_t axis = 0; axis < std::max(rank, from.size()); ++axis) {
    if (axis >= rank) {
      times(elements, c.b.size(from[axis]));
      continue;
    }
    ValueId number = c.element(1, static_cast<int64_t>(axis)), factor = number;
    if (axis < from.size()) {
      ValueId own = c.b.size(from[axis]);
      if (!zero_is_size) {
        const ValueId is_own = c.with(ScalarOp::eq_, number, 0);
        const auto unless_own = [&](ValueId v) { return c.scalar(ScalarOp::select_, {is_own, one, v}); };
        number = c.scalar(ScalarOp::select_, {is_own, own, number});
        factor = unless_own(factor);
        own = unless_own(own);
      }
      times(elements, own);
    }
    times(others, factor);
    numbers.push_back(number);
  }
  const ValueId left = c.scalar(ScalarOp::floor_div_, {elements, others});
  std::vector<Dim> to;
  for (ValueId number : numbers) {
    const ValueId size = c.scalar(ScalarOp::select_, {c.with(ScalarOp::eq_, number, -1), left, number});
    to.push_back(c.scope.frame.size_of(size, 0));
  }
  return to;
}

/// 0: as the operand has it; -1: what is left.
void reshape(Call& c) {
  const std::vector<Dim> from = c.dims(0);
  const bool zero_is_size = c.flag("allowzero");
  const std::vector<std::optional<Dim>> given = c.known_integers(1);
  if (!std::ranges::all_of(given, [](const auto& size) { return size.has_value(); })) {
    return c.out(c.b.reshape(c.in(0), late_shape(c, from, given.size(), zero_is_size)));
  }
  std::vector<Dim> to;
  std::optional<std::size_t> open;
  for (std::size_t axis = 0; axis < given.size(); ++axis) {
    to.push_back(*given[axis]);
    if (to[axis].is(-1)) {
      if (open) throw c.wrong("two sizes are -1");
      open = axis;
    } else if (to[axis].is(0) && !zero_is_size) {
      if (axis >= from.size())
        throw c.wrong(str("size ", axis, " is to be that of the operand, which has no such axis"));
      to[axis] = from[axis];
    }
  }
  if (open) to[*open] = rest(c, from, to, *open);
  c.out(c.b.reshape(c.in(0), std::move(to)));
}

void flatten(Call& c) {
  const std::vector<Dim> dims = c.dims(0);
  const int64_t given = c.integer("axis", 1), rank = static_cast<int64_t>(dims.size());
  const int64_t axis = given < 0 ? given + rank : given;
  if (axis < 0 || axis > rank) throw c.error(ErrorCode::axis_out_of_range, str("axis ", given));
  const std::span<const Dim> all(dims);
  c.out(c.b.reshape(c.in(0), {product(all.first(static_cast<std::size_t>(axis))),
                              product(all.subspan(static_cast<std::size_t>(axis)))}));
}

/// The axes of one element. Which of them only the run knows is known if the network says how many are left: all of
/// those, or none. Errors: NeedsFixed.
std::vector<int64_t> axes_of_one(Call& c) {
  const std::vector<Dim> dims = c.dims(0);
  std::vector<int64_t> sure, open;
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    const Dim& dim = dims[axis];
    if (!dim.is(0) && (Dim(1) - dim).lower_bound({}) >= 0) {  // of x[0:1], say; squeeze looks whether it is 0
      sure.push_back(static_cast<int64_t>(axis));
    } else if (!dim.is_constant() && dim.lower_bound({}) <= 1) {
      open.push_back(static_cast<int64_t>(axis));
    }
  }
  const std::optional<std::size_t> rank = c.scope.declared_rank(c.node.outputs.at(0));
  if (open.empty() || rank == dims.size() - sure.size()) return sure;
  std::vector<int64_t> all = sure;
  all.insert(all.end(), open.begin(), open.end());
  if (rank == dims.size() - all.size()) return all;
  throw c.needs(c.b.size(dims[static_cast<std::size_t>(open[0])]), str("whether axis ", open[0], " has one element"));
}

void squeeze_axes(Call& c) {
  const auto given = c.constants_or_attribute(1, "axes", 13);
  const std::vector<int64_t> axes = given ? *given : axes_of_one(c);
  c.out(axes.empty() ? c.in(0) : squeeze(c.b, c.in(0), axes));
}

void unsqueeze(Call& c) {
  const auto axes = c.constants_or_attribute(1, "axes", 13);
  if (!axes) throw c.wrong("it has no axes");
  c.out(expand_dims(c.b, c.in(0), *axes));
}

void transpose(Call& c) {
  const int rank = c.rank(0);
  std::vector<int> order;
  if (const auto given = c.integers("perm")) {
    order = c.axes(*given, rank);
  } else {
    for (int axis = rank; axis-- > 0;) order.push_back(axis);
  }
  c.out(c.b.transpose(c.in(0), std::move(order)));
}

void concat(Call& c) { c.out(c.b.concat(c.inputs(), c.axis(c.integer("axis"), c.rank(0)))); }

/// Parts of one length, of which the last ones may be shorter, or have no elements.
void split_evenly(Call& c, int axis, const Dim& dim, int64_t count) {
  const int64_t wanted = c.integer("num_outputs", count);
  if (wanted != count) throw c.wrong(str("`num_outputs` is ", wanted, ", and it has ", count, " outputs"));
  const Dim most = ceil_div(dim, count);
  const auto begin = [&](int64_t part) { return part == 0 ? Dim(0) : part == count ? dim : min(part * most, dim); };
  for (int64_t i = 0; i < count; ++i) {
    std::vector<IndexItem> index = whole(c.dims(0));
    index[static_cast<std::size_t>(axis)] = IndexItem::range(begin(i), begin(i + 1));
    c.out(static_cast<std::size_t>(i), c.b.slice(c.in(0), std::move(index)));
  }
}

void split_axis(Call& c) {
  const int axis = c.axis(c.integer("axis", 0), c.rank(0));
  const Dim dim = c.dims(0)[static_cast<std::size_t>(axis)];
  const auto count = static_cast<int64_t>(c.node.outputs.size());
  std::vector<Dim> sizes;
  if (const auto given = c.sizes_or_attribute(1, "split", 13)) {
    sizes = *given;
  } else if (dim.is_constant() || c.version >= 18) {
    return split_evenly(c, axis, dim, count);
  } else {
    for (int64_t i = 0; i < count; ++i) sizes.push_back(floor_div(dim, count));
  }
  if (static_cast<int64_t>(sizes.size()) != count) {
    throw c.wrong(str(sizes.size(), " sizes for ", count, " outputs"));
  }
  const std::vector<ValueId> parts = split(c.b, c.in(0), sizes, axis);
  for (std::size_t i = 0; i < parts.size(); ++i) c.out(i, parts[i]);
}

/// Where a range begins or ends: one of input `i`, or of an attribute.
struct Edge {
  std::optional<Dim> known;
  std::size_t input = 0;
  int64_t place = 0;
};

std::vector<Edge> edges(Call& c, std::size_t input, std::string_view name) {
  std::vector<Edge> out;
  if (c.version < 10) {
    for (int64_t number : c.integers(name).value_or(std::vector<int64_t>())) out.push_back({Dim(number), 0, 0});
    return out;
  }
  for (const std::optional<Dim>& number : c.known_integers(input)) {
    out.push_back({number, input, static_cast<int64_t>(out.size())});
  }
  return out;
}

constexpr int64_t kEnd = std::numeric_limits<int32_t>::max();  // how exporters write "to the end"

/// Where it is from the start, which may be beyond the axis; none: only the run says whether it counts from the end.
std::optional<Dim> from_start(const Edge& edge, const Dim& dim, const Dim& low, const Dim& high) {
  if (!edge.known) return {};
  const Dim& place = *edge.known;
  if (place.is_constant() && place.constant() >= kEnd) return high;
  if (place.is_constant() && place.constant() <= -kEnd) return low;
  if (place.lower_bound({}) >= 0) return place;
  if ((Dim(-1) - place).lower_bound({}) >= 0) return place + dim;
  return {};
}

/// The place, which may count from the end, within [low, high].
Dim within(Call& c, const Edge& edge, const Dim& dim, const Dim& low, const Dim& high) {
  if (const std::optional<Dim> place = from_start(edge, dim, low, high)) return max(low, min(*place, high));
  // Its sign is known when the network runs: a size is found there, from `low` on.
  const ValueId place = edge.known ? c.b.size(*edge.known) : c.element(edge.input, edge.place);
  const ValueId counted = c.scalar(
      ScalarOp::select_, {c.with(ScalarOp::lt_, place, 0), c.scalar(ScalarOp::add_, {place, c.b.size(dim)}), place});
  const ValueId bounded =
      c.scalar(ScalarOp::max_, {c.b.size(low), c.scalar(ScalarOp::min_, {counted, c.b.size(high)})});
  return c.scope.frame.size_of(c.scalar(ScalarOp::sub_, {bounded, c.b.size(low)}), 0) + low;
}

/// Of x[2:3], x[-1:] and their like: how many places there are, in a form that says that it is 1 at most, and so that
/// it stretches (Call::scalar).
std::optional<Dim> size_of_one_place(const Edge& start, const Edge& end, const Dim& dim, int64_t step) {
  if (step != 1 || !start.known || !end.known || !start.known->is_constant() || !end.known->is_constant()) return {};
  const int64_t first = start.known->constant(), behind = end.known->constant();
  if (first <= -kEnd || first >= kEnd) return {};
  if (first >= 0) return behind == first + 1 ? std::optional(min(1, max(dim - first, 0))) : std::nullopt;
  const bool is_last = first == -1 && behind >= kEnd;
  if (!is_last && (behind != first + 1 || behind == 0)) return {};
  return min(1, max(dim + (first + 1), 0));
}

/// From one edge to the other within the axis. Of edges that are known the length has each of them, and the size of the
/// axis, only once, however many slices there were before.
IndexItem range_of(Call& c, const Edge& first, const Edge& behind, const Dim& dim, int64_t step) {
  const Dim low = step > 0 ? 0 : -1, high = step > 0 ? dim : dim - 1;
  const Dim start = within(c, first, dim, low, high);
  if (const std::optional<Dim> one = size_of_one_place(first, behind, dim, step)) {
    return IndexItem::range(start, start + *one, step);
  }
  const std::optional<Dim> from = from_start(first, dim, low, high), to = from_start(behind, dim, low, high);
  if (from && to && step > 0) {
    return IndexItem::range(start, start + max(min(*to, high) - max(*from, low), 0), step);
  }
  const Dim end = within(c, behind, dim, low, high);
  return IndexItem::range(start, step > 0 ? max(start, end) : min(start, end), step);
}

void slice(Call& c) {
  const int rank = c.rank(0);
  const std::vector<Dim> dims = c.dims(0);
  const std::vector<Edge> starts = edges(c, 1, "starts"), ends = edges(c, 2, "ends");
  const auto given_axes = c.constants_or_attribute(3, "axes", 10);
  std::vector<int64_t> steps(starts.size(), 1);
  if (c.version >= 10 && c.has(4)) steps = c.constants(4);
  std::vector<int> axes;
  if (given_axes) {
    axes = c.axes(*given_axes, rank);
  } else {
    for (std::size_t i = 0; i < starts.size(); ++i) axes.push_back(c.axis(static_cast<int64_t>(i), rank));
  }
  if (axes.size() != starts.size() || axes.size() != ends.size() || axes.size() != steps.size()) {
    throw c.wrong("starts, ends, axes and steps are not of one length");
  }
  std::vector<IndexItem> index = whole(dims);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const Dim& dim = dims[static_cast<std::size_t>(axes[i])];
    const int64_t step = steps[i];
    if (step == 0) throw c.wrong("a step of 0");
    index[static_cast<std::size_t>(axes[i])] = range_of(c, starts[i], ends[i], dim, step);
  }
  c.out(c.b.slice(c.in(0), std::move(index)));
}

/// x, once a size is 1 or that of an axis. (A check of sizes belongs to the next node, and there may be none.)
ValueId one_or(Call& c, ValueId x, const Dim& size, const Dim& dim, std::size_t axis) {
  if (size.is(1) || size == dim) return x;
  const ValueId left = c.b.size(size), right = c.b.size(dim);
  const ValueId fits =
      c.scalar(ScalarOp::or_, {c.with(ScalarOp::eq_, left, 1), c.scalar(ScalarOp::eq_, {left, right})});
  return c.b.assert_that(x, fits, str("Expand: axis ", axis, " has {1} elements, and is to have {0}"),
                         ErrorCode::shape_mismatch, {left, right});
}

/// Both broadcast: a 1 on either side stretches, also one that is found when the network runs.
void expand(Call& c) {
  ValueId x = c.in(0);
  std::vector<Dim> wanted = c.sizes(1);
  const std::vector<Dim> dims = c.dims(0);
  if (wanted.size() < dims.size()) wanted.insert(wanted.begin(), dims.size() - wanted.size(), Dim(1));
  const std::size_t skip = wanted.size() - dims.size();
  bool stretches = false;
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    Dim& size = wanted[axis + skip];
    const Dim& dim = dims[axis];
    if (dim.is(1) || size == dim) continue;
    if (size.is_constant() && !size.is(1)) {
      stretches = stretches || !dim.is_constant();
    } else if (dim.is_constant() || size.is(1)) {
      x = one_or(c, x, size, dim, axis);
      size = dim;
    } else {
      stretches = true;
      const Dim both = c.importer.broadcast_sizes.joined(size, dim);
      x = one_or(c, x, size, both, axis);
      size = both;
    }
  }
  if (stretches) {
    const std::vector<Dim> own(wanted.begin() + static_cast<std::ptrdiff_t>(skip), wanted.end());
    x = stretch(c.b, x, own, "Expand");
  }
  c.out(c.b.broadcast(x, std::move(wanted)));
}

void constant_of_shape(Call& c) {
  Literal value = Literal::of_float(DType::f32, 0);
  if (const Attribute* given = c.attribute("value")) {
    const auto dtype = given->tensor ? dtype_of_type(given->tensor->type) : std::nullopt;
    if (!dtype || given->tensor->num_elements() != 1) throw c.wrong("its value is not one number");
    value = literals_of(*given->tensor, *dtype).front();
  }
  c.out(full(c.b, c.b.literal(value), c.sizes(0)));
}

constexpr OpRow kOps[] = {
    {"Concat", concat},       {"Constant", constant},   {"ConstantOfShape", constant_of_shape},
    {"Expand", expand},       {"Flatten", flatten},     {"Identity", identity},
    {"Reshape", reshape},     {"Shape", shape},         {"Size", size},
    {"Slice", slice},         {"Split", split_axis},    {"Squeeze", squeeze_axes},
    {"Transpose", transpose}, {"Unsqueeze", unsqueeze},
};

}  // namespace

std::span<const OpRow> shape_ops() { return kOps; }

}  // namespace inlay::onnx
