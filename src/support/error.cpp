#include "support/error.h"

#include <utility>

namespace inlay {

std::string_view code_name(ErrorCode code) {
  switch (code) {
#define ERROR_CODE(name, text, python_class) \
  case ErrorCode::name: return text;
#include "support/error_codes.def"
#undef ERROR_CODE
  }
  return "internal";
}

std::string_view python_class(ErrorCode code) {
  switch (code) {
#define ERROR_CODE(name, text, python_class) \
  case ErrorCode::name: return #python_class;
#include "support/error_codes.def"
#undef ERROR_CODE
  }
  return "RuntimeError";
}

std::string Diagnostic::to_text() const {
  std::string out = str("error[", code_name(code), "]: ", message);
  if (!location.empty()) out += str("\n  at     ", location.text);
  for (const auto& [role, description] : notes) {
    out += str("\n  ", role, std::string(role.size() < 7 ? 7 - role.size() : 1, ' '), description);
  }
  if (!help.empty()) out += str("\n  help: ", help);
  return out;
}

std::string with_numbers(std::string_view message, std::span<const std::string> numbers) {
  std::string out;
  for (std::size_t i = 0; i < message.size(); ++i) {
    const bool is_place = message[i] == '{' && i + 2 < message.size() && message[i + 2] == '}' &&
                          message[i + 1] >= '0' && message[i + 1] < '0' + static_cast<int>(numbers.size());
    if (!is_place) {
      out += message[i];
      continue;
    }
    out += numbers[static_cast<std::size_t>(message[i + 1] - '0')];
    i += 2;
  }
  return out;
}

std::string with_numbers(std::string_view message, std::span<const int64_t> numbers) {
  std::vector<std::string> texts;
  for (int64_t number : numbers) texts.push_back(std::to_string(number));
  return with_numbers(message, texts);
}

Error::Error(ErrorCode code, Location location, std::string message)
    : Error(Diagnostic{code, std::move(location), std::move(message), {}, {}}) {}

Error::Error(Diagnostic diagnostic) : diagnostic_(std::move(diagnostic)), text_(diagnostic_.to_text()) {}

Error Error::note(std::string role, std::string description) && {
  diagnostic_.notes.emplace_back(std::move(role), std::move(description));
  return Error(std::move(diagnostic_));
}

Error Error::help(std::string text) && {
  diagnostic_.help = std::move(text);
  return Error(std::move(diagnostic_));
}

void check_failed(const char* file, int line, const char* condition, const std::string& message) {
  // The path below src/ is enough to find the file, and is the same on every machine.
  std::string_view path = file;
  if (const auto at = path.rfind("src/"); at != std::string_view::npos) path.remove_prefix(at);
  throw Error(ErrorCode::internal, Location{str(path, ":", line)},
              str("broken promise inside inlay: ", message.empty() ? condition : message))
      .note("check", condition)
      .help("please report it, with the files that INLAY_DUMP=dir writes");
}

}  // namespace inlay
