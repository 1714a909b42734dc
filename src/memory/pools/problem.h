#pragma once
// Buffers as what planners see: storages on one line of time.
#include "memory/pools/pools.h"

namespace inlay::memory::pools {

/// Bytes that one or more buffers lie in, since they are made of those of one of them.
struct Group {
  Storage storage;
  std::vector<std::size_t> pools;  // where it may lie, the best first
  int64_t cost = 0;

  /// It lies in the first pool, whatever there is.
  bool stays() const { return storage.is_pinned() || storage.size_bytes == 0; }
};

struct Problem {
  std::vector<Pool> pools;
  std::vector<int64_t> times;  // by tick: what it stands for
  std::vector<Group> groups;
  std::vector<std::size_t> group_of;     // by buffer
  std::vector<int64_t> offset_in_group;  // by buffer
  std::vector<Lifetime> live;            // by buffer
};
Problem make_problem(const std::vector<Buffer>& buffers, const std::vector<Pool>& pools);

/// The buffer that each lies in at last, and where there. Of no mistakes.
struct Root {
  std::size_t buffer = 0;
  int64_t offset_bytes = 0;
};
std::vector<Root> roots_of(const std::vector<Buffer>& buffers);

/// By buffer the first pool that it may lie in: its number, those that only buffers name behind those that are given.
std::vector<std::size_t> first_pools(const std::vector<Buffer>& buffers, const std::vector<Pool>& pools);

/// Makes what has `all` needed also when `live` is.
void extend(Lifetime& all, const Lifetime& live);

/// By buffer: when it is needed, on one line of time on which the entry points follow each other.
std::vector<Lifetime> lives_of(const std::vector<Buffer>& buffers, std::vector<int64_t>& times);

}  // namespace inlay::memory::pools
