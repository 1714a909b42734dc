#include "runtime/pool.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <future>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/step_times.h"
#include "support/error.h"
#include "support/stop.h"

namespace inlay::runtime {
namespace {

/// As many threads as a test wants, on any machine.
class PoolTest : public testing::Test {
 protected:
  PoolTest() { set_max_threads(8); }
  ~PoolTest() override { set_max_threads(before_); }

 private:
  const int before_ = max_threads();
};

/// The states of a block: a text of the parts that it was made of.
struct Parts {
  char text[256];
};
static_assert(sizeof(Parts) % 64 == 0);

constexpr int64_t kMemoryBytes = 1000;

/// How many threads were in there at the same time at most.
struct AtOnce {
  std::atomic<int> now = 0, most = 0;

  void enter() {
    const int all = ++now;
    for (int before = most; before < all && !most.compare_exchange_weak(before, all);) {
    }
  }
  void leave() { --now; }
};

struct Work {
  AtOnce running, in_memory_of_call;
  int64_t fails_from = 1000, interrupted_from = 1000;
};

int32_t run_one(InlayCall* call, const void* passed, int64_t block, void* states, void* memory) {
  if (memory) std::memset(memory, 1, kMemoryBytes);
  Work& work = *const_cast<Work*>(static_cast<const Work*>(passed));
  work.running.enter();
  if (!memory) work.in_memory_of_call.enter();
  std::this_thread::sleep_for(std::chrono::microseconds(200));
  if (!memory) work.in_memory_of_call.leave();
  work.running.leave();
  if (block >= work.fails_from) {
    call->failure_site = 7;
    call->failure_numbers[0] = block;
    return INLAY_FAILED_AT_SITE;
  }
  if (block >= work.interrupted_from) return INLAY_INTERRUPTED;
  *static_cast<Parts*>(states) = {};
  std::snprintf(static_cast<Parts*>(states)->text, sizeof(Parts), "%d", static_cast<int>(block));
  return INLAY_OK;
}

int32_t merge_two(InlayCall*, const void*, void* states, const void* later) {
  char* text = static_cast<Parts*>(states)->text;
  const std::string both = "(" + std::string(text) + " " + static_cast<const Parts*>(later)->text + ")";
  std::snprintf(text, sizeof(Parts), "%s", both.c_str());
  return INLAY_OK;
}

struct Outcome {
  int32_t code;
  std::string made;
  int64_t site, number;
};

Outcome run(Work& work, int64_t count, int threads) {
  std::vector<Parts> states(INLAY_BLOCK_STATES);
  const InlayBlocks blocks = {run_one, merge_two, &work, count, sizeof(Parts), states.data(), kMemoryBytes};
  InlayCall call{};
  call.failure_site = -1;
  PoolUse use(threads);
  call.pool = &use;
  const int32_t code = run_blocks(&call, &blocks);
  return {code, states[0].text, call.failure_site, call.failure_numbers[0]};
}

TEST_F(PoolTest, BlocksAreMergedInOneOrderWhoeverRunsThem) {
  for (const int threads : {1, 2, 3, 7, 64}) {
    Work work;
    EXPECT_EQ(run(work, 1, threads).made, "0");
    EXPECT_EQ(run(work, 2, threads).made, "(0 1)");
    EXPECT_EQ(run(work, 3, threads).made, "((0 1) 2)");
    EXPECT_EQ(run(work, 4, threads).made, "((0 1) (2 3))");
    EXPECT_EQ(run(work, 7, threads).made, "(((0 1) (2 3)) ((4 5) 6))");
    EXPECT_EQ(run(work, 8, threads).made, "(((0 1) (2 3)) ((4 5) (6 7)))");
    EXPECT_EQ(run(work, 13, threads).made, "((((0 1) (2 3)) ((4 5) (6 7))) (((8 9) (10 11)) 12))");
    EXPECT_EQ(run(work, 64, threads).code, INLAY_OK);
  }
}

TEST_F(PoolTest, NoMoreThreadsRunThanTheProcessMayHave) {
  for (const int most : {1, 2, 3}) {
    set_max_threads(most);
    Work work;
    run(work, 40, 64);
    EXPECT_LE(work.running.most, most);
  }
  set_max_threads(3);
  Work alone, with_one;
  const auto beside_another_caller = [](const auto& run_it) {
    std::promise<void> begun, done;
    std::thread other([&] {
      const PoolUse use(3);
      begun.set_value();
      done.get_future().wait();
    });
    begun.get_future().wait();
    run_it();
    done.set_value();
    other.join();
  };
  beside_another_caller([&] {
    run(with_one, 40, 3);
    beside_another_caller([&] { run(alone, 40, 3); });
  });
  EXPECT_LE(with_one.running.most, 2);
  EXPECT_EQ(alone.running.most, 1);
}

TEST_F(PoolTest, ACallWithinACallIsOneThread) {
  set_max_threads(2);
  const PoolUse outer(2), between(2);
  Work work;
  run(work, 40, 2);
  EXPECT_EQ(work.running.most, 2);
}

TEST_F(PoolTest, WhoMeasuresTheCallIsToldOfItsThreads) {
  StepTimes times(1);
  {
    const StepClock clock(times);
    inlay_step_begins(0);
    Work work;
    run(work, 40, 3);
    run(work, 40, 1);
  }
  const StepTimes::Row row = times.rows()[0];
  EXPECT_EQ(row.threads, 3);
  EXPECT_GT(row.busy_seconds, row.seconds);  // each block sleeps, so that they overlap on any machine
  EXPECT_LE(row.busy_seconds, 3 * row.seconds);
}

/// By a pool of the caller's, which counts the tasks.
Outcome run_by_caller(Work& work, int64_t count, CallersPool pool) {
  std::vector<Parts> states(INLAY_BLOCK_STATES);
  const InlayBlocks blocks = {run_one, merge_two, &work, count, sizeof(Parts), states.data(), kMemoryBytes};
  InlayCall call{};
  call.failure_site = -1;
  call.pool = &pool;
  const int32_t code = run_blocks_by_caller(&call, &blocks);
  return {code, states[0].text, call.failure_site, call.failure_numbers[0]};
}

void on_threads(void* counted, std::size_t count, CallersPool::Task task, void* tasks) {
  *static_cast<std::size_t*>(counted) = count;
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < count; ++i) threads.emplace_back(task, tasks, i);
  for (std::thread& thread : threads) thread.join();
}

void one_by_one_from_behind(void*, std::size_t count, CallersPool::Task task, void* tasks) {
  for (std::size_t i = count; i-- > 0;) task(tasks, i);
}

void not_at_all(void*, std::size_t, CallersPool::Task, void*) {}

TEST_F(PoolTest, BlocksRunOnTheThreadsOfACaller) {
  set_max_threads(1);  // of the process: it says nothing of these
  const int started = num_pool_threads();
  for (const int64_t fails_from : {1000, 5}) {
    Work alone;
    alone.fails_from = fails_from;
    const Outcome expected = run(alone, 13, 1);
    std::size_t counted = 0;
    for (const CallersPool& pool :
         {CallersPool{on_threads, &counted, 3}, CallersPool{on_threads, &counted, 64},
          CallersPool{one_by_one_from_behind, nullptr, 4}, CallersPool{not_at_all, nullptr, 4}}) {
      Work work;
      work.fails_from = fails_from;
      const Outcome outcome = run_by_caller(work, 13, pool);
      EXPECT_EQ(outcome.code, expected.code);
      if (expected.code == INLAY_OK) {
        EXPECT_EQ(outcome.made, expected.made);
      }
      EXPECT_EQ(outcome.number, expected.number);
      if (pool.pool) {
        EXPECT_EQ(counted, std::min(13, pool.threads));
      }
      EXPECT_LE(work.running.most, pool.threads);
    }
  }
  EXPECT_EQ(num_pool_threads(), started);
}

void number_0_on_every_thread(void*, std::size_t count, CallersPool::Task task, void* tasks) {
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < count; ++i) threads.emplace_back(task, tasks, 0);
  for (std::thread& thread : threads) thread.join();
}

