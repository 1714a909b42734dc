// The messages of onnx.proto, field by field, straight from the bytes of the file: what has no meaning here is stepped
// over, so a file costs what its nodes cost. protozero knows the wire format; it has headers alone.
#include <cstring>
#include <filesystem>

#include <protozero/pbf_reader.hpp>

#include "onnx/mapped_file.h"
#include "onnx/model.h"
#include "onnx/narrow.h"
#include "ops/literal.h"
#include "support/error.h"

namespace inlay::onnx {
namespace {

using protozero::pbf_reader;
using protozero::pbf_wire_type;

constexpr int kMostNested = 64;  // graphs within attributes; the reader recurses

constexpr uint32_t varint(uint32_t field) {
  return protozero::tag_and_type(static_cast<protozero::pbf_tag_type>(field), pbf_wire_type::varint);
}
constexpr uint32_t bytes(uint32_t field) {
  return protozero::tag_and_type(static_cast<protozero::pbf_tag_type>(field), pbf_wire_type::length_delimited);
}
constexpr uint32_t fixed32(uint32_t field) {
  return protozero::tag_and_type(static_cast<protozero::pbf_tag_type>(field), pbf_wire_type::fixed32);
}
constexpr uint32_t fixed64(uint32_t field) {
  return protozero::tag_and_type(static_cast<protozero::pbf_tag_type>(field), pbf_wire_type::fixed64);
}

/// Is it well-formed, as names are by the format?
bool is_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i++]);
    if (lead < 0x80) continue;
    const std::size_t more = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : 1;
    if (lead < 0xC2 || lead > 0xF4 || text.size() - i < more) return false;
    uint32_t point = lead & (0x3FU >> more);
    for (std::size_t end = i + more; i < end; ++i) {
      const auto next = static_cast<unsigned char>(text[i]);
      if ((next & 0xC0) != 0x80) return false;
      point = point << 6 | (next & 0x3FU);
    }
    const bool is_longer_than_needed = (more == 2 && point < 0x800) || (more == 3 && point < 0x10000);
    if (is_longer_than_needed || point > 0x10FFFF || (point >= 0xD800 && point < 0xE000)) return false;
  }
  return true;
}

/// Elements of a tensor that stand in fields of numbers, as bytes of its type.
class Elements {
 public:
  template <class T>
  void add(T value) {
    copy_lying();
    const auto* from = reinterpret_cast<const std::byte*>(&value);
    bytes_.insert(bytes_.end(), from, from + sizeof(T));
  }
  /// Numbers that the file has as the tensor has them: they stay in it where they are all.
  void add_lying(Bytes numbers) {
    copy_lying();
    if (bytes_.empty()) {
      lying_ = std::move(numbers);
    } else {
      bytes_.insert(bytes_.end(), numbers.bytes.begin(), numbers.bytes.end());
    }
  }
  Bytes take() && { return lying_.bytes.empty() ? kept(std::move(bytes_)) : std::move(lying_); }

 private:
  void copy_lying() {
    if (lying_.bytes.empty()) return;
    bytes_.assign(lying_.bytes.begin(), lying_.bytes.end());
    lying_ = {};
  }

  Bytes lying_;
  std::vector<std::byte> bytes_;  // where nothing lies
};

/// Where the elements of a tensor lie when they are not in the model.
struct External {
  bool is_external = false;
  std::string location;
  int64_t offset = 0;
  std::optional<int64_t> length;
};

class Reader {
 public:
  Reader(Bytes file, std::string name, std::string folder)
      : file_(std::move(file)), name_(std::move(name)), folder_(std::move(folder)) {}

  Model read() {
    try {
      return model({reinterpret_cast<const char*>(file_.bytes.data()), file_.bytes.size()});
    } catch (const protozero::exception& broken) {
      throw error(str("it is no ONNX file, or a part of one: ", broken.what()));
    }
  }

 private:
  Error error(const std::string& what) const { return {ErrorCode::invalid_file, {}, str(name_, ": ", what)}; }

  /// A name.
  std::string text(pbf_reader& m) const {
    std::string name = m.get_string();
    if (!is_utf8(name)) throw error("a name in it is no UTF-8");
    return name;
  }

  template <class Get, class Add>
  static void each(pbf_reader& packed, Get get, Add add) {
    for (auto value : (packed.*get)()) add(value);
  }

  Model model(pbf_reader m) {
    Model out;
    out.file = name_;
    bool has_graph = false;
    while (m.next()) {
      switch (m.tag_and_type()) {
        case varint(1): out.ir_version = m.get_int64(); break;
        case bytes(7):
          if (has_graph) throw error("it has two graphs");
          has_graph = true;
          out.graph = graph(m.get_message(), 0);
          break;
        case bytes(8): out.opsets.push_back(opset(m.get_message())); break;
        case bytes(25): out.functions.push_back(function(m.get_message())); break;
        default: m.skip();
      }
    }
    if (!has_graph) throw error("it is no ONNX file: it has no graph");
    out.contents.push_back(file_);
    for (const auto& [path, bytes] : outside_) out.contents.push_back(bytes);
    return out;
  }

