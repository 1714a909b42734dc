#pragma once
// Arrays of the caller whose elements do not lie row-major, one behind the other: copied to and from arrays that do.
#include <cstdint>
#include <span>
#include <vector>

#include "inlay/buffer.h"

namespace inlay {

/// Arguments as compiled code reads them: the row-major ones as they are, of the others a copy.
class RowMajorArguments {
 public:
  /// Throws Error(wrong-rank) where an argument has not as many strides as dims.
  explicit RowMajorArguments(std::span<const ArrayRef> arguments);
  std::span<const ArrayRef> get() const { return all_; }

 private:
  std::vector<ArrayRef> refs_;
  std::vector<Array> copies_;
  std::span<const ArrayRef> all_;
};

bool is_row_major(std::span<const int64_t> dims, std::span<const int64_t> strides);

/// May two elements share bytes? Told by size alone: each stride must reach over all that the smaller ones do.
bool may_meet_itself(const ArrayOut& place);

/// Do the two share bytes? Looks at every element where the places are woven into each other.
bool meet(const ArrayOut& a, const ArrayOut& b);

void copy(const Array& from, const ArrayOut& to);

}  // namespace inlay
