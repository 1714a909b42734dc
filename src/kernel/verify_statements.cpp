#include <algorithm>
#include <optional>

#include "kernel/dim_proof.h"
#include "kernel/verify_kernel.h"

namespace inlay::kernel {
namespace {

constexpr int64_t kMaxTile = 1 << 16;
constexpr std::size_t kMaxSiteNumbers = 4;  // as InlayCall::failure_numbers

/// Verifies the outputs that a kernel declares, and their starts.
class OutputVerifier {
 public:
  OutputVerifier(const KernelProgram& program, const Kernel& kernel, const Complain& complain)
      : program_(program), kernel_(kernel), complain_(complain) {}

  void run() {
    for (const KernelOutput& output : kernel_.outputs) verify_output(output);
  }

 private:
  template <class... Parts>
  void complain(const Parts&... parts) {
    complain_(str("kernel @", kernel_.name, ": ", parts...));
  }

  void verify_output(const KernelOutput& output) {
    if (output.buffer.index >= program_.buffers.size()) return complain("an output is no buffer");
    const Buffer& to = program_.buffers[output.buffer];
    const auto same = [&](const KernelOutput& other) { return other.buffer == output.buffer; };
    if (std::ranges::count_if(kernel_.outputs, same) > 1) complain("output ", to.name, " is listed twice");
    if (output.start.kind == Start::Kind::keep && !is_written(output.buffer)) {
      complain("output ", to.name, " is listed and never written");
    }
    const auto bytes_of = [&](const KernelOutput& o) {
      const BufferId shown = program_.buffers[o.buffer].view_of;
      return shown.valid() ? shown : o.buffer;
    };
    for (const KernelOutput& other : kernel_.outputs) {
      if (other.buffer.index >= program_.buffers.size() || other.buffer.index <= output.buffer.index) continue;
      const bool both_start = other.start.kind != Start::Kind::keep && output.start.kind != Start::Kind::keep;
      if (both_start && bytes_of(other) == bytes_of(output)) {
        complain("outputs ", to.name, " and ", program_.buffers[other.buffer].name,
                 " are the same bytes, and both start");
      }
    }
    if (output.is_local) verify_local(output);
    if (output.start.kind == Start::Kind::fill && output.start.value.dtype != to.dtype) {
      complain("output ", to.name, " of ", dtype_name(to.dtype), " is filled with a ",
               dtype_name(output.start.value.dtype));
    }
    if (output.start.kind != Start::Kind::copy) {
      if (output.start.elided) complain("output ", to.name, " has no copy that could be elided");
      return;
    }
    if (output.start.required.valid() && output.start.required.index >= program_.sites.size()) {
      complain("there is no such site");
    }
    if (output.start.source.index >= program_.buffers.size()) {
      return complain("output ", to.name, " starts as a copy of no buffer");
    }
    const Buffer& from = program_.buffers[output.start.source];
    if (from.dtype != to.dtype || !same_num_elements(program_, from, to)) {
      complain("output ", to.name, " starts as a copy of ", from.name, ": ", type_text(program_, to), " of ",
               type_text(program_, from));
    }
  }

  /// An outer point must write its local before reading it, and nothing else may use it.
  void verify_local(const KernelOutput& output) {
    const Buffer& local = program_.buffers[output.buffer];
    if (local.role != Role::temporary || local.view_of.valid()) complain("local ", local.name, " is no temporary");
    for (const Buffer& other : program_.buffers) {
      if (other.view_of == output.buffer) complain("local ", local.name, " has a view, ", other.name);
    }
    for (const Step& step : program_.steps) {
      const auto* kernel = std::get_if<Kernel>(&step);
      if (kernel == &kernel_) continue;
      const StepAccess access = access_of(program_, step);
      const bool named =
          std::ranges::count(access.reads, output.buffer) + std::ranges::count(access.writes, output.buffer);
      if (named) complain("local ", local.name, " is used outside of its kernel");
    }
    if (output.start.kind == Start::Kind::copy) complain("local ", local.name, " starts as a copy");
    if (output.start.kind == Start::Kind::keep && is_read_first(output.buffer)) {
      complain("local ", local.name, " is read before it is written");
    }
  }

