#pragma once
// Which attributes an op of ONNX has, and how many inputs, by version.
#include "onnx/call.h"

namespace inlay::onnx {

/// Throws Error(invalid-file) where a node has an attribute, or an input, that its op does not have in this version: it
/// would be ignored, and mean something else than whoever wrote it takes it to. Of ops of other domains nothing is
/// known.
void require_signature(const Call& c);

}  // namespace inlay::onnx
