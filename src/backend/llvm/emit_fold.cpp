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
    sums_[k] = fold.result.valid() ? state(sum_statements_[k])
                                   : splat(f_, f_.constant(identity_of(fold.combine, fold.dtype)), plan_.width);
  }
}

void StageEmitter::add_to_sum(std::size_t sum, Lanes& lanes, std::vector<Value*>& sums) {
  const Statement& fold = statement(sum_statements_[sum]);
  if (fold.result.valid()) return run_on(sum, lanes, sums);
  Value* value = folded(fold, lanes);
  Value* next = fold.finds_place ? later_place(fold, {sums[sum], sums[sum + 1]}, {value, folded((&fold)[1], lanes)})
                                 : emit_combine(f_, fold.combine, fold.dtype, sums[sum], value);
  sums[sum] = lanes.active ? select(f_, lanes.active, next, sums[sum]) : next;
}

/// What the fold adds, in the fold's dtype.
Value* StageEmitter::folded(const Statement& fold, Lanes& lanes) {
  const kernel::RegisterId r = fold.operands[0];
  return emit_cast(f_, operand(r, lanes), plan_.register_dtypes[r.index], fold.dtype);
}

Value* StageEmitter::later_place(const Statement& places, const Found& a, const Found& b) {
  const Statement& extreme = (&places)[1];
  const auto op = [&](ScalarOp op, Value* left, Value* right) {
    return emit_op(f_, op, extreme.dtype, {left, right}, nullptr);
  };
  Value* beats = op(extreme.combine == Combine::max ? ScalarOp::gt_ : ScalarOp::lt_, b.extreme, a.extreme);
  Value* meets = op(ScalarOp::eq_, b.extreme, a.extreme);
  if (is_float(extreme.dtype)) {
    Value* a_is_nan = op(ScalarOp::ne_, a.extreme, a.extreme);
    Value* b_is_nan = op(ScalarOp::ne_, b.extreme, b.extreme);
    beats = b_.CreateOr(beats, b_.CreateAnd(b_is_nan, b_.CreateNot(a_is_nan)));
    meets = b_.CreateOr(meets, b_.CreateAnd(b_is_nan, a_is_nan));
  }
  Value* least = emit_combine(f_, Combine::min, places.dtype, a.place, b.place);
  return select(f_, beats, b.place, select(f_, meets, least, a.place));
}

/// The sets of sums that the vectors of one pass had, as one: sum k of set u is sums[u * num_sums + k].
Value* StageEmitter::merged(std::size_t k, llvm::ArrayRef<Value*> sums) {
  const Statement& fold = statement(sum_statements_[k]);
  Value* sum = sums[k];
  Value* extreme = fold.finds_place ? sums[k + 1] : nullptr;
  for (std::size_t at = k + sums_.size(); at < sums.size(); at += sums_.size()) {
    if (!fold.finds_place) {
      sum = emit_combine(f_, fold.combine, fold.dtype, sum, sums[at]);
      continue;
    }
    sum = later_place(fold, {sum, extreme}, {sums[at], sums[at + 1]});
    const Statement& other = (&fold)[1];
    extreme = emit_combine(f_, other.combine, other.dtype, extreme, sums[at + 1]);
  }
  return sum;
}

/// The lanes of places put together, with the extreme of all.
StageEmitter::Found StageEmitter::found_in_lanes(std::size_t k) {
  const Statement& places = statement(sum_statements_[k]);
  const Statement& other = (&places)[1];
  Value* extreme = reduce_lanes(other.combine, other.dtype, sums_[k + 1]);
  Value* nothing = splat(f_, f_.constant(identity_of(Combine::min, places.dtype)), width_of(sums_[k]));
  const Found none = {nothing, splat(f_, extreme, width_of(sums_[k]))};
  return {reduce_lanes(Combine::min, places.dtype, later_place(places, none, {sums_[k], sums_[k + 1]})), extreme};
}

void StageEmitter::finish_sums(int level) {
  for (std::size_t k = 0; k < sums_.size(); ++k) {
    const std::size_t i = sum_statements_[k];
    if (plan_.statements[i].opened != level) continue;
    if (statement(i).result.valid()) {
      set_state(i, sums_[k]);
      continue;
    }
    if (statement(i).finds_place) {
      set_state(i, later_place(statement(i), {state(i), state(i + 1)}, found_in_lanes(k)));
      continue;
    }
    combine_into(i, reduce_lanes(statement(i).combine, statement(i).dtype, sums_[k]), uniform_);
  }
}

