#include "backend/c/backend.h"

#include <algorithm>
#include <cstdlib>

#include "backend/c/emit.h"
#include "backend/c/header_names.h"
#include "backend/c/scalar.h"
#include "backend/c/text.h"
#include "backend/c/types.h"
#include "support/ascii.h"

namespace inlay::c_backend {
namespace {

/// C compilers make vectors of what is arithmetic; a function is called for each element, and so are the conversions
/// from and to the 16 bits of a half.
kernel::Support support(ScalarOp op, DType dtype) {
  const bool is_called = is_half(dtype) || op == ScalarOp::nextafter_ || facts(op).cost > kCostOfRoot;
  return is_called ? kernel::Support::per_lane : kernel::Support::vector;
}

}  // namespace

const kernel::BackendCaps& caps() {
  static const kernel::BackendCaps caps = {.support = support, .moments_in_one_pass = false};
  return caps;
}

bool is_called(ScalarOp op, DType dtype) { return origin_of(op, dtype) == Origin::called; }

Source source_of(const kernel::KernelProgram& program, const memory::MemoryPlan& plan, const SourceOptions& options) {
  return write_source(program, plan, options);
}

std::string_view element_type(DType dtype) {
  if (!is_complex(dtype)) return memory_type(dtype);
  return dtype == DType::c64 ? "float" : "double";
}

std::string wrong_entry_name(const std::string& name) {
  const bool is_identifier = !name.empty() && !is_digit(name[0]) &&
                             std::ranges::all_of(name, [](char c) { return is_letter(c) || is_digit(c) || c == '_'; });
  if (!is_identifier) return str("`", name, "` is no C identifier");
  const auto begins = [&](std::string_view start) { return name.starts_with(start); };
  // C99 keeps these for <string.h> (7.26.11), and POSIX these for types.
  const bool is_of_strings = (begins("str") || begins("mem") || begins("wcs")) && name.size() > 3 && is_lower(name[3]);
  if (name[0] == '_' || is_of_strings) return str("`", name, "` begins as the names of the C library");
  if (name.ends_with("_t")) return str("`", name, "` ends as the types of the C library");
  if (NameTable().is_taken(name) || is_of_headers(name) || is_of_runtime(name) || begins("inlay_s_") ||
      begins("inlay_l_") || begins("inlay_blas_")) {
    return str("`", name, "` has a meaning in the C file already");
  }
  if (is_of_library(name)) return str("`", name, "` has a meaning in the C library already");
  return {};
}

std::string wrong_section_name(const std::string& name) {
  const auto is_right = [](char c) { return is_letter(c) || is_digit(c) || c == '_' || c == '.' || c == '-'; };
  if (name.empty() || !std::ranges::all_of(name, is_right)) {
    return str("`", name, "` is not made of letters, digits, `.`, `_` and `-`");
  }
  // .data.weights, too, is what compilers and linkers take for .data; .rodata.weights is a place for constants.
  const std::string_view first = std::string_view(name).substr(0, name.find('.', 1));
  constexpr std::string_view kOther[] = {
      ".bss",   ".lbss",     ".ldata",      ".noinit", ".persistent", ".sbss2",    ".comment",       ".ctors",
      ".data",  ".dtors",    ".dynamic",    ".dynstr", ".dynsym",     ".eh_frame", ".fini",          ".got",
      ".hash",  ".init",     ".fini_array", ".interp", ".init_array", ".plt",      ".preinit_array", ".sbss",
      ".sdata", ".shstrtab", ".strtab",     ".symtab", ".tbss",       ".tdata",    ".text",          ".tm_clone_table"};
  for (const char* merged : {".rodata.cst", ".rodata.str", ".srodata.cst"}) {
    if (name.starts_with(merged)) return str("`", name, "` is a section whose equal constants linkers merge");
  }
  const bool begins_so = name.starts_with(".debug") || name.starts_with(".rel") || name.starts_with(".gnu") ||
                         name.starts_with(".note") || name.starts_with(".eh_frame");
  if (begins_so || std::ranges::find(kOther, first) != std::end(kOther)) {
    return str("`", name, "` is a section for something else than constants");
  }
  return {};
}

/// A judge of the sources that exported code has: program tests run them in this process.
static bool is_asked_to_supply() { return std::getenv("INLAY_C_ALONE") != nullptr; }

EmitResult emit(const kernel::KernelProgram& program, const memory::MemoryPlan& plan) {
  EmitResult result;
  result.source = source_of(program, plan, {.supplies = is_asked_to_supply()}).text;
  result.object = compiled(result.source, Product::here);
  result.entry = kEntry;
  return result;
}

}  // namespace inlay::c_backend
