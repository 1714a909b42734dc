#include "xla_function.h"

#include <map>
#include <mutex>
#include <random>

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "gil.h"
#include "support/counted.h"
#include "support/fork_gate.h"
#include "xla_numbers.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace inlay::python {
namespace {

struct Known {
  std::mutex mutex;
  std::map<int64_t, std::weak_ptr<const ForeignFunction>> functions;
};

Known& known() {
  static auto* const all = new Known;  // XLA's threads may outlive statics
  return *all;
}

int64_t add(const std::shared_ptr<const ForeignFunction>& function) {
  static_assert(sizeof(std::random_device::result_type) == 4);
  const ForkGate::Inside inside;
  const std::lock_guard lock(known().mutex);
  std::erase_if(known().functions, [](const auto& entry) { return entry.second.expired(); });
  std::random_device random;
  for (;;) {
    const auto number = static_cast<int64_t>((uint64_t{random()} << 31) ^ random());
    if (known().functions.try_emplace(number, function).second) return number;
  }
}

using Form = std::tuple<std::string, std::string, int>;  // name, dtype, rank

Form form_of(const ArrayForm& info) { return {info.name, std::string(dtype_name(info.dtype)), info.rank}; }

std::vector<Form> arguments_of(const XlaFunction& f) {
  std::vector<Form> forms;
  for (std::size_t i = 0; i < f.function().num_arguments(); ++i) forms.push_back(form_of(f.function().argument(i)));
  return forms;
}

std::vector<Form> results_of(const XlaFunction& f) {
  std::vector<Form> forms;
  for (std::size_t i = 0; i < f.function().num_results(); ++i) forms.push_back(form_of(f.function().result(i)));
  return forms;
}

}  // namespace

std::shared_ptr<const ForeignFunction> function_of_number(int64_t number) {
  const ForkGate::Inside inside;
  const std::lock_guard lock(known().mutex);
  const auto found = known().functions.find(number);
  return found == known().functions.end() ? nullptr : found->second.lock();
}

XlaFunction::XlaFunction(const HeldProgram& program, const std::vector<PyObject*>& arguments)
    : function_(new ForeignFunction(program, arguments, "no JAX function"), WithGil()), number_(add(function_)) {}

std::vector<std::vector<int64_t>> XlaFunction::result_dims(const std::vector<std::vector<int64_t>>& dims) const {
  INLAY_CHECK(dims.size() == function_->num_arguments(), "dims of ", counted(dims.size(), "argument"));
  std::vector<const int64_t*> addresses;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const auto rank = static_cast<std::size_t>(function_->argument(i).rank);
    INLAY_CHECK(dims[i].size() == rank, counted(dims[i].size(), "dim"), " of an argument of rank ", rank);
    addresses.push_back(dims[i].data());
  }
  std::vector<int64_t> symbols(function_->num_symbols());
  function_->bind(addresses, symbols);
  std::vector<std::vector<int64_t>> result;
  for (std::size_t i = 0; i < function_->num_results(); ++i) {
    std::vector<int64_t>& own = result.emplace_back(static_cast<std::size_t>(function_->result(i).rank));
    function_->arguments().program().executable().output_dims(static_cast<int>(i), symbols, own);
  }
  return result;
}

void bind_xla(nb::module_& m) {
  nb::class_<XlaFunction>(m, "XlaFunction", "A function as a call in a program of XLA's, which keeps it alive.")
      .def_prop_ro("number", &XlaFunction::number, "By which a call names it; random.")
      .def_prop_ro("arguments", arguments_of, "Name, dtype and rank of each.")
      .def_prop_ro("results", results_of)
      .def("result_dims", &XlaFunction::result_dims, "dims"_a);
  m.def("xla_handlers", xla_handlers,
        "What JAX registers, by name: addresses of the handlers, of the type's number and of what XLA must know of it, "
        "and the version of XLA's interface. Empty: inlay was built without XLA's header.");
}

}  // namespace inlay::python
