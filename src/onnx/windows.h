#pragma once
// Windows over the last axes of an array: where each begins, what it reads, and how many there are. What convolutions
// and pools share.
#include <optional>
#include <string>
#include <vector>

#include "onnx/call.h"

namespace inlay::onnx {

/// Window i of an axis reads the places i * stride + t * dilation, t < kernel, of the axis with room around it.
struct WindowAxis {
  Dim size;    // of the axis
  Dim kernel;  // how many places a window reads
  int64_t stride = 1, dilation = 1;
  Dim before, after;  // the padding that the node asks for
  Dim behind;         // the room behind the axis that the windows need; more than `after` where counts are rounded up
  Dim count;          // of windows

  /// From the first place of a window to behind its last.
  Dim reach() const { return (kernel - 1) * dilation + 1; }
  Dim padded() const { return before + size + behind; }
  /// Is window i place i of the axis?
  bool is_place() const { return kernel.is(1) && stride == 1 && before.is(0) && behind.is(0); }
};

using Windows = std::vector<WindowAxis>;

/// The numbers of an attribute, one for each of `count` axes; `otherwise` where it is left out.
std::vector<int64_t> numbers_of_axes(Call& c, std::string_view name, std::size_t count, int64_t otherwise);

struct AutoPad {
  bool is_same = false, is_valid = false;  // else the attribute `pads` says it
  bool more_before = false;                // where the padding is odd
};
AutoPad auto_pad(Call& c);

/// By the attributes strides, dilations, pads and auto_pad. `dims`: of the axes. Windows that begin behind the array
/// and the padding before it do not count where `rounds_up`.
///
/// Errors: slice-out-of-range where the array is shorter than a window.
Windows windows_of(Call& c, const std::vector<Dim>& dims, const std::vector<Dim>& kernel, bool rounds_up = false);

/// x with `value` in the room around its last axes. It makes no node where there is none: a size check stands at the
/// node that is made next, which is to be one that is read.
ValueId padded(Call& c, ValueId x, const Windows& windows, Literal value);
ValueId padded(Call& c, ValueId x, const Windows& windows, ValueId value);

/// What the windows read of padded x: [..., kernels, counts]. Its places are affine: a loop reads it where x lies.
ValueId gathered(Call& c, ValueId x, const Windows& windows);

/// What all windows read at one of their places, of padded x: [..., counts].
ValueId tap(Call& c, ValueId x, const Windows& windows, const std::vector<int64_t>& place);

/// The places of a window in row-major order, where there are at most `most`.
std::optional<std::vector<std::vector<int64_t>>> few_taps(const Windows& windows, int64_t most);

/// `fold`, of which `op` is one step, over the windows of padded x: [..., counts]. Axis by axis, so that 5 x 5 places
/// take 5 + 5 steps; few places of an axis are folded one after the other, as whole slices.
ValueId folded(Call& c, ValueId x, const Windows& windows, Fold fold, ScalarOp op);

std::vector<Dim> counts_of(const Windows& windows);
std::vector<Dim> kernels_of(const Windows& windows);

/// Of each window of axis `axis`, how many of its places lie in the array and, where `with_padding`, in the padding of
/// the node: i64[count].
ValueId places_within(Call& c, const WindowAxis& axis, bool with_padding);
/// The place of the array that place t of window i reads: i64[kernel, count]; beyond the array in the padding.
ValueId places_read(Call& c, const WindowAxis& axis);

inline constexpr int64_t kFewTaps = 64;

}  // namespace inlay::onnx
