#include "file/function_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace inlay::file {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

FunctionFile example() {
  FunctionFile out;
  out.inlay = "1.2";
  out.object.code = {std::byte{1}, std::byte{2}};
  out.object.entry = "inlay_entry";
  runtime::TensorSpec x{.name = "x", .dtype = "f64", .dim_texts = {"n + 1"}, .facts = {.has_range = true, .max = 84}};
  x.dims.push_back({});
  x.dims.back().items = {
      {runtime::SizeItem::Kind::symbol, 0}, {runtime::SizeItem::Kind::constant, 1}, {runtime::SizeItem::Kind::add, 0}};
  out.object.params = {x};
  out.object.symbols = {{.name = "n", .param = 0, .axis = 0, .upper_bound = -1}};
  out.object.sites = {{ErrorCode::zero_step, "a step of {0}", {{"operand", "%x"}}, {"a.inlay:3"}}};
  out.object.host_calls = {{"f", 0, {x}, {}, {}}};
  out.object.arena = {.is_static = false, .segment_bytes = {0, 0}, .num_storages = 3, .storages = {{.number = 2}}};
  out.code_abi = 7;
  out.backend = "llvm";
  out.needs = {"avx2", "fma"};
  out.upper_bounds = {{"n", 10}};
  out.graph = "graph";
  out.sections = {{"python", {std::byte{9}}}};
  return out;
}

std::string reason(std::span<const std::byte> bytes) {
  try {
    read(bytes, "f.inlayfn");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_file);
    return error.diagnostic().message;
  }
  return "";
}

TEST(FunctionFile, ReadsWhatWasWritten) {
  const FunctionFile in = example(), out = read(write(in), "f");
  EXPECT_EQ(out.inlay, in.inlay);
  EXPECT_EQ(out.object.code, in.object.code);
  EXPECT_EQ(out.object.params[0].facts, in.object.params[0].facts);
  EXPECT_EQ(out.object.params[0].dims[0].evaluate(std::vector<int64_t>{4}), 5);
  EXPECT_EQ(out.object.sites[0].code, ErrorCode::zero_step);
  EXPECT_EQ(out.object.sites[0].notes, in.object.sites[0].notes);
  EXPECT_EQ(out.object.host_calls[0].operands[0].name, "x");
  EXPECT_EQ(out.object.arena.storages[0].number, 2);
  EXPECT_EQ(out.object.arena.segment_bytes.size(), 2U);
  EXPECT_EQ(out.code_abi, 7);
  EXPECT_THAT(out.needs, ElementsAre("avx2", "fma"));
  EXPECT_EQ(out.upper_bounds, in.upper_bounds);
  ASSERT_NE(find_section(out, "python"), nullptr);
  EXPECT_EQ(find_section(out, "python")->bytes, in.sections[0].bytes);
  EXPECT_EQ(find_section(out, "other"), nullptr);
  EXPECT_EQ(write(out), write(in));
}

TEST(FunctionFile, RefusesEveryFlippedBitAndEveryTruncation) {
  const std::vector<std::byte> bytes = write(example());
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_THAT(reason(std::span(bytes).first(length)), HasSubstr("f.inlayfn")) << length;
  }
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::vector<std::byte> flipped = bytes;
      flipped[at] ^= std::byte(1 << bit);
      EXPECT_NE(reason(flipped), "") << "byte " << at << ", bit " << bit;
    }
  }
  std::vector<std::byte> longer = bytes;
  longer.push_back(std::byte{0});
  EXPECT_EQ(reason(longer), "f.inlayfn is damaged: its checksum does not hold");
}

TEST(FunctionFile, SaysWhatIsWrong) {
  std::vector<std::byte> bytes = write(example());
  EXPECT_EQ(reason(std::span(bytes).first(100)), str("f.inlayfn is damaged: it has 100 of ", bytes.size(), " bytes"));
  EXPECT_EQ(reason(std::as_bytes(std::span("no such file"))),
            "f.inlayfn is not a compiled function: it does not begin as one does");
  bytes[8] = std::byte{2};
  EXPECT_EQ(reason(bytes), "f.inlayfn was written in format 2, and this inlay reads format 1");
}

TEST(FunctionFile, HasAHashOfItsContent) {
  const std::vector<std::byte> bytes = write(example());
  EXPECT_EQ(content_hash(bytes).size(), 32U);
  EXPECT_EQ(content_hash(bytes), content_hash(write(example())));
  EXPECT_NE(content_hash(bytes), content_hash(std::span(bytes).first(10)));
  // Of no bytes, as xxHash's own tests have it.
  EXPECT_EQ(content_hash({}), "99aa06d3014798d86001c324468d497f");
}

TEST(FunctionFile, HasAHashThatNoSourceLineChanges) {
  FunctionFile moved = example();
  moved.locations = {"a.inlay:8"};
  moved.kernels = "text with at \"a.inlay:8\"";
  moved.object.sites[0].location.text = "a.inlay:8";
  moved.object.sites[0].notes[0].second = "%x  f64[n]    a.inlay:7";
  moved.object.host_calls[0].location.text = "a.inlay:8";
  EXPECT_NE(content_hash(write(moved)), content_hash(write(example())));
  EXPECT_EQ(hash_without_locations(moved), hash_without_locations(example()));
  for (const auto change :
       {+[](FunctionFile& f) { f.object.code.push_back(std::byte{3}); }, +[](FunctionFile& f) { f.graph = "another"; },
        +[](FunctionFile& f) { f.inlay = "1.3"; }, +[](FunctionFile& f) { f.object.host_calls[0].name = "g"; }}) {
    FunctionFile other = example();
    change(other);
    EXPECT_NE(hash_without_locations(other), hash_without_locations(example()));
  }
}

}  // namespace
}  // namespace inlay::file
