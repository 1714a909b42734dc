#include "support/whole_file.h"

#include <atomic>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

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

TEST(WholeFile, FollowsALinkToWhatIsNotThereYet) {
  const Folder folder;
  fs::create_directories(folder.path / "kept");
  fs::create_symlink("kept/file", folder.path / "first");
  fs::create_symlink(folder.path / "first", folder.path / "second");
  ASSERT_FALSE(write_whole_file(folder.path / "second", "new"));
  EXPECT_TRUE(fs::is_symlink(folder.path / "second") && fs::is_symlink(folder.path / "first"));
  EXPECT_EQ(contents(folder.path / "kept/file"), "new");
  fs::create_symlink("around", folder.path / "around");
  EXPECT_EQ(write_whole_file(folder.path / "around", "new"), std::errc::too_many_symbolic_link_levels);
  fs::create_symlink("nowhere/file", folder.path / "astray");
  EXPECT_EQ(write_whole_file(folder.path / "astray", "new"), std::errc::no_such_file_or_directory);
}

TEST(WholeFile, IsReadByNobodyWhoMayNotReadTheOldOne) {
  const Folder folder;
  const fs::path file = folder.path / "file";
  ASSERT_FALSE(write_whole_file(file, "old"));
  for (const fs::perms rights : {fs::perms::owner_read | fs::perms::owner_write, fs::perms::owner_read}) {
    fs::permissions(file, rights);
    std::atomic<bool> is_done = false;
    fs::perms seen = fs::perms::none;
    std::thread reader([&] {
      while (!is_done) {
        std::error_code gone;
        for (const fs::directory_entry& entry : fs::directory_iterator(folder.path, gone)) {
          if (entry.path().extension() != ".part" || entry.file_size(gone) == 0) continue;
          const fs::file_status status = fs::status(entry.path(), gone);
          if (!gone) seen |= status.permissions();
        }
      }
    });
    const std::error_code failure = write_whole_file(file, std::string(16 << 20, 'x'));
    is_done = true;
    reader.join();
    EXPECT_FALSE(failure);
    EXPECT_EQ(seen & ~rights, fs::perms::none);
    EXPECT_EQ(fs::status(file).permissions(), rights);
  }
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
