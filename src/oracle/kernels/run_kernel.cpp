#include "oracle/kernels/run_kernel.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "ops/fold_merge.h"
#include "oracle/kernels/element.h"

namespace inlay::kernel {
namespace {

using Point = std::vector<int64_t>;

/// A subscript whose sizes are numbers.
struct PlacedSubscript {
  int64_t base = 0;
  std::vector<std::pair<int, int64_t>> axes;  // and the steps along them
  const IndexTerm* index = nullptr;
  int64_t extent = 0;     // of the index
  bool is_local = false;  // it counts the points of a tile
};

/// A statement whose buffer has an address and whose sizes are numbers.
struct PlacedStatement {
  const Statement* statement = nullptr;
  View view;
  std::vector<PlacedSubscript> subscripts;
  int64_t size = 0;
};

/// Of one axis: the coordinates begin, begin + step, ..., below end.
struct Range {
  std::size_t axis = 0;
  int64_t begin = 0, end = 0, step = 1;
};

struct PlacedStage {
  std::vector<Range> ranges;  // outermost first; that of a tile is set for each tile
  std::vector<PlacedStatement> statements;
  int num_registers = 0;
};

/// A fold, and what its hidden states are so far.
struct FoldSoFar {
  explicit FoldSoFar(std::span<const PlacedStatement> stored)
      : merge(stored[0].statement->fold, dtypes_of(stored), ops), states(merge.nothing()) {}
  FoldSoFar(const FoldSoFar&) = delete;

  static std::vector<DType> dtypes_of(std::span<const PlacedStatement> stored) {
    std::vector<DType> out;
    for (const PlacedStatement& state : stored) out.push_back(state.statement->dtype);
    return state_dtypes(stored[0].statement->fold, out);
  }

  ElementOps ops;
  FoldMerge<Element, ElementOps> merge;
  std::vector<Element> states;
};

class KernelRun {
 public:
  KernelRun(const Kernel& kernel, std::span<const int64_t> symbols, const Views& view_of, Elided elided)
      : kernel_(kernel), symbols_(symbols), view_of_(view_of), leaves_out_(elided == Elided::left_out) {}

  std::optional<Failure> run() {
    start_all(/*local=*/false);
    std::vector<PlacedStage> stages;
    for (const Stage& stage : kernel_.stages) stages.push_back(placed(stage));
    std::vector<Range> outer = ranges(kernel_.outer, 0);
    if (kernel_.is_tiled()) outer.back().step = kernel_.tile;
    const auto once = std::span(stages).first(kernel_.num_once());
    const auto at_each_point = std::span(stages).subspan(once.size());
    Point point(outer.size());
    for (PlacedStage& stage : once) {
      if (auto failure = run_stage(stage, point)) return failure;
    }
    return for_each_point(point, outer, [&]() -> std::optional<Failure> {
      start_all(/*local=*/true);
      if (kernel_.is_tiled()) tile_begin_ = point.back(), outer_end_ = outer.back().end;
      for (PlacedStage& stage : at_each_point) {
        if (auto failure = run_stage(stage, point)) return failure;
      }
      is_first_point_ = false;
      return std::nullopt;
    });
  }

 private:
  std::vector<Range> ranges(const std::vector<Axis>& axes, std::size_t first) const {
    std::vector<Range> out;
    for (const Axis& axis : axes) out.push_back({first + out.size(), 0, axis.extent.evaluate(symbols_)});
    return out;
  }

  /// Calls `body` with `point` at each point of the ranges, the last one fastest, until it fails.
  template <class Body>
  static std::optional<Failure> for_each_point(Point& point, const std::vector<Range>& ranges, Body body) {
    for (const Range& range : ranges) {
      if (range.begin >= range.end) return std::nullopt;
      point[range.axis] = range.begin;
    }
    while (true) {
      if (auto failure = body()) return failure;
      std::size_t k = ranges.size();
      while (k > 0 && (point[ranges[k - 1].axis] += ranges[k - 1].step) >= ranges[k - 1].end) {
        --k;
        point[ranges[k].axis] = ranges[k].begin;
      }
      if (k == 0) return std::nullopt;
    }
  }

  void start_all(bool local) {
    for (const KernelOutput& output : kernel_.outputs) {
      if (output.is_local == local) start(output);
    }
  }

