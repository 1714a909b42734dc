#include "backend/llvm/backend.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <dlfcn.h>
#include <link.h>

#include "backend/llvm/cpu.h"
#include "backend/llvm/jit.h"
#if INLAY_HAS_LLVM
#include "backend/llvm/math/vector_code.h"
#endif
#include "backend/llvm/newest_caps.h"
#include "support/error.h"

namespace inlay::llvm_backend {
namespace {

namespace fs = std::filesystem;
using kernel::Support;

constexpr const char* kLibrary = "libinlay_jit.so";

/// The program or shared object that this code is in.
fs::path this_binary() {
  Dl_info info{};
  void* map = nullptr;
  if (!dladdr1(reinterpret_cast<const void*>(&this_binary), &info, &map, RTLD_DL_LINKMAP)) return {};
  const std::string_view name = static_cast<const link_map*>(map)->l_name;
  std::error_code ignored;
  return fs::canonical(name.empty() ? "/proc/self/exe" : name, ignored);  // the program has no name there
}

/// Where the JIT library may lie: beside this binary, in the `lib` beside its folder, and where the loader looks (the
/// binary's run path, LD_LIBRARY_PATH). No path of the machine that built it: what was moved finds what moved with it.
std::vector<std::string> candidates() {
  std::vector<std::string> out;
  if (const fs::path here = this_binary().parent_path(); !here.empty()) {
    out.push_back(here / kLibrary);
    out.push_back(here / ".." / "lib" / kLibrary);
  }
  out.emplace_back(kLibrary);
  return out;
}

/// The function of the library at `path`; null: `why` says why not.
JitEmit load_jit(const std::string& path, std::string& why) {
  // RTLD_LOCAL, and hidden symbols inside: another LLVM in this process and ours never meet.
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    why = dlerror();
    return nullptr;
  }
  void* function = dlsym(library, kJitEmitName);
  if (!function) why = str(path, ": has no ", kJitEmitName);
  return reinterpret_cast<JitEmit>(function);
}

JitEmit load_jit() {
  std::string tried, why;
  // Who names a library wants that one: another must not stand in for it.
  if (const char* named = std::getenv("INLAY_JIT"); named && *named) {
    if (JitEmit function = load_jit(named, why)) return function;
    throw Error(ErrorCode::unsupported, {}, str("INLAY_JIT names no code generator: ", why))
        .help(str("name ", kLibrary, ", or unset INLAY_JIT: it is found beside the program"));
  }
  for (const std::string& path : candidates()) {
    if (JitEmit function = load_jit(path, why)) return function;
    tried += str("\n  ", why);
  }
  throw Error(ErrorCode::unsupported, {}, str("the code generator was not found; tried:", tried))
      .help(str("set INLAY_JIT to the path of ", kLibrary));
}

JitEmit jit() {
  static const JitEmit function = load_jit();
  return function;
}

/// How several lanes of an op are computed: by instructions, by the vector math, or by a call for each.
enum class Form : uint8_t { instructions, vector_math, calls };

/// By the list that the vector math itself is made of.
bool is_vector_math(std::string_view name) {
  constexpr std::string_view kNames[] = {
#define OF_DOUBLES(name) #name,
#define OF_FLOATS(name)
#include "backend/llvm/math/vector_code.def"
#undef OF_FLOATS
#undef OF_DOUBLES
  };
  return std::ranges::find(kNames, name) != std::end(kNames);
}

Form form_of(ScalarOp op, DType dtype) {
  // Of complex numbers what is a formula of the parts.
  const bool is_function_of_parts = op == ScalarOp::sign_ || op == ScalarOp::abs_;
  if (is_complex(dtype))
    return facts(op).cost <= kCostOfDivision && !is_function_of_parts ? Form::instructions : Form::calls;
  if (facts(op).cost <= kCostOfRoot) return Form::instructions;
  return is_float(dtype) && is_vector_math(facts(op).name) ? Form::vector_math : Form::calls;
}

Support support_by(ScalarOp op, DType dtype, Form slowest) {
  return form_of(op, dtype) <= slowest ? Support::vector : Support::per_lane;
}

Support support_with_math(ScalarOp op, DType dtype) { return support_by(op, dtype, Form::vector_math); }

Support support_without_math(ScalarOp op, DType dtype) { return support_by(op, dtype, Form::instructions); }

}  // namespace

const kernel::BackendCaps& caps_with_avx512() {
  static const kernel::BackendCaps caps = {.support = support_with_math};
  return caps;
}

const kernel::BackendCaps& caps(std::string_view cpu) {
  static const kernel::BackendCaps without_math = {.support = support_without_math};
  const std::string features = cpu.empty() ? features_from_environment() : features_of(cpu);
  return vector_math_lanes(features) > 0 ? caps_with_avx512() : without_math;
}

bool has_code_generator() { return INLAY_HAS_LLVM; }

std::string_view llvm_version() { return INLAY_LLVM_VERSION; }

std::string jit_path() {
  if (!has_code_generator()) return "";
  if (const char* named = std::getenv("INLAY_JIT"); named && *named) return named;
  for (const std::string& path : candidates()) {
    std::error_code ignored;
    if (const fs::path found = fs::canonical(path, ignored); !found.empty()) return found;
  }
  // Wherever the loader looks: it says where, if it has it.
  std::string where = kLibrary;
  if (void* library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD)) {
    link_map* map = nullptr;
    if (dlinfo(library, RTLD_DI_LINKMAP, &map) == 0) where = map->l_name;
    dlclose(library);
  }
  return where;
}

void* find_vector_function([[maybe_unused]] std::string_view name) {
#if INLAY_HAS_LLVM
  for (const InlayVectorCode* code : {inlay_vector_code_8, inlay_vector_code_4}) {
    for (; code->name != nullptr; ++code) {
      if (name == code->name) return code->address;
    }
  }
#endif
  return nullptr;
}

EmitResult emit(const kernel::KernelProgram& program, const memory::MemoryPlan& plan, const EmitOptions& options) {
  EmitResult result;
  JitFailure failure;
  if (jit()(jit_layout(), &program, &plan, &options, &result, &failure) != 0)
    throw Error(failure.code, {}, failure.message);
  return result;
}

}  // namespace inlay::llvm_backend
