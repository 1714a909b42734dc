#include "dlpack.h"

#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

namespace nb = nanobind;

namespace inlay::python {
namespace {

// The structs of dlpack.h, versions 0 and 1, which every library has as they are here.
struct Device {
  int32_t type;
  int32_t number;
};
struct ElementType {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
};
struct Tensor {
  void* data;
  Device device;
  int32_t rank;
  ElementType type;
  const int64_t* dims;
  const int64_t* strides;  // in elements; null: row-major
  uint64_t first_byte;
};
struct Managed {
  static constexpr const char* kName = "dltensor";
  static constexpr const char* kUsedName = "used_dltensor";

  Tensor tensor;
  void* context;
  void (*release)(Managed*);

  static bool is_known() { return true; }
  static bool is_read_only() { return true; }  // it does not say, and JAX's must not change
};
struct ManagedVersioned {
  static constexpr const char* kName = "dltensor_versioned";
  static constexpr const char* kUsedName = "used_dltensor_versioned";

  uint32_t major_version;
  uint32_t minor_version;
  void* context;
  void (*release)(ManagedVersioned*);
  uint64_t flags;
  Tensor tensor;

  bool is_known() const { return major_version == 1; }
  bool is_read_only() const { return (flags & 1) != 0; }
};

struct DeviceName {
  int32_t type;
  std::string_view name;
  bool is_read_by_the_cpu;
};
constexpr std::array<DeviceName, 14> kDevices = {{
    {1, "the CPU", true},
    {2, "CUDA", false},
    {3, "CUDA's host memory", true},
    {4, "OpenCL", false},
    {7, "Vulkan", false},
    {8, "Metal", false},
    {9, "VPI", false},
    {10, "ROCm", false},
    {11, "ROCm's host memory", true},
    {13, "CUDA's managed memory", true},
    {14, "oneAPI", false},
    {15, "WebGPU", false},
    {16, "Hexagon", false},
    {17, "MAIA", false},
}};

struct TypeRow {
  uint8_t code;
  uint8_t bits;
  DType dtype;
};
constexpr std::array<TypeRow, 15> kTypes = {{
    {0, 8, DType::i8},
    {0, 16, DType::i16},
    {0, 32, DType::i32},
    {0, 64, DType::i64},
    {1, 8, DType::u8},
    {1, 16, DType::u16},
    {1, 32, DType::u32},
    {1, 64, DType::u64},
    {2, 16, DType::f16},
    {2, 32, DType::f32},
    {2, 64, DType::f64},
    {4, 16, DType::bf16},
    {5, 64, DType::c64},
    {5, 128, DType::c128},
    {6, 8, DType::boolean},
}};

std::optional<DType> dtype_of(ElementType type) {
  for (const TypeRow& row : kTypes) {
    if (row.code == type.code && row.bits == type.bits && type.lanes == 1) return row.dtype;
  }
  return std::nullopt;
}

/// What is asked for, for messages.
struct Wanted {
  PyObject* object;
  DType dtype;
  const std::string& name;
  const Location& location;

