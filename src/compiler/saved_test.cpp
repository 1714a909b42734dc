#include "compiler/saved.h"

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "backend/llvm/backend.h"
#include "compiler/backends.h"
#include "inlay/compile.h"
#include "ir/text.h"
#include "kernel/text.h"
#include "memory/layout.h"

namespace inlay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Two products take turns in an arena whose size is that of the call.
constexpr const char* kChain = R"(graph @main(%x: f64[n, n]) {
  %a = matmul %x, %x
  %b = matmul %a, %x
  %c = matmul %b, %a
  return %c
})";

constexpr const char* kCalls = R"(graph @main(%x: f64[n]) {
  %y = host_call "twice" (%x) : f64[n]
  %s = reduce add %y [0] : f64
  return %s
})";

class Saved : public testing::Test {
 protected:
  void SetUp() override {
    if (!backend_of({}).is_available()) GTEST_SKIP() << "a build without a code generator";
  }
};

Executable compiled(const char* text, std::vector<HostFunction> functions = {}) {
  return compile(parse(text), {.host_functions = std::move(functions)});
}

std::vector<double> call(const Executable& f, std::vector<double> x, std::vector<int64_t> dims) {
  const std::vector<Array> out = f({View<const double>(x.data(), std::move(dims))});
  const std::span<const double> elements = out[0].elements<double>();
  return {elements.begin(), elements.end()};
}

template <class Change>
Executable changed(const Executable& f, const Change& change) {
  file::FunctionFile file = file::read(f.to_bytes(), "f");
  change(file);
  return Executable::from_bytes(file::write(file), "f");
}

TEST_F(Saved, AnArenaOfTheCallsSizes) {
  const Executable f = compiled(kChain), g = Executable::from_bytes(f.to_bytes());
  for (int64_t n : {1, 2, 7}) {
    const std::vector<double> x(static_cast<std::size_t>(n * n), 0.5);
    EXPECT_EQ(call(g, x, {n, n}), call(f, x, {n, n}));
  }
  EXPECT_EQ(g.to_bytes(), f.to_bytes());
  EXPECT_EQ(g.params()[0].dims, f.params()[0].dims);
}

TEST_F(Saved, HostFunctionsAreGivenAgain) {
  const HostFunction twice = [](std::span<const ArrayRef> operands) {
    std::vector<Array> out;
    out.emplace_back(DType::f64, std::vector<int64_t>(operands[0].dims.begin(), operands[0].dims.end()));
    const auto* x = static_cast<const double*>(operands[0].data);
    for (int64_t i = 0; i < operands[0].dims[0]; ++i) static_cast<double*>(out[0].data())[i] = 2 * x[i];
    return out;
  };
  const std::vector<std::byte> bytes = compiled(kCalls, {twice}).to_bytes();
  EXPECT_THAT(call(Executable::from_bytes(bytes, "f", {twice}), {1, 2}, {2}), ElementsAre(6));
  try {
    Executable::from_bytes(bytes);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.diagnostic().message, "host call \"twice\": no host function 0 was given");
  }
}

TEST_F(Saved, IsCompiledAgainWhereItsCodeCannotRun) {
  const Executable f = compiled(kChain);
  const std::vector<double> x = {1, 2, 3, 4}, expected = call(f, x, {2, 2});
  file::FunctionFile file = file::read(f.to_bytes(), "f");
  EXPECT_EQ(why_not_here(file), "");
  file.needs.push_back("zzz");
  EXPECT_EQ(why_not_here(file), "this CPU has no zzz");
  EXPECT_THROW(load_code(file), Error);
  EXPECT_EQ(call(changed(f, [](auto& it) { it.needs.push_back("zzz"); }), x, {2, 2}), expected);
  const Executable g = changed(f, [](auto& it) {
    it.code_abi = -1;
    it.sections = {{"python", {std::byte{7}}}};
  });
  EXPECT_EQ(file::read(g.to_bytes(), "g").sections.size(), 1U);
  EXPECT_EQ(call(g, x, {2, 2}), expected);
  EXPECT_EQ(file::read(g.to_bytes(), "g").code_abi, file.code_abi);
}

