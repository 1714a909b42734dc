#include "usage.h"

#include <algorithm>
#include <charconv>

#include "ir/nearest.h"

namespace inlay::tool {
namespace {

using Names = std::vector<std::string>;

Names commands_of(const CLI::App& app) {
  Names names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  return names;
}

Names options_of(const CLI::App& command) {
  Names names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

Error no_such(std::string message, const std::string& word, const Names& names, std::string_view all) {
  Error error(ErrorCode::unknown_name, {}, std::move(message));
  const auto guess = text::nearest(word, names);
  return std::move(error).help(guess ? str("did you mean ", *guess, "?") : str(all, join(names, ", ")));
}

Error unknown_command(const CLI::App& app, const std::string& word) {
  if (word.starts_with("-")) return no_such(str("inlay has no option ", word), word, options_of(app), "it has ");
  return no_such(str("there is no command ", word), word, commands_of(app), "the commands are ");
}

/// The name before the `=` of `--stage=fuse`.
Error unknown_option(const CLI::App& command, const std::string& word) {
  const std::string option = word.substr(0, word.find('='));
  return no_such(str("inlay ", command.get_name(), " has no option ", option), option, options_of(command), "it has ");
}

}  // namespace

Error usage_error(const CLI::App& app, const CLI::ParseError& refusal) {
  const auto chosen = app.get_subcommands();
  const Names unexpected = app.remaining(true);
  if (chosen.empty()) {
    if (!unexpected.empty()) return unknown_command(app, unexpected.front());
    return Error(ErrorCode::wrong_argument_count, {}, "no command is given")
        .help(str("the commands are ", join(commands_of(app), ", "), "; inlay --help"));
  }
  const CLI::App& command = *chosen.front();
  const std::string help = str("inlay ", command.get_name(), " --help");
  const auto option = std::ranges::find_if(unexpected, [](const std::string& word) { return word.starts_with("-"); });
  if (option != unexpected.end()) return unknown_option(command, *option);
  if (!unexpected.empty()) {
    const std::string message = str("inlay ", command.get_name(), ": one argument too many: ", unexpected.front());
    return Error(ErrorCode::wrong_argument_count, {}, message).help(help);
  }
  const bool missing = dynamic_cast<const CLI::RequiredError*>(&refusal) != nullptr;
  return Error(missing ? ErrorCode::wrong_argument_count : ErrorCode::syntax, {},
               str("inlay ", command.get_name(), ": ", refusal.what()))
      .help(help);
}

CLI::Validator one_of(std::vector<std::string> words) {
  const std::string all = str("{", join(words, ","), "}");
  return {[words = std::move(words)](std::string& word) {
            if (std::ranges::find(words, word) != words.end()) return std::string();
            const auto guess = text::nearest(word, words);
            return str(word, " is none of ", join(words, ", "), guess ? str("; did you mean ", *guess, "?") : "");
          },
          all};
}

CLI::Validator at_least(int64_t least) {
  return {[least](std::string& text) {
            int64_t number = 0;
            const char* const end = text.data() + text.size();
            const bool is_number = std::from_chars(text.data(), end, number) == std::from_chars_result{end, {}};
            return is_number && number >= least ? "" : str(text, " is no whole number of ", least, " or more");
          },
          ""};
}

CLI::Validator path() {
  return {[](std::string& text) { return std::string(text.empty() ? "its name is empty" : ""); }, ""};
}

}  // namespace inlay::tool
