#include <map>
#include <set>

#include "ir/region.h"
#include "ir/text.h"
#include "text/lexer.h"

namespace inlay {
namespace {

/// How symbols are written, and whether the text meets them in their own order.
struct SymbolNames {
  IdMap<SymbolId, std::string> texts;
  std::set<std::string> taken;  // these, and those of all graphs around
  std::set<SymbolId> seen;
  bool in_order = true;
};

/// Names that are theirs alone and that the parser reads back. `around`: of the graph around a body, which has
/// symbols too that the body does not: those that were made after it.
SymbolNames names_of_symbols(const Graph& graph, const SymbolNames& around = {}) {
  SymbolNames names{.texts = IdMap<SymbolId, std::string>(graph.symbols.size()), .taken = around.taken, .seen = {}};
  for (SymbolId s : ids<SymbolId>(graph.symbols.size())) {
    if (graph.is_given(s)) {
      names.texts[s] = around.texts[s];
      continue;
    }
    const std::string& name = graph.symbols[s].name;
    const std::string stem = text::is_identifier(name) ? name : "s";
    std::string unique = stem;
    for (int i = 2; !names.taken.insert(unique).second; ++i) unique = str(stem, "_", i);
    names.texts[s] = unique;
  }
  return names;
}

class Printer {
 public:
  /// `header`: the branch before this one, whose parameters are written for both.
  Printer(const Graph& graph, const PrintOptions& options, SymbolNames& symbols, const Printer* header = nullptr)
      : graph_(graph), options_(options), symbols_(symbols), values_(graph.values.size()) {
    label_values(header);
  }

  std::string run() {
    const std::string signature = this->signature();
    const std::string body = statements("  ");
    std::map<std::string, int> uses;
    for (const Output& output : graph_.outputs) ++uses[output.name];
    const std::string outputs = join(graph_.outputs, ", ", [&](const Output& output) {
      const bool own = !output.name.empty() && uses[output.name] == 1;
      return own ? str(name_text(output.name), " = ", values_[output.value]) : values_[output.value];
    });
    return str("graph @", graph_.name, symbol_list(), signature, " {\n", body, "  return", outputs.empty() ? "" : " ",
               outputs, "\n}\n");
  }

 private:
  /// Parameters first, then results in program order; a name that two values have belongs to neither. (Nor does one of
  /// two outputs.)
  void label_values(const Printer* header) {
    std::vector<ValueId> order;
    for (const Param& param : graph_.params) order.push_back(param.value);
    for (NodeId n : ids<NodeId>(graph_.nodes.size())) {
      order.insert(order.end(), graph_.nodes[n].results.begin(), graph_.nodes[n].results.end());
    }
    std::set<std::string> taken;
    for (std::size_t i = 0; header && i < graph_.params.size(); ++i) {
      taken.insert(header->values_[header->graph_.params[i].value]);
    }
    std::map<std::string, int> uses;
    for (ValueId v : order) ++uses[graph_.values[v].name];
    for (std::size_t position = 0; position < order.size(); ++position) {
      const std::string& name = graph_.values[order[position]].name;
      const bool is_param = position < graph_.params.size();
      const bool own = text::is_identifier(name) && uses[name] == 1 && !taken.contains(str("%", name));
      values_[order[position]] = header && is_param ? header->values_[header->graph_.params[position].value]
                                 : own              ? str("%", name)
                                                    : str("%", position);
    }
  }

  std::string dim(const Dim& dim) {
    note_symbols(dim);
    return dim.to_text(symbols_.texts);
  }

  /// In the order of the text, which is the order in which the parser meets them.
  void note_symbols(const Dim& dim) {
    for (const Dim::Term& term : dim.terms()) {
      for (const Dim::Atom& atom : term.factors) {
        if (atom.kind != Dim::Atom::Kind::symbol) {
          note_symbols(atom.operands->first);
          note_symbols(atom.operands->second);
        } else if (symbols_.seen.insert(atom.symbol).second) {
          symbols_.in_order = symbols_.in_order && atom.symbol.index + 1 == symbols_.seen.size();
        }
      }
    }
  }

  std::string type(const TensorType& type) {
    if (type.dims.empty()) return std::string(dtype_name(type.dtype));
    return str(dtype_name(type.dtype), "[", join(type.dims, ", ", [&](const Dim& d) { return dim(d); }), "]");
  }

  /// `[m, n]` where the order in which symbols first appear is not the graph's: it decides how sums are written.
  std::string symbol_list() const {
    if (symbols_.in_order && symbols_.seen.size() == graph_.symbols.size()) return "";
    return str("[", join(symbols_.texts, ", "), "]");
  }

