#include "fuse/region_steps.h"

#include <algorithm>

#include "fuse/piece.h"
#include "kernel/sizes.h"
#include "kernel/visit.h"
#include "support/free_name.h"

namespace inlay::fuse {

using kernel::AccessMap;
using kernel::Buffer;
using kernel::BufferId;
using kernel::Kernel;
using kernel::KernelOutput;
using kernel::KernelProgram;
using kernel::RegisterId;
using kernel::Role;
using kernel::SiteId;
using kernel::Stage;
using kernel::Start;
using kernel::Statement;
using kernel::Step;
using kernel::StoredFor;
using kernel::Subscript;

namespace {

/// Does the call find it by the step of a loop in the body? A place has one such index, so no other can be added.
bool is_indexed(const kernel::LibraryCall& call, BufferId output) {
  bool out = false;
  for_each_array(call, [&](const kernel::CallArray& array, const CoreAxes&) {
    out |= array.buffer == output && array.index.valid();
  });
  return out;
}

/// Is every access to the output a plain store or a load at a point, or one of a library function, which is told where?
/// Then it can be a row of a larger buffer. What is filled, copied or folded is written as a whole.
bool is_written_by_points(const KernelProgram& body, BufferId output) {
  const auto touches = [&](const std::vector<BufferId>& list) { return std::ranges::find(list, output) != list.end(); };
  const auto is_plain = [&](const Kernel& kernel) {
    return std::ranges::all_of(kernel.outputs,
                               [&](const KernelOutput& o) {
                                 return o.buffer == output ? o.start.kind == Start::Kind::keep
                                                           : o.start.source != output;
                               }) &&
           std::ranges::all_of(kernel.stages, [&](const Stage& stage) {
             return std::ranges::all_of(stage.statements, [&](const Statement& s) {
               return s.buffer != output || s.kind == Statement::Kind::load || s.sets();
             });
           });
  };
  const bool is_viewed = std::ranges::any_of(body.buffers, [&](const Buffer& b) { return b.view_of == output; });
  return !is_viewed && std::ranges::all_of(body.steps, [&](const Step& step) {
    if (const auto* kernel = std::get_if<Kernel>(&step)) return is_plain(*kernel);
    if (const auto* call = std::get_if<kernel::LibraryCall>(&step)) return !is_indexed(*call, output);
    const kernel::StepAccess access = kernel::access_of(body, step);
    return !touches(access.reads) && !touches(access.writes);
  });
}

/// Is the output written by 0-d code alone, so that it can be a register? (One element may be scattered into, or be a
/// library's result: then it has an address.)
bool is_written_by_scalar_code(const KernelProgram& body, BufferId output) {
  if (!is_written_by_points(body, output)) return false;
  for (const Step& step : body.steps) {
    const auto* kernel = std::get_if<Kernel>(&step);
    if (std::holds_alternative<kernel::LibraryCall>(step)) {
      const kernel::StepAccess access = kernel::access_of(body, step);
      if (std::ranges::find(access.reads, output) != access.reads.end()) return false;
      if (std::ranges::find(access.writes, output) != access.writes.end()) return false;
    }
    if (!kernel) continue;
    for (const Stage& stage : kernel->stages) {
      for (const Statement& s : stage.statements) {
        if (s.buffer == output && (!kernel->outer.empty() || !stage.axes.empty() || s.map.has_index())) return false;
      }
    }
  }
  return true;
}

/// A row of a trace: subscript 0 is the step.
struct Row {
  BufferId trace, step;
  Dim count;
};

Statement load_step(BufferId step, RegisterId result) {
  return {.kind = Statement::Kind::load, .result = result, .dtype = DType::i64, .buffer = step};
}

AccessMap row_map(const AccessMap& map, RegisterId step, const Dim& count) {
  AccessMap out = map;
  out.subscripts.insert(out.subscripts.begin(),
                        Subscript{0, {}, kernel::IndexTerm{step, 1, count, kernel::Bounds::proved, {}}});
  return out;
}

/// to = from for each pair of single elements, all at once: 0-d code.
Kernel scalar_moves(const KernelProgram& program, const std::vector<std::pair<BufferId, BufferId>>& moves) {
  Kernel out{.stages = {Stage{}}};
  Stage& stage = out.stages[0];
  const auto map_of = [&](BufferId b) {
    AccessMap map;
    for (std::size_t d = 0; d < program.buffers[b].dims.size(); ++d) map.subscripts.push_back({});
    return map;
  };
  for (const auto& [from, to] : moves) {
    stage.statements.push_back({.kind = Statement::Kind::load,
                                .result = RegisterId(stage.num_registers++),
                                .dtype = program.buffers[from].dtype,
                                .buffer = from,
                                .map = map_of(from)});
  }
  for (std::size_t i = 0; i < moves.size(); ++i) {
    const BufferId to = moves[i].second;
    out.outputs.push_back({to, {}});
    stage.statements.push_back({.kind = Statement::Kind::store,
                                .dtype = program.buffers[to].dtype,
                                .operands = {RegisterId(i)},
                                .buffer = to,
                                .map = map_of(to)});
  }
  return out;
}

/// The name, or one like it that no symbol has.
std::string new_symbol_name(const KernelProgram& program, const std::string& name) {
  return free_name(name, [&](const std::string& it) {
    return std::ranges::find(program.symbols, it, &Symbol::name) == program.symbols.end();
  });
}

/// Splices the steps of a body into a program, with the program's buffers for its parameters and outputs, and symbols
/// of their own for the sizes that it finds.
class Splice {
 public:
  Splice(KernelProgram& program, const FusedBody& body)
      : program_(program),
        body_(body.kernels),
        buffers_(body_.buffers.size()),
        finds_sizes_(body_.symbols.size() > body.num_given),
        first_site_(program.sites.size()) {
    for (SymbolId s : ids<SymbolId>(body_.symbols.size())) {
      const bool is_own = s.index >= body.num_given;
      const std::string& name = body_.symbols[s].name;
      const SymbolId outside = is_own ? program.symbols.push_back({new_symbol_name(program, name), {}, 0}) : s;
      symbols_.push_back(outside);
      sizes_.push_back(Dim::symbol(outside));
    }
    for (const kernel::Site& site : body_.sites) program_.sites.push_back(site);
    program_.refusals.insert(program_.refusals.end(), body_.refusals.begin(), body_.refusals.end());
  }

