#include "test_program.h"

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>

#include "compare.h"
#include "compiler/backends.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "oracle/reference/evaluate.h"
#include "program_file.h"
#include "structure.h"
#include "test_kernels.h"

namespace inlay::tool {
namespace {

/// "a.inlay:3:7" -> 3; 0 where it is something else.
int line_of(const Location& location, const std::string& path) {
  const std::string start = path + ":";
  if (!location.text.starts_with(start)) return 0;
  int line = 0;
  std::from_chars(location.text.data() + start.size(), location.text.data() + location.text.size(), line);
  return line;
}

std::string summary(const Diagnostic& diagnostic) { return str(code_name(diagnostic.code), ": ", diagnostic.message); }

struct Outcome {
  std::vector<Tensor> outputs;
  std::optional<Diagnostic> error;
};

Outcome run(const Judge& judge, std::span<const Tensor> inputs) {
  try {
    return {judge.run(inputs), std::nullopt};
  } catch (const Error& error) {
    return {{}, error.diagnostic()};
  }
}

class ProgramTest {
 public:
  ProgramTest(TestFile file, const ProgramTestOptions& options) : file_(std::move(file)), options_(options) {}

  ProgramTestResult run() && {
    try {
      test();
    } catch (const Error& error) {
      fail(0, error.what());
    }
    result_.updated = file_.to_text();
    return std::move(result_);
  }

 private:
  void fail(int line, const std::string& message) {
    result_.failures.push_back(line > 0 ? str(file_.path, ":", line, ": ", message) : str(file_.path, ": ", message));
  }

  void differs(int line, const std::string& message) {
    if (options_.update == Update::no) fail(line, message);
  }

  void test() {
    ParseResult parsed = parse_all(file_.graph_text, file_.path);
    const bool fails_later =
        std::ranges::any_of(file_.directives, [](const Directive& d) { return d.name == "fails"; });
    std::vector<Diagnostic> found = std::move(parsed.diagnostics);
    if (parsed.graph) compile(*parsed.graph, found);
    if (!found.empty() || !fails_later) expect_diagnostics(found);
    if (!found.empty()) return;
    if (file_.directives.empty() && file_.errors.empty())
      fail(0, "nothing to test: no directive, such as `#= run`, and no error that is expected");
    for (Directive& directive : file_.directives) {
      try {
        this->directive(*parsed.graph, directive);
      } catch (const Error& error) {
        fail(directive.line, error.what());
      }
    }
  }

  /// What the program asks for and cannot have is one more diagnostic.
  void compile(const Graph& graph, std::vector<Diagnostic>& found) {
    check_text_form(graph);
    try {
      judges_ = make_judges(graph, options_.compile);
    } catch (const Error& error) {
      if (line_of(error.diagnostic().location, file_.path) == 0) throw;
      found.push_back(error.diagnostic());
    }
  }

  /// Each diagnostic on the line of its `#!`, and the other way round.
  void expect_diagnostics(const std::vector<Diagnostic>& diagnostics) {
    std::vector<ExpectedError> left = file_.errors;
    for (const Diagnostic& diagnostic : diagnostics) {
      const int line = line_of(diagnostic.location, file_.path);
      const auto at = std::ranges::find_if(
          left, [&](const ExpectedError& e) { return e.line == line && e.text == summary(diagnostic); });
      if (at == left.end()) {
        fail(line, str("not expected: ", diagnostic.to_text()));
      } else {
        left.erase(at);
      }
    }
    for (const ExpectedError& expected : left)
      fail(expected.line, str("expected, but nothing is wrong here: ", expected.text));
  }

  void check_text_form(const Graph& graph) {
    const std::string text = print(graph);
    if (print(parse(text)) != text) fail(0, "printed, read and printed again it is another text");
    for (const Diagnostic& diagnostic : verify(graph)) fail(0, diagnostic.to_text());
  }

  void directive(const Graph& graph, Directive& directive) {
    if (directive.name == "run" || directive.name == "fails") {
      Random random(options_.seed);
      for (const Given& given : runs_of(graph, directive)) {
        ++result_.runs;
        const std::vector<Tensor> inputs = random_inputs(graph, given, random);
        directive.name == "run" ? expect_agreement(graph, directive, inputs) : expect_failure(directive, inputs);
      }
    } else if (is_count(directive)) {
      if (directive.name != count_of_backend()) return;
      const std::string found = count_text(*judges_.program, directive.words, last_sizes_);
      if (found != directive.words)
        differs(directive.line, str(directive.name, " ", directive.words, "\n  found ", found));
      directive.words = found;
    } else if (directive.name == "fuse") {
      const std::string found = fuse_text(*judges_.program);
      if (found != directive.body) differs(directive.line, str("the kernels are\n", found));
      directive.body = found;
    } else if (directive.name == "pass") {
      run_pass(graph, directive);
    } else {
      fail(directive.line, str("there is no directive ", directive.name));
    }
  }

