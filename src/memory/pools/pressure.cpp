#include "memory/pools/pressure.h"

#include <algorithm>

namespace inlay::memory::pools {

Pressure::Pressure(std::span<const Storage> storages, int64_t capacity_bytes) : capacity_bytes_(capacity_bytes) {
  for (const Storage& s : storages) {
    times_.push_back(s.live.begin);
    times_.push_back(s.live.end);
  }
  std::ranges::sort(times_);
  times_.erase(std::unique(times_.begin(), times_.end()), times_.end());
  live_bytes_.resize(times_.size());
  fixed_bytes_.resize(times_.size());
  full_times_.resize(times_.size() + 1);
  excess_.resize(times_.size() + 1);
}

std::size_t Pressure::at(int32_t time) const {
  return static_cast<std::size_t>(std::ranges::lower_bound(times_, time) - times_.begin());
}

void Pressure::add_fixed(const Storage& storage) {
  add(storage);
  change(fixed_bytes_, storage, storage.size_bytes);
}

void Pressure::change(std::vector<int64_t>& of, const Storage& storage, int64_t bytes) {
  is_summed_ = false;
  for (std::size_t t = at(storage.live.begin), end = at(storage.live.end); t < end; ++t) of[t] += bytes;
}

void Pressure::sum() {
  if (is_summed_) return;
  is_summed_ = true;
  for (std::size_t t = 0; t < times_.size(); ++t) {
    const bool is_full = live_bytes_[t] > capacity_bytes_ && fixed_bytes_[t] <= capacity_bytes_;
    full_times_[t + 1] = full_times_[t] + (is_full ? 1 : 0);
    excess_[t + 1] = excess_[t] + (is_full ? static_cast<double>(live_bytes_[t] - capacity_bytes_) : 0);
  }
}

bool Pressure::is_relieved() {
  sum();
  return full_times_.back() == 0;
}

double Pressure::relief(const Storage& storage) {
  sum();
  const std::size_t begin = at(storage.live.begin), end = std::max(begin, at(storage.live.end));
  const double full = full_times_[end] - full_times_[begin];
  return std::min(static_cast<double>(storage.size_bytes) * full, excess_[end] - excess_[begin]);
}

}  // namespace inlay::memory::pools
