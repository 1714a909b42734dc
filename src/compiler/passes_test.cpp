#include "compiler/passes.h"

#include <set>

#include <gtest/gtest.h>

#include "support/error.h"

namespace inlay {
namespace {

TEST(Passes, HaveNamesOfTheirOwn) {
  std::set<std::string_view> names = {"fuse", "memory", "emit", "load"};
  for (const GraphPass& pass : graph_passes()) EXPECT_TRUE(names.insert(pass.name).second) << pass.name;
  for (const LoopPass& pass : loop_passes()) EXPECT_TRUE(names.insert(pass.name).second) << pass.name;
}

TEST(Passes, AnUnknownRewriteIsToldItsNeighbour) {
  try {
    require_rewrite("pow-tow");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "error[unknown-name]: there is no rewrite rule or pass pow-tow\n  help: did you mean pow-two?");
  }
}

TEST(Passes, MayBeLeftOutUnlessOthersNeedThem) {
  for (const GraphPass& pass : graph_passes()) EXPECT_NO_THROW(require_rewrite(pass.name)) << pass.name;
  for (const LoopPass& pass : loop_passes()) {
    if (pass.is_needed) continue;
    EXPECT_NO_THROW(require_rewrite(pass.name)) << pass.name;
  }
  for (const char* needed : {"fuse", "name-kernels"}) {
    try {
      require_rewrite(needed);
      FAIL() << needed;
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()), "error[unsupported]: the pass " + std::string(needed) +
                                               " cannot be left out: what comes after it needs it");
    }
  }
}

TEST(Passes, EndWithTheOneThatIsAskedFor) {
  EXPECT_STREQ(up_to("simplify", graph_passes()).back().name, "simplify");
  EXPECT_EQ(up_to("share-rows", graph_passes()).size(), graph_passes().size());
  EXPECT_STREQ(up_to("share-rows", loop_passes()).back().name, "share-rows");
  EXPECT_STREQ(only("share-rows", loop_passes()).front().name, "share-rows");
  EXPECT_TRUE(only("share-rows", graph_passes()).empty());
}

}  // namespace
}  // namespace inlay
