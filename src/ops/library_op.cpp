#include "ops/library_op.h"

#include <array>

#include "support/str.h"

namespace inlay {
namespace {

struct OptionName {
  LibraryOption option;
  std::string_view name;
};
constexpr OptionName kOptionNames[] = {
    {LibraryOption::upper, "upper"},
    {LibraryOption::transposed, "transposed"},
    {LibraryOption::unit_diagonal, "unit_diagonal"},
    {LibraryOption::right, "right"},
    {LibraryOption::nan, "nan"},
    {LibraryOption::adjoint, "adjoint"},
    {LibraryOption::left_transposed, "left_transposed"},
    {LibraryOption::right_transposed, "right_transposed"},
    {LibraryOption::left_shared, "left_shared"},
    {LibraryOption::right_shared, "right_shared"},
};

/// `(m,k),(k,n?)`
std::vector<CoreAxes> axes_of(std::string_view text) {
  std::vector<CoreAxes> out;
  for (char c : text) {
    if (c == '(') out.emplace_back();
    if (c == '?') out.back().back().optional = true;
    if (c >= 'a' && c <= 'z') out.back().push_back({c});
  }
  return out;
}

LibrarySignature signature_of(std::string_view text) {
  const std::size_t arrow = text.find("->");
  LibrarySignature out{axes_of(text.substr(0, arrow)), axes_of(text.substr(arrow)), {}};
  for (const CoreAxes& operand : out.operands) {
    for (const CoreAxis& axis : operand) {
      if (out.letters.find(axis.letter) == std::string::npos) out.letters += axis.letter;
    }
  }
  return out;
}

LibraryOptions options_of(std::string_view text) {
  LibraryOptions out = 0;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    out = out | *library_option_from_name(word);
    text.remove_prefix(std::min(text.size(), word.size() + 1));
  }
  return out;
}

}  // namespace

std::optional<LibraryOption> library_option_from_name(std::string_view name) {
  for (const OptionName& entry : kOptionNames) {
    if (entry.name == name) return entry.option;
  }
  return std::nullopt;
}

std::string options_text(LibraryOptions options) {
  std::string out;
  for (const OptionName& entry : kOptionNames) {
    if (has(options, entry.option)) out += str(" ", entry.name);
  }
  return out;
}

const LibraryOpFacts& facts(LibraryOp op) {
  using Operands = LibraryOpFacts::Operands;
  static const std::array<LibraryOpFacts, kNumLibraryOps> kFacts = {{
#define LIBRARY_OP(name, signature, operands, results, options, failure) \
  {#name, signature_of(signature), Operands::operands, results, options_of(options), failure},
#include "ops/library_ops.def"
#undef LIBRARY_OP
  }};
  return kFacts[static_cast<std::size_t>(op)];
}

std::optional<LibraryOp> library_op_from_name(std::string_view name) {
  for (int i = 0; i < kNumLibraryOps; ++i) {
    if (facts(static_cast<LibraryOp>(i)).name == name) return static_cast<LibraryOp>(i);
  }
  return std::nullopt;
}

bool accepts(LibraryOp op, DType dtype) {
  const bool in_field = dtype == DType::f32 || dtype == DType::f64 || is_complex(dtype);
  switch (facts(op).operands) {
    case LibraryOpFacts::Operands::Field: return in_field;
    case LibraryOpFacts::Operands::Ordered: return in_field || dtype == DType::boolean || is_integer(dtype);
    case LibraryOpFacts::Operands::Index: return dtype == DType::i64;
  }
  return false;
}

DType result_dtype(LibraryOp op, std::size_t result, DType operands) {
  switch (facts(op).results[result]) {
    case 'R': return real_of(operands);
    case 'C': return complex_of(operands);
    case 'i': return DType::i64;
    default: return operands;
  }
}

std::string failure_message(LibraryOp op) { return str(facts(op).name, ": ", facts(op).failure, " (matrix {1})"); }

}  // namespace inlay
