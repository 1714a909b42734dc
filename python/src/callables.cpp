#include "callables.h"

#include <algorithm>
#include <cstddef>
#include <new>

#include <structmember.h>

#include "array_form.h"
#include "errors.h"
#include "runtime/scratch.h"
#include "support/counted.h"
#include "support/error.h"
#include "thread_count.h"

namespace inlay::python {
namespace {

struct Callable {
  PyObject_HEAD vectorcallfunc vectorcall;
  PyObject* dict;
  PyObject* weak_references;
  PyObject* cells;  // of a Vm: a tuple of lists
  HeldProgram program;
};

PyTypeObject* function_type = nullptr;
PyTypeObject* vm_type = nullptr;

Callable* as_callable(PyObject* object) { return reinterpret_cast<Callable*>(object); }

// What a failed call leaves goes through the object's `on_error(exception, host_call)`, where it has one: a door that
// knows more says which of the user's nodes failed, and with what.
void refine_error(PyObject* self, int failed_host_call) {
  PyObject* handler =
      as_callable(self)->dict == nullptr ? nullptr : PyDict_GetItemString(as_callable(self)->dict, "on_error");
  if (handler == nullptr) return;
  PyObject *type, *exception, *trace;
  PyErr_Fetch(&type, &exception, &trace);
  PyErr_NormalizeException(&type, &exception, &trace);
  if (trace != nullptr) PyException_SetTraceback(exception, trace);
  PyObject* refined = PyObject_CallFunction(handler, "Oi", exception, failed_host_call);
  if (refined == exception) {
    Py_DECREF(refined);
    PyErr_Restore(type, exception, trace);
    return;
  }
  Py_XDECREF(type);
  Py_XDECREF(exception);
  Py_XDECREF(trace);
  if (refined == nullptr) return;
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(refined)), refined);
  Py_DECREF(refined);
}

/// What is said of a call besides its arguments, by names that no parameter has.
struct CallWords {
  PyObject* out = nullptr;  // what is given for results
  int threads = 0;          // on how many it may run; 0: as the function has it
};

PyObject* run_function(PyObject* self, std::span<PyObject* const> arguments, const CallWords& words);

/// The call with the arguments that were given by name in their places.
PyObject* call_by_name(PyObject* self, PyObject* const* arguments, std::size_t num_positional, PyObject* names) {
  const std::span<const ArrayForm> parameters = as_callable(self)->program->arguments();
  std::vector<PyObject*> all(arguments, arguments + num_positional);
  all.resize(std::max(num_positional, parameters.size()), nullptr);
  CallWords words;
  const auto wrong = [&](std::string message) {
    raise(Error(ErrorCode::wrong_argument_count, {}, std::move(message)));
    return nullptr;
  };
  for (std::size_t i = 0; i < tuple_size(names); ++i) {
    const char* text = utf8_of(tuple_item(names, i));
    if (text == nullptr) return nullptr;
    const std::string name = text;
    const auto at = std::ranges::find(parameters, name, &ArrayForm::name);
    if (at == parameters.end() && name == "out") {
      words.out = arguments[num_positional + i];
      continue;
    }
    if (at == parameters.end() && name == "threads") {
      if (!read_thread_count("threads=", arguments[num_positional + i], words.threads)) return nullptr;
      continue;
    }
    const auto names_text = join(parameters, ", ", [](const ArrayForm& info) { return info.name; });
    if (at == parameters.end()) return wrong(str("the function has no parameter ", name, ": it has ", names_text));
    PyObject*& place = all[static_cast<std::size_t>(at - parameters.begin())];
    if (place != nullptr) return wrong(str(name, " is given twice"));
    place = arguments[num_positional + i];
  }
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (all[i] == nullptr) return wrong(str("no argument is given for ", parameters[i].name));
  }
  return run_function(self, all, words);
}

PyObject* call_function(PyObject* self, PyObject* const* arguments, std::size_t flags, PyObject* names) {
  const auto count = static_cast<std::size_t>(PyVectorcall_NARGS(flags));
  if (names != nullptr && tuple_size(names) > 0) return call_by_name(self, arguments, count, names);
  return run_function(self, {arguments, count}, {});
}

PyObject* run_function(PyObject* self, std::span<PyObject* const> arguments, const CallWords& words) {
  const BoundProgram& program = *as_callable(self)->program;
  const std::size_t count = arguments.size();
  if (count != program.arguments().size()) {
    const auto names_text = join(program.arguments(), ", ", [](const ArrayForm& info) { return info.name; });
    raise(Error(ErrorCode::wrong_argument_count, {},
                str("the function takes ", counted(program.arguments().size(), "argument"), " (", names_text, "), not ",
                    count)));
    return nullptr;
  }
  runtime::Scratch<PyObject*, 16> results(program.results().size());
  int failed_host_call = -1;
  if (!program.call(arguments, results.span(), failed_host_call, words.out, words.threads)) return nullptr;
  if (results.span().size() == 1) return results[0];
  PyObject* tuple = PyTuple_New(static_cast<Py_ssize_t>(results.span().size()));
  for (std::size_t i = 0; i < results.span().size(); ++i) {
    if (tuple == nullptr) {
      Py_DECREF(results[i]);
    } else {
      set_tuple_item(tuple, i, results[i]);
    }
  }
  return tuple;
}