  bool is_read_first(BufferId id) const {
    for (const Stage& stage : kernel_.stages) {
      for (const Statement& s : stage.statements) {
        if (s.buffer != id) continue;
        return s.kind == Statement::Kind::load || s.accumulates();
      }
    }
    return false;
  }

  bool is_written(BufferId id) const {
    const auto writes = [&](const Statement& s) { return s.is_write() && s.buffer == id; };
    return std::ranges::any_of(kernel_.stages,
                               [&](const Stage& stage) { return std::ranges::any_of(stage.statements, writes); });
  }

  const KernelProgram& program_;
  const Kernel& kernel_;
  const Complain& complain_;
};

bool has_result(const Statement& s) {
  if (s.kind == Statement::Kind::fold) return s.result.valid();
  return s.kind != Statement::Kind::store && s.kind != Statement::Kind::check;
}

bool is_number(DType dtype) { return is_integer(dtype) || is_float(dtype); }

bool goes_over_all(const AccessMap& map) {
  return std::ranges::all_of(map.subscripts, [](const Subscript& subscript) { return subscript.axes.empty(); });
}

/// Is a size check about this symbol?
bool is_checked(const KernelProgram& program, SymbolId symbol) {
  return std::ranges::any_of(program.steps, [&](const Step& step) {
    const auto* check = std::get_if<SizeCheck>(&step);
    return check && (mentions(check->left, symbol) || mentions(check->right, symbol));
  });
}

/// Does some point leave the dim for all sizes at which the stage has points? If a size check is about an extent, there
/// may be no points: a slice from n on may be empty.
bool leaves_where_points_are(const KernelProgram& program, Subscript subscript, std::vector<Dim> extents,
                             const Dim& dim) {
  if (subscript.index) return false;
  IdMap<SymbolId, Dim> with_points;
  for (SymbolId symbol : ids<SymbolId>(program.symbols.size())) with_points.push_back(Dim::symbol(symbol));
  for (const Dim& extent : extents) {
    if (!extent.is_symbol()) continue;
    if (is_checked(program, extent.as_symbol())) return false;
    with_points[extent.as_symbol()] = extent + 1;
  }
  subscript.base = subscript.base.substitute(with_points);
  for (AxisTerm& term : subscript.axes) term.step = term.step.substitute(with_points);
  for (Dim& extent : extents) extent = extent.substitute(with_points);
  return within_dim(subscript, extents, dim.substitute(with_points)) == Answer::no;
}

/// Is the step nonzero wherever the stage has points?
bool moves(const Dim& step, std::span<const Dim> extents) {
  if (step.is_constant()) return true;
  std::vector<Dim> facts;
  for (const Dim& extent : extents) facts.push_back(extent - 1);
  return always_at_least(step, 1, facts) || always_at_least(-1, step, facts);
}

/// Registers, dtypes and maps, statement by statement.
class StatementVerifier {
 public:
  StatementVerifier(const KernelProgram& program, const Kernel& kernel, const Complain& complain)
      : program_(program), kernel_(kernel), complain_(complain), where_(str("kernel @", kernel.name)) {}

  void run() {
    // A power of 2 is a number of whole vectors, or part of one.
    const bool is_tile = kernel_.tile >= 1 && kernel_.tile <= kMaxTile && (kernel_.tile & (kernel_.tile - 1)) == 0;
    if (!is_tile) return complain("tiles of ", kernel_.tile, " points: no power of 2 up to ", kMaxTile);
    if (kernel_.is_tiled() && kernel_.outer.empty()) return complain("tiles without an outer axis");
    OutputVerifier(program_, kernel_, complain_).run();
    for (const Stage& stage : kernel_.stages) verify_stage(stage);
  }

 private:
  bool exists(BufferId id) const { return id.index < program_.buffers.size(); }
  bool exists(SiteId id) const { return id.index < program_.sites.size(); }
  const Buffer& buffer(BufferId id) const { return program_.buffers[id]; }

