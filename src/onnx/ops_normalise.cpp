// Ops that bring elements to a common scale: by their mean and spread, their norm, or their sum of exponentials.
#include <algorithm>

#include "ir/compose_shape.h"
#include "onnx/ops.h"
#include "onnx/reduce.h"

namespace inlay::onnx {
namespace {

using Op = ScalarOp;
using AxisList = std::vector<int>;

/// Along `axis`; before version 13 over all axes from it on, as one.
AxisList softmax_axes(Call& c) {
  const int rank = c.rank(0);
  if (c.version >= 13) return {c.axis(c.integer("axis", -1), rank)};
  return axes_from(c.axis(c.integer("axis", 1), rank), rank);
}

template <ValueId (*of)(Call&, ValueId, const AxisList&)>
void softmax_op(Call& c) {
  const DType dtype = c.dtype(0);
  const AxisList axes = softmax_axes(c);
  c.out(c.b.cast(of(c, c.b.cast(c.in(0), computed_in(dtype)), axes), dtype));
}

/// The dtype in which a normalisation is computed: never with less precision than its operand and `stash_type` have.
DType stash_dtype(const Call& c) {
  const int64_t type = c.integer("stash_type", 1);
  const std::optional<DType> dtype = dtype_of_type(type);
  if (!dtype || !is_float(*dtype)) throw c.unsupported(str("a stash_type of ", type_name(type)));
  return *dtype;
}
DType normalised_in(DType dtype, DType stash) { return promote(promote(dtype, stash), DType::f32); }

double epsilon(const Call& c) { return c.number("epsilon", 1e-5F); }

/// What a normalisation takes from its operand, and the factor that brings the rest to a spread of 1.
struct Spread {
  ValueId mean, factor;  // of one element along the axes
};

ValueId variance(Call& c, ValueId x, ValueId mean, const AxisList& axes, Keep keep) {
  return mean_of(c, c.scalar(Op::square_, {c.scalar(Op::sub_, {x, mean})}), axes, keep);
}

/// 1 / sqrt(v + epsilon).
ValueId factor_of(Call& c, ValueId v) {
  return c.scalar(Op::reciprocal_, {c.scalar(Op::sqrt_, {c.with(Op::add_, v, epsilon(c))})});
}

Spread spread(Call& c, ValueId x, const AxisList& axes) {
  const ValueId mean = mean_of(c, x, axes, Keep::yes);
  return {mean, factor_of(c, variance(c, x, mean, axes, Keep::yes))};
}

ValueId standardised(Call& c, ValueId x, const Spread& by) {
  return c.scalar(Op::mul_, {c.scalar(Op::sub_, {x, by.mean}), by.factor});
}

ValueId scaled_and_shifted(Call& c, ValueId x, ValueId scale, std::optional<ValueId> shift) {
  const ValueId scaled = c.scalar(Op::mul_, {x, scale});
  return shift ? c.scalar(Op::add_, {scaled, *shift}) : scaled;
}

/// Mean and InvStdDev have the type `stash_type`.
void layer_normalization(Call& c) {
  const DType dtype = c.dtype(0), stash = stash_dtype(c);
  const int rank = c.rank(0);
  const AxisList axes = axes_from(c.axis(c.integer("axis", -1), rank), rank);
  const ValueId x = c.b.cast(c.in(0), normalised_in(dtype, stash));
  const Spread by = spread(c, x, axes);
  c.out(0, scaled_and_shifted(c, c.b.cast(standardised(c, x, by), dtype), c.in(1), c.maybe(2)));
  c.out(1, c.b.cast(by.mean, stash));
  c.out(2, c.b.cast(by.factor, stash));
}

/// The result has the dtype of the scale.
void rms_normalization(Call& c) {
  const int rank = c.rank(0);
  const AxisList axes = axes_from(c.axis(c.integer("axis", -1), rank), rank);
  const ValueId x = c.b.cast(c.in(0), normalised_in(c.dtype(0), stash_dtype(c)));
  const ValueId mean = mean_of(c, c.scalar(Op::square_, {x}), axes, Keep::yes);
  const ValueId normalised = c.scalar(Op::mul_, {x, factor_of(c, mean)});
  c.out(c.scalar(Op::mul_, {c.b.cast(normalised, c.dtype(1)), c.in(1)}));
}

/// One number for each channel, so that it stretches against [batch, channels, ...].
ValueId per_channel(Call& c, ValueId v, int rank) {
  if (rank < 3) return v;
  std::vector<Dim> dims(static_cast<std::size_t>(rank) - 1, Dim(1));
  dims[0] = c.type(v).dims.at(0);
  return c.b.reshape(v, std::move(dims));
}

/// The axes of [batch, channels, ...] but that of the channels.
AxisList axes_beside_channels(int rank) {
  AxisList out = {0};
  for (int axis = 2; axis < rank; ++axis) out.push_back(axis);
  return out;
}

/// The mean and the variance of each channel as a training network has them, and their running averages, outputs 1
/// and 2.
std::pair<ValueId, ValueId> trained(Call& c, ValueId x, ValueId mean, ValueId var) {
  const AxisList axes = axes_beside_channels(c.rank(0));
  const DType computed = c.type(x).dtype;
  const ValueId own_mean = mean_of(c, x, axes, Keep::no);
  const ValueId own_var = variance(c, x, per_channel(c, own_mean, c.rank(0)), axes, Keep::no);
  const double momentum = c.number("momentum", 0.9F);
  const auto average = [&](ValueId old, ValueId own) {
    const ValueId kept = c.with(Op::mul_, c.b.cast(old, computed), momentum);
    return c.b.cast(c.scalar(Op::add_, {kept, c.with(Op::mul_, own, 1 - momentum)}), c.type(old).dtype);
  };
  c.out(1, average(mean, own_mean));
  c.out(2, average(var, own_var));
  return {own_mean, own_var};
}

void batch_normalization(Call& c) {
  const DType dtype = c.dtype(0);
  const int rank = c.rank(0);
  DType computed = DType::f32;
  for (std::size_t i = 0; i < 5; ++i) computed = promote(computed, c.dtype(i));
  const ValueId x = c.b.cast(c.in(0), computed);
  ValueId mean = c.in(3), var = c.in(4);
  if (c.version < 14) {
    if (c.wants(1)) throw c.unsupported("the running mean, as in training");
  } else if (c.flag("training_mode")) {
    std::tie(mean, var) = trained(c, x, mean, var);
  }
  const bool of_channels = c.version >= 9 || c.flag("spatial", true);
  const auto part = [&](ValueId v) { return c.b.cast(of_channels ? per_channel(c, v, rank) : v, computed); };
  const ValueId factor = c.scalar(Op::mul_, {part(c.in(1)), factor_of(c, part(var))});
  const ValueId centred = c.scalar(Op::sub_, {x, part(mean)});
  c.out(c.b.cast(scaled_and_shifted(c, centred, factor, part(c.in(2))), dtype));
}

void instance_normalization(Call& c) {
  const DType dtype = c.dtype(0);
  const int rank = c.rank(0);
  const ValueId x = c.b.cast(c.in(0), computed_in(dtype));
  const ValueId normalised = standardised(c, x, spread(c, x, axes_from(2, rank)));
  const ValueId scale = c.b.cast(per_channel(c, c.in(1), rank), computed_in(dtype));
  const ValueId shift = c.b.cast(per_channel(c, c.in(2), rank), computed_in(dtype));
  c.out(c.b.cast(scaled_and_shifted(c, normalised, scale, shift), dtype));
}

/// Over [batch, groups, channels of a group, ...]. The scale is one for each group, from version 21 on for each
/// channel.
void group_normalization(Call& c) {
  const DType dtype = c.dtype(0);
  const int rank = c.rank(0);
  const std::vector<Dim> dims = c.dims(0);
  if (rank < 2) throw c.wrong("it has no axis of channels");
  const int64_t groups = c.integer("num_groups");
  if (groups < 1) throw c.wrong(str(groups, " groups"));
  const Dim each = floor_div(dims[1], groups);
  std::vector<Dim> grouped = dims;
  grouped[1] = groups;
  grouped.insert(grouped.begin() + 2, each);

  const DType computed = normalised_in(dtype, c.version < 21 ? dtype : stash_dtype(c));
  const ValueId x = c.b.cast(c.b.reshape(c.in(0), grouped), computed);
  const ValueId normalised = c.b.cast(standardised(c, x, spread(c, x, axes_from(2, rank + 1))), dtype);
  std::vector<Dim> ones(static_cast<std::size_t>(rank), Dim(1));  // [groups, channels of a group, 1, ...]
  ones[0] = groups;
  if (c.version >= 21) ones[1] = each;
  const auto part = [&](std::size_t i) { return c.b.reshape(c.in(i), ones); };
  c.out(c.b.reshape(scaled_and_shifted(c, normalised, part(1), part(2)), dims));
}

/// The sum over `size` channels around each: those that are not there are 0.
ValueId sum_of_neighbours(Call& c, ValueId x, int64_t size) {
  const std::vector<Dim> dims = c.type(x).dims;
  std::vector<Dim> before(dims.size(), Dim(0)), after(dims.size(), Dim(0));
  before[1] = (size - 1) / 2;
  after[1] = size - 1 - (size - 1) / 2;
  const ValueId padded = pad(c.b, x, before, after, PadMode::constant, c.literal(c.type(x).dtype, 0));
  std::vector<IndexItem> index = whole(dims);
  index[1] = IndexItem::through(c.scalar(Op::add_, {places(c.b, dims[1], 1), places(c.b, size, 0)}));
  return folded(c, Fold::add, c.b.gather(padded, std::move(index)), {2}, Keep::no);
}

void lrn(Call& c) {
  const DType dtype = c.dtype(0);
  const int64_t size = c.integer("size");
  if (c.rank(0) < 2) throw c.wrong("it has no axis of channels");
  if (size < 1) throw c.wrong(str("a size of ", size));
  const ValueId x = c.b.cast(c.in(0), computed_in(dtype));
  const ValueId sum = sum_of_neighbours(c, c.scalar(Op::square_, {x}), size);
  const double alpha = c.number("alpha", 1e-4F) / static_cast<double>(size);
  const ValueId base = c.with(Op::add_, c.with(Op::mul_, sum, alpha), c.number("bias", 1));
  c.out(c.b.cast(c.scalar(Op::div_, {x, c.with(Op::pow_, base, c.number("beta", 0.75))}), dtype));
}

/// Of a norm of 0 the elements are 0.
void lp_normalization(Call& c) {
  const DType dtype = c.dtype(0);
  const AxisList axes = {c.axis(c.integer("axis", -1), c.rank(0))};
  const int64_t p = c.integer("p", 2);
  if (p != 1 && p != 2) throw c.wrong(str("a norm of order ", p));
  const ValueId x = c.b.cast(c.in(0), computed_in(dtype));
  const ValueId sum = folded(c, Fold::add, c.scalar(p == 1 ? Op::abs_ : Op::square_, {x}), axes, Keep::yes);
  const ValueId norm = p == 1 ? sum : c.scalar(Op::sqrt_, {sum});
  const ValueId zero = c.literal(c.type(x).dtype, 0);
  const ValueId result = c.scalar(Op::select_, {c.scalar(Op::eq_, {norm, zero}), zero, c.scalar(Op::div_, {x, norm})});
  c.out(c.b.cast(result, dtype));
}

void mean_variance_normalization(Call& c) {
  const DType dtype = c.dtype(0);
  AxisList axes = c.axes(c.integers("axes").value_or(std::vector<int64_t>{0, 2, 3}), c.rank(0));
  std::ranges::sort(axes);
  const ValueId x = c.b.cast(c.in(0), computed_in(dtype));
  const ValueId mean = mean_of(c, x, axes, Keep::yes);
  const ValueId deviation = c.scalar(Op::sqrt_, {variance(c, x, mean, axes, Keep::yes)});
  const ValueId centred = c.scalar(Op::sub_, {x, mean});
  c.out(c.b.cast(c.scalar(Op::div_, {centred, c.with(Op::add_, deviation, 1e-9)}), dtype));
}

constexpr OpRow kOps[] = {
    {"BatchNormalization", batch_normalization, 7},
    {"GroupNormalization", group_normalization, 18},
    {"InstanceNormalization", instance_normalization, 6},
    {"LRN", lrn},
    {"LayerNormalization", layer_normalization, 17},
    {"LogSoftmax", softmax_op<log_softmax_of>},
    {"LpNormalization", lp_normalization},
    {"MeanVarianceNormalization", mean_variance_normalization, 9},
    {"RMSNormalization", rms_normalization, 23},
    {"Softmax", softmax_op<softmax_of>},
};

}  // namespace

std::span<const OpRow> normalise_ops() { return kOps; }

}  // namespace inlay::onnx