TEST_F(PoolTest, OneThreadOfACallerAtATimeUsesTheMemoryOfTheCall) {
  for (const auto run : {on_threads, number_0_on_every_thread}) {
    Work work;
    std::size_t counted = 0;
    EXPECT_EQ(run_by_caller(work, 8, {run, &counted, 4}).made, "(((0 1) (2 3)) ((4 5) (6 7)))");
    EXPECT_LE(work.in_memory_of_call.most, 1);
  }
}

/// Of a pool that returns when its only task has begun block 0, which ends when all other blocks have begun.
struct LeavesEarly {
  std::size_t number;
  Work work = {};
  const std::thread::id caller = std::this_thread::get_id();
  std::atomic<bool> has_begun = false, is_alone = false;
  std::thread thread = {};
};

TEST_F(PoolTest, ACallWaitsForTasksThatHaveBegun) {
  const auto block = [](InlayCall* call, const void* passed, int64_t number, void* states, void* memory) -> int32_t {
    auto& early = *const_cast<LeavesEarly*>(static_cast<const LeavesEarly*>(passed));
    if (std::this_thread::get_id() != early.caller) {
      EXPECT_EQ(number, 0);
      early.has_begun = true;
      while (!early.is_alone) std::this_thread::yield();
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    } else if (number == 3) {
      early.is_alone = true;
    }
    return run_one(call, &early.work, number, states, memory);
  };
  const auto run = [](void* pool, std::size_t count, CallersPool::Task task, void* tasks) {
    EXPECT_EQ(count, 3U);
    auto& early = *static_cast<LeavesEarly*>(pool);
    early.thread = std::thread(task, tasks, early.number);
    while (!early.has_begun) std::this_thread::yield();
  };
  for (const std::size_t number : {0, 1}) {
    LeavesEarly early{number};
    std::vector<Parts> states(INLAY_BLOCK_STATES);
    const InlayBlocks blocks = {block, merge_two, &early, 4, sizeof(Parts), states.data(), kMemoryBytes};
    InlayCall call{};
    CallersPool pool = {run, &early, 3};
    call.pool = &pool;
    EXPECT_EQ(run_blocks_by_caller(&call, &blocks), INLAY_OK);
    EXPECT_STREQ(states[0].text, "((0 1) (2 3))");
    EXPECT_EQ(early.work.in_memory_of_call.most, 1);
    early.thread.join();
  }
}

