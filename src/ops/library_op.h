#pragma once
// The table of library ops as an enum, and the facts of each row.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ops/dtype.h"

namespace inlay {

enum class LibraryOp : uint8_t {
#define LIBRARY_OP(name, signature, dtypes, types, layouts, options, failure) name,
#include "ops/library_ops.def"
#undef LIBRARY_OP
};

inline constexpr int kNumLibraryOps = 0
#define LIBRARY_OP(name, signature, dtypes, types, layouts, options, failure) +1
#include "ops/library_ops.def"
#undef LIBRARY_OP
    ;

/// A set of options: the bits of LibraryOption. The functions of src/library get it as it is.
using LibraryOptions = uint32_t;

enum class LibraryOption : LibraryOptions {
  upper = 1,
  transposed = 2,
  unit_diagonal = 4,
  right = 8,
  nan = 16,
  adjoint = 32,
  left = 64,
  inside = 128,
  outside = 256,
};
constexpr bool has(LibraryOptions options, LibraryOption option) {
  return (options & static_cast<LibraryOptions>(option)) != 0;
}
constexpr LibraryOptions operator|(LibraryOptions options, LibraryOption option) {
  return options | static_cast<LibraryOptions>(option);
}
std::optional<LibraryOption> library_option_from_name(std::string_view name);
/// ` upper nan`: each with a blank before it.
std::string options_text(LibraryOptions options);

/// One core axis: as many elements as the size with this letter, or `less` fewer; it may be left out where `optional`.
struct CoreAxis {
  char letter = 'n';
  bool optional = false;
  int less = 0;

  /// Does an operand with this axis say what the size is?
  bool tells() const { return less == 0; }
};
using CoreAxes = std::vector<CoreAxis>;

struct LibrarySignature {
  std::vector<CoreAxes> operands, results;
  std::string letters;  // of the operands' sizes, in order of first appearance; p is none of them
};

/// How many elements there are along the axis; `sizes`: by the letters of the signature.
template <class Size>
Size core_size(const LibrarySignature& signature, const CoreAxis& axis, std::span<const Size> sizes) {
  using std::max;
  using std::min;
  const Size size = axis.letter == 'p' ? min(sizes[0], sizes[1]) : sizes[signature.letters.find(axis.letter)];
  return axis.less == 0 ? size : max(size - Size(axis.less), Size(0));
}

/// How the elements of an operand or a result may lie, for each matrix or row of the batch. Between these any distance
/// will do.
enum class LibraryLayout : uint8_t {
  any,     // any distance from row to row and from column to column, forwards or backwards
  matrix,  // one of the two is 1, the other positive; of a vector any that is not 0
  rows,    // that from column to column is 1, the other positive; of a vector 1
  whole,   // row-major, without gaps
};

struct LibraryOpFacts {
  std::string_view name;
  LibrarySignature signature;
  enum class DTypes : uint8_t { Field, Ordered, Index, Byte } dtypes;  // of the first operand
  std::string_view operand_types, result_types;                        // of each, 'T', 'R', 'C', 'i', 'b' or 'j'
  std::vector<LibraryLayout> operand_layouts, result_layouts;
  /// The result that may be made in the bytes of an operand that lies as it does; -1: none may.
  int in_place_operand = -1, in_place_result = -1;
  LibraryOptions options;    // that a graph may give
  std::string_view failure;  // empty: it never fails
};

const LibraryOpFacts& facts(LibraryOp op);
/// `n`, `n-1`
std::string size_text(const CoreAxis& axis);
std::optional<LibraryOp> library_op_from_name(std::string_view name);
/// `dtype`: of the first operand, here and below.
bool accepts(LibraryOp op, DType dtype);
DType operand_dtype(LibraryOp op, std::size_t operand, DType dtype);
DType result_dtype(LibraryOp op, std::size_t result, DType dtype);
/// What operand `i` must be like, with these options.
LibraryLayout operand_layout(LibraryOp op, std::size_t i, LibraryOptions options, DType dtype);
/// `cholesky: the matrix is not positive definite: its leading minor of order {0} is not positive (matrix {1})`.
std::string failure_message(LibraryOp op);

}  // namespace inlay
