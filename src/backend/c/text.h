#pragma once
// C source while it is being written: lines, indentation, names.
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "support/str.h"

namespace inlay::c_backend {

class Text {
 public:
  explicit Text(int depth = 0) : depth_(depth) {}

  template <class... Parts>
  void line(const Parts&... parts) {
    add(str(parts...));
  }
  /// `if (condition) failure`, over two lines where it is long.
  void fail_if(std::string_view condition, std::string_view failure);
  void blank() { text_ += "\n"; }
  /// "/* text */", over several lines where it is long.
  void comment(std::string_view text);
  /// `for (...) {` and what follows one step further in, up to close().
  template <class... Parts>
  void open(const Parts&... parts) {
    const std::string head = str(parts...);
    add(head.empty() ? "{" : head + " {");
    ++depth_;
  }
  void close(std::string_view rest = "") {
    --depth_;
    add(str("}", rest));
  }
  /// `} else {`
  void reopen(std::string_view middle) {
    --depth_;
    add(str("} ", middle, " {"));
    ++depth_;
  }
  void append(const Text& other) { text_ += other.text_; }

  const std::string& text() const { return text_; }

 private:
  void add(const std::string& line);

  std::string text_;
  int depth_ = 0;
};

/// Hands out C identifiers that nothing else has: no keyword, no function that generated code may call.
class NameTable {
 public:
  enum class For : uint8_t {
    our_code,  // whose headers are known
    a_header,  // which a program includes beside any others: EOF, SIGINT, E2BIG are macros of theirs
  };
  explicit NameTable(For use = For::our_code);
  /// `wanted`, with what C does not allow replaced; with a number behind it where that is taken.
  std::string take(std::string_view wanted, std::string_view otherwise = "v");
  bool is_taken(std::string_view name) const { return used_.contains(std::string(name)); }
  /// As it is, which is free.
  void reserve(std::string name) { used_.insert(std::move(name)); }

 private:
  For use_;
  std::unordered_set<std::string> used_;
};

}  // namespace inlay::c_backend
