#include "npy.h"

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <system_error>

#include "oracle/reference/region.h"
#include "support/whole_file.h"

namespace inlay::tool {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMagic = "\x93NUMPY";

struct Descr {
  std::string_view text;
  DType dtype;
};
// bf16 is not here: NumPy has no name for it. opaque is none of a file's business.
constexpr std::array<Descr, 14> kDescrs = {{{"|b1", DType::boolean},
                                            {"|i1", DType::i8},
                                            {"<i2", DType::i16},
                                            {"<i4", DType::i32},
                                            {"<i8", DType::i64},
                                            {"|u1", DType::u8},
                                            {"<u2", DType::u16},
                                            {"<u4", DType::u32},
                                            {"<u8", DType::u64},
                                            {"<f2", DType::f16},
                                            {"<f4", DType::f32},
                                            {"<f8", DType::f64},
                                            {"<c8", DType::c64},
                                            {"<c16", DType::c128}}};

[[noreturn]] void fail(const std::string& name, const std::string& message, const std::string& help = "") {
  Error error(ErrorCode::invalid_file, {}, str(name, ": ", message));
  if (help.empty()) throw error;
  throw std::move(error).help(help);
}

struct Header {
  DType dtype = DType::f64;
  bool column_major = false;
  std::vector<int64_t> dims;
};

/// The header is a Python dict literal with three known keys: {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4),
/// }
class HeaderReader {
 public:
  HeaderReader(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  Header read() {
    Header header;
    expect('{');
    while (!accept('}')) {
      const std::string key = quoted();
      expect(':');
      if (key == "descr") {
        header.dtype = descr();
      } else if (key == "fortran_order") {
        header.column_major = truth();
      } else if (key == "shape") {
        header.dims = shape();
      } else {
        fail(name_, str("the header has an unknown key \"", key, "\""));
      }
      seen_ += key + " ";
      if (accept(',')) continue;
      expect('}');
      break;
    }
    for (const char* key : {"descr ", "fortran_order ", "shape "}) {
      if (seen_.find(key) == std::string::npos) fail(name_, str("the header has no ", key));
    }
    return header;
  }

 private:
  void skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  bool accept(char c) {
    skip();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) fail(name_, str("the header is no dictionary: expected `", c, "` at byte ", at_));
  }

  std::string quoted() {
    skip();
    if (at_ < text_.size() && text_[at_] == '[') fail(name_, "the elements are records, which inlay does not read");
    expect('\'');
    const std::size_t end = text_.find('\'', at_);
    if (end == std::string_view::npos) fail(name_, "the header is no dictionary: a string does not end");
    const std::string result(text_.substr(at_, end - at_));
    at_ = end + 1;
    return result;
  }

  DType descr() {
    std::string text = quoted();
    if (text.empty()) fail(name_, "the dtype is empty");
    if (text[0] == '>')
      fail(name_, str("the elements are big-endian (", text, ")"), "save it as a.astype(a.dtype.newbyteorder('<'))");
    if (text[0] == '=') text[0] = '<';
    for (const Descr& known : kDescrs) {
      if (known.text == text || (text[0] == '<' && known.text.substr(1) == text.substr(1))) return known.dtype;
    }
    if (text == "|O") fail(name_, "the elements are Python objects, which inlay does not read");
    fail(name_, str("inlay has no dtype for ", text));
  }

  bool truth() {
    skip();
    for (const bool value : {false, true}) {
      const std::string_view word = value ? "True" : "False";
      if (text_.substr(at_, word.size()) != word) continue;
      at_ += word.size();
      return value;
    }
    fail(name_, "the header says neither True nor False for fortran_order");
  }

