#include "onnx/importer.h"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <utility>

#include "onnx/call.h"
#include "onnx/declared.h"
#include "onnx/narrow.h"
#include "onnx/node_order.h"
#include "onnx/ops.h"
#include "onnx/signatures.h"
#include "onnx/weights.h"
#include "ops/facts.h"
#include "support/ascii.h"
#include "support/counted.h"

namespace inlay::onnx {
namespace {

constexpr int kMostDepth = 64;           // of functions and graphs within each other
constexpr int64_t kMostLiteral = 16;     // elements that a literal of a graph may have
constexpr int64_t kMostLookedAt = 4096;  // elements of a weight that may decide shapes

int64_t count_nodes(std::span<const Node> nodes) {
  int64_t count = 0;
  for (const Node& node : nodes) {
    ++count;
    for (const Attribute& attribute : node.attributes) {
      if (attribute.graph) count += count_nodes(attribute.graph->nodes);
    }
  }
  return count;
}

std::shared_ptr<const Elements> elements_of(const Tensor& tensor, DType dtype) {
  Elements out{tensor.dims, {}};
  for (const Literal& literal : literals_of(tensor, dtype)) {
    out.numbers.emplace_back(is_integer(dtype) ? Number(Dim(literal.i)) : Number(literal));
  }
  return std::make_shared<const Elements>(std::move(out));
}

/// What is known of an integer value, if that is all of it.
std::optional<std::vector<Dim>> sizes_of(const std::shared_ptr<const Elements>& elements) {
  if (!elements) return {};
  std::vector<Dim> out;
  for (const std::optional<Number>& number : elements->numbers) {
    if (!number || !std::holds_alternative<Dim>(*number)) return {};
    out.push_back(std::get<Dim>(*number));
  }
  return out;
}

/// A name for a size: letters, digits and _, not a digit first.
std::string identifier(std::string_view name) {
  std::string out;
  for (char c : name) out += is_letter(c) || is_digit(c) ? c : '_';
  if (out.empty() || is_digit(out[0])) out.insert(0, "n");
  return out;
}

/// Some exporters write "?" for each size that they do not know: two of them are not one.
bool is_anonymous(const std::string& size) { return size.empty() || size == "?"; }

/// What the network calls a size of an input.
std::string name_of_size(const Declared& declared, std::size_t axis) {
  const std::string& name = (*declared.dims)[axis].name;
  return is_anonymous(name) ? str(declared.name, "_", axis) : name;
}

/// A function's nodes for one call: attributes that refer to those of the function have their values, and inputs that
/// the call leaves out are left out.
class Inlining {
 public:
  Inlining(const Function& function, const Node& call) {
    for (const Attribute& attribute : function.defaults) values_[attribute.name] = &attribute;
    for (const Attribute& attribute : call.attributes) values_[attribute.name] = &attribute;
    for (std::size_t i = 0; i < function.inputs.size(); ++i) {
      if (i >= call.inputs.size() || call.inputs[i].empty()) left_out_.insert(function.inputs[i]);
    }
  }

  std::vector<Node> nodes(const std::vector<Node>& nodes) const {
    std::vector<Node> out;
    for (const Node& node : nodes) {
      Node copy = node;
      for (std::string& input : copy.inputs) {
        if (left_out_.contains(input)) input.clear();
      }
      copy.attributes.clear();
      for (const Attribute& attribute : node.attributes) {
        if (std::optional<Attribute> with_value = of(attribute)) copy.attributes.push_back(std::move(*with_value));
      }
      out.push_back(std::move(copy));
    }
    return out;
  }

 private:
  std::optional<Attribute> of(const Attribute& attribute) const {
    if (!attribute.refers_to.empty()) {
      const auto found = values_.find(attribute.refers_to);
      if (found == values_.end()) return {};  // an optional attribute that the call leaves out
      Attribute value = *found->second;
      value.name = attribute.name;
      return value;
    }
    Attribute copy = attribute;
    if (attribute.graph) {
      Graph graph = *attribute.graph;
      graph.nodes = nodes(attribute.graph->nodes);
      copy.graph = std::make_shared<const Graph>(std::move(graph));
    }
    return copy;
  }

