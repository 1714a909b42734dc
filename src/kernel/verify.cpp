#include "kernel/verify.h"

#include <algorithm>

#include "kernel/dim_proof.h"
#include "kernel/regions.h"
#include "kernel/verify_kernel.h"
#include "ops/library_workspace.h"

namespace inlay::kernel {
namespace {

/// The program, and the errors found in it.
struct Judged {
  explicit Judged(const KernelProgram& program) : program(program), names(program) {}

  void complain(std::string message) { out.push_back({ErrorCode::internal, {}, std::move(message), {}, {}}); }
  bool exists(BufferId b) const { return b.index < program.buffers.size(); }
  std::string name(BufferId b) const { return exists(b) ? names.buffers[b] : "<none>"; }

  const KernelProgram& program;
  const Names names;
  std::vector<Diagnostic> out;
};

/// Buffers, parameters, outputs and symbols: the names that steps use.
class TableVerifier {
 public:
  explicit TableVerifier(Judged& judged) : judged_(judged), program_(judged.program) {}

  /// Which symbols are known before the first step.
  std::vector<bool> run(SizesFrom sizes) {
    for (BufferId b : ids<BufferId>(program_.buffers.size())) verify_buffer(b);
    verify_slots(program_.params, Role::param);
    verify_slots(program_.outputs, Role::output);
    std::vector<bool> known(program_.symbols.size(), true);
    if (sizes == SizesFrom::parameters) {
      for (SymbolId symbol : ids<SymbolId>(known.size())) known[symbol.index] = verify_symbol(symbol);
    }
    return known;
  }

 private:
  void verify_buffer(BufferId b) {
    const Buffer& it = program_.buffers[b];
    for (const Dim& dim : it.dims) {
      for (SymbolId symbol : dim.symbols()) {
        if (symbol.index >= program_.symbols.size()) {
          return judged_.complain(str(judged_.name(b), " has a size of a symbol that does not exist"));
        }
      }
    }
    if (it.stored.why != StoredFor::unsaid && (it.role != Role::temporary || it.view_of.valid())) {
      judged_.complain(str(judged_.name(b), " is no temporary, and has a reason to be one: ", stored_text(it.stored)));
    }
    if (it.view_of.valid()) return verify_view(b);
    if (it.role == Role::param || it.role == Role::output) {
      const std::vector<BufferId>& slots = it.role == Role::param ? program_.params : program_.outputs;
      if (std::ranges::find(slots, b) == slots.end()) {
        judged_.complain(str(judged_.name(b), " is ", role_name(it.role), " ", it.slot, ", and so is another buffer"));
      }
    }
    if (it.role == Role::scalar && !std::ranges::all_of(it.dims, [](const Dim& dim) { return dim.is(1); })) {
      judged_.complain(str("scalar ", judged_.name(b), " has more than one element"));
    }
    if (it.role != Role::literal) return;
    if (!num_elements(it).is(static_cast<int64_t>(it.elements.size()))) {
      judged_.complain(str("literal ", judged_.name(b), " has ", it.elements.size(), " elements"));
    }
    for (const Literal& element : it.elements) {
      if (element.dtype != it.dtype) {
        return judged_.complain(str("literal ", judged_.name(b), " has elements of another dtype"));
      }
    }
  }

  void verify_view(BufferId b) {
    BufferId root = b;
    for (std::size_t i = 0; judged_.exists(root) && program_.buffers[root].view_of.valid(); ++i) {
      if (i > program_.buffers.size()) return judged_.complain(str(judged_.name(b), " is a view of itself"));
      root = program_.buffers[root].view_of;
    }
    if (!judged_.exists(root)) return judged_.complain(str(judged_.name(b), " is a view of no buffer"));
    const bool same_size = same_num_elements(program_, program_.buffers[b], program_.buffers[root]);
    if (!same_size || program_.buffers[b].dtype != program_.buffers[root].dtype) {
      judged_.complain(str(judged_.name(b), " is a view of ", judged_.name(root), ", which has other bytes"));
    }
  }

  void verify_slots(const std::vector<BufferId>& slots, Role role) {
    for (std::size_t i = 0; i < slots.size(); ++i) {
      if (!judged_.exists(slots[i])) {
        judged_.complain(str(role_name(role), " ", i, " is no buffer"));
      } else if (program_.buffers[slots[i]].role != role || program_.buffers[slots[i]].slot != static_cast<int>(i)) {
        judged_.complain(str(judged_.name(slots[i]), " stands as ", role_name(role), " ", i, " and says otherwise"));
      }
    }
  }

