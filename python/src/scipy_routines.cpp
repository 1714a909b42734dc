#include "scipy_routines.h"

#include <string_view>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "gil.h"
#include "library/routines.h"
#include "support/error.h"
#include "support/fork_gate.h"

namespace nb = nanobind;

namespace inlay::python {
namespace {

/// Is it that there is no SciPy, and not that the one there is cannot be imported?
bool is_not_installed(nb::python_error& error) {
  if (!error.matches(PyExc_ModuleNotFoundError)) return false;
  const nb::object name = error.value().attr("name");
  return nb::isinstance<nb::str>(name) && nb::cast<std::string>(name) == "scipy";
}

/// The function that a Cython module exports under this name; null: it exports none. The name of its capsule is its C
/// signature.
void* exported(nb::handle exports, const char* name) {
  const nb::object capsule = nb::borrow(exports.attr("get")(name, nb::none()));
  if (capsule.is_none()) return nullptr;
  const char* signature = PyCapsule_GetName(capsule.ptr());
  void* address = signature == nullptr ? nullptr : PyCapsule_GetPointer(capsule.ptr(), signature);
  if (address == nullptr) throw nb::python_error();
  // All have an integer: one of 64 bits has another type there.
  const std::string_view text = signature;
  if (text.find("(int *") == std::string_view::npos && text.find(" int *") == std::string_view::npos) {
    throw Error(ErrorCode::unsupported, {}, str("SciPy's ", name, " is ", text, ", and no function of 32-bit integers"))
        .help("install a SciPy that is built with LP64 BLAS and LAPACK, as those of PyPI are");
  }
  return address;
}

std::string routines_of_scipy(std::span<void*> addresses) {
  const ForkGate::Outside outside;  // who has the GIL may be about to fork
  const TakenGil gil;
  try {
    const nb::object blas = nb::module_::import_("scipy.linalg.cython_blas").attr("__pyx_capi__");
    const nb::object lapack = nb::module_::import_("scipy.linalg.cython_lapack").attr("__pyx_capi__");
    for (std::size_t i = 0; i < addresses.size(); ++i) {
      const char* name = library::kRoutineNames[i];
      addresses[i] = exported(blas, name);
      if (addresses[i] == nullptr) addresses[i] = exported(lapack, name);
      if (addresses[i] == nullptr) {
        throw Error(ErrorCode::unsupported, {}, str("SciPy has no LAPACK function ", name))
            .help("install SciPy 1.10 or later");
      }
    }
    return str("SciPy ", nb::cast<std::string>(nb::module_::import_("scipy").attr("__version__")));
  } catch (nb::python_error& error) {
    if (is_not_installed(error)) return "";
    if (!error.matches(PyExc_Exception)) throw;  // Ctrl-C
    throw Error(
        ErrorCode::unsupported, {},
        "a program with linear algebra calls BLAS and LAPACK, which inlay takes from SciPy, and SciPy cannot be "
        "imported")
        .note("Python says", nb::cast<std::string>(nb::str(error.value())))
        .help("install SciPy anew, or uninstall it: without it inlay's own loops compute these, which are slower");
  }
}

}  // namespace

void take_routines_from_scipy() { library::set_routine_source(routines_of_scipy); }

}  // namespace inlay::python
