#pragma once
// Answers questions for a value at a point with statements of one stage.
#include <limits>
#include <unordered_map>

#include "fuse/piece.h"
#include "fuse/questions.h"
#include "kernel/caps.h"

namespace inlay::fuse {

class StageWriter {
 public:
  /// `questions` are empty, and then hold what the stage asks. With more than `max_registers` in the stage nothing more
  /// is asked: what stands there then only tells that a body is too long.
  StageWriter(const Graph& graph, const IdMap<ValueId, Home>& homes, Points& points, Questions& questions,
              IdMap<kernel::SiteId, kernel::Site>& sites, kernel::Stage& stage,
              int max_registers = std::numeric_limits<int>::max())
      : graph_(graph),
        homes_(homes),
        points_(points),
        questions_(questions),
        sites_(sites),
        stage_(stage),
        max_registers_(max_registers) {}

  void write(const Write& write);

 private:
  using Register = kernel::RegisterId;

  Register value(ValueId v, const AccessMap& at);
  Register value(ValueId v, Point at);
  Register broadcast_value(ValueId v, Point at);
  Register definition(ValueId v, Point at);
  Register part(const Node& node, const AccessMap& at);
  Register scalar(const Node& node, ValueId v, Point at);
  Register cast(const Node& node, ValueId v, Point at);
  Register gather(const Node& node, const AccessMap& at);
  Register unrolled_reduce(const Node& node, const AccessMap& at);
  Register folded_sum(const FoldedSum& sum, DType dtype);
  Register sum_of_powers(const FoldedSum& powers, DType dtype);
  Register sum_of_squares(const FoldedSum& squares, DType dtype);
  Register iota(DType dtype, const AccessMap& at);
  Register load(BufferId buffer, DType dtype, AccessMap map);
  Register literal(const Literal& literal);
  Register size(const Dim& dim);
  Register op(ScalarOp op, DType dtype, SmallVector<Register, 4> operands);
  void check(Register condition, ErrorCode code, std::string message, const Node& node,
             const std::vector<Register>& numbers = {});
  kernel::IndexTerm index_term(ValueId array, const AccessMap& at, int64_t step, const Dim& extent, int axis,
                               ValueId base, const Node* node);
  std::optional<Register> stretched_place(ValueId array, const AccessMap& at, const Dim& extent);
  Point unstretched(Point at);
  void check_unread(const Write& write);
  void check_if_dropped(const kernel::IndexTerm& term, std::size_t first_statement);
  DType dtype_of(Register reg) const;
  Register add(kernel::Statement statement, bool has_result = true);

  const Graph& graph_;
  const IdMap<ValueId, Home>& homes_;
  Points& points_;
  Questions& questions_;
  IdMap<kernel::SiteId, kernel::Site>& sites_;
  kernel::Stage& stage_;
  const int max_registers_;
  std::vector<std::pair<Register, kernel::Subscript>> stretched_;  // indices, and the places that they are times a size
  const Node* selection_ = nullptr;                                // of the write that is answered
  std::unordered_map<kernel::BufferId, Register> running_;         // by what the fold folds into
};

/// An index list at a point of the region it selects: the affine part of each subscript, and the arrays that are asked.
struct PlacedIndex {
  AccessMap map;  // of the indexed value; subscripts of arrays are empty
  std::vector<WriteIndex> arrays;
};
PlacedIndex place_index(const Graph& graph, const std::vector<IndexItem>& index, std::span<const Dim> base_dims,
                        const AccessMap& at);

/// `at` of a value with dims `to`, as asked of an operand with dims `from` that broadcasts to it.
AccessMap broadcast_point(const AccessMap& at, std::span<const Dim> from);

/// The point of x, where `at` is the point of its diagonal: the last place stands in both axes.
AccessMap diagonal_point(const AccessMap& at, std::span<const int> axes);

/// Where the operand of a view is asked when `v`, the view, is asked at `at`. None: it is no view by its map alone.
std::optional<AccessMap> view_point(const Graph& graph, ValueId v, const AccessMap& at);

/// Can a reshape be answered by changing the map alone? (Only 1s come or go, or the operand is a line with known
/// strides.)
bool reshape_is_map(const Graph& graph, const Node& node);

/// Does the reshape only put in, or leave out, axes of one element?
bool reshape_moves_ones(const Graph& graph, const Node& node);

/// Are the elements of the index array some of 0, 1, ..., extent - 1, whatever they are in this call?
bool always_within(const Graph& graph, ValueId array, const Dim& extent);

/// Is the reduce written out at the point, term by term? Static and short.
bool is_unrolled(const Graph& graph, const Node& node, const kernel::BackendCaps& caps);

}  // namespace inlay::fuse
