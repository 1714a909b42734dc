// Convolutions of integers, which quantised networks have.
#include "onnx/integer_convolution.h"

#include <algorithm>

#include "ir/compose_shape.h"
#include "onnx/convolution.h"
#include "onnx/convolve.h"
#include "onnx/importer.h"
#include "onnx/quantised.h"
#include "onnx/reduce.h"

namespace inlay::onnx {
namespace {

/// x less its zero point: one number, or one for each channel of the result.
ValueId less_zero(Call& c, std::size_t input, std::size_t zero, DType wide) {
  const ValueId x = c.b.cast(c.in(input), wide);
  const auto point = c.maybe(zero);
  if (!point) return x;
  ValueId by = c.b.cast(*point, wide);
  if (c.type(by).rank() == 1) {
    const Dim count = c.type(by).dims[0];
    std::vector<Dim> dims = ones(c.type(x).dims.size());
    if (!count.is(1)) dims[0] = count;
    by = c.b.reshape(by, std::move(dims));
  }
  return c.scalar(ScalarOp::sub_, {x, by});
}

/// In how many parts of a group's channels f32 holds the sums of a convolution of integers exactly; 0: it does not.
int64_t exact_parts(Call& c, const Integers& x, const Integers& weights) {
  constexpr int64_t kMostParts = 8;
  const std::vector<Dim> dims = c.type(weights.x).dims;
  const Dim kernel = product(std::span(dims).subspan(2));
  if (!kernel.is_constant() || !dims[1].is_constant()) return 0;
  const int64_t channels = most_exact_terms(c, x, weights) / std::max<int64_t>(kernel.constant(), 1);
  const int64_t parts = channels == 0 ? 0 : (dims[1].constant() + channels - 1) / channels;
  return parts == 1 || (parts <= kMostParts && c.integer("group", 1) == 1) ? parts : 0;
}

Integers integers_of(Call& c, std::size_t input, std::size_t zero) { return {c.in(input), c.maybe(zero)}; }

/// Numbers of the result's channels (or one for all), beside its other axes.
ValueId by_channel(Call& c, ValueId v, std::size_t rank) {
  if (c.type(v).rank() == 0) return v;
  std::vector<Dim> dims = ones(rank - 1);
  dims[0] = c.type(v).dims[0];
  return c.b.reshape(v, std::move(dims));
}

/// The sums of bytes less their zero points (LibraryOp::weighted_rows), modulo 2^32: windows read the zero point beyond
/// the data, and what it adds to a sum hangs on the weights alone. None where a product of bytes is not the fastest way
/// (of single channels, for a small device), of wider integers, and where weights have zero points of their own.
std::optional<ValueId> sums_of_bytes(Call& c, const Integers& data, const Integers& given) {
  const bool is_depthwise = c.integer("group", 1) > 1 && c.type(given.x).dims[1].is(1);
  const DType dtype = c.type(data.x).dtype, other = c.type(given.x).dtype;
  if (!c.importer.stores_windows() || is_depthwise || !is_byte(dtype) || !is_byte(other)) return {};
  const int by = dtype == DType::i8 ? 128 : 0, weights_by = other == DType::u8 ? -128 : 0;
  if (moved_zero(c, given.zero, weights_by)) return {};
  std::optional<ValueId> zero = moved_zero(c, data.zero, by);
  if (zero && !product(c.type(*zero).dims).is(1)) return {};
  if (zero) zero = c.b.reshape(*zero, {});
  const ValueId x = moved(c, data.x, by, DType::u8), weights = moved(c, given.x, weights_by, DType::i8);
  const auto room = zero ? std::optional(c.b.cast(*zero, DType::u8)) : std::nullopt;
  const ValueId sums = convolved(c, convolution_of(c, x, weights, room));
  if (!zero) return sums;
  const auto rank = static_cast<std::size_t>(c.type(weights).rank());
  const ValueId of_weights =
      c.b.reduce(Fold::add, c.b.cast(weights, DType::i32), axes_from(1, static_cast<int>(rank)), DType::i32);
  const ValueId below = c.scalar(ScalarOp::mul_, {by_channel(c, of_weights, rank), *zero});
  return c.scalar(ScalarOp::sub_, {sums, below});
}

/// The sums of a convolution of integers, which floats hold exactly: f32, of parts of the channels where there are
/// many, or f64, where they are not of bytes. Where no product is handed to a BLAS, they are sums of i32.
ValueId integer_sums(Call& c, std::size_t x, std::size_t x_zero, std::size_t w, std::size_t w_zero) {
  if (const auto made = sums_of_bytes(c, integers_of(c, x, x_zero), integers_of(c, w, w_zero))) return *made;
  const auto sums = [&](ValueId data, ValueId weights) {
    return c.b.cast(convolved(c, convolution_of(c, data, weights)), DType::i32);
  };
  const int64_t parts = exact_parts(c, integers_of(c, x, x_zero), integers_of(c, w, w_zero));
  const DType exact = parts == 0 ? DType::f64 : DType::f32, wide = c.importer.stores_windows() ? exact : DType::i32;
  const ValueId data = less_zero(c, x, x_zero, wide), weights = less_zero(c, w, w_zero, wide);
  if (parts <= 1 || wide != DType::f32) return sums(data, weights);
  return sum_of_parts(c, c.dims(w)[1].constant(), parts, [&](int64_t begin, int64_t end) {
    return sums(part_of(c, data, 1, begin, end), part_of(c, weights, 1, begin, end));
  });
}

}  // namespace

std::optional<ValueId> dequantised_convolution(Call& c) {
  const auto& known = c.scope.frame.dequantised;
  const auto data = known.find(c.in(0)), weights = known.find(c.in(1));
  if (data == known.end() || weights == known.end() || c.type(data->second.scale).rank() != 0) return {};
  // One number, or one for each channel of the result.
  const std::vector<Dim> dims = c.dims(1), own = c.type(weights->second.scale).dims;
  const auto is_one = [](const Dim& dim) { return dim.is(1); };
  const bool is_by_channel =
      own.size() == dims.size() && own[0] == dims[0] && std::all_of(own.begin() + 1, own.end(), is_one);
  if (!own.empty() && !is_by_channel) return {};
  const Dim depth = product(std::span(dims).subspan(1));
  if (!holds_sums(c, data->second, weights->second, depth)) return {};
  const auto sums = sums_of_bytes(c, {data->second.x, data->second.zero}, {weights->second.x, weights->second.zero});
  if (!sums) return {};
  const ValueId scale = own.empty() ? weights->second.scale : c.b.reshape(weights->second.scale, {dims[0]});
  return as_floats(c, *sums, data->second.scale, by_channel(c, scale, dims.size()));
}

void conv_integer(Call& c) {
  check_convolution(c);
  c.out(integer_sums(c, 0, 2, 1, 3));
}

/// Sums of integers, scaled and rounded to those of the result.
void qlinear_conv(Call& c) {
  check_convolution(c, 3);
  const auto rank = static_cast<std::size_t>(c.rank(0));
  ValueId sums = integer_sums(c, 0, 2, 3, 5);
  if (const auto bias = c.maybe(8)) sums = c.scalar(ScalarOp::add_, {sums, by_channel(c, *bias, rank)});
  const DType scale = c.dtype(1), dtype = c.dtype(7);
  if (!is_byte(dtype)) throw c.unsupported("a result of other elements than i8 and u8");
  const ValueId one = c.b.reshape(c.in(1), {}), out = c.b.reshape(c.in(6), {});
  const ValueId factor = c.scalar(ScalarOp::div_, {c.scalar(ScalarOp::mul_, {one, by_channel(c, c.in(4), rank)}), out});
  const ValueId scaled = c.scalar(ScalarOp::round_, {c.scalar(ScalarOp::mul_, {c.b.cast(sums, scale), factor})});
  const ValueId shifted = c.scalar(ScalarOp::add_, {scaled, c.b.cast(c.b.reshape(c.in(7), {}), scale)});
  const double low = dtype == DType::i8 ? -128 : 0;
  c.out(c.b.cast(c.with(ScalarOp::min_, c.with(ScalarOp::max_, shifted, low), low + 255), dtype));
}

}  // namespace inlay::onnx
