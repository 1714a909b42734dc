#include "kernel/text.h"

#include <cstdlib>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernel/kernel_texts.h"
#include "kernel/verify.h"

namespace inlay::kernel {
namespace {

using testing::HasSubstr;

/// Everything that the text form has, spelled as the printer does.
constexpr std::string_view kEverything =
    R"text(program @main(x: f64[n] param 0,
    g: i64[n] param 1 bound {min -1, max 84, sorted},
    big: u64[2] param 2 bound,
    out: f64[2*n + floordiv(n, 3) + 1] output 0,
    total: f64 output 1,
    t: f64[85] temporary,
    s: f64 scalar,
    c: f64[2] literal [1.0, -inf],
    u: u64[1] literal [18446744073709551615],
    b: bool[2] literal [true, false],
    h: f64[k] host,
    v: f64[5, 17] view of t,
    l: f64[1] temporary,
    row: f64[n] temporary,
    w: u8[4096*min(5, floordiv(n, 2))] temporary) symbols n = x.0, k = h.0, m {
  check n == m + 1 #0
  check n <= max(3, m) #1
  scalar {
    %0 = literal -1.5 : f64
    %1 = literal nan : f64
    %2 = add %0, %1 : f64
    store s[] set %2
  }
  host_call "draw \"it\"" 0 (x, s) -> h bind k = h.0 #2
  host_call "shout" 3 ()
  kernel @k0 {
    outer (r < m)
    local l start fill -inf
    local row
    out t start fill 0.0
    workspace w
    stage (i < n, j < 3) {
      %0 = load g[i] : i64
      %1 = load c[2 - wrap(%0, 2) checked #1] : f64
      %2 = load x[n - 1 - i] : f64
      %3 = pow %1, %2 : f64
      %4 = axis j : i64
      %5 = size 2*n + 1 : i64
      %6 = cast %5 : f32
      %7 = lt %4, %5 : bool
      %8 = select %7, %1, %2 : f64
      store out[1 + r + 2*i] set %3
      %9 = load x[n - min(1, m)*i + (-n - m)*j] : f64
      %10 = load x[-2*m*r + m*i] : f64
      store v[3*wrap(%0, n + 1) proved, j] add %8
      fold add total[] %2 : f64
      check %7 #2
    }
    stage (i < n) {
      %0 = load t[0] : f64
      fold max out[n + i] %0 : f64
      fold max l[0] %0 : f64
      store row[i] set %0
      %1 = fold add total[] %0 : f64
      %2 = isnan %1 : bool
      store t[i] set %1 if %2
      store row[i] set %2 elided
    }
  }
  kernel @k1 {
    out t start copy h
    out l start copy h elided
    out row start copy h in place #1 elided
  }
  kernel @tiles {
    outer (q < 3, r < m) by 64
    local row
    once stage (i < n) {
      %0 = load x[i] : f64
    }
    stage (i < n, r) {
      %0 = load g[i] : i64
      store row[r] set %0
    }
    stage (r) {
      %0 = load row[r] : f64
    }
  }
  call matmul t = x, h (1, 1, n, 85)
  copy t -> out "%t is also an output"
  copy h -> t "" elided
  size m = s #1
  sites {
    #0 shape-mismatch "n is {0}, not {1}" at "model.py:3" note "left" "%3 \"alpha\"" note "right" "%4"
    #1 index-out-of-bounds "index {0} is out of bounds"
    #2 assert-failed "line\nline"
  }
  stored {
    t call-operand "matmul"
    l by-parts
    row several-places "for p and for q; it costs 9, more than 4"
  }
  refusals {
    "%p stays a matmul"
  }
}
)text";

TEST(KernelText, PrintOfParseIsTheIdentity) { EXPECT_EQ(print(parse(kEverything)), kEverything); }

TEST(KernelText, ReadsWhatItSays) {
  const KernelProgram program = parse(kEverything);
  EXPECT_EQ(program.params, (std::vector{BufferId(0), BufferId(1), BufferId(2)}));
  EXPECT_EQ(program.outputs, (std::vector{BufferId(3), BufferId(4)}));
  EXPECT_EQ(program.buffers[BufferId(11)].view_of, BufferId(5));
  EXPECT_EQ(program.buffers[BufferId(1)].facts, (Facts{true, -1, 84, true}));
  const Kernel& kernel = std::get<Kernel>(program.steps[5]);
  ASSERT_EQ(kernel.outputs.size(), 6u);  // in order of first write
  EXPECT_EQ(kernel.outputs[0].buffer, BufferId(3));
  EXPECT_EQ(kernel.outputs[5].buffer, BufferId(5));
  EXPECT_EQ(kernel.stages[0].num_registers, 11);
  const Statement& reversed = kernel.stages[0].statements[2];
  const Dim n = Dim::symbol(SymbolId(0));
  EXPECT_EQ(reversed.map, (AccessMap{{{n - 1, {{1, -1}}, {}}}}));
  const Dim m = Dim::symbol(SymbolId(2));
  EXPECT_EQ(kernel.stages[0].statements[10].map,
            (AccessMap{{{n, {{1, Dim(0) - min(1, m)}, {2, Dim(0) - n - m}}, {}}}}));
  EXPECT_TRUE(std::get<Kernel>(program.steps[2]).is_scalar());
  EXPECT_FALSE(std::get<Kernel>(program.steps[6]).is_scalar());
}

TEST(KernelText, ComplexNumbersAreReadBack) {
  const std::string text =
      "program @p(c: c128[2] output 0) {\n"
      "  scalar {\n"
      "    %0 = literal (1.5, -2.25) : c128\n"
      "    store c[0] set %0\n"
      "    %1 = literal (-0.0, -inf) : c128\n"
      "    store c[1] set %1\n"
      "  }\n"
      "}\n";
  EXPECT_EQ(print(parse(text)), text);
}

TEST(KernelText, CommentsAndLineBreaksDoNotMatter) {
  const KernelProgram program = parse("program @p(x: f64 param 0, y: f64 output 0) { # nothing\n copy x -> y \"z\" }");
  EXPECT_EQ(print(program),
            "program @p(x: f64 param 0, y: f64 output 0) {\n"
            "  copy x -> y \"z\"\n"
            "}\n");
}

TEST(KernelText, EveryNameIsAnIdentifierAndStandsForOneThing) {
  KernelProgram program;
  const SymbolId n = program.symbols.push_back({.name = "i"});
  program.params = {
      program.buffers.push_back({.name = "x y", .dims = {Dim::symbol(n)}, .role = Role::param, .slot = 0}),
      program.buffers.push_back({.name = "x y", .role = Role::param, .slot = 1})};
  program.outputs = {program.buffers.push_back({.dims = {Dim::symbol(n)}, .role = Role::output, .slot = 0})};
  Stage stage{.axes = {{"i", Dim::symbol(n)}}, .num_registers = 1};
  stage.statements.push_back({.result = RegisterId(0), .buffer = BufferId(0), .map = AccessMap::identity(1)});
  stage.statements.push_back({.kind = Statement::Kind::store,
                              .operands = {RegisterId(0)},
                              .buffer = BufferId(2),
                              .map = AccessMap::identity(1)});
  program.steps.emplace_back(Kernel{.name = "k0", .outputs = {{BufferId(2), {}}}, .stages = {stage}});
  const std::string text = print(program);
  EXPECT_EQ(text,
            "program @main(x_y: f64[i] param 0, x_y_2: f64 param 1, $2: f64[i] output 0) symbols i {\n"
            "  kernel @k0 {\n"
            "    stage (i_2 < i) {\n"
            "      %0 = load x_y[i_2] : f64\n"
            "      store $2[i_2] set %0\n"
            "    }\n"
            "  }\n"
            "}\n");
  EXPECT_EQ(print(parse(text)), text);
}

TEST(KernelText, OneKernelAlone) {
  const KernelProgram program = parse(R"(program @p(x: f64[n] param 0, y: f64[n + 1] output 0) symbols n = x.0 {
    kernel @k0 { stage (i < n) { %0 = load x[i] : f64  store y[1 + i] set %0 } } })");
  EXPECT_EQ(print_kernels(program)[StepId(0)],
            "kernel @k0 {\n"
            "  stage (i < n) {\n"
            "    %0 = load x[i] : f64\n"
            "    store y[1 + i] set %0\n"
            "  }\n"
            "}\n");
}

