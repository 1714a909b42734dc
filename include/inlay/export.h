#pragma once
// Writes a graph as C99, an object or a shared library, each with a header, for programs that know nothing of inlay.
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
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
  std::string section;        // bound arrays and constants lie in this one of the object file; empty: where the
                              // compiler puts constants
  CompileOptions compile;     // of these, backend and host_functions say nothing here
};

struct ExportedFile {
  std::string name;  // softmax.h, softmax.c, softmax.o, libsoftmax.so
  std::string bytes;
};

/// Bytes of memory that a machine needs for exported code. None: not known.
struct ExportedSizes {
  std::optional<int64_t> arena;  // of working memory; none where they depend on sizes that are not fixed
  // Of an object and a library, none of C: what is run, what is read (bound arrays, constants, texts of messages) and
  // what is written, which an object has nothing of.
  std::optional<int64_t> text, rodata, data;
  // Likewise the most that a call has on the stack, without what functions of libm and BLAS take: where the C compiler
  // tells it, as gcc does.
  std::optional<int64_t> stack;
};

struct Exported {
  ExportedFile header, code;
  ExportedSizes sizes;

  /// Writes both into a folder, which is made where it is not there. A file that stood there is replaced once the new
  /// one is complete. Throws Error(invalid-file).
  void save(const std::filesystem::path& folder) const;
};

/// The header and the code of a graph. Throws Error: unsupported where the code would not link with libm alone, and
/// with BLAS where that is asked for (it calls a host function, or has an opaque value), or there is no C compiler;
/// wrong-argument-count where a bound parameter has no array; unknown-name, shape-mismatch, wrong-dtype, negative-size
/// and false-fact for names, sizes and arrays that do not fit the program; and what compiling throws.
Exported exported(const Graph& graph, const ExportOptions& options = {});

}  // namespace inlay
