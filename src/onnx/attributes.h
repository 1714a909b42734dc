#pragma once
// The attributes of a node, and errors that name it.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph_draft.h"
#include "onnx/model.h"

namespace inlay::onnx {

class NodeAttributes {
 public:
  NodeAttributes(const Node& node, const GraphDraft& draft) : node(node), draft_(draft) {}

  // Attributes; without a default they must be there.
  bool has_attribute(std::string_view name) const { return attribute(name) != nullptr; }
  int64_t integer(std::string_view name) const;
  int64_t integer(std::string_view name, int64_t otherwise) const;
  bool flag(std::string_view name, bool otherwise = false) const { return integer(name, otherwise ? 1 : 0) != 0; }
  double number(std::string_view name, double otherwise) const;
  std::string word(std::string_view name, std::string_view otherwise) const;
  std::optional<std::vector<int64_t>> integers(std::string_view name) const;
  std::optional<std::vector<float>> numbers(std::string_view name) const;
  std::vector<std::string> words(std::string_view name) const;
  /// Null: it is not there.
  const Attribute* attribute(std::string_view name) const;
  /// A TensorProto.DataType; none: it is not there, or 0. Errors: unsupported: inlay has no such type.
  std::optional<DType> dtype_attribute(std::string_view name) const;

  /// An error of this node.
  Error error(ErrorCode code, const std::string& what) const { return draft_.error(code, str(node.op, ": ", what)); }
  /// What is right ONNX, and not there.
  Error unsupported(const std::string& what) const { return error(ErrorCode::unsupported, what); }
  Error wrong(const std::string& what) const { return error(ErrorCode::invalid_file, what); }

  const Node& node;

 private:
  /// The attribute, which is of `kind`: one that is of another one would read as 0, or as empty.
  const Attribute* of_kind(std::string_view name, Attribute::Kind kind) const;

  const GraphDraft& draft_;  // which knows where the node stands
};

}  // namespace inlay::onnx