  void put(BufferId inside, BufferId outside) { buffers_[inside] = outside; }
  /// `outside` gets what the body returns there.
  void put_output(BufferId output, BufferId outside) {
    const bool in_register = program_.buffers[outside].role == Role::scalar;
    if (!in_register || is_written_by_scalar_code(body_, output)) return put(output, outside);
    const Buffer& like = body_.buffers[output];
    Buffer fetched{.name = like.name, .dtype = like.dtype, .dims = like.dims};
    fetched.stored = {StoredFor::copied, "to a register"};
    put(output, program_.buffers.push_back(std::move(fetched)));
    fetched_.emplace_back(buffers_[output], outside);
  }
  void put_row(BufferId output, Row row) { rows_.emplace_back(output, std::move(row)); }

  std::vector<Step> steps() {
    for (BufferId b : ids<BufferId>(body_.buffers.size())) add_buffer(b);
    std::vector<Step> out = body_.steps;
    for (Step& step : out) {
      give_own_sizes(step);
      remap(step);
    }
    if (!fetched_.empty()) out.emplace_back(scalar_moves(program_, fetched_));
    return out;
  }

 private:
  const Row* row_of(BufferId inside) const {
    const auto found = std::ranges::find(rows_, inside, &std::pair<BufferId, Row>::first);
    return found == rows_.end() ? nullptr : &found->second;
  }

