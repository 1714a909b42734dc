#pragma once
// A loaded program: immutable, re-entrant, safe from many threads at once.
#include <array>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "inlay/runtime.h"
#include "runtime/load_elf.h"
#include "runtime/object.h"
#include "support/stop.h"

namespace inlay::runtime {

/// An argument or result: row-major elements in somebody's memory.
struct TensorRef {
  void* data = nullptr;
  const int64_t* dims = nullptr;  // as many as the spec's rank
};

/// Throws Error(false_fact) where elements contradict what the code trusts of the parameter. `call` does it for each
/// bound array; whoever goes through `run` does it once, when the array is bound.
void check_facts(const TensorSpec& param, const TensorRef& argument);

/// Sizes in, offsets out: fills offsets (by storage, those born in `segment`), returns the bytes of that segment's
/// block.
using LayoutFunction =
    std::function<int64_t(int segment, std::span<const int64_t> symbols, std::span<int64_t> offsets)>;

/// What the caller brings for host calls and for outputs whose size is not known at the entry. One for each call.
class Host {
 public:
  virtual ~Host() = default;
  /// As InlayCall::host_call; returns INLAY_OK or INLAY_HOST_CALL_FAILED and keeps the reason.
  virtual int32_t host_call(int function, void* const* operands, const int64_t* operand_dims, void** results,
                            int64_t* result_dims) = 0;
  /// That reason, as text; empty where whoever called keeps it in a form of its own.
  virtual std::string why_failed() const { return {}; }
  /// Memory for output `slot` with these dims; null: none to be had. Not null where a dim is 0.
  virtual void* allocate_output(int slot, std::span<const int64_t> dims) = 0;
  /// The call's stop flag is set. INLAY_OK: go on all the same.
  virtual int32_t interrupted() { return INLAY_INTERRUPTED; }
};

/// What may end a call on its way: it looks between steps and in long loops.
struct StopFlags {
  const StopFlag* stop = &kNeverStop;
  /// Looked at from the first step on that writes to an output or over a donated parameter: the same where those bytes
  /// may be anything after a call that fails.
  const StopFlag* while_writing = &kNeverStop;
};

class Executable {
 public:
  Executable(Object object, const Resolver& resolve, LayoutFunction layout = {});
  ~Executable();
  Executable(Executable&&) noexcept;
  Executable& operator=(Executable&&) noexcept;

  const Object& object() const;
  InlayEntry entry() const;

  /// Binds the symbols from the dims of `params` and checks dims against the signature, and symbols against their upper
  /// bounds; throws Error naming both.
  void bind_symbols(std::span<const TensorRef> params, std::span<int64_t> symbols) const;
  /// Dims of output `slot` for these symbols. Never negative: where `n - 1` has n = 0 the program's own checks fail,
  /// and they run after the outputs were asked for.
  void output_dims(int slot, std::span<const int64_t> symbols, std::span<int64_t> dims) const;

  /// Runs on params (row-major, checked by the caller for dtype and rank; dims, and facts of bound ones, checked here).
  /// Outputs are asked from `host`, all before the first step where sizes are known at the entry; opaque ones are not.
  /// Throws Error when a check in the program fails; a host call's failure is Error(host_call_failed).
  void call(std::span<const TensorRef> params, Host& host, const StopFlags& flags = {}) const;

  /// The fast door: params' and outputs' addresses, sizes already bound, facts checked. A steady state allocates
  /// nothing: an arena of up to 32 KiB lies on the stack, a larger one in a block that the thread keeps. Safe from many
  /// threads at once, and from inside a host call. `host` may be null for a program without host calls and
  /// without outputs of a size that is found on the way. Returns the entry's code; on INLAY_FAILED_AT_SITE `failure`
  /// has the site and its numbers. Never throws.
  struct Failure {
    int64_t site = -1;
    std::array<int64_t, 4> numbers{};
    std::exception_ptr exception;  // of whoever lays out or brings memory
  };
  int32_t run(const void* const* params, void** outputs, int64_t* symbols, Host* host, Failure& failure,
              const StopFlags& flags = {}) const noexcept;

  /// The Error of a failed run: its site's message with the numbers in it. Throws what a LayoutFunction has thrown.
  Error error_of(int32_t code, const Failure& failure) const;

 private:
  struct Impl;
  std::unique_ptr<const Impl> impl_;
};

}  // namespace inlay::runtime
