#pragma once
// One loop nest while it is being written.
//
// Loops over the outer axes of the stage are plain; the innermost runs in vectors: whole ones first, then one pass
// under a mask for what is left. Statements are emitted at their level (stage_plan.h), so nothing is computed in a loop
// that does not change in it, without any pass of LLVM to find that out.
#include <map>

#include "backend/llvm/emit_access.h"
#include "backend/llvm/emit_division.h"
#include "backend/llvm/emit_scatter.h"

namespace inlay::llvm_backend {

class StageEmitter {
 public:
  /// `outer_points`: where the kernel's outer loops are. `tile`: the points of its last outer axis, where it is tiled.
  StageEmitter(FunctionEmitter& f, const kernel::Kernel& kernel, const kernel::Stage& stage, StagePlan plan,
               llvm::ArrayRef<Value*> outer_points, Range tile);
  void emit();

 private:
  // ---- emit_stage.cpp: loops
  void emit_level(int level);
  void emit_loop(int level);
  void emit_uniform(int level);
  void emit_vector_axis();
  void emit_vectors(Value* begin, Value* end, int64_t apart);
  std::vector<Value*> sets_of_sums();
  std::vector<Value*> emit_vectors_at(Value* point, Value* apart, llvm::ArrayRef<llvm::PHINode*> sets);
  void merge_sets(const std::vector<Value*>& sets);
  void emit_summing(Value* begin, Value* end);
  void emit_masked(Value* begin, Value* end);
  void emit_aligned(Value* begin, Value* end);
  void emit_body(Lanes& lanes, std::vector<Value*>& sums);
  void emit_statement(std::size_t i, Lanes& lanes);
  Value* emit_value(const kernel::Statement& statement, std::size_t i, Lanes& lanes);
  Value* emit_operation(const kernel::Statement& statement, Lanes& lanes);
  bool roots_wait() const;
  void emit_check(const kernel::Statement& statement, Lanes& lanes);

  Value* emit_load(std::size_t i, Lanes& lanes);
  bool also_reads(const kernel::Stage& stage, std::size_t i) const;
  Dim to_next_turn(std::size_t i) const;
  void fetch_ahead(std::size_t i, const Place& place, const Lanes& lanes);
  void fetch(Value* address, int locality, bool to_write);
  void emit_store(std::size_t i, Lanes& lanes);
  bool packs(std::size_t i) const;
  void store_if(Value* predicate, std::size_t i, Value* value, Lanes& lanes);

  // ---- emit_fold.cpp: sums in registers
  void open_sums(int level);
  void add_to_sum(std::size_t sum, Lanes& lanes, std::vector<Value*>& sums);
  Value* with_point(std::size_t sum, Lanes& lanes, Value* so_far);
  Value* folded(const kernel::Statement& fold, Lanes& lanes);
  struct Registers;
  std::vector<Value*> merged_states(std::size_t i, llvm::ArrayRef<Value*> a, llvm::ArrayRef<Value*> b);
  std::vector<DType> fold_dtypes(std::size_t i) const;
  std::vector<Value*> lifted(std::size_t i, Lanes& lanes);
  std::vector<Value*> states_with_point(std::size_t sum, Lanes& lanes, llvm::ArrayRef<Value*> sums);
  const FoldState& state_of(std::size_t sum) const;
  void merge_states_of_sets(std::size_t k, llvm::ArrayRef<Value*> sets);
  std::vector<Value*> states_of_lanes(std::size_t k);
  std::vector<Value*> states(std::size_t i);
  void set_states(std::size_t i, llvm::ArrayRef<Value*> values);
  void fold_states(std::size_t i, Lanes& lanes);
  void merge_into_memory(std::size_t i, llvm::ArrayRef<Value*> states, Lanes& lanes);
  /// The two states of a log-sum-exp, at the same points.
  struct Both {
    Value *state = nullptr, *extreme = nullptr;
  };
  void look_ahead(Value* begin, Value* end);
  bool follows_exponentials(std::size_t sum) const;
  void add_exponentials(std::size_t sum, Lanes& lanes, std::vector<Value*>& sums);
  Value* at_least_finite(DType dtype, Value* x);
  Value* exponential(const kernel::Statement& fold, Value* x, Value* greatest);
  Value* at_extreme(const kernel::Statement& fold, const Both& both, Value* met);
  Value* merged(std::size_t k, llvm::ArrayRef<Value*> sums);
  std::vector<Value*> joined_lanes(std::size_t k);
  void run_on(std::size_t sum, Lanes& lanes, std::vector<Value*>& sums);
  Value* lanes_so_far(const kernel::Statement& fold, Value* value, Value* before);
  void finish_sums(int level);

