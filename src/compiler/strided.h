#pragma once
// Copies arrays of the caller that are not row-major to and from arrays that are.
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "inlay/buffer.h"
#include "inlay/error.h"

namespace inlay {

[[gnu::cold]] void refuse_null(ErrorCode code, const std::function<std::string()>& what, std::span<const int64_t> dims);

/// Throws an Error of this code if an array has elements and a null address. `what` names it, and is asked only then.
template <class What>
void require_address(ErrorCode code, const What& what, std::span<const int64_t> dims, const void* data) {
  if (data == nullptr) refuse_null(code, what, dims);
}

/// Arguments for compiled code: row-major ones as they are, copies of the others.
class RowMajorArguments {
 public:
  /// Throws Error(wrong-rank) if an argument has not as many strides as dims, Error(shape-mismatch)
  /// if it has elements and no address.
  explicit RowMajorArguments(std::span<const ArrayRef> arguments);
  std::span<const ArrayRef> get() const { return all_; }

 private:
  std::vector<ArrayRef> refs_;
  std::vector<Array> copies_;
  std::span<const ArrayRef> all_;
};

bool is_row_major(std::span<const int64_t> dims, std::span<const int64_t> strides);

/// As runtime::Elements says it.
bool elements_are_apart(const ArrayOut& place);

/// Do the two share bytes? Compares every element if their address ranges interleave.
bool meet(const ArrayOut& a, const ArrayOut& b);

void copy(const Array& from, const ArrayOut& to);

}  // namespace inlay
