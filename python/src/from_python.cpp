#include "from_python.h"

#include "array_form.h"

namespace nb = nanobind;

namespace inlay::python {

int64_t whole_number(nb::handle value, const std::string& what, ErrorCode too_large) {
  const nb::object index = nb::steal(PyNumber_Index(value.ptr()));
  if (!index.is_valid()) {
    if (!PyErr_ExceptionMatches(PyExc_TypeError)) throw nb::python_error();
    PyErr_Clear();
    throw Error(ErrorCode::wrong_dtype, {}, str(what, " is ", kind_of(value.ptr()), ", and no whole number"));
  }
  int overflow = 0;
  const int64_t number = PyLong_AsLongLongAndOverflow(index.ptr(), &overflow);
  if (overflow != 0) throw Error(too_large, {}, str(what, " does not fit in 64 bits"));
  return number;
}

std::string text_of(nb::handle value, const std::string& what) {
  const bool is_text = PyUnicode_Check(value.ptr()) != 0;
  const char* utf8 = is_text ? utf8_of(value.ptr()) : nullptr;
  if (utf8 != nullptr) return utf8;
  PyErr_Clear();
  if (is_text) throw Error(ErrorCode::wrong_dtype, {}, str(what, " is no UTF-8: a character is half of a pair"));
  throw Error(ErrorCode::wrong_dtype, {}, str(what, " is ", kind_of(value.ptr()), ", and no text"));
}

std::vector<std::pair<std::string, int64_t>> sizes_of(nb::handle dict) {
  std::vector<std::pair<std::string, int64_t>> out;
  if (dict.is_none()) return out;
  if (!PyDict_Check(dict.ptr())) {
    throw Error(ErrorCode::wrong_dtype, {}, str("sizes are given as a dict by name, not as ", kind_of(dict.ptr())));
  }
  for (auto [name, size] : nb::borrow<nb::dict>(dict)) {
    const std::string text = text_of(name, "the name of a size");
    out.emplace_back(text, whole_number(size, str("the size ", text)));
  }
  return out;
}

nb::tuple tuple_of(nb::handle value, std::size_t size, const std::string& what) {
  const bool is_tuple = PyTuple_Check(value.ptr());
  if (is_tuple && tuple_size(value.ptr()) == size) return nb::borrow<nb::tuple>(value);
  const std::string came = is_tuple ? str("a tuple of ", tuple_size(value.ptr())) : kind_of(value.ptr());
  throw Error(ErrorCode::wrong_dtype, {}, str(what, " is ", came, ", and no tuple of ", size));
}

}  // namespace inlay::python