  /// A symbol that no parameter binds is known after a step has bound it.
  bool verify_symbol(SymbolId s) {
    const Symbol& symbol = program_.symbols[s];
    bool is_known = false;
    for (BufferId param : program_.params) {
      if (!judged_.exists(param) || !symbol.source.valid() || program_.buffers[param].value != symbol.source) continue;
      const std::size_t rank = program_.buffers[param].dims.size();
      is_known = symbol.axis >= 0 && static_cast<std::size_t>(symbol.axis) < rank;
      if (!is_known && symbol.axis != Symbol::kOfValue) {
        judged_.complain(str("symbol ", judged_.names.symbols[s], " is dim ", symbol.axis, " of ", judged_.name(param),
                             ", which has ", rank));
      }
    }
    return is_known;
  }

  Judged& judged_;
  const KernelProgram& program_;
};

bool is_i64_scalar(const Buffer& b) { return b.dtype == DType::i64 && num_elements(b).is(1); }

/// Verifies what steps name, and how they use it.
class StepVerifier {
 public:
  explicit StepVerifier(Judged& judged) : judged_(judged), program_(judged.program) {}

  void run() {
    for (const Step& step : program_.steps) {
      std::visit([&](const auto& each) { verify_step(each); }, step);
    }
  }

 private:
  bool all_exist(const std::string& what, const std::vector<BufferId>& list) {
    if (std::ranges::all_of(list, [&](BufferId b) { return judged_.exists(b); })) return true;
    judged_.complain(what + " names no buffer");
    return false;
  }

  void verify_site(SiteId site, const std::string& what) {
    if (site.index >= program_.sites.size()) judged_.complain(what + " has no site");
  }

  void verify_step(const Kernel& kernel) {
    const std::size_t before = judged_.out.size();
    const Complain take = [&](std::string message) { judged_.complain(std::move(message)); };
    verify_statements(program_, kernel, take);
    if (kernel.workspace.valid()) verify_workspace(kernel);
    if (judged_.out.size() == before) verify_contract(program_, kernel, take);
  }

  void verify_step(const LibraryCall& call) {
    const LibraryOpFacts& row = facts(call.op);
    const LibrarySignature& signature = row.signature;
    const std::string function(row.name);
    const bool counts_fit = call.operands.size() == signature.operands.size() &&
                            call.results.size() == signature.results.size() &&
                            call.sizes.size() == signature.letters.size() + 1;
    if (!counts_fit) {
      return judged_.complain(str(function, " takes ", signature.operands.size(), " operands and ",
                                  signature.letters.size() + 1, " sizes, and has ", signature.results.size(),
                                  " results"));
    }
    std::vector<BufferId> named;
    for_each_array(call, [&](const CallArray& array, const CoreAxes&) {
      named.push_back(array.buffer);
      if (array.index.valid()) named.push_back(array.index);
    });
    if (call.workspace.valid()) named.push_back(call.workspace);
    if (!all_exist(function, named)) return;
    for (SiteId site : call.sites) verify_site(site, function);
    const std::string what = str(function, " ", judged_.name(call.results[0].buffer));
    const DType dtype = program_.buffers[call.operands[0].buffer].dtype;
    if (!accepts(call.op, dtype)) return judged_.complain(str(what, ": it does not take ", dtype_name(dtype)));
    for (std::size_t i = 0; i < call.operands.size(); ++i) {
      verify_array(call, call.operands[i], signature.operands[i], operand_dtype(call.op, i, dtype), what);
    }
    for (std::size_t r = 0; r < call.results.size(); ++r) {
      verify_array(call, call.results[r], signature.results[r], result_dtype(call.op, r, dtype), what);
    }
    verify_workspace(call, dtype, what);
  }

  /// No statement of it names that memory.
  void verify_workspace(const Kernel& kernel) {
    const std::string what = kernel.name.empty() ? "a kernel" : kernel.name;
    if (!all_exist(what, {kernel.workspace}) || !verify_scratch(kernel.workspace, what)) return;
    const auto is_it = [&](const Statement& s) { return s.has_place() && s.buffer == kernel.workspace; };
    if (any_statement(kernel, is_it)) {
      judged_.complain(str(what, ": a statement names its workspace ", judged_.name(kernel.workspace)));
    }
  }

