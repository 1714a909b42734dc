#pragma once
// The element types of tensors.
#include <cstdint>
#include <optional>
#include <string_view>

namespace inlay {

/// `opaque` is a value that a door owns (a generator, a list): it enters, leaves and goes through host calls only.
/// f16 and bf16 are storage: arithmetic on them is done in f32.
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

}  // namespace inlay
