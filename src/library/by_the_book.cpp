// The textbook's loops, which the oracles use too, for functions that call BLAS or LAPACK, where neither is available.
#include <array>
#include <cstring>
#include <new>
#include <optional>
#include <stdexcept>
#include <vector>

#include "library/call.h"
#include "ops/library_strides.h"
#include "textbook/textbook.h"

namespace inlay::library {
namespace {

/// The elements of one matrix or row, contiguous.
struct Packed {
  std::vector<std::byte> bytes;
  std::array<int64_t, 3> extents = {};
  int64_t element_bytes = 0;

  Packed(LibraryOp op, const CoreAxes& axes, const std::vector<int64_t>& sizes, DType dtype)
      : extents(library_extents(op, axes, sizes)), element_bytes(size_bytes(dtype)) {
    bytes.resize(static_cast<std::size_t>(extents[1] * extents[2] * element_bytes));
  }

  /// Calls `visit` with each element here and its counterpart in `first`, which has `strides` (of a call).
  template <class Byte, class Visit>
  void each(Byte* first, const int64_t* strides, Visit visit) {
    std::byte* here = bytes.data();
    for (int64_t r = 0; r < extents[1]; ++r) {
      for (int64_t c = 0; c < extents[2]; ++c, here += element_bytes) {
        visit(here, first + (r * strides[1] + c * strides[2]) * element_bytes);
      }
    }
  }
};

struct Operation {
  LibraryOp op;
  DType dtype;
  const Call& call;
  const LibraryOpFacts& row = facts(op);
  std::vector<int64_t> sizes{call.sizes, call.sizes + 1 + row.signature.letters.size()};

  std::vector<Packed> operands(int64_t point) const {
    std::vector<Packed> out;
    for (std::size_t i = 0; i < row.signature.operands.size(); ++i) {
      Packed& packed = out.emplace_back(op, row.signature.operands[i], sizes, operand_dtype(op, i, dtype));
      const int64_t* strides = call.operand_strides + 3 * i;
      const std::byte* from =
          static_cast<const std::byte*>(call.operands[i]) + point * strides[0] * packed.element_bytes;
      packed.each(from, strides, [&](std::byte* here, const std::byte* there) {
        std::memcpy(here, there, static_cast<std::size_t>(packed.element_bytes));
      });
    }
    return out;
  }

  std::vector<Packed> results() const {
    std::vector<Packed> out;
    for (std::size_t i = 0; i < row.signature.results.size(); ++i) {
      out.emplace_back(op, row.signature.results[i], sizes, result_dtype(op, i, dtype));
    }
    return out;
  }

  void give(std::vector<Packed>& found, int64_t point) const {
    for (std::size_t i = 0; i < found.size(); ++i) {
      const int64_t* strides = call.result_strides + 3 * i;
      std::byte* to = static_cast<std::byte*>(call.results[i]) + point * strides[0] * found[i].element_bytes;
      found[i].each(to, strides, [&](const std::byte* here, std::byte* there) {
        std::memcpy(there, here, static_cast<std::size_t>(found[i].element_bytes));
      });
    }
  }

  /// Computes one matrix or row of the batch.
  std::optional<textbook::Failure> run(int64_t point) const {
    std::vector<Packed> read = operands(point), found = results();
    std::vector<const std::byte*> from;
    std::vector<std::byte*> to;
    for (const Packed& packed : read) from.push_back(packed.bytes.data());
    for (Packed& packed : found) to.push_back(packed.bytes.data());
    std::vector<int64_t> one = sizes;
    one[0] = 1;
    const auto failure = textbook::run(op, call.options, dtype, from, to, one);
    if (!failure) give(found, point);
    return failure;
  }
};

}  // namespace

int32_t run_by_the_book(LibraryOp op, DType dtype, const Call& call) {
  try {
    const Operation operation{op, dtype, call};
    for (int64_t point = 0; point < call.batch(); ++point) {
      if (call.is_to_end()) return INLAY_INTERRUPTED;
      if (const auto failure = operation.run(point)) return call.fail(failure->number, point);
    }
  } catch (const std::bad_alloc&) {
    return kTooLarge;
  } catch (const std::length_error&) {
    return kTooLarge;
  }
  return 0;
}

}  // namespace inlay::library
