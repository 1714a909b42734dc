// Addresses, loads and stores. One element, neighbours, or lanes that are anywhere.
#include <algorithm>

#include "backend/llvm/stage.h"
#include "support/error.h"

namespace inlay::llvm_backend {

using kernel::Statement;

namespace {

Value* widen_index(FunctionEmitter& f, Value* index, DType dtype) {
  return f.b.CreateIntCast(index, index->getType()->getWithNewType(f.b.getInt64Ty()), is_signed_integer(dtype));
}

}  // namespace

Value* StageEmitter::element_address(DType dtype, Value* start, Value* offset) {
  if (const auto* known = llvm::dyn_cast<llvm::ConstantInt>(offset); known && known->isZero()) return start;
  return b_.CreateGEP(f_.memory_type(dtype), start, offset);
}

/// The address that the loops outside of the vector loop fix.
Value* StageEmitter::start_of(std::size_t i, Lanes& lanes) {
  const kernel::NestStatement& facts = plan_.statements[i];
  const bool in_vector_loop = lanes.point != nullptr;
  if (in_vector_loop && starts_[i]) return starts_[i];
  const auto compute = [&] {
    Value* offset = f_.size(facts.place.base);
    for (const auto& [axis, stride] : facts.place.axes) {
      if (axis == plan_.vector_axis()) continue;
      offset = b_.CreateAdd(offset, b_.CreateMul(points_[static_cast<std::size_t>(axis)], f_.size(stride)));
    }
    if (kernel_.is_tiled() && kernel_.is_local(statement(i).buffer)) {  // it begins where the tile does
      const Dim stride = facts.place.stride_of(kernel_.tiled_axis());
      offset = b_.CreateSub(offset, b_.CreateMul(tile_.begin, f_.size(stride)));
    }
    for (const auto& [index, stride] : facts.place.indices) {
      if (in_vector_loop && plan_.varies(index.index)) continue;
      offset = b_.CreateAdd(offset, b_.CreateMul(wrapped(index, uniform_), f_.size(stride)));
    }
    return element_address(statement(i).dtype, f_.address(statement(i).buffer), offset);
  };
  if (!in_vector_loop) return compute();
  starts_[i] = hoisted(compute);
  return starts_[i];
}

StageEmitter::Place StageEmitter::place(std::size_t i, Lanes& lanes) {
  const kernel::NestStatement& facts = plan_.statements[i];
  Place out{.start = start_of(i, lanes)};
  if (!lanes.point) return out;
  const Dim stride = facts.place.stride_of(plan_.vector_axis());
  if (!facts.index_varies && stride.is(0)) return out;
  if (!facts.index_varies && stride.is(1)) {
    out.shape = Place::Shape::contiguous;
    out.start = element_address(statement(i).dtype, out.start, lanes.point);
    return out;
  }
  if (!facts.index_varies && stride.is(-1)) {
    out.shape = Place::Shape::backwards;
    Value* last = b_.CreateSub(f_.i64(1 - lanes.width), lanes.point);
    out.start = element_address(statement(i).dtype, out.start, last);
    return out;
  }
  out.shape = Place::Shape::lanes;
  const auto times = [&](Value* value, const Dim& by) {
    return by.is(1) ? value : b_.CreateMul(value, splat(f_, f_.size(by), lanes.width));
  };
  if (!stride.is(0)) {
    // The lanes' own steps are the same in every pass; only where they begin moves.
    out.start = element_address(statement(i).dtype, out.start, b_.CreateMul(lanes.point, f_.size(stride)));
    Lanes from_zero = lanes;
    from_zero.point = f_.i64(0);
    out.offsets = times(lane_points(from_zero), stride);
  }
  for (const auto& [index, step] : facts.place.indices) {
    if (!plan_.varies(index.index)) continue;
    Value* offset = times(wrapped(index, lanes), step);
    out.offsets = out.offsets ? b_.CreateAdd(out.offsets, offset) : offset;
  }
  return out;
}

/// The same index with the same extent is looked at once.
Value* StageEmitter::wrapped(const kernel::IndexTerm& index, Lanes& lanes) {
  const bool here = lanes.registers[index.index.index] != nullptr;
  Lanes& home = here ? lanes : uniform_;
  for (const auto& [known, value] : home.wrapped) {
    if (known.index == index.index && known.extent == index.extent && known.bounds >= index.bounds) return value;
  }
  Value* value = widen_index(f_, operand(index.index, home), plan_.register_dtypes[index.index.index]);
  switch (index.bounds) {
    case kernel::Bounds::proved: break;
    case kernel::Bounds::checked_before: {
      Value* from_end = b_.CreateAdd(value, splat(f_, f_.size(index.extent), home.width));
      value = b_.CreateSelect(b_.CreateICmpSLT(value, llvm::Constant::getNullValue(value->getType())), from_end, value);
      break;
    }
    case kernel::Bounds::checked: value = check_index(index, value, home);
  }
  home.wrapped.emplace_back(index, value);
  return value;
}

/// One unsigned compare finds both what is negative and what is too large. That goes to a cold block, which counts
/// negative indices from the end and comes back, or leaves with the first lane that is out of bounds.
Value* StageEmitter::check_index(const kernel::IndexTerm& index, Value* value, Lanes& lanes) {
  Value* extent = splat(f_, f_.size(index.extent), lanes.width);
  const auto outside = [&](Value* x) {
    Value* bad = b_.CreateICmpUGE(x, extent);
    return lanes.active ? b_.CreateAnd(bad, lanes.active) : bad;
  };
  llvm::BasicBlock* cold = f_.new_block("wrap");
  llvm::BasicBlock* go_on = f_.new_block("index");
  Value* unusual = any_lane(f_, outside(value));
  llvm::BasicBlock* hot = b_.GetInsertBlock();
  b_.CreateCondBr(unusual, cold, go_on, f_.unlikely());

  b_.SetInsertPoint(cold);
  Value* zero = llvm::Constant::getNullValue(value->getType());
  Value* from_front = b_.CreateSelect(b_.CreateICmpSLT(value, zero), b_.CreateAdd(value, extent), value);
  Value* bad = outside(from_front);
  llvm::BasicBlock* leave = f_.new_block("fail");
  b_.CreateCondBr(any_lane(f_, bad), leave, go_on, f_.unlikely());
  b_.SetInsertPoint(leave);
  f_.fail(index.site, {of_first_lane(bad, value), f_.size(index.extent)});

  b_.SetInsertPoint(go_on);
  llvm::PHINode* phi = b_.CreatePHI(value->getType(), 2);
  phi->addIncoming(value, hot);
  phi->addIncoming(from_front, cold);
  return phi;
}

/// `value` in the first lane where `condition` holds.
Value* StageEmitter::of_first_lane(Value* condition, Value* value) {
  auto* type = llvm::dyn_cast<llvm::FixedVectorType>(value->getType());
  if (!type) return value;
  Value* bits = b_.CreateBitCast(condition, b_.getIntNTy(type->getNumElements()));
  Value* lane = b_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, bits, b_.getTrue());
  return b_.CreateExtractElement(value, b_.CreateZExt(lane, b_.getInt64Ty()));
}

