#include "export/sizes.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <regex>
#include <set>
#include <vector>

#include <elf.h>

namespace inlay {
namespace {

/// None where the file ends before.
template <class T>
std::optional<T> read_at(std::span<const std::byte> file, uint64_t offset) {
  if (offset > file.size() || sizeof(T) > file.size() - offset) return std::nullopt;
  T out;
  std::memcpy(&out, file.data() + offset, sizeof(T));
  return out;
}

/// Up to its 0, or to the end.
std::string text_at(std::span<const std::byte> file, uint64_t offset) {
  if (offset >= file.size()) return {};
  const auto* begin = reinterpret_cast<const char*>(file.data() + offset);
  return std::string(begin, strnlen(begin, file.size() - offset));
}

template <class Header, class Section>
std::optional<std::vector<LoadedSection>> sections_of(std::span<const std::byte> elf) {
  const auto header = read_at<Header>(elf, 0);
  if (!header || header->e_shentsize != sizeof(Section)) return std::nullopt;
  const auto names = read_at<Section>(elf, header->e_shoff + header->e_shstrndx * sizeof(Section));
  if (!names) return std::nullopt;
  std::vector<LoadedSection> out;
  for (uint64_t i = 0; i < header->e_shnum; ++i) {
    const auto section = read_at<Section>(elf, header->e_shoff + i * sizeof(Section));
    if (!section) return std::nullopt;
    // Other types are what the linker reads, and tables that a library is linked by.
    const bool is_program = section->sh_type == SHT_PROGBITS || section->sh_type == SHT_NOBITS;
    if (!is_program || (section->sh_flags & SHF_ALLOC) == 0) continue;
    const Use use = (section->sh_flags & SHF_EXECINSTR) != 0 ? Use::text
                    : (section->sh_flags & SHF_WRITE) != 0   ? Use::data
                                                             : Use::rodata;
    out.push_back({text_at(elf, names->sh_offset + section->sh_name), use, static_cast<int64_t>(section->sh_size)});
  }
  return out;
}

struct Function {
  bool is_here = false;  // not only called
  int64_t frame_bytes = 0;
  bool has_most = true;
  std::set<std::string> calls;
};

std::map<std::string, Function> functions_of(const std::string& calls) {
  static const std::regex kNode(R"re(node: \{ title: "([^"]+)" label: "[^"]*\\n(\d+) bytes \(([a-z,]+)\))re");
  static const std::regex kEdge(R"re(edge: \{ sourcename: "([^"]+)" targetname: "([^"]+)")re");
  std::map<std::string, Function> out;
  std::set<std::string> named;
  for (std::sregex_iterator at(calls.begin(), calls.end(), kNode), end; at != end; ++at) {
    Function& function = out[(*at)[1]];
    function.is_here = true;
    function.frame_bytes = std::stoll((*at)[2]);
    function.has_most = (*at)[3] != "dynamic";  // "dynamic,bounded" counts the most
  }
  for (std::sregex_iterator at(calls.begin(), calls.end(), kEdge), end; at != end; ++at) {
    out[(*at)[1]].calls.insert((*at)[2]);
    named.insert((*at)[2]);
  }
  // A pointer leads to a function of this file that nobody calls by its name, or to one of the caller's.
  std::set<std::string> by_pointer;
  for (const auto& [name, function] : out) {
    if (name.find(':') != std::string::npos && !named.contains(name)) by_pointer.insert(name);
  }
  out["__indirect_call"].calls = std::move(by_pointer);
  return out;
}

class Depths {
 public:
  explicit Depths(std::map<std::string, Function> functions) : functions_(std::move(functions)) {}

  std::optional<int64_t> of(const std::string& name) {
    const auto found = functions_.find(name);
    if (found == functions_.end()) return 0;
    if (const auto known = known_.find(name); known != known_.end()) return known->second;
    known_[name] = std::nullopt;  // while it is being found: who calls itself has none
    int64_t deepest = 0;
    for (const std::string& called : found->second.calls) {
      const std::optional<int64_t> below = of(called);
      if (!below) return std::nullopt;
      deepest = std::max(deepest, *below);
    }
    if (!found->second.has_most) return std::nullopt;
    return known_[name] = found->second.frame_bytes + deepest;
  }

 private:
  std::map<std::string, Function> functions_;
  std::map<std::string, std::optional<int64_t>> known_;
};

}  // namespace

std::optional<std::vector<LoadedSection>> loaded_sections(std::span<const std::byte> elf) {
  const auto ident = read_at<std::array<unsigned char, EI_NIDENT>>(elf, 0);
  if (!ident || std::memcmp(ident->data(), ELFMAG, SELFMAG) != 0 || (*ident)[EI_DATA] != ELFDATA2LSB) return {};
  if ((*ident)[EI_CLASS] == ELFCLASS32) return sections_of<Elf32_Ehdr, Elf32_Shdr>(elf);
  return sections_of<Elf64_Ehdr, Elf64_Shdr>(elf);
}

std::optional<int64_t> stack_bytes(std::string_view calls, std::string_view function) {
  std::map<std::string, Function> functions = functions_of(std::string(calls));
  const auto found = functions.find(std::string(function));
  if (found == functions.end() || !found->second.is_here) return std::nullopt;
  return Depths(std::move(functions)).of(std::string(function));
}

}  // namespace inlay
