// Reading and writing of regions, by ranges and by index arrays.
#include <array>
#include <cstdlib>

#include "graph_maker.h"
#include "ir/compose_shape.h"

namespace inlay::fuzz {

IndexItem GraphMaker::item(const Dim& dim) {
  const int64_t size = size_of(dim);
  switch (draw(0, 6)) {
    case 0: return IndexItem::range(0, dim);
    case 1: return IndexItem::range(0, dim, draw(2, 3));
    case 2:
      if (size >= 1) return IndexItem::at(chance(50) ? Dim(0) : dim - 1);
      break;
    case 3:
      if (size >= 1) return IndexItem::range(1, dim);
      break;
    case 4:
      if (size >= 1) return IndexItem::range(0, dim - 1);
      break;
    case 5: return IndexItem::range(dim - 1, -1, -draw(1, 3));
    default:
      if (size >= 2) return IndexItem::range(1, dim - 1, draw(1, 2));
      break;
  }
  return IndexItem::range(0, chance(50) ? dim : Dim(0));
}

std::vector<IndexItem> GraphMaker::items(ValueId x) {
  std::vector<IndexItem> index;
  for (const Dim& dim : type(x).dims) index.push_back(item(dim));
  return index;
}

void GraphMaker::slice() {
  const auto x = pick([&](const Entry& e) { return type(e.v).rank() >= 1; });
  if (!x) return;
  add(builder_.slice(use(*x), items(pool_[*x].v)), pool_[*x].exact);
}

std::optional<ValueId> GraphMaker::arithmetic_on_places(const Dim& dim, const std::vector<Dim>& dims) {
  if (dims.empty() || dims.size() > 3) return std::nullopt;
  Dim start = 0;
  int64_t maximum = 0;
  std::optional<ValueId> sum;
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    const int64_t step = std::array<int64_t, 4>{1, 1, -1, 2}[static_cast<std::size_t>(draw(0, 3))];
    maximum += std::abs(step) * (size_of(dims[axis]) - 1);
    if (step < 0) start = start + dims[axis] - 1;
    std::vector<Dim> column(dims.size() - axis, 1);
    column[0] = dims[axis];
    const ValueId place = builder_.reshape(builder_.iota(dims[axis], DType::i64), column);
    const ValueId term =
        builder_.scalar(ScalarOp::mul_, {place, builder_.literal(Literal::of_integer(DType::i64, step))});
    sum = sum ? builder_.scalar(ScalarOp::add_, {*sum, term}) : term;
  }
  if (size_of(product(dims)) > 0 && maximum >= size_of(dim)) return std::nullopt;
  return builder_.scalar(ScalarOp::add_, {*sum, builder_.size(start)});
}

std::optional<ValueId> GraphMaker::index_array(const Dim& dim, const std::vector<Dim>& dims) {
  const int64_t size = size_of(dim);
  const bool empty = size_of(product(dims)) == 0;
  if (size == 0 && !empty && !may_fail()) return std::nullopt;
  if (step_ && dims.empty() && loop_count_ == dim && chance(80)) return step_;
  if (depth_ == 0 && are_of_params(dims) && (dims.empty() || chance(60))) {
    const DType dtype = chance(80) ? DType::i64 : of(std::vector<DType>{DType::i32, DType::u8, DType::i8});
    if (dim.is_constant() && size > 0 && chance(50)) {
      return builder_.bound(str("b", next_bound_++), {dtype, dims}, {true, 0, dim.constant() - 1, chance(50)});
    }
    const ValueId v = builder_.param(str("q", next_bound_++), {dtype, dims});
    return v;
  }
  if (size > 0) {
    const auto x = pick([&](const Entry& e) { return type(e.v).dtype == DType::i64 && type(e.v).dims == dims; });
    if (x) return builder_.scalar(ScalarOp::mod_, {use(*x), builder_.size(dim)});  // computed: in [0, size)
  }
  if (chance(40)) {
    if (const auto v = arithmetic_on_places(dim, dims)) return v;
  }
  const auto one = [&] { return Literal::of_integer(DType::i64, size ? draw(-size, size - 1) : 0); };
  if (dims.size() == 1 && dims[0].is_constant() && dims[0].constant() >= 1 && dims[0].constant() <= 16) {
    std::vector<Literal> elements;
    for (int64_t i = 0; i < dims[0].constant(); ++i) elements.push_back(one());
    if (chance(10) && may_fail()) elements[0].i = chance(50) ? size : -size - 1;
    return builder_.literal(elements, dims);
  }
  return std::nullopt;
}

