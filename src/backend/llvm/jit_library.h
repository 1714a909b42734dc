#pragma once
// Where libinlay_jit.so lies, and what it exports.
#include <string>

#include "backend/llvm/jit.h"

namespace inlay::llvm_backend {

/// Loads the library when it is first called. Throws: it was not found, or is damaged.
JitEmit jit();

/// Where it has been loaded from. Before that, without loading it, where it would be: a path, or its name alone where
/// only the loader can tell.
std::string path_of_jit();

}  // namespace inlay::llvm_backend
