#pragma once
// What only a person at a terminal sees: colour, and progress on anything that takes over a second.
#include <condition_variable>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace inlay::tool {

enum class Colour { red, green, bold };

/// `text` in this colour, where the stream is a terminal and NO_COLOR is not set (no-color.org). 1: stdout, 2: stderr.
std::string coloured(std::string_view text, Colour colour, int stream);

/// An error as it goes to stderr: its code stands out.
std::string error_text(std::string_view what);

/// One line on stderr that says what is being done and for how long, from the second second on; gone when this is.
class Progress {
 public:
  explicit Progress(std::string what);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void now(std::string what);
  /// Whole lines on stdout, above the line of this.
  void print(std::string_view lines);

 private:
  void show_until_stopped();
  void clear();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::string what_;
  bool stopped_ = false, shown_ = false;
  std::thread shows_;  // only at a terminal
};

}  // namespace inlay::tool
