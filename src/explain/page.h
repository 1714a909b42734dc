#pragma once
// A layout as a picture: one file of HTML that needs no network and no other file, and is as readable on paper.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace inlay::explain {

/// One box: bytes [offset, offset + bytes) at the times [begin, end). Boxes of one storage are one band: what takes
/// over the bytes of another stands behind it, what lies in a part of it within it.
struct PageBuffer {
  std::string name, type, storage, reason;  // all but the name may be empty
  std::string
      made_by;  // what its colour says: "kernel", "library call", "host call", "copy", "workspace"; may be empty
  int64_t bytes = 0, offset = 0;
  int64_t begin = 0, end = 0;
};

/// An argument or a result: a grey row, since it lies in the caller's memory.
struct PageRow {
  std::string name, type;
  std::optional<int64_t> bytes;  // none: it depends on a size that is not known
  bool is_result = false;
  int64_t begin = 0, end = 0;
};

/// Step s reads at time 2s and writes at 2s + 1.
struct PageStep {
  std::string name;                   // "@k0", "matmul"
  std::vector<std::string> computes;  // formulas; the first stands in the picture
  std::string lines;                  // of the user's source
  bool is_shown = true;               // has a column
};

/// What is said of the plan beside the picture, a line for each.
struct PageList {
  std::string heading;
  std::vector<std::string> lines;
};

struct Page {
  std::string title;
  int64_t arena_bytes = 0, lower_bound_bytes = 0;
  std::vector<PageBuffer> buffers;
  std::vector<PageRow> rows = {};
  std::vector<PageStep> steps = {};  // empty: times are only numbers
  std::vector<PageList> lists = {};
};

/// The first time at which most bytes are in use; bytes that two buffers share count once.
struct Peak {
  int64_t time = 0, bytes = 0;
};
Peak peak_of(const Page& page);

/// Time across, a column for each step that is shown, and bytes up, with their units; below it the rows, what the
/// colours mean, each step with what it computes, what lives at the peak, the largest first, and the lists.
std::string page_html(const Page& page);

}  // namespace inlay::explain
