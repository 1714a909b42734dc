#pragma once
// What is wrong with a command line: the word, and what was meant.
#include <CLI/CLI.hpp>

#include "support/error.h"

namespace inlay::tool {

/// `app` has refused its command line with `refusal`.
Error usage_error(const CLI::App& app, const CLI::ParseError& refusal);

/// A value of an option that must be one of these.
CLI::Validator one_of(std::vector<std::string> words);
/// A whole number that is no less.
CLI::Validator at_least(int64_t least);
/// The name of a file or folder: not empty, as that of a variable of the shell that is not set.
CLI::Validator path();

}  // namespace inlay::tool