  template <class... Parts>
  void complain(const Parts&... parts) {
    const std::string at = statement_ == nullptr
                               ? where_
                               : str(where_, ", `", print_statement(program_, kernel_, *stage_, *statement_), "`");
    complain_(str(at, ": ", parts...));
  }

  void verify_stage(const Stage& stage) {
    stage_ = &stage;
    const auto index = static_cast<std::size_t>(&stage - kernel_.stages.data());
    where_ = str("kernel @", kernel_.name, ", stage ", index);
    extents_ = axis_extents(kernel_, stage);
    if (stage.once && kernel_.outer.empty()) complain("runs once, but there are no outer axes");
    if (stage.once && index >= kernel_.num_once()) complain("runs once, but not before all others");
    if (stage.once && stage.tile_at > 0) complain("runs once, and has no points of a tile");
    if (stage.tile_at > stage.axes.size()) complain("passes the points of a tile before axis ", stage.tile_at);
    registers_.assign(static_cast<std::size_t>(std::max(0, stage.num_registers)), std::nullopt);
    for (const Statement& s : stage.statements) {
      statement_ = &s;
      if (stage.once && touches_outer_point(s)) complain("runs once, and uses an outer axis, or what is local");
      verify_statement(s);
      if (has_result(s)) define(s);
    }
    statement_ = nullptr;
  }

  bool touches_outer_point(const Statement& s) const {
    const auto is_outer = [&](int axis) { return axis < static_cast<int>(kernel_.outer.size()); };
    const auto uses_outer = [&](const Subscript& at) {
      return std::ranges::any_of(at.axes, [&](const AxisTerm& term) { return is_outer(term.axis); });
    };
    return (s.kind == Statement::Kind::axis && is_outer(s.axis)) || std::ranges::any_of(s.map.subscripts, uses_outer) ||
           (s.has_place() && kernel_.is_local(s.buffer));
  }

  void define(const Statement& s) {
    if (s.result.index >= registers_.size()) return complain("the stage has ", registers_.size(), " registers");
    std::optional<DType>& place = registers_[s.result.index];
    if (place) complain("%", s.result.index, " is assigned twice");
    place = s.dtype;
  }

  /// Returns the register's dtype; nothing, and reports an error, if it is not assigned yet.
  std::optional<DType> dtype_of(RegisterId reg) {
    if (reg.index < registers_.size() && registers_[reg.index]) return registers_[reg.index];
    if (reg.valid()) {
      complain("%", reg.index, " is not assigned before");
    } else {
      complain("an operand is no register");
    }
    return std::nullopt;
  }

  bool has_arity(const Statement& s, int arity) {
    if (static_cast<int>(s.operands.size()) == arity) return true;
    complain("has ", s.operands.size(), " operands, not ", arity);
    return false;
  }

  void verify_statement(const Statement& s) {
    if (s.elided && !s.sets()) {
      complain("only a store that sets is elided");
    }
    switch (s.kind) {
      case Statement::Kind::load: return verify_load(s);
      case Statement::Kind::literal:
        if (s.literal.dtype != s.dtype) complain("the literal is ", dtype_name(s.literal.dtype));
        return;
      case Statement::Kind::axis:
        if (s.axis < 0 || static_cast<std::size_t>(s.axis) >= extents_.size()) complain("there is no axis ", s.axis);
        if (!is_number(s.dtype)) complain("a coordinate is a number");
        return;
      case Statement::Kind::size:
        if (!is_number(s.dtype)) complain("a size is a number");
        return;
      case Statement::Kind::op: return verify_op(s);
      case Statement::Kind::cast:
        if (has_arity(s, 1)) verify_cast(s);
        return;
      case Statement::Kind::store:
      case Statement::Kind::fold: return verify_write(s);
      case Statement::Kind::check: return verify_check(s);
    }
  }

  void verify_cast(const Statement& s) {
    const std::optional<DType> from = dtype_of(s.operands[0]);
    if (from && is_complex(*from) && !is_complex(s.dtype)) complain("a complex number is cast to a real one");
  }

  void verify_load(const Statement& s) {
    if (!exists(s.buffer)) return complain("there is no such buffer");
    if (buffer(s.buffer).dtype != s.dtype)
      complain(buffer(s.buffer).name, " holds ", dtype_name(buffer(s.buffer).dtype));
    verify_map(s);
  }

