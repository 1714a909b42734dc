#include "runtime/pool.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <string_view>
#include <thread>
#include <vector>

#include <pthread.h>

#include "runtime/arena.h"
#include "runtime/cpu_count.h"
#include "runtime/step_times.h"
#include "support/error.h"
#include "support/float_environment.h"
#include "support/fork_gate.h"
#include "support/stop.h"
#include "support/without_signals.h"

namespace inlay::runtime {
namespace {

using Clock = std::chrono::steady_clock;

/// So long a thread looks for more to do before it sleeps: waking it takes as long.
constexpr auto kAwake = std::chrono::microseconds(50);

/// So often a call that waits for others looks at its stop flag.
constexpr auto kBetweenLooks = std::chrono::milliseconds(10);

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

/// Looks for so long whether it holds.
template <class Holds>
bool soon(Holds holds) {
  const auto end = Clock::now() + kAwake;
  for (;;) {
    for (int i = 0; i < 64; ++i) {
      if (holds()) return true;
      pause();
    }
    if (Clock::now() > end) return false;
  }
}

int32_t end_this(InlayCall*) { return INLAY_INTERRUPTED; }

/// Merges the part that `block` is with those before it. merge(part, blocks) merges it with the one before, which has
/// so many blocks, and returns what that is called.
template <class Merge>
void merge_parts(int64_t block, bool is_last, Merge merge) {
  int64_t part = block;
  for (int64_t blocks = 1; blocks <= block; blocks *= 2) {
    if ((block & blocks) != 0) {
      part = merge(part, blocks);
    } else if (!is_last) {
      return;
    }
  }
}

/// Blocks that threads run together. Each takes the first that nobody has, so of those that fail the first one is among
/// those that run to their end.
class Job {
 public:
  /// `is_timed`: somebody asks for `busy_seconds`.
  Job(const InlayCall& call, const InlayBlocks& blocks, void* states, bool is_timed)
      : call_(call),
        blocks_(blocks),
        states_(static_cast<std::byte*>(states)),
        is_timed_(is_timed),
        end_(blocks.count) {}

  /// Of the thread that calls: with its own InlayCall, which asks the caller whether to stop.
  void run_as_caller(InlayCall& call) {
    const AtWork at_work(*this);
    while (run_next(call, nullptr)) {
    }
  }

  /// Of another thread: it stops when the caller does, and leaves where `too_many` threads run.
  void run_as_helper(const std::function<bool()>& too_many) {
    InlayCall call = call_;
    call.stop = reinterpret_cast<const int32_t*>(&stop_);
    const bool never_while_writing =
        !call.stop_while_writing || call.stop_while_writing == reinterpret_cast<const int32_t*>(&kNeverStop);
    if (!never_while_writing) call.stop_while_writing = call.stop;
    call.interrupted = end_this;
    run_with_own_memory(call, [&] { return !too_many(); });
  }

  /// Of a thread of the caller's pool: it looks at the flags of the call itself, since nobody else may be looking.
  void run_as_task() {
    InlayCall call = call_;
    run_with_own_memory(call, [&] {
      look(call);
      return true;
    });
  }

  /// While the caller waits for the others, and between blocks of its pool, it is asked whether to go on.
  void look(InlayCall& call) {
    if (!call.stop_while_writing || !call.interrupted) return;
    const auto* flag = reinterpret_cast<const StopFlag*>(call.stop_while_writing);
    if (flag->load(std::memory_order_relaxed) == 0) return;
    const int32_t code = call.interrupted(&call);
    if (code != INLAY_OK) fail(call, blocks_.count, code);
  }

  /// Once all threads have left it.
  int32_t finish(InlayCall& call) {
    if (failure_.code != INLAY_OK) {
      call.failure_site = failure_.site;
      std::ranges::copy(failure_.numbers, call.failure_numbers);
      return failure_.code;
    }
    for (int64_t block = 1; blocks_.merge && block < blocks_.count; ++block) {
      merge_parts(block, block + 1 == blocks_.count, [&](int64_t part, int64_t blocks) {
        blocks_.merge(&call, blocks_.passed, states_of(part - blocks), states_of(part));
        return part - blocks;
      });
    }
    return INLAY_OK;
  }

  /// Of all threads together, at work on blocks.
  double busy_seconds() const { return busy_seconds_; }

  std::atomic<int> num_helpers = 0;  // that have not left it

