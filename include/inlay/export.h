#pragma once
// Writes a graph as C99, an object or a shared library, each with a header, for programs that know nothing of inlay.
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "inlay/buffer.h"
#include "inlay/compile.h"
#include "inlay/graph.h"

namespace inlay {

/// What is written beside the header: NAME.c, NAME.o or libNAME.so. The last two are what the system's C compiler (CC,
/// else cc) makes of the first.
enum class ExportKind : uint8_t { c, object, shared };

struct ExportOptions {
  std::string name;  // of the function in C, and what all that a linker sees begins with; empty: that of the graph
  ExportKind kind = ExportKind::c;
  std::map<std::string, int64_t> sizes;   // by name: what every call has
  std::map<std::string, ArrayRef> bound;  // for each bound parameter, by name, its array, which then lies in the code;
                                          // it fixes sizes, too
  bool freestanding = false;  // the C includes no header of a hosted C, and has no use for one: docs/file.md
  bool blas = false;          // products and systems call a BLAS and a LAPACK, which whoever links the code brings
  CompileOptions compile;     // of these, backend and host_functions say nothing here
};

struct ExportedFile {
  std::string name;  // softmax.h, softmax.c, softmax.o, libsoftmax.so
  std::string bytes;
};

struct Exported {
  ExportedFile header, code;

  /// Writes both into a folder, which is made where it is not there. A file that stood there is replaced once the new
  /// one is complete. Throws Error(invalid-file).
  void save(const std::filesystem::path& folder) const;
};

/// The header and the code of a graph. Throws Error: unsupported where the code would not link with libm alone, and
/// with BLAS where that is asked for (it calls eigvals, a host function, ...), or there is no C compiler;
/// wrong-argument-count where a bound parameter has no array; unknown-name, shape-mismatch, wrong-dtype, negative-size
/// and false-fact for names, sizes and arrays that do not fit the program; and what compiling throws.
Exported exported(const Graph& graph, const ExportOptions& options = {});

}  // namespace inlay
