#include "onnx/windows.h"

#include <algorithm>

#include "ir/compose_shape.h"

namespace inlay::onnx {
namespace {

std::size_t first_axis(Call& c, ValueId x, const Windows& windows) { return c.type(x).dims.size() - windows.size(); }

ValueId multiple(Call& c, const Dim& length, int64_t factor) {
  const ValueId places = c.b.iota(length, DType::i64);
  if (factor == 1) return places;
  return c.scalar(ScalarOp::mul_, {places, c.b.literal(Literal::of_integer(DType::i64, factor))});
}

/// t * dilation + i * stride, with t along axis `kernel` and i along axis `window` of `rank`.
ValueId window_places(Call& c, const WindowAxis& axis, std::size_t kernel, std::size_t window, std::size_t rank) {
  const ValueId starts = along(c, multiple(c, axis.count, axis.stride), window, rank);
  const ValueId within = along(c, multiple(c, axis.kernel, axis.dilation), kernel, rank);
  return c.scalar(ScalarOp::add_, {within, starts});
}

void require_reach(Call& c, const WindowAxis& axis, const Dim& length, std::size_t place) {
  if (axis.reach().is(1)) return;  // of no places there are no windows
  c.b.require(
      axis.reach(), length,
      [&] { return str(c.node.op, ": a window reaches over {0} places of axis ", place, ", which has {1}"); },
      {{"operand", c.in(0)}}, ErrorCode::slice_out_of_range, DimCheck::Relation::at_most);
}

/// As many windows as the axis has steps, each begun one counts: the padding follows from it.
void pad_for_all(WindowAxis& axis, const AutoPad& how) {
  axis.count = ceil_div(axis.size, axis.stride);
  const Dim total = max((axis.count - 1) * axis.stride + axis.reach() - axis.size, 0);
  const Dim less = floor_div(total, 2);
  axis.before = how.more_before ? total - less : less;
  axis.after = axis.behind = total - axis.before;
}

void count_windows(WindowAxis& axis, bool rounds_up) {
  const Dim steps = axis.before + axis.size + axis.after - axis.reach();
  if (!rounds_up || axis.stride == 1) {
    axis.count = floor_div(steps, axis.stride) + 1;
    axis.behind = axis.after;
    return;
  }
  axis.count = min(ceil_div(steps, axis.stride) + 1, ceil_div(axis.before + axis.size, axis.stride));
  axis.behind = max(axis.after, (axis.count - 1) * axis.stride + axis.reach() - axis.size - axis.before);
}

bool have_room(const Windows& windows) {
  return std::ranges::any_of(windows, [](const WindowAxis& axis) { return !axis.before.is(0) || !axis.behind.is(0); });
}

}  // namespace

std::vector<int64_t> numbers_of_axes(Call& c, std::string_view name, std::size_t count, int64_t otherwise) {
  const auto given = c.integers(name);
  if (!given || given->empty()) return std::vector<int64_t>(count, otherwise);
  if (given->size() != count) throw c.wrong(str("`", name, "` has ", given->size(), " numbers, and not ", count));
  return *given;
}

AutoPad auto_pad(Call& c) {
  const std::string word = c.word("auto_pad", "NOTSET");
  if (word == "NOTSET" || word.empty()) return {};
  if (word == "VALID") return {.is_same = false, .is_valid = true, .more_before = false};
  if (word == "SAME_UPPER" || word == "SAME_LOWER") {
    return {.is_same = true, .is_valid = false, .more_before = word == "SAME_LOWER"};
  }
  throw c.wrong(str("`", word, "` is no auto_pad"));
}

Windows windows_of(Call& c, const std::vector<Dim>& dims, const std::vector<Dim>& kernel, bool rounds_up) {
  const std::size_t rank = dims.size();
  if (kernel.size() != rank) throw c.wrong(str("a kernel of ", kernel.size(), " axes for ", rank));
  const auto strides = numbers_of_axes(c, "strides", rank, 1), dilations = numbers_of_axes(c, "dilations", rank, 1);
  const AutoPad how = auto_pad(c);
  const bool is_explicit = !how.is_same && !how.is_valid;
  const auto pads = is_explicit ? numbers_of_axes(c, "pads", 2 * rank, 0) : std::vector<int64_t>(2 * rank, 0);
  Windows windows;
  for (std::size_t i = 0; i < rank; ++i) {
    if (strides[i] < 1 || dilations[i] < 1) throw c.wrong("a stride or a dilation below 1");
    if (kernel[i].is_constant() && kernel[i].constant() < 1) {
      throw c.wrong(str("a window of ", kernel[i].constant(), " places along axis ", i));
    }
    if (pads[i] < 0 || pads[i + rank] < 0) throw c.unsupported("a negative padding");
    WindowAxis axis{dims[i], kernel[i], strides[i], dilations[i], pads[i], pads[i + rank], {}, {}};
    if (how.is_same) {
      pad_for_all(axis, how);
    } else {
      require_reach(c, axis, axis.before + axis.size + axis.after, i);
      count_windows(axis, rounds_up);
    }
    windows.push_back(std::move(axis));
  }
  return windows;
}

ValueId padded(Call& c, ValueId x, const Windows& windows, ValueId value) {
  if (!have_room(windows)) return x;
  std::vector<Dim> before(first_axis(c, x, windows), Dim(0)), behind = before;
  for (const WindowAxis& axis : windows) {
    before.push_back(axis.before);
    behind.push_back(axis.behind);
  }
  return pad(c.b, x, before, behind, PadMode::constant, value);
}

ValueId padded(Call& c, ValueId x, const Windows& windows, Literal value) {
  return have_room(windows) ? padded(c, x, windows, c.b.literal(value)) : x;
}

ValueId gathered(Call& c, ValueId x, const Windows& windows) {
  const std::size_t first = first_axis(c, x, windows), rank = windows.size();
  std::vector<IndexItem> index;
  for (std::size_t i = 0; i < first; ++i) index.push_back(IndexItem::range(0, c.type(x).dims[i]));
  for (std::size_t i = 0; i < rank; ++i) {
    index.push_back(IndexItem::through(window_places(c, windows[i], i, rank + i, 2 * rank)));
  }
  return c.b.gather(x, std::move(index), c.node.op);
}

ValueId tap(Call& c, ValueId x, const Windows& windows, const std::vector<int64_t>& place) {
  const std::size_t first = first_axis(c, x, windows);
  std::vector<IndexItem> index;
  for (std::size_t i = 0; i < first; ++i) index.push_back(IndexItem::range(0, c.type(x).dims[i]));
  for (std::size_t i = 0; i < windows.size(); ++i) {
    const WindowAxis& axis = windows[i];
    const Dim start = place[i] * axis.dilation;
    index.push_back(IndexItem::range(start, start + (axis.count - 1) * axis.stride + 1, axis.stride));
  }
  return c.b.slice(x, std::move(index));
}

std::optional<std::vector<std::vector<int64_t>>> few_taps(const Windows& windows, int64_t most) {
  int64_t count = 1;
  for (const WindowAxis& axis : windows) {
    if (!axis.kernel.is_constant() || axis.kernel.constant() > most) return {};
    count *= axis.kernel.constant();
    if (count > most) return {};
  }
  std::vector<std::vector<int64_t>> taps = {{}};
  for (const WindowAxis& axis : windows) {
    std::vector<std::vector<int64_t>> longer;
    for (const auto& tap : taps) {
      for (int64_t t = 0; t < axis.kernel.constant(); ++t) {
        longer.push_back(tap);
        longer.back().push_back(t);
      }
    }
    taps = std::move(longer);
  }
  return taps;
}

ValueId folded_along(Call& c, ValueId x, const WindowAxis& axis, std::size_t place, Fold fold, ScalarOp op) {
  std::vector<IndexItem> index = whole(c.type(x).dims);
  if (axis.kernel.is_constant() && axis.kernel.constant() <= kFewTaps) {
    ValueId result;
    for (int64_t t = 0; t < axis.kernel.constant(); ++t) {
      const Dim start = t * axis.dilation;
      index[place] = IndexItem::range(start, start + (axis.count - 1) * axis.stride + 1, axis.stride);
      const ValueId term = c.b.slice(x, index);
      result = result.valid() ? c.scalar(op, {result, term}) : term;
    }
    return result;
  }
  index[place] = IndexItem::through(window_places(c, axis, 0, 1, 2));
  return c.b.reduce(fold, c.b.gather(x, std::move(index), c.node.op), {static_cast<int>(place)}, c.type(x).dtype);
}

ValueId folded(Call& c, ValueId x, const Windows& windows, Fold fold, ScalarOp op) {
  const std::size_t first = first_axis(c, x, windows);
  for (std::size_t i = 0; i < windows.size(); ++i) x = folded_along(c, x, windows[i], first + i, fold, op);
  return x;
}

std::vector<Dim> counts_of(const Windows& windows) {
  std::vector<Dim> out;
  for (const WindowAxis& axis : windows) out.push_back(axis.count);
  return out;
}

std::vector<Dim> kernels_of(const Windows& windows) {
  std::vector<Dim> out;
  for (const WindowAxis& axis : windows) out.push_back(axis.kernel);
  return out;
}

ValueId places_read(Call& c, const WindowAxis& axis) {
  const ValueId places = window_places(c, axis, 0, 1, 2);
  return axis.before.is(0) ? places : c.scalar(ScalarOp::sub_, {places, c.b.size(axis.before)});
}

ValueId places_within(Call& c, const WindowAxis& axis, bool with_padding) {
  const ValueId places = places_read(c, axis);
  const Dim low = with_padding ? Dim(0) - axis.before : Dim(0);
  const Dim high = with_padding ? axis.size + axis.after : axis.size;
  const ValueId is_within = c.scalar(ScalarOp::and_, {c.scalar(ScalarOp::ge_, {places, c.b.size(low)}),
                                                      c.scalar(ScalarOp::lt_, {places, c.b.size(high)})});
  return c.b.reduce(Fold::add, c.b.cast(is_within, DType::i64), {0}, DType::i64);
}

}  // namespace inlay::onnx
