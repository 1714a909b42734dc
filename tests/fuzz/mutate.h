#pragma once
// Texts that somebody might write: those of a corpus with a few things changed.
#include <filesystem>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace inlay::fuzz {

/// The contents of all files below `folder` with this extension, by their paths.
std::vector<std::string> files_below(const std::filesystem::path& folder, std::string_view extension);

/// A few changes: another byte, a piece lost, doubled, moved or taken from another file, a number that is too large.
std::string changed(const std::vector<std::string>& corpus, std::mt19937_64& random);

/// A few changes after which it may still be a program: another number, a name or an op in the place of another one, a
/// line lost, doubled or moved.
std::string changed_words(const std::vector<std::string>& corpus, std::mt19937_64& random);

}  // namespace inlay::fuzz