bool GraphMaker::may_fail() {
  if (depth_ > 0 || failing_places_ > 0 || !chance(20)) return false;
  ++failing_places_;
  return true;
}

std::vector<Dim> GraphMaker::index_dims() {
  const int64_t kind = draw(0, 9);
  if (kind == 0) return {};
  std::vector<Dim> dims = {chance(70) ? known_dim() : Dim(draw(1, 4))};
  if (kind == 1) dims.push_back(known_dim());
  // A size that no parameter binds alone cannot be a new parameter's, unless it is a number or bound already.
  return dims;
}

std::optional<std::vector<IndexItem>> GraphMaker::items_with_arrays(ValueId x) {
  std::vector<IndexItem> index = items(x);
  const std::vector<Dim> dims = index_dims();
  const auto at = static_cast<std::size_t>(draw(0, static_cast<int64_t>(index.size()) - 1));
  for (std::size_t axis = 0; axis < index.size(); ++axis) {
    if (axis != at && !chance(25)) continue;
    const auto array = index_array(type(x).dims[axis], dims);
    if (!array) return std::nullopt;
    index[axis] = IndexItem::through(*array);
  }
  return index;
}

void GraphMaker::gather() {
  const auto x = pick([&](const Entry& e) { return type(e.v).rank() >= 1; });
  if (!x) return;
  const auto index = items_with_arrays(pool_[*x].v);
  if (!index) return;
  ValueId v = builder_.gather(use(*x), *index);
  // Nothing else reads it then: an index out of bounds is one all the same.
  if (type(v).rank() > 0 && chance(30)) v = builder_.slice(v, items(v));
  add(v, pool_[*x].exact);
}

Combine GraphMaker::write_combine(DType dtype) {
  const auto combine = of(std::vector<Combine>{Combine::set, Combine::set, Combine::add, Combine::add, Combine::mul,
                                               Combine::max, Combine::min});
  const bool possible = combine == Combine::set || accepts(combine_op(combine), dtype);
  return possible && !order_shows(combine, dtype) ? combine : Combine::set;
}

bool GraphMaker::order_shows(Combine combine, DType dtype) const {
  const bool overflows = is_complex(dtype);  // many factors of size 2 do: NaN in one order, infinite in another
  return combine == Combine::mul && is_inexact(dtype) && (overflows || options_.elements == tool::Elements::nasty);
}

std::vector<Dim> GraphMaker::region_dims(ValueId x, const std::vector<IndexItem>& index) {
  GraphBuilder asked = builder_.body();  // so that nothing of it is left in the graph
  std::vector<IndexItem> items = index;
  for (IndexItem& item : items) {
    if (item.kind == IndexItem::Kind::array) item.array = asked.param("", type(item.array));
  }
  return asked.type(asked.gather(asked.param("", type(x)), std::move(items))).dims;
}

/// A value whose dims are 1 or those of the region in this run, as the graph does not know.
std::optional<std::size_t> GraphMaker::stretchable(DType dtype, const std::vector<Dim>& dims) {
  return pick([&](const Entry& e) {
    const TensorType& t = type(e.v);
    if (t.dtype != dtype || t.dims.size() != dims.size()) return false;
    for (std::size_t i = 0; i < dims.size(); ++i) {
      const int64_t have = size_of(t.dims[i]);
      if (have != 1 && (t.dims[i].is_constant() || have != size_of(dims[i]))) return false;
    }
    return true;
  });
}

