#include "runtime/load_elf.h"

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/machine.h"
#include "support/error.h"

namespace inlay::runtime {
namespace {

[[noreturn]] void damaged(const std::string& what) {
  throw Error(ErrorCode::invalid_file, {}, str("damaged object: ", what));
}

/// Reads the object's bytes, with a check each time. Copies them, since alignment is not guaranteed.
class Bytes {
 public:
  explicit Bytes(std::span<const std::byte> bytes) : bytes_(bytes) {}

  template <class T>
  T read(uint64_t offset, const char* what) const {
    T value;
    std::memcpy(&value, range(offset, sizeof(T), what).data(), sizeof(T));
    return value;
  }

  std::span<const std::byte> range(uint64_t offset, uint64_t size, const char* what) const {
    if (offset > bytes_.size() || size > bytes_.size() - offset) damaged(str(what, " lies outside of the object"));
    return bytes_.subspan(offset, size);
  }

  /// A zero-terminated name in the string table at [table.sh_offset, + sh_size).
  std::string text(const Elf64_Shdr& table, uint64_t at) const {
    const auto strings = range(table.sh_offset, table.sh_size, "a string table");
    if (at >= strings.size()) damaged("a name lies outside of its string table");
    const char* begin = reinterpret_cast<const char*>(strings.data() + at);
    const std::size_t length = strnlen(begin, strings.size() - at);
    if (length == strings.size() - at) damaged("a name has no end");
    return std::string(begin, length);
  }

 private:
  std::span<const std::byte> bytes_;
};

/// The protection that a section needs, in the order of the mapping.
enum class Access : uint8_t { code, constants, data, none };

struct Section {
  Elf64_Shdr header;
  std::string name;
  Access access = Access::none;
  uint64_t offset = 0;  // in the mapping
};

struct Symbol {
  std::string name;
  unsigned char type = STT_NOTYPE, binding = STB_LOCAL;
  uint16_t section = SHN_UNDEF;
  uint64_t value = 0;
  uint64_t address = 0;                // once known
  bool is_used = false;                // by a relocation of a section that is loaded
  std::optional<uint64_t> slot, jump;  // offsets in the mapping
};

class Loader {
 public:
  Loader(std::span<const std::byte> object, const Resolver& resolve) : bytes_(object), resolve_(resolve) {}
  ~Loader() {
    if (base_) munmap(base_, total_bytes_);
  }

  LoadedCode load() {
    read_sections();
    read_symbols();
    for_each_relocation([this](const Section&, const Elf64_Rela& rela) { reserve(rela); });
    lay_out();
    copy_sections();
    find_addresses();
    for_each_relocation([this](const Section& target, const Elf64_Rela& rela) { relocate(target, rela); });
    protect();
    return finish();
  }

 private:
  void read_sections();
  void read_symbols();
  template <class Visit>
  void for_each_relocation(const Visit& visit);
  void reserve(const Elf64_Rela& rela);
  void lay_out();
  void copy_sections();
  void find_addresses();
  void relocate(const Section& target, const Elf64_Rela& rela);
  void protect();
  LoadedCode finish();

  Symbol& symbol_of(const Elf64_Rela& rela) {
    const uint64_t index = ELF64_R_SYM(rela.r_info);
    if (index >= symbols_.size()) damaged("a relocation names no symbol");
    return symbols_[index];
  }
  uint64_t address(uint64_t offset) const { return reinterpret_cast<uint64_t>(base_) + offset; }
  template <class T>
  void write(uint64_t offset, T value) {
    std::memcpy(base_ + offset, &value, sizeof(T));
  }

