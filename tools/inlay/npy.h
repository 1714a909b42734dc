#pragma once
// NumPy's .npy files: one array each. Versions 1 to 3, row-major and column-major, little-endian.
//
// A file comes from anywhere: every length in it is compared with the bytes that are there before it is believed, and
// what does not fit is Error(invalid_file) that says why.
#include <string>
#include <string_view>
#include <vector>

#include "oracle/reference/tensor.h"

namespace inlay::tool {

using reference::Tensor;

/// The array in a file, row-major.
Tensor read_npy(const std::string& path);
void write_npy(const std::string& path, const Tensor& tensor);

// The same with the file's bytes; `name` is for errors.
Tensor decode_npy(std::string_view bytes, const std::string& name);
std::string encode_npy(const Tensor& tensor);

/// All bytes of a file, or Error(invalid_file). Of one that does not begin with `begins`, which may have no end, the
/// first ones.
std::string read_file(const std::string& path, std::string_view begins = {});
void write_file(const std::string& path, std::string_view bytes);

}  // namespace inlay::tool