  void add_buffer(BufferId b) {
    if (buffers_[b].valid()) return;
    if (const Row* row = row_of(b)) return put(b, row->trace);
    Buffer copy = body_.buffers[b];
    copy.value = ValueId();
    for (Dim& dim : copy.dims) dim = finds_sizes_ ? dim.substitute(sizes_) : dim;
    if (copy.view_of.valid()) {
      add_buffer(kernel::root_of(body_, b));
      copy.view_of = kernel::root_of(program_, buffers_[kernel::root_of(body_, b)]);
      copy.role = program_.buffers[copy.view_of].role;
      copy.slot = program_.buffers[copy.view_of].slot;
    }
    put(b, program_.buffers.push_back(std::move(copy)));
  }

  void give_own_sizes(Step& step) const {
    const auto substitute = [&](Dim& size) { size = size.substitute(sizes_); };
    if (finds_sizes_) std::visit([&](auto& each) { kernel::for_each_size(each, substitute); }, step);
  }

  /// Has the step name what the program has for the body's buffers, sites and symbols.
  void remap(Step& step) const {
    if (auto* kernel = std::get_if<Kernel>(&step)) {
      for (Stage& stage : kernel->stages) access_rows(stage);
    } else if (auto* call = std::get_if<kernel::LibraryCall>(&step)) {
      access_rows(*call);
    }
    kernel::for_each_buffer(step, [&](BufferId& b) { b = buffers_[b]; });
    kernel::for_each_site(step, [&](SiteId& site) { site = SiteId(first_site_ + site.index); });
    kernel::for_each_symbol(step, [&](SymbolId& symbol) { symbol = symbols_[symbol]; });
  }

  // A row is in its trace at the step of the loop, which the body has as its first parameter.

  void access_rows(Stage& stage) const {
    RegisterId step;  // loaded once
    bool is_new = false;
    const BufferId step_buffer = rows_.empty() ? BufferId() : body_.params[0];
    for (Statement& s : stage.statements) {
      if (const Row* row = row_of(s.buffer)) {
        is_new |= !step.valid();
        if (!step.valid()) step = RegisterId(stage.num_registers++);
        s.map = row_map(s.map, step, row->count);
      } else if (!step.valid() && s.kind == Statement::Kind::load && s.buffer == step_buffer) {
        step = s.result;
      }
    }
    if (is_new) stage.statements.insert(stage.statements.begin(), load_step(step_buffer, step));
  }

  void access_rows(kernel::LibraryCall& call) const {
    for_each_array(call, [&](kernel::CallArray& array, const CoreAxes&) {
      if (!row_of(array.buffer)) return;
      array.index = body_.params[0];
      array.index_stride = num_elements(body_.buffers[array.buffer]);
    });
  }

