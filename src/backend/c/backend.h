#pragma once
// Readable C99 from kernels, and machine code from that by the system's compiler.
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/caps.h"
#include "kernel/kernel.h"
#include "memory/plan.h"

namespace inlay::c_backend {

/// What this backend computes. Nothing is refused: what C99 has not it calls (`is_called`).
const kernel::BackendCaps& caps();

/// Does code with this op call a function that inlay's libraries bring (inlay_s_j0)? All else compiles alone.
bool is_called(ScalarOp op, DType dtype);

/// Is there a C compiler: $CC, or cc where the environment names none?
bool has_compiler();

inline constexpr const char* kEntry = "inlay_entry";

/// A function that the source declares and does not define.
struct NeededFunction {
  std::string name;  // inlay_l_matmul_f32
  std::string what;  // the op, and the values that it makes where it makes whole arrays: matmul (scores)
};

struct Source {
  std::string text;
  std::vector<NeededFunction> needed;
};

/// One C99 translation unit with `int32_t ENTRY(InlayCall*)`. It compiles without any header of inlay's, and links
/// alone where nothing is needed.
Source source_of(const kernel::KernelProgram& program, const memory::MemoryPlan& plan,
                 const std::string& entry = kEntry);

/// Why the function of a source cannot have this name; empty: it can.
std::string wrong_entry_name(const std::string& name);

struct EmitResult {
  std::string source;
  std::vector<std::byte> object;  // relocatable ELF
  std::string entry;
};

/// Throws Error(unsupported) where there is no compiler, or it fails, Error(invalid-file) where no temporary file can
/// be written.
EmitResult emit(const kernel::KernelProgram& program, const memory::MemoryPlan& plan);

/// The address of a function of the C library that an object of `emit` calls; null where the name is another.
void* find_standard_function(std::string_view name);

}  // namespace inlay::c_backend
