// Sums: what a fold or an accumulating store leaves out of its map is summed in registers, one sum for each lane, and
// the lanes are put together once at the end. (Floats are so reassociated; PyTensor and NumPy do not promise an order
// either.)
#include "backend/llvm/stage.h"
#include "support/error.h"

namespace inlay::llvm_backend {

using kernel::Statement;

void StageEmitter::open_sums(int level) {
  for (std::size_t k = 0; k < sums_.size(); ++k) {
    if (plan_.statements[sum_statements_[k]].opened != level) continue;
    const Statement& fold = statement(sum_statements_[k]);
    sums_[k] = splat(f_, f_.constant(identity_of(fold.combine, fold.dtype)), plan_.width);
  }
}

void StageEmitter::add_to_sum(std::size_t sum, Lanes& lanes, std::vector<Value*>& sums) {
  const Statement& fold = statement(sum_statements_[sum]);
  const kernel::RegisterId r = fold.operands[0];
  Value* value = emit_cast(f_, operand(r, lanes), plan_.register_dtypes[r.index], fold.dtype);
  Value* next = emit_combine(f_, fold.combine, fold.dtype, sums[sum], value);
  sums[sum] = lanes.active ? b_.CreateSelect(lanes.active, next, sums[sum]) : next;
}

void StageEmitter::finish_sums(int level) {
  for (std::size_t k = 0; k < sums_.size(); ++k) {
    const std::size_t i = sum_statements_[k];
    if (plan_.statements[i].opened != level) continue;
    combine_into(i, reduce_lanes(statement(i).combine, statement(i).dtype, sums_[k]), uniform_);
  }
}

/// By halves, so that it takes log(width) steps.
Value* StageEmitter::reduce_lanes(Combine combine, DType dtype, Value* value) {
  for (int width = width_of(value) / 2; width >= 1; width /= 2) {
    llvm::SmallVector<int, 16> low, high;
    for (int lane = 0; lane < width; ++lane) {
      low.push_back(lane);
      high.push_back(lane + width);
    }
    value = emit_combine(f_, combine, dtype, b_.CreateShuffleVector(value, low), b_.CreateShuffleVector(value, high));
  }
  return width_of(value) == 1 && value->getType()->isVectorTy() ? b_.CreateExtractElement(value, uint64_t{0}) : value;
}

/// buffer[place] = combine(buffer[place], value), where no two lanes meet.
void StageEmitter::combine_into(std::size_t i, Value* value, Lanes& lanes) {
  const Statement& s = statement(i);
  if (f_.is_scalar(s.buffer) && !f_.is_spilled(s.buffer)) {
    f_.set_scalar(s.buffer, emit_combine(f_, s.combine, s.dtype, f_.scalar(s.buffer), value));
    return;
  }
  const Place where = place(i, lanes);
  store(where, s.dtype, emit_combine(f_, s.combine, s.dtype, load(where, s.dtype, lanes), value), lanes);
}

}  // namespace inlay::llvm_backend
