#include "explain/memory_map.h"

#include <gtest/gtest.h>

#include "kernel/text.h"
#include "memory/plan.h"
#include "memory/sharing.h"

namespace inlay::explain {
namespace {

// Another value of the same storage may have so many bytes whatever n is, so that nobody asks for n.
TEST(MemoryPage, ShowsAsAWholeWhatNobodyKnowsThePartOf) {
  auto [program, plan] = memory::plan_memory(memory::share(kernel::parse(
      R"(program @main(x: f64[n] param 0, t: f64[n] temporary, r: f64[n] output 0) symbols n = x.0 {
  kernel @k0 {
    stage (i < n) {
      %0 = load x[n - 1 - i] : f64
      store t[i] set %0
    }
  }
  kernel @k1 {
    out r start fill 0.0
    stage (i < n, j < n) {
      %0 = load t[j] : f64
      fold add r[i] %0 : f64
    }
  }
})")));
  EXPECT_THROW(memory_page(program, plan, {}), Error);
  ASSERT_EQ(plan.sharing.storages.size(), 2U);
  for (memory::SharedStorage& storage : plan.sharing.storages) storage.size_bytes = 4096;
  plan.layouts = {{.offset_bytes = {0, 0}, .arena_bytes = 4096, .lower_bound_bytes = 4096}};
  plan.is_static = true;
  const Page page = memory_page(program, plan, {});
  ASSERT_EQ(page.buffers.size(), 1U);
  EXPECT_EQ(page.buffers[0].bytes, 4096);
  const std::vector<int64_t> sizes = {7};
  EXPECT_EQ(memory_page(program, plan, {}, sizes).buffers[0].bytes, 56);
}

}  // namespace
}  // namespace inlay::explain