  void start(const KernelOutput& output) {
    const View to = view_of_(output.buffer);
    switch (output.start.kind) {
      case Start::Kind::keep:
        // What the last outer point has left in a local is nothing that this one may read. (Before the first, the bytes
        // may be those of what the kernel reads.)
        if (output.is_local && !is_first_point_) std::memset(to.data, 0xcb, static_cast<std::size_t>(to.size_bytes()));
        return;
      case Start::Kind::fill: {
        const Element value = Element::of(output.start.value);
        INLAY_CHECK(value.dtype == to.dtype, "`", to.name, "` is filled with a ", dtype_name(value.dtype));
        for (int64_t i = 0; i < to.num_elements(); ++i) value.store(to.data + i * size_bytes(to.dtype));
        return;
      }
      case Start::Kind::copy: {
        if (output.start.elided && leaves_out_) return;
        const View from = view_of_(output.start.source);
        INLAY_CHECK(from.size_bytes() == to.size_bytes(), "`", to.name, "` starts as a copy of `", from.name,
                    "`, which has other bytes");
        if (from.size_bytes() > 0) std::memmove(to.data, from.data, static_cast<std::size_t>(from.size_bytes()));
        return;
      }
    }
  }

  PlacedStage placed(const Stage& stage) const {
    PlacedStage out{ranges(stage.axes, kernel_.outer.size()), {}, stage.num_registers};
    if (kernel_.is_tiled() && !stage.once) {
      const Range tile{static_cast<std::size_t>(kernel_.tiled_axis()), 0, 0};
      out.ranges.insert(out.ranges.begin() + static_cast<std::ptrdiff_t>(stage.tile_at), tile);
    }
    for (const Statement& statement : stage.statements) {
      if (!statement.elided || !leaves_out_) out.statements.push_back(placed(statement));
    }
    return out;
  }

  PlacedStatement placed(const Statement& statement) const {
    PlacedStatement out{&statement, {}, {}, 0};
    if (statement.kind == Statement::Kind::size) out.size = statement.size.evaluate(symbols_);
    if (statement.has_place()) {
      out.view = view_of_(statement.buffer);
      INLAY_CHECK(out.view.dims.size() == statement.map.subscripts.size(), "`", out.view.name, "` has rank ",
                  out.view.dims.size(), ", its access map ", statement.map.rank());
    }
    for (const Subscript& subscript : statement.map.subscripts) {
      PlacedSubscript place{.base = subscript.base.evaluate(symbols_)};
      for (const AxisTerm& term : subscript.axes) place.axes.emplace_back(term.axis, term.step.evaluate(symbols_));
      place.is_local = statement.has_place() && kernel_.is_local(statement.buffer);
      if (subscript.index) {
        place.index = &*subscript.index;
        place.extent = place.index->extent.evaluate(symbols_);
      }
      out.subscripts.push_back(std::move(place));
    }
    return out;
  }

  std::optional<Failure> run_stage(PlacedStage& stage, const Point& outer) {
    registers_.assign(static_cast<std::size_t>(stage.num_registers), Element{});
    Point point = outer;
    point.resize(outer.size() + stage.ranges.size());
    for (Range& range : stage.ranges) {
      if (range.axis >= outer.size()) continue;
      range.begin = tile_begin_;
      range.end = std::min(tile_begin_ + kernel_.tile, outer_end_);
    }
    return for_each_point(point, stage.ranges, [&]() -> std::optional<Failure> {
      for (const PlacedStatement& placed : stage.statements) {
        if (!run_statement(placed, point)) return failure_;
      }
      return std::nullopt;
    });
  }

  const Element& value(RegisterId reg) const { return registers_[reg.index]; }
  Element& result(const Statement& s) { return registers_[s.result.index]; }

  /// false: failure_ says why.
  bool run_statement(const PlacedStatement& placed, const Point& point) {
    const Statement& s = *placed.statement;
    switch (s.kind) {
      case Statement::Kind::literal: result(s) = Element::of(s.literal); return true;
      case Statement::Kind::axis:
        result(s) = Element::of_integer(s.dtype, point[static_cast<std::size_t>(s.axis)]);
        return true;
      case Statement::Kind::size: result(s) = Element::of_integer(s.dtype, placed.size); return true;
      case Statement::Kind::cast: result(s) = cast(value(s.operands[0]), s.dtype); return true;
      case Statement::Kind::op: run_op(s); return true;
      case Statement::Kind::check:
        if (s.index_to_check()) return wrapped(placed.subscripts[0]).has_value();
        if (value(s.operands[0]).is_true()) return true;
        failure_ = {s.site, {}};
        for (std::size_t i = 1; i < s.operands.size(); ++i)
          failure_.numbers.push_back(value(s.operands[i]).to_integer());
        return false;
      case Statement::Kind::load:
      case Statement::Kind::store:
      case Statement::Kind::fold: break;
    }
    if (s.kind == Statement::Kind::fold) return run_fold(placed, point);
    if (s.predicate.valid() && !value(s.predicate).is_true()) return true;
    std::byte* const at = address(placed, point);
    if (at == nullptr) return false;
    if (s.kind == Statement::Kind::load) {
      result(s) = Element::load(placed.view.dtype, at);
      return true;
    }
    combined(s, placed.view, at).store(at);
    return true;
  }