 private:
  /// While it lives a thread is at work on the job.
  class AtWork {
   public:
    explicit AtWork(Job& job) : job_(job) {
      if (job.is_timed_) begin_ = Clock::now();
    }
    ~AtWork() {
      if (!job_.is_timed_) return;
      const std::chrono::duration<double> seconds = Clock::now() - begin_;
      const std::lock_guard lock(job_.mutex_);
      job_.busy_seconds_ += seconds.count();
    }
    AtWork(const AtWork&) = delete;
    AtWork& operator=(const AtWork&) = delete;

   private:
    Job& job_;
    Clock::time_point begin_;
  };

  void* states_of(int64_t block) const {
    return block == 0 ? blocks_.states : states_ + (block - 1) * blocks_.state_bytes;
  }

  bool has_more() const { return next_.load(std::memory_order_relaxed) < end_.load(std::memory_order_relaxed); }

  /// Blocks as long as goes_on().
  template <class GoesOn>
  void run_with_own_memory(InlayCall& call, GoesOn goes_on) {
    if (!has_more()) return;  // and asks for no memory
    call.run_blocks = nullptr;
    const DefaultFloatEnvironment environment;
    const ArenaBlock memory = ArenaBlock::borrow(blocks_.memory_bytes);
    if (!memory.data()) return;  // the others run its blocks
    const AtWork at_work(*this);
    while (has_more() && goes_on() && run_next(call, memory.data())) {
    }
  }

  /// False: none is left.
  bool run_next(InlayCall& call, void* memory) {
    const int64_t block = next_.fetch_add(1, std::memory_order_relaxed);
    if (block >= end_.load(std::memory_order_relaxed)) return false;
    const int32_t code = blocks_.run(&call, blocks_.passed, block, states_of(block), memory);
    if (code != INLAY_OK) fail(call, block, code);
    return true;
  }

  void fail(const InlayCall& call, int64_t block, int32_t code) {
    // Blocks before one that fails run all the same: the first of them says why.
    int64_t end = end_.load(std::memory_order_relaxed);
    while (end > block && !end_.compare_exchange_weak(end, block, std::memory_order_relaxed)) {
    }
    if (code == INLAY_INTERRUPTED) {
      stop_.store(1, std::memory_order_relaxed);
      end_.store(0, std::memory_order_relaxed);
    }
    const std::lock_guard lock(mutex_);
    if (failure_.code != INLAY_OK && failure_.block < block) return;
    failure_ = {block, code, call.failure_site};
    std::ranges::copy(call.failure_numbers, failure_.numbers);
  }

  struct Failure {
    int64_t block = 0;
    int32_t code = INLAY_OK;
    int64_t site = -1;
    int64_t numbers[4] = {};
  };

  const InlayCall call_;
  const InlayBlocks& blocks_;
  std::byte* const states_;  // of block 1, and so on
  const bool is_timed_;
  std::atomic<int64_t> next_ = 0, end_;
  StopFlag stop_ = 0;
  std::mutex mutex_;
  Failure failure_;
  double busy_seconds_ = 0;
};

class Worker {
 public:
  Worker() : thread_([this] { live(); }) {
#if defined(__linux__)
    pthread_setname_np(thread_.native_handle(), "inlay");  // in top, gdb and py-spy
#endif
  }

  void give(Job& job) {
    {
      const std::lock_guard lock(mutex_);
      job_.store(&job, std::memory_order_release);
    }
    changed_.notify_one();
  }

  /// False: it has begun.
  bool take_back(Job& job) {
    Job* expected = &job;
    return job_.compare_exchange_strong(expected, nullptr, std::memory_order_acq_rel);
  }

 private:
  void live() {
    const auto has_news = [this] { return job_.load(std::memory_order_relaxed) != nullptr; };
    for (;;) {
      if (!soon(has_news)) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, has_news);
      }
      if (Job* job = job_.exchange(nullptr, std::memory_order_acq_rel)) {
        run(*job);
      }
    }
  }
  void run(Job& job);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<Job*> job_ = nullptr;
  std::thread thread_;
};

int first_max_threads() {
  const char* given = std::getenv("INLAY_THREADS");
  const std::string_view text = given ? given : "";
  const char *const begin = text.data(), *const end = begin + text.size();
  int64_t count = 0;
  const auto [rest, failure] = std::from_chars(begin, end, count);
  if (rest != end || failure == std::errc::invalid_argument) return cpu_count();
  if (failure == std::errc::result_out_of_range) count = text[0] == '-' ? 0 : kMostThreads;
  return count >= 1 ? static_cast<int>(std::min<int64_t>(count, kMostThreads)) : cpu_count();
}

