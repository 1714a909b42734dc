// Where elements stand: views, joins and what moves them.
#include "graph_maker.h"
#include "ir/compose_shape.h"

namespace inlay::fuzz {

void GraphMaker::broadcast() {
  const auto x = pick([&](const Entry& e) { return type(e.v).rank() < 3; });
  if (!x) return;
  std::vector<Dim> dims = type(pool_[*x].v).dims;
  for (Dim& dim : dims) {
    if (dim.is(1) && chance(70)) dim = known_dim();
  }
  if (dims.size() < 3 && chance(70)) dims.insert(dims.begin(), known_dim());
  add(builder_.broadcast(use(*x), dims), pool_[*x].exact);
}

/// Rows that are folded, and read once for each row of another matrix or all by the one that there is.
void GraphMaker::stretched_rows() {
  const Dim columns = symbol(), rows = symbol(), many = symbol();
  const DType dtype = chance(50) ? DType::f64 : DType::i64;
  const ValueId x = new_param(dtype, {rows, columns}), other = new_param(dtype, {many, columns});
  if (size_of(rows) != 1 && size_of(rows) != size_of(many)) return;
  const ValueId read = stretch(builder_, rows_less_their_sums(x), {many, columns});
  const bool exact = !is_inexact(dtype);
  add(read, exact);
  if (chance(50)) add(builder_.scalar(ScalarOp::mul_, {other, read}), exact);
}

/// Dims that only turn out to be 1, or as long as others.
void GraphMaker::stretched() {
  if (depth_ == 0 && chance(50)) return stretched_rows();
  const auto x = pick([&](const Entry& e) { return type(e.v).rank() >= 1 && computes(type(e.v).dtype); });
  if (!x) return;
  std::vector<Dim> dims = type(pool_[*x].v).dims;
  for (Dim& dim : dims) {
    const Dim to = known_dim();
    const bool fits = size_of(dim) == 1 || size_of(dim) == size_of(to);
    if (!dim.is_constant() && fits) dim = to;
  }
  add(stretch(builder_, use(*x), dims), pool_[*x].exact);
}

void GraphMaker::reshape() {
  const auto x = pick([](const Entry&) { return true; });
  std::vector<Dim> dims = type(pool_[*x].v).dims;
  if (chance(50) && std::ranges::all_of(dims, [&](const Dim& dim) { return size_of(dim) == 1; })) {
    dims.assign(static_cast<std::size_t>(draw(0, 3)), Dim(1));
    for (Dim& dim : dims) {
      const Dim to = known_dim();
      if (size_of(to) == 1) dim = to;
    }
  } else if (dims.size() >= 2 && chance(50)) {
    const auto at = static_cast<std::size_t>(draw(0, static_cast<int64_t>(dims.size()) - 2));
    dims[at] = dims[at] * dims[at + 1];
    dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(at) + 1);
  } else if (dims.size() < 3) {
    dims.insert(dims.begin() + draw(0, static_cast<int64_t>(dims.size())), Dim(1));
  } else {
    return;
  }
  add(builder_.reshape(use(*x), dims), pool_[*x].exact);
}

void GraphMaker::transpose() {
  const auto x = pick([&](const Entry& e) { return type(e.v).rank() >= 2; });
  if (!x) return;
  std::vector<int> permutation;
  for (int i = 0; i < type(pool_[*x].v).rank(); ++i) permutation.push_back(i);
  std::ranges::shuffle(permutation, random_);
  add(builder_.transpose(use(*x), permutation), pool_[*x].exact);
}

void GraphMaker::flip() {
  const auto x = pick([&](const Entry& e) { return type(e.v).rank() >= 1; });
  if (!x) return;
  add(builder_.flip(use(*x), {static_cast<int>(draw(0, type(pool_[*x].v).rank() - 1))}), pool_[*x].exact);
}

void GraphMaker::diagonal() {
  const auto x = pick([&](const Entry& e) { return type(e.v).rank() >= 2; });
  if (!x) return;
  const int rank = type(pool_[*x].v).rank();
  const auto first = draw(0, rank - 1), second = (first + draw(1, rank - 1)) % rank;
  add(composed("extract_diag", *x, {{"offset", draw(-2, 2)}, {"first", first}, {"second", second}}), pool_[*x].exact);
}

