#include "memory/sharing.h"

#include <algorithm>

#include "ir/traits.h"
#include "kernel/dim_proof.h"
#include "kernel/steps.h"
#include "kernel/visit.h"
#include "memory/destination.h"
#include "memory/groups.h"
#include "memory/overwrite.h"

namespace inlay::memory {

using kernel::Buffer;
using kernel::BufferId;
using kernel::Copy;
using kernel::Kernel;
using kernel::KernelOutput;
using kernel::KernelProgram;
using kernel::Role;
using kernel::Start;
using kernel::Step;
using kernel::StepId;
using kernel::Transfer;

namespace {

/// Does a buffer's size depend on one of these symbols?
bool is_needed(const KernelProgram& program, std::span<const SymbolId> bound) {
  const auto binds = [&](SymbolId symbol) { return std::ranges::find(bound, symbol) != bound.end(); };
  return std::ranges::any_of(program.buffers, [&](const Buffer& buffer) {
    if (buffer.role != Role::temporary && buffer.role != Role::output) return false;
    return std::ranges::any_of(buffer.dims, [&](const Dim& dim) { return std::ranges::any_of(dim.symbols(), binds); });
  });
}

void cut_segments(const KernelProgram& program, Sharing& sharing, IdMap<SymbolId, StepId>& known_from) {
  sharing.segment_starts = {StepId(0)};
  sharing.symbol_segments = IdMap<SymbolId, int>(program.symbols.size(), 0);
  known_from = IdMap<SymbolId, StepId>(program.symbols.size(), StepId(0));
  for (StepId step : ids<StepId>(program.steps.size())) {
    const std::vector<SymbolId> bound = symbols_bound_by(program.steps[step.index]);
    if (bound.empty() || !is_needed(program, bound)) continue;
    const StepId next(step.index + 1);
    for (SymbolId symbol : bound) {
      sharing.symbol_segments[symbol] = sharing.num_segments();
      known_from[symbol] = next;
    }
    sharing.segment_starts.push_back(next);
  }
}

class Sharer {
 public:
  Sharer(KernelProgram& program, const SharingFunction& may_share)
      : program_(program),
        may_share_(may_share),
        liveness_(liveness(program)),
        nesting_(program),
        commit_(program, liveness_) {
    for (Step& step : program.steps) kernel::for_each_elidable(step, [](bool& elided) { elided = false; });
    sharing_.placements = IdMap<BufferId, Placement>(program.buffers.size());
    cut_segments(program, sharing_, known_from_);
  }

  Sharing decide() {
    Groups groups(program_, liveness_, known_from_, commit_);
    groups_ = &groups;
    for (StepId step : steps()) share_carried(step);
    for (StepId step : steps()) share_starts(step);
    for (const Transfer& transfer : kernel::find_transfers(program_)) share_destination(transfer);
    for (StepId step : steps()) share_operands(step);
    groups.place(sharing_);
    give_reasons();
    list_copies();
    return std::move(sharing_);
  }

 private:
  IdRange<StepId> steps() const { return ids<StepId>(program_.steps.size()); }
  BufferId root(BufferId buffer) const { return kernel::root_of(program_, buffer); }
  const Buffer& buffer(BufferId b) const { return program_.buffers[b]; }

  struct Decision {
    BufferId buffer;
    Reason reason;
    BufferId took_over;
  };
  void decided(BufferId b, Reason reason, BufferId took_over) { decisions_.push_back({b, reason, took_over}); }

  /// Joins `child` to the group of `parent`, so that `value` takes the other's bytes, if the caller's SharingFunction
  /// agrees.
  std::string join(StepId step, BufferId value, BufferId child, BufferId parent, const Dim& offset_bytes,
                   Groups::Relation relation) {
    if (!may_share_ || groups_->together(child, parent)) return groups_->join(child, parent, offset_bytes, relation);
    const BufferId operand = value == child ? parent : child;
    SharingCandidate asked{step_name(program_, program_.steps[step.index]), buffer(value).name, buffer(operand).name};
    const std::string apart = str(asked.operand, " is kept apart from ", asked.value, ", as asked");
    if (std::ranges::find(sharing_.kept_apart, asked) != sharing_.kept_apart.end()) return apart;
    switch (may_share_(asked.step, asked.value, asked.operand)) {
      case MayShare::by_rule: return groups_->join(child, parent, offset_bytes, relation);
      case MayShare::even_if_larger:
        return groups_->join(child, parent, offset_bytes, relation, Groups::Room::may_grow);
      case MayShare::never: break;
    }
    sharing_.kept_apart.push_back(std::move(asked));
    return apart;
  }

