#include "native_run.h"

#include <algorithm>
#include <cstring>
#include <deque>

#include "guarded_block.h"
#include "tool_host.h"

namespace inlay::tool {
namespace {

using reference::Tensor;

/// Results between guards.
class GuardedHost final : public ToolHost {
 public:
  GuardedHost(const runtime::Object& object, std::span<const reference::HostFunction> functions)
      : ToolHost(object, functions), outputs_(object.outputs.size()) {}

  void* allocate_output(int slot, std::span<const int64_t> dims) override {
    Output& output = outputs_[static_cast<std::size_t>(slot)];
    output.dims.assign(dims.begin(), dims.end());
    return output.blocks.emplace_back(output_bytes(slot, dims)).begin();
  }

  std::vector<Tensor> outputs() {
    std::vector<Tensor> tensors;
    for (std::size_t slot = 0; slot < outputs_.size(); ++slot) {
      Output& output = outputs_[slot];
      INLAY_CHECK(output.blocks.size() == 1, "output ", slot, " was asked for ", output.blocks.size(), " times");
      output.blocks[0].check(str("output ", slot));
      Tensor tensor = Tensor::zeros(dtype_of(object().outputs[slot]), output.dims);
      if (!tensor.data.empty()) std::memcpy(tensor.data.data(), output.blocks[0].begin(), tensor.data.size());
      tensors.push_back(std::move(tensor));
    }
    return tensors;
  }

 private:
  struct Output {
    std::vector<int64_t> dims;
    std::deque<GuardedBlock> blocks;
  };

  std::vector<Output> outputs_;
};

/// Copies of the arguments between guards.
class Arguments {
 public:
  Arguments(const runtime::Object& object, std::span<const Tensor> inputs) : object_(object), inputs_(inputs) {
    for (const Tensor& input : inputs) {
      blocks_.emplace_back(static_cast<int64_t>(input.data.size()));
      std::ranges::copy(input.data, blocks_.back().begin());
      refs_.push_back({blocks_.back().begin(), input.dims.data()});
    }
  }
  std::span<const runtime::TensorRef> refs() const { return refs_; }

  /// A call that has not failed may have overwritten what it was donated.
  void check(bool failed) {
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      const std::string name = str("argument ", i);
      blocks_[i].check(name);
      if (!failed && object_.params[i].donated) continue;
      INLAY_CHECK(std::ranges::equal(inputs_[i].data, std::span(blocks_[i].begin(), inputs_[i].data.size())), name,
                  " was changed");
    }
  }

 private:
  const runtime::Object& object_;
  std::span<const Tensor> inputs_;
  std::deque<GuardedBlock> blocks_;
  std::vector<runtime::TensorRef> refs_;
};

/// Calls, and gives what came out.
template <class Call>
std::vector<Tensor> run_with(const runtime::Executable& executable, std::span<const Tensor> inputs,
                             std::span<const reference::HostFunction> host_functions, const Call& call) {
  check_arguments(executable.object(), inputs);
  Arguments arguments(executable.object(), inputs);
  GuardedHost host(executable.object(), host_functions);
  try {
    call(arguments.refs(), host);
  } catch (const Error& error) {
    arguments.check(/*failed=*/true);
    throw host.named(error);
  }
  arguments.check(/*failed=*/false);
  return host.outputs();
}

/// A call as the runtime makes it, but for its memory: the block of each segment lies between guards and begins as
/// ones, and where the code asks for the places of storages, each has guards of its own and shares its bytes with no
/// other.
class GuardedCall {
 public:
  GuardedCall(const runtime::Executable& executable, const memory::Sharing& sharing,
              std::span<const runtime::TensorRef> params, ToolHost& host)
      : executable_(executable),
        object_(executable.object()),
        sharing_(sharing),
        host_(host),
        symbols_(object_.symbols.size()),
        outputs_(object_.outputs.size()),
        segments_(std::max<std::size_t>(object_.arena.segment_bytes.size(), 1)),
        offsets_(static_cast<std::size_t>(object_.arena.num_storages)) {
    executable.bind_symbols(params, symbols_);
    for (std::size_t i = 0; i < params.size(); ++i) {
      if (object_.params[i].bound) check_facts(object_.params[i], params[i]);
      params_.push_back(params[i].data);
    }
  }

