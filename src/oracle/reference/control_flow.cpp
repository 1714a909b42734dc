#include "oracle/reference/control_flow.h"

#include <algorithm>

namespace inlay::reference {

std::vector<Tensor> run_cond(const Node& node, std::span<const Tensor> operands, const RunBody& run) {
  const bool holds = operands[0].get<bool>(0);
  return run(*node.region.bodies[holds ? 0 : 1], {operands.begin() + 1, operands.end()});
}

std::vector<Tensor> run_loop(const Node& node, std::span<const Tensor> operands, int64_t count,
                             std::vector<Tensor> traces, const RunBody& run) {
  const auto num_carried = static_cast<std::size_t>(node.region.num_carried);
  std::vector<Tensor> carried(operands.begin(), operands.begin() + node.region.num_carried);
  const std::span<const Tensor> captured = operands.subspan(num_carried);
  for (int64_t step = 0; step < count; ++step) {
    std::vector<Tensor> params = {i64({}, {step})};
    params.insert(params.end(), carried.begin(), carried.end());
    params.insert(params.end(), captured.begin(), captured.end());
    const std::vector<Tensor> outputs = run(*node.region.bodies[0], std::move(params));
    carried.assign(outputs.begin(), outputs.begin() + node.region.num_carried);
    for (std::size_t t = 0; t < traces.size(); ++t) {
      const std::vector<std::byte>& row = outputs[num_carried + t].data;
      std::ranges::copy(row, traces[t].data.begin() + step * static_cast<int64_t>(row.size()));
    }
    if (node.region.has_condition && !outputs.back().get<bool>(0)) break;
  }
  std::vector<Tensor> results = std::move(carried);
  results.insert(results.end(), std::make_move_iterator(traces.begin()), std::make_move_iterator(traces.end()));
  return results;
}

}  // namespace inlay::reference
