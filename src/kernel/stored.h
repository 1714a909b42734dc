#pragma once
// Why a temporary has memory of its own, where it could have been computed in registers.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace inlay::kernel {

enum class StoredFor : uint8_t {
  unsaid,  // of a program that says nothing about it
#define STORED_FOR(name, text, sentence) name,
#include "kernel/stored.def"
#undef STORED_FOR
};
constexpr int kNumStoredFor = 0
#define STORED_FOR(name, text, sentence) +1
#include "kernel/stored.def"
#undef STORED_FOR
    ;

struct Stored {
  StoredFor why = StoredFor::unsaid;
  std::string what;  // that the reason is about: "matmul"; empty: some later step
  bool operator==(const Stored&) const = default;
};

/// Of two reasons the one that says more stays in `kept`; of equals the first.
void offer(Stored& kept, Stored reason);

/// "call-operand"; empty for `unsaid`.
std::string_view stored_for_name(StoredFor why);
std::optional<StoredFor> stored_for_named(std::string_view name);

/// "call-operand: matmul reads it from memory".
std::string stored_text(const Stored& stored);

}  // namespace inlay::kernel