/// The message of what parse says of a program with this body.
std::string error_of(std::string_view body) {
  const std::string text =
      str("program @p(x: f64[n] param 0, g: i64[n] param 1, y: f64[n] output 0) symbols n = x.0 {\n", body, "\n}\n");
  try {
    parse(text, "p");
  } catch (const Error& error) {
    return str(error.diagnostic().location.text, ": ", code_name(error.code()), ": ", error.diagnostic().message);
  }
  return "no error";
}

TEST(KernelText, ErrorsNameThePlaceAndWhatWasExpected) {
  EXPECT_EQ(error_of("kernel k0 { }"), "p:2:8: syntax: expected the name of a kernel, found `k0`");
  EXPECT_EQ(error_of("kernel @k0 { outer (i < n) once outer }"), "p:2:33: syntax: expected `}`, found `outer`");
  EXPECT_EQ(error_of("copy x -> z \"\""), "p:2:11: unknown-name: there is no buffer `z`");
  EXPECT_EQ(error_of("copy x -> y"), "p:3:1: syntax: expected the reason of the copy, in quotes, found `}`");
  EXPECT_EQ(error_of("copy x -> y \"why"), "p:2:13: syntax: the string does not end on its line");
  EXPECT_EQ(error_of("kernel @k0 { stage (i < k) { } }"), "p:2:25: unknown-name: there is no symbol `k`");
  EXPECT_EQ(error_of("kernel @k0 { stage (n < n) { } }"),
            "p:2:21: duplicate-name: `n` is the name of an axis or a symbol already");
  EXPECT_EQ(error_of("kernel @k0 { stage (i < n) { %0 = lood x[i] : f64 } }"),
            "p:2:35: unknown-op: there is no scalar op `lood`");
  EXPECT_EQ(error_of("kernel @k0 { stage (i < n) { %0 = load x[i : f64 } }"),
            "p:2:44: syntax: expected `]`, found `:`");
  EXPECT_EQ(error_of("kernel @k0 { stage (i < n) { %0 = load x[i] : f65 } }"),
            "p:2:47: wrong-dtype: there is no dtype `f65`");
  EXPECT_EQ(error_of("kernel @k0 { stage (i < n) { %0 = load x[i + i] : f64 } }"),
            "p:2:46: syntax: axis `i` stands twice in one subscript");
  EXPECT_EQ(error_of("kernel @k0 { stage (i < n) { %0 = load x[n*wrap(%0, n) proved] : f64 } }"),
            "p:2:44: syntax: the step of a loaded index is no number");
  EXPECT_EQ(error_of("kernel @k0 { stage (i < n) { %0 = load x[wrap(%0, n)] : f64 } }"),
            "p:2:53: syntax: expected `checked`, found `]`");
  EXPECT_EQ(error_of("kernel @k0 { stage (i < n) { %0 = literal 1 } }"), "p:2:45: syntax: expected `:`, found `}`");
  EXPECT_EQ(error_of("kernel @k0 { stage (i < n) { %0 = literal 1.5 : i64 } }"),
            "p:2:43: syntax: expected a whole number, found `1.5`");
  EXPECT_EQ(error_of("kernel @k0 { stage (i < n) { store y[i] inc %0 } }"),
            "p:2:41: unknown-name: elements cannot be combined by `inc`");
  EXPECT_EQ(error_of("call fft y = x (n)"), "p:2:6: unknown-op: there is no library function `fft`");
  EXPECT_EQ(error_of("host_call \"f\" 0 (x) -> y bind n = x.0"),
            "p:2:35: unknown-name: `x` is not a result of this call");
  EXPECT_EQ(error_of("check floordiv(n, 0) == 3 #0"), "p:2:7: syntax: floordiv: the divisor is not positive");
  EXPECT_EQ(error_of("check n 3 #0"), "p:2:9: syntax: expected `==` or `<=`, found `3`");
  EXPECT_EQ(error_of("check n == 99999999999999999999 #0"),
            "p:2:12: syntax: `99999999999999999999` is not a whole number of 64 bits");
  EXPECT_EQ(error_of("sites { #1 internal \"\" }"), "p:2:9: syntax: expected site `#0`, found `#1`");
  EXPECT_EQ(error_of("stored { x no-such }"), "p:2:12: unknown-name: there is no reason `no-such`");
  EXPECT_EQ(error_of("sites { #0 no-such \"\" }"), "p:2:12: unknown-name: there is no error code `no-such`");
  EXPECT_EQ(error_of("wait"), "p:2:1: syntax: expected a step, found `wait`");
  EXPECT_EQ(error_of("kernel @k\xc3\xa4 { }"),
            "p:2:8: syntax: `@k\xc3\xa4`: names are of ASCII letters, digits and `_`");
  EXPECT_EQ(error_of("?"), "p:2:1: syntax: expected a step, found `?`");
}

