// Addresses: of one element, of neighbours, or of lanes that are anywhere.
#include "backend/llvm/emit_access.h"

namespace inlay::llvm_backend {

using kernel::Statement;
using llvm::Instruction;

namespace {

// So many vectors side by side hold the elements of lanes that are so far apart: a load of each and a shuffle, where a
// lane by itself is a load and a shuffle too. See docs/codegen.md.
constexpr int64_t kMostApart = 4;

Value* widen_index(FunctionEmitter& f, Value* index, DType dtype) {
  return f.b.CreateIntCast(index, index->getType()->getWithNewType(f.b.getInt64Ty()), is_signed_integer(dtype));
}

/// A negative index counts from the end.
Value* from_front(FunctionEmitter& f, Value* index, Value* extent) {
  Value* zero = llvm::Constant::getNullValue(index->getType());
  return f.b.CreateSelect(f.b.CreateICmpSLT(index, zero), f.b.CreateAdd(index, extent), index);
}

}  // namespace

Value* AccessEmitter::start_of(std::size_t i, Lanes& lanes) {
  const kernel::NestStatement& facts = plan_.statements[i];
  const bool in_vector_loop = lanes.point != nullptr;
  if (in_vector_loop && starts_[i]) return starts_[i];
  const auto compute = [&] {
    Value* offset = nullptr;
    const auto add = [&](Value* steps, const Dim& stride) {
      if (stride.is(0)) return;
      Value* here = stride.is(1) ? steps : shared(Instruction::Mul, steps, f_.sizes.of(stride), in_vector_loop);
      offset = offset ? shared(Instruction::Add, offset, here, in_vector_loop) : here;
    };
    for (const auto& [axis, stride] : facts.place.axes) {
      if (axis != plan_.vector_axis()) add(nest_.point_of(axis), stride);
    }
    if (nest_.kernel.is_tiled() && nest_.kernel.is_local(nest_.statement(i).buffer)) {  // it begins where the tile does
      const Dim stride = facts.place.stride_of(nest_.kernel.tiled_axis());
      add(nest_.part.tile.begin, Dim(0) - stride);
    }
    for (const auto& [index, stride] : facts.place.indices) {
      if (in_vector_loop && plan_.varies(index.index)) continue;
      add(wrapped(index, nest_.uniform), stride);
    }
    const Dim& base = facts.place.base;  // last: places that differ by it alone share what stands before
    if (!offset) {
      offset = f_.sizes.of(base);
    } else if (!base.is(0)) {
      offset = b_.CreateAdd(offset, f_.sizes.of(base));
    }
    return element_address(f_, nest_.statement(i).dtype, f_.places.address(nest_.statement(i).buffer), offset);
  };
  if (!in_vector_loop) return compute();
  starts_[i] = nest_.hoisted(compute);
  return starts_[i];
}

/// The sum or the product of two numbers. Before a vector loop, what another address there is made of is taken.
Value* AccessEmitter::shared(Instruction::BinaryOps op, Value* left, Value* right, bool before_vector_loop) {
  if (!before_vector_loop) return b_.CreateBinOp(op, left, right);
  Value*& known = shared_[{op, left, right}];
  if (!known) known = b_.CreateBinOp(op, left, right);
  return known;
}

Place AccessEmitter::place(std::size_t i, Lanes& lanes) {
  const kernel::NestStatement& facts = plan_.statements[i];
  Place out{.start = start_of(i, lanes)};
  if (!lanes.point) return out;
  const Dim stride = facts.place.stride_of(plan_.vector_axis());
  if (!facts.index_varies && stride.is(0)) return out;
  if (!facts.index_varies && stride.is(1)) {
    out.shape = Place::Shape::contiguous;
    out.start = element_address(f_, nest_.statement(i).dtype, out.start, lanes.point);
    return out;
  }
  if (!facts.index_varies && stride.is(-1)) {
    out.shape = Place::Shape::backwards;
    Value* last = b_.CreateSub(f_.i64(1 - lanes.width), lanes.point);
    out.start = element_address(f_, nest_.statement(i).dtype, out.start, last);
    return out;
  }
  out.shape = Place::Shape::lanes;
  const auto times = [&](Value* value, const Dim& by) {
    return by.is(1) ? value : b_.CreateMul(value, splat(f_, f_.sizes.of(by), lanes.width));
  };
  if (!stride.is(0)) {
    // The lanes' own steps are the same in every pass; only where they begin moves.
    out.start =
        element_address(f_, nest_.statement(i).dtype, out.start, b_.CreateMul(lanes.point, f_.sizes.of(stride)));
    Lanes from_zero = lanes;
    from_zero.point = f_.i64(0);
    out.offsets = times(lane_points(f_, from_zero), stride);
    const bool are_near = lanes.width > 1 && !facts.index_varies && stride.is_constant() && stride.constant() > 1;
    if (are_near && stride.constant() <= kMostApart) out.apart = static_cast<int>(stride.constant());
  }
  for (const auto& [index, step] : facts.place.indices) {
    if (!plan_.varies(index.index)) continue;
    Value* offset = times(wrapped(index, lanes), step);
    out.offsets = out.offsets ? b_.CreateAdd(out.offsets, offset) : offset;
  }
  if (nest_.statement(i).is_write() && facts.place.indices.size() == 1 && stride.is(0) && indices_stay(i)) {
    auto* loaded = llvm::dyn_cast_or_null<llvm::LoadInst>(lanes.registers[facts.place.indices[0].first.index.index]);
    if (loaded && loaded->getType()->isVectorTy()) out.index = loaded;
  }
  return out;
}

/// Is what statement `i` has loaded an index from still the same where it writes? A result of the same point may have
/// taken over those bytes. What is added to through an index has not: it holds numbers before the loop. And what all
/// points fold in registers is written behind them.
bool AccessEmitter::indices_stay(std::size_t i) const {
  for (std::size_t k = 0; k < plan_.statements.size(); ++k) {
    const Statement& other = nest_.statement(k);
    if (k == i || !plan_.statements[k].live || !other.is_write()) continue;
    const bool is_added_to =
        other.kind == Statement::Kind::store && other.accumulates() && plan_.statements[k].index_varies;
    const bool is_late = plan_.statements[k].accumulates && plan_.statements[k].opened == 0;
    if (!is_added_to && !is_late && !is_in_register(other.buffer)) return false;
  }
  return true;
}

/// An index that was loaded is loaded again, lane by lane: to take it out of the vector takes longer than the store
/// that waits for it (1e5 doubles into as many at random on a Zen 5, us: added 93, so 61; set, with AVX2, 80 to 140, so
/// 57).
Value* AccessEmitter::lane_offset(std::size_t i, const Place& place, int lane) {
  if (!place.index) return b_.CreateExtractElement(place.offsets, static_cast<uint64_t>(lane));
  const auto& [index, step] = plan_.statements[i].place.indices[0];
  const DType dtype = plan_.register_dtypes[index.index.index];
  llvm::Type* type = place.index->getType()->getScalarType();
  Value* address = b_.CreateConstInBoundsGEP1_64(type, place.index->getPointerOperand(), static_cast<uint64_t>(lane));
  // Volatile: else it becomes a lane of the vector again.
  Value* value = widen_index(f_, b_.CreateAlignedLoad(type, address, alignment_of(dtype), /*isVolatile=*/true), dtype);
  if (index.bounds != kernel::Bounds::proved) value = from_front(f_, value, f_.sizes.of(index.extent));
  return step.is(1) ? value : b_.CreateMul(value, f_.sizes.of(step));
}

/// The same index with the same extent is looked at once.
Value* AccessEmitter::wrapped(const kernel::IndexTerm& index, Lanes& lanes) {
  const bool here = lanes.registers[index.index.index] != nullptr;
  Lanes& home = here ? lanes : nest_.uniform;
  for (const auto& [known, value] : home.wrapped) {
    if (known.index == index.index && known.extent == index.extent && known.bounds >= index.bounds) return value;
  }
  Value* value = widen_index(f_, nest_.operand(index.index, home), plan_.register_dtypes[index.index.index]);
  switch (index.bounds) {
    case kernel::Bounds::proved: break;
    case kernel::Bounds::checked_before:
      value = from_front(f_, value, splat(f_, f_.sizes.of(index.extent), home.width));
      break;
    case kernel::Bounds::checked: value = check_index(index, value, home);
  }
  home.wrapped.emplace_back(index, value);
  return value;
}

/// One unsigned compare finds both what is negative and what is too large, for an extent that is not negative. That
/// goes to a cold block, which counts negative indices from the end and comes back, or leaves with the first lane that
/// is out of bounds.
Value* AccessEmitter::check_index(const kernel::IndexTerm& index, Value* value, Lanes& lanes) {
  Value* extent = splat(f_, f_.sizes.of(index.num_points()), lanes.width);
  const auto outside = [&](Value* x) {
    Value* bad = b_.CreateICmpUGE(x, extent);
    return lanes.active ? b_.CreateAnd(bad, lanes.active) : bad;
  };
  llvm::BasicBlock* cold = new_block(b_, "wrap");
  llvm::BasicBlock* go_on = new_block(b_, "index");
  Value* unusual = any_lane(f_, outside(value));
  llvm::BasicBlock* hot = b_.GetInsertBlock();
  b_.CreateCondBr(unusual, cold, go_on, unlikely(b_));

  b_.SetInsertPoint(cold);
  Value* wrapped = from_front(f_, value, extent);
  Value* bad = outside(wrapped);
  llvm::BasicBlock* leave = new_block(b_, "fail");
  b_.CreateCondBr(any_lane(f_, bad), leave, go_on, unlikely(b_));
  b_.SetInsertPoint(leave);
  f_.ends.fail(index.site, {of_first_lane(f_, bad, value), f_.sizes.of(index.extent)});

  b_.SetInsertPoint(go_on);
  llvm::PHINode* phi = b_.CreatePHI(value->getType(), 2);
  phi->addIncoming(value, hot);
  phi->addIncoming(wrapped, cold);
  return phi;
}

std::optional<Place> AccessEmitter::memory_of(std::size_t i, Lanes& lanes) {
  return is_in_register(nest_.statement(i).buffer) ? std::nullopt : std::optional(place(i, lanes));
}

Value* AccessEmitter::element(std::size_t i, const std::optional<Place>& memory, Lanes& lanes) {
  const Statement& s = nest_.statement(i);
  return memory ? load(f_, *memory, s.dtype, lanes) : f_.places.scalar(s.buffer);
}

void AccessEmitter::set_element(std::size_t i, const std::optional<Place>& memory, Value* value, Lanes& lanes) {
  const Statement& s = nest_.statement(i);
  memory ? store(f_, *memory, s.dtype, value, lanes) : f_.places.set_scalar(s.buffer, value);
}

/// buffer[place] = combine(buffer[place], value), where no two lanes meet.
void AccessEmitter::combine_into(std::size_t i, Value* value, Lanes& lanes) {
  const Statement& s = nest_.statement(i);
  const std::optional<Place> memory = memory_of(i, lanes);
  Value* now = emit_combine(f_, s.combine(), s.dtype, element(i, memory, lanes), value);
  set_element(i, memory, now, lanes);
  if (s.result.valid()) lanes.registers[s.result.index] = now;
}

}  // namespace inlay::llvm_backend