  std::map<std::string, const Attribute*> values_;
  std::set<std::string> left_out_;
};

}  // namespace

/// A graph or a function within another one, as long as it is read.
class Importer::Deeper {
 public:
  explicit Deeper(Importer& importer) : importer_(importer) {
    if (++importer.depth_ <= kMostDepth) return;
    --importer.depth_;
    throw importer.error(ErrorCode::unsupported, str("graphs and functions of it are within each other more than ",
                                                     kMostDepth, " deep, as where a function calls itself"));
  }
  Deeper(const Deeper&) = delete;
  Deeper& operator=(const Deeper&) = delete;
  ~Deeper() { --importer_.depth_; }

 private:
  Importer& importer_;
};

namespace {

/// Another value for a while: also where the graph that was read meanwhile is given up, and read in another way.
template <class T>
class Instead {
 public:
  Instead(T& place, T value) : place_(place), kept_(std::exchange(place, std::move(value))) {}
  Instead(const Instead&) = delete;
  Instead& operator=(const Instead&) = delete;
  ~Instead() { place_ = std::move(kept_); }

 private:
  T& place_;
  T kept_;
};

/// The node that is read is where a frame's next nodes come from.
class AtNode {
 public:
  AtNode(Location& at, GraphBuilder& b, const Node& node) : at_(at), around_(std::exchange(at, place_of(node))), b_(b) {
    b_.at(at_);
  }
  AtNode(const AtNode&) = delete;
  AtNode& operator=(const AtNode&) = delete;
  ~AtNode() {
    at_ = std::move(around_);
    b_.at(at_);
  }