/// The number or the parts at each place, as vectors: element type, address of the first, offsets in elements.
Value* StageEmitter::load_lanes(llvm::Type* type, Value* start, Value* offsets, DType dtype, Lanes& lanes) {
  const llvm::Align align = alignment_of(dtype);
  auto* vector = llvm::FixedVectorType::get(type, static_cast<unsigned>(lanes.width));
  llvm::Type* element = f_.memory_type(dtype);
  const bool by_instruction = f_.engine.facts().hardware_gather && size_bytes(real_of(dtype)) >= 4;
  if (by_instruction) {
    Value* addresses = b_.CreateGEP(element, start, offsets);
    return b_.CreateMaskedGather(vector, addresses, align, lanes.active, llvm::Constant::getNullValue(vector));
  }
  // Lane 0 always counts, so lanes that do not may read what it reads.
  if (lanes.active) {
    Value* first = splat(f_, b_.CreateExtractElement(offsets, uint64_t{0}), lanes.width);
    offsets = b_.CreateSelect(lanes.active, offsets, first);
  }
  Value* loaded = llvm::PoisonValue::get(vector);
  for (int lane = 0; lane < lanes.width; ++lane) {
    Value* address = b_.CreateGEP(element, start, b_.CreateExtractElement(offsets, static_cast<uint64_t>(lane)));
    loaded = b_.CreateInsertElement(loaded, b_.CreateAlignedLoad(type, address, align), static_cast<uint64_t>(lane));
  }
  return loaded;
}

