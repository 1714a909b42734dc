#include "explain.h"

#include <nanobind/stl/string.h>

#include "compiler/origins.h"
#include "explain/memory_map.h"
#include "ir/text.h"
#include "kernel/counts.h"
#include "kernel/kernel_texts.h"
#include "kernel/summary.h"
#include "kernel/text.h"

namespace nb = nanobind;

namespace inlay::python {
namespace {

using kernel::Kernel;
using kernel::KernelProgram;

nb::object size_or_text(const Dim& dim, const KernelProgram& program) {
  return dim.is_constant() ? nb::cast(dim.constant()) : nb::cast(dim.to_text(program.symbol_names()));
}

nb::dict kernel_dict(const KernelProgram& program, const Kernel& kernel, const kernel::Names& names,
                     const std::string& text) {
  const kernel::KernelCounts counts = kernel::count(program, kernel);
  nb::dict d;
  nb::list outputs;
  for (const kernel::KernelOutput& output : kernel.outputs) outputs.append(names.buffers[output.buffer]);
  d["name"] = kernel.name;
  d["text"] = text;
  d["stages"] = counts.stages;
  d["loads"] = counts.loads;
  d["stores"] = counts.stores;
  d["reductions"] = counts.folds;
  d["reads"] = counts.reads.to_text(names.symbols);
  d["writes"] = counts.writes.to_text(names.symbols);
  d["width"] = counts.width;
  d["outputs"] = outputs;
  return d;
}

nb::dict copy_dict(const std::string& source, const std::string& destination, const std::string& reason,
                   const std::string& help = "") {
  nb::dict d;
  d["source"] = source;
  d["destination"] = destination;
  d["reason"] = reason;
  d["help"] = help;
  return d;
}

/// Does the step only move bytes? (A handle has none.)
const kernel::Copy* copy_at(const KernelProgram& program, kernel::StepId id) {
  const auto* copy = std::get_if<kernel::Copy>(&program.steps[id.index]);
  if (copy == nullptr || copy->elided) return nullptr;
  return kernel::is_handle(program.buffers[copy->destination]) ? nullptr : copy;
}

void add_steps(const KernelProgram& program, const BoundProgram& bound, nb::dict& d) {
  nb::list kernels, library_calls, host_calls, host_functions, draws, copies;
  const kernel::Names names(program);
  const IdMap<kernel::StepId, std::string> texts = kernel::print_kernels(program);
  for (kernel::StepId id : ids<kernel::StepId>(program.steps.size())) {
    const kernel::Step& step = program.steps[id.index];
    if (const auto* k = std::get_if<Kernel>(&step)) {
      if (!k->is_scalar()) kernels.append(kernel_dict(program, *k, names, texts[id]));
    } else if (const auto* call = std::get_if<kernel::LibraryCall>(&step)) {
      const auto list = [&](const std::vector<kernel::CallArray>& arrays) {
        return join(arrays, ", ", [&](const kernel::CallArray& array) { return names.buffers[array.buffer]; });
      };
      library_calls.append(str(facts(call->op).name, " ", list(call->results), " = ", list(call->operands)));
    } else if (const auto* host = std::get_if<kernel::HostCall>(&step)) {
      const bool is_draw = bound.draw(host->function) != nullptr;
      (is_draw ? draws : host_calls).append(host->name);
      if (!is_draw) host_functions.append(host->function);
    } else if (const kernel::Copy* copy = copy_at(program, id)) {
      copies.append(copy_dict(names.buffers[copy->source], names.buffers[copy->destination], copy->reason));
    }
  }
  d["kernels"] = kernels;
  d["library_calls"] = library_calls;
  d["host_calls"] = host_calls;
  d["host_functions"] = host_functions;  // of each of these its number
  d["draws"] = draws;
  d["copies"] = copies;
}

nb::list list_of(const std::vector<std::string>& texts) {
  nb::list out;
  for (const std::string& text : texts) out.append(text);
  return out;
}

nb::list step_list(const EmittedProgram& p, const BoundProgram& bound) {
  const std::vector<kernel::StepSummary> summaries =
      kernel::summaries(p.kernels, kernel::named_parts(p.kernels, p.graph));
  const Origins origins(p);
  nb::list out;
  for (kernel::StepId id : ids<kernel::StepId>(p.kernels.steps.size())) {
    const kernel::StepSummary& step = summaries[id.index];
    if (step.kind.empty()) continue;
    const auto* host = std::get_if<kernel::HostCall>(&p.kernels.steps[id.index]);
    nb::dict d;
    d["step"] = id.index;
    d["kind"] = host != nullptr && bound.draw(host->function) != nullptr ? "draw" : step.kind;
    d["name"] = step.name;
    d["title"] = step.title;
    d["makes"] = list_of(step.makes);
    d["returns"] = step.returns;
    d["computes"] = list_of(step.formulas);
    d["loops"] = list_of(step.loops);
    d["bytes_read"] = size_or_text(step.read_bytes, p.kernels);
    d["bytes_written"] = size_or_text(step.written_bytes, p.kernels);
    d["flops"] = step.flops ? size_or_text(*step.flops, p.kernels) : nb::none();
    const std::vector<std::string> found = origins.of(id);
    d["origins"] = list_of(found);
    d["lines"] = source_lines(found);
    d["depth"] = step.depth;
    out.append(d);
  }
  return out;
}

nb::list apart_list(const EmittedProgram& p) {
  const kernel::Names names(p.kernels);
  const auto kernel_name = [&](kernel::StepId step) { return std::get<Kernel>(p.kernels.steps[step.index]).name; };
  nb::list out;
  for (const explain::Apart& pair : p.apart()) {
    nb::dict d;
    d["first"] = kernel_name(pair.first);
    d["second"] = kernel_name(pair.second);
    d["shared"] = names.buffers[pair.shared];
    d["reason"] = pair.text();
    d["help"] = std::string(pair.help);
    out.append(d);
  }
  return out;
}

nb::list stored_list(const EmittedProgram& p) {
  nb::list out;
  for (const explain::StoredValue& value : explain::stored_values(p.kernels, p.plan)) {
    nb::dict d;
    d["name"] = value.name;
    d["bytes"] = size_or_text(value.bytes, p.kernels);
    d["where"] = value.where;
    d["reason"] = value.reason;
    d["help"] = std::string(value.help);
    out.append(d);
  }
  return out;
}

void add_plan(const EmittedProgram& p, nb::dict& d) {
  const kernel::Names names(p.kernels);
  nb::list temporaries;
  const auto reasons = storage_reasons(p);
  for (memory::StorageId s : ids<memory::StorageId>(p.plan.sharing.storages.size())) {
    const memory::SharedStorage& storage = p.plan.sharing.storages[s];
    if (storage.owner != memory::Owner::arena || storage.size_bytes.is(0)) continue;
    nb::dict t;
    t["name"] = storage.name;
    t["bytes"] = size_or_text(storage.size_bytes, p.kernels);
    t["first"] = storage.live.begin / 2;  // steps
    t["last"] = (storage.live.end - 1) / 2;
    t["reason"] = reasons[s];
    temporaries.append(t);
  }
  d["temporaries"] = temporaries;
  d["stored"] = stored_list(p);
  nb::list copies = nb::cast<nb::list>(d["copies"]);
  for (const memory::PlannedCopy& copy : p.plan.sharing.copies) {
    const bool is_step = std::holds_alternative<kernel::Copy>(p.kernels.steps[copy.step.index]);
    if (!is_step)
      copies.append(copy_dict(names.buffers[copy.source], names.buffers[copy.destination], copy.reason, copy.help));
  }
  d["arena_bytes"] = p.plan.is_static ? nb::cast(p.plan.arena_bytes()) : nb::none();
  d["memory_map"] = explain::memory_map(p.kernels, p.plan);
  d["target"] = p.target;
}

struct StepName {
  std::string kind, name;  // empty: not worth a row
};

StepName name_of(const KernelProgram& program, const BoundProgram& bound, kernel::StepId id) {
  const kernel::Step& step = program.steps[id.index];
  if (const auto* k = std::get_if<Kernel>(&step)) return {"kernel", k->is_scalar() ? "scalars" : "@" + k->name};
  if (const auto* call = std::get_if<kernel::LibraryCall>(&step)) {
    return {"library call", std::string(facts(call->op).name)};
  }
  if (const auto* host = std::get_if<kernel::HostCall>(&step)) {
    return {bound.draw(host->function) == nullptr ? "host call" : "draw", host->name};
  }
  if (const kernel::Copy* copy = copy_at(program, id)) return {"copy", copy->reason};
  return {};
}

/// The step that writes each root buffer: the name of a kernel, or what else it is.
IdMap<kernel::BufferId, std::string> writers(const KernelProgram& program) {
  IdMap<kernel::BufferId, std::string> by_buffer(program.buffers.size());
  for (const kernel::Step& step : program.steps) {
    std::string name;
    if (const auto* k = std::get_if<Kernel>(&step)) name = k->is_scalar() ? "scalar" : "@" + k->name;
    if (const auto* call = std::get_if<kernel::LibraryCall>(&step)) name = facts(call->op).name;
    if (std::holds_alternative<kernel::HostCall>(step)) name = "host call";
    if (std::holds_alternative<kernel::Copy>(step)) name = "copy";
    for (kernel::BufferId b : kernel::access_of(program, step).writes) {
      // 0-d arithmetic adds an element to what a loop has written: the loop says more.
      if (by_buffer[b].empty() || name != "scalar") by_buffer[b] = name;
    }
  }
  return by_buffer;
}

}  // namespace

IdMap<memory::StorageId, std::string> storage_reasons(const EmittedProgram& p) {
  IdMap<memory::StorageId, std::string> out(p.plan.sharing.storages.size());
  for (const explain::StoredValue& value : explain::stored_values(p.kernels, p.plan)) {
    const memory::StorageId storage = p.plan.sharing.placements[value.buffer].storage;
    if (!storage.valid()) continue;
    out[storage] += out[storage].empty() ? value.reason : str("; ", value.name, " there: ", value.reason);
  }
  return out;
}

nb::dict explain(const EmittedProgram& p, const BoundProgram& bound) {
  nb::dict d;
  add_steps(p.kernels, bound, d);
  d["steps"] = step_list(p, bound);
  add_plan(p, d);
  nb::list refusals;
  for (const std::string& refusal : p.kernels.refusals) refusals.append(refusal);
  d["refusals"] = refusals;
  d["apart"] = apart_list(p);
  d["graph"] = print(p.graph);
  nb::dict rewrites;
  for (const PassCounts& pass : p.rewrites) {
    for (const auto& [what, count] : pass.counts) {
      const nb::str name(what.c_str());
      rewrites[name] = count + (rewrites.contains(name) ? nb::cast<int64_t>(rewrites[name]) : 0);
    }
  }
  d["rewrites"] = rewrites;
  nb::dict seconds;
  for (const auto& [stage, time] : p.seconds) seconds[nb::cast(std::string(stage))] = time;
  d["seconds"] = seconds;
  return d;
}

nb::list step_times(const EmittedProgram& p, const BoundProgram& bound, const runtime::StepTimes& times) {
  const std::vector<runtime::StepTimes::Row> rows = times.rows();
  nb::list out;
  for (kernel::StepId id : ids<kernel::StepId>(p.kernels.steps.size())) {
    const StepName name = name_of(p.kernels, bound, id);
    if (name.kind.empty()) continue;
    nb::list locations;
    for (kernel::BufferId b : kernel::access_of(p.kernels, p.kernels.steps[id.index]).writes) {
      const ValueId value = p.kernels.buffers[b].value;
      if (!value.valid() || value.index >= p.graph.values.size()) continue;
      if (const Node* node = p.graph.node_of(value)) locations.append(node->location.text);
    }
    nb::dict d;
    d["step"] = id.index;
    d["kind"] = name.kind;
    d["name"] = name.name;
    d["locations"] = locations;
    d["seconds"] = rows[id.index].seconds;
    d["least_seconds"] = rows[id.index].least_seconds;
    d["passes"] = rows[id.index].passes;
    out.append(d);
  }
  return out;
}

nb::list value_places(const EmittedProgram& p) {
  const kernel::Names names(p.kernels);
  const auto by = writers(p.kernels);
  nb::list places;
  for (kernel::BufferId b : ids<kernel::BufferId>(p.kernels.buffers.size())) {
    const kernel::Buffer& buffer = p.kernels.buffers[b];
    if (!buffer.value.valid() || buffer.value.index >= p.graph.values.size()) continue;
    const Node* node = p.graph.node_of(buffer.value);
    const kernel::BufferId root = kernel::root_of(p.kernels, b);
    const memory::Placement& placement = p.plan.sharing.placements[root];
    nb::dict d;
    d["name"] = names.buffers[b];
    d["location"] = node == nullptr ? std::string() : node->location.text;
    d["kernel"] = by[root];
    d["role"] = std::string(kernel::role_name(buffer.role));
    d["bytes"] = size_or_text(kernel::size_bytes(buffer), p.kernels);
    d["storage"] = placement.storage.valid() ? nb::cast(p.plan.sharing.storages[placement.storage].name) : nb::none();
    d["reason"] = std::string(memory::reason_name(placement.reason));
    d["took_over"] = placement.took_over.valid() ? nb::cast(names.buffers[placement.took_over]) : nb::none();
    places.append(d);
  }
  return places;
}

}  // namespace inlay::python
