// What the C reads like, and what its compiler says of it.
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "backend/c/compiled_test.h"
#include "backend/c/functions.h"
#include "backend/c/text.h"
#include "support/ascii.h"

namespace inlay::c_backend::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::string source_of(std::string_view text) {
  const auto [program, plan] = memory::plan_memory(kernel::parse(text));
  return c_backend::source_of(program, plan).text;
}

TEST(Functions, EachLibraryOpHasASourceForEachOfItsDTypes) {
  std::set<std::string> names;
  for (const Function& function : functions()) EXPECT_TRUE(names.insert(function.name).second) << function.name;
  for (int op = 0; op < kNumLibraryOps; ++op) {
    for (DType dtype : {DType::boolean, DType::i8, DType::i16, DType::i32, DType::i64, DType::u8, DType::u16,
                        DType::u32, DType::u64, DType::f32, DType::f64, DType::c64, DType::c128}) {
      const std::string name = str("inlay_l_", facts(LibraryOp(op)).name, "_", dtype_name(dtype));
      EXPECT_TRUE(names.contains(name) || !accepts(LibraryOp(op), dtype)) << name;
    }
  }
}

/// Set until the end of the test.
class Environment {
 public:
  Environment(const char* name, const char* value) : name_(name) {
    if (const char* was = std::getenv(name)) was_ = was;
    setenv(name, value, 1);
  }
  ~Environment() { was_ ? setenv(name_, was_->c_str(), 1) : unsetenv(name_); }

 private:
  const char* name_;
  std::optional<std::string> was_;
};

std::string error_of(std::string_view text) {
  try {
    Compiled compiled(text);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

constexpr const char* kScale = R"(program @main(x: f64[n] param 0, s: f64 param 1, y: f64[n] output 0) symbols n = x.0 {
  kernel @k0 { stage (i < n) { %0 = load x[i] : f64 %1 = load s[] : f64 %2 = mul %0, %1 : f64 store y[i] set %2 } } })";

TEST(Emit, ReadsLikeTheProgram) {
  EXPECT_THAT(source_of(kScale), HasSubstr(R"(/* kernel @k0: stage (i < n) */
static int32_t k0(InlayCall* call, const int64_t n, const double* restrict x,
    const double* restrict s, double* restrict y) {
  if (n > 0) {
    const double s_1 = s[0];
    for (int64_t i_block = 0; i_block < n; i_block += 32768) {
      if (ended(call, call->stop_while_writing)) return INLAY_INTERRUPTED;
      const int64_t i_end = min_i64(i_block + 32768, n);
      for (int64_t i = i_block; i < i_end; ++i) {
        const double x_0 = x[i];
        const double y_2 = x_0 * s_1;
        y[i] = y_2;
      }
    }
  }
  return INLAY_OK;
}

int32_t inlay_entry(InlayCall* call) {
  const int64_t n = call->symbols[0];
  const double* x = call->params[0];
  const double* s = call->params[1];
  double* y = call->outputs[0];
  {
    const int32_t status = k0(call, n, x, s, y);
    if (status != INLAY_OK) return status;
  }
  return INLAY_OK;
}
)"));
}

TEST(Emit, WhatIsShortHasNoBlocks) {
  EXPECT_THAT(source_of(R"(program @main(x: f64[300] param 0, y: f64[300] output 0) {
    kernel @k0 { stage (i < 300) { %0 = load x[i] : f64 %1 = neg %0 : f64 store y[i] set %1 } } })"),
              HasSubstr(R"(static void k0(const double* restrict x, double* restrict y) {
  for (int64_t i = 0; i < 300; ++i) {)"));
}

TEST(Emit, AxesInRowMajorOrderAreOneLoopWithAllTheirNames) {
  EXPECT_THAT(source_of(R"(program @main(x: f64[3, 5] param 0, y: f64[3, 5] output 0) {
    kernel @k0 { stage (i < 3, j < 5) { %0 = load x[i, j] : f64 %1 = neg %0 : f64 store y[i, j] set %1 } } })"),
              HasSubstr(R"(  for (int64_t ij = 0; ij < 15; ++ij) {
    const double x_0 = x[ij];)"));
}

TEST(Emit, ANameOfTheLanguageOrOfTheLibraryIsNoVariable) {
  const std::string source = source_of(
      R"(program @main(double: f64[exp] param 0, call: f64[exp] output 0, fail: f64 scalar) symbols exp = double.0 {
    kernel @k0 { out fail start fill 0.0
      stage (n < exp) { %0 = load double[n] : f64 %1 = exp %0 : f64 fold add fail[] %1 : f64 } }
    kernel @memcpy { stage (i < exp) { %0 = load fail[] : f64 store call[i] set %0 } } })");
  EXPECT_THAT(source, HasSubstr("const double* double_2 = call->params[0];"));
  EXPECT_THAT(source,
              HasSubstr("static int32_t memcpy_2(InlayCall* call, const int64_t exp_2, double* restrict call_2,\n"
                        "    const double fail_2)"));
  EXPECT_THAT(source, HasSubstr("const double exp_1 = exp_f64(double_2_0);"));
}

TEST(Emit, WhatSharesBytesIsNotRestrict) {
  const std::string source = source_of(R"(program @main(x: f64[n] param 0, t: f64[n] temporary, u: f64[n] temporary,
      y: f64[n] output 0) symbols n = x.0 {
    kernel @k0 { stage (i < n) { %0 = load x[i] : f64 %1 = neg %0 : f64 store t[i] set %1 } }
    kernel @k1 { stage (i < n) { %0 = load t[i] : f64 %1 = exp %0 : f64 store u[i] set %1 } }
    kernel @k2 { outer (i < n) stage (j < n) { %0 = load u[j] : f64 fold add y[i] %0 : f64 } } })");
  EXPECT_THAT(source, HasSubstr("static int32_t k1(InlayCall* call, const int64_t n, const double* t, double* u)"));
  EXPECT_THAT(source, HasSubstr("static int32_t k2(InlayCall* call, const int64_t n, const double* restrict u, "
                                "double* restrict y)"));
}