  void verify_op(const Statement& s) {
    const ScalarOpFacts& op = facts(s.op);
    if (!has_arity(s, op.arity)) return;
    std::vector<DType> dtypes;
    for (RegisterId reg : s.operands) {
      const std::optional<DType> dtype = dtype_of(reg);
      if (!dtype) return;
      dtypes.push_back(*dtype);
    }
    if (s.op == ScalarOp::select_) {
      if (dtypes[0] != DType::boolean) complain("the condition is ", dtype_name(dtypes[0]));
      dtypes.erase(dtypes.begin());
    }
    const DType dtype = dtypes[0];
    for (DType other : dtypes) {
      if (other != dtype) return complain("operands of ", dtype_name(dtype), " and ", dtype_name(other));
    }
    if (!accepts(s.op, dtype)) return complain("`", op.name, "` does not take ", dtype_name(dtype));
    const DType result = result_dtype(s.op, dtype);
    if (s.dtype != result) complain("the result is ", dtype_name(result));
  }

  void verify_write(const Statement& s) {
    if (!exists(s.buffer)) return complain("there is no such buffer");
    const Buffer& to = buffer(s.buffer);
    const auto same = [&](const KernelOutput& output) { return output.buffer == s.buffer; };
    if (std::ranges::none_of(kernel_.outputs, same)) complain(to.name, " is not an output of the kernel");
    if (has_arity(s, 1)) {
      const std::optional<DType> dtype = dtype_of(s.operands[0]);
      if (!counts_points(s.fold, s.state) && dtype && *dtype != to.dtype) {
        complain("a ", dtype_name(*dtype), " is written to ", type_text(program_, to));
      }
    }
    if (s.dtype != to.dtype) complain(to.name, " holds ", dtype_name(to.dtype), ", not ", dtype_name(s.dtype));
    if (s.kind == Statement::Kind::fold && !s.accumulates()) complain("names no fold");
    if (s.predicate.valid()) verify_predicate(s);
    if (s.accumulates()) verify_state(s);
    verify_map(s);
  }

  void verify_predicate(const Statement& s) {
    if (!s.sets()) complain("only a store that sets has a predicate");
    const std::optional<DType> dtype = dtype_of(s.predicate);
    if (dtype && *dtype != DType::boolean) complain("the predicate is ", dtype_name(*dtype));
  }

  /// Verifies one state of a fold. The next statement makes the next state, if there are several: of the same element,
  /// if the buffers have the same dims.
  void verify_state(const Statement& s) {
    const FoldFacts& fold = facts(s.fold);
    const auto k = static_cast<std::size_t>(s.state);
    if (k >= fold.num_stored) return complain("no state of `", fold.name, "`");
    const FoldState& state = fold.states[k];
    const std::string what = state_name(s.fold, s.state);
    const bool is_plain = s.kind == Statement::Kind::fold && !s.result.valid() && !s.map.has_index();
    if (!fold.has_one_state() && !is_plain) return complain(what, " is a plain fold");
    if (s.result.valid() && s.map.has_index()) complain("a running fold goes through no index");
    if (!accepts(state.dtype, s.dtype)) return complain(what, " cannot be ", dtype_name(s.dtype));
    if (fold.has_hidden() && (!kernel_.outer.empty() || !goes_over_all(s.map))) {
      return complain(what, " is folded over all points of a kernel without outer axes");
    }
    const auto is_state = [&](const Statement& other, int number) {
      return other.kind == Statement::Kind::fold && other.fold == s.fold && other.state == number;
    };
    if (k > 0 && (&s == &stage_->statements.front() || !is_state(*(&s - 1), s.state - 1))) {
      return complain(what, " must follow ", fold.name, " ", fold.states[k - 1].name);
    }
    if (k + 1 == fold.num_stored) return;
    if (&s == &stage_->statements.back() || !is_state(*(&s + 1), s.state + 1)) {
      return complain(fold.name, " ", fold.states[k + 1].name, " must follow");
    }
    const Statement& next = *(&s + 1);
    if (state.counts_points() && next.operands != s.operands) complain("both states fold the same");
    if (!exists(next.buffer) || next.map != s.map || buffer(next.buffer).dims != buffer(s.buffer).dims) {
      complain("the state that follows is folded at another place");
    }
  }

