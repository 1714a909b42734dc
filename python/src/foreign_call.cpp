#include "foreign_call.h"

#include <algorithm>

#include "foreign_host.h"
#include "gil.h"
#include "runtime/scratch.h"

namespace inlay::python {

ForeignFunction::ForeignFunction(const HeldProgram& program, const std::vector<PyObject*>& arguments,
                                 std::string refusal)
    : arguments_(program, arguments, std::move(refusal)), refs_(arguments_.refs_by_slot()) {
  const BoundProgram& bound = arguments_.program();
  for (const ArrayForm& info : bound.arguments()) {
    if (info.is_opaque) arguments_.refuse(str(info.name, " is no array"));
    if (info.donated) arguments_.refuse(str("a call may overwrite ", info.name, ", which is donated"));
  }
  for (std::size_t i = 0; i < bound.results().size(); ++i) {
    const ArrayForm& info = bound.results()[i];
    if (info.is_opaque) arguments_.refuse(str("result ", i, " is no array"));
    if (info.is_late) arguments_.refuse(str("the size of result ", i, " is found only while the function runs"));
  }
  for (std::size_t i : arguments_.from_caller()) {
    slots_.push_back(static_cast<std::size_t>(bound.slot_of_argument(i)));
  }
}

const ArrayForm& ForeignFunction::argument(std::size_t i) const {
  return arguments_.program().arguments()[arguments_.from_caller()[i]];
}

void ForeignFunction::bind(std::span<const int64_t* const> dims, std::span<int64_t> symbols) const {
  runtime::Scratch<runtime::TensorRef, 64> refs(refs_.size());
  std::ranges::copy(refs_, refs.data());
  for (std::size_t i = 0; i < slots_.size(); ++i) refs[slots_[i]].dims = dims[i];
  arguments_.program().executable().bind_symbols(refs.span(), symbols);
}

std::optional<Error> ForeignFunction::run(const void* const* given, std::span<const int64_t> symbols,
                                          void** results) const noexcept {
  const BoundProgram& program = arguments_.program();
  const runtime::Executable& executable = program.executable();
  try {
    runtime::Scratch<const void*, 32> params(refs_.size());
    for (std::size_t slot = 0; slot < refs_.size(); ++slot) params[slot] = refs_[slot].data;
    for (std::size_t i = 0; i < slots_.size(); ++i) params[slots_[i]] = given[i];
    runtime::Scratch<int64_t, 32> sizes(symbols.size());  // the code sets some of them
    std::ranges::copy(symbols, sizes.data());
    std::optional<ForeignHost> host;
    if (!executable.object().host_calls.empty()) host.emplace(program);
    runtime::Executable::Failure failure;
    const int32_t code = executable.run(params.data(), results, sizes.data(), host ? &*host : nullptr, failure);
    if (code == INLAY_OK) return std::nullopt;
    if (code == INLAY_HOST_CALL_FAILED && host && !host->why_failed().empty()) {
      return Error(ErrorCode::host_call_failed, {}, str("a host call failed: ", host->why_failed()));
    }
    return executable.error_of(code, failure);
  } catch (const Error& error) {
    return error;
  } catch (const std::bad_alloc&) {
    return Error(ErrorCode::out_of_memory, {}, "no memory for the call's own values");
  } catch (const std::exception& error) {  // of a planner
    return Error(ErrorCode::internal, {}, error.what());
  }
}

void WithGil::operator()(const ForeignFunction* function) const {
  const ForeignGil gil;
  if (gil) delete function;
}

}  // namespace inlay::python
