#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend/c/backend.h"
#include "support/error.h"
#include "support/stop.h"
#include "support/whole_file.h"

extern char** environ;

namespace inlay::c_backend {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> words_of(const char* text) {
  std::istringstream stream(text ? text : "");
  return {std::istream_iterator<std::string>(stream), {}};
}

/// $CC and its flags, or cc. CC may also be the path of a file, with blanks in it.
std::vector<std::string> compiler() {
  const char* named = std::getenv("CC");
  std::error_code failure;
  if (named && fs::is_regular_file(named, failure)) return {named};
  std::vector<std::string> command = words_of(named);
  if (command.empty()) command.emplace_back("cc");
  return command;
}

std::string compiler_text() {
  const char* named = std::getenv("CC");
  return named && *named ? str("CC=", named) : "cc";
}

Error cannot_write(const std::string& what, const std::string& reason) {
  return Error(ErrorCode::invalid_file, {}, str("the c backend cannot write ", what, ": ", reason))
      .help("TMPDIR names a folder that can be written and has room");
}

/// Is removed with all that is in it.
class PrivateFolder {
 public:
  PrivateFolder() {
    const char* named = std::getenv("TMPDIR");
    path_ = str(named && *named ? named : "/tmp", "/inlay-XXXXXX");
    if (!mkdtemp(path_.data()))
      throw cannot_write(str("into ", fs::path(path_).parent_path().string()), std::strerror(errno));
  }
  ~PrivateFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;

  std::string file(const char* name) const { return str(path_, "/", name); }

