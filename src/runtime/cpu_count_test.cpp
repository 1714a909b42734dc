#include "runtime/cpu_count.h"

#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

namespace inlay::runtime {
namespace {

namespace fs = std::filesystem;

/// A root folder that holds what the system says of control groups.
class GroupQuota : public testing::Test {
 protected:
  ~GroupQuota() override { fs::remove_all(root_); }

  void write(const std::string& path, const std::string& text) {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text << "\n";
  }
  /// Of version 2; the path begins with / where it is not empty.
  void set_quota(const std::string& group, const std::string& text) {
    write("sys/fs/cgroup" + group + "/cpu.max", text);
  }
  void be_in(const std::string& lines) { write("proc/self/cgroup", lines); }
  int quota() const { return group_quota(root_); }

 private:
  const fs::path root_ = fs::temp_directory_path() / ("inlay_cpu_count_test." + std::to_string(getpid()));
};

TEST_F(GroupQuota, NobodySaysAnything) {
  EXPECT_EQ(quota(), kNoQuota);
  be_in("\n:\n0:\n0::/");
  EXPECT_EQ(quota(), kNoQuota);
  set_quota("", "max 100000");
  EXPECT_EQ(quota(), kNoQuota);
  set_quota("", "-1 100000");
  EXPECT_EQ(quota(), kNoQuota);
  set_quota("", "100000 0");
  EXPECT_EQ(quota(), kNoQuota);
}

TEST_F(GroupQuota, PartsOfACpuCountAsOne) {
  be_in("0::/");
  set_quota("", "200000 100000");
  EXPECT_EQ(quota(), 2);
  set_quota("", "200001 100000");
  EXPECT_EQ(quota(), 3);
  set_quota("", "1000 100000");
  EXPECT_EQ(quota(), 1);
}

TEST_F(GroupQuota, TheLeastOfTheGroupsAboveCounts) {
  be_in("0::/slice/service/job");
  set_quota("/slice/service/job", "max 100000");
  set_quota("/slice/service", "300000 100000");
  EXPECT_EQ(quota(), 3);
  set_quota("/slice", "800000 100000");
  EXPECT_EQ(quota(), 3);
  set_quota("/slice", "200000 100000");
  EXPECT_EQ(quota(), 2);
  set_quota("/slice/service/job", "50000 100000");
  EXPECT_EQ(quota(), 1);
  be_in("0::/slice");  // what stands below is of others
  EXPECT_EQ(quota(), 2);
}

TEST_F(GroupQuota, AContainerSeesItsOwnGroupAtTheRoot) {
  set_quota("", "400000 100000");
  write("sys/fs/other/cpu.max", "100000 100000");  // no group
  for (const char* outside : {"/docker/0123", "/../other", "/"}) {
    be_in("0::" + std::string(outside));
    EXPECT_EQ(quota(), 4) << outside;
  }
}

TEST_F(GroupQuota, OfTheFirstVersion) {
  be_in("9:memory:/a\n4:cpu,cpuacct:/a/b\n0::/c");
  write("sys/fs/cgroup/memory/a/cpu.max", "100000 100000");  // another controller's
  write("sys/fs/cgroup/cpu,cpuacct/a/b/cpu.cfs_quota_us", "-1");
  write("sys/fs/cgroup/cpu,cpuacct/a/b/cpu.cfs_period_us", "100000");
  EXPECT_EQ(quota(), kNoQuota);
  write("sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us", "250000");
  write("sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us", "100000");
  EXPECT_EQ(quota(), 3);
  write("sys/fs/cgroup/cpu/a/b/cpu.cfs_quota_us", "200000");  // by its other name
  write("sys/fs/cgroup/cpu/a/b/cpu.cfs_period_us", "100000");
  EXPECT_EQ(quota(), 2);
  write("sys/fs/cgroup/unified/c/cpu.max", "100000 100000");  // both versions at once
  EXPECT_EQ(quota(), 1);
}

TEST(CpuCount, IsOneAtLeast) {
  EXPECT_GE(cpu_count(), 1);
  EXPECT_LE(cpu_count(), sysconf(_SC_NPROCESSORS_CONF));
}

}  // namespace
}  // namespace inlay::runtime
