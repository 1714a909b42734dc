#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "inlay/error.h"
#include "inlay/export.h"
#include "inlay/onnx.h"

namespace inlay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// A node test of ONNX.
std::filesystem::path network(const char* name) {
  return std::filesystem::path(INLAY_SOURCE_DIR) / "tests" / "fuzz" / "corpus" / "onnx" / name;
}

TEST(OnnxFunction, IsCalledWithItsInputs) {
  const OnnxFunction f = compile_onnx(network("tile_precomputed.onnx"));
  ASSERT_EQ(f.params().size(), 2u);
  EXPECT_EQ(f.params()[0].name, "x");
  const std::vector<float> x = {0, 1, 2, 3};
  const std::vector<int64_t> repeats = {2, 2};
  const std::vector<Array> results = f({View(x.data(), {2, 2}), repeats});
  EXPECT_THAT(results[0].dims(), ElementsAre(4, 4));
  EXPECT_THAT(results[0].elements<float>().first(4), ElementsAre(0, 1, 0, 1));
  EXPECT_THROW(f({repeats}), Error);
}

TEST(OnnxFunction, FixedInputsAreNoParameters) {
  const std::vector<int64_t> repeats = {1, 2};
  const OnnxFunction f = compile_onnx(network("tile_precomputed.onnx"), {.fixed = {{"y", repeats}}});
  ASSERT_EQ(f.params().size(), 1u);
  EXPECT_THAT(f.results()[0].dims, ElementsAre("2", "4"));
}

TEST(OnnxNetwork, SaysWhatIsWrong) {
  const auto message = [](const char* name, const OnnxOptions& options = {}) -> std::string {
    try {
      (void)read_onnx(network(name), options);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(message("missing.onnx"), HasSubstr("cannot be read: No such file or directory"));
  EXPECT_THAT(message("adam.onnx"), HasSubstr("inlay does not have 1 op of it: ai.onnx.preview.training.Adam"));
  EXPECT_THAT(message("abs.onnx", {.sizes = {{"batch", 1}}}), HasSubstr("neither an input nor a size of one"));
}

TEST(OnnxNetwork, IsExportedWithItsWeights) {
  const OnnxNetwork net = read_onnx(network("constant.onnx"));
  const Exported made = exported(net.graph, {.name = "net", .bound = net.weights});
  EXPECT_THAT(made.header.bytes, HasSubstr("int32_t net("));
}

}  // namespace
}  // namespace inlay
