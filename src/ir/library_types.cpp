#include "ir/library_types.h"

#include <algorithm>

#include "support/counted.h"

namespace inlay {

bool has_all_core_axes(LibraryOp op, std::size_t operand, int rank) {
  return rank >= static_cast<int>(facts(op).signature.operands[operand].size());
}

CoreAxes core_axes(LibraryOp op, std::size_t operand, int rank) {
  CoreAxes axes = facts(op).signature.operands[operand];
  if (!has_all_core_axes(op, operand, rank)) std::erase_if(axes, [](const CoreAxis& axis) { return axis.optional; });
  return axes;
}

std::string library_operands_problem(LibraryOp op, std::span<const TensorType> operands, ErrorCode& code) {
  const LibraryOpFacts& row = facts(op);
  code = ErrorCode::wrong_arity;
  if (operands.size() != row.signature.operands.size()) {
    const std::size_t wanted = row.signature.operands.size();
    return str(row.name, ": takes ", counted(wanted, "operand"), ", not ", operands.size());
  }
  code = ErrorCode::wrong_dtype;
  const DType dtype = operands[0].dtype;
  if (!accepts(op, dtype)) return str(row.name, ": does not take ", dtype_name(dtype));
  for (std::size_t i = 1; i < operands.size(); ++i) {
    if (operands[i].dtype == operand_dtype(op, i, dtype)) continue;
    return str(row.name, ": of ", dtype_name(dtype), " and ", dtype_name(operands[i].dtype));
  }
  code = ErrorCode::wrong_rank;
  bool plain_vector = false, batched = false;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const int rank = operands[i].rank(), num_core = static_cast<int>(core_axes(op, i, rank).size());
    if (rank < num_core) {
      return str(row.name, ": of ",
                 operands.size() > 1
                     ? str("ranks ", join(operands, " and ", [](const TensorType& t) { return str(t.rank()); }))
                     : str("rank ", rank));
    }
    plain_vector |= !has_all_core_axes(op, i, rank);
    batched |= has_all_core_axes(op, i, rank) && rank > num_core;
  }
  if (plain_vector && batched) return str(row.name, ": of a batch of matrices and one vector");
  return "";
}

LibraryShape library_shape(LibraryOp op, std::span<const TensorType> operands) {
  const LibrarySignature& signature = facts(op).signature;
  LibraryShape out;
  out.sizes.assign(signature.letters.size(), Dim(1));
  std::vector<bool> known(signature.letters.size(), false);
  std::string missing;  // letters
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const std::vector<Dim>& dims = operands[i].dims;
    const CoreAxes axes = core_axes(op, i, operands[i].rank());
    if (axes.size() < signature.operands[i].size()) {
      for (const CoreAxis& axis : signature.operands[i]) {
        if (axis.optional) missing += axis.letter;
      }
    }
    const std::size_t num_batch = dims.size() - axes.size();
    if (num_batch >= out.batch.size() && num_batch > 0) out.batch.assign(dims.begin(), dims.end() - axes.size());
    for (std::size_t a = 0; a < axes.size(); ++a) {
      if (!axes[a].tells()) continue;
      const std::size_t letter = signature.letters.find(axes[a].letter);
      if (!known[letter] || dims[num_batch + a].is_constant()) out.sizes[letter] = dims[num_batch + a];
      known[letter] = true;
    }
  }
  for (std::size_t r = 0; r < signature.results.size(); ++r) {
    TensorType type{result_dtype(op, r, operands[0].dtype), out.batch};
    for (const CoreAxis& axis : signature.results[r]) {
      if (axis.optional && missing.find(axis.letter) != std::string::npos) continue;
      type.dims.push_back(core_size<Dim>(signature, axis, out.sizes));
    }
    out.results.push_back(std::move(type));
  }
  return out;
}

}  // namespace inlay
