#include "onnx/attributes.h"

#include <algorithm>

namespace inlay::onnx {
namespace {

using Kind = Attribute::Kind;

std::string_view text_of(Kind kind) {
  switch (kind) {
    case Kind::none: return "nothing";
    case Kind::f: return "a float";
    case Kind::i: return "an integer";
    case Kind::s: return "a string";
    case Kind::tensor: return "a tensor";
    case Kind::graph: return "a graph";
    case Kind::floats: return "a list of floats";
    case Kind::ints: return "a list of integers";
    case Kind::strings: return "a list of strings";
    case Kind::tensors: return "a list of tensors";
    case Kind::graphs: return "a list of graphs";
    case Kind::sparse_tensor: return "a sparse tensor";
    case Kind::sparse_tensors: return "a list of sparse tensors";
    case Kind::type: return "a type";
    case Kind::types: return "a list of types";
  }
  return "nothing";
}

}  // namespace

const Attribute* NodeAttributes::attribute(std::string_view name) const {
  const auto found = std::ranges::find(node.attributes, name, &Attribute::name);
  return found == node.attributes.end() ? nullptr : &*found;
}

const Attribute* NodeAttributes::of_kind(std::string_view name, Attribute::Kind kind) const {
  const Attribute* found = attribute(name);
  if (!found || found->kind == kind || found->kind == Kind::none) return found;  // old files do not say the kind
  throw wrong(str("`", name, "` is to be ", text_of(kind), ", and is ", text_of(found->kind)));
}

int64_t NodeAttributes::integer(std::string_view name) const {
  if (!has_attribute(name)) throw wrong(str("it has no attribute `", name, "`"));
  return integer(name, 0);
}

int64_t NodeAttributes::integer(std::string_view name, int64_t otherwise) const {
  const Attribute* found = of_kind(name, Kind::i);
  return found ? found->i : otherwise;
}

double NodeAttributes::number(std::string_view name, double otherwise) const {
  const Attribute* found = of_kind(name, Kind::f);
  return found ? static_cast<double>(found->f) : otherwise;
}

std::string NodeAttributes::word(std::string_view name, std::string_view otherwise) const {
  const Attribute* found = of_kind(name, Kind::s);
  return found ? found->s : std::string(otherwise);
}

std::optional<std::vector<int64_t>> NodeAttributes::integers(std::string_view name) const {
  const Attribute* found = of_kind(name, Kind::ints);
  return found ? std::optional(found->ints) : std::nullopt;
}

std::optional<std::vector<float>> NodeAttributes::numbers(std::string_view name) const {
  const Attribute* found = of_kind(name, Kind::floats);
  return found ? std::optional(found->floats) : std::nullopt;
}

std::vector<std::string> NodeAttributes::words(std::string_view name) const {
  const Attribute* found = of_kind(name, Kind::strings);
  return found ? found->strings : std::vector<std::string>();
}

std::optional<DType> NodeAttributes::dtype_attribute(std::string_view name) const {
  const int64_t type = integer(name, 0);
  if (type == 0) return {};
  const std::optional<DType> dtype = dtype_of_type(type);
  if (!dtype) throw unsupported(str("`", name, "` is ", type_name(type)));
  return dtype;
}

}  // namespace inlay::onnx
