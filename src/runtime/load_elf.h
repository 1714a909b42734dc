#pragma once
// Machine code that the JIT just made (or a cache kept) must become callable, without a linker at hand.
//
// The backend returns one relocatable ELF object for this processor: position independent, small code model. load_elf
// lays its sections out in one mapping, resolves the few names that it leaves open (math functions, memset), applies
// the relocations, and makes code executable and constants read-only: no page is ever writable and executable. It
// covers what LLVM and gcc emit for such objects, and names whatever else it meets. A damaged object is an Error, never
// a crash: every offset is checked before it is followed. (What the code does once called is the object's affair.)
#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>

namespace inlay::runtime {

/// Where an external name of the object lies: a math function, a BLAS routine. Null: unknown.
using Resolver = std::function<void*(std::string_view name)>;

/// Code in memory for as long as this lives. May move; addresses stay.
class LoadedCode {
 public:
  LoadedCode() = default;
  LoadedCode(void* base, std::size_t size_bytes, std::map<std::string, void*, std::less<>> symbols);
  ~LoadedCode();
  LoadedCode(LoadedCode&& other) noexcept;
  LoadedCode& operator=(LoadedCode&& other) noexcept;

  /// The address of a name that the object defines; null: it does not.
  void* find(std::string_view name) const;
  std::size_t size_bytes() const { return size_bytes_; }

 private:
  void* base_ = nullptr;
  std::size_t size_bytes_ = 0;
  std::map<std::string, void*, std::less<>> symbols_;
};

/// Throws Error: invalid-file for a damaged object, unsupported for one that needs more than this loader can do,
/// unknown-name for names that `resolve` does not know (all of them in one message).
LoadedCode load_elf(std::span<const std::byte> object, const Resolver& resolve);

}  // namespace inlay::runtime
