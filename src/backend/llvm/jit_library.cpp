#include "backend/llvm/jit_library.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <vector>

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include "support/error.h"

namespace inlay::llvm_backend {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLibrary = "libinlay_jit.so";

/// The program or shared object that this code is in.
fs::path this_binary() {
  Dl_info info{};
  void* map = nullptr;
  if (!dladdr1(reinterpret_cast<const void*>(&this_binary), &info, &map, RTLD_DL_LINKMAP)) return {};
  const std::string_view name = static_cast<const link_map*>(map)->l_name;
  std::error_code ignored;
  return fs::canonical(name.empty() ? "/proc/self/exe" : name, ignored);  // the program has no name there
}

/// Where the JIT library may lie: beside this binary, in the `lib` beside its folder, and where the loader looks (the
/// binary's run path, LD_LIBRARY_PATH). No path of the machine that built it: what was moved finds what moved with it.
std::vector<std::string> candidates() {
  std::vector<std::string> out;
  if (const fs::path here = this_binary().parent_path(); !here.empty()) {
    out.push_back(here / kLibrary);
    out.push_back(here / ".." / "lib" / kLibrary);
  }
  out.emplace_back(kLibrary);
  return out;
}

/// None: it is no file of ELF.
std::optional<Elf64_Ehdr> header_of(const fs::path& path) {
  Elf64_Ehdr header{};
  std::ifstream file(path, std::ios::binary);
  if (!file.read(reinterpret_cast<char*>(&header), sizeof header)) return std::nullopt;
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return std::nullopt;
  return header;
}

#if defined(__aarch64__)
constexpr Elf64_Half kMachine = EM_AARCH64;
#else
constexpr Elf64_Half kMachine = EM_X86_64;
#endif

/// What the loader does not say, or says wrongly; empty: nothing of that kind. A file that a full disk cut short it
/// maps, and whoever reads what is missing dies of SIGBUS: by the header's own account the table of sections comes
/// last. One of another architecture it passes over as if there were none.
std::string_view flaw_of(const fs::path& path) {
  std::error_code failed;
  const uint64_t size = fs::file_size(path, failed);
  const std::optional<Elf64_Ehdr> header = header_of(path);
  if (failed || !header) return "";
  if (header->e_machine != kMachine) return "the file is of another architecture";
  const uint64_t end = header->e_shoff + uint64_t{header->e_shnum} * header->e_shentsize;
  return size < end ? "the file is cut short" : "";
}

/// What `jit` has loaded, for as long as the process lives.
struct Loaded {
  JitEmit function = nullptr;
  std::string path;
};
std::atomic<const Loaded*> loaded = nullptr;

/// The path without links; itself, where only the loader knows where the file is.
std::string canonical(const std::string& path) {
  std::error_code failed;
  const fs::path found = fs::canonical(path, failed);
  return path == kLibrary || failed ? path : found.string();
}

/// Of a library that the loader has found by its name.
std::string path_of(void* library) {
  link_map* map = nullptr;
  return dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 ? map->l_name : kLibrary;
}

/// The function of the library at `path`; null in it: `why` says why not.
Loaded load_jit(const std::string& path, std::string& why) {
  if (const std::string_view flaw = path == kLibrary ? "" : flaw_of(path); !flaw.empty()) {
    why = str(path, ": ", flaw);
    return {};
  }
  // RTLD_LOCAL, and hidden symbols inside: another LLVM in this process and ours never meet.
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    why = dlerror();
    return {};
  }
  void* function = dlsym(library, kJitEmitName);
  if (!function) why = str(path, ": has no ", kJitEmitName);
  return {reinterpret_cast<JitEmit>(function), path == kLibrary ? path_of(library) : canonical(path)};
}

Loaded load_jit() {
  std::string tried, why;
  // Who names a library wants that one: another must not stand in for it.
  if (const char* named = std::getenv("INLAY_JIT"); named && *named) {
    if (Loaded library = load_jit(named, why); library.function != nullptr) return library;
    throw Error(ErrorCode::unsupported, {}, str("INLAY_JIT names no code generator: ", why))
        .help(str("name ", kLibrary, ", or unset INLAY_JIT: it is found beside the program"));
  }
  for (const std::string& path : candidates()) {
    if (Loaded library = load_jit(path, why); library.function != nullptr) return library;
    tried += str("\n  ", why);
  }
  throw Error(ErrorCode::unsupported, {}, str("the code generator was not found; tried:", tried))
      .help(str("install inlay again, or set INLAY_JIT to the path of ", kLibrary));
}

}  // namespace

JitEmit jit() {
  static const Loaded library = load_jit();
  loaded.store(&library, std::memory_order_release);
  return library.function;
}

std::string path_of_jit() {
  if (const Loaded* const library = loaded.load(std::memory_order_acquire)) return library->path;
  const auto described = [](const std::string& path) {
    const std::string_view flaw = flaw_of(path);
    return flaw.empty() ? canonical(path) : str(canonical(path), ": ", flaw);
  };
  if (const char* named = std::getenv("INLAY_JIT"); named && *named) return described(named);
  for (const std::string& path : candidates()) {
    std::error_code ignored;
    if (fs::exists(path, ignored)) return described(path);
  }
  return kLibrary;
}

}  // namespace inlay::llvm_backend