Value* StageEmitter::load(const Place& place, DType dtype, Lanes& lanes) {
  llvm::Type* type = f_.memory_type(dtype);
  const llvm::Align align = alignment_of(dtype);
  if (place.shape == Place::Shape::one) {
    return splat(f_, f_.from_memory(b_.CreateAlignedLoad(type, place.start, align), dtype), lanes.width);
  }
  if (place.shape == Place::Shape::contiguous) return load_side_by_side(place.start, dtype, lanes.active, lanes.width);
  if (place.shape == Place::Shape::backwards) {
    return backwards(load_side_by_side(place.start, dtype, backwards(lanes.active), lanes.width));
  }
  llvm::Type* part = f_.memory_type(real_of(dtype));
  Value* first = load_lanes(part, place.start, place.offsets, dtype, lanes);
  if (!is_complex(dtype)) return f_.from_memory(first, dtype);
  Value* second = b_.CreateConstInBoundsGEP1_64(part, place.start, 1);
  return complex_of(f_, first, load_lanes(part, second, place.offsets, dtype, lanes));
}

/// The lanes in the other order; nothing of nothing.
Value* StageEmitter::backwards(Value* lanes) {
  if (!lanes) return nullptr;
  return for_each_part(f_, lanes, [&](Value* part) { return b_.CreateVectorReverse(part); });
}

Value* StageEmitter::load_side_by_side(Value* start, DType dtype, Value* active, int width) {
  const int parts = is_complex(dtype) ? 2 : 1;
  auto* vector = llvm::FixedVectorType::get(f_.memory_type(real_of(dtype)), static_cast<unsigned>(parts * width));
  if (active && parts == 2) active = twice_each(f_, active);
  const llvm::Align align = alignment_of(dtype);
  Value* loaded =
      active
          ? static_cast<Value*>(b_.CreateMaskedLoad(vector, start, align, active, llvm::Constant::getNullValue(vector)))
          : b_.CreateAlignedLoad(vector, start, align);
  return parts == 2 ? deinterleaved(f_, loaded) : f_.from_memory(loaded, dtype);
}

void StageEmitter::store_side_by_side(Value* start, DType dtype, Value* value, Value* active) {
  if (is_complex(dtype)) {
    value = interleaved(f_, value);
    if (active) active = twice_each(f_, active);
  }
  if (active) {
    b_.CreateMaskedStore(value, start, alignment_of(dtype), active);
  } else {
    b_.CreateAlignedStore(value, start, alignment_of(dtype));
  }
}

void StageEmitter::store(const Place& place, DType dtype, Value* value, Lanes& lanes) {
  const llvm::Align align = alignment_of(dtype);
  value = f_.to_memory(value, dtype);
  switch (place.shape) {
    case Place::Shape::one: {
      if (lanes.width > 1) {  // the last lane wins
        Value* last = lanes.active ? b_.CreateSub(lanes.num_active, f_.i64(1)) : f_.i64(lanes.width - 1);
        if (lanes.active) {
          last = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, last, f_.i64(lanes.width - 1));
        }
        value = lane_of(f_, value, last);
      }
      b_.CreateAlignedStore(value, place.start, align);
      return;
    }
    case Place::Shape::contiguous: return store_side_by_side(place.start, dtype, value, lanes.active);
    case Place::Shape::backwards:
      return store_side_by_side(place.start, dtype, backwards(value), backwards(lanes.active));
    case Place::Shape::lanes: {
      // Where lanes meet, the last one stays: the instruction promises it, and LLVM does.
      Value* addresses = b_.CreateGEP(f_.memory_type(dtype), place.start, place.offsets);
      if (!is_complex(dtype)) {
        b_.CreateMaskedScatter(value, addresses, align, lanes.active);
        return;
      }
      const Parts parts = parts_of(f_, value);
      b_.CreateMaskedScatter(parts.re, addresses, align, lanes.active);
      Value* second = b_.CreateGEP(f_.memory_type(real_of(dtype)), addresses, f_.i64(1));
      b_.CreateMaskedScatter(parts.im, second, align, lanes.active);
      return;
    }
  }
}

