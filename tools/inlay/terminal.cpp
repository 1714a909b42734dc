#include "terminal.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>

#include <unistd.h>

#include "support/number_text.h"
#include "support/str.h"

namespace inlay::tool {
namespace {

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

bool has_colour(int stream) {
  const char* terminal = std::getenv("TERM");
  return isatty(stream) != 0 && !is_set("NO_COLOR") && terminal != nullptr && std::string_view(terminal) != "dumb";
}

}  // namespace

std::string coloured(std::string_view text, Colour colour, int stream) {
  if (!has_colour(stream)) return std::string(text);
  const char* code = colour == Colour::red ? "1;31" : colour == Colour::green ? "32" : "1";
  return str("\x1b[", code, "m", text, "\x1b[0m");
}

std::string error_text(std::string_view what) {
  const std::size_t end = what.starts_with("error[") ? what.find(": ") : std::string_view::npos;
  if (end == std::string_view::npos) return std::string(what);
  return str(coloured(what.substr(0, end), Colour::red, STDERR_FILENO), what.substr(end));
}

Progress::Progress(std::string what) : what_(std::move(what)) {
  if (isatty(STDERR_FILENO) != 0) shows_ = std::thread([this] { show_until_stopped(); });
}

Progress::~Progress() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_all();
  if (shows_.joinable()) shows_.join();
}

void Progress::now(std::string what) {
  const std::lock_guard lock(mutex_);
  what_ = std::move(what);
}

void Progress::print(std::string_view lines) {
  const std::lock_guard lock(mutex_);
  clear();
  std::fwrite(lines.data(), 1, lines.size(), stdout);
  std::fflush(stdout);
}

void Progress::clear() {
  if (shown_) std::fputs("\r\x1b[K", stderr);
  shown_ = false;
}

void Progress::show_until_stopped() {
  const auto begin = std::chrono::steady_clock::now();
  const auto stopped = [&] { return stopped_; };
  std::unique_lock lock(mutex_);
  if (changed_.wait_for(lock, std::chrono::seconds(1), stopped)) return;
  do {
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    std::fputs(str("\r\x1b[K", what_, " (", fixed_text(seconds, 0), " s)").c_str(), stderr);
    std::fflush(stderr);
    shown_ = true;
  } while (!changed_.wait_for(lock, std::chrono::milliseconds(200), stopped));
  clear();
}

}  // namespace inlay::tool
