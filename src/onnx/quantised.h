#pragma once
// Numbers as small integers with a scale and a zero point: what the families of ops share.
#include <functional>
#include <optional>

#include "onnx/call.h"

namespace inlay::onnx {

/// A scale or a zero point so that it broadcasts to x: of all elements, of each place of `axis`, or of blocks of it.
ValueId beside(Call& c, ValueId scale, ValueId x);

/// A rounded quotient plus the zero point, as what `dtype` has that is next to it. Beyond 2^24, where f32 has no longer
/// all integers, every number is out of range.
ValueId saturated(Call& c, ValueId quotient, std::optional<ValueId> zero, DType dtype);

/// x less its zero point, in i32.
ValueId difference(Call& c, ValueId x, std::optional<ValueId> zero);

/// Small integers, and their zero point, which broadcasts to them.
struct Integers {
  ValueId x;
  std::optional<ValueId> zero = {};
};

bool is_byte(DType dtype);

/// Bytes of one kind as those of the other: `by` is added to each.
ValueId moved(Call& c, ValueId x, int by, DType dtype);
/// So is their zero point, in i32; none where it is 0 then.
std::optional<ValueId> moved_zero(Call& c, std::optional<ValueId> zero, int by);

/// How many products of two such numbers have no larger sum than this.
int64_t most_terms(Call& c, const Integers& left, const Integers& right, int64_t sum);

/// How many an f32 sums exactly, whatever their order.
int64_t most_exact_terms(Call& c, const Integers& left, const Integers& right);

/// The sum of what `make` makes of parts [begin, end) of a sum of `size` terms, about as long as each other.
ValueId sum_of_parts(Call& c, int64_t size, int64_t parts,
                     const std::function<ValueId(int64_t begin, int64_t end)>& make);

/// The elements [begin, end) of an axis.
ValueId part_of(Call& c, ValueId x, std::size_t axis, int64_t begin, int64_t end);

/// The right matrix of products of bytes (LibraryOp::row_dots), by its columns: what such a product needs of it besides
/// the left one is computed once.
struct ByteColumns {
  ValueId columns;              // [.., columns, rows], i8
  std::optional<ValueId> zero;  // what each is less, or all are, i32; none where it is 0
  ValueId sums;                 // [.., columns], i32: of each, less its zero point
};

/// None where no product of bytes, with a matrix on the left, is made of this one: of other integers, of a vector, or
/// for a small device, where products are loops.
std::optional<ByteColumns> byte_columns(Call& c, const Integers& right);

/// The product of two matrices less their zero points, in i32, modulo 2^32. Of bytes it is one of bytes. Of others a
/// product of floats computes it, which holds the sums exactly: of more columns than it does, in parts. For a small
/// device, it is one of i32.
ValueId integer_matmul(Call& c, const Integers& left, const Integers& right);

/// Does an i32 hold each sum of so many products, which is to be a float?
bool holds_sums(Call& c, const Dequantised& left, const Dequantised& right, const Dim& depth);

/// Sums of products of integers as the floats that these stand for.
ValueId as_floats(Call& c, ValueId sums, ValueId left_scale, ValueId right_scale);

/// x @ y of floats that were made of bytes, as the product of these times their scales; none where either was not,
/// where an i32 may not hold the sums, and where the scales are not one number and one, or one for each column.
/// `is_turned`: y is the transpose of the right matrix.
std::optional<ValueId> dequantised_product(Call& c, ValueId x, ValueId y, bool is_turned = false);

/// A scale or a zero point of the right matrix: one, or one for each column.
ValueId of_columns(Call& c, ValueId scale);

/// Floats as u8, by a scale and a zero point with which 0 is exact.
struct Quantised {
  ValueId x, scale, zero;
};
Quantised dynamically_quantised(Call& c, ValueId x);

/// The product of floats, which are quantised as they are, and a matrix with a scale, or one for each column.
ValueId dynamically_quantised_product(Call& c, ValueId x, const Integers& matrix, ValueId scale);
ValueId dynamically_quantised_dots(Call& c, ValueId x, const ByteColumns& matrix, ValueId scale);

}  // namespace inlay::onnx