  /// The pass alone, on what those before it made of the graph. From here on every judge has what it makes, and is
  /// compared with the graph as it was written.
  void run_pass(const Graph& graph, Directive& directive) {
    Options options = options_.compile;
    options.verify = true;
    auto made = std::make_unique<const Graph>(inlay::run_pass(passed_ ? *passed_ : graph, directive.words, options));
    const std::string found = print(*made);
    if (found != directive.body) differs(directive.line, str("the graph is\n", found));
    check_text_form(*made);
    directive.body = found;
    judges_ = make_judges(*made, options_.compile);
    judges_.list.front().name = "passed";
    judges_.list.insert(judges_.list.begin(), reference_judge(graph));
    passed_ = std::move(made);
  }

  static bool is_count(const Directive& d) { return d.name == "count" || d.name.starts_with("count/"); }

  /// The name of the directive that holds for this backend: its own where the file has one.
  std::string count_of_backend() const {
    const std::string own = str("count/", backend_of(options_.compile).name);
    const bool has_own = std::ranges::find(file_.directives, own, &Directive::name) != file_.directives.end();
    return has_own ? own : "count";
  }

  /// The inputs must come out of a call as they went in, whatever happens.
  Outcome run_unchanged(const Directive& directive, const Judge& judge, const std::vector<Tensor>& inputs) {
    const std::vector<Tensor> before = inputs;  // NOLINT(performance-unnecessary-copy-initialization): native code has
                                                // their addresses
    Outcome outcome = tool::run(judge, inputs);
    if (before != inputs) fail(directive.line, str(judge.name, ": an argument was changed"));
    return outcome;
  }

  void expect_agreement(const Graph& graph, const Directive& directive, const std::vector<Tensor>& inputs) {
    last_sizes_ = reference::bind_symbols(graph, inputs);
    Outcome wanted;
    for (std::size_t j = 0; j < judges_.list.size(); ++j) {
      Outcome found = run_unchanged(directive, judges_.list[j], inputs);
      if (found.error) {
        fail(directive.line, str(judges_.list[j].name, ": ", found.error->to_text()));
        return;
      }
      for (std::size_t i = 0; j > 0 && i < wanted.outputs.size(); ++i) {
        const auto differs = difference(found.outputs[i], wanted.outputs[i]);
        if (!differs) continue;
        fail(directive.line, str(judges_.list[j].name, ": output ", i, ": ", *differs));
        for (std::size_t p = 0; p < inputs.size(); ++p) {
          result_.failures.back() +=
              str("\n  ", graph.value_text(graph.params[p].value), " = ", tensor_text(inputs[p]));
        }
      }
      if (j == 0) wanted = std::move(found);
    }
  }

  void expect_failure(const Directive& directive, const std::vector<Tensor>& inputs) {
    for (const Judge& judge : judges_.list) {
      const Outcome outcome = run_unchanged(directive, judge, inputs);
      if (!outcome.error) {
        fail(directive.line, str(judge.name, ": it does not fail", expected_text()));
        continue;
      }
      const int line = line_of(outcome.error->location, file_.path);
      // What a caller brings has no line in the program; nor has a host call that fails through the runtime, since the
      // door that made it has an error of its own.
      const bool placeless = line == 0;
      const bool expected = std::ranges::any_of(file_.errors, [&](const ExpectedError& e) {
        return (e.line == line || placeless) && e.text == summary(*outcome.error);
      });
      if (!expected)
        fail(directive.line, str(judge.name, ": it fails", placeless ? "" : str(" on line ", line), " with\n    ",
                                 summary(*outcome.error), expected_text()));
    }
  }

  /// All that the program expects, each with its line.
  std::string expected_text() const {
    if (file_.errors.empty()) return "\n  no line says what is expected: `#! code: message`";
    std::string out;
    for (const ExpectedError& e : file_.errors) out += str("\n  expected on line ", e.line, "\n    ", e.text);
    return out;
  }

  TestFile file_;
  const ProgramTestOptions& options_;
  ProgramTestResult result_;
  std::unique_ptr<const Graph> passed_;  // what passes have made; none: no pass was asked for yet
  Judges judges_;
  std::vector<int64_t> last_sizes_;
};

}  // namespace

ProgramTestResult run_program_test(std::string_view text, const std::string& path, const ProgramTestOptions& options) {
  TestFile file = parse_test_file(text, path);
  if (holds_kernels(file.graph_text)) return run_kernels_test(std::move(file), options);
  return ProgramTest(std::move(file), options).run();
}

}  // namespace inlay::tool
