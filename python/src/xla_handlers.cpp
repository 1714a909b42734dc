// XLA's typed FFI in C: what a program of XLA's calls. (xla_function.h)
#include <algorithm>
#include <string>
#include <tuple>

#include "runtime/scratch.h"
#include "xla_numbers.h"
#ifdef INLAY_HAS_XLA_FFI
#include <xla/ffi/api/c_api.h>
#endif

namespace nb = nanobind;

namespace inlay::python {

#ifndef INLAY_HAS_XLA_FFI
nb::dict xla_handlers() { return {}; }
#else
namespace {

using State = std::shared_ptr<const ForeignFunction>;

XLA_FFI_TypeId state_id{};  // XLA sets it when the type is registered
XLA_FFI_TypeInfo state_info{XLA_FFI_TypeInfo_STRUCT_SIZE, nullptr,
                            [](void* state) { delete static_cast<State*>(state); }};

XLA_FFI_Error* failed(const XLA_FFI_CallFrame& frame, XLA_FFI_Error_Code code, const std::string& text) {
  XLA_FFI_Error_Create_Args args{XLA_FFI_Error_Create_Args_STRUCT_SIZE, nullptr, text.c_str(), code};
  return frame.api->XLA_FFI_Error_Create(&args);
}

XLA_FFI_Error_Code code_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::out_of_memory: return XLA_FFI_Error_Code_RESOURCE_EXHAUSTED;
    case ErrorCode::interrupted: return XLA_FFI_Error_Code_CANCELLED;
    case ErrorCode::internal: return XLA_FFI_Error_Code_INTERNAL;
    default: return XLA_FFI_Error_Code_INVALID_ARGUMENT;
  }
}

XLA_FFI_Error* failed(const XLA_FFI_CallFrame& frame, const Error& error) {
  return failed(frame, code_of(error.code()), error.what());
}

/// Is the call only a question about the handler? It is answered then. `state`: the type of the state that it makes.
bool answers(const XLA_FFI_CallFrame& frame, XLA_FFI_TypeId state) {
  const XLA_FFI_InternalExtension* const extension = frame.extension_start;
  if (extension == nullptr || extension->type != XLA_FFI_Extension_Metadata) return false;
  XLA_FFI_Metadata& metadata = *reinterpret_cast<const XLA_FFI_Metadata_Extension*>(extension)->metadata;
  metadata.api_version = {XLA_FFI_Api_Version_STRUCT_SIZE, nullptr, XLA_FFI_API_MAJOR, XLA_FFI_API_MINOR};
  metadata.traits = 0;
  metadata.state_type_id = state;
  return true;
}

DType dtype_of(XLA_FFI_DataType type) {
  switch (type) {
    case XLA_FFI_DataType_PRED: return DType::boolean;
    case XLA_FFI_DataType_S8: return DType::i8;
    case XLA_FFI_DataType_S16: return DType::i16;
    case XLA_FFI_DataType_S32: return DType::i32;
    case XLA_FFI_DataType_S64: return DType::i64;
    case XLA_FFI_DataType_U8: return DType::u8;
    case XLA_FFI_DataType_U16: return DType::u16;
    case XLA_FFI_DataType_U32: return DType::u32;
    case XLA_FFI_DataType_U64: return DType::u64;
    case XLA_FFI_DataType_F16: return DType::f16;
    case XLA_FFI_DataType_BF16: return DType::bf16;
    case XLA_FFI_DataType_F32: return DType::f32;
    case XLA_FFI_DataType_F64: return DType::f64;
    case XLA_FFI_DataType_C64: return DType::c64;
    case XLA_FFI_DataType_C128: return DType::c128;
    default: return DType::opaque;
  }
}

/// An argument or result of a call: the dims of the batch, those of the function, and where its bytes are.
struct Place {
  std::byte* data = nullptr;
  const int64_t* dims = nullptr;  // those of the batch first
  int64_t element_bytes = 0;      // of all that one call of the function takes or makes

  /// At these positions in the batch; it has length 1 where it is the same for all.
  void* at(std::span<const int64_t> positions) const {
    int64_t element = 0;
    for (std::size_t i = 0; i < positions.size(); ++i) element = element * dims[i] + (dims[i] == 1 ? 0 : positions[i]);
    return data + element * element_bytes;
  }
};

/// False: the buffer is not what was traced.
bool place(const void* buffer, const ArrayForm& info, std::span<const int64_t> batch, Place& into) {
  static std::byte nothing;  // where no element is
  const auto& given = *static_cast<const XLA_FFI_Buffer*>(buffer);
  const auto rank = static_cast<int64_t>(batch.size()) + info.rank;
  if (dtype_of(given.dtype) != info.dtype || given.rank != rank) return false;
  into.data = given.data == nullptr ? &nothing : static_cast<std::byte*>(given.data);
  into.dims = given.dims;
  into.element_bytes = size_bytes(info.dtype);
  for (std::size_t i = 0; i < batch.size(); ++i) {
    if (given.dims[i] != batch[i] && given.dims[i] != 1) return false;
  }
  for (int64_t i = static_cast<int64_t>(batch.size()); i < rank; ++i) into.element_bytes *= given.dims[i];
  return true;
}

/// The positions of the next element of a batch.
void advance(std::span<int64_t> positions, std::span<const int64_t> batch) {
  for (std::size_t i = batch.size(); i-- > 0;) {
    if (++positions[i] < batch[i]) return;
    positions[i] = 0;
  }
}

