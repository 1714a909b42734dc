#include "onnx/weights.h"

#include <functional>

#include "support/error.h"

namespace inlay::onnx {
namespace {

bool lies_in(std::span<const std::byte> part, std::span<const std::byte> whole) {
  const std::less_equal<> precedes;  // of pointers into any arrays
  return precedes(whole.data(), part.data()) && precedes(part.data() + part.size(), whole.data() + whole.size());
}

}  // namespace

// (Clang's analyzer ends by a signal at a bit_cast of the address.)
Tensor aligned(const Tensor& tensor, DType dtype) {
  const std::span<const std::byte> bytes = tensor.data.bytes;
  const bool is_aligned =
      reinterpret_cast<std::uintptr_t>(bytes.data()) % static_cast<std::uintptr_t>(size_bytes(dtype)) == 0;
  if (is_aligned && dtype != DType::boolean) return tensor;
  Tensor out = tensor;
  std::vector<std::byte> copy(bytes.begin(), bytes.end());
  if (dtype == DType::boolean) {
    for (std::byte& element : copy) element = element == std::byte{0} ? std::byte{0} : std::byte{1};
  } else {
    out.source = bytes;
  }
  out.data = kept(std::move(copy));
  return out;
}

std::optional<Place> place_of(const Model& model, const Tensor& weight) {
  const std::span<const std::byte> bytes = weight.source.empty() ? weight.data.bytes : weight.source;
  for (std::size_t i = 0; i < model.contents.size() && !bytes.empty(); ++i) {
    const std::span<const std::byte> whole = model.contents[i].bytes;
    if (lies_in(bytes, whole)) return Place{i, static_cast<std::size_t>(bytes.data() - whole.data())};
  }
  return std::nullopt;
}

Tensor weight_at(const Model& model, Place place, int64_t type, std::vector<int64_t> dims) {
  const std::span<const std::byte> whole =
      place.contents < model.contents.size() ? model.contents[place.contents].bytes : std::span<const std::byte>();
  const std::optional<DType> dtype = dtype_of_type(type);
  int64_t size = dtype ? size_bytes(*dtype) : 0;
  bool is_there = dtype && *dtype != DType::boolean && place.offset <= whole.size();
  for (const int64_t dim : dims) is_there = is_there && dim > 0 && !__builtin_mul_overflow(size, dim, &size);
  if (!is_there || static_cast<std::size_t>(size) > whole.size() - place.offset) {
    throw Error(ErrorCode::invalid_file, {}, str(model.file, " has no such weight"));
  }
  const std::span<const std::byte> bytes = whole.subspan(place.offset, static_cast<std::size_t>(size));
  return aligned({"", type, std::move(dims), {model.contents[place.contents].owner, bytes}}, *dtype);
}

}  // namespace inlay::onnx
