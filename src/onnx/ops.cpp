#include "onnx/ops.h"

#include <array>

namespace inlay::onnx {

std::span<const std::span<const OpRow>> op_families() {
  static const std::array kFamilies = {
      attention_ops(), boxes_ops(),      control_ops(),   elementwise_ops(), fill_ops(),     index_ops(),
      loss_ops(),      matrix_ops(),     normalise_ops(), pool_ops(),        quantise_ops(), recurrent_ops(),
      reduce_ops(),    resize_ops(),     sample_ops(),    sequence_ops(),    shape_ops(),    signal_ops(),
      sort_ops(),      transposed_ops(), window_ops()};
  return kFamilies;
}

const OpRow* find_op(std::string_view domain, std::string_view name, int64_t version) {
  const OpRow* best = nullptr;
  for (const auto family : op_families()) {
    for (const OpRow& row : family) {
      if (row.name != name || row.domain != domain || row.since > version) continue;
      if (!best || row.since > best->since) best = &row;
    }
  }
  return best;
}

}  // namespace inlay::onnx