  bool verify_scratch(BufferId workspace, const std::string& what) {
    const Buffer& given = program_.buffers[workspace];
    const bool is_scratch = given.role == Role::temporary && given.dtype == DType::u8 && !given.view_of.valid();
    if (!is_scratch) judged_.complain(str(what, ": its workspace ", judged_.name(workspace), " is no temporary of u8"));
    return is_scratch;
  }

  /// The function overwrites its workspace, whatever it holds.
  void verify_workspace(const LibraryCall& call, DType dtype, const std::string& what) {
    const std::vector<Dim> sizes(call.sizes.begin() + 1, call.sizes.end());
    const Dim wanted = library_workspace_bytes(call.op, dtype, sizes);
    if (!call.workspace.valid()) {
      if (!wanted.is(0)) judged_.complain(str(what, " has no workspace"));
      return;
    }
    if (!verify_scratch(call.workspace, what)) return;
    const Dim given = num_elements(program_.buffers[call.workspace]);
    if (!always_at_least(given, wanted)) {
      judged_.complain(str(what, ": its workspace ", judged_.name(call.workspace), " has ",
                           given.to_text(program_.symbol_names()), " bytes of ",
                           wanted.to_text(program_.symbol_names())));
    }
  }

  /// Verifies an operand or a result of a library call: its dtype, and that its elements can be within the buffer.
  void verify_array(const LibraryCall& call, const CallArray& array, const CoreAxes& axes, DType dtype,
                    const std::string& what) {
    const Buffer& in = program_.buffers[array.buffer];
    if (in.dtype != dtype) {
      judged_.complain(str(what, ": ", judged_.name(array.buffer), " is not of ", dtype_name(dtype)));
    }
    const std::array<Dim, 3> extents = library_extents(call.op, axes, call.sizes);
    if (array.index.valid() && !is_i64_scalar(program_.buffers[array.index])) {
      judged_.complain(str(what, ": ", judged_.name(array.index), " is no number of i64"));
    }
    Dim first = array.offset, last = array.offset;
    for (std::size_t axis = 0; axis < extents.size(); ++axis) {
      if (!always_at_least(extents[axis], 1)) return;  // nothing may be touched
      Dim& end = always_at_least(array.strides[axis], 0) ? last : first;
      end = end + array.strides[axis] * (extents[axis] - 1);
    }
    const bool lies_outside =
        always_at_least(-1, first) || (!array.index.valid() && always_at_least(last, num_elements(in)));
    if (lies_outside) {
      judged_.complain(str(what, ": elements of ", judged_.name(array.buffer), " that it does not have"));
    }
  }

  void verify_step(const HostCall& call) {
    const std::string what = str("host call \"", call.name, "\"");
    if (!all_exist(what, call.operands) || !all_exist(what, call.results)) return;
    constexpr int kMostFunctions = 1 << 20;
    if (call.function < 0 || call.function >= kMostFunctions) judged_.complain(str(what, " has no function"));
    if (call.site.valid()) verify_site(call.site, what);
    for (BufferId result : call.results) {
      if (program_.buffers[result].role != Role::host) {
        judged_.complain(str(what, ": its result ", judged_.name(result), " is not the host's"));
      }
    }
    for (const HostCall::Binding& binding : call.bindings) {
      const auto result = static_cast<std::size_t>(binding.result), axis = static_cast<std::size_t>(binding.axis);
      const bool fits = binding.symbol.index < program_.symbols.size() && result < call.results.size() &&
                        axis < program_.buffers[call.results[result]].dims.size();
      if (!fits) judged_.complain(str(what, " binds a symbol to no dim"));
    }
  }

  void verify_step(const Copy& copy) {
    if (!all_exist("a copy", {copy.source, copy.destination})) return;
    const Buffer &from = program_.buffers[copy.source], &to = program_.buffers[copy.destination];
    if (from.dtype != to.dtype || !same_num_elements(program_, from, to)) {
      judged_.complain(str("copy ", judged_.name(copy.source), " -> ", judged_.name(copy.destination), ": ",
                           type_text(program_, from), " to ", type_text(program_, to)));
    }
  }

  void verify_step(const SizeCheck& check) { verify_site(check.site, "a size check"); }

