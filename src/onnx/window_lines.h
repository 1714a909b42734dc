#pragma once
// What windows read at one of their places, as lines: of short rows, vectors are full and a loop begins once for an
// image, not for each of its rows.
#include <map>
#include <vector>

#include "onnx/windows.h"

namespace inlay::onnx {

/// The elements that windows step to stand in a line, rows as long as those of the result, with room before and behind
/// all of it and none between rows. So the axes of the result are one loop. A tap that leaves its row reads the next
/// one, and counts as 0. Windows that step by more than 1 have a line for each rest: elements 0, 2, 4 and 1, 3, 5.
class WindowLines {
 public:
  /// Are the sizes known, rows short, and those of the result at least as long as those of a line?
  static bool fit(const Windows& windows);

  /// x: [..., spatial].
  WindowLines(Call& c, ValueId x, const Windows& windows);

  /// What all windows read at one of their places, 0 beyond x: [..., counts].
  ValueId tap(const std::vector<int64_t>& place);

 private:
  struct Line {
    ValueId data;
    Dim before;  // elements before the first of x
  };
  const Line& line_of(const std::vector<int64_t>& rests);
  Line make_line(const std::vector<int64_t>& rests);
  ValueId elements(const std::vector<int64_t>& rests);
  ValueId counted(const Dim& count, const Dim& step, const Dim& first);
  ValueId read(ValueId line, const Dim& first);
  ValueId is_within(std::size_t axis, const Dim& shift, const Dim& size);

  Call& c_;
  ValueId x_, zero_;
  const Windows& windows_;
  std::vector<Dim> pitches_;  // of the axes of the result
  std::map<std::vector<int64_t>, Line> lines_;
};

}  // namespace inlay::onnx
