#include "onnx/window_lines.h"

#include <algorithm>

#include "ir/compose_pad.h"
#include "ir/compose_shape.h"

namespace inlay::onnx {
namespace {

/// Rows that fill no vector. Of longer ones there is little to gain, and the room around one image stays in the cache,
/// where lines are stored of all images.
constexpr int64_t kShortRow = 15;

/// Of windows by steps: place t of window i reads element i + shift of those that are `rest` behind a multiple of the
/// stride.
struct Step {
  int64_t rest = 0;
  Dim shift;
};

Step step_of(const WindowAxis& axis, int64_t place) {
  const Dim from = Dim(place * axis.dilation) - axis.before;
  if (axis.stride == 1) return {0, from};
  const Dim shift = floor_div(from, axis.stride);
  return {(from - shift * axis.stride).constant(), shift};
}

/// How many elements of the axis are `rest` behind a multiple of the stride.
Dim length_of(const WindowAxis& axis, int64_t rest) { return ceil_div(axis.size - rest, axis.stride); }

/// How far windows read before and behind their own element, at most.
struct Reach {
  Dim before = 0, behind = 0;
};

/// Of the windows that read elements `rest` behind a multiple of the stride.
Reach reach_of(const WindowAxis& axis, int64_t rest) {
  Reach out;
  for (int64_t place = 0; place < axis.kernel.constant(); ++place) {
    const Step step = step_of(axis, place);
    if (step.rest != rest) continue;
    out.before = max(out.before, Dim(0) - step.shift);
    out.behind = max(out.behind, step.shift);
  }
  return out;
}

}  // namespace

bool WindowLines::fit(const Windows& windows) {
  const auto is_known = [](const WindowAxis& axis) {
    return axis.size.is_constant() && axis.count.is_constant() && axis.before.is_constant();
  };
  if (windows.size() < 2 || !std::ranges::all_of(windows, is_known)) return false;
  const auto fills = [](const WindowAxis& axis) { return axis.count.constant() >= length_of(axis, 0).constant(); };
  return windows.back().count.constant() <= kShortRow && std::all_of(windows.begin() + 1, windows.end(), fills);
}

WindowLines::WindowLines(Call& c, ValueId x, const Windows& windows)
    : c_(c), x_(x), zero_(c.literal(c.type(x).dtype, 0)), windows_(windows), pitches_(windows.size(), Dim(1)) {
  for (std::size_t i = windows.size() - 1; i > 0; --i) pitches_[i - 1] = pitches_[i] * windows[i].count;
}

ValueId WindowLines::tap(const std::vector<int64_t>& place) {
  std::vector<int64_t> rests;
  std::vector<Dim> shifts;
  Dim first = 0;
  for (std::size_t i = 0; i < place.size(); ++i) {
    Step step = step_of(windows_[i], place[i]);
    first = first + step.shift * pitches_[i];
    rests.push_back(step.rest);
    shifts.push_back(std::move(step.shift));
  }
  const Line& line = line_of(rests);
  ValueId out = read(line.data, line.before + first);
  for (std::size_t i = 1; i < place.size(); ++i) {
    const Dim size = length_of(windows_[i], rests[i]);
    if (shifts[i].is(0) && size == windows_[i].count) continue;
    out = c_.scalar(ScalarOp::select_, {is_within(i, shifts[i], size), out, zero_});
  }
  return out;
}

const WindowLines::Line& WindowLines::line_of(const std::vector<int64_t>& rests) {
  const auto [entry, is_new] = lines_.try_emplace(rests);
  if (is_new) entry->second = make_line(rests);
  return entry->second;
}

/// Room is whole rows, also for what a tap reads beyond a row: so the line is an array with room around it, and what
/// makes x is written straight into it.
WindowLines::Line WindowLines::make_line(const std::vector<int64_t>& rests) {
  ValueId x = elements(rests);
  std::vector<Dim> dims = c_.type(x).dims;
  const std::size_t rows = dims.size() - windows_.size();
  std::vector<Dim> before(dims.size(), Dim(0)), behind = before;
  for (std::size_t i = 0; i < windows_.size(); ++i) {
    const Reach reach = reach_of(windows_[i], rests[i]);
    const Dim more = windows_[i].count - dims[rows + i];
    before[rows] = before[rows] + reach.before;
    behind[rows] = behind[rows] + (i == 0 ? max(reach.behind + more, 0) : reach.behind);
    if (i > 0) behind[rows + i] = more;
  }
  x = pad(c_.b, x, before, behind, PadMode::constant, zero_);
  dims.resize(rows + 1);
  dims[rows] = c_.type(x).dims[rows] * pitches_[0];
  return {c_.b.reshape(x, std::move(dims)), before[rows] * pitches_[0]};
}

/// Those of x that are so far behind multiples of the strides.
ValueId WindowLines::elements(const std::vector<int64_t>& rests) {
  if (std::ranges::all_of(windows_, [](const WindowAxis& axis) { return axis.stride == 1; })) return x_;
  const std::vector<Dim> dims = c_.type(x_).dims;
  std::vector<IndexItem> index;
  for (std::size_t i = 0; i < dims.size() - windows_.size(); ++i) index.push_back(IndexItem::range(0, dims[i]));
  for (std::size_t i = 0; i < windows_.size(); ++i) {
    const Dim length = length_of(windows_[i], rests[i]);
    std::vector<Dim> along(windows_.size(), Dim(1));
    along[i] = length;
    index.push_back(IndexItem::through(c_.b.reshape(counted(length, windows_[i].stride, rests[i]), std::move(along))));
  }
  return c_.b.gather(x_, std::move(index), c_.node.op);
}

/// first, first + step, ...: as many.
ValueId WindowLines::counted(const Dim& count, const Dim& step, const Dim& first) {
  ValueId out = c_.b.iota(count, DType::i64);
  if (!step.is(1)) out = c_.scalar(ScalarOp::mul_, {out, c_.b.size(step)});
  return first.is(0) ? out : c_.scalar(ScalarOp::add_, {out, c_.b.size(first)});
}

/// The elements of a line from `first` on, by the axes of the result.
ValueId WindowLines::read(ValueId line, const Dim& first) {
  ValueId places;
  for (std::size_t i = 0; i < windows_.size(); ++i) {
    std::vector<Dim> along(windows_.size(), Dim(1));
    along[i] = windows_[i].count;
    const ValueId steps = counted(windows_[i].count, pitches_[i], i == 0 ? first : Dim(0));
    const ValueId of_axis = c_.b.reshape(steps, std::move(along));
    places = places.valid() ? c_.scalar(ScalarOp::add_, {places, of_axis}) : of_axis;
  }
  std::vector<IndexItem> index = whole(c_.type(line).dims);
  index.back() = IndexItem::through(places);
  return c_.b.gather(line, std::move(index), c_.node.op);
}

/// Where element i + shift is one of the `size` along axis `axis`. It is read as a line, and so stored: computed at
/// each point, it would ask for the place along the axis, and the axes would be no one loop.
ValueId WindowLines::is_within(std::size_t axis, const Dim& shift, const Dim& size) {
  const ValueId places = counted(windows_[axis].count, 1, shift);
  const ValueId is_within = c_.scalar(ScalarOp::and_, {c_.scalar(ScalarOp::ge_, {places, c_.b.size(0)}),
                                                       c_.scalar(ScalarOp::lt_, {places, c_.b.size(size)})});
  const std::vector<Dim> counts = counts_of(windows_);
  std::vector<Dim> along(windows_.size(), Dim(1));
  along[axis] = windows_[axis].count;
  const ValueId of_all = c_.b.broadcast(c_.b.reshape(is_within, std::move(along)), counts);
  return read(c_.b.reshape(of_all, {product(counts)}), 0);
}

}  // namespace inlay::onnx
