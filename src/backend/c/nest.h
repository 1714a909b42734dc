#pragma once
// What is known of a loop nest while it is being written: what its points, values and elements are called.
#include "backend/c/program.h"
#include "kernel/nest.h"

namespace inlay::c_backend {

/// Where the kernel's loops are: the names of its outer axes; of the tile, where it begins and ends.
struct KernelPlace {
  std::vector<std::string> points;
  std::string tile_begin, tile_end;
  std::vector<BufferId> by_address;  // 0-d values that the kernel takes by address
  std::vector<BufferId> written;     // roots
};

class NestText {
 public:
  NestText(ProgramText& program, Text& text, NameTable free_names, const kernel::Kernel& in, const kernel::Stage& of,
           const KernelPlace& at);

  /// It accumulates only where no other statement touches the element.
  struct Facts : kernel::NestStatement {
    std::string sum;                  // the variable in which it accumulates
    std::string parts;                // of a long sum of floats: its blocks
    std::vector<std::string> hidden;  // of a fold with hidden states: their variables
  };

  const kernel::Statement& statement(std::size_t i) const { return stage.statements[i]; }
  int innermost() const { return loops.innermost(); }
  const std::string& point_of(const kernel::NestLoop& loop) const {
    return place.points[static_cast<std::size_t>(loop.axis)];
  }
  DType dtype(kernel::RegisterId r) const { return loops.register_dtypes[r.index]; }
  /// Does anybody read it?
  bool is_needed(kernel::RegisterId r) const { return needed_[r.index]; }

  const std::string& value(kernel::RegisterId r) const { return values_[r.index]; }
  /// It is called by an expression, where that is no more than a name.
  void set_value(kernel::RegisterId r, std::string text) { values_[r.index] = std::move(text); }
  /// What it is called as where that is free.
  const std::string& wanted_name(kernel::RegisterId r) const { return wanted_names_[r.index]; }
  /// It becomes a variable.
  void define(const kernel::Statement& s, const std::string& text);

  std::string point(int axis, bool in_tile) const;
  /// An index that counts from the front, and is in its bounds. The same with the same extent is looked at once.
  std::string wrapped(const kernel::IndexTerm& index);
  std::size_t num_wrapped() const { return wrapped_.size(); }
  /// Behind the braces that all but the first `count` stand in.
  void forget_wrapped(std::size_t count) { wrapped_.resize(count); }
  std::string index_text(std::size_t i);
  std::string element(std::size_t i);

  ProgramText& p;
  Text& out;
  NameTable names;
  const kernel::Kernel& kernel;
  const kernel::Stage& stage;
  KernelPlace place;
  kernel::LoopNest loops;
  std::vector<Facts> facts;

 private:
  bool writes_unread(std::size_t i) const;
  void name_points();
  void name_values();
  bool is_computed(kernel::RegisterId r) const;
  bool is_alone(std::size_t i) const;
  bool is_apart(std::size_t i, std::size_t k) const;

  std::vector<bool> needed_;                        // by register
  std::vector<std::string> wanted_names_, values_;  // by register
  std::vector<std::pair<kernel::IndexTerm, std::string>> wrapped_;
};

}  // namespace inlay::c_backend
