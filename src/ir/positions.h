#pragma once
// Arrays whose dims and elements are known numbers: how many there are, at which positions, and which of them an axis
// of one element repeats. Elements are row-major, as in a literal.
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "ir/dim.h"
#include "support/exact.h"

namespace inlay {

using Position = std::vector<int64_t>;

/// Returns how many elements an array with these dims has; the largest i64 if they are more than that.
int64_t num_elements(std::span<const int64_t> dims);

/// Returns how many elements an array with these dims has, if that is known to be at most `most`.
template <class Dims>
std::optional<int64_t> num_elements_up_to(const Dims& dims, int64_t most) {
  int64_t count = 1;
  bool is_empty = false;
  for (const Dim& dim : dims) {
    if (!dim.is_constant()) return std::nullopt;
    is_empty |= dim.constant() == 0;
    count = exact::multiply(count, dim.constant()).value_or(std::numeric_limits<int64_t>::max());
  }
  if (is_empty) count = 0;
  return count <= most ? std::optional(count) : std::nullopt;
}

/// Returns the dims as numbers, if they are known and of at most `most` elements.
std::optional<std::vector<int64_t>> constant_dims(std::span<const Dim> dims, int64_t most);

/// Calls `visit` with each position of an array with these dims, in row-major order.
template <class Visit>
void for_each_position(std::span<const int64_t> dims, const Visit& visit) {
  Position at(dims.size(), 0);
  for (int64_t left = num_elements(dims); left > 0; --left) {
    visit(std::as_const(at));
    for (std::size_t axis = dims.size(); axis-- > 0;) {
      if (++at[axis] < dims[axis]) break;
      at[axis] = 0;
    }
  }
}

/// Returns the index of the element at `at`, which may have additional leading axes; axes of one element broadcast.
std::size_t broadcast_index(std::span<const int64_t> dims, const Position& at);

}  // namespace inlay
