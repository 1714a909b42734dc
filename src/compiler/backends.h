#pragma once
// The backends, which turn kernels into machine code, in one table.
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/options.h"
#include "kernel/caps.h"
#include "kernel/kernel.h"
#include "memory/plan.h"

namespace inlay {

/// Machine code, and texts of how it was made for dumps, by file extension.
struct Emitted {
  std::vector<std::byte> object;  // relocatable ELF
  std::string entry;
  std::string target;              // the machine it is for: "x86-64, avx2 (znver3)"
  std::vector<std::string> needs;  // the instruction sets that it may use (support/cpu_features.h)
  std::vector<std::pair<std::string, std::string>> texts;
};

enum class KeepTexts : uint8_t { no, yes };

struct Backend {
  std::string_view name;
  const kernel::BackendCaps& (*caps)();
  bool (*is_available)();  // can `emit` work here?
  Emitted (*emit)(const kernel::KernelProgram& program, const memory::MemoryPlan& plan, const Options& options,
                  KeepTexts keep);
  void* (*find_external)(std::string_view name);  // the address of a function that its code calls; null: unknown
  bool has_clocks = false;                        // can its code report when a step begins (Options::time_steps)?
  std::string_view chooses_cpu;                   // who chooses the CPU for it; empty: Options::cpu_features
  std::string_view cpu_help;                      // then: how that is told
  /// The instruction sets that code may use in this process, where no options chose any.
  std::vector<std::string> (*instruction_sets)() = nullptr;
};

std::span<const Backend> backends();

/// Returns the backend of this name. Throws Error(unknown-name) with a list of all.
const Backend& backend_named(std::string_view name);

/// Returns the backend that was named (Options::backend, INLAY_BACKEND), else the first that is available here, else
/// the first.
const Backend& backend_of(const Options& options);

/// Throws Error(unsupported) where a CPU is chosen and the backend of these options is none that can choose one.
void require_choice_of_cpu(const Options& options);

/// Returns what these options make of a backend's rule for blocks.
kernel::BlockRule blocks_of(const Options& options, kernel::BlockRule rule);

}  // namespace inlay