class Pool {
 public:
  explicit Pool(int max_threads) : max_threads_(max_threads) {}

  /// Threads that are free, at most `count`; they have the job then.
  std::vector<Worker*> begin(Job& job, int count) {
    const std::lock_guard lock(mutex_);
    count = std::min(count, max_threads_.load() - num_running_.load());
    std::vector<Worker*> out;
    out.reserve(static_cast<std::size_t>(std::max(count, 0)));
    while (static_cast<int>(out.size()) < count) {
      if (idle_.empty() && !start_one()) break;
      out.push_back(idle_.back());
      idle_.pop_back();
    }
    num_running_.fetch_add(static_cast<int>(out.size()));
    job.num_helpers.store(static_cast<int>(out.size()));
    for (Worker* worker : out) worker->give(job);
    return out;
  }

  /// Those that have not begun never do; the others have ended when it returns.
  void end(Job& job, const std::vector<Worker*>& helpers, InlayCall& call) {
    for (Worker* worker : helpers) {
      if (worker->take_back(job)) leave(*worker, job);
    }
    const auto is_done = [&] { return job.num_helpers.load() == 0; };
    soon(is_done);
    std::unique_lock lock(mutex_);  // also where none is left: the last one may be about to let go of it
    while (!left_.wait_for(lock, kBetweenLooks, is_done)) {
      lock.unlock();  // who is asked may take as long as it likes
      job.look(call);
      lock.lock();
    }
  }

  void leave(Worker& worker, Job& job) {
    const std::lock_guard lock(mutex_);
    idle_.push_back(&worker);
    num_running_.fetch_sub(1);
    job.num_helpers.fetch_sub(1);
    left_.notify_all();
  }

  std::atomic<int> max_threads_;
  std::atomic<int> num_running_ = 0;  // callers and helpers
  std::atomic<int> num_started_ = 0;

 private:
  /// False: the system has no thread for it, or no memory.
  bool start_one() {
    try {
      const WithoutSignals without_signals;
      workers_.reserve(workers_.size() + 1);
      idle_.reserve(workers_.size() + 1);
      workers_.push_back(std::make_unique<Worker>());
    } catch (const std::exception&) {
      return false;
    }
    idle_.push_back(workers_.back().get());
    num_started_.store(static_cast<int>(workers_.size()));
    return true;
  }

  std::mutex mutex_;
  std::condition_variable left_;
  std::vector<Worker*> idle_;
  std::vector<std::unique_ptr<Worker>> workers_;
};

/// How many PoolUses of the pool this thread has: a host call may call another function. It is one thread all the same.
thread_local int num_uses = 0;

/// A child of fork() has none of its parent's threads: it leaves their pool as it is and makes one of its own.
class PoolOfProcess {
 public:
  PoolOfProcess() {
    pthread_atfork(nullptr, nullptr, [] {
      // The threads of the pool before are not there to be joined. No file is read here: whatever another thread of the
      // parent held a lock of stays locked.
      auto* before = own().pool_.release();
      own().pool_ = std::make_unique<Pool>(before->max_threads_.load());
      num_uses = 0;
    });
  }
  static Pool& get() { return *own().pool_; }

 private:
  /// Never destroyed: its threads may run while the process ends.
  static PoolOfProcess& own() {
    static auto& own = *new PoolOfProcess;
    return own;
  }

  std::unique_ptr<Pool> pool_ = std::make_unique<Pool>(first_max_threads());
};

void Worker::run(Job& job) {
  Pool& pool = PoolOfProcess::get();
  job.run_as_helper([&] { return pool.num_running_.load() > pool.max_threads_.load(); });
  pool.leave(*this, job);
}

/// A call whose blocks are tasks of its caller's pool, however that runs them.
class Tasks {
 public:
  Tasks(InlayCall& call, const InlayBlocks& blocks, void* states)
      : call_(call), asks_(call), job_(call, blocks, states, /*is_timed=*/false) {}

  void run(std::size_t number) {
    num_running_.fetch_add(1);
    run_one(number);
    num_running_.fetch_sub(1);  // then the call may return, and this is gone
  }

