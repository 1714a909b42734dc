#include "linalg.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "ir/linalg.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace inlay::python {
namespace {

using BuilderPtr = std::shared_ptr<GraphBuilder>;

LibraryOptions options_named(const std::vector<std::string>& names) {
  LibraryOptions options = 0;
  for (const std::string& name : names) {
    const auto option = library_option_from_name(name);
    if (!option) throw Error(ErrorCode::unknown_name, {}, str("there is no option \"", name, "\""));
    options = options | *option;
  }
  return options;
}

std::vector<Value> library(const BuilderPtr& b, std::string_view name, const std::vector<Value>& operands,
                           const std::vector<std::string>& options) {
  const auto op = library_op_from_name(name);
  if (!op) throw Error(ErrorCode::unknown_op, {}, str("there is no library op \"", name, "\""));
  std::vector<ValueId> ids;
  for (const Value& v : operands) ids.push_back(id_of(b, v));
  std::vector<Value> results;
  for (ValueId id : b->library(*op, std::move(ids), options_named(options))) results.push_back({b, id});
  return results;
}

/// A function of one value, as a method.
template <ValueId (*function)(GraphBuilder&, ValueId)>
Value of_one(const BuilderPtr& b, const Value& a) {
  return {b, function(*b, id_of(b, a))};
}

}  // namespace

void bind_linalg(nb::class_<GraphBuilder>& builder) {
  builder.def("library", library, "op"_a, "operands"_a, "options"_a = std::vector<std::string>())
      .def("swapped", of_one<linalg::swapped>, "The last two axes, swapped.")
      .def("inverse", of_one<linalg::inverse>)
      .def("determinant", of_one<linalg::determinant>)
      .def("pseudo_inverse", of_one<linalg::pseudo_inverse>)
      .def("log_determinant",
           [](const BuilderPtr& b, const Value& a) {
             const linalg::SignAndLog parts = linalg::log_determinant(*b, id_of(b, a));
             return std::pair(Value{b, parts.sign}, Value{b, parts.log});
           })
      .def("lu",
           [](const BuilderPtr& b, const Value& a) {
             const linalg::PLU parts = linalg::lu(*b, id_of(b, a));
             return std::tuple(Value{b, parts.p}, Value{b, parts.l}, Value{b, parts.u});
           })
      .def("take_rows", [](const BuilderPtr& b, const Value& a,
                           const Value& rows) { return Value{b, linalg::take_rows(*b, id_of(b, a), id_of(b, rows))}; })
      .def("permutation_matrix",
           [](const BuilderPtr& b, const Value& p, const Value& like) {
             return Value{b, linalg::permutation_matrix(*b, id_of(b, p), b->type(id_of(b, like)).dtype)};
           })
      .def("cholesky_solve",
           [](const BuilderPtr& b, const Value& c, const Value& y, const std::vector<std::string>& options) {
             return Value{b, linalg::cholesky_solve(*b, id_of(b, c), id_of(b, y), options_named(options))};
           })
      .def("einsum", [](const BuilderPtr& b, std::string_view subscripts, const std::vector<Value>& operands) {
        std::vector<ValueId> ids;
        for (const Value& v : operands) ids.push_back(id_of(b, v));
        return Value{b, linalg::einsum(*b, subscripts, std::move(ids))};
      });
}

}  // namespace inlay::python
