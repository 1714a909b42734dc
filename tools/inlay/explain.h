#pragma once
// How a program was compiled, for a reader.
#include <string>

#include "compiler/compile.h"
#include "file/function_file.h"

namespace inlay::tool {

/// The graph after rewriting, how often each rule fired, the kernels, the memory map, what is stored and why, which
/// kernels stand apart and why, what else was not done, and the seconds of each stage. `file`: what the program was
/// read from, if that was a compiled function; it is told of first, and has no rewrites and no seconds.
std::string explain(const Lowered& program, const file::FunctionFile* file = nullptr);

/// The same as one JSON object: `rewrites` (how often, by rule), `kernels` (name, text, stages, loads, stores,
/// reductions, reads, writes), `memory` (step, value, type, storage, segment, at, bytes, lives, reason: the rows of the
/// memory map), `copies` (reason), `stored` (name, bytes, where, reason), `apart` (first,
/// second, shared, reason), `arena_bytes` (null where it
/// depends on sizes), `refusals`, `order_gain` (empty: the steps run as they were fused), `seconds` by stage;
/// with a `file` (versions, code, target, parameters, results, sections) it has neither rewrites nor seconds.
std::string explain_json(const Lowered& program, const file::FunctionFile* file = nullptr);

}  // namespace inlay::tool
