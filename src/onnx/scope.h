#pragma once
// Names while a network is read. A name stands for a value, for a constant of the file, for a sequence, or for an
// optional that is empty: sequences and optionals are taken apart while they are read, so none is left when the network
// runs.
//
// A Frame is a graph that is being made: the network's, or the body of an If or a Loop
// that stays one. A Scope is what a node sees by name; a function, and a branch that is known, has a scope of its own
// within the frame around it.
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "onnx/known.h"
#include "onnx/model.h"

namespace inlay::onnx {

/// Integers of which floats are made: (x - zero) * scale, whose shapes broadcast to x.
struct Dequantised {
  ValueId x;
  std::optional<ValueId> zero;
  ValueId scale;
};

class Frame {
 public:
  Frame(GraphBuilder& builder, Frame* outer) : b(builder), known(builder), outer_(outer) {}

  /// The value of an enclosing frame as a value here: a parameter of the body, one for each.
  ValueId bring(Frame& from, ValueId v);
  /// What the body reads from the frame around it, in the order of its parameters.
  std::vector<ValueId> captured() const;
  /// The value of the frame around it that a parameter of the body is; none: it is another value.
  std::optional<ValueId> outside(ValueId inside) const;
  const Frame* outer() const { return outer_; }
  Frame* outer() { return outer_; }

  /// Element `place` of an integer vector as a size: known, or found when the program runs. The same element is the
  /// same size each time.
  Dim size_of(ValueId vector, int64_t place);
  std::optional<Dim> known_size(ValueId vector, int64_t place);
  /// Has it a symbol that no input has, but that a node finds when the program runs?
  bool is_found(const Dim& size) const;

  GraphBuilder& b;
  Known known;
  std::map<ValueId, Dequantised> dequantised;  // by the floats, f32

 private:
  Frame* outer_;
  std::vector<std::pair<ValueId, ValueId>> captured_;  // outside, inside
  std::map<std::pair<uint32_t, int64_t>, Dim> late_sizes_;
};

/// As many values as are known while the network is read.
struct Sequence {
  std::vector<ValueId> values;
};
/// An optional without an element.
struct EmptyOptional {};
/// What a name stands for. A constant is what the file has, until somebody wants a value. An optional that has an
/// element is that element.
using Thing = std::variant<ValueId, const Tensor*, Sequence, EmptyOptional>;

class Scope {
 public:
  Scope(Frame& frame, Scope* outer) : frame(frame), outer_(outer) {}

  void set(const std::string& name, Thing thing) { things_[name] = std::move(thing); }
  void set(const std::string& name, const Tensor& tensor) { things_[name] = &tensor; }
  /// What a name stands for that stands for nothing yet.
  void set_default(const std::string& name, const Tensor& tensor) { things_.try_emplace(name, &tensor); }

  /// What the graph that is read says of its values.
  void declare(const Graph& graph);
  /// How many axes it says that one of them has.
  std::optional<std::size_t> declared_rank(const std::string& name) const;

  /// A name of this graph or of one around it.
  struct Found {
    Scope* scope = nullptr;  // null: there is none
    const Thing* thing = nullptr;
  };
  Found find(const std::string& name);

  Frame& frame;

 private:
  Scope* outer_;
  std::unordered_map<std::string, Thing> things_;
  std::unordered_map<std::string, std::size_t> ranks_;
};

}  // namespace inlay::onnx
