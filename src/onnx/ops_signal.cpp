// Fourier transforms, and the windows and weights that go with them.
//
// A transform of length n is a product with a matrix of n x n cosines and sines; a length that is known and has a
// divisor near its root is split, so that both matrices are small.
#include <cmath>
#include <numbers>

#include "inlay/linalg.h"
#include "ir/compose_shape.h"
#include "onnx/ops.h"
#include "onnx/reduce.h"

namespace inlay::onnx {
namespace {

using Op = ScalarOp;

constexpr double kTurn = 2 * std::numbers::pi;
constexpr int64_t kLongestDirect = 32;       // of a length that can be split
constexpr int64_t kLongestMatrix = 1 << 11;  // its two matrices have 2^22 elements each

ValueId as_number(Call& c, const Dim& size) { return as_number(c, DType::f64, size); }

/// Complex numbers by their parts; the last axis is that of the signal.
struct Parts {
  ValueId real;
  std::optional<ValueId> imaginary;  // none: they are real
};

std::vector<Dim> dims_of(Call& c, const Parts& x) { return c.type(x.real).dims; }

template <class Change>
Parts changed(const Parts& x, const Change& change) {
  Parts out{change(x.real), {}};
  if (x.imaginary) out.imaginary = change(*x.imaginary);
  return out;
}

/// exp(+-2 pi i jk / n) for j below `rows` and k below `columns`. Whole turns are taken off before the cosine, so that
/// long signals lose no digits.
Parts roots(Call& c, const Dim& rows, const Dim& columns, const Dim& n, double sign, DType dtype) {
  const ValueId j = c.b.cast(places(c.b, rows, 1), DType::f64), k = c.b.cast(places(c.b, columns, 0), DType::f64);
  const ValueId turns = c.scalar(Op::div_, {c.scalar(Op::mul_, {j, k}), as_number(c, max(n, 1))});
  const ValueId rest = c.scalar(Op::sub_, {turns, c.scalar(Op::floor_, {turns})});
  const ValueId angle = c.with(Op::mul_, rest, sign * kTurn);
  return {c.b.cast(c.scalar(Op::cos_, {angle}), dtype), c.b.cast(c.scalar(Op::sin_, {angle}), dtype)};
}

/// `times` of two complex numbers, which is a product of elements or of matrices.
template <class Times>
Parts multiplied(Call& c, const Parts& x, const Parts& y, const Times& times) {
  const ValueId real = times(x.real, y.real), imaginary = times(x.real, *y.imaginary);
  if (!x.imaginary) return {real, imaginary};
  return {c.scalar(Op::sub_, {real, times(*x.imaginary, *y.imaginary)}),
          c.scalar(Op::add_, {imaginary, times(*x.imaginary, y.real)})};
}

/// The largest divisor up to the root, if there is one that makes a split worth it.
std::optional<int64_t> divisor_of(const Dim& n) {
  constexpr int64_t kLongest = int64_t{1} << 40;  // beyond memory, and short enough for trial division
  if (!n.is_constant() || n.constant() <= kLongestDirect || n.constant() > kLongest) return {};
  auto divisor = static_cast<int64_t>(std::sqrt(static_cast<double>(n.constant())));
  while (n.constant() % divisor != 0) --divisor;
  return divisor > 3 ? std::optional(divisor) : std::nullopt;
}

Parts transform(Call& c, const Parts& x, const Dim& n, const Dim& bins, double sign);

/// With j = n2 j1 + j2 and k = k1 + n1 k2: a transform over j1, a turn by j2 k1 / n, and a transform over j2.
Parts split_transform(Call& c, Parts x, int64_t first, int64_t second, double sign) {
  std::vector<Dim> apart = dims_of(c, x), together = apart;
  const DType dtype = c.type(x.real).dtype;
  apart.back() = first;
  apart.emplace_back(second);
  const auto swapped = [&](ValueId v) { return linalg::swapped(c.b, v); };
  x = changed(x, [&](ValueId v) { return swapped(c.b.reshape(v, apart)); });
  x = transform(c, x, first, first, sign);
  const Parts turns = roots(c, second, first, first * second, sign, dtype);
  x = multiplied(c, x, turns, [&](ValueId a, ValueId b) { return c.scalar(Op::mul_, {a, b}); });
  x = transform(c, changed(x, swapped), second, second, sign);
  return changed(x, [&](ValueId v) { return c.b.reshape(swapped(v), together); });
}

ValueId first_along_last(Call& c, ValueId v, const Dim& count) {
  std::vector<IndexItem> index = whole(c.type(v).dims);
  index.back() = IndexItem::range(0, count);
  return c.b.slice(v, std::move(index));
}

ValueId with_zeros_behind(Call& c, ValueId v, const Dim& count) {
  std::vector<Dim> before(c.type(v).dims.size(), Dim(0)), after = before;
  after.back() = count;
  return pad(c.b, v, before, after, PadMode::constant, c.literal(c.type(v).dtype, 0));
}

/// The first `bins` of the transform of length n; where x is shorter, zeros follow it.
Parts transform(Call& c, const Parts& x, const Dim& n, const Dim& bins, double sign) {
  const Dim length = dims_of(c, x).back();
  if (const std::optional<int64_t> first = divisor_of(n)) {
    const Parts whole = changed(x, [&](ValueId v) { return with_zeros_behind(c, v, n - length); });
    const Parts all = split_transform(c, whole, *first, n.constant() / *first, sign);
    return changed(all, [&](ValueId v) { return first_along_last(c, v, bins); });
  }
  if (n.is_constant() && n.constant() > kLongestMatrix) {
    throw c.unsupported(str("a transform of length ", n.constant(), ", which has no divisor that makes it fast"));
  }
  const Parts matrix = roots(c, length, bins, n, sign, c.type(x.real).dtype);
  return multiplied(c, x, matrix, [&](ValueId a, ValueId b) { return linalg::matmul(c.b, a, b); });
}

/// The parts that lie along the last axis of an input: one or two.
Parts parts_of(Call& c, ValueId x) {
  const std::vector<Dim> dims = c.type(x).dims;
  if (dims.size() < 2) throw c.wrong(str("of ", c.b.graph().describe(x), ", which has no axis for the parts"));
  if (!dims.back().is(1) && !dims.back().is(2)) {
    throw c.unsupported(
        str("of ", c.b.graph().describe(x), ", of which the last axis is not known to be 1 or 2 parts"));
  }
  const ValueId computed = c.b.cast(x, float_computed_in(c.type(x).dtype));
  const auto part = [&](int64_t place) {
    std::vector<IndexItem> index = whole(dims);
    index.back() = IndexItem::at(place);
    return c.b.slice(computed, std::move(index));
  };
  if (dims.back().is(1)) return {part(0), {}};
  return {part(0), part(1)};
}

/// All n of a spectrum of which the first half is given: the others are conjugates of these.
Parts both_sides(Call& c, const Parts& half, const Dim& n) {
  const Dim wanted = floor_div(n, 2) + 1, given = dims_of(c, half).back();
  const ValueId k = c.b.iota(n, DType::i64);
  const ValueId mirrored = c.scalar(Op::sub_, {c.b.size(n), k});
  const ValueId is_mirrored = c.scalar(Op::gt_, {k, mirrored});
  const ValueId from = c.scalar(Op::min_, {k, mirrored});
  Parts out = changed(half, [&](ValueId v) {
    v = with_zeros_behind(c, first_along_last(c, v, min(given, wanted)), max(wanted - given, 0));
    std::vector<IndexItem> index = whole(c.type(v).dims);
    index.back() = IndexItem::through(from);
    return c.b.gather(v, std::move(index));
  });
  if (out.imaginary) {
    out.imaginary = c.scalar(Op::select_, {is_mirrored, c.scalar(Op::neg_, {*out.imaginary}), *out.imaginary});
  }
  return out;
}

void dft(Call& c) {
  const int rank = c.rank(0);
  const bool inverse = c.flag("inverse"), one_sided = c.flag("onesided");
  int64_t along = c.version < 20 ? c.integer("axis", 1) : -2;
  if (c.version >= 20 && c.has(2)) along = c.constant(2);
  const int axis = c.axis(along, rank);
  if (axis == rank - 1) throw c.wrong("the axis is that of the parts");
  const auto to_last = [&](ValueId v) { return move_axis(c.b, v, axis, -1); };
  const auto back = [&](ValueId v) { return c.b.cast(move_axis(c.b, v, -1, axis), c.dtype(0)); };
  Parts x = changed(parts_of(c, c.in(0)), to_last);
  const Dim length = dims_of(c, x).back();
  const Dim n = c.has(1) ? c.size(1) : inverse && one_sided ? Dim(2) * (length - 1) : length;
  if (inverse && one_sided) {
    x = both_sides(c, x, n);
  } else {
    x = changed(x, [&](ValueId v) { return first_along_last(c, v, min(length, n)); });
  }
  const Dim bins = one_sided && !inverse ? floor_div(n, 2) + 1 : n;
  Parts y = transform(c, x, n, bins, inverse ? 1 : -1);
  if (inverse) {
    const ValueId count = c.b.cast(as_number(c, n), c.type(y.real).dtype);
    y = changed(y, [&](ValueId v) { return c.scalar(Op::div_, {v, count}); });
  }
  if (inverse && one_sided) return c.out(expand_dims(c.b, back(y.real), {-1}));
  c.out(stack(c.b, {back(y.real), back(*y.imaginary)}, -1));
}

void stft(Call& c) {
  const ValueId signal = c.in(0);
  if (c.rank(0) != 3) throw c.wrong(str("of ", c.b.graph().describe(signal), ", which is to be of rank 3"));
  const Dim length = c.dims(0)[1], step = c.size(1);
  const Dim frame = c.has(3) ? c.size(3) : c.has(2) ? c.dims(2).at(0) : length;
  c.b.require(
      frame, length, [] { return "STFT: frames of {0} in a signal of {1}"; }, {{"signal", signal}},
      ErrorCode::slice_out_of_range, DimCheck::Relation::at_most);
  const Dim count = floor_div(length - frame, step) + 1;
  const ValueId begin = c.scalar(Op::mul_, {places(c.b, count, 1), c.b.size(step)});
  const ValueId place = c.scalar(Op::add_, {begin, places(c.b, frame, 0)});
  Parts x = parts_of(c, signal);
  x = changed(x, [&](ValueId v) {
    const Dim batch = c.type(v).dims[0];
    const ValueId frames = c.b.gather(v, {IndexItem::range(0, batch), IndexItem::through(place)}, "STFT");
    return c.has(2) ? c.scalar(Op::mul_, {frames, c.b.cast(c.in(2), c.type(v).dtype)}) : frames;
  });
  const Dim bins = c.flag("onesided", true) ? floor_div(frame, 2) + 1 : frame;
  const Parts y = transform(c, x, frame, bins, -1);
  const DType dtype = c.dtype(0);
  c.out(stack(c.b, {c.b.cast(y.real, dtype), c.b.cast(*y.imaginary, dtype)}, -1));
}

/// The sum of weights[i] cos(2 pi i k / n): of n places, or of n - 1 for a window that is symmetric.
void window(Call& c, std::initializer_list<double> weights) {
  const Dim size = c.size(0), period = c.flag("periodic", true) ? size : size - 1;
  const ValueId turn =
      c.scalar(Op::div_, {c.b.cast(c.b.iota(size, DType::i64), DType::f64), as_number(c, max(period, 1))});
  ValueId sum;
  double multiple = 0;
  for (const double weight : weights) {
    const ValueId wave = c.scalar(Op::cos_, {c.with(Op::mul_, turn, multiple++ * kTurn)});
    const ValueId term = c.with(Op::mul_, wave, weight);
    sum = multiple == 1 ? term : c.scalar(Op::add_, {sum, term});
  }
  c.out(c.b.cast(sum, c.dtype_attribute("output_datatype").value_or(DType::f32)));
}

void hann(Call& c) { window(c, {0.5, -0.5}); }
void hamming(Call& c) { window(c, {25.0 / 46, -21.0 / 46}); }
void blackman(Call& c) { window(c, {0.42, -0.5, 0.08}); }

ValueId real_number(Call& c, std::size_t i) { return c.b.cast(one_number(c, c.in(i)), DType::f64); }

/// Triangles with a peak of 1 over the bins of a spectrum, whose corners are equally far from each other in mel.
void mel_weights(Call& c) {
  const double scale = 2595 / std::numbers::ln10;
  const Dim bands = c.size(0), length = c.size(1);
  const auto mel = [&](std::size_t i) {
    return c.with(Op::mul_, c.scalar(Op::log1p_, {c.with(Op::div_, real_number(c, i), 700)}), scale);
  };
  const ValueId low = mel(3);
  const ValueId step = c.scalar(Op::div_, {c.scalar(Op::sub_, {mel(4), low}), as_number(c, bands + 2)});
  const ValueId corner = c.scalar(Op::mul_, {c.b.cast(c.b.iota(bands + 2, DType::i64), DType::f64), step});
  const ValueId in_mel = c.with(Op::div_, c.scalar(Op::add_, {corner, low}), scale);
  const ValueId hertz = c.with(Op::mul_, c.scalar(Op::expm1_, {in_mel}), 700);
  const ValueId bin =
      c.scalar(Op::floor_div_, {c.scalar(Op::mul_, {hertz, as_number(c, length + 1)}), real_number(c, 2)});
  const auto corners = [&](int64_t from) { return c.b.slice(bin, {IndexItem::range(from, bands + from)}); };
  const ValueId left = corners(0), peak = corners(1), right = corners(2);
  const ValueId at = c.b.cast(places(c.b, floor_div(length, 2) + 1, 1), DType::f64);
  const auto between = [&](ValueId from, ValueId to) {
    return c.scalar(Op::div_, {c.scalar(Op::sub_, {at, from}), c.scalar(Op::sub_, {to, from})});
  };
  const auto both = [&](ValueId a, ValueId b) { return c.scalar(Op::and_, {a, b}); };
  const ValueId zero = c.literal(DType::f64, 0), one = c.literal(DType::f64, 1);
  const ValueId rises = both(c.scalar(Op::ge_, {at, left}), c.scalar(Op::lt_, {at, peak}));
  const ValueId falls = both(c.scalar(Op::gt_, {at, peak}), c.scalar(Op::lt_, {at, right}));
  const ValueId is_peak = c.scalar(Op::eq_, {at, peak});
  ValueId weight = c.scalar(Op::select_, {rises, between(left, peak), zero});
  weight = c.scalar(Op::select_, {falls, between(right, peak), weight});
  weight = c.scalar(Op::select_, {is_peak, one, weight});
  c.out(c.b.cast(weight, c.dtype_attribute("output_datatype").value_or(DType::f32)));
}

constexpr OpRow kOps[] = {
    {"BlackmanWindow", blackman},     {"DFT", dft},   {"HammingWindow", hamming}, {"HannWindow", hann},
    {"MelWeightMatrix", mel_weights}, {"STFT", stft},
};

}  // namespace

std::span<const OpRow> signal_ops() { return kOps; }

}  // namespace inlay::onnx