 private:
  Location& at_;
  Location around_;
  GraphBuilder& b_;
};

}  // namespace

Importer::Importer(const Model& model, const ImportOptions& options)
    : model_(model),
      options_(options),
      builder_(model.graph.name.empty() ? "main" : identifier(model.graph.name)),
      root_(builder_, nullptr),
      scope_(root_, nullptr) {
  for (const Function& function : model.functions) {
    if (functions_.emplace(FunctionName(function.domain, function.name, function.overload), &function).second) continue;
    throw error(ErrorCode::invalid_file,
                str("two functions of it are called `", full_name(function.domain, function.name), "`"));
  }
  int64_t count = count_nodes(model.graph.nodes);
  for (const Function& function : model.functions) count += count_nodes(function.nodes);
  nodes_left_ = 64 * count + 10000;
}

/// Functions that call functions, and loops that are read step by step, must not multiply without end.
void Importer::spend(int64_t nodes) {
  nodes_left_ -= nodes;
  if (nodes_left_ >= 0) return;
  throw error(ErrorCode::unsupported,
              "its functions, the loops that are read step by step, and branches of different sizes, which are read "
              "twice, have too many nodes");
}

Error Importer::error(ErrorCode code, const std::string& what) const {
  return {code, {}, str(model_.file, ": ", what)};
}

Importer::Opsets Importer::opsets_of(std::span<const OpsetVersion> versions, const Opsets& otherwise) const {
  Opsets out = otherwise;
  for (const OpsetVersion& opset : versions) out[opset.domain] = opset.version;
  if (const auto own = out.find(""); own != out.end() && (own->second < kOldestOpset || own->second > kNewestOpset)) {
    throw error(ErrorCode::unsupported, str("it uses version ", own->second, " of ONNX's operators; inlay reads ",
                                            kOldestOpset, " to ", kNewestOpset));
  }
  return out;
}

const Function* Importer::function_of(const Node& node) const {
  const auto found = functions_.find(FunctionName(node.domain, node.op, node.overload));
  return found == functions_.end() ? nullptr : found->second;
}

int64_t Importer::version_of(const Node& node) const {
  const auto found = opsets_.find(node.domain);
  if (found != opsets_.end()) return found->second;
  throw error(ErrorCode::invalid_file, str("it does not say which version of the operators of ",
                                           node.domain.empty() ? "ONNX" : node.domain, " it uses"));
}

/// A name for a size of the network: that of another one with a number behind it, where their letters are the same.
std::string Importer::name_in_graph(const std::string& size) {
  const std::string wanted = identifier(size);
  std::string free = wanted;
  while (!size_names_.emplace(free, 1).second) free = str(wanted, "_", ++size_names_[wanted]);
  return free;
}

/// `of_fixed`: the number that it has in an input that is fixed.
Dim Importer::symbol(const std::string& name, std::optional<int64_t> of_fixed) {
  const auto found = symbols_.find(name);
  if (found != symbols_.end()) return found->second;
  const std::string text = name_in_graph(name);
  for (const std::string& known : {name, text}) {
    const auto fixed = options_.sizes.find(known);
    const bool is_of_another = known != name && size_texts_.contains(known);
    if (fixed == options_.sizes.end() || is_of_another) continue;
    if (fixed->second < 0) throw error(ErrorCode::negative_size, str("the size `", known, "` is ", fixed->second));
    fixed_sizes_.insert(known);
    return symbols_.emplace(name, fixed->second).first->second;
  }
  return symbols_.emplace(name, of_fixed ? Dim(*of_fixed) : builder_.symbol(text)).first->second;
}

/// An input that is the same in all calls: what the network says of it holds, and its sizes are those that others of
/// the same names have.
void Importer::fixed_input(const Declared& declared, const Tensor& tensor) {
  scope_.set(declared.name, tensor);
  if (declared.kind != Declared::Kind::tensor) return;
  const auto refuse = [&](ErrorCode code, const std::string& given, const std::string& wanted) {
    return error(code, str("the input `", declared.name, "` is fixed to ", given, ", and is to have ", wanted));
  };
  if (tensor.type != declared.element_type) {
    throw refuse(ErrorCode::wrong_dtype, str("elements of type ", type_name(tensor.type)),
                 str("those of type ", type_name(declared.element_type)));
  }
  if (!declared.dims) return;
  const std::size_t rank = declared.dims->size();
  if (tensor.dims.size() != rank) {
    throw refuse(ErrorCode::wrong_rank, str("an array of ", counted(tensor.dims.size(), "axis", "axes")), str(rank));
  }
  for (std::size_t axis = 0; axis < rank; ++axis) {
    const Declared::Size& size = (*declared.dims)[axis];
    const int64_t given = tensor.dims[axis];
    const bool is_number = size.number && *size.number >= 0;
    // One without a name is no size of another input, whatever that calls its own.
    if (!is_number && is_anonymous(size.name) && !options_.sizes.contains(name_of_size(declared, axis))) continue;
    const Dim wanted = is_number ? Dim(*size.number) : symbol(name_of_size(declared, axis), given);
    if (wanted.is(given)) continue;
    throw refuse(
        ErrorCode::shape_mismatch, str(given, " elements along axis ", axis),
        is_number ? str(*size.number) : str("`", name_of_size(declared, axis), "`, which is ", wanted.constant()));
  }
}

void Importer::input(const Declared& declared) {
  using Kind = Declared::Kind;
  const auto refuse = [&](const std::string& why) {
    return error(ErrorCode::unsupported, str("the input `", declared.name, "` ", why));
  };
  if (declared.kind != Kind::tensor) throw refuse("is no tensor");
  const std::optional<DType> dtype = dtype_of_type(declared.element_type);
  if (!dtype) throw refuse(str("has elements of type ", type_name(declared.element_type)));
  if (!declared.dims) throw refuse("has no rank: the network says nothing of its shape");
  constexpr std::size_t kMostAxes = 64;  // as NumPy's arrays have
  if (declared.dims->size() > kMostAxes)
    throw refuse(str("has ", declared.dims->size(), " axes, more than ", kMostAxes));
  TensorType type{*dtype, {}};
  for (std::size_t axis = 0; axis < declared.dims->size(); ++axis) {
    const Declared::Size& size = (*declared.dims)[axis];
    if (size.number && *size.number >= 0) {
      type.dims.emplace_back(*size.number);
    } else {
      type.dims.push_back(symbol(name_of_size(declared, axis)));
    }
  }
  const bool is_donated = options_.donated.contains(declared.name);
  scope_.set(declared.name, is_donated ? builder_.donated(declared.name, std::move(type))
                                       : builder_.param(declared.name, std::move(type)));
}

bool Importer::is_input(const std::string& name) const {
  return std::ranges::find(model_.graph.inputs, name, &Declared::name) != model_.graph.inputs.end();
}

void Importer::inputs() {
  std::set<std::string> constants;
  for (const Tensor& tensor : model_.graph.initializers) constants.insert(tensor.name);
  const auto require_input = [&](const std::string& name, const char* what) {
    if (is_input(name)) return;
    throw error(ErrorCode::unknown_name, str("`", name, "` is ", what, ", and is no input"));
  };
  for (const auto& [name, tensor] : options_.fixed) require_input(name, "to be fixed");
  for (const std::string& name : options_.donated) {
    require_input(name, "donated");
    const bool is_fixed = options_.fixed.contains(name);
    if (!is_fixed && !constants.contains(name)) continue;
    const char* what = is_fixed ? "fixed, so that it" : "a weight, which";
    throw error(ErrorCode::unknown_name, str("`", name, "` is donated, and is ", what, " is no argument"));
  }
  for (const Declared& declared : model_.graph.inputs) {
    for (std::size_t axis = 0; declared.dims && axis < declared.dims->size(); ++axis) {
      size_texts_.insert(name_of_size(declared, axis));
    }
  }
  const auto is_fixed = [&](const Declared& declared) { return options_.fixed.contains(declared.name); };
  for (const Declared& declared : model_.graph.inputs) {  // before another one makes a symbol of a size of theirs
    if (is_fixed(declared)) fixed_input(declared, options_.fixed.at(declared.name));
  }
  for (const Declared& declared : model_.graph.inputs) {
    const bool is_weight = constants.contains(declared.name);  // as an old network lists them, or a default
    if (!is_weight && !is_fixed(declared)) input(declared);
  }
}

/// Errors: unknown-name: what is to be fixed is nothing of the network, as it is known once that has been read.
void Importer::require_fixed() const {
  for (const auto& [name, size] : options_.sizes) {
    const bool is_seed = seed_.valid() && name == seed_name_;
    if (is_seed || fixed_sizes_.contains(name)) continue;
    std::string known;
    for (const auto& symbol : builder_.graph().symbol_names()) known += str(known.empty() ? "" : ", ", symbol);
    throw error(ErrorCode::unknown_name, str("`", name, "` is to be fixed, and is neither an input nor a size of one",
                                             known.empty() ? "" : str("; there are the sizes ", known)));
  }
}

Network Importer::run() {
  opsets_ = opsets_of(model_.opsets, {});
  require_known_ops();
  inputs();
  const std::vector<ValueId> results = graph(model_.graph, scope_);
  require_fixed();
  for (std::size_t i = 0; i < results.size(); ++i) builder_.output(results[i], model_.graph.outputs[i].name);
  return {std::move(builder_).finish(), std::move(weights_)};
}

ValueId Importer::seed() {
  if (seed_.valid()) return seed_;
  for (int i = 2; is_input(seed_name_); ++i) seed_name_ = str("seed_", i);
  const auto fixed = options_.sizes.find(seed_name_);
  const bool is_fixed = fixed != options_.sizes.end() && !fixed_sizes_.contains(seed_name_);
  seed_ = is_fixed ? builder_.literal(Literal::of_integer(DType::u64, fixed->second))
                   : builder_.param(seed_name_, {DType::u64, {}});
  return seed_;
}

void Importer::read(const Graph& graph, Scope& scope) {
  const Deeper deeper(*this);
  require_own_names(graph);
  if (!graph.sparse_initializers.empty()) {
    throw error(ErrorCode::unsupported, str("the weight `", graph.sparse_initializers[0], "` is sparse"));
  }
  for (const Tensor& tensor : graph.initializers) scope.set_default(tensor.name, tensor);
  scope.declare(graph);
  nodes(graph.nodes, scope);
  for (const Declared& declared : graph.outputs) {
    if (!is_defined(declared.name, scope)) {
      throw error(ErrorCode::invalid_file, str("nothing computes the output `", declared.name, "`"));
    }
  }
  // What the user fixes, inputs and sizes, may give other sizes than those that the file has for its own values.
  const bool is_fixed = !options_.fixed.empty() || !options_.sizes.empty();
  require_as_declared(graph, scope, &graph == &model_.graph && !is_fixed);
}

std::vector<ValueId> Importer::graph(const Graph& graph, Scope& scope) {
  read(graph, scope);
  std::vector<ValueId> out;
  for (const Declared& declared : graph.outputs) out.push_back(value(declared.name, scope));
  return out;
}

void Importer::nodes(std::span<const Node> nodes, Scope& scope) {
  for (const Node* each : in_order(nodes)) node(*each, scope);
}

void Importer::node(const Node& node, Scope& scope) {
  spend(1);
  const AtNode at(at_, scope.frame.b, node);
  if (node.outputs.empty()) throw scope.frame.b.error(ErrorCode::invalid_file, str(node.op, ": it has no outputs"));
  if (const Function* function = function_of(node)) return call(*function, node, scope);
  const int64_t version = version_of(node);
  const OpRow* row = find_op(node.domain, node.op, version);
  if (!row) throw error(ErrorCode::unsupported, str("inlay does not have ", full_name(node.domain, node.op)));
  Call call(*this, scope, node, version);
  require_signature(call);
  const Instead<bool> narrow(takes_narrow_, row->takes_narrow);
  try {
    row->make(call);
    shorten_sizes(call);
  } catch (const std::out_of_range&) {  // `at` of the sizes of an input, or of the node's inputs and attributes
    throw call.wrong("an input has fewer axes, or the node has fewer inputs, than this op needs");
  } catch (const Error& failed) {
    if (!failed.diagnostic().location.empty()) throw;
    Diagnostic placed = failed.diagnostic();  // of arithmetic on sizes, which knows no node
    placed.location = at_;
    throw Error(std::move(placed));
  }
}

void Importer::call(const Function& function, const Node& node, Scope& scope) {
  const Deeper deeper(*this);
  spend(count_nodes(function.nodes));  // they are copied
  Scope inside(scope.frame, nullptr);
  for (std::size_t i = 0; i < function.inputs.size() && i < node.inputs.size(); ++i) {
    if (!node.inputs[i].empty()) inside.set(function.inputs[i], thing(node.inputs[i], scope));
  }
  inlined_.push_back(std::make_unique<const std::vector<Node>>(Inlining(function, node).nodes(function.nodes)));
  const std::vector<Node>& body = *inlined_.back();
  {
    const Instead<Opsets> within(opsets_, opsets_of(function.opsets, opsets_));
    nodes(body, inside);
  }
  for (std::size_t i = 0; i < node.outputs.size() && i < function.outputs.size(); ++i) {
    if (!node.outputs[i].empty()) scope.set(node.outputs[i], thing(function.outputs[i], inside));
  }
}

Thing Importer::thing(const std::string& name, Scope& scope) {
  const Scope::Found found = scope.find(name);
  if (!found.scope) {
    throw scope.frame.b.error(ErrorCode::invalid_file, str("nothing computes `", name, "` before it is read"));
  }
  Thing out = *found.thing;
  const auto bring = [&](ValueId& v) { v = scope.frame.bring(found.scope->frame, v); };
  if (auto* v = std::get_if<ValueId>(&out)) bring(*v);
  if (auto* sequence = std::get_if<Sequence>(&out)) std::ranges::for_each(sequence->values, bring);
  return out;
}

ValueId Importer::value(const std::string& name, Scope& scope) {
  const Thing found = thing(name, scope);
  if (const auto* const v = std::get_if<ValueId>(&found)) return *v;
  if (const auto* const tensor = std::get_if<const Tensor*>(&found)) return constant(**tensor, scope.frame);
  const bool is_sequence = std::holds_alternative<Sequence>(found);
  throw scope.frame.b.error(ErrorCode::unsupported,
                            str("`", name, "` is ", is_sequence ? "a sequence" : "an optional without an element",
                                ", and a tensor is wanted"));
}

bool Importer::is_narrow(const std::string& name, Scope& scope) const {
  const Scope::Found found = scope.find(name);
  const auto* const tensor = found.thing ? std::get_if<const Tensor*>(found.thing) : nullptr;
  return tensor && wide_dtype((*tensor)->type);
}

/// A small one is a literal where it is used; any other a bound parameter of the network.
ValueId Importer::constant(const Tensor& tensor, Frame& frame) {
  if (takes_narrow_ && wide_dtype(tensor.type)) {
    const auto known = widened_.find(&tensor);
    return constant(known == widened_.end() ? widened_.emplace(&tensor, widened(tensor)).first->second : known->second,
                    frame);
  }
  const std::optional<DType> dtype = dtype_of_type(tensor.type);
  if (!dtype) {
    throw frame.b.error(ErrorCode::unsupported,
                        str("the constant `", tensor.name, "` has elements of type ", type_name(tensor.type)));
  }
  const int64_t count = tensor.num_elements();
  if (count > 0 && count <= kMostLiteral) {
    return frame.b.literal(literals_of(tensor, *dtype), {tensor.dims.begin(), tensor.dims.end()});
  }
  const auto [entry, is_new] = constants_.try_emplace(&tensor);
  if (is_new) {
    weights_.push_back(aligned(tensor, *dtype));
    const Facts facts = facts_of(*dtype, weights_.back().data.bytes.data(), count);
    entry->second = builder_.bound(tensor.name, {*dtype, {tensor.dims.begin(), tensor.dims.end()}}, facts);
    if (count <= kMostLookedAt && !is_complex(*dtype)) root_.known.set(entry->second, elements_of(tensor, *dtype));
  }
  return frame.bring(root_, entry->second);
}

Importer::Origins Importer::origins_of(ValueId v, Frame& frame) const {
  Origins out;
  struct Open {
    Frame* of;
    ValueId value;
    bool makes_size;  // which may be all that is known of it
  };
  std::vector<Open> open = {{&frame, v, false}};
  std::set<std::tuple<const Frame*, uint32_t, bool>> seen;
  const auto look_at_size = [&](SymbolId size, Frame* of) {
    while (of->b.graph().is_given(size)) of = of->outer();
    const Symbol& symbol = of->b.graph().symbols[size];
    if (!symbol.source.valid()) return;
    if (of->b.graph().binder_of(size).valid()) {
      open.push_back({of, symbol.source, true});
    } else {
      out.sizes.insert(symbol.name);
    }
  };
  while (!open.empty()) {
    const auto [of, next, makes_size] = open.back();
    open.pop_back();
    if (!seen.emplace(of, next.index, makes_size).second) continue;
    const inlay::Graph& graph = of->b.graph();
    const auto sizes = makes_size ? std::nullopt : sizes_of(of->known.of(next));
    if (sizes) {  // one size of a shape hangs on no other one
      for (const Dim& size : *sizes) {
        for (SymbolId symbol : size.symbols()) look_at_size(symbol, of);
      }
    } else if (const inlay::Node* node = graph.node_of(next)) {
      for (ValueId operand : node->operands) open.push_back({of, operand, makes_size});
      for (SymbolId size : node->size.symbols()) look_at_size(size, of);
    } else if (const std::optional<ValueId> outside = of->outside(next)) {
      open.push_back({of->outer(), *outside, makes_size});
    } else if (of == &root_) {
      const auto param = std::ranges::find(graph.params, next, &Param::value);
      if (param != graph.params.end() && !param->bound) out.inputs.insert(graph.values[next].name);
    }
  }
  return out;
}

Network import_model(const Model& model, const ImportOptions& options) { return Importer(model, options).run(); }

std::vector<KnownOp> known_ops() {
  std::vector<KnownOp> out;
  for (const OpRow& row : op_rows()) out.push_back({std::string(row.domain), std::string(row.name), row.since});
  return out;
}

}  // namespace inlay::onnx