  bool lives_in_one_pass(BufferId b, StepId step) const {
    return memory::lives_in_one_pass(liveness_, nesting_, b, step);
  }

  /// Why bytes are copied: a clause, and the step in it, if any.
  struct Refusal {
    std::string why;  // empty: they are not copied
    StepId about;
    std::string help = {};
  };

  /// Which later step reads the operand when its bytes are already another's?
  Refusal read_later(BufferId operand, StepId step) const {
    if (!lives_in_one_pass(operand, step)) return {"is needed in every pass of a loop", {}};
    const Uses& uses = liveness_.uses[operand];
    for (const std::vector<StepId>* list : {&uses.reads, &uses.writes}) {
      for (StepId other : *list) {
        if (other > step) return {str("is also read by ", step_name(program_, program_.steps[other.index])), other};
      }
    }
    return {buffer(operand).role == Role::output ? "is returned" : "", {}};
  }

  // --- what a loop carries ---

  /// The copy at the end of a loop's body that makes the next value the carried one. It is elided if the next value can
  /// be computed in the carried one's bytes: when no step reads the carried value after that.
  void share_carried(StepId step) {
    auto* copy = std::get_if<Copy>(&program_.steps[step.index]);
    if (!copy) return;
    const BufferId next = root(copy->source), carried = root(copy->destination);
    if (lives_in_one_pass(carried, step) || !lives_in_one_pass(next, step)) return;
    std::string why_not = why_not_carried(next, carried, step);
    if (why_not.empty()) why_not = join(step, next, next, carried, 0, Groups::Relation::takes_over);
    carried_copies_.push_back(step);
    if (!why_not.empty()) {
      return refusals_.push_back({step, copy->source, copy->destination, str(copy->reason, ", which ", why_not)});
    }
    decided(next, Reason::in_place, carried);
    copy->elided = true;
    auto& made = std::get<Kernel>(program_.steps[liveness_.uses[next].writes.front().index]);
    for (KernelOutput& output : made.outputs) {
      const bool continues = output.start.kind == Start::Kind::copy && root(output.start.source) == carried;
      if (continues && root(output.buffer) == next) output.start.elided = true;
    }
  }

  std::string why_not_carried(BufferId next, BufferId carried, StepId copy) const {
    if (!groups_->has_bytes(next) || !groups_->has_bytes(carried)) return "has no bytes of its own";
    const std::vector<StepId>& writes = liveness_.uses[next].writes;
    if (writes.size() != 1) return "is written by several steps";
    const StepId made = writes.front();
    const auto* kernel = std::get_if<Kernel>(&program_.steps[made.index]);
    if (!kernel) return "is not made by a kernel";
    // The innermost loop around the copy must be that of the kernel, with no cond between the two.
    if (nesting_.holding(made) != nesting_.holding(copy)) return "is made in another region";
    for (const std::vector<StepId>* uses : {&liveness_.uses[carried].reads, &liveness_.uses[carried].writes}) {
      for (StepId use : *uses) {
        if (use > made && use < copy) return str("is read by ", step_name(program_, program_.steps[use.index]));
      }
    }
    return OverwriteQuestions(program_, *kernel).why_not(carried, next);
  }

  // --- copy starts ---

  void share_starts(StepId step) {
    auto* kernel = std::get_if<Kernel>(&program_.steps[step.index]);
    if (!kernel) return;
    for (KernelOutput& output : kernel->outputs) {
      if (output.start.kind != Start::Kind::copy || output.start.elided) continue;
      const Refusal why_not = share_start(*kernel, step, root(output.start.source), root(output.buffer));
      output.start.elided = why_not.why.empty();
      if (!output.start.elided) {
        refusals_.push_back({step, output.start.source, output.buffer, why_not.why, why_not.about, why_not.help});
      }
    }
  }

