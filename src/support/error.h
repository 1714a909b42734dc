#pragma once
// Errors. `Error` is a mistake of the caller; INLAY_CHECK finds mistakes of inlay.
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "support/str.h"

namespace inlay {

enum class ErrorCode : uint8_t {
#define ERROR_CODE(name, text, python_class) name,
#include "support/error_codes.def"
#undef ERROR_CODE
};

inline constexpr int kNumErrorCodes = 0
#define ERROR_CODE(name, text, python_class) +1
#include "support/error_codes.def"
#undef ERROR_CODE
    ;

/// "shape-mismatch" for ErrorCode::shape_mismatch.
std::string_view code_name(ErrorCode code);

/// The class of exception that a Python user expects: "IndexError", "ValueError", ...
std::string_view python_class(ErrorCode code);

/// A place in the user's source: a file and line, a PyTensor name, an ONNX node. May be empty.
struct Location {
  std::string text;
  bool empty() const { return text.empty(); }
  bool operator==(const Location&) const = default;
};

/// One error: the first line, then the operands as the user knows them, then help.
struct Diagnostic {
  ErrorCode code = ErrorCode::internal;
  Location location;
  std::string message;
  std::vector<std::pair<std::string, std::string>> notes;  // role, description
  std::string help;

  /// Returns "error[code]: message", then one indented line for each note, the location and the help.
  std::string to_text() const;
};

/// Returns the message, such as "index {0} is out of bounds", with the numbers of a failed run put in.
std::string with_numbers(std::string_view message, std::span<const std::string> numbers);
std::string with_numbers(std::string_view message, std::span<const int64_t> numbers);

/// The exception for a mistake of the caller. what() is the whole text.
class Error : public std::exception {
 public:
  Error(ErrorCode code, Location location, std::string message);
  explicit Error(Diagnostic diagnostic);

  Error note(std::string role, std::string description) &&;
  Error help(std::string text) &&;

  ErrorCode code() const { return diagnostic_.code; }
  const Diagnostic& diagnostic() const { return diagnostic_; }
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  Diagnostic diagnostic_;
  std::string text_;
};

[[noreturn]] void check_failed(const char* file, int line, const char* condition, const std::string& message);

/// Checks an invariant of inlay: throws Error(internal) with the place and the values if it is broken.
#define INLAY_CHECK(condition, ...)                                                                     \
  do {                                                                                                  \
    if (!(condition)) ::inlay::check_failed(__FILE__, __LINE__, #condition, ::inlay::str(__VA_ARGS__)); \
  } while (false)

}  // namespace inlay
