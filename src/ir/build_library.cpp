// The builder's calls for library ops: their batch axes broadcast here, so that a node's operands agree.
#include <algorithm>
#include <map>

#include "ir/builder.h"
#include "ir/library_types.h"

namespace inlay {

namespace {

/// What an error calls operand `i` of `count`.
const char* role_of(std::size_t i, std::size_t count) { return count != 2 ? "operand" : i == 0 ? "left" : "right"; }

/// `{0} on the left and {1} on the right`, of operands `first` and `other`.
std::string two_sizes(std::size_t first, std::size_t other, std::size_t count) {
  if (count == 2) return "{0} on the left and {1} on the right";
  return str("{0} by operand ", first, " and {1} by operand ", other);
}

}  // namespace

std::vector<ValueId> GraphBuilder::library(LibraryOp op, std::vector<ValueId> operands, LibraryOptions options) {
  const LibraryOpFacts& row = facts(op);
  if ((options & ~row.options) != 0) {
    const std::string all = options_text(row.options);
    throw error(ErrorCode::unsupported, str(row.name, ": has no option", options_text(options & ~row.options)))
        .help(all.empty() ? "it has none" : str("it has", all));
  }
  std::vector<TensorType> types = types_of(operands);
  ErrorCode code = ErrorCode::wrong_arity;
  const std::string problem = library_operands_problem(op, types, code);
  if (!problem.empty()) {
    Error failure = error(code, problem);
    for (std::size_t i = 0; i < operands.size(); ++i) {
      if (code == ErrorCode::wrong_arity) continue;
      failure = std::move(failure).note(role_of(i, operands.size()), graph_.describe(operands[i]));
    }
    throw failure;
  }
  require_core_sizes(op, operands);
  broadcast_batches(op, operands);

  LibraryShape shape = library_shape(op, types_of(operands));
  Node node{.op = Op::library, .library = op, .library_options = options};
  node.operands = std::move(operands);
  const NodeId id = new_node(std::move(node));
  std::vector<ValueId> values;
  for (TensorType& type : shape.results) {
    values.push_back(new_value(std::move(type), "", id));
    graph_.nodes[id].results.emplace_back(values.back().index);
  }
  return values;
}

std::vector<TensorType> GraphBuilder::types_of(std::span<const ValueId> values) const {
  std::vector<TensorType> types;
  for (ValueId v : values) types.push_back(type(v));
  return types;
}

/// Axes with one letter have one size: `solve: size n is 3 on the left and 4 on the right`.
void GraphBuilder::require_core_sizes(LibraryOp op, std::span<const ValueId> operands) {
  const LibraryOpFacts& row = facts(op);
  std::vector<Dim> sizes(row.signature.letters.size(), Dim(1));
  std::vector<std::size_t> told_by(sizes.size(), operands.size());  // the first operand that tells the size
  const auto for_each_axis = [&](auto visit) {
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const std::vector<Dim> dims = type(operands[i]).dims;
      const CoreAxes axes = core_axes(op, i, static_cast<int>(dims.size()));
      for (std::size_t a = 0; a < axes.size(); ++a) {
        visit(i, axes[a], row.signature.letters.find(axes[a].letter), dims[dims.size() - axes.size() + a]);
      }
    }
  };
  std::vector<Dim> first_dims = sizes;  // what that operand says first: of a matrix its rows
  for_each_axis([&](std::size_t i, const CoreAxis& axis, std::size_t letter, const Dim& dim) {
    const bool is_new = told_by[letter] == operands.size();
    if (!axis.tells() || (!is_new && (sizes[letter].is_constant() || !dim.is_constant()))) return;
    if (is_new || told_by[letter] != i) first_dims[letter] = dim;
    told_by[letter] = i;
    sizes[letter] = dim;  // a number where there is one, as in library_shape
  });
  for_each_axis([&](std::size_t i, const CoreAxis& axis, std::size_t letter, const Dim& dim) {
    const std::size_t first = told_by[letter], count = operands.size();
    if (i == first && axis.less == 0) {
      const auto message = [&] { return str(row.name, ": a matrix of {0} rows and {1} columns is not square"); };
      return require_same(first_dims[letter], dim, message, {{"operand", operands[i]}});
    }
    const auto message = [&] {
      const std::string size = op == LibraryOp::matmul ? "the summed dim" : str("size ", size_text(axis));
      return str(row.name, ": ", size, " is ", two_sizes(first, i, count));
    };
    const Dim size = core_size<Dim>(row.signature, axis, sizes);
    require_same(size, dim, message, {{role_of(first, count), operands[first]}, {role_of(i, count), operands[i]}});
  });
}

