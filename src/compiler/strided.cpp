#include "compiler/strided.h"

#include <algorithm>
#include <cstring>
#include <functional>

#include "ir/positions.h"
#include "runtime/bytes.h"

namespace inlay {
namespace {

std::vector<int64_t> row_major_strides(std::span<const int64_t> dims) {
  std::vector<int64_t> strides(dims.size(), 1);
  for (std::size_t axis = dims.size(); axis-- > 1;) strides[axis - 1] = strides[axis] * dims[axis];
  return strides;
}

/// Calls `visit` with the two offsets of each element, in row-major order.
template <class Visit>
void for_each_element(std::span<const int64_t> dims, std::span<const int64_t> first, std::span<const int64_t> second,
                      const Visit& visit) {
  std::vector<int64_t> at(dims.size());
  int64_t a = 0, b = 0;
  for (int64_t left = num_elements(dims); left > 0; --left) {
    visit(a, b);
    for (std::size_t axis = dims.size(); axis-- > 0;) {
      a += first[axis];
      b += second[axis];
      if (++at[axis] < dims[axis]) break;
      a -= first[axis] * dims[axis];
      b -= second[axis] * dims[axis];
      at[axis] = 0;
    }
  }
}

void copy_elements(DType dtype, std::span<const int64_t> dims, const void* from, std::span<const int64_t> from_strides,
                   void* to, std::span<const int64_t> to_strides) {
  const int64_t size = size_bytes(dtype);
  const char* source = static_cast<const char*>(from);
  char* target = static_cast<char*>(to);
  for_each_element(dims, from_strides, to_strides, [&](int64_t read, int64_t write) {
    std::memcpy(target + write * size, source + read * size, static_cast<std::size_t>(size));
  });
}

std::vector<int64_t> strides_of(const ArrayOut& place) {
  return place.strides.empty() ? row_major_strides(place.dims) : place.strides;
}

/// Calls `visit` with where the place's elements lie.
template <class Visit>
auto with_elements(const ArrayOut& place, const Visit& visit) {
  const int64_t size = size_bytes(place.dtype);
  std::vector<int64_t> strides = strides_of(place);
  for (int64_t& stride : strides) stride *= size;
  return visit(runtime::Elements{place.data, place.dims, strides, size});
}

runtime::Bytes bytes_of(const ArrayOut& place) { return with_elements(place, std::mem_fn(&runtime::Elements::bytes)); }

/// Returns the address of each element, ascending.
std::vector<const char*> addresses(const ArrayOut& place) {
  std::vector<const char*> out;
  const std::vector<int64_t> strides = strides_of(place);
  const int64_t size = size_bytes(place.dtype);
  for_each_element(place.dims, strides, strides,
                   [&](int64_t at, int64_t) { out.push_back(static_cast<const char*>(place.data) + at * size); });
  std::ranges::sort(out);
  return out;
}

}  // namespace

bool is_row_major(std::span<const int64_t> dims, std::span<const int64_t> strides) {
  if (strides.empty() || num_elements(dims) == 0) return true;
  const std::vector<int64_t> wanted = row_major_strides(dims);
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    if (dims[axis] != 1 && strides[axis] != wanted[axis]) return false;
  }
  return true;
}

void refuse_null(ErrorCode code, const std::function<std::string()>& what, std::span<const int64_t> dims) {
  if (num_elements(dims) <= 0) return;
  throw Error(code, {}, str(what(), " has the dims [", join(dims, ", "), "], but its data is a null pointer"));
}

RowMajorArguments::RowMajorArguments(std::span<const ArrayRef> arguments) : all_(arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const ArrayRef& argument = arguments[i];
    if (!argument.strides.empty() && argument.strides.size() != argument.dims.size()) {
      throw Error(
          ErrorCode::wrong_rank, {},
          str("argument ", i, " has ", argument.strides.size(), " strides for ", argument.dims.size(), " dims"));
    }
    require_address(ErrorCode::shape_mismatch, [&] { return str("argument ", i); }, argument.dims, argument.data);
    if (is_row_major(argument.dims, argument.strides)) continue;
    if (refs_.empty()) refs_.assign(arguments.begin(), arguments.end());
    Array& copy = copies_.emplace_back(argument.dtype, argument.dims);
    copy_elements(argument.dtype, argument.dims, argument.data, argument.strides, copy.data(),
                  row_major_strides(argument.dims));
    refs_[i] = copy;
  }
  if (!refs_.empty()) all_ = refs_;
}

bool elements_are_apart(const ArrayOut& place) {
  return with_elements(place, std::mem_fn(&runtime::Elements::are_apart));
}

bool meet(const ArrayOut& a, const ArrayOut& b) {
  if (!bytes_of(a).meet(bytes_of(b))) return false;
  if (is_row_major(a.dims, a.strides) && is_row_major(b.dims, b.strides)) return true;
  const std::vector<const char*> others = addresses(b);
  return std::ranges::any_of(addresses(a), [&](const char* element) {
    // The first element of b that ends after the start of this one.
    const auto found = std::ranges::upper_bound(others, element - size_bytes(b.dtype));
    return found != others.end() && *found < element + size_bytes(a.dtype);
  });
}

void copy(const Array& from, const ArrayOut& to) {
  copy_elements(to.dtype, to.dims, from.data(), row_major_strides(to.dims), to.data, strides_of(to));
}

}  // namespace inlay
