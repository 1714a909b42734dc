#include "support/fork_gate.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <new>

#include <pthread.h>

namespace inlay {
namespace {

/// Never destroyed: a thread may be inside while the process ends.
struct Gate {
  std::mutex mutex;
  std::condition_variable changed;
  int inside = 0;                // threads
  std::atomic<int> waiting = 0;  // to fork, or forking
};

alignas(Gate) unsigned char place[sizeof(Gate)];
Gate& gate = *new (place) Gate;

thread_local int depth = 0;  // of this thread's Insides

void pass_in() {
  std::unique_lock lock(gate.mutex);
  gate.changed.wait(lock, [] { return gate.waiting == 0; });
  ++gate.inside;
}

void pass_out() {
  const std::lock_guard lock(gate.mutex);
  --gate.inside;
  if (gate.waiting > 0) gate.changed.notify_all();
}

/// The one who forks may itself be inside, by way of a function that the user gave: it waits for the others. Keeps the
/// mutex until the fork is done.
void before_fork() {
  gate.mutex.lock();
  std::unique_lock lock(gate.mutex, std::adopt_lock);
  ++gate.waiting;
  if (depth > 0) --gate.inside;
  gate.changed.notify_all();
  gate.changed.wait(lock, [] { return gate.inside == 0; });
  lock.release();
}

void after_fork_in_parent() {
  if (depth > 0) ++gate.inside;
  --gate.waiting;
  gate.changed.notify_all();
  gate.mutex.unlock();
}

/// Of the threads that waited at the gate none is left.
void after_fork_in_child() {
  gate.inside = depth > 0 ? 1 : 0;
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
