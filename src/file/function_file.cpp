#include "file/function_file.h"

#include <algorithm>
#include <array>
#include <cstring>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "file/archive.h"

namespace inlay {

// Descriptions stand beside what they describe: argument-dependent lookup finds them.
namespace runtime {

template <class Archive>
void describe(Archive& a, SizeItem& it) {
  a(it.kind, it.number);
}
template <class Archive>
void describe(Archive& a, SizeExpr& it) {
  a(it.items);
}
template <class Archive>
void describe(Archive& a, TensorSpec& it) {
  a(it.name, it.dtype, it.element_bytes, it.dims, it.dim_texts, it.bound, it.facts, it.donated, it.taken_param,
    it.written_last, it.segment);
}
template <class Archive>
void describe(Archive& a, SymbolSpec& it) {
  a(it.name, it.param, it.axis, it.upper_bound);
}
template <class Archive>
void describe(Archive& a, SiteSpec& it) {
  a(it.code, it.message, it.notes, it.location);
}
template <class Archive>
void describe(Archive& a, HostCallSpec& it) {
  a(it.name, it.function, it.operands, it.results, it.location);
}
template <class Archive>
void describe(Archive& a, ArenaSpec::Storage& it) {
  a(it.number, it.name, it.bytes, it.alignment_bytes, it.segment, it.begin, it.end);
}
template <class Archive>
void describe(Archive& a, ArenaSpec& it) {
  a(it.is_static, it.segment_bytes, it.num_storages, it.storages);
}
template <class Archive>
void describe(Archive& a, Object& it) {
  a(it.code, it.entry, it.params, it.outputs, it.symbols, it.sites, it.host_calls, it.arena);
}

}  // namespace runtime

template <class Archive>
void describe(Archive& a, Location& it) {
  a(it.text);
}
template <class Archive>
void describe(Archive& a, Facts& it) {
  a(it.has_range, it.min, it.max, it.sorted);
}

namespace file {

template <>
struct LastOf<runtime::SizeItem::Kind> {
  static constexpr auto value = runtime::SizeItem::Kind::max;
};
template <>
struct LastOf<ErrorCode> {
  static constexpr auto value = static_cast<ErrorCode>(kNumErrorCodes - 1);
};

template <class Archive>
void describe(Archive& a, Section& it) {
  a(it.name, it.bytes);
}
template <class Archive>
void describe(Archive& a, FunctionFile& it) {
  a(it.inlay, it.object, it.code_abi, it.backend, it.target, it.needs, it.cpu_features, it.planner, it.upper_bounds,
    it.fuse, it.order_gain, it.graph, it.kernels, it.locations, it.buffers, it.values_of_buffers, it.sections);
}

namespace {

// Text mode and 7-bit transports change one of these bytes, as they do in a PNG.
constexpr std::array<unsigned char, 8> kMagic = {0x89, 'i', 'n', 'l', 'a', 'y', '\r', '\n'};

struct Header {
  std::array<unsigned char, 8> magic = kMagic;
  uint32_t format = kFormat;
  uint32_t reserved = 0;
  uint64_t body_bytes = 0;
  uint64_t checksum[2] = {};  // XXH3, 128 bits, the low half first
};
static_assert(sizeof(Header) == 40);

XXH128_hash_t hash_of(std::span<const std::byte> bytes) { return XXH3_128bits(bytes.data(), bytes.size()); }

Error wrong(std::string_view name, const auto&... what) { return {ErrorCode::invalid_file, {}, str(name, what...)}; }

}  // namespace

const Section* find_section(const FunctionFile& file, std::string_view name) {
  const auto found = std::ranges::find(file.sections, name, &Section::name);
  return found == file.sections.end() ? nullptr : &*found;
}

std::vector<std::byte> write(const FunctionFile& file) {
  Writer writer;
  writer(file);
  const std::vector<std::byte> body = writer.take();
  const XXH128_hash_t hash = hash_of(body);
  Header header;
  header.body_bytes = body.size();
  header.checksum[0] = hash.low64;
  header.checksum[1] = hash.high64;
  std::vector<std::byte> out(sizeof header + body.size());
  std::memcpy(out.data(), &header, sizeof header);
  std::ranges::copy(body, out.begin() + sizeof header);
  return out;
}

bool begins_as_one(std::span<const std::byte> bytes) {
  const std::size_t begin = std::min(bytes.size(), kMagic.size());
  return begin > 0 && std::memcmp(bytes.data(), kMagic.data(), begin) == 0;
}

FunctionFile read(std::span<const std::byte> bytes, std::string_view name) {
  Header header;
  if (!begins_as_one(bytes)) {
    throw wrong(name, " is not a compiled function: it does not begin as one does");
  }
  if (bytes.size() < sizeof header) throw wrong(name, " is damaged: it ends in the middle");
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.format != kFormat) {
    throw wrong(name, " was written in format ", header.format, ", and this inlay reads format ", kFormat)
        .help("compile the function again, or load it with the inlay that wrote it");
  }
  const std::span<const std::byte> body = bytes.subspan(sizeof header);
  if (body.size() < header.body_bytes) {
    throw wrong(name, " is damaged: it has ", bytes.size(), " of ", sizeof header + header.body_bytes, " bytes");
  }
  const XXH128_hash_t hash = hash_of(body);
  const bool holds = body.size() == header.body_bytes && header.reserved == 0 && hash.low64 == header.checksum[0] &&
                     hash.high64 == header.checksum[1];
  if (!holds) throw wrong(name, " is damaged: its checksum does not hold");
  Reader reader(body, std::string(name));
  FunctionFile out;
  out.format = header.format;
  reader(out);
  reader.finish();
  return out;
}

std::string content_hash(std::span<const std::byte> bytes) {
  XXH128_canonical_t digits;
  XXH128_canonicalFromHash(&digits, hash_of(bytes));
  std::string out;
  for (const unsigned char byte : digits.digest) {
    for (const int half : {byte >> 4, byte & 15}) out += "0123456789abcdef"[half];
  }
  return out;
}

std::string hash_without_locations(FunctionFile file) {
  file.locations.clear();
  file.object.sites.clear();  // messages, whose notes name lines too
  file.kernels.clear();       // the code says what they do, and the text has the sites
  for (runtime::HostCallSpec& call : file.object.host_calls) call.location = {};
  return content_hash(write(file));
}

}  // namespace file
}  // namespace inlay
