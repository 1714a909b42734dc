#include <utility>

#include "ir/linalg.h"

namespace inlay::linalg {
namespace {

/// In no function of src/library.
bool is_whole(DType dtype) { return is_integer(dtype) || dtype == DType::boolean; }

/// Integers go to no BLAS: products, and a sum over the shared axis, which is brought to the end on both sides.
ValueId multiply_and_sum(GraphBuilder& b, ValueId x, ValueId y) {
  const std::vector<Dim> left = b.type(x).dims, right = b.type(y).dims;
  const auto message = [] { return std::string("matmul: the summed dim is {0} on the left and {1} on the right"); };
  b.require(left.back(), right.size() == 1 ? right[0] : right[right.size() - 2], message, {{"left", x}, {"right", y}});
  if (right.size() > 1) {
    std::vector<int> swap(right.size());
    for (std::size_t i = 0; i < swap.size(); ++i) swap[i] = static_cast<int>(i);
    std::swap(swap[swap.size() - 1], swap[swap.size() - 2]);
    y = b.transpose(y, swap);
    if (left.size() > 1) {
      std::vector<Dim> rows = left;
      rows.insert(rows.end() - 1, Dim(1));
      x = b.reshape(x, rows);
      std::vector<Dim> columns = b.type(y).dims;
      columns.insert(columns.end() - 2, Dim(1));
      y = b.reshape(y, columns);
    }
  }
  const DType dtype = b.type(x).dtype;
  const bool logical = dtype == DType::boolean;
  const ValueId products = b.scalar(logical ? ScalarOp::and_ : ScalarOp::mul_, {x, y});
  return b.reduce(logical ? Fold::or_ : Fold::add, products, {b.type(products).rank() - 1}, dtype);
}

}  // namespace

ValueId matmul(GraphBuilder& b, ValueId x, ValueId y) {
  const TensorType left = b.type(x), right = b.type(y);
  if (left.dtype == right.dtype && is_whole(left.dtype) && left.rank() > 0 && right.rank() > 0) {
    return multiply_and_sum(b, x, y);
  }
  // A vector beside a batch of matrices is a matrix of one row or column.
  if (left.rank() == 1 && right.rank() > 2) {
    const ValueId product = matmul(b, b.reshape(x, {1, left.dims[0]}), y);
    std::vector<Dim> dims = b.type(product).dims;
    dims.erase(dims.end() - 2);
    return b.reshape(product, std::move(dims));
  }
  if (right.rank() == 1 && left.rank() > 2) {
    const ValueId product = matmul(b, x, b.reshape(y, {right.dims[0], 1}));
    std::vector<Dim> dims = b.type(product).dims;
    dims.pop_back();
    return b.reshape(product, std::move(dims));
  }
  return b.library(LibraryOp::matmul, {x, y})[0];
}

}  // namespace inlay::linalg