TEST(KernelText, ErrorsOfTheSignature) {
  const auto message = [](std::string_view text) -> std::string {
    try {
      parse(text, "p");
    } catch (const Error& error) {
      return error.diagnostic().message;
    }
    return "no error";
  };
  EXPECT_EQ(message("program @p(x: f64 param 0, x: f64 param 1) { }"), "there are two buffers `x`");
  EXPECT_EQ(message("program @p(x: f64 param) { }"), "expected the slot of this buffer");
  EXPECT_EQ(message("program @p(x: f64 somewhere) { }"), "a buffer cannot be `somewhere`");
  EXPECT_EQ(message("program @p() symbols n, n { }"), "there are two symbols `n`");
  EXPECT_EQ(message("program @p() { } x"), "expected the end of the text, found `x`");
  EXPECT_EQ(message("program"), "expected the name of the program, as in @main, found the end of the text");
}

TEST(KernelText, DeeplyNestedSizesAreRefusedNotFollowed) {
  const std::string text = "check " + std::string(100000, '(');
  EXPECT_THAT(error_of(text), HasSubstr("nested too deeply"));
}

// Whatever is cut out of a program, parse reads it or says what is wrong: it never crashes or hangs.
TEST(KernelText, TruncatedTextIsAnErrorEverywhere) {
  for (std::size_t length = 0; length + 2 < kEverything.size(); ++length) {
    EXPECT_THROW(parse(kEverything.substr(0, length)), Error) << "the first " << length << " characters";
  }
}

// Damage anywhere is an error or another program, and what is read prints, verifies and reads again.
TEST(KernelText, MutatedTextIsAnErrorOrAProgram) {
  const char* given = std::getenv("INLAY_FUZZ_SEED");
  const uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  SCOPED_TRACE(testing::Message() << "INLAY_FUZZ_SEED=" << seed);
  std::mt19937_64 engine(seed);
  const auto below = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(engine); };
  int num_read = 0;
  for (int round = 0; round < 1500; ++round) {
    std::string text(kEverything);
    for (std::size_t mutations = below(3); mutations-- > 0;) {
      const std::size_t from = below(text.size()), length = below(6), to = below(text.size());
      const std::string piece = text.substr(from, length);
      below(2) == 0 ? text.insert(to, piece) : text.replace(to, length, piece);
    }
    try {
      const KernelProgram program = parse(text);
      ++num_read;
      verify(program);
      const std::string printed = print(program);
      ASSERT_EQ(print(parse(printed)), printed);
    } catch (const Error& error) {
      ASSERT_NE(error.code(), ErrorCode::internal) << error.what() << "\n" << text;
    }
  }
  EXPECT_GT(num_read, 0);
}

}  // namespace
}  // namespace inlay::kernel
