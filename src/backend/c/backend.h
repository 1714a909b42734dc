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

/// The elements of a bound parameter, row-major.
struct BoundElements {
  int slot = -1;
  const void* elements = nullptr;
  int64_t count = 0;
  std::string table;  // where another file of the library has them, by this name; empty: they are written here
};

struct SourceOptions {
  std::string entry = kEntry;
  std::string declarations;        // instead of inlay/runtime.h: a header that has it too, or an #include of that
  std::vector<std::string> taken;  // names that `declarations` gives, and no other thing of the file has
  std::string layout;              // a function that lays out working memory (layout_prototype); empty: none
  bool supplies = false;      // what of inlay's functions has a C source (functions/supplied.c) is there, not declared
  bool freestanding = false;  // for machines without a C library: no header of its is included, and where
                              // counts_in_32_bits() indices have 32
  bool blas = false;          // products and systems call a BLAS and a LAPACK by Fortran's names
  std::string section;        // tables lie in this one of the object file; empty: where the compiler puts constants
  std::vector<BoundElements> bound;  // are tables of the file: call->params is not read for them
};

/// The function that tells a caller of working memory.
/// Of one segment: `int64_t NAME(const int64_t* sizes, int64_t* offsets)` sets InlayCall.offsets for InlayCall.symbols
/// and returns the bytes of the arena, or -1 where they do not fit in 64 bits.
/// Of several: `int64_t NAME(int32_t segment, const int64_t* sizes, int64_t* offsets)` does so for one of them, and
/// reads of the sizes those that are known where it begins. It returns -1 for what is no segment, too, and for sizes
/// beyond an upper bound of the plan; it sets nothing where offsets are constants.
std::string layout_prototype(const memory::MemoryPlan& plan, const std::string& name);

/// One C99 translation unit with `int32_t ENTRY(InlayCall*)`. It compiles without any header of inlay's, and links
/// alone where nothing is needed.
Source source_of(const kernel::KernelProgram& program, const memory::MemoryPlan& plan,
                 const SourceOptions& options = {});

/// include/inlay/runtime.h
std::string_view runtime_header();

/// What a caller's array of this dtype is in C: uint8_t for bool, bits for f16 and bf16, pairs for complex numbers.
std::string_view element_type(DType dtype);

/// What the system's C compiler makes of a source.
enum class Product : uint8_t {
  here,    // an object for the machine and the process at hand
  object,  // for every machine of this architecture
  shared,  // likewise a library, which has all but the C library
};

struct SourceFile {
  std::string name;  // gradient.c; each .c is compiled, and finds the others by #include "..."
  std::string text;
};

/// By $CC (which may have flags: "ccache gcc") or cc, with $INLAY_CFLAGS behind our own flags. In a folder of its own
/// below $TMPDIR that is removed again, whatever happens. Several sources make a shared library only. Throws as `emit`
/// does.
std::vector<std::byte> compiled(const std::vector<SourceFile>& files, Product product);
std::vector<std::byte> compiled(const std::string& source, Product product);

/// What the compiler makes, and how deep its calls go.
struct Measured {
  std::vector<std::byte> code;
  std::string calls;  // the graph of its calls, with the bytes that each function has on the stack, as gcc writes it;
                      // empty: the compiler tells none
};

/// As `compiled`.
Measured measured(const std::string& source, Product product);

/// Why the function of a source cannot have this name; empty: it can.
std::string wrong_entry_name(const std::string& name);

/// Why tables cannot lie in a section of this name; empty: they can.
std::string wrong_section_name(const std::string& name);

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
