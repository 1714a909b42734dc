#include "test_kernels.h"

#include "compare.h"
#include "compiler/backends.h"
#include "kernel/text.h"
#include "kernel/verify.h"
#include "program_file.h"
#include "structure.h"

namespace inlay::tool {
namespace {

using kernel::KernelProgram;

/// A graph that has the parameters of the kernels and does nothing: what arguments are made for.
Graph parameters_of(const KernelProgram& program) {
  Graph out;
  out.symbols = program.symbols;
  for (kernel::BufferId b : program.params) {
    const kernel::Buffer& buffer = program.buffers[b];
    const ValueId value = out.values.push_back({.type = {buffer.dtype, buffer.dims}, .name = buffer.name});
    for (Symbol& symbol : out.symbols) {
      if (buffer.value.valid() && symbol.source == buffer.value) symbol.source = value;
    }
    out.params.push_back({.value = value, .facts = buffer.facts});
  }
  return out;
}

class KernelsTest {
 public:
  KernelsTest(TestFile file, const ProgramTestOptions& options) : file_(std::move(file)), options_(options) {}

  ProgramTestResult run() && {
    try {
      before_ = after_ = kernels_of(file_.graph_text, file_.path);
      for (Directive& one : file_.directives) directive(one);
    } catch (const Error& error) {
      fail(0, error.what());
    }
    if (file_.directives.empty()) fail(0, "nothing to test: no directive, such as `#= pass order-axes`");
    result_.updated = file_.to_text();
    return std::move(result_);
  }

 private:
  void fail(int line, const std::string& message) {
    result_.failures.push_back(line > 0 ? str(file_.path, ":", line, ": ", message) : str(file_.path, ": ", message));
  }

  /// What a pass made, printed: what is wrong with it is our mistake.
  KernelProgram read(const std::string& text) const {
    KernelProgram program = kernel::parse(text, file_.path);
    for (Diagnostic& wrong : kernel::verify(program)) throw Error(std::move(wrong));
    return program;
  }

  void directive(Directive& one) {
    if (one.name == "pass") return run_pass(one);
    if (one.name.starts_with("pass/")) {
      if (one.name == str("pass/", backend_of(options_.compile).name)) run_pass(one);
      return;
    }
    if (one.name == "run") return expect_agreement(one);
    if (one.name == "count") {
      const std::string found = count_text(lower(after_, options_.compile), one.words, last_sizes_);
      if (found != one.words && options_.update == Update::no) {
        fail(one.line, str("count ", one.words, "\n  found ", found));
      }
      one.words = found;
      return;
    }
    fail(one.line, str("kernels have no directive ", one.name));
  }

  void run_pass(Directive& one) {
    Options options = options_.compile;
    options.verify = true;
    after_ = inlay::run_pass(after_, one.words, options);
    const std::string found = kernel::print(after_);
    if (found != one.body && options_.update == Update::no) fail(one.line, str("the kernels are\n", found));
    if (kernel::print(read(found)) != found) fail(one.line, "printed, read and printed again it is another text");
    one.body = found;
  }

  void expect_agreement(const Directive& one) {
    const Graph params = parameters_of(before_);
    const Judges judges = make_judges(after_, options_.compile);
    Random random(options_.seed);
    for (const Given& given : runs_of(params, one)) {
      ++result_.runs;
      const std::vector<Tensor> inputs = random_inputs(params, given, random);
      const std::vector<Tensor> wanted = run_kernels_of(file_.path, before_, inputs);
      last_sizes_ = choose_sizes(params, given, random);
      for (const Judge& judge : judges.list) {
        const std::vector<Tensor> found = judge.run(inputs);
        for (std::size_t i = 0; i < wanted.size(); ++i) {
          const auto differs = difference(found[i], wanted[i]);
          if (differs) fail(one.line, str(judge.name, ": output ", i, ": ", *differs));
        }
      }
    }
  }

  TestFile file_;
  const ProgramTestOptions& options_;
  ProgramTestResult result_;
  KernelProgram before_, after_;
  std::vector<int64_t> last_sizes_;
};

}  // namespace

ProgramTestResult run_kernels_test(TestFile file, const ProgramTestOptions& options) {
  return KernelsTest(std::move(file), options).run();
}

}  // namespace inlay::tool
