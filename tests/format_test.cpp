// Files of every format that inlay has written (tests/format/N) are loaded from C++, and their kernels compiled anew.
// tests/python/test_format.py looks at more of what they compute.
#include <filesystem>
#include <fstream>
#include <iterator>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/backends.h"
#include "file/function_file.h"
#include "inlay/inlay.h"
#include "inlay/runtime.h"

namespace inlay {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;

std::vector<fs::path> formats() {
  std::vector<fs::path> out;
  for (const auto& entry : fs::directory_iterator(fs::path(INLAY_SOURCE_DIR) / "tests" / "format")) {
    const std::string name = entry.path().filename().string();
    if (entry.is_directory() && name.find_first_not_of("0123456789") == std::string::npos) out.push_back(entry.path());
  }
  return out;
}

file::FunctionFile read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  return file::read(std::as_bytes(std::span(text)), path.string());
}

/// The function for a CPU that cannot run its code.
Executable anew(const fs::path& path) {
  file::FunctionFile file = read(path);
  file.needs.emplace_back("what no CPU has");
  return Executable::from_bytes(file::write(file), path.string());
}

std::vector<double> numbers(const Array& array) {
  const std::span<const double> elements = array.elements<double>();
  return {elements.begin(), elements.end()};
}

void expect_shares(const Executable& shares) {
  const std::vector<double> x = {0, 0, 3, 1.5}, w = {1, 2};
  const std::vector<Array> out = shares({View<const double>(x.data(), {2, 2}), w});
  EXPECT_THAT(numbers(out[0]), ElementsAre(0.5, 0.5, 0.5, 0.5));
  EXPECT_THAT(numbers(out[1]), ElementsAre(0, 3));
}

void expect_counts(const Executable& counts) {
  const std::vector<int64_t> bins = {0, -1, 0}, beyond = {0, 3, 0};
  const std::vector<double> weights = {1, 2, 4}, to = {10, 20, 30};
  EXPECT_THAT(numbers(counts({bins, weights, to})[0]), ElementsAre(15, 20, 32));
  try {
    counts({beyond, weights, to});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::index_out_of_bounds);
    EXPECT_EQ(error.diagnostic().message, "scatter: index 3 is out of bounds for axis 0 with size 3");
  }
}

void expect_factor(const Executable& factor) {
  const std::vector<double> a = {2, 0, 1, 2};
  const std::vector<Array> out = factor({View<const double>(a.data(), {2, 2})});
  EXPECT_THAT(numbers(out[0]), ElementsAre(4, 2, 2, 5));
  EXPECT_THAT(numbers(out[1]), ElementsAre(2, 0, 1, 2));
}

template <class Load>
void expect_all(const std::vector<fs::path>& folders, const Load& load) {
  for (const fs::path& folder : folders) {
    SCOPED_TRACE(folder.string());
    expect_shares(load(folder / "shares.inlayfn"));
    expect_counts(load(folder / "counts.inlayfn"));
    expect_factor(load(folder / "factor.inlayfn"));
  }
}

TEST(Format, FilesOfEachAreKept) {
  EXPECT_EQ(formats().size(), file::kFormat);
  for (const fs::path& folder : formats()) {
    for (const char* name : {"shares", "counts", "factor"}) {
      const file::FunctionFile file = read(folder / (std::string(name) + ".inlayfn"));
      EXPECT_NE(file::find_section(file, "python"), nullptr) << name;
      EXPECT_THAT(file.needs, ElementsAre("x86-64")) << name;
    }
  }
}

/// By the code in them, on x86-64 and if it is for this version; else as the next.
bool has_code_that_runs([[maybe_unused]] const fs::path& folder) {
#if defined(__x86_64__)
  return read(folder / "shares.inlayfn").code_abi == INLAY_CODE_ABI;
#else
  return false;
#endif
}

TEST(Format, AreLoaded) {
  std::vector<fs::path> folders = formats();
  if (!backend_named("llvm").is_available()) {
    std::erase_if(folders, [](const fs::path& folder) { return !has_code_that_runs(folder); });
    if (folders.empty()) GTEST_SKIP() << "no code that runs, and a build without a code generator";
  }
  expect_all(folders, [](const fs::path& path) { return Executable::load(path); });
}

TEST(Format, AreCompiledAnewWhereTheirCodeCannotRun) {
  if (!backend_named("llvm").is_available()) GTEST_SKIP() << "a build without a code generator";
  expect_all(formats(), anew);
}

}  // namespace
}  // namespace inlay
