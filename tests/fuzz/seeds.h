#pragma once
// The seeds of a random test: from INLAY_FUZZ_SEED on (else from the clock) for INLAY_FUZZ_SECONDS (else one).
// A program that takes five minutes of them hangs, and ends the test with its seed.
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <iostream>

#include <unistd.h>

namespace inlay::fuzz {

/// for (Seeds seeds; seeds.more();) check(seeds.next());
///
/// Says the first seed when it is made, and how many there were and which took longest at its end.
class Seeds {
 public:
  /// `share`: of the seconds, where one program runs several tests.
  explicit Seeds(double share = 1)
      : first_(static_cast<uint64_t>(from_environment("INLAY_FUZZ_SEED", by_clock()))),
        end_(Clock::now() + std::chrono::milliseconds(static_cast<int64_t>(
                                1000 * share * static_cast<double>(from_environment("INLAY_FUZZ_SECONDS", 1))))) {
    std::cout << "from seed " << first_ << std::endl;
    std::signal(SIGALRM, end_hanging);
  }
  ~Seeds() {
    alarm(0);
    note_last();
    std::cout << count_ << " programs, seeds " << first_ << " to " << first_ + count_ - 1 << "; " << slowest_
              << " took " << std::chrono::duration<double>(longest_).count() << " s" << std::endl;
  }
  Seeds(const Seeds&) = delete;
  Seeds& operator=(const Seeds&) = delete;

  /// Is there time for another? One runs in any case.
  bool more() const { return count_ == 0 || Clock::now() < end_; }
  uint64_t next() {
    note_last();
    now_ = first_ + count_++;
    alarm(kHangsAfterSeconds);
    return now_;
  }

 private:
  using Clock = std::chrono::steady_clock;

  // The slowest take seconds, with sanitizers too.
  static constexpr unsigned kHangsAfterSeconds = 300;
  static inline std::atomic<uint64_t> now_ = 0;

  /// A signal handler: it calls nothing that may take a lock.
  static void end_hanging(int) {
    char text[] = "INLAY_FUZZ_SEED=                     hangs\n";
    char* digit = text + 36;
    for (uint64_t seed = now_; digit[-1] != '='; seed /= 10) *--digit = static_cast<char>('0' + seed % 10);
    (void)!write(STDERR_FILENO, text, sizeof text - 1);
    std::abort();
  }

  static int64_t by_clock() { return std::chrono::system_clock::now().time_since_epoch().count() % 1000000007; }
  static int64_t from_environment(const char* name, int64_t otherwise) {
    const char* text = std::getenv(name);
    return text ? std::atoll(text) : otherwise;
  }

  void note_last() {
    const Clock::time_point now = Clock::now();
    if (count_ != 0 && now - began_ > longest_) {
      longest_ = now - began_;
      slowest_ = first_ + count_ - 1;
    }
    began_ = now;
  }

  uint64_t first_, count_ = 0, slowest_ = 0;
  Clock::duration longest_{};
  Clock::time_point began_, end_;
};

}  // namespace inlay::fuzz