  void verify_check(const Statement& s) {
    if (s.index_to_check()) return void(verify_index(s.map.subscripts[0]));
    if (s.operands.empty() || s.operands.size() > 1 + kMaxSiteNumbers)
      return complain("a condition and up to four numbers");
    for (std::size_t i = 0; i < s.operands.size(); ++i) {
      const std::optional<DType> dtype = dtype_of(s.operands[i]);
      const DType wanted = i == 0 ? DType::boolean : DType::i64;
      if (dtype && *dtype != wanted) complain(i == 0 ? "the condition is " : "a number is ", dtype_name(*dtype));
    }
    if (!exists(s.site)) complain("there is no such site");
  }

  void verify_map(const Statement& s) {
    const std::vector<Dim>& dims = buffer(s.buffer).dims;
    if (s.map.subscripts.size() != dims.size()) {
      return complain(buffer(s.buffer).name, " has rank ", dims.size(), ", not ", s.map.rank());
    }
    std::vector<Dim> extents = extents_;
    const bool is_local = kernel_.is_local(s.buffer);
    if (is_local && kernel_.is_tiled()) {
      Dim& extent = extents[static_cast<std::size_t>(kernel_.tiled_axis())];
      extent = min(extent, Dim(kernel_.tile));
    }
    for (std::size_t d = 0; d < dims.size(); ++d) {
      const Subscript& subscript = s.map.subscripts[d];
      if (!verify_axes(subscript, s.is_write()) || !verify_index(subscript)) return;
      if (buffer(s.buffer).role == Role::scalar && !subscript.is_constant()) {
        complain(buffer(s.buffer).name, " is one number, and touched at a place that an axis tells");
      }
      const Answer within = within_dim(subscript, extents, dims[d]);
      // Tiles are not made by a caller, so they are known to fit.
      const auto is_tiled = [&](const AxisTerm& term) {
        return kernel_.is_tiled() && term.axis == kernel_.tiled_axis();
      };
      const bool must_fit = is_local && std::ranges::any_of(subscript.axes, is_tiled);
      const bool leaves = within == Answer::no || (within == Answer::unknown &&
                                                   leaves_where_points_are(program_, subscript, extents_, dims[d]));
      if (leaves || (must_fit && within == Answer::unknown)) complain("subscript ", d, " leaves its dim");
    }
  }

  bool verify_axes(const Subscript& subscript, bool is_written) {
    int last = -1;
    for (const AxisTerm& term : subscript.axes) {
      if (term.axis < 0 || static_cast<std::size_t>(term.axis) >= extents_.size()) {
        complain("there is no axis ", term.axis);
        return false;
      }
      if (term.axis <= last) complain("the axes of a subscript do not ascend");
      if (term.step.is(0)) complain("a step is 0");
      if (is_written && !moves(term.step, extents_)) complain("a step of what is written may be 0");
      last = term.axis;
    }
    return true;
  }

  bool verify_index(const Subscript& subscript) {
    if (!subscript.index) return true;
    const std::optional<DType> dtype = dtype_of(subscript.index->index);
    if (dtype && !is_integer(*dtype)) complain("an index is ", dtype_name(*dtype));
    if (subscript.index->step == 0) complain("a step is 0");
    if (subscript.index->bounds != Bounds::proved && !exists(subscript.index->site)) {
      complain("a checked index has no site");
    }
    return dtype.has_value();
  }

  const KernelProgram& program_;
  const Kernel& kernel_;
  const Complain& complain_;
  std::string where_;
  const Stage* stage_ = nullptr;
  const Statement* statement_ = nullptr;
  std::vector<Dim> extents_;
  std::vector<std::optional<DType>> registers_;  // what each holds, once it is assigned
};

}  // namespace

void verify_statements(const KernelProgram& program, const Kernel& kernel, const Complain& complain) {
  StatementVerifier(program, kernel, complain).run();
}

}  // namespace inlay::kernel
