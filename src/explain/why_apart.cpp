#include "explain/why_apart.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "fuse/schedule.h"
#include "kernel/counts.h"
#include "kernel/dependences.h"
#include "kernel/steps.h"
#include "kernel/text.h"
#include "ops/library_op.h"
#include "transform/join_regions.h"
#include "transform/join_whole_arrays.h"
#include "transform/share_rows.h"

namespace inlay::explain {

using kernel::Buffer;
using kernel::BufferId;
using kernel::Kernel;
using kernel::KernelProgram;
using kernel::Role;
using kernel::Stage;
using kernel::StepId;
using transform::Refusal;
using transform::WhyNot;

namespace {

struct Row {
  std::string_view name, sentence, help;
};
constexpr std::array<Row, transform::kNumApartFor> kRows = {{
#define APART_FOR(name, text, sentence, help) {text, sentence, help},
#include "transform/apart.def"
#undef APART_FOR
}};

// Note [Reasons of kernels]
// Two kernels are apart because a rule said no, and the rule says why: `fits` and `join` of a JoinRule refuse with a
// row of apart.def, the scheduler's rule is equal axes and `is_short_enough`, and what no step passes is answered by
// `moves` and `Dependences`, as the passes ask them. Nothing here decides what may be one loop.
//
// They are asked again about the finished program, rather than heard while the passes run: what a pass refuses is often
// a kernel that is a part of another by the end, so a record of refusals names loops that nobody sees, and a pair that
// is left may never have been offered in the form that it has now. A record was tried: 18 sentences about the program
// tests became worse, explaining took a second run of fusing, and every pass carried the record.

// How many kernels a number is traced back to.
constexpr std::size_t kMaxOrigins = 4;

const Kernel* kernel_at(const KernelProgram& program, StepId step) {
  const auto* kernel = std::get_if<Kernel>(&program.steps[step.index]);
  return kernel && !kernel->is_scalar() ? kernel : nullptr;
}

// --- what waits for what ---

/// Two kernels with data in common.
struct Pair {
  StepId first, second;
  BufferId shared;
  BufferId number;     // that the second reads, and that is the first's or was made of its results
  bool waits = false;  // the second for the first, at once or by way of numbers
};

/// Finds kernels with data in common.
class PairFinder {
 public:
  explicit PairFinder(const KernelProgram& program)
      : program_(program), uses_(program), last_reader_(program.buffers.size()), origins_(program.buffers.size()) {}

  /// In the order of their second kernels.
  std::vector<Pair> run() {
    for (StepId step : ids<StepId>(program_.steps.size())) add(step);
    return std::move(pairs_);
  }

 private:
  void add(StepId step) {
    const kernel::StepAccess access = access_of(program_, program_.steps[step.index]);
    const Kernel* kernel = kernel_at(program_, step);
    SmallVector<StepId, 4> origins;
    const std::size_t first_pair = pairs_.size();
    for (BufferId b : access.reads) {
      for (StepId origin : origins_[b]) {
        if (origin == step) continue;
        if (kernel) {
          Pair& it = pair(first_pair, origin, step, b);
          it.waits = true;
          if (is_number(b)) it.number = b;
        }
        const bool known = std::ranges::find(origins, origin) != origins.end();
        if (is_scalar(step) && !known && origins.size() < kMaxOrigins) origins.push_back(origin);
      }
    }
    for (BufferId b : access.reads) {
      if (!kernel || !is_array(b)) continue;
      if (last_reader_[b].valid()) pair(first_pair, last_reader_[b], step, b);
      last_reader_[b] = step;
    }
    for (BufferId b : access.writes) {
      const StepId writer = uses_.writer(b);
      if (kernel && writer.valid() && kernel_at(program_, writer)) {  // parts of one
        pair(first_pair, writer, step, b).waits = true;
      }
      last_reader_[b] = {};
      if (kernel) origins = {step};
      origins_[b] = origins;
    }
    uses_.add(step, access);
  }

  bool is_scalar(StepId step) const {
    return std::holds_alternative<Kernel>(program_.steps[step.index]) && !kernel_at(program_, step);
  }

