#include "support/whole_file.h"

#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>
#include <unistd.h>

namespace inlay {
namespace {

namespace fs = std::filesystem;

std::string contents(const fs::path& file) {
  std::stringstream out;
  out << std::ifstream(file).rdbuf();
  return out.str();
}

struct Folder {
  fs::path path = fs::path(::testing::TempDir()) / "inlay-whole-file-test";

  Folder() { fs::create_directories(path); }
  ~Folder() {
    fs::permissions(path, fs::perms::owner_all);
    fs::remove_all(path);
  }
};

TEST(WholeFile, ReplacesWhatIsThere) {
  const Folder folder;
  const fs::path file = folder.path / std::string(250, 'f');  // nearly the longest name
  for (const std::string text : {"first", "a longer one", "2"}) {
    EXPECT_FALSE(write_whole_file(file, text));
    EXPECT_EQ(contents(file), text);
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path), fs::directory_iterator()), 1);
}

/// Where no other file can be made beside it, a file is not begun anew in its place: the disk may be full.
TEST(WholeFile, KeepsWhatIsThereWhereItCannotBeReplaced) {
  const Folder folder;
  const fs::path file = folder.path / "file";
  ASSERT_FALSE(write_whole_file(file, "old"));
  fs::permissions(file, fs::perms::all);
  fs::permissions(folder.path,
                  fs::perms::owner_read | fs::perms::owner_exec | fs::perms::others_read | fs::perms::others_exec);
  const bool is_root = ::geteuid() == 0;  // who can write into every folder
  ASSERT_EQ(is_root ? ::seteuid(65534) : 0, 0);
  const std::error_code failure = write_whole_file(file, "new");
  ASSERT_EQ(is_root ? ::seteuid(0) : 0, 0);
  EXPECT_EQ(failure, std::errc::permission_denied);
  EXPECT_EQ(contents(file), "old");
}

}  // namespace
}  // namespace inlay