  std::string signature() {
    std::string out = str("(", join(graph_.params, ", ", [&](const Param& p) { return param(p); }), ")");
    const char* separator = " assume ";
    for (const auto& [left, right] : graph_.assumptions) {
      out += str(separator, dim(left), " == ", dim(right));
      separator = ", ";
    }
    for (NodeId n : ids<NodeId>(graph_.nodes.size())) {
      if (graph_.nodes[n].op == Op::as_size || graph_.nodes[n].op == Op::compress) dim(graph_.nodes[n].size);
      if (graph_.nodes[n].op != Op::host_call) continue;
      for (ValueId v : graph_.nodes[n].results) type(graph_.type(v));
    }
    return out;
  }

  std::string param(const Param& param) {
    std::string out = str(definition(param.value), ": ", type(graph_.type(param.value)));
    if (!param.given.empty())
      out += str(" given [", join(param.given, ", ", [&](const Dim& d) { return dim(d); }), "]");
    if (param.donated) return str(out, " donated");
    if (!param.bound) return out;
    std::vector<std::string> facts;
    if (param.facts.has_range) {
      facts = {str("min ", param.facts.min), str("max ", param.facts.max)};
    }
    if (param.facts.sorted) facts.push_back("sorted");
    return str(out, " bound", facts.empty() ? "" : str(" {", join(facts, ", "), "}"));
  }

  static std::string name_text(const std::string& name) { return text::is_identifier(name) ? name : text::quote(name); }

  /// A value where it is made: a name that cannot be its label stands beside the label.
  std::string definition(ValueId v) const {
    const std::string& name = graph_.values[v].name;
    const bool shown = name.empty() || values_[v] == str("%", name);
    return shown ? values_[v] : str(values_[v], " ", text::quote(name));
  }

  std::string operands(const Node& node, std::size_t first = 0) const {
    const std::vector<ValueId> rest(node.operands.begin() + static_cast<std::ptrdiff_t>(first), node.operands.end());
    return join(rest, ", ", [&](ValueId v) { return values_[v]; });
  }

  std::string statements(const std::string& indent) {
    std::string out;
    for (const Node& node : graph_.nodes) {
      out += str(indent, is_region(node.op) ? region(node, indent) : statement(node), "\n");
    }
    return out;
  }

  /// `%r = cond %p with (%a = %x) {` and what follows: bodies are closed, so each has names of its own.
  std::string region(const Node& node, const std::string& indent) {
    const Region& region = node.region;
    std::vector<SymbolNames> symbols;
    for (const auto& body : region.bodies) symbols.push_back(names_of_symbols(*body, symbols_));
    std::vector<Printer> bodies;
    bodies.reserve(region.bodies.size());
    for (std::size_t i = 0; i < region.bodies.size(); ++i) {
      bodies.emplace_back(*region.bodies[i], options_, symbols[i], i == 0 ? nullptr : &bodies[0]);
    }
    const bool is_loop = node.op == Op::loop;
    const std::size_t num_carried = static_cast<std::size_t>(region.num_carried), first_param = is_loop ? 1 : 0;
    const auto pairs = [&](const char* word, std::size_t from, std::size_t to) {
      std::vector<std::string> texts;
      for (std::size_t i = from; i < to; ++i) {
        const ValueId inside = region.bodies[0]->params[first_param + i].value;
        texts.push_back(str(bodies[0].definition(inside), " = ", values_[node.operands[i + 1 - first_param]]));
      }
      return texts.empty() ? "" : str(" ", word, " (", join(texts, ", "), ")");
    };
    std::string out = join(node.results, ", ", [&](ValueId v) { return definition(v); });
    if (is_loop) {
      out += str(out.empty() ? "loop " : " = loop ", bodies[0].definition(region.bodies[0]->params[0].value), " < ",
                 dim(region.count), pairs("carry", 0, num_carried), pairs("with", num_carried, node.operands.size()));
    } else {
      out += str(out.empty() ? "cond " : " = cond ", values_[node.operands[0]],
                 pairs("with", 0, node.operands.size() - 1));
    }
    if (options_.locations == Show::yes && !node.location.empty()) out += str(" at ", text::quote(node.location.text));
    for (std::size_t b = 0; b < bodies.size(); ++b) {
      out += str(b > 0 ? " else {\n" : " {\n", bodies[b].statements(indent + "  "), indent, "  return",
                 bodies[b].returned(region), "\n", indent, "}");
    }
    return out;
  }

  /// ` %next trace %row while %again`
  std::string returned(const Region& region) const {
    const std::size_t num_carried = static_cast<std::size_t>(region.num_carried);
    std::string out;
    for (std::size_t i = 0; i < graph_.outputs.size(); ++i) {
      const bool is_condition = region.has_condition && i + 1 == graph_.outputs.size();
      const bool is_trace = region.bodies.size() == 1 && !is_condition && i >= num_carried;
      const bool begins = i == 0 || is_condition || (is_trace && i == num_carried);
      out += str(begins ? " " : ", ",
                 is_condition                   ? "while "
                 : is_trace && i == num_carried ? "trace "
                                                : "",
                 values_[graph_.outputs[i].value]);
    }
    return out;
  }

