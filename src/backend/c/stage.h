#pragma once
// One loop nest while it is being written.
//
// A statement stands at its level of the nest (kernel/nest.h), and a fold adds up in a variable that is opened outside
// of the loops that it folds.
#include <optional>

#include "backend/c/scatter.h"

namespace inlay::c_backend {

class StageText {
 public:
  StageText(ProgramText& p, Text& out, NameTable names, const kernel::Kernel& kernel, const kernel::Stage& stage,
            const KernelPlace& place);
  void write();

 private:
  std::string guard();
  std::optional<std::string> lanes();
  int64_t points_of_block(const std::vector<std::size_t>& sums, bool in_lanes) const;
  bool names_values_outside() const;
  void write_level(int level);
  void write_loop(int level);
  void write_innermost(const kernel::NestLoop& loop, const std::string& begin, const std::string& end);

  NestText nest_;
  ProgramText& p_;
  Text& out_;
  const std::vector<NestText::Facts>& facts_;
  FoldText folds_;
  StatementText statements_;
  ScatterText scatter_;
};

}  // namespace inlay::c_backend