  void verify_step(const BindSize& bind) {
    verify_site(bind.site, "a bind");
    if (bind.symbol.index >= program_.symbols.size()) return judged_.complain("a bind names no symbol");
    if (!all_exist("a bind", {bind.value})) return;
    const Buffer& number = program_.buffers[bind.value];
    if (number.role != Role::scalar || number.dtype != DType::i64) {
      judged_.complain(str(judged_.name(bind.value), " is bound as a size, and is no scalar of i64"));
    }
  }

  void verify_step(const LoopBegin& loop) {
    if (!all_exist("a loop", {loop.step})) return;
    const Buffer& step = program_.buffers[loop.step];
    if (step.role != Role::scalar || step.dtype != DType::i64) {
      judged_.complain(str("the step ", judged_.name(loop.step), " of a loop is no scalar of i64"));
    }
  }
  void verify_step(const LoopEnd& loop) {
    if (loop.go_on.valid()) verify_condition(loop.go_on);
  }
  void verify_step(const CondBegin& cond) { verify_condition(cond.condition); }
  void verify_step(const CondElse&) {}
  void verify_step(const CondEnd&) {}
  void verify_condition(BufferId condition) {
    if (!all_exist("a condition", {condition})) return;
    const Buffer& it = program_.buffers[condition];
    if (it.dtype != DType::boolean || !num_elements(it).is(1)) {
      judged_.complain(str(judged_.name(condition), " is no condition"));
    }
  }

  Judged& judged_;
  const KernelProgram& program_;
};

template <class Visit>
void visit_indices(const Stage& stage, Visit visit) {
  for (const Statement& s : stage.statements) {
    for (const Subscript& subscript : s.map.subscripts) {
      if (subscript.index) visit(*subscript.index);
    }
  }
}

/// Verifies that sizes are known, bytes are written and indices are checked before they are used.
class FlowVerifier {
 public:
  FlowVerifier(Judged& judged, std::vector<bool> known)
      : judged_(judged), program_(judged.program), known_(std::move(known)), written_(program_.buffers.size(), false) {}

  void run() {
    std::vector<bool> bound(known_.size(), false);
    for (const Step& step : program_.steps) {
      for (SymbolId symbol : symbols_bound_by(step)) {
        if (bound[symbol.index]) judged_.complain(str("symbol ", judged_.names.symbols[symbol], " is bound twice"));
        bound[symbol.index] = true;
        known_[symbol.index] = false;
      }
    }
    for (const Step& step : program_.steps) verify_flow(step);
    verify_checked_before();
    for (BufferId b : program_.outputs) {
      if (!written_[b]) judged_.complain(str("output ", judged_.name(b), " is never written"));
    }
  }

 private:
  /// Sizes that a body finds are known up to its end.
  void verify_scopes(const Step& step) {
    if ((std::holds_alternative<CondElse>(step) || closes_body(step)) && !found_.empty()) {
      for (SymbolId symbol : found_.back()) known_[symbol.index] = false;
      found_.back().clear();
      if (closes_body(step)) found_.pop_back();
    }
    if (opens_body(step)) found_.emplace_back();
  }

  void require_known(const Dim& dim, const std::string& what) {
    for (SymbolId symbol : dim.symbols()) {
      if (symbol.index >= known_.size()) return judged_.complain(str(what, " uses a symbol that does not exist"));
      if (!known_[symbol.index]) {
        judged_.complain(str(what, " uses ", judged_.names.symbols[symbol], " before it is known"));
      }
    }
  }

  void require_known(BufferId b) {
    for (const Dim& dim : program_.buffers[b].dims) require_known(dim, judged_.name(b));
  }

  /// After a cond, only what both of its bodies write counts as written. A loop counts as running at least once: it
  /// writes all of a trace, or the trace was filled before.
  void verify_branches(const Step& step) {
    if (std::holds_alternative<CondBegin>(step)) branches_.push_back({written_, {}});
    if (std::holds_alternative<CondElse>(step)) {
      branches_.back().then = written_;
      written_ = branches_.back().before;
    }
    if (std::holds_alternative<CondEnd>(step)) {
      for (BufferId b : ids<BufferId>(written_.size())) written_[b] = written_[b] && branches_.back().then[b];
      branches_.pop_back();
    }
  }

