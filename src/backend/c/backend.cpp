#include "backend/c/backend.h"

#include "backend/c/emit.h"
#include "backend/c/scalar.h"
#include "backend/c/system_compiler.h"

namespace inlay::c_backend {
namespace {

/// C compilers make vectors of what is arithmetic; a function is called for each element.
kernel::Support support(ScalarOp op, DType dtype) {
  if (op == ScalarOp::select_) return kernel::Support::vector;
  if (!accepts(op, dtype)) return kernel::Support::none;
  constexpr int kArithmetic = 5;  // up to the square root
  return facts(op).cost <= kArithmetic ? kernel::Support::vector : kernel::Support::per_lane;
}

}  // namespace

const kernel::BackendCaps& caps() {
  static const kernel::BackendCaps caps = {.support = support, .squares_in_one_pass = false};
  return caps;
}

bool is_called(ScalarOp op, DType dtype) { return origin_of(op, dtype) == Origin::called; }

EmitResult emit(const kernel::KernelProgram& program, const memory::MemoryPlan& plan) {
  EmitResult result;
  result.source = source_of(program, plan);
  result.object = object_of(result.source);
  result.entry = kEntry;
  return result;
}

}  // namespace inlay::c_backend