/// Operands get the batch axes that they broadcast to. A plain vector has none, and stands with a single matrix.
void GraphBuilder::broadcast_batches(LibraryOp op, std::span<ValueId> operands) {
  if (operands.size() < 2) return;
  std::vector<std::vector<Dim>> batches;
  std::size_t rank = 0;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const std::vector<Dim>& dims = type(operands[i]).dims;
    const std::size_t num_core = core_axes(op, i, static_cast<int>(dims.size())).size();
    batches.emplace_back(dims.begin(), dims.end() - static_cast<std::ptrdiff_t>(num_core));
    rank = std::max(rank, batches.back().size());
  }
  std::vector<Dim> batch(rank, Dim(1));
  for (std::size_t at = 0; at < operands.size(); ++at) {
    const std::vector<Dim>& dims = batches[at];
    for (std::size_t i = 0; i < dims.size(); ++i) {
      Dim& dim = batch[rank - dims.size() + i];
      if (dims[i].is(1)) continue;
      if (!dim.is(1)) {
        const auto message = [&] {
          return str(facts(op).name, ": batch dim ", rank - dims.size() + i, " is ", two_sizes(0, at, operands.size()));
        };
        require_same(dim, dims[i], message,
                     {{role_of(0, operands.size()), operands[0]}, {role_of(at, operands.size()), operands[at]}});
      }
      if (dim.is(1) || dims[i].is_constant()) dim = dims[i];
    }
  }
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const std::vector<Dim>& dims = type(operands[i]).dims;
    if (!has_all_core_axes(op, i, static_cast<int>(dims.size()))) continue;
    std::vector<Dim> wanted = batch;
    wanted.insert(wanted.end(), dims.begin() + static_cast<std::ptrdiff_t>(batches[i].size()), dims.end());
    operands[i] = broadcast(operands[i], std::move(wanted));
  }
}

namespace {

/// In no function of src/library.
bool is_whole(DType dtype) { return is_integer(dtype) || dtype == DType::boolean; }

}  // namespace

ValueId GraphBuilder::matmul(ValueId a, ValueId b) {
  const TensorType left = type(a), right = type(b);
  if (left.dtype == right.dtype && is_whole(left.dtype) && left.rank() > 0 && right.rank() > 0) {
    return multiply_and_sum(a, b);
  }
  // A vector beside a batch of matrices is a matrix of one row or column.
  if (left.rank() == 1 && right.rank() > 2) {
    const ValueId product = matmul(reshape(a, {1, left.dims[0]}), b);
    std::vector<Dim> dims = type(product).dims;
    dims.erase(dims.end() - 2);
    return reshape(product, std::move(dims));
  }
  if (right.rank() == 1 && left.rank() > 2) {
    const ValueId product = matmul(a, reshape(b, {right.dims[0], 1}));
    std::vector<Dim> dims = type(product).dims;
    dims.pop_back();
    return reshape(product, std::move(dims));
  }
  return library(LibraryOp::matmul, {a, b})[0];
}

/// Integers go to no BLAS: products, and a sum over the shared axis, which is brought to
/// the end on both sides.
ValueId GraphBuilder::multiply_and_sum(ValueId a, ValueId b) {
  const std::vector<Dim> left = type(a).dims, right = type(b).dims;
  const auto message = [] { return std::string("matmul: the summed dim is {0} on the left and {1} on the right"); };
  require_same(left.back(), right.size() == 1 ? right[0] : right[right.size() - 2], message,
               {{"left", a}, {"right", b}});
  if (right.size() > 1) {
    std::vector<int> swap(right.size());
    for (std::size_t i = 0; i < swap.size(); ++i) swap[i] = static_cast<int>(i);
    std::swap(swap[swap.size() - 1], swap[swap.size() - 2]);
    b = transpose(b, swap);
    if (left.size() > 1) {
      std::vector<Dim> rows = left;
      rows.insert(rows.end() - 1, Dim(1));
      a = reshape(a, rows);
      std::vector<Dim> columns = type(b).dims;
      columns.insert(columns.end() - 2, Dim(1));
      b = reshape(b, columns);
    }
  }
  const DType dtype = type(a).dtype;
  const bool logical = dtype == DType::boolean;
  const ValueId products = scalar(logical ? ScalarOp::and_ : ScalarOp::mul_, {a, b});
  return reduce(logical ? Combine::or_ : Combine::add, products, {type(products).rank() - 1}, dtype);
}

}  // namespace inlay