  Bytes bytes_;
  const Resolver& resolve_;
  const Machine& machine_ = this_machine();
  std::vector<Section> sections_;
  std::vector<Symbol> symbols_;
  std::array<uint64_t, 4> end_of_{};  // by Access: where its pages end, in the mapping
  uint64_t num_slots_ = 0, num_jumps_ = 0;
  uint64_t total_bytes_ = 0;
  std::byte* base_ = nullptr;
};

Access access_of(const Elf64_Shdr& header, const std::string& name) {
  if (!(header.sh_flags & SHF_ALLOC)) return Access::none;
  if (header.sh_type == SHT_NOTE || header.sh_type == SHT_X86_64_UNWIND) return Access::none;
  if (name == ".eh_frame") return Access::none;  // nothing unwinds through compiled code
  if (header.sh_flags & SHF_TLS) unsupported_by_loader("thread-local data");
  if (header.sh_type == SHT_INIT_ARRAY || header.sh_type == SHT_FINI_ARRAY) unsupported_by_loader("constructors");
  if (header.sh_type != SHT_PROGBITS && header.sh_type != SHT_NOBITS) {
    unsupported_by_loader(str("section ", name, " of type ", header.sh_type));
  }
  if ((header.sh_flags & SHF_EXECINSTR) && (header.sh_flags & SHF_WRITE))
    unsupported_by_loader("code that is writable");
  if (header.sh_flags & SHF_EXECINSTR) return Access::code;
  return header.sh_flags & SHF_WRITE ? Access::data : Access::constants;
}

void Loader::read_sections() {
  const auto header = bytes_.read<Elf64_Ehdr>(0, "the ELF header");
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) damaged("it does not begin as an ELF file");
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_type != ET_REL ||
      header.e_machine != machine_.number) {
    unsupported_by_loader(str("anything but a relocatable object for ", machine_.name));
  }
  if (header.e_shentsize != sizeof(Elf64_Shdr)) damaged("section headers of an unknown size");
  if (header.e_shnum == 0 || header.e_shstrndx >= header.e_shnum) damaged("no table of section names");
  for (uint64_t i = 0; i < header.e_shnum; ++i) {
    bytes_.range(header.e_shoff, 0, "the section table");
    sections_.push_back({bytes_.read<Elf64_Shdr>(header.e_shoff + i * sizeof(Elf64_Shdr), "a section header")});
  }
  for (Section& section : sections_) {
    section.name = bytes_.text(sections_[header.e_shstrndx].header, section.header.sh_name);
    section.access = access_of(section.header, section.name);
    if (section.access != Access::none && section.header.sh_type != SHT_NOBITS) {
      bytes_.range(section.header.sh_offset, section.header.sh_size, "a section");
    }
  }
}

void Loader::read_symbols() {
  for (const Section& table : sections_) {
    if (table.header.sh_type != SHT_SYMTAB) continue;
    if (!symbols_.empty()) damaged("two symbol tables");
    if (table.header.sh_entsize != sizeof(Elf64_Sym)) damaged("symbols of an unknown size");
    if (table.header.sh_link >= sections_.size()) damaged("symbols without names");
    bytes_.range(table.header.sh_offset, table.header.sh_size, "the symbol table");
    for (uint64_t i = 0; i < table.header.sh_size / sizeof(Elf64_Sym); ++i) {
      const auto raw = bytes_.read<Elf64_Sym>(table.header.sh_offset + i * sizeof(Elf64_Sym), "a symbol");
      Symbol symbol{bytes_.text(sections_[table.header.sh_link].header, raw.st_name),
                    static_cast<unsigned char>(ELF64_ST_TYPE(raw.st_info)),
                    static_cast<unsigned char>(ELF64_ST_BIND(raw.st_info)), raw.st_shndx, raw.st_value};
      if (symbol.type == STT_TLS || symbol.type == STT_GNU_IFUNC)
        unsupported_by_loader(str("the kind of symbol of ", symbol.name));
      if (symbol.section == SHN_COMMON) unsupported_by_loader(str("the common symbol ", symbol.name));
      if (symbol.section < SHN_LORESERVE && symbol.section >= sections_.size()) {
        damaged(str("symbol ", symbol.name, " lies in no section"));
      }
      symbols_.push_back(std::move(symbol));
    }
  }
}

