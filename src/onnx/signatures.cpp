#include "onnx/signatures.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "support/counted.h"

namespace inlay::onnx {
namespace {

struct Signature {
  std::string_view op;
  int64_t since;
  int most_inputs;  // -1: any number
  std::string_view attributes;
};

constexpr Signature kSignatures[] = {
#define SIGNATURE(op, since, most_inputs, attributes) {#op, since, most_inputs, attributes},
#include "onnx/signatures.def"
#undef SIGNATURE
};

const Signature* find_signature(const Node& node, int64_t version) {
  if (!node.domain.empty()) return nullptr;
  const auto key = [](const Signature& row) { return std::pair(row.op, row.since); };
  const auto* const behind =
      std::ranges::upper_bound(kSignatures, std::pair(std::string_view(node.op), version), {}, key);
  if (behind == std::begin(kSignatures)) return nullptr;
  const Signature* found = std::prev(behind);
  return found->op == node.op ? found : nullptr;
}

bool has_word(std::string_view words, std::string_view word) {
  while (!words.empty()) {
    const std::size_t end = std::min(words.find(' '), words.size());
    if (words.substr(0, end) == word) return true;
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return false;
}

}  // namespace

void require_signature(const Call& c) {
  const Signature* signature = find_signature(c.node, c.version);
  if (!signature) return;
  for (const Attribute& attribute : c.node.attributes) {
    // Any node may have notes of those that write it.
    if (attribute.name.starts_with("__") || has_word(signature->attributes, attribute.name)) continue;
    throw c.wrong(str("in version ", c.version, " of the operator set it has no attribute `", attribute.name, "`"))
        .help(signature->attributes.empty() ? "it has none" : str("there are: ", signature->attributes));
  }
  std::size_t inputs = c.node.inputs.size();
  while (inputs > 0 && c.node.inputs[inputs - 1].empty()) --inputs;
  if (signature->most_inputs < 0 || inputs <= static_cast<std::size_t>(signature->most_inputs)) return;
  throw c.error(ErrorCode::wrong_arity,
                str("it has ", counted(inputs, "input"), ", more than ", signature->most_inputs));
}

}  // namespace inlay::onnx
