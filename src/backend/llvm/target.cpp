#include "backend/llvm/target.h"

#include <array>
#include <mutex>
#include <vector>

#include <llvm/IR/LegacyPassManager.h>
#include <llvm/MC/MCContext.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/MCSymbol.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include "backend/llvm/cpu.h"
#include "support/error.h"

namespace inlay::llvm_backend {
namespace {

#if defined(__aarch64__)
/// What code for any CPU of the architecture is made of.
constexpr std::string_view kBase[] = {"fp-armv8", "neon"};
constexpr const char* kFusedMultiplyAdd = "+neon";
constexpr std::array<const char*, 0> kSwitches = {};  // nothing was measured

void initialize_target() {
  LLVMInitializeAArch64TargetInfo();
  LLVMInitializeAArch64Target();
  LLVMInitializeAArch64TargetMC();
  LLVMInitializeAArch64AsmPrinter();
}
#else
constexpr std::string_view kBase[] = {"64bit", "cmov", "cx8", "fxsr", "mmx", "sse", "sse2"};
constexpr const char* kFusedMultiplyAdd = "+fma";
// A CPU that runs instructions out of order gains nothing by their order: over 90 loops calls take as long with
// AVX-512, 3 % less with AVX2, whose 16 registers keep what the emitter's order keeps. The other pass looks for numbers
// that are better in mask registers, and masks of loops are there already.
constexpr std::array kSwitches = {"-enable-misched=false", "-disable-x86-domain-reassignment"};

void initialize_target() {
  LLVMInitializeX86TargetInfo();
  LLVMInitializeX86Target();
  LLVMInitializeX86TargetMC();
  LLVMInitializeX86AsmPrinter();
}
#endif

/// Nothing that belongs to one module or thread; once for the process.
void initialize_llvm() {
  static std::once_flag once;
  std::call_once(once, [] {
    initialize_target();
    // Loop strength reduction takes up to a third of the compile time and does nothing for loops whose addresses are
    // base + index already. It has no other switch; this LLVM is ours alone.
    std::vector<const char*> arguments = {"inlay", "-disable-lsr"};
    arguments.insert(arguments.end(), std::begin(kSwitches), std::end(kSwitches));
    llvm::cl::ParseCommandLineOptions(static_cast<int>(arguments.size()), arguments.data());
  });
}

std::string host_features() {
  std::string out;
  for (const auto& feature : llvm::sys::getHostCPUFeatures()) {
    if (!out.empty()) out += ',';
    out += (feature.second ? '+' : '-');
    out += feature.first().str();
  }
  return out;
}

/// "-avx512f,+fma": LLVM would go on without a word that it does not know, and end the process without what every CPU
/// has.
void require_features(std::string_view features) {
  const auto known = llvm::sys::getHostCPUFeatures();
  while (!features.empty()) {
    const std::size_t comma = std::min(features.find(','), features.size());
    const std::string_view name = features.substr(0, comma);
    if (!known.contains(name.substr(1))) throw no_feature(name);
    if (name.starts_with('-') && std::ranges::find(kBase, name.substr(1)) != std::end(kBase)) {
      throw Error(ErrorCode::unsupported, {}, str("every ", architecture(), " CPU has ", name.substr(1)));
    }
    features.remove_prefix(std::min(comma + 1, features.size()));
  }
}

TargetFacts facts_for(const std::string& features) {
  TargetFacts out;
  out.cpu = llvm::sys::getHostCPUName().str();
  out.features = host_features();
  if (!features.empty()) out.features += "," + features;
  out.level = level_of(features).name;
  out.vector_bytes = vector_bytes(features);
  out.avx512 = out.vector_bytes == 64;
  out.hardware_gather = out.avx512 && !out.cpu.starts_with("znver");
  return out;
}

}  // namespace

Engine::Engine(const std::string& features) {
  initialize_llvm();
  require_features(features);
  facts_ = facts_for(features);
  facts_.fma = machine(llvm::CodeGenOptLevel::Less).getMCSubtargetInfo()->checkFeatures(kFusedMultiplyAdd);
  math_ = VectorMath(context_, vector_math_lanes(features));
}

std::unique_ptr<llvm::Module> Engine::new_module(const std::string& name) {
  auto module = std::make_unique<llvm::Module>(name, context_);
  llvm::TargetMachine& any = machine(llvm::CodeGenOptLevel::Less);
  module->setTargetTriple(any.getTargetTriple().str());
  module->setDataLayout(any.createDataLayout());
  return module;
}

llvm::TargetMachine& Engine::machine(llvm::CodeGenOptLevel level) {
  std::unique_ptr<llvm::TargetMachine>& machine = machines_[level];
  if (machine) return *machine;
  const std::string triple = llvm::sys::getProcessTriple();
  std::string message;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, message);
  if (!target) throw Error(ErrorCode::unsupported, {}, str("no code generator for ", triple, ": ", message));
  machine.reset(target->createTargetMachine(triple, facts_.cpu, facts_.features, llvm::TargetOptions(),
                                            llvm::Reloc::PIC_, llvm::CodeModel::Small, level, /*JIT=*/true));
  return *machine;
}

