#include "transform/version_stretched.h"

#include <algorithm>
#include <optional>

#include "kernel/dim_proof.h"
#include "kernel/live.h"

namespace inlay::transform {

using kernel::IndexTerm;
using kernel::RegisterId;
using kernel::Stage;
using kernel::Statement;
using kernel::Subscript;

namespace {

/// place * times, as StageWriter writes it.
struct Stretched {
  Subscript place;
  Dim times;
};

/// What the registers of a stage say of places.
class StretchedPlaces {
 public:
  explicit StretchedPlaces(const Stage& stage) : made_by_(static_cast<std::size_t>(stage.num_registers)) {
    for (const Statement& s : stage.statements) {
      if (s.result.valid()) made_by_[s.result.index] = &s;
    }
  }

  std::optional<Stretched> stretched(const IndexTerm& index) const {
    const Statement& product = *made_by_[index.index.index];
    if (index.bounds != kernel::Bounds::proved || !is(product, ScalarOp::mul_)) return std::nullopt;
    const Statement& times = *made_by_[product.operands[1].index];
    if (times.kind != Statement::Kind::size || !kernel::is_zero_or_one(times.size)) return std::nullopt;
    const std::optional<Subscript> place = sum_of_axes(product.operands[0]);
    return place ? std::optional(Stretched{*place, times.size}) : std::nullopt;
  }

 private:
  static bool is(const Statement& s, ScalarOp op) { return s.kind == Statement::Kind::op && s.op == op; }

  std::optional<Subscript> sum_of_axes(RegisterId reg) const {
    const Statement& s = *made_by_[reg.index];
    switch (s.kind) {
      case Statement::Kind::axis: return Subscript{0, {{s.axis, 1}}, {}};
      case Statement::Kind::size: return Subscript{s.size, {}, {}};
      case Statement::Kind::literal: return Subscript{s.literal.i, {}, {}};
      case Statement::Kind::op: break;
      default: return std::nullopt;
    }
    if (!is(s, ScalarOp::add_) && !is(s, ScalarOp::mul_)) return std::nullopt;
    const auto a = sum_of_axes(s.operands[0]), b = sum_of_axes(s.operands[1]);
    if (!a || !b) return std::nullopt;
    if (s.op == ScalarOp::add_) return plus(*a, *b, 1);
    if (!b->is_constant() || !b->base.is_constant()) return std::nullopt;
    return plus({}, *a, b->base.constant());
  }

  std::vector<const Statement*> made_by_;
};

/// Each stretched index of the stage with its subscript.
template <class Visit>
void for_each_stretched(Stage& stage, const StretchedPlaces& places, Visit visit) {
  for (Statement& s : stage.statements) {
    if (!s.has_place()) continue;
    for (Subscript& subscript : s.map.subscripts) {
      if (!subscript.index) continue;
      if (const auto found = places.stretched(*subscript.index)) visit(subscript, *found);
    }
  }
}

/// The stage with each stretched index at place * `times`, over the points that are left of `extent` of its first axis.
Stage version(Stage stage, int64_t times, Dim extent) {
  const Stage before = stage;
  for_each_stretched(stage, StretchedPlaces(before), [&](Subscript& subscript, const Stretched& stretched) {
    const int64_t step = subscript.index->step;
    subscript.index.reset();
    subscript = plus(subscript, stretched.place, step * times);
  });
  stage.axes[0].extent = std::move(extent);
  drop_unused(stage);
  return stage;
}

void add_versions(kernel::Kernel& kernel, LoopPassContext& context) {
  std::vector<Stage> out;
  for (Stage& stage : kernel.stages) {
    std::vector<Dim> sizes;
    for_each_stretched(stage, StretchedPlaces(stage), [&](const Subscript&, const Stretched& stretched) {
      if (std::ranges::find(sizes, stretched.times) == sizes.end()) sizes.push_back(stretched.times);
    });
    if (sizes.empty() || stage.axes.empty() || !context.fires()) {
      out.push_back(std::move(stage));
      continue;
    }
    const Dim all = stage.axes[0].extent, plain = all * product(sizes);
    out.push_back(version(stage, 1, plain));
    if (sizes.size() == 1) {
      out.push_back(version(std::move(stage), 0, all - plain));
    } else {
      out.push_back(std::move(stage));
      out.back().axes[0].extent = all - plain;
    }
  }
  kernel.stages = std::move(out);
}

}  // namespace

kernel::KernelProgram version_stretched(kernel::KernelProgram program, LoopPassContext& context) {
  for (kernel::Step& step : program.steps) {
    if (auto* kernel = std::get_if<kernel::Kernel>(&step)) add_versions(*kernel, context);
  }
  return program;
}

}  // namespace inlay::transform
