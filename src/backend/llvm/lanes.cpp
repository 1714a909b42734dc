#include "backend/llvm/lanes.h"

#include <algorithm>

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

/// A vector of elements side by side, `first` elements behind the place, of which the lanes are `apart` from another.
Value* load_some_elements(FunctionEmitter& f, llvm::Type* type, const Place& place, DType dtype, int first,
                          const Lanes& lanes) {
  auto* vector = llvm::FixedVectorType::get(type, static_cast<unsigned>(lanes.width));
  const llvm::Align align = alignment_of(dtype);
  Value* start = f.b.CreateConstGEP1_64(memory_type(f.b, dtype), place.start, static_cast<uint64_t>(first));
  if (!lanes.active) return f.b.CreateAlignedLoad(vector, start, align);
  const Lanes elements{.width = lanes.width, .point = f.i64(first)};
  Value* end = f.b.CreateAdd(f.b.CreateMul(lanes.num_active, f.i64(place.apart)), f.i64(1 - place.apart));
  Value* active = f.b.CreateICmpSLT(lane_points(f, elements), splat(f, end, lanes.width));
  return f.b.CreateMaskedLoad(vector, start, align, active, llvm::Constant::getNullValue(vector));
}

/// As many vectors side by side as the lanes are elements apart hold all that these want. The last of them ends with
/// the element of the last lane: nothing is read behind it.
Value* load_apart(FunctionEmitter& f, llvm::Type* type, const Place& place, DType dtype, const Lanes& lanes) {
  const int width = lanes.width, last = place.apart * (width - 1) + 1 - width;
  Value* loaded = load_some_elements(f, type, place, dtype, 0, lanes);
  for (int i = 1; i < place.apart; ++i) {
    const int first = std::min(i * width, last);
    llvm::SmallVector<int, 16> sources;  // of each lane: in what has been loaded, or behind that in the next vector
    for (int lane = 0; lane < width; ++lane) {
      const int in_first = lane * place.apart, in_next = in_first - first;
      const int so_far = i > 1 ? lane : in_first < width ? in_first : llvm::PoisonMaskElem;
      sources.push_back(in_next >= 0 && in_next < width ? width + in_next : so_far);
    }
    loaded = f.b.CreateShuffleVector(loaded, load_some_elements(f, type, place, dtype, first, lanes), sources);
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
  // Without registers of masks, what is loaded under one takes as many branches as lanes.
  const bool side_by_side = place.apart > 0 && !is_complex(dtype) && (!lanes.active || f.engine.facts().avx512);
  if (side_by_side) return from_memory(f.b, load_apart(f, part, place, dtype, lanes), dtype);
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
