#pragma once
// What reads bytes that come from anywhere: each either understands them or says what is wrong with an Error. A crash,
// a hang, an Error(internal) or a text that does not come back is a mistake of ours.
//
// Fed by libFuzzer (reader_fuzzer.cpp, preset `fuzz`) and by a plain mutator in every build (readers_test.cpp).
#include <string>
#include <string_view>

namespace inlay::fuzz {

/// Reads, verifies, prints and reads again. Returns what is wrong with inlay; empty: nothing.
std::string try_graph_text(std::string_view bytes);
std::string try_kernel_text(std::string_view bytes);
/// Reads, writes and reads again.
std::string try_npy(std::string_view bytes);
/// The file of `inlay plan`: reads, writes and reads again; then a planner lays out what it asks for.
std::string try_csv(std::string_view bytes);
/// Numbers that a client of BridgeStan gives, in C: reads, and so does another reader where it understands the text.
std::string try_json(std::string_view bytes);
/// The plan of memory in a header of inlay export: reads, writes and reads again; then draws it.
std::string try_header(std::string_view bytes);
/// A network: reads, makes a graph of it, and verifies that.
std::string try_onnx(std::string_view bytes);

struct Reader {
  const char* name;
  std::string (*attempt)(std::string_view bytes);
};
inline constexpr Reader kReaders[] = {{"graph", try_graph_text}, {"kernels", try_kernel_text}, {"npy", try_npy},
                                      {"csv", try_csv},          {"json", try_json},           {"header", try_header},
                                      {"onnx", try_onnx}};

}  // namespace inlay::fuzz