  void run_op(const Statement& s) {
    std::array<Element, 4> operands;
    for (std::size_t i = 0; i < s.operands.size(); ++i) operands[i] = value(s.operands[i]);
    result(s) = apply_op(s.op, std::span(operands).first(s.operands.size()));
  }

  /// All states at once, of what they were and of this point.
  bool run_fold(const PlacedStatement& first, const Point& point) {
    const Statement& opening = *first.statement;
    if (!opening.opens_fold()) return true;  // done with the first
    const std::span states(&first, facts(opening.fold).num_stored);
    FoldSoFar& fold = folds_.try_emplace(&opening, states).first->second;
    std::vector<std::byte*> places;
    std::vector<Element> x;
    for (std::size_t k = 0; k < states.size(); ++k) {
      places.push_back(address(states[k], point));
      if (places[k] == nullptr) return false;
      fold.states[k] = Element::load(states[k].view.dtype, places[k]);
      x.push_back(value(states[k].statement->operands[0]));
    }
    fold.states = fold.merge.merged(fold.states, fold.merge.lifted(x));
    for (std::size_t k = 0; k < states.size(); ++k) fold.states[k].store(places[k]);
    if (opening.result.valid()) result(opening) = fold.states[0];
    return true;
  }

  Element combined(const Statement& s, const View& view, const std::byte* at) const {
    const Element& added = value(s.operands[0]);
    INLAY_CHECK(added.dtype == view.dtype, "a ", dtype_name(added.dtype), " is written to `", view.name, "`");
    if (s.sets()) return added;
    return apply_op(combine_op(s.combine()), std::array{Element::load(view.dtype, at), added});
  }

  /// Where the element lies; null when an index is out of bounds.
  std::byte* address(const PlacedStatement& placed, const Point& point) {
    int64_t linear = 0;
    for (std::size_t d = 0; d < placed.subscripts.size(); ++d) {
      const PlacedSubscript& subscript = placed.subscripts[d];
      int64_t at = subscript.base;
      for (const auto& [axis, step] : subscript.axes) at += step * coordinate(axis, subscript, point);
      if (subscript.index != nullptr) {
        const std::optional<int64_t> index = wrapped(subscript);
        if (!index) return nullptr;
        at += subscript.index->step * *index;
      }
      INLAY_CHECK(0 <= at && at < placed.view.dims[d], "kernel ", kernel_.name, " touches element ", at, " of dim ", d,
                  " of `", placed.view.name, "`, which is ", placed.view.dims[d]);
      linear = linear * placed.view.dims[d] + at;
    }
    INLAY_CHECK(placed.view.data != nullptr, "`", placed.view.name, "` has no address");
    return placed.view.data + linear * size_bytes(placed.view.dtype);
  }

  int64_t coordinate(int axis, const PlacedSubscript& subscript, const Point& point) const {
    const bool from_tile = subscript.is_local && kernel_.is_tiled() && axis == kernel_.tiled_axis();
    return point[static_cast<std::size_t>(axis)] - (from_tile ? tile_begin_ : 0);
  }

  std::optional<int64_t> wrapped(const PlacedSubscript& subscript) {
    const int64_t index = value(subscript.index->index).to_integer();
    const int64_t extent = subscript.extent;
    if (subscript.index->bounds == Bounds::proved) {
      INLAY_CHECK(0 <= index && index < extent, "index ", index, " was proved to lie in [0, ", extent, ")");
      return index;
    }
    if (extent > 0 && -extent <= index && index < extent) return index < 0 ? index + extent : index;
    INLAY_CHECK(subscript.index->bounds == Bounds::checked, "index ", index, " was checked to lie in [", -extent, ", ",
                extent, ")");
    failure_ = {subscript.index->site, {index, extent}};
    return std::nullopt;
  }

  const Kernel& kernel_;
  std::span<const int64_t> symbols_;
  const Views& view_of_;
  const bool leaves_out_;  // what is elided
  std::vector<Element> registers_;
  std::map<const Statement*, FoldSoFar> folds_;
  int64_t tile_begin_ = 0, outer_end_ = 0;
  bool is_first_point_ = true;  // of the outer axes
  Failure failure_;
};

}  // namespace

int64_t View::num_elements() const {
  int64_t out = 1;
  for (int64_t dim : dims) out *= dim;
  return out;
}

int64_t View::size_bytes() const { return num_elements() * inlay::size_bytes(dtype); }

std::optional<Failure> run_kernel(const Kernel& kernel, std::span<const int64_t> symbols, const Views& view_of,
                                  Elided elided) {
  return KernelRun(kernel, symbols, view_of, elided).run();
}

}  // namespace inlay::kernel
