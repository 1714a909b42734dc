#pragma once
// Which attributes an op of ONNX has, and how many inputs, by version.
#include "onnx/call.h"

namespace inlay::onnx {

/// Throws Error(invalid-file) where a node has an attribute that its op does not have in this version, and
/// Error(wrong-arity) where it has more inputs: they would be ignored, and mean something else than whoever wrote them
/// takes them to. Of ops of other domains nothing is known.
void require_signature(const Call& c);

}  // namespace inlay::onnx
