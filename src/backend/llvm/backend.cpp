#include "backend/llvm/backend.h"

#include <algorithm>

#include "backend/llvm/jit.h"
#include "backend/llvm/jit_library.h"
#if INLAY_HAS_LLVM
#include "backend/llvm/math/vector_code.h"
#endif
#include "ops/vector_functions.h"
#include "support/error.h"

namespace inlay::llvm_backend {
namespace {

using kernel::Support;

/// How several lanes of an op are computed: by instructions, by the vector math, or by a call for each.
enum class Form : uint8_t { instructions, vector_math, calls };

Form form_of(ScalarOp op, DType dtype) {
  // Of complex numbers what is a formula of the parts.
  const bool is_function_of_parts = op == ScalarOp::sign_ || op == ScalarOp::abs_;
  if (is_complex(dtype))
    return facts(op).cost <= kCostOfDivision && !is_function_of_parts ? Form::instructions : Form::calls;
  if (facts(op).cost <= kCostOfRoot) return Form::instructions;
  return has_vector_form(op, dtype) ? Form::vector_math : Form::calls;
}

Support support(ScalarOp op, DType dtype) {
  return form_of(op, dtype) == Form::calls ? Support::per_lane : Support::vector;
}

}  // namespace

const kernel::BackendCaps& caps() {
  static const kernel::BackendCaps caps = {.support = support, .blocks = kBlocks};
  return caps;
}

bool has_code_generator() { return INLAY_HAS_LLVM; }

std::string jit_path() { return has_code_generator() ? path_of_jit() : ""; }

std::string_view llvm_version() { return INLAY_LLVM_VERSION; }

void* find_vector_function([[maybe_unused]] std::string_view name) {
#if INLAY_HAS_LLVM
  for (const InlayVectorCode* code : INLAY_VECTOR_CODES) {
    for (; code->name != nullptr; ++code) {
      if (name == code->name) return code->address;
    }
  }
#endif
  return nullptr;
}

EmitResult emit(const kernel::KernelProgram& program, const memory::MemoryPlan& plan, const EmitOptions& options) {
  EmitResult result;
  JitFailure failure;
  if (jit()(kJitBuild, &program, &plan, &options, &result, &failure) == 0) return result;
  Error error(failure.code, {}, failure.message);
  if (failure.help.empty()) throw error;
  throw std::move(error).help(failure.help);
}

}  // namespace inlay::llvm_backend
