#pragma once
#include <string>

#include "onnx/model.h"

namespace inlay::onnx {

/// The bytes of a file, read when they are looked at, for as long as somebody holds them.
///
/// Errors: invalid-file.
Bytes map_file(const std::string& path);

}  // namespace inlay::onnx
