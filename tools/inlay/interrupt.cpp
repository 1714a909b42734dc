#include "interrupt.h"

#include <csignal>

#include <sys/time.h>

namespace inlay::tool {
namespace {

StopFlag stop = 0;

void end_by_signal(int) {
  std::signal(SIGINT, SIG_DFL);
  std::raise(SIGINT);
}

/// What does not look at the flag (an oracle, a file that is read) shall not keep anybody waiting.
void on_interrupt(int) {
  constexpr itimerval kPatience = {.it_interval = {}, .it_value = {.tv_sec = 0, .tv_usec = 90'000}};
  stop = 1;
  std::signal(SIGALRM, end_by_signal);
  setitimer(ITIMER_REAL, &kPatience, nullptr);
}

}  // namespace

EndsByInterrupt::EndsByInterrupt() : scope_(stop) {
  struct sigaction now{};
  sigaction(SIGINT, nullptr, &now);
  if (now.sa_handler == SIG_IGN) return;  // as for a background job
  now.sa_handler = on_interrupt;
  now.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);  // a second one ends it at once
  sigaction(SIGINT, &now, nullptr);
}

EndsByInterrupt::~EndsByInterrupt() {
  if (stop != 0) end_by_signal(SIGINT);
}

}  // namespace inlay::tool
