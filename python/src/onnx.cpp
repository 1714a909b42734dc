#include "onnx.h"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "ir/text.h"
#include "network/network.h"
#include "numpy_api.h"
#include "onnx/weights.h"
#include "python_api.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace inlay::python {
namespace {

using onnx::Model;
using onnx::Tensor;

/// A row-major NumPy array as a tensor, which keeps a copy of its elements. `is_bits_of_bf16`: what u16 means here.
Tensor tensor_of(const std::string& name, nb::handle h, bool is_bits_of_bf16) {
  if (!PyArray_Check(h.ptr()) || !is_plain(reinterpret_cast<PyArrayObject*>(h.ptr()))) {
    throw nb::type_error("a row-major NumPy array is expected");
  }
  auto* array = reinterpret_cast<PyArrayObject*>(h.ptr());
  Tensor out;
  out.name = name;
  const DType dtype = dtype_of(array);
  out.type = onnx::type_of_dtype(dtype == DType::u16 && is_bits_of_bf16 ? DType::bf16 : dtype);
  out.dims.assign(PyArray_DIMS(array), PyArray_DIMS(array) + PyArray_NDIM(array));
  const auto* begin = reinterpret_cast<const std::byte*>(PyArray_DATA(array));
  out.data = onnx::kept({begin, begin + PyArray_NBYTES(array)});
  return out;
}

/// The weight as an array on the bytes that it has.
nb::object array_of(const Tensor& tensor) {
  const DType dtype = *onnx::dtype_of_type(tensor.type);
  std::vector<npy_intp> dims(tensor.dims.begin(), tensor.dims.end());
  const auto rank = static_cast<int>(dims.size());
  if (tensor.data.bytes.empty()) {
    nb::object empty = nb::steal(PyArray_SimpleNew(rank, dims.data(), numpy_type(dtype)));
    if (!empty.is_valid()) throw nb::python_error();
    return empty;
  }
  nb::object array =
      nb::steal(PyArray_New(&PyArray_Type, rank, dims.data(), numpy_type(dtype), nullptr,
                            const_cast<std::byte*>(tensor.data.bytes.data()), 0, NPY_ARRAY_CARRAY_RO, nullptr));
  if (!array.is_valid()) throw nb::python_error();
  auto* kept = new std::shared_ptr<const void>(tensor.data.owner);
  nb::object owner = nb::capsule(kept, [](void* p) noexcept { delete static_cast<std::shared_ptr<const void>*>(p); });
  if (PyArray_SetBaseObject(reinterpret_cast<PyArrayObject*>(array.ptr()), owner.release().ptr()) < 0)
    throw nb::python_error();
  return array;
}

/// Name, type, and sizes: a number, a name, or None.
nb::list described(const std::vector<onnx::Declared>& all) {
  nb::list out;
  for (const onnx::Declared& each : all) {
    nb::list dims;
    for (const auto& size : each.dims.value_or(std::vector<onnx::Declared::Size>())) {
      dims.append(size.number ? nb::cast(*size.number) : size.name.empty() ? nb::none() : nb::cast(size.name));
    }
    out.append(nb::make_tuple(each.name, onnx::type_name(each.element_type), nb::tuple(dims)));
  }
  return out;
}

/// Where a weight lies, as `weight_at` takes it; None where it was computed.
nb::object lying_at(const Model& model, const Tensor& weight) {
  const std::optional<onnx::Place> place = onnx::place_of(model, weight);
  if (!place) return nb::none();
  return nb::make_tuple(place->contents, place->offset, weight.type, weight.dims);
}

/// `fixed`: arrays of inputs, ints for sizes. `windows`: are those of convolutions stored? (graph, weights, where each
/// lies), or (None, what is to be fixed, by name, and why).
nb::tuple imported(const Model& model, nb::dict fixed, const std::vector<std::string>& donated, bool windows) {
  onnx::ImportOptions options;
  options.stores_windows = windows;
  options.donated.insert(donated.begin(), donated.end());
  for (const auto& [name, what] : fixed) {
    const auto key = nb::cast<std::string>(name);
    if (PyLong_Check(what.ptr())) {
      options.sizes[key] = nb::cast<int64_t>(what);
    } else {
      const auto declared = std::ranges::find(model.graph.inputs, key, &onnx::Declared::name);
      const bool is_bf16 =
          declared != model.graph.inputs.end() && onnx::dtype_of_type(declared->element_type) == DType::bf16;
      options.fixed[key] = tensor_of(key, what, is_bf16);
    }
  }
  try {
    onnx::Network network = network::prepare(model, options);
    nb::list weights, places;
    for (const Tensor& tensor : network.weights) {
      weights.append(array_of(tensor));
      places.append(lying_at(model, tensor));
    }
    return nb::make_tuple(std::move(network.graph), weights, places);
  } catch (const onnx::NeedsFixed& needs) {
    nb::list names;
    for (const std::string& name : needs.names()) names.append(name);
    return nb::make_tuple(nb::none(), names, std::string(needs.what()));
  }
}

nb::object weight_at(const Model& model, std::size_t contents, std::size_t offset, int64_t type,
                     std::vector<int64_t> dims) {
  return array_of(onnx::weight_at(model, {contents, offset}, type, std::move(dims)));
}

nb::list contents(const Model& model) {
  nb::list out;
  for (const onnx::Bytes& each : model.contents) {
    const auto size = static_cast<int64_t>(each.bytes.size());
    out.append(array_of({"", onnx::type_of_dtype(DType::u8), {size}, each}));
  }
  return out;
}

nb::list known_ops() {
  nb::list out;
  for (const onnx::KnownOp& op : onnx::known_ops()) out.append(nb::make_tuple(op.domain, op.name, op.since));
  return out;
}

Model read_bytes(const nb::bytes& data, const std::string& name, const std::string& folder) {
  const auto kept = std::make_shared<const std::string>(data.c_str(), data.size());
  return onnx::read_model({kept, {reinterpret_cast<const std::byte*>(kept->data()), kept->size()}}, name, folder);
}

}  // namespace

void bind_onnx(nb::module_& m) {
  nb::class_<Model>(m, "OnnxModel", "An ONNX file that was read.")
      .def_prop_ro(
          "inputs", [](const Model& model) { return described(model.graph.inputs); },
          "Of each, also where it has a default: name, type, sizes.")
      .def_prop_ro("outputs", [](const Model& model) { return described(model.graph.outputs); })
      .def_prop_ro("contents", contents, "Of its file and those of its external data: the bytes, as arrays.")
      .def("imported", imported, "fixed"_a, "donated"_a, "windows"_a,
           "The graph, its weights, and where each lies in the contents, or None; "
           "or None, the inputs that are to be fixed for it, and why.")
      .def("weight_at", weight_at, "contents"_a, "offset"_a, "type"_a, "dims"_a, "The array that lies there.");
  m.def("read_onnx", [](const std::string& path) { return onnx::read_model(path); }, "path"_a);
  m.def("read_onnx_bytes", read_bytes, "data"_a, "name"_a, "folder"_a);
  m.def("onnx_ops", known_ops, "Of each op of ONNX that is read: domain, name, the first version.");
}

}  // namespace inlay::python