int32_t look_at(InlayCall* call, const int32_t* flag) {
  const bool is_set = flag && *reinterpret_cast<const StopFlag*>(flag) != 0;
  return is_set ? call->interrupted(call) : int32_t{INLAY_OK};
}

TEST_F(PoolTest, TasksOfACallerLookAtTheFlagsOfTheCall) {
  struct Stops {
    StopFlag stop = 0;
    enum { at_none, at_stop, at_stop_while_writing } looks;
    int num_run = 0;
  };
  const auto block = [](InlayCall* call, const void* passed, int64_t, void*, void*) -> int32_t {
    Stops& s = *const_cast<Stops*>(static_cast<const Stops*>(passed));
    const int32_t* flag = s.looks == Stops::at_stop ? call->stop : call->stop_while_writing;
    if (s.looks != Stops::at_none) {
      if (const int32_t code = look_at(call, flag); code != INLAY_OK) return code;
    }
    if (++s.num_run == 3) s.stop = 1;
    return INLAY_OK;
  };
  const auto end = [](InlayCall*) { return int32_t{INLAY_INTERRUPTED}; };
  const auto go_on = [](InlayCall*) { return int32_t{INLAY_OK}; };
  const auto num_run = [&](auto looks, const StopFlag* while_writing, int32_t (*interrupted)(InlayCall*)) {
    Stops stops{0, looks};
    if (!while_writing) while_writing = &stops.stop;
    const InlayBlocks blocks = {block, nullptr, &stops, 64, 0, nullptr, kMemoryBytes};
    InlayCall call{};
    CallersPool pool = {one_by_one_from_behind, nullptr, 4};
    call.pool = &pool;
    call.stop = reinterpret_cast<const int32_t*>(&stops.stop);
    call.stop_while_writing = reinterpret_cast<const int32_t*>(while_writing);
    call.interrupted = interrupted;
    const int32_t code = run_blocks_by_caller(&call, &blocks);
    EXPECT_EQ(code, stops.num_run < 64 ? INLAY_INTERRUPTED : INLAY_OK);
    return stops.num_run;
  };
  EXPECT_EQ(num_run(Stops::at_none, nullptr, end), 3);
  EXPECT_EQ(num_run(Stops::at_stop, nullptr, end), 3);
  EXPECT_EQ(num_run(Stops::at_stop_while_writing, nullptr, end), 3);
  EXPECT_EQ(num_run(Stops::at_stop, &kNeverStop, end), 3);
  EXPECT_EQ(num_run(Stops::at_stop_while_writing, &kNeverStop, end), 64);
  EXPECT_EQ(num_run(Stops::at_stop_while_writing, nullptr, go_on), 64);
}

TEST_F(PoolTest, TasksOfACallerAreInterruptedWithinABlock) {
  StopFlag stop = 0;
  const auto block = [](InlayCall* call, const void* passed, int64_t number, void*, void*) -> int32_t {
    if (number == 2) *const_cast<StopFlag*>(static_cast<const StopFlag*>(passed)) = 1;
    for (;;) {
      if (const int32_t code = look_at(call, call->stop); code != INLAY_OK) return code;
      std::this_thread::yield();
    }
  };
  const InlayBlocks blocks = {block, nullptr, &stop, 64, 0, nullptr, kMemoryBytes};
  InlayCall call{};
  const auto the_callers_at_last = [](void*, std::size_t count, CallersPool::Task task, void* tasks) {
    std::vector<std::thread> threads;
    for (std::size_t i = 1; i < count; ++i) threads.emplace_back(task, tasks, i);
    for (std::thread& thread : threads) thread.join();
    task(tasks, 0);
  };
  CallersPool pool = {the_callers_at_last, nullptr, 4};
  call.pool = &pool;
  call.stop = call.stop_while_writing = reinterpret_cast<const int32_t*>(&stop);
  call.interrupted = [](InlayCall*) { return int32_t{INLAY_INTERRUPTED}; };
  EXPECT_EQ(run_blocks_by_caller(&call, &blocks), INLAY_INTERRUPTED);
}