TEST_F(Saved, IsCompiledAgainByTheSameChoiceOfTheCpu) {
#if defined(__x86_64__)
  if (!llvm_backend::has_code_generator()) GTEST_SKIP() << "LLVM knows features, and is not in this build";
  Options options;
  options.backend = "llvm";
  options.cpu_features = "-fma";
  const Program program = compile_program(parse(kChain), options);
  file::FunctionFile file = file_of(program, program.executable);
  EXPECT_EQ(why_not_here(file), "");
  file.needs.push_back("zzz");
  EXPECT_EQ(emit_again(file).needs, program.needs);
  file.cpu_features = "";
  EXPECT_NE(why_not_here(file), "");
#endif
}

TEST_F(Saved, IsCompiledForThisCpuWhereItsOwnIsOfAnotherArchitecture) {
  const Program program = compile_program(parse(kChain));
  file::FunctionFile file = file_of(program, program.executable);
  file.needs = {"an architecture of its own"};
  file.cpu_features = "-what-that-has";
  EXPECT_EQ(emit_again(file).cpu_features, program.cpu_features);
}

TEST_F(Saved, KeepsTheNumberOfItsThreads) {
  if (!llvm_backend::has_code_generator()) GTEST_SKIP() << "code of the C backend is for one thread";
  Options options;
  options.threads = 3;
  const Program program = compile_program(parse(kChain), options);
  file::FunctionFile file = file::read(file::write(file_of(program, program.executable)), "the file");
  EXPECT_EQ(load_code(file).threads(), 3);
  file.needs.push_back("zzz");
  EXPECT_EQ(emit_again(file).executable.threads(), 3);
  EXPECT_EQ(file_of(compile_program(parse(kChain)), program.executable).sections.size(), 1u);
}

TEST_F(Saved, SaysWhatTheProgramWas) {
  const Program program = compile_program(parse(kChain));
  const file::FunctionFile file = file::read(file::write(file_of(program, program.executable)), "f");
  const EmittedProgram read = read_program(file);
  EXPECT_EQ(kernel::print(read.kernels), kernel::print(program.kernels));
  EXPECT_EQ(print(read.graph), print(program.graph));
  EXPECT_EQ(read.target, program.target);
  ASSERT_EQ(read.plan.sharing.storages.size(), program.plan.sharing.storages.size());
  for (kernel::BufferId b : ids<kernel::BufferId>(program.kernels.buffers.size())) {
    EXPECT_EQ(read.kernels.buffers[b].name, program.kernels.buffers[b].name);
    EXPECT_EQ(read.plan.sharing.placements[b].storage, program.plan.sharing.placements[b].storage);
  }
  for (memory::StorageId s : ids<memory::StorageId>(program.plan.sharing.storages.size())) {
    EXPECT_EQ(read.plan.sharing.storages[s].name, program.plan.sharing.storages[s].name);
  }
}

TEST_F(Saved, RefusesWhatAFileCannotHold) {
  const PlannerFunction planner = [](std::span<const StorageToPlace> storages) {
    std::vector<int64_t> offsets;
    int64_t end = 0;
    for (const StorageToPlace& storage : storages) end = offsets.emplace_back(end) + storage.size_bytes;
    return offsets;
  };
  for (const CompileOptions& options :
       {CompileOptions{.custom_planner = planner},
        CompileOptions{.may_share = [](const auto&...) { return MayShare::by_rule; }}}) {
    try {
      compile(parse(kChain), options).to_bytes();
      FAIL();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::unsupported);
      EXPECT_THAT(error.what(), HasSubstr("a file cannot hold the function that"));
    }
  }
}

TEST_F(Saved, FilesAreReadAndWritten) {
  const std::filesystem::path path = std::filesystem::temp_directory_path() / str("inlay-saved-", getpid());
  const Executable f = compiled(kChain);
  f.save(path);
  EXPECT_EQ(call(Executable::load(path), {3}, {1, 1}), call(f, {3}, {1, 1}));
  std::filesystem::resize_file(path, 100);
  EXPECT_THROW(Executable::load(path), Error);
  std::filesystem::remove(path);
  try {
    Executable::load(path);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.diagnostic().message, str(path.string(), " cannot be read: No such file or directory"));
  }
  EXPECT_THROW(f.save("/proc/none/f"), Error);
  EXPECT_THROW(Executable::load("/proc"), Error);  // a directory
}

}  // namespace
}  // namespace inlay
