#include "kernel/kernel.h"

#include <algorithm>
#include <unordered_set>

#include "kernel/visit.h"

namespace inlay::kernel {
namespace {

/// Collects what one step reads and writes; all buffers are roots.
class AccessCollector {
 public:
  explicit AccessCollector(const KernelProgram& program) : program_(program) {}

  StepAccess operator()(const Kernel& kernel) {
    for (const KernelOutput& output : kernel.outputs) {
      if (output.start.kind == Start::Kind::keep) kept_.insert(root(output.buffer));
      if (output.start.kind == Start::Kind::copy) read(output.start.source);
    }
    for (const KernelOutput& output : kernel.outputs) {
      if (output.start.kind != Start::Kind::keep) write(output.buffer);
    }
    for (const Stage& stage : kernel.stages) {
      for (const Statement& statement : stage.statements) {
        add(statement);
        for_each_index(statement, [&](const IndexTerm& index) { add(index); });
      }
    }
    if (kernel.workspace.valid()) write(kernel.workspace);
    return std::move(access_);
  }

  StepAccess operator()(const LibraryCall& call) {
    for_each_array(call, [&](const CallArray& array, const CoreAxes&) {
      if (array.index.valid()) read(array.index);
    });
    for (const CallArray& operand : call.operands) read(operand.buffer);
    for (const CallArray& result : call.results) write(result.buffer);
    if (call.workspace.valid()) write(call.workspace);
    return std::move(access_);
  }

  StepAccess operator()(const HostCall& call) {
    for (BufferId operand : call.operands) read(operand);
    for (BufferId result : call.results) write(result);
    return std::move(access_);
  }

  StepAccess operator()(const Copy& copy) {
    read(copy.source);
    write(copy.destination);
    return std::move(access_);
  }

  StepAccess operator()(const SizeCheck&) { return {}; }

  StepAccess operator()(const BindSize& bind) {
    read(bind.value);
    return std::move(access_);
  }
  StepAccess operator()(const LoopBegin& loop) {
    write(loop.step);
    return std::move(access_);
  }
  StepAccess operator()(const LoopEnd& loop) {
    if (loop.go_on.valid()) read(loop.go_on);
    return std::move(access_);
  }
  StepAccess operator()(const CondBegin& cond) {
    read(cond.condition);
    return std::move(access_);
  }
  StepAccess operator()(const CondElse&) { return {}; }
  StepAccess operator()(const CondEnd&) { return {}; }

 private:
  BufferId root(BufferId buffer) const { return root_of(program_, buffer); }
  void read(BufferId buffer) {
    if (read_.insert(root(buffer)).second) access_.reads.push_back(root(buffer));
  }
  void write(BufferId buffer) {
    if (written_.insert(root(buffer)).second) access_.writes.push_back(root(buffer));
  }

  void add(const Statement& statement) {
    // What this kernel has written already is not read from before it. (If it keeps the rest of a buffer, the buffer is
    // among the writes, so its bytes are needed here anyway.)
    const bool new_here = statement.buffer.valid() && !written_.contains(root(statement.buffer));
    switch (statement.kind) {
      case Statement::Kind::load:
        if (new_here) read(statement.buffer);
        return;
      case Statement::Kind::store:
      case Statement::Kind::fold: {
        if (statement.accumulates() && new_here && kept_.contains(root(statement.buffer))) read(statement.buffer);
        write(statement.buffer);
        return;
      }
      case Statement::Kind::literal:
      case Statement::Kind::axis:
      case Statement::Kind::size:
      case Statement::Kind::op:
      case Statement::Kind::cast:
      case Statement::Kind::check: return;
    }
  }

  void add(const IndexTerm& index) {
    const auto add_to = [&](std::vector<SiteId>& sites) {
      if (std::ranges::find(sites, index.site) == sites.end()) sites.push_back(index.site);
    };
    switch (index.bounds) {
      case Bounds::proved: return;
      case Bounds::checked: return add_to(access_.checks);
      case Bounds::checked_before: return add_to(access_.checked_before);
    }
  }

