#include <algorithm>
#include <functional>

#include "ir/library_types.h"
#include "ir/traits.h"
#include "ir/verifier.h"

namespace inlay::verifier {

namespace {

void check_cast(OpCheck& c) {
  const TensorType& from = c.operand(0);
  c.require(!is_complex(from.dtype) || is_complex(c.result().dtype), "a complex number is cast to a real one");
  c.expect_type(c.result().dtype, from.dims);
}

void expect_same_dtype(OpCheck& c) { c.require(c.result().dtype == c.operand(0).dtype, "a view changes the dtype"); }

void literal(OpCheck& c) {
  const Dim count = product(c.result().dims);
  c.require(count.is(static_cast<int64_t>(c.node.elements.size())),
            str(c.node.elements.size(), " elements for ", c.text(c.result())));
  for (const Literal& element : c.node.elements) {
    c.require(element.dtype == c.result().dtype, "an element of another dtype");
  }
}

void scalar(OpCheck& c) {
  const bool is_select = c.node.scalar == ScalarOp::select_;
  const DType dtype = c.type(c.node.operands.back()).dtype;
  for (std::size_t i = 0; i < c.node.operands.size(); ++i) {
    const DType wanted = is_select && i == 0 ? DType::boolean : dtype;
    c.require(c.operand(i).dtype == wanted, str("operand ", i, " is ", c.text(c.operand(i))));
    c.expect_stretches(c.operand(i).dims, c.result().dims, str("operand ", i));
  }
  c.require(accepts(c.node.scalar, dtype), str(facts(c.node.scalar).name, " does not take ", dtype_name(dtype)));
  const DType result = result_dtype(c.node.scalar, dtype);
  c.require(c.result().dtype == result, str("its dtype is not ", dtype_name(result)));
  // Nothing stretches a dim that is 1 in every operand.
  for (int from_last = 1; from_last <= c.result().rank(); ++from_last) {
    const auto wide = [&](ValueId v) {
      const auto& dims = c.type(v).dims;
      return static_cast<int>(dims.size()) >= from_last && !dims[dims.size() - from_last].is(1);
    };
    const bool any = std::ranges::any_of(c.node.operands, wide);
    c.require(any || c.result().dims[c.result().rank() - from_last].is(1), "wider than its operands");
  }
}

void transpose(OpCheck& c) {
  const TensorType& from = c.operand(0);
  std::vector<int> sorted = c.node.axes;
  std::ranges::sort(sorted);
  std::vector<int> whole;
  for (int axis = 0; axis < from.rank(); ++axis) whole.push_back(axis);
  if (sorted != whole) return c.fail("the axes are no permutation");
  std::vector<Dim> dims;
  for (int axis : c.node.axes) dims.push_back(from.dims[axis]);
  c.expect_type(from.dtype, dims);
}

/// Ascending, each once, and there.
bool check_axes(OpCheck& c, const std::vector<int>& axes, int rank) {
  const bool ascending = std::ranges::adjacent_find(axes, std::greater_equal<>()) == axes.end();
  if (ascending && (axes.empty() || (axes.front() >= 0 && axes.back() < rank))) return true;
  c.fail(str("axes [", join(axes, ", "), "] of rank ", rank));
  return false;
}

/// Those of the axes that are not in `axes`.
std::vector<Dim> other_dims(const TensorType& type, const std::vector<int>& axes) {
  std::vector<Dim> dims;
  for (int axis = 0; axis < type.rank(); ++axis) {
    if (!std::ranges::binary_search(axes, axis)) dims.push_back(type.dims[axis]);
  }
  return dims;
}

void flip(OpCheck& c) {
  const TensorType& from = c.operand(0);
  if (check_axes(c, c.node.axes, from.rank())) c.expect_type(from.dtype, from.dims);
}

void diagonal(OpCheck& c) {
  const TensorType& from = c.operand(0);
  if (!check_axes(c, c.node.axes, from.rank())) return;
  if (c.node.axes.size() != 2) return c.fail(str(c.node.axes.size(), " axes, not 2"));
  c.require(c.sizes.same(from.dims[c.node.axes[0]], from.dims[c.node.axes[1]]), "the two dims differ");
  std::vector<Dim> dims = other_dims(from, c.node.axes);
  dims.push_back(from.dims[c.node.axes[0]]);
  c.expect_type(from.dtype, dims);
}

void reduction(OpCheck& c) {
  const Fold fold = c.node.fold;
  const FoldFacts& row = facts(fold);
  const TensorType& from = c.type(c.node.operands.back());
  if (!check_axes(c, c.node.axes, from.rank())) return;
  const std::vector<Dim> dims = other_dims(from, c.node.axes);
  c.require(!row.has_hidden() || dims.empty(), "hidden states are folded over all axes");
  std::size_t operand = 0;
  for (std::size_t k = 0; k < row.num_stored; ++k) {
    const FoldState& state = row.states[k];
    c.current = c.node.results[k];
    const TensorType& x = state.counts_points() ? from : c.type(c.node.operands[operand++]);
    const DType dtype = state.counts_points() ? c.result().dtype : x.dtype;
    c.require(accepts(state.dtype, dtype),
              str(state_name(fold, static_cast<int>(k)), " cannot be ", dtype_name(dtype)));
    c.require(c.sizes.same(x.dims, from.dims), str("is folded from ", c.text(x)));
    c.expect_type(dtype, dims);
  }
}

void cumulative(OpCheck& c) {
  const TensorType& from = c.operand(0);
  if (c.node.axes.size() != 1 || !check_axes(c, c.node.axes, from.rank())) return;
  c.require(c.node.combine != Combine::set && accepts(combine_op(c.node.combine), from.dtype),
            str("cumulative ", combine_name(c.node.combine), " does not take ", dtype_name(from.dtype)));
  c.expect_type(from.dtype, from.dims);
}

void as_size(OpCheck& c) {
  c.require(c.operand(0) == TensorType{DType::i64, {}}, "a size is no 0-d i64");
  c.require(c.node.size.is_symbol(), "binds no symbol");
  c.expect_type(DType::i64, {});
}

void compress(OpCheck& c) {
  const TensorType& mask = c.operand(0);
  c.expect_type(DType::i64, {});
  if (mask.dtype != DType::boolean || mask.rank() != 1) return c.fail("the mask is no vector of bool");
  if (c.node.results.size() != c.node.operands.size()) return c.fail("has not one result for each operand");
  c.require(c.node.size.is_symbol(), "binds no symbol");
  for (std::size_t i = 1; i < c.node.operands.size(); ++i) {
    const TensorType& x = c.operand(i);
    c.require(c.sizes.same(x.dims, mask.dims), str("operand ", i, " is ", c.text(x)));
    c.current = c.node.results[i];
    c.expect_type(x.dtype, {c.node.size});
  }
}

void concat(OpCheck& c) {
  const TensorType& first = c.operand(0);
  if (c.node.axes.size() != 1 || !check_axes(c, c.node.axes, first.rank())) return;
  const int axis = c.node.axes[0];
  std::vector<Dim> dims = first.dims;
  dims[axis] = 0;
  for (ValueId v : c.node.operands) {
    const TensorType& part = c.type(v);
    if (part.dtype != first.dtype || part.rank() != first.rank()) return c.fail("parts of different types");
    for (int d = 0; d < first.rank(); ++d) {
      if (d == axis) {
        dims[d] = dims[d] + part.dims[d];
      } else {
        c.require(c.sizes.same(dims[d], part.dims[d]), str("parts differ in dim ", d));
      }
    }
  }
  c.expect_type(first.dtype, dims);
}

void library(OpCheck& c) {
  std::vector<TensorType> operands;
  for (ValueId v : c.node.operands) operands.push_back(c.type(v));
  ErrorCode code = ErrorCode::internal;
  const std::string problem = library_operands_problem(c.node.library, operands, code);
  if (!problem.empty()) return c.fail(problem);
  const LibraryOpFacts& row = facts(c.node.library);
  c.require((c.node.library_options & ~row.options) == 0, str(row.name, " has other options"));
  const LibraryShape shape = library_shape(c.node.library, operands);
  for (std::size_t i = 0; i < operands.size(); ++i) {
    std::vector<Dim> dims;
    if (has_all_core_axes(c.node.library, i, operands[i].rank())) dims = shape.batch;
    for (const CoreAxis& axis : core_axes(c.node.library, i, operands[i].rank())) {
      dims.push_back(core_size<Dim>(row.signature, axis, shape.sizes));
    }
    c.require(c.sizes.same(operands[i].dims, dims), str("operand ", i, " of ", row.name, " has other sizes"));
  }
  for (std::size_t r = 0; r < c.node.results.size(); ++r) {
    c.current = c.node.results[r];
    c.expect_type(shape.results[r].dtype, shape.results[r].dims);
  }
}

}  // namespace

void OpCheck::expect_type(DType dtype, const std::vector<Dim>& dims) {
  const TensorType& found = result();
  if (found.dtype == dtype && sizes.same(found.dims, dims)) return;
  fail(str("its type is ", text(found), "; its operands make ", text(TensorType{dtype, dims})));
}

void OpCheck::expect_stretches(const std::vector<Dim>& from, const std::vector<Dim>& to, const std::string& what) {
  bool fits = from.size() <= to.size();
  for (std::size_t i = 0; fits && i < from.size(); ++i) {
    fits = from[i].is(1) || sizes.same(from[i], to[to.size() - from.size() + i]);
  }
  const TensorType left{DType::f64, from}, right{DType::f64, to};
  if (!fits) fail(str(what, " ", text(left), " does not stretch to ", text(right)));
}

void check_op(OpCheck& c) {
  switch (c.node.op) {
    case Op::literal: return literal(c);
    case Op::scalar: return scalar(c);
    case Op::cast: return check_cast(c);
    case Op::broadcast:
      expect_same_dtype(c);
      return c.expect_stretches(c.operand(0).dims, c.result().dims, "the operand");
    case Op::reshape:
      expect_same_dtype(c);
      return c.require(c.sizes.same(product(c.operand(0).dims), product(c.result().dims)),
                       "reshape changes the number of elements");
    case Op::transpose: return transpose(c);
    case Op::flip: return flip(c);
    case Op::diagonal: return diagonal(c);
    case Op::slice:
    case Op::gather: return check_read(c);
    case Op::update:
    case Op::scatter: return check_write(c);
    case Op::reduce: return reduction(c);
    case Op::cumulative: return cumulative(c);
    case Op::concat: return concat(c);
    case Op::iota: return c.require(c.result().rank() == 1, "iota makes rank 1");
    case Op::size: return c.expect_type(DType::i64, {});
    case Op::as_size: return as_size(c);
    case Op::compress: return compress(c);
    case Op::library: return library(c);
    case Op::host_call:
    case Op::cond:
    case Op::loop: return;
    case Op::assert_:
      c.require(c.operand(1) == TensorType{DType::boolean, {}}, "the condition is no 0-d bool");
      for (std::size_t i = 2; i < c.node.operands.size(); ++i) {
        c.require(c.operand(i) == TensorType{DType::i64, {}}, "a number is no 0-d i64");
      }
      return c.expect_type(c.operand(0).dtype, c.operand(0).dims);
  }
}

}  // namespace inlay::verifier
