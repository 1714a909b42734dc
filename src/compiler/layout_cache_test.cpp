#include "compiler/layout_cache.h"

#include <atomic>
#include <random>
#include <thread>

#include <gtest/gtest.h>

#include "compiler/compile.h"
#include "compiler/object.h"
#include "ir/text.h"

namespace inlay {
namespace {

runtime::ArenaSpec arena() {
  const Lowered program = lower(parse(R"(graph @main(%x: f64[n, n]) {
    %a = matmul %x, %x
    %b = matmul %a, %x
    %c = matmul %b, %a
    return %c
  })"));
  return make_object(program.kernels, program.plan, {}, "").arena;
}

/// Counts how often it is asked.
memory::PlannerOptions counting(std::atomic<int>& count) {
  return {.custom = [&count](std::span<const StorageToPlace> storages) {
    ++count;
    std::vector<int64_t> offsets;
    int64_t end = 0;
    for (const StorageToPlace& storage : storages) end = offsets.emplace_back(end) + storage.size_bytes;
    return offsets;
  }};
}

int64_t ask(const runtime::LayoutFunction& layout, std::size_t num_storages, int64_t n) {
  std::vector<int64_t> offsets(num_storages);
  return layout(0, std::vector<int64_t>{n}, offsets);
}

TEST(LayoutCache, KeepsThoseThatWereUsedLast) {
  std::atomic<int> count = 0;
  const runtime::ArenaSpec program = arena();
  const auto layout = layout_function(program, counting(count));
  const auto plans_for = [&](int64_t n) {
    const int before = count;
    EXPECT_EQ(ask(layout, static_cast<std::size_t>(program.num_storages), n), 2 * 8 * n * n) << "n = " << n;
    return count - before;
  };
  const auto most = static_cast<int64_t>(kMaxLayouts);
  for (int64_t n = 0; n < most; ++n) EXPECT_EQ(plans_for(8 * n), 1);
  for (int64_t n = 0; n < most; ++n) EXPECT_EQ(plans_for(8 * n), 0);
  EXPECT_EQ(plans_for(0), 0);         // used again
  EXPECT_EQ(plans_for(8 * most), 1);  // takes the place of the one that was not used for longest
  EXPECT_EQ(plans_for(0), 0);
  EXPECT_EQ(plans_for(8), 1);
}

TEST(LayoutCache, MayBeAskedByManyThreads) {
  const runtime::ArenaSpec program = arena();
  const auto layout = layout_function(program, {});
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (unsigned seed = 0; seed < 6; ++seed) {
    threads.emplace_back([&, seed] {
      std::minstd_rand random(seed + 1);
      for (int i = 0; i < 500; ++i) {
        const auto n = static_cast<int64_t>(8 * (random() % 100));  // more than are kept
        if (ask(layout, static_cast<std::size_t>(program.num_storages), n) != 2 * 8 * n * n) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace inlay
