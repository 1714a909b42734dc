#pragma once
// The parser of kernel programs. Inside kernel/ only.
#include <string>
#include <string_view>
#include <vector>

#include "kernel/kernel_reader.h"
#include "kernel/text.h"

namespace inlay::kernel {

/// Buffers and symbols are named in the signature, so everything behind it can be looked up at once; sizes in the
/// signature name symbols that stand behind them, so names are collected first.
class Parser : KernelReader {
 public:
  using KernelReader::KernelReader;

  KernelProgram program();

 private:
  void collect_names();

  // The signature.
  void buffer_declaration();
  void role(Buffer& out);
  void facts(Buffer& out);
  void symbol_sources();

  // Steps: parse_steps.cpp.
  LibraryCall library_call();
  bool call_array(CallArray& out);
  HostCall host_call();
  BindSize bind_size();
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
};

}  // namespace inlay::kernel
