#pragma once
// The element types of tensors.
#include <cstdint>
#include <optional>
#include <string_view>

namespace inlay {

/// `opaque` is a value that a door owns (a generator, a list): it enters, leaves, is carried by loops and goes through
/// host calls only.
/// Arithmetic on f16 and bf16 is done in f32, and each result rounded.
enum class DType : uint8_t { boolean, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64, c64, c128, opaque };
inline constexpr int kNumDTypes = 16;

std::string_view dtype_name(DType dtype);  // "bool", "i8", ... "c128", "opaque"
std::optional<DType> dtype_from_name(std::string_view name);
int64_t size_bytes(DType dtype);  // of one element; opaque is a pointer

bool is_signed_integer(DType dtype);
bool is_unsigned_integer(DType dtype);
bool is_integer(DType dtype);  // signed or unsigned; not bool
bool is_float(DType dtype);    // f16, bf16, f32, f64
bool is_complex(DType dtype);
bool is_half(DType dtype);  // f16, bf16

DType real_of(DType dtype);     // of the parts of a complex number; any other dtype is its own
DType complex_of(DType dtype);  // whose parts are f32, f64; any other dtype is its own

/// The dtype that both operands of arithmetic are converted to, as NumPy's result_type and PyTensor's upcast have it.
///
/// The wider of one kind. An integer and a float: a float that holds the integer (i8 f16, i16 f32, i32 f64), else f64.
/// A signed and an unsigned integer: a signed one that holds both, else f64. bool gives way to all. bf16, which NumPy
/// has not, goes to f32 with f16 and i16, else as f16 does. Of constants: docs/dtypes.md.
DType promote(DType a, DType b);

}  // namespace inlay
