# cmake -DOUTPUT=... -DFILES=A;B -DBUILD=... -P hash_files.cmake: writes kJitBuild, a number that differs where the contents
# of the files or the words of BUILD do.
set(all "${BUILD}")
foreach(file ${FILES})
  file(SHA256 "${file}" hash)
  string(APPEND all " ${hash}")
endforeach()
string(SHA256 hash "${all}")
string(SUBSTRING "${hash}" 0 16 hash)
file(WRITE "${OUTPUT}" "#pragma once
#include <cstdint>

namespace inlay::llvm_backend {
inline constexpr uint64_t kJitBuild = 0x${hash};
}  // namespace inlay::llvm_backend
")
