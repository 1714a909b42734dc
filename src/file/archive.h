#pragma once
// Plain data as bytes and back. A struct is described once, `describe(archive, value)`, by its members in order, and
// the archive is a Writer or a Reader. A number is in groups of 7 bits, its sign in the lowest one (docs/file.md says
// how); an enum and a bool are one byte; what has a length begins with it, as a number.
//
// A Reader never reads beyond its bytes, and allocates no more than in proportion to them: what they say of lengths is
// believed element by element.
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "support/error.h"

namespace inlay::file {

/// The last value of an enum that archives hold: one beyond is damage.
template <class E>
struct LastOf;

class Writer {
 public:
  template <class... T>
  void operator()(const T&... values) {
    (put(values), ...);
  }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  void put_raw(const void* data, std::size_t size) {
    const auto* begin = static_cast<const std::byte*>(data);
    bytes_.insert(bytes_.end(), begin, begin + size);
  }
  void put_byte(uint8_t byte) { bytes_.push_back(std::byte{byte}); }
  void put_length(std::size_t length) { put(static_cast<int64_t>(length)); }

  void put(bool value) { put_byte(value ? 1 : 0); }
  template <std::signed_integral T>
  void put(T value) {
    const auto wide = static_cast<int64_t>(value);
    uint64_t rest = (static_cast<uint64_t>(wide) << 1) ^ static_cast<uint64_t>(wide >> 63);
    for (; rest >= 0x80; rest >>= 7) put_byte(static_cast<uint8_t>(rest | 0x80));
    put_byte(static_cast<uint8_t>(rest));
  }
  template <class E>
    requires std::is_enum_v<E>
  void put(E value) {
    put_byte(static_cast<uint8_t>(value));
  }
  void put(const std::string& text) {
    put_length(text.size());
    put_raw(text.data(), text.size());
  }
  void put(const std::vector<std::byte>& bytes) {
    put_length(bytes.size());
    put_raw(bytes.data(), bytes.size());
  }
  template <class A, class B>
  void put(const std::pair<A, B>& both) {
    (*this)(both.first, both.second);
  }
  template <class T>
  void put(const std::vector<T>& values) {
    put_length(values.size());
    for (const T& value : values) put(value);
  }
  template <class T>
    requires std::is_class_v<T>
  void put(const T& value) {
    describe(*this, const_cast<T&>(value));  // a Reader's description may write, a Writer's does not
  }

  std::vector<std::byte> bytes_;
};

class Reader {
 public:
  /// `name` stands before what is wrong.
  Reader(std::span<const std::byte> bytes, std::string name) : rest_(bytes), name_(std::move(name)) {}

  template <class... T>
  void operator()(T&... values) {
    (get(values), ...);
  }
  /// Throws unless all was read.
  void finish() const {
    if (!rest_.empty()) damaged(str("has ", rest_.size(), " bytes more than it tells of"));
  }

 private:
  [[noreturn]] void damaged(std::string_view how) const {
    throw Error(ErrorCode::invalid_file, {}, str(name_, " is damaged: it ", how));
  }
  std::span<const std::byte> take(uint64_t size) {
    if (size > rest_.size()) damaged("ends in the middle");
    const std::span<const std::byte> out = rest_.first(size);
    rest_ = rest_.subspan(size);
    return out;
  }
  uint8_t byte() { return static_cast<uint8_t>(take(1)[0]); }
  uint64_t length() {
    int64_t out = 0;
    get(out);
    if (out < 0) damaged("has a length below 0");
    return static_cast<uint64_t>(out);
  }

  template <std::signed_integral T>
  void get(T& value) {
    uint64_t bits = 0;
    for (int shift = 0;; shift += 7) {
      const uint8_t next = byte();
      if (shift > 63 || (shift == 63 && next > 1)) damaged("has a number of more than 64 bits");
      bits |= static_cast<uint64_t>(next & 0x7f) << shift;
      if (next < 0x80) break;
    }
    const auto wide = static_cast<int64_t>((bits >> 1) ^ (0 - (bits & 1)));
    if (!std::in_range<T>(wide)) damaged("has a number that is too large for its place");
    value = static_cast<T>(wide);
  }
  void get(bool& value) {
    const uint8_t byte = this->byte();
    if (byte > 1) damaged("has a number where yes or no belongs");
    value = byte == 1;
  }
  template <class E>
    requires std::is_enum_v<E>
  void get(E& value) {
    static_assert(sizeof(E) == 1);
    const uint8_t byte = this->byte();
    if (byte > static_cast<uint8_t>(LastOf<E>::value)) damaged("has a choice that is none");
    value = static_cast<E>(byte);
  }
  void get(std::string& text) {
    const std::span<const std::byte> bytes = take(length());
    text.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  void get(std::vector<std::byte>& out) {
    const std::span<const std::byte> bytes = take(length());
    out.assign(bytes.begin(), bytes.end());
  }
  template <class A, class B>
  void get(std::pair<A, B>& both) {
    (*this)(both.first, both.second);
  }
  template <class T>
  void get(std::vector<T>& values) {
    values.clear();
    for (uint64_t left = length(); left > 0; --left) get(values.emplace_back());
  }
  template <class T>
    requires std::is_class_v<T>
  void get(T& value) {
    describe(*this, value);
  }

  std::span<const std::byte> rest_;
  std::string name_;
};

}  // namespace inlay::file