  Refusal share_start(const Kernel& kernel, StepId step, BufferId base, BufferId output) {
    const std::string& name = buffer(base).name;
    if (buffer(base).role == Role::param && !buffer(base).donated) {
      return {str(name, " belongs to the caller"), {}, str("donate ", name, ", where its old values are not needed")};
    }
    if (buffer(base).role == Role::host) return {str(name, " belongs to the host"), {}};
    if (buffer(base).role == Role::literal) return {str(name, " is a constant"), {}};
    if (!groups_->has_bytes(base) || !groups_->has_bytes(output)) return {str(name, " has no bytes of its own"), {}};
    if (Refusal later = read_later(base, step); !later.why.empty()) {
      const std::string help =
          later.about.valid() ? str("read what is needed of ", name, " before it is overwritten") : "";
      return {str(name, " ", later.why), later.about, help};
    }
    const StepId first = liveness_.uses[output].writes.front();
    if (first != step) return {str(buffer(output).name, " is written before"), first};
    if (!lives_in_one_pass(output, step)) return {str(buffer(output).name, " is needed in every pass of a loop"), {}};
    const std::string why = OverwriteQuestions(program_, kernel).why_not(base, output);
    return why.empty() ? Refusal{join_equal(step, base, output), {}} : Refusal{str(name, " ", why), step};
  }

  /// One of two buffers of the same size takes the other's bytes: the result takes those of the operand, or, if the
  /// result is returned, the operand is made in the result's.
  std::string join_equal(StepId step, BufferId operand, BufferId result) {
    const bool is_returned = buffer(result).role == Role::output;
    std::string why_not = is_returned ? join(step, result, operand, result, 0, Groups::Relation::takes_over)
                                      : join(step, result, result, operand, 0, Groups::Relation::takes_over);
    if (!why_not.empty()) return why_not;
    if (is_returned) {
      decided(operand, Reason::destination, result);
    } else {
      decided(result, Reason::in_place, operand);
    }
    return "";
  }

  // --- destinations ---

  void share_destination(const Transfer& transfer) {
    const bool is_copy_step = transfer.stage < 0;
    std::string why_not;
    if (std::ranges::binary_search(carried_copies_, transfer.step)) return;
    if (!lives_in_one_pass(transfer.source, transfer.step) || !lives_in_one_pass(transfer.destination, transfer.step)) {
      why_not = "is needed in every pass of a loop";
    } else if (!groups_->has_bytes(transfer.source) || !groups_->has_bytes(transfer.destination)) {
      why_not = "has no bytes of its own";
    }
    if (why_not.empty()) why_not = why_not_in_destination(program_, liveness_, transfer);
    if (why_not.empty()) {
      why_not = join(transfer.step, transfer.destination, transfer.source, transfer.destination,
                     offset_bytes(program_, transfer), Groups::Relation::part_of);
    }
    if (why_not.empty()) {
      decided(transfer.source, Reason::destination, transfer.destination);
      mark_of(transfer) = true;
    } else if (is_copy_step) {
      const auto& copy = std::get<Copy>(program_.steps[transfer.step.index]);
      refusals_.push_back({transfer.step, copy.source, copy.destination,
                           copy.reason.empty() ? str(buffer(transfer.source).name, " ", why_not) : copy.reason});
    }
  }

  bool& mark_of(const Transfer& transfer) {
    Step& step = program_.steps[transfer.step.index];
    if (transfer.stage < 0) return std::get<Copy>(step).elided;
    kernel::Stage& stage = std::get<Kernel>(step).stages[static_cast<std::size_t>(transfer.stage)];
    return stage.statements[static_cast<std::size_t>(transfer.store)].elided;
  }

  // --- operands ---

  void share_operands(StepId step) {
    if (const auto* call = std::get_if<kernel::LibraryCall>(&program_.steps[step.index]))
      return share_operand(*call, step);
    const auto* kernel = std::get_if<Kernel>(&program_.steps[step.index]);
    if (!kernel) return;
    const kernel::StepAccess access = kernel::access_of(program_, program_.steps[step.index]);
    std::vector<BufferId> dying = access.reads;  // also what an earlier stage made for a later one
    if (kernel->stages.size() > 1) dying.insert(dying.end(), access.writes.begin(), access.writes.end());
    std::erase_if(dying, [&](BufferId b) { return !groups_->has_bytes(b) || !read_later(b, step).why.empty(); });
    if (dying.empty()) return;
    std::vector<Dim> bytes_of_dying;
    for (BufferId operand : dying) bytes_of_dying.push_back(size_bytes(buffer(operand)));
    const OverwriteQuestions overwrites(program_, *kernel);
    for (BufferId result : access.writes) {
      if (!groups_->has_bytes(result) || liveness_.uses[result].writes.front() != step) continue;
      if (!lives_in_one_pass(result, step)) continue;
      const Dim bytes = size_bytes(buffer(result));
      if (bytes.is(0)) continue;
      const int64_t element_bytes = size_bytes(buffer(result).dtype);
      for (std::size_t i = 0; i < dying.size(); ++i) {
        const BufferId operand = dying[i];
        if (operand == result || size_bytes(buffer(operand).dtype) != element_bytes) continue;
        if (bytes_of_dying[i] != bytes) {
          share_part(overwrites, step, operand, result);
        } else if (overwrites.why_not(operand, result).empty() && join_equal(step, operand, result).empty()) {
          break;
        }
      }
    }
  }

