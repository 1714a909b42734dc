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

struct CallersPool;

/// An argument or result: row-major elements in memory of the caller.
struct TensorRef {
  void* data = nullptr;
  const int64_t* dims = nullptr;  // as many as the spec's rank
};

/// Throws Error(false_fact) if elements contradict facts that the code trusts. `call` checks each bound array; callers
/// of `run` check once, when they bind the array.
void check_facts(const TensorSpec& param, const TensorRef& argument);

/// Lays out one segment for these sizes: sets the offsets of its storages and returns the bytes of its block.
using LayoutFunction =
    std::function<int64_t(int segment, std::span<const int64_t> symbols, std::span<int64_t> offsets)>;

/// What the caller provides for host calls and for outputs whose size is not known at the entry. One per call.
class Host {
 public:
  virtual ~Host() = default;
  /// Like InlayCall::host_call; returns INLAY_OK or INLAY_HOST_CALL_FAILED and keeps the reason.
  virtual int32_t host_call(int function, void* const* operands, const int64_t* operand_dims, void** results,
                            int64_t* result_dims) = 0;
  /// Returns that reason as text; empty if the caller keeps it in another form.
  virtual std::string why_failed() const { return {}; }
  /// Returns memory for output `slot` with these dims; null if there is none, but not null if a dim is 0.
  virtual void* allocate_output(int slot, std::span<const int64_t> dims) = 0;
  /// Called when the call's stop flag is set. INLAY_OK: go on all the same.
  virtual int32_t interrupted() { return INLAY_INTERRUPTED; }
};

/// The flags that may end a call: it looks at them between steps and in long loops.
struct StopFlags {
  const StopFlag* stop = &kNeverStop;
  /// Used from the first step on that writes to an output or over a donated parameter: the same as `stop` if those
  /// bytes may be anything after a call that fails.
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
  /// Returns the dims of output `slot` for these symbols. Never negative: where `n - 1` has n = 0 the program's own
  /// checks fail, and they run after the outputs were requested.
  void output_dims(int slot, std::span<const int64_t> symbols, std::span<int64_t> dims) const;

  /// Runs the program. Params are row-major, their dtype and rank checked by the caller; dims, and facts of bound ones,
  /// are checked here. `host` allocates the outputs, except opaque ones, before the first step if their sizes are known
  /// at the entry. Throws Error if a check of the program fails; a host call's failure is Error(host_call_failed).
  /// `threads`: as of `run`.
  void call(std::span<const TensorRef> params, Host& host, const StopFlags& flags = {}, int threads = 0) const;

  /// The fast entry: takes addresses of params and outputs, bound sizes, and checked facts. A steady state allocates
  /// nothing: an arena of up to 32 KiB is on the stack, a larger one in a block that the thread keeps. Safe from many
  /// threads at once, and from inside a host call. `host` may be null for a program without host calls and without
  /// outputs whose size is found during the run. Returns the entry's code; on INLAY_FAILED_AT_SITE `failure` has the
  /// site and its numbers. Never throws.
  struct Failure {
    int64_t site = -1;
    std::array<int64_t, 4> numbers{};
    std::exception_ptr exception;  // from the LayoutFunction or the Host
  };
  /// `threads`: on how many it may run, 1 at least; 0: as set_threads says. The results are the same for any number.
  /// `callers`: whose threads these are; null: the process's.
  int32_t run(const void* const* params, void** outputs, int64_t* symbols, Host* host, Failure& failure,
              const StopFlags& flags = {}, int threads = 0, const CallersPool* callers = nullptr) const noexcept;

  /// On how many threads calls run that do not say; at first on one. More run only where the code has blocks and they
  /// are worth it, and no more than max_threads().
  void set_threads(int threads);
  int threads() const { return threads_; }

  /// Returns the Error of a failed run: its site's message with the numbers. Rethrows what a LayoutFunction has thrown.
  Error error_of(int32_t code, const Failure& failure) const;

 private:
  struct Impl;
  std::unique_ptr<const Impl> impl_;
  int threads_ = 1;
};

}  // namespace inlay::runtime
