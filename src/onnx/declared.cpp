#include "onnx/declared.h"

#include <algorithm>

#include "inlay/compose.h"
#include "ir/compose_sizes.h"
#include "onnx/long_size.h"
#include "support/counted.h"

namespace inlay::onnx {
namespace {

/// Counts down what `size` is made of; no longer than `left` lasts, since parts that are shared are many times in it.
void spend_on(const Dim& size, int& left) {
  for (const Dim::Term& term : size.terms()) {
    for (const Dim::Atom& atom : term.factors) {
      if (--left < 0) return;
      if (!atom.operands) continue;
      spend_on(atom.operands->first, left);
      spend_on(atom.operands->second, left);
    }
  }
}

/// "node `y`, Relu", or what else the value is of.
std::string source_of(const Graph& graph, const std::string& name) {
  for (const Node& node : graph.nodes) {
    if (std::ranges::find(node.outputs, name) != node.outputs.end()) {
      return str(place_of(node).text, ", ", full_name(node.domain, node.op));
    }
  }
  return "what it is";
}

}  // namespace

bool is_long(const Dim& size) {
  int left = 200;
  spend_on(size, left);
  return left < 0;
}

void require_as_declared(const Graph& graph, Scope& scope, bool has_sizes) {
  const auto require = [&](const Declared& declared, const char* what, bool with_sizes) {
    const Scope::Found found = scope.find(declared.name);
    if (found.scope != &scope || declared.kind != Declared::Kind::tensor) return;
    const auto* const v = std::get_if<ValueId>(found.thing);
    if (!v) return;
    const TensorType type = scope.frame.b.type(*v);
    const auto refuse = [&](ErrorCode code, const std::string& said, const std::string& made) {
      return scope.frame.b.error(code, str("the network says that the ", what, " `", declared.name, "` has ", said,
                                           ", and by ", source_of(graph, declared.name), ", it has ", made));
    };
    if (const auto dtype = dtype_of_type(declared.element_type); dtype && *dtype != type.dtype) {
      throw refuse(ErrorCode::wrong_dtype, str("elements of type ", type_name(declared.element_type)),
                   str("those of type ", type_name(type_of_dtype(type.dtype))));
    }
    if (!declared.dims) return;
    const std::size_t rank = declared.dims->size();
    if (rank != type.dims.size()) {
      throw refuse(ErrorCode::wrong_rank, counted(rank, "axis", "axes"), str(type.dims.size()));
    }
    for (std::size_t axis = 0; with_sizes && axis < rank; ++axis) {
      const std::optional<int64_t> said = (*declared.dims)[axis].number;
      if (!said || *said < 0 || !type.dims[axis].is_constant() || type.dims[axis].is(*said)) continue;
      throw refuse(ErrorCode::shape_mismatch, str(counted(*said, "element"), " along axis ", axis),
                   str(type.dims[axis].constant()));
    }
  };
  for (const Declared& declared : graph.values) require(declared, "value", false);
  for (const Declared& declared : graph.outputs) require(declared, "output", has_sizes);
}

void shorten_sizes(Call& c) {
  for (const std::string& name : c.node.outputs) {
    const Scope::Found found = c.scope.find(name);
    if (name.empty() || found.scope != &c.scope) continue;
    const auto* const v = std::get_if<ValueId>(found.thing);
    if (!v) continue;
    std::vector<Dim> dims = c.type(*v).dims;
    if (std::ranges::none_of(dims, is_long)) continue;
    for (Dim& dim : dims) {
      if (is_long(dim)) dim = late_size(c.b, c.b.size(dim));
    }
    c.scope.set(name, with_sizes(c, c.b, *v, dims, str("`", name, "`")));
  }
}

}  // namespace inlay::onnx
