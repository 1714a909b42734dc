#include "backend/c/steps.h"

#include <algorithm>
#include <array>

#include "backend/c/functions.h"
#include "support/error.h"

namespace inlay::c_backend {
namespace {

/// `type name[] = {items};` C has no array of nothing.
void write_array(Text& out, std::string_view type, std::string_view name, const std::vector<std::string>& items) {
  out.line(type, name, "[] = {", items.empty() ? "0" : join(items, ", ", [](const std::string& i) { return i; }), "};");
}

std::vector<std::string> addresses_of(ProgramText& p, const std::vector<BufferId>& buffers) {
  std::vector<std::string> out;
  for (BufferId b : buffers) out.push_back(str("(void*)", p.address(b)));
  return out;
}

std::string bytes_text(ProgramText& p, const kernel::Buffer& buffer) {
  return str("(size_t)", p.factor(num_elements(buffer)), " * sizeof(", memory_type(buffer.dtype), ")");
}

/// `if (n > 0) `: the C library wants an address also where there is nothing to move.
std::string where_there_are(ProgramText& p, const Dim& count) {
  return count.is_constant() ? "" : str("if (", p.size(count), " > 0) ");
}

/// From here on the size is known, to this code and to the caller.
void bind_symbol(ProgramText& p, Text& entry, SymbolId symbol, const std::string& number) {
  entry.line(p.symbol(symbol), " = ", number, ";");
  entry.line("call->symbols[", symbol.index, "] = ", p.symbol(symbol), ";");
}

bool is_all_zero(const Literal& value) {
  std::array<std::byte, 16> bytes{};
  value.store(bytes.data());
  return std::ranges::all_of(bytes, [](std::byte b) { return b == std::byte(0); });
}

}  // namespace

std::string variable(ProgramText& p, BufferId buffer, const std::vector<BufferId>& by_address) {
  p.use(buffer);
  return str(std::ranges::count(by_address, p.root(buffer)) > 0 ? "*" : "", p.name(buffer));
}

void write_fill(ProgramText& p, Text& out, BufferId buffer, const Literal& value,
                const std::vector<BufferId>& by_address) {
  const std::string number = constant(p.needs, value);
  if (p.is_scalar(buffer)) return out.line(variable(p, buffer, by_address), " = ", number, ";");
  const kernel::Buffer& facts = p.program.buffers[buffer];
  const std::string name = variable(p, buffer);
  const Dim count = num_elements(facts);
  if (count.is(0)) return;
  if (is_all_zero(value))
    return out.line(where_there_are(p, count), "memset(", name, ", 0, ", bytes_text(p, facts), ");");
  NameTable names = p.names;
  const std::string i = names.take("i");
  out.line("for (", p.index_type(), " ", i, " = 0; ", i, " < ", p.size(count), "; ++", i, ") ", name, "[", i,
           "] = ", number, ";");
}

void write_transfer(ProgramText& p, Text& out, BufferId source, BufferId destination,
                    const std::vector<BufferId>& by_address) {
  const kernel::Buffer& from = p.program.buffers[source];
  const kernel::Buffer& to = p.program.buffers[destination];
  if (kernel::is_handle(from)) {
    const std::string handle = variable(p, source);
    if (to.role == kernel::Role::output) out.line("call->outputs[", to.slot, "] = (void*)", handle, ";");
    if (to.role != kernel::Role::output) out.line(variable(p, destination), " = (void*)", handle, ";");
    return;
  }
  if (p.is_unread_scalar(destination)) return;
  if (p.is_scalar(source) || p.is_scalar(destination) || p.is_constant(source)) {
    const std::string value = p.is_constant(source) ? constant(p.needs, p.root_buffer(source).elements[0])
                              : p.is_scalar(source) ? variable(p, source, by_address)
                                                    : str(variable(p, source), "[0]");
    const std::string place =
        p.is_scalar(destination) ? variable(p, destination, by_address) : str(variable(p, destination), "[0]");
    return out.line(place, " = ", value, ";");
  }
  const Dim count = num_elements(from);
  if (memory::same_place(p.program, p.plan.sharing, source, destination) || count.is(0)) return;
  out.line(where_there_are(p, count), "memcpy(", variable(p, destination), ", ", variable(p, source), ", ",
           bytes_text(p, from), ");");
}

void write_size_check(ProgramText& p, Text& entry, const kernel::SizeCheck& check) {
  const std::vector<std::string> sizes = {p.size(check.left), p.size(check.right)};
  const bool equal = check.relation == DimCheck::Relation::equal;
  entry.fail_if(str(sizes[0], equal ? " != " : " > ", sizes[1]), p.failure(check.site, sizes));
}

void write_bind_size(ProgramText& p, Text& entry, const kernel::BindSize& bind) {
  const std::vector<std::string> number = {variable(p, bind.value)};
  entry.line("if (", number[0], " < 0) ", p.failure(bind.site, number));
  bind_symbol(p, entry, bind.symbol, number[0]);
}

void write_host_call(ProgramText& p, Text& entry, const kernel::HostCall& call) {
  entry.comment(str("host call: ", call.name));
  entry.open("");
  std::vector<std::string> operand_dims;
  for (BufferId operand : call.operands) {
    for (const Dim& dim : p.program.buffers[operand].dims) operand_dims.push_back(p.size(dim));
  }
  std::size_t num_dims = 0;
  for (BufferId result : call.results) num_dims += p.program.buffers[result].dims.size();
  write_array(entry, "void* const ", "operands", addresses_of(p, call.operands));
  write_array(entry, "const int64_t ", "operand_dims", operand_dims);
  entry.line("void* results[", std::max<std::size_t>(call.results.size(), 1), "];");
  entry.line("int64_t result_dims[", std::max<std::size_t>(num_dims, 1), "];");
  entry.line("const int32_t status = call->host_call(call, ", call.function,
             ", operands, operand_dims, results, result_dims);");
  entry.line("if (status != INLAY_OK) return status;");

  // The shapes that came: some name the symbols of what follows, the others must be what was promised.
  std::vector<std::size_t> first_dims;
  std::size_t at = 0;
  for (BufferId result : call.results) {
    first_dims.push_back(at);
    at += p.program.buffers[result].dims.size();
  }
  const auto came = [&](std::size_t result, std::size_t axis) {
    return str("result_dims[", first_dims[result] + axis, "]");
  };
  for (const kernel::HostCall::Binding& binding : call.bindings) {
    bind_symbol(p, entry, binding.symbol,
                came(static_cast<std::size_t>(binding.result), static_cast<std::size_t>(binding.axis)));
  }
  for (std::size_t r = 0; r < call.results.size(); ++r) {
    entry.line(variable(p, call.results[r]), " = results[", r, "];");
    const std::vector<Dim>& promised = p.program.buffers[call.results[r]].dims;
    for (std::size_t axis = 0; axis < promised.size(); ++axis) {
      const bool binds = std::ranges::any_of(call.bindings, [&](const kernel::HostCall::Binding& b) {
        return static_cast<std::size_t>(b.result) == r && static_cast<std::size_t>(b.axis) == axis;
      });
      if (binds) continue;
      const std::vector<std::string> numbers = {came(r, axis), p.size(promised[axis]), std::to_string(r),
                                                std::to_string(axis)};
      entry.line("if (", numbers[0], " != ", numbers[1], ") ", p.failure(call.site, numbers));
    }
  }
  entry.close();
}

namespace {

/// Where the first element of each array is, and three strides for each.
struct ArrayTables {
  std::vector<std::string> begins, strides;
};
ArrayTables tables_of(ProgramText& p, const std::vector<kernel::CallArray>& arrays) {
  ArrayTables out;
  for (const kernel::CallArray& array : arrays) {
    std::string& begin = out.begins.emplace_back(addresses_of(p, {array.buffer})[0]);
    if (!array.offset.is(0) || array.index.valid()) {
      const std::string index =
          array.index.valid() ? str(" + ", variable(p, array.index), " * ", p.factor(array.index_stride)) : "";
      const kernel::Buffer& buffer = p.program.buffers[array.buffer];
      const std::string there =
          str("(char*)", begin, " + (", p.size(array.offset), index, ") * ", size_bytes(buffer.dtype));
      // C has no place beside the first of no elements.
      const Dim elements = kernel::num_elements(buffer);
      begin = elements.is_constant() ? there : str("(", p.size(elements), ") == 0 ? (char*)", begin, " : ", there);
    }
    for (const Dim& stride : array.strides) out.strides.push_back(p.size(stride));
  }
  return out;
}

/// `name`: op and dtype
std::string function_of(const Needs& needs, const std::string& name) {
  std::string by_blas = "inlay_blas_" + name;
  if (needs.calls_blas && std::ranges::find(functions(), by_blas, &Function::name) != functions().end()) return by_blas;
  return "inlay_l_" + name;
}

}  // namespace

// int32_t inlay_l_NAME_DTYPE(operands, operand_strides, results, result_strides, sizes, options, workspace, failure,
// call, stop): see library/library.h.
void write_library_call(ProgramText& p, Text& entry, const kernel::LibraryCall& call) {
  const DType dtype = p.program.buffers[call.operands[0].buffer].dtype;
  const std::string function = function_of(p.needs, str(facts(call.op).name, "_", dtype_name(dtype)));
  Needs::External& external = p.needs.externals[function];
  external.op = facts(call.op).name;
  external.declaration = str(
      "extern int32_t ", function,
      "(const void* const* operands, const int64_t* operand_strides, void* const* results,\n",
      "    const int64_t* result_strides, const int64_t* sizes, uint32_t options, void* workspace, int64_t* failure,\n",
      "    InlayCall* call, const int32_t* stop);");
  for (const kernel::CallArray& result : call.results) external.values.insert(p.name(result.buffer));
  std::vector<std::string> sizes;
  for (const Dim& size : call.sizes) sizes.push_back(p.size(size));
  entry.open("");
  const ArrayTables operands = tables_of(p, call.operands), results = tables_of(p, call.results);
  write_array(entry, "const void* const ", "operands", operands.begins);
  write_array(entry, "const int64_t ", "operand_strides", operands.strides);
  write_array(entry, "void* const ", "results", results.begins);
  write_array(entry, "const int64_t ", "result_strides", results.strides);
  write_array(entry, "const int64_t ", "sizes", sizes);
  entry.line("int64_t failure[2] = {0, 0};");
  const std::string workspace = call.workspace.valid() ? p.address(call.workspace) : "NULL";
  const std::string text = str(function, "(operands, operand_strides, results, result_strides, sizes, ", call.options,
                               ", ", workspace, ", failure, call, ", p.stop_flag(), ");");
  entry.line("const int32_t status = ", text);
  entry.line("if (status == INLAY_INTERRUPTED) return INLAY_INTERRUPTED;");
  const std::vector<std::string> numbers = {"failure[0]", "failure[1]"};
  for (std::size_t site = 0; site < call.sites.size(); ++site) {
    entry.line("if (status == ", site + 1, ") ", p.failure(call.sites[site], numbers));
  }
  entry.close();
}

}  // namespace inlay::c_backend
