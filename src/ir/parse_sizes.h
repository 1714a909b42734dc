#pragma once
// The sizes and types of a text of a graph, with its symbols. Inside ir/ only.
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ir/builder.h"
#include "text/cursor.h"

namespace inlay::text {

/// There is no such `what`; the help names the nearest of `known`.
Error unknown(const Cursor& in, const Token& token, std::string_view what, std::string_view sign,
              const std::vector<std::string>& known, ErrorCode code = ErrorCode::unknown_name);

template <class Map>
std::vector<std::string> keys(const Map& map) {
  std::vector<std::string> names;
  for (const auto& [name, entry] : map) names.push_back(name);
  return names;
}

int64_t signed_integer(Cursor& in);

constexpr int kDeepest = 100;  // sizes within sizes, bodies within bodies

/// For as long as it lives one more is around what is read. A text that nests without end is refused, where it would
/// end the stack.
class Deeper {
 public:
  Deeper(const Cursor& in, int& around, std::string_view what) : around_(around) {
    if (around_ == kDeepest) {
      throw Error(ErrorCode::unsupported, in.location(in.peek()),
                  str(what, " is nested more than ", kDeepest, " deep"));
    }
    ++around_;
  }
  ~Deeper() { --around_; }
  Deeper(const Deeper&) = delete;
  Deeper& operator=(const Deeper&) = delete;

 private:
  int& around_;
};

enum class NewSymbols : uint8_t { no, yes };

class Sizes {
 public:
  Sizes(Cursor& in, GraphBuilder& builder) : in_(in), builder_(builder) {}

  Dim symbol(const Token& token, NewSymbols allowed);
  Dim dim(NewSymbols allowed = NewSymbols::no);
  TensorType type(NewSymbols allowed = NewSymbols::no);
  bool has_symbol(std::string_view name) const { return symbols_.contains(name); }
  /// Before anything is read: the name stands for this number.
  void fix(const std::string& name, int64_t number) { symbols_[name] = {Dim(number), {}}; }
  /// Throws where nothing binds one of the symbols of the graph that is read now.
  void check_bound() const;

  struct SymbolEntry {
    Dim dim;
    Location location;
  };
  /// The symbols that there are: a body sees those of the graph around it, and nothing outside sees its own.
  using Symbols = std::map<std::string, SymbolEntry, std::less<>>;
  const Symbols& symbols() const { return symbols_; }
  void set_symbols(Symbols symbols) { symbols_ = std::move(symbols); }

 private:
  Dim product(NewSymbols allowed);
  Dim nested(NewSymbols allowed);
  Dim factor(NewSymbols allowed);

  Cursor& in_;
  GraphBuilder& builder_;  // of what is read now: symbols are made in it
  Symbols symbols_;
  int around_ = 0;  // sizes around the one that is read
};

}  // namespace inlay::text
