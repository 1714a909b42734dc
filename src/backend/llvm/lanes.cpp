#include "backend/llvm/lanes.h"

namespace inlay::llvm_backend {

namespace {

/// The number or the parts at each place, as vectors: element type, address of the first, offsets in elements.
Value* load_lanes(FunctionEmitter& f, llvm::Type* type, Value* start, Value* offsets, DType dtype, const Lanes& lanes) {
  const llvm::Align align = alignment_of(dtype);
  auto* vector = llvm::FixedVectorType::get(type, static_cast<unsigned>(lanes.width));
  llvm::Type* element = memory_type(f.b, dtype);
  const bool by_instruction = f.engine.facts().hardware_gather && size_bytes(real_of(dtype)) >= 4;
  if (by_instruction) {
    Value* addresses = f.b.CreateGEP(element, start, offsets);
    return f.b.CreateMaskedGather(vector, addresses, align, lanes.active, llvm::Constant::getNullValue(vector));
  }
  // Lane 0 always counts, so lanes that do not may read what it reads.
  if (lanes.active) {
    Value* first = splat(f, f.b.CreateExtractElement(offsets, uint64_t{0}), lanes.width);
    offsets = f.b.CreateSelect(lanes.active, offsets, first);
  }
  Value* loaded = llvm::PoisonValue::get(vector);
  for (int lane = 0; lane < lanes.width; ++lane) {
    Value* address = f.b.CreateGEP(element, start, f.b.CreateExtractElement(offsets, static_cast<uint64_t>(lane)));
    loaded = f.b.CreateInsertElement(loaded, f.b.CreateAlignedLoad(type, address, align), static_cast<uint64_t>(lane));
  }
  return loaded;
}

/// The lanes in the other order; nothing of nothing.
Value* backwards(FunctionEmitter& f, Value* lanes) {
  if (!lanes) return nullptr;
  return for_each_part(f, lanes, [&](Value* part) { return f.b.CreateVectorReverse(part); });
}

Value* load_side_by_side(FunctionEmitter& f, Value* start, DType dtype, Value* active, int width) {
  const int parts = is_complex(dtype) ? 2 : 1;
  auto* vector = llvm::FixedVectorType::get(memory_type(f.b, real_of(dtype)), static_cast<unsigned>(parts * width));
  if (active && parts == 2) active = twice_each(f, active);
  const llvm::Align align = alignment_of(dtype);
  Value* loaded = active ? static_cast<Value*>(
                               f.b.CreateMaskedLoad(vector, start, align, active, llvm::Constant::getNullValue(vector)))
                         : f.b.CreateAlignedLoad(vector, start, align);
  return parts == 2 ? deinterleaved(f, loaded) : from_memory(f.b, loaded, dtype);
}

void store_side_by_side(FunctionEmitter& f, Value* start, DType dtype, Value* value, Value* active) {
  if (is_complex(dtype)) {
    value = interleaved(f, value);
    if (active) active = twice_each(f, active);
  }
  if (active) {
    f.b.CreateMaskedStore(value, start, alignment_of(dtype), active);
  } else {
    f.b.CreateAlignedStore(value, start, alignment_of(dtype));
  }
}

}  // namespace

Value* element_address(FunctionEmitter& f, DType dtype, Value* start, Value* offset) {
  if (const auto* known = llvm::dyn_cast<llvm::ConstantInt>(offset); known && known->isZero()) return start;
  return f.b.CreateGEP(memory_type(f.b, dtype), start, offset);
}

Value* load(FunctionEmitter& f, const Place& place, DType dtype, const Lanes& lanes) {
  llvm::Type* type = memory_type(f.b, dtype);
  const llvm::Align align = alignment_of(dtype);
  if (place.shape == Place::Shape::one) {
    return splat(f, from_memory(f.b, f.b.CreateAlignedLoad(type, place.start, align), dtype), lanes.width);
  }
  if (place.shape == Place::Shape::contiguous)
    return load_side_by_side(f, place.start, dtype, lanes.active, lanes.width);
  if (place.shape == Place::Shape::backwards) {
    return backwards(f, load_side_by_side(f, place.start, dtype, backwards(f, lanes.active), lanes.width));
  }
  llvm::Type* part = memory_type(f.b, real_of(dtype));
  Value* first = load_lanes(f, part, place.start, place.offsets, dtype, lanes);
  if (!is_complex(dtype)) return from_memory(f.b, first, dtype);
  Value* second = f.b.CreateConstInBoundsGEP1_64(part, place.start, 1);
  return complex_of(f, first, load_lanes(f, part, second, place.offsets, dtype, lanes));
}

void store(FunctionEmitter& f, const Place& place, DType dtype, Value* value, const Lanes& lanes) {
  const llvm::Align align = alignment_of(dtype);
  value = to_memory(f.b, value, dtype);
  switch (place.shape) {
    case Place::Shape::one: {
      if (lanes.width > 1) {  // the last lane wins
        Value* last = lanes.active ? f.b.CreateSub(lanes.num_active, f.i64(1)) : f.i64(lanes.width - 1);
        if (lanes.active) {
          last = f.b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, last, f.i64(lanes.width - 1));
        }
        value = lane_of(f, value, last);
      }
      f.b.CreateAlignedStore(value, place.start, align);
      return;
    }
    case Place::Shape::contiguous: return store_side_by_side(f, place.start, dtype, value, lanes.active);
    case Place::Shape::backwards:
      return store_side_by_side(f, place.start, dtype, backwards(f, value), backwards(f, lanes.active));
    case Place::Shape::lanes: {
      // Where lanes meet, the last one stays: the instruction promises it, and LLVM does.
      Value* addresses = f.b.CreateGEP(memory_type(f.b, dtype), place.start, place.offsets);
      if (!is_complex(dtype)) {
        f.b.CreateMaskedScatter(value, addresses, align, lanes.active);
        return;
      }
      const Parts parts = parts_of(f, value);
      f.b.CreateMaskedScatter(parts.re, addresses, align, lanes.active);
      Value* second = f.b.CreateGEP(memory_type(f.b, real_of(dtype)), addresses, f.i64(1));
      f.b.CreateMaskedScatter(parts.im, second, align, lanes.active);
      return;
    }
  }
}

