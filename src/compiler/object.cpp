#include "compiler/object.h"

#include <algorithm>

#include "compiler/layout_cache.h"
#include "memory/commit.h"
#include "memory/upper_bound.h"
#include "support/error.h"

namespace inlay {

using kernel::Buffer;
using kernel::BufferId;
using kernel::KernelProgram;
using runtime::SizeExpr;
using runtime::SizeItem;
using runtime::TensorSpec;

namespace {

void append(SizeExpr& out, const Dim& dim);

void append(SizeExpr& out, const Dim::Atom& atom) {
  if (atom.kind == Dim::Atom::Kind::symbol) {
    out.items.push_back({SizeItem::Kind::symbol, static_cast<int64_t>(atom.symbol.index)});
    return;
  }
  append(out, atom.operands->first);
  if (atom.kind == Dim::Atom::Kind::sum) return;
  append(out, atom.operands->second);
  out.items.push_back({atom.kind == Dim::Atom::Kind::floor_div ? SizeItem::Kind::floor_div
                       : atom.kind == Dim::Atom::Kind::min     ? SizeItem::Kind::min
                                                               : SizeItem::Kind::max});
}

// The shortest form: a plain symbol is one item, which the runtime's errors and quick checks look for.
void append(SizeExpr& out, const Dim& dim) {
  bool has_sum = dim.constant_part() != 0 || dim.terms().empty();
  if (has_sum) out.items.push_back({SizeItem::Kind::constant, dim.constant_part()});
  for (const Dim::Term& term : dim.terms()) {
    bool has_product = term.coefficient != 1;
    if (has_product) out.items.push_back({SizeItem::Kind::constant, term.coefficient});
    for (const Dim::Atom& factor : term.factors) {
      append(out, factor);
      if (has_product) out.items.push_back({SizeItem::Kind::multiply});
      has_product = true;
    }
    if (has_sum) out.items.push_back({SizeItem::Kind::add});
    has_sum = true;
  }
}

TensorSpec spec_of(const KernelProgram& program, BufferId id) {
  const Buffer& buffer = program.buffers[id];
  const auto names = program.symbol_names();
  TensorSpec spec{.name = buffer.name,
                  .dtype = std::string(dtype_name(buffer.dtype)),
                  .element_bytes = size_bytes(buffer.dtype),
                  .dims = {},
                  .dim_texts = {},
                  .bound = buffer.bound,
                  .facts = buffer.facts,
                  .donated = buffer.donated};
  for (const Dim& dim : buffer.dims) {
    spec.dims.push_back(to_size_expr(dim));
    spec.dim_texts.push_back(dim.to_text(names));
  }
  return spec;
}

runtime::HostCallSpec spec_of(const KernelProgram& program, const kernel::HostCall& call) {
  runtime::HostCallSpec spec{call.name, call.function, {}, {}, program.sites[call.site].location};
  for (BufferId operand : call.operands) spec.operands.push_back(spec_of(program, operand));
  for (BufferId result : call.results) spec.results.push_back(spec_of(program, result));
  return spec;
}

/// By number, by which a host also keeps what a call returned until the same call comes again.
std::vector<runtime::HostCallSpec> host_calls_of(const KernelProgram& program) {
  std::vector<runtime::HostCallSpec> out;
  for (const kernel::Step& step : program.steps) {
    const auto* call = std::get_if<kernel::HostCall>(&step);
    if (!call) continue;
    constexpr int kMostNumbers = 1 << 16;
    if (call->function < 0 || call->function >= kMostNumbers) {
      throw Error(ErrorCode::unsupported, program.sites[call->site].location,
                  str("the host call \"", call->name, "\" has the number ", call->function, ", and they go from 0 to ",
                      kMostNumbers - 1));
    }
    const auto index = static_cast<std::size_t>(call->function);
    if (out.size() <= index) out.resize(index + 1);
    if (out[index].function >= 0) {
      throw Error(ErrorCode::unsupported, program.sites[call->site].location,
                  str("the host calls \"", out[index].name, "\" and \"", call->name, "\" both have the number ", index))
          .help("each call has a number of its own; the same function may stand under several");
    }
    out[index] = spec_of(program, *call);
  }
  return out;
}

}  // namespace

SizeExpr to_size_expr(const Dim& dim) {
  SizeExpr out;
  append(out, dim);
  return out;
}

runtime::Object make_object(const KernelProgram& program, const memory::MemoryPlan& plan, std::vector<std::byte> code,
                            std::string entry) {
  runtime::Object object;
  object.code = std::move(code);
  object.entry = std::move(entry);
  for (BufferId param : program.params) object.params.push_back(spec_of(program, param));
  const std::vector<bool> written_last = memory::written_last(program, plan.sharing);
  for (BufferId output : program.outputs) {
    object.outputs.push_back(spec_of(program, output));
    std::string& name = object.outputs.back().name;  // the user's name: t' is what else fuse has made of %t
    name.resize(name.find_last_not_of('\'') + 1);
    object.outputs.back().written_last = written_last[object.outputs.size() - 1];
    // By its dims, not by its bytes: [k, 0] has none, but its shape depends on k.
    object.outputs.back().segment = memory::segment_of(plan.sharing, program.buffers[output].dims);
    object.outputs.back().taken_param = memory::param_in_output(program, plan.sharing, output);
  }
  for (const Symbol& symbol : program.symbols) {
    runtime::SymbolSpec spec{symbol.name, -1, symbol.axis};
    for (std::size_t slot = 0; slot < program.params.size(); ++slot) {
      if (!symbol.source.valid()) continue;  // found during the run
      if (program.buffers[program.params[slot]].value == symbol.source) spec.param = static_cast<int>(slot);
    }
    if (plan.upper_bounds.size() > 0) spec.upper_bound = plan.upper_bounds[SymbolId(object.symbols.size())];
    object.symbols.push_back(std::move(spec));
  }
  for (const kernel::Site& site : program.sites) {
    object.sites.push_back({site.code, site.message, site.notes, site.location});
  }
  object.host_calls = host_calls_of(program);
  object.arena.is_static = plan.is_static;
  object.arena.num_storages = static_cast<int>(plan.sharing.storages.size());
  object.arena.segment_bytes.assign(std::max<std::size_t>(plan.sharing.segment_starts.size(), 1), 0);
  for (std::size_t s = 0; plan.is_static && s < plan.layouts.size(); ++s) {
    object.arena.segment_bytes[s] = plan.layouts[s].arena_bytes;
  }
  for (memory::StorageId id : ids<memory::StorageId>(plan.sharing.storages.size())) {
    const memory::SharedStorage& storage = plan.sharing.storages[id];
    if (storage.owner != memory::Owner::arena || storage.size_bytes.is(0)) continue;
    SizeExpr bytes = plan.is_static ? SizeExpr(memory::at_most(storage.size_bytes, plan.upper_bounds))
                                    : to_size_expr(storage.size_bytes);
    object.arena.storages.push_back({static_cast<int>(id.index), storage.name, std::move(bytes),
                                     storage.alignment_bytes, storage.segment, storage.live.begin, storage.live.end});
  }
  return object;
}

runtime::Executable load(runtime::Object object, const Backend& backend, const memory::PlannerOptions& planning) {
  runtime::LayoutFunction layout;
  if (!object.arena.is_static) layout = layout_function(object.arena, planning);
  return runtime::Executable(std::move(object), backend.find_external, std::move(layout));
}

}  // namespace inlay