  /// The operand is made in the region of the result that is written with what is computed of it. A result that nothing
  /// can fail behind is not written sooner for that: it would be made elsewhere than where the caller wants it.
  void share_part(const OverwriteQuestions& overwrites, StepId step, BufferId operand, BufferId result) {
    if (buffer(operand).role != Role::temporary || !overwrites.may_fill_part(result, liveness_.uses[result])) return;
    for (const Transfer& transfer : overwrites.transfers(step, operand, result)) {
      if (!why_not_in_destination(program_, liveness_, transfer).empty()) continue;
      if (!overwrites.why_not_in_part(transfer).empty() || is_read_before(transfer)) continue;
      const bool comes_last = buffer(result).role == Role::output && commit_.why_not(result, {}).empty();
      if (comes_last && !commit_.why_not(operand, {}).empty()) continue;
      const Dim offset = offset_bytes(program_, transfer);
      if (!join(step, result, operand, result, offset, Groups::Relation::takes_over).empty()) continue;
      decided(operand, Reason::destination, result);
      return;
    }
  }

  /// Is the region read before the transfer fills it? (Then it must still hold what the destination began with.)
  bool is_read_before(const Transfer& transfer) const {
    const Uses& uses = liveness_.uses[transfer.destination];
    const auto reads = [&](StepId step) {
      return step <= transfer.step && may_touch(program_, step, transfer, kernel::Access::reads);
    };
    return std::ranges::any_of(uses.reads, reads) || std::ranges::any_of(uses.writes, reads);
  }

  /// LAPACK overwrites its arguments: if an operand dies there, it needs no copy.
  void share_operand(const kernel::LibraryCall& call, StepId step) {
    const LibraryOpFacts& row = facts(call.op);
    if (row.in_place_operand < 0) return;
    const auto operand_at = static_cast<std::size_t>(row.in_place_operand);
    const auto result_at = static_cast<std::size_t>(row.in_place_result);
    const kernel::CallArray &from = call.operands[operand_at], &to = call.results[result_at];
    const BufferId operand = root(from.buffer), result = root(to.buffer);
    const bool are_whole = is_row_major(call, row.signature.operands[operand_at], from) &&
                           is_row_major(call, row.signature.results[result_at], to);
    if (!are_whole || !groups_->has_bytes(operand) || !groups_->has_bytes(result) || operand == result) return;
    const bool one_size = size_bytes(buffer(operand)) == size_bytes(buffer(result));
    const auto is_it = [&](const kernel::CallArray& other) { return root(other.buffer) == operand; };
    if (!one_size || std::ranges::count_if(call.operands, is_it) != 1) return;
    if (liveness_.uses[result].writes.front() != step || !lives_in_one_pass(result, step)) return;
    if (read_later(operand, step).why.empty()) join_equal(step, operand, result);
  }

  // --- the outcome ---

  void give_reasons() {
    for (const Decision& decision : decisions_) {
      sharing_.placements[decision.buffer].reason = decision.reason;
      sharing_.placements[decision.buffer].took_over = decision.took_over;
    }
    for (BufferId b : ids<BufferId>(program_.buffers.size())) {
      const BufferId of = root(b);
      if (of == b || !groups_->has_bytes(of)) continue;
      sharing_.placements[b] = {sharing_.placements[of].storage, sharing_.placements[of].offset_bytes, Reason::view,
                                of};
    }
  }

  void list_copies() {
    sharing_.copies = refusals_;
    std::erase_if(sharing_.copies,
                  [&](const PlannedCopy& copy) { return kernel::is_handle(buffer(copy.destination)); });
    std::ranges::sort(sharing_.copies, {},
                      [](const PlannedCopy& copy) { return std::pair(copy.step, copy.destination); });
  }

