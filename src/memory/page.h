#pragma once
// A layout as a picture: one file of HTML that needs no network and no other file.
#include <cstdint>
#include <string>
#include <vector>

namespace inlay::memory {

/// One rectangle: bytes [offset, offset + bytes) at the times [begin, end).
struct PageBuffer {
  std::string name, type, storage, reason;  // all but the name may be empty
  int64_t bytes = 0, offset = 0;
  int64_t begin = 0, end = 0;
};

struct Page {
  std::string title;
  int64_t arena_bytes = 0, lower_bound_bytes = 0;
  std::vector<PageBuffer> buffers;
  std::vector<std::string> steps;  // step s reads at time 2s and writes at 2s + 1; empty: times are only numbers
};

/// The first time at which most bytes are in use; bytes that two buffers share count once.
struct Peak {
  int64_t time = 0, bytes = 0;
};
Peak peak_of(const Page& page);

/// Time across and bytes up; what the mouse is over is named below; the peak is marked, and what lives there is listed,
/// the largest first.
std::string page_html(const Page& page);

}  // namespace inlay::memory
