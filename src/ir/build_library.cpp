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

std::vector<TensorType> types_of(const GraphBuilder& b, std::span<const ValueId> values) {
  std::vector<TensorType> types;
  for (ValueId v : values) types.push_back(b.type(v));
  return types;
}

/// Axes with one letter have one size: `solve: size n is 3 on the left and 4 on the right`.
void require_core_sizes(GraphBuilder& b, LibraryOp op, std::span<const ValueId> operands) {
  const LibraryOpFacts& row = facts(op);
  std::vector<Dim> sizes(row.signature.letters.size(), Dim(1));
  std::vector<std::size_t> told_by(sizes.size(), operands.size());  // the first operand that tells the size
  const auto for_each_axis = [&](auto visit) {
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const std::vector<Dim> dims = b.type(operands[i]).dims;
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
      return b.require(first_dims[letter], dim, message, {{"operand", operands[i]}});
    }
    const auto message = [&] {
      const std::string size = op == LibraryOp::matmul ? "the summed dim" : str("size ", size_text(axis));
      return str(row.name, ": ", size, " is ", two_sizes(first, i, count));
    };
    const Dim size = core_size<Dim>(row.signature, axis, sizes);
    b.require(size, dim, message, {{role_of(first, count), operands[first]}, {role_of(i, count), operands[i]}});
  });
}

/// Operands get the batch axes that they broadcast to. A plain vector has none, and stands with a single matrix.
void broadcast_batches(GraphBuilder& b, LibraryOp op, std::span<ValueId> operands) {
  if (operands.size() < 2) return;
  std::vector<std::vector<Dim>> batches;
  std::size_t rank = 0;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const std::vector<Dim>& dims = b.type(operands[i]).dims;
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
        b.require(dim, dims[i], message,
                  {{role_of(0, operands.size()), operands[0]}, {role_of(at, operands.size()), operands[at]}});
      }
      if (dim.is(1) || dims[i].is_constant()) dim = dims[i];
    }
  }
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const std::vector<Dim>& dims = b.type(operands[i]).dims;
    if (!has_all_core_axes(op, i, static_cast<int>(dims.size()))) continue;
    std::vector<Dim> wanted = batch;
    wanted.insert(wanted.end(), dims.begin() + static_cast<std::ptrdiff_t>(batches[i].size()), dims.end());
    operands[i] = b.broadcast(operands[i], std::move(wanted));
  }
}

}  // namespace

std::vector<ValueId> GraphBuilder::library(LibraryOp op, std::vector<ValueId> operands, LibraryOptions options) {
  const LibraryOpFacts& row = facts(op);
  if ((options & ~row.options) != 0) {
    const std::string all = options_text(row.options);
    throw error(ErrorCode::unsupported, str(row.name, ": has no option", options_text(options & ~row.options)))
        .help(all.empty() ? "it has none" : str("it has", all));
  }
  std::vector<TensorType> types = types_of(*this, operands);
  ErrorCode code = ErrorCode::wrong_arity;
  const std::string problem = library_operands_problem(op, types, code);
  if (!problem.empty()) {
    Error failure = error(code, problem);
    for (std::size_t i = 0; i < operands.size(); ++i) {
      if (code == ErrorCode::wrong_arity) continue;
      failure = std::move(failure).note(role_of(i, operands.size()), graph().describe(operands[i]));
    }
    throw failure;
  }
  require_core_sizes(*this, op, operands);
  broadcast_batches(*this, op, operands);

  LibraryShape shape = library_shape(op, types_of(*this, operands));
  Node node{.op = Op::library, .library = op, .library_options = options};
  node.operands = std::move(operands);
  return add(std::move(node), std::move(shape.results));
}

}  // namespace inlay
