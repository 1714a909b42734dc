// No number is read or written as the locale has it: under a locale with a comma every text is the same; and no source
// calls a function that would ask the locale.
#include <clocale>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <locale>
#include <sstream>

#include <gtest/gtest.h>

#include "backend/c/backend.h"
#include "compiler/compile.h"
#include "explain.h"
#include "explain/memory_map.h"
#include "ir/text.h"
#include "kernel/text.h"
#include "support/number_text.h"

// LeakSanitizer asks for this: glibc keeps the folders of LOCPATH.
extern "C" __attribute__((visibility("default"))) const char* __lsan_default_suppressions() {
  return "leak:argz_add_sep\n";
}

namespace inlay {
namespace {

namespace fs = std::filesystem;

const char* const kProgram =
    "graph @main(%x: f64[n]) {\n"
    "  %a = literal [1.5, 2.75] : f64[2]\n"
    "  %b = literal 0.1 : f64\n"
    "  %c = literal [(1.5, -2.25)] : c128[1]\n"
    "  %d = literal 1234567.5 : f64\n"
    "  %e = mul %x, %b\n"
    "  %f = add %e, %d\n"
    "  %g = exp %f\n"
    "  return %g, %a, %c\n"
    "}\n";

/// Every text that comes of the program: read, printed, lowered, printed, read again, explained, as C.
std::string texts() {
  const Graph graph = parse(kProgram, "p");
  Options options;
  options.backend = "c";
  const Lowered made = lower(graph, options);
  const std::string kernels = kernel::print(made.kernels);
  std::string out = print(graph) + print(made.graph) + kernels + kernel::print(kernel::parse(kernels, "k"));
  out += explain::memory_map(made.kernels, made.plan) + c_backend::source_of(made.kernels, made.plan).text;
  return out + str(1234567, " ", true, " ", 'c', " ", 1234567.5, " ", 0.25f) + number_text(1234.5) +
         fixed_text(1234.5, 2);
}

/// A locale that is compiled for the test into a folder of its own; empty where that cannot be done.
std::string comma_locale(const fs::path& folder) {
  fs::create_directories(folder);
  const std::string made = str("localedef -i de_DE -f UTF-8 '", (folder / "de_DE.UTF-8").string(), "' 2>/dev/null");
  [[maybe_unused]] const int status = std::system(made.c_str());
  return fs::exists(folder / "de_DE.UTF-8") ? "de_DE.UTF-8" : "";
}

TEST(Locale, ChangesNoText) {
  const fs::path folder = fs::path(testing::TempDir()) / "inlay-locales";
  const std::string name = comma_locale(folder);
  if (name.empty()) GTEST_SKIP() << "localedef makes no locale; its sources are in the Debian package `locales`";
  const std::string plain = texts();
  setenv("LOCPATH", folder.c_str(), 1);
  const char* set = std::setlocale(LC_ALL, name.c_str());
  ASSERT_NE(set, nullptr);
  EXPECT_STREQ(std::localeconv()->decimal_point, ",");
  const std::string in_c = texts();
  const std::locale before = std::locale::global(std::locale(name));
  const std::string in_cpp = texts();
  std::locale::global(before);
  std::setlocale(LC_ALL, "C");
  fs::remove_all(folder);
  EXPECT_EQ(in_c, plain);
  EXPECT_EQ(in_cpp, plain);
}

/// The sources of the product, and what measures and tests none of it.
std::vector<fs::path> sources() {
  std::vector<fs::path> out;
  for (const char* folder : {"src", "tools", "python/src", "include"}) {
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(INLAY_SOURCE_DIR) / folder)) {
      const std::string name = entry.path().filename().string();
      const bool is_source =
          name.ends_with(".cpp") || name.ends_with(".h") || name.ends_with(".c") || name.ends_with(".def");
      const bool lists_names = name == "header_names.cpp";  // of functions that it does not call
      if (is_source && !lists_names && !name.ends_with("_test.cpp")) out.push_back(entry.path());
    }
  }
  return out;
}

TEST(Locale, IsAskedByNoSource) {
  const std::vector<fs::path> files = sources();
  ASSERT_GT(files.size(), 300U);
  for (const fs::path& file : files) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    for (const char* name : {"strtod",       "strtof",       "strtold",      "std::stod",    "std::stof",
                             "std::stold",   "atof",         "printf",       "scanf",        "std::setprecision",
                             "std::isalpha", "std::isdigit", "std::isalnum", "std::isspace", "std::isupper",
                             "std::islower", "std::tolower", "std::toupper", "<cctype>",     "<iomanip>"}) {
      EXPECT_EQ(text.str().find(name), std::string::npos)
          << file << " has " << name << ", which depends on the locale: support/number_text.h, support/ascii.h";
    }
  }
}

}  // namespace
}  // namespace inlay
