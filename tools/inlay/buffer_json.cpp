#include <algorithm>
#include <set>

#include <nlohmann/json.hpp>

#include "buffer_file.h"
#include "ir/nearest.h"

namespace inlay::tool {
namespace {

using Json = nlohmann::json;

class JsonBufferReader {
 public:
  JsonBufferReader(std::string_view text, const std::string& path) : text_(text), path_(path) {}

  BufferFile read() {
    Json file = parsed();
    if (file.is_array()) file = {{"buffers", std::move(file)}};
    BufferFile out{.path = path_};
    const auto buffers = file.find("buffers");
    if (buffers == file.end() || !buffers->is_array())
      throw wrong("", "there is no list \"buffers\"")
          .help(R"({"buffers": [{"id": "a", "lower": 0, "upper": 2, "size": 8}]})");
    if (const auto pools = file.find("pools"); pools != file.end()) read_pools(*pools, out);
    for (const Json& buffer : *buffers) {
      at_ = str("buffers[", out.buffers.size(), "]: ");
      out.buffers.push_back(read_buffer(buffer));
    }
    return out;
  }

 private:
  Json parsed() const {
    try {
      return Json::parse(text_);
    } catch (const Json::parse_error& error) {
      const auto read = text_.substr(0, std::min(error.byte, text_.size()));
      throw Error(ErrorCode::invalid_file, {str(path_, ":", 1 + std::ranges::count(read, '\n'))}, "this is no JSON");
    } catch (const Json::out_of_range&) {
      throw wrong("", "a number is too large");
    }
  }

  Error wrong(const std::string& at, std::string message) const {
    return {ErrorCode::invalid_file, {path_}, at + std::move(message)};
  }

  void read_pools(const Json& pools, BufferFile& out) {
    if (!pools.is_array()) throw wrong("", "\"pools\" is no list");
    for (const Json& pool : pools) {
      at_ = str("pools[", out.pools.size(), "]: ");
      if (!pool.is_object()) throw wrong(at_, "this is no object");
      require_known(pool, {"name", "capacity", "peak", "lower_bound"});
      const std::optional<int64_t> capacity = number_if(pool, "capacity");
      if (capacity && *capacity < 0) throw wrong(at_, str("capacity ", *capacity, " is negative"));
      out.pools.push_back({.name = text(pool, "name"), .capacity_bytes = capacity.value_or(-1)});
      const std::string& name = out.pools.back().name;
      const auto same = [&](const memory::pools::Pool& p) { return p.name == name; };
      if (std::ranges::count_if(out.pools, same) > 1) throw wrong(at_, str("there are two pools ", name));
    }
  }

  memory::pools::Buffer read_buffer(const Json& json) const {
    if (!json.is_object()) throw wrong(at_, "this is no object");
    require_known(json, {"id", "lower", "upper", "size", "alignment", "offset", "base", "pool", "cost", "entry", "in",
                         "at", "spilled"});
    if (!json.contains("id")) throw wrong(at_, "id is missing");
    memory::pools::Buffer out{.name = text(json, "id")};
    out.lower = number(json, "lower");
    out.upper = number(json, "upper");
    out.size = number(json, "size");
    out.alignment = number_if(json, "alignment").value_or(1);
    out.offset = number_if(json, "offset");
    out.base = text(json, "base");
    out.pools = texts(json, "pool");
    out.cost = number_if(json, "cost");
    out.entry = text(json, "entry");
    return out;
  }

  /// Also what `inlay plan --json` writes beside what it has read.
  void require_known(const Json& json, const std::vector<std::string>& names) const {
    for (const auto& [name, value] : json.items()) {
      if (std::ranges::find(names, name) != names.end()) continue;
      const auto guess = text::nearest(name, names);
      throw wrong(at_, str("there is no ", name))
          .help(guess ? str("did you mean ", *guess, "?") : str("what there is: ", join(names, " ")));
    }
  }

  static bool has(const Json& json, const char* name) { return json.contains(name) && !json[name].is_null(); }

  std::string text(const Json& json, const char* name) const {
    if (!has(json, name)) return "";
    if (!json[name].is_string()) throw wrong(at_, str(name, " is no text"));
    return json[name];
  }

  std::vector<std::string> texts(const Json& json, const char* name) const {
    if (!has(json, name)) return {};
    if (!json[name].is_array()) return {text(json, name)};
    std::vector<std::string> out;
    for (const Json& one : json[name]) {
      if (!one.is_string()) throw wrong(at_, str(name, " is a list of what is no text"));
      out.push_back(one);
    }
    return out;
  }

  int64_t number(const Json& json, const char* name) const {
    if (!has(json, name)) throw wrong(at_, str(name, " is missing"));
    if (!json[name].is_number_integer()) throw wrong(at_, str(name, " is no whole number"));
    if (json[name].is_number_unsigned() && json[name].get<uint64_t>() > INT64_MAX)
      throw wrong(at_, str(name, " does not fit in 63 bits"));
    return json[name];
  }

  std::optional<int64_t> number_if(const Json& json, const char* name) const {
    return has(json, name) ? std::optional(number(json, name)) : std::nullopt;
  }

  std::string_view text_;
  const std::string& path_;
  std::string at_;
};

}  // namespace

BufferFile parse_json_buffers(std::string_view text, const std::string& path) {
  return JsonBufferReader(text, path).read();
}

}  // namespace inlay::tool
