#include "oracle/kernels/evaluate.h"

#include <algorithm>
#include <cstring>

#include "kernel/regions.h"
#include "kernel/text.h"
#include "oracle/kernels/element.h"
#include "oracle/kernels/run_kernel.h"
#include "textbook/textbook.h"

namespace inlay::kernel {
namespace {

class ProgramRun {
 public:
  ProgramRun(const KernelProgram& program, std::span<int64_t> symbols, const Addresses& address_of,
             const HostFunctions& host, const BeforeStep& before, Elided elided)
      : program_(program),
        regions_(regions_of(program)),
        names_(program),
        symbols_(symbols),
        address_of_(address_of),
        host_(host),
        before_(before),
        elided_(elided),
        own_(program.buffers.size()),
        made_by_host_(program.buffers.size()) {
    for (BufferId b : ids<BufferId>(program.buffers.size())) place_own(b);
  }

  std::optional<Failure> run() { return run_steps(StepId(0), StepId(program_.steps.size())); }

 private:
  std::optional<Failure> run_steps(StepId begin, StepId end) {
    for (uint32_t i = begin.index; i < end.index; ++i) {
      const Step& step = program_.steps[i];
      if (before_) before_(StepId(i));
      std::optional<Failure> failure;
      if (const auto* loop = std::get_if<LoopBegin>(&step)) {
        const RegionSpan& region = region_at(regions_, StepId(i));
        failure = run_loop(*loop, region);
        i = region.end.index;
      } else if (const auto* cond = std::get_if<CondBegin>(&step)) {
        const RegionSpan& region = region_at(regions_, StepId(i));
        failure = holds(cond->condition) ? run_steps(StepId(i + 1), region.otherwise)
                                         : run_steps(StepId(region.otherwise.index + 1), region.end);
        i = region.end.index;
      } else {
        failure = std::visit([&](const auto& each) { return run_step(each); }, step);
      }
      if (failure) return failure;
    }
    return std::nullopt;
  }

  std::optional<Failure> run_loop(const LoopBegin& loop, const RegionSpan& region) {
    const BufferId go_on = std::get<LoopEnd>(program_.steps[region.end.index]).go_on;
    const int64_t count = loop.count.evaluate(symbols_);
    for (int64_t step = 0; step < count; ++step) {
      std::memcpy(view(loop.step).data, &step, sizeof step);
      if (auto failure = run_steps(StepId(region.begin.index + 1), region.end)) return failure;
      if (go_on.valid() && !holds(go_on)) break;
    }
    return std::nullopt;
  }

  bool holds(BufferId condition) {
    const View at = view(condition);
    INLAY_CHECK(at.dtype == DType::boolean && at.num_elements() == 1, "`", at.name, "` is no condition");
    return *at.data != std::byte(0);
  }

  // Markers, which run_steps has looked at.
  std::optional<Failure> run_step(const LoopBegin&) { return std::nullopt; }
  std::optional<Failure> run_step(const LoopEnd&) { return std::nullopt; }
  std::optional<Failure> run_step(const CondBegin&) { return std::nullopt; }
  std::optional<Failure> run_step(const CondElse&) { return std::nullopt; }
  std::optional<Failure> run_step(const CondEnd&) { return std::nullopt; }

  /// Scalars and literals have no place in a plan: their bytes are here.
  void place_own(BufferId id) {
    const Buffer& buffer = program_.buffers[id];
    if (buffer.role != Role::scalar && buffer.role != Role::literal) return;
    const auto element_bytes = static_cast<std::size_t>(inlay::size_bytes(buffer.dtype));
    own_[id].assign(element_bytes * std::max<std::size_t>(1, buffer.elements.size()), std::byte(0xff));
    for (std::size_t i = 0; i < buffer.elements.size(); ++i) buffer.elements[i].store(&own_[id][i * element_bytes]);
  }

  View view(BufferId id) {
    const Buffer& buffer = program_.buffers[id];
    View out{names_.buffers[id], buffer.dtype, {}, nullptr};
    for (const Dim& dim : buffer.dims) out.dims.push_back(dim.evaluate(symbols_));
    const BufferId root = root_of(program_, id);
    if (root != id) {
      const View whole = view(root);
      INLAY_CHECK(whole.size_bytes() == out.size_bytes(), "`", out.name, "` is a view of `", whole.name, "` with ",
                  out.size_bytes(), " of its ", whole.size_bytes(), " bytes");
      out.data = whole.data;
    } else if (buffer.role == Role::host) {
      out.data = made_by_host_[id].data;
    } else {
      out.data = own_[id].empty() ? address_of_(id, symbols_) : own_[id].data();
    }
    return out;
  }

