// What finds a size when it runs.
#include "graph_maker.h"
#include "ir/compose_sizes.h"

namespace inlay::fuzz {

Dim GraphMaker::late_symbol() {
  symbol_sizes_.push_back(0);
  return builder_.symbol(str("late", symbol_sizes_.size()));
}

Dim GraphMaker::late_size(int64_t size) {
  const Dim late = late_symbol();
  symbol_sizes_.back() = size;
  builder_.as_size(builder_.bound(str("b", next_bound_++), {DType::i64, {}}, {true, size, size, false}), late);
  return late;
}

void GraphMaker::give_out(ValueId v) {
  if (depth_ == 0) return builder_.output(v);
  std::vector<int> axes;
  for (int axis = 0; axis < type(v).rank(); ++axis) axes.push_back(axis);
  const DType dtype = type(v).dtype;
  const ValueId sum = builder_.reduce(dtype == DType::boolean ? Fold::or_ : Fold::add, v, axes, dtype);
  add(sum, !is_inexact(dtype));
}

void GraphMaker::found_size() {
  const ValueId number = step_ && chance(70) ? *step_ : builder_.literal(Literal::of_integer(DType::i64, draw(0, 9)));
  const Dim late = late_symbol();
  builder_.as_size(number, late);
  ValueId v = builder_.iota(late, chance(50) ? DType::f64 : DType::i64);
  const auto row =
      pick([&](const Entry& e) { return e.exact && type(e.v).rank() == 1 && type(e.v).dtype == DType::f64; });
  for (int64_t i = draw(0, 4); i > 0; --i) {
    switch (draw(0, 4)) {
      case 0: v = builder_.flip(v, {0}); break;
      case 1: v = builder_.cumulative(Combine::max, v, 0, type(v).dtype); break;
      case 2: v = builder_.concat({v, v}, 0); break;
      case 3: v = builder_.scalar(ScalarOp::add_, {v, literal(type(v).dtype)}); break;
      case 4: {
        if (!row) break;
        // Before the elements of a row of the outside: its length is another one.
        v = builder_.concat({builder_.cast(v, DType::f64), use(*row)}, 0);
        break;
      }
    }
  }
  if (chance(50)) give_out(builder_.library(LibraryOp::sort, {v})[0]);
  give_out(v);
}

/// Of an axis, elements that are told when the program runs: of one element it may be that or none, so what is read of
/// it lies at a known place.
void GraphMaker::late_slice() {
  if (depth_ > 0) return;  // the number of an argument
  const bool of_one = chance(50);
  const auto fits = [&](const Entry& e) {
    const TensorType& t = type(e.v);
    return t.rank() >= 1 && computes(t.dtype) && (!of_one || t.dims == std::vector<Dim>{1});
  };
  if (of_one && !pick(fits)) new_param(of(kDTypes), {1});
  const auto x = pick(fits);
  if (!x) return;
  const std::vector<Dim> dims = type(pool_[*x].v).dims;
  std::vector<IndexItem> index;
  for (const Dim& dim : dims) index.push_back(IndexItem::range(0, dim));
  const auto axis = static_cast<std::size_t>(draw(0, static_cast<int64_t>(dims.size()) - 1));
  const int64_t first = draw(0, size_of(dims[axis])), count = draw(0, size_of(dims[axis]) - first);
  const Dim begin = chance(50) ? late_size(first) : Dim(0);
  const Dim end = begin + late_size(begin.is(0) ? first + count : count);
  index[axis] = IndexItem::range(begin, end);
  const ValueId part = builder_.slice(use(*x), index);
  const bool exact = pool_[*x].exact;
  add(part, exact);
  if (!of_one || count == 0) return;
  const auto array = index_array(end - begin, chance(50) ? std::vector<Dim>() : std::vector<Dim>{1});
  if (!array) return;
  // A number that a loop reads, so that it is made before that.
  const ValueId number = builder_.gather(part, {IndexItem::through(*array)});
  add(chance(70) ? builder_.broadcast(number, {known_dim()}) : number, exact);
}

void GraphMaker::compress() {
  const auto mask = pick([&](const Entry& e) { return type(e.v).dtype == DType::boolean && type(e.v).rank() == 1; });
  if (!mask) return;
  const ValueId m = use(*mask);
  const std::vector<Dim> dims = type(m).dims;
  const auto fits = [&](const Entry& e) { return type(e.v).dims == dims && computes(type(e.v).dtype) && e.exact; };
  std::vector<ValueId> xs = {builder_.iota(dims[0], DType::i64)};
  while (pick(fits) && chance(60)) xs.push_back(use(*pick(fits)));
  const std::vector<ValueId> results = builder_.compress(m, xs, late_symbol());
  add(results[0], true);
  give_out(chance(50) ? results.back() : builder_.flip(results.back(), {0}));
  const ValueId where = results[1];
  const auto base = pick([&](const Entry& e) {
    return type(e.v).rank() >= 1 && type(e.v).dims[0] == dims[0] && computes(type(e.v).dtype) && e.exact;
  });
  std::vector<IndexItem> index = {IndexItem::through(where)};
  if (chance(50)) give_out(builder_.gather(use(*base), index));
  if (chance(50)) {
    const ValueId one = literal(type(pool_[*base].v).dtype);
    add(builder_.scatter(write_combine(type(one).dtype), use(*base), index, one), !is_inexact(type(one).dtype));
  }
  if (chance(50)) add(builder_.reduce(Fold::add, where, {0}, DType::i64), true);
  if (chance(50)) give_out(builder_.cumulative(Combine::add, where, 0, DType::i64));
  if (chance(50)) give_out(builder_.concat({where, xs[0], where}, 0));
  if (!chance(50)) return;
  // The same number under another name: that the two agree is found when the program runs.
  const Dim again = late_symbol();
  builder_.as_size(results[0], again);
  give_out(builder_.scalar(ScalarOp::add_, {builder_.iota(again, DType::i64), where}));
}

void GraphMaker::note_late_symbols() { symbol_sizes_.resize(builder_.graph().symbols.size(), 0); }

void GraphMaker::where() {
  const auto mask = pick([&](const Entry& e) { return type(e.v).dtype == DType::boolean && type(e.v).rank() >= 1; });
  if (!mask) return;
  const std::vector<Dim> dims = type(pool_[*mask].v).dims;
  const auto x = pick([&](const Entry& e) {
    const std::vector<Dim>& of_x = type(e.v).dims;
    return computes(type(e.v).dtype) && of_x.size() >= dims.size() &&
           std::equal(dims.begin(), dims.end(), of_x.begin());
  });
  if (!x) return;
  const DType dtype = type(pool_[*x].v).dtype;
  if (chance(60)) give_out(read_where(builder_, use(*x), use(*mask)));
  if (chance(30)) give_out(of(nonzero(builder_, use(*mask))));
  const Combine combine = write_combine(dtype);
  const bool keeps =
      combine == Combine::set || combine == Combine::max || combine == Combine::min || !is_inexact(dtype);
  const bool exact = pool_[*x].exact && keeps;
  if (chance(60)) add(write_where(builder_, combine, use(*x), use(*mask), literal(dtype)), exact);
  if (chance(40)) {  // a row for each place, though all alike
    const ValueId row =
        builder_.broadcast(literal(dtype), std::vector<Dim>(type(pool_[*x].v).dims.size() - dims.size() + 1, Dim(1)));
    add(write_where(builder_, combine, use(*x), use(*mask), row), exact);
  }
  note_late_symbols();
}

void GraphMaker::arange() {
  const auto number = [&](int64_t minimum, int64_t maximum) {
    return builder_.literal(Literal::of_integer(DType::i64, draw(minimum, maximum)));
  };
  const auto mask = pick([&](const Entry& e) { return type(e.v).dtype == DType::boolean && type(e.v).rank() >= 1; });
  if (!mask) return;
  std::vector<int> axes;
  for (int axis = 0; axis < type(pool_[*mask].v).rank(); ++axis) axes.push_back(axis);
  const ValueId count = step_ && chance(50) ? *step_ : builder_.reduce(Fold::add, use(*mask), axes, DType::i64);
  const DType dtype = of(std::vector<DType>{DType::i64, DType::f64, DType::f32, DType::u8});
  const ValueId step = builder_.literal(Literal::of_integer(DType::i64, of(std::vector<int64_t>{1, 2, 3, -1})));
  const ValueId counted = inlay::arange(builder_, number(-3, 3), count, step, dtype);
  give_out(chance(50) ? counted : builder_.cumulative(Combine::max, counted, 0, dtype));
  note_late_symbols();
}

}  // namespace inlay::fuzz
