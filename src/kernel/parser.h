#pragma once
// The parser of kernels. Inside kernel/ only.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/text.h"
#include "kernel/text_reader.h"

namespace inlay::kernel {

/// Buffers and symbols are named in the signature, so everything behind it can be looked up at once; sizes in the
/// signature name symbols that stand behind them, so names are collected first.
class Parser : TextReader {
 public:
  using TextReader::TextReader;

  KernelProgram program();

 private:
  void collect_names();

  // The signature.
  void buffer_declaration();
  void role(Buffer& out);
  void facts(Buffer& out);
  void symbol_sources();

  // Steps: parse_steps.cpp.
  Kernel kernel();
  Kernel scalar();
  KernelOutput start();
  KernelOutput local();
  struct TiledAxis {
    std::string name;
    std::optional<std::size_t> at;
  };
  std::vector<Axis> axes(TiledAxis* tiled = nullptr);
  Stage stage();
  void statements(Stage& stage);
  Statement statement();
  void typed_literal(Statement& out);
  Statement with_result();
  LibraryCall library_call();
  bool call_array(CallArray& out);
  HostCall host_call();
  BindSize bind_size();
  Combine combine();
  int fold_state(Fold fold);
  Copy copy();
  SizeCheck size_check();
  void step();
  void loop();
  void cond();
  void steps_in_braces();
  void sites();
  void stored();
  void refusals();
  std::string hyphenated(std::string_view what);

  KernelProgram out_;
  bool is_tiled_ = false;  // the kernel that is read
};

}  // namespace inlay::kernel
