#include "kernel/steps.h"

#include <algorithm>
#include <cstdlib>
#include <limits>

namespace inlay::kernel {
namespace {

struct NameOf {
  const KernelProgram& program;

  std::string operator()(const Kernel& kernel) const { return kernel.name.empty() ? "scalar code" : "@" + kernel.name; }
  std::string operator()(const LibraryCall& call) const { return std::string(facts(call.op).name); }
  std::string operator()(const HostCall& call) const { return str("host call \"", call.name, "\""); }
  std::string operator()(const Copy&) const { return "a copy"; }
  std::string operator()(const SizeCheck&) const { return "a check of sizes"; }
  std::string operator()(const BindSize& bind) const { return "the size " + program.symbol_names()[bind.symbol]; }
  std::string operator()(const LoopBegin&) const { return "a loop"; }
  std::string operator()(const LoopEnd&) const { return "a loop"; }
  std::string operator()(const CondBegin&) const { return "a branch"; }
  std::string operator()(const CondElse&) const { return "a branch"; }
  std::string operator()(const CondEnd&) const { return "a branch"; }
};

// A size up to this is never too large: LAPACK's work sizes have 32 bits too, and are up to 68 times a size.
constexpr int64_t kNeverTooLarge = std::numeric_limits<int32_t>::max() / 128;

}  // namespace

std::vector<const SizeCheck*> entry_checks(const KernelProgram& program) {
  std::vector<const SizeCheck*> out;
  for (const Step& step : program.steps) {
    const auto* check = std::get_if<SizeCheck>(&step);
    if (!check) break;
    out.push_back(check);
  }
  return out;
}

std::string step_name(const KernelProgram& program, const Step& step) { return std::visit(NameOf{program}, step); }

bool can_fail(const Stage& stage) { return std::ranges::any_of(stage.statements, &Statement::can_fail); }

/// Functions of BLAS and LAPACK refuse sizes and strides beyond 32 bits; many do nothing else.
bool can_fail(const LibraryCall& call) {
  if (call.sites.size() != static_cast<std::size_t>(LibraryStatus::too_large)) return !call.sites.empty();
  const auto may_be_large = [](const Dim& size) {
    return !size.is_constant() || std::abs(size.constant()) > kNeverTooLarge;
  };
  bool out = std::ranges::any_of(call.sizes, may_be_large);
  for_each_array(call, [&](const CallArray& array, const CoreAxes&) {
    out = out || std::ranges::any_of(array.strides, may_be_large);
  });
  return out;
}

/// Binding a size may also allocate memory.
bool can_fail(const Step& step) {
  if (const auto* kernel = std::get_if<Kernel>(&step)) return any_statement(*kernel, &Statement::can_fail);
  if (const auto* call = std::get_if<LibraryCall>(&step)) return can_fail(*call);
  return std::holds_alternative<HostCall>(step) || std::holds_alternative<SizeCheck>(step) ||
         std::holds_alternative<BindSize>(step);
}

const Start* start_of(const KernelProgram& program, const Kernel& kernel, BufferId root) {
  const auto found = std::ranges::find_if(kernel.outputs, [&](const KernelOutput& output) {
    return output.start.kind != Start::Kind::keep && root_of(program, output.buffer) == root;
  });
  return found == kernel.outputs.end() ? nullptr : &found->start;
}

}  // namespace inlay::kernel