Value* lane_points(FunctionEmitter& f, const Lanes& lanes) {
  if (lanes.width == 1) return lanes.point;
  std::vector<llvm::Constant*> steps;
  for (int lane = 0; lane < lanes.width; ++lane) steps.push_back(f.i64(lane));
  return f.b.CreateAdd(splat(f, lanes.point, lanes.width), llvm::ConstantVector::get(steps));
}

Value* of_first_lane(FunctionEmitter& f, Value* condition, Value* value) {
  auto* type = llvm::dyn_cast<llvm::FixedVectorType>(value->getType());
  if (!type) return value;
  Value* bits = f.b.CreateBitCast(condition, f.b.getIntNTy(type->getNumElements()));
  Value* lane = f.b.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, bits, f.b.getTrue());
  return f.b.CreateExtractElement(value, f.b.CreateZExt(lane, f.b.getInt64Ty()));
}

Value* some_lanes(FunctionEmitter& f, Value* value, int first, int count) {
  llvm::SmallVector<int, 16> numbers;
  for (int lane = 0; lane < count; ++lane) numbers.push_back(first + lane);
  return for_each_part(f, value, [&](Value* part) { return f.b.CreateShuffleVector(part, numbers); });
}

Value* by_halves(FunctionEmitter& f, Combine combine, DType dtype, Value* value, int width) {
  for (int half = width_of(value) / 2; half >= width; half /= 2) {
    value = emit_combine(f, combine, dtype, some_lanes(f, value, 0, half), some_lanes(f, value, half, half));
  }
  return value;
}

Value* reduce_lanes(FunctionEmitter& f, Combine combine, DType dtype, Value* value) {
  value = by_halves(f, combine, dtype, value, 1);
  return for_each_part(f, value, [&](Value* part) {
    return part->getType()->isVectorTy() ? f.b.CreateExtractElement(part, uint64_t{0}) : part;
  });
}

}  // namespace inlay::llvm_backend