  OpsetVersion opset(pbf_reader m) const {
    OpsetVersion out;
    while (m.next()) {
      switch (m.tag_and_type()) {
        case bytes(1): out.domain = domain(text(m)); break;
        case varint(2): out.version = m.get_int64(); break;
        default: m.skip();
      }
    }
    return out;
  }

  /// ONNX's own ops have two names.
  static std::string domain(std::string name) { return name == "ai.onnx" ? "" : name; }

  Graph graph(pbf_reader m, int depth) {
    if (depth > kMostNested) throw error(str("graphs within graphs are more than ", kMostNested, " deep"));
    Graph out;
    while (m.next()) {
      switch (m.tag_and_type()) {
        case bytes(1): out.nodes.push_back(node(m.get_message(), depth)); break;
        case bytes(2): out.name = text(m); break;
        case bytes(5): out.initializers.push_back(tensor(m.get_message())); break;
        case bytes(11): out.inputs.push_back(declared(m.get_message())); break;
        case bytes(12): out.outputs.push_back(declared(m.get_message())); break;
        case bytes(13): out.values.push_back(declared(m.get_message())); break;
        case bytes(15): out.sparse_initializers.push_back(sparse_name(m.get_message())); break;
        default: m.skip();
      }
    }
    return out;
  }

  std::string sparse_name(pbf_reader m) {
    std::string out;
    while (m.next()) {
      if (m.tag_and_type() == bytes(1)) {
        out = tensor(m.get_message()).name;
      } else {
        m.skip();
      }
    }
    return out;
  }

  Node node(pbf_reader m, int depth) {
    Node out;
    while (m.next()) {
      switch (m.tag_and_type()) {
        case bytes(1): out.inputs.push_back(text(m)); break;
        case bytes(2): out.outputs.push_back(text(m)); break;
        case bytes(3): out.name = text(m); break;
        case bytes(4): out.op = text(m); break;
        case bytes(5): out.attributes.push_back(attribute(m.get_message(), depth)); break;
        case bytes(7): out.domain = domain(text(m)); break;
        case bytes(8): out.overload = text(m); break;
        default: m.skip();
      }
    }
    if (out.op.empty()) throw error(str("the node `", out.name, "` has no op"));
    return out;
  }

  Attribute attribute(pbf_reader m, int depth) {
    Attribute out;
    while (m.next()) {
      switch (m.tag_and_type()) {
        case bytes(1): out.name = text(m); break;
        case fixed32(2): out.f = m.get_float(); break;
        case varint(3): out.i = m.get_int64(); break;
        case bytes(4): out.s = m.get_string(); break;
        case bytes(5): out.tensor = std::make_shared<const Tensor>(tensor(m.get_message())); break;
        case bytes(6): out.graph = std::make_shared<const Graph>(graph(m.get_message(), depth + 1)); break;
        case fixed32(7): out.floats.push_back(m.get_float()); break;
        case bytes(7): each(m, &pbf_reader::get_packed_float, [&](float x) { out.floats.push_back(x); }); break;
        case varint(8): out.ints.push_back(m.get_int64()); break;
        case bytes(8): each(m, &pbf_reader::get_packed_int64, [&](int64_t x) { out.ints.push_back(x); }); break;
        case bytes(9): out.strings.push_back(m.get_string()); break;
        case varint(20): out.kind = attribute_kind(m.get_int32()); break;
        case bytes(21): out.refers_to = text(m); break;
        default: m.skip();
      }
    }
    if (out.name.empty()) throw error("an attribute has no name");
    return out;
  }

  static Attribute::Kind attribute_kind(int32_t number) {
    using enum Attribute::Kind;
    constexpr Attribute::Kind kKinds[] = {none,           f,    i,       s,       tensor, graph,
                                          floats,         ints, strings, tensors, graphs, sparse_tensor,
                                          sparse_tensors, type, types};
    return number >= 0 && number < static_cast<int32_t>(std::size(kKinds)) ? kKinds[number] : none;
  }

