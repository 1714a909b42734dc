#include "compiled.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bound_program.h"
#include "c_function.h"
#include "callables.h"
#include "choices.h"
#include "compiler/compile.h"
#include "explain.h"
#include "interrupt.h"
#include "ir/region.h"
#include "ir/text.h"
#include "planning.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace inlay::python {
namespace {

/// A compiled program with what is bound to it.
struct Compiled {
  std::unique_ptr<Program> program;  // without its executable, which `bound` has
  memory::PlannerOptions planning;
  HeldProgram bound;
  std::shared_ptr<const runtime::StepTimes> step_times;  // null: the code does not tell

  int traverse(visitproc visit, void* arg) const { return bound.traverse(visit, arg); }
};

std::vector<PyObject*> pointers(const nb::object& objects) {
  std::vector<PyObject*> result;
  for (nb::handle h : objects) result.push_back(h.ptr());
  return result;
}

/// Throws where the graph needs an array or a function that nobody supplies.
void check_supplies(const Graph& graph, std::size_t num_bound, std::size_t num_functions) {
  std::size_t wanted = 0;
  for (const Param& param : graph.params) {
    if (!param.bound || ++wanted <= num_bound) continue;
    throw Error(
        ErrorCode::wrong_argument_count, {},
        str(graph.value_text(param.value), " is bound: an array for it must be given when the program is compiled"));
  }
  for_each_node(graph, [&](const Node& node) {
    if (node.op != Op::host_call || static_cast<std::size_t>(node.host_function) < num_functions) return;
    throw Error(ErrorCode::wrong_argument_count, node.location,
                str("the host call \"", node.text, "\" needs a function when the program is compiled"));
  });
}

Compiled compile_bound(const Graph& graph, nb::list bound, nb::list host_functions, nb::dict choices, bool time_steps) {
  check_supplies(graph, nb::len(bound), nb::len(host_functions));
  Options options = options_of(choices);
  options.time_steps = time_steps;
  std::unique_ptr<Program> program;
  std::shared_ptr<const runtime::Executable> executable;
  unless_interrupted([&] {
    program = std::make_unique<Program>(compile_program(graph, options));
    executable = std::make_shared<const runtime::Executable>(std::move(program->executable));
  });
  std::vector<PyObject*> callables = pointers(host_functions);
  if (options.planning.custom) callables.push_back(choices["planner"].ptr());  // it plans calls, too
  const auto step_times = time_steps ? std::make_shared<runtime::StepTimes>(program->kernels.steps.size()) : nullptr;
  return {std::move(program), std::move(options.planning),
          HeldProgram(std::move(executable), pointers(bound), callables, step_times), step_times};
}

nb::object checked(PyObject* object) {
  if (object == nullptr) throw nb::python_error();
  return nb::steal(object);
}

template <class T>
int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  return nb::inst_ready(self) ? nb::inst_ptr<T>(self)->traverse(visit, arg) : 0;
}

/// How the garbage collector sees the references that a T holds.
template <class T>
const PyType_Slot kCollected[] = {{Py_tp_traverse, reinterpret_cast<void*>(&traverse<T>)}, {0, nullptr}};

/// `data`: for numbers of arguments, their offsets in user_data: of the address and of the dims.
CFunction::Options c_function_options(const std::string& form, nb::dict data, nb::object on_error, bool keeps_going) {
  CFunction::Options options;
  if (form == "logp") options.form = runtime::FlatForm::logp;
  if (form == "expand") options.form = runtime::FlatForm::expand;
  for (const auto& [argument, offsets] : data) {
    const auto [address, dims] = nb::cast<std::pair<std::size_t, std::size_t>>(offsets);
    options.data[nb::cast<std::size_t>(argument)] = {address, dims};
  }
  options.on_error = on_error.ptr();
  options.keeps_going = keeps_going;
  return options;
}

void bind_c_function(nb::module_& m) {
  nb::class_<CFunction>(m, "CFunction", nb::type_slots(kCollected<CFunction>),
                        "A C function pointer; valid for as long as this object lives.")
      .def_prop_ro("address", &CFunction::address)
      .def_prop_ro("signature", [](const CFunction& f) { return f.signature(); })
      .def_prop_ro("stop_address", &CFunction::stop_address,
                   "Of an int32: calls that run end soon, with the code -4, while it is not 0.")
      .def_prop_ro(
          "last_error", [](const CFunction& f) { return f.last_error(); },
          "What the last call that failed for good said; of the forms that samplers know.");
}

nb::dict explained(const Compiled& c) {
  nb::dict d = explain(*c.program, *c.bound);
  nb::list copies = nb::cast<nb::list>(d["copies"]);
  for (const std::string& reason : c.bound->copies_of_arguments()) {
    nb::dict copy;
    copy["source"] = "argument";
    copy["destination"] = "call";
    copy["reason"] = reason;
    copies.append(copy);
  }
  return d;
}

std::vector<std::string> storage_names(const Compiled& c) {
  std::vector<std::string> names;
  for (const memory::SharedStorage& storage : c.program->plan.sharing.storages) {
    if (storage.owner == memory::Owner::arena) names.push_back(storage.name);
  }
  return names;
}

}  // namespace

void bind_compile(nb::module_& m) {
  listen_for_interrupts();
  bind_c_function(m);
  nb::class_<Compiled>(m, "Program", nb::type_slots(kCollected<Compiled>),
                       "A compiled program with the arrays and host functions that are bound to it.")
      .def(
          "function", [](const Compiled& c) { return checked(new_function(c.bound)); },
          "The function to call: arrays in, new arrays out.")
      .def_prop_ro("first_call_seconds", [](const Compiled& c) { return c.bound->first_call_seconds(); })
      .def("vm", [](const Compiled& c, nb::tuple cells) { return checked(new_vm(c.bound, cells.ptr())); })
      .def(
          "c_function",
          [](const Compiled& c, nb::sequence arguments, const std::string& form, nb::dict data, nb::object on_error,
             bool keeps_going) {
            return new CFunction(c.bound, pointers(arguments), c_function_options(form, data, on_error, keeps_going));
          },
          "arguments"_a, "form"_a = "", "data"_a = nb::dict(), "on_error"_a = nb::none(), "keeps_going"_a = false,
          nb::rv_policy::take_ownership)
      .def("explain", explained)
      .def(
          "plan", [](const Compiled& c, nb::object sizes) { return plan_of(*c.program, c.planning, sizes); },
          "sizes"_a = nb::none())
      .def(
          "memory_page",
          [](const Compiled& c, const std::string& title, nb::object sizes) {
            return memory_page(*c.program, c.planning, title, sizes);
          },
          "title"_a, "sizes"_a = nb::none(), "The memory over time as a page of HTML.")
      .def(
          "step_times",
          [](const Compiled& c) { return c.step_times ? step_times(*c.program, *c.bound, *c.step_times) : nb::list(); },
          "How long each step has taken, of a program that was compiled with `time_steps`.")
      .def_prop_ro("storage_names", storage_names, "Of the working memory, as planners get them.")
      .def("value_places", [](const Compiled& c) { return value_places(*c.program); });
  m.def("compile", compile_bound, "graph"_a, "bound"_a = nb::list(), "host_functions"_a = nb::list(),
        "choices"_a = nb::dict(), "time_steps"_a = false);
  m.def(
      "parse", [](const std::string& text, const std::string& file_name) { return parse(text, file_name); }, "text"_a,
      "file_name"_a = "<text>");
}

}  // namespace inlay::python
