// Programs, kernels, .npy and .csv files with bytes changed: the readers understand them or say what is wrong.
//
// A second long; INLAY_FUZZ_SECONDS=3600 makes it an hour. INLAY_FUZZ_SEED=17 begins with the change that a failure
// named.
#include "readers.h"

#include <algorithm>
#include <filesystem>
#include <random>

#include <gtest/gtest.h>

#include "npy.h"
#include "seeds.h"

namespace inlay::fuzz {
namespace {

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

std::vector<std::string> corpus_of(std::string_view reader) {
  const fs::path tests = fs::path(INLAY_SOURCE_DIR) / "tests";
  if (reader == "graph") return files_below(tests / "programs", ".inlay");
  return files_below(tests / "fuzz" / "corpus", "." + std::string(reader));
}

/// A few changes: another byte, a piece lost, doubled, moved or taken from another file, a number that is too large.
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

class EveryReader : public testing::TestWithParam<Reader> {};

TEST_P(EveryReader, UnderstandsOrSaysWhatIsWrong) {
  const std::vector<std::string> corpus = corpus_of(GetParam().name);
  ASSERT_FALSE(corpus.empty());
  for (const std::string& text : corpus) EXPECT_EQ(GetParam().attempt(text), "");
  for (Seeds seeds(1. / std::size(kReaders)); seeds.more();) {
    const uint64_t seed = seeds.next();
    std::mt19937_64 random(seed);
    const std::string text = changed(corpus, random);
    ASSERT_EQ(GetParam().attempt(text), "") << "INLAY_FUZZ_SEED=" << seed << "\n" << text;
  }
}

INSTANTIATE_TEST_SUITE_P(Readers, EveryReader, testing::ValuesIn(kReaders),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace

void PrintTo(const Reader& reader, std::ostream* out) { *out << reader.name; }

}  // namespace inlay::fuzz