  KernelProgram& program_;
  const SharingFunction& may_share_;
  Liveness liveness_;
  kernel::Nesting nesting_;
  Commit commit_;
  IdMap<SymbolId, StepId> known_from_;
  Groups* groups_ = nullptr;
  Sharing sharing_;
  std::vector<Decision> decisions_;
  std::vector<StepId> carried_copies_;  // at the ends of loops, in order
  std::vector<PlannedCopy> refusals_;
};

/// Returns, by symbol, the size that the checks before all other steps find equal to it. Empty: they find none.
IdMap<SymbolId, Dim> equal_at_entry(const KernelProgram& program) {
  std::vector<std::pair<Dim, Dim>> equal;
  for (const kernel::SizeCheck* check : kernel::entry_checks(program)) {
    if (check->relation == DimCheck::Relation::equal) equal.emplace_back(check->left, check->right);
  }
  return equal.empty() ? IdMap<SymbolId, Dim>() : first_of_equal_sizes(program.symbols.size(), equal);
}

}  // namespace

SharedProgram share(KernelProgram program, SharingFunction may_share) {
  SharedProgram out{std::move(program), {}, std::move(may_share)};
  // While sharing is decided, a parameter has the size by which the program loops over it, if a caller gives it under
  // another symbol.
  const IdMap<SymbolId, Dim> equal = equal_at_entry(out.program);
  std::vector<std::vector<Dim>> given;
  for (BufferId param : out.program.params) {
    std::vector<Dim>& dims = out.program.buffers[param].dims;
    given.push_back(dims);
    for (Dim& dim : dims) dim = equal.size() == 0 ? dim : dim.substitute(equal);
  }
  out.sharing = Sharer(out.program, out.may_share).decide();
  for (std::size_t i = 0; i < given.size(); ++i) out.program.buffers[out.program.params[i]].dims = std::move(given[i]);
  return out;
}

std::string_view reason_name(Reason reason) {
  switch (reason) {
    case Reason::own: return "own";
    case Reason::in_place: return "in place";
    case Reason::destination: return "destination";
    case Reason::view: return "view";
    case Reason::none: return "none";
  }
  return "";
}

int segment_of(const Sharing& sharing, const Dim& size) {
  int out = 0;
  for (SymbolId symbol : size.symbols()) out = std::max(out, sharing.symbol_segments[symbol]);
  return out;
}

int segment_of(const Sharing& sharing, std::span<const Dim> dims) {
  int out = 0;
  for (const Dim& dim : dims) out = std::max(out, segment_of(sharing, dim));
  return out;
}

Answer shares_bytes(const KernelProgram& program, const Sharing& sharing, BufferId a, BufferId b) {
  if (kernel::root_of(program, a) == kernel::root_of(program, b)) return Answer::yes;
  const Placement &left = sharing.placements[a], &right = sharing.placements[b];
  if (!left.storage.valid() || left.storage != right.storage) return Answer::no;
  const Dim left_end = left.offset_bytes + size_bytes(program.buffers[a]);
  const Dim right_end = right.offset_bytes + size_bytes(program.buffers[b]);
  const bool apart = kernel::always_apart(left.offset_bytes, left_end, right.offset_bytes, right_end);
  return apart ? Answer::no : left.offset_bytes == right.offset_bytes ? Answer::yes : Answer::unknown;
}

int param_in_output(const KernelProgram& program, const Sharing& sharing, BufferId output) {
  const StorageId storage = sharing.placements[kernel::root_of(program, output)].storage;
  for (BufferId param : program.params) {
    if (storage.valid() && sharing.placements[param].storage == storage) return program.buffers[param].slot;
  }
  return -1;
}

int64_t alignment_bytes(const KernelProgram& program, const Sharing& sharing, BufferId buffer) {
  const Placement& placement = sharing.placements[buffer];
  const int64_t element = std::max<int64_t>(size_bytes(program.buffers[buffer].dtype), 1);
  if (!placement.storage.valid() || sharing.storages[placement.storage].owner != Owner::arena) return element;
  const int64_t whole = sharing.storages[placement.storage].alignment_bytes;
  const bool at_multiple = placement.offset_bytes.is_constant() && placement.offset_bytes.constant() % whole == 0;
  return at_multiple ? whole : element;
}

}  // namespace inlay::memory