template <class Visit>
void Loader::for_each_relocation(const Visit& visit) {
  for (const Section& table : sections_) {
    if (table.header.sh_type != SHT_RELA && table.header.sh_type != SHT_REL) continue;
    if (table.header.sh_info >= sections_.size()) damaged("relocations of no section");
    const Section& target = sections_[table.header.sh_info];
    if (target.access == Access::none) continue;
    if (table.header.sh_type == SHT_REL || target.header.sh_type == SHT_NOBITS)
      unsupported_by_loader("such relocations");
    if (table.header.sh_entsize != sizeof(Elf64_Rela)) damaged("relocations of an unknown size");
    bytes_.range(table.header.sh_offset, table.header.sh_size, "a relocation table");
    for (uint64_t i = 0; i < table.header.sh_size / sizeof(Elf64_Rela); ++i) {
      visit(target, bytes_.read<Elf64_Rela>(table.header.sh_offset + i * sizeof(Elf64_Rela), "a relocation"));
    }
  }
}

/// A slot for each symbol whose address is fetched, a stub for each external that is called.
void Loader::reserve(const Elf64_Rela& rela) {
  Symbol& symbol = symbol_of(rela);
  symbol.is_used = true;
  const Helper helper = machine_.helper(ELF64_R_TYPE(rela.r_info));
  if (helper == Helper::slot && !symbol.slot) symbol.slot = num_slots_++ * sizeof(uint64_t);
  if (helper == Helper::jump && symbol.section == SHN_UNDEF && !symbol.jump) symbol.jump = num_jumps_++ * kJumpBytes;
}

uint64_t round_up(uint64_t value, uint64_t alignment) { return (value + alignment - 1) / alignment * alignment; }

void Loader::lay_out() {
  const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  uint64_t at = 0;
  // Far below 2 GB, so that all places in the mapping can reach each other on x86-64; if an instruction reaches less
  // far, it reports that.
  const auto advance = [&](uint64_t size, uint64_t alignment) {
    constexpr uint64_t kMost = uint64_t{1} << 30;
    if (alignment == 0) alignment = 1;
    if (!std::has_single_bit(alignment) || alignment > page) damaged("an alignment that is none");
    if (size > kMost || at > kMost) unsupported_by_loader("an object of more than 1 GB");
    const uint64_t begin = round_up(at, alignment);
    at = begin + size;
    return begin;
  };
  for (Access access : {Access::code, Access::constants, Access::data}) {
    at = round_up(at, page);
    for (Section& section : sections_) {
      if (section.access == access) section.offset = advance(section.header.sh_size, section.header.sh_addralign);
    }
    if (access == Access::code) {
      const uint64_t jumps = advance(num_jumps_ * kJumpBytes, kJumpBytes);
      for (Symbol& symbol : symbols_)
        if (symbol.jump) *symbol.jump += jumps;
    }
    if (access == Access::constants) {
      const uint64_t slots = advance(num_slots_ * sizeof(uint64_t), sizeof(uint64_t));
      for (Symbol& symbol : symbols_)
        if (symbol.slot) *symbol.slot += slots;
    }
    end_of_[static_cast<std::size_t>(access)] = round_up(at, page);
  }
  total_bytes_ = std::max(round_up(at, page), page);
}

void Loader::copy_sections() {
  void* mapping = mmap(nullptr, total_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED)
    throw Error(ErrorCode::out_of_memory, {}, str("no memory for ", total_bytes_, " bytes of code"));
  base_ = static_cast<std::byte*>(mapping);
  for (const Section& section : sections_) {
    if (section.access == Access::none || section.header.sh_type == SHT_NOBITS || section.header.sh_size == 0) continue;
    const auto source = bytes_.range(section.header.sh_offset, section.header.sh_size, "a section");
    std::memcpy(base_ + section.offset, source.data(), source.size());
  }
}

