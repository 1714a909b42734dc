#pragma once
// Machine code from kernels, through LLVM, without LLVM in the caller.
//
// LLVM is 26 MB of library that takes milliseconds to map, and two copies of it in one process (ours and Numba's, say)
// must never see each other's symbols. So it lives in libinlay_jit.so, which exports one C function and is loaded at
// the first `emit`; this header needs none of it.
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/caps.h"
#include "kernel/kernel.h"
#include "memory/plan.h"

namespace inlay::llvm_backend {

/// What this backend computes in vectors: on every CPU the same, whose vectors are longer or shorter.
const kernel::BackendCaps& caps();

/// "19.1.7": of what emits; "" in a build without LLVM.
std::string_view llvm_version();

/// Where libinlay_jit.so lies, which `emit` loads; "" where there is none. Loads nothing.
std::string jit_path();

/// False in a build without LLVM: then `emit` throws, and all the rest of inlay works.
bool has_code_generator();

/// A block has at least some 15 us of work, since waking a thread takes some 5. Tests have less.
constexpr kernel::BlockRule kBlocks = {.cost = 150'000, .for_threads = false};

enum class LanePrivate : uint8_t { off, when_small };

struct EmitOptions {
  /// Empty: what this CPU has (less what the environment's INLAY_CPU_FEATURES takes away). Otherwise LLVM's feature
  /// list, laid over the CPU's: "-avx512f" is a machine without AVX-512.
  std::string cpu_features;
  /// A scatter that accumulates into a small table does so in one copy of the table for each lane: neighbours that hit
  /// the same element then need not wait for each other. Off: for measurements.
  LanePrivate scatter = LanePrivate::when_small;
  /// Called where code generation may be left, holding no lock of LLVM's; false: leave it. Null: nobody wants to.
  bool (*checkpoint)() = nullptr;
  /// Around what a thread of the code generator's own does: no fork meanwhile, but where it calls `checkpoint`.
  void (*enter)() = nullptr;
  void (*leave)() = nullptr;
  /// LLVM instructions from which on a function gets no more: what follows are parts, functions of their own. With 500,
  /// 1000, 2000, 4000 and no bound 80 conds of two sums take 676, 619, 593, 716 and 1155 ms to compile, 133 softmaxes
  /// 680, 622, 666, 700 and 1461, 80 loops 467, 446, 474, 476 and 741. Most models are below 2000, and one function.
  std::size_t large_function = 2000;
  kernel::BlockRule blocks = kBlocks;
  bool time_steps = false;     // the code tells inlay_step_begins what it begins (runtime/step_times.h)
  bool keep_ir = false;        // fill EmitResult::ir
  bool keep_assembly = false;  // fill EmitResult::assembly
  bool verify_ir = false;      // let LLVM check what we made of it; for tests, it costs a tenth of the time
};

struct EmitResult {
  std::vector<std::byte> object;  // relocatable ELF for the architecture of this program
  std::string entry;              // of its function: int32_t entry(InlayCall*)
  std::vector<std::string>
      external_names;        // what a loader must supply: math functions, library functions, memset, memcpy
  std::string target;        // architecture, the CPU's level and its name: "x86-64, avx2 (znver3)"
  std::string ir, assembly;  // when asked for
};

/// Throws Error(unsupported) for what no machine code exists for, and where libinlay_jit.so cannot be loaded.
EmitResult emit(const kernel::KernelProgram& program, const memory::MemoryPlan& plan, const EmitOptions& options = {});

/// Where code lies that `emit` has called by an external name: a vector function. Null: it is none.
void* find_vector_function(std::string_view name);

}  // namespace inlay::llvm_backend
