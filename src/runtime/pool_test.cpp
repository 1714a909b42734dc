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

struct Work {
  std::atomic<int> running = 0, most_at_once = 0;
  int64_t fails_from = 1000, interrupted_from = 1000;
};

int32_t run_one(InlayCall* call, const void* passed, int64_t block, void* states, void* memory) {
  if (memory) std::memset(memory, 1, kMemoryBytes);
  Work& work = *const_cast<Work*>(static_cast<const Work*>(passed));
  const int now = ++work.running;
  for (int most = work.most_at_once; most < now && !work.most_at_once.compare_exchange_weak(most, now);) {
  }
  std::this_thread::sleep_for(std::chrono::microseconds(200));
  --work.running;
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
    EXPECT_LE(work.most_at_once, most);
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
  EXPECT_LE(with_one.most_at_once, 2);
  EXPECT_EQ(alone.most_at_once, 1);
}

TEST_F(PoolTest, ACallWithinACallIsOneThread) {
  set_max_threads(2);
  const PoolUse outer(2), between(2);
  Work work;
  run(work, 40, 2);
  EXPECT_EQ(work.most_at_once, 2);
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
  EXPECT_LE(work.most_at_once, 2);
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
    right = right && again.most_at_once == 3;
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
