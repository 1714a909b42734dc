// Products of matrices, factorizations, sorting.
#include "graph_maker.h"
#include "ir/linalg.h"

namespace inlay::fuzz {

void GraphMaker::matmul() {
  const auto fits = [&](const Entry& e) {
    const DType dtype = type(e.v).dtype;
    const bool multiplies = dtype == DType::f32 || dtype == DType::f64 || is_complex(dtype) || dtype == DType::i64 ||
                            dtype == DType::boolean;
    return multiplies && type(e.v).rank() >= 1;
  };
  const auto a = pick(fits);
  if (!a) return;
  const TensorType left = type(pool_[*a].v);
  const auto b = pick([&](const Entry& e) {
    const TensorType& t = type(e.v);
    if (!fits(e) || t.dtype != left.dtype || !(t.dims[t.rank() > 1 ? t.rank() - 2 : 0] == left.dims.back()))
      return false;
    if (t.rank() < 2 || left.rank() < 2) return true;
    return stretches({left.dims.begin(), left.dims.end() - 2}, {t.dims.begin(), t.dims.end() - 2});
  });
  if (!b) return;
  const ValueId p = linalg::matmul(builder_, use(*a), use(*b));
  is_inexact(left.dtype) ? add_held(p) : add(p, true);
}

ValueId GraphMaker::seen(ValueId x) {
  const int rank = type(x).rank();
  switch (draw(0, 4)) {
    case 0: return x;
    case 1: return rank >= 2 ? swapped(x) : x;
    case 2: return builder_.flip(x, {static_cast<int>(draw(0, rank - 1))});
    default: return builder_.slice(x, items(x));
  }
}

void GraphMaker::add_held(ValueId x) {
  const std::vector<Dim> dims = type(x).dims;
  if (dims.empty() || chance(50)) return add(x, false);
  const auto axis = static_cast<int>(draw(0, type(x).rank() - 1));
  if (type(x).rank() >= 2 && chance(30)) return add(swapped(x), false);
  if (chance(50)) {
    const ValueId other = builder_.broadcast(literal_like(x, 2), dims);
    return add(builder_.concat(chance(50) ? std::vector{x, other} : std::vector{other, x}, axis), false);
  }
  std::vector<Dim> larger = dims;
  std::vector<IndexItem> index;
  const int64_t step = draw(1, 2), start = draw(0, 2);
  for (const Dim& dim : dims) index.push_back(IndexItem::range(0, dim));
  larger[axis] = dims[axis] * step + start + 1;
  index[axis] = IndexItem::range(start, Dim(start) + dims[axis] * step, step);
  const ValueId base = builder_.broadcast(literal_like(x, 2), larger);
  add(builder_.update(chance(80) ? Combine::set : Combine::add, base, index, x), false);
}

void GraphMaker::products_of_bytes() {
  const auto x = pick([&](const Entry& e) {
    return e.exact && (is_integer(type(e.v).dtype) || type(e.v).dtype == DType::boolean) && type(e.v).rank() >= 2;
  });
  if (!x) return;
  const ValueId a = seen(use(*x));
  if (type(a).rank() < 2) return;
  const int last = type(a).rank() - 1;
  const ValueId b = chance(30) ? a : builder_.flip(a, {chance(50) ? last : last - 1});
  const ValueId bytes = builder_.cast(a, DType::u8), weights = builder_.cast(b, DType::i8);
  if (chance(50)) return add(call(LibraryOp::row_dots, {bytes, weights}), true);
  add(call(LibraryOp::weighted_rows, {bytes, linalg::swapped(builder_, weights)}), true);
}

void GraphMaker::matmul_of_parts() {
  const auto x = pick([&](const Entry& e) {
    return is_inexact(type(e.v).dtype) && accepts(LibraryOp::matmul, type(e.v).dtype) && type(e.v).rank() >= 1;
  });
  if (!x) return;
  const ValueId a = seen(use(*x));
  if (type(a).rank() == 0) return;
  if (type(a).rank() == 1) return add_held(linalg::matmul(builder_, a, chance(50) ? a : builder_.flip(a, {0})));
  const int last = type(a).rank() - 1;
  const ValueId other = chance(50) ? a : builder_.flip(a, {chance(50) ? last : last - 1});
  switch (draw(0, 2)) {
    case 0: return add_held(linalg::matmul(builder_, a, swapped(other)));
    case 1: return add_held(linalg::matmul(builder_, swapped(other), a));
    default: {
      std::vector<IndexItem> row;
      for (const Dim& dim : type(other).dims) row.push_back(IndexItem::range(0, dim));
      if (last != 1 || size_of(type(other).dims[0]) < 1) return;
      row[0] = IndexItem::at(0);
      return add_held(linalg::matmul(builder_, a, builder_.slice(other, row)));
    }
  }
}

ValueId GraphMaker::literal_like(ValueId x, double value) {
  return builder_.literal(Literal::of(type(x).dtype, value));
}

ValueId GraphMaker::swapped(ValueId x) {
  std::vector<int> axes(static_cast<std::size_t>(type(x).rank()));
  for (std::size_t i = 0; i < axes.size(); ++i) axes[i] = static_cast<int>(i);
  std::swap(axes[axes.size() - 1], axes[axes.size() - 2]);
  return builder_.transpose(x, axes);
}

ValueId GraphMaker::scaled(ValueId x, ValueId row) {
  std::vector<Dim> dims = type(row).dims;
  dims.insert(dims.end() - 1, Dim(1));
  return builder_.scalar(ScalarOp::mul_, {x, builder_.cast(builder_.reshape(row, dims), type(x).dtype)});
}

ValueId GraphMaker::eye(const Dim& n, DType dtype) {
  const ValueId i = builder_.iota(n, DType::i64);
  return builder_.cast(builder_.scalar(ScalarOp::eq_, {i, builder_.reshape(i, {n, 1})}), dtype);
}

ValueId GraphMaker::call(LibraryOp op, std::vector<ValueId> operands, LibraryOptions options) {
  return builder_.library(op, std::move(operands), options)[0];
}

ValueId GraphMaker::bounded(ValueId x) {
  const DType dtype = type(x).dtype;
  if (is_complex(dtype)) {
    const ValueId re = builder_.scalar(ScalarOp::real_, {x}), im = builder_.scalar(ScalarOp::imag_, {x});
    return builder_.scalar(ScalarOp::complex_, {bounded(re), bounded(im)});
  }
  const ValueId sigmoid = builder_.scalar(ScalarOp::sigmoid_, {x});
  const ValueId is_number = builder_.scalar(ScalarOp::eq_, {x, x});
  return builder_.scalar(ScalarOp::select_, {is_number, sigmoid, literal_like(sigmoid, 0.5)});
}

ValueId GraphMaker::adjoint(ValueId x) {
  return swapped(is_complex(type(x).dtype) ? builder_.scalar(ScalarOp::conj_, {x}) : x);
}

void GraphMaker::factorization() {
  if (options_.elements == tool::Elements::nasty) return;  // NaN in, and an error or NaN out, as the library likes
  const auto x = pick([&](const Entry& e) {
    // The textbook's ways are of the fourth power: with 70 rows one of them takes half a minute.
    const bool is_small = std::ranges::all_of(type(e.v).dims, [&](const Dim& dim) { return size_of(dim) <= 24; });
    return e.exact && is_small && accepts(LibraryOp::cholesky, type(e.v).dtype) && type(e.v).rank() >= 2;
  });
  if (!x) return;
  const ValueId m = bounded(use(*x));
  const Dim n = type(m).dims[static_cast<std::size_t>(type(m).rank()) - 2];
  const ValueId twice = builder_.scalar(ScalarOp::mul_, {eye(n, type(m).dtype), literal_like(m, 2)});
  const ValueId a = builder_.scalar(ScalarOp::add_, {linalg::matmul(builder_, m, adjoint(m)), twice});
  switch (draw(0, 4)) {
    case 0: return triangles(a, m);
    case 1: return orthogonal(a, m);
    case 2: return tridiagonal(a, m);
    case 3: return singular(m);
    default: return eigenvalues(a);
  }
}

ValueId GraphMaker::corner(ValueId a) {
  const int last = type(a).rank() - 1;
  if (chance(30)) return swapped(a);
  if (chance(30)) return builder_.flip(a, {last - 1, last});
  std::vector<IndexItem> index;
  for (const Dim& dim : type(a).dims) index.push_back(IndexItem::range(0, dim));
  if (size_of(type(a).dims[last]) < 1) return a;
  index[last] = index[last - 1] = IndexItem::range(1, type(a).dims[last]);
  return builder_.slice(a, index);
}

void GraphMaker::triangles(ValueId a, ValueId m) {
  const LibraryOptions nan = static_cast<LibraryOptions>(LibraryOption::nan);
  if (chance(30)) {
    const ValueId l = call(LibraryOp::cholesky, {a}, nan);
    const ValueId part = corner(linalg::matmul(builder_, l, adjoint(l)));
    const ValueId right = chance(50) ? part : builder_.flip(part, {type(part).rank() - 2});
    switch (draw(0, 3)) {
      case 0: return add_held(call(LibraryOp::cholesky, {part}, perhaps(chance(50), LibraryOption::upper) | nan));
      case 1: return add_held(call(LibraryOp::solve, {part, right}, nan));
      case 2: return add_held(call(LibraryOp::lu_factor, {part}, nan));
      default: {
        const ValueId triangle = corner(l);
        const ValueId turned = builder_.flip(triangle, {type(l).rank() - 2});
        return add_held(call(LibraryOp::solve_triangular, {triangle, turned}, nan));
      }
    }
  }
  switch (draw(0, 4)) {
    case 0: return add(call(LibraryOp::cholesky, {a}, perhaps(chance(50), LibraryOption::upper) | nan), false);
    case 1: {
      const LibraryOptions upper = perhaps(chance(50), LibraryOption::upper);
      const ValueId l = call(LibraryOp::cholesky, {a}, upper | nan);
      const LibraryOptions turned =
          perhaps(chance(50), LibraryOption::transposed) | perhaps(chance(30), LibraryOption::adjoint);
      return add(call(LibraryOp::solve_triangular, {l, m}, upper | turned | nan), false);
    }
    case 2: return add(call(LibraryOp::solve, {a, m}, nan), false);
    case 3: return add(call(LibraryOp::lu_factor, {a}, nan), false);
    default: return add(call(LibraryOp::expm, {a}), false);
  }
}

ValueId GraphMaker::diagonal(ValueId a, int64_t offset) {
  const int last = type(a).rank() - 1;
  const NamedArguments named = {
      {"offset", {{offset}, false, ""}}, {"first", {{last - 1}, false, ""}}, {"second", {{last}, false, ""}}};
  return compose(builder_, "extract_diag", {a}, named)[0];
}

void GraphMaker::tridiagonal(ValueId a, ValueId m) {
  const int last = type(a).rank() - 1;
  std::vector<ValueId> parts =
      builder_.library(LibraryOp::tridiagonal_lu_factor, {diagonal(a, -1), diagonal(a, 0), diagonal(a, 1)});
  for (ValueId part : parts) add(part, false);
  parts.push_back(chance(50) ? m : builder_.flip(m, {last - 1}));
  add(call(LibraryOp::tridiagonal_lu_solve, parts, perhaps(chance(50), LibraryOption::transposed)), false);
}

void GraphMaker::orthogonal(ValueId a, ValueId m) {
  if (chance(20)) return schur(a, m);
  if (chance(15)) return qz(a, m);
  if (chance(10)) {
    // Whatever the order of columns of nearly one length: the size of the determinant.
    const ValueId r = diagonal(builder_.library(LibraryOp::qr_raw_pivoted, {a})[0], 0);
    const ValueId sizes = builder_.scalar(ScalarOp::abs_, {r});
    return add(builder_.reduce(Fold::mul, sizes, {type(r).rank() - 1}, type(sizes).dtype), false);
  }
  if (chance(20)) {
    const std::vector<ValueId> parts = builder_.library(LibraryOp::qr_raw, {a});
    if (!is_complex(type(a).dtype)) {
      add(parts[0], false);
      return add(parts[1], false);
    }
    add(builder_.scalar(ScalarOp::abs_, {parts[0]}), false);
    // The last reflector makes the last element real: it is 2 where that is nearly real, and 0 where it is so exactly.
    const Dim& n = type(parts[1]).dims.back();
    if (size_of(n) < 1) return;
    std::vector<IndexItem> index;
    for (const Dim& dim : type(parts[1]).dims) index.push_back(IndexItem::range(0, dim));
    index.back() = IndexItem::range(0, n - 1);
    return add(builder_.scalar(ScalarOp::abs_, {builder_.slice(parts[1], index)}), false);
  }
  const auto op = of(std::vector<LibraryOp>{LibraryOp::qr, LibraryOp::qr_complete, LibraryOp::qr_r,
                                            LibraryOp::qr_pivoted, LibraryOp::qr_complete_pivoted});
  // A last element that is real by exact cancellation keeps its sign, one that is nearly real does not.
  const auto sized = [&](ValueId r) { return is_complex(type(r).dtype) ? builder_.scalar(ScalarOp::abs_, {r}) : r; };
  if (op == LibraryOp::qr_r) return add(sized(call(op, {a})), false);
  const bool pivots = op == LibraryOp::qr_pivoted || op == LibraryOp::qr_complete_pivoted;
  const std::vector<ValueId> parts = builder_.library(op, {pivots ? m : a});
  const ValueId back = linalg::matmul(builder_, parts[0], parts[1]);
  if (!pivots) {
    add(sized(parts[1]), false);
    return add(back, false);
  }
  // Columns of nearly one length may change places: so they are put back.
  std::vector<Dim> row = type(parts[2]).dims;
  row.insert(row.end() - 1, Dim(1));
  const ValueId order = builder_.reshape(call(LibraryOp::argsort, {parts[2]}), row);
  add(compose(builder_, "take_along_axis", {back, builder_.broadcast(order, type(back).dims)}, {})[0], false);
}

void GraphMaker::schur(ValueId a, ValueId m) {
  const auto turned_back = [&](ValueId z, ValueId x) {
    return linalg::matmul(builder_, linalg::matmul(builder_, z, x), adjoint(z));
  };
  const std::vector<ValueId> parts =
      builder_.library(LibraryOp::schur, {a}, perhaps(chance(30), LibraryOption::inside));
  if (chance(50)) return add(turned_back(parts[1], parts[0]), false);
  // a @ x + x @ a has one solution: the eigenvalues of a are positive.
  const ValueId right = turned_back(adjoint(parts[1]), linalg::matmul(builder_, m, adjoint(m)));
  add(turned_back(parts[1], call(LibraryOp::sylvester, {parts[0], parts[0], right})), false);
}

void GraphMaker::qz(ValueId a, ValueId m) {
  const LibraryOptions options = perhaps(chance(30), LibraryOption::outside);
  const bool is_first = chance(50);
  const ValueId b = linalg::matmul(builder_, m, adjoint(builder_.flip(m, {type(m).rank() - 2})));
  const std::vector<ValueId> parts =
      builder_.library(LibraryOp::qz, is_first ? std::vector<ValueId>{a, b} : std::vector<ValueId>{b, a}, options);
  const ValueId q = parts[4], z = parts[5];
  add(linalg::matmul(builder_, linalg::matmul(builder_, q, parts[chance(50) ? 0 : 1]), adjoint(z)), false);
  if (is_first || options != 0) return;
  // The determinant of a, of one order or another: its size.
  add(builder_.reduce(Fold::mul, parts[3], {type(parts[3]).rank() - 1}, type(parts[3]).dtype), false);
}

void GraphMaker::singular(ValueId m) {
  if (chance(25)) return add(call(LibraryOp::singular_values, {m}), false);
  if (chance(30)) {
    const std::vector<ValueId> parts = builder_.library(LibraryOp::svd_full, {m});
    add(parts[1], false);
    return add(linalg::matmul(builder_, parts[0], adjoint(parts[0])), false);
  }
  const std::vector<ValueId> parts = builder_.library(LibraryOp::svd, {m});
  add(parts[1], false);
  add(linalg::matmul(builder_, scaled(parts[0], parts[1]), parts[2]), false);
}

void GraphMaker::eigenvalues(ValueId a) {
  const LibraryOptions upper = perhaps(chance(50), LibraryOption::upper);
  const int last = type(a).rank() - 2;
  switch (draw(0, 3)) {
    case 0: return add(call(LibraryOp::eigvalsh, {a}, upper), false);
    case 1:
      return add(builder_.reduce(Fold::add, call(LibraryOp::eigvals, {a}), {last}, complex_of(type(a).dtype)), false);
    case 2: {  // in any order, of any phase: a @ v and v * w
      const std::vector<ValueId> parts = builder_.library(LibraryOp::eig, {a});
      const ValueId left = linalg::matmul(builder_, builder_.cast(a, type(parts[1]).dtype), parts[1]);
      return add(builder_.scalar(ScalarOp::sub_, {left, scaled(parts[1], parts[0])}), false);
    }
    default: {
      const std::vector<ValueId> parts = builder_.library(LibraryOp::eigh, {a}, upper);
      add(parts[0], false);
      return add(linalg::matmul(builder_, scaled(parts[1], parts[0]), adjoint(parts[1])), false);
    }
  }
}

void GraphMaker::rows() {
  const auto x = pick(
      [&](const Entry& e) { return e.exact && accepts(LibraryOp::sort, type(e.v).dtype) && type(e.v).rank() >= 1; });
  if (!x) return;
  if (chance(30)) return add(call(LibraryOp::argsort, {use(*x)}), true);
  if (chance(40)) return some_extremes(*x);
  if (chance(10)) return permutation(type(pool_[*x].v).dims.back());
  const ValueId sorted = call(LibraryOp::sort, {use(*x)});
  add(sorted, true);
  const DType dtype = type(sorted).dtype;
  const auto wanted =
      pick([&](const Entry& e) { return e.exact && type(e.v).dtype == dtype && type(e.v).rank() == 1; });
  if (!wanted || type(sorted).rank() != 1) return;
  const LibraryOptions right = chance(50) ? static_cast<LibraryOptions>(LibraryOption::right) : 0;
  add(call(LibraryOp::searchsorted, {sorted, use(*wanted)}, right), true);
}

void GraphMaker::permutation(const Dim& n) {
  const ValueId i = builder_.iota(n, DType::i64), last = builder_.size(n - 1);
  const ValueId other =
      builder_.scalar(ScalarOp::min_, {last, builder_.literal(Literal::of_integer(DType::i64, draw(0, 9)))});
  const ValueId pivots = builder_.scalar(ScalarOp::max_, {i, other});
  add(call(LibraryOp::pivots_to_permutation, {pivots}), true);
}

void GraphMaker::some_extremes(std::size_t x) {
  const int axis = static_cast<int>(draw(0, type(pool_[x].v).rank() - 1));
  const int64_t size = size_of(type(pool_[x].v).dims[axis]);
  const NamedArguments named = {{"count", {{draw(0, size)}, false, ""}},
                                {"axis", {{axis}, false, ""}},
                                {"smallest", {{}, false, chance(50) ? "true" : "false"}}};
  for (ValueId v : compose(builder_, "top_k", {use(x)}, named)) add(v, true);
}

}  // namespace inlay::fuzz