  KernelProgram& program_;
  const KernelProgram& body_;
  IdMap<BufferId, BufferId> buffers_;
  bool finds_sizes_;
  IdMap<SymbolId, SymbolId> symbols_;
  IdMap<SymbolId, Dim> sizes_;
  std::vector<std::pair<BufferId, Row>> rows_;
  std::vector<std::pair<BufferId, BufferId>> fetched_;  // one element in memory -> the register that it goes to
  std::size_t first_site_;
};

void append(std::vector<Step>& out, std::vector<Step> more) {
  out.insert(out.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

/// A buffer like an output of a body, for the time of the body.
BufferId new_like(KernelProgram& program, const Buffer& output, kernel::Stored why) {
  Buffer out{.name = output.name, .dtype = output.dtype, .dims = output.dims};
  out.role = kernel::is_handle(output) ? Role::host : all_one(output.dims) ? Role::scalar : Role::temporary;
  if (out.role == Role::temporary) out.stored = std::move(why);
  return program.buffers.push_back(std::move(out));
}

/// trace[step] = row.
Kernel store_row(const KernelProgram& program, BufferId from, const Row& row) {
  const Buffer& source = program.buffers[from];
  const Loop loop = loop_over(source.dims);
  Stage stage{.num_registers = 2};
  for (std::size_t a = 0; a < loop.axes.size(); ++a) {
    stage.axes.push_back({axis_name(a), loop.axes[a]});
  }
  stage.statements.push_back(load_step(row.step, RegisterId(0)));
  stage.statements.push_back(
      {.kind = Statement::Kind::load, .result = RegisterId(1), .dtype = source.dtype, .buffer = from, .map = loop.at});
  stage.statements.push_back({.kind = Statement::Kind::store,
                              .dtype = source.dtype,
                              .operands = {RegisterId(1)},
                              .buffer = row.trace,
                              .map = row_map(loop.at, RegisterId(0), row.count)});
  return {.outputs = {{row.trace, {}}}, .stages = {std::move(stage)}};
}

/// carried = next, for all at once. 0-d values in one piece of scalar code; others are copied, unless the next value is
/// made in its place.
void advance(const KernelProgram& program, const std::vector<BufferId>& next, const std::vector<BufferId>& carried,
             std::vector<Step>& out) {
  std::vector<std::pair<BufferId, BufferId>> registers;
  for (std::size_t i = 0; i < next.size(); ++i) {
    if (program.buffers[carried[i]].role == Role::scalar) {
      registers.emplace_back(next[i], carried[i]);
    } else {
      out.push_back(kernel::Copy{next[i], carried[i], str("the next value of ", program.buffers[carried[i]].name)});
    }
  }
  if (!registers.empty()) out.emplace_back(scalar_moves(program, registers));
}

}  // namespace

std::vector<Step> cond_steps(KernelProgram& program, const CondBuffers& buffers, const FusedBody& then,
                             const FusedBody& otherwise) {
  const auto body = [&](const FusedBody& branch) {
    Splice splice(program, branch);
    const KernelProgram& kernels = branch.kernels;
    for (std::size_t i = 0; i < buffers.captured.size(); ++i) splice.put(kernels.params[i], buffers.captured[i]);
    for (std::size_t i = 0; i < buffers.results.size(); ++i) splice.put_output(kernels.outputs[i], buffers.results[i]);
    return splice.steps();
  };
  std::vector<Step> out = {kernel::CondBegin{buffers.condition}};
  append(out, body(then));
  out.emplace_back(kernel::CondElse{});
  append(out, body(otherwise));
  out.emplace_back(kernel::CondEnd{});
  return out;
}

std::vector<Step> loop_steps(KernelProgram& program, const LoopBuffers& buffers, const FusedBody& fused) {
  Splice splice(program, fused);
  const KernelProgram& body = fused.kernels;
  const BufferId step =
      program.buffers.push_back({.name = body.buffers[body.params[0]].name, .dtype = DType::i64, .role = Role::scalar});
  splice.put(body.params[0], step);
  for (std::size_t i = 0; i < buffers.carried.size(); ++i) splice.put(body.params[1 + i], buffers.carried[i]);
  for (std::size_t i = 0; i < buffers.captured.size(); ++i) {
    splice.put(body.params[1 + buffers.carried.size() + i], buffers.captured[i]);
  }
  std::vector<BufferId> next;
  std::vector<std::pair<BufferId, Row>> rows_apart;  // made as a whole, and copied to their rows
  BufferId go_on;
  for (std::size_t i = 0; i < body.outputs.size(); ++i) {
    const BufferId output = body.outputs[i];
    const std::size_t trace = i - buffers.carried.size();
    if (i >= buffers.carried.size() && trace < buffers.traces.size()) {
      Row row{buffers.traces[trace], step, buffers.count};
      if (is_written_by_points(body, output)) {
        splice.put_row(output, std::move(row));
        continue;
      }
      const std::string to = str("to its row of ", program.buffers[row.trace].name);
      rows_apart.emplace_back(new_like(program, body.buffers[output], {StoredFor::copied, to}), std::move(row));
      splice.put_output(output, rows_apart.back().first);
      continue;
    }
    const BufferId made = new_like(program, body.buffers[output], {StoredFor::carried, {}});
    splice.put_output(output, made);
    (i < buffers.carried.size() ? next.emplace_back() : go_on) = made;
  }
  std::vector<Step> out = {kernel::LoopBegin{step, buffers.count}};
  append(out, splice.steps());
  for (const auto& [from, row] : rows_apart) out.emplace_back(store_row(program, from, row));
  advance(program, next, buffers.carried, out);
  out.emplace_back(kernel::LoopEnd{go_on});
  return out;
}

}  // namespace inlay::fuse
