#include "support/fork_gate.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <new>

#include <pthread.h>

namespace inlay {
namespace {

constexpr int kCounters = 16;

/// Counts threads inside, of those assigned to it; on a cache line of its own.
struct alignas(64) Counter {
  std::atomic<int> inside = 0;
};

/// Never destroyed: a thread may be inside while the process ends.
struct Gate {
  std::mutex mutex;
  std::condition_variable changed;
  std::atomic<int> waiting = 0;  // to fork, or forking
  std::atomic<unsigned> threads = 0;
  Counter counters[kCounters];

  bool has_any_inside() const {
    return std::ranges::any_of(counters, [](const Counter& c) { return c.inside.load() > 0; });
  }
};

alignas(Gate) unsigned char place[sizeof(Gate)];
Gate& gate = *new (place) Gate;

thread_local int depth = 0;  // of this thread's Insides

std::atomic<int>& counter() {
  thread_local const unsigned mine = gate.threads.fetch_add(1, std::memory_order_relaxed) % kCounters;
  return gate.counters[mine].inside;
}

/// Takes no lock unless a thread forks, since calls of library functions come through here. A thread that enters first
/// counts itself and then looks for a fork; a thread that forks first announces it and then counts: so one sees the
/// other.
void pass_in() {
  counter().fetch_add(1);
  if (gate.waiting.load() == 0) return;
  counter().fetch_sub(1);
  std::unique_lock lock(gate.mutex);
  gate.changed.notify_all();
  gate.changed.wait(lock, [] { return gate.waiting == 0; });
  counter().fetch_add(1);
}

void pass_out() {
  counter().fetch_sub(1);
  if (gate.waiting.load() == 0) return;
  const std::lock_guard lock(gate.mutex);
  gate.changed.notify_all();
}

/// The thread that forks may itself be inside, through a function of the user: it waits for the others only. Keeps the
/// mutex until the fork is done.
void before_fork() {
  gate.mutex.lock();
  std::unique_lock lock(gate.mutex, std::adopt_lock);
  ++gate.waiting;
  if (depth > 0) counter().fetch_sub(1);
  gate.changed.notify_all();
  gate.changed.wait(lock, [] { return !gate.has_any_inside(); });
  lock.release();
}

void after_fork_in_parent() {
  if (depth > 0) counter().fetch_add(1);
  --gate.waiting;
  gate.changed.notify_all();
  gate.mutex.unlock();
}

/// In the child none of the threads that waited at the gate exists.
void after_fork_in_child() {
  for (Counter& c : gate.counters) c.inside = 0;
  if (depth > 0) counter() = 1;
  gate.waiting = 0;
  new (&gate.changed) std::condition_variable;
  gate.mutex.unlock();
}

[[maybe_unused]] const int registered = pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);

}  // namespace

void ForkGate::enter() {
  if (depth == 0) pass_in();
  ++depth;
}

void ForkGate::leave() {
  if (--depth == 0) pass_out();
}

ForkGate::Inside::Inside() { enter(); }
ForkGate::Inside::~Inside() { leave(); }

ForkGate::Outside::Outside() : depth_(depth) {
  if (depth > 0) pass_out();
  depth = 0;
}

ForkGate::Outside::~Outside() {
  if (depth_ > 0) pass_in();
  depth = depth_;
}

void ForkGate::let_through() {
  if (depth > 0 && gate.waiting.load(std::memory_order_relaxed) > 0) const Outside outside;
}

}  // namespace inlay