  const KernelProgram& program_;
  std::unordered_set<BufferId> kept_, read_, written_;
  StepAccess access_;
};

}  // namespace

std::string_view role_name(Role role) {
  switch (role) {
    case Role::param: return "param";
    case Role::output: return "output";
    case Role::temporary: return "temporary";
    case Role::scalar: return "scalar";
    case Role::literal: return "literal";
    case Role::host: return "host";
  }
  return "";
}

bool Statement::can_fail() const {
  const auto is_checked = [](const Subscript& subscript) {
    return subscript.index && subscript.index->bounds == Bounds::checked;
  };
  return kind == Kind::check || (has_place() && std::ranges::any_of(map.subscripts, is_checked));
}

Statement check_of(IndexTerm index) {
  Statement out{.kind = Statement::Kind::check, .site = index.site};
  index.bounds = Bounds::checked;
  index.step = 1;
  out.map.subscripts.push_back({0, {}, std::move(index)});
  return out;
}

CallArray row_major_array(const LibraryCall& call, const CoreAxes& axes, BufferId buffer) {
  return {.buffer = buffer, .offset = 0, .strides = row_major_strides(call.op, axes, call.sizes)};
}

bool is_row_major(const LibraryCall& call, const CoreAxes& axes, const CallArray& array) {
  if (call.sizes.size() != facts(call.op).signature.letters.size() + 1) return false;  // no valid call
  return array.offset.is(0) && !array.index.valid() && array.strides == row_major_strides(call.op, axes, call.sizes);
}

bool Kernel::is_local(BufferId buffer) const {
  return std::ranges::any_of(outputs, [&](const KernelOutput& o) { return o.is_local && o.buffer == buffer; });
}

std::size_t Kernel::num_once() const {
  return static_cast<std::size_t>(std::ranges::find_if_not(stages, &Stage::once) - stages.begin());
}

bool Kernel::is_scalar() const {
  const auto has_axes = [](const Stage& stage) { return !stage.axes.empty(); };
  const auto keeps = [](const KernelOutput& output) { return output.start.kind == Start::Kind::keep; };
  return outer.empty() && std::ranges::none_of(stages, has_axes) && std::ranges::all_of(outputs, keeps);
}

IdMap<SymbolId, std::string> KernelProgram::symbol_names() const {
  IdMap<SymbolId, std::string> names;
  for (const Symbol& symbol : symbols) names.push_back(symbol.name);
  return names;
}

std::string type_text(const KernelProgram& program, const Buffer& buffer) {
  if (buffer.dims.empty()) return std::string(dtype_name(buffer.dtype));
  const IdMap<SymbolId, std::string> names = program.symbol_names();
  return str(dtype_name(buffer.dtype), "[", join(buffer.dims, ", ", [&](const Dim& dim) { return dim.to_text(names); }),
             "]");
}

Dim num_elements(const Buffer& buffer) { return product(buffer.dims); }

Dim size_bytes(const Buffer& buffer) { return num_elements(buffer) * Dim(inlay::size_bytes(buffer.dtype)); }

std::vector<Dim> axis_extents(const Kernel& kernel, const Stage& stage) {
  std::vector<Dim> out;
  for (const Axis& axis : kernel.outer) out.push_back(stage.once ? Dim(1) : axis.extent);
  for (const Axis& axis : stage.axes) out.push_back(axis.extent);
  return out;
}

BufferId root_of(const KernelProgram& program, BufferId buffer) {
  while (program.buffers[buffer].view_of.valid()) buffer = program.buffers[buffer].view_of;
  return buffer;
}

std::vector<SymbolId> symbols_bound_by(const Step& step) {
  std::vector<SymbolId> out;
  if (const auto* bind = std::get_if<BindSize>(&step)) out.push_back(bind->symbol);
  if (const auto* call = std::get_if<HostCall>(&step)) {
    for (const HostCall::Binding& binding : call->bindings) out.push_back(binding.symbol);
  }
  return out;
}

bool StepAccess::names(BufferId root) const {
  return std::ranges::find(reads, root) != reads.end() || std::ranges::find(writes, root) != writes.end();
}

StepAccess access_of(const KernelProgram& program, const Step& step) {
  return std::visit(AccessCollector(program), step);
}

void list_outputs(Kernel& kernel) {
  std::vector<KernelOutput> started = std::move(kernel.outputs), out;
  const auto add = [&](BufferId buffer) {
    const auto same = [&](const KernelOutput& output) { return output.buffer == buffer; };
    if (std::ranges::any_of(out, same)) return;
    const auto found = std::ranges::find_if(started, same);
    out.push_back(found == started.end() ? KernelOutput{buffer, {}, false} : *found);
  };
  for (const Stage& stage : kernel.stages) {
    for (const Statement& statement : stage.statements) {
      if (statement.is_write()) add(statement.buffer);
    }
  }
  for (const KernelOutput& output : started) add(output.buffer);
  kernel.outputs = std::move(out);
}

}  // namespace inlay::kernel