  /// `begin`: where the pairs of the second kernel begin.
  Pair& pair(std::size_t begin, StepId first, StepId second, BufferId shared) {
    const auto found = std::find_if(pairs_.begin() + static_cast<std::ptrdiff_t>(begin), pairs_.end(),
                                    [&](const Pair& known) { return known.first == first; });
    if (found != pairs_.end()) return *found;
    return pairs_.emplace_back(Pair{first, second, shared});
  }

  bool is_number(BufferId b) const {
    const Buffer& buffer = program_.buffers[b];
    return buffer.role == Role::scalar || num_elements(buffer).is(1);
  }
  bool is_array(BufferId b) const { return !is_number(b) && program_.buffers[b].role != Role::literal; }

  const KernelProgram& program_;
  kernel::LastUses uses_;
  IdMap<BufferId, StepId> last_reader_;  // the last kernel that read the array, since it was written
  IdMap<BufferId, SmallVector<StepId, 4>>
      origins_;  // kernels whose results it was made of, at once or by 0-d arithmetic
  std::vector<Pair> pairs_;
};

// --- why ---

std::vector<Dim> longest_axes(const Kernel& kernel) {
  std::vector<Dim> out;
  for (const Stage& stage : kernel.stages) {
    if (std::vector<Dim> axes = axis_extents(kernel, stage); axes.size() > out.size()) out = std::move(axes);
  }
  return out;
}

/// Can it be said that they are? The same sizes in another order are equal to themselves alone.
bool may_be_equal(const std::vector<Dim>& a, const std::vector<Dim>& b) {
  const auto may_be = [](const Dim& x, const Dim& y) { return x == y || !x.is_constant() || !y.is_constant(); };
  return std::ranges::equal(a, b, may_be) && !std::ranges::is_permutation(a, b);
}

/// Of its longest stage.
int body_length(const Kernel& kernel) {
  int most = 0;
  for (const Stage& stage : kernel.stages) most = std::max(most, kernel::body_length(stage));
  return most;
}

class Explainer {
 public:
  Explainer(const KernelProgram& program, const kernel::BackendCaps& caps, fuse::Mode mode)
      : program_(program),
        caps_(caps),
        mode_(mode),
        rules_{transform::regions_of_one_buffer(program), transform::rows_and_columns(program, caps),
               transform::whole_arrays(program)},
        dependences_(program),
        names_(program) {}

  std::vector<Apart> run() const {
    std::vector<Apart> out;
    for (const Pair& pair : PairFinder(program_).run()) {
      out.push_back(explain(pair));
      out.back().help = help(out.back());
    }
    return out;
  }

 private:
  std::string_view help(const Apart& pair) const {
    const auto axes = [&](StepId step) { return longest_axes(*kernel_at(program_, step)); };
    if (pair.why == ApartFor::other_axes && !may_be_equal(axes(pair.first), axes(pair.second))) return "";
    if (pair.why == ApartFor::pass_off && mode_ == fuse::Mode::full) return "";  // it is so already
    return kRows[static_cast<std::size_t>(pair.why)].help;
  }

  Apart explain(const Pair& pair) const {
    Apart out{pair.first, pair.second, pair.shared, ApartFor::order, {}, {}};
    const auto because = [&](ApartFor why, std::string what = {}) {
      out.why = why;
      out.what = std::move(what);
      return out;
    };
    if (mode_ == fuse::Mode::none) return because(ApartFor::fusion_off);
    const StepId body = dependences_.body_of(pair.first), later_body = dependences_.body_of(pair.second);
    if (body != later_body) return because(ApartFor::body, step_name(later_body.valid() ? later_body : body));
    const std::optional<std::vector<StepId>> between = dependences_.between(pair.first, pair.second);
    std::vector<Kernel> scalars;
    for (StepId step : between.value_or(std::vector<StepId>())) {
      const auto* kernel = std::get_if<Kernel>(&program_.steps[step.index]);
      if (!kernel || !kernel->is_scalar()) return because(ApartFor::between, step_name(step));
      scalars.push_back(*kernel);
    }
    const Kernel &first = *kernel_at(program_, pair.first), &second = *kernel_at(program_, pair.second);
    const Refusal refusal = pair.waits ? ask_rules(first, scalars, second) : Refusal();
    if (refusal.why == ApartFor::pass_off || refusal.why == ApartFor::moves_more) {
      if (!between) return because(ApartFor::between, "one of too many steps to look through");
      if (const StepId step = parted_by(pair); step.valid()) return because(ApartFor::parted, step_name(step));
    }
    if (refusal.why != ApartFor::order) return because(refusal.why, what(pair, refusal));
    if (longest_axes(first) != longest_axes(second)) return because(ApartFor::other_axes, axes_text(first, second));
    const int length = body_length(first) + body_length(second);
    if (fuse::is_short_enough(length, caps_)) return out;
    return because(ApartFor::long_loop, str(length, " operations and stores, more than ", caps_.max_body_ops));
  }