  std::optional<Failure> run_step(const Kernel& kernel) {
    return run_kernel(kernel, symbols_, [&](BufferId id) { return view(id); }, elided_);
  }

  std::optional<Failure> run_step(const Copy& copy) {
    if (copy.elided && elided_ == Elided::left_out) return std::nullopt;
    const View from = view(copy.source), to = view(copy.destination);
    const Buffer& destination = program_.buffers[copy.destination];
    if (is_handle(destination) && destination.role == Role::host) {
      made_by_host_[copy.destination].data = from.data;
      return std::nullopt;
    }
    INLAY_CHECK(from.size_bytes() == to.size_bytes(), "copy of `", from.name, "` to `", to.name, "`: other bytes");
    if (from.size_bytes() > 0) std::memmove(to.data, from.data, static_cast<std::size_t>(from.size_bytes()));
    return std::nullopt;
  }

  std::optional<Failure> run_step(const SizeCheck& check) {
    const int64_t left = check.left.evaluate(symbols_), right = check.right.evaluate(symbols_);
    const bool holds = check.relation == DimCheck::Relation::equal ? left == right : left <= right;
    if (holds) return std::nullopt;
    return Failure{check.site, {left, right}};
  }

  std::optional<Failure> run_step(const BindSize& bind) {
    const int64_t number = Element::load(DType::i64, view(bind.value).data).to_integer();
    if (number < 0) return Failure{bind.site, {number}};
    symbols_[bind.symbol.index] = number;
    return std::nullopt;
  }

  /// What the function sees lies without gaps: operands are brought there, results from there.
  std::optional<Failure> run_step(const LibraryCall& call) {
    std::vector<int64_t> sizes;
    for (const Dim& size : call.sizes) {
      sizes.push_back(size.evaluate(symbols_));
      INLAY_CHECK(sizes.back() >= 0, facts(call.op).name, ": a size of ", sizes.back());
    }
    const LibrarySignature& signature = facts(call.op).signature;
    const DType dtype = program_.buffers[call.operands[0].buffer].dtype;
    std::vector<std::vector<std::byte>> inside;
    for (std::size_t i = 0; i < call.operands.size(); ++i) {
      const LibraryLayout layout = operand_layout(call.op, i, call.options, dtype);
      require_laid(call.operands[i], layout, library_extents(call.op, signature.operands[i], sizes));
      inside.push_back(gathered(call.operands[i], library_extents(call.op, signature.operands[i], sizes)));
    }
    std::vector<std::vector<int64_t>> places;
    for (std::size_t r = 0; r < call.results.size(); ++r) {
      const LibraryLayout layout = facts(call.op).result_layouts[r];
      require_laid(call.results[r], layout, library_extents(call.op, signature.results[r], sizes));
      places.push_back(elements_of(call.results[r], library_extents(call.op, signature.results[r], sizes)));
      const auto element_bytes = static_cast<std::size_t>(size_bytes(program_.buffers[call.results[r].buffer].dtype));
      inside.emplace_back(places.back().size() * element_bytes);
    }
    std::vector<const std::byte*> operands;
    std::vector<std::byte*> results;
    for (std::size_t i = 0; i < inside.size(); ++i) {
      i < call.operands.size() ? operands.push_back(inside[i].data()) : results.push_back(inside[i].data());
    }
    const auto failure = textbook::run(call.op, call.options, dtype, operands, results, sizes);
    for (std::size_t r = 0; r < results.size(); ++r)
      scatter(inside[call.operands.size() + r], call.results[r], places[r]);
    if (!failure) return std::nullopt;
    const auto site = static_cast<std::size_t>(LibraryStatus::failed) - 1;
    INLAY_CHECK(site < call.sites.size(), facts(call.op).name, " failed, and the call has no site for it");
    return Failure{call.sites[site], {failure->number, failure->matrix}};
  }

  /// The functions of the textbook take any distances; those that run do not.
  void require_laid(const CallArray& array, LibraryLayout layout, const std::array<int64_t, 3>& extents) {
    const auto [points, rows, columns] = extents;
    if (points < 1 || rows < 1 || columns < 1) return;
    const int64_t row = array.strides[1].evaluate(symbols_), column = array.strides[2].evaluate(symbols_);
    const bool is_line = rows == 1 || columns == 1;
    const int64_t step = rows == 1 ? column : row;
    const bool is_one = rows == 1 && columns == 1;
    const bool by_rows = is_line ? is_one || step == 1 : column == 1 && row >= columns;
    const bool by_columns = !is_line && row == 1 && column >= rows;
    const auto fits = [&, columns = columns] {
      switch (layout) {
        case LibraryLayout::any: return true;
        case LibraryLayout::matrix: return is_line ? is_one || step != 0 : by_rows || by_columns;
        case LibraryLayout::rows: return by_rows || (columns == 1 && !array.strides[2].is(0) && row > 0);
        case LibraryLayout::whole: return by_rows && (is_line || row == columns);
      }
      return false;
    };
    INLAY_CHECK(fits(), "a library call: `", program_.buffers[array.buffer].name, "` lies with strides ", row, " and ",
                column, ", as the function does not take it");
  }

