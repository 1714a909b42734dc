#include <algorithm>

#include "ir/verifier.h"

namespace inlay::verifier {

void Verifier::check(const Node& node) {
  switch (node.op) {
    case Op::literal: return literal(node);
    case Op::scalar: return scalar(node);
    case Op::cast: return check_cast(node);
    case Op::broadcast:
      expect_dtype_of(node.operands[0]);
      return expect_stretches(type(node.operands[0]).dims, type(current_).dims, "the operand");
    case Op::reshape:
      expect_dtype_of(node.operands[0]);
      return require(same(product(type(node.operands[0]).dims), product(type(current_).dims)), current_,
                     "reshape changes the number of elements");
    case Op::transpose: return transpose(node);
    case Op::flip: return flip(node);
    case Op::diagonal: return diagonal(node);
    case Op::slice:
    case Op::gather: return read(node);
    case Op::update:
    case Op::scatter: return write(node);
    case Op::reduce: return reduce(node);
    case Op::fold: return fold(node);
    case Op::cumulative: return cumulative(node);
    case Op::concat: return concat(node);
    case Op::iota: return require(type(current_).rank() == 1, current_, "iota makes rank 1");
    case Op::size: check_symbols(current_, node.size); return expect_type(DType::i64, {});
    case Op::as_size: return as_size(node);
    case Op::compress: return compress(node);
    case Op::library: return library(node);
    case Op::host_call:
    case Op::cond:
    case Op::loop: return;
    case Op::assert_:
      require(type(node.operands[1]) == TensorType{DType::boolean, {}}, current_, "the condition is no 0-d bool");
      for (std::size_t i = 2; i < node.operands.size(); ++i) {
        require(type(node.operands[i]) == TensorType{DType::i64, {}}, current_, "a number is no 0-d i64");
      }
      return expect_type(type(node.operands[0]).dtype, type(node.operands[0]).dims);
  }
}

void Verifier::check_cast(const Node& node) {
  const TensorType& from = type(node.operands[0]);
  require(!is_complex(from.dtype) || is_complex(type(current_).dtype), current_,
          "a complex number is cast to a real one");
  expect_type(type(current_).dtype, from.dims);
}

void Verifier::expect_dtype_of(ValueId operand) {
  require(type(current_).dtype == type(operand).dtype, current_, "a view changes the dtype");
}

void Verifier::literal(const Node& node) {
  const Dim count = product(type(current_).dims);
  require(count.is(static_cast<int64_t>(node.elements.size())), current_,
          str(node.elements.size(), " elements for ", text(type(current_))));
  for (const Literal& element : node.elements) {
    require(element.dtype == type(current_).dtype, current_, "an element of another dtype");
  }
}

void Verifier::scalar(const Node& node) {
  const bool is_select = node.scalar == ScalarOp::select_;
  const DType dtype = type(node.operands.back()).dtype;
  for (std::size_t i = 0; i < node.operands.size(); ++i) {
    const DType wanted = is_select && i == 0 ? DType::boolean : dtype;
    require(type(node.operands[i]).dtype == wanted, current_, str("operand ", i, " is ", text(type(node.operands[i]))));
    expect_stretches(type(node.operands[i]).dims, type(current_).dims, str("operand ", i));
  }
  require(accepts(node.scalar, dtype), current_, str(facts(node.scalar).name, " does not take ", dtype_name(dtype)));
  const DType result = result_dtype(node.scalar, dtype);
  require(type(current_).dtype == result, current_, str("its dtype is not ", dtype_name(result)));
  // Nothing stretches a dim that is 1 in every operand.
  for (int from_last = 1; from_last <= type(current_).rank(); ++from_last) {
    const auto wide = [&](ValueId v) {
      const auto& dims = type(v).dims;
      return static_cast<int>(dims.size()) >= from_last && !dims[dims.size() - from_last].is(1);
    };
    const bool any = std::ranges::any_of(node.operands, wide);
    require(any || type(current_).dims[type(current_).rank() - from_last].is(1), current_, "wider than its operands");
  }
}

void Verifier::transpose(const Node& node) {
  const TensorType& from = type(node.operands[0]);
  std::vector<int> sorted = node.axes;
  std::ranges::sort(sorted);
  std::vector<int> whole;
  for (int axis = 0; axis < from.rank(); ++axis) whole.push_back(axis);
  if (sorted != whole) return fail(current_, "the axes are no permutation");
  std::vector<Dim> dims;
  for (int axis : node.axes) dims.push_back(from.dims[axis]);
  expect_type(from.dtype, dims);
}

/// Ascending, each once, and there.
bool Verifier::check_axes(const std::vector<int>& axes, int rank) {
  const bool ascending = std::ranges::adjacent_find(axes, std::greater_equal<>()) == axes.end();
  if (ascending && (axes.empty() || (axes.front() >= 0 && axes.back() < rank))) return true;
  fail(current_, str("axes [", join(axes, ", "), "] of rank ", rank));
  return false;
}

void Verifier::flip(const Node& node) {
  const TensorType& from = type(node.operands[0]);
  if (check_axes(node.axes, from.rank())) expect_type(from.dtype, from.dims);
}

void Verifier::diagonal(const Node& node) {
  const TensorType& from = type(node.operands[0]);
  if (!check_axes(node.axes, from.rank())) return;
  if (node.axes.size() != 2) return fail(current_, str(node.axes.size(), " axes, not 2"));
  require(same(from.dims[node.axes[0]], from.dims[node.axes[1]]), current_, "the two dims differ");
  std::vector<Dim> dims;
  for (int axis = 0; axis < from.rank(); ++axis) {
    if (!std::ranges::binary_search(node.axes, axis)) dims.push_back(from.dims[axis]);
  }
  dims.push_back(from.dims[node.axes[0]]);
  expect_type(from.dtype, dims);
}

/// The shape of x[index], or none when the index itself is wrong. `first_array`: where index arrays begin in
/// operands.
std::optional<std::vector<Dim>> Verifier::region(const Node& node, std::size_t first_array) {
  const TensorType& x = type(node.operands[0]);
  if (static_cast<int>(node.index.size()) != x.rank()) {
    fail(current_, str(node.index.size(), " index items for rank ", x.rank()));
    return std::nullopt;
  }
  std::vector<Dim> ranges_before, ranges_after, arrays;
  std::size_t next_array = first_array;
  int array_blocks = 0;
  bool in_block = false;
  const bool any_array =
      std::ranges::any_of(node.index, [](const IndexItem& item) { return item.kind == IndexItem::Kind::array; });
  const auto in_array_block = [&] {
    if (!in_block) ++array_blocks;
    in_block = true;
  };
  for (int axis = 0; axis < x.rank(); ++axis) {
    const IndexItem& item = node.index[axis];
    switch (item.kind) {
      case IndexItem::Kind::range:
        range(item, x.dims[axis], axis);
        (array_blocks ? ranges_after : ranges_before).push_back(item.length());
        in_block = false;
        break;
      case IndexItem::Kind::position:
        require(at_most(0, item.position) && at_most(item.position + 1, x.dims[axis]), current_,
                str("position ", text(item.position), " is not shown to be in axis ", axis));
        if (any_array) in_array_block();
        break;
      case IndexItem::Kind::array:
        if (next_array >= node.operands.size() || node.operands[next_array] != item.array) {
          fail(current_, "the operands are not the index arrays in order");
          return std::nullopt;
        }
        ++next_array;
        require(is_integer(type(item.array).dtype), current_, "an index array of no integers");
        stretch(arrays, type(item.array).dims);
        in_array_block();
        break;
    }
  }
  if (next_array != node.operands.size()) {
    fail(current_, "more operands than index arrays");
    return std::nullopt;
  }
  // Arrays with a range between them, where a position beside arrays is one too: their axes come first, as in NumPy.
  std::vector<Dim> dims = array_blocks > 1 ? arrays : ranges_before;
  const std::vector<Dim>& middle = array_blocks > 1 ? ranges_before : arrays;
  dims.insert(dims.end(), middle.begin(), middle.end());
  dims.insert(dims.end(), ranges_after.begin(), ranges_after.end());
  return dims;
}

void Verifier::range(const IndexItem& item, const Dim& dim, int axis) {
  require(item.step > 0, current_, str("step ", item.step));
  if (item.start.is(0) && item.stop == dim) return;  // whole: a size is never negative
  require(at_most(0, item.start) && at_most(item.start, item.stop) && at_most(item.stop, dim), current_,
          str("range ", text(item.start), ":", text(item.stop), " is not shown to be in axis ", axis));
}

/// `dims` widened by `other`, aligned at the last axis.
void Verifier::stretch(std::vector<Dim>& dims, const std::vector<Dim>& other) {
  if (other.size() > dims.size()) dims.insert(dims.begin(), other.size() - dims.size(), Dim(1));
  for (std::size_t i = 0; i < other.size(); ++i) {
    Dim& dim = dims[dims.size() - other.size() + i];
    if (dim.is(1)) {
      dim = other[i];
    } else {
      require(other[i].is(1) || same(dim, other[i]), current_, "the index arrays do not fit each other");
    }
  }
}

void Verifier::read(const Node& node) {
  if (const auto dims = region(node, 1)) expect_type(type(node.operands[0]).dtype, *dims);
}

void Verifier::write(const Node& node) {
  const TensorType &base = type(node.operands[0]), &value = type(node.operands[1]);
  if (const auto dims = region(node, 2)) expect_stretches(value.dims, *dims, "the value");
  require(value.dtype == base.dtype, current_, "the value has another dtype than the base");
  require(node.combine == Combine::set || accepts(combine_op(node.combine), base.dtype), current_,
          str(combine_name(node.combine), " does not take ", dtype_name(base.dtype)));
  expect_type(base.dtype, base.dims);
}

void Verifier::reduce(const Node& node) {
  const TensorType& from = type(node.operands[0]);
  if (!check_axes(node.axes, from.rank())) return;
  require(node.combine != Combine::set && accepts(combine_op(node.combine), from.dtype), current_,
          str("reduce ", combine_name(node.combine), " does not take ", dtype_name(from.dtype)));
  std::vector<Dim> dims;
  for (int axis = 0; axis < from.rank(); ++axis) {
    if (!std::ranges::binary_search(node.axes, axis)) dims.push_back(from.dims[axis]);
  }
  expect_type(from.dtype, dims);
}

void Verifier::fold(const Node& node) {
  const FoldFacts& row = facts(node.fold);
  const TensorType& from = type(node.operands.back());
  if (!check_axes(node.axes, from.rank())) return;
  std::vector<Dim> dims;
  for (int axis = 0; axis < from.rank(); ++axis) {
    if (!std::ranges::binary_search(node.axes, axis)) dims.push_back(from.dims[axis]);
  }
  require(!row.has_hidden() || dims.empty(), current_, "hidden states are folded over all axes");
  std::size_t operand = 0;
  for (std::size_t k = 0; k < row.num_stored; ++k) {
    const FoldState& state = row.states[k];
    const TensorType& result = type(node.results[k]);
    require(accepts(state.dtype, result.dtype) && same(result.dims, dims), node.results[k],
            str("is no ", state.name, " of a fold over ", text(from)));
    if (state.counts_points()) continue;
    const TensorType& x = type(node.operands[operand++]);
    require(x.dtype == result.dtype && same(x.dims, from.dims), node.results[k], str("is folded from ", text(x)));
  }
}

void Verifier::cumulative(const Node& node) {
  const TensorType& from = type(node.operands[0]);
  if (node.axes.size() != 1 || !check_axes(node.axes, from.rank())) return;
  require(node.combine != Combine::set && accepts(combine_op(node.combine), from.dtype), current_,
          str("cumulative ", combine_name(node.combine), " does not take ", dtype_name(from.dtype)));
  expect_type(from.dtype, from.dims);
}

void Verifier::as_size(const Node& node) {
  require(type(node.operands[0]) == TensorType{DType::i64, {}}, current_, "a size is no 0-d i64");
  require(node.size.is_symbol(), current_, "binds no symbol");
  expect_type(DType::i64, {});
}

void Verifier::compress(const Node& node) {
  const TensorType& mask = type(node.operands[0]);
  expect_type(DType::i64, {});
  if (mask.dtype != DType::boolean || mask.rank() != 1) return fail(current_, "the mask is no vector of bool");
  if (node.results.size() != node.operands.size()) return fail(current_, "has not one result for each operand");
  require(node.size.is_symbol(), current_, "binds no symbol");
  for (std::size_t i = 1; i < node.operands.size(); ++i) {
    const TensorType& x = type(node.operands[i]);
    require(same(x.dims, mask.dims), current_, str("operand ", i, " is ", text(x)));
    current_ = node.results[i];
    expect_type(x.dtype, {node.size});
  }
}

void Verifier::concat(const Node& node) {
  const TensorType& first = type(node.operands[0]);
  if (node.axes.size() != 1 || !check_axes(node.axes, first.rank())) return;
  const int axis = node.axes[0];
  std::vector<Dim> dims = first.dims;
  dims[axis] = 0;
  for (ValueId v : node.operands) {
    const TensorType& part = type(v);
    if (part.dtype != first.dtype || part.rank() != first.rank()) return fail(current_, "parts of different types");
    for (int d = 0; d < first.rank(); ++d) {
      if (d == axis) {
        dims[d] = dims[d] + part.dims[d];
      } else {
        require(same(dims[d], part.dims[d]), current_, str("parts differ in dim ", d));
      }
    }
  }
  expect_type(first.dtype, dims);
}

void Verifier::library(const Node& node) {
  std::vector<TensorType> operands;
  for (ValueId v : node.operands) operands.push_back(type(v));
  ErrorCode code = ErrorCode::internal;
  const std::string problem = library_operands_problem(node.library, operands, code);
  if (!problem.empty()) return fail(current_, problem);
  const LibraryOpFacts& row = facts(node.library);
  require((node.library_options & ~row.options) == 0, current_, str(row.name, " has other options"));
  const LibraryShape shape = library_shape(node.library, operands);
  for (std::size_t i = 0; i < operands.size(); ++i) {
    std::vector<Dim> dims;
    if (has_all_core_axes(node.library, i, operands[i].rank())) dims = shape.batch;
    for (const CoreAxis& axis : core_axes(node.library, i, operands[i].rank())) {
      dims.push_back(core_size<Dim>(row.signature, axis, shape.sizes));
    }
    require(same(operands[i].dims, dims), current_, str("operand ", i, " of ", row.name, " has other sizes"));
  }
  for (std::size_t r = 0; r < node.results.size(); ++r) {
    current_ = node.results[r];
    expect_type(shape.results[r].dtype, shape.results[r].dims);
  }
}

}  // namespace inlay::verifier