namespace {

/// Engines that nobody uses. The mutex is held for moments only, never where a fork may happen.
struct Pool {
  std::mutex mutex;
  std::map<std::string, std::vector<std::unique_ptr<Engine>>> engines;  // by features
};

Pool& pool() {
  static Pool pool;
  return pool;
}

}  // namespace

EngineLoan::EngineLoan(const std::string& features) : features_(chosen_features(features)) {
  // A context keeps every type and constant that it ever saw; a new one now and then bounds that.
  constexpr int kUsesOfOneContext = 500;
  {
    const std::lock_guard lock(pool().mutex);
    std::vector<std::unique_ptr<Engine>>& idle = pool().engines[features_];
    if (!idle.empty()) {
      engine_ = std::move(idle.back());
      idle.pop_back();
    }
  }
  if (engine_ && ++engine_->num_uses > kUsesOfOneContext) engine_.reset();
  if (engine_) return;
  try {
    engine_ = std::make_unique<Engine>(features_);
  } catch (const Error& error) {
    if (features.empty() && !features_.empty()) throw of_environment(error);
    throw;
  }
}

EngineLoan::~EngineLoan() {
  constexpr std::size_t kMostIdle = 4;  // a few megabytes each
  if (!engine_) return;
  const std::lock_guard lock(pool().mutex);
  std::vector<std::unique_ptr<Engine>>& idle = pool().engines[features_];
  if (idle.size() < kMostIdle) idle.push_back(std::move(engine_));
}

void write_object(llvm::Module& module, llvm::TargetMachine& machine, EmitResult& result) {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  llvm::MCContext* symbols = nullptr;
  INLAY_CHECK(!machine.addPassesToEmitMC(passes, symbols, stream, /*DisableVerify=*/true), "no object writer");
  passes.run(module);
  const auto* begin = reinterpret_cast<const std::byte*>(bytes.data());
  result.object.assign(begin, begin + bytes.size());
  for (const auto& entry : symbols->getSymbols()) {
    const llvm::MCSymbol* symbol = entry.getValue().Symbol;
    if (symbol && symbol->isUndefined() && !symbol->isTemporary())
      result.external_names.push_back(symbol->getName().str());
  }
  std::sort(result.external_names.begin(), result.external_names.end());
}

std::string write_assembly(const llvm::Module& module, llvm::TargetMachine& machine) {
  const std::unique_ptr<llvm::Module> copy = llvm::CloneModule(module);
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream stream(text);
  llvm::legacy::PassManager passes;
  INLAY_CHECK(!machine.addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::AssemblyFile, true),
              "no assembly writer");
  passes.run(*copy);
  return text.str().str();
}

}  // namespace inlay::llvm_backend