/// The sum is one element, and each lane has what it is there.
void StageEmitter::run_on(std::size_t sum, Lanes& lanes, std::vector<Value*>& sums) {
  const Statement& fold = statement(sum_statements_[sum]);
  Value* value = operand(fold.operands[0], lanes);
  if (lanes.active) {
    Value* nothing = splat(f_, f_.constant(identity_of(fold.combine, fold.dtype)), lanes.width);
    value = select(f_, lanes.active, value, nothing);
  }
  Value* running = lanes_so_far(fold, value, sums[sum]);
  lanes.registers[fold.result.index] = running;
  sums[sum] = lanes.width == 1 ? running : lane_of(f_, running, f_.i64(lanes.width - 1));
}

/// Lane l: `before`, then lanes 0 to l. Integers by doubling the distance, log(width) steps; what rounds one after the
/// other, as the oracles do.
Value* StageEmitter::lanes_so_far(const Statement& fold, Value* value, Value* before) {
  const int width = width_of(value);
  const auto combined = [&](Value* a, Value* b) { return emit_combine(f_, fold.combine, fold.dtype, a, b); };
  if (width == 1) return combined(before, value);
  if (!is_float(fold.dtype) && !is_complex(fold.dtype)) {
    Value* nothing = splat(f_, f_.constant(identity_of(fold.combine, fold.dtype)), width);
    for (int distance = 1; distance < width; distance *= 2) {
      llvm::SmallVector<int, 16> shifted;
      for (int lane = 0; lane < width; ++lane) shifted.push_back(lane < distance ? width + lane : lane - distance);
      value = combined(b_.CreateShuffleVector(value, nothing, shifted), value);
    }
    return combined(splat(f_, before, width), value);
  }
  std::vector<Value*> results;
  for (int lane = 0; lane < width; ++lane) {
    before = combined(before, lane_of(f_, value, f_.i64(lane)));
    results.push_back(before);
  }
  return from_lanes(f_, results);
}

/// What the element of a running fold is before the loop.
Value* StageEmitter::state(std::size_t i) {
  const Statement& s = statement(i);
  if (f_.is_scalar(s.buffer) && !f_.is_spilled(s.buffer)) return f_.scalar(s.buffer);
  return load(place(i, uniform_), s.dtype, uniform_);
}

void StageEmitter::set_state(std::size_t i, Value* value) {
  const Statement& s = statement(i);
  if (f_.is_scalar(s.buffer) && !f_.is_spilled(s.buffer)) return f_.set_scalar(s.buffer, value);
  store(place(i, uniform_), s.dtype, value, uniform_);
}

/// By halves, so that it takes log(width) steps.
Value* StageEmitter::reduce_lanes(Combine combine, DType dtype, Value* value) {
  const auto lanes_of = [&](int first, int count) {
    llvm::SmallVector<int, 16> numbers;
    for (int lane = 0; lane < count; ++lane) numbers.push_back(first + lane);
    return for_each_part(f_, value, [&](Value* part) { return b_.CreateShuffleVector(part, numbers); });
  };
  for (int width = width_of(value) / 2; width >= 1; width /= 2) {
    value = emit_combine(f_, combine, dtype, lanes_of(0, width), lanes_of(width, width));
  }
  return for_each_part(f_, value, [&](Value* part) {
    return part->getType()->isVectorTy() ? b_.CreateExtractElement(part, uint64_t{0}) : part;
  });
}

/// Where each lane has its own element.
void StageEmitter::find_place(std::size_t i, Lanes& lanes) {
  const Statement& s = statement(i);
  const Statement& other = statement(i + 1);
  const Found here = {folded(s, lanes), folded(other, lanes)};
  if (plan_.loops.empty()) return set_state(i, later_place(s, {state(i), state(i + 1)}, here));
  const Place where = place(i, lanes);
  const Found before = {load(where, s.dtype, lanes), load(place(i + 1, lanes), other.dtype, lanes)};
  store(where, s.dtype, later_place(s, before, here), lanes);
}

/// buffer[place] = combine(buffer[place], value), where no two lanes meet.
void StageEmitter::combine_into(std::size_t i, Value* value, Lanes& lanes) {
  const Statement& s = statement(i);
  const bool in_register = f_.is_scalar(s.buffer) && !f_.is_spilled(s.buffer);
  Value* now = nullptr;
  if (in_register) {
    now = emit_combine(f_, s.combine, s.dtype, f_.scalar(s.buffer), value);
    f_.set_scalar(s.buffer, now);
  } else {
    const Place where = place(i, lanes);
    now = emit_combine(f_, s.combine, s.dtype, load(where, s.dtype, lanes), value);
    store(where, s.dtype, now, lanes);
  }
  if (s.result.valid()) lanes.registers[s.result.index] = now;
}

}  // namespace inlay::llvm_backend
