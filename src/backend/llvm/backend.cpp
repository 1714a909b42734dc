#include "backend/llvm/backend.h"

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

bool host_has_vector_math() {
  static const bool has = has_vector_math(features_from_environment());
  return has;
}

/// Of complex numbers what is a formula of the parts; the rest is a call for each lane.
bool vectorizes_complex(ScalarOp op) { return facts(op).cost <= 4 && op != ScalarOp::sign_ && op != ScalarOp::abs_; }

/// How several lanes of an op are computed: by instructions, by the vector math, or by a call for each.
enum class Form : uint8_t { instructions, vector_math, calls };

Form form_of(ScalarOp op, DType dtype) {
  if (is_complex(dtype)) return vectorizes_complex(op) ? Form::instructions : Form::calls;
  switch (op) {
    case ScalarOp::exp_:
    case ScalarOp::exp2_:
    case ScalarOp::log2_:
    case ScalarOp::log10_:
    case ScalarOp::cbrt_:
    case ScalarOp::logit_:
    case ScalarOp::sinh_:
    case ScalarOp::cosh_:
    case ScalarOp::arcsinh_:
    case ScalarOp::arccosh_:
    case ScalarOp::arctanh_:
    case ScalarOp::arctan_:
    case ScalarOp::arcsin_:
    case ScalarOp::arccos_:
    case ScalarOp::tan_:
    case ScalarOp::ndtr_:
    case ScalarOp::erfcx_:
    case ScalarOp::log_ndtr_:
    case ScalarOp::logaddexp_:
    case ScalarOp::xlogy_:
    case ScalarOp::xlog1py_:
    case ScalarOp::arctan2_:
    case ScalarOp::expm1_:
    case ScalarOp::log_:
    case ScalarOp::log1p_:
    case ScalarOp::log1mexp_:
    case ScalarOp::sigmoid_:
    case ScalarOp::softplus_:
    case ScalarOp::sin_:
    case ScalarOp::cos_:
    case ScalarOp::tanh_:
    case ScalarOp::erf_:
    case ScalarOp::erfc_:
    case ScalarOp::lgamma_:
    case ScalarOp::digamma_: return Form::vector_math;
    case ScalarOp::pow_: return is_float(dtype) ? Form::vector_math : Form::calls;
    case ScalarOp::floor_div_:
    case ScalarOp::mod_: return Form::calls;  // no vector instruction divides integers; fmod has none either
    case ScalarOp::neg_:
    case ScalarOp::abs_:
    case ScalarOp::sign_:
    case ScalarOp::reciprocal_:
    case ScalarOp::square_:
    case ScalarOp::sqrt_:
    case ScalarOp::deg2rad_:
    case ScalarOp::rad2deg_:
    case ScalarOp::floor_:
    case ScalarOp::ceil_:
    case ScalarOp::round_:
    case ScalarOp::trunc_:
    case ScalarOp::isnan_:
    case ScalarOp::isinf_:
    case ScalarOp::isfinite_:
    case ScalarOp::signbit_:
    case ScalarOp::copysign_:
    case ScalarOp::nextafter_:
    case ScalarOp::not_:
    case ScalarOp::real_:
    case ScalarOp::imag_:
    case ScalarOp::conj_:
    case ScalarOp::complex_:
    case ScalarOp::add_:
    case ScalarOp::sub_:
    case ScalarOp::mul_:
    case ScalarOp::div_:
    case ScalarOp::max_:
    case ScalarOp::min_:
    case ScalarOp::eq_:
    case ScalarOp::ne_:
    case ScalarOp::lt_:
    case ScalarOp::le_:
    case ScalarOp::gt_:
    case ScalarOp::ge_:
    case ScalarOp::and_:
    case ScalarOp::or_:
    case ScalarOp::xor_:
    case ScalarOp::left_shift_:
    case ScalarOp::right_shift_:
    case ScalarOp::clip_:
    case ScalarOp::select_: return Form::instructions;
    case ScalarOp::erfinv_:
    case ScalarOp::erfcinv_:
    case ScalarOp::ndtri_:
    case ScalarOp::ndtri_exp_:
    case ScalarOp::gamma_:
    case ScalarOp::trigamma_:
    case ScalarOp::polygamma_:
    case ScalarOp::i0_:
    case ScalarOp::i1_:
    case ScalarOp::j0_:
    case ScalarOp::j1_:
    case ScalarOp::beta_:
    case ScalarOp::lbeta_:
    case ScalarOp::gammainc_:
    case ScalarOp::gammaincc_:
    case ScalarOp::gammainc_da_:
    case ScalarOp::gammaincinv_:
    case ScalarOp::gammainccinv_:
    case ScalarOp::owens_t_:
    case ScalarOp::jv_:
    case ScalarOp::ive_:
    case ScalarOp::kve_:
    case ScalarOp::betainc_:
    case ScalarOp::betainc_da_:
    case ScalarOp::betainc_db_:
    case ScalarOp::betaincinv_:
    case ScalarOp::hyp2f1_:
    case ScalarOp::angle_: return Form::calls;
  }
  return Form::calls;
}

Support support_by(ScalarOp op, DType dtype, Form slowest) {
  if (op != ScalarOp::select_ && !accepts(op, dtype)) return Support::none;
  return form_of(op, dtype) <= slowest ? Support::vector : Support::per_lane;
}

Support support(ScalarOp op, DType dtype) {
  return support_by(op, dtype, host_has_vector_math() ? Form::vector_math : Form::instructions);
}

Support support_by_avx512(ScalarOp op, DType dtype) { return support_by(op, dtype, Form::vector_math); }

}  // namespace

const kernel::BackendCaps& caps_with_avx512() {
  static const kernel::BackendCaps caps = {.support = support_by_avx512};
  return caps;
}

const kernel::BackendCaps& caps() {
  static const kernel::BackendCaps caps = {.support = support};
  return caps;
}

bool has_code_generator() { return INLAY_HAS_LLVM; }

void* find_vector_function([[maybe_unused]] std::string_view name) {
#if INLAY_HAS_LLVM
  for (const InlayVectorCode* code = inlay_vector_code; code->name != nullptr; ++code) {
    if (name == code->name) return code->address;
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
