#pragma once
// Loads machine code that the JIT just made, or a cache kept, without a linker.
//
// The backend returns one relocatable ELF object for this processor: position independent, small code model. load_elf
// lays its sections out in one mapping, resolves its few undefined names (math functions, memset), applies the
// relocations, and makes code executable and constants read-only: no page is ever writable and executable. It covers
// what LLVM and gcc emit for such objects, and names whatever else it finds. A damaged object is an Error, never a
// crash: every offset is checked before it is followed. (The object is responsible for what its code does when called.)
#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>

namespace inlay::runtime {

/// Returns the address of an external name of the object: a math function, a BLAS routine. Null: unknown.
using Resolver = std::function<void*(std::string_view name)>;

/// Code that is in memory as long as this lives. Moving this keeps the addresses.
class LoadedCode {
 public:
  LoadedCode() = default;
  LoadedCode(void* base, std::size_t size_bytes, std::map<std::string, void*, std::less<>> symbols);
  ~LoadedCode();
  LoadedCode(LoadedCode&& other) noexcept;
  LoadedCode& operator=(LoadedCode&& other) noexcept;

  /// Returns the address of a name that the object defines, or null.
  void* find(std::string_view name) const;
  std::size_t size_bytes() const { return size_bytes_; }

 private:
  void* base_ = nullptr;
  std::size_t size_bytes_ = 0;
  std::map<std::string, void*, std::less<>> symbols_;
};

/// Loads an object. Throws Error: invalid-file for a damaged object, unsupported if it needs more than this loader can
/// do, unknown-name for names that `resolve` does not know (all of them in one message).
LoadedCode load_elf(std::span<const std::byte> object, const Resolver& resolve);

}  // namespace inlay::runtime
