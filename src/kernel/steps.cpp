#include "kernel/steps.h"

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

}  // namespace

std::string step_name(const KernelProgram& program, const Step& step) { return std::visit(NameOf{program}, step); }

}  // namespace inlay::kernel