/// Does a stage read what statement `i` here loads, as it passes its vector axis?
bool StageEmitter::also_reads(const kernel::Stage& stage, std::size_t i) const {
  return &stage != &stage_ && std::ranges::any_of(stage.statements, [&](const Statement& s) {
    return s.kind == Statement::Kind::load && s.buffer == statement(i).buffer;
  });
}

/// Several stages pass a row, a tile: is this the last of them, the next one is brought meanwhile, since the first of
/// them only waits for memory and the last computes. From one element to that in the next row or tile; or 0.
Dim StageEmitter::to_next_turn(std::size_t i) const {
  if (kernel_.outer.empty() || statement(i).is_write() || kernel_.is_local(statement(i).buffer)) return 0;
  const auto begin = kernel_.stages.data(), here = begin + (&stage_ - begin), end = begin + kernel_.stages.size();
  const auto reads = [&](const kernel::Stage& stage) { return also_reads(stage, i); };
  if (std::none_of(begin, here, reads) || std::any_of(here + 1, end, reads)) return 0;
  return plan_.statements[i].place.stride_of(kernel_.tiled_axis()) * Dim(kernel_.tile);
}

/// Where the CPU does not fetch far enough ahead by itself:
/// - The next row or tile, while this one is worked on (log-sum-exp of 1000 rows of 1000, us: 690, so 555).
/// - A tile of columns passes a short part of each row, and fetching ends with the page (log-sum-exp of 1000 x 1000
/// over
///   the first axis, us: 1300, with rows fetched ahead 1140), nor are the lines of a result there in time (softmax over
///   the first axis, us: 1430, so 1270).
/// - The many operations of a gather and a scatter leave no room for the loads of later points (1e5 doubles into 85, at
///   random, us: 60, with 512 bytes fetched ahead 52).
void StageEmitter::fetch_ahead(std::size_t i, const Place& place, const Lanes& lanes) {
  constexpr int64_t kRowsAhead = 8, kPageBytes = 4096, kBytesAhead = 512;
  constexpr int kInSecondCache = 2, kInAllCaches = 3;
  if (place.shape != Place::Shape::contiguous || lanes.active) return;
  const int64_t element_bytes = size_bytes(statement(i).dtype);
  if (const Dim distance = to_next_turn(i); !distance.is(0)) {
    fetch(element_address(statement(i).dtype, place.start, f_.size(distance)), kInSecondCache, false);
  }
  Value* elements = nullptr;
  if (plan_.vectors_pass_tile() && plan_.loops.size() >= 2) {
    const Dim row = plan_.statements[i].place.stride_of(plan_.loop(plan_.innermost() - 2).axis);
    if (row.is_constant() && row.constant() * element_bytes < kPageBytes / kRowsAhead) return;
    elements = f_.size(row * Dim(kRowsAhead));
  } else if (passes_long_tables()) {
    elements = f_.i64(kBytesAhead / element_bytes);
  } else {
    return;
  }
  fetch(element_address(statement(i).dtype, place.start, elements), kInAllCaches, statement(i).is_write());
}

void StageEmitter::fetch(Value* address, int locality, bool to_write) {
  constexpr int kData = 1;
  b_.CreateIntrinsic(
      llvm::Intrinsic::prefetch, {b_.getPtrTy()},
      {address, b_.getInt32(to_write ? 1 : 0), b_.getInt32(static_cast<uint32_t>(locality)), b_.getInt32(kData)});
}

