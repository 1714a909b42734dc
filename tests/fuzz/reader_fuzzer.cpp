// libFuzzer's door to one reader: INLAY_READER is graph, kernels or npy.
#include <cstdio>
#include <cstdlib>

#include "readers.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view wanted = INLAY_READER;
  for (const inlay::fuzz::Reader& reader : inlay::fuzz::kReaders) {
    if (reader.name != wanted) continue;
    const std::string complaint = reader.attempt({reinterpret_cast<const char*>(data), size});
    if (complaint.empty()) continue;
    std::fprintf(stderr, "%s\n", complaint.c_str());
    std::abort();
  }
  return 0;
}