  /// The numbers of its elements in the buffer, row by row.
  std::vector<int64_t> elements_of(const CallArray& array, const std::array<int64_t, 3>& extents) {
    const View v = view(array.buffer);
    const int64_t num_elements = v.size_bytes() / size_bytes(v.dtype);
    int64_t first = array.offset.evaluate(symbols_);
    if (array.index.valid()) {
      first += Element::load(DType::i64, view(array.index).data).to_integer() * array.index_stride.evaluate(symbols_);
    }
    std::array<int64_t, 3> strides{};
    for (std::size_t axis = 0; axis < 3; ++axis) strides[axis] = array.strides[axis].evaluate(symbols_);
    std::vector<int64_t> out;
    for (int64_t point = 0; point < extents[0]; ++point) {
      for (int64_t i = 0; i < extents[1]; ++i) {
        for (int64_t j = 0; j < extents[2]; ++j) {
          out.push_back(first + point * strides[0] + i * strides[1] + j * strides[2]);
          INLAY_CHECK(out.back() >= 0 && out.back() < num_elements, "a library call: element ", out.back(), " of `",
                      v.name, "`, which has ", num_elements);
        }
      }
    }
    return out;
  }

  std::vector<std::byte> gathered(const CallArray& array, const std::array<int64_t, 3>& extents) {
    const View v = view(array.buffer);
    const int64_t element_bytes = size_bytes(v.dtype);
    std::vector<std::byte> out;
    for (int64_t element : elements_of(array, extents)) {
      const std::byte* at = v.data + element * element_bytes;
      out.insert(out.end(), at, at + element_bytes);
    }
    return out;
  }

  void scatter(const std::vector<std::byte>& from, const CallArray& array, const std::vector<int64_t>& places) {
    const View v = view(array.buffer);
    const auto element_bytes = static_cast<std::size_t>(size_bytes(v.dtype));
    for (std::size_t i = 0; i < places.size(); ++i) {
      std::memcpy(v.data + places[i] * static_cast<int64_t>(element_bytes), from.data() + i * element_bytes,
                  element_bytes);
    }
  }

  std::optional<Failure> run_step(const HostCall& call) {
    INLAY_CHECK(host_ != nullptr, "the program calls `", call.name, "`, and nobody brought its function");
    std::vector<HostTensor> operands, results;
    for (BufferId id : call.operands) {
      const View v = view(id);
      operands.push_back({v.dtype, v.dims, v.data});
    }
    for (BufferId id : call.results) results.push_back({program_.buffers[id].dtype, {}, nullptr});
    if (!host_(call, operands, results)) return Failure{call.site, {}, call.name};
    for (const HostCall::Binding& binding : call.bindings) {
      symbols_[binding.symbol.index] =
          results[static_cast<std::size_t>(binding.result)].dims[static_cast<std::size_t>(binding.axis)];
    }
    for (std::size_t r = 0; r < results.size(); ++r) {
      made_by_host_[call.results[r]] = results[r];
      const View v = view(call.results[r]);
      const auto [came, promised] = std::ranges::mismatch(results[r].dims, v.dims);
      if (came == results[r].dims.end()) continue;
      return Failure{call.site, {*came, *promised, static_cast<int64_t>(r), came - results[r].dims.begin()}, ""};
    }
    return std::nullopt;
  }

