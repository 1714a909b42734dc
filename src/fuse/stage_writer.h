#pragma once
// Answers questions for a value at a point with statements of one stage.
#include <limits>
#include <unordered_map>

#include "fuse/piece.h"
#include "fuse/questions.h"

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

  /// The writes that follow are those of the piece.
  void begin(const Piece& piece) { piece_ = &piece; }
  void write(const Write& write);

 private:
  using Register = kernel::RegisterId;

  Register value(ValueId v, const AccessMap& at);
  Register value(ValueId v, Point at);
  Register broadcast_value(ValueId v, Point at);
  Register definition(ValueId v, Point at);
  Register part(ValueId whole, Point at);
  Register scalar(const Node& node, ValueId v, Point at);
  Register cast(const Node& node, ValueId v, Point at);
  Register gather(const Node& node, const AccessMap& at);
  Register unrolled_reduce(const Node& node, const AccessMap& at);
  Register iota(DType dtype, const AccessMap& at);
  Register load(BufferId buffer, DType dtype, AccessMap map);
  Register literal(const Literal& literal);
  Register size(const Dim& dim);
  Register op(ScalarOp op, DType dtype, SmallVector<Register, 4> operands);
  void check(Register condition, ErrorCode code, std::string message, const Node& node,
             const std::vector<Register>& numbers = {});
  kernel::IndexTerm index_term(ValueId array, const AccessMap& at, int64_t step, const Dim& extent, int axis,
                               ValueId base, const Node* node);
  void check_unread(const Write& write);
  void check_assert(const Node& node, Register condition);
  AccessMap place_of(const Write& write);
  void check_if_dropped(const kernel::IndexTerm& term, std::size_t first_statement);
  Register add(kernel::Statement statement, bool has_result = true);

  const Graph& graph_;
  const IdMap<ValueId, Home>& homes_;
  Points& points_;
  Questions& questions_;
  IdMap<kernel::SiteId, kernel::Site>& sites_;
  kernel::Stage& stage_;
  const int max_registers_;
  const Piece* piece_ = nullptr;                            // none: what is asked is only counted (cone.h)
  const Node* selection_ = nullptr;                         // of the write that is answered
  std::unordered_map<kernel::BufferId, Register> running_;  // by what the fold folds into
};

}  // namespace inlay::fuse