  void verify_flow(const Step& step) {
    verify_branches(step);
    verify_scopes(step);
    const StepAccess access = access_of(program_, step);
    for (BufferId b : access.reads) verify_read(b);
    if (const auto* call = std::get_if<HostCall>(&step)) {
      for (BufferId b : call->operands) require_known(b);
    }
    for (SymbolId symbol : symbols_bound_by(step)) {
      known_[symbol.index] = true;
      if (!found_.empty()) found_.back().push_back(symbol);
    }
    for (BufferId b : access.writes) {
      require_known(b);
      const Role role = program_.buffers[b].role;
      const bool copies_handle = std::holds_alternative<Copy>(step) && is_handle(program_.buffers[b]);
      const bool by_host = std::holds_alternative<HostCall>(step) || copies_handle;
      if (role == Role::param || role == Role::literal) {
        judged_.complain(str(role_name(role), " ", judged_.name(b), " is written"));
      }
      if (role == Role::host && !by_host) {
        judged_.complain(str(judged_.name(b), " is written, and its memory is the host's"));
      }
      written_[b] = true;
    }
    if (const auto* kernel = std::get_if<Kernel>(&step)) verify_sizes(*kernel);
    if (const auto* loop = std::get_if<LoopBegin>(&step)) require_known(loop->count, "a loop");
    if (const auto* check = std::get_if<SizeCheck>(&step)) {
      require_known(check->left, "a size check");
      require_known(check->right, "a size check");
    }
    if (const auto* call = std::get_if<LibraryCall>(&step)) {
      for (const Dim& size : call->sizes) require_known(size, "a library call");
      for_each_array(*call, [&](const CallArray& array, const CoreAxes&) {
        require_known(array.offset, "a library call");
        require_known(array.index_stride, "a library call");
        for (const Dim& stride : array.strides) require_known(stride, "a library call");
      });
    }
  }

  void verify_read(BufferId b) {
    require_known(b);
    const Role role = program_.buffers[b].role;
    if (role == Role::param || role == Role::literal || written_[b]) return;
    judged_.complain(str(judged_.name(b), " is read before anything is written to it"));
  }

  void verify_sizes(const Kernel& kernel) {
    const std::string what = str("kernel @", kernel.name);
    for (const Axis& axis : kernel.outer) require_known(axis.extent, what);
    for (const Stage& stage : kernel.stages) {
      for (const Axis& axis : stage.axes) require_known(axis.extent, what);
      for (const Statement& s : stage.statements) {
        require_known(s.size, what);
        if (s.buffer.valid()) require_known(s.buffer);
        for (const Subscript& subscript : s.map.subscripts) {
          require_known(subscript.base, what);
          for (const AxisTerm& term : subscript.axes) require_known(term.step, what);
          if (subscript.index) require_known(subscript.index->extent, what);
        }
      }
    }
  }

  /// Verifies that an earlier stage checked at the site of an index marked as checked before. (memory/verify proves for
  /// given sizes that it was the same index.)
  void verify_checked_before() {
    std::vector<bool> is_checked(program_.sites.size(), false);
    for (const Step& step : program_.steps) {
      const auto* kernel = std::get_if<Kernel>(&step);
      for (std::size_t s = 0; kernel && s < kernel->stages.size(); ++s) {
        visit_indices(kernel->stages[s], [&](const IndexTerm& index) {
          if (index.bounds == Bounds::checked_before && !is_checked[index.site.index]) {
            judged_.complain(
                str("kernel @", kernel->name, ", stage ", s, ": no earlier stage checks #", index.site.index));
          }
        });
        visit_indices(kernel->stages[s], [&](const IndexTerm& index) {
          if (index.bounds == Bounds::checked) is_checked[index.site.index] = true;
        });
      }
    }
  }

  Judged& judged_;
  const KernelProgram& program_;
  std::vector<bool> known_;        // by SymbolId
  IdMap<BufferId, bool> written_;  // of roots
  struct Branches {
    IdMap<BufferId, bool> before, then;
  };
  std::vector<Branches> branches_;            // of the open conds
  std::vector<std::vector<SymbolId>> found_;  // in the open bodies
};

}  // namespace

/// Verifies first that all names exist, then step by step what refers to them.
std::vector<Diagnostic> verify(const KernelProgram& program, SizesFrom sizes) {
  Judged judged(program);
  const std::vector<bool> known = TableVerifier(judged).run(sizes);
  if (const std::string mistake = why_not_nested(program); !mistake.empty()) judged.complain(mistake);
  if (judged.out.empty()) StepVerifier(judged).run();
  if (judged.out.empty()) FlowVerifier(judged, known).run();
  return std::move(judged.out);
}

}  // namespace inlay::kernel