  std::vector<int64_t> shape() {
    std::vector<int64_t> dims;
    expect('(');
    while (!accept(')')) {
      skip();
      int64_t dim = -1;
      const auto read = std::from_chars(text_.data() + at_, text_.data() + text_.size(), dim);
      if (read.ec != std::errc() || dim < 0) fail(name_, "the shape is no list of sizes");
      at_ = static_cast<std::size_t>(read.ptr - text_.data());
      dims.push_back(dim);
      if (accept(',')) continue;
      expect(')');
      break;
    }
    return dims;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  const std::string& name_;
  std::string seen_;
};

/// Bytes of an array, or none where that does not fit 63 bits.
std::optional<int64_t> checked_bytes(const Header& header) {
  int64_t bytes = size_bytes(header.dtype);
  for (int64_t dim : header.dims) {
    if (__builtin_mul_overflow(bytes, dim, &bytes)) return std::nullopt;
  }
  return bytes;
}

/// From column-major: element (i, j, ...) stands at i + j * rows + ...
Tensor to_row_major(const Tensor& column_major) {
  Tensor out = Tensor::zeros(column_major.dtype, column_major.dims);
  int64_t next = 0;
  reference::for_each_point(out.dims, [&](std::span<const int64_t> point) {
    int64_t from = 0;
    for (std::size_t axis = point.size(); axis-- > 0;) from = from * out.dims[axis] + point[axis];
    std::memcpy(out.element(next++), column_major.element(from), static_cast<std::size_t>(size_bytes(out.dtype)));
  });
  return out;
}

}  // namespace

Tensor decode_npy(std::string_view bytes, const std::string& name) {
  if (bytes.substr(0, kMagic.size()) != kMagic) fail(name, "this is no .npy file", "numpy.save writes one");
  if (bytes.size() < 10) fail(name, "the file ends within its header");
  const int version = static_cast<unsigned char>(bytes[6]);
  if (version < 1 || version > 3) fail(name, str("version ", version, " of the format is not known"));
  const std::size_t length_bytes = version == 1 ? 2 : 4;
  const std::size_t header_start = 8 + length_bytes;
  if (bytes.size() < header_start) fail(name, "the file ends within its header");
  std::size_t header_length = 0;
  for (std::size_t i = length_bytes; i-- > 0;)
    header_length = header_length << 8 | static_cast<unsigned char>(bytes[8 + i]);
  if (header_length > bytes.size() - header_start) fail(name, "the file ends within its header");

  const Header header = HeaderReader(bytes.substr(header_start, header_length), name).read();
  const std::string_view data = bytes.substr(header_start + header_length);
  const auto wanted = checked_bytes(header);
  if (!wanted || static_cast<uint64_t>(*wanted) > data.size()) {
    fail(name, str("the file is cut off: ", data.size(), " bytes of data for ", dtype_name(header.dtype), "[",
                   join(header.dims, ", "), "]"));
  }
  Tensor out = Tensor::zeros(header.dtype, header.dims);
  if (!out.data.empty()) std::memcpy(out.data.data(), data.data(), out.data.size());
  return header.column_major ? to_row_major(out) : out;
}

std::string encode_npy(const Tensor& tensor) {
  std::string_view descr;
  for (const Descr& known : kDescrs) {
    if (known.dtype == tensor.dtype) descr = known.text;
  }
  if (descr.empty()) throw Error(ErrorCode::unsupported, {}, str("a .npy file cannot hold ", dtype_name(tensor.dtype)));
  const std::string dims = tensor.dims.size() == 1 ? str(tensor.dims[0], ",") : join(tensor.dims, ", ");
  std::string header = str("{'descr': '", descr, "', 'fortran_order': False, 'shape': (", dims, "), }");
  // The data begins at a multiple of 64 bytes.
  header.append(63 - (10 + header.size()) % 64, ' ');
  header += '\n';
  std::string out(kMagic);
  out += {'\x01', '\x00', static_cast<char>(header.size() & 0xff), static_cast<char>(header.size() >> 8)};
  out += header;
  out.append(reinterpret_cast<const char*>(tensor.data.data()), tensor.data.size());
  return out;
}

std::string read_file(const std::string& path, std::string_view begins) {
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  const bool is_open = in.is_open();
  std::string bytes;
  std::array<char, 1 << 16> block;
  while (in.read(block.data(), block.size()) || in.gcount() > 0) {
    bytes.append(block.data(), static_cast<std::size_t>(in.gcount()));
    if (!bytes.starts_with(begins.substr(0, bytes.size()))) break;
  }
  if (!is_open || in.bad()) fail(path, str("cannot be read: ", std::strerror(errno ? errno : EIO)));
  return bytes;
}

void write_file(const std::string& path, std::string_view bytes) {
  if (const std::error_code failure = write_whole_file(path, bytes)) {
    fail(path, str("cannot be written: ", failure.message()));
  }
}

Tensor read_npy(const std::string& path) { return decode_npy(read_file(path, kMagic), path); }
void write_npy(const std::string& path, const Tensor& tensor) { write_file(path, encode_npy(tensor)); }

}  // namespace inlay::tool