// Arguments of a vm call (older versions of PyTensor pass `output_subset`) do not change what is computed.
PyObject* call_vm(PyObject* self, PyObject* const*, std::size_t, PyObject*) {
  const Callable& vm = *as_callable(self);
  const BoundProgram& program = *vm.program;
  const std::size_t count = program.arguments().size();
  runtime::Scratch<PyObject*, 16> arguments(count);
  // Another thread may fill the cells anew while the machine code runs: hold what they hold now.
  for (std::size_t i = 0; i < count; ++i) {
    PyObject* cell = tuple_item(vm.cells, i);
    arguments[i] = Py_NewRef(PyList_Size(cell) > 0 ? PyList_GetItem(cell, 0) : Py_None);
  }
  runtime::Scratch<PyObject*, 16> results(program.results().size());
  int failed_host_call = -1;
  const bool ok = program.call(arguments.span(), results.span(), failed_host_call);
  for (PyObject* argument : arguments.span()) Py_DECREF(argument);
  if (!ok) {
    refine_error(self, failed_host_call);
    return nullptr;
  }
  PyObject* list = PyList_New(static_cast<Py_ssize_t>(results.span().size()));
  for (std::size_t i = 0; i < results.span().size(); ++i) {
    if (list == nullptr) {
      Py_DECREF(results[i]);
    } else {
      PyList_SetItem(list, static_cast<Py_ssize_t>(i), results[i]);
    }
  }
  return list;
}

int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(as_callable(self)->dict);
  Py_VISIT(as_callable(self)->cells);
  return as_callable(self)->program.traverse(visit, arg);
}

int clear(PyObject* self) {
  Py_CLEAR(as_callable(self)->dict);
  Py_CLEAR(as_callable(self)->cells);
  return 0;
}

void deallocate(PyObject* self) {
  PyObject_GC_UnTrack(self);
  if (as_callable(self)->weak_references != nullptr) PyObject_ClearWeakRefs(self);
  clear(self);
  as_callable(self)->program.~HeldProgram();
  PyTypeObject* type = Py_TYPE(self);
  PyObject_GC_Del(self);
  Py_DECREF(type);
}

/// "<inlay function main(a: f64, x: f64[n]) -> f64[n]>": its `description`, where a door has given it one.
PyObject* represent(PyObject* self) {
  PyObject* description =
      as_callable(self)->dict == nullptr ? nullptr : PyDict_GetItemString(as_callable(self)->dict, "description");
  if (description == nullptr) return PyUnicode_FromFormat("<inlay._inlay.%s>", type_name(Py_TYPE(self)).c_str());
  return PyUnicode_FromFormat("<inlay function %S>", description);
}

PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Callable, vectorcall), READONLY, nullptr},
    {"__dictoffset__", T_PYSSIZET, offsetof(Callable, dict), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(Callable, weak_references), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};

PyGetSetDef dict_getset[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

PyTypeObject* make_type(PyObject* module, const char* name, const char* doc) {
  PyType_Slot slots[] = {
      {Py_tp_dealloc, reinterpret_cast<void*>(deallocate)},
      {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
      {Py_tp_clear, reinterpret_cast<void*>(clear)},
      {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
      {Py_tp_repr, reinterpret_cast<void*>(represent)},
      {Py_tp_members, members},
      {Py_tp_getset, dict_getset},
      {Py_tp_doc, const_cast<char*>(doc)},
      {0, nullptr},
  };
  PyType_Spec spec = {
      name, static_cast<int>(sizeof(Callable)), 0,
      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
  PyObject* type = PyType_FromSpec(&spec);
  if (type == nullptr || PyModule_AddType(module, reinterpret_cast<PyTypeObject*>(type)) < 0) return nullptr;
  return reinterpret_cast<PyTypeObject*>(type);
}

PyObject* new_callable(PyTypeObject* type, vectorcallfunc vectorcall, const HeldProgram& program, PyObject* cells) {
  PyObject* self = PyType_GenericAlloc(type, 0);
  if (self == nullptr) return nullptr;
  Callable* callable = as_callable(self);
  callable->vectorcall = vectorcall;
  callable->cells = cells == nullptr ? nullptr : Py_NewRef(cells);
  new (&callable->program) HeldProgram(program);
  return self;
}

}  // namespace

bool add_callables(PyObject* module) {
  function_type = make_type(module, "inlay._inlay.Function",
                            "A compiled function: NumPy arrays in, new arrays out, or those given as `out=`.");
  vm_type = make_type(module, "inlay._inlay.Vm", "A compiled function over the cells of a PyTensor Function.");
  return function_type != nullptr && vm_type != nullptr;
}

PyObject* new_function(const HeldProgram& program) {
  return new_callable(function_type, call_function, program, nullptr);
}

PyObject* new_vm(const HeldProgram& program, PyObject* cells) {
  const std::size_t count = program->arguments().size();
  bool fits = PyTuple_Check(cells) && tuple_size(cells) == count;
  for (std::size_t i = 0; fits && i < count; ++i) {
    PyObject* cell = tuple_item(cells, i);
    fits = PyList_Check(cell) && PyList_Size(cell) > 0;
  }
  if (!fits) {
    PyErr_Format(PyExc_TypeError, "a tuple of %zu lists is expected", count);
    return nullptr;
  }
  return new_callable(vm_type, call_vm, program, cells);
}

}  // namespace inlay::python
