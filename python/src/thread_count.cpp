#include "thread_count.h"

#include <algorithm>

#include <nanobind/nanobind.h>

#include "array_form.h"
#include "runtime/pool.h"
#include "support/error.h"

namespace inlay::python {

bool read_thread_count(const char* what, PyObject* value, int& count) {
  if (!PyLong_Check(value) || PyBool_Check(value)) {
    PyErr_SetString(PyExc_TypeError, str(what, " takes a number of 1 at least, not ", kind_of(value)).c_str());
    return false;
  }
  int overflow = 0;
  const long given = PyLong_AsLongAndOverflow(value, &overflow);
  if (overflow < 0 || (overflow == 0 && given < 1)) {
    PyErr_Format(PyExc_ValueError, "%s takes a number of 1 at least, not %S", what, value);
    return false;
  }
  count = overflow > 0 ? runtime::kMostThreads : static_cast<int>(std::min<long>(given, runtime::kMostThreads));
  return true;
}

int thread_count(const char* what, PyObject* value) {
  int count = 0;
  if (!read_thread_count(what, value, count)) throw nanobind::python_error();
  return count;
}

}  // namespace inlay::python
