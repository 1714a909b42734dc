#pragma once
// For tests: a KernelProgram compiled, loaded and run beside the evaluator, on memory that shows every wrong byte.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <new>
#include <random>

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include "backend/llvm/backend.h"
#include "inlay/runtime.h"
#include "kernel/text.h"
#include "library/library.h"
#include "memory/plan.h"
#include "ops/scalar_functions.h"
#include "oracle/kernels/evaluate.h"
#include "runtime/load_elf.h"
#include "support/error.h"

namespace inlay::llvm_backend::testing {

using kernel::Array;
using kernel::BufferId;
using kernel::KernelProgram;

/// EmitOptions::cpu_features for each width of vectors that this architecture has.
#if defined(__aarch64__)
inline const std::string kWidths[] = {""};
#else
inline const std::string kWidths[] = {"", "-avx512f", "-avx512f,-avx2,-avx", "-sse3"};
#endif

inline std::string width_name(std::string_view features) {
  return features.empty() ? "" : features == "-avx512f" ? "_avx2" : features == "-sse3" ? "_sse2" : "_sse4";
}

// Around those of vectors.
inline constexpr int64_t kSizes[] = {0, 1, 2, 7, 8, 9, 15, 16, 17, 31, 37, 64, 65, 100, 257};

inline void* resolve(std::string_view name) {
  if (const ScalarFunction* function = find_scalar_function(name)) return const_cast<void*>(function->address);
  if (const InlayLibraryFunction function = library::find_function(name)) return reinterpret_cast<void*>(function);
  if (void* const function = find_vector_function(name)) return function;
  return dlsym(RTLD_DEFAULT, std::string(name).c_str());
}

class Compiled {
 public:
  explicit Compiled(KernelProgram program, EmitOptions options = {})
      : planned_(memory::plan_memory(std::move(program))) {
    options.verify_ir = true;
    emitted_ = emit(planned_.program, planned_.plan, options);
    code_ = runtime::load_elf(emitted_.object, resolve);
    entry_ = reinterpret_cast<InlayEntry>(code_.find(emitted_.entry));
    if (!entry_) throw std::runtime_error("no entry");
  }
  explicit Compiled(std::string_view text, EmitOptions options = {}) : Compiled(kernel::parse(text), options) {}

  const KernelProgram& program() const { return planned_.program; }
  const EmitResult& emitted() const { return emitted_; }
  InlayEntry entry() const { return entry_; }
  const memory::MemoryPlan& plan() const { return planned_.plan; }

  /// As kernel::evaluate. Throws std::runtime_error when a byte beside a buffer was written.
  kernel::Evaluation run(std::span<const Array> params, const kernel::HostFunctions& host = {}) const {
    Frame frame(*this, params, host);
    return frame.run();
  }

 private:
  /// Bytes with guards on both sides, all of them 0xff (NaN, -1) to begin with.
  struct Guarded {
    static constexpr std::size_t kGuard = 128;
    std::vector<std::byte> bytes;
    std::size_t size = 0, shift = 0;
    explicit Guarded(std::size_t size) : bytes(size + 2 * kGuard + 64, std::byte{0xff}), size(size) {
      shift = kGuard + (64 - (reinterpret_cast<uintptr_t>(bytes.data()) + kGuard) % 64) % 64;
    }
    std::byte* data() { return bytes.data() + shift; }
    bool intact() const {
      for (std::size_t i = 0; i < bytes.size(); ++i) {
        if ((i < shift || i >= shift + size) && bytes[i] != std::byte{0xff}) return false;
      }
      return true;
    }
  };

  /// Bytes that end where a page begins that nobody may read: what reads behind them ends the test.
  class BeforePage {
   public:
    explicit BeforePage(std::span<const std::byte> bytes) {
      const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
      const std::size_t readable = (bytes.size() + page - 1) / page * page;
      size_ = readable + page;
      void* const mapped = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (mapped == MAP_FAILED) throw std::bad_alloc();
      begin_ = static_cast<std::byte*>(mapped);
      data_ = begin_ + readable - bytes.size();
      std::ranges::copy(bytes, data_);
      if (mprotect(begin_ + readable, page, PROT_NONE) != 0) throw std::bad_alloc();
    }
    ~BeforePage() { munmap(begin_, size_); }
    BeforePage(const BeforePage&) = delete;
    BeforePage& operator=(const BeforePage&) = delete;
    const std::byte* data() const { return data_; }

