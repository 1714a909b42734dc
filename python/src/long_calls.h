#pragma once
// Which calls of a function are long enough that giving up the GIL for them is worth what it costs.
//
// It has to be known before the call: one that keeps the GIL lets no other thread run Python, and does not look for
// Ctrl-C. So a call keeps it only where no size of it, and no number that may be a count of steps, is more than twice
// that of calls that were seen to be short, and neither is their product: what an array, a loop or a product of sizes
// takes grows with these. (Twice: a number that counts the calls is beyond few of them.) A loop that ends by a
// condition may take longer all the same: of the calls that keep the GIL some are timed, and where one was long those
// that follow give it up.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace inlay::python {

class LongCalls {
 public:
  /// Of calls with so many sizes and numbers.
  LongCalls(std::size_t num_sizes, std::size_t num_numbers) : sizes_(num_sizes), numbers_(num_numbers) {
    for (auto* list : {&sizes_, &numbers_}) {
      for (std::atomic<int64_t>& most : *list) most = -1;
    }
  }

  /// What is known of a call when it begins.
  struct Outlook {
    double product = 1;       // of its sizes and numbers
    bool is_beyond = false;   // the calls that were short
    bool may_be_long = true;  // it gives up the GIL
    bool is_timed = true;     // and its seconds are wanted by `took`
  };

  /// A size below 0 is not known yet; of a number below 0 its magnitude counts.
  [[gnu::always_inline]] Outlook outlook(std::span<const int64_t> sizes, std::span<const int64_t> numbers) const {
    Outlook out;
    for (std::size_t i = 0; i < sizes.size(); ++i) look(sizes_[i], sizes[i], out);
    for (std::size_t i = 0; i < numbers.size(); ++i) look(numbers_[i], magnitude(numbers[i]), out);
    out.is_beyond |= out.product > product_.load(std::memory_order_relaxed);
    out.may_be_long = out.is_beyond || suspects_.load(std::memory_order_relaxed) > 0;
    // Not an atomic increment: that it may lose a count from another thread does no harm, that it takes longer would.
    const uint32_t number = num_calls_.load(std::memory_order_relaxed);
    num_calls_.store(number + 1, std::memory_order_relaxed);
    out.is_timed = out.may_be_long || number % kTimedEvery == 0;
    return out;
  }

  /// A call has taken so long.
  void took(double seconds, const Outlook& outlook, std::span<const int64_t> sizes, std::span<const int64_t> numbers) {
    if (seconds > kLongSeconds) {
      if (!outlook.is_beyond) suspects_.store(kSuspects, std::memory_order_relaxed);
    } else if (outlook.is_beyond) {
      for (std::size_t i = 0; i < sizes.size(); ++i) raise(sizes_[i], sizes[i]);
      for (std::size_t i = 0; i < numbers.size(); ++i) raise(numbers_[i], magnitude(numbers[i]));
      raise(product_, outlook.product);
    } else if (const uint32_t left = suspects_.load(std::memory_order_relaxed); left > 0) {
      suspects_.store(left - 1, std::memory_order_relaxed);
    }
  }

 private:
  static constexpr double kLongSeconds = 20e-6;
  static constexpr uint32_t kTimedEvery = 64;  // of the calls that keep the GIL
  static constexpr uint32_t kSuspects = 256;   // short calls that make up for a long one that kept it

  static int64_t magnitude(int64_t number) { return number < 0 ? ~number : number; }  // of INT64_MIN too

  static void look(const std::atomic<int64_t>& most, int64_t size, Outlook& out) {
    out.is_beyond |= size > most.load(std::memory_order_relaxed);
    out.product *= 1 + static_cast<double>(std::max<int64_t>(size, 0));
  }

  template <class T>
  static void raise(std::atomic<T>& most, T value) {
    const T twice = value > std::numeric_limits<T>::max() / 2 ? std::numeric_limits<T>::max() : 2 * value;
    most.store(std::max(most.load(std::memory_order_relaxed), twice), std::memory_order_relaxed);
  }

  std::vector<std::atomic<int64_t>> sizes_, numbers_;  // twice the most of each that a short call had
  std::atomic<double> product_ = -1;                   // likewise
  std::atomic<uint32_t> suspects_ = 0;                 // so many calls are not trusted to be short
  mutable std::atomic<uint32_t> num_calls_ = 0;
};

}  // namespace inlay::python