  // ---- emit_turns.cpp: sums as trees
  static constexpr uint64_t kVectorBytes = 64;
  bool is_tree_sum(std::size_t sum) const;
  bool is_of_part(std::size_t sum) const;
  bool is_stacked(std::size_t sum) const;
  std::vector<Value*> put_together(llvm::ArrayRef<Value*> older, llvm::ArrayRef<Value*> newer);
  Value* nothing_of(std::size_t sum);
  Value* added(std::size_t sum, Value* a, Value* b);
  Value* added_to(std::size_t sum, llvm::ArrayRef<Value*> older, llvm::ArrayRef<Value*> newer);
  Value* stacked(std::size_t sum, Value* level);
  void unstack(Value* least, Value* height);
  Value* height_after(Value* count);
  Value* level_of_turn(Value* count, Value* height);
  void stack_sums(Value* level, Value* height);
  struct Turn {
    Value* quarter = nullptr;     // its points
    Value* is_quarter = nullptr;  // null: it always is
  };
  Value* emit_turns(Value* begin, Value* end);
  bool passes_in_order() const;
  Turn begin_turn(const Loop& turns, Value* quarter, Value* in_quarters, Value* whole);
  void emit_block(Value* begin, Value* in_quarters, Value* whole);
  void emit_blocks(Value* begin, Value* in_quarters, Value* whole);
  /// What was passed before the turns begin.
  struct Pages {
    Value *end = nullptr, *turns = nullptr;
  };
  Pages emit_pages(Value* begin, Value* end);
  void emit_group(Value* begin);
  std::vector<Value*> emptied(std::vector<Value*> values);
  std::vector<Value*> added_to_each(llvm::ArrayRef<Value*> so_far, llvm::ArrayRef<Value*> values);
  void emit_turn(Value* begin, Value* quarter);

  // ---- emit_columns.cpp: folds of rows
  void emit_columns(int level);
  void emit_strips(int level, Range rows, Range columns, bool masked);
  std::vector<Value*> fold_rows(int level, Range rows, llvm::ArrayRef<Lanes> strip);
  std::vector<Value*> merged_columns(llvm::ArrayRef<Value*> older, llvm::ArrayRef<Value*> newer);

  // ---- emit_squares.cpp: sums of squares about the mean
  /// What a fold of squares has met, lane by lane.
  struct Moments {
    Value *squares = nullptr, *mean = nullptr, *count = nullptr;
    void put(std::vector<Value*>& sums, std::size_t k) const;
  };
  static Moments moments(llvm::ArrayRef<Value*> sums, std::size_t k);
  /// In sums_, from the fold's first state on: its Moments, and the x that the mean is less of, in all lanes.
  static constexpr std::size_t kFirstState = 3;
  /// How many registers a statement's state takes: hidden ones are with the last.
  std::size_t num_states(std::size_t i) const {
    const kernel::Statement& s = statement(i);
    if (s.fold == Fold::none || static_cast<std::size_t>(s.state) + 1 < facts(s.fold).num_stored) return 1;
    return 1 + facts(s.fold).states.size() - facts(s.fold).num_stored;
  }
  std::vector<std::size_t> sums_of_squares() const;
  bool is_squares_state(std::size_t sum) const;
  void count_as_numbers();
  void look_for_first(Value* begin);
  void count_for_squares(std::vector<Value*>& sums);
  void follow_first_set(const std::vector<Value*>& first, std::vector<Value*>& sums) const;
  void add_square(std::size_t sum, Lanes& lanes, std::vector<Value*>& sums);
  void merge_squares(std::size_t sum, llvm::ArrayRef<Value*> sets);
  Value* difference_of(DType dtype, Value* a, Value* b);
  Value* at_least_one(Value* count);
  Value* in_lanes(Value* count, Value* mean);
  Moments joined(const Moments& a, const Moments& b);
  Value* squares_of_lanes(std::size_t sum);

  const kernel::Statement& statement(std::size_t i) const { return nest_.statement(i); }

  NestState nest_;
  FunctionEmitter& f_;
  llvm::IRBuilder<>& b_;
  StagePlan& plan_;
  AccessEmitter access_;
  ScatterEmitter scatter_;
  DivisionEmitter divisions_;
  Value* block_points_ = nullptr;  // how many points a block has, but for the last
  std::vector<std::size_t> sum_statements_;
  std::vector<Value*> sums_;  // their values where we are
  /// Of a fold of squares while whole vectors are passed: what all sets of sums have in common.
  struct WholePass {
    Value* none_before = nullptr;  // has this loop the first point?
    Value* is_first = nullptr;     // is this its first pass?
    Value* weight = nullptr;       // 1 / count
    bool has_first = false;        // has the first vector of the pass been here?
  };
  std::map<std::size_t, WholePass> squares_passes_;  // by number of sum
  std::map<std::size_t, Value*> squares_are_new_;    // likewise: has no point been met before row_begin_?
  Value* row_begin_ = nullptr;                       // where the points of the vector axis begin that are passed now
};

}  // namespace inlay::llvm_backend
