#include "file/cache_folder.h"

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace inlay::file {
namespace {

namespace fs = std::filesystem;
using std::chrono::hours;

/// A variable of the environment for as long as this lives; null: none.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* was = std::getenv(name)) was_ = was;
    value != nullptr ? ::setenv(name, value, 1) : ::unsetenv(name);
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable() { was_ ? ::setenv(name_, was_->c_str(), 1) : ::unsetenv(name_); }

 private:
  const char* name_;
  std::optional<std::string> was_;
};

TEST(CacheFolder, IsWhatTheVariablesSay) {
  const Variable home("HOME", "/home/somebody");
  const Variable xdg("XDG_CACHE_HOME", "/caches");
  {
    const Variable cache("INLAY_CACHE", "/somewhere/else");
    EXPECT_EQ(cache_folder(), "/somewhere/else");
  }
  for (const char* below_home : {"~/kept/here", "~/kept/here/", "/home/somebody/kept/here//"}) {
    const Variable cache("INLAY_CACHE", below_home);
    EXPECT_EQ(cache_folder().string(), "/home/somebody/kept/here");
  }
  for (const char* itself : {"~", "~/"}) {
    const Variable cache("INLAY_CACHE", itself);
    EXPECT_EQ(cache_folder().string(), "/home/somebody");
  }
  {
    const Variable cache("INLAY_CACHE", "0");
    EXPECT_TRUE(cache_folder().empty());
  }
  const Variable cache("INLAY_CACHE", nullptr);
#ifndef __APPLE__
  EXPECT_EQ(cache_folder(), "/caches/inlay");
  {
    const Variable relative("XDG_CACHE_HOME", "caches");
    EXPECT_EQ(cache_folder(), "/home/somebody/.cache/inlay");
  }
#endif
  const Variable no_xdg("XDG_CACHE_HOME", nullptr);
  const Variable no_home("HOME", nullptr);
  EXPECT_TRUE(cache_folder().empty());
}

TEST(CacheFolder, HasASizeInBytesOrInUnits) {
  const auto limit_of = [](const char* text) {
    const Variable size("INLAY_CACHE_SIZE", text);
    return cache_limit_bytes();
  };
  EXPECT_EQ(limit_of("1000"), 1000);
  EXPECT_EQ(limit_of("3K"), 3072);
  EXPECT_EQ(limit_of("2G"), int64_t{2} << 30);
  EXPECT_EQ(limit_of(""), kCacheBytes);
  for (const char* wrong : {"much", "-1", "3T", "3 M", "9999999999999999G"}) {
    EXPECT_EQ(limit_of(wrong), kCacheBytes);
    const Variable size("INLAY_CACHE_SIZE", wrong);
    EXPECT_EQ(given_cache_limit_bytes(), std::nullopt);
  }
}

class CacheEntries : public testing::Test {
 protected:
  CacheEntries() { fs::create_directory(folder_); }
  ~CacheEntries() override { fs::remove_all(folder_); }

  fs::path add(char digit, int bytes, int hours_ago, const std::string& more = "") {
    const fs::path path = folder_ / (std::string(32, digit) + ".inlayfn" + more);
    std::ofstream(path) << std::string(bytes, 'x');
    fs::last_write_time(path, fs::file_time_type::clock::now() - hours(hours_ago));
    return path;
  }

  fs::path folder_ = fs::path(testing::TempDir()) / ("cache_entries." + std::to_string(::getpid()));
};

TEST_F(CacheEntries, TheLongestUnusedGoFirst) {
  const fs::path newest = add('a', 10, 0), oldest = add('b', 10, 3), other = add('c', 10, 2);
  EXPECT_EQ(cache_entries(folder_).front().path, oldest);
  EXPECT_TRUE(trim_cache(folder_, 30).empty());
  EXPECT_EQ(trim_cache(folder_, 29).size(), 1);
  EXPECT_FALSE(fs::exists(oldest));
  EXPECT_EQ(trim_cache(folder_, 10).size(), 1);
  EXPECT_FALSE(fs::exists(other));
  EXPECT_TRUE(fs::exists(newest));
  add('d', 0, 0);
  EXPECT_EQ(trim_cache(folder_, 0).size(), 2);
}

TEST_F(CacheEntries, FilesOfOthersStay) {
  std::ofstream(folder_ / "softmax.inlayfn") << "saved by a user";
  const fs::path half_done = add('a', 10, 0, ".123.part"), forgotten = add('b', 10, 2, ".124.part");
  EXPECT_TRUE(cache_entries(folder_).empty());
  EXPECT_TRUE(trim_cache(folder_, 0).empty());
  EXPECT_TRUE(fs::exists(folder_ / "softmax.inlayfn"));
  EXPECT_TRUE(fs::exists(half_done));
  EXPECT_FALSE(fs::exists(forgotten));
}

TEST_F(CacheEntries, AFolderThatIsNoneHasNone) {
  EXPECT_TRUE(cache_entries(folder_ / "missing").empty());
  std::ofstream(folder_ / "file") << "x";
  EXPECT_TRUE(trim_cache(folder_ / "file", 0).empty());
}

}  // namespace
}  // namespace inlay::file
