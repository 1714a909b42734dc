#include "fuse/split_loops.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "kernel/dim_proof.h"

namespace inlay::fuse {

namespace {

using kernel::Subscript;

/// An axis of a loop that steps by a size of 0 or 1 along what it reads, and that of the loop which makes this.
struct Pair {
  int reader = 0, maker = 0;
  Dim size;
};

/// How loops over these axes are split.
struct Split {
  std::vector<Dim> axes;
  std::vector<int> along;  // these: the first part has the points before `part.ends`
  Part part;               // the first one
};

bool is_axis(const Subscript& at) { return !at.index && at.base.is(0) && at.axes.size() == 1 && at.axes[0].step.is(1); }

/// The size for another size of one symbol.
class AtSize {
 public:
  AtSize(const Graph& graph, const Dim& symbol, const Dim& now) {
    for (SymbolId s : ids<SymbolId>(graph.symbols.size())) {
      sizes_.push_back(s == symbol.as_symbol() ? now : Dim::symbol(s, symbol.builder()));
    }
  }
  Dim operator()(const Dim& size) const { return size.substitute(sizes_); }

 private:
  IdMap<SymbolId, Dim> sizes_;
};

/// Where `step` is 1, which it is if `made`, a symbol, is 2 or more: is `n` as long as that? A check says so.
bool is_as_long(const Graph& graph, const Dim& step, const Dim& made, const Dim& n) {
  if (!made.is_symbol() || !AtSize(graph, made, 0)(step).is(0) || !AtSize(graph, made, 1)(step).is(0)) return false;
  const AtSize where_one(graph, made, made + 2);
  if (!where_one(step).is(1)) return false;
  const Dim beyond = where_one(made - n);
  return std::ranges::any_of(graph.checks, [&](const DimCheck& check) {
    if (check.relation != DimCheck::Relation::equal) return false;
    const Dim differs = where_one(check.left - check.right);
    return differs == beyond || Dim(0) - differs == beyond;
  });
}

bool makes(const PieceFacts& facts, ValueId v) {
  return std::ranges::any_of(facts.demands, [&](const Demand& d) { return d.value == v && !d.loaded; });
}

/// Where the size of the pair is 1, is the axis of the maker no longer than that of the reader? A check says so.
bool is_covered(const Graph& graph, const Pair& pair, const Dim& reader, const Dim& maker) {
  return std::ranges::any_of(graph.checks, [&](const DimCheck& check) {
    return check.relation == DimCheck::Relation::equal &&
           kernel::is_at_most_or_one(maker, reader, pair.size, check.left, check.right);
  });
}

/// (What only checks stands in a loop that there is, or in one of its own.)
bool is_loop_over(const std::vector<Dim>& axes, const Piece& piece) {
  return piece.is_loop() && !piece.only_checks && piece.axes == axes;
}

class Splits {
 public:
  Splits(const Graph& graph, const FactsOfPieces& facts, const Pieces& pieces)
      : graph_(graph), facts_(facts), pieces_(pieces.pieces) {}

  std::vector<Split> find() {
    const std::vector<Reader> readers = find_readers();
    std::multimap<ValueId, const Reader*> by_value;
    for (const Reader& reader : readers) {
      add(reader.piece, reader.asks->value);
      // Loops of other lengths that read the same at the same steps: where they step by 1 they are as long.
      const auto [first, last] = by_value.equal_range(reader.asks->value);
      for (auto other = first; other != last; ++other) add(*other->second, reader);
      by_value.emplace(reader.asks->value, &reader);
    }
    return std::move(out_);
  }

 private:
  /// A loop, and what it asks for at a step of 0 or 1.
  struct Reader {
    PieceId piece;
    const Demand* asks;
  };

  std::vector<Reader> find_readers() const {
    std::vector<Reader> out;
    for (PieceId id : ids<PieceId>(pieces_.size())) {
      if (!is_loop_over(pieces_[id].axes, pieces_[id])) continue;
      for (const Demand& demand : facts_[id]->demands) {
        const bool steps = std::ranges::any_of(
            demand.at->subscripts, [](const Subscript& at) { return kernel::stretching_step(at).has_value(); });
        if (steps && graph_.node_of(demand.value)) out.push_back({id, &demand});
      }
    }
    return out;
  }

  void add(PieceId reader, ValueId read) {
    const std::vector<Dim>& axes = pieces_[reader].axes;
    for (PieceId id : ids<PieceId>(pieces_.size())) {
      const Piece& maker = pieces_[id];
      if (maker.axes == axes || !makes(*facts_[id], read) || !all_can_be_split(axes) || !all_can_be_split(maker.axes))
        continue;
      const std::vector<Pair> pairs = pairs_of(*facts_[reader], id);
      if (!pairs.empty()) add(pairs, axes, maker.axes);
    }
  }

