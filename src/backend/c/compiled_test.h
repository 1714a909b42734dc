#pragma once
// For tests: a KernelProgram of parameters and results, compiled by the system's compiler and run beside the evaluator.
#include "backend/c/backend.h"
#include "inlay/runtime.h"
#include "kernel/text.h"
#include "library/library.h"
#include "memory/plan.h"
#include "ops/scalar_functions.h"
#include "oracle/kernels/evaluate.h"
#include "runtime/load_elf.h"

namespace inlay::c_backend::testing {

using kernel::Array;
using kernel::KernelProgram;

inline void* resolve(std::string_view name) {
  if (void* found = find_standard_function(name)) return found;
  if (const ScalarFunction* function = find_scalar_function(name)) return const_cast<void*>(function->address);
  return reinterpret_cast<void*>(library::find_function(name));
}

/// One segment, no host calls: the programs of tests/programs have the rest.
class Compiled {
 public:
  explicit Compiled(std::string_view text)
      : planned_(memory::plan_memory(kernel::parse(text))), emitted_(emit(planned_.program, planned_.plan)) {
    code_ = runtime::load_elf(emitted_.object, resolve);
    entry_ = reinterpret_cast<InlayEntry>(code_.find(emitted_.entry));
  }

  const KernelProgram& program() const { return planned_.program; }
  const std::string& source() const { return emitted_.source; }

  kernel::Evaluation run(std::span<const Array> arrays) const {
    std::vector<const void*> params;
    for (const Array& array : arrays) params.push_back(array.bytes.data());
    std::vector<int64_t> symbols = kernel::bind_symbols(program(), arrays);
    kernel::Evaluation out;
    std::vector<void*> outputs;
    for (kernel::BufferId id : program().outputs) {
      const kernel::Buffer& buffer = program().buffers[id];
      Array& array = out.outputs.emplace_back(Array{buffer.dtype, {}, {}});
      for (const Dim& dim : buffer.dims) array.dims.push_back(dim.evaluate(symbols));
      array.bytes.resize(static_cast<std::size_t>(size_bytes(buffer).evaluate(symbols)));
      outputs.push_back(array.bytes.data());
    }
    const auto storages = memory::storages_of_segment(planned_.plan.sharing, 0, symbols);
    memory::Layout layout = memory::plan(memory::Planner::greedy, storages);
    std::vector<std::byte> arena(static_cast<std::size_t>(layout.arena_bytes) + 64);
    void* segments[] = {arena.data()};
    InlayCall call{};
    const int32_t stop[1] = {};
    call.params = params.data();
    call.outputs = outputs.data();
    call.symbols = symbols.data();
    call.segments = segments;
    call.offsets = layout.offset_bytes.data();
    call.stop = call.stop_while_writing = stop;
    call.interrupted = [](InlayCall*) { return int32_t{INLAY_INTERRUPTED}; };
    if (entry_(&call) == INLAY_FAILED_AT_SITE) {
      out.failure = kernel::Failure{kernel::SiteId(static_cast<std::size_t>(call.failure_site)),
                                    {call.failure_numbers, call.failure_numbers + 4}};
    }
    return out;
  }

 private:
  memory::PlannedProgram planned_;
  EmitResult emitted_;
  runtime::LoadedCode code_;
  InlayEntry entry_ = nullptr;
};

}  // namespace inlay::c_backend::testing
