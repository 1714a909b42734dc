#pragma once
// Objects over loader_sample.c, for tests: what a backend would have returned.
#include <cstring>
#include <fstream>
#include <iterator>
#include <string_view>
#include <vector>

#include "runtime/object.h"

namespace inlay::runtime::sample {

inline double outside_constant = 0;

inline void* resolve(std::string_view name) {
  if (name == "memcpy") return reinterpret_cast<void*>(&memcpy);
  if (name == "outside_twice") return reinterpret_cast<void*>(+[](double x) { return 2 * x; });
  if (name == "outside_constant") return &outside_constant;
  return nullptr;
}

inline std::vector<std::byte> read(const char* path = INLAY_SAMPLE_O2) {
  std::ifstream in(path, std::ios::binary);
  const std::vector<char> chars((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  std::vector<std::byte> bytes(chars.size());
  if (!chars.empty()) std::memcpy(bytes.data(), chars.data(), chars.size());
  return bytes;
}

inline SizeExpr symbol(int number) {
  SizeExpr out;
  out.items = {{SizeItem::Kind::symbol, number}};
  return out;
}

inline SizeExpr symbol_plus(int number, int64_t constant) {
  SizeExpr out;
  out.items = {{SizeItem::Kind::symbol, number}, {SizeItem::Kind::constant, constant}, {SizeItem::Kind::add}};
  return out;
}

inline TensorSpec vector(const char* name, SizeExpr dim, const char* text) { return {name, "f64", 8, {dim}, {text}}; }
inline TensorSpec scalar(const char* name) { return {name, "f64", 8, {}, {}}; }

/// out = x + y, sum(out), through an arena. Negative x fails.
inline Object add(int64_t arena_bytes) {
  Object out;
  out.code = read();
  out.entry = "sample_add";
  out.params = {vector("y", symbol(0), "n"), vector("x", symbol(0), "n")};
  out.outputs = {vector("out", symbol(0), "n"), scalar("sum")};
  out.symbols = {{"n", 0, 0}};
  out.sites = {
      {ErrorCode::index_out_of_bounds, "log: element {0} of {1} is negative{9}", {{"value", "%x"}}, {"model.py:7"}}};
  out.arena = {true, {arena_bytes}, 1};
  return out;
}

inline Object logp() {
  Object out;
  out.code = read();
  out.entry = "sample_logp";
  out.params = {vector("x", symbol(0), "n")};
  out.outputs = {scalar("logp"), vector("grad", symbol(0), "n")};
  out.symbols = {{"n", 0, 0}};
  out.sites = {{ErrorCode::assert_failed, "x[0] is 1000", {}, {}}};
  out.arena = {true, {0}, 0};
  return out;
}

inline Object expand() {
  Object out = logp();
  out.entry = "sample_expand";
  out.params.push_back(vector("y", symbol(1), "m"));
  out.symbols.push_back({"m", 1, 0});
  SizeExpr both;
  both.items = {{SizeItem::Kind::symbol, 0}, {SizeItem::Kind::symbol, 1}, {SizeItem::Kind::add}};
  out.outputs = {vector("values", both, "n + m")};
  return out;
}

}  // namespace inlay::runtime::sample
