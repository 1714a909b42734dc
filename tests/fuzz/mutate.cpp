#include "mutate.h"

#include <algorithm>

#include "npy.h"
#include "support/ascii.h"

namespace inlay::fuzz {

namespace fs = std::filesystem;

std::vector<std::string> files_below(const fs::path& folder, std::string_view extension) {
  std::vector<std::string> paths, out;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == extension) paths.push_back(entry.path().string());
  }
  std::ranges::sort(paths);
  for (const std::string& path : paths) out.push_back(tool::read_file(path));
  return out;
}

std::string changed(const std::vector<std::string>& corpus, std::mt19937_64& random) {
  const auto below = [&](std::size_t n) { return n == 0 ? 0 : static_cast<std::size_t>(random() % n); };
  const auto piece = [&](const std::string& text) {
    const std::size_t at = below(text.size());
    return text.substr(at, 1 + below(20));
  };
  static const char* const kWords[] = {"-1",
                                       "9223372036854775807",
                                       "99999999999999999999",
                                       "0",
                                       "nan",
                                       "[",
                                       "]",
                                       "{",
                                       "}",
                                       "(",
                                       ")",
                                       "%x",
                                       "n",
                                       ":",
                                       ",",
                                       "#0",
                                       "inf",
                                       "1e999",
                                       "\"",
                                       "\\",
                                       "f64",
                                       "="};
  std::string text = corpus[below(corpus.size())];
  for (std::size_t changes = 1 + below(4); changes > 0; --changes) {
    const std::size_t at = below(text.size() + 1);
    switch (random() % 6) {
      case 0:
        if (at < text.size()) text[at] = static_cast<char>(random());
        break;
      case 1: text.erase(at, 1 + below(20)); break;
      case 2: text.insert(at, piece(text)); break;
      case 3: text.insert(at, piece(corpus[below(corpus.size())])); break;
      case 4: text.insert(at, kWords[below(std::size(kWords))]); break;
      case 5: text.resize(at); break;
    }
  }
  return text;
}

namespace {

struct Word {
  std::size_t begin = 0, size = 0;
};

bool is_word(char c) { return is_letter(c) || is_digit(c) || c == '_' || c == '$'; }

std::vector<Word> words_of(std::string_view text) {
  std::vector<Word> out;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i;
    while (end < text.size() && is_word(text[end])) ++end;
    if (end > i) out.push_back({i, end - i});
    i = std::max(end, i + 1);
  }
  return out;
}

}  // namespace

std::string changed_words(const std::vector<std::string>& corpus, std::mt19937_64& random) {
  const auto below = [&](std::size_t n) { return n == 0 ? 0 : static_cast<std::size_t>(random() % n); };
  static const char* const kNumbers[] = {
      "0", "1", "2", "3", "7", "64", "100000000", "4611686018427387904", "9223372036854775807"};
  static const char* const kSums[] = {" + 1", " - 1", " + 100000000", "*3", " + n", "*n", " - 9223372036854775807"};
  std::string text = corpus[below(corpus.size())];
  for (std::size_t changes = 1 + below(3); changes > 0; --changes) {
    const std::vector<Word> words = words_of(text);
    if (words.empty()) return text;
    const Word word = words[below(words.size())];
    const bool is_number = is_digit(text[word.begin]);
    switch (random() % 5) {
      case 0:
        if (is_number) text.replace(word.begin, word.size, kNumbers[below(std::size(kNumbers))]);
        break;
      case 1: {
        const Word other = words[below(words.size())];
        text.replace(word.begin, word.size, text.substr(other.begin, other.size));
        break;
      }
      case 2: text.insert(word.begin + word.size, kSums[below(std::size(kSums))]); break;
      case 3:
      case 4: {
        const std::size_t begin = text.rfind('\n', word.begin) + 1, end = text.find('\n', word.begin);
        if (begin == 0 || end == std::string::npos) break;
        const std::string line = text.substr(begin, end + 1 - begin);
        if (random() % 2 == 0) text.erase(begin, line.size());
        const std::vector<Word> left = words_of(text);
        if (left.empty()) return text;
        const Word other = left[below(left.size())];
        if (random() % 2 == 0) text.insert(text.rfind('\n', other.begin) + 1, line);
        break;
      }
    }
  }
  return text;
}

}  // namespace inlay::fuzz