TEST(Emit, FoldsOfFloatsGoInLanesWhereNoPointWaitsForAnother) {
  const std::string source = source_of(
      R"(program @main(x: f64[n] param 0, g: i64[n] param 1, s: f64 output 0, m: f64 output 1, t: f64[5] output 2)
      symbols n = x.0 {
    kernel @k0 { out s start fill 0.0 out m start fill -inf
      stage (i < n) { %0 = load x[i] : f64 fold add s[] %0 : f64 fold max m[] %0 : f64 } }
    kernel @k1 { out t start fill 0.0
      stage (i < n) { %0 = load g[i] : i64 %1 = load x[i] : f64 store t[wrap(%0, 5) proved] add %1 fold add s[] %1 : f64 } } })");
  EXPECT_THAT(source, HasSubstr(R"(      IN_LANES(reduction(+ : s_so_far) reduction(max_f64 : m_so_far))
      for (int64_t i = i_block; i < i_end; ++i) {)"));
  EXPECT_THAT(source, HasSubstr(R"(i_block += 32) {
      if (i_block % 32768 == 0 && ended(call, call->stop_while_writing)) return INLAY_INTERRUPTED;
      const int64_t i_end = min_i64(i_block + 32, n);
      for (int64_t i = i_block; i < i_end; ++i) {)"));
}

TEST(Emit, WritesThroughAnIndexWaitForABlockOfPoints) {
  const std::string source = source_of(
      R"(program @main(x: f64[n] param 0, g: i64[n] param 1, s: f64 output 0, t: f64[5] output 1) symbols n = x.0 {
    kernel @k0 { out s start fill 0.0 out t start fill 0.0
      stage (i < n) { %0 = load g[i] : i64 %1 = load x[i] : f64 %2 = sqrt %1 : f64 %3 = div %2, %1 : f64
        store t[wrap(%0, 5) proved] add %3 fold add s[] %2 : f64 } } })");
  EXPECT_THAT(source, HasSubstr(R"(      double div_3_lanes[32];
      IN_LANES(reduction(+ : s_so_far))
      for (int64_t i = i_block; i < i_end; ++i) {
        const double x_1 = x[i];
        const double sqrt_2 = sqrt(x_1);
        const double div_3 = sqrt_2 / x_1;
        s_so_far += sqrt_2;
        div_3_lanes[i - i_block] = div_3;
      }
      for (int64_t i = i_block; i < i_end; ++i) {
        t[g[i]] += div_3_lanes[i - i_block];
      }
)"));
}

/// Nor where a point may leave; and an index that a step of the program makes is kept.
TEST(Emit, NoWriteWaitsPastAnotherOfItsBuffer) {
  const auto with = [](const std::string& statements) {
    return source_of(
        str(R"(program @main(x: f64[40] param 0, g: i64[40] param 1, h: i64[40] temporary, t: f64[40] output 0) {
    kernel @k0 { stage (i < 40) { %0 = load g[i] : i64 store h[i] set %0 } }
    kernel @k1 { out t start fill 0.0
      stage (i < 40) { %0 = load h[i] : i64 %1 = load x[i] : f64 %2 = sqrt %1 : f64 %3 = div %2, %1 : f64 )",
            statements, " } } sites { #0 internal \"\" } }"));
  };
  const std::string scatter = "store t[wrap(%0, 40) proved] add %3";
  EXPECT_THAT(with(scatter), HasSubstr("t[h_0_lanes[i - i_block]] += div_3_lanes[i - i_block];"));
  EXPECT_THAT(with("store t[i] add %2 " + scatter), Not(HasSubstr("_lanes[")));
  EXPECT_THAT(with("store t[wrap(%0, 40) checked #0] add %3"), Not(HasSubstr("_lanes[")));
}

TEST(Emit, SquaresAboutTheMeanGoInOrder) {
  const Compiled compiled(R"(program @main(x: f64[n, m] param 0, s: f64 output 0, t: f64 output 1, u: f64 output 2)
      symbols n = x.0, m = x.1 {
    kernel @k0 { out s start fill 0.0 out t start fill 0.0
      stage (i < n, j < m) { %0 = load x[i, j] : f64 fold moments squares s[] %0 : f64 fold add t[] %0 : f64 } }
    kernel @k1 { out u start fill 0.0
      stage () { %0 = literal 3.0 : f64 fold moments squares u[] %0 : f64 fold add u[] %0 : f64 } } })");
  const auto element = [](const Array& array) {
    double out = 0;
    std::memcpy(&out, array.bytes.data(), sizeof out);
    return out;
  };
  std::vector<double> far;
  for (int i = 0; i < 6; ++i) far.push_back(1e15 + i);
  for (const int64_t rows : {0, 1, 2}) {
    Array x{DType::f64, {rows, 3}, std::vector<std::byte>(static_cast<std::size_t>(rows) * 3 * sizeof(double))};
    if (rows > 0) std::memcpy(x.bytes.data(), far.data(), x.bytes.size());
    const std::vector<Array> params = {x};
    const kernel::Evaluation expected = kernel::evaluate(compiled.program(), params), actual = compiled.run(params);
    const std::vector<double> squares = {0, 2, 17.5};
    EXPECT_DOUBLE_EQ(element(actual.outputs[0]), squares[static_cast<std::size_t>(rows)]);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(element(actual.outputs[i]), element(expected.outputs[i]));
  }
}

TEST(Emit, AnOpThatC99HasNotIsCalled) {
  const std::string source = source_of(
      R"(program @main(x: f64 param 0, y: f64 output 0, z: f64 output 1) {
    scalar { %0 = load x[] : f64 %1 = gammainc %0, %0 : f64 store y[] set %1 %2 = softplus %0 : f64 store z[] set %2 } })");
  EXPECT_THAT(source, HasSubstr("extern double inlay_s_gammainc(double, double);"));
  EXPECT_THAT(source, HasSubstr("static inline double softplus_f64(double x)"));
  EXPECT_TRUE(is_called(ScalarOp::gammainc_, DType::f64));
  EXPECT_FALSE(is_called(ScalarOp::softplus_, DType::f64));
}

TEST(Emit, SaysWhatItNeedsToLink) {
  const auto needed = [](std::string_view text) {
    const auto [program, plan] = memory::plan_memory(kernel::parse(text));
    const Source source = c_backend::source_of(program, plan);
    std::vector<std::string> out;
    for (const NeededFunction& function : source.needed) {
      out.push_back(str(function.name, ": ", function.what));
      EXPECT_THAT(source.text, HasSubstr(str("/* ", out.back(), " */")));
    }
    return out;
  };
  EXPECT_THAT(needed(kScale), IsEmpty());
  EXPECT_THAT(needed(R"(program @main(x: f64[n, 32] param 0, w: f64[32, 32] param 1, y: f64[n, 32] output 0,
      z: f64[n, 32] output 1) symbols n = x.0 {
    call matmul y = x, w (1, n, 32, 32)
    kernel @k0 { stage (i < n, j < 32) { %0 = load y[i, j] : f64 %1 = j0 %0 : f64 store z[i, j] set %1 } } })"),
              ElementsAre("inlay_l_matmul_f64: matmul (y)", "inlay_s_j0: j0"));
}

TEST(Emit, TheEntryHasTheNameThatIsWanted) {
  const auto [program, plan] = memory::plan_memory(kernel::parse(kScale));
  const std::string source = c_backend::source_of(program, plan, {.entry = "scale"}).text;
  EXPECT_THAT(source, HasSubstr("\nint32_t scale(InlayCall* call) {\n"));
  EXPECT_THAT(source, Not(HasSubstr("inlay_entry")));
  for (const char* name : {"scale", "k0", "x", "inlay_entry", "Scale_2", "str", "mem_2", "t"})
    EXPECT_EQ(wrong_entry_name(name), "");
  EXPECT_EQ(wrong_entry_name("2x"), "`2x` is no C identifier");
  EXPECT_EQ(wrong_entry_name("a-b"), "`a-b` is no C identifier");
  for (const char* name : {"_f", "strlen", "memmove", "wcscpy"}) {
    EXPECT_EQ(wrong_entry_name(name), str("`", name, "` begins as the names of the C library"));
  }
  EXPECT_EQ(wrong_entry_name("double_t"), "`double_t` ends as the types of the C library");
  for (const char* name : {"abs", "free", "printf", "stdin", "time", "stdint"}) {
    EXPECT_EQ(wrong_entry_name(name), str("`", name, "` has a meaning in the C library already"));
  }
  for (const char* name : {"int", "main", "exp", "isnormal", "softplus_f64", "InlayCall", "INLAY_OK", "inlay_s_j0"}) {
    EXPECT_EQ(wrong_entry_name(name), str("`", name, "` has a meaning in the C file already"));
  }
}

/// What the system's compiler prints of a file of these lines; empty where it fails.
std::string compiler_says(const std::string& flags, const std::string& lines) {
  const auto folder = std::filesystem::temp_directory_path() / str("inlay_headers_", getpid());
  std::filesystem::create_directory(folder);
  const std::string file = folder / "file.c", out = folder / "out";
  std::ofstream(file) << lines;
  const int status = std::system(str("${CC:-cc} ", flags, " ", file, " >", out).c_str());
  std::stringstream text;
  text << std::ifstream(out).rdbuf();
  std::filesystem::remove_all(folder);
  return status == 0 ? text.str() + "\n" : "";
}

std::set<std::string> identifiers_of(const std::string& text) {
  std::set<std::string> out;
  static const std::regex identifier("[A-Za-z]\\w*");
  for (std::sregex_iterator at(text.begin(), text.end(), identifier), end; at != end; ++at) out.insert(at->str());
  return out;
}

std::string includes_of(const std::string& source) {
  std::stringstream lines(source);
  std::string out;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("#include")) out += line + "\n";
  }
  return out;
}

TEST(Emit, NoNameOfAHeaderIsAnEntryOrAMacroAVariable) {
  const std::string includes = includes_of(source_of(kScale));
  for (const std::string standard : {"-std=c99", "-std=gnu17"}) {
    const std::string macros = compiler_says(standard + " -dM -E", includes);
    const std::set<std::string> names = identifiers_of(compiler_says(standard + " -E -P", includes) + macros);
    ASSERT_TRUE(names.contains("remquo") && names.contains("INT64_MAX")) << includes;
    std::string declarations = includes;
    for (const std::string& name : names) {
      if (wrong_entry_name(name).empty()) declarations += str("int ", name, "(void*);\n");
    }
    EXPECT_THAT(declarations, HasSubstr("int x(void*);"));
    EXPECT_NE(compiler_says(standard + " -fsyntax-only -Werror", declarations), "");

    static const std::regex defined("#define ([A-Za-z]\\w*)");
    for (std::sregex_iterator at(macros.begin(), macros.end(), defined), end; at != end; ++at)
      EXPECT_NE(NameTable().take((*at)[1].str()), (*at)[1].str());
  }
}

/// So a file may include any header of C99 beside what is exported. (Capitals are macros, <complex.h> has functions of
/// f and l.)
TEST(Emit, NoNameOfTheLibraryIsAnEntry) {
  std::string includes;
  for (const char* header : {"assert", "ctype",  "errno",  "fenv",   "float",  "inttypes", "iso646", "limits",
                             "locale", "math",   "setjmp", "signal", "stdarg", "stdbool",  "stddef", "stdint",
                             "stdio",  "stdlib", "string", "time",   "wchar",  "wctype"}) {
    EXPECT_NE(wrong_entry_name(header), "") << header;
    includes += str("#include <", header, ".h>\n");
  }
  const std::string standard = "-std=c99";
  const std::string text = compiler_says(standard + " -E -P", includes) + compiler_says(standard + " -dM -E", includes);
  std::string declarations = includes;
  for (const std::string& name : identifiers_of(text)) {
    if (is_lower(name[0]) && wrong_entry_name(name).empty()) declarations += str("int ", name, "(void*);\n");
  }
  EXPECT_THAT(declarations, HasSubstr("int x(void*);"));
  EXPECT_NE(compiler_says(standard + " -fsyntax-only -Werror", declarations), "");
}

TEST(Emit, DocsSayWhyAnOpIsAbsent) {
  std::ifstream page(std::string(INLAY_SOURCE_DIR) + "/docs/backends.md");
  std::stringstream text;
  text << page.rdbuf();
  const std::string absent = text.str().substr(text.str().find("| op | why it is absent |"));
  for (int k = 0; k < kNumScalarOps; ++k) {
    const auto op = static_cast<ScalarOp>(k);
    if (!accepts(op, DType::f64)) continue;
    const bool is_said = absent.find(str("`", facts(op).name, "`")) != std::string::npos;
    EXPECT_EQ(is_said, is_called(op, DType::f64)) << facts(op).name;
  }
}

TEST(Emit, IsStrictC99WithoutWarnings) {
  const Environment flags("INLAY_CFLAGS", "-Wall -Wextra -Werror -pedantic");
  EXPECT_EQ(error_of(kScale), "no error");
}

TEST(SystemCompiler, NamesWhatIsMissing) {
  const Environment compiler("CC", "no-such-compiler");
  EXPECT_FALSE(has_compiler());
  EXPECT_EQ(error_of(kScale),
            R"(error[unsupported]: the c backend found no C compiler: CC=no-such-compiler: No such file or directory
  help: install one, or set CC to its name; INLAY_BACKEND=llvm needs none)");
  try {
    (void)compiled("", Product::object);
    FAIL() << "a compiler";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("no-such-compiler"));
    EXPECT_THAT(error.what(), ::testing::EndsWith("set CC to its name"));
  }
}