  /// A step between them that nothing passes, whether they have to do with it or not.
  StepId parted_by(const Pair& pair) const {
    for (StepId step(pair.first.index + 1); step < pair.second; ++step.index) {
      if (!moves(program_.steps[step.index])) return step;
    }
    return {};
  }

  /// What the first rule that is about such kernels answers; or the one that would but for the number of loops.
  Refusal ask_rules(const Kernel& first, const std::vector<Kernel>& between, const Kernel& second) const {
    std::optional<Refusal> out;
    for (const transform::JoinRule& rule : rules_) {
      WhyNot why;
      if (would_join(program_, rule, first, between, second, why))
        return {.why = ApartFor::pass_off, .pass = rule.pass};
      // An estimate that nobody has made where no rows were shared.
      if (mode_ != fuse::Mode::full && why.refusal() && why.refusal()->why == ApartFor::moves_more)
        return {.why = ApartFor::pass_off, .pass = rule.pass};
      if (!out || (why.refusal() && why.refusal()->why == ApartFor::many_loops)) out = why.refusal();
    }
    return out.value_or(Refusal());
  }

  std::string what(const Pair& pair, const Refusal& refusal) const {
    switch (refusal.why) {
      case ApartFor::whole_start:
        return refusal.source.valid() ? str(name(refusal.buffer), " begins with ", name(refusal.source))
                                      : str(name(refusal.buffer), " begins anew");
      case ApartFor::other_axes: return axes_text(*kernel_at(program_, pair.first), *kernel_at(program_, pair.second));
      case ApartFor::short_rows:
      case ApartFor::many_loops: return str(refusal.length);
      case ApartFor::pass_off: return refusal.pass;
      default: break;
    }
    if (refusal.buffer.valid()) return name(refusal.buffer);
    return name(pair.number.valid() ? pair.number : pair.shared);
  }

  std::string step_name(StepId step) const { return kernel::step_name(program_, program_.steps[step.index]); }

  const std::string& name(BufferId b) const { return names_.buffers[b]; }

  std::string axes_text(const Kernel& first, const Kernel& second) const {
    const auto text = [&](const Kernel& kernel) {
      return str("[", join(longest_axes(kernel), ", ", [&](const Dim& dim) { return dim.to_text(names_.symbols); }),
                 "]");
    };
    return str(text(first), ", the other over ", text(second));
  }

  const KernelProgram& program_;
  const kernel::BackendCaps& caps_;
  const fuse::Mode mode_;
  const std::array<transform::JoinRule, 3> rules_;  // in the order in which their passes run
  const kernel::Dependences dependences_;
  const kernel::Names names_;
};

}  // namespace

std::string_view apart_for_name(ApartFor why) { return kRows[static_cast<std::size_t>(why)].name; }

std::string Apart::text() const {
  const auto& [name, sentence, help] = kRows[static_cast<std::size_t>(why)];
  const std::size_t gap = sentence.find("{}");
  if (gap == std::string_view::npos) return str(name, ": ", sentence);
  return str(name, ": ", sentence.substr(0, gap), what, sentence.substr(gap + 2));
}

std::vector<Apart> why_apart(const KernelProgram& program, const kernel::BackendCaps& caps, fuse::Mode mode) {
  return Explainer(program, caps, mode).run();
}

}  // namespace inlay::explain
