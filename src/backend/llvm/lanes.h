#pragma once
// The points of one pass over a stage, and the elements that it touches there: what is loaded and stored at once.
#include <utility>
#include <vector>

#include "backend/llvm/function.h"
#include "backend/llvm/scalar.h"

namespace inlay::llvm_backend {

/// The points of one pass: `width` of them, side by side on the vector axis. Or one, outside of the vector loop.
struct Lanes {
  int width = 1;
  Value* point = nullptr;                                     // on the vector axis, of lane 0
  Value* active = nullptr;                                    // which lanes count; null: all
  Value* num_active = nullptr;                                // with `active`: the first so many
  std::vector<Value*> registers;                              // null: not computed here
  std::vector<std::pair<kernel::IndexTerm, Value*>> wrapped;  // indices that count from the front
};

/// The elements that a statement touches in one pass.
struct Place {
  enum class Shape : uint8_t { one, contiguous, backwards, lanes };
  Shape shape = Shape::one;
  Value* start = nullptr;    // address of the first element (backwards: of the last lane's), or of what `offsets`
                             // count from
  Value* offsets = nullptr;  // of lanes: in elements, i64
  int apart = 0;             // of lanes: so many elements from each to the next, where few; 0: it is not known
  llvm::LoadInst* index = nullptr;  // of lanes: the vector of which alone `offsets` are made, if it was loaded
};

Value* element_address(FunctionEmitter& f, DType dtype, Value* start, Value* offset);
Value* load(FunctionEmitter& f, const Place& place, DType dtype, const Lanes& lanes);
/// Where lanes meet, the last one stays.
void store(FunctionEmitter& f, const Place& place, DType dtype, Value* value, const Lanes& lanes);

/// Where the lanes are on the vector axis.
Value* lane_points(FunctionEmitter& f, const Lanes& lanes);
/// `value` in the first lane where `condition` holds.
Value* of_first_lane(FunctionEmitter& f, Value* condition, Value* value);
Value* some_lanes(FunctionEmitter& f, Value* value, int first, int count);
/// Its lanes put together until `width` are left: always the second half of them with the first.
Value* by_halves(FunctionEmitter& f, Combine combine, DType dtype, Value* value, int width);
/// All lanes as one number: by halves, so that it takes log(width) steps.
Value* reduce_lanes(FunctionEmitter& f, Combine combine, DType dtype, Value* value);

}  // namespace inlay::llvm_backend
