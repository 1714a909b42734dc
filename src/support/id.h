#pragma once
// Handles: small integers whose type says what they index.
//
// A Graph or a KernelProgram is a few vectors whose parts refer to each other by Id. A pass keeps what it learns about
// them in IdMaps of its own.
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace inlay {

/// An index into one kind of table. `Id<struct ValueTag>` cannot be passed for `Id<struct BufferTag>`.
template <class Tag>
struct Id {
  static constexpr uint32_t kNone = 0xffffffffu;
  uint32_t index = kNone;

  constexpr Id() = default;
  constexpr explicit Id(std::size_t i) : index(static_cast<uint32_t>(i)) {}
  constexpr bool valid() const { return index != kNone; }
  constexpr auto operator<=>(const Id&) const = default;
};

/// A vector indexed by one kind of Id.
template <class IdType, class T>
class IdMap {
 public:
  IdMap() = default;
  explicit IdMap(std::size_t size, const T& value = T()) : items_(size, value) {}

  decltype(auto) operator[](IdType id) { return items_[id.index]; }
  decltype(auto) operator[](IdType id) const { return items_[id.index]; }
  std::size_t size() const { return items_.size(); }
  IdType push_back(T value) {
    items_.push_back(std::move(value));
    return IdType(items_.size() - 1);
  }
  void reserve(std::size_t size) { items_.reserve(size); }
  void resize(std::size_t size, const T& value = T()) { items_.resize(size, value); }
  auto begin() { return items_.begin(); }
  auto end() { return items_.end(); }
  auto begin() const { return items_.begin(); }
  auto end() const { return items_.end(); }
  bool operator==(const IdMap&) const = default;

 private:
  std::vector<T> items_;
};

/// The ids 0 .. size-1, for `for (ValueId v : ids<ValueId>(n))`.
template <class IdType>
class IdRange {
 public:
  struct Iterator {
    uint32_t i;
    IdType operator*() const { return IdType(i); }
    Iterator& operator++() {
      ++i;
      return *this;
    }
    bool operator==(const Iterator&) const = default;
  };
  explicit IdRange(std::size_t size) : size_(static_cast<uint32_t>(size)) {}
  Iterator begin() const { return {0}; }
  Iterator end() const { return {size_}; }

 private:
  uint32_t size_;
};
template <class IdType>
IdRange<IdType> ids(std::size_t size) {
  return IdRange<IdType>(size);
}

}  // namespace inlay

template <class Tag>
struct std::hash<inlay::Id<Tag>> {
  std::size_t operator()(inlay::Id<Tag> id) const { return std::hash<uint32_t>()(id.index); }
};