  /// "x: a Tensor in the memory of CUDA, where f64 is expected"
  Error error(const std::string& what) const {
    return {ErrorCode::wrong_dtype, location,
            str(name, ": ", kind_of(object), " ", what, ", where ", dtype_name(dtype), " is expected")};
  }
};

/// Errors: wrong-dtype.
void require_reachable(const Wanted& wanted, int64_t type, int64_t number) {
  std::string_view name = "a device that inlay does not know";
  for (const DeviceName& device : kDevices) {
    if (device.type != type) continue;
    if (device.is_read_by_the_cpu) return;
    name = device.name;
  }
  throw wanted.error(str("in the memory of ", name, ", device ", number, ", which the CPU does not read"))
      .help("its library copies it to the CPU: PyTorch by x.cpu(), JAX by jax.device_get(x), CuPy by x.get()");
}

/// Which keeps the bytes until it is collected.
template <class M>
nb::object owner_of(M* managed) {
  constexpr const char* kOwner = "inlay_dlpack";
  PyObject* capsule = PyCapsule_New(managed, kOwner, [](PyObject* owner) {
    auto* const kept = static_cast<M*>(PyCapsule_GetPointer(owner, kOwner));
    if (kept->release == nullptr) return;
    PyObject *type, *value, *trace;  // of a call that has failed, while the library runs what it likes
    PyErr_Fetch(&type, &value, &trace);
    kept->release(kept);
    PyErr_Restore(type, value, trace);
  });
  if (capsule == nullptr) throw nb::python_error();
  return nb::steal(capsule);
}

/// The dtype that NumPy is told: of bf16 that of ml_dtypes, or its bits where this package is missing. A new reference.
PyArray_Descr* descr_of(DType dtype) {
  PyArray_Descr* const own = dtype == DType::bf16 ? bfloat16_descr() : nullptr;
  return own == nullptr ? PyArray_DescrFromType(numpy_type(dtype)) : own;
}

/// An array on the tensor's bytes, which `owner` keeps.
OwnedArray array_on(const Tensor& tensor, DType dtype, bool is_read_only, nb::object owner) {
  const auto rank = static_cast<std::size_t>(tensor.rank);
  PyArray_Descr* const descr = descr_of(dtype);
  if (descr == nullptr) return nullptr;
  const auto element_bytes = static_cast<npy_intp>(PyDataType_ELSIZE(descr));
  std::vector<npy_intp> strides(rank);
  npy_intp packed = element_bytes;
  for (std::size_t i = rank; i-- > 0;) {
    strides[i] = tensor.strides == nullptr ? packed : tensor.strides[i] * element_bytes;
    packed *= tensor.dims[i];
  }
  // Without elements there may be no address either: NumPy makes one.
  void* const data = tensor.data == nullptr ? nullptr : static_cast<std::byte*>(tensor.data) + tensor.first_byte;
  OwnedArray array(reinterpret_cast<PyArrayObject*>(
      PyArray_NewFromDescr(&PyArray_Type, descr, tensor.rank, const_cast<npy_intp*>(tensor.dims), strides.data(), data,
                           is_read_only ? 0 : NPY_ARRAY_WRITEABLE, nullptr)));
  if (array && data != nullptr && PyArray_SetBaseObject(array.get(), owner.release().ptr()) < 0) return nullptr;
  return array;
}

template <class M>
OwnedArray take(const Wanted& wanted, PyObject* capsule) {
  auto* const managed = static_cast<M*>(PyCapsule_GetPointer(capsule, M::kName));
  if (managed == nullptr) throw nb::python_error();
  if (!managed->is_known()) throw wanted.error("by a version of DLPack that is not known");
  const Tensor& tensor = managed->tensor;
  require_reachable(wanted, tensor.device.type, tensor.device.number);
  const std::optional<DType> dtype = dtype_of(tensor.type);
  if (!dtype) {
    throw wanted.error(str("of elements that inlay does not have (DLPack's code ", int{tensor.type.code}, " of ",
                           int{tensor.type.bits}, " bits)"));
  }
  nb::object owner = owner_of(managed);
  PyCapsule_SetName(capsule, M::kUsedName);  // it does not release the bytes any more
  return array_on(tensor, *dtype, managed->is_read_only(), std::move(owner));
}

/// The capsule that the object gives: with a version where it can.
nb::object capsule_of(nb::handle object) {
  try {
    return object.attr("__dlpack__")(nb::arg("max_version") = nb::make_tuple(1, 0));
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_TypeError)) throw;
  }
  return object.attr("__dlpack__")();
}

}  // namespace

bool class_has(PyObject* object, const char* name) {
  PyObject* found = PyObject_GetAttrString(reinterpret_cast<PyObject*>(Py_TYPE(object)), name);
  PyErr_Clear();
  Py_XDECREF(found);
  return found != nullptr;
}

bool gives_dlpack(PyObject* object) {
  return !PyArray_IsScalar(object, Generic) && class_has(object, "__dlpack__") &&
         class_has(object, "__dlpack_device__");
}

OwnedArray from_dlpack(PyObject* object, DType dtype, const std::string& name, const Location& location) {
  const Wanted wanted{object, dtype, name, location};
  try {
    const nb::handle given(object);
    const auto [type, number] = nb::cast<std::pair<int64_t, int64_t>>(given.attr("__dlpack_device__")());
    require_reachable(wanted, type, number);
    const nb::object capsule = capsule_of(given);
    const bool has_version = PyCapsule_IsValid(capsule.ptr(), ManagedVersioned::kName) != 0;
    return has_version ? take<ManagedVersioned>(wanted, capsule.ptr()) : take<Managed>(wanted, capsule.ptr());
  } catch (const nb::cast_error&) {
    throw wanted.error("whose __dlpack_device__ returns no two numbers");
  } catch (nb::python_error& error) {
    if (error.matches(PyExc_Exception)) {
      throw wanted.error(str("that DLPack does not give (", nb::cast<std::string>(nb::str(error.value())), ")"));
    }
    error.restore();  // of the user, who interrupts
  }
  return nullptr;
}

}  // namespace inlay::python