Value* StageEmitter::emit_load(std::size_t i, Lanes& lanes) {
  const Statement& s = statement(i);
  const kernel::Buffer& buffer = f_.program.buffers[s.buffer];
  Value* value = nullptr;
  if (f_.is_scalar(s.buffer) && !f_.is_spilled(s.buffer)) {
    value = splat(f_, f_.scalar(s.buffer), lanes.width);
  } else if (buffer.role == kernel::Role::literal && buffer.elements.size() == 1) {
    value = splat(f_, f_.constant(buffer.elements[0]), lanes.width);
  } else {
    const Place from = place(i, lanes);
    fetch_ahead(i, from, lanes);
    value = load(from, buffer.dtype, lanes);
  }
  return emit_cast(f_, value, buffer.dtype, s.dtype);
}

void StageEmitter::emit_store(std::size_t i, Lanes& lanes) {
  const Statement& s = statement(i);
  if (s.fold != Fold::none) return s.opens_fold() ? fold_states(i, lanes) : void();  // all states with the first
  Value* value = emit_cast(f_, operand(s.operands[0], lanes), plan_.register_dtypes[s.operands[0].index], s.dtype);
  const bool in_register = f_.is_scalar(s.buffer) && !f_.is_spilled(s.buffer);
  if (s.predicate.valid()) return store_if(operand(s.predicate, lanes), i, value, lanes);
  if (s.combine == Combine::set) {
    if (!in_register) {
      const Place to = place(i, lanes);
      fetch_ahead(i, to, lanes);
      return store(to, s.dtype, value, lanes);
    }
    INLAY_CHECK(lanes.width == 1, "a scalar is set in a loop");
    return f_.set_scalar(s.buffer, value);
  }
  if (in_register || !plan_.statements[i].index_varies) return combine_into(i, value, lanes);
  scatter(i, place(i, lanes), value, lanes);
}

/// Is the place of a store the number of points so far where its predicate holds? Then lanes go to neighbours.
bool StageEmitter::packs(std::size_t i) const {
  const Statement& s = statement(i);
  const kernel::LinearMap& place = plan_.statements[i].place;
  const bool by_index_alone =
      place.indices.size() == 1 && place.indices[0].second.is(1) && place.stride_of(plan_.vector_axis()).is(0);
  if (!by_index_alone) return false;
  const auto makes = [&](kernel::RegisterId r) { return std::ranges::find(stage_.statements, r, &Statement::result); };
  const auto count = makes(place.indices[0].first.index);
  if (count->kind != Statement::Kind::fold || count->combine != Combine::add || count->dtype != DType::i64)
    return false;
  const auto one = makes(count->operands[0]);
  return one->kind == Statement::Kind::cast && one->operands[0] == s.predicate;
}

/// Only where the predicate holds; elsewhere the place may be none at all.
void StageEmitter::store_if(Value* predicate, std::size_t i, Value* value, Lanes& lanes) {
  const DType dtype = statement(i).dtype;
  if (lanes.width == 1) {
    const Branch branch = f_.open_if(predicate);
    store(place(i, lanes), dtype, value, lanes);
    f_.close_if(branch, {}, {});
    return;
  }
  Lanes some = lanes;
  some.active = lanes.active ? b_.CreateAnd(lanes.active, predicate) : predicate;
  if (packs(i)) {
    // The first lane's place, or that of the first after it.
    Value* count = operand(plan_.statements[i].place.indices[0].first.index, lanes);
    Value* holds = b_.CreateZExt(b_.CreateExtractElement(predicate, uint64_t{0}), b_.getInt64Ty());
    Value* first = b_.CreateSub(b_.CreateAdd(b_.CreateExtractElement(count, uint64_t{0}), f_.i64(1)), holds);
    Value* to = element_address(dtype, start_of(i, lanes), first);
    if (is_complex(dtype)) {
      b_.CreateMaskedCompressStore(interleaved(f_, value), to, twice_each(f_, some.active));
    } else {
      b_.CreateMaskedCompressStore(f_.to_memory(value, dtype), to, some.active);
    }
    return;
  }
  const Place where = place(i, lanes);
  INLAY_CHECK(where.shape != Place::Shape::one, "a store of some lanes to one element");
  store(where, dtype, value, some);
}

}  // namespace inlay::llvm_backend