  const KernelProgram& program_;
  const std::vector<RegionSpan> regions_;
  Names names_;
  std::span<int64_t> symbols_;
  const Addresses& address_of_;
  const HostFunctions& host_;
  const BeforeStep& before_;
  const Elided elided_;
  IdMap<BufferId, std::vector<std::byte>> own_;
  IdMap<BufferId, HostTensor> made_by_host_;
};

std::string dims_text(const std::vector<int64_t>& dims) { return str("[", join(dims, ", "), "]"); }

void require_fit(const KernelProgram& program, const Buffer& buffer, const Array& param,
                 std::span<const int64_t> symbols) {
  std::vector<int64_t> dims;
  for (const Dim& dim : buffer.dims) dims.push_back(dim.evaluate(symbols));
  int64_t num_elements = 1;
  for (int64_t dim : param.dims) num_elements *= dim;
  const bool has_bytes = static_cast<int64_t>(param.bytes.size()) == num_elements * inlay::size_bytes(param.dtype);
  if (param.dtype == buffer.dtype && param.dims == dims && has_bytes) return;
  throw Error(ErrorCode::shape_mismatch, {},
              str(buffer.name, " is ", dtype_name(param.dtype), dims_text(param.dims), ", but the program takes ",
                  type_text(program, buffer), " = ", dims_text(dims)));
}

}  // namespace

Error error_of(const KernelProgram& program, const Failure& failure) {
  INLAY_CHECK(failure.site.index < program.sites.size(), "a run failed where the program has no site");
  const Site& site = program.sites[failure.site];
  if (!failure.host_call.empty()) {
    return Error(ErrorCode::host_call_failed, site.location, str(failure.host_call, ": the host call failed"));
  }
  return Error(Diagnostic{site.code, site.location, with_numbers(site.message, failure.numbers), site.notes, ""});
}

std::optional<Failure> evaluate(const KernelProgram& program, std::span<int64_t> symbols, const Addresses& address_of,
                                const HostFunctions& host, const BeforeStep& before, Elided elided) {
  INLAY_CHECK(symbols.size() == program.symbols.size(), "values for ", symbols.size(), " of ", program.symbols.size(),
              " symbols");
  return ProgramRun(program, symbols, address_of, host, before, elided).run();
}

std::vector<int64_t> bind_symbols(const KernelProgram& program, std::span<const Array> params) {
  if (params.size() != program.params.size()) {
    throw Error(ErrorCode::wrong_argument_count, {},
                str("the program takes ", program.params.size(), " arguments, not ", params.size()));
  }
  std::vector<int64_t> symbols(program.symbols.size(), 0);
  for (SymbolId s : ids<SymbolId>(program.symbols.size())) {
    const Symbol& symbol = program.symbols[s];
    for (std::size_t i = 0; i < params.size(); ++i) {
      if (!symbol.source.valid() || program.buffers[program.params[i]].value != symbol.source) continue;
      const auto axis = static_cast<std::size_t>(symbol.axis);
      if (axis < params[i].dims.size()) symbols[s.index] = params[i].dims[axis];
    }
  }
  for (std::size_t i = 0; i < params.size(); ++i) {
    const Buffer& buffer = program.buffers[program.params[i]];
    require_fit(program, buffer, params[i], symbols);
    const std::size_t count = params[i].bytes.size() / static_cast<std::size_t>(inlay::size_bytes(buffer.dtype));
    check_facts(buffer.facts, buffer.dtype, params[i].bytes.data(), static_cast<int64_t>(count), str("%", buffer.name));
  }
  return symbols;
}

Evaluation evaluate(const KernelProgram& program, std::span<const Array> params, const HostFunctions& host) {
  std::vector<int64_t> symbols = bind_symbols(program, params);
  IdMap<BufferId, std::vector<std::byte>> memory(program.buffers.size());
  std::vector<Array> given(params.begin(), params.end());
  const auto address_of = [&](BufferId id, std::span<const int64_t> known) -> std::byte* {
    const Buffer& buffer = program.buffers[id];
    if (buffer.role == Role::param) return given[static_cast<std::size_t>(buffer.slot)].bytes.data();
    const int64_t num_bytes = std::max<int64_t>(1, size_bytes(buffer).evaluate(known));
    if (static_cast<int64_t>(memory[id].size()) != num_bytes) {  // a pass of a loop may find another size
      memory[id].assign(static_cast<std::size_t>(num_bytes), std::byte(0xff));
    }
    return memory[id].data();
  };

  Evaluation out;
  out.failure = evaluate(program, symbols, address_of, host, {}, Elided::done);
  if (out.failure) return out;
  for (std::size_t i = 0; i < params.size(); ++i) {
    INLAY_CHECK(given[i].bytes == params[i].bytes, "the program wrote to its parameter ", i);
  }
  for (BufferId id : program.outputs) {
    const Buffer& buffer = program.buffers[id];
    Array array{buffer.dtype, {}, {}};
    for (const Dim& dim : buffer.dims) array.dims.push_back(dim.evaluate(symbols));
    address_of(id, symbols);  // one that has no element was never asked for
    array.bytes = memory[id];
    array.bytes.resize(static_cast<std::size_t>(size_bytes(buffer).evaluate(symbols)));
    out.outputs.push_back(std::move(array));
  }
  return out;
}

}  // namespace inlay::kernel
