// libFuzzer's door to one reader: INLAY_READER is its name in kReaders.
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "readers.h"

namespace {

// Of the processor: a busy machine makes no hang. Sanitizers make it some ten times slower than it is.
constexpr double kMostSeconds = 1;

std::string complaint_about(const inlay::fuzz::Reader& reader, std::string_view bytes) {
  const std::clock_t begin = std::clock();
  std::string complaint = reader.attempt(bytes);
  const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  if (complaint.empty() && seconds > kMostSeconds) complaint = "it took " + std::to_string(seconds) + " s";
  return complaint;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view wanted = INLAY_READER;
  for (const inlay::fuzz::Reader& reader : inlay::fuzz::kReaders) {
    if (reader.name != wanted) continue;
    const std::string complaint = complaint_about(reader, {reinterpret_cast<const char*>(data), size});
    if (complaint.empty()) continue;
    std::fprintf(stderr, "%s\n", complaint.c_str());
    std::abort();
  }
  return 0;
}