  /// By the thread that calls, when the pool says that it is done: a pool may return before its tasks have ended, or
  /// before some of them began.
  int32_t finish() {
    run(0);  // where the pool has run it, no block is left or it is still at work
    while (!soon([&] { return num_running_.load() == 0; })) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      job_.look(asks_);
    }
    return job_.finish(call_);
  }

 private:
  void run_one(std::size_t number) {
    if (number == 0 && !has_caller_.exchange(true)) {
      const DefaultFloatEnvironment environment;
      job_.run_as_caller(call_);
    } else {
      job_.run_as_task();
    }
  }

  InlayCall& call_;  // of the task that runs as the caller
  InlayCall asks_;   // of the thread that waits for it
  Job job_;
  std::atomic<bool> has_caller_ = false;  // somebody has run as the caller, or does; it leaves no block
  std::atomic<int> num_running_ = 0;
};

/// By this thread, one block after the other.
int32_t run_alone(InlayCall* call, const InlayBlocks& blocks) {
  const auto states_of = [&](int64_t part) {
    return static_cast<std::byte*>(blocks.states) + part * blocks.state_bytes;
  };
  int64_t num_parts = 0;
  for (int64_t block = 0; block < blocks.count; ++block) {
    const int32_t code = blocks.run(call, blocks.passed, block, states_of(num_parts), nullptr);
    if (code != INLAY_OK) return code;
    if (!blocks.merge) continue;
    ++num_parts;
    merge_parts(block, block + 1 == blocks.count, [&](int64_t, int64_t) {
      --num_parts;
      blocks.merge(call, blocks.passed, states_of(num_parts - 1), states_of(num_parts));
      return num_parts - 1;
    });
  }
  return INLAY_OK;
}

}  // namespace

// The first use makes the pool, which a child of fork() must find made or not begun: so inside the gate.
int max_threads() {
  const ForkGate::Inside inside;
  return PoolOfProcess::get().max_threads_;
}

void set_max_threads(int count) {
  if (count < 1) {
    throw Error(ErrorCode::unsupported, {}, str("a process runs functions on 1 thread at least, not on ", count));
  }
  const ForkGate::Inside inside;
  PoolOfProcess::get().max_threads_ = std::min(count, kMostThreads);
}

int num_pool_threads() {
  const ForkGate::Inside inside;
  return PoolOfProcess::get().num_started_;
}

PoolUse::PoolUse(int threads) : threads_(threads), pool_(&PoolOfProcess::get()) {
  if (num_uses++ == 0) PoolOfProcess::get().num_running_.fetch_add(1);
}
PoolUse::~PoolUse() {
  Pool& pool = PoolOfProcess::get();
  if (&pool != pool_) return;  // a host call has forked, and this is the child
  if (--num_uses == 0) pool.num_running_.fetch_sub(1);
}

int32_t run_blocks(InlayCall* call, const InlayBlocks* blocks) {
  const int threads = static_cast<const PoolUse*>(call->pool)->threads();
  const auto helpers = static_cast<int>(std::min<int64_t>(threads, blocks->count) - 1);
  if (helpers < 1) return run_alone(call, *blocks);
  const ArenaBlock states = ArenaBlock::borrow((blocks->count - 1) * blocks->state_bytes);
  if (!states.data()) return run_alone(call, *blocks);
  StepClock* const clock = StepClock::of_this_thread();
  const Clock::time_point begin = clock ? Clock::now() : Clock::time_point();
  Job job(*call, *blocks, states.data(), clock != nullptr);
  std::vector<Worker*> at_work;
  try {
    at_work = PoolOfProcess::get().begin(job, helpers);
  } catch (const std::exception&) {  // no memory
    return run_alone(call, *blocks);
  }
  if (at_work.empty()) return run_alone(call, *blocks);
  job.run_as_caller(*call);
  PoolOfProcess::get().end(job, at_work, *call);
  if (clock) {
    const std::chrono::duration<double> seconds = Clock::now() - begin;
    clock->add_blocks(static_cast<int>(at_work.size()) + 1, job.busy_seconds(), seconds.count());
  }
  return job.finish(*call);
}

int32_t run_blocks_by_caller(InlayCall* call, const InlayBlocks* blocks) {
  const auto& callers = *static_cast<const CallersPool*>(call->pool);
  const int64_t count = std::min<int64_t>(callers.threads, blocks->count);
  if (count < 2) return run_alone(call, *blocks);
  const ArenaBlock states = ArenaBlock::borrow((blocks->count - 1) * blocks->state_bytes);
  if (!states.data()) return run_alone(call, *blocks);
  Tasks tasks(*call, *blocks, states.data());
  const auto task = [](void* all, std::size_t number) { static_cast<Tasks*>(all)->run(number); };
  callers.run(callers.pool, static_cast<std::size_t>(count), task, &tasks);
  return tasks.finish();
}

}  // namespace inlay::runtime
