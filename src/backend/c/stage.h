#pragma once
// One loop nest while it is being written.
//
// A statement stands at its level of the nest (kernel/nest.h), and a fold adds up in a variable that is opened outside
// of the loops that it folds.
#include "backend/c/program.h"
#include "kernel/nest.h"

namespace inlay::c_backend {

class StageText {
 public:
  /// Where the kernel's loops are: the names of its outer axes; of the tile, where it begins and ends.
  struct Place {
    std::vector<std::string> points;
    std::string tile_begin, tile_end;
    std::vector<BufferId> by_address;  // 0-d values that the kernel takes by address
    std::vector<BufferId> written;     // roots
  };

  StageText(ProgramText& p, Text& out, NameTable names, const kernel::Kernel& kernel, const kernel::Stage& stage,
            const Place& place);
  void write();

 private:
  struct Facts : kernel::NestStatement {
    std::string sum;                  // the variable in which it accumulates
    std::string parts;                // of a long sum of floats: its blocks
    std::vector<std::string> hidden;  // of a fold with hidden states: their variables
  };

  bool writes_unread(std::size_t i) const;
  void name_points();
  void name_values();
  bool is_computed(kernel::RegisterId r) const;
  bool is_unchanging(const kernel::Statement& load) const;
  bool is_alone(std::size_t i) const;
  bool is_apart(std::size_t i, std::size_t k) const;
  std::string guard();
  std::string lanes();
  bool names_values_outside() const;

  void write_level(int level);
  void write_statement(std::size_t i);
  void write_value(const kernel::Statement& s, std::size_t i);
  void write_store(std::size_t i);
  struct Texts;
  void fold_states(std::size_t i);
  void add_exponential(std::size_t i);
  bool opens_hidden(std::size_t i) const { return statement(i).opens_fold() && statement(i).has_hidden_states(); }
  void open_hidden(std::size_t i);
  void write_check(const kernel::Statement& s);
  void open_sum(std::size_t i);
  void close_sum(std::size_t i);
  bool is_long_sum(std::size_t i) const;
  void write_loop(int level);
  bool looks_within() const;
  void write_innermost(const kernel::NestLoop& loop, const std::string& begin, const std::string& end);
  void combine_into(const std::string& place, const kernel::Statement& s);
  std::string element(std::size_t i);
  std::string index_text(std::size_t i);
  std::string wrapped(const kernel::IndexTerm& index);
  std::string point(int axis, bool in_tile);
  const std::string& value(kernel::RegisterId r) const { return values_[r.index]; }
  void define(const kernel::Statement& s, const std::string& text);

  const kernel::Statement& statement(std::size_t i) const { return stage_.statements[i]; }
  int innermost() const { return nest_.innermost(); }

  ProgramText& p_;
  Text& out_;
  NameTable names_;
  const kernel::Kernel& kernel_;
  const kernel::Stage& stage_;
  Place place_;
  kernel::LoopNest nest_;
  std::vector<Facts> facts_;
  std::vector<bool> needed_;                        // by register: does anybody read it?
  std::vector<std::string> wanted_names_, values_;  // by register
  std::vector<std::pair<kernel::IndexTerm, std::string>> wrapped_;
};

}  // namespace inlay::c_backend