  Tensor tensor(pbf_reader m) {
    Tensor out;
    External external;
    std::optional<Bytes> raw;
    pbf_reader again = m;  // the type, which says how the numbers are read, may stand behind them
    while (m.next()) {
      switch (m.tag_and_type()) {
        case varint(1): out.dims.push_back(m.get_int64()); break;
        case bytes(1): each(m, &pbf_reader::get_packed_int64, [&](int64_t d) { out.dims.push_back(d); }); break;
        case varint(2): out.type = m.get_int32(); break;
        case bytes(8): out.name = text(m); break;
        case bytes(9): raw = lying(m); break;
        case bytes(13): entry(m.get_message(), external); break;
        case varint(14): external.is_external = m.get_int32() == 1; break;
        default: m.skip();
      }
    }
    if (external.is_external) {
      out.data = outside(out, external);
    } else {
      out.data = raw ? *raw : numbers(again, out.type);
    }
    check_size(out);
    return out;
  }

  /// The bytes of a field, in the file.
  Bytes lying(pbf_reader& m) const {
    const auto view = m.get_view();
    return {file_.owner, {reinterpret_cast<const std::byte*>(view.data()), view.size()}};
  }

  /// A pair of strings: where a tensor lies outside of the model.
  void entry(pbf_reader m, External& external) const {
    std::string key, value;
    while (m.next()) {
      switch (m.tag_and_type()) {
        case bytes(1): key = text(m); break;
        case bytes(2): value = text(m); break;
        default: m.skip();
      }
    }
    const auto number = [&] {
      const std::optional<Literal> parsed = Literal::of_text(DType::i64, value);
      if (!parsed || parsed->i < 0) throw error(str("the ", key, " of external data is `", value, "`"));
      return parsed->i;
    };
    if (key == "location") external.location = value;
    if (key == "offset") external.offset = number();
    if (key == "length") external.length = number();
  }

  /// What lies in a file beside the model. A name that leads elsewhere is refused: a model is data, not a program.
  Bytes outside(const Tensor& tensor, const External& external) {
    const std::filesystem::path location(external.location);
    const auto refuse = [&](const std::string& why) {
      return error(str("the tensor `", tensor.name, "` lies in `", external.location, "`, ", why));
    };
    if (external.location.find('\0') != std::string::npos) {
      throw error(str("the tensor `", tensor.name, "` lies in a file whose name has a NUL in it"));
    }
    if (folder_.empty()) throw refuse("and a model in memory has no folder: give the path of the model");
    bool leaves = external.location.empty() || location.is_absolute();
    for (const auto& part : location) leaves = leaves || part == "..";
    if (leaves) throw refuse("which is not in the folder of the model");
    const std::filesystem::path full = std::filesystem::path(folder_) / location;
    std::error_code failed;
    const auto followed = [&](const std::filesystem::path& path) {
      const std::filesystem::path real = std::filesystem::canonical(path, failed);
      if (failed) throw refuse(str("which cannot be read: ", failed.message()));
      return real;
    };
    const auto real = followed(full), root = followed(folder_);
    if (const auto within = std::filesystem::relative(real, root, failed);
        failed || within.string().starts_with("..")) {
      throw refuse("a link that leaves the folder of the model");
    }
    const bool is_file = std::filesystem::is_regular_file(real, failed);
    if (!is_file) throw refuse("which is no regular file");
    const Bytes& file = opened(real.string());
    const auto size = static_cast<int64_t>(file.bytes.size());
    const int64_t length = external.length.value_or(size - external.offset);
    if (external.offset > size || length < 0 || length > size - external.offset) {
      throw refuse(str("which has ", size, " bytes, not ", external.offset, " + ", length));
    }
    return {file.owner,
            file.bytes.subspan(static_cast<std::size_t>(external.offset), static_cast<std::size_t>(length))};
  }

  const Bytes& opened(const std::string& path) {
    for (const auto& [known, bytes] : outside_) {
      if (known == path) return bytes;
    }
    return outside_.emplace_back(path, map_file(path)).second;
  }

  /// The fields float_data, int32_data, ...: which of them goes by the type.
  Bytes numbers(pbf_reader m, int64_t type) const {
    Elements out;
    const std::optional<DType> dtype = dtype_of_type(type);
    const auto add_int32 = [&](int32_t x) {
      const int64_t width = dtype ? size_bytes(*dtype) : 1;
      if (width == 1) {
        out.add(static_cast<uint8_t>(x));
      } else if (width == 2) {
        out.add(static_cast<uint16_t>(x));
      } else {
        out.add(x);
      }
    };
    const auto add_uint64 = [&](uint64_t x) {
      if (dtype == DType::u32) {
        out.add(static_cast<uint32_t>(x));
      } else {
        out.add(x);
      }
    };
    const auto add = [&](auto x) { out.add(x); };
    while (m.next()) {
      switch (m.tag_and_type()) {
        case fixed32(4): add(m.get_float()); break;
        case bytes(4): out.add_lying(lying(m)); break;
        case varint(5): add_int32(m.get_int32()); break;
        case bytes(5): each(m, &pbf_reader::get_packed_int32, add_int32); break;
        case varint(7): add(m.get_int64()); break;
        case bytes(7): each(m, &pbf_reader::get_packed_int64, add); break;
        case fixed64(10): add(m.get_double()); break;
        case bytes(10): out.add_lying(lying(m)); break;
        case varint(11): add_uint64(m.get_uint64()); break;
        case bytes(11): each(m, &pbf_reader::get_packed_uint64, add_uint64); break;
        default: m.skip();
      }
    }
    return std::move(out).take();
  }