   private:
    std::byte *begin_ = nullptr, *data_ = nullptr;
    std::size_t size_ = 0;
  };

  struct Frame {
    const Compiled& compiled;
    const KernelProgram& program;
    const kernel::HostFunctions& host;
    std::vector<std::unique_ptr<Guarded>> memory;
    std::vector<std::unique_ptr<BeforePage>> given;
    std::vector<const void*> params;
    std::vector<void*> outputs;
    std::vector<Guarded*> output_memory;
    std::vector<int64_t> symbols, offsets;
    std::vector<void*> segments;
    std::vector<std::vector<int64_t>> result_dims;
    InlayCall call{};
    const int32_t stop[1] = {};

    Frame(const Compiled& compiled, std::span<const Array> arrays, const kernel::HostFunctions& host)
        : compiled(compiled), program(compiled.planned_.program), host(host) {
      for (const Array& array : arrays) params.push_back(copy_of(array));
      symbols = kernel::bind_symbols(program, arrays);
      outputs.resize(program.outputs.size());
      output_memory.resize(program.outputs.size());
      offsets.resize(compiled.plan().sharing.storages.size());
      segments.resize(compiled.plan().sharing.segment_starts.size() + 1);
      call.params = params.data();
      call.outputs = outputs.data();
      call.symbols = symbols.data();
      call.segments = segments.data();
      call.offsets = offsets.data();
      call.begin_segment = [](InlayCall* c, int32_t segment) {
        static_cast<Frame*>(c->host)->begin(segment);
        return int32_t{INLAY_OK};
      };
      call.host_call = [](InlayCall* c, int32_t function, void* const* operands, const int64_t* operand_dims,
                          void** results, int64_t* dims) {
        return static_cast<Frame*>(c->host)->host_call(function, operands, operand_dims, results, dims);
      };
      call.host = this;
      call.stop = call.stop_while_writing = stop;
      call.interrupted = [](InlayCall*) { return int32_t{INLAY_INTERRUPTED}; };
      begin(0);
    }

    Guarded* allocate(std::size_t bytes) { return memory.emplace_back(std::make_unique<Guarded>(bytes)).get(); }

    const void* copy_of(const Array& array) {
      if (array.dtype == DType::opaque) return array.bytes.data();
      return given.emplace_back(std::make_unique<BeforePage>(array.bytes))->data();
    }

    void begin(int32_t segment) {
      const memory::MemoryPlan& plan = compiled.plan();
      const std::vector<memory::Storage> storages = memory::storages_of_segment(plan.sharing, segment, symbols);
      const memory::Layout layout = plan.is_static ? plan.layouts[static_cast<std::size_t>(segment)]
                                                   : memory::plan(memory::Planner::greedy, storages);
      for (std::size_t s = 0; s < offsets.size(); ++s) {
        if (plan.sharing.storages[memory::StorageId(s)].segment == segment) offsets[s] = layout.offset_bytes[s];
      }
      segments[static_cast<std::size_t>(segment)] = allocate(static_cast<std::size_t>(layout.arena_bytes))->data();
      for (std::size_t slot = 0; slot < outputs.size(); ++slot) {
        const kernel::Buffer& buffer = program.buffers[program.outputs[slot]];
        if (memory::segment_of(plan.sharing, buffer.dims) != segment || buffer.dtype == DType::opaque) continue;
        output_memory[slot] = allocate(static_cast<std::size_t>(size_bytes(buffer).evaluate(symbols)));
        outputs[slot] = output_memory[slot]->data();
      }
    }

    int32_t host_call(int32_t function, void* const* operands, const int64_t* operand_dims, void** results,
                      int64_t* dims) {
      for (const kernel::Step& step : program.steps) {
        const auto* found = std::get_if<kernel::HostCall>(&step);
        if (!found || found->function != function) continue;
        std::vector<kernel::HostTensor> in, out;
        for (std::size_t i = 0; i < found->operands.size(); ++i) {
          const kernel::Buffer& buffer = program.buffers[found->operands[i]];
          in.push_back(
              {buffer.dtype, {operand_dims, operand_dims + buffer.dims.size()}, static_cast<std::byte*>(operands[i])});
          operand_dims += buffer.dims.size();
        }
        for (BufferId result : found->results) out.push_back({program.buffers[result].dtype, {}, nullptr});
        if (!host(*found, in, out)) return INLAY_HOST_CALL_FAILED;
        for (std::size_t i = 0; i < out.size(); ++i) {
          results[i] = out[i].data;
          for (int64_t dim : out[i].dims) *dims++ = dim;
        }
        return INLAY_OK;
      }
      return INLAY_HOST_CALL_FAILED;
    }