void Loader::find_addresses() {
  std::string missing;
  for (std::size_t i = 1; i < symbols_.size(); ++i) {  // symbol 0 is none
    Symbol& symbol = symbols_[i];
    if (symbol.section == SHN_ABS) {
      symbol.address = symbol.value;
    } else if (symbol.section == SHN_UNDEF) {
      if (!symbol.is_used) continue;  // of sections that are left out, such as unwind tables
      symbol.address = reinterpret_cast<uint64_t>(resolve_ ? resolve_(symbol.name) : nullptr);
      if (symbol.address == 0 && symbol.binding != STB_WEAK) missing += str(missing.empty() ? "" : ", ", symbol.name);
    } else if (symbol.section < SHN_LORESERVE) {
      const Section& section = sections_[symbol.section];
      if (symbol.value > section.header.sh_size) damaged(str("symbol ", symbol.name, " lies outside of its section"));
      symbol.address = section.access == Access::none ? 0 : address(section.offset + symbol.value);
    }
    if (symbol.slot) write(*symbol.slot, symbol.address);
    if (symbol.jump) write(*symbol.jump, machine_.jump_to(symbol.address));
  }
  if (!missing.empty())
    throw Error(ErrorCode::unknown_name, {}, str("the code needs names that nobody defines: ", missing));
}

void Loader::relocate(const Section& target, const Elf64_Rela& rela) {
  const Symbol& symbol = symbol_of(rela);
  const auto type = static_cast<uint32_t>(ELF64_R_TYPE(rela.r_info));
  const uint64_t width = machine_.width(type);
  if (rela.r_offset > target.header.sh_size || width > target.header.sh_size - rela.r_offset) {
    damaged("a relocation lies outside of its section");
  }
  const uint64_t place = target.offset + rela.r_offset;
  Relocation known;
  known.type = type;
  known.place = address(place);
  known.symbol = symbol.address;
  if (symbol.slot) known.slot = address(*symbol.slot);
  if (symbol.jump) known.jump = address(*symbol.jump);
  known.addend = static_cast<uint64_t>(rela.r_addend);
  known.name = symbol.name;
  known.section = target.name;
  machine_.relocate(known, base_ + place);
}

/// Some processors fetch instructions past what was just written.
void Loader::protect() {
  auto* code = reinterpret_cast<char*>(base_);
  __builtin___clear_cache(code, code + end_of_[static_cast<std::size_t>(Access::code)]);
  uint64_t begin = 0;
  for (Access access : {Access::code, Access::constants}) {
    const uint64_t end = end_of_[static_cast<std::size_t>(access)];
    const int protection = access == Access::code ? PROT_READ | PROT_EXEC : PROT_READ;
    if (end > begin && mprotect(base_ + begin, end - begin, protection) != 0)
      unsupported_by_loader("this system's memory protection");
    begin = end;
  }
}

LoadedCode Loader::finish() {
  std::map<std::string, void*, std::less<>> names;
  for (const Symbol& symbol : symbols_) {
    const bool is_defined = symbol.section != SHN_UNDEF && symbol.section < SHN_LORESERVE && symbol.address != 0;
    if (is_defined && symbol.binding != STB_LOCAL) names.emplace(symbol.name, reinterpret_cast<void*>(symbol.address));
  }
  return LoadedCode(std::exchange(base_, nullptr), total_bytes_, std::move(names));
}

}  // namespace

LoadedCode::LoadedCode(void* base, std::size_t size_bytes, std::map<std::string, void*, std::less<>> symbols)
    : base_(base), size_bytes_(size_bytes), symbols_(std::move(symbols)) {}

LoadedCode::~LoadedCode() {
  if (base_) munmap(base_, size_bytes_);
}

LoadedCode::LoadedCode(LoadedCode&& other) noexcept
    : base_(std::exchange(other.base_, nullptr)), size_bytes_(other.size_bytes_), symbols_(std::move(other.symbols_)) {}

LoadedCode& LoadedCode::operator=(LoadedCode&& other) noexcept {
  std::swap(base_, other.base_);
  std::swap(size_bytes_, other.size_bytes_);
  symbols_.swap(other.symbols_);
  return *this;
}

void* LoadedCode::find(std::string_view name) const {
  const auto at = symbols_.find(name);
  return at == symbols_.end() ? nullptr : at->second;
}

LoadedCode load_elf(std::span<const std::byte> object, const Resolver& resolve) {
  return Loader(object, resolve).load();
}

}  // namespace inlay::runtime
