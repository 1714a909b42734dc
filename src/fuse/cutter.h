#pragma once
// What cuts a graph into pieces: one class, whose families of values have a file each. Inside fuse/ only.
#include <string>
#include <unordered_map>
#include <vector>

#include "fuse/backwards.h"
#include "fuse/decide.h"
#include "fuse/left_over.h"
#include "fuse/materialize.h"

namespace inlay::fuse {

class Cutter {
 public:
  Cutter(const Graph& graph, const Decisions& decisions, const FusedBodies& bodies, kernel::KernelProgram& program)
      : graph_(graph), decisions_(decisions), bodies_(bodies), program_(program), directions_(graph) {
    out_.homes = IdMap<ValueId, Home>(graph.values.size());
    out_.pieces.reserve(graph.values.size());
    program.buffers.reserve(graph.values.size());
    names_.reserve(graph.values.size());
  }

  Pieces run();

 private:
  // materialize.cpp: values, their buffers and what writes them

  std::string unique_name(std::string name);
  std::string unique_name(ValueId v);
  BufferId new_buffer(ValueId v, kernel::Role role, int slot = -1);
  BufferId new_home(ValueId v);
  BufferId new_temporary(ValueId v);
  BufferId new_memory(ValueId v);
  BufferId new_view(ValueId v, BufferId of);
  void because(BufferId buffer, kernel::Stored reason);
  BufferId new_output_buffer(ValueId v, int slot);
  std::string rename(BufferId buffer, const std::string& name);
  void make_param(int slot);
  PieceId add(ValueId v, Piece piece);
  Piece elementwise(ValueId v, BufferId buffer, bool defines);
  static Piece over(Loop loop, ValueId v, BufferId buffer, bool defines);
  void materialize(ValueId v);
  void make(ValueId v, const Node& node);
  void make_elements(ValueId v);
  const Node* made_with(ValueId v, Op op) const;
  void by_parts(ValueId v, const Node& concat);
  void show(ValueId v, ValueId operand);
  void check(ValueId v, const Node& node);
  void make_output(int slot);

  // cut_folds.cpp: reductions and running folds

  /// One state that a reduction makes, and what it folds.
  struct Folded {
    ValueId result, x;
    Combine combine = Combine::set;
    Fold fold = Fold::none;
    int state = 0;
  };
  std::vector<Folded> states_of(const Node& reduction) const;
  void reduce(const Node& node);
  void fold_loop(const Node& node, std::span<const Folded> states);
  Write fold_at(const Folded& state, const Node& reduction, AccessMap at) const;
  void fold_parts(const Node& reduce, const Folded& state, const Node& concat);
  BufferId new_state(ValueId of, DType dtype, std::vector<Dim> dims);
  void cumulative(ValueId v, const Node& node);
  static Literal first_of(Combine combine, DType dtype);

  // cut_sizes.cpp: what binds a size

  PieceId bind(ValueId v, const Node& node);
  void as_size(ValueId v, const Node& node);
  void compress(const Node& node);

  // cut_updates.cpp: updates and concatenations, region by region

  /// One operand of a concat, and where its elements are in the whole.
  struct ConcatPart {
    ValueId value;
    Loop loop;  // over the part
    AccessMap in_whole;
  };
  std::vector<ConcatPart> parts_of(const Node& concat) const;
  void regions(ValueId v);
  void write_parts(ValueId v, const Node& concat, ValueId whole);
  void write_region(ValueId v, ValueId whole, ValueId onto, Piece piece);
  std::size_t begin(std::span<const ValueId> updates, ValueId whole, Piece& first);
  BufferId bytes_of_base(ValueId base);
  std::size_t begin_with_rest(std::span<const ValueId> updates, ValueId whole, Brings brings);

  // cut_calls.cpp: calls of library functions and of the host

  BufferId in_memory(ValueId v, Piece& reader);
  void library_call(const Node& node);
  BufferId new_workspace(const Node& node, const Dim& bytes);
  std::vector<kernel::SiteId> library_sites(const Node& node);
  kernel::SiteId host_site(const Node& node);
  void host_call(const Node& node);
  void add_call(const Node& node, Piece piece);

  // cut_bodies.cpp: conds and loops

  BufferId captured(ValueId v, Piece& reader);
  Piece region_piece(const Node& node) const;
  void cond(const Node& node);
  void loop(const Node& node);

  const Graph& graph_;
  const Decisions& decisions_;
  const FusedBodies& bodies_;
  kernel::KernelProgram& program_;
  const Directions directions_;
  std::unordered_map<std::string, int> names_;  // that are taken, with the quotes that the last one to want it got
  std::unordered_map<ValueId, PieceId> memory_piece_;
  std::vector<PieceId> before_host_call_;  // the last host call, and the asserts since
  Pieces out_;
};

}  // namespace inlay::fuse