  /// Both loops, where the first one is split or could be.
  void add(const Reader& first, const Reader& second) {
    const std::vector<Dim>&axes = pieces_[first.piece].axes, &others = pieces_[second.piece].axes;
    if (axes == others) return;
    const Demand &read = *first.asks, &other = *second.asks;
    const std::optional<Split> split = split_of_reader(axes, read);
    if (!split || !all_can_be_split(others)) return;
    Split as_well{others, {}, split->part};
    for (std::size_t dim = 0; dim < read.at->subscripts.size(); ++dim) {
      const Subscript &mine = read.at->subscripts[dim], &own = other.at->subscripts[dim];
      const std::optional<Dim> size = kernel::stretching_step(mine);
      if (!size) continue;
      const Dim& made = graph_.type(read.value).dims[dim];
      const std::size_t at = as_well.along.size();
      const bool fits = at < split->along.size() && split->along[at] == mine.axes[0].axis &&
                        kernel::stretching_step(own) == size &&
                        std::ranges::find(as_well.along, own.axes[0].axis) == as_well.along.end() &&
                        is_as_long(graph_, *size, made, axes[static_cast<std::size_t>(mine.axes[0].axis)]) &&
                        is_as_long(graph_, *size, made, others[static_cast<std::size_t>(own.axes[0].axis)]);
      if (!fits) return;
      as_well.along.push_back(own.axes[0].axis);
    }
    if (as_well.along.size() != split->along.size()) return;
    if (std::ranges::find(out_, axes, &Split::axes) == out_.end()) out_.push_back(*split);
    out_.push_back(std::move(as_well));
  }

  /// As it is split, or could be.
  std::optional<Split> split_of_reader(const std::vector<Dim>& axes, const Demand& read) const {
    const auto found = std::ranges::find(out_, axes, &Split::axes);
    if (found != out_.end()) return found->part.reads ? std::optional(*found) : std::nullopt;
    if (!all_can_be_split(axes)) return std::nullopt;
    Split out{axes, {}, {.reads = true}};
    for (const Subscript& at : read.at->subscripts) {
      const std::optional<Dim> size = kernel::stretching_step(at);
      if (!size) continue;
      if (std::ranges::find(out.along, at.axes[0].axis) != out.along.end()) return std::nullopt;
      out.part.sizes.push_back(*size);
      out.along.push_back(at.axes[0].axis);
    }
    for (std::size_t i = 0; i < out.along.size(); ++i) {
      const Dim& n = axes[static_cast<std::size_t>(out.along[i])];
      out.part.ends.push_back(n * (i == 0 ? product(out.part.sizes) : out.part.sizes[i]));
      if (!is_known(out.part.ends.back())) return std::nullopt;
    }
    return out;
  }

  /// All loops over the axes, so that those which are one stay so; none is split again.
  bool all_can_be_split(const std::vector<Dim>& axes) const {
    if (std::ranges::find(out_, axes, &Split::axes) != out_.end()) return false;
    for (PieceId id : ids<PieceId>(pieces_.size())) {
      if (is_loop_over(axes, pieces_[id]) && !can_be_split(id)) return false;
    }
    return true;
  }

  /// Is it the same in several loops as in one? What a fold makes at each point needs all points before, and rows that
  /// are folded are read where they are complete.
  bool can_be_split(PieceId id) const {
    const Piece& piece = pieces_[id];
    const auto needs_all = [](const Write& write) {
      const bool folds_rows = write.kind == kernel::Statement::Kind::fold && write.map.rank() > 0;
      return folds_rows || write.runs || write.running.valid() || write.selection.valid() ||
             std::ranges::any_of(write.indices, [](const WriteIndex& index) { return index.running.valid(); });
    };
    return std::ranges::none_of(piece.writes, needs_all);
  }

  /// Before any loop begins?
  bool is_known(const Dim& size) const {
    return std::ranges::none_of(size.symbols(), [&](SymbolId s) { return graph_.binder_of(s).valid(); });
  }

  /// The first part has points where all sizes are 1, and then the lengths are equal: beside it nothing is left.
  void add(const std::vector<Pair>& pairs, const std::vector<Dim>& reader, const std::vector<Dim>& maker) {
    Split by_reader{reader, {}, {}}, by_maker{maker, {}, {}};
    Part part;
    for (const Pair& pair : pairs) part.sizes.push_back(pair.size);
    for (const Pair& pair : pairs) {
      const Dim &n = reader[static_cast<std::size_t>(pair.reader)], &m = maker[static_cast<std::size_t>(pair.maker)];
      part.ends.push_back(n * (part.ends.empty() ? product(part.sizes) : pair.size));
      const bool nothing_is_beside = part.ends.size() == 1 || is_covered(graph_, pair, n, m);
      if (!nothing_is_beside || !is_known(part.ends.back())) return;
      by_reader.along.push_back(pair.reader);
      by_maker.along.push_back(pair.maker);
    }
    by_maker.part = part;
    part.reads = true;
    by_reader.part = std::move(part);
    out_.push_back(std::move(by_reader));
    out_.push_back(std::move(by_maker));
  }

