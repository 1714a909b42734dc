// Losses of a classification: what each sample's own class is given, as a sum or a mean.
#include "onnx/ops.h"
#include "onnx/reduce.h"
#include "support/counted.h"

namespace inlay::onnx {
namespace {

using Op = ScalarOp;

constexpr int kClasses = 1;  // the axis of them

void check_classes(Call& c) {
  if (c.rank(0) <= kClasses)
    throw c.wrong(str("its input has no axis of classes: it is ", c.b.graph().describe(c.in(0))));
  if (c.rank(1) != c.rank(0) - 1) {
    throw c.error(ErrorCode::wrong_rank,
                  str("classes of ", counted(static_cast<std::size_t>(c.rank(1)), "axis", "axes"), " for an input of ",
                      c.rank(0)));
  }
}

/// What `target` [batch, ...] says of `logs` [batch, classes, ...] and of the weights.
class Samples {
 public:
  Samples(Call& c, ValueId logs) : c_(c), logs_(logs), target_(c.b.cast(c.in(1), DType::i64)) {
    if (!c.has_attribute("ignore_index")) return;
    is_ignored_ = c.with(Op::eq_, target_, static_cast<double>(c.integer("ignore_index")));
    // The number that stands for no class need not be one of them.
    target_ = c.scalar(Op::select_, {*is_ignored_, c.b.literal(Literal::of_integer(DType::i64, 0)), target_});
  }

  /// The loss of each sample, times its weight.
  ValueId losses() {
    const ValueId own = take_along_axis(c_.b, logs_, expand_dims(c_.b, target_, {kClasses}), kClasses);
    const ValueId losses = c_.scalar(Op::neg_, {squeeze(c_.b, own, {kClasses})});
    if (!c_.has(2)) return without_ignored(losses);
    return without_ignored(c_.scalar(Op::mul_, {losses, weights()}));
  }

  /// The weight of each sample; none: all count alike.
  std::optional<ValueId> counted() {
    if (c_.has(2)) return without_ignored(weights());
    if (!is_ignored_) return {};
    return c_.b.cast(c_.scalar(Op::not_, {*is_ignored_}), c_.type(logs_).dtype);
  }

 private:
  ValueId weights() {
    const ValueId weights = c_.b.cast(c_.in(2), c_.type(logs_).dtype);
    return c_.b.gather(weights, {IndexItem::through(target_)});
  }

  ValueId without_ignored(ValueId x) {
    return is_ignored_ ? c_.scalar(Op::select_, {*is_ignored_, c_.literal(c_.type(x).dtype, 0), x}) : x;
  }

  Call& c_;
  ValueId logs_, target_;
  std::optional<ValueId> is_ignored_;
};

/// Of logarithms in the dtype that the loss is computed in.
void loss(Call& c, ValueId logs) {
  Samples samples(c, logs);
  ValueId result = samples.losses();
  const std::vector<int> all = axes_from(0, c.type(result).rank());
  const std::string reduction = c.word("reduction", "mean");
  if (reduction == "mean") {
    const std::optional<ValueId> counted = samples.counted();
    const auto sum = [&](ValueId x) { return folded(c, Fold::add, x, all, Keep::no); };
    result = counted ? c.scalar(Op::div_, {sum(result), sum(*counted)}) : mean_of(c, result, all, Keep::no);
  } else if (reduction == "sum") {
    result = folded(c, Fold::add, result, all, Keep::no);
  } else if (reduction != "none") {
    throw c.wrong(str("`", reduction, "` is no reduction"));
  }
  c.out(0, c.b.cast(result, c.dtype(0)));
}

void negative_log_likelihood(Call& c) {
  check_classes(c);
  loss(c, c.b.cast(c.in(0), computed_in(c.dtype(0))));
}

void softmax_cross_entropy(Call& c) {
  check_classes(c);
  const ValueId logs = log_softmax_of(c, c.b.cast(c.in(0), computed_in(c.dtype(0))), {kClasses});
  loss(c, logs);
  c.out(1, c.b.cast(logs, c.dtype(0)));
}

constexpr OpRow kOps[] = {
    {"NegativeLogLikelihoodLoss", negative_log_likelihood, 12},
    {"SoftmaxCrossEntropyLoss", softmax_cross_entropy, 12},
};

}  // namespace

std::span<const OpRow> loss_ops() { return kOps; }

}  // namespace inlay::onnx