  std::string statement(const Node& node) {
    const std::string results = join(node.results, ", ", [&](ValueId v) { return definition(v); });
    std::string out = results.empty() ? right_side(node) : str(results, " = ", right_side(node));
    if (options_.types == Show::yes && !ends_in_type(node.op)) {
      out += str(" : ", join(node.results, ", ", [&](ValueId v) { return type(graph_.type(v)); }));
    }
    if (options_.locations == Show::yes && !node.location.empty()) out += str(" at ", text::quote(node.location.text));
    return out;
  }

  static bool ends_in_type(Op op) {
    return op == Op::literal || op == Op::cast || op == Op::broadcast || op == Op::reshape || op == Op::reduce ||
           op == Op::cumulative || op == Op::iota || op == Op::as_size || op == Op::compress || op == Op::host_call;
  }

  std::string item(const IndexItem& item) {
    switch (item.kind) {
      case IndexItem::Kind::range: {
        const std::string range = str(dim(item.start), ":", dim(item.stop));
        return item.step == 1 ? range : str(range, ":", item.step);
      }
      case IndexItem::Kind::position: return dim(item.position);
      case IndexItem::Kind::array: return values_[item.array];
    }
    return "";
  }

  /// `%x[0:n, %i]`
  std::string indexed(const Node& node) {
    return str(values_[node.operands[0]], "[", join(node.index, ", ", [&](const IndexItem& i) { return item(i); }),
               "]");
  }

  std::string literal(const Node& node) {
    const bool scalar = graph_.type(node.results[0]).dims.empty();
    const std::string elements = join(node.elements, ", ", [](const Literal& element) { return element.to_text(); });
    return scalar ? str("literal ", elements) : str("literal [", elements, "]");
  }

  std::string right_side(const Node& node) {
    const auto name = [&] { return std::string(op_name(node.op)); };
    const auto axes = [&] { return str("[", join(node.axes, ", "), "]"); };
    const auto result_type = [&] { return type(graph_.type(node.results[0])); };
    switch (node.op) {
      case Op::literal: return str(literal(node), " : ", result_type());
      case Op::scalar: return str(facts(node.scalar).name, " ", operands(node));
      case Op::cast:
      case Op::broadcast:
      case Op::reshape: return str(name(), " ", operands(node), " : ", result_type());
      case Op::transpose:
      case Op::flip:
      case Op::diagonal: return str(name(), " ", operands(node), " ", axes());
      case Op::slice:
      case Op::gather:
        return str(name(), " ", indexed(node), node.text.empty() ? "" : str(" as ", text::quote(node.text)));
      case Op::update:
      case Op::scatter:
        return str(name(), node.in_place == InPlace::required ? "! " : " ", combine_name(node.combine), " ",
                   indexed(node), ", ", values_[node.operands[1]]);
      case Op::reduce:
        return str("reduce ", facts(node.fold).name, " ", operands(node), " ", axes(), " : ", result_type());
      case Op::cumulative:
        return str("cumulative ", combine_name(node.combine), " ", operands(node), " ", axes(), " : ", result_type());
      case Op::concat: return str("concat ", node.axes[0], " ", operands(node));
      case Op::iota: return str("iota ", dim(graph_.type(node.results[0]).dims[0]), " : ", result_type());
      case Op::size: return str("size ", dim(node.size));
      case Op::as_size:
      case Op::compress: return str(name(), " ", operands(node), " : ", dim(node.size));
      case Op::library: return str(facts(node.library).name, " ", operands(node), options_text(node.library_options));
      case Op::host_call:
        return str("host_call ", text::quote(node.text), " (", operands(node), node.results.empty() ? ")" : ") : ",
                   join(node.results, ", ", [&](ValueId v) { return type(graph_.type(v)); }));
      case Op::assert_: {
        const std::string numbers = node.operands.size() > 2 ? str(" (", operands(node, 2), ")") : "";
        const std::string text = str("assert ", values_[node.operands[0]], ", ", values_[node.operands[1]], ", ",
                                     text::quote(node.text), numbers);
        return node.error == ErrorCode::assert_failed ? text : str(text, ", ", code_name(node.error));
      }
      case Op::cond:
      case Op::loop: break;  // they stand on several lines
    }
    return "";
  }

  const Graph& graph_;
  const PrintOptions options_;
  SymbolNames& symbols_;
  IdMap<ValueId, std::string> values_;
};

}  // namespace

std::string print(const Graph& graph, const PrintOptions& options) {
  SymbolNames symbols = names_of_symbols(graph);
  return Printer(graph, options, symbols).run();
}

}  // namespace inlay
