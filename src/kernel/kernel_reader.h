#pragma once
// What the parser of kernel programs reads in a kernel: its axes, outputs, stages and statements. Inside kernel/ only.
#include <optional>
#include <string>
#include <vector>

#include "kernel/text_reader.h"

namespace inlay::kernel {

class KernelReader : protected TextReader {
 public:
  using TextReader::TextReader;

 protected:
  Kernel kernel();
  Kernel scalar();

  KernelProgram out_;  // its buffers are known before its steps are read

 private:
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
  Statement with_result();
  void typed_literal(Statement& out);
  Combine combine();
  int fold_state(Fold fold);
  void fold(Statement& out);

  bool is_tiled_ = false;  // the kernel that is read
  bool is_once_ = false;   // of the stage that comes
};

}  // namespace inlay::kernel