    kernel::Evaluation run() {
      kernel::Evaluation out;
      const int32_t code = compiled.entry_(&call);
      for (const auto& block : memory) {
        if (!block->intact()) throw std::runtime_error("bytes beside a buffer were written");
      }
      if (code != INLAY_OK) {
        kernel::Failure failure;
        if (code == INLAY_FAILED_AT_SITE) {
          failure.site = kernel::SiteId(static_cast<std::size_t>(call.failure_site));
          failure.numbers.assign(call.failure_numbers, call.failure_numbers + 4);
        }
        out.failure = failure;
        return out;
      }
      for (std::size_t slot = 0; slot < outputs.size(); ++slot) {
        const kernel::Buffer& buffer = program.buffers[program.outputs[slot]];
        Array array{.dtype = buffer.dtype};
        for (const Dim& dim : buffer.dims) array.dims.push_back(dim.evaluate(symbols));
        if (buffer.dtype != DType::opaque) {
          array.bytes.assign(output_memory[slot]->data(), output_memory[slot]->data() + output_memory[slot]->size);
        }
        out.outputs.push_back(std::move(array));
      }
      return out;
    }
  };

  memory::PlannedProgram planned_;
  EmitResult emitted_;
  runtime::LoadedCode code_;
  InlayEntry entry_ = nullptr;
};

// ---- arrays

template <class T>
Array array_of(DType dtype, std::vector<int64_t> dims, const std::vector<T>& elements) {
  Array out{dtype, std::move(dims), std::vector<std::byte>(elements.size() * sizeof(T))};
  if (!elements.empty()) std::memcpy(out.bytes.data(), elements.data(), out.bytes.size());
  return out;
}

inline Array vector_of(const std::vector<double>& elements) {
  return array_of(DType::f64, {static_cast<int64_t>(elements.size())}, elements);
}

inline double number_at(const Array& array, std::size_t i) {
  const std::size_t bytes = static_cast<std::size_t>(size_bytes(array.dtype));
  const Literal element = Literal::load(array.dtype, array.bytes.data() + i * bytes);
  return is_float(array.dtype) ? element.f : static_cast<double>(element.i);
}

/// Random elements: integers in [minimum, maximum], floats between.
inline Array random_array(std::mt19937_64& random, DType dtype, std::vector<int64_t> dims, double minimum,
                          double maximum) {
  int64_t count = 1;
  for (int64_t dim : dims) count *= dim;
  const std::size_t bytes = static_cast<std::size_t>(size_bytes(dtype));
  Array out{dtype, std::move(dims), std::vector<std::byte>(static_cast<std::size_t>(count) * bytes)};
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    const bool whole = !is_float(dtype);
    const double value = whole ? static_cast<double>(std::uniform_int_distribution<int64_t>(
                                     static_cast<int64_t>(minimum), static_cast<int64_t>(maximum))(random))
                               : std::uniform_real_distribution<double>(minimum, maximum)(random);
    Literal::of(dtype, value).store(out.bytes.data() + i * bytes);
  }
  return out;
}

/// Empty, or the first difference. Floats: relative to the greater of 1 and the expected.
inline std::string difference(const Array& expected, const Array& actual, double tolerance) {
  if (expected.dims != actual.dims) return "dims differ";
  const std::size_t bytes = static_cast<std::size_t>(size_bytes(expected.dtype));
  if (expected.bytes.size() != actual.bytes.size()) return "sizes differ";
  for (std::size_t i = 0; i < expected.bytes.size() / bytes; ++i) {
    const double want = number_at(expected, i), got = number_at(actual, i);
    if (want == got || (std::isnan(want) && std::isnan(got))) continue;
    const bool close = is_float(expected.dtype) && std::abs(want - got) <= tolerance * std::max(1.0, std::abs(want));
    if (!close) return str("element ", i, " is ", got, ", expected ", want);
  }
  return "";
}

}  // namespace inlay::llvm_backend::testing
