#include "backend/llvm/jit.h"

#include "backend/llvm/emit.h"
#include "support/error.h"

extern "C" __attribute__((visibility("default"))) int inlay_jit_emit(uint64_t build,
                                                                     const inlay::kernel::KernelProgram* program,
                                                                     const inlay::memory::MemoryPlan* plan,
                                                                     const inlay::llvm_backend::EmitOptions* options,
                                                                     inlay::llvm_backend::EmitResult* result,
                                                                     inlay::llvm_backend::JitFailure* failure) {
  if (build != inlay::llvm_backend::kJitBuild) {
    failure->code = inlay::ErrorCode::unsupported;
    failure->message = "libinlay_jit.so belongs to another build of inlay";
    failure->help = "install inlay again; INLAY_JIT names the library that is loaded, where it is set";
    return 1;
  }
  try {
    *result = inlay::llvm_backend::emit_in_jit(*program, *plan, *options);
    return 0;
  } catch (const inlay::Error& error) {
    failure->code = error.code();
    failure->message = error.diagnostic().message;
    failure->help = error.diagnostic().help;
  } catch (const std::exception& error) {
    failure->message = error.what();
  }
  return 1;
}
