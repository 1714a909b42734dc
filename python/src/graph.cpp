#include "graph.h"

#include <algorithm>

#include <nanobind/operators.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "from_python.h"
#include "ir/compose.h"
#include "ir/compose_shape.h"
#include "ir/compose_sizes.h"
#include "ir/linalg.h"
#include "ir/region.h"
#include "ir/text.h"
#include "linalg.h"
#include "numpy_api.h"
#include "ops/facts.h"
#include "support/counted.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace inlay::python {
namespace {

using BuilderPtr = std::shared_ptr<GraphBuilder>;

DType dtype_named(std::string_view name) {
  if (const auto dtype = dtype_from_name(name)) return *dtype;
  throw Error(ErrorCode::unknown_name, {}, str("there is no dtype \"", name, "\""));
}

Dim dim_from(nb::handle h) { return nb::isinstance<Dim>(h) ? nb::cast<Dim>(h) : Dim(whole_number(h, "a size")); }

nb::object dim_to_python(const Dim& dim) { return dim.is_constant() ? nb::cast(dim.constant()) : nb::cast(dim); }

std::vector<Dim> dims_from(nb::handle sequence) {
  std::vector<Dim> dims;
  for (nb::handle h : nb::cast<nb::sequence>(sequence)) dims.push_back(dim_from(h));
  return dims;
}

std::vector<ValueId> ids_of(const BuilderPtr& b, const std::vector<Value>& values) {
  std::vector<ValueId> result;
  for (const Value& v : values) result.push_back(id_of(b, v));
  return result;
}

/// (start, stop, step), a Value, or a position.
IndexItem index_item_from(const BuilderPtr& b, nb::handle h) {
  if (PyTuple_Check(h.ptr())) {
    const nb::tuple parts = tuple_of(h, 3, "a range");
    return IndexItem::range(dim_from(parts[0]), dim_from(parts[1]), whole_number(parts[2], "the step of a range"));
  }
  if (nb::isinstance<Value>(h)) return IndexItem::through(id_of(b, nb::cast<Value>(h)));
  return IndexItem::at(dim_from(h));
}

std::vector<IndexItem> index_from(const BuilderPtr& b, nb::handle sequence) {
  std::vector<IndexItem> items;
  for (nb::handle h : nb::cast<nb::sequence>(sequence)) items.push_back(index_item_from(b, h));
  return items;
}

Literal literal_from(nb::handle h, DType dtype) {
  if (is_complex(dtype)) {
    const ComplexParts number = complex_parts(h.ptr());
    if (PyErr_Occurred()) throw nb::python_error();
    return Literal::of_float(dtype, number.real, number.imag);
  }
  if (is_float(dtype)) return Literal::of_float(dtype, nb::cast<double>(nb::float_(h)));
  const nb::object number = nb::steal(PyNumber_Long(h.ptr()));
  if (!number.is_valid()) throw nb::python_error();
  if (dtype != DType::u64)
    return Literal::of_integer(dtype, whole_number(number, str("a literal of ", dtype_name(dtype))));
  const unsigned long long wide = PyLong_AsUnsignedLongLong(number.ptr());
  if (PyErr_Occurred()) throw nb::python_error();
  return Literal::of_integer(dtype, static_cast<int64_t>(wide));
}

PyArrayObject* plain_array(nb::handle h) {
  if (!PyArray_Check(h.ptr()) || !is_plain(reinterpret_cast<PyArrayObject*>(h.ptr()))) {
    throw nb::type_error("a row-major NumPy array is expected");
  }
  return reinterpret_cast<PyArrayObject*>(h.ptr());
}

TensorType type_of(PyArrayObject* array) {
  TensorType type{dtype_of_numpy(PyArray_TYPE(array)), {}};
  for (int i = 0; i < PyArray_NDIM(array); ++i) type.dims.emplace_back(static_cast<int64_t>(PyArray_DIM(array, i)));
  return type;
}

Value literal_array(const BuilderPtr& b, nb::handle h) {
  PyArrayObject* array = plain_array(h);
  TensorType type = type_of(array);
  std::vector<Literal> elements;
  for (npy_intp i = 0; i < PyArray_SIZE(array); ++i) {
    elements.push_back(Literal::load(type.dtype, PyArray_BYTES(array) + i * PyArray_ITEMSIZE(array)));
  }
  return {b, b->literal(std::move(elements), std::move(type.dims))};
}

Value bound(const BuilderPtr& b, std::string name, nb::handle h) {
  PyArrayObject* array = plain_array(h);
  TensorType type = type_of(array);
  const Facts facts = facts_of(type.dtype, PyArray_DATA(array), PyArray_SIZE(array));
  return {b, b->bound(std::move(name), std::move(type), facts)};
}

ScalarOp scalar_op_named(std::string_view name) {
  if (const auto op = scalar_op_from_name(name)) return *op;
  throw Error(ErrorCode::unknown_op, {}, str("there is no scalar op \"", name, "\""));
}

ErrorCode error_code_named(std::string_view name) {
  for (int i = 0; i < kNumErrorCodes; ++i) {
    if (code_name(static_cast<ErrorCode>(i)) == name) return static_cast<ErrorCode>(i);
  }
  throw Error(ErrorCode::unknown_name, {}, str("there is no error code \"", name, "\""));
}

Fold fold_named(std::string_view name) {
  if (const auto fold = fold_from_name(name)) return *fold;
  throw Error(ErrorCode::unknown_op, {}, str("there is no fold \"", name, "\""));
}

Combine combine_named(std::string_view name) {
  if (const auto combine = combine_from_name(name)) return *combine;
  throw Error(ErrorCode::unknown_op, {}, str("there is no combine \"", name, "\""));
}

/// A size, a sequence of sizes, or a word (True is one).
ComposeArgument argument_from(nb::handle h) {
  ComposeArgument out;
  if (nb::isinstance<nb::str>(h)) {
    out.word = nb::cast<std::string>(h);
  } else if (nb::isinstance<nb::bool_>(h)) {
    out.word = nb::cast<bool>(h) ? "true" : "false";
  } else if (PyTuple_Check(h.ptr()) || PyList_Check(h.ptr())) {
    out.is_list = true;
    out.sizes = dims_from(h);
  } else {
    out.sizes = {dim_from(h)};
  }
  return out;
}

/// update or scatter.
auto writer(ValueId (GraphBuilder::*write)(Combine, ValueId, std::vector<IndexItem>, ValueId, InPlace)) {
  return [write](const BuilderPtr& b, std::string_view combine, const Value& x, nb::sequence index, const Value& v,
                 bool in_place) {
    return Value{b, (b.get()->*write)(combine_named(combine), id_of(b, x), index_from(b, index), id_of(b, v),
                                      in_place ? InPlace::required : InPlace::wanted)};
  };
}

/// One value where the composition makes one, else a list.
nb::object composed(const BuilderPtr& b, std::string_view name, nb::args operands, nb::kwargs arguments) {
  NamedArguments named;
  for (auto [key, value] : arguments) named.emplace(nb::cast<std::string>(key), argument_from(value));
  std::vector<ValueId> ids;
  for (nb::handle h : operands) ids.push_back(id_of(b, nb::cast<Value>(h)));
  std::vector<Value> values;
  for (ValueId id : compose(*b, name, ids, named)) values.push_back({b, id});
  return values.size() == 1 ? nb::cast(values[0]) : nb::cast(values);
}

std::vector<Value> host_call(const BuilderPtr& b, std::string name, int function, const std::vector<Value>& operands,
                             nb::sequence results) {
  std::vector<TensorType> types;
  for (nb::handle h : results) {
    const nb::tuple pair = tuple_of(h, 2, "the type of a result");
    types.push_back({dtype_named(text_of(pair[0], "a dtype")), dims_from(pair[1])});
  }
  std::vector<Value> values;
  for (ValueId id : b->host_call(std::move(name), function, ids_of(b, operands), std::move(types))) {
    values.push_back({b, id});
  }
  return values;
}

std::vector<Value> values_of(const BuilderPtr& b, const std::vector<ValueId>& ids) {
  std::vector<Value> values;
  for (ValueId id : ids) values.push_back({b, id});
  return values;
}

nb::list parameters_of(const Graph& graph) {
  nb::list all;
  const auto names = graph.symbol_names();
  for (const Param& param : graph.params) {
    const TensorType& type = graph.type(param.value);
    std::vector<std::string> dims;
    for (const Dim& dim : type.dims) dims.push_back(dim.to_text(names));
    all.append(nb::make_tuple(graph.value_text(param.value).substr(1), numpy_name(type.dtype), dims,
                              graph.type_text(type), param.bound));
  }
  return all;
}

nb::list results_of(const Graph& graph) {
  nb::list all;
  for (const Output& output : graph.outputs) {
    const std::string name = output.name.empty() ? graph.value_text(output.value).substr(1) : output.name;
    all.append(nb::make_tuple(name, graph.type_text(graph.type(output.value))));
  }
  return all;
}

std::vector<std::string> host_calls_of(const Graph& graph) {
  std::vector<std::string> names;
  for_each_node(graph, [&](const Node& node) {
    if (node.op != Op::host_call || node.host_function < 0) return;
    const auto at = static_cast<std::size_t>(node.host_function);
    names.resize(std::max(names.size(), at + 1));
    names[at] = node.text;
  });
  return names;
}

std::vector<Value> loop(const BuilderPtr& b, nb::handle count, const std::vector<Value>& initial,
                        const std::vector<Value>& captured, const Graph& body, bool has_condition) {
  return values_of(b, b->loop(dim_from(count), ids_of(b, initial), ids_of(b, captured), body,
                              has_condition ? Ends::by_condition : Ends::after_count));
}

/// How many sizes there must be to evaluate it.
std::size_t num_symbols_of(const Dim& dim) {
  std::size_t count = 0;
  for (SymbolId s : dim.symbols()) count = std::max<std::size_t>(count, s.index + 1);
  return count;
}

bool is_size(const Dim& dim) { return dim.lower_bound(IdMap<SymbolId, int64_t>(num_symbols_of(dim), 0)) >= 0; }

int64_t evaluate(const Dim& dim, const std::vector<int64_t>& symbols) {
  if (const std::size_t wanted = num_symbols_of(dim); symbols.size() < wanted) {
    throw Error(ErrorCode::wrong_argument_count, {},
                str("a size of ", counted(wanted, "symbol"), " is evaluated with ", symbols.size()));
  }
  return dim.evaluate(symbols);
}

void bind_dim(nb::module_& m) {
  nb::class_<Dim>(m, "Dim", "A size: an expression over the sizes of inputs.")
      .def("__add__", [](const Dim& a, nb::handle b) { return dim_to_python(a + dim_from(b)); })
      .def("__radd__", [](const Dim& a, nb::handle b) { return dim_to_python(a + dim_from(b)); })
      .def("__sub__", [](const Dim& a, nb::handle b) { return dim_to_python(a - dim_from(b)); })
      .def("__rsub__", [](const Dim& a, nb::handle b) { return dim_to_python(dim_from(b) - a); })
      .def("__mul__", [](const Dim& a, nb::handle b) { return dim_to_python(a * dim_from(b)); })
      .def("__rmul__", [](const Dim& a, nb::handle b) { return dim_to_python(a * dim_from(b)); })
      .def("evaluate", evaluate, "The number for these sizes, in the order in which the symbols were made.")
      .def_prop_ro(
          "symbol", [](const Dim& d) { return d.is_symbol() ? static_cast<int>(d.as_symbol().index) : -1; },
          "The number of the symbol that it is, or -1.")
      .def_prop_ro("is_size", is_size, "Is it known never to be negative?")
      .def("__floordiv__", [](const Dim& a, nb::handle b) { return dim_to_python(floor_div(a, dim_from(b))); })
      .def("__rfloordiv__", [](const Dim& a, nb::handle b) { return dim_to_python(floor_div(dim_from(b), a)); })
      .def("__eq__", [](const Dim& a, nb::handle b) {
        int64_t number = 0;
        return nb::isinstance<Dim>(b) ? a == nb::cast<Dim>(b)
                                      : PyLong_Check(b.ptr()) && nb::try_cast(b, number) && a.is(number);
      });
  m.def(
      "promote",
      [](std::string_view a, std::string_view b) { return dtype_name(promote(dtype_named(a), dtype_named(b))); },
      "The dtype in which operands of two dtypes meet.");
  m.def("dim_min", [](nb::handle a, nb::handle b) { return dim_to_python(min(dim_from(a), dim_from(b))); });
  m.def("dim_max", [](nb::handle a, nb::handle b) { return dim_to_python(max(dim_from(a), dim_from(b))); });
}

/// What ir/compose_sizes.h composes: results whose size is known only when the function runs.
void bind_late_sizes(nb::class_<GraphBuilder>& builder) {
  builder.def("is_given", [](const BuilderPtr& b, nb::handle dim) { return b->graph().is_given(dim_from(dim)); });
  builder
      .def("late_size", [](const BuilderPtr& b, const Value& n) { return dim_to_python(late_size(*b, id_of(b, n))); })
      .def("arange",
           [](const BuilderPtr& b, const Value& start, const Value& stop, const Value& step, std::string_view dtype) {
             return Value{b, arange(*b, id_of(b, start), id_of(b, stop), id_of(b, step), dtype_named(dtype))};
           })
      .def("nonzero", [](const BuilderPtr& b, const Value& x) { return values_of(b, nonzero(*b, id_of(b, x))); })
      .def("read_where", [](const BuilderPtr& b, const Value& x,
                            const Value& mask) { return Value{b, read_where(*b, id_of(b, x), id_of(b, mask))}; })
      .def("write_where",
           [](const BuilderPtr& b, std::string_view combine, const Value& x, const Value& mask, const Value& v) {
             return Value{b, write_where(*b, combine_named(combine), id_of(b, x), id_of(b, mask), id_of(b, v))};
           })
      .def("repeat", [](const BuilderPtr& b, const Value& x, const Value& count,
                        int axis) { return Value{b, repeat(*b, id_of(b, x), id_of(b, count), axis)}; })
      .def("unique",
           [](const BuilderPtr& b, const Value& x) {
             const Unique found = unique(*b, id_of(b, x));
             return values_of(b, {found.values, found.first, found.inverse, found.counts});
           })
      .def("repeat_each", [](const BuilderPtr& b, const Value& x, const Value& counts, int axis) {
        return Value{b, repeat_each(*b, id_of(b, x), id_of(b, counts), axis)};
      });
}

void bind_value(nb::module_& m) {
  nb::class_<Value>(m, "Value", "A value of a graph that is being built.")
      .def_prop_ro("dtype", [](const Value& v) { return dtype_name(v.builder->type(id_of(v.builder, v)).dtype); })
      .def_prop_ro("dims",
                   [](const Value& v) {
                     nb::list dims;
                     for (const Dim& dim : v.builder->type(id_of(v.builder, v)).dims) dims.append(dim_to_python(dim));
                     return dims;
                   })
      .def_prop_ro("name", [](const Value& v) { return v.builder->graph().values[id_of(v.builder, v)].name; })
      .def_prop_ro("index", [](const Value& v) { return v.id.index; })
      .def("__eq__", [](const Value& a, const Value& b) { return a.builder == b.builder && a.id == b.id; })
      .def("__hash__", [](const Value& v) { return v.id.index; })
      .def("__repr__", [](const Value& v) { return v.builder->graph().describe(id_of(v.builder, v)); });
}

void bind_signature(nb::class_<GraphBuilder>& builder) {
  builder
      .def(
          "__init__", [](GraphBuilder* self, std::string name) { new (self) GraphBuilder(std::move(name)); },
          "name"_a = "main")
      .def("at", [](const BuilderPtr& b, std::string location) { b->at({std::move(location)}); })
      .def("symbol", [](const BuilderPtr& b, std::string name) { return b->symbol(std::move(name)); })
      .def("param",
           [](const BuilderPtr& b, std::string name, std::string_view dtype, nb::sequence dims) {
             return Value{b, b->param(std::move(name), {dtype_named(dtype), dims_from(dims)})};
           })
      .def("donated",
           [](const BuilderPtr& b, std::string name, std::string_view dtype, nb::sequence dims) {
             return Value{b, b->donated(std::move(name), {dtype_named(dtype), dims_from(dims)})};
           })
      .def("bound", bound)
      .def("name",
           [](const BuilderPtr& b, const Value& v, std::string name) { b->name(id_of(b, v), std::move(name)); });
}

void bind_values(nb::class_<GraphBuilder>& builder) {
  builder
      .def("literal",
           [](const BuilderPtr& b, nb::handle value, std::string_view dtype) {
             return Value{b, b->literal(literal_from(value, dtype_named(dtype)))};
           })
      .def("literal_array", literal_array)
      .def("scalar",
           [](const BuilderPtr& b, std::string_view op, const std::vector<Value>& operands) {
             return Value{b, b->scalar(scalar_op_named(op), ids_of(b, operands))};
           })
      .def("cast", [](const BuilderPtr& b, const Value& x, std::string_view dtype) {
        return Value{b, b->cast(id_of(b, x), dtype_named(dtype))};
      });
}

void bind_views(nb::class_<GraphBuilder>& builder) {
  builder
      .def("broadcast", [](const BuilderPtr& b, const Value& x,
                           nb::sequence dims) { return Value{b, b->broadcast(id_of(b, x), dims_from(dims))}; })
      .def("stretch",
           [](const BuilderPtr& b, const Value& x, nb::sequence dims, std::string_view made_for) {
             return Value{b, stretch(*b, id_of(b, x), dims_from(dims), made_for)};
           })
      .def("reshape", [](const BuilderPtr& b, const Value& x,
                         nb::sequence dims) { return Value{b, b->reshape(id_of(b, x), dims_from(dims))}; })
      .def("transpose",
           [](const BuilderPtr& b, const Value& x, std::vector<int> permutation) {
             return Value{b, b->transpose(id_of(b, x), std::move(permutation))};
           })
      .def("flip", [](const BuilderPtr& b, const Value& x,
                      std::vector<int> axes) { return Value{b, b->flip(id_of(b, x), std::move(axes))}; })
      .def("diagonal", [](const BuilderPtr& b, const Value& x, int first,
                          int second) { return Value{b, b->diagonal(id_of(b, x), first, second)}; })
      .def("compose", composed, "name"_a, "operands"_a, "arguments"_a,
           "The nodes of a composition, such as `compose(\"softmax\", x, axes=[1])`: docs/text.md lists them.");
}

void bind_indexing(nb::class_<GraphBuilder>& builder) {
  builder
      .def("slice", [](const BuilderPtr& b, const Value& x,
                       nb::sequence index) { return Value{b, b->slice(id_of(b, x), index_from(b, index))}; })
      .def("gather", [](const BuilderPtr& b, const Value& x,
                        nb::sequence index) { return Value{b, b->gather(id_of(b, x), index_from(b, index))}; })
      .def("update", writer(&GraphBuilder::update), "combine"_a, "x"_a, "index"_a, "v"_a, nb::kw_only(),
           "in_place"_a = false, "With `in_place`, compiling fails where x would be copied.")
      .def("scatter", writer(&GraphBuilder::scatter), "combine"_a, "x"_a, "index"_a, "v"_a, nb::kw_only(),
           "in_place"_a = false, "With `in_place`, compiling fails where x would be copied.");
}

void bind_arrays(nb::class_<GraphBuilder>& builder) {
  builder
      .def("reduce",
           [](const BuilderPtr& b, std::string_view fold, const Value& x, std::vector<int> axes,
              std::string_view dtype) {
             return Value{b, b->reduce(fold_named(fold), id_of(b, x), std::move(axes), dtype_named(dtype))};
           })
      .def("reduce",
           [](const BuilderPtr& b, std::string_view fold, const std::vector<Value>& operands, std::vector<int> axes,
              std::string_view dtype) {
             return values_of(b, b->reduce(fold_named(fold), ids_of(b, operands), std::move(axes), dtype_named(dtype)));
           })
      .def("cumulative",
           [](const BuilderPtr& b, std::string_view combine, const Value& x, int axis, std::string_view accumulator) {
             return Value{b, b->cumulative(combine_named(combine), id_of(b, x), axis, dtype_named(accumulator))};
           })
      .def(
          "require_at_most",
          [](const BuilderPtr& b, nb::handle left, nb::handle right, std::string_view code, const std::string& message,
             const Value& operand) {
            b->require(DimCheck::Relation::at_most, dim_from(left), dim_from(right), error_code_named(code), message,
                       id_of(b, operand));
          },
          "left"_a, "right"_a, "code"_a, "message"_a, "operand"_a,
          "A check of two sizes at the node that is made next. {0} and {1} in the message are the two.")
      .def("concat", [](const BuilderPtr& b, const std::vector<Value>& parts,
                        int axis) { return Value{b, b->concat(ids_of(b, parts), axis)}; })
      .def("iota", [](const BuilderPtr& b, nb::handle length,
                      std::string_view dtype) { return Value{b, b->iota(dim_from(length), dtype_named(dtype))}; })
      .def("size", [](const BuilderPtr& b, nb::handle dim) { return Value{b, b->size(dim_from(dim))}; })
      .def("matmul", [](const BuilderPtr& b, const Value& x, const Value& y) {
        return Value{b, linalg::matmul(*b, id_of(b, x), id_of(b, y))};
      });
}

void bind_calls(nb::class_<GraphBuilder>& builder) {
  builder.def("host_call", host_call)
      .def(
          "assert_",
          [](const BuilderPtr& b, const Value& x, const Value& condition, std::string message, std::string_view code,
             const std::vector<Value>& numbers) {
            return Value{b, b->assert_that(id_of(b, x), id_of(b, condition), std::move(message), error_code_named(code),
                                           ids_of(b, numbers))};
          },
          "x"_a, "condition"_a, "message"_a, "code"_a = "assert-failed", "numbers"_a = std::vector<Value>());
}

void bind_regions(nb::class_<GraphBuilder>& builder) {
  builder
      .def(
          "body", [](const BuilderPtr& b) { return std::make_shared<GraphBuilder>(b->body()); },
          "A builder for a body of a cond or a loop.")
      .def("step", [](const BuilderPtr& b, std::string name,
                      nb::handle count) { return Value{b, b->step(std::move(name), dim_from(count))}; })
      .def("cond",
           [](const BuilderPtr& b, const Value& condition, const std::vector<Value>& captured, const Graph& then,
              const Graph& otherwise) {
             return values_of(b, b->cond(id_of(b, condition), ids_of(b, captured), then, otherwise));
           })
      .def("loop", loop, "count"_a, "initial"_a, "captured"_a, "body"_a, "has_condition"_a = false);
}

}  // namespace