 private:
  std::string path_;
};

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write_file(const std::string& path, const std::string& text) {
  if (const std::error_code failure = write_whole_file(path, text)) throw cannot_write(path, failure.message());
}

/// A flag for clang. gcc, which does not know it, says so below each error.
constexpr const char* kFlagOfClang = "-Wno-ignored-optimization-argument";

/// Results must not depend on the compiler's mood: no sum is fused with a product, and nothing that IEEE 754 tells
/// apart is taken for the same (gcc 12 takes cos(atan(x)) for 0 where |x| is not below a bound, as NaN is not: so too
/// of sin, and of sinh and cosh with atanh). What it may forget is errno, traps, and which type last stood in a byte of
/// working memory. Loops become vectors (gcc 12 makes none at -O2 that need a loop for the rest; INLAY_SIMD marks those
/// that may), also where a condition that a loop does not change stands in it (gcc at -O2 leaves it there, which takes
/// 1.4 times as long in radon's density; clang moves it unasked, and warns of the flag) of the processor that runs
/// them, where that is known; the object, which inlay loads itself, has no stack protector to resolve and no tables for
/// exceptions, which it never meets. A library keeps the names that it exports, and no others.
std::vector<std::string> command_for(const PrivateFolder& folder, const std::vector<SourceFile>& files,
                                     Product product) {
  std::vector<std::string> command = compiler();
  for (const char* flag :
       {"-std=c99", "-O2", "-ftree-vectorize", "-funswitch-loops", kFlagOfClang, "-fPIC", "-fopenmp-simd",
        "-DINLAY_SIMD", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-fno-strict-aliasing",
        "-fno-builtin-atan", "-fno-builtin-atanf", "-fno-builtin-atanh", "-fno-builtin-atanhf", "-fno-stack-protector",
        "-fno-asynchronous-unwind-tables"}) {
    command.emplace_back(flag);
  }
  if (product == Product::here) command.emplace_back("-march=native");
  command.emplace_back("-c");
  if (product == Product::shared) {  // nothing of the compiler's own that runs when it is loaded
    command.back() = "-shared";
    command.emplace_back("-nostartfiles");
    command.emplace_back("-s");
  }
  for (std::string& flag : words_of(std::getenv("INLAY_CFLAGS"))) command.push_back(std::move(flag));
  for (const SourceFile& file : files) {
    if (file.name.ends_with(".c")) command.push_back(folder.file(file.name.c_str()));
  }
  command.insert(command.end(), {"-o", folder.file("program.o")});
  if (product == Product::shared) command.emplace_back("-lm");
  return command;
}

/// Its exit status. It may take seconds, in which a call may end (then the child does, and all that it began) and a
/// fork may happen.
int wait_for(pid_t child) {
  constexpr auto kBetweenLooks = std::chrono::milliseconds(1);
  int status = 0;
  try {
    for (pid_t ended = 0; ended == 0; ended = waitpid(child, &status, WNOHANG)) {
      checkpoint();
      std::this_thread::sleep_for(kBetweenLooks);
    }
  } catch (...) {
    kill(-child, SIGKILL);
    waitpid(child, &status, 0);
    throw;
  }
  // A process that ignores SIGCHLD is told no status, which stays 0: the object says how it went.
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// 0, or the exit status of what ran; below 0: it could not be run, with the error's number. In a process group of its
/// own: Ctrl-C at a terminal is for us.
int run(const std::vector<std::string>& command, const std::string& messages) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, messages.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  pid_t child = 0;
  const int failure = posix_spawnp(&child, arguments[0], &actions, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return failure == 0 ? wait_for(child) : -failure;
}

/// The first few lines of what the compiler said, but for those about kFlagOfClang.
std::string beginning_of(const std::string& said) {
  constexpr std::size_t kMost = 2000;
  std::string text, place, line;  // `place`: "At top level:", until what stands there is known
  for (std::istringstream lines(said); std::getline(lines, line);) {
    if (line.find(kFlagOfClang) != std::string::npos) {
      place.clear();
      continue;
    }
    text += std::exchange(place, "");
    (line.ends_with("At top level:") ? place : text) += line + '\n';
  }
  text += place;
  return text.size() <= kMost ? text : text.substr(0, text.rfind('\n', kMost)) + "\n...";
}

/// What a command writes.
std::string object_of(const PrivateFolder& folder, const std::vector<std::string>& command, Product product) {
  const int status = run(command, folder.file("messages"));
  if (status < 0) {
    throw Error(ErrorCode::unsupported, {},
                str("the c backend found no C compiler: ", compiler_text(), ": ", std::strerror(-status)))
        .help(str("install one, or set CC to its name",
                  product == Product::here ? "; INLAY_BACKEND=llvm needs none" : ""));
  }
  std::string object = read_file(folder.file("program.o"));
  if (status != 0 || object.empty()) {
    const std::string command_text = join(command, " ", [](const std::string& word) { return word; });
    throw Error(ErrorCode::unsupported, {},
                str("the C compiler failed (status ", status, "):\n", beginning_of(read_file(folder.file("messages")))))
        .note("command", command_text)
        .help("CC names the compiler, INLAY_CFLAGS its further flags; `inlay compile --emit=c` writes the source");
  }
  return object;
}

std::vector<std::byte> bytes_of(const std::string& object) {
  const auto* bytes = reinterpret_cast<const std::byte*>(object.data());
  return {bytes, bytes + object.size()};
}

/// All files of calls: gcc calls one after the object, or after the library and the source.
std::string call_graph(const PrivateFolder& folder) {
  std::string out;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder.file(""))) {
    if (entry.path().extension() == ".ci") out += read_file(entry.path().string());
  }
  return out;
}

}  // namespace

bool has_compiler() {
  const std::string name = compiler()[0];
  if (name.find('/') != std::string::npos) return access(name.c_str(), X_OK) == 0;
  const char* path = std::getenv("PATH");
  std::istringstream folders(path ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (access(str(folder, "/", name).c_str(), X_OK) == 0) return true;
  }
  return false;
}

std::vector<std::byte> compiled(const std::string& source, Product product) {
  return compiled(std::vector<SourceFile>{{"program.c", source}}, product);
}

std::vector<std::byte> compiled(const std::vector<SourceFile>& files, Product product) {
  const PrivateFolder folder;
  for (const SourceFile& file : files) write_file(folder.file(file.name.c_str()), file.text);
  return bytes_of(object_of(folder, command_for(folder, files, product), product));
}

Measured measured(const std::string& source, Product product) {
  const PrivateFolder folder;
  const std::vector<SourceFile> files = {{"program.c", source}};
  write_file(folder.file("program.c"), source);
  const std::vector<std::string> command = command_for(folder, files, product);
  std::vector<std::string> telling = command;
  telling.emplace_back("-fcallgraph-info=su");  // clang fails by it, before it compiles
  std::string object = run(telling, folder.file("messages")) == 0 ? read_file(folder.file("program.o")) : "";
  if (object.empty()) object = object_of(folder, command, product);
  return {bytes_of(object), call_graph(folder)};
}

}  // namespace inlay::c_backend
