// Programs, kernels, .npy, .csv and JSON files with bytes changed: the readers understand them or say what is wrong.
//
// A second long; INLAY_FUZZ_SECONDS=3600 makes it an hour. INLAY_FUZZ_SEED=17 begins with the change that a failure
// named.
#include "readers.h"

#include <filesystem>
#include <random>

#include <gtest/gtest.h>

#include "mutate.h"
#include "seeds.h"

namespace inlay::fuzz {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> corpus_of(std::string_view reader) {
  const fs::path tests = fs::path(INLAY_SOURCE_DIR) / "tests";
  if (reader == "graph") return files_below(tests / "programs", ".inlay");
  return files_below(tests / "fuzz" / "corpus", "." + std::string(reader));
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
