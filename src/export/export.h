#pragma once
// A program as files that a C compiler, or a linker, takes: what inlay export, inlay.export and inlay/export.h write.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/options.h"
#include "inlay/export.h"
#include "ir/text.h"
#include "ops/dtype.h"

namespace inlay {

/// Throws Error(unknown-name).
ExportKind export_kind_named(std::string_view name);

/// The array of a bound parameter, row-major.
struct BoundArray {
  std::string name;
  DType dtype = DType::f64;
  std::vector<int64_t> dims;
  const void* elements = nullptr;
};

struct ExportRequest {
  std::string name;  // of the function, and what all other names begin with
  ExportKind kind = ExportKind::c;
  FixedSizes sizes;
  std::vector<BoundArray> bound;  // one for each bound parameter; they fix sizes, too
  bool freestanding = false;      // the C needs no header of a hosted C
  bool blas = false;              // products and systems call the caller's BLAS and LAPACK
  std::string section;            // where tables lie; empty: where the compiler puts them
  Options options;
};

/// The header and the code of a graph's text. Throws Error: unsupported where the result would not link with libm
/// alone, or there is no C compiler; unknown-name, shape-mismatch, wrong-dtype and false-fact for sizes and arrays that
/// are none of the program's; and what reading and compiling throw.
Exported exported(std::string_view text, std::string_view file_name, const ExportRequest& request);

/// Programs, and C code that calls them, as one shared library.
struct LibraryRequest {
  struct Part {
    std::string text;       // of a graph
    std::string file_name;  // as errors call it
    std::string name;       // of its functions in C, declared in NAME.h
    std::vector<BoundArray> bound;
  };
  std::vector<Part> parts;
  std::vector<ExportedFile> code;  // .c and .h
  Options options;
};

/// Its bytes. Only functions of `code` that ask for it (default visibility) can be seen from outside, and arrays of the
/// parts that are equal lie in it once. Throws as `exported` does, and Error(unsupported) for a part whose sizes are
/// not all fixed.
std::string exported_library(const LibraryRequest& request);

/// Why a function cannot have this name; empty: it can.
std::string wrong_export_name(const std::string& name);

}  // namespace inlay
