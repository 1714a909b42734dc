#pragma once
// A compiled function as a file: docs/file.md has the format.
//
// Like a pickle, a file is code: whoever loads it runs what it holds. The checksum finds damage, not malice.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/object.h"

namespace inlay::file {

/// The format that this inlay writes, and the newest that it reads. Where it changes, tests/format/make.py adds files
/// of the new one; those of the older ones are still read.
inline constexpr uint32_t kFormat = 1;

/// Bytes that a door adds to a file, by name: its constants, what its language must know.
struct Section {
  std::string name;
  std::vector<std::byte> bytes;
};

struct FunctionFile {
  uint32_t format = kFormat;       // of the bytes that it was read from
  std::string inlay;               // the version that wrote it
  runtime::Object object;          // the code and what a call must know
  int32_t code_abi = 0;            // of the code (INLAY_CODE_ABI in inlay/runtime.h)
  std::string backend;             // that made the code: "llvm", "c"
  std::string target;              // the machine that it is for: "x86-64, avx2 (znver3)"
  std::vector<std::string> needs;  // what a CPU must have to run it: "x86-64", "avx2", "fma"
  std::string cpu_features;        // what was chosen of the CPU, for who compiles it once more: "avx2"; "": all it has
  std::string planner;             // that lays out memory for sizes of a call: "search"
  std::vector<std::pair<std::string, int64_t>> upper_bounds;  // of sizes, by name
  std::string fuse;                                           // how it was fused: "full"
  std::string order_gain;                                     // what the order of steps saves
  std::string graph, kernels;                  // as texts, to explain the function and to emit it for another machine
  std::vector<std::string> locations;          // of the graph's nodes, in order
  std::vector<std::string> buffers;            // their names, which the text has in a form that it can read
  std::vector<std::string> values_of_buffers;  // the value of the graph that each holds, "%3"; "": none
  std::vector<Section> sections;
};

/// The section of that name; null if there is none.
const Section* find_section(const FunctionFile& file, std::string_view name);

std::vector<std::byte> write(const FunctionFile& file);

/// Do the bytes begin as a file of compiled functions does, of any format?
bool begins_as_one(std::span<const std::byte> bytes);

/// Reads what `write` wrote. `name` is the file's, for messages. Throws Error(invalid_file) for bytes that are no such
/// file, are damaged, or were written in a newer format; nothing of them is used before the checksum is found to hold.
FunctionFile read(std::span<const std::byte> bytes, std::string_view name);

/// A number of 128 bits, as 32 digits, that files with different content do not share.
std::string content_hash(std::span<const std::byte> bytes);

/// The same for all that compute the same by the same code, wherever in its source a function stands: without the
/// lines that its errors and explanations name.
std::string hash_without_locations(FunctionFile file);

}  // namespace inlay::file