  void run() {
    begin(0);
    InlayCall call{};
    call.params = params_.data();
    call.outputs = outputs_.data();
    call.symbols = symbols_.data();
    call.segments = segments_.data();
    call.offsets = object_.arena.is_static ? nullptr : offsets_.data();
    call.begin_segment = [](InlayCall* c, int32_t segment) {
      return guarded([&] { static_cast<GuardedCall*>(c->host)->begin(segment); }, INLAY_OUT_OF_MEMORY);
    };
    call.host_call = [](InlayCall* c, int32_t function, void* const* operands, const int64_t* operand_dims,
                        void** results, int64_t* result_dims) {
      ToolHost& host = static_cast<GuardedCall*>(c->host)->host_;
      return host.host_call(function, operands, operand_dims, results, result_dims);
    };
    call.host = this;
    // As if somebody asked it to stop all the time, and then let it go on: that changes nothing.
    const int32_t stop = 1;
    call.stop = call.stop_while_writing = &stop;
    call.interrupted = [](InlayCall*) { return asked_to_stop() ? int32_t{INLAY_INTERRUPTED} : int32_t{INLAY_OK}; };
    const int32_t code = executable_.entry()(&call);
    for (GuardedBlock& block : blocks_) block.check("the arena");
    for (const std::span<std::byte> gap : gaps_) {
      INLAY_CHECK(std::ranges::all_of(gap, [](std::byte b) { return b == kGap; }),
                  "a byte between storages was written");
    }
    if (code == INLAY_OK) return take_results();
    runtime::Executable::Failure failure{call.failure_site, {}};
    std::copy_n(call.failure_numbers, failure.numbers.size(), failure.numbers.begin());
    throw executable_.error_of(code, failure);
  }

 private:
  static constexpr std::byte kGap{0xa5};

  template <class Body>
  static int32_t guarded(const Body& body, int32_t code_of_exception) noexcept {
    try {
      body();
      return INLAY_OK;
    } catch (const Error& error) {
      return error.code() == ErrorCode::size_overflow ? static_cast<int32_t>(INLAY_SIZE_OVERFLOW) : code_of_exception;
    }
  }

  void begin(int segment) {
    if (object_.arena.is_static) {
      const std::vector<int64_t>& bytes = object_.arena.segment_bytes;
      segments_[segment] = blocks_.emplace_back(bytes.empty() ? 0 : bytes[segment]).begin();
    } else {
      lay_out(segment);
    }
    for (int slot = 0; slot < static_cast<int>(object_.outputs.size()); ++slot) {
      const runtime::TensorSpec& spec = object_.outputs[slot];
      if (spec.segment != segment || spec.dtype == "opaque") continue;
      std::vector<int64_t> dims(spec.dims.size());
      executable_.output_dims(slot, symbols_, dims);
      outputs_[slot] = host_.allocate_output(slot, dims);
      if (spec.taken_param < 0) continue;
      taken_.push_back({outputs_[slot], params_[spec.taken_param], spec.element_bytes});
      for (int64_t dim : dims) taken_.back().bytes *= dim;
      outputs_[slot] = const_cast<void*>(params_[spec.taken_param]);  // as a caller does who donates it
    }
  }

  void take_results() {
    for (const Taken& taken : taken_) std::memcpy(taken.to, taken.from, static_cast<std::size_t>(taken.bytes));
  }

  /// One after the other, with a gap behind each.
  void lay_out(int segment) {
    constexpr int64_t kAlignment = 64;
    const std::vector<memory::Storage> storages = memory::storages_of_segment(sharing_, segment, symbols_);
    std::vector<std::pair<int64_t, int64_t>> gaps;  // begin, end
    int64_t bytes = 0;
    for (memory::StorageId s : ids<memory::StorageId>(storages.size())) {
      if (sharing_.storages[s].segment != segment || !memory::is_placed(storages[s.index])) continue;
      offsets_[s.index] = bytes;
      const int64_t end = bytes + storages[s.index].size_bytes;
      bytes = (end + 2 * kAlignment - 1) / kAlignment * kAlignment;
      gaps.emplace_back(end, bytes);
    }
    std::byte* base = blocks_.emplace_back(bytes).begin();
    segments_[segment] = base;
    for (const auto& [from, to] : gaps) {
      gaps_.emplace_back(base + from, static_cast<std::size_t>(to - from));
      std::ranges::fill(gaps_.back(), kGap);
    }
  }

  const runtime::Executable& executable_;
  const runtime::Object& object_;
  const memory::Sharing& sharing_;
  ToolHost& host_;
  std::vector<int64_t> symbols_;
  std::vector<const void*> params_;
  std::vector<void*> outputs_, segments_;
  std::vector<int64_t> offsets_;
  struct Taken {
    void* to;
    const void* from;
    int64_t bytes;
  };
  std::vector<Taken> taken_;  // results that lie where a parameter was
  std::deque<GuardedBlock> blocks_;
  std::vector<std::span<std::byte>> gaps_;
};

}  // namespace

std::vector<Tensor> run_native(const runtime::Executable& executable, std::span<const Tensor> inputs,
                               std::span<const reference::HostFunction> host_functions, int threads) {
  return run_with(executable, inputs, host_functions, [&](std::span<const runtime::TensorRef> refs, ToolHost& host) {
    executable.call(refs, host, {&stop_flag(), &stop_flag()}, threads);
  });
}

std::vector<Tensor> run_guarded(const runtime::Executable& executable, const memory::Sharing& sharing,
                                std::span<const Tensor> inputs,
                                std::span<const reference::HostFunction> host_functions) {
  return run_with(executable, inputs, host_functions, [&](std::span<const runtime::TensorRef> refs, ToolHost& host) {
    GuardedCall(executable, sharing, refs, host).run();
  });
}

}  // namespace inlay::tool
