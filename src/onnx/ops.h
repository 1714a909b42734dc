#pragma once
// The table of ONNX's ops, by family: each row makes the nodes of a call.
#include <span>
#include <string_view>

#include "onnx/call.h"

namespace inlay::onnx {

struct OpRow {
  std::string_view name;
  void (*make)(Call&);
  int since = 1;                 // the first version of the operator set with this meaning
  std::string_view domain = "";  // ONNX's own
  bool takes_narrow = false;     // constants of elements of a byte or less that inlay has no type for (narrow.h)
};

std::span<const OpRow> attention_ops();
std::span<const OpRow> boxes_ops();
std::span<const OpRow> control_ops();
std::span<const OpRow> elementwise_ops();
std::span<const OpRow> fill_ops();
std::span<const OpRow> index_ops();
std::span<const OpRow> loss_ops();
std::span<const OpRow> matrix_ops();
std::span<const OpRow> normalise_ops();
std::span<const OpRow> pool_ops();
std::span<const OpRow> quantise_ops();
std::span<const OpRow> random_ops();
std::span<const OpRow> recurrent_ops();
std::span<const OpRow> reduce_ops();
std::span<const OpRow> resize_ops();
std::span<const OpRow> sample_ops();
std::span<const OpRow> sequence_ops();
std::span<const OpRow> shape_ops();
std::span<const OpRow> signal_ops();
std::span<const OpRow> sort_ops();
std::span<const OpRow> transposed_ops();
std::span<const OpRow> window_ops();

/// All rows, by name, domain and version.
std::span<const OpRow> op_rows();
/// The newest row that `version` of the operator set has; null: inlay has no such op.
const OpRow* find_op(std::string_view domain, std::string_view name, int64_t version);

}  // namespace inlay::onnx
