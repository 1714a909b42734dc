#pragma once
// Why a temporary is stored in memory, and not computed in registers.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace inlay::kernel {

enum class StoredFor : uint8_t {
  unsaid,  // the program does not say
#define STORED_FOR(name, text, sentence, help) name,
#include "kernel/stored.def"
#undef STORED_FOR
};
constexpr int kNumStoredFor = 0
#define STORED_FOR(name, text, sentence, help) +1
#include "kernel/stored.def"
#undef STORED_FOR
    ;

struct Stored {
  StoredFor why = StoredFor::unsaid;
  std::string what;  // that the reason is about: "matmul"; empty: some later step
  bool operator==(const Stored&) const = default;
};

/// Keeps the more specific of two reasons in `kept`; of equals the first.
void offer(Stored& kept, Stored reason);

/// Returns the name of the reason, "call-operand"; empty for `unsaid`.
std::string_view stored_for_name(StoredFor why);
std::optional<StoredFor> stored_for_named(std::string_view name);

/// Returns what who wrote the program can do so that it is not stored; empty where that is nothing. `sizes_are_known`:
/// all of the value's, so its type says them already.
std::string_view stored_help(const Stored& stored, bool sizes_are_known);

/// Returns the reason as text: "call-operand: matmul reads it from memory".
std::string stored_text(const Stored& stored);

}  // namespace inlay::kernel
