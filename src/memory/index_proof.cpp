#include "memory/index_proof.h"

#include <algorithm>
#include <bit>

#include "ir/hash.h"

namespace inlay::memory {

using kernel::Bounds;
using kernel::BufferId;
using kernel::Kernel;
using kernel::KernelProgram;
using kernel::Stage;
using kernel::Statement;
using kernel::Subscript;

namespace {

bool takes_for_checked(const Stage& stage) {
  return std::ranges::any_of(stage.statements, [](const Statement& s) {
    return std::ranges::any_of(s.map.subscripts, [](const Subscript& subscript) {
      return subscript.index && subscript.index->bounds == Bounds::checked_before;
    });
  });
}

uint64_t number_of(const Literal& literal) {
  return mixed(static_cast<std::size_t>(literal.dtype),
               static_cast<uint64_t>(literal.i) ^ std::bit_cast<uint64_t>(literal.f));
}

}  // namespace

IndexProof::IndexProof(const KernelProgram& program, std::span<const int64_t> symbols)
    : program_(program), symbols_(symbols), versions_(program.buffers.size(), 0) {
  for (const kernel::Step& step : program.steps) {
    const auto* kernel = std::get_if<Kernel>(&step);
    is_asked_ |= kernel && std::ranges::any_of(kernel->stages, takes_for_checked);
  }
}

void IndexProof::pass_step(const kernel::Step& step) {
  for (BufferId b : access_of(program_, step).writes) change(b);
}

void IndexProof::begin_stage(const Stage& stage) {
  checked_.merge(checked_here_);
  checked_here_.clear();
  registers_.assign(static_cast<std::size_t>(stage.num_registers), 0);
  facts_.assign(static_cast<std::size_t>(stage.num_registers), {});
  for (const Statement& s : stage.statements) {
    if (s.kind != Statement::Kind::load) continue;
    facts_[s.result.index] = program_.buffers[kernel::root_of(program_, s.buffer)].facts;
  }
  for (const Statement& s : stage.statements) {
    if (s.is_write()) change(s.buffer);
  }
}

bool IndexProof::pass_point(const Stage& stage, std::span<const int64_t> point) {
  bool is_proved = true;
  for (const Statement& s : stage.statements) {
    for (const Subscript& subscript : s.map.subscripts) {
      if (!subscript.index) continue;
      const std::pair index(registers_[subscript.index->index.index], subscript.index->extent.evaluate(symbols_));
      if (subscript.index->bounds == Bounds::checked && !s.predicate.valid()) checked_here_.insert(index);
      is_proved &= subscript.index->bounds != Bounds::checked_before || checked_.contains(index) ||
                   is_known_within(*subscript.index, index.second);
    }
    if (s.result.valid()) registers_[s.result.index] = s.is_write() ? mixed(1, ++last_unknown_) : number_of(s, point);
  }
  return is_proved;
}

bool IndexProof::is_known_within(const kernel::IndexTerm& index, int64_t extent) const {
  const Facts& facts = facts_[index.index.index];
  return facts.has_range && facts.max < extent && facts.min >= -extent;
}

uint64_t IndexProof::number_of(const Statement& s, std::span<const int64_t> point) const {
  uint64_t number = mixed(static_cast<std::size_t>(s.kind), static_cast<uint64_t>(s.dtype));
  switch (s.kind) {
    case Statement::Kind::load:
      number = mixed(mixed(number, s.buffer.index), versions_[kernel::root_of(program_, s.buffer)]);
      for (const Subscript& subscript : s.map.subscripts) number = mixed(number, number_of(subscript, point));
      return number;
    case Statement::Kind::literal: return mixed(number, memory::number_of(s.literal));
    case Statement::Kind::axis: return mixed(number, static_cast<uint64_t>(point[static_cast<std::size_t>(s.axis)]));
    case Statement::Kind::size: return mixed(number, static_cast<uint64_t>(s.size.evaluate(symbols_)));
    case Statement::Kind::op: number = mixed(number, static_cast<uint64_t>(s.op)); break;
    case Statement::Kind::cast:
    case Statement::Kind::store:
    case Statement::Kind::fold:
    case Statement::Kind::check: break;
  }
  for (kernel::RegisterId r : s.operands) number = mixed(number, registers_[r.index]);
  return number;
}

uint64_t IndexProof::number_of(const Subscript& subscript, std::span<const int64_t> point) const {
  int64_t at = subscript.base.evaluate(symbols_);
  for (const kernel::AxisTerm& term : subscript.axes)
    at += term.step.evaluate(symbols_) * point[static_cast<std::size_t>(term.axis)];
  if (!subscript.index) return static_cast<uint64_t>(at);
  const uint64_t index = mixed(registers_[subscript.index->index.index], static_cast<uint64_t>(subscript.index->step));
  return mixed(mixed(index, static_cast<uint64_t>(subscript.index->extent.evaluate(symbols_))),
               static_cast<uint64_t>(at));
}

}  // namespace inlay::memory
