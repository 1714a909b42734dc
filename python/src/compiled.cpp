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
#include "compiler/profile.h"
#include "explain.h"
#include "file/function_file.h"
#include "interrupt.h"
#include "ir/text.h"
#include "kept_program.h"
#include "low_level.h"
#include "planning.h"
#include "profile.h"
#include "support/whole_file.h"
#include "xla_function.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace inlay::python {
namespace {

/// A compiled program with what is bound to it.
struct Compiled {
  std::shared_ptr<const KeptProgram> kept;
  HeldProgram bound;
  std::shared_ptr<runtime::StepTimes> step_times;  // null: the code does not tell

  const EmittedProgram& program() const { return kept->program(); }
  int traverse(visitproc visit, void* arg) const { return bound.traverse(visit, arg); }
};

std::vector<PyObject*> pointers(const nb::object& objects) {
  std::vector<PyObject*> result;
  for (nb::handle h : objects) result.push_back(h.ptr());
  return result;
}

Compiled compile_bound(const Graph& graph, nb::list bound, nb::list host_functions, nb::dict choices, bool time_steps) {
  Options options = options_of(choices);
  options.time_steps = time_steps;
  std::optional<Program> program;
  unless_interrupted([&] { program = compile_program(graph, options); });
  std::vector<PyObject*> kept_alive;
  if (options.planning.custom) kept_alive.push_back(choices["planner"].ptr());  // it plans calls, too
  const auto step_times = time_steps ? std::make_shared<runtime::StepTimes>(program->kernels.steps.size()) : nullptr;
  const auto kept = std::make_shared<const KeptProgram>(std::move(*program));
  return {kept, HeldProgram(kept->executable(), pointers(bound), pointers(host_functions), step_times, kept_alive),
          step_times};
}

/// Of a function that was read from a file.
Compiled loaded(std::shared_ptr<const file::FunctionFile> from, nb::list bound, nb::list host_functions) {
  std::shared_ptr<const KeptProgram> kept;
  if (why_not_here(*from).empty()) {
    kept = std::make_shared<const KeptProgram>(std::move(from));
  } else {
    unless_interrupted([&] { kept = std::make_shared<const KeptProgram>(emit_again(*from)); });
  }
  return {kept, HeldProgram(kept->executable(), pointers(bound), pointers(host_functions), nullptr), nullptr};
}

nb::bytes as_bytes(std::span<const std::byte> bytes) {
  return nb::bytes(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

std::span<const std::byte> as_span(const nb::bytes& bytes) {
  return {reinterpret_cast<const std::byte*>(bytes.c_str()), bytes.size()};
}

file::FunctionFile file_without_sections(const Compiled& c) {
  file::FunctionFile file = c.kept->file();
  set_sections(file, {});
  return file;
}

nb::bytes saved(const Compiled& c, nb::dict sections) {
  file::FunctionFile file = file_without_sections(c);
  for (const auto& [name, bytes] : sections) {
    const std::span<const std::byte> span = as_span(nb::cast<nb::bytes>(bytes));
    file.sections.push_back({nb::cast<std::string>(name), {span.begin(), span.end()}});
  }
  keep_threads(file, *c.kept->executable());
  return as_bytes(file::write(file));
}

void bind_files(nb::module_& m) {
  struct File {
    std::shared_ptr<const file::FunctionFile> file;
  };
  nb::class_<File>(m, "FunctionFile", "A compiled function that was read from bytes, without what is bound to it.")
      .def(
          "section",
          [](const File& f, const std::string& name) -> nb::object {
            const file::Section* section = file::find_section(*f.file, name);
            return section ? nb::object(as_bytes(section->bytes)) : nb::none();
          },
          "name"_a, "Its bytes, or None.")
      .def_prop_ro("why_not_here", [](const File& f) { return why_not_here(*f.file); })
      .def(
          "program", [](const File& f, nb::list bound, nb::list host) { return loaded(f.file, bound, host); },
          "bound"_a, "host_functions"_a,
          "The program that runs its code, or the same kernels compiled once more where that cannot run here.");
  m.def(
      "read_function",
      [](const nb::bytes& bytes, const std::string& name) {
        return File{std::make_shared<const file::FunctionFile>(file::read(as_span(bytes), name))};
      },
      "bytes"_a, "name"_a);
  m.def(
      "write_whole_file",
      [](const nb::bytes& path, const nb::bytes& bytes) {
        return write_whole_file(std::string(path.c_str(), path.size()), {bytes.c_str(), bytes.size()}).value();
      },
      "path"_a, "bytes"_a, "Replaces a file's contents at once; returns 0, or the errno, and then it is as it was.");
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
/// `pool`: the address of the function that runs tasks, and what it gets first; none: inlay's own.
CFunction::Options c_function_options(const std::string& form, nb::dict data, nb::object on_error, bool keeps_going,
                                      std::optional<std::pair<std::uintptr_t, std::uintptr_t>> pool) {
  CFunction::Options options;
  if (form == "logp") options.form = runtime::FlatForm::logp;
  if (form == "expand") options.form = runtime::FlatForm::expand;
  for (const auto& [argument, offsets] : data) {
    const auto [address, dims] = nb::cast<std::pair<std::size_t, std::size_t>>(offsets);
    options.data[nb::cast<std::size_t>(argument)] = {address, dims};
  }
  options.on_error = on_error.ptr();
  options.keeps_going = keeps_going;
  if (pool) {
    options.pool = {.run = reinterpret_cast<decltype(runtime::CallersPool::run)>(pool->first),
                    .pool = reinterpret_cast<void*>(pool->second)};
  }
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
  nb::dict d = explain(c.program(), *c.bound);
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

std::vector<bool> donated(const Compiled& c) {
  std::vector<bool> out;
  for (const Param& param : c.program().graph.params) {
    if (!param.bound) out.push_back(param.donated);
  }
  return out;
}

std::vector<std::string> storage_names(const Compiled& c) {
  std::vector<std::string> names;
  for (const memory::SharedStorage& storage : c.program().plan.sharing.storages) {
    if (storage.owner == memory::Owner::arena) names.push_back(storage.name);
  }
  return names;
}

/// What is known of a program, besides what `explain` tells.
void bind_facts(nb::class_<Compiled>& program) {
  program
      .def(
          "step_times",
          [](const Compiled& c) {
            return c.step_times ? step_times(c.program(), *c.bound, *c.step_times) : nb::list();
          },
          "How long each step has taken, of a program that was compiled with `time_steps`.")
      .def(
          "clear_step_times",
          [](const Compiled& c) {
            if (c.step_times) c.step_times->clear();
          },
          "Their times begin anew, as if there had been no call.")
      .def(
          "require_clocks",
          [](const Compiled& c, const std::string& name) { require_clocks(name, c.program().backend); }, "name"_a,
          "Raises where code of its backend has no clocks around its steps.")
      .def(
          "profile",
          [](const Compiled& c, const std::string& name, int64_t calls, double seconds, double least, double bandwidth,
             nb::dict notes) {
            if (!c.step_times) throw Error(ErrorCode::unsupported, {}, str(name, " is not compiled to tell its times"));
            return profile(c.program(), *c.bound, *c.step_times, name, {calls, seconds, least}, bandwidth, notes);
          },
          "name"_a, "calls"_a, "seconds"_a, "least"_a, "bandwidth"_a, "notes"_a,
          "What the steps have taken in `calls` calls, of a program that was compiled with `time_steps`.")
      .def_prop_ro("donated", donated, "Of each argument, whether a call may overwrite it.")
      .def_prop_ro("storage_names", storage_names, "Of the working memory, as planners get them.")
      .def("value_places", [](const Compiled& c) { return value_places(c.program()); });
}

}  // namespace

void bind_compile(nb::module_& m) {
  listen_for_interrupts();
  bind_c_function(m);
  bind_low_level(m);
  bind_xla(m);
  nb::class_<Compiled> program(m, "Program", nb::type_slots(kCollected<Compiled>),
                               "A compiled program with the arrays and host functions that are bound to it.");
  program
      .def(
          "function", [](const Compiled& c) { return checked(new_function(c.bound)); },
          "The function to call: arrays in, new arrays out.")
      .def_prop_ro("threads", [](const Compiled& c) { return c.bound->executable().threads(); })
      .def_prop_ro("first_call_seconds", [](const Compiled& c) { return c.bound->first_call_seconds(); })
      .def("vm", [](const Compiled& c, nb::tuple cells) { return checked(new_vm(c.bound, cells.ptr())); })
      .def(
          "c_function",
          [](const Compiled& c, nb::sequence arguments, const std::string& form, nb::dict data, nb::object on_error,
             bool keeps_going, std::optional<std::pair<std::uintptr_t, std::uintptr_t>> pool) {
            return new CFunction(c.bound, pointers(arguments),
                                 c_function_options(form, data, on_error, keeps_going, pool));
          },
          "arguments"_a, "form"_a = "", "data"_a = nb::dict(), "on_error"_a = nb::none(), "keeps_going"_a = false,
          "pool"_a = nb::none(), nb::rv_policy::take_ownership)
      .def(
          "xla_function",
          [](const Compiled& c, nb::sequence arguments) { return new XlaFunction(c.bound, pointers(arguments)); },
          "arguments"_a, nb::rv_policy::take_ownership)
      .def(
          "low_level",
          [](const Compiled& c, nb::sequence arguments, const std::string& form) {
            return new LowLevel(c.bound, pointers(arguments), form);
          },
          "arguments"_a, "form"_a, nb::rv_policy::take_ownership)
      .def("save", saved, "sections"_a, "The function as bytes, with bytes of others' by name.")
      .def_prop_ro(
          "content", [](const Compiled& c) { return file::hash_without_locations(file_without_sections(c)); },
          "32 digits that functions with different content do not share; source lines do not count.")
      .def("explain", explained)
      .def(
          "plan", [](const Compiled& c, nb::object sizes) { return plan_of(c.program(), c.program().planning, sizes); },
          "sizes"_a = nb::none())
      .def(
          "memory_page",
          [](const Compiled& c, const std::string& title, nb::object sizes) {
            return memory_page(c.program(), c.program().planning, title, sizes);
          },
          "title"_a, "sizes"_a = nb::none(), "The memory over time as a page of HTML.");
  bind_facts(program);
  bind_files(m);
  bind_profile(m);
  m.def("compile", compile_bound, "graph"_a, "bound"_a = nb::list(), "host_functions"_a = nb::list(),
        "choices"_a = nb::dict(), "time_steps"_a = false);
  m.def(
      "parse", [](const std::string& text, const std::string& file_name) { return parse(text, file_name); }, "text"_a,
      "file_name"_a = "<text>");
}

}  // namespace inlay::python
