// Elements that are read or written where an input says: through positions, coordinates and masks.
#include <algorithm>

#include "ir/compose_shape.h"
#include "onnx/ops.h"

namespace inlay::onnx {
namespace {

using Op = ScalarOp;
using Index = std::vector<IndexItem>;

/// One position that is known is a slice, which is a view.
void gather(Call& c) {
  const ValueId x = c.in(0), places = c.in(1);
  const std::vector<Dim> dims = c.dims(0);
  const auto axis = static_cast<std::size_t>(c.axis(c.integer("axis", 0), c.rank(0)));
  Index index = whole(dims);
  index[axis] = IndexItem::through(places);
  if (c.type(places).rank() == 0) {
    const std::optional<Dim> place = c.scope.frame.known_size(places, 0);
    if (place && place->is_constant()) {
      index[axis] = IndexItem::at(place->constant() < 0 ? dims[axis] + *place : *place);
    }
  }
  c.out(c.b.gather(x, std::move(index), "Gather"));
}

/// The coordinates of each element of an array of `dims` (a copy: the nodes that are made move those of values), but
/// for those along `axis`, which are `places`.
Index along(Call& c, std::vector<Dim> dims, std::size_t axis, ValueId at) {
  Index index;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const int behind = static_cast<int>(dims.size() - 1 - i);
    index.push_back(IndexItem::through(i == axis ? at : places(c.b, dims[i], behind)));
  }
  return index;
}

void require_rank(Call& c, std::size_t i, int rank) {
  if (c.rank(i) == rank) return;
  throw c.wrong(str("input ", i, " is to be of rank ", rank, ", and is ", c.b.graph().describe(c.in(i))));
}

void gather_elements(Call& c) {
  const ValueId x = c.in(0), at = c.in(1);
  const int rank = c.rank(0);
  require_rank(c, 1, rank);
  const auto axis = static_cast<std::size_t>(c.axis(c.integer("axis", 0), rank));
  c.out(c.b.gather(x, along(c, c.dims(1), axis, at), "GatherElements"));
}

/// The coordinates that stand along the last axis of `at`, of the axes of x behind the first `batch`, which x and `at`
/// have in common.
Index at_coordinates(Call& c, ValueId at, std::vector<Dim> dims, int64_t batch) {
  const std::vector<Dim> wanted = c.type(at).dims;
  if (wanted.empty()) throw c.wrong("the coordinates are one number, not a vector for each element");
  const Dim& count = wanted.back();
  if (!count.is_constant()) throw c.needs(at, "how many coordinates an element has");
  const auto points = static_cast<int64_t>(wanted.size()) - 1, rank = static_cast<int64_t>(dims.size());
  if (batch < 0 || batch > points || count.constant() < 1 || batch + count.constant() > rank) {
    throw c.wrong(
        str(count.constant(), " coordinates behind ", batch, " batch axes, of ", c.b.graph().describe(c.in(0))));
  }
  Index index;
  for (int64_t i = 0; i < batch; ++i) {
    const Dim& dim = dims[static_cast<std::size_t>(i)];
    c.b.require(
        dim, wanted[static_cast<std::size_t>(i)],
        [&] { return str(c.node.op, ": batch axis ", i, " has {0} elements in the data and {1} in the indices"); },
        {{"data", c.in(0)}, {"indices", at}});
    index.push_back(IndexItem::through(places(c.b, dim, static_cast<int>(points - 1 - i))));
  }
  for (int64_t i = 0; i < count.constant(); ++i) {
    Index one = whole(wanted);
    one.back() = IndexItem::at(i);
    index.push_back(IndexItem::through(c.b.slice(at, std::move(one))));
  }
  for (std::size_t i = index.size(); i < dims.size(); ++i) index.push_back(IndexItem::range(0, dims[i]));
  return index;
}

void gather_nd(Call& c) {
  const ValueId x = c.in(0), at = c.in(1);
  c.out(c.b.gather(x, at_coordinates(c, at, c.dims(0), c.integer("batch_dims", 0)), "GatherND"));
}

Combine reduction(Call& c) {
  constexpr std::pair<std::string_view, Combine> kWays[] = {{"none", Combine::set},
                                                            {"add", Combine::add},
                                                            {"mul", Combine::mul},
                                                            {"max", Combine::max},
                                                            {"min", Combine::min}};
  const std::string word = c.word("reduction", "none");
  const auto* const found = std::ranges::find(kWays, word, &std::pair<std::string_view, Combine>::first);
  if (found == std::end(kWays)) throw c.wrong(str("`", word, "` is no reduction"));
  return found->second;
}

/// Sums and products of half precision are rounded once, as other sums are.
ValueId scattered(Call& c, Combine combine, ValueId x, Index index, ValueId v) {
  const DType dtype = c.type(x).dtype;
  const bool is_sum = combine == Combine::add || combine == Combine::mul;
  if (!is_sum || (dtype != DType::f16 && dtype != DType::bf16)) return c.b.scatter(combine, x, std::move(index), v);
  const ValueId wide = c.b.cast(x, DType::f32), values = c.b.cast(v, DType::f32);
  return c.b.cast(c.b.scatter(combine, wide, std::move(index), values), dtype);
}

void scatter_elements(Call& c) {
  const ValueId x = c.in(0), at = c.in(1), v = c.in(2);
  const int rank = c.rank(0);
  require_rank(c, 1, rank);
  require_rank(c, 2, rank);
  const auto axis = static_cast<std::size_t>(c.axis(c.integer("axis", 0), rank));
  c.out(scattered(c, reduction(c), x, along(c, c.dims(2), axis, at), v));
}

void scatter_nd(Call& c) {
  const ValueId x = c.in(0), at = c.in(1);
  const std::vector<Dim> dims = c.dims(0);
  Index index = at_coordinates(c, at, dims, 0);
  std::vector<Dim> region = c.dims(1);
  const auto known = static_cast<std::ptrdiff_t>(region.back().constant());
  region.pop_back();
  region.insert(region.end(), dims.begin() + known, dims.end());
  const ValueId v = with_sizes(c, c.b, c.in(2), region, "the updates");
  c.out(scattered(c, reduction(c), x, std::move(index), v));
}

/// Indices from -depth to depth - 1; any other has no 1.
void one_hot(Call& c) {
  const ValueId given = c.in(0), values = with_sizes(c, c.b, c.in(2), {2}, "the values");
  const Dim depth = c.scope.frame.size_of(c.b.cast(one_number(c, c.in(1)), DType::i64), 0);
  const int rank = c.rank(0);
  const int axis = c.axis(c.integer("axis", -1), rank + 1);
  ValueId place = c.b.cast(given, DType::i64);
  place = c.scalar(Op::select_, {c.with(Op::lt_, place, 0), c.scalar(Op::add_, {place, c.b.size(depth)}), place});
  const ValueId is_it = c.scalar(Op::eq_, {expand_dims(c.b, place, {axis}), places(c.b, depth, rank - axis)});
  const ValueId off = c.b.slice(values, {IndexItem::at(0)}), on = c.b.slice(values, {IndexItem::at(1)});
  c.out(c.scalar(Op::select_, {is_it, on, off}));
}

/// A mask may be shorter than the axis; what is behind it is left out.
void compress(Call& c) {
  ValueId x = c.in(0);
  int axis = 0;
  if (c.has_attribute("axis")) {
    axis = c.axis(c.integer("axis"), c.rank(0));
  } else {
    x = c.b.reshape(x, {product(c.dims(0))});
  }
  Index index = whole(c.type(x).dims);
  index[static_cast<std::size_t>(axis)] = IndexItem::through(nonzero(c.b, c.in(1)).at(0));
  c.out(c.b.gather(x, std::move(index), "Compress"));
}

/// The number that every element of v is, where it was made so.
std::optional<Literal> everywhere(Call& c, ValueId v) {
  const inlay::Graph& graph = c.b.graph();
  const inlay::Node* node = graph.node_of(v);
  if (!node || node->op != inlay::Op::broadcast) return {};
  const auto known = c.known_literals(node->operands[0]);
  return known && known->size() == 1 ? std::optional(known->front()) : std::nullopt;
}

/// A row for each axis; of one number none, however long. Of a vector that is full of ones these are its places: so
/// old networks count up to a size.
void non_zero(Call& c) {
  const ValueId x = c.in(0);
  const std::optional<Literal> all = c.rank(0) == 1 ? everywhere(c, x) : std::nullopt;
  if (all && (all->i != 0 || all->f != 0)) return c.out(expand_dims(c.b, c.b.iota(c.dims(0)[0], DType::i64), {0}));
  const bool is_number = c.rank(0) == 0;
  const std::vector<ValueId> rows = nonzero(c.b, is_number ? c.b.reshape(x, {1}) : x);
  if (!is_number) return c.out(stack(c.b, rows, 0));
  c.out(full(c.b, c.literal(DType::i64, 0), {0, c.type(rows[0]).dims[0]}));
}

/// Of each sequence the first elements, as many as it is long, backwards.
void reverse_sequence(Call& c) {
  const ValueId x = c.in(0);
  const int64_t batch = c.integer("batch_axis", 1), time = c.integer("time_axis", 0);
  if (batch + time != 1 || batch * time != 0) {
    throw c.wrong(str("axis ", batch, " of the batch and ", time, " of time, of which one is to be 0 and one 1"));
  }
  const std::vector<Dim> dims = c.dims(0);
  const Dim& steps = dims.at(static_cast<std::size_t>(time));
  const Dim& sequences = dims.at(static_cast<std::size_t>(batch));
  const auto beside = [&](int64_t axis) { return static_cast<int>(1 - axis); };
  ValueId lengths = c.b.cast(c.in(1), DType::i64);
  if (batch == 0) lengths = expand_dims(c.b, lengths, {1});
  const ValueId step = places(c.b, steps, beside(time));
  const ValueId mirrored = c.scalar(Op::sub_, {c.with(Op::sub_, lengths, 1), step});
  const ValueId from = c.scalar(Op::select_, {c.scalar(Op::lt_, {step, lengths}), mirrored, step});
  Index index = whole(dims);
  index[static_cast<std::size_t>(time)] = IndexItem::through(from);
  index[static_cast<std::size_t>(batch)] = IndexItem::through(places(c.b, sequences, beside(batch)));
  c.out(c.b.gather(x, std::move(index), "ReverseSequence"));
}

/// The rows of `update` into a cache, from a place for each sequence of the batch on.
void tensor_scatter(Call& c) {
  const ValueId cache = c.in(0), v = c.in(1);
  const int rank = c.rank(0);
  require_rank(c, 1, rank);
  const auto axis = static_cast<std::size_t>(c.axis(c.integer("axis", -2), rank));
  if (axis == 0) throw c.wrong("the axis of the sequence is that of the batch");
  const std::string mode = c.word("mode", "linear");
  if (mode != "linear" && mode != "circular") throw c.wrong(str("`", mode, "` is no mode"));
  const std::vector<Dim> dims = c.dims(0), written = c.dims(1);
  // The axes behind that of the sequence are whole, so that rows are copied.
  const std::vector<Dim> before(written.begin(), written.begin() + static_cast<std::ptrdiff_t>(axis) + 1);
  ValueId place = places(c.b, before.back(), 0);
  if (c.has(2)) {
    std::vector<Dim> column(axis + 1, Dim(1));
    column[0] = written[0];
    place = c.scalar(Op::add_, {c.b.reshape(c.b.cast(c.in(2), DType::i64), std::move(column)), place});
  }
  if (mode == "circular") place = c.scalar(Op::mod_, {place, c.b.size(dims[axis])});
  Index index = along(c, before, axis, place);
  for (std::size_t i = axis + 1; i < dims.size(); ++i) index.push_back(IndexItem::range(0, dims[i]));
  c.out(c.b.scatter(Combine::set, cache, std::move(index), v));
}

constexpr OpRow kOps[] = {
    {"Compress", compress},
    {"Gather", gather},
    {"GatherElements", gather_elements},
    {"GatherND", gather_nd},
    {"NonZero", non_zero},
    {"OneHot", one_hot},
    {"ReverseSequence", reverse_sequence},
    {"Scatter", scatter_elements},
    {"ScatterElements", scatter_elements},
    {"ScatterND", scatter_nd},
    {"TensorScatter", tensor_scatter},
};

}  // namespace

std::span<const OpRow> index_ops() { return kOps; }

}  // namespace inlay::onnx
