#pragma once
// What an ONNX file says, before anything is made of it: the messages of onnx.proto as plain structs.
//
// The elements of tensors stay in the file, which is mapped, where they lie there as bytes.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ops/literal.h"

namespace inlay::onnx {

struct Graph;

/// Bytes, and what keeps them.
struct Bytes {
  std::shared_ptr<const void> owner;
  std::span<const std::byte> bytes;
};

/// The bytes of a vector, which goes with them.
Bytes kept(std::vector<std::byte> bytes);

struct Tensor {
  std::string name;
  int64_t type = 0;  // TensorProto.DataType
  std::vector<int64_t> dims;
  Bytes data;  // row-major, little-endian; of a type that inlay does not have, as the file packs it
  std::span<const std::byte> source = {};  // of a copy that is aligned: its bytes in the file

  int64_t num_elements() const;
};

struct Attribute {
  /// AttributeProto.AttributeType.
  enum class Kind : uint8_t {
    none,
    f,
    i,
    s,
    tensor,
    graph,
    floats,
    ints,
    strings,
    tensors,
    graphs,
    sparse_tensor,
    sparse_tensors,
    type,
    types
  };
  std::string name;
  Kind kind = Kind::none;
  std::string refers_to;  // within a function: the function's attribute that gives the value
  float f = 0;
  int64_t i = 0;
  std::string s;
  std::vector<float> floats;
  std::vector<int64_t> ints;
  std::vector<std::string> strings;
  std::shared_ptr<const Tensor> tensor;
  std::shared_ptr<const Graph> graph;
};

struct Node {
  std::string name, op, domain, overload;    // the domain of ONNX's own ops is empty
  std::vector<std::string> inputs, outputs;  // an empty one is left out
  std::vector<Attribute> attributes;
};

/// An input or an output of a graph.
struct Declared {
  enum class Kind : uint8_t { unknown, tensor, sequence, map, optional, sparse_tensor, opaque };
  /// A size: a number, a name, or neither.
  struct Size {
    std::optional<int64_t> number;
    std::string name;
  };
  std::string name;
  Kind kind = Kind::unknown;
  int64_t element_type = 0;
  std::optional<std::vector<Size>> dims;  // none: of unknown rank
};

struct Graph {
  std::string name;
  std::vector<Node> nodes;
  std::vector<Tensor> initializers;
  std::vector<std::string> sparse_initializers;
  std::vector<Declared> inputs, outputs;
  std::vector<Declared> values;  // others of which it says something
};

struct OpsetVersion {
  std::string domain;
  int64_t version = 0;
};

/// An op that the model defines by other ops.
struct Function {
  std::string name, domain, overload;
  std::vector<std::string> inputs, outputs;
  std::vector<std::string> attributes;  // without a default
  std::vector<Attribute> defaults;
  std::vector<Node> nodes;
  std::vector<OpsetVersion> opsets;
};

struct Model {
  std::string file;  // for messages
  int64_t ir_version = 0;
  std::vector<OpsetVersion> opsets;
  Graph graph;
  std::vector<Function> functions;
  std::vector<Bytes> contents;  // of its file, and behind it of the files beside it that have tensors
};

/// The dtype of a TensorProto.DataType; none: inlay has no such type.
std::optional<DType> dtype_of_type(int64_t type);
/// The TensorProto.DataType of a dtype. Errors: wrong-dtype: ONNX has none.
int64_t type_of_dtype(DType dtype);
/// "float8e4m3fn": its name in ONNX.
std::string type_name(int64_t type);
/// The elements of a tensor, whose type is that of the dtype. A bool is any byte that is not 0.
std::vector<Literal> literals_of(const Tensor& tensor, DType dtype);

/// Reads a file; its tensors lie in it, and in the files beside it that it names.
///
/// Errors: invalid-file: it is none, is cut off, or says what cannot be.
Model read_model(const std::string& path);
/// The same of bytes in memory. `folder`: where external data is looked for; empty: nowhere.
Model read_model(Bytes bytes, const std::string& name, const std::string& folder);

}  // namespace inlay::onnx
