#include "interrupt.h"

#include <csignal>

#include <Python.h>
#include <pthread.h>
#include <unistd.h>

namespace inlay::python {
namespace {

StopFlag stop = 0;
struct sigaction of_python;  // what our handler stands in front of
bool knows_python = false;

void on_interrupt(int signal, siginfo_t* info, void* context) {
  stop.store(1, std::memory_order_relaxed);
  if (of_python.sa_flags & SA_SIGINFO) {
    of_python.sa_sigaction(signal, info, context);
  } else {
    of_python.sa_handler(signal);
  }
}

/// What a handler is, with or without SA_SIGINFO: both lie at one place.
void* address_of(const struct sigaction& action) { return reinterpret_cast<void*>(action.sa_handler); }

thread_local bool is_main_thread = gettid() == getpid();

/// Of the child of a fork it is whoever forked.
[[maybe_unused]] const int registered = pthread_atfork(nullptr, nullptr, [] { is_main_thread = true; });

}  // namespace

const StopFlag& python_stop_flag() { return is_main_thread ? stop : kNeverStop; }

void listen_for_interrupts() {
  if (!is_main_thread) return;
  struct sigaction now;
  if (sigaction(SIGINT, nullptr, &now) != 0) return;
  const bool is_nobodys = (now.sa_flags & SA_SIGINFO) == 0 && (now.sa_handler == SIG_DFL || now.sa_handler == SIG_IGN);
  if (is_nobodys || now.sa_sigaction == on_interrupt) return;
  // Somebody else's came in front of ours later: it calls ours, and would for ever if ours called it.
  if (knows_python && address_of(now) != address_of(of_python)) return;
  of_python = now;
  knows_python = true;
  struct sigaction ours = now;
  ours.sa_sigaction = on_interrupt;
  ours.sa_flags |= SA_SIGINFO;
  sigaction(SIGINT, &ours, nullptr);
}

bool is_interrupted() {
  stop.store(0, std::memory_order_relaxed);
  return PyErr_CheckSignals() != 0;
}

}  // namespace inlay::python