TEST(SystemCompiler, IsNamedByAPathWithBlanks) {
  const std::filesystem::path path = std::filesystem::path(::testing::TempDir()) / "a compiler";
  std::ofstream(path) << "#!/bin/sh\nexec cc \"$@\"\n";
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  const Environment compiler("CC", path.c_str());
  EXPECT_TRUE(has_compiler());
  EXPECT_EQ(error_of(kScale), "no error");
  std::filesystem::remove(path);
}

TEST(SystemCompiler, SaysWhatTheCompilerSaid) {
  const Environment flags("INLAY_CFLAGS", "--no-such-flag");
  EXPECT_THAT(error_of(kScale), HasSubstr("error[unsupported]: the C compiler failed (status 1):\n"));
  EXPECT_THAT(error_of(kScale), HasSubstr("--no-such-flag"));
}

TEST(SystemCompiler, SaysNothingOfAFlagThatIsAnothers) {
  try {
    (void)compiled("int f(void) { return x; }\n", Product::object);
    FAIL() << "x is declared nowhere";
  } catch (const Error& error) {
    const std::string said = error.diagnostic().message;
    EXPECT_THAT(said, HasSubstr("return x"));
    EXPECT_THAT(said, Not(HasSubstr("ignored-optimization")));
    EXPECT_THAT(said, Not(HasSubstr("At top level")));
  }
}

TEST(SystemCompiler, SaysWhereItCannotWrite) {
  const Environment folder("TMPDIR", "/no/such/folder");
  EXPECT_EQ(error_of(kScale),
            R"(error[invalid-file]: the c backend cannot write into /no/such/folder: No such file or directory
  help: TMPDIR names a folder that can be written and has room)");
}

TEST(SystemCompiler, LeavesNoFile) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(::testing::TempDir()) / "inlay-c-backend-test";
  fs::create_directories(folder);
  const Environment temporary("TMPDIR", folder.c_str());
  EXPECT_EQ(error_of(kScale), "no error");
  const Environment flags("INLAY_CFLAGS", "--no-such-flag");
  EXPECT_THAT(error_of(kScale), Not(HasSubstr("no error")));
  EXPECT_TRUE(fs::is_empty(folder));
  fs::remove_all(folder);
}

}  // namespace
}  // namespace inlay::c_backend::testing