  /// By what both ask for, each axis once. The reader stays within a dim of it, all of which the maker passes.
  std::vector<Pair> pairs_of(const PieceFacts& reader, PieceId maker_id) const {
    const PieceFacts& maker = *facts_[maker_id];
    const auto passes = [&](const Subscript& at, const Dim& dim) {
      return is_axis(at) && pieces_[maker_id].axes[static_cast<std::size_t>(at.axes[0].axis)] == dim;
    };
    std::vector<Pair> out;
    for (const Demand& read : reader.demands) {
      for (const Demand& made : maker.demands) {
        if (made.value != read.value) continue;
        for (std::size_t dim = 0; dim < read.at->subscripts.size(); ++dim) {
          const Subscript &from = read.at->subscripts[dim], &to = made.at->subscripts[dim];
          const bool passes_all = passes(to, graph_.type(made.value).dims[dim]);
          const std::optional<Dim> size = passes_all ? kernel::stretching_step(from) : std::nullopt;
          const auto is_paired = [&](const Pair& pair) {
            return pair.reader == from.axes[0].axis || pair.maker == to.axes[0].axis;
          };
          if (size && std::ranges::none_of(out, is_paired)) out.push_back({from.axes[0].axis, to.axes[0].axis, *size});
        }
      }
    }
    std::ranges::sort(out, {}, &Pair::reader);
    return out;
  }

  const Graph& graph_;
  const FactsOfPieces& facts_;
  const IdMap<PieceId, Piece>& pieces_;
  std::vector<Split> out_;
};

void shift(AccessMap& map, int axis, const Dim& by) {
  for (Subscript& subscript : map.subscripts) {
    for (const kernel::AxisTerm& term : subscript.axes) {
      if (term.axis == axis) subscript.base = subscript.base + term.step * by;
    }
  }
}

void shift(Piece& piece, int axis, const Dim& by) {
  for (Write& write : piece.writes) {
    shift(write.map, axis, by);
    shift(write.at, axis, by);
    for (WriteIndex& index : write.indices) shift(index.at, axis, by);
  }
  if (piece.of_whole) shift(piece.of_whole->at, axis, by);
}

/// The first part, and the other one: of a loop that reads all of it or nothing, else what lies behind.
std::pair<Piece, Piece> parts_of(Piece piece, const Split& split) {
  piece.part = split.part;
  Piece other = piece;
  other.part->is_first = false;
  other.starts.clear();
  Dim& length = other.axes[static_cast<std::size_t>(split.along[0])];
  length = length - split.part.ends[0];
  if (!split.part.reads) shift(other, split.along[0], split.part.ends[0]);
  for (std::size_t i = 0; i < split.along.size(); ++i)
    piece.axes[static_cast<std::size_t>(split.along[i])] = split.part.ends[i];
  return {std::move(piece), std::move(other)};
}

/// The pieces by what they are now.
void become(std::vector<PieceId>& list, const IdMap<PieceId, std::vector<PieceId>>& now) {
  std::vector<PieceId> out;
  for (PieceId id : list) {
    INLAY_CHECK(!now[id].empty(), "a piece waits for a later one");
    out.insert(out.end(), now[id].begin(), now[id].end());
  }
  list = std::move(out);
}

void split(Pieces& pieces, const std::vector<Split>& splits) {
  IdMap<PieceId, std::vector<PieceId>> now(pieces.pieces.size());
  IdMap<PieceId, Piece> out;
  for (PieceId id : ids<PieceId>(pieces.pieces.size())) {
    Piece& piece = pieces.pieces[id];
    become(piece.after, now);
    const auto found = std::ranges::find_if(splits, [&](const Split& s) { return is_loop_over(s.axes, piece); });
    if (found == splits.end()) {
      now[id] = {out.push_back(std::move(piece))};
      continue;
    }
    auto [first, other] = parts_of(std::move(piece), *found);
    const PieceId begins = out.push_back(std::move(first));
    other.after.push_back(begins);
    now[id] = {begins, out.push_back(std::move(other))};
  }
  pieces.pieces = std::move(out);
  for (Home& home : pieces.homes) {
    become(home.pieces, now);
    if (home.memory_piece.valid()) home.memory_piece = now[home.memory_piece].back();
  }
}

}  // namespace

bool split_loops(const Graph& graph, const FactsOfPieces& facts, Pieces& pieces) {
  const std::vector<Split> splits = Splits(graph, facts, pieces).find();
  if (splits.empty()) return false;
  split(pieces, splits);
  return true;
}

bool are_apart(const Piece& writes, const Piece& asks, const Demand& demand) {
  if (!writes.part || !asks.part || writes.part->ends != asks.part->ends) return false;
  if (writes.part->is_first == asks.part->is_first) return false;
  const bool one_is_empty = writes.part->is_other_of_reader() || asks.part->is_other_of_reader();
  return one_is_empty || std::ranges::all_of(writes.writes, [&](const Write& write) {
           if (write.map.rank() != demand.at->rank()) return false;  // it writes a reshape of the value
           return write.indices.empty() &&
                  kernel::regions_overlap(write.map, writes.axes, *demand.at, asks.axes) == Answer::no;
         });
}

}  // namespace inlay::fuse
