// From kernels to machine code: the table of contents.
//
//   kernel/nest.cpp    loops, levels: for both backends
//   stage_plan.cpp     lanes, unrolling, the order of points; no LLVM
//   nest_state.cpp     where the loops of a stage are, and what is known there
//   lanes.cpp          loads and stores of the points of a pass
//   emit_stage.cpp     the loops of a stage
//   emit_statement.cpp what stands at a point
//   emit_access.cpp    addresses, indices
//   emit_division.cpp  by what a loop does not change
//   sums.cpp           registers in which folds add up
//   emit_fold.cpp      folds in registers; emit_exponentials.cpp, emit_squares.cpp: those with a step of their own
//   emit_pass.cpp      the vectors of a loop
//   emit_turns.cpp     sums of floats: the order of a loop's points
//   emit_columns.cpp   folds of rows: likewise
//   emit_scatter.cpp   adding through an index
//   emit_scalar.cpp    one op
//   emit_math.cpp      exp, log, ... by eights or for each lane
//   emit_kernel.cpp    outer loops, starts
//   emit_steps.cpp     everything that is no kernel
//   emit_regions.cpp   loops and conds around steps
//   parts.cpp          several functions of what is much for one
//   cut_plan.cpp       which loops are cut into blocks, for threads; no LLVM
//   emit_blocks.cpp    a function for a block, and the call of all of them
//   frame.cpp, ends.cpp, control_flow.cpp, sizes.cpp, places.cpp, types.cpp: the function around them (function.h)
//   codegen.cpp        LLVM's passes over it
//   target.cpp         what LLVM needs, and the object file
#include "backend/llvm/emit.h"

#include <algorithm>

#include <llvm/IR/Verifier.h>

#include "backend/llvm/codegen.h"
#include "backend/llvm/cpu.h"
#include "backend/llvm/function.h"
#include "backend/llvm/parts.h"
#include "backend/llvm/steps.h"
#include "backend/llvm/target.h"
#include "kernel/sizes.h"
#include "kernel/stopping.h"
#include "memory/commit.h"
#include "support/error.h"
#include "support/overloaded.h"

namespace inlay::llvm_backend {
namespace {

using kernel::StepId;

/// Tells the clock, if there is one, that a step begins; the number of steps: that all are done.
void emit_step_mark(FunctionEmitter& f, std::size_t step) {
  if (!f.options.time_steps) return;
  llvm::FunctionType* type = llvm::FunctionType::get(f.b.getVoidTy(), {f.b.getInt64Ty()}, false);
  f.b.CreateCall(f.module.getOrInsertFunction("inlay_step_begins", type), {f.b.getInt64(step)});
}

void emit_step(FunctionEmitter& f, RegionEmitter& regions, StepId id) {
  const kernel::Step& step = f.program.steps[id.index];
  f.frame.begin_step();
  emit_step_mark(f, id.index);
  std::visit(Overloaded{
                 [&](const kernel::Kernel& kernel) { emit_kernel(f, kernel); },
                 [&](const kernel::LibraryCall& call) { emit_library_call(f, call); },
                 [&](const kernel::HostCall& call) { emit_host_call(f, call); },
                 [&](const kernel::Copy& copy) { emit_copy(f, copy); },
                 [&](const kernel::SizeCheck& check) { emit_size_check(f, check); },
                 [&](const kernel::BindSize& bind) { emit_bind_size(f, bind); },
                 [&](const kernel::LoopBegin& loop) { regions.begin_loop(id, loop); },
                 [&](const kernel::LoopEnd& loop) { regions.end_loop(loop); },
                 [&](const kernel::CondBegin& cond) { regions.begin_cond(id, cond); },
                 [&](const kernel::CondElse&) { regions.begin_else(); },
                 [&](const kernel::CondEnd&) { regions.end_cond(); },
             },
             step);
}

/// Segment 0 is there when the call begins.
void emit_segments_that_begin_at(OpenFunctions& functions, std::size_t step) {
  const auto& starts = functions.function().plan.sharing.segment_starts;
  for (std::size_t segment = 1; segment < starts.size(); ++segment) {
    if (starts[segment].index != step) continue;
    emit_segment_begin(functions.function(), static_cast<int>(segment));
    functions.begin_finding();
  }
}

void emit_function(const kernel::KernelProgram& program, const memory::MemoryPlan& plan, const EmitOptions& options,
                   Engine& engine, llvm::Module& module) {
  FunctionEmitter entry(program, plan, options, engine, module);
  OpenFunctions functions(entry);
  const std::vector<bool> writes = memory::may_have_written(program, plan.sharing);
  const std::vector<bool> looks = kernel::looks_before(program);
  const std::vector<std::vector<Dim>> to_test = kernel::sizes_to_test(program);
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    look_up(options);
    functions.begin_step(StepId(i));
    FunctionEmitter& f = functions.function();
    if (looks[i]) f.ends.checkpoint();
    if (writes[i]) f.ends.begin_writing();
    emit_segments_that_begin_at(functions, i);
    f.sizes.require_fit(to_test[i]);
    if (!symbols_bound_by(program.steps[i]).empty()) functions.begin_finding();
    emit_step(f, functions.regions(), StepId(i));
  }
  functions.end();
  emit_segments_that_begin_at(functions, program.steps.size());
  emit_step_mark(entry, program.steps.size());
  entry.frame.finish();
}

/// The code generator's own optimizations are superlinear in the size of a block: a giant body gets the quick way.
llvm::CodeGenOptLevel level_for(const kernel::KernelProgram& program) {
  constexpr std::size_t kGiantBody = 400;
  for (const kernel::Step& step : program.steps) {
    const auto* kernel = std::get_if<kernel::Kernel>(&step);
    if (!kernel) continue;
    for (const kernel::Stage& stage : kernel->stages) {
      if (stage.statements.size() > kGiantBody) return llvm::CodeGenOptLevel::None;
    }
  }
  return llvm::CodeGenOptLevel::Less;
}

std::string text_of(const llvm::Module& module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream, nullptr);
  return text;
}

}  // namespace

EmitResult emit_in_jit(const kernel::KernelProgram& program, const memory::MemoryPlan& plan,
                       const EmitOptions& options) {
  EngineLoan engine(options.cpu_features);
  std::unique_ptr<llvm::Module> module = engine->new_module(program.name);
  try {
    emit_function(program, plan, options, *engine, *module);
    EmitResult result;
    result.entry = "inlay_entry";
    result.target = str(architecture(), ", ", engine->facts().level, " (", engine->facts().cpu, ")");
    if (options.keep_ir) result.ir = text_of(*module);
    if (options.verify_ir) {
      std::string complaint;
      llvm::raw_string_ostream stream(complaint);
      INLAY_CHECK(!llvm::verifyModule(*module, &stream), "LLVM refuses what was emitted: ", complaint,
                  text_of(*module));
    }
    generate_code(std::move(engine), std::move(module), level_for(program), options, result);
    return result;
  } catch (const Interrupted&) {
    throw Error(ErrorCode::interrupted, {}, "compiling was interrupted");
  }
}

}  // namespace inlay::llvm_backend
