#include "backend/llvm/codegen.h"

#include <condition_variable>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>

#include <unistd.h>

#include "support/without_signals.h"

namespace inlay::llvm_backend {
namespace {

constexpr unsigned kLargeModule = 2000;  // instructions: some 50 ms
constexpr auto kBetweenLooks = std::chrono::milliseconds(5);

/// What LLVM works on.
struct Work {
  EngineLoan engine;
  std::unique_ptr<llvm::Module> module;  // of the engine's context
  llvm::CodeGenOptLevel level;
  EmitOptions options;
  EmitResult result;
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
  std::exception_ptr failure;
};

/// Between LLVM's passes over a function a fork may happen. To end there is not possible: LLVM knows no exceptions.
class YieldCallback {
 public:
  explicit YieldCallback(Work& work) : context_(work.engine->context()) {
    context_.setYieldCallback(
        [](llvm::LLVMContext*, void* options) { static_cast<const EmitOptions*>(options)->checkpoint(); },
        &work.options);
  }
  ~YieldCallback() { context_.setYieldCallback(nullptr, nullptr); }
  YieldCallback(const YieldCallback&) = delete;
  YieldCallback& operator=(const YieldCallback&) = delete;

 private:
  llvm::LLVMContext& context_;
};

void generate(Work& work) {
  std::optional<YieldCallback> yield;
  if (work.options.checkpoint != nullptr) yield.emplace(work);
  llvm::TargetMachine& machine = work.engine->machine(work.level);
  if (work.options.keep_assembly) work.result.assembly = write_assembly(*work.module, machine);
  write_object(*work.module, machine, work.result);
}

/// Threads that nobody waits for any more: while one uses LLVM, LLVM must not be torn down at the end of the process.
class Threads {
 public:
  ~Threads() {
    std::unique_lock lock(mutex_);
    if (process_ == getpid()) changed_.wait(lock, [&] { return count_ == 0; });
  }
  void begin() {
    const std::lock_guard lock(mutex_);
    if (process_ != getpid()) count_ = 0;  // they stayed in the process that forked this one
    process_ = getpid();
    ++count_;
  }
  void end() {
    const std::lock_guard lock(mutex_);
    --count_;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int count_ = 0;
  pid_t process_ = 0;
};

Threads& threads() {
  static Threads threads;
  return threads;
}

void run_thread(std::shared_ptr<Work> work) {
  const EmitOptions options = work->options;
  if (options.enter != nullptr) options.enter();
  try {
    generate(*work);
  } catch (...) {
    work->failure = std::current_exception();
  }
  {
    const std::lock_guard lock(work->mutex);
    work->done = true;
    work->changed.notify_all();
  }
  work.reset();
  threads().end();
  if (options.leave != nullptr) options.leave();
}

/// Signals are for the threads that were there before. False: there can be no other thread now.
bool start_thread(const std::shared_ptr<Work>& work) {
  const WithoutSignals without_signals;
  threads().begin();
  try {
    std::thread(run_thread, work).detach();
  } catch (const std::exception&) {  // of the system, or of memory
    threads().end();
    return false;
  }
  return true;
}

void wait_for(Work& work, const EmitOptions& options) {
  for (;;) {
    {
      std::unique_lock lock(work.mutex);
      if (work.changed.wait_for(lock, kBetweenLooks, [&] { return work.done; })) return;
    }
    look_up(options);
  }
}

}  // namespace

void look_up(const EmitOptions& options) {
  if (options.checkpoint != nullptr && !options.checkpoint()) throw Interrupted();
}

void generate_code(EngineLoan engine, std::unique_ptr<llvm::Module> module, llvm::CodeGenOptLevel level,
                   const EmitOptions& options, EmitResult& result) {
  const bool is_large = module->getInstructionCount() > kLargeModule;
  const auto work = std::make_shared<Work>(std::move(engine), std::move(module), level, options, std::move(result));
  if (is_large && options.checkpoint != nullptr && start_thread(work)) {
    wait_for(*work, options);
    if (work->failure) std::rethrow_exception(work->failure);
  } else {
    generate(*work);
  }
  result = std::move(work->result);
}

}  // namespace inlay::llvm_backend