/// Dims of results are those that were traced, too.
bool fits(const ForeignFunction& function, std::size_t result, std::span<const int64_t> symbols,
          std::span<const int64_t> batch, const Place& given) {
  runtime::Scratch<int64_t, 8> dims(static_cast<std::size_t>(function.result(result).rank));
  function.arguments().program().executable().output_dims(static_cast<int>(result), symbols, dims.span());
  return std::ranges::equal(batch, std::span(given.dims, batch.size())) &&
         std::ranges::equal(dims.span(), std::span(given.dims + batch.size(), dims.span().size()));
}

XLA_FFI_Error* run(const XLA_FFI_CallFrame& frame, const ForeignFunction& function) {
  const std::size_t num_arguments = function.num_arguments(), num_results = function.num_results();
  const auto other = [&] {
    return failed(frame, XLA_FFI_Error_Code_INVALID_ARGUMENT, "inlay: the call has other arrays than its function");
  };
  if (frame.args.size != static_cast<int64_t>(num_arguments) || num_results == 0 ||
      frame.rets.size != static_cast<int64_t>(num_results)) {
    return other();
  }
  const auto& first = *static_cast<const XLA_FFI_Buffer*>(frame.rets.rets[0]);
  if (first.rank < function.result(0).rank) return other();
  const std::span<const int64_t> batch(first.dims, static_cast<std::size_t>(first.rank - function.result(0).rank));
  runtime::Scratch<Place, 16> places(num_arguments + num_results);
  runtime::Scratch<const int64_t*, 16> dims(num_arguments);
  for (std::size_t i = 0; i < num_arguments; ++i) {
    if (!place(frame.args.args[i], function.argument(i), batch, places[i])) return other();
    dims[i] = places[i].dims + batch.size();
  }
  runtime::Scratch<int64_t, 32> symbols(function.num_symbols());
  function.bind(dims.span(), symbols.span());
  for (std::size_t i = 0; i < num_results; ++i) {
    Place& result = places[num_arguments + i];
    if (!place(frame.rets.rets[i], function.result(i), batch, result)) return other();
    if (!fits(function, i, symbols.span(), batch, result)) return other();
  }
  int64_t count = 1;
  for (int64_t dim : batch) count *= dim;
  runtime::Scratch<int64_t, 8> positions(batch.size());
  std::ranges::fill(positions.span(), 0);
  runtime::Scratch<void*, 16> addresses(num_arguments + num_results);
  for (; count > 0; --count, advance(positions.span(), batch)) {
    for (std::size_t i = 0; i < num_arguments + num_results; ++i) addresses[i] = places[i].at(positions.span());
    const auto error = function.run(addresses.data(), symbols.span(), addresses.data() + num_arguments);
    if (error) return failed(frame, *error);
  }
  return nullptr;
}

/// Once for each call in an executable that XLA makes.
XLA_FFI_Error* instantiate(XLA_FFI_CallFrame* frame) noexcept {
  if (answers(*frame, state_id)) return nullptr;
  try {
    State function;
    for (int64_t i = 0; i < frame->attrs.size; ++i) {
      if (frame->attrs.types[i] != XLA_FFI_AttrType_SCALAR) continue;
      const auto& scalar = *static_cast<const XLA_FFI_Scalar*>(frame->attrs.attrs[i]);
      const XLA_FFI_ByteSpan& name = *frame->attrs.names[i];
      if (scalar.dtype != XLA_FFI_DataType_S64 || std::string_view(name.ptr, name.len) != "number") continue;
      function = function_of_number(*static_cast<const int64_t*>(scalar.value));
    }
    if (!function) {
      return failed(*frame, XLA_FFI_Error_Code_NOT_FOUND,
                    "inlay: the function of this call is gone, or of another process");
    }
    auto state = std::make_unique<State>(std::move(function));
    XLA_FFI_State_Set_Args args{};
    args.struct_size = XLA_FFI_State_Set_Args_STRUCT_SIZE;
    args.ctx = frame->ctx;
    args.stage = XLA_FFI_ExecutionStage_INSTANTIATE;
    args.type_id = &state_id;
    args.state = state.get();
    XLA_FFI_Error* const error = frame->api->XLA_FFI_State_Set(&args);
    if (error == nullptr) std::ignore = state.release();  // it is XLA's now
    return error;
  } catch (const std::exception& error) {
    return failed(*frame, XLA_FFI_Error_Code_INTERNAL, error.what());
  }
}

XLA_FFI_Error* execute(XLA_FFI_CallFrame* frame) noexcept {
  if (answers(*frame, XLA_FFI_UNKNOWN_TYPE_ID)) return nullptr;
  XLA_FFI_State_Get_Args args{};
  args.struct_size = XLA_FFI_State_Get_Args_STRUCT_SIZE;
  args.ctx = frame->ctx;
  args.stage = XLA_FFI_ExecutionStage_INSTANTIATE;
  args.type_id = &state_id;
  if (XLA_FFI_Error* const error = frame->api->XLA_FFI_State_Get(&args)) return error;
  try {
    return run(*frame, **static_cast<const State*>(args.state));
  } catch (const Error& error) {
    return failed(*frame, error);
  } catch (const std::exception& error) {
    return failed(*frame, XLA_FFI_Error_Code_INTERNAL, error.what());
  }
}

template <class T>
nb::capsule capsule(T* address) {
  return nb::capsule(reinterpret_cast<void*>(address));
}

}  // namespace

nb::dict xla_handlers() {
  nb::dict target, type, all;
  target["instantiate"] = capsule(&instantiate);
  target["execute"] = capsule(&execute);
  type["type_id"] = capsule(&state_id);
  type["type_info"] = capsule(&state_info);
  all["target"] = target;
  all["type"] = type;
  all["version"] = str(XLA_FFI_API_MAJOR, ".", XLA_FFI_API_MINOR);
  return all;
}
#endif

}  // namespace inlay::python
