#include <algorithm>
#include <array>

#include "memory/replay.h"

namespace inlay::memory::replay {

namespace {

/// Calls visit(element) with all that the array may touch: if an index is not a loop's counter, its row is unknown.
template <class Visit>
void for_each_element(const kernel::LibraryCall& call, const CoreAxes& axes, const kernel::CallArray& array,
                      State& state, Visit visit) {
  Elements& elements = state.elements;
  const Progress& progress = state.progress;
  const auto& turns = state.turns;
  if (!elements.is_ours(array.buffer)) return;
  std::vector<int64_t> sizes;
  for (const Dim& size : call.sizes) sizes.push_back(elements.value(size));
  const std::array<int64_t, 3> extents = library_extents(call.op, axes, sizes);
  if (std::ranges::find(extents, 0) != extents.end()) return;  // the other extents may be huge
  std::array<int64_t, 3> strides{};
  for (std::size_t axis = 0; axis < strides.size(); ++axis) strides[axis] = elements.value(array.strides[axis]);
  const bool is_anywhere = array.index.valid() && turns[array.index] < 0;
  const int64_t first = elements.value(array.offset),
                step = array.index.valid() ? elements.value(array.index_stride) : 0;
  const int64_t turn = array.index.valid() && !is_anywhere ? turns[array.index] : 0;
  const int64_t last_turn = is_anywhere && step > 0 ? (elements.count(array.buffer) - 1) / step : turn;
  for (int64_t at = turn; at <= last_turn && progress.goes_on(); ++at) {
    for (int64_t point = 0; point < extents[0] && progress.goes_on(); ++point) {
      for (int64_t i = 0; i < extents[1] && progress.goes_on(); ++i) {
        for (int64_t j = 0; j < extents[2] && progress.goes_on(); ++j) {
          visit(first + at * step + point * strides[0] + i * strides[1] + j * strides[2]);
        }
      }
    }
  }
}

/// Is a result in the very bytes of the operand, as the function allows?
bool takes_bytes_of(const Elements& elements, const kernel::LibraryCall& call, std::size_t operand) {
  const LibraryOpFacts& row = facts(call.op);
  if (row.in_place_operand != static_cast<int>(operand)) return false;
  const kernel::CallArray &from = call.operands[operand],
                          &to = call.results[static_cast<std::size_t>(row.in_place_result)];
  if (!elements.is_ours(from.buffer) || !elements.is_ours(to.buffer)) return false;
  const bool one_layout =
      from.offset == to.offset && from.strides == to.strides && !from.index.valid() && !to.index.valid();
  return one_layout && elements.begin_together(from.buffer, to.buffer);
}

}  // namespace

/// Can the call fail? Its first site is for a size or stride beyond 32 bits, which includes work areas of tens of times
/// a size: a known small number is never too large.
bool may_fail(const kernel::LibraryCall& call) {
  if (call.sites.empty()) return false;
  if (call.sites.size() > 1) return true;
  constexpr int64_t kSmall = 1 << 24;
  std::vector<Dim> numbers = call.sizes;
  for (const auto* arrays : {&call.operands, &call.results}) {
    for (const kernel::CallArray& array : *arrays) {
      numbers.insert(numbers.end(), array.strides.begin(), array.strides.end());
    }
  }
  for (const Dim& number : numbers) {
    if (!number.is_constant() || number.constant() > kSmall || number.constant() < -kSmall) return true;
  }
  return false;
}

void replay_call(const kernel::LibraryCall& call, State& state) {
  Elements& elements = state.elements;
  const LibrarySignature& signature = facts(call.op).signature;
  const auto for_each = [&](const CoreAxes& axes, const kernel::CallArray& array, auto visit) {
    for_each_element(call, axes, array, state, visit);
  };
  const auto read_operands = [&](bool all) {
    for (std::size_t i = 0; i < call.operands.size(); ++i) {
      if (!all && takes_bytes_of(elements, call, i)) continue;
      for_each(signature.operands[i], call.operands[i],
               [&](int64_t element) { elements.read(call.operands[i].buffer, element); });
    }
  };
  read_operands(true);
  if (call.workspace.valid()) elements.write_all(call.workspace);
  for (std::size_t r = 0; r < call.results.size(); ++r) {
    for_each(signature.results[r], call.results[r],
             [&](int64_t element) { elements.write(call.results[r].buffer, element); });
  }
  read_operands(false);  // the call reads while it writes
  if (may_fail(call)) elements.may_fail();
}

}  // namespace inlay::memory::replay
