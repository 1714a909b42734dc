#include "compiler/passes.h"

#include <algorithm>
#include <utility>

#include "ir/nearest.h"
#include "memory/checks_first.h"
#include "memory/sharing.h"
#include "memory/step_order.h"
#include "rewrite/common_values.h"
#include "rewrite/dead_values.h"
#include "rewrite/detach_asserts.h"
#include "rewrite/equal_sizes.h"
#include "rewrite/find_folds.h"
#include "rewrite/identity_parts.h"
#include "rewrite/light_loops.h"
#include "rewrite/rules.h"
#include "rewrite/running_prefix.h"
#include "rewrite/short_matmul.h"
#include "rewrite/simplify.h"
#include "rewrite/single_precision.h"
#include "transform/choose_locals.h"
#include "transform/drop_dead_buffers.h"
#include "transform/hoist_numbers.h"
#include "transform/join_regions.h"
#include "transform/join_whole_arrays.h"
#include "transform/lay_temporaries.h"
#include "transform/lend_workspaces.h"
#include "transform/name_kernels.h"
#include "transform/order_axes.h"
#include "transform/place_results.h"
#include "transform/reuse_rows.h"
#include "transform/share_rows.h"
#include "transform/version_stretched.h"

namespace inlay {
namespace {

using kernel::KernelProgram;

constexpr GraphPass kGraphPasses[] = {
    {"common-values", "one value for equal expressions", anew<rewrite::share_common_values>},
    {"simplify", "one spelling for one meaning; fold, cancel, stabilize", anew<rewrite::simplify>},
    {"short-matmul", "a dot with a short static side is a product and a sum, and so are the two of a regression",
     anew<rewrite::expand_short_matmul>},
    {"light-loops", "what no step of a loop has to do leaves its body", anew<rewrite::lighten_loops>},
    {"common-values-again", "what rules have made, and what loops have in common", anew<rewrite::share_common_values>},
    {"dead-values", "drop what nothing needs", anew<rewrite::drop_dead_values>},
    {"single-precision", "f64 that is rounded to f32 in the end is f32 (--single-precision)",
     rewrite::use_single_precision, PassIn::single_precision},
    {"equal-sizes", "one symbol for sizes that a check finds equal", rewrite::unify_equal_sizes},
    {"detach-asserts", "who reads an asserted value reads the value", rewrite::detach_asserts},
    {"identity-parts", "a reduce leaves out what changes nothing", rewrite::drop_identity_parts},
    {"running-prefix", "a running fold ends where its readers do", rewrite::shorten_running_folds},
    {"find-folds", "several reductions that one loop makes: argmax, log-sum-exp, moments", rewrite::find_folds,
     PassIn::full_fusion},
};

/// Makes a LoopPass of a pass that needs only the context of all passes.
template <KernelProgram (*pass)(KernelProgram, transform::LoopPassContext&)>
KernelProgram plain(KernelProgram program, LoopPass::Context& context) {
  return pass(std::move(program), context);
}

std::size_t num_stages(const KernelProgram& program) {
  std::size_t out = 0;
  for (const kernel::Step& step : program.steps) {
    if (const auto* kernel = std::get_if<kernel::Kernel>(&step)) out += kernel->stages.size();
  }
  return out;
}

KernelProgram hand_on(memory::SharedProgram shared, LoopPass::Context& context) {
  context.sharing = std::move(shared.sharing);
  return std::move(shared.program);
}

KernelProgram check_first(KernelProgram program, LoopPass::Context& context) {
  if (std::ranges::none_of(program.buffers, &kernel::Buffer::donated) || !context.allows()) return program;
  const std::size_t before = num_stages(program);
  program = hand_on(memory::check_first(shared(std::move(program), context.sharing, context.options)), context);
  if (num_stages(program) != before) context.fired();  // checks that go first are a stage
  return program;
}

KernelProgram order_steps(KernelProgram program, LoopPass::Context& context) {
  if (!context.allows()) return program;
  auto ordered =
      memory::order_steps(shared(std::move(program), context.sharing, context.options), context.options.order);
  if (!ordered.gain.empty()) context.fired();
  context.order_gain = std::move(ordered.gain);
  return hand_on(std::move(ordered.shared), context);
}

constexpr auto kFull = PassIn::full_fusion;
constexpr auto kAll = PassIn::all_modes;
constexpr auto kWhole = LoopPass::Of::whole;
constexpr bool kNeeded = true;

constexpr LoopPass kLoopPasses[] = {
    {"place-results", "a library function writes where its result belongs", plain<transform::place_results>, kFull},
    {"drop-dead-buffers", "what nothing loads is not stored", plain<transform::drop_dead_buffers>},
    {"lay-temporaries", "what a loop makes lies as what it reads", plain<transform::lay_temporaries>, kFull},
    {"order-axes", "loops go as their arrays lie in memory", plain<transform::order_axes>},
    {"share-rows", "kernels that follow each other row by row are one", plain<transform::share_rows>, kFull},
    {"join-regions", "loops over regions of one buffer are one kernel", plain<transform::join_regions>, kFull},
    {"join-whole-arrays", "what goes on with a fold joins it", plain<transform::join_whole_arrays>, kFull},
    {"hoist-numbers", "what is expensive is made in vectors over rows", plain<transform::hoist_numbers>, kFull},
    {"choose-locals", "what each outer point has for itself stays in the cache", plain<transform::choose_locals>,
     kFull},
    {"reuse-rows", "a row that two stages need is computed once", plain<transform::reuse_rows>, kFull},
    {"version-stretched", "a loop for arrays of length 1, and one for others", plain<transform::version_stretched>,
     kAll, kWhole},
    // By the costs of the loops: what comes after it makes none more expensive.
    {"lend-workspaces", "blocks of a loop that add through an index have tables of their own",
     plain<transform::lend_workspaces>, kAll, kWhole},
    {"name-kernels", "k0, k1, ...", plain<transform::name_kernels>, kAll, LoopPass::Of::bodies_too, kNeeded},
    // These decide the sharing and pass it on to the plan: nothing changes the program after them.
    {"checks-first", "indices are checked before what they guard is written", check_first, kAll, kWhole},
    {"order-steps", "steps go in the order that needs the least memory", order_steps, kAll, kWhole},
};

void require_one_of(const std::vector<std::string>& names, std::string_view name, const char* what) {
  if (std::ranges::find(names, name) != names.end()) return;
  Error error(ErrorCode::unknown_name, {}, str("there is no ", what, " ", name));
  if (const auto near = text::nearest(name, names)) throw std::move(error).help(str("did you mean ", *near, "?"));
  throw error;
}

}  // namespace

memory::SharedProgram shared(KernelProgram program, std::optional<memory::Sharing>& sharing, const Options& options) {
  if (!sharing) return memory::share(std::move(program), options.may_share);
  return {std::move(program), *std::exchange(sharing, std::nullopt), options.may_share};
}

std::span<const GraphPass> graph_passes() { return kGraphPasses; }
std::span<const LoopPass> loop_passes() { return kLoopPasses; }

void require_pass(std::string_view name) {
  std::vector<std::string> names = {"fuse"};
  for (const GraphPass& pass : kGraphPasses) names.emplace_back(pass.name);
  for (const LoopPass& pass : kLoopPasses) names.emplace_back(pass.name);
  require_one_of(names, name, "pass");
}

void require_rewrite(const std::string& name) {
  std::vector<std::string> names;
  const auto is_it = [&](const LoopPass& pass) { return pass.is_needed && pass.name == name; };
  if (name == "fuse" || std::ranges::any_of(kLoopPasses, is_it)) {
    throw Error(ErrorCode::unsupported, {},
                str("the pass ", name, " cannot be left out: what comes after it needs it"));
  }
  for (const rewrite::RuleInfo& rule : rewrite::all_rules()) names.emplace_back(rule.name);
  for (const GraphPass& pass : kGraphPasses) names.emplace_back(pass.name);
  for (const LoopPass& pass : kLoopPasses) {
    if (!pass.is_needed) names.emplace_back(pass.name);
  }
  require_one_of(names, name, "rewrite rule or pass");
}

}  // namespace inlay