ValueId id_of(const std::shared_ptr<GraphBuilder>& builder, const Value& value) {
  if (value.builder == builder && value.id.index < builder->graph().values.size()) return value.id;
  throw Error(ErrorCode::unknown_name, {},
              str("value ", value.id.index, " is of another builder, or of a finished one"));
}

void bind_graph(nb::module_& m) {
  bind_dim(m);
  bind_value(m);
  nb::class_<Graph>(m, "Graph", "A finished array program.")
      .def_prop_ro("text", [](const Graph& graph) { return print(graph); })
      .def_ro("name", &Graph::name)
      .def_prop_ro("parameters", parameters_of, "For each parameter: name, dtype, dims as text, whether it is bound.")
      .def_prop_ro("outputs", results_of, "For each: name, type as text.")
      .def_prop_ro("host_calls", host_calls_of, "The names of the functions that it calls, by number.")
      .def("__str__", [](const Graph& graph) { return print(graph); });
  nb::class_<GraphBuilder> builder(m, "GraphBuilder", "Makes a Graph, one checked node at a time.");
  bind_late_sizes(builder);
  bind_linalg(builder);
  bind_signature(builder);
  bind_values(builder);
  bind_views(builder);
  bind_indexing(builder);
  bind_arrays(builder);
  bind_calls(builder);
  bind_regions(builder);
  builder
      .def(
          "output",
          [](const BuilderPtr& b, const Value& v, std::string name) { b->output(id_of(b, v), std::move(name)); },
          "value"_a, "name"_a = "")
      .def(
          "finish", [](const BuilderPtr& b) { return std::move(*b).finish(); },
          "The graph; the builder is empty afterwards.");
}

}  // namespace inlay::python
