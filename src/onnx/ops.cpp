#include "onnx/ops.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <vector>

namespace inlay::onnx {
namespace {

std::tuple<std::string_view, std::string_view, int64_t> key_of(const OpRow& row) {
  return {row.name, row.domain, row.since};
}

std::vector<OpRow> sorted_rows() {
  const std::array families = {attention_ops(),  boxes_ops(),    control_ops(),   elementwise_ops(), fill_ops(),
                               index_ops(),      loss_ops(),     matrix_ops(),    normalise_ops(),   pool_ops(),
                               quantise_ops(),   random_ops(),   recurrent_ops(), reduce_ops(),      resize_ops(),
                               sample_ops(),     sequence_ops(), shape_ops(),     signal_ops(),      sort_ops(),
                               transposed_ops(), window_ops()};
  std::vector<OpRow> out;
  for (const auto family : families) out.insert(out.end(), family.begin(), family.end());
  std::ranges::sort(out, {}, key_of);
  return out;
}

}  // namespace

std::span<const OpRow> op_rows() {
  static const std::vector<OpRow> kRows = sorted_rows();
  return kRows;
}

const OpRow* find_op(std::string_view domain, std::string_view name, int64_t version) {
  const std::span<const OpRow> rows = op_rows();
  const auto behind = std::ranges::upper_bound(rows, std::tuple(name, domain, version), {}, key_of);
  if (behind == rows.begin()) return nullptr;
  const OpRow& row = *std::prev(behind);
  return row.name == name && row.domain == domain ? &row : nullptr;
}

}  // namespace inlay::onnx
