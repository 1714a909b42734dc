#pragma once
// Runs a KernelProgram in plain C++: the oracle that tells a wrong plan from wrong machine code.
//
// The caller says where each buffer lies, so a program runs on the very bytes that memory planned, shared ones
// included. Points run in row-major order, every access is checked against its dim and its buffer, and nothing is
// vectorized, blocked or reordered. Slow, and easy to believe.
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernel/kernel.h"

namespace inlay::kernel {

/// Where a run stopped. A checked index: {index, extent}; a size check: {left, right}; a bound size: {it}; a host
/// call's shapes: {came, promised, result, axis}; `check`: its own.
struct Failure {
  SiteId site;
  std::vector<int64_t> numbers;
  std::string host_call;  // the name of a host function that failed itself, at this site
};

/// The error that a caller sees.
Error error_of(const KernelProgram& program, const Failure& failure);

/// Row-major elements in somebody's memory.
struct HostTensor {
  DType dtype = DType::f64;
  std::vector<int64_t> dims;
  std::byte* data = nullptr;
};

/// A door's function. Sets dims and data of each result (dtype is set); the memory must live until the run ends.
/// false: it failed.
using HostFunctions =
    std::function<bool(const HostCall& call, std::span<const HostTensor> operands, std::span<HostTensor> results)>;

/// The first byte of a param, output or temporary; `symbols` are those known by now. Never asked for a view, nor for
/// scalars, literals and what hosts made: those have no place in a plan.
using Addresses = std::function<std::byte*(BufferId buffer, std::span<const int64_t> symbols)>;

using BeforeStep = std::function<void(StepId step)>;

/// What is marked as elided (Note [Elided]): left_out on the bytes of the plan that it was marked for, done on others.
enum class Elided : uint8_t { left_out, done };

/// Runs all steps. `symbols`: by SymbolId; those bound by params are given, the others are set on the way.
std::optional<Failure> evaluate(const KernelProgram& program, std::span<int64_t> symbols, const Addresses& address_of,
                                const HostFunctions& host = {}, const BeforeStep& before = {},
                                Elided elided = Elided::left_out);

struct Array {
  DType dtype = DType::f64;
  std::vector<int64_t> dims;
  std::vector<std::byte> bytes;
};

struct Evaluation {
  std::vector<Array> outputs;  // by slot; empty after a failure
  std::optional<Failure> failure;
};

/// On memory of its own: each buffer lies alone and begins as bytes of ones (NaN), so that what was never written
/// shows.
Evaluation evaluate(const KernelProgram& program, std::span<const Array> params, const HostFunctions& host = {});

/// The sizes that the params bind; 0 where a step does. Throws Error where a param does not fit its buffer.
std::vector<int64_t> bind_symbols(const KernelProgram& program, std::span<const Array> params);

}  // namespace inlay::kernel