TEST_F(PoolTest, AHelperLeavesWhenTooManyRun) {
  set_max_threads(2);
  Work work;
  std::thread other([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(3));
    const PoolUse use(2);
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
  });
  EXPECT_EQ(run(work, 64, 2).code, INLAY_OK);
  EXPECT_LE(work.running.most, 2);
  other.join();
}

TEST_F(PoolTest, TheFirstBlockThatFailsSaysWhy) {
  for (const int threads : {1, 2, 7}) {
    for (const int64_t fails_from : {0, 1, 5, 39}) {
      Work work;
      work.fails_from = fails_from;
      const Outcome outcome = run(work, 40, threads);
      EXPECT_EQ(outcome.code, INLAY_FAILED_AT_SITE);
      EXPECT_EQ(outcome.site, 7);
      EXPECT_EQ(outcome.number, fails_from) << threads << " threads";
    }
  }
}

TEST_F(PoolTest, TheFirstOfManyThatFailAtOnceSaysWhy) {
  const auto block = [](InlayCall* call, const void*, int64_t number, void*, void*) -> int32_t {
    call->failure_numbers[0] = number;
    return INLAY_FAILED_AT_SITE;
  };
  const InlayBlocks blocks = {block, nullptr, nullptr, 40, 0, nullptr, 0};
  PoolUse use(8);
  for (int i = 0; i < 20'000; ++i) {
    InlayCall call{};
    call.pool = &use;
    ASSERT_EQ(run_blocks(&call, &blocks), INLAY_FAILED_AT_SITE);
    ASSERT_EQ(call.failure_numbers[0], 0) << "call " << i;
  }
}

TEST_F(PoolTest, AnInterruptedBlockEndsAll) {
  for (const int threads : {1, 3}) {
    Work work;
    work.interrupted_from = 2;
    EXPECT_EQ(run(work, 64, threads).code, INLAY_INTERRUPTED);
  }
}

/// The caller's own block is done, and another thread's is not.
TEST_F(PoolTest, ACallThatWaitsForOthersCanBeInterrupted) {
  struct Waits {
    std::thread::id caller = std::this_thread::get_id();
    StopFlag stop = 0;
    std::atomic<bool> helper_began = false;
  };
  Waits waits;
  const auto block = [](InlayCall* call, const void* passed, int64_t, void*, void*) -> int32_t {
    Waits& w = *const_cast<Waits*>(static_cast<const Waits*>(passed));
    if (std::this_thread::get_id() == w.caller) {
      while (!w.helper_began) std::this_thread::yield();
      w.stop = 1;
      return INLAY_OK;
    }
    w.helper_began = true;
    while (*reinterpret_cast<const StopFlag*>(call->stop_while_writing) == 0) std::this_thread::yield();
    return call->interrupted(call);
  };
  const InlayBlocks blocks = {block, nullptr, &waits, 2, 0, nullptr, 0};
  InlayCall call{};
  PoolUse use(2);
  call.pool = &use;
  call.stop = call.stop_while_writing = reinterpret_cast<const int32_t*>(&waits.stop);
  call.interrupted = [](InlayCall*) { return int32_t{INLAY_INTERRUPTED}; };
  EXPECT_EQ(run_blocks(&call, &blocks), INLAY_INTERRUPTED);
}

TEST_F(PoolTest, AChildOfForkHasThreadsOfItsOwn) {
#if INLAY_SANITIZED
  GTEST_SKIP() << "ThreadSanitizer lets a child of several threads start none";
#endif
  Work work;
  run(work, 16, 4);
  EXPECT_GT(num_pool_threads(), 0);
  std::optional<PoolUse> of_parent(4);  // a host call forks
  const pid_t child = fork();
  if (child == 0) {
    const bool none = num_pool_threads() == 0 && max_threads() == 8;
    set_max_threads(3);
    Work own, again;
    bool right = run(own, 4, 3).made == "((0 1) (2 3))";
    of_parent.reset();
    run(again, 40, 64);  // the child's thread counts, once
    right = right && again.running.most == 3;
    _exit(none && right ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST_F(PoolTest, AProcessHasOneThreadAtLeast) {
  EXPECT_THROW(set_max_threads(0), Error);
  EXPECT_EQ(max_threads(), 8);
  set_max_threads(2 * kMostThreads);
  EXPECT_EQ(max_threads(), kMostThreads);
}

}  // namespace
}  // namespace inlay::runtime
