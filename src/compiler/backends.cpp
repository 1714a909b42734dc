#include "compiler/backends.h"

#include "backend/c/backend.h"
#include "backend/llvm/backend.h"
#include "backend/llvm/cpu.h"
#include "compiler/external_names.h"
#include "support/cpu_features.h"
#include "support/error.h"
#include "support/fork_gate.h"
#include "support/stop.h"

namespace inlay {
namespace {

Emitted emit_llvm(const kernel::KernelProgram& program, const memory::MemoryPlan& plan, const Options& options,
                  KeepTexts keep) {
  llvm_backend::EmitOptions emit;
  emit.checkpoint = [] {
    ForkGate::let_through();
    return !asked_to_stop();
  };
  emit.enter = ForkGate::enter;
  emit.leave = ForkGate::leave;
  emit.cpu_features = options.cpu_features;
  emit.keep_ir = emit.keep_assembly = keep == KeepTexts::yes;
  emit.verify_ir = options.verify;
  emit.time_steps = options.time_steps;
  emit.blocks = blocks_of(options, emit.blocks);
  llvm_backend::EmitResult made = llvm_backend::emit(program, plan, emit);
  return {std::move(made.object),
          std::move(made.entry),
          std::move(made.target),
          llvm_backend::needs_of(llvm_backend::chosen_features(options.cpu_features)),
          {{"ll", std::move(made.ir)}, {"s", std::move(made.assembly)}}};
}

Emitted emit_c(const kernel::KernelProgram& program, const memory::MemoryPlan& plan, const Options& options,
               KeepTexts) {
  require_choice_of_cpu(options);
  c_backend::EmitResult made = c_backend::emit(program, plan);
  return {std::move(made.object),
          std::move(made.entry),
          "what the C compiler takes the CPU for",
          cpu_features(),  // with -march=native it may use them all
          {{"c", std::move(made.source)}}};
}

/// Searches the C library first: find_external knows the plain name as an op's function, which may have other operands.
void* find_for_c(std::string_view name) {
  void* const found = c_backend::find_standard_function(name);
  return found ? found : find_external(name);
}

/// Those of the CPU but what INLAY_CPU_FEATURES takes away.
std::vector<std::string> sets_for_llvm() { return llvm_backend::needs_of(llvm_backend::features_from_environment()); }

std::vector<std::string> sets_for_c() { return cpu_features(); }

constexpr Backend kBackends[] = {
    {.name = "llvm",
     .caps = llvm_backend::caps,
     .is_available = llvm_backend::has_code_generator,
     .emit = emit_llvm,
     .find_external = find_external,
     .has_clocks = true,
     .instruction_sets = sets_for_llvm},
    {.name = "c",
     .caps = c_backend::caps,
     .is_available = c_backend::has_compiler,
     .emit = emit_c,
     .find_external = find_for_c,
     .chooses_cpu = "the C compiler",
     .cpu_help = "INLAY_CFLAGS has more flags for it",
     .instruction_sets = sets_for_c},
};

}  // namespace

std::span<const Backend> backends() { return kBackends; }

const Backend& backend_named(std::string_view name) {
  for (const Backend& backend : kBackends) {
    if (backend.name == name) return backend;
  }
  throw Error(ErrorCode::unknown_name, {}, str("there is no backend `", name, "`"))
      .help(str("the backends are ", join(backends(), " and ", [](const Backend& b) { return b.name; })));
}

kernel::BlockRule blocks_of(const Options& options, kernel::BlockRule rule) {
  if (options.smallest_blocks) rule.cost = 1, rule.table_bytes = 64;
  rule.for_threads = options.threads > 1;
  return rule;
}

const Backend& backend_of(const Options& options) {
  if (!options.backend.empty()) return backend_named(options.backend);
  for (const Backend& backend : kBackends) {
    if (backend.is_available()) return backend;
  }
  return kBackends[0];
}

void require_choice_of_cpu(const Options& options) {
  const Backend* backend = options.cpu_features.empty() ? nullptr : &backend_of(options);
  if (!backend || backend->chooses_cpu.empty()) return;
  throw Error(ErrorCode::unsupported, {},
              str("cpu=", options.cpu_features, ": ", backend->chooses_cpu, " chooses its CPU"))
      .help(std::string(backend->cpu_help));
}

}  // namespace inlay
