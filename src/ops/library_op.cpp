#include "ops/library_op.h"

#include <array>

#include "support/ascii.h"
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
    {LibraryOption::left, "left"},
    {LibraryOption::inside, "inside"},
    {LibraryOption::outside, "outside"},
};

/// `(m,k),(k,n?),(n-1)`
std::vector<CoreAxes> axes_of(std::string_view text) {
  std::vector<CoreAxes> out;
  for (char c : text) {
    if (c == '(') out.emplace_back();
    if (c == '?') out.back().back().optional = true;
    if (c >= 'a' && c <= 'z') out.back().push_back({c});
    if (c >= '1' && c <= '9') out.back().back().less = c - '0';
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

LibraryLayout layout_of(char letter) {
  switch (to_lower(letter)) {
    case 'm': return LibraryLayout::matrix;
    case 'r': return LibraryLayout::rows;
    case 'w': return LibraryLayout::whole;
    default: return LibraryLayout::any;
  }
}

/// `aM->Ra`
void read_layouts(std::string_view text, LibraryOpFacts& row) {
  const std::size_t arrow = text.find("->");
  const auto read = [](std::string_view letters, std::vector<LibraryLayout>& layouts, int& in_place) {
    for (char letter : letters) {
      if (is_upper(letter)) in_place = static_cast<int>(layouts.size());
      layouts.push_back(layout_of(letter));
    }
  };
  read(text.substr(0, arrow), row.operand_layouts, row.in_place_operand);
  read(text.substr(arrow + 2), row.result_layouts, row.in_place_result);
}

DType dtype_of(char type, DType first_operand) {
  switch (type) {
    case 'R': return real_of(first_operand);
    case 'C': return complex_of(first_operand);
    case 'i': return DType::i64;
    case 'b': return DType::i8;
    case 'j': return DType::i32;
    default: return first_operand;
  }
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
  using DTypes = LibraryOpFacts::DTypes;
  const auto row = [](std::string_view name, std::string_view signature, DTypes dtypes, std::string_view types,
                      std::string_view layouts, std::string_view options, std::string_view failure) {
    LibraryOpFacts out{.name = name,
                       .signature = signature_of(signature),
                       .dtypes = dtypes,
                       .operand_types = types.substr(0, types.find("->")),
                       .result_types = types.substr(types.find("->") + 2),
                       .options = options_of(options),
                       .failure = failure};
    read_layouts(layouts, out);
    return out;
  };
  static const std::array<LibraryOpFacts, kNumLibraryOps> kFacts = {{
#define LIBRARY_OP(name, signature, dtypes, types, layouts, options, failure) \
  row(#name, signature, DTypes::dtypes, types, layouts, options, failure),
#include "ops/library_ops.def"
#undef LIBRARY_OP
  }};
  return kFacts[static_cast<std::size_t>(op)];
}

std::string size_text(const CoreAxis& axis) {
  return axis.less == 0 ? std::string(1, axis.letter) : str(axis.letter, "-", axis.less);
}

LibraryLayout operand_layout(LibraryOp op, std::size_t i, LibraryOptions options, DType dtype) {
  const LibraryLayout layout = facts(op).operand_layouts[i];
  // A matrix by columns is the transpose of one by rows, and BLAS has no function for the conjugate alone.
  const bool conjugates = is_complex(dtype) && has(options, LibraryOption::adjoint);
  return layout == LibraryLayout::matrix && conjugates ? LibraryLayout::rows : layout;
}

std::optional<LibraryOp> library_op_from_name(std::string_view name) {
  for (int i = 0; i < kNumLibraryOps; ++i) {
    if (facts(static_cast<LibraryOp>(i)).name == name) return static_cast<LibraryOp>(i);
  }
  return std::nullopt;
}

bool accepts(LibraryOp op, DType dtype) {
  const bool in_field = dtype == DType::f32 || dtype == DType::f64 || is_complex(dtype);
  switch (facts(op).dtypes) {
    case LibraryOpFacts::DTypes::Field: return in_field;
    case LibraryOpFacts::DTypes::Ordered: return in_field || dtype == DType::boolean || is_integer(dtype);
    case LibraryOpFacts::DTypes::Index: return dtype == DType::i64;
    case LibraryOpFacts::DTypes::Byte: return dtype == DType::u8;
  }
  return false;
}

DType operand_dtype(LibraryOp op, std::size_t operand, DType dtype) {
  return dtype_of(facts(op).operand_types[operand], dtype);
}

DType result_dtype(LibraryOp op, std::size_t result, DType dtype) {
  return dtype_of(facts(op).result_types[result], dtype);
}

std::string failure_message(LibraryOp op) { return str(facts(op).name, ": ", facts(op).failure, " (matrix {1})"); }

}  // namespace inlay