  /// As many bytes as the dims say; a type that inlay does not have is refused where somebody reads it.
  void check_size(const Tensor& tensor) const {
    int64_t count = 1;
    bool too_large = false, is_empty = false;
    for (int64_t dim : tensor.dims) {
      if (dim < 0) throw error(str("the tensor `", tensor.name, "` has a size of ", dim));
      is_empty = is_empty || dim == 0;
      too_large = too_large || __builtin_mul_overflow(count, dim, &count);
    }
    if (too_large && !is_empty) throw error(str("the tensor `", tensor.name, "` has sizes of no memory"));
    if (!dtype_of_type(tensor.type) && !wide_dtype(tensor.type)) return;
    const int64_t wanted = bytes_of(tensor.type, is_empty ? 0 : count).value_or(-1);
    if (wanted != static_cast<int64_t>(tensor.data.bytes.size())) {
      throw error(str("the tensor `", tensor.name, "` has ", tensor.data.bytes.size(), " bytes, not the ", wanted,
                      " that its sizes and ", type_name(tensor.type), " say"));
    }
  }

  Declared declared(pbf_reader m) {
    Declared out;
    while (m.next()) {
      switch (m.tag_and_type()) {
        case bytes(1): out.name = text(m); break;
        case bytes(2): type(m.get_message(), out); break;
        default: m.skip();
      }
    }
    return out;
  }

  void type(pbf_reader m, Declared& out) const {
    using Kind = Declared::Kind;
    while (m.next()) {
      switch (m.tag_and_type()) {
        case bytes(1):
          out.kind = Kind::tensor;
          tensor_type(m.get_message(), out);
          break;
        case bytes(4):
          out.kind = Kind::sequence;
          m.skip();
          break;
        case bytes(5):
          out.kind = Kind::map;
          m.skip();
          break;
        case bytes(7):
          out.kind = Kind::opaque;
          m.skip();
          break;
        case bytes(8):
          out.kind = Kind::sparse_tensor;
          m.skip();
          break;
        case bytes(9):
          out.kind = Kind::optional;
          m.skip();
          break;
        default: m.skip();
      }
    }
  }

  void tensor_type(pbf_reader m, Declared& out) const {
    while (m.next()) {
      switch (m.tag_and_type()) {
        case varint(1): out.element_type = m.get_int32(); break;
        case bytes(2): out.dims = shape(m.get_message()); break;
        default: m.skip();
      }
    }
  }

  std::vector<Declared::Size> shape(pbf_reader m) const {
    std::vector<Declared::Size> out;
    while (m.next()) {
      if (m.tag_and_type() == bytes(1)) {
        out.push_back(size(m.get_message()));
      } else {
        m.skip();
      }
    }
    return out;
  }

  Declared::Size size(pbf_reader m) const {
    Declared::Size out;
    while (m.next()) {
      switch (m.tag_and_type()) {
        case varint(1): out.number = m.get_int64(); break;
        case bytes(2): out.name = text(m); break;
        default: m.skip();
      }
    }
    return out;
  }

  Function function(pbf_reader m) {
    Function out;
    while (m.next()) {
      switch (m.tag_and_type()) {
        case bytes(1): out.name = text(m); break;
        case bytes(4): out.inputs.push_back(text(m)); break;
        case bytes(5): out.outputs.push_back(text(m)); break;
        case bytes(6): out.attributes.push_back(text(m)); break;
        case bytes(7): out.nodes.push_back(node(m.get_message(), 0)); break;
        case bytes(9): out.opsets.push_back(opset(m.get_message())); break;
        case bytes(10): out.domain = domain(text(m)); break;
        case bytes(11): out.defaults.push_back(attribute(m.get_message(), 0)); break;
        case bytes(13): out.overload = text(m); break;
        default: m.skip();
      }
    }
    return out;
  }

  Bytes file_;
  std::string name_, folder_;
  std::vector<std::pair<std::string, Bytes>> outside_;  // files of external data, by path
};

}  // namespace

Model read_model(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  return Reader(map_file(path), path, folder.empty() ? "." : folder.string()).read();
}

Model read_model(Bytes bytes, const std::string& name, const std::string& folder) {
  return Reader(std::move(bytes), name, folder).read();
}

}  // namespace inlay::onnx
