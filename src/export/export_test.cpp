// include/inlay/export.h; tests/python/test_export.py has what exported code computes, and what is refused.
#include "inlay/export.h"

#include <filesystem>
#include <fstream>
#include <iterator>

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "backend/c/backend.h"
#include "inlay/error.h"
#include "inlay/value.h"

namespace inlay {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

/// Is removed with all that is in it.
class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / str("inlay-export-test-", getpid())) { fs::remove_all(path_); }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  fs::path operator/(const char* name) const { return path_ / name; }

 private:
  fs::path path_;
};

std::string contents(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// y = w x, for a matrix of any size.
Graph product(std::string name = "product") {
  ArrayProgram p(std::move(name));
  const Dim n = p.symbol("n"), k = p.symbol("k");
  const Value x = p.param("x", DType::f64, {k}), w = p.bound("w", DType::f64, {n, k});
  p.output(sum(w * x, 1), "y");
  return p.finish();
}

std::string failure(const std::function<void()>& of) {
  try {
    of();
  } catch (const Error& error) {
    return std::string(code_name(error.code())) + ": " + error.diagnostic().message;
  }
  return "nothing failed";
}

// Columns of 1, 2, 3 and 4, 5, 6.
const std::vector<double> kColumns = {1, 2, 3, 4, 5, 6};
const View<const double> kMatrix(kColumns.data(), {3, 2}, {1, 3});

TEST(Export, ASharedLibraryComputesWhatTheGraphSays) {
  if (!c_backend::has_compiler()) GTEST_SKIP() << "no C compiler";
  const Folder folder;
  const Exported made = exported(product(), {.name = "twice", .kind = ExportKind::shared, .bound = {{"w", kMatrix}}});
  EXPECT_EQ(made.header.name, "twice.h");
  EXPECT_EQ(made.code.name, "libtwice.so");
  made.save(folder / "sub");
  EXPECT_EQ(contents(folder / "sub/twice.h"), made.header.bytes);
  EXPECT_THAT(made.header.bytes, HasSubstr("int32_t twice(const double x[2], double y[3], void* arena);"));

  void* library = dlopen((folder / "sub/libtwice.so").c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  auto* twice = reinterpret_cast<int32_t (*)(const double*, double*, void*)>(dlsym(library, "twice"));
  ASSERT_NE(twice, nullptr);
  const double x[] = {10, 1};
  double y[3] = {};
  alignas(64) std::byte arena[4096];
  EXPECT_EQ(twice(x, y, arena), 0);
  EXPECT_THAT(y, testing::ElementsAre(14, 25, 36));
  dlclose(library);
}

TEST(Export, TheNameIsThatOfTheGraphWhereNoneIsGiven) {
  const ExportOptions options{.sizes = {{"n", 3}}, .bound = {{"w", kMatrix}}};
  const Exported made = exported(product("times"), options);
  EXPECT_EQ(made.code.name, "times.c");
  EXPECT_THAT(made.code.bytes, HasSubstr("\n#include \"times.h\"\n"));
  EXPECT_EQ(failure([&] { exported(product("my product"), options); }),
            "unknown-name: an exported function cannot have this name: `my product` is no C identifier");
  const Exported renamed = exported(product("my product"), {.name = "times", .bound = {{"w", kMatrix}}});
  EXPECT_EQ(renamed.code.bytes, made.code.bytes);
}

TEST(Export, TheFreestandingFormIncludesNothingOfAHostedC) {
  const ExportOptions options{.sizes = {{"n", 3}}, .bound = {{"w", kMatrix}}, .freestanding = true};
  const std::string code = exported(product(), options).code.bytes;
  EXPECT_THAT(code, HasSubstr("#include <stddef.h>"));
  EXPECT_THAT(code, HasSubstr("for (int32_t "));
  for (const char* header : {"<math.h>", "<string.h>"}) EXPECT_THAT(code, testing::Not(HasSubstr(header)));
}

TEST(Export, ProductsCallTheBlasThatIsAskedFor) {
  ArrayProgram p("product");
  const Value a = p.param("a", DType::f32, {20, 20});
  p.output(matmul(a, a), "y");
  const Graph graph = p.finish();
  const std::string calls = "sgemm_(b_by_rows";
  EXPECT_THAT(exported(graph, {.blas = true}).code.bytes, HasSubstr(calls));
  EXPECT_THAT(exported(graph).code.bytes, testing::Not(HasSubstr(calls)));
}

TEST(Export, ItSaysHowLargeItIs) {
  if (!c_backend::has_compiler()) GTEST_SKIP() << "no C compiler";
  const Exported made = exported(product(), {.kind = ExportKind::object, .bound = {{"w", kMatrix}}});
  EXPECT_GT(made.sizes.text.value(), 0);
  EXPECT_GE(made.sizes.rodata.value(), 48);  // of w
  EXPECT_EQ(made.sizes.data, 0);
  EXPECT_THAT(made.header.bytes, HasSubstr(str("product_ARENA_BYTES ", made.sizes.arena.value(), "\n")));
  const Exported source = exported(product(), {.bound = {{"w", kMatrix}}});
  EXPECT_EQ(source.sizes.text, std::nullopt);
  EXPECT_EQ(source.sizes.arena, made.sizes.arena);
}

TEST(Export, ArraysLieInTheSectionThatIsNamed) {
  const Exported made = exported(product(), {.bound = {{"w", kMatrix}}, .section = ".flash"});
  EXPECT_THAT(made.code.bytes, HasSubstr("#define INLAY_SECTION __attribute__((section(\".flash\")))"));
  EXPECT_THAT(made.code.bytes, HasSubstr("w_elements[] INLAY_SECTION = {"));
  EXPECT_EQ(failure([&] { exported(product(), {.bound = {{"w", kMatrix}}, .section = ".bss"}); }),
            "unknown-name: arrays cannot lie in this section: `.bss` is a section for something else than constants");
}

TEST(Export, ArraysLieInNoSectionWhoseConstantsLinkersMerge) {
  for (const char* name : {".rodata.cst8", ".rodata.str1.1", ".srodata.cst8"}) {
    EXPECT_EQ(failure([&] { exported(product(), {.bound = {{"w", kMatrix}}, .section = name}); }),
              str("unknown-name: arrays cannot lie in this section: `", name,
                  "` is a section whose equal constants linkers merge"));
  }
}

TEST(Export, NoNameEndsAComment) {
  if (!c_backend::has_compiler()) GTEST_SKIP() << "no C compiler";
  for (const char* name : {"n*/", "/*n", "n*\\\n/ int y;", "n*/*/"}) {
    ArrayProgram p("shift");
    p.output(p.param("x", DType::f64, {p.symbol(name)}) + 1.0, "y");
    const Graph graph = p.finish();
    const Exported made = exported(graph, {});
    EXPECT_THAT(made.header.bytes, testing::Not(HasSubstr(name)));
    EXPECT_NO_THROW(exported(graph, {.kind = ExportKind::object})) << name;
  }
}

TEST(Export, AFreestandingCHasNoFunctionsOfComplexNumbers) {
  ArrayProgram p("turn");
  p.output(exp(p.param("z", DType::c128, {3})), "y");
  EXPECT_EQ(exported(p.finish(), {}).code.name, "turn.c");
  ArrayProgram again("turn");
  again.output(exp(again.param("z", DType::c128, {3})), "y");
  EXPECT_EQ(failure([&] { exported(again.finish(), {.freestanding = true}); }),
            "unsupported: @turn cannot be exported, as C has not all that it uses: exp_c128 is a call of a function of "
            "<complex.h>");
}

TEST(Export, WhatDoesNotFitIsSaid) {
  const auto said = [](const ExportOptions& options) { return failure([&] { exported(product(), options); }); };
  EXPECT_EQ(said({}), "wrong-argument-count: no array for the bound parameter %w");
  EXPECT_EQ(said({.bound = {{"w", kColumns}}}), "shape-mismatch: w: an array of shape [6] where f64[6, k] is expected");
  EXPECT_EQ(said({.sizes = {{"m", 3}}, .bound = {{"w", kMatrix}}}), "unknown-name: the program has no size m");
  EXPECT_EQ(said({.bound = {{"w", kMatrix}}, .compile = {.planner = "best"}}),
            "unknown-name: planner=best: there is no such planner");
}

TEST(Export, AFailureNamesTheLineOfTheCall) {
  ArrayProgram p("pick");
  const Value x = p.param("x", DType::f64, {3}), i = p.param("i", DType::i64, {2});
  p.output(x[i], "y");
  EXPECT_THAT(exported(p.finish()).code.bytes, HasSubstr("export_test.cpp:"));
}

TEST(Export, AFolderThatCannotBeMadeIsSaid) {
  const Folder folder;
  const Exported made = exported(product(), {.bound = {{"w", kMatrix}}});
  made.save(folder / "a");
  EXPECT_THAT(failure([&] { made.save(folder / "a/product.h"); }), HasSubstr("a/product.h"));
  EXPECT_THAT(failure([&] { made.save("/proc/none"); }), HasSubstr("the folder /proc/none cannot be made: "));
}

}  // namespace
}  // namespace inlay
