#define INLAY_IMPORTS_NUMPY
#include <csignal>

#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "callables.h"
#include "command_line.h"
#include "compiled.h"
#include "config.h"
#include "draw.h"
#include "errors.h"
#include "export.h"
#include "gil.h"
#include "graph.h"
#include "numpy_api.h"
#include "onnx.h"
#include "ops_table.h"
#include "planning.h"
#include "scipy_routines.h"

namespace nb = nanobind;

namespace inlay::python {
namespace {

int import_numpy() {
  import_array1(-1);
  return 0;
}

/// (code, the Python class that it is also an instance of), by ErrorCode.
std::vector<std::pair<std::string_view, std::string_view>> error_codes() {
  std::vector<std::pair<std::string_view, std::string_view>> codes;
  for (int i = 0; i < kNumErrorCodes; ++i) {
    const auto code = static_cast<ErrorCode>(i);
    codes.emplace_back(code_name(code), python_class(code));
  }
  return codes;
}

/// The exit code. For a process that does nothing else: what closes its standard output ends it, as it ends the tool.
int command_line(const std::vector<nb::bytes>& arguments) {
  std::signal(SIGPIPE, SIG_DFL);
  std::vector<std::string> words;
  for (const nb::bytes& argument : arguments) words.emplace_back(argument.c_str(), argument.size());
  if (words.empty()) words.emplace_back("inlay");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const ReleasedGil released;
  return tool::run_command_line(static_cast<int>(words.size()), argv.data());
}

}  // namespace
}  // namespace inlay::python

NB_MODULE(_inlay, m) {
  using namespace inlay::python;
  // A function that somebody holds when the process ends is no leak of ours: nutpie (0.16) never drops the model of a
  // sampler that failed. Whether calls leave something behind is for tests/python/test_soak.py.
  nb::set_leak_warnings(false);
  if (import_numpy() < 0) throw nb::python_error();
  nb::register_exception_translator([](const std::exception_ptr& p, void*) {
    try {
      std::rethrow_exception(p);
    } catch (const inlay::Error& error) {
      raise(error);
    } catch (const nb::cast_error&) {
      PyErr_SetString(PyExc_TypeError, "inlay: an argument, or a part of one, is of another type than is wanted there");
    }
  });
  m.attr("__version__") = INLAY_VERSION;
  m.def("error_codes", error_codes);
  m.def("set_error_classes", [](nb::tuple classes) { set_error_classes(classes.ptr()); });
  bind_graph(m);
  bind_ops_table(m);
  bind_compile(m);
  bind_export(m);
  bind_onnx(m);
  bind_planning(m);
  bind_draw(m);
  bind_config(m);
  m.def("command_line", command_line);
  take_routines_from_scipy();
  wait_for_foreign_threads_at_exit();
  if (!add_callables(m.ptr())) throw nb::python_error();
}
