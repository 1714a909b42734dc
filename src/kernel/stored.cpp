#include "kernel/stored.h"

#include <algorithm>
#include <array>
#include <utility>

#include "support/str.h"

namespace inlay::kernel {
namespace {

struct Row {
  std::string_view name, sentence, help;
};
constexpr std::array<Row, kNumStoredFor + 1> kRows = {{
    {"", "", ""},
#define STORED_FOR(name, text, sentence, help) {text, sentence, help},
#include "kernel/stored.def"
#undef STORED_FOR
}};

const Row& row_of(StoredFor why) { return kRows[static_cast<std::size_t>(why)]; }

}  // namespace

void offer(Stored& kept, Stored reason) {
  if (reason.why == StoredFor::unsaid) return;
  if (kept.why == StoredFor::unsaid || reason.why < kept.why) kept = std::move(reason);
}

std::string_view stored_for_name(StoredFor why) { return row_of(why).name; }

std::string_view stored_help(const Stored& stored, bool sizes_are_known) {
  const bool is_of_call = stored.why == StoredFor::call_operand || stored.why == StoredFor::call_result;
  const bool may_be_loop = stored.what.starts_with("matmul") && !sizes_are_known;  // only that can be one
  return is_of_call && !may_be_loop ? "" : row_of(stored.why).help;
}

std::optional<StoredFor> stored_for_named(std::string_view name) {
  const auto found = std::ranges::find(kRows, name, &Row::name);
  if (found == kRows.end() || found == kRows.begin()) return std::nullopt;
  return static_cast<StoredFor>(found - kRows.begin());
}

std::string stored_text(const Stored& stored) {
  const auto& [name, sentence, help] = row_of(stored.why);
  if (name.empty()) return "";
  const std::size_t gap = sentence.find("{}");
  if (gap == std::string_view::npos) return str(name, ": ", sentence);
  const std::string_view what = stored.what.empty() ? "what follows" : std::string_view(stored.what);
  return str(name, ": ", sentence.substr(0, gap), what, sentence.substr(gap + 2));
}

}  // namespace inlay::kernel