ValueId GraphMaker::composed(std::string_view name, std::size_t x,
                             const std::vector<std::pair<std::string, Dim>>& numbers, NamedArguments named,
                             std::vector<ValueId> more) {
  for (const auto& [argument, number] : numbers) named[argument] = {{number}, false, ""};
  more.insert(more.begin(), use(x));
  return compose(builder_, name, more, named)[0];
}

void GraphMaker::moved() {
  const auto x = pick([&](const Entry& e) { return type(e.v).rank() >= 1 && type(e.v).rank() <= 2; });
  if (!x) return;
  const std::vector<Dim> dims = type(pool_[*x].v).dims;
  const int64_t axis = draw(0, static_cast<int64_t>(dims.size()) - 1);
  const bool empty = size_of(product(dims)) == 0;
  std::vector<Dim> before, after;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    before.emplace_back(draw(0, 2));
    after.emplace_back(draw(0, 3));
  }
  constexpr const char* kModes[] = {"constant", "edge", "reflect", "symmetric", "wrap"};
  const std::string mode = empty ? "constant" : of(kModes);
  const auto make = [&]() -> ValueId {
    switch (draw(0, 5)) {
      case 0: return composed("roll", *x, {{"shift", draw(-4, 4)}, {"axis", axis}});
      case 1: return composed("repeat", *x, {{"count", draw(0, 3)}, {"axis", axis}});
      case 2: return composed("tile", *x, {}, {{"times", list({draw(1, 2), draw(0, 2)})}});
      case 3: return composed("expand_dims", *x, {}, {{"axes", list({draw(-2, 1)})}});
      case 4: return composed("swapaxes", *x, {{"first", 0}, {"second", -1}});
      default:
        return composed("pad", *x, {}, {{"before", list(before)}, {"after", list(after)}, {"mode", {{}, false, mode}}});
    }
  };
  add(make(), pool_[*x].exact);
}

void GraphMaker::placed() {
  const auto x = pick([&](const Entry& e) {
    const std::vector<Dim>& dims = type(e.v).dims;
    // The diagonal of a matrix is its square: a size of its own, no product of several.
    const bool is_line = dims.size() == 1 && (dims[0].is_symbol() || dims[0].is_constant());
    return (is_line || dims.size() == 2) && computes(type(e.v).dtype);
  });
  if (!x) return;
  const ValueId other = literal(type(pool_[*x].v).dtype);
  const auto make = [&]() -> ValueId {
    if (type(pool_[*x].v).rank() == 1) return composed("alloc_diag", *x, {{"offset", draw(-1, 1)}});
    switch (draw(0, 3)) {
      case 0: return composed("tril", *x, {{"offset", draw(-1, 1)}});
      case 1: return composed("triu", *x, {{"offset", draw(-1, 1)}});
      case 2: return composed("set_diag", *x, {{"offset", draw(-1, 1)}}, {}, {other});
      default:
        return composed("fill_diagonal", *x, {}, {{"wrap", {{}, false, chance(50) ? "true" : "false"}}}, {other});
    }
  };
  add(make(), pool_[*x].exact);
}

void GraphMaker::concat() {
  const auto x = pick([&](const Entry& e) { return type(e.v).rank() >= 1; });
  if (!x) return;
  const TensorType first = type(pool_[*x].v);
  const auto axis = static_cast<int>(draw(0, first.rank() - 1));
  std::vector<ValueId> parts = {use(*x)};
  bool exact = pool_[*x].exact;
  for (int64_t i = draw(1, 3); i > 0; --i) {
    const auto part = pick([&](const Entry& e) {
      const TensorType& t = type(e.v);
      if (t.dtype != first.dtype || t.rank() != first.rank()) return false;
      for (int d = 0; d < t.rank(); ++d) {
        if (d != axis && size_of(t.dims[d]) != size_of(first.dims[d])) return false;
      }
      return true;
    });
    exact = exact && pool_[*part].exact;
    parts.push_back(use(*part));
  }
  add(builder_.concat(parts, axis), exact);
}

void GraphMaker::iota() {
  const DType dtype = of(std::vector<DType>{DType::i64, DType::i64, DType::f64, DType::i32});
  add(builder_.iota(known_dim() + draw(0, 1), dtype), true);
}

void GraphMaker::size() { add(builder_.size(known_dim() * draw(1, 2) + draw(0, 2)), true); }

}  // namespace inlay::fuzz