ValueId GraphMaker::fresh(ValueId x) {
  return builder_.scalar(ScalarOp::add_, {x, literal_like(x, 0.25 * ++fresh_values_)});
}

void GraphMaker::write(Write make, std::size_t x, const std::vector<IndexItem>& index) {
  const DType dtype = type(pool_[x].v).dtype;
  const std::vector<Dim> dims = region_dims(pool_[x].v, index);
  const auto value =
      pick([&](const Entry& e) { return type(e.v).dtype == dtype && stretches_to(type(e.v).dims, dims); });
  const auto stretched = chance(30) ? stretchable(dtype, dims) : std::nullopt;
  const auto chosen = stretched ? stretched : value;
  const bool exact = pool_[x].exact && (!chosen || pool_[*chosen].exact);
  const ValueId v = stretched             ? stretch(builder_, use(*stretched), dims)
                    : value && chance(85) ? use(*value)
                                          : literal(dtype);
  const Combine combine = write_combine(dtype);
  const bool keeps =
      combine == Combine::set || combine == Combine::max || combine == Combine::min || !is_inexact(dtype);
  const bool required = depth_ == 0 && (dtype == DType::f64 || dtype == DType::f32) && chance(20);
  const ValueId base = required ? fresh(use(x)) : use(x);
  const InPlace in_place = required ? InPlace::required : InPlace::wanted;
  add((builder_.*make)(combine, base, index, v, in_place), exact && keeps && !required);
}

/// Rows that are folded first, over a part of an array: before and behind them some may be left of it.
void GraphMaker::update_by_rows() {
  const Dim rows = symbol(), columns = symbol(), above = draw(0, 2), below = draw(0, 2);
  const DType dtype = chance(50) ? DType::f64 : DType::i64;
  const std::vector<Dim> dims = {rows + above + below, columns};
  const ValueId made = rows_less_their_sums(new_param(dtype, {rows, columns}));
  ValueId base = new_param(dtype, dims);
  if (chance(30)) base = builder_.broadcast(literal(dtype), dims);
  if (chance(20)) return add(builder_.concat({made, base}, 0), !is_inexact(dtype));
  if (chance(30)) base = fresh(base);
  std::vector<IndexItem> index = {IndexItem::range(above, above + rows), IndexItem::range(0, columns)};
  add(builder_.update(chance(70) ? Combine::set : Combine::add, base, std::move(index), made), !is_inexact(dtype));
}

/// One value that may have length 1, written to parts of two arrays of other sizes.
void GraphMaker::update_two() {
  const Dim size = symbol();
  const ValueId x = new_param(DType::f64, {size});
  const ValueId value = builder_.scalar(ScalarOp::exp_, {builder_.scalar(ScalarOp::neg_, {x})});
  for (int i = 0; i < 2; ++i) {
    const Dim whole = symbol(), beside = draw(0, 2);
    new_param(DType::f64, {whole});  // whose size it is
    const ValueId base = new_param(DType::f64, {whole + beside});
    if (size_of(size) != 1 && size_of(size) != size_of(whole)) return;
    const ValueId read = stretch(builder_, value, {whole});
    add(builder_.update(Combine::set, base, {IndexItem::range(beside, whole + beside)}, read), false);
  }
}

void GraphMaker::update() {
  if (depth_ == 0 && chance(20)) return chance(70) ? update_by_rows() : update_two();
  const auto x = pick([&](const Entry& e) { return type(e.v).rank() >= 1 && computes(type(e.v).dtype); });
  if (x) write(&GraphBuilder::update, *x, items(pool_[*x].v));
}

void GraphMaker::scatter() {
  const auto x = pick([&](const Entry& e) { return type(e.v).rank() >= 1 && computes(type(e.v).dtype); });
  if (!x) return;
  const auto index = items_with_arrays(pool_[*x].v);
  if (index) write(&GraphBuilder::scatter, *x, *index);
}

}  // namespace inlay::fuzz
