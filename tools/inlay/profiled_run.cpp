#include "profiled_run.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <memory>
#include <vector>

#include "compiler/profile.h"
#include "support/stop.h"
#include "tool_host.h"

namespace inlay::tool {
namespace {

using reference::Tensor;

/// Results in memory of their own, or where a donated argument lies whose bytes they take over.
class PlainHost final : public ToolHost {
 public:
  PlainHost(const runtime::Object& object, std::span<const reference::HostFunction> functions,
            std::span<const void* const> params)
      : ToolHost(object, functions), params_(params) {}

  void* allocate_output(int slot, std::span<const int64_t> dims) override {
    const int taken = object().outputs[static_cast<std::size_t>(slot)].taken_param;
    if (taken >= 0) return const_cast<void*>(params_[static_cast<std::size_t>(taken)]);
    constexpr std::size_t kAlignment = 64;
    const auto bytes = static_cast<std::size_t>(output_bytes(slot, dims));
    void* memory = std::aligned_alloc(kAlignment, (bytes / kAlignment + 1) * kAlignment);
    blocks_.emplace_back(memory);
    return memory;
  }

 private:
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  std::span<const void* const> params_;
  std::vector<std::unique_ptr<void, Free>> blocks_;
};

class ProfiledRun {
 public:
  ProfiledRun(const Program& program, std::span<const Tensor> inputs,
              std::span<const reference::HostFunction> host_functions)
      : executable_(program.executable),
        object_(executable_.object()),
        inputs_(inputs),
        given_(inputs.begin(), inputs.end()),
        host_functions_(host_functions) {
    check_arguments(object_, inputs);
    for (std::size_t i = 0; i < given_.size(); ++i) {
      params_.push_back({given_[i].data.data(), given_[i].dims.data()});
      addresses_.push_back(given_[i].data.data());
      if (object_.params[i].bound) runtime::check_facts(object_.params[i], params_[i]);
    }
  }

  /// Returns the seconds of a call, whose steps `times` gets.
  double call(runtime::StepTimes& times) {
    for (std::size_t i = 0; i < given_.size(); ++i) {
      if (object_.params[i].donated) given_[i].data = inputs_[i].data;  // as large as before: it stays where it is
    }
    const auto begin = std::chrono::steady_clock::now();
    run(times);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }

 private:
  void run(runtime::StepTimes& times) const {
    std::vector<int64_t> symbols(object_.symbols.size(), -1);
    executable_.bind_symbols(params_, symbols);
    PlainHost host(object_, host_functions_, addresses_);
    std::vector<void*> results(object_.outputs.size());
    for (std::size_t slot = 0; slot < results.size(); ++slot) {
      const runtime::TensorSpec& spec = object_.outputs[slot];
      if (spec.segment != 0 || spec.dtype == "opaque") continue;
      std::vector<int64_t> dims(spec.dims.size());
      executable_.output_dims(static_cast<int>(slot), symbols, dims);
      results[slot] = host.allocate_output(static_cast<int>(slot), dims);
      if (results[slot] == nullptr) throw Error(ErrorCode::out_of_memory, {}, str("no memory for output ", slot));
    }
    runtime::Executable::Failure failure;
    int32_t code = INLAY_OK;
    {
      const runtime::StepClock clock(times);
      code = executable_.run(addresses_.data(), results.data(), symbols.data(), &host, failure,
                             {&stop_flag(), &stop_flag()});
    }
    if (code != INLAY_OK) throw host.named(executable_.error_of(code, failure));
    times.set_sizes(symbols);
  }

  const runtime::Executable& executable_;
  const runtime::Object& object_;
  std::span<const Tensor> inputs_;
  std::vector<Tensor> given_;
  std::span<const reference::HostFunction> host_functions_;
  std::vector<runtime::TensorRef> params_;
  std::vector<const void*> addresses_;
};

}  // namespace

explain::Profile run_profiled(const Program& program, std::string name, std::span<const Tensor> inputs,
                              std::span<const reference::HostFunction> host_functions) {
  ProfiledRun run(program, inputs, host_functions);
  runtime::StepTimes times(program.kernels.steps.size());
  run.call(times);
  times.clear();
  CallTimes calls = {.least = std::numeric_limits<double>::infinity()};
  const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(kProfiledSeconds);
  while (calls.calls < kLeastProfiledCalls || std::chrono::steady_clock::now() < until) {
    const double seconds = run.call(times);
    calls.seconds += seconds;
    calls.least = std::min(calls.least, seconds);
    ++calls.calls;
  }
  explain::Profile profile = profile_of(program, times, std::move(name), calls);
  profile.bandwidth = machine_bandwidth();
  return profile;
}

}  // namespace inlay::tool
