#include "memory/load.h"

#include <random>

#include <gtest/gtest.h>

namespace inlay::memory {
namespace {

TEST(Load, HasTheMaximumOfAllTicks) {
  std::mt19937 random(1);
  for (const int num_ticks : {2, 3, 8, 13}) {
    std::vector<double> bytes(static_cast<std::size_t>(num_ticks), 1000);
    Load load(bytes);
    for (int i = 0; i < 100; ++i) {
      const auto tick = [&] { return static_cast<int32_t>(random() % static_cast<unsigned>(num_ticks + 1)); };
      const Lifetime life{tick(), tick()};  // may be empty
      const double change = static_cast<double>(random() % 9) - 4;
      load.add(life, change);
      for (int32_t t = life.begin; t < life.end; ++t) bytes[static_cast<std::size_t>(t)] += change;
      ASSERT_EQ(load.max(), std::ranges::max(bytes)) << num_ticks << " ticks, change " << i;
    }
  }
}

}  // namespace
}  // namespace inlay::memory
